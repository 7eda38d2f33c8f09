"""Reshapes to a shape that a tensor holds: its sizes are read one by one, so that each is a number of the program.

%y = tensor.reshape %x(%s)    ->    %a = tensor.extract %s[0]; %b = tensor.extract %s[1]
                                    %t = tensor.from_elements %a, %b; %y = tensor.reshape %x(%t)
"""

from __future__ import annotations

from typing import Any, cast

from hotdesk._bindings import ir
from hotdesk.ir.building import create, index_constant
from hotdesk.ir.shapes import stated_sizes
from hotdesk.ir.types import is_tensor
from hotdesk.ir.walking import nested_ops


def read_shapes(module: ir.Module) -> None:
    """Has each `tensor.reshape` say its sizes."""
    for op in list(nested_ops(module.operation)):
        if op.name != "tensor.reshape" or not is_tensor(op.results[0].type):
            continue
        sizes = stated_sizes(op)
        if any(size is None for size in sizes):
            with op.location:
                op.operands[1] = _read(op.operands[1], len(sizes), op)


def _read(shape: ir.Value, count: int, before: ir.Operation) -> ir.Value:
    places = [index_constant(place, before) for place in range(count)]
    kind = cast(Any, shape.type).element_type
    sizes = [create("tensor.extract", [shape, place], [kind], before=before).results[0] for place in places]
    return create("tensor.from_elements", sizes, [ir.RankedTensorType.get([count], kind)], before=before).results[0]
