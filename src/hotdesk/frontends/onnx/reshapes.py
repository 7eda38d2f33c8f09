"""Reshapes from or to open sizes, written in torch-mlir's IR with the sizes that they ask for.

    %y = torch.aten.view %x, [%a, -1, 8]    ->    %s = tensor.from_elements %a, size(%x) / (%a * 8), 8
                                                  %y = tensor.reshape %x(%s)

torch-mlir's lowering guesses which dims of a view belong together and guesses wrong where several are open: it takes one of them
for 1. Which do is found later, by their number of elements (`passes.tensor.reshapes`). Views without an open size stay.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import reduce

from hotdesk._bindings import ir
from hotdesk.ir.building import compared, constant, create, dim, index_cast, replace
from hotdesk.ir.types import shape_of
from hotdesk.ir.walking import integer_of, made_by, nested_ops

_TENSOR = re.compile(r"!torch\.vtensor<\[([\d?,]*)\],(?:[su]i(\d+)|(.+))>")


def spell_out_reshapes(module: ir.Module) -> None:
    """Replaces each view with open sizes; what inserts no dim and takes none away is one, too."""
    for op in list(nested_ops(module.operation)):
        if op.name == "torch.aten.view":
            _spell_out(op)


def _spell_out(view: ir.Operation) -> None:
    before, after = _builtin(view.operands[0].type), _builtin(view.results[0].type)
    listed = made_by(view.operands[1], "torch.prim.ListConstruct")
    if before is None or after is None or listed is None or not shape_of(before) or not shape_of(after):
        return
    if None not in (*shape_of(before), *shape_of(after)):
        return
    source = create("torch_c.to_builtin_tensor", [view.operands[0]], [before], before=view).results[0]
    number = ir.IntegerType.get_signless(64)
    asked = [create("torch_c.to_i64", [each], [number], before=view).results[0] for each in listed.operands]
    leaves_one_out = any(_is_left_out(each) for each in listed.operands)
    sizes = _with_the_one_left_out(source, asked, leaves_one_out, view)
    shape = create("tensor.from_elements", sizes, [ir.RankedTensorType.get([len(sizes)], number)], before=view)
    made = create("tensor.reshape", [source, shape.results[0]], [after], before=view).results[0]
    replace(view, create("torch_c.from_builtin_tensor", [made], [view.results[0].type], before=view))


def _builtin(kind: ir.Type) -> ir.Type | None:
    """A tensor type of torch's as one of MLIR's; None if its rank is not known."""
    found = _TENSOR.fullmatch(str(kind))
    if found is None:
        return None
    sizes, bits, element = found.groups()
    written = "".join(f"{size}x" for size in sizes.split(",") if size)
    return ir.Type.parse(f"tensor<{written}{f'i{bits}' if bits else element}>")


def _is_left_out(size: ir.Value) -> bool:
    made = made_by(size, "torch.constant.int")
    return made is not None and integer_of(made, "value") < 0


def _with_the_one_left_out(
    source: ir.Value, asked: Sequence[ir.Value], leaves_one_out: bool, before: ir.Operation
) -> list[ir.Value]:
    """Sizes of which one is, or may be, -1, which is what the others leave; where it is, they must not be 0."""
    number = asked[0].type

    def made(name: str, a: ir.Value, b: ir.Value) -> ir.Value:
        return create(f"arith.{name}", [a, b], [number], before=before).results[0]

    zero, one = (constant(each, number, before) for each in (0, 1))
    is_left_out = [compared("slt", each, zero, before) for each in asked]
    pairs = list(zip(is_left_out, asked, strict=True))
    factors = [create("arith.select", [out, one, each], [number], before=before).results[0] for out, each in pairs]
    dims = [index_cast(dim(source, place, before), number, before) for place in range(len(shape_of(source.type)))]
    whole, rest = (reduce(lambda a, b: made("muli", a, b), each) for each in (dims, factors))
    left = made("divsi", whole, rest if leaves_one_out else made("maxsi", rest, one))
    return [create("arith.select", [out, left, each], [number], before=before).results[0] for out, each in pairs]
