"""Loops that are cut where an index bends: which they are, and that each part reads what the whole did."""

from __future__ import annotations

from itertools import pairwise

import pytest
import torch

from hotdesk._bindings import ir
from hotdesk.ir.context import make_context
from hotdesk.ir.loops import for_bounds
from hotdesk.ir.walking import nested_ops
from hotdesk.kernels.text import KernelText, View
from hotdesk.passes.lower.split_loops import split_loops
from tests.unit.passes.lower.running import Kernel

SIZE = 23
ROWS = f"memref<3x{SIZE}xf32>"
BENT = {
    "absolute value": (["%a = arith.subi %j, %c5 : index", "%i = math.absi %a : index"], 2),
    "reflected twice": (
        [
            "%a = arith.subi %j, %c5 : index",
            "%b = math.absi %a : index",
            "%c = arith.subi %c11, %b : index",
            "%d = math.absi %c : index",
            "%i = arith.subi %c11, %d : index",
        ],
        3,
    ),
    "clamped": (
        [
            "%a = arith.subi %j, %c5 : index",
            "%b = arith.maxsi %a, %c0 : index",
            "%i = arith.minsi %c11, %b : index",
        ],
        3,
    ),
    "chosen, as i64": (
        [
            "%a = arith.index_cast %j : index to i64",
            "%five = arith.constant 5 : i64",
            "%b = arith.subi %a, %five : i64",
            "%zero = arith.constant 0 : i64",
            "%negative = arith.cmpi slt, %b, %zero : i64",
            "%more = arith.constant 23 : i64",
            "%c = arith.addi %b, %more : i64",
            "%d = arith.select %negative, %c, %b : i64",
            "%i = arith.index_cast %d : i64 to index",
        ],
        2,
    ),
    "downwards": (
        [
            "%a = arith.subi %c11, %j : index",
            "%more = arith.cmpi sge, %a, %c5 : index",
            "%b = arith.select %more, %a, %j : index",
            "%i = arith.addi %b, %c0 : index",
        ],
        2,
    ),
    "nowhere in the loop": (["%a = arith.addi %j, %c0 : index", "%i = math.absi %a : index"], 1),
}


def text(lines: list[str]) -> str:
    body = "\n    ".join(lines)
    return f"""
func.func @KERNEL(%p0: memref<f32>, %p1: memref<f32> {{llvm.noalias}}) {{
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %c5 = arith.constant 5 : index
  %c11 = arith.constant 11 : index
  %n = arith.constant {SIZE} : index
  %x = memref.reinterpret_cast %p0 to offset: [0], sizes: [3, {SIZE}], strides: [{SIZE}, 1] : memref<f32> to {ROWS}
  %y = memref.reinterpret_cast %p1 to offset: [0], sizes: [3, {SIZE}], strides: [{SIZE}, 1] : memref<f32> to {ROWS}
  scf.for %k = %c0 to %c3 step %c1 {{
  scf.for %j = %c0 to %n step %c1 {{
    {body}
    %back = arith.subi %k, %c1 : index
    %row = math.absi %back : index
    %v = memref.load %x[%row, %i] : {ROWS}
    memref.store %v, %y[%k, %j] : {ROWS}
  }} }}
  return
}}"""


def ranges(program: str) -> list[tuple[object, object]]:
    """Where the innermost loops begin and end once they are cut."""
    with make_context(), ir.Location.unknown():
        module = ir.Module.parse(program)
        split_loops(module)
        module.operation.verify()
        loops = [op for op in nested_ops(module.operation) if op.name == "scf.for"]
        inner = [for_bounds(op) for op in loops if not any(each.name == "scf.for" for each in nested_ops(op))]
        return [(each.lower, each.upper) for each in inner]


def place(j: int, name: str) -> int:
    """The index that is read, by the text above."""
    far = j - 5
    return {
        "absolute value": abs(far),
        "reflected twice": 11 - abs(11 - abs(far)),
        "clamped": min(max(far, 0), 11),
        "chosen, as i64": far + SIZE if far < 0 else far,
        "downwards": 11 - j if 11 - j >= 5 else j,
        "nowhere in the loop": j,
    }[name]


@pytest.mark.parametrize("kind", ["i64", "i32"])
def test_parts_count_in_the_type_of_the_loop(kind: str) -> None:
    lines, parts = BENT["absolute value"]
    constants = [f"%{name} = arith.constant {number} : {kind}" for name, number in (("z", 0), ("o", 1), ("m", SIZE))]
    whole = text(lines).replace(
        "  scf.for %j = %c0 to %n step %c1 {",
        "\n".join(
            [*constants, f"scf.for %r = %z to %m step %o : {kind} {{", f"%j = arith.index_cast %r : {kind} to index"]
        ),
    )
    assert whole.count(f": {kind} {{") == 1
    assert len(ranges(whole)) == parts


@pytest.mark.parametrize("name", BENT)
def test_each_part_reads_what_the_whole_loop_did(name: str) -> None:
    lines, parts = BENT[name]
    found = ranges(text(lines))
    assert len(found) == parts
    assert found[0][0] == 0
    assert found[-1][1] == SIZE
    assert all(a[1] == b[0] for a, b in pairwise(found))
    x, y = torch.arange(3.0 * SIZE).reshape(3, SIZE), torch.full((3, SIZE), float("nan"))
    views = [View("f32", (3, SIZE), (SIZE, 1))] * 2
    Kernel(KernelText(text(lines), ()), views)(x, y)
    places = [place(j, name) for j in range(SIZE)]
    assert torch.equal(y, x[[1, 0, 1]][:, places])


@pytest.mark.parametrize(
    "lines",
    [
        ["%a = arith.muli %j, %c3 : index", "%b = arith.subi %a, %c5 : index", "%i = math.absi %b : index"],  # by 3
        ["%a = arith.muli %j, %j : index", "%b = arith.subi %a, %c5 : index", "%i = math.absi %b : index"],  # a square
        ["%a = arith.remsi %j, %c5 : index", "%i = math.absi %a : index"],
        ["%a = arith.subi %j, %k : index", "%i = math.absi %a : index"],  # of two loops
        ["%a = arith.cmpi ult, %j, %c5 : index", "%i = arith.select %a, %j, %c0 : index"],
        [
            "%a = arith.index_cast %j : index to i32",
            "%b = math.absi %a : i32",
            "%i = arith.index_cast %b : i32 to index",
        ],
    ],
)
def test_others_stay(lines: list[str]) -> None:
    assert ranges(text(lines)) == [(0, SIZE)]


def test_long_bodies_are_not_repeated() -> None:
    long = [f"%z{i} = arith.addi %j, %c1 : index" for i in range(90)]
    assert len(ranges(text([*BENT["clamped"][0], *long[:-60]]))) == 3
    assert ranges(text([*BENT["clamped"][0], *long])) == [(0, SIZE)]
