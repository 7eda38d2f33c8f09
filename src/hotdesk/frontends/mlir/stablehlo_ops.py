"""Ops of StableHLO that its own passes do not lower, written with others: sorts, scatters, barriers, and tensors of no elements.

    %s = stablehlo.sort(%x) by LT   ->   %order = tm_tensor.sort(keys of %x); %s = %x[%order]
    %r = stablehlo.scatter(…)       ->   a loop over the updates that writes each where it belongs, unless that is outside

1. A sort compares keys: an elementwise function of an operand, its elements in one order, or further operands where those are
   equal. Keys are integers with the order that the comparison has: floats by their bits (the total order of IEEE 754).
2. A scatter sets elements, or adds, multiplies, or takes the greater or the lesser. Windows that are not wholly inside of the
   operand are left out, as StableHLO says.
3. What has no elements is an empty tensor, and a reduction over no elements is what it begins with.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import cast

from hotdesk._bindings import ir
from hotdesk.ir.building import clone_with, create
from hotdesk.ir.types import element_of, is_tensor, shape_of
from hotdesk.ir.walking import attributes_of, defining_op, integer_of, nested_ops

_ELEMENTWISE = {"stablehlo.abs", "stablehlo.compare", "stablehlo.convert", "stablehlo.negate", "stablehlo.select"}
"""Ops that make keys of what is sorted."""
_KEEP = {"stablehlo.constant", "stablehlo.custom_call", "stablehlo.while", "stablehlo.if", "stablehlo.case"}
"""Ops that stay though what they make has no elements."""
_WIDTHS = {"f16": 16, "bf16": 16, "f32": 32, "f64": 64}
_FLOATS = {
    "add": "arith.addf",
    "multiply": "arith.mulf",
    "maximum": "arith.maximumf",
    "minimum": "arith.minimumf",
    "subtract": "arith.subf",
}
_INTEGERS = {
    "add": "arith.addi",
    "multiply": "arith.muli",
    "maximum": "arith.maxsi",
    "minimum": "arith.minsi",
    "subtract": "arith.subi",
    "and": "arith.andi",
    "or": "arith.ori",
    "xor": "arith.xori",
}
_UNSIGNED = {**_INTEGERS, "maximum": "arith.maxui", "minimum": "arith.minui"}
_TRUTHS = {
    "add": "arith.ori",
    "multiply": "arith.andi",
    "maximum": "arith.ori",
    "minimum": "arith.andi",
    "and": "arith.andi",
    "or": "arith.ori",
    "xor": "arith.xori",
}
"""By the op of a scatter, that of `arith` which combines two elements."""


def write_without(module: ir.Module) -> None:
    """Rewrites them all; a sort or a scatter of another kind stays, and so does one whose sizes are open."""
    for op, rewrite in [(op, _rewrite_of(op)) for op in nested_ops(module.operation)]:
        if rewrite is not None:
            rewrite(op)


def _rewrite_of(op: ir.Operation) -> Callable[[ir.Operation], None] | None:
    if op.name in _REWRITES:
        return _REWRITES[op.name]
    if len(op.results) > 0 and all(map(_is_empty, op.results)):
        return _empty if op.name.startswith("stablehlo.") and op.name not in _KEEP else None
    if op.name == "stablehlo.reduce":
        return _begin if any(map(_is_empty, op.operands)) else _combine if _reduces_nothing(op) else None
    return _padding if op.name == "stablehlo.pad" and _is_empty(op.operands[0]) else None


def _written(text: str, operands: Sequence[ir.Value], before: ir.Operation) -> ir.Value:
    """The result of the function that a text has, its body in front of an op."""
    module = ir.Module.parse(text, before.context)
    block = module.body.operations[0].operation.regions[0].blocks[0]
    known: dict[ir.Value, ir.Value] = dict(zip(block.arguments, operands, strict=True))
    *body, end = (each.operation for each in block.operations)
    for op in body:
        clone_with(op, known, ir.InsertionPoint(before)).location = before.location
    return known[end.operands[0]]


def _take_away(op: ir.Operation, values: Sequence[ir.Value]) -> None:
    for result, value in zip(op.results, values, strict=True):
        result.replace_all_uses_with(value)
    op.erase()


def _unbarred(op: ir.Operation) -> None:
    _take_away(op, list(op.operands))


# What has no elements.


def _is_empty(value: ir.Value) -> bool:
    return is_tensor(value.type) and 0 in shape_of(value.type)


def _empty(op: ir.Operation) -> None:
    if all(map(_is_known, op.results)):
        _take_away(op, [create("tensor.empty", [], [each.type], before=op).results[0] for each in op.results])


def _begin(op: ir.Operation) -> None:
    """A reduction over no elements."""
    count = len(op.results)
    _take_away(
        op,
        [_spread(value, result.type, op) for value, result in zip(list(op.operands)[count:], op.results, strict=True)],
    )


def _reduces_nothing(op: ir.Operation) -> bool:
    """Whether a reduction with one result is over no dimension."""
    return len(op.results) == 1 and shape_of(op.operands[0].type) == shape_of(op.results[0].type)


def _combine(op: ir.Operation) -> None:
    """A reduction over no dimension, by one op of two elements: each element with what the reduction begins with."""
    block = op.regions[0].blocks[0]
    made = defining_op(list(block.operations)[-1].operation.operands[0])
    if made is None or list(made.operands) not in (list(block.arguments), list(block.arguments)[::-1]):
        return
    operands = [_spread(op.operands[1], op.results[0].type, op), op.operands[0]]
    _take_away(op, [create(made.name, operands, [op.results[0].type], attributes_of(made), before=op).results[0]])


def _padding(op: ir.Operation) -> None:
    _take_away(op, [_spread(op.operands[1], op.results[0].type, op)])


def _is_known(value: ir.Value) -> bool:
    return is_tensor(value.type) and None not in shape_of(value.type)


def _spread(scalar: ir.Value, kind: ir.Type, before: ir.Operation) -> ir.Value:
    """A tensor whose elements are all that of one without dims."""
    dims = {"broadcast_dimensions": ir.DenseI64ArrayAttr.get([])}
    return create("stablehlo.broadcast_in_dim", [scalar], [kind], dims, before=before).results[0]


def _with(kind: ir.Type, element: str) -> ir.Type:
    """A tensor of these sizes with other elements."""
    return ir.RankedTensorType.get(list(cast("Sequence[int]", shape_of(kind))), ir.Type.parse(element))


def _splat(number: int, kind: ir.Type, before: ir.Operation) -> ir.Value:
    value = ir.Attribute.parse(f"dense<{number}> : {kind}")
    return create("stablehlo.constant", [], [kind], {"value": value}, before=before).results[0]


def _signless(value: ir.Value, before: ir.Operation) -> ir.Value:
    """The same bits as integers without a sign of their own, where they have one."""
    element = element_of(value.type)
    return _bits(value, element[1:], before) if element.startswith("ui") else value


def _bits(value: ir.Value, element: str, before: ir.Operation) -> ir.Value:
    kind = _with(value.type, element)
    return create("stablehlo.bitcast_convert", [value], [kind], before=before).results[0]


# Sorts.


@dataclass(frozen=True, slots=True)
class _Key:
    """What a comparison looks at: a value of its block, made of the first of two elements, and how it is ordered."""

    value: ir.Value
    descends: bool
    is_total: bool


def _sort(op: ir.Operation) -> None:
    block = op.regions[0].blocks[0]
    keys = _keys(list(block.operations)[-1].operation.operands[0], list(block.arguments))
    if keys is None or not all(_is_known(each) for each in op.operands):
        return
    sizes, dimension = shape_of(op.operands[0].type), integer_of(op, "dimension")
    dimension = dimension % len(sizes)
    places = ir.RankedTensorType.get(list(cast("Sequence[int]", sizes)), ir.IntegerType.get_signless(64))
    order: ir.Value | None = None
    for key in reversed(keys):
        numbers = _numbers(key, op)
        if order is not None:
            numbers = _written(_taken(numbers.type, dimension), [numbers, order], op)
        found = _written(_sorted(numbers.type, dimension), [numbers], op)
        order = found if order is None else _written(_taken(places, dimension), [order, found], op)
    assert order is not None
    results = list[ir.Value]()
    for operand in list(op.operands):
        plain = _signless(operand, op)
        taken = _written(_taken(plain.type, dimension), [plain, order], op)
        results.append(taken if plain == operand else _bits(taken, element_of(operand.type), op))
    _take_away(op, results)


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
    if not key.is_total and element_of(key.value.type) in _WIDTHS:
        return None  # elements that are no numbers are equal to none
    return [key, *rest]


def _key(compare: ir.Operation, arguments: list[ir.Value]) -> _Key | None:
    first, second = compare.operands
    direction = _direction(compare)
    if direction not in ("LT", "GT") or not _corresponds(first, second, arguments):
        return None
    element = element_of(first.type)
    if element not in _WIDTHS and not re.fullmatch(r"u?i\d+", element):
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
            maker, kind = cast(ir.Operation, defining_op(value)), _with(shaped, element_of(value.type))
            if maker.name == "stablehlo.constant":
                scalar = create(maker.name, [], [value.type], attributes_of(maker), before=op).results[0]
                whole[value] = _spread(scalar, kind, op)
            else:
                operands = [made(each) for each in maker.operands]
                whole[value] = create(maker.name, operands, [kind], attributes_of(maker), before=op).results[0]
        return whole[value]

    values = made(key.value)
    element = element_of(values.type)

    def binary(name: str, a: ir.Value, b: ir.Value) -> ir.Value:
        return create(f"stablehlo.{name}", [a, b], [a.type], before=op).results[0]

    if element in _WIDTHS:
        width = _WIDTHS[element]
        if not key.is_total:
            values = binary("add", values, _splat_float(values.type, op))  # zeros of both signs are equal
        values = _bits(values, f"i{width}", op)
        sign = binary("shift_right_arithmetic", values, _splat(width - 1, values.type, op))
        values = binary("xor", values, binary("and", sign, _splat((1 << (width - 1)) - 1, values.type, op)))
    elif element == "i1":
        values = create("stablehlo.convert", [values], [_with(values.type, "i8")], before=op).results[0]
    elif element.startswith("ui"):
        values = _signless(values, op)
        values = binary("xor", values, _splat(-(1 << (int(element[2:]) - 1)), values.type, op))
    return create("stablehlo.not", [values], [values.type], before=op).results[0] if key.descends else values


def _splat_float(kind: ir.Type, before: ir.Operation) -> ir.Value:
    value = ir.Attribute.parse(f"dense<0.0> : {kind}")
    return create("stablehlo.constant", [], [kind], {"value": value}, before=before).results[0]


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


# Scatters.


def _scatter(op: ir.Operation) -> None:
    if len(op.operands) != 3 or not all(_is_known(each) for each in op.operands):
        return
    element = element_of(op.operands[0].type)
    combined = _combining(op, element)
    if combined is None:
        return
    operand, indices, updates = (_signless(each, op) for each in op.operands)
    text = _scattered(_Scatter.of(op), operand.type, indices.type, updates.type, combined)
    made = _written(text, [operand, indices, updates], op)
    _take_away(op, [made if operand == op.operands[0] else _bits(made, element, op)])


def _combining(op: ir.Operation, element: str) -> str | None:
    """The op of `arith` that combines an element with its update; an empty text where the update is taken as it is."""
    block = op.regions[0].blocks[0]
    old, new = block.arguments
    returned = list(block.operations)[-1].operation.operands[0]
    if returned == new:
        return ""
    maker = defining_op(returned)
    if maker is None or list(maker.operands) not in ([old, new], [new, old]):
        return None
    name = maker.name.removeprefix("stablehlo.")
    if name == "subtract" and list(maker.operands) != [old, new]:
        return None
    known: Mapping[str, str] = (
        _FLOATS
        if element in _WIDTHS
        else _TRUTHS
        if element == "i1"
        else _UNSIGNED
        if element.startswith("ui")
        else _INTEGERS
        if re.fullmatch(r"i\d+", element)
        else {}
    )
    return known.get(name)


@dataclass(frozen=True, slots=True)
class _Scatter:
    """`scatter_dimension_numbers`, in the words of StableHLO's specification."""

    update_window_dims: tuple[int, ...]
    inserted_window_dims: tuple[int, ...]
    input_batching_dims: tuple[int, ...]
    scatter_indices_batching_dims: tuple[int, ...]
    scatter_dims_to_operand_dims: tuple[int, ...]
    index_vector_dim: int

    @classmethod
    def of(cls, op: ir.Operation) -> _Scatter:
        text = str(attributes_of(op)["scatter_dimension_numbers"])

        def dims(name: str) -> tuple[int, ...]:
            found = re.search(rf"\b{name} = \[([\d, ]*)\]", text)
            return () if found is None else tuple(int(each) for each in found[1].split(",") if each.strip())

        vector = re.search(r"index_vector_dim = (\d+)", text)
        return cls(
            dims("update_window_dims"),
            dims("inserted_window_dims"),
            dims("input_batching_dims"),
            dims("scatter_indices_batching_dims"),
            dims("scatter_dims_to_operand_dims"),
            0 if vector is None else int(vector[1]),
        )


