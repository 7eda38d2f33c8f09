"""Sorts of StableHLO as stable sorts of integers that have the order of its keys.

    %s = stablehlo.sort(%x) by LT   ->   %order = tm_tensor.sort(keys of %x); %s = %x[%order]

A sort compares keys: an elementwise function of an operand, its elements in one order, or further operands where those are equal.
Keys are integers with the order that the comparison has: floats by their bits (the total order of IEEE 754). A sort by anything
else, or of open sizes, stays.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import cast

from hotdesk._bindings import ir
from hotdesk.elements import FLOAT_BITS
from hotdesk.frontends.mlir.stablehlo_writing import (
    bits,
    is_known,
    signless,
    splat,
    spread,
    take_away,
    with_element,
    written,
)
from hotdesk.ir.building import create
from hotdesk.ir.types import element_of, shape_of
from hotdesk.ir.walking import attributes_of, defining_op, integer_of

_ELEMENTWISE = {"stablehlo.abs", "stablehlo.compare", "stablehlo.convert", "stablehlo.negate", "stablehlo.select"}
"""Ops that make keys of what is sorted."""


@dataclass(frozen=True, slots=True)
class _Key:
    """What a comparison looks at: a value of its block, made of the first of two elements, and how it is ordered."""

    value: ir.Value
    descends: bool
    is_total: bool


def rewrite_sort(op: ir.Operation) -> bool:
    """Writes a sort so, if it is of this form; says whether it is."""
    block = op.regions[0].blocks[0]
    keys = _keys(list(block.operations)[-1].operation.operands[0], list(block.arguments))
    if keys is None or not all(is_known(each) for each in op.operands):
        return False
    sizes, dimension = shape_of(op.operands[0].type), integer_of(op, "dimension")
    dimension = dimension % len(sizes)
    places = ir.RankedTensorType.get(list(cast("Sequence[int]", sizes)), ir.IntegerType.get_signless(64))
    order: ir.Value | None = None
    for key in reversed(keys):
        numbers = _numbers(key, op)
        if order is not None:
            numbers = written(_taken(numbers.type, dimension), [numbers, order], op)
        found = written(_sorted(numbers.type, dimension), [numbers], op)
        order = found if order is None else written(_taken(places, dimension), [order, found], op)
    assert order is not None
    results = list[ir.Value]()
    for operand in list(op.operands):
        plain = signless(operand, op)
        taken = written(_taken(plain.type, dimension), [plain, order], op)
        results.append(taken if plain == operand else bits(taken, element_of(operand.type), op))
    take_away(op, results)
    return True


def _keys(result: ir.Value, arguments: list[ir.Value]) -> list[_Key] | None:
    """The keys by which a comparison orders; None for one of another form.

    That is `a < b`, or `a < b or (a == b and …)` with the form itself behind.
    """
    op = defining_op(result)
    if op is None:
        return None
    if op.name == "stablehlo.compare":
        key = _key(op, arguments)
        return None if key is None else [key]
    if op.name != "stablehlo.or":
        return None
    less, both = (defining_op(each) for each in op.operands)
    if less is None or both is None or less.name != "stablehlo.compare" or both.name != "stablehlo.and":
        return None
    equal = defining_op(both.operands[0])
    key, rest = _key(less, arguments), _keys(both.operands[1], arguments)
    if key is None or rest is None or equal is None or _direction(equal) != "EQ":
        return None
    if list(equal.operands) != list(less.operands) or _is_total(equal) != key.is_total:
        return None
    if not key.is_total and element_of(key.value.type) in FLOAT_BITS:
        return None  # elements that are no numbers are equal to none
    return [key, *rest]


def _key(compare: ir.Operation, arguments: list[ir.Value]) -> _Key | None:
    first, second = compare.operands
    direction = _direction(compare)
    if direction not in ("LT", "GT") or not _corresponds(first, second, arguments):
        return None
    element = element_of(first.type)
    if element not in FLOAT_BITS and not re.fullmatch(r"u?i\d+", element):
        return None
    return _Key(first, direction == "GT", _is_total(compare))


def _corresponds(first: ir.Value, second: ir.Value, arguments: list[ir.Value]) -> bool:
    """Whether two values are made alike, the first of first elements and the second of second ones."""
    if first in arguments or second in arguments:
        if first not in arguments or second not in arguments:
            return False
        number = arguments.index(first)
        return number % 2 == 0 and arguments.index(second) == number + 1
    one, other = defining_op(first), defining_op(second)
    if one is None or other is None or one.name != other.name or attributes_of(one) != attributes_of(other):
        return False
    if one.name == "stablehlo.constant":
        return True
    pairs = zip(one.operands, other.operands, strict=True)
    return one.name in _ELEMENTWISE and all(_corresponds(a, b, arguments) for a, b in pairs)


def _direction(op: ir.Operation) -> str:
    found = re.search(r"comparison_direction (\w+)", str(attributes_of(op).get("comparison_direction", "")))
    return "" if found is None else found[1]


def _is_total(op: ir.Operation) -> bool:
    return "TOTALORDER" in str(attributes_of(op).get("compare_type", ""))


def _numbers(key: _Key, op: ir.Operation) -> ir.Value:
    """The keys of all elements, as integers in ascending order."""
    block = op.regions[0].blocks[0]
    whole: dict[ir.Value, ir.Value] = dict(zip(list(block.arguments)[::2], list(op.operands), strict=True))
    shaped = op.operands[0].type

    def made(value: ir.Value) -> ir.Value:
        if value not in whole:
            maker, kind = cast(ir.Operation, defining_op(value)), with_element(shaped, element_of(value.type))
            if maker.name == "stablehlo.constant":
                scalar = create(maker.name, [], [value.type], attributes_of(maker), before=op).results[0]
                whole[value] = spread(scalar, kind, op)
            else:
                operands = [made(each) for each in maker.operands]
                whole[value] = create(maker.name, operands, [kind], attributes_of(maker), before=op).results[0]
        return whole[value]

    values = made(key.value)
    element = element_of(values.type)

    def binary(name: str, a: ir.Value, b: ir.Value) -> ir.Value:
        return create(f"stablehlo.{name}", [a, b], [a.type], before=op).results[0]

    if element in FLOAT_BITS:
        width = FLOAT_BITS[element]
        if not key.is_total:
            values = binary("add", values, splat(0.0, values.type, op))  # zeros of both signs are equal
        values = bits(values, f"i{width}", op)
        sign = binary("shift_right_arithmetic", values, splat(width - 1, values.type, op))
        values = binary("xor", values, binary("and", sign, splat((1 << (width - 1)) - 1, values.type, op)))
    elif element == "i1":
        values = create("stablehlo.convert", [values], [with_element(values.type, "i8")], before=op).results[0]
    elif element.startswith("ui"):
        values = signless(values, op)
        values = binary("xor", values, splat(-(1 << (int(element[2:]) - 1)), values.type, op))
    return create("stablehlo.not", [values], [values.type], before=op).results[0] if key.descends else values


def _loops(rank: int) -> tuple[str, str]:
    """The identity map of a `linalg.generic`, and the kinds of its loops."""
    dims = ", ".join(f"d{n}" for n in range(rank))
    return f"affine_map<({dims}) -> ({dims})>", ", ".join(['"parallel"'] * rank)


def _sorted(kind: ir.Type, dimension: int) -> str:
    """The places of elements in the order of their keys; equal ones stay as they are."""
    sizes = cast("Sequence[int]", shape_of(kind))
    identity, loops = _loops(len(sizes))
    places, element = f"tensor<{''.join(f'{size}x' for size in sizes)}i64>", element_of(kind)
    return f"""
