"""Maps and sets that know ops by where they are."""

from __future__ import annotations

import pytest

from hotdesk._bindings import ir
from hotdesk.ir.op_maps import OpMap, OpSet
from hotdesk.ir.walking import users
from tests.unit.parsing import parse

_TEXT = """
func.func @f(%a: i32, %b: i32) -> i32 {
  %0 = arith.addi %a, %a : i32
  %1 = arith.addi %a, %a : i32
  return %1 : i32
}
"""


@pytest.fixture
def ops() -> list[ir.Operation]:
    module = parse(_TEXT)
    return [view.operation for view in module.body.operations[0].regions[0].blocks[0].operations]


def test_an_op_that_was_changed_is_found(ops: list[ir.Operation]) -> None:
    known, numbers = OpSet(ops), OpMap((op, i) for i, op in enumerate(ops))
    hashes = [hash(op) for op in ops]
    for op in ops[:2]:
        op.operands[0] = op.block.arguments[1]
        op.attributes["told"] = ir.UnitAttr.get(op.context)
    assert hash(ops[0]) != hashes[0]  # this is why
    again = [view.operation for view in ops[0].block.operations]
    assert all(op in known for op in again)
    assert [numbers[op] for op in again] == [0, 1, 2]


def test_equal_ops_are_two(ops: list[ir.Operation]) -> None:
    first, second, _ = ops
    assert second not in OpSet([first])
    assert OpMap([(first, 1), (second, 2)])[first] == 1


def test_an_op_taken_twice_is_there_once_and_in_its_place(ops: list[ir.Operation]) -> None:
    first, second, last = ops
    assert list(OpSet([second, first, second])) == [second, first]
    assert users(first.block.arguments[0]) in ([first, second], [second, first])
    known = OpMap[int]([(second, 2), (first, 1)])
    known[second] = 3
    assert list(known.items()) == [(second, 3), (first, 1)]
    assert list(OpSet(ops) - OpSet([second])) == [first, last]


def test_an_op_that_is_taken_out_is_there_no_more(ops: list[ir.Operation]) -> None:
    known, numbers = OpSet(ops), OpMap((op, i) for i, op in enumerate(ops))
    known.discard(ops[0])
    del numbers[ops[0]]
    assert (len(known), len(numbers)) == (2, 2)
    assert ops[0] not in known
    assert numbers.get(ops[0]) is None
    with pytest.raises(KeyError):
        numbers[ops[0]]


def test_views_of_an_op_are_the_op(ops: list[ir.Operation]) -> None:
    view = ops[0].opview
    assert view in OpSet(ops)
    assert view in OpMap((op, i) for i, op in enumerate(ops))


def test_the_package_hashes_no_op(ops: list[ir.Operation]) -> None:
    namespace: dict[str, object] = {"__name__": "hotdesk.somewhere"}
    exec("def kept(op): return {op}", namespace)
    with pytest.raises(AssertionError, match=r"got the hash of arith.addi in hotdesk.somewhere"):
        namespace["kept"](ops[0])  # type: ignore[operator]
