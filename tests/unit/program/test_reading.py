"""One record for tensors and memrefs: the same program on either is read into the same ops, blocks and edges."""

from __future__ import annotations

import pytest
from torch_mlir import ir

from hotdesk.analysis.memrefs.buffer_reading import read_buffers
from hotdesk.analysis.tensors.reading import read_function
from hotdesk.program.dominance import Dominance
from hotdesk.program.liveness import Liveness
from hotdesk.program.records import ENTRY, EXIT, UNTRACKED
from tests.unit.parsing import function, parse

BRANCHES = """func.func @f(%p: i1, %a: T, %b: T) -> T {
  cf.cond_br %p, ^left(%a : T), ^right
^left(%x: T):
  cf.br ^end(%x : T)
^right:
  cf.br ^end(%b : T)
^end(%y: T):
  return %y : T
}"""
LOOP = """func.func @f(%n: index, %a: T, %b: T) -> T {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %r = scf.for %i = %zero to %n step %one iter_args(%x = %a) -> (T) {
    %p = arith.cmpi eq, %i, %one : index
    %s = scf.if %p -> (T) {
      scf.yield %x : T
    } else {
      scf.yield %b : T
    }
    scf.yield %s : T
  }
  return %r : T
}"""
EACH = pytest.mark.parametrize("text", [BRANCHES, LOOP], ids=["branches", "loop"])


@EACH
def test_both_levels_are_read_alike(text: str) -> None:
    tensors, memrefs = parse(text.replace("T", "tensor<4xf32>")), parse(text.replace("T", "memref<4xf32>"))
    one, other = read_function(function(tensors)), read_buffers(function(memrefs))
    assert [(op.name, op.block, op.end, op.operands, op.results, op.regions, op.edges) for op in one.ops] == [
        (op.name, op.block, op.end, op.operands, op.results, op.regions, op.edges) for op in other.ops
    ]
    assert one.blocks == other.blocks
    assert [(edge, edge.edge) for edge in one.flows] == [(edge, edge.edge) for edge in other.flows]
    assert [(v.producer, v.position, v.block) for v in one.values] == [
        (v.producer, v.position, v.block) for v in other.values
    ]


def test_a_loop_passes_its_values_round_and_out() -> None:
    module = parse(LOOP.replace("T", "memref<4xf32>"))
    program = read_buffers(function(module))
    loop = next(op for op in program.ops if op.name == "scf.for")
    ways = {(edge.start, edge.end) for edge in loop.edges}
    assert ways == {(ENTRY, 0), (ENTRY, EXIT), (0, 0), (0, EXIT)}
    (result,) = loop.results
    sources = {edge.source for edge in program.flows if edge.target == result}
    assert len(sources) == 2  # what the loop begins with, and what an iteration ends with
    assert program.following(loop, 0) == [0]


def test_blocks_dominate_and_reach() -> None:
    program = read_buffers(function(parse(BRANCHES.replace("T", "memref<4xf32>"))))
    entry, left, right, end = program.body
    dominance, liveness = Dominance(program), Liveness(program)
    assert dominance.common((left, right)) == entry
    assert dominance.dominates(entry, end)
    assert not dominance.dominates(left, end)
    assert set(liveness.reached(entry)) == {left, right, end}
    assert set(liveness.reached(entry, left)) == {right, end}
    assert program.is_structured is False
    assert program.heads() == frozenset()


def test_what_is_no_memref_is_not_followed() -> None:
    program = read_buffers(function(parse(LOOP.replace("T", "memref<4xf32>"))))
    assert program.ops[0].results == (UNTRACKED,)
    assert all(isinstance(value.value.type, ir.MemRefType) for value in program.values)
