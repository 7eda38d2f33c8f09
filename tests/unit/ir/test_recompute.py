"""Which index values follow from the arguments of a function, and the same values in another place."""

from __future__ import annotations

import pytest

from hotdesk.ir.context import entered
from hotdesk.ir.recompute import Recomputation, computed
from hotdesk.ir.walking import entry_block
from tests.unit.parsing import function, ops, parse

BODY = """
func.func private @use(index)
func.func @f(%n: index, %k: index, %x: memref<?x4xf32>, %u: memref<*xf32>, %i: index, %m: memref<index>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  VALUE
  func.call @use(%v) : (index) -> ()
  return
}"""
KNOWN = (
    "%v = arith.addi %n, %k : index",
    "%v = memref.dim %x, %c0 : memref<?x4xf32>",
    "%v = arith.ceildivsi %n, %c3 : index",
    "%v = affine.apply affine_map<(d0)[s0] -> (d0 floordiv 2 + s0)>(%n)[%k]",
    "%p = arith.cmpi slt, %n, %k : index %v = arith.select %p, %n, %k : index",
    "%a = memref.alloc(%n) : memref<?xf32> %v = memref.dim %a, %c0 : memref<?xf32>",
    """%s = memref.subview %x[0, 0] [%n, 2] [1, 1] : memref<?x4xf32> to memref<?x2xf32, strided<[4, 1]>>
    %v = memref.dim %s, %c0 : memref<?x2xf32, strided<[4, 1]>>""",
    """%e = memref.expand_shape %x [[0, 1], [2]] output_shape [2, %k, 4] : memref<?x4xf32> into memref<2x?x4xf32>
    %v = memref.dim %e, %c1 : memref<2x?x4xf32>""",
)
UNKNOWN = (
    "%v = memref.load %m[] : memref<index>",
    "%v = memref.dim %x, %i : memref<?x4xf32>",
    "%v = memref.dim %u, %c0 : memref<*xf32>",
    "%v = arith.divui %n, %k : index",
    "%v = arith.remsi %n, %c0 : index",
    "%v = affine.apply affine_map<(d0)[s0] -> (d0 floordiv s0)>(%n)[%k]",
    "%v = arith.shli %n, %k : index",
    "%l = memref.load %m[] : memref<index> %v = arith.addi %l, %n : index",
)


@pytest.mark.parametrize("lines", KNOWN)
def test_follows(lines: str) -> None:
    module = parse(BODY.replace("VALUE", lines))
    call = ops(module, "func.call")[0]
    assert Recomputation(function(module)).follows(call.operands[0])
    with entered(module.operation):
        first = next(iter(entry_block(function(module)).operations)).operation
        before = len(list(entry_block(function(module)).operations))
        made = Recomputation(function(module)).compute([call.operands[0]], first)
        call.operands[0] = made[0]
        module.operation.verify()  # fails if the value is not there
    assert len(list(entry_block(function(module)).operations)) <= before + 6


@pytest.mark.parametrize("lines", UNKNOWN)
def test_does_not_follow(lines: str) -> None:
    module = parse(BODY.replace("VALUE", lines))
    assert not Recomputation(function(module)).follows(ops(module, "func.call")[0].operands[0])


def test_what_is_there_need_not_follow() -> None:
    module = parse(BODY.replace("VALUE", UNKNOWN[-1]))
    load, call = ops(module, "memref.load")[0].results[0], ops(module, "func.call")[0]
    known = Recomputation(function(module), lambda value: value == load)
    assert known.follows(call.operands[0])
    with entered(module.operation):
        made = known.compute([call.operands[0]], call)[0]
    assert load in list(made.owner.operands)


def test_long_chains_and_shared_operands() -> None:
    lines = ["%x0 = arith.addi %n, %k : index"]
    lines += [f"%x{i} = arith.addi %x{i - 1}, %x{i - 1} : index" for i in range(1, 3000)]
    module = parse(BODY.replace("VALUE", "\n".join([*lines, "%v = arith.addi %x2999, %n : index"])))
    call = ops(module, "func.call")[0]
    with entered(module.operation):
        made = Recomputation(function(module)).compute([call.operands[0]], call)
        call.operands[0] = made[0]
        module.operation.verify()
    assert len(ops(module, "arith.addi")) == 2 * 3001


def test_what_is_never_reached_may_use_itself() -> None:
    module = parse("""
    func.func private @use(index)
    func.func @f(%n: index) {
      return
    ^bb1:
      %a = arith.addi %b, %n : index
      %b = arith.addi %a, %n : index
      func.call @use(%b) : (index) -> ()
      cf.br ^bb1
    }""")
    assert not Recomputation(function(module)).follows(ops(module, "func.call")[0].operands[0])


def test_a_call_gives_its_operands() -> None:
    module = parse("""
    func.func @f(%n: index, %x: memref<?xf32>) {
      %c0 = arith.constant 0 : index
      %d = memref.dim %x, %c0 : memref<?xf32>
      %v = arith.muli %d, %n : index
      %a = memref.alloc(%v) : memref<?xf32>
      return
    }
    func.func @g(%m: index, %y: memref<?xf32>) {
      func.call @f(%m, %y) : (index, memref<?xf32>) -> ()
      return
    }""")
    caller = list(module.body.operations)[1].operation
    call = next(iter(entry_block(caller).operations)).operation
    with entered(module.operation):
        made = computed([ops(module, "memref.alloc")[0].operands[0]], function(module), call)[0]
    assert made.owner.name == "arith.muli"
    assert made.owner.operands[1] == entry_block(caller).arguments[0]
    assert made.owner.operands[0].owner.operands[0] == entry_block(caller).arguments[1]
