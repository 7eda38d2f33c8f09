"""Copies that go: the same numbers without them, all freed once. Copies that stay: the numbers would change."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from hotdesk.analysis.copying.removal import CopyRemovals
from hotdesk.passes.buffers import copy_removal as passing
from hotdesk.passes.buffers.copy_removal import CopyRemoval
from tests.unit.passes.buffers.checking import through
from tests.unit.passes.buffers.running import same
from tests.unit.passes.memory import text_after

DRAWN = np.random.default_rng(5)
EIGHT: Any = DRAWN.random(8, np.float32)
SQUARE: Any = DRAWN.random((4, 4), np.float32)
IDENTITY = "#id = affine_map<(i) -> (i)>\n"

SOURCE = """
func.func @main(%m: index, %n: index, %z: f32) -> memref<?x?xf32> {
  %0 = memref.alloc(%m, %n) : memref<?x?xf32>
  linalg.fill ins(%z : f32) outs(%0 : memref<?x?xf32>)
  %c0 = arith.constant 0 : index
  %d0 = memref.dim %0, %c0 : memref<?x?xf32>
  %c1 = arith.constant 1 : index
  %d1 = memref.dim %0, %c1 : memref<?x?xf32>
  %1 = memref.alloc(%d0, %d1) : memref<?x?xf32>
  linalg.copy ins(%0 : memref<?x?xf32>) outs(%1 : memref<?x?xf32>)
  memref.dealloc %0 : memref<?x?xf32>
  return %1 : memref<?x?xf32>
}"""

TARGET = (
    IDENTITY
    + """
func.func @main(%x: memref<8xf32>, %result: memref<8xf32> {bufferize.result = 0}) {
  %temp = memref.alloc() : memref<8xf32>
  linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%x : memref<8xf32>) outs(%temp : memref<8xf32>) {
  ^bb0(%a: f32, %b: f32):
    %e = math.exp %a : f32
    linalg.yield %e : f32
  }
  memref.copy %temp, %result : memref<8xf32> to memref<8xf32>
  memref.dealloc %temp : memref<8xf32>
  return
}"""
)

VIEWS = """
func.func @main(%x: memref<4x4xf32>, %y: memref<4xf32> {bufferize.result = 0}) {
  %v = memref.subview %x[1, 1] [3, 3] [1, 1] : memref<4x4xf32> to memref<3x3xf32, strided<[4, 1], offset: 5>>
  %a = memref.alloc() : memref<3x3xf32>
  memref.copy %v, %a : memref<3x3xf32, strided<[4, 1], offset: 5>> to memref<3x3xf32>
  %r = memref.subview %a[1, 0] [2, 2] [1, 2] : memref<3x3xf32> to memref<2x2xf32, strided<[3, 2], offset: 3>>
  %t = memref.alloc() : memref<2x2xf32>
  linalg.exp ins(%r : memref<2x2xf32, strided<[3, 2], offset: 3>>) outs(%t : memref<2x2xf32>)
  %f = memref.collapse_shape %t [[0, 1]] : memref<2x2xf32> into memref<4xf32>
  memref.copy %f, %y : memref<4xf32> to memref<4xf32>
  memref.dealloc %t : memref<2x2xf32>
  memref.dealloc %a : memref<3x3xf32>
  return
}"""

PAYLOAD_OF_SOURCE = (
    IDENTITY
    + """
