"""`func.return` reads what it returns; a call uses its operands as its callee does.

A result that lies in an argument's memory is tied to that operand if the callee writes there, and a view of it if not. Other
results are new memory: the caller's, which the callee writes into, or what the callee made and returns.
"""

from __future__ import annotations

from typing import Any, cast

from hotdesk._bindings import ir
from hotdesk.errors import BufferizationError
from hotdesk.ir.building import create, dim, index_constant
from hotdesk.ir.functions import call_attributes
from hotdesk.ir.locations import python_line
from hotdesk.ir.types import is_tensor
from hotdesk.models.callee import Callee, callee_of, returned
from hotdesk.models.facts import Facts, Spaces
from hotdesk.models.model import Buffers, OpModel

RETURN = "func.return"
CALL = "func.call"
CALLS = (CALL, "func.call_indirect")
"""Calls of functions, which own what they are called for and hand over what they return."""
_EDGE = Spaces(edge=True)


def _return_facts(op: ir.Operation) -> Facts:
    return Facts(reads=frozenset(range(len(op.operands))), spaces=_EDGE)


def _call_facts(op: ir.Operation) -> Facts:
    if not any(is_tensor(v.type) for v in (*op.operands, *op.results)):
        return Facts(spaces=_EDGE)
    callee = _callee(op)
    tensors = frozenset(i for i, v in enumerate(op.operands) if is_tensor(v.type))
    ties = tuple((argument, result) for result, argument in callee.held.items() if argument in callee.writes)
    views = tuple((argument, result) for result, argument in callee.held.items() if argument not in callee.writes)
    tied = frozenset(operand for operand, _ in ties)
    return Facts(
        reads=callee.reads & tensors,
        ties=ties,
        overwrites=tied - callee.reads,
        views=views,
        whole_views=frozenset(views),
        brought=frozenset(i for i in returned(op, callee) if is_tensor(op.results[i].type)),
        clobbers=(callee.writes & tensors) - tied,
        contiguous=callee.writes & tensors,
        spaces=_EDGE,
    )


def _bufferize_call(op: ir.Operation, buffers: Buffers) -> None:
    if not any(is_tensor(v.type) for v in (*op.operands, *op.results)):
        return
    callee = _callee(op)
    arguments = [_argument(op, i, callee, buffers) if is_tensor(v.type) else v for i, v in enumerate(op.operands)]
    results = {i: buffers.result(op, i, _sizes(op, sizes, buffers)) for i, sizes in callee.arguments.items()}
    kept = returned(op, callee)
    kinds = [op.results[i].type for i in kept]
    types = [buffers.signature_type(kind) if is_tensor(kind) else kind for kind in kinds]
    attributes = call_attributes(op, [*range(len(arguments)), *([None] * len(results))], kept)
    new = create(CALL, [*arguments, *results.values()], types, attributes, before=op)
    for number, after in zip(kept, new.results, strict=True):
        if is_tensor(op.results[number].type):
            buffers.assign(op.results[number], after)
        else:
            op.results[number].replace_all_uses_with(after)
    for number, memref in results.items():
        buffers.assign(op.results[number], memref)
    for number, argument in callee.held.items():
        written = argument in callee.writes
        memref = arguments[argument] if written else buffers.buffer(op.operands[argument])
        buffers.assign(op.results[number], memref)


def _argument(op: ir.Operation, operand: int, callee: Callee, buffers: Buffers) -> ir.Value:
    """The memref in the type that the callee has for it, without a layout."""
    if operand in callee.writes:
        return buffers.destination(op, operand)
    memref, kind = buffers.buffer(op.operands[operand]), buffers.signature_type(op.operands[operand].type)
    if memref.type == kind:
        return memref
    return buffers.seen_as(buffers.contiguous(memref, op, operand), kind, op)


def _sizes(op: ir.Operation, sizes: tuple[tuple[int, int], ...], buffers: Buffers) -> list[ir.Value]:
    """The dynamic sizes of a result, as the callee's signature says."""
    found: list[ir.Value] = []
    for argument, position in sizes:
        if argument < 0:
            found.append(index_constant(position, op))
        elif position < 0:
            found.append(op.operands[argument])
        else:
            found.append(dim(buffers.buffer(op.operands[argument]), position, op))
    return found


def _callee(op: ir.Operation) -> Callee:
    callee = callee_of(op)
    if callee is None:
        raise BufferizationError(
            f"call of `@{cast(Any, op.attributes['callee']).value}`",
            expected="a function of the module",
            got="no function of that name",
            where=python_line(op.location),
        )
    return callee


MODELS = {
    RETURN: OpModel(_return_facts),
    CALL: OpModel(_call_facts, _bufferize_call, takes_scalars=True),
}
