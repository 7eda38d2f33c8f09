"""Adds up products and scattered rows where the rest of a sum lies, so that they have no memory of their own.

    %p = contract(%a, %b, empty)                      %s = generic(%x) { 0.9 * x }
    %q = scatter(%u, %i, zeros) { old + new }         %p = contract(%a, %b, %s) {accumulate = true}
    %r = generic(%x, %p, %q) { 0.9 * x + p + q }  ->  %r = scatter(%u, %i, %p) { old + new }

Legal iff rules 1 to 5 of `analysis.fusion.accumulation` hold, for sums of floats (`arith.addf`) and of integers; done where rule
6 does, too. A momentum takes up gradients so, and the two gradients of words that are both looked up and predicted are one. A
product that the sum multiplies first, as it does gradients by a learning rate, has one of its operands multiplied instead, where
rules 1 to 5 of `analysis.fusion.scaled_products` hold. The bytes of a decision are those of results that need no memory any more.
What is left of the sum is one more pass over its elements. Goes behind fusion and in front of `hotdesk-choose-destinations`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, cast

from hotdesk._bindings import ir
from hotdesk.analysis.fusion.accumulation import COMPUTED, NOTHING, Accumulation, additions, find_accumulations
from hotdesk.analysis.fusion.scaled_products import ScaledProduct, find_scaled_products, made_of
from hotdesk.analysis.order.straight_line import StraightLine
from hotdesk.explain import Decision, Outcome, Reason
from hotdesk.ir.building import clone_with, create, empty_like, structured
from hotdesk.ir.locations import source_of
from hotdesk.ir.op_maps import OpSet
from hotdesk.ir.walking import attributes_of, defining_op
from hotdesk.passes.base import StraightPass
from hotdesk.passes.properties import LETTERS_FIT, Property


@dataclass(frozen=True, slots=True)
class AccumulateInPlace(StraightPass):
    """Has products and scatters add up into the rest of a sum (rules in `analysis.fusion.accumulation`).

    Options:
        least_bytes: sums of fewer bytes are left as they are.
        assumed_size: what a size that is not known counts as, in elements.
    """

    name: ClassVar[str] = "hotdesk-accumulate-in-place"
    reasons: ClassVar[tuple[Reason, ...]] = (Reason.ADDED_WHERE_IT_LIES,)

    least_bytes: int = 1 << 20
    assumed_size: int = 256

    def ensures(self) -> tuple[Property, ...]:
        return (LETTERS_FIT,)

    def run_on(self, function: ir.Operation) -> list[Decision]:
        scaled = list(find_scaled_products(StraightLine(function, self.assumed_size), self.least_bytes))
        for each in scaled:
            _scale(each)
        found = list(find_accumulations(StraightLine(function, self.assumed_size), self.least_bytes))
        decisions = [_decision(each) for each in found]
        for each in found:
            _accumulate(each)
        return decisions


def _scale(found: ScaledProduct) -> None:
    """Multiplies an operand of a product by what the sum multiplied the product by."""
    for op in found.late:
        cast(Any, op).move_before(found.product)
    found.product.operands[found.operand] = _multiplied(found)
    *_, end = found.total.regions[0].blocks[0].operations
    first = next(i for i, op in enumerate(found.path) if op.name == "arith.addf")
    before = found.path[first - 1].results[0] if first else found.element
    (other,) = [value for value in found.path[first].operands if value != before]
    found.path[first].results[0].replace_all_uses_with(other)
    for op in reversed(found.path[: first + 1]):
        op.erase()
    (yielded,) = end.operation.operands
    end.operation.operands[0] = create(
        "arith.addf", [yielded, found.element], [yielded.type], before=end.operation
    ).results[0]


def _multiplied(found: ScaledProduct) -> ir.Value:
    """The operand times the factors, computed in front of the product."""
    value, payload = found.product.operands[found.operand], found.total.regions[0].blocks[0]
    made = made_of(found)
    read = [i for i, each in enumerate(payload.arguments) if each in made]
    inputs = [value, *(found.total.operands[i] for i in read)]
    op, end = structured(inputs, [empty_like(value, found.product)], found.product)
    element, *scalars = list(op.regions[0].blocks[0].arguments)
    mapping = dict[ir.Value, ir.Value]((payload.arguments[i], scalar) for i, scalar in zip(read, scalars, strict=False))
    for each in payload.operations:
        if not made.isdisjoint(each.operation.results):
            clone_with(each.operation, mapping, ir.InsertionPoint(end))
    for factor in found.factors:
        operands = [element, mapping.get(factor, factor)]
        element = create("arith.mulf", operands, [element.type], before=end).results[0]
    end.operands[0] = element
    return op.results[0]


def _accumulate(found: Accumulation) -> None:
    """Changes the operations of a sum, which goes."""
    total = found.total
    makers = [cast(ir.Operation, defining_op(total.operands[i])) for i in found.accumulators]
    if found.base == NOTHING:
        into, *makers = (makers[0].results[0], *makers[1:])
    elif found.base == COMPUTED:
        into = _rest(total, found.accumulators, makers[0])
    else:
        into = total.operands[found.base]
    for maker in makers:
        _add_up(maker, into)
        into = maker.results[0]
    total.results[0].replace_all_uses_with(into)
    total.erase()


def _add_up(op: ir.Operation, into: ir.Value) -> None:
    """Has a product or a scatter add to what a tensor holds."""
    last = len(op.operands) - 1
    before = defining_op(op.operands[last])
    op.operands[last] = into
    if "accumulate" in op.attributes:
        op.attributes["accumulate"] = ir.BoolAttr.get(True)
    if before is not None and not any(list(result.uses) for result in before.results):
        before.erase()


def _rest(total: ir.Operation, accumulators: tuple[int, ...], before: ir.Operation) -> ir.Value:
    """What a sum is without some of its operands, computed in front of an operation."""
    inputs = len(total.operands) - 1
    kept = [i for i in range(inputs + 1) if i not in accumulators]
    maps = list(cast(Any, total.attributes["indexing_maps"]))
    attributes = attributes_of(total)
    attributes["indexing_maps"] = ir.ArrayAttr.get([maps[i] for i in kept])
    attributes["operandSegmentSizes"] = ir.DenseI32ArrayAttr.get([len(kept) - 1, 1])
    operands = [*(total.operands[i] for i in kept[:-1]), empty_like(total.operands[inputs], before)]
    rest = create(total.name, operands, [total.results[0].type], attributes, regions=1, before=before)
    block = total.regions[0].blocks[0]
    types = [block.arguments[i].type for i in kept]
    arguments = rest.regions[0].blocks.append(*types, arg_locs=[total.location] * len(types)).arguments
    mapping: dict[ir.Value, ir.Value] = dict(zip((block.arguments[i] for i in kept), arguments, strict=True))
    gone: set[ir.Value] = {block.arguments[i] for i in accumulators}
    sums = OpSet(additions(total))
    point = ir.InsertionPoint(rest.regions[0].blocks[0])
    for each in block.operations:
        op = each.operation
        left = [value for value in op.operands if value not in gone]
        if op not in sums or len(left) == len(op.operands):
            clone_with(op, mapping, point)
        elif left:
            mapping[op.results[0]] = mapping.get(left[0], left[0])
        else:
            gone.add(op.results[0])
    return rest.results[0]


def _decision(found: Accumulation) -> Decision:
    makers = [cast(ir.Operation, defining_op(found.total.operands[i])) for i in found.accumulators]
    sources = tuple(source_of(op) for op in (*makers, found.total))
    names = " and ".join(op.name for op in makers)
    return Decision(f"result of {names}", Outcome.IN_PLACE, Reason.ADDED_WHERE_IT_LIES, sources, found.bytes)
