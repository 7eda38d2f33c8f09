"""Assertions become ways out of a function; where something is put back, they meet."""

from __future__ import annotations

import itertools

from hotdesk._bindings import ir
from hotdesk.ir.context import make_context
from hotdesk.ir.walking import entry_block, nested_ops
from hotdesk.passes.lower.flow_checks import UNDO, mark_undone, settle_assertions

CALLS = f"""
func.func private @back(memref<f32>)
func.func @main(%status: memref<i32>, %s: memref<f32>, %early: i1, %late: i1, %later: i1) -> i64 {{
  %c0 = arith.constant 0 : i64
  cf.assert %early, "early"
  call @back(%s) {{{UNDO}}} : (memref<f32>) -> ()
  cf.assert %late, "late"
  cf.br ^next
^next:
  cf.assert %later, "later"
  return %c0 : i64
}}"""


def test_ways_out_that_put_back_meet_in_one_block() -> None:
    with make_context(), ir.Location.unknown():
        module = ir.Module.parse(CALLS)
        function = list(module.body.operations)[-1].operation
        mark_undone(function)
        codes = itertools.count(1)
        settle_assertions(function, entry_block(function).arguments[0], lambda _: next(codes))
        assert module.operation.verify()
        blocks = list(function.regions[0].blocks)
        (back,) = [block for block in blocks if "func.call" in names(block)]
        assert names(back) == ["func.call", "arith.constant", "func.return"]
        stores = [block for block in blocks if "memref.store" in names(block)]
        ends = [names(block)[-1] for block in stores]
        assert sorted(ends) == ["cf.br", "cf.br", "func.return"]
        assert [list(block.successors) for block in stores if names(block)[-1] == "cf.br"] == [[back], [back]]
        assert not [op for op in nested_ops(function) if UNDO in op.attributes]


def names(block: ir.Block) -> list[str]:
    return [view.operation.name for view in block.operations]
