"""What an op on memrefs reads and writes, for ops whose effects are known.

A `linalg.generic` reads the operands that its payload asks for and writes its outputs; named ops count as reading all of theirs.
Loads, stores, copies and deallocations do what their names say, also those of vectors; a deallocation counts as a write. Scalar
arithmetic, views and allocations do nothing. An op whose model states its effects has those. Of every other op nothing is known.
"""

from __future__ import annotations

from dataclasses import dataclass

from hotdesk._bindings import ir
from hotdesk.ir.types import element_of, is_buffer, is_memref, shape_of
from hotdesk.ir.walking import dialect_of, nested_ops
from hotdesk.models.dialects import SCALAR_DIALECTS
from hotdesk.models.generics import is_linalg, read_generic
from hotdesk.models.hotdesk import WITH_KERNELS, written_operands
from hotdesk.models.linalg import facts as linalg_facts
from hotdesk.models.linalg import inputs_of
from hotdesk.models.memref import COPY, LOAD, METADATA, RESHAPE, STORE, VIEWS
from hotdesk.models.registry import model_of

_NOTHING = frozenset(
    {
        *("memref.alloc", "memref.alloca", "memref.get_global", "memref.dim", METADATA),
        *("memref.assume_alignment", "memref.prefetch", "affine.prefetch"),
        *("affine.apply", "linalg.yield", "linalg.index"),
        *VIEWS,
    }
)
_READS_AND_WRITES = {
    LOAD: ((0,), ()),
    STORE: ((), (1,)),
    COPY: ((0,), (1,)),
    "memref.dealloc": ((), (0,)),
    RESHAPE: ((1,), ()),
    "memref.atomic_rmw": ((1,), (1,)),
    **dict.fromkeys(("affine.load", "affine.vector_load"), ((0,), ())),
    **dict.fromkeys(("affine.store", "affine.vector_store"), ((), (1,))),
    **dict.fromkeys(("vector.load", "vector.transfer_read", "vector.maskedload", "vector.expandload"), ((0,), ())),
    "vector.gather": ((0,), ()),
    **dict.fromkeys(("vector.store", "vector.transfer_write"), ((), (1,))),
    **dict.fromkeys(("vector.maskedstore", "vector.compressstore", "vector.scatter"), ((), (0,))),
}
"""The operands that ops read, and those that they write."""


@dataclass(frozen=True, slots=True)
class Effects:
    """The memrefs that an op reads and writes."""

    reads: tuple[ir.Value, ...] = ()
    writes: tuple[ir.Value, ...] = ()


def effects_of(op: ir.Operation) -> Effects | None:
    """What an op reads and writes, or None if that is not known."""
    if not is_linalg(op):
        return None if len(op.regions) else _simple(op)
    inputs, generic = inputs_of(op), read_generic(op)
    operands = [(i, value) for i, value in enumerate(op.operands) if is_memref(value.type)]
    inside = payload_effects(op)
    if inside is None:
        return None
    reads = (value for i, value in operands if generic is None or generic.reads(i))
    return Effects((*reads, *inside.reads), (*(value for i, value in operands if i >= inputs), *inside.writes))


def payload_effects(op: ir.Operation) -> Effects | None:
    """What the ops in the regions of an op read and write by themselves, or None if that is not known."""
    reads: list[ir.Value] = []
    writes: list[ir.Value] = []
    for nested in nested_ops(op):
        effects = None if len(nested.regions) else _simple(nested)
        if effects is None:
            return None
        reads.extend(effects.reads)
        writes.extend(effects.writes)
    return Effects(tuple(reads), tuple(writes))


def may_write(op: ir.Operation) -> list[ir.Value]:
    """The memrefs that an op may write: by its effects or, if they are not known, all of its own.

    A linalg op writes its outputs, and what the ops of its payload may write; one that has a kernel its destination.
    """
    if op.name in WITH_KERNELS:
        written = written_operands(op)
    elif is_linalg(op):
        inside = (value for each in nested_ops(op) for value in may_write(each))
        written = [*list(op.operands)[inputs_of(op) :], *inside]
    else:
        effects = effects_of(op)
        written = op.operands if effects is None else effects.writes
    return [value for value in written if is_buffer(value.type)]


def read_as_written(op: ir.Operation) -> frozenset[int]:
    """The operands of which an op reads, before it writes an element of any memref, that element only, by the rule for tensors
    (`Facts.elementwise`): such an operand may lie where the op writes, element by element."""
    if op.name == COPY:
        return frozenset({0})
    return linalg_facts(op).elementwise if is_linalg(op) else frozenset()


def copy_of(op: ir.Operation) -> tuple[int, int] | None:
    """The operand that a copy between memrefs reads and the one that it writes; None for other ops.

    Copies are `memref.copy`, `linalg.copy`, and a `linalg.generic` that yields its only input, element by element.
    """
    if not (op.name in (COPY, "linalg.copy") or _yields_its_input(op)):
        return None
    if not all(is_memref(value.type) for value in op.operands):
        return None
    source, target = (element_of(value.type) for value in op.operands)
    return (0, 1) if source == target else None


def _yields_its_input(op: ir.Operation) -> bool:
    generic = read_generic(op)
    if generic is None or len(op.operands) != 2 or generic.inputs != 1:
        return False
    same = generic.maps[0] == generic.maps[1] and generic.is_permutation(1) and all(generic.parallel)
    block = op.regions[0].blocks[0]
    inside = list(block.operations)
    return same and len(inside) == 1 and list(inside[0].operation.operands) == [block.arguments[0]]


def wholly_written(op: ir.Operation) -> list[ir.Value]:
    """The memrefs of which an op certainly writes every element."""
    generic = read_generic(op)
    if generic is not None:
        return [op.operands[i] for i in generic.outputs if all(generic.parallel) and generic.is_permutation(i)]
    only = op.name == STORE and all(size == 1 for size in shape_of(op.operands[1].type))
    return [op.operands[1]] if only or op.name == COPY else []


def overwritten(op: ir.Operation) -> frozenset[int]:
    """The memrefs, by operand, that a linalg op writes and whose contents it does not want."""
    if not is_linalg(op):
        return frozenset()
    inits = (i for i, value in enumerate(op.operands) if i >= inputs_of(op) and is_memref(value.type))
    return frozenset(inits) - linalg_facts(op).reads


def _simple(op: ir.Operation) -> Effects | None:
    name, values = op.name, list(op.operands)
    if name in _READS_AND_WRITES:
        reads, writes = _READS_AND_WRITES[name]
        return Effects(tuple(values[i] for i in reads), tuple(values[i] for i in writes))
    return _stated(op) or (Effects() if name in _NOTHING or dialect_of(name) in SCALAR_DIALECTS else None)


def _stated(op: ir.Operation) -> Effects | None:
    """What the model of an op says that it does to memory."""
    model = model_of(op.name)
    if model is None or model.effects is None:
        return None
    stated = model.effects(op)
    reads, writes = (sorted(numbers) for numbers in (stated.reads, stated.writes | stated.frees))
    return Effects(tuple(op.operands[i] for i in reads), tuple(op.operands[i] for i in writes))
