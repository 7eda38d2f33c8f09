"""The region of a `hotdesk.attention` as a record: what its kernel does to scores, and which keys can count at all."""

from __future__ import annotations

from math import inf

from hotdesk._bindings import ir
from hotdesk.ir.walking import constant_of, defining_op, integer_of, made_by
from hotdesk.passes.lower.attention.kernel import ScoreOp, Scoring

_CASTS = ("arith.index_cast", "arith.index_castui", "arith.extsi", "arith.extui")
_LESS, _LESS_OR_EQUAL, _GREATER, _GREATER_OR_EQUAL = (2, 6), (3, 7), (4, 8), (5, 9)
"""Predicates of `arith.cmpi`, signed and unsigned."""


def scoring(op: ir.Operation) -> Scoring:
    """What the region does."""
    block = op.regions[0].blocks[0]
    body = [each.operation for each in block.operations]
    numbers: dict[ir.Value, int] = {argument: i for i, argument in enumerate(block.arguments)}
    constants: list[tuple[str, str]] = []
    for value in (v for each in body for v in each.operands):
        made = made_by(value, "arith.constant")
        if value not in numbers and made is not None:
            numbers[value] = len(block.arguments) + len(constants)
            constants.append((_literal(made.attributes["value"]), str(value.type)))
    ops: list[ScoreOp] = []
    for each in body[:-1]:
        if each.name == "arith.constant":
            continue
        numbers[each.results[0]] = len(block.arguments) + len(constants) + len(ops)
        attributes = ", ".join(f"{name} = {each.attributes[name]}" for name in sorted(each.attributes))
        operands, kinds = tuple(numbers[v] for v in each.operands), tuple(str(v.type) for v in each.operands)
        ops.append(ScoreOp(each.name, f"{{{attributes}}}", operands, kinds, str(each.results[0].type)))
    return Scoring(tuple(constants), tuple(ops), numbers[body[-1].operands[0]], _reach(block))


def _literal(attribute: ir.Attribute) -> str:
    text = str(attribute)
    return text.rpartition(" : ")[0] or text


def _reach(block: ir.Block) -> int | None:
    """The last key that can count for a query, less the query: where others become -∞ by a comparison of the two numbers."""
    last = list(block.operations)[-1].operation
    choice = made_by(last.operands[0], "arith.select")
    *_, query, key = block.arguments
    if choice is None or constant_of(choice.operands[2]) != -inf:
        return None
    conditions = [choice.operands[0]]
    while conditions:
        test = defining_op(conditions.pop())
        if test is not None and test.name == "arith.andi":
            conditions += test.operands
        elif test is not None and test.name == "arith.cmpi":
            found = _bound(test, query, key)
            if found is not None:
                return found
    return None


def _bound(test: ir.Operation, query: ir.Value, key: ir.Value) -> int | None:
    left, right = (_uncast(v) for v in test.operands)
    predicate = integer_of(test, "predicate")
    if (left, right) == (key, query):
        return 0 if predicate in _LESS_OR_EQUAL else -1 if predicate in _LESS else None
    if (left, right) == (query, key):
        return 0 if predicate in _GREATER_OR_EQUAL else -1 if predicate in _GREATER else None
    return None


def _uncast(value: ir.Value) -> ir.Value:
    op = made_by(value, *_CASTS)
    return value if op is None else _uncast(op.operands[0])
