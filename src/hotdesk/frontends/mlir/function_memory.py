"""What functions do with memory of others, those that call themselves too: which they may write, which they may return.

1. What an op writes is all that its memref may be, by views, choices, loops and branches (`analysis.memrefs.origins`). An op of
   which nothing is known writes all that it is given, or nothing if that is asked for.
2. What a function writes of an argument, its calls write of what they pass; what it returns may be what it is given, or a
   global. Both grow until no function adds to them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TypeAlias

from hotdesk._bindings import ir
from hotdesk.analysis.memrefs.buffer_program import NOT_A_BUFFER, BufferOp, Kind
from hotdesk.analysis.memrefs.buffer_reading import read_buffers
from hotdesk.analysis.memrefs.origins import Origins
from hotdesk.analysis.memrefs.writes import written_by
from hotdesk.graphs import reached
from hotdesk.ir.functions import called_name
from hotdesk.ir.signature import signature
from hotdesk.ir.walking import text_of
from hotdesk.models.cf import ASSERT
from hotdesk.models.memory_effects import effects_of
from hotdesk.models.memref import CAST
from hotdesk.program.dataflow import united

Root: TypeAlias = int | str
"""Memory that a function has from others: an argument by its number, or a global by its name."""


OTHER = -1
"""In place of an argument's number: other memory, or a part of an argument's."""


@dataclass(frozen=True, slots=True)
class MemorySummary:
    """What a caller has to know of a function: the arguments that it may write, and what each of its results may be."""

    written: frozenset[int]
    returned: tuple[frozenset[Root], ...]


class FunctionMemory:
    """The memory that the ops of a function use; `unknown_write`: an op of which nothing is known may write what it is given."""

    def __init__(self, function: ir.Operation, *, unknown_write: bool = True) -> None:
        self._unknown_write = unknown_write
        self._program = read_buffers(function)
        self._origins = Origins(self._program)
        self._results = len(signature(function).outputs)

    @property
    def nothing(self) -> MemorySummary:
        """Where to begin: it writes nothing, and returns memory of its own."""
        return MemorySummary(frozenset(), (frozenset[Root](),) * self._results)

    def summary(self, known: Mapping[str, MemorySummary]) -> MemorySummary:
        """What callers have to know, by what is `known` of the functions that it calls."""
        written = {root for _, roots in self.writes(known) for root in roots if isinstance(root, int)}
        returned = (
            frozenset(root for end in self._program.returns for root in self._roots(end.operands[number], known))
            for number in range(self._results)
        )
        return MemorySummary(frozenset(written), tuple(returned))

    def writes(self, known: Mapping[str, MemorySummary]) -> Iterator[tuple[BufferOp, frozenset[Root]]]:
        """The ops that write memory, each with what this may be."""
        for op in self._program.ops:
            for number in self._written(op, known):
                yield op, self._roots(number, known)

    def _written(self, op: BufferOp, known: Mapping[str, MemorySummary]) -> list[int]:
        callee = called_name(op.operation)
        if callee is not None:
            return [op.operands[i] for i in sorted(known[callee].written)] if callee in known else []
        if not self._unknown_write and effects_of(op.operation, besides=ASSERT) is None:
            return []
        return sorted(written_by(self._program, op))

    def _roots(self, memref: int, known: Mapping[str, MemorySummary]) -> frozenset[Root]:
        """What memory of others a memref may be."""
        found: set[Root] = set()

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

    def calls(self) -> Iterator[BufferOp]:
        """The calls of functions, in order."""
        return (op for op in self._program.ops if called_name(op.operation) is not None)

    def shared_by(self, result: int, known: Mapping[str, MemorySummary], *, is_entry: bool) -> BufferOp | None:
        """An op that may write memory which a call's result may be, or that result; None if there is none.

        Arguments may be one another's memory, but for those of the entry function. What that does in front of the call, and not
        in a loop around it, does not count.
        """
        program, given = self._program, self._memory(result, known, is_entry)
        block = program.ops[program.values[result].producer].block
        once = is_entry and program.is_structured and block in program.body
        for op in program.ops:
            if any(self._memory(number, known, is_entry) & given for number in self._written(op, known)):
                there = program.within(op.number, block) if once else None
                if there is None or there > program.values[result].producer:
                    return op
        return None

    def _memory(self, memref: int, known: Mapping[str, MemorySummary], is_entry: bool) -> frozenset[Root]:
        """What a memref may be: memory that is made here, that calls return, an argument (-1, or less) or a global."""
        found: set[Root] = set()

        def passed(number: int) -> Iterator[int]:
            for origin in self._origins.of[number]:
                value = self._program.values[origin]
                maker = self._program.ops[value.producer].operation if value.producer >= 0 else None
                if value.kind is Kind.ARGUMENT:
                    found.add(-1 - value.position if is_entry else -1)
                elif maker is not None and value.kind is Kind.GLOBAL:
                    found.add(text_of(maker, "name"))
                else:
                    found.add(origin)
                    callee = (called_name(maker) if maker is not None else None) or ""
                    for root in known[callee].returned[value.position] if callee in known else ():
                        if isinstance(root, str):
                            found.add(root)
                        else:
                            yield self._program.ops[value.producer].operands[root]

        if memref != NOT_A_BUFFER:
            reached([memref], passed)
        return frozenset(found)

    def whole(self, known: Mapping[str, tuple[frozenset[int], ...]]) -> tuple[frozenset[int], ...]:
        """For each result, the arguments that it may be, all of their memory, and `OTHER` if it may be anything else.

        `known` is the same of all functions, so far.
        """
        program = self._program
        is_same = [value.kind is Kind.VIEW and program.ops[value.producer].name == CAST for value in program.values]
        first = [
            frozenset[int]() if same or value.kind in (Kind.CHOICE, Kind.PASSED) else frozenset({value.number})
            for same, value in zip(is_same, program.values, strict=True)
        ]
        targets: dict[int, list[int]] = {}
        for same, value in zip(is_same, program.values, strict=True):
            for source in value.sources if same or value.kind is Kind.CHOICE else ():
                targets.setdefault(source, []).append(value.number)
        for passing in program.flows:
            targets.setdefault(passing.source, []).append(passing.target)
        bases = united(first, targets)

        def of(memref: int) -> frozenset[int]:
            found: set[int] = set()

            def passed(number: int) -> Iterator[int]:
                for base in bases[number]:
                    value = program.values[base]
                    maker = program.ops[value.producer].operation if value.producer >= 0 else None
                    callee = (called_name(maker) if maker is not None else None) or ""
                    if value.kind is Kind.ARGUMENT:
                        found.add(value.position)
                    elif callee in known:
                        for argument in known[callee][value.position]:
                            if argument == OTHER:
                                found.add(OTHER)
                            else:
                                yield program.ops[value.producer].operands[argument]
                    else:
                        found.add(OTHER)

            reached([memref], passed)
            return frozenset(found)

        ends = [end.operands for end in program.returns]
        nothing = frozenset[int]()
        return tuple(
            nothing.union(*({OTHER} if end[number] == NOT_A_BUFFER else of(end[number]) for end in ends))
            for number in range(self._results)
        )


def summaries(functions: Mapping[str, FunctionMemory]) -> dict[str, MemorySummary]:
    """What callers have to know of each function of a module, by name."""
    known, before = {name: function.nothing for name, function in functions.items()}, dict[str, MemorySummary]()
    while known != before:
        before = known
        known = {name: function.summary(before) for name, function in functions.items()}
    return known


def whole_arguments(functions: Mapping[str, FunctionMemory]) -> dict[str, tuple[frozenset[int], ...]]:
    """What `FunctionMemory.whole` says of each function of a module, by name."""
    nothing = {name: (frozenset[int](),) * len(function.nothing.returned) for name, function in functions.items()}
    known, before = nothing, dict[str, tuple[frozenset[int], ...]]()
    while known != before:
        before = known
        known = {name: function.whole(before) for name, function in functions.items()}
    return known
