"""What ops do to the two memrefs of a copy: write them, overwrite all of one, touch neither, read only what they then write."""

from __future__ import annotations

from hotdesk._bindings import ir
from hotdesk.analysis.allocations.uses import Allocation
from hotdesk.analysis.copying.copies import Copy, Memory
from hotdesk.analysis.fusion.generics import read_generic
from hotdesk.analysis.memrefs.aliasing import Alias, Aliases
from hotdesk.analysis.memrefs.buffer_program import Kind
from hotdesk.analysis.memrefs.memory_effects import Effects, effects_of, payload_effects
from hotdesk.ir.types import is_memref, shape_of

_ELEMENTWISE = frozenset(
    {
        *("map", "add", "sub", "mul", "div", "exp", "log", "abs", "ceil"),
        *("floor", "negf", "tanh", "sqrt", "rsqrt"),
    }
)
_OVERWRITING = ("memref.copy", "linalg.copy", "linalg.fill")


class CopyEffects:
    """Answers for the copies of one function; the IR must not change meanwhile."""

    def __init__(self, memory: Memory, aliases: Aliases) -> None:
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
        sourced = [value for value in effects.writes if source.buffer in self.memory.classes_of(value)]
        if any(value != self._value(source.buffer) for value in sourced):
            return False
        for number, value in enumerate(operation.operands):
            if value not in effects.reads or not self.memory.classes_of(value) & classes:
                continue
            relation = self._aliases.relation(value, target.value)
            arguments = {self._program.buffers[self._program.numbers[value]].kind, target.kind} == {Kind.ARGUMENT}
            same = relation is Alias.MUST or (arguments and value.type == target.value.type)
            if not relation.apart and not (same and _is_elementwise(operation, number, self._value(source.buffer))):
                return False
        return True

    def _is_value_apart(self, value: ir.Value, other: ir.Value, classes: frozenset[int]) -> bool:
        """Whether a memref shares no element with another one, which has these classes."""
        return not self.memory.classes_of(value) & classes or self._aliases.relation(value, other).apart

    def _value(self, buffer: int) -> ir.Value:
        return self._program.buffers[buffer].value


def _stores_all(op: ir.Operation) -> bool:
    """Whether an op stores the only element of a memref."""
    return op.name == "memref.store" and all(size == 1 for size in shape_of(op.operands[1].type))


def _is_elementwise(op: ir.Operation, operand: int, output: ir.Value) -> bool:
    """Whether each element of an operand is read only in the iteration that writes the same element of an output."""
    generic = read_generic(op)
    if generic is None:
        return op.name.removeprefix("linalg.") in _ELEMENTWISE
    places = [i for i in generic.outputs if op.operands[i] == output]
    return all(generic.parallel) and all(
        generic.is_permutation(place) and generic.maps[place] == generic.maps[operand] for place in places
    )
