"""`complex`: numbers made of two, and taken apart."""

from __future__ import annotations

from typing import Any

from hotdesk.checker.dialects.arith import constant
from hotdesk.checker.dialects.elementwise import Function, computing
from hotdesk.checker.interpreter import Implementation, OpReader
from hotdesk.checker.values import dtype_of, xp


def _created(reader: OpReader) -> Function:
    dtype = dtype_of(reader.result_type())

    def made(*parts: Any) -> Any:
        return xp.ascontiguousarray(xp.stack(xp.broadcast_arrays(*parts), -1)).view(dtype)[..., 0]

    return made


def _part(reader: OpReader) -> Function:
    return xp.real if reader.name == "complex.re" else xp.imag


OPS: dict[str, Implementation] = {
    "complex.constant": constant,
    "complex.create": computing(_created),
    "complex.im": computing(_part),
    "complex.re": computing(_part),
}
