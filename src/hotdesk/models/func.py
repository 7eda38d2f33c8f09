"""`func.return` reads what it returns; a call reads its arguments and writes its results into memory that the caller gives it.

Callees are bufferized on their own: their arguments are only read, and their results become arguments at the end.
"""

from __future__ import annotations

from typing import Any, cast

from hotdesk._bindings import ir
from hotdesk.errors import BufferizationError
from hotdesk.ir.building import create
from hotdesk.ir.locations import python_line
from hotdesk.ir.types import is_tensor, memref_of, shape_of
from hotdesk.ir.walking import defined_functions, symbol_name
from hotdesk.models.facts import Facts
from hotdesk.models.model import Buffers, OpModel


def _return_facts(op: ir.Operation) -> Facts:
    return Facts(reads=frozenset(range(len(op.operands))))


def _bufferize_call(op: ir.Operation, buffers: Buffers) -> None:
    if not any(is_tensor(v.type) for v in (*op.operands, *op.results)):
        return
    _refuse(op)
    arguments = [_argument(op, i, buffers) if is_tensor(v.type) else v for i, v in enumerate(op.operands)]
    results = {i: buffers.result(op, i, []) for i, v in enumerate(op.results) if is_tensor(v.type)}
    kept = [v for v in op.results if not is_tensor(v.type)]
    attributes = {"callee": op.attributes["callee"]}
    new = create("func.call", [*arguments, *results.values()], [v.type for v in kept], attributes, before=op)
    for before, after in zip(kept, new.results, strict=True):
        before.replace_all_uses_with(after)
    for number, memref in results.items():
        buffers.assign(op.results[number], memref)


def _argument(op: ir.Operation, operand: int, buffers: Buffers) -> ir.Value:
    """The memref in the type that the callee has for it, without a layout."""
    memref, kind = buffers.buffer(op.operands[operand]), memref_of(op.operands[operand].type)
    if memref.type == kind:
        return memref
    return buffers.seen_as(buffers.contiguous(memref, op, operand), kind, op)


def _refuse(op: ir.Operation) -> None:
    """Raises BufferizationError for a callee without a body, and for results whose sizes only the callee knows."""
    where = python_line(op.location) or None
    name = cast(Any, op.attributes["callee"]).value
    module = op
    while module.name != "builtin.module":
        module = cast(Any, module.parent).operation
    if name not in {symbol_name(function) for function in defined_functions(cast(Any, module).opview)}:
        raise BufferizationError(
            f"call of `@{name}`", expected="a function with a body", got="tensors for a declaration", where=where
        )
    for value in op.results:
        if is_tensor(value.type) and None in shape_of(value.type):
            raise BufferizationError(
                f"call of `@{name}`",
                expected="results of static sizes",
                got=str(value.type),
                where=where,
                hint="inline the call first: `--inline`",
            )


MODELS = {
    "func.return": OpModel(_return_facts),
    "func.call": OpModel(_return_facts, _bufferize_call),
}
