"""Products that are multiplied by numbers before they are added to what lies there, as a gradient is by the learning rate.

    %p = contract(%a, %b, empty) {accumulate = false}        %c = generic(%a, %s) { a * s }
    %r = generic(%x, %p, %s) { x + p * s }             ->    %p = contract(%c, %b, empty) {accumulate = false}
                                                             %r = generic(%x, %p, %s) { x + p }

Once an operand is multiplied instead, the product can be added up where the rest of the sum lies (`accumulation`).

1. The sum and the product are as rules 1 to 3 and 5 of `accumulation` say, and the product is a `hotdesk.contract`; but between
   the element of the product and what the payload yields (`linalg.yield`) stand sums with others (`arith.addf`) and products
   with factors (`arith.mulf`), each at least once.
2. A factor is the same for all elements: made of constants and of operands without dims.
3. What the sum reads else stands in front of the product. So do factors, or they can be moved there: they are made by pure
   operations without dims.
4. The rest of the sum can be computed where one of its operands lies, which nobody reads from the product on but the sum.
5. It saves memory: the operand that is multiplied dies at the product, so that it is multiplied where it lies, or has fewer bytes
   than the product.

Elements are rounded at other places than before.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, cast

from hotdesk._bindings import ir
from hotdesk.analysis.fusion.accumulation import is_accumulator, is_elementwise_sum, is_used_once
from hotdesk.analysis.order.straight_line import StraightLine
from hotdesk.graphs import reached
from hotdesk.ir.types import element_of, shape_of
from hotdesk.ir.walking import captured_operands, defining_op, is_constant
from hotdesk.models.generics import GENERIC, Generic, read_generic
from hotdesk.models.hotdesk import CONTRACT
from hotdesk.models.purity import is_pure
from hotdesk.models.tensor import EMPTY


@dataclass(frozen=True, slots=True)
class ScaledProduct:
    """A product in a sum, the factors that it is multiplied by there, and the operand of it that can be multiplied instead.

    Attributes:
        total: the sum.
        element: the element of the product in the payload of the sum.
        path: the operations of the payload from there to what it yields, in order.
        factors: values of the payload.
        product: the product.
        operand: the number of its operand.
        late: what the factors are made of that has to be moved in front of the product, in order.
    """

    total: ir.Operation
    element: ir.Value
    path: tuple[ir.Operation, ...]
    factors: tuple[ir.Value, ...]
    product: ir.Operation
    operand: int
    late: tuple[ir.Operation, ...]


def find_scaled_products(line: StraightLine, least_bytes: int) -> Iterator[ScaledProduct]:
    """Those of sums whose results have at least so many bytes, in the order of the text; at most one in a sum."""
    for number, op in enumerate(line.ops):
        if op.name != GENERIC or len(op.results) != 1 or line.bytes(op.results[0]) < least_bytes:
            continue
        total = read_generic(op)
        if total is not None and is_elementwise_sum(total):
            found = (_scaled(line, number, total, i) for i in range(total.inputs))
            yield from [each for each in found if each is not None][:1]


def made_of(found: ScaledProduct) -> set[ir.Value]:
    """The values of a payload that the factors are made of, and they themselves; constants outside of it among them."""
    return {*reached(found.factors, lambda value: () if (maker := defining_op(value)) is None else maker.operands)}


def _scaled(line: StraightLine, number: int, total: Generic, operand: int) -> ScaledProduct | None:
    (output,) = total.outputs
    value = total.op.operands[operand]
    if value.type != total.op.results[0].type or total.maps[operand] != total.maps[output]:
        return None
    element = total.op.regions[0].blocks[0].arguments[operand]
    path = _path(element)
    if path is None or not is_accumulator(line, total, operand):
        return None
    place = line.makers[value]
    product = line.ops[place]
    steps, factors = path
    if product.name != CONTRACT or line.is_fenced(place, number):
        return None
    late: list[ir.Operation] = []
    if not all(_is_uniform(total, each) for each in factors):
        return None
    others = [each for i, each in enumerate(total.op.operands[: total.inputs]) if i != operand]
    others += [each for _, _, each in captured_operands(total.op)]
    if not all(_stands_in_front(line, each, place, late) for each in others):
        return None
    scaled = _operand(line, product, place, line.bytes(value))
    if scaled is None or not _has_base(line, total, operand, place, number):
        return None
    return ScaledProduct(total.op, element, steps, factors, product, scaled, tuple(late))


def _path(element: ir.Value) -> tuple[tuple[ir.Operation, ...], tuple[ir.Value, ...]] | None:
    """The sums and products of a payload that an element goes through, and the factors (rule 1)."""
    value, path, factors = element, list[ir.Operation](), list[ir.Value]()
    while is_used_once(value):
        (use,) = value.uses
        op = cast(ir.Operation, cast(Any, use).owner.operation)
        if op.name == "linalg.yield":
            has_sum = any(each.name == "arith.addf" for each in path)
            return (tuple(path), tuple(factors)) if factors and has_sum else None
        if op.name == "arith.mulf":
            factors += [other for other in op.operands if other != value]
        elif op.name != "arith.addf":
            return None
        path.append(op)
        value = op.results[0]
    return None


def _is_uniform(total: Generic, value: ir.Value) -> bool:
    """Rule 2."""
    arguments = list(total.op.regions[0].blocks[0].arguments)
    if value in arguments:
        number = next(i for i, each in enumerate(arguments) if each == value)
        return number < total.inputs and not list(total.maps[number].results)
    maker = defining_op(value)
    if maker is None or not maker.name.startswith("arith.") or not is_pure(maker):
        return False
    return all(_is_uniform(total, each) for each in maker.operands)


def _stands_in_front(line: StraightLine, value: ir.Value, place: int, late: list[ir.Operation]) -> bool:
    """Whether a value is made in front of an operation, or can be: then what has to be moved is put behind `late` (rule 3)."""
    maker = line.makers.get(value)
    if maker is None or maker < place or line.ops[maker] in late:
        return True
    op = line.ops[maker]
    if shape_of(value.type) or op.name not in (GENERIC, EMPTY) or not is_pure(op):
        return False
    used = [*op.operands, *(each for _, _, each in captured_operands(op))]
    if not all(_stands_in_front(line, each, place, late) for each in used):
        return False
    late.append(op)
    return True


def _operand(line: StraightLine, product: ir.Operation, place: int, most: int) -> int | None:
    """The operand to multiply, which takes fewer bytes than `most` for that (rule 5)."""
    kind = element_of(product.results[0].type)
    sides = [side for side in (0, 1) if element_of(product.operands[side].type) == kind]
    needed = {side: _needed(line, product, place, side) for side in sides}
    best = min(sides, key=needed.__getitem__, default=None)
    return best if best is not None and needed[best] < most else None


def _needed(line: StraightLine, product: ir.Operation, place: int, side: int) -> int:
    """Bytes that an operand takes beside itself once it is multiplied."""
    value = product.operands[side]
    root, views = line.root(value)
    is_ours = root in line.overwritten or (root in line.makers and not is_constant(line.ops[line.makers[root]]))
    dies = not views and is_ours and value != product.operands[1 - side] and (
        all(read.reader <= place for read in line.reads(value))
    )  # fmt: skip
    return 0 if dies else line.bytes(value)


def _has_base(line: StraightLine, total: Generic, operand: int, place: int, number: int) -> bool:
    """Rule 4."""
    (output,) = total.outputs
    for i, value in enumerate(total.op.operands[: total.inputs]):
        if i == operand or value.type != total.op.results[0].type or total.maps[i] != total.maps[output]:
            continue
        is_whole = not line.root(value)[1] and (value in line.overwritten or value in line.makers)
        if is_whole and all(read.reader < place or read.reader == number for read in line.reads(value)):
            return True
    return False