func.func private @written(%keys: {kind}) -> {places} {{
  %empty = tensor.empty() : {places}
  %places = linalg.generic {{indexing_maps = [{identity}], iterator_types = [{loops}]}} outs(%empty : {places}) {{
  ^bb0(%old: i64):
    %n = linalg.index {dimension} : index
    %place = arith.index_cast %n : index to i64
    linalg.yield %place : i64
  }} -> {places}
  %r:2 = tm_tensor.sort dimension({dimension}) outs(%keys, %places : {kind}, {places}) {{
  ^bb0(%a: {element}, %b: {element}, %p: i64, %q: i64):
    %before = arith.cmpi sle, %a, %b : {element}
    tm_tensor.yield %before : i1
  }} -> {kind}, {places}
  return %r#1 : {places}
}}"""


def _taken(kind: ir.Type, dimension: int) -> str:
    """The elements of lines along a dimension in another order."""
    sizes = cast("Sequence[int]", shape_of(kind))
    identity, loops = _loops(len(sizes))
    places, element = f"tensor<{''.join(f'{size}x' for size in sizes)}i64>", element_of(kind)
    indices = "\n".join(f"    %d{n} = linalg.index {n} : index" for n in range(len(sizes)) if n != dimension)
    position = ", ".join("%n" if n == dimension else f"%d{n}" for n in range(len(sizes)))
    return f"""
func.func private @written(%x: {kind}, %order: {places}) -> {kind} {{
  %empty = tensor.empty() : {kind}
  %r = linalg.generic {{indexing_maps = [{identity}, {identity}], iterator_types = [{loops}]}}
      ins(%order : {places}) outs(%empty : {kind}) {{
  ^bb0(%place: i64, %old: {element}):
{indices}
    %n = arith.index_cast %place : i64 to index
    %v = tensor.extract %x[{position}] : {kind}
    linalg.yield %v : {element}
  }} -> {kind}
  return %r : {kind}
}}"""
