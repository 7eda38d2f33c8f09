"""What a tensor is known to hold everywhere, and inits that need not be read because of it."""

from __future__ import annotations

from typing import Any, cast

from hotdesk._bindings import ir
from hotdesk.ir.building import empty_like
from hotdesk.ir.walking import constant_of, defining_op, segment_sizes


def initial(op: ir.Operation, neutral: float) -> tuple[bool, ir.Value]:
    """Whether the init must be read, and the init to use."""
    init = op.operands[len(op.operands) - 1]
    if fill_value(init) != neutral:
        return True, init
    return False, empty_like(init, op)


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


def extends_unsigned(op: ir.Operation) -> bool:
    """Whether the op widens its inputs as unsigned integers, which our ops do not."""
    return "unsigned" in str(op.attributes["cast"]) if "cast" in op.attributes else False
