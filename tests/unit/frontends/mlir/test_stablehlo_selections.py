"""`select_and_scatter` as its specification has it, on windows that overlap, that leave gaps, and that reach into padding."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from typing import Any, TypeAlias

import numpy as np
import pytest

import hotdesk
from hotdesk.errors import UnsupportedOpError

COMPARES: dict[str, Any] = {"GE": np.greater_equal, "GT": np.greater, "LE": np.less_equal, "LT": np.less}
Windows: TypeAlias = tuple[tuple[int, int, int, int], ...]
ADD = "%n = stablehlo.add %a, %b : tensor<{0}>\n stablehlo.return %n : tensor<{0}>"


def selecting(
    operand: tuple[int, ...],
    windows: Windows,
    compared: str,
    element: str = "f32",
    scattered: str = ADD,
    begin: str = "0.0",
) -> str:
    """A program of one op; windows are a size, a stride, and padding in front and behind, dim by dim."""
    sizes, strides, low, high = ([*each] for each in zip(*windows, strict=True))
    x = "x".join(map(str, (*operand, element)))
    s = "x".join(map(str, (*counts(operand, windows), element)))
    padding = [list(pair) for pair in zip(low, high, strict=True)]
    return f"""
func.func @f(%x: tensor<{x}>, %s: tensor<{s}>) -> tensor<{x}> {{
  %c = stablehlo.constant dense<{begin}> : tensor<{element}>
  %r = "stablehlo.select_and_scatter"(%x, %s, %c) <{{padding = dense<{padding}> : tensor<{len(operand)}x2xi64>,
      window_dimensions = array<i64: {str(sizes)[1:-1]}>, window_strides = array<i64: {str(strides)[1:-1]}>}}> ({{
  ^bb0(%a: tensor<{element}>, %b: tensor<{element}>):
    {compared}
    stablehlo.return %p : tensor<i1>
  }}, {{
  ^bb0(%a: tensor<{element}>, %b: tensor<{element}>):
    {scattered.format(element)}
  }}) : (tensor<{x}>, tensor<{s}>, tensor<{element}>) -> tensor<{x}>
  return %r : tensor<{x}>
}}"""


def by(direction: str, element: str = "f32") -> str:
    return f"%p = stablehlo.compare {direction}, %a, %b : (tensor<{element}>, tensor<{element}>) -> tensor<i1>"


def counts(operand: tuple[int, ...], windows: Windows) -> tuple[int, ...]:
    return tuple((n + low + high - k) // step + 1 for n, (k, step, low, high) in zip(operand, windows, strict=True))


def meant(x: Any, s: Any, windows: Windows, direction: str, begin: float = 0) -> Any:
    """The specification, element by element."""
    result = np.full_like(x, begin)
    inside, outer = _places(x.shape), _places(s.shape)
    for window in outer:
        chosen: tuple[int, ...] | None = None
        for offset in _places([k for k, *_ in windows]):
            place = tuple(o * step + k - low for o, k, (_, step, low, _) in zip(window, offset, windows, strict=True))
            if place in inside and (chosen is None or not COMPARES[direction](x[chosen], x[place])):
                chosen = place
        if chosen is not None:
            result[chosen] += s[window]
    return result


def _places(sizes: Sequence[int]) -> dict[tuple[int, ...], None]:
    """All places in a tensor, in row-major order."""
    return dict.fromkeys(product(*map(range, sizes)))


WINDOWS: dict[str, tuple[tuple[int, ...], Windows]] = {
    "overlapping": ((7, 6), ((3, 2, 0, 0), (3, 1, 0, 0))),
    "padded": ((2, 5, 4), ((1, 1, 0, 0), (3, 2, 1, 2), (2, 1, 1, 0))),
    "side by side": ((4, 6), ((2, 2, 0, 0), (3, 3, 0, 0))),
    "apart": ((9,), ((2, 4, 1, 0),)),
    "in padding alone": ((2,), ((2, 1, 3, 2),)),
    "of one element": ((3, 3), ((1, 2, 1, 1), (1, 1, 0, 0))),
    "none": ((2, 3), ((3, 1, 0, 0), (1, 1, 0, 0))),
    "of no elements": ((0, 3), ((2, 1, 1, 1), (2, 1, 0, 0))),
}


@pytest.mark.parametrize("direction", COMPARES)
@pytest.mark.parametrize("name", WINDOWS)
def test_the_element_that_stays_gets_the_source(name: str, direction: str) -> None:
    operand, windows = WINDOWS[name]
    program = hotdesk.compile(selecting(operand, windows, by(direction), begin="2.0"))
    s: Any = np.random.default_rng(1).integers(-9, 9, counts(operand, windows)).astype(np.float32)
    draw = np.random.default_rng(2)
    for values in ([1.0, 2.0, 3.0, 4.0], [0.0, -0.0], [-np.inf], [1.0, np.nan, 2.0, -np.inf], [np.inf, np.nan]):
        x: Any = draw.choice(np.array(values, np.float32), operand)
        got: Any = program(x, s)
        np.testing.assert_array_equal(got, meant(x, s, windows, direction, 2))


@pytest.mark.parametrize(
    ("element", "dtype"), [("i8", np.int8), ("ui8", np.uint8), ("i32", np.int32), ("f64", np.float64)]
)
def test_elements_of_other_types(element: str, dtype: type[np.generic]) -> None:
    operand, windows = WINDOWS["padded"]
    x: Any = np.random.default_rng(0).integers(0, 256, operand).astype(np.uint8).astype(np.int8).astype(dtype)
    s: Any = np.random.default_rng(1).integers(0, 9, counts(operand, windows)).astype(dtype)
    got: Any = hotdesk.compile(
        selecting(operand, windows, by("GE", element), element, begin="0.0" if element == "f64" else "0")
    )(x, s)
    assert got.dtype == dtype
    np.testing.assert_array_equal(got, meant(x, s, windows, "GE"))


def test_operands_of_the_comparison_the_other_way_round() -> None:
    operand, windows = WINDOWS["overlapping"]
    x: Any = np.random.default_rng(0).integers(0, 4, operand).astype(np.float32)
    s: Any = np.random.default_rng(1).integers(0, 9, counts(operand, windows)).astype(np.float32)
    swapped = by("LE").replace("%a, %b", "%b, %a")
    got: Any = hotdesk.compile(selecting(operand, windows, swapped))(x, s)
    np.testing.assert_array_equal(got, meant(x, s, windows, "GE"))


@pytest.mark.parametrize(
    ("compared", "scattered", "told"),
    [
        (by("EQ"), ADD, "selected by GE, GT, LE or LT"),
        (by("GE").replace("%b :", "%b, TOTALORDER :"), ADD, "selected by GE, GT, LE or LT"),
        (f"%e = stablehlo.abs %a : tensor<f32>\n{by('GE').replace('%a', '%e')}", ADD, "selected by GE, GT, LE or LT"),
        (by("GE"), "stablehlo.return %b : tensor<{0}>", "what is scattered, got another function"),
        (by("GE"), ADD.replace("add %a, %b", "power %a, %b"), "what is scattered, got another function"),
    ],
)
def test_others_are_refused(compared: str, scattered: str, told: str) -> None:
    operand, windows = WINDOWS["side by side"]
    with pytest.raises(UnsupportedOpError, match=rf"stablehlo\.select_and_scatter.*{told}"):
        hotdesk.compile(selecting(operand, windows, compared, scattered=scattered))


def test_open_sizes_are_refused() -> None:
    text = selecting((4, 6), WINDOWS["side by side"][1], by("GE")).replace("4x6xf32", "?x6xf32")
    with pytest.raises(
        UnsupportedOpError, match=r"stablehlo\.select_and_scatter`: expected known sizes, got tensor<\?x6xf32>"
    ):
        hotdesk.compile(text.replace("2x2xf32", "?x2xf32"))
