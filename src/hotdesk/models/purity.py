"""Ops that do nothing but make results from values, ops that only keep their order, and ops that values must not cross."""

from __future__ import annotations

from hotdesk._bindings import ir
from hotdesk.ir.types import is_buffer
from hotdesk.ir.walking import dialect_of, nested_ops
from hotdesk.models.dialects import DESTINATION_DIALECTS, SCALAR_DIALECTS

_COMPUTING_DIALECTS = DESTINATION_DIALECTS | {"arith", "math"}
_PURE_DIALECTS = DESTINATION_DIALECTS | SCALAR_DIALECTS | {"affine", "scf"}
_PURE = frozenset(("bufferization.alloc_tensor", "vector.transfer_read", "vector.transfer_write"))
_ORDERED = frozenset(("cf.assert", "func.call"))


def is_pure(op: ir.Operation) -> bool:
    """Whether an operation, its regions included, does nothing but make its results from values."""
    return not _touches_memory(op) and all(map(_is_pure_by_name, (op, *nested_ops(op))))


def is_computation(op: ir.Operation) -> bool:
    """Whether an operation is of a kind that computes results from values, and nothing is wanted of it if nobody uses these.

    What its region checks, as that an index lies inside, is about those results alone. Control flow is none: what is checked in
    there is the program's to say.
    """
    return dialect_of(op.name) in _COMPUTING_DIALECTS and len(op.results) > 0


def is_ordered(op: ir.Operation) -> bool:
    """Whether all that is wanted of an operation on values, beside its results, is that such operations keep their order."""
    return op.name in _ORDERED and not _touches_memory(op)


def is_fence(op: ir.Operation) -> bool:
    """Whether an operation, or one in its regions, works on memory, or nothing is known of it: values must not cross it."""
    return _touches_memory(op) or not all(
        _is_pure_by_name(each) or each.name in _ORDERED for each in (op, *nested_ops(op))
    )


def _is_pure_by_name(op: ir.Operation) -> bool:
    return dialect_of(op.name) in _PURE_DIALECTS or op.name in _PURE


def _touches_memory(op: ir.Operation) -> bool:
    values = (value for each in (op, *nested_ops(op)) for value in (*each.operands, *each.results))
    return any(is_buffer(value.type) for value in values)