def _scattered(dims: _Scatter, operand: ir.Type, indices: ir.Type, updates: ir.Type, combined: str) -> str:
    """The loops: over the places of windows, outside, and over what is in a window, inside."""
    sizes, counts = (cast("Sequence[int]", shape_of(kind)) for kind in (operand, updates))
    element, index = element_of(operand), element_of(indices)
    outer = [n for n in range(len(counts)) if n not in dims.update_window_dims]
    whole = [n for n in range(len(sizes)) if n not in (*dims.inserted_window_dims, *dims.input_batching_dims)]
    window = dict(zip(whole, dims.update_window_dims, strict=True))
    has_vector = dims.index_vector_dim < len(shape_of(indices))
    lines = [f"  %n{n} = arith.constant {n} : index" for n in range(max(len(sizes), 2))]
    lines += [f"  %c{n} = arith.constant {size} : index" for n, size in enumerate(counts)]

    def position(number: int) -> str:
        """Where the number of an index vector lies."""
        at = [f"%u{n}" for n in outer]
        if has_vector:
            at.insert(dims.index_vector_dim, f"%n{number}")
        return ", ".join(at)

    def carried(loops: Sequence[int], acc: str, body: Callable[[str, str], list[str]]) -> list[str]:
        """Nested loops that carry a tensor, which the body makes anew under a name that it is given."""
        made = list[str]()
        for n in loops:
            made.append(f"%r{n} = scf.for %u{n} = %n0 to %c{n} step %n1 iter_args(%a{n} = {acc}) -> ({operand}) {{")
            acc = f"%a{n}"
        made += body(acc, "%made" if loops else "%result")
        for depth in reversed(range(len(loops))):
            inner = "%made" if depth == len(loops) - 1 else f"%r{loops[depth + 1]}"
            made += [f"scf.yield {inner} : {operand}", "}"]
        return made

    def inside(acc: str, name: str) -> list[str]:
        at = list[str]()
        made = list[str]()
        for d in range(len(sizes)):
            parts = ([f"%s{d}"] if d in dims.scatter_dims_to_operand_dims else []) + (
                [f"%u{window[d]}"] if d in window else []
            )
            if d in dims.input_batching_dims:
                batch = dims.scatter_indices_batching_dims[dims.input_batching_dims.index(d)]
                batch -= has_vector and batch > dims.index_vector_dim
                parts = [f"%u{outer[batch]}"]
            if len(parts) == 2:
                made.append(f"%p{d} = arith.addi {parts[0]}, {parts[1]} : index")
                parts = [f"%p{d}"]
            at.append(parts[0] if parts else "%n0")
        made.append(f"%new = tensor.extract %updates[{', '.join(f'%u{n}' for n in range(len(counts)))}] : {updates}")
        value = "%new"
        if combined:
            made.append(f"%old = tensor.extract {acc}[{', '.join(at)}] : {operand}")
            made.append(f"%value = {combined} %old, %new : {element}")
            value = "%value"
        return [*made, f"{name} = tensor.insert {value} into {acc}[{', '.join(at)}] : {operand}"]

    def placed(acc: str, name: str) -> list[str]:
        made, holds = ["%yes = arith.constant true"], "%yes"
        for number, d in enumerate(dims.scatter_dims_to_operand_dims):
            room = sizes[d] - (counts[window[d]] if d in window else 1)
            made += [
                f"%i{d} = tensor.extract %indices[{position(number)}] : {indices}",
                f"%s{d} = arith.index_cast %i{d} : {index} to index",
                f"%room{d} = arith.constant {room} : index",
                f"%low{d} = arith.cmpi sge, %s{d}, %n0 : index",
                f"%high{d} = arith.cmpi sle, %s{d}, %room{d} : index",
                f"%both{d} = arith.andi %low{d}, %high{d} : i1",
                f"%holds{d} = arith.andi {holds}, %both{d} : i1",
            ]
            holds = f"%holds{d}"
        body = carried(dims.update_window_dims, acc, inside)
        inner = f"%r{dims.update_window_dims[0]}" if dims.update_window_dims else "%result"
        return [
            *made,
            f"{name} = scf.if {holds} -> ({operand}) {{",
            *body,
            f"scf.yield {inner} : {operand}",
            "} else {",
            f"scf.yield {acc} : {operand}",
            "}",
        ]

    body = carried(outer, "%x", placed)
    end = f"%r{outer[0]}" if outer else "%result"
    return "\n".join(
        [
            f"func.func private @written(%x: {operand}, %indices: {indices}, %updates: {updates}) -> {operand} {{",
            *lines,
            *body,
            f"  return {end} : {operand}",
            "}",
        ]
    )


_REWRITES: Mapping[str, Callable[[ir.Operation], None]] = {
    "stablehlo.optimization_barrier": _unbarred,
    "stablehlo.scatter": _scatter,
    "stablehlo.sort": _sort,
}
