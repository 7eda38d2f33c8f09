"""Memrefs with strides of their own: what programs with such arguments, results and allocations compute."""

from __future__ import annotations

import numpy as np
import pytest

import hotdesk
from hotdesk.errors import (
    ArgumentTypeError,
    DonatedOverlapError,
    DtypeError,
    LayoutError,
    RankError,
    ShapeError,
    UnsupportedOpError,
)
from hotdesk.runtime.arguments.tensors import is_torch

ANY = "memref<?xf32, strided<[?], offset: ?>>"
DOUBLED = f"""
func.func @doubled(%x: {ANY}, %y: {ANY}) -> {ANY} {{
  linalg.add ins(%x, %x : {ANY}, {ANY}) outs(%y : {ANY})
  return %y : {ANY}
}}"""
COLUMNS = "memref<4x3xf32, strided<[1, 4]>>"
BY_COLUMNS = f"""
func.func @doubled(%x: {COLUMNS}) -> {COLUMNS} {{
  %c = memref.alloc() : {COLUMNS}
  linalg.add ins(%x, %x : {COLUMNS}, {COLUMNS}) outs(%c : {COLUMNS})
  return %c : {COLUMNS}
}}"""
ROWS = "memref<?x?xf32, strided<[?, 1], offset: ?>>"
DIAGONAL = f"""
func.func @diagonal(%x: {ROWS}, %n: index) {{
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %one = arith.constant 1.0 : f32
  scf.for %i = %c0 to %n step %c1 {{
    memref.store %one, %x[%i, %i] : {ROWS}
  }}
  return
}}"""


@pytest.mark.parametrize(
    "part",
    [np.s_[::2, 1], np.s_[1::3, 0], np.s_[3], np.s_[0:0, 2], np.s_[5:6, 2]],
    ids=["column", "steps", "row", "empty", "one"],
)
def test_views_are_written_where_they_lie(part: object) -> None:
    program = hotdesk.compile(DOUBLED)
    table = np.arange(24, dtype=np.float32).reshape(6, 4)
    expected = table.copy()
    view, source = table[part], np.arange(2 * table[part].size, dtype=np.float32)[::2]  # type: ignore[index]
    expected[part] = 2 * source  # type: ignore[index]
    assert program(source, view) is view
    np.testing.assert_array_equal(table, expected)
    assert not program.check(source, view).faults


def test_tensors_of_torch() -> None:
    torch = pytest.importorskip("torch")
    table = torch.zeros(3, 4)
    result = hotdesk.compile(DOUBLED)(torch.arange(6.0)[::2], table[:, 2])
    assert is_torch(result)
    assert table[:, 2].tolist() == [0, 4, 8]
    assert table.sum() == 12


def test_steps_backwards_are_copied_where_they_are_only_read() -> None:
    program, source, room = hotdesk.compile(DOUBLED), np.arange(5, dtype=np.float32), np.zeros(5, np.float32)
    np.testing.assert_array_equal(program(source[::-1], room), 2 * source[::-1])
    with pytest.raises(LayoutError, match=r"written argument '%y'"):
        program(source, room[::-1])


def test_stated_strides() -> None:
    program = hotdesk.compile(BY_COLUMNS)
    table = np.arange(12, dtype=np.float32).reshape(4, 3)
    np.testing.assert_array_equal(program(table), 2 * table)
    np.testing.assert_array_equal(program(np.asfortranarray(table)), 2 * table)
    assert str(program) == "<Program doubled(%x: f32[4, 3]) -> (f32[4, 3])>"


def test_control_flow_in_a_part_of_a_table() -> None:
    table = np.zeros((5, 6), np.float32)
    program = hotdesk.compile(DIAGONAL)
    program(table[1:4, 2:5], 3)
    expected = np.zeros((5, 6), np.float32)
    expected[[1, 2, 3], [2, 3, 4]] = 1
    np.testing.assert_array_equal(table, expected)
    with pytest.raises(LayoutError, match=r"strides \(1, 6\)"):
        program(table.T, 3)


def test_what_is_refused() -> None:
    program, source, room = hotdesk.compile(DOUBLED), np.ones(4, np.float32), np.zeros((4, 2), np.float32)
    for given, kind in (
        ((source, room), RankError),
        ((source, room[:3, 0]), hotdesk.HotdeskError),
        ((source, np.broadcast_to(np.float32(1), 4)), LayoutError),
        ((source.astype(np.float64), room[:, 0]), DtypeError),
        ((room[:, 1], room[:, 0]), DonatedOverlapError),
        ((3, room[:, 0]), ArgumentTypeError),
    ):
        with pytest.raises(kind):
            program(*given)
    assert not room.any()
    with pytest.raises(ShapeError):
        hotdesk.compile(BY_COLUMNS)(np.zeros((3, 3), np.float32))


def test_donated_views_keep_what_lies_between() -> None:
    table = np.zeros((4, 2), np.float32)
    hotdesk.compile(DOUBLED, donate=True)(np.ones(4, np.float32), table[:, 0])
    np.testing.assert_array_equal(table, [[2, 0]] * 4)


@pytest.mark.parametrize("size", ["64", "?"])
def test_allocations_have_room_for_their_gaps(size: str) -> None:
    gaps, plain = f"memref<{size}xf32, strided<[2], offset: 3>>", f"memref<{size}xf32>"
    sizes = "%n" if size == "?" else ""
    program = hotdesk.compile(f"""
func.func @main(%x: {plain}, %n: index, %y: {plain}) {{
  %a = memref.alloc({sizes}) : {gaps}
  %b = memref.alloc({sizes}) : {plain}
  linalg.add ins(%x, %x : {plain}, {plain}) outs(%a : {gaps})
  linalg.add ins(%x, %x : {plain}, {plain}) outs(%b : {plain})
  linalg.add ins(%b, %b : {plain}, {plain}) outs(%b : {plain})
  linalg.add ins(%a, %b : {gaps}, {plain}) outs(%y : {plain})
  memref.dealloc %b : {plain}
  memref.dealloc %a : {gaps}
  return
}}""")
    source, room = np.arange(64, dtype=np.float32), np.zeros(64, np.float32)
    program(source, 64, room)
    np.testing.assert_array_equal(room, 6 * source)
    assert not program.check(source, 64, room).faults


BACKWARDS = "memref<4xf32, strided<[-1], offset: {offset}>>"


@pytest.mark.parametrize(
    "text",
    [
        f"""
func.func @main(%x: memref<4xf32>) {{
  %a = memref.alloc() : {BACKWARDS.format(offset=3)}
  memref.copy %x, %a : memref<4xf32> to {BACKWARDS.format(offset=3)}
  return
}}""",
        f"func.func @main(%x: {BACKWARDS.format(offset='?')}) {{ return }}",
    ],
    ids=["allocation", "argument"],
)
def test_stated_steps_backwards_are_refused(text: str) -> None:
    """Memory would begin in front of the first element."""
    with pytest.raises(UnsupportedOpError, match=r"strides .*, got memref<4xf32, strided<\[-1\]"):
        hotdesk.compile(text)
