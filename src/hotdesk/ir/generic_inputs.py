"""A `linalg.generic` with other inputs: without some that its payload does not read, and with more."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any, cast

from hotdesk._bindings import ir
from hotdesk.ir.building import remade, replace
from hotdesk.ir.walking import attributes_of, segment_sizes


def with_inputs(
    op: ir.Operation, kept: Collection[int], more: Sequence[tuple[ir.Value, ir.AffineMap]] = ()
) -> tuple[ir.Operation, Sequence[ir.Value]]:
    """An op in the place of an old one, which is erased: with the inputs `kept`, by number, and `more` behind them.

    Returns it, and the elements of `more` in the payload, which is the old one.
    """
    inputs, outputs = segment_sizes(op)
    old, block = list(op.operands), op.regions[0].blocks[0]
    numbers, results = [i for i in range(inputs) if i in kept], range(inputs, inputs + outputs)
    elements = [block.add_argument(cast(Any, value.type).element_type, op.location) for value, _ in more]
    for i in results:
        block.arguments[i].replace_all_uses_with(block.add_argument(block.arguments[i].type, op.location))
    for i in reversed(range(inputs + outputs)):
        if i not in numbers:
            block.erase_argument(i)
    maps = list(cast(Any, op.attributes["indexing_maps"]))
    all_maps = [*(maps[i] for i in numbers), *(ir.AffineMapAttr.get(each) for _, each in more), *maps[inputs:]]
    segments = ir.DenseI32ArrayAttr.get([len(numbers) + len(more), outputs])
    attributes = {**attributes_of(op), "indexing_maps": ir.ArrayAttr.get(all_maps), "operandSegmentSizes": segments}
    operands = [*(old[i] for i in numbers), *(value for value, _ in more), *old[inputs:]]
    new = remade(op, operands, [result.type for result in op.results], attributes)
    replace(op, new)
    return new, elements
