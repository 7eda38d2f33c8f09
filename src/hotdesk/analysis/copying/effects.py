"""What ops do to the two memrefs of a copy: write them, overwrite all of one, touch neither, read only what they then write."""

from __future__ import annotations

from hotdesk._bindings import ir
from hotdesk.analysis.allocations.uses import Allocation
from hotdesk.analysis.copying.copies import Copy, MemoryClasses
from hotdesk.analysis.memrefs.aliasing import Alias, Aliases
from hotdesk.analysis.memrefs.buffer_program import Kind
from hotdesk.ir.types import is_memref, shape_of
from hotdesk.models.generics import read_generic
from hotdesk.models.memory_effects import Effects, effects_of, payload_effects, read_as_written

_OVERWRITING = ("memref.copy", "linalg.copy", "linalg.fill")


class CopyEffects:
    """Answers for the copies of one function; the IR must not change meanwhile."""

    def __init__(self, memory: MemoryClasses, aliases: Aliases) -> None:
        self.memory = memory
        self._program = memory.program
        self._aliases = aliases

    def overwrites(self, op: ir.Operation, copy: Copy, classes: frozenset[int]) -> bool:
        """Whether an op writes all of the target, and reads nothing that may be in its memory."""
        target, plain = self._value(copy.target), op.name in _OVERWRITING
        effects = effects_of(op)
        if effects is None:
            return False
        reads = [v for v in list(op.operands)[:1] if is_memref(v.type)] if plain else effects.reads
        if any(self.memory.classes_of(v) & classes and not self._aliases.relation(v, target).apart for v in reads):
            return False
        generic = read_generic(op)
        if generic is not None:
            whole = [op.operands[i] for i in generic.outputs if all(generic.parallel) and generic.is_permutation(i)]
        else:
            whole = [op.operands[1]] if plain or _stores_all(op) else []
        return any(self._aliases.relation(value, target) is Alias.MUST for value in whole)

    def may_write(self, op: int, buffer: int) -> bool:
        """Whether an op may write memory of a memref."""
        effects, classes = effects_of(self._program.ops[op].operation), self.memory.classes(buffer)
        return effects is None or any(
            self.memory.classes_of(value) & classes and not self._aliases.relation(value, self._value(buffer)).apart
            for value in effects.writes
        )

    def is_apart(self, op: int, copy: Copy) -> bool:
        """Whether an op touches nothing of the target."""
        values = self.memory.touched(op, self.memory.classes(copy.target))
        return values is not None and all(
            self._aliases.relation(value, self._value(copy.target)).apart for value in values
        )

    def reads_where_it_writes(self, op: int, copy: Copy, source: Allocation) -> bool:
        """Whether an op writes the source element by element, and of the target reads only the element that it writes."""
        operation, target = self._program.ops[op].operation, self._program.buffers[copy.target]
        effects = effects_of(operation)
        if effects is None:
            return False
        classes = self.memory.classes(copy.target)
        inside = payload_effects(operation) if operation.name.startswith("linalg.") else Effects()
        assert inside is not None
        apart_from = [*effects.writes, *inside.reads, *inside.writes]
        if any(not self._is_value_apart(value, target.value, classes) for value in apart_from):
            return False
        elementwise = read_as_written(operation)
        sourced = [value for value in effects.writes if source.buffer in self.memory.classes_of(value)]
        if any(value != self._value(source.buffer) for value in sourced):
            return False
        for number, value in enumerate(operation.operands):
            if value not in effects.reads or not self.memory.classes_of(value) & classes:
                continue
            apart = self._aliases.relation(value, target.value).apart
            if not apart and not (self._are_same_or_apart(value, target.value) and number in elementwise):
                return False
        return True

    def writes_where_it_reads(self, op: int, copy: Copy) -> bool:
        """Whether an op reads the target of a copy element by element, and writes no element of the source but that one."""
        operation, (source, target) = self._program.ops[op].operation, map(self._value, (copy.source, copy.target))
        effects = effects_of(operation)
        if effects is None or (operation.name.startswith("linalg.") and payload_effects(operation) != Effects()):
            return False
        classes, elementwise = self.memory.classes(copy.target), read_as_written(operation)
        read = [
            (n, v)
            for n, v in enumerate(operation.operands)
            if self.memory.classes_of(v) & classes and is_memref(v.type)
        ]
        if any(v != target or v in effects.writes or number not in elementwise for number, v in read):
            return False
        of_source = self.memory.classes(copy.source)
        written = [value for value in effects.writes if not self._is_value_apart(value, source, of_source)]
        return all(self._are_same_or_apart(value, source) for value in written)

    def _are_same_or_apart(self, a: ir.Value, b: ir.Value) -> bool:
        """Whether two memrefs that may overlap are then the same element by element, as arguments are taken to be."""
        if self._aliases.relation(a, b) is Alias.MUST:
            return True
        kinds = {self._program.buffers[self._program.numbers[value]].kind for value in (a, b)}
        return kinds == {Kind.ARGUMENT} and a.type == b.type

    def _is_value_apart(self, value: ir.Value, other: ir.Value, classes: frozenset[int]) -> bool:
        """Whether a memref shares no element with another one, which has these classes."""
        return not self.memory.classes_of(value) & classes or self._aliases.relation(value, other).apart

    def _value(self, buffer: int) -> ir.Value:
        return self._program.buffers[buffer].value


def _stores_all(op: ir.Operation) -> bool:
    """Whether an op stores the only element of a memref."""
    return op.name == "memref.store" and all(size == 1 for size in shape_of(op.operands[1].type))
