"""Writes of constant globals, which are refused: what a store, a call or a loop may lead to counts, in all functions of a module.

    %m = arith.select %c, %constant, %x : memref<4xf32>
    memref.store %v, %m[%i]                                  ->    global @constant: expected ops that read it, got memref.store …

1. What an op writes is each constant that its memref may be, by views, choices, loops and branches (`analysis.memrefs.origins`).
2. What a function that calls itself writes of an argument, its calls write of what they pass; what it returns may be what it is
   given, or a constant. Both grow until no function adds to them.
3. Ops of which it is not known what they write are not refused.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TypeAlias

from hotdesk._bindings import ir
from hotdesk.analysis.memrefs.buffer_program import NOT_A_BUFFER, BufferOp, Kind
from hotdesk.analysis.memrefs.buffer_reading import read_buffers
from hotdesk.analysis.memrefs.origins import Origins
from hotdesk.errors import InvalidIRError
from hotdesk.graphs import reached
from hotdesk.ir.functions import called_name
from hotdesk.ir.locations import python_line
from hotdesk.ir.signature import signature
from hotdesk.ir.walking import defined_functions, globals_of, symbol_name, text_of
from hotdesk.models.memory_effects import effects_of
from hotdesk.models.new_memory import DEALLOC

_Root: TypeAlias = int | str
"""Memory that a function has from others: an argument by its number, or a global by its name."""


@dataclass(frozen=True, slots=True)
class _WriteSummary:
    """What a caller has to know of a function: the arguments that it may write, and what each of its results may be."""

    written: frozenset[int]
    returned: tuple[frozenset[_Root], ...]


class _FunctionMemory:
    """The memory that the ops of a function use."""

    def __init__(self, function: ir.Operation) -> None:
        self._program = read_buffers(function)
        self._origins = Origins(self._program)
        self._results = len(signature(function).outputs)

    @property
    def nothing(self) -> _WriteSummary:
        """Where to begin: it writes nothing, and returns memory of its own."""
        return _WriteSummary(frozenset(), (frozenset[_Root](),) * self._results)

    def summary(self, known: Mapping[str, _WriteSummary]) -> _WriteSummary:
        """What callers have to know, by what is `known` of the functions that it calls."""
        written = {root for _, roots in self.writes(known) for root in roots if isinstance(root, int)}
        returned = (
            frozenset(root for end in self._program.returns for root in self._roots(end.operands[number], known))
            for number in range(self._results)
        )
        return _WriteSummary(frozenset(written), tuple(returned))

    def writes(self, known: Mapping[str, _WriteSummary]) -> Iterator[tuple[BufferOp, frozenset[_Root]]]:
        """The ops that write memory, each with what this may be."""
        for op in self._program.ops:
            for number in self._written(op, known):
                yield op, self._roots(number, known)

    def _written(self, op: BufferOp, known: Mapping[str, _WriteSummary]) -> list[int]:
        callee = called_name(op.operation)
        if callee is not None:
            return [op.operands[i] for i in sorted(known[callee].written)] if callee in known else []
        effects = None if op.name == DEALLOC else effects_of(op.operation)
        return [] if effects is None else [self._program.numbers[value] for value in effects.writes]

    def _roots(self, memref: int, known: Mapping[str, _WriteSummary]) -> frozenset[_Root]:
        """What memory of others a memref may be."""
        found: set[_Root] = set()

        def passed(number: int) -> Iterator[int]:
            """The memrefs that a call may have returned as they came."""
            for origin in self._origins.of[number]:
                value = self._program.values[origin]
                if value.kind is Kind.ARGUMENT:
                    found.add(value.position)
                    continue
                maker = self._program.ops[value.producer].operation if value.producer >= 0 else None
                if maker is not None and value.kind is Kind.GLOBAL:
                    found.add(text_of(maker, "name"))
                elif maker is not None and (callee := called_name(maker) or "") in known:
                    for root in known[callee].returned[value.position]:
                        if isinstance(root, str):
                            found.add(root)
                        else:
                            yield self._program.ops[value.producer].operands[root]

        if memref != NOT_A_BUFFER:
            reached([memref], passed)
        return frozenset(found)


def refuse_written_constants(module: ir.Module) -> None:
    """Raises InvalidIRError for an op that may write a constant global."""
    constants = {name for name, op in globals_of(module).items() if "constant" in op.attributes}
    if not constants:
        return
    functions = {symbol_name(function): _FunctionMemory(function) for function in defined_functions(module)}
    known, before = {name: function.nothing for name, function in functions.items()}, dict[str, _WriteSummary]()
    while known != before:
        before = known
        known = {name: function.summary(before) for name, function in functions.items()}
    for function in functions.values():
        for op, roots in function.writes(known):
            names = sorted(name for name in roots if name in constants)
            if names:
                does = "which writes it" if len(roots) == 1 else "which may write it"
                raise InvalidIRError(
                    f"global @{names[0]}", expected="ops that read it: it is constant", got=f"{op.name}, {does}",
                    where=python_line(op.operation.location),
                    hint="Copy it to memory of its own, or declare the global without `constant`.",
                )  # fmt: skip
