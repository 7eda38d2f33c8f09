"""What NumPy and SciPy compute for programs in StableHLO: Fourier transforms, and LAPACK's functions as XLA's calls have them.

A function takes arrays without batches, and what it is told beside them, and gives its results one after the other;
`LibraryKernel` calls it for each batch. Letters are codes of ASCII, as in the calls. Where LAPACK fails, results are what it
leaves there, as in XLA's own calls: programs look at `info`, as JAX's do.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from typing import Any, TypeAlias

import numpy as np

from hotdesk.python.record import Record
from hotdesk.runtime.code.foreign import Lying, memory_at

Array: TypeAlias = Any
"""An array of NumPy's, of any type."""
NO_TRANSPOSE, LEFT, LOWER, UNIT, ALL, VECTORS = map(ord, "NLLUAV")
LETTERS = {"float32": "s", "float64": "d", "complex64": "c", "complex128": "z"}
"""LAPACK's letters of element types."""
_TRANSPOSED = {NO_TRANSPOSE: 0, ord("T"): 1, ord("C"): 2}


@dataclass(frozen=True, slots=True)
class LibraryFunction:
    """One of them: what computes it, the ranks of its arguments and results without batches, and what it has to be told.

    One that is not `batched` takes batches as they are, and any rank.
    """

    computes: Callable[..., Sequence[Array]]
    arguments: tuple[int, ...]
    results: tuple[int, ...]
    told: tuple[str, ...] = ()
    batched: bool = True


class LibraryKernel(Record):
    """Runs a function on tensors in memory, batch by batch; element types are NumPy's names."""

    function: str
    told: tuple[tuple[str, Any], ...]
    arguments: tuple[str, ...]
    results: tuple[str, ...]

    def __call__(self, inputs: Sequence[Lying], numbers: Sequence[int], results: Sequence[Lying]) -> None:
        given = [_array(each, dtype) for each, dtype in zip(inputs, self.arguments, strict=True)]
        places = [_array(each, dtype) for each, dtype in zip(results, self.results, strict=True)]
        function, told = FUNCTIONS[self.function], dict(self.told)
        made = [np.empty_like(place) for place in places]  # results may lie where arguments do
        batches = places[0].shape[: places[0].ndim - function.results[0]] if function.batched else ()
        every: Any = np.ndindex(*batches)
        for batch in every:
            one_of_each = [each[batch] for each in given]
            is_empty = one_of_each[0].size == 0
            found = [0] * len(made) if is_empty else function.computes(*one_of_each, **told)
            for whole, one in zip(made, found, strict=True):
                whole[batch] = one
        for place, whole in zip(places, made, strict=True):
            place[...] = whole


def _array(lying: Lying, dtype: str) -> Array:
    """A tensor in memory as an array, without a copy."""
    if 0 in lying.sizes:
        return np.empty(lying.sizes, dtype)
    kind: Any = np.dtype(dtype)
    return memory_at(lying.address, lying.sizes, [stride * kind.itemsize for stride in lying.strides], kind.str)


@cache
def _function_of(module: str, name: str, dtype: str) -> Any:
    """A function of SciPy's BLAS or LAPACK for elements of a type."""
    return getattr(import_module(f"scipy.linalg.{module}"), f"{LETTERS[dtype]}{name}")


def _lapack(name: str, array: Array, of_complex: str = "") -> Any:
    dtype = str(array.dtype)
    return _function_of("lapack", of_complex if of_complex and dtype.startswith("complex") else name, dtype)


def _transformed(x: Array, how: str, length: tuple[int, ...]) -> Sequence[Array]:
    axes = tuple(range(-len(length), 0))
    function: Any = getattr(np.fft, {"FFT": "fftn", "IFFT": "ifftn", "RFFT": "rfftn", "IRFFT": "irfftn"}[how])
    return (function(x, s=length, axes=axes),)


def _factors_of_rows(a: Array) -> Sequence[Array]:
    factors, pivots, info = _lapack("getrf", a)(a)
    return factors, pivots + 1, info


