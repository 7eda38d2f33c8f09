"""What a tensor is known to hold everywhere."""

from __future__ import annotations

from typing import Any, cast

from hotdesk._bindings import ir
from hotdesk.ir.walking import constant_of, defining_op, segment_sizes


def fill_value(value: ir.Value) -> float | None:
    """The number every element of a tensor has when it is a fill or a splat constant, else None. Integers stay exact."""
    op = defining_op(value)
    if op is None:
        return None
    if op.name == "linalg.fill":
        return constant_of(op.operands[0])
    if op.name == "arith.constant":
        attribute = op.attributes["value"]
        if isinstance(attribute, ir.DenseElementsAttr) and attribute.is_splat:
            splat = cast(Any, attribute.get_splat_value())
            return None if isinstance(splat, ir.ArrayAttr) else splat.value  # a complex number is an array of two
        return None
    if op.name == "linalg.generic" and segment_sizes(op)[0] == 0:
        body = [o.operation for o in op.regions[0].blocks[0].operations]
        if len(body) == 1:
            return constant_of(body[0].operands[0])
    return None
