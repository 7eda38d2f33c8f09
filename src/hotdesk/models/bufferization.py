"""The `bufferization` dialect on tensors: allocations, destinations that a value is written into, and the edge to memrefs."""

from __future__ import annotations

from typing import Any, cast

from hotdesk._bindings import ir
from hotdesk.ir.building import create, dynamic_dims, elementwise_copy
from hotdesk.ir.laid_out import can_cast
from hotdesk.ir.types import is_buffer, memref_of
from hotdesk.ir.walking import dialect_of, made_by, segment_sizes, users
from hotdesk.models.facts import Facts, Spaces, no_facts
from hotdesk.models.layouts import has_identity_layout
from hotdesk.models.memref import RESHAPE, VIEWS, viewed
from hotdesk.models.model import Buffers, OpModel

_LOCAL = ("memref", "linalg", "vector", "affine")
ALLOC_TENSOR = "bufferization.alloc_tensor"
"""Makes a tensor with memory of its own: with the contents of another one, or without any."""
TO_BUFFER, TO_TENSOR = "bufferization.to_buffer", "bufferization.to_tensor"
MATERIALIZE = "bufferization.materialize_in_destination"
"""Writes a tensor into another one, or into a memref."""


def materialize(tensor: ir.Value, memref: ir.Value, before: ir.Operation) -> None:
    """Writes a tensor into memory that no other tensor is seen in, in front of an op."""
    create(
        MATERIALIZE, [tensor, memref], [], {"restrict": ir.UnitAttr.get(), "writable": ir.UnitAttr.get()}, before=before
    )


def _alloc_facts(op: ir.Operation) -> Facts:
    """With a tensor to copy, the result has its contents, if anybody wants them; else it has none."""
    dynamic = segment_sizes(op)[0]
    stated = ((0, op.attributes["memory_space"]),) if "memory_space" in op.attributes else ()
    if not _copies(op):
        return Facts(undefined=frozenset({0}), spaces=Spaces(results=stated))
    return Facts(reads=frozenset({dynamic}), spaces=Spaces(results=stated, alike=() if stated else ((dynamic, 0),)))


def _copies(op: ir.Operation) -> bool:
    return bool(segment_sizes(op)[1]) and next(iter(op.results[0].uses), None) is not None


def _bufferize_alloc(op: ir.Operation, buffers: Buffers) -> None:
    dynamic = segment_sizes(op)[0]
    if not _copies(op):
        return  # memory is made where the contents are first written
    source = buffers.buffer(op.operands[dynamic])
    memref = buffers.result(op, 0, dynamic_dims(source, op))
    elementwise_copy(source, memref, op)
    buffers.assign(op.results[0], memref)


def _bufferize_dealloc(op: ir.Operation, buffers: Buffers) -> None:
    """Nothing: memory that several values share is freed when the last of them is dead, which deallocation sees to."""


def _materialize_facts(op: ir.Operation) -> Facts:
    if not len(op.results):
        return Facts(reads=frozenset({0}))
    return Facts(reads=frozenset({0}), ties=((1, 0),), overwrites=frozenset({1}), elementwise=frozenset({0}))


def _bufferize_materialize(op: ir.Operation, buffers: Buffers) -> None:
    destination = buffers.destination(op, 1) if len(op.results) else op.operands[1]
    source = buffers.buffer(op.operands[0])
    if source != destination:
        buffers.copy_into(destination, op, 0)
    if len(op.results):
        buffers.assign(op.results[0], destination)


# The edge to memrefs


def _to_tensor_facts(op: ir.Operation) -> Facts:
    """The memory itself, if nothing else touches it while the tensor lives (`restrict`); else a copy of it."""
    space = cast(Any, op.operands[0].type).memory_space
    spaces = Spaces() if space is None else Spaces(results=((0, space),))
    if not is_lent(op):
        return Facts(spaces=spaces)
    if may_be_overwritten(op):
        return Facts(lent=frozenset({0}), spaces=spaces)
    return Facts(constants=frozenset({0}), spaces=spaces)


def is_lent(op: ir.Operation) -> bool:
    """Whether a `to_tensor` is promised its memory alone, and no tensor of the function lies there."""
    return "restrict" in op.attributes and made_by(viewed(op.operands[0]), TO_BUFFER) is None


def may_be_overwritten(op: ir.Operation) -> bool:
    """Whether results may be written where the tensor of a `to_tensor` lies; else that is only read, or copied."""
    return "writable" in op.attributes and is_lent(op)


