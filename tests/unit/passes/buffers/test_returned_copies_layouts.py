"""The copy of a result has the layout that its type says, whatever that is: slices, transposed memory, rows with gaps."""

from __future__ import annotations

import numpy as np
import pytest

from hotdesk.errors import BufferizationError
from hotdesk.passes.buffers.deallocate import DeallocateAfterLastUse
from tests.unit.passes.buffers.checking import FREE, freed_alike, through
from tests.unit.passes.buffers.running import same

SHOWN = {
    "transposed": (
        "memref<4x3xf32, strided<[1, 4]>>",
        "memref.transpose %x (i, j) -> (j, i) : memref<3x4xf32> to memref<4x3xf32, strided<[1, 4]>>",
    ),
    "a slice that begins behind": (
        "memref<2x2xf32, strided<[4, 1], offset: 5>>",
        "memref.subview %x[1, 1] [2, 2] [1, 1] : memref<3x4xf32> to memref<2x2xf32, strided<[4, 1], offset: 5>>",
    ),
    "a column": (
        "memref<3xf32, strided<[4], offset: 3>>",
        "memref.subview %x[0, 3] [3, 1] [1, 1] : memref<3x4xf32> to memref<3xf32, strided<[4], offset: 3>>",
    ),
    "sizes and offset at run time": (
        "memref<?x?xf32, strided<[8, 2], offset: ?>>",
        "memref.subview %x[%n, %n] [%n, %n] [2, 2] : memref<3x4xf32> to memref<?x?xf32, strided<[8, 2], offset: ?>>",
    ),
    "one stride at run time": (
        "memref<2x2xf32, strided<[?, 2], offset: 1>>",
        """memref.reinterpret_cast %x to offset: [1], sizes: [2, 2], strides: [%s, 2]
            : memref<3x4xf32> to memref<2x2xf32, strided<[?, 2], offset: 1>>""",
    ),
    "nothing": (
        "memref<0x2xf32, strided<[4, 1], offset: 4>>",
        "memref.subview %x[1, 0] [0, 2] [1, 1] : memref<3x4xf32> to memref<0x2xf32, strided<[4, 1], offset: 4>>",
    ),
    "backwards": (
        "memref<4xf32, strided<[-2], offset: ?>>",
        """memref.reinterpret_cast %x to offset: [%e], sizes: [4], strides: [-2]
            : memref<3x4xf32> to memref<4xf32, strided<[-2], offset: ?>>""",
    ),
}
INPUT = np.arange(12, dtype=np.float32).reshape(3, 4)


def program(name: str) -> str:
    kind, shown = SHOWN[name]
    plain = kind[: kind.index(",")] + ">"
    sizes = ", ".join(["%n"] * plain.count("?"))
    return f"""func.func private @shown(%x: memref<3x4xf32>, %n: index, %s: index, %e: index) -> {kind} {{
  %v = {shown}
  return %v : {kind}
}}
func.func @main(%x: memref<3x4xf32>) -> {plain} {{
  %n = arith.constant 1 : index
  %s = arith.constant 4 : index
  %e = arith.constant 7 : index
  %r = call @shown(%x, %n, %s, %e) : (memref<3x4xf32>, index, index, index) -> {kind}
  %o = memref.alloc({sizes}) : {plain}
  memref.copy %r, %o : {kind} to {plain}
  return %o : {plain}
}}"""


@pytest.mark.parametrize("mode", [FREE, f"{FREE}{{mode=copies}}"])
@pytest.mark.parametrize("name", SHOWN)
def test_freed_by_the_caller(name: str, mode: str) -> None:
    changed = freed_alike(program(name), mode)
    assert changed.count("memref.reinterpret_cast") >= 1


@pytest.mark.parametrize("name", ["transposed", "a slice that begins behind", "one stride at run time"])
def test_on_this_machine(name: str) -> None:
    sizes = {"transposed": (4, 3)}.get(name, (2, 2))
    same(program(name), [DeallocateAfterLastUse()], [INPUT], [sizes], leaks=0)


def test_a_map_without_strides_is_that_of_the_copy() -> None:
    kind = "memref<8x8xf32, affine_map<(i, j) -> (j, i floordiv 2, i mod 2)>>"
    changed = through(f"func.func @main(%x: {kind}) -> {kind} {{ return %x : {kind} }}", FREE)
    assert "memref.copy" in changed


def test_a_map_of_symbols_is_refused() -> None:
    kind = "memref<8xf32, affine_map<(i)[s] -> (i mod 2, i floordiv 2 + s)>>"
    with pytest.raises(BufferizationError, match="is copied: expected a layout that is known"):
        through(f"func.func @main(%x: {kind}) -> {kind} {{ return %x : {kind} }}", FREE)
