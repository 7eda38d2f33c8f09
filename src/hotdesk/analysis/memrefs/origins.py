"""What memory each memref of a function may be, however control has passed it on.

The *origins* of a memref are the allocations, arguments, globals and unknown memrefs that it may be a view of: those of a view's
operand, of both operands of a choice, and of everything that is passed to a block argument or a result. The sets grow along a
worklist until nothing changes.

Memory has *escaped* once an op that keeps pointers got it: a store of the memref itself; an op of which nothing is known, a call
too, unless it has no regions and makes nothing but numbers; an op that runs on beside the program, or one inside of it; what
hands a memref out of a region of which nothing is known. An unknown memref may be any memory that has escaped, an argument or a
global, but no allocation that has not.
"""

from __future__ import annotations

from hotdesk._bindings import ir
from hotdesk.analysis.memrefs.asynchronous import used_later
from hotdesk.analysis.memrefs.buffer_program import FUNCTION, NOT_A_BUFFER, BufferOp, BufferProgram, Kind
from hotdesk.ir.walking import dialect_of
from hotdesk.models.func import RETURN
from hotdesk.models.memref import POINTING
from hotdesk.models.registry import model_of
from hotdesk.program.dataflow import united

_DISCREET = ("linalg", "memref", "scf", "cf", "arith", "math", "affine", "vector", "tensor", "bufferization", "hotdesk")


class Origins:
    """The origins of each memref, and what has escaped, by number; `kept` has the memrefs that ops may keep, by op."""

    def __init__(self, program: BufferProgram) -> None:
        self.of = _origins(program)
        self.kept = {op.number: values for op in program.ops if (values := kept(program, op))}
        for number, memref in program.stored:
            self.kept[number] = (*self.kept.get(number, ()), memref)
        for number, values in used_later(program).items():
            self.kept[number] = tuple(dict.fromkeys((*self.kept.get(number, ()), *values)))
        self.escaped = frozenset[int]().union(*(self.of[v] for values in self.kept.values() for v in values))


def _origins(program: BufferProgram) -> list[frozenset[int]]:
    nothing = frozenset[int]()
    found = [nothing if buffer.kind.is_derived else frozenset({buffer.number}) for buffer in program.buffers]
    targets: dict[int, list[int]] = {}
    for buffer in program.buffers:
        for source in buffer.sources:
            if source != NOT_A_BUFFER:
                targets.setdefault(source, []).append(buffer.number)
    for passing in program.flows:
        targets.setdefault(passing.source, []).append(passing.target)
    return united(found, targets)


def kept(program: BufferProgram, op: BufferOp) -> tuple[int, ...]:
    """The memrefs of which an op may keep a pointer, or give one to whom it is not known; not what it stores."""
    values = tuple(value for value in op.operands if value != NOT_A_BUFFER)
    if not values or op.name == RETURN:
        return ()
    model = model_of(op.name)
    told = op.control or dialect_of(op.name) in _DISCREET or (model is not None and model.effects is not None)
    keeps = op.name in POINTING or _is_opaque(program, op) or (not told and not _makes_numbers(op))
    return values if keeps else ()


def _makes_numbers(op: BufferOp) -> bool:
    """Whether an op has no regions and makes nothing but numbers, if anything."""
    numbers = (ir.IntegerType, ir.FloatType, ir.IndexType)
    return not op.regions and all(isinstance(result.type, numbers) for result in op.operation.results)


def _is_opaque(program: BufferProgram, op: BufferOp) -> bool:
    """Whether an op makes memrefs of its operands that nothing is known of, branches to such, or ends a region of such an op."""
    block = program.blocks[op.block]
    entered = [block for region in op.regions for block in region]
    entered += [successor for successor, _ in block.branches] if block.last == op.number else []
    made = [*op.results, *(argument for number in entered for argument in program.blocks[number].arguments)]
    if any(value != NOT_A_BUFFER and program.buffers[value].kind is Kind.UNKNOWN for value in made):
        return True
    inside = block.parent != FUNCTION and not program.ops[block.parent].control
    return inside and block.last == op.number and not block.branches