def _bufferize_to_tensor(op: ir.Operation, buffers: Buffers) -> None:
    memref = op.operands[0]
    if is_lent(op):
        buffers.assign(op.results[0], memref)
        return
    copy = buffers.result(op, 0, dynamic_dims(memref, op))
    elementwise_copy(memref, copy, op)
    buffers.assign(op.results[0], copy)


def _expand_to_tensor(op: ir.Operation) -> list[ir.Value] | None:
    """The tensor of a tensor's memory is the tensor, if that memory is only read.

    A promise that does not hold is taken away, so that it is known for none when what made the memory is rewritten.
    """
    if "restrict" in op.attributes and not is_lent(op):
        del op.attributes["restrict"]
    producer = made_by(op.operands[0], TO_BUFFER)
    if producer is None or "read_only" not in producer.attributes:
        return None
    source = producer.operands[0]
    return [source] if source.type == op.results[0].type else None


def _to_buffer_facts(op: ir.Operation) -> Facts:
    space = cast(Any, op.results[0].type).memory_space
    return Facts(reads=frozenset({0}), spaces=Spaces(operands=((0, space),)))


def _expand_to_buffer(op: ir.Operation) -> list[ir.Value] | None:
    """Memory that may be written is a value's own."""
    if "read_only" in op.attributes or not _is_followed(op.results[0]) or _lies_otherwise(op.results[0].type):
        return None
    source = op.operands[0]
    owned = create("hotdesk.own", [source], [source.type], before=op).results[0]
    return [create(TO_BUFFER, [owned], [op.results[0].type], {"read_only": ir.UnitAttr.get()}, before=op).results[0]]


def _bufferize_to_buffer(op: ir.Operation, buffers: Buffers) -> None:
    source, memref = buffers.buffer(op.operands[0]), op.results[0]
    if _lies_otherwise(memref.type) and "read_only" not in op.attributes:
        memref.replace_all_uses_with(buffers.contiguous(source, op, 0, memref.type))
        return
    fits = not has_identity_layout(memref) or has_identity_layout(source)
    owned = _is_copied_for(op) or ("read_only" in op.attributes and _is_followed(memref, calls=True))
    if not (fits and owned):
        source = buffers.contiguous(source, op, 0)
    memref.replace_all_uses_with(buffers.seen_as(source, memref.type, op))


def _lies_otherwise(kind: ir.Type) -> bool:
    """Whether a type says of its elements that they lie elsewhere than in new memory without gaps."""
    return not can_cast(memref_of(kind), kind)


def _is_copied_for(op: ir.Operation) -> bool:
    """Whether nothing else uses the tensor, and it is a copy."""
    made = made_by(op.operands[0], "bufferization.alloc_tensor")
    return made is not None and _copies(made) and len(users(made.results[0])) == 1


def _is_followed(memref: ir.Value, *, calls: bool = False) -> bool:
    """Whether all that uses a memref, or a view of it, is known to use it where it stands only; `calls` may be among them."""
    for user in users(memref):
        if user.name in VIEWS or user.name == RESHAPE:
            if not all(_is_followed(result, calls=calls) for result in user.results):
                return False
        elif not _keeps_nothing(user, calls):
            return False
    return True


def _keeps_nothing(op: ir.Operation, calls: bool) -> bool:
    """Whether an op passes on no memref that it uses."""
    local = dialect_of(op.name) in _LOCAL or (calls and op.name == "func.call")
    return local and not any(is_buffer(result.type) for result in op.results)


def _own_facts(op: ir.Operation) -> Facts:
    return Facts(reads=frozenset({0}), ties=((0, 0),))


def _bufferize_own(op: ir.Operation, buffers: Buffers) -> None:
    buffers.assign(op.results[0], buffers.destination(op, 0))


MODELS = {
    ALLOC_TENSOR: OpModel(_alloc_facts, _bufferize_alloc),
    "bufferization.dealloc_tensor": OpModel(no_facts, _bufferize_dealloc),
    MATERIALIZE: OpModel(_materialize_facts, _bufferize_materialize),
    TO_TENSOR: OpModel(_to_tensor_facts, _bufferize_to_tensor, expand=_expand_to_tensor),
    TO_BUFFER: OpModel(_to_buffer_facts, _bufferize_to_buffer, expand=_expand_to_buffer),
    "hotdesk.own": OpModel(_own_facts, _bufferize_own),
}
