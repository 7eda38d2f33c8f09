"""What functions do with memory of others, those that call themselves too: which they may write, which they may return.

1. What an op writes is all that its memref may be, by views, choices, loops and branches (`analysis.memrefs.origins`). An op of
   which nothing is known may write all that it is given.
2. What a function writes of an argument, its calls write of what they pass; what it returns may be what it is given, a global,
   or memory of its own. Both grow until no function adds to them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
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
from hotdesk.models.bufferization import TO_TENSOR, may_be_overwritten
from hotdesk.models.memref import CAST
from hotdesk.program.dataflow import united

Root: TypeAlias = int | str
"""Memory that a function returns: an argument's by its number, a global's by its name, or `OTHER`."""

OTHER = -1
"""In place of an argument's number: other memory."""

Returned: TypeAlias = tuple[frozenset[Root], ...]
"""What each result of a function may be."""


@dataclass(frozen=True, slots=True)
class MemorySummary:
    """What a caller has to know of a function: the arguments that it may write, and what each of its results may be."""

    written: frozenset[int]
    returned: Returned


class FunctionMemory:
    """The memory that the ops of a function use."""

    def __init__(self, function: ir.Operation) -> None:
        self._program = read_buffers(function)
        self._origins = Origins(self._program).of
        self._results = len(signature(function).outputs)

    @property
    def nothing(self) -> MemorySummary:
        """Where to begin: it writes nothing, and never returns."""
        return MemorySummary(frozenset(), (frozenset[Root](),) * self._results)

    def summary(self, known: Mapping[str, MemorySummary]) -> MemorySummary:
        """What callers have to know, by what is `known` of the functions that it calls."""
        written = {root for _, roots in self.writes(known) for root in roots if isinstance(root, int)}
        return MemorySummary(frozenset(written) - {OTHER}, self._returned(self._origins, _returned_by(known)))

    def whole(self, known: Mapping[str, Returned]) -> Returned:
        """What each result may be all of, by what is `known` of the functions that it calls; a part is `OTHER` memory."""
        program = self._program
        is_same = [value.kind is Kind.VIEW and program.ops[value.producer].name == CAST for value in program.values]
        first: list[frozenset[int]] = []
        targets: dict[int, list[int]] = {}
        for same, value in zip(is_same, program.values, strict=True):
            passes = same or value.kind in (Kind.CHOICE, Kind.PASSED)
            first.append(frozenset[int]() if passes else frozenset({value.number}))
            for source in value.sources if passes else ():
                targets.setdefault(source, []).append(value.number)
        for passing in program.flows:
            targets.setdefault(passing.source, []).append(passing.target)
        return self._returned(united(first, targets), known)

    def _returned(self, origins: Sequence[frozenset[int]], known: Mapping[str, Returned]) -> Returned:
        ends = [end.operands for end in self._program.returns]
        return tuple(
            frozenset(root for end in ends for root in self._roots(end[number], origins, known))
            for number in range(self._results)
        )

    def writes(self, known: Mapping[str, MemorySummary]) -> Iterator[tuple[BufferOp, frozenset[Root]]]:
        """The ops that write memory, each with what this may be."""
        returned = _returned_by(known)
        for op in self._program.ops:
            for number in self._written(op, known):
                yield op, self._roots(number, self._origins, returned)

    def calls(self) -> Iterator[BufferOp]:
        """The calls of functions, in order."""
        return (op for op in self._program.ops if called_name(op.operation) is not None)

    def writer_of(self, result: ir.Value, known: Mapping[str, MemorySummary], *, is_entry: bool) -> BufferOp | None:
        """An op that may write a call's result, or memory that it may be; None if there is none.

        Arguments may be one another's memory, but for those of the entry function. What that does in front of the call, and not
        in a loop around it, does not count.
        """
        program, number = self._program, self._program.numbers[result]
        memory = self._memory(number, known, is_entry)
        call = program.ops[program.values[number].producer]
        once = is_entry and program.is_structured and call.block in program.body
        for op in program.ops:
            if any(self._memory(written, known, is_entry) & memory for written in self._written(op, known)):
                there = program.within(op.number, call.block) if once else None
                if there is None or there > call.number:
                    return op
        return None

    def _written(self, op: BufferOp, known: Mapping[str, MemorySummary]) -> list[int]:
        callee = called_name(op.operation)
        if callee is not None:
            return [op.operands[i] for i in sorted(known[callee].written)] if callee in known else []
        if op.name == TO_TENSOR and not may_be_overwritten(op.operation):
            return []
        return sorted(written_by(self._program, op))

    def _roots(self, memref: int, origins: Sequence[frozenset[int]], known: Mapping[str, Returned]) -> frozenset[Root]:
        """What memory of others a memref may be, and `OTHER` if it may be any else."""
        values = self._program.values
        return frozenset(
            each if isinstance(each, str) else values[each].position if values[each].kind is Kind.ARGUMENT else OTHER
            for each in self._shown(memref, origins, known)
        )

    def _memory(self, memref: int, known: Mapping[str, MemorySummary], is_entry: bool) -> frozenset[Root]:
        """What a memref may be: memrefs by number, one number for all arguments but those of the entry function, and globals."""
        values = self._program.values
        return frozenset(
            OTHER if not is_entry and isinstance(each, int) and values[each].kind is Kind.ARGUMENT else each
            for each in self._shown(memref, self._origins, _returned_by(known))
        )

    def _shown(self, memref: int, origins: Sequence[frozenset[int]], known: Mapping[str, Returned]) -> frozenset[Root]:
        """The memrefs whose memory one may be, by number, and the globals, by name: through calls as far as they are known."""
        found: set[Root] = set()
        program = self._program

        def passed(number: int) -> Iterator[int]:
            """The memrefs that a call may have returned as they came."""
            for origin in origins[number]:
                value = program.values[origin]
                maker = program.ops[value.producer] if value.producer >= 0 else None
                callee = None if maker is None else called_name(maker.operation)
                if maker is not None and value.kind is Kind.GLOBAL:
                    found.add(text_of(maker.operation, "name"))
                elif maker is None or callee is None or callee not in known:
                    found.add(origin)
                else:
                    for root in known[callee][value.position]:
                        if root == OTHER:
                            found.add(origin)
                        elif isinstance(root, str):
                            found.add(root)
                        else:
                            yield maker.operands[root]

        reached([memref] if memref != NOT_A_BUFFER else [], passed)
        return frozenset(found)


def _returned_by(known: Mapping[str, MemorySummary]) -> dict[str, Returned]:
    return {name: summary.returned for name, summary in known.items()}


def summaries(functions: Mapping[str, FunctionMemory]) -> dict[str, MemorySummary]:
    """What callers have to know of each function of a module, by name."""
    known, before = {name: function.nothing for name, function in functions.items()}, dict[str, MemorySummary]()
    while known != before:
        before = known
        known = {name: function.summary(before) for name, function in functions.items()}
    return known


def whole_arguments(functions: Mapping[str, FunctionMemory]) -> dict[str, Returned]:
    """What `FunctionMemory.whole` says of each function of a module, by name."""
    known, before = {name: function.nothing.returned for name, function in functions.items()}, dict[str, Returned]()
    while known != before:
        before = known
        known = {name: function.whole(before) for name, function in functions.items()}
    return known
