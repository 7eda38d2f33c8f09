"""Where the largest element of a window is, by PyTorch's rule.

torch-mlir finds no place where an element is no number, and one in the padding where all elements are minus infinity.

    linalg.generic ins(%largest) outs(-1) {             linalg.generic ins(%largest) outs(-1) {
      %e = tensor.extract %padded[…]             ->       %e = tensor.extract %padded[…]
      %first = %out == -1 and %e == %largest              %first = %out == -1 and %e == %largest
      select %first, %place, %out }                       select (%first or %e != %e) and %e is in the image, %place, %out }
"""

from __future__ import annotations

from functools import reduce

from hotdesk._bindings import ir
from hotdesk.ir.building import compared, create, dim, index_constant
from hotdesk.ir.walking import constant_of, int_array, integer_of, made_by, nested_ops
from hotdesk.models.control_flow import CHOICE
from hotdesk.models.generics import GENERIC

_EQUAL = 1
"""The predicate `oeq` of `arith.cmpf`."""
_SAME_INTEGER = 0
"""The predicate `eq` of `arith.cmpi`."""


def settle_places(module: ir.Module) -> None:
    """Rewrites the loops of a module that look for the largest elements of windows."""
    with module.context:
        for op in list(nested_ops(module.operation)):
            if op.name == GENERIC:
                _settle(op)


def _settle(loop: ir.Operation) -> None:
    """Gives a loop PyTorch's rule, if it is one of torch-mlir's that look for places."""
    block = loop.regions[0].blocks[0]
    *_, end = (each.operation for each in block.operations)
    kept = made_by(end.operands[0], CHOICE)  # the place so far, if there is one, else
    taken = None if kept is None else made_by(kept.operands[1], CHOICE)  # this one, if its element is the largest
    none_yet = None if kept is None else made_by(kept.operands[0], "arith.cmpi")
    is_largest = None if taken is None else made_by(taken.operands[0], "arith.cmpf")
    element = None if is_largest is None else made_by(is_largest.operands[0], "tensor.extract")
    if kept is None or taken is None or none_yet is None or is_largest is None or element is None:
        return
    so_far, place = block.arguments[len(block.arguments) - 1], taken.operands[1]
    if (kept.operands[2], taken.operands[2], none_yet.operands[0]) != (so_far, so_far, so_far):
        return
    if is_largest.operands[1] != block.arguments[0] or constant_of(none_yet.operands[1]) != -1:
        return
    if integer_of(is_largest, "predicate") != _EQUAL or integer_of(none_yet, "predicate") != _SAME_INTEGER:
        return
    bit = ir.IntegerType.get_signless(1)

    def both(a: ir.Value, b: ir.Value) -> ir.Value:
        return create("arith.andi", [a, b], [bit], before=kept).results[0]

    value = element.results[0]
    no_number = compared("uno", value, value, kept)
    first = both(none_yet.results[0], is_largest.results[0])
    chosen = create("arith.ori", [first, no_number], [bit], before=kept).results[0]
    chosen = reduce(both, _in_the_image(element, loop, kept), chosen)
    end.operands[0] = create("arith.select", [chosen, place, so_far], [so_far.type], before=kept).results[0]
    kept.erase()
    taken.erase()


def _in_the_image(element: ir.Operation, loop: ir.Operation, before: ir.Operation) -> list[ir.Value]:
    """Whether the element that is read is not in the padding, for each dimension that has some."""
    tensor, *places = element.operands
    pad = made_by(tensor, "tensor.pad")
    if pad is None:
        return []
    index = ir.IndexType.get()
    found: list[ir.Value] = []
    for i, (low, high) in enumerate(
        zip(*(int_array(pad.attributes[f"static_{end}"]) for end in ("low", "high")), strict=True)
    ):
        if low or high:
            moved = create("arith.subi", [places[i], index_constant(low, before)], [index], before=before).results[0]
            found.append(compared("ult", moved, dim(pad.operands[0], i, loop), before))
    return found
