"""LAPACK's functions as programs call them, on memory that lies anyhow, and batch by batch."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest

from hotdesk.frontends.mlir.libraries import FUNCTIONS, LETTERS, LibraryKernel
from hotdesk.runtime.code.foreign import Lying

pytest.importorskip("scipy")


def lying(array: Any) -> Lying:
    return Lying(array.ctypes.data, array.shape, tuple(step // array.itemsize for step in array.strides))


def run(function: str, given: list[Any], results: list[Any], **told: Any) -> list[Any]:
    dtypes = ([str(each.dtype) for each in arrays] for arrays in (given, results))
    kernel = LibraryKernel(function, tuple(told.items()), *map(tuple, dtypes))
    kernel([lying(each) for each in given], (), [lying(each) for each in results])
    return results


def drawn(dtype: str, *sizes: int, seed: int = 0) -> Any:
    generator = np.random.default_rng(seed)
    values: Any = generator.standard_normal(sizes)
    return (values + 1j * generator.standard_normal(sizes) if dtype.startswith("c") else values).astype(dtype)


def adjoint(array: Any) -> Any:
    return np.conj(np.swapaxes(array, -1, -2))


def close(got: Any, expected: Any) -> None:
    np.testing.assert_allclose(got, expected, rtol=0, atol=1e-4 if got.dtype.itemsize <= 8 else 1e-9)


@pytest.mark.parametrize("dtype", LETTERS)
def test_triangular_systems(dtype: str) -> None:
    a = drawn(dtype, 2, 4, 4) + 4 * np.eye(4, dtype=dtype)
    for side, uplo, trans, diag in product("LR", "LU", "NTC", "NU"):
        b = drawn(dtype, 2, 4, 3, seed=1) if side == "L" else drawn(dtype, 2, 3, 4, seed=1)
        told = {"side": ord(side), "uplo": ord(uplo), "trans_x": ord(trans), "diag": ord(diag)}
        (x,) = run("trsm", [a, b], [np.empty_like(b)], **told)
        factor = np.tril(a) if uplo == "L" else np.triu(a)
        if diag == "U":
            factor = factor + (1 - np.einsum("bii->bi", factor))[..., None] * np.eye(4, dtype=dtype)
        applied = {"N": factor, "T": np.swapaxes(factor, -1, -2), "C": adjoint(factor)}[trans]
        close(applied @ x if side == "L" else x @ applied, b)


@pytest.mark.parametrize("dtype", LETTERS)
def test_factorizations(dtype: str) -> None:
    real = dtype.replace("complex64", "float32").replace("complex128", "float64")
    a = drawn(dtype, 3, 5, 4)
    info: Any = np.full(3, 7, np.int32)
    factors, pivots, info = run("getrf", [a], [np.empty_like(a), np.empty((3, 4), np.int32), info])
    rows = a.copy()
    for batch in range(3):
        for row, pivot in enumerate(pivots[batch]):
            rows[batch, [row, pivot - 1]] = rows[batch, [pivot - 1, row]]
    close((np.tril(factors, -1) + np.eye(5, 4, dtype=dtype)) @ np.triu(factors)[:, :4], rows)
    assert (info == 0).all()
    packed, scales = run("geqrf", [a], [np.empty_like(a), np.empty((3, 4), dtype)])
    (q,) = run("orgqr", [packed, scales], [np.empty_like(a)])
    close(q @ np.triu(packed)[:, :4], a)
    close(adjoint(q) @ q, np.broadcast_to(np.eye(4), (3, 4, 4)).astype(dtype))
    results = [np.empty_like(a), np.empty((3, 4), real), np.empty((3, 5, 5), dtype), np.empty((3, 4, 4), dtype), info]
    _, values, u, v, info = run("gesdd", [a], results, mode=ord("A"))
    close((u[..., :4] * values[:, None]) @ v, a)


@pytest.mark.parametrize("dtype", LETTERS)
def test_eigenvalues(dtype: str) -> None:
    real = dtype.replace("complex64", "float32").replace("complex128", "float64")
    compound = {"float32": "complex64", "float64": "complex128"}.get(dtype, dtype)
    a = drawn(dtype, 2, 4, 4)
    symmetric, info = a + adjoint(a), np.full(2, 7, np.int32)
    told = {"mode": ord("V"), "uplo": ord("L")}
    vectors, values, info = run("syevd", [symmetric], [np.empty_like(a), np.empty((2, 4), real), info], **told)
    close((vectors * values[:, None]) @ adjoint(vectors), symmetric)
    places = [np.empty((2, 4), dtype) for _ in range(2 if dtype == real else 1)]
    places += [np.empty((2, 4, 4), compound) for _ in range(2)]
    name = "geev" if dtype == real else "geev of complex"
    *parts, left, right, info = run(name, [a], [*places, info], compute_left=ord("V"), compute_right=ord("V"))
    found = parts[0] + 1j * parts[1] if dtype == real else parts[0]
    close(a @ right, right * found[:, None])
    close(adjoint(left) @ a, found[..., None] * adjoint(left))
    assert (info == 0).all()


def test_cholesky_says_where_it_failed() -> None:
    a: Any = np.array([[[4, 2], [2, 5]], [[1, 2], [2, 1]]], np.float64)
    factor, info = run("potrf", [a], [np.empty_like(a), np.empty(2, np.int32)], uplo=ord("L"))
    close(np.tril(factor[0]), np.array([[2.0, 0], [1, 2]]))
    assert factor[0, 0, 1] == 2, "what is above is as it was"
    assert list(info) == [0, 2]
    (other,) = run("cholesky", [a], [np.empty_like(a)], lower=False)
    close(other[0], np.array([[2.0, 1], [0, 2]]))
    assert np.isnan(other[1]).all()


def test_memory_that_lies_anyhow() -> None:
    whole = drawn("float32", 4, 8)
    a, place = whole[:, ::2].T, np.zeros((4, 4, 2), np.float32)[..., 0]
    (q,) = run("orgqr", [a, np.zeros(4, np.float32)], [place])
    close(q, np.eye(4, dtype=np.float32))
    x = drawn("complex64", 3, 6)
    (y,) = run("fft", [x.T], [np.empty((6, 3), np.complex64)], how="IFFT", length=(3,))
    close(y, np.fft.ifft(x.T))


def test_results_where_the_argument_lies() -> None:
    a = drawn("float64", 3, 3)
    expected = np.linalg.qr(a)[1]
    run("geqrf", [a], [a, np.empty(3)])
    close(np.triu(a), expected)


def test_nothing_is_asked_of_what_has_no_elements() -> None:
    empty: Any = np.empty((2, 0, 0), np.float32)
    _, info = run("potrf", [empty], [np.empty_like(empty), np.full(2, 7, np.int32)], uplo=ord("L"))
    assert list(info) == [0, 0]
    assert set(FUNCTIONS) >= {"fft", "getrf"}
