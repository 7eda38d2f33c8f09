"""`memref.dealloc` of the memory that a memref is a view of.

memref.dealloc %v                                       if %v begins where its allocation does
%base, … = memref.extract_strided_metadata %v           otherwise
memref.dealloc %base

A deallocation that is erased leaves the order of a device as it was:

%t1 = gpu.dealloc async [%t0] %m    ->    %t1 = gpu.wait async [%t0]
"""

from __future__ import annotations

from hotdesk._bindings import ir
from hotdesk.ir.building import create
from hotdesk.ir.walking import defining_op
from hotdesk.models.memref import METADATA
from hotdesk.models.new_memory import DEALLOC

_DEVICE = "gpu.dealloc"


def free(value: ir.Value, at: ir.InsertionPoint, location: ir.Location, op: str = DEALLOC) -> None:
    """Frees the memory behind a memref by an op of that name; another one than `memref.dealloc` gets the memref as it is."""
    if op == DEALLOC and _may_begin_inside(value.type):
        value = _base(value, at, location)
    ir.Operation.create(op, [], [value], None, None, 0, location, at)


def is_erasable(op: ir.Operation) -> bool:
    """Whether a deallocation may go: it makes nothing, or the token of a device alone."""
    return not len(op.results) or op.name == _DEVICE


def erase_free(op: ir.Operation) -> None:
    """Erases a deallocation, and what told the base of its memref, if nothing else asks for that; tokens are waited for."""
    source = defining_op(op.operands[0]) if len(op.operands) else None
    tokens = list(op.operands)[:-1] if op.name == _DEVICE else []
    if tokens or len(op.results):
        wait = create("gpu.wait", tokens, [result.type for result in op.results], before=op)
        for old, new in zip(op.results, wait.results, strict=True):
            old.replace_all_uses_with(new)
    op.erase()
    if source is not None and source.name == METADATA and not any(next(iter(r.uses), None) for r in source.results):
        source.erase()


def _may_begin_inside(memref: ir.Type) -> bool:
    """Whether a memref may begin behind the start of its allocation; one without a rank, or of a layout that is not strided, is
    taken to be as it was allocated."""
    if not isinstance(memref, ir.MemRefType):
        return False
    try:
        return memref.get_strides_and_offset()[1] != 0
    except RuntimeError:
        return False


def _base(value: ir.Value, at: ir.InsertionPoint, location: ir.Location) -> ir.Value:
    kind = ir.MemRefType(value.type)
    base = ir.MemRefType.get([], kind.element_type, memory_space=kind.memory_space)
    index = ir.IndexType.get()
    results = [base, index, *[index] * (2 * kind.rank)]
    return ir.Operation.create(METADATA, operands=[value], results=results, loc=location, ip=at).results[0]
