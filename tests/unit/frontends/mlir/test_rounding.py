"""Conversions to narrower floats in every rounding mode, beside a search among all floats of the narrower format."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import numpy.typing as npt
import pytest

import hotdesk
from hotdesk.errors import UnsupportedOpError

MODES = ("to_nearest_even", "downward", "upward", "toward_zero", "to_nearest_away")
FORMATS: dict[str, Any] = {"bf16": ml_dtypes.bfloat16, "f16": np.float16}
LOOP = """
func.func @main(%x: tensor<?xf32>) -> tensor<?xf32> {{
  %c0 = arith.constant 0 : index
  %n = tensor.dim %x, %c0 : tensor<?xf32>
  %e = tensor.empty(%n) : tensor<?xf32>
  %r = linalg.map ins(%x : tensor<?xf32>) outs(%e : tensor<?xf32>) (%a: f32, %o: f32) {{
    %t = arith.truncf %a {mode} : f32 to {to}
    %b = arith.extf %t : {to} to f32
    linalg.yield %b : f32
  }}
  return %r : tensor<?xf32>
}}
"""
TENSORS = """
func.func @main(%x: tensor<?xf32>) -> tensor<?xf32> {{
  %t = arith.truncf %x {mode} : tensor<?xf32> to tensor<?x{to}>
  %b = arith.extf %t : tensor<?x{to}> to tensor<?xf32>
  return %b : tensor<?xf32>
}}
"""
VECTORS = """
func.func @main(%x: memref<8xf32>, %y: memref<8xf32>) {{
  %c0 = arith.constant 0 : index
  %a = vector.load %x[%c0] : memref<8xf32>, vector<8xf32>
  %t = arith.truncf %a {mode} : vector<8xf32> to vector<8x{to}>
  %b = arith.extf %t : vector<8x{to}> to vector<8xf32>
  vector.store %b, %y[%c0] : memref<8xf32>, vector<8xf32>
  return
}}
"""


def _given(kind: Any) -> npt.NDArray[np.float32]:
    """Floats of all sizes, what lies in the middle between two of the narrower format, and what is special."""
    random = np.random.default_rng(0)
    bits = random.integers(0, 1 << 32, 4096, dtype=np.uint32).view(np.float32)
    known = np.arange(0, 1 << 15, 37, dtype=np.uint16).view(kind).astype(np.float64)
    middles = ((known[:-1] + known[1:]) / 2).astype(np.float32)
    largest = np.float32(ml_dtypes.finfo(kind).max)
    special = [0.0, -0.0, np.inf, -np.inf, np.nan, largest, -largest, 1e-45, -1e-45, 3.4e38, -3.4e38, 65519.0, 65520.0]
    found = np.concatenate([bits, middles, -middles, known.astype(np.float32), np.array(special, np.float32)])
    near = np.arange(1, 200, dtype=np.uint16).view(kind).astype(np.float64)
    return np.concatenate([found, ((near[:-1] + near[1:]) / 2).astype(np.float32)])


def _expected(x: npt.NDArray[np.float32], kind: Any, mode: str) -> npt.NDArray[np.float64]:
    """What IEEE 754 says, found among all numbers of a format, with one behind the largest in place of infinity."""
    numbers = np.arange(1 << 16, dtype=np.uint32).astype(np.uint16).view(kind).astype(np.float64)
    numbers = np.unique(numbers[np.isfinite(numbers)])
    behind = numbers[-1] + (numbers[-1] - numbers[-2])
    numbers = np.concatenate([[-behind], numbers, [behind]])
    exact = np.clip(x.astype(np.float64), -np.nextafter(behind, 0), np.nextafter(behind, 0))
    place = np.clip(np.searchsorted(numbers, exact), 1, len(numbers) - 1)
    up, down = numbers[place], numbers[place - 1]
    down = np.where(up == exact, up, down)
    small = np.where(np.abs(down) < np.abs(up), down, up)
    large = np.where(small == down, up, down)
    ways = {"downward": down, "upward": up, "toward_zero": small}
    if mode in ways:
        found = ways[mode]
    else:
        below, above = np.abs(exact - small), np.abs(large - exact)
        is_even = np.abs(numbers.searchsorted(small) - numbers.searchsorted(0.0)) % 2 == 0
        takes_small = below < above if mode == "to_nearest_away" else (below < above) | ((below == above) & is_even)
        found = np.where(takes_small, small, large)
    found = np.where(np.abs(found) == behind, np.copysign(np.inf, found), found)
    return np.where(np.isnan(x) | np.isinf(x), x.astype(np.float64), found)


@pytest.mark.filterwarnings("ignore:invalid value encountered")
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("to", FORMATS)
@pytest.mark.parametrize("text", [LOOP, TENSORS], ids=["loop", "tensors"])
def test_every_mode(text: str, to: str, mode: str) -> None:
    x = _given(FORMATS[to])
    found = hotdesk.compile(text.format(mode=mode, to=to))(x)
    np.testing.assert_array_equal(found, _expected(x, FORMATS[to], mode).astype(np.float32))


@pytest.mark.filterwarnings("ignore:invalid value encountered")
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("to", FORMATS)
def test_vectors(to: str, mode: str) -> None:
    x, y = _given(FORMATS[to])[-8:], np.zeros(8, np.float32)
    hotdesk.compile(VECTORS.format(mode=mode, to=to))(x, y)
    np.testing.assert_array_equal(y, _expected(x, FORMATS[to], mode).astype(np.float32))


def test_from_doubles() -> None:
    text = LOOP.replace("xf32", "xf64").replace("%a: f32, %o: f32", "%a: f64, %o: f64").replace(": f32 to", ": f64 to")
    text = text.replace("to f32", "to f64").replace("yield %b : f32", "yield %b : f64")
    x = np.array([1 + 2.0**-30, -1 - 2.0**-30, 1e300, -1e300, 1e-300])
    for mode, expected in {
        "downward": [1, -1 - 2.0**-23, np.finfo(np.float32).max, -np.inf, 0],
        "upward": [1 + 2.0**-23, -1, np.inf, -np.finfo(np.float32).max, 2.0**-149],
        "toward_zero": [1, -1, np.finfo(np.float32).max, -np.finfo(np.float32).max, 0],
        "to_nearest_away": [1, -1, np.inf, -np.inf, 0],
    }.items():
        found = hotdesk.compile(text.format(mode=mode, to="f32"))(x)
        np.testing.assert_array_equal(found, np.array(expected, np.float64))


def test_another_format_is_refused() -> None:
    text = LOOP.format(mode="downward", to="f8E5M2")
    with pytest.raises(UnsupportedOpError, match=r"op `arith.truncf` rounds in a way that is not compiled: .*:7:"):
        hotdesk.compile(text)
