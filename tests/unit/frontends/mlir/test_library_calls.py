"""Fourier transforms, factors and triangular systems of StableHLO are called; what is not known, or not allowed, is refused."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import hotdesk
from hotdesk.errors import MissingExtraError, NotSavableError, UnsupportedOpError
from hotdesk.frontends.mlir import library_calls

FACTOR = """
func.func @f(%a: tensor<2x3x3xf32>) -> tensor<2x3x3xf32> {
  %r = stablehlo.cholesky %a, lower = true : tensor<2x3x3xf32>
  return %r : tensor<2x3x3xf32>
}"""


def positive(*sizes: int) -> Any:
    a: Any = np.random.default_rng(0).standard_normal((*sizes, sizes[-1])).astype(np.float32)
    return a @ np.swapaxes(a, -1, -2) + np.eye(sizes[-1], dtype=np.float32)


def test_factors() -> None:
    a = positive(2, 3)
    program = hotdesk.compile(FACTOR)
    got: Any = program(a)
    expected: Any = np.linalg.cholesky(a)
    np.testing.assert_allclose(got, expected, rtol=1e-5, atol=1e-6)
    assert dict(program.foreign) == {"stablehlo.cholesky": 1}
    memory: Any = program.memory(a)
    assert memory.arena == 0, "it is written where the result lies"
    assert not program.check(a).faults
    with pytest.raises(NotSavableError, match=r"other libraries' kernels: stablehlo\.cholesky"):
        program.save("never.hotdesk")


@pytest.mark.parametrize("adjoint", ["NO_TRANSPOSE", "TRANSPOSE", "ADJOINT"])
def test_triangular_systems(adjoint: str) -> None:
    text = f"""
func.func @f(%a: tensor<3x3xf32>, %b: tensor<2x3xf32>) -> tensor<2x3xf32> {{
  %r = "stablehlo.triangular_solve"(%a, %b) {{left_side = false, lower = false, unit_diagonal = false,
      transpose_a = #stablehlo<transpose {adjoint}>}} : (tensor<3x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  return %r : tensor<2x3xf32>
}}"""
    a, b = positive(3), np.array([[0, 1, 2], [3, 4, 5]], np.float32)
    got: Any = hotdesk.compile(text)(a, b)
    np.testing.assert_allclose(got @ (np.triu(a) if adjoint == "NO_TRANSPOSE" else np.triu(a).T), b, atol=1e-5)


@pytest.mark.parametrize(
    ("how", "given", "made", "length"),
    [
        ("FFT", (3, 4, 5), (3, 4, 5), (4, 5)),
        ("IFFT", (3, 5), (3, 5), (5,)),
        ("RFFT", (2, 4, 5), (2, 4, 3), (2, 4, 5)),
        ("IRFFT", (3, 4), (3, 7), (7,)),
        ("IRFFT", (4, 4), (4, 6), (4, 6)),
    ],
)
def test_fourier_transforms(how: str, given: tuple[int, ...], made: tuple[int, ...], length: tuple[int, ...]) -> None:
    types = ["f64" if real else "complex<f64>" for real in (how == "RFFT", how == "IRFFT")]
    x, y = ("x".join(map(str, (*sizes, kind))) for sizes, kind in zip((given, made), types, strict=True))
    text = f"""
func.func @f(%x: tensor<{x}>) -> tensor<{y}> {{
  %r = stablehlo.fft %x, type = {how}, length = {list(length)} : (tensor<{x}>) -> tensor<{y}>
  return %r : tensor<{y}>
}}"""
    draw = np.random.default_rng(0)
    values: Any = draw.standard_normal(given) + (0 if how == "RFFT" else 1j * draw.standard_normal(given))
    axes = tuple(range(-len(length), 0))
    expected: Any = {"FFT": np.fft.fftn, "IFFT": np.fft.ifftn, "RFFT": np.fft.rfftn, "IRFFT": np.fft.irfftn}[how](
        values, s=length, axes=axes
    )
    got: Any = hotdesk.compile(text)(values)
    assert got.dtype == expected.dtype
    np.testing.assert_allclose(got, expected, atol=1e-9)


def test_calls_that_are_not_allowed() -> None:
    with pytest.raises(
        UnsupportedOpError, match=r"op `stablehlo\.cholesky` has no lowering: .* got a call of SciPy's.*:3:"
    ):
        hotdesk.compile(FACTOR, options=hotdesk.Options(foreign=False))


def test_without_scipy(monkeypatch: pytest.MonkeyPatch) -> None:
    nothing: Any = lambda _: None  # noqa: E731
    monkeypatch.setattr(library_calls, "find_spec", nothing)
    with pytest.raises(MissingExtraError, match=r"`stablehlo\.cholesky`.*package 'scipy'.*hotdesk\[jax\]"):
        hotdesk.compile(FACTOR)


@pytest.mark.parametrize(
    ("text", "named"),
    [
        (FACTOR.replace("2x3x3xf32", "?x3x3xf32"), "stablehlo.cholesky"),
        (FACTOR.replace("f32", "f16"), "stablehlo.cholesky"),
        (
            FACTOR.replace(
                "stablehlo.cholesky %a, lower = true", "stablehlo.custom_call @lapack_sgehrd_ffi(%a)"
            ).replace(": tensor<2x3x3xf32>\n  return", ": (tensor<2x3x3xf32>) -> tensor<2x3x3xf32>\n  return"),
            "stablehlo.custom_call of @lapack_sgehrd_ffi",
        ),
    ],
)
def test_others_are_refused_by_their_names(text: str, named: str) -> None:
    with pytest.raises(UnsupportedOpError, match=f"got {named} "):
        hotdesk.compile(text)
