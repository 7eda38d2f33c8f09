"""What an op that makes memory is as an allocation, and which op frees it: asked here by every pass on buffers.

Of `memref.alloc`, `memref.alloca`, `memref.realloc`, `bufferization.clone` and `gpu.alloc` it is known; of any other op its model
says so (`models.facts`). Element type, layout and memory space are those of the memref's type. What is not said is not assumed:

1. An allocation may *move* iff its model says so, its operands are its sizes and nothing else, and it makes the memref alone.
2. Its memory may be *replaced* by other memory iff its model says that it is ordinary. Then the op goes, with what frees it.

A clone and `memref.realloc` fill what they make, so they do neither. `gpu.alloc` is not known to do either, and whatever takes or
makes a token is ordered among what runs beside the program.
"""

from __future__ import annotations

from typing import Any, cast

from hotdesk._bindings import ir
from hotdesk.errors import BufferizationError
from hotdesk.explain import Reason
from hotdesk.ir.locations import python_line
from hotdesk.ir.types import is_memref, is_token, shape_of
from hotdesk.ir.walking import defining_op, integer_of, segment_sizes
from hotdesk.models.facts import MemoryEffects, NewMemory
from hotdesk.models.registry import model_of

ALIGNMENT = "alignment"
ALLOC, ALLOCA, DEALLOC = "memref.alloc", "memref.alloca", "memref.dealloc"
SCOPE = "memref.alloca_scope"
"""Gives back, at its end, what was allocated on the stack in it."""
GLOBAL = "memref.get_global"
BASES = (ALLOC, GLOBAL)
"""Ops whose memref is all of a memory that has a place of its own in a program; arguments have such, too."""
REALLOC = "memref.realloc"
"""Makes a memref longer or shorter: what it is given is freed where the result lies elsewhere."""
_FILLING = (REALLOC, "bufferization.clone")
_DEVICE = "gpu.alloc"
_SOMETIMES_FREEING = (REALLOC, "bufferization.dealloc")
_FREEING = {_DEVICE: "gpu.dealloc"}
_NONE: frozenset[int] = frozenset()
_FIRST = frozenset({0})


def allocated(op: ir.Operation) -> frozenset[int]:
    """The numbers of the results of an op that are memory made by it, which somebody has to free."""
    stated = _stated(op)
    if stated is not None:
        return stated.allocates
    return _FIRST if op.name in (ALLOC, *_FILLING, _DEVICE) else _NONE


def freeing_op(op: ir.Operation) -> str:
    """The name of the op that frees what an op allocates; its only operand is the memref."""
    stated = _stated(op)
    return _FREEING.get(op.name, DEALLOC) if stated is None else stated.freed_by


def always_deallocated(name: str) -> bool:
    """Whether `memref.dealloc` frees what any op of that name allocates."""
    model = model_of(name)
    return name not in _FREEING and (model is None or model.effects is None)


def freed(op: ir.Operation) -> frozenset[int]:
    """The numbers of the operands of an op whose memory it frees."""
    stated = _stated(op)
    if stated is not None:
        return stated.frees
    if op.name == "gpu.dealloc":
        return frozenset({len(op.operands) - 1})
    return _FIRST if op.name == DEALLOC else _NONE


def may_free_any(op: ir.Operation) -> bool:
    """Whether it is only known when an op runs which of its operands' memory it frees."""
    return op.name in _SOMETIMES_FREEING


def never_frees(name: str) -> bool:
    """Whether no op of that name frees the memory of an operand."""
    model = model_of(name)
    return name not in (DEALLOC, "gpu.dealloc") and (model is None or model.effects is None)


def only_frees(op: ir.Operation) -> bool:
    """Whether an op frees memory and does nothing else to any."""
    stated = _stated(op)
    if stated is not None:
        return bool(stated.frees) and not (stated.reads or stated.writes or stated.allocates)
    return op.name == DEALLOC


