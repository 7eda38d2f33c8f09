"""Two linalg ops as one `linalg.generic`: the producer's payload runs in the consumer's loops.

    %a = generic ins(%x) outs(%e) { f }
    %r = generic ins(%a, %y) outs(%d) { g }     ->     %r = generic ins(%x, %y) outs(%d) { g(f(x), y) }

Whether that is legal is for `analysis.fusion.elementwise` and `analysis.fusion.buffer_fusion` to say.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, cast

from hotdesk._bindings import ir
from hotdesk.ir.building import create, replace
from hotdesk.models.generics import Generic, index_ops, read_generic, renamed

_PARALLEL, _REDUCTION = ("#linalg.iterator_type<parallel>", "#linalg.iterator_type<reduction>")


class _Operands:
    """The operands of the new op with their maps; an operand that is there already is not added again."""

    def __init__(self) -> None:
        self.values: list[ir.Value] = []
        self.maps: list[ir.AffineMap] = []
        self._known: dict[tuple[ir.Value, str], int] = {}

    def add(self, value: ir.Value, affine_map: ir.AffineMap, fresh: bool = False) -> int:
        key = (value, str(affine_map))
        if fresh or key not in self._known:
            self._known.setdefault(key, len(self.values))
            self.values.append(value)
            self.maps.append(affine_map)
            return len(self.values) - 1
        return self._known[key]


def fuse(
    consumer: ir.Operation,
    producer: ir.Operation,
    uses: Mapping[int, int],
    loops: tuple[int, ...],
    keep: Sequence[int] = (),
) -> ir.Operation:
    """The two ops as one in the consumer's place; both are erased.

    `uses` leads from operands of the consumer to outputs of the producer that they are the same element as. `loops` are the
    consumer's loops in the order of the producer's. Outputs of the producer that `keep` names are written by the new op too,
    before the consumer's own.
    """
    first, second = cast(Generic, read_generic(producer)), cast(Generic, read_generic(consumer))
    count = len(second.parallel)
    maps = [renamed(m, loops, count) for m in first.maps]
    operands = _Operands()
    ours: dict[int, int] = {}  # operands of the producer in the new op
    theirs: dict[int, int] = {}
    for i in range(second.inputs):
        if i not in uses:
            theirs[i] = operands.add(consumer.operands[i], second.maps[i])
    for i in range(len(first.maps)):
        if first.reads(i) and i - first.inputs not in keep:
            ours[i] = operands.add(producer.operands[i], maps[i])
    inputs = len(operands.values)
    for output in keep:
        number = first.inputs + output
        ours[number] = operands.add(producer.operands[number], maps[number], fresh=True)
    for i in second.outputs:
        theirs[i] = operands.add(consumer.operands[i], second.maps[i], fresh=True)
    new, block = _empty_op(second, operands, inputs)
    _rename_indices(producer, loops)
    made = _move_payload(producer, block, {i: block.arguments[place] for i, place in ours.items()})
    elements = {i: made[output] for i, output in uses.items()}
    elements.update({i: block.arguments[place] for i, place in theirs.items() if i not in elements})
    results = _move_payload(consumer, block, elements)
    with ir.InsertionPoint(block), consumer.location:
        ir.Operation.create("linalg.yield", operands=[*(made[output] for output in keep), *results])
    replace(consumer, new)
    producer.erase()
    return new


def _empty_op(like: Generic, operands: _Operands, inputs: int) -> tuple[ir.Operation, ir.Block]:
    """A `linalg.generic` without a payload, in front of an op with its loops and results."""
    consumer, values = like.op, operands.values
    kinds = [_PARALLEL if parallel else _REDUCTION for parallel in like.parallel]
    attributes: dict[str, ir.Attribute] = {
        "indexing_maps": ir.ArrayAttr.get([ir.AffineMapAttr.get(m) for m in operands.maps]),
        "iterator_types": ir.ArrayAttr.get([ir.Attribute.parse(kind, consumer.context) for kind in kinds]),
        "operandSegmentSizes": ir.DenseI32ArrayAttr.get([inputs, len(values) - inputs]),
    }
    types = [result.type for result in consumer.results]
    new = create("linalg.generic", values, types, attributes, regions=1, before=consumer)
    elements = [cast(Any, v.type).element_type if isinstance(v.type, ir.ShapedType) else v.type for v in values]
    return new, new.regions[0].blocks.append(*elements, arg_locs=[consumer.location] * len(elements))


def _rename_indices(producer: ir.Operation, loops: Sequence[int]) -> None:
    for op, loop in index_ops(producer):
        op.attributes["dim"] = ir.IntegerAttr.get(ir.IntegerType.get_signless(64), loops[loop])


def _move_payload(op: ir.Operation, block: ir.Block, elements: Mapping[int, ir.Value]) -> list[ir.Value]:
    """Moves the payload of an op to the end of a block; returns what it yields. `elements` are its operands' elements there."""
    old = op.regions[0].blocks[0]
    for number, argument in enumerate(old.arguments):
        if number in elements:
            argument.replace_all_uses_with(elements[number])
    *payload, last = [each.operation for each in old.operations]
    for each in payload:
        block.append(each)
    return list(last.operands)