def _cholesky(a: Array, uplo: int) -> Sequence[Array]:
    return _lapack("potrf", a)(a, lower=uplo == LOWER, clean=0)


def _cholesky_or_nothing(a: Array, lower: bool) -> Sequence[Array]:
    factor, info = _lapack("potrf", a)(a, lower=lower, clean=1)
    return (np.full_like(factor, np.nan) if info else factor,)


def _reflectors(a: Array) -> Sequence[Array]:
    factors, scales, *_ = _lapack("geqrf", a)(a)
    return factors, scales


def _orthogonal(a: Array, scales: Array) -> Sequence[Array]:
    return (_lapack("orgqr", a, "ungqr")(a, scales)[0] if scales.size else np.eye(*a.shape, dtype=a.dtype),)


def _singular_values(a: Array, mode: int) -> Sequence[Array]:
    vectors = mode != NO_TRANSPOSE
    u, values, v, info = _lapack("gesdd", a)(a, compute_uv=vectors, full_matrices=mode == ALL)
    return a, values, u if vectors else 0, v if vectors else 0, info


def _eigenvalues(a: Array, mode: int, uplo: int) -> Sequence[Array]:
    values, vectors, info = _lapack("syevd", a, "heevd")(a, compute_v=mode == VECTORS, lower=uplo == LOWER)
    return vectors, values, info


def _general_eigenvalues(a: Array, compute_left: int, compute_right: int) -> Sequence[Array]:
    left, right = compute_left == VECTORS, compute_right == VECTORS
    found: Any = _lapack("geev", a)(a, compute_vl=left, compute_vr=right)
    *values, lefts, rights, info = found
    if len(values) == 2:
        lefts, rights = (_unpacked(each, values[1]) for each in (lefts, rights))
    return *values, lefts if left else 0, rights if right else 0, info


def _unpacked(vectors: Array, imaginary: Array) -> Array:
    """Eigenvectors of a real matrix, of which LAPACK packs the two of a pair as a real and an imaginary part."""
    if len(vectors) != len(imaginary):
        return vectors  # none were asked for
    made = vectors.astype(np.result_type(vectors.dtype, np.complex64))
    for number in np.flatnonzero(imaginary > 0):
        made[:, number] = vectors[:, number] + 1j * vectors[:, number + 1]
        made[:, number + 1] = made[:, number].conj()
    return made


def _solved(a: Array, b: Array, side: int, uplo: int, trans_x: int, diag: int) -> Sequence[Array]:
    solve = _function_of("blas", "trsm", str(a.dtype))
    how = {"side": side != LEFT, "lower": uplo == LOWER, "trans_a": _TRANSPOSED[trans_x], "diag": diag == UNIT}
    return (solve(1, a, b, **how),)


FUNCTIONS: Mapping[str, LibraryFunction] = {
    "fft": LibraryFunction(_transformed, (0,), (0,), ("how", "length"), batched=False),
    "cholesky": LibraryFunction(_cholesky_or_nothing, (2,), (2,), ("lower",)),
    "getrf": LibraryFunction(_factors_of_rows, (2,), (2, 1, 0)),
    "potrf": LibraryFunction(_cholesky, (2,), (2, 0), ("uplo",)),
    "geqrf": LibraryFunction(_reflectors, (2,), (2, 1)),
    "orgqr": LibraryFunction(_orthogonal, (2, 1), (2,)),
    "gesdd": LibraryFunction(_singular_values, (2,), (2, 1, 2, 2, 0), ("mode",)),
    "syevd": LibraryFunction(_eigenvalues, (2,), (2, 1, 0), ("mode", "uplo")),
    "trsm": LibraryFunction(_solved, (2, 2), (2,), ("side", "uplo", "trans_x", "diag")),
    "geev": LibraryFunction(_general_eigenvalues, (2,), (1, 1, 2, 2, 0), ("compute_left", "compute_right")),
    "geev of complex": LibraryFunction(_general_eigenvalues, (2,), (1, 2, 2, 0), ("compute_left", "compute_right")),
}
"""By LAPACK's names without the letter of a type."""