def manages_memory(op: ir.Operation) -> bool:
    """Whether an op takes or frees memory, of the stack too, or gives that of the stack back where its region ends."""
    return bool(allocated(op) or freed(op)) or op.name in (ALLOCA, SCOPE)


def is_free_of(op: ir.Operation, allocation: ir.Operation) -> bool:
    """Whether an op is the one that frees what another one allocates, and does so to its only operand."""
    return len(op.operands) == 1 and not len(op.results) and op.name == freeing_op(allocation)


def new_memory(op: ir.Operation) -> NewMemory | None:
    """What is known of the memory that an op makes; None if nothing is.

    Raises:
        BufferizationError: its model names not as many sizes as the memref has, or operands that are none.
    """
    stated = _stated(op)
    if stated is not None:
        return _checked(op, stated)
    if op.name not in (ALLOC, ALLOCA):
        return None
    asked = integer_of(op, ALIGNMENT) if ALIGNMENT in op.attributes else 0
    return NewMemory(tuple(range(segment_sizes(op)[0])), asked, movable=True, ordinary=True)


def dynamic_sizes(memref: ir.Value) -> list[ir.Value] | None:
    """The dynamic sizes that a memref was allocated with, in order; None if they are not known."""
    op = defining_op(memref)
    if op is None or not (op.name == ALLOCA or int(cast(Any, memref).result_number) in allocated(op)):
        return None
    known = new_memory(op)
    return None if known is None else [op.operands[number] for number in known.sizes]


def why_not_moved(op: ir.Operation) -> Reason | None:
    """Rule 1: what keeps an allocation where it is; None if nothing about the op itself does."""
    known, refused = new_memory(op), _entangled(op)
    if refused is not None or op.name in (ALLOC, ALLOCA):
        return refused
    if known is None or not known.movable or sorted(known.sizes) != list(range(len(op.operands))):
        return Reason.NOT_KNOWN_TO_MOVE
    return None


def why_not_replaced(op: ir.Operation) -> Reason | None:
    """Rule 2: why the memory that an op makes has to be its own; None if other memory does."""
    known, refused = new_memory(op), _entangled(op)
    if refused is not None:
        return refused
    return None if known is not None and known.ordinary else Reason.NOT_ORDINARY_MEMORY


def _entangled(op: ir.Operation) -> Reason | None:
    """Why an op is more than an allocation."""
    stated = _stated(op)
    does_more = stated is not None and bool(stated.reads or stated.writes or stated.frees)
    if op.name in _FILLING or does_more or len(op.regions):
        return Reason.DOES_MORE_THAN_ALLOCATE
    if any(is_token(value.type) for value in (*op.operands, *op.results)):
        return Reason.ASYNCHRONOUS
    return None if len(op.results) == 1 else Reason.DOES_MORE_THAN_ALLOCATE


def _stated(op: ir.Operation) -> MemoryEffects | None:
    model = model_of(op.name)
    return None if model is None or model.effects is None else model.effects(op)


def _checked(op: ir.Operation, stated: MemoryEffects) -> NewMemory | None:
    """What a model says of new memory, if it fits the op."""
    known = stated.memory
    if known is None:
        return None
    results = [op.results[number].type for number in sorted(stated.allocates) if number < len(op.results)]
    wanted = [shape_of(kind).count(None) for kind in results if is_memref(kind)]
    fits = all(0 <= n < len(op.operands) and isinstance(op.operands[n].type, ir.IndexType) for n in known.sizes)
    aligned = known.alignment >= 0 and not known.alignment & (known.alignment - 1)
    if wanted == [len(known.sizes)] and fits and aligned:
        return known
    raise BufferizationError(
        f"the model of `{op.name}`",
        expected="one new memref, an operand of type index for each `?` in it, and an alignment that is a power of two",
        got=f"{len(wanted)} new memrefs with {sum(wanted)} dynamic sizes, {known}",
        where=python_line(op.location),
        hint="correct the `memory` that its `effects` state (docs/models.md)",
    )