func.func @main(%z: f32, %x: memref<8xf32> {hotdesk.donated}, %y: memref<8xf32> {bufferize.result = 0}) {
  %c7 = arith.constant 7 : index
  %a = memref.alloc() : memref<8xf32>
  memref.copy %x, %a : memref<8xf32> to memref<8xf32>
  linalg.fill ins(%z : f32) outs(%x : memref<8xf32>)
  linalg.generic {indexing_maps = [#id], iterator_types = ["parallel"]} outs(%y : memref<8xf32>) {
  ^bb0(%b: f32):
    %i = linalg.index 0 : index
    %j = arith.subi %c7, %i : index
    %e = memref.load %a[%j] : memref<8xf32>
    linalg.yield %e : f32
  }
  memref.dealloc %a : memref<8xf32>
  return
}"""
)

PAYLOAD_OF_TARGET = (
    IDENTITY
    + """
func.func @main(%x: memref<8xf32>, %y: memref<8xf32> {bufferize.result = 0}) {
  memref.copy %x, %y : memref<8xf32> to memref<8xf32>
  %c7 = arith.constant 7 : index
  %a = memref.alloc() : memref<8xf32>
  linalg.generic {indexing_maps = [#id], iterator_types = ["parallel"]} outs(%a : memref<8xf32>) {
  ^bb0(%b: f32):
    %i = linalg.index 0 : index
    %j = arith.subi %c7, %i : index
    %e = memref.load %y[%j] : memref<8xf32>
    linalg.yield %e : f32
  }
  memref.copy %a, %y : memref<8xf32> to memref<8xf32>
  memref.dealloc %a : memref<8xf32>
  return
}"""
)

TURNED = """
func.func @main(%x: memref<4x4xf32>, %y: memref<4x4xf32> {bufferize.result = 0}) {
  memref.copy %x, %y : memref<4x4xf32> to memref<4x4xf32>
  %a = memref.alloc() : memref<4x4xf32>
  %t = memref.transpose %a (i, j) -> (j, i) : memref<4x4xf32> to memref<4x4xf32, strided<[1, 4]>>
  linalg.exp ins(%y : memref<4x4xf32>) outs(%t : memref<4x4xf32, strided<[1, 4]>>)
  memref.copy %a, %y : memref<4x4xf32> to memref<4x4xf32>
  memref.dealloc %a : memref<4x4xf32>
  return
}"""


@pytest.mark.parametrize("sizes", [(2, 3), (0, 3)])
def test_s2_9_source(sizes: tuple[int, int]) -> None:
    inputs: list[Any] = [*map(np.int64, sizes), np.float32(2.5)]
    changed, run = same(SOURCE, [CopyRemoval()], inputs, [sizes])
    assert "copy" not in changed
    assert "dealloc" not in changed
    assert run.frees == 0


def test_s2_9_target() -> None:
    changed, run = same(TARGET, [CopyRemoval()], [EIGHT], [(8,)])
    assert "memref.alloc" not in changed
    assert run.copies.count == 0


def test_s2_9_views() -> None:
    changed, run = same(VIEWS, [CopyRemoval()], [SQUARE], [(4,)])
    assert changed.count("memref.copy") == 1  # into a reshape, which is no view of the result
    assert run.allocations.count == 2


@pytest.mark.parametrize(
    ("text", "inputs", "shape"),
    [
        (PAYLOAD_OF_SOURCE, [np.float32(1.5), EIGHT], (8,)),
        (PAYLOAD_OF_TARGET, [EIGHT], (8,)),
        (TURNED, [SQUARE], (4, 4)),
    ],
    ids=["payload of source", "payload of target", "turned"],
)
def test_s2_9_stays(text: str, inputs: list[object], shape: tuple[int, ...]) -> None:
    changed, _ = same(text, [CopyRemoval()], inputs, [shape])
    assert changed.count("memref.copy") == text.count("memref.copy")


def test_twice_changes_nothing_more() -> None:
    once = text_after(VIEWS, CopyRemoval())
    assert text_after(once, CopyRemoval()) == once


def test_a_row_of_copies_that_are_overwritten_goes_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    rounds = 0

    class Counted(CopyRemovals):
        def __init__(self, *arguments: Any) -> None:
            nonlocal rounds
            rounds += 1
            super().__init__(*arguments)

    monkeypatch.setattr(passing, "CopyRemovals", Counted)
    kind = "memref<8xf32>"
    lines = [f"linalg.map {{ math.exp }} ins(%x : {kind}) outs(%a : {kind})"]
    lines += [f"memref.copy %{'xa'[i % 2]}, %o : {kind} to {kind}" for i in range(64)]
    text = f"""
func.func @main(%x: {kind}, %o: {kind} {{bufferize.result = 0}}) {{
  %a = memref.alloc() : {kind}
  {"  ".join(line + chr(10) for line in lines)}
  memref.dealloc %a : {kind}
  return
}}"""
    changed, _ = same(text, [CopyRemoval()], [EIGHT], [(8,)])
    assert changed.count("memref.copy") == 0  # %a becomes %o
    assert rounds <= 4


def test_elements_of_which_it_is_not_known_how_many_bytes_they_take() -> None:
    """What is between two memrefs of such is told by what is the same alone."""
    kind = "memref<2xmemref<4xf32>>"
    text = f"""
func.func @main(%h: {kind}, %q: {kind}) {{
  %f = memref.subview %h[0] [1] [1] : {kind} to memref<1xmemref<4xf32>, strided<[1]>>
  %g = memref.subview %h[1] [1] [1] : {kind} to memref<1xmemref<4xf32>, strided<[1], offset: 1>>
  memref.copy %f, %g : memref<1xmemref<4xf32>, strided<[1]>> to memref<1xmemref<4xf32>, strided<[1], offset: 1>>
  memref.copy %h, %q : {kind} to {kind}
  return
}}"""
    assert through(text, "hotdesk-copy-removal").count("memref.copy") == 2
