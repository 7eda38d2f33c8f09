"""Where the largest element of a window is, by PyTorch's rule.

torch-mlir finds no place where an element is no number, and one in the padding where all elements are minus infinity.

    linalg.generic ins(%largest) outs(-1) {
      %e = tensor.extract %padded[…]                       the place is taken if nothing was yet and %e is %largest,
      select (%out == -1 and %e == %largest), %place, %out     or if %e is no number; never in the padding
"""

from __future__ import annotations

from functools import reduce

from hotdesk._bindings import ir
from hotdesk.ir.building import compared, create, dim, index_constant
from hotdesk.ir.types import shape_of
from hotdesk.ir.walking import int_array, made_by, nested_ops

_EQUAL, _UNORDERED = 1, 14  # predicates of `arith.cmpf`: oeq, uno


def settle_places(module: ir.Module) -> None:
    """Rewrites the loops of a module that look for the largest elements of windows."""
    with module.context:
        for op in list(nested_ops(module.operation)):
            if op.name == "linalg.generic":
                _settle(op)


def _settle(loop: ir.Operation) -> None:
    block = loop.regions[0].blocks[0]
    *_, last = (each.operation for each in block.operations)
    kept = made_by(last.operands[0], "arith.select")  # what was taken before, else what is taken here
    taken = None if kept is None else made_by(kept.operands[1], "arith.select")
    first = None if kept is None else made_by(kept.operands[0], "arith.cmpi")
    same = None if taken is None else made_by(taken.operands[0], "arith.cmpf")
    element = None if same is None else made_by(same.operands[0], "tensor.extract")
    if kept is None or taken is None or first is None or same is None or element is None:
        return
    out = block.arguments[len(block.arguments) - 1]
    if kept.operands[2] != out or taken.operands[2] != out or same.operands[1] != block.arguments[0]:
        return
    bit, word = ir.IntegerType.get_signless(1), ir.IntegerType.get_signless(64)

    def both(a: ir.Value, b: ir.Value) -> ir.Value:
        return create("arith.andi", [a, b], [bit], before=kept).results[0]

    value = element.results[0]
    unordered = {"predicate": ir.IntegerAttr.get(word, _UNORDERED)}
    no_number = create("arith.cmpf", [value, value], [bit], unordered, before=kept).results[0]
    found = both(first.results[0], same.results[0])
    takes = create("arith.ori", [found, no_number], [bit], before=kept).results[0]
    takes = reduce(both, _in_the_image(element, loop, kept), takes)
    place = taken.operands[1]
    last.operands[0] = create("arith.select", [takes, place, out], [out.type], before=kept).results[0]
    kept.erase()
    taken.erase()


def _in_the_image(element: ir.Operation, loop: ir.Operation, before: ir.Operation) -> list[ir.Value]:
    """Whether the element that is read is not in the padding, dimension by dimension."""
    tensor, *places = element.operands
    pad = made_by(tensor, "tensor.pad")
    if pad is None:
        return []
    found: list[ir.Value] = []
    for i, low in enumerate(int_array(pad.attributes["static_low"])):
        if shape_of(pad.operands[0].type)[i] == shape_of(tensor.type)[i] is not None:
            continue
        index = ir.IndexType.get()
        moved = create("arith.subi", [places[i], index_constant(low, before)], [index], before=before).results[0]
        found.append(compared("ult", moved, dim(pad.operands[0], i, loop), before))
    return found
