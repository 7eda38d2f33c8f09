"""What functions that call each other may assume of each other: how they use their arguments, and where their results lie.

A function of a group of recursive ones is analysed before it is known what the calls in it do, so the answers are assumed
first and held against what the analysis then finds, until both agree:

1. A result is assumed to lie in the argument that it leads back to, whichever way it is computed, through the ops that may
   write it over an operand, what shows it and what control flow passes on; a call of the group leads to what its result does.
2. Nothing is assumed to be read or written.
3. Every function is analysed under the assumptions. What it does read or write is assumed from then on, and of a result that
   does not lie in its argument that it is other memory.

Assumptions only grow weaker, so this ends. What holds of every function if it holds of the calls in it holds of every call
that comes to an end, by induction on how deep it goes.

Source: assume-guarantee reasoning after Misra and Chandy, "Proofs of networks of processes" (IEEE TSE 1981); the bottom-up
order with a fixed point in each component is that of interprocedural data flow after Sharir and Pnueli (1981).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

from hotdesk.analysis.in_place.access import Access, argument_access
from hotdesk.analysis.in_place.inplace import InPlaceAnalysis
from hotdesk.analysis.in_place.places import Places
from hotdesk.analysis.tensors.program import NOT_A_TENSOR, TensorProgram
from hotdesk.ir.functions import called_name
from hotdesk.ir.types import shape_of
from hotdesk.models.callee import Callee, assuming
from hotdesk.models.func import CALL
from hotdesk.models.registry import model_of

_READS = (Access.READ, Access.READ_WRITE)
_WRITES = (Access.WRITE, Access.READ_WRITE)
_OTHER = -1
"""In the place of an argument's number: other memory."""


def held_results(record: TensorProgram, places: Places) -> dict[int, int]:
    """The results that lie entirely in an argument's memory, in the same form, each with the number of the argument.

    Of several in the memory of one argument that is written, only the first.
    """
    found: dict[int, int] = {}
    written: set[int] = set()
    for result, value in enumerate(record.end.operands):
        argument = _argument(record, places, value) if value != NOT_A_TENSOR else None
        if argument is None or argument in written:
            continue
        found[result] = argument
        if places.is_written(value):
            written.add(argument)
    return found


def results_in_donated(record: TensorProgram, places: Places) -> dict[int, int]:
    """The results that may lie in the memory of arguments that may be written, all of it, each with the number of the argument.

    Some ways may bring them in other memory; nothing else is in the argument's then. One for each argument, the first: whoever
    gave the argument away gets each result in memory of its own.
    """
    numbers = {value: number for number, value in enumerate(record.arguments) if value in record.writable_arguments}
    places_of = {places.find(value): value for value in numbers}
    found: dict[int, int] = {}
    for result, value in enumerate(record.end.operands):
        place = places.place_of(value) if value != NOT_A_TENSOR else None
        argument = places_of.get(place) if place is not None and not places.is_moving(place) else None
        if argument is None or place in places.read_only or numbers[argument] in found.values():
            continue
        given, returned = record.values[argument], record.values[value]
        if (given.element, given.bytes) == (returned.element, returned.bytes):
            found[result] = numbers[argument]
    return found


def agree(
    records: Mapping[str, TensorProgram],
    owned: Mapping[str, bool],
    analyse: Callable[[str, TensorProgram], InPlaceAnalysis],
) -> dict[str, Callee]:
    """What the functions of a recursive group may assume of each other (rules in the module docstring), by name.

    Args:
        owned: whether all who call a function are known, so that its results may lie in its arguments.
        analyse: the in-place analysis of a function.
    """
    held = _lead_back(records, owned)
    assumed = {name: _callee(record, frozenset(), frozenset(), held[name]) for name, record in records.items()}
    while True:
        found: dict[str, Callee] = {}
        with assuming(assumed):
            for name, record in records.items():
                seen = with_calls(record)
                found[name] = _weakened(assumed[name], seen, analyse(name, seen))
        if found == assumed:
            return assumed
        assumed = found


def with_calls(record: TensorProgram) -> TensorProgram:
    """The same function, in which calls do what is assumed of their callees now."""
    ops = list(record.ops)
    for op in record.ops:
        model = model_of(op.name) if op.name == CALL else None
        if model is not None:
            ops[op.number] = replace(op, facts=model.facts(op.operation))
    return replace(record, ops=tuple(ops))


def _weakened(assumed: Callee, record: TensorProgram, analysis: InPlaceAnalysis) -> Callee:
    access = argument_access(analysis)
    reads = assumed.reads | {i for i, each in enumerate(access) if each in _READS}
    writes = assumed.writes | {i for i, each in enumerate(access) if each in _WRITES}
    lies = held_results(record, analysis.places)
    held = {result: argument for result, argument in assumed.held.items() if lies.get(result) == argument}
    return _callee(record, reads, writes, held)


def _callee(record: TensorProgram, reads: frozenset[int], writes: frozenset[int], held: dict[int, int]) -> Callee:
    """A function with these accesses, whose other results of static sizes are written into memory of the caller's."""
    given = {
        result: ()
        for result, value in enumerate(record.end.operands)
        if value != NOT_A_TENSOR and result not in held and None not in shape_of(record.values[value].value.type)
    }
    return Callee(reads, writes, held, given)


def _argument(record: TensorProgram, places: Places, value: int) -> int | None:
    place = places.place_of(value)
    if place is None or not places.stay(place):
        return None
    for number, argument in enumerate(record.arguments):
        if argument != NOT_A_TENSOR and places.find(argument) == place:
            alike = record.values[argument].value.type == record.values[value].value.type
            return number if alike else None
    return None


# What a result leads back to


def _lead_back(records: Mapping[str, TensorProgram], owned: Mapping[str, bool]) -> dict[str, dict[int, int]]:
    """The argument that each result of a function leads back to on all ways, by result; only of owned functions.

    These are summaries (Sharir and Pnueli's functional approach): a call leads to those operands alone that its callee's result
    leads to, so what follows from a value is no fixed edge, as `program.dataflow` has them. Ways are gone again until no summary
    grows.
    """
    ways = {name: _Ways(record, frozenset(records)) for name, record in records.items()}
    known: dict[tuple[str, int], set[int]] = {}
    changed = True
    while changed:
        changed = False
        for name, record in records.items():
            for result, value in enumerate(record.end.operands):
                if value == NOT_A_TENSOR:
                    continue
                found = ways[name].arguments(value, known) if owned[name] else {_OTHER}
                if found != known.get((name, result), set()):
                    known[name, result] = found
                    changed = True
    return {
        name: {
            result: next(iter(found))
            for result in range(len(record.end.operands))
            if len(found := known.get((name, result), set())) == 1 and _OTHER not in found
        }
        for name, record in records.items()
    }


class _Ways:
    """The ways back from the values of a function to those whose memory they may be in."""

    def __init__(self, record: TensorProgram, group: frozenset[str]) -> None:
        self._group = group
        self._numbers = {value: i for i, value in enumerate(record.arguments) if value != NOT_A_TENSOR}
        self._sources: dict[int, list[int]] = {}
        self._calls: dict[int, tuple[str, int, tuple[int, ...]]] = {}
        for edge in (*record.flows, *record.shown):
            self._sources.setdefault(edge.target, []).append(edge.source)
        for op in record.ops:
            for operand, result in (*op.facts.ties, *op.facts.views, *op.facts.choices):
                self._sources.setdefault(op.results[result], []).append(op.operands[operand])
            name = called_name(op.operation)
            if name is not None:
                for result, value in enumerate(op.results):
                    self._calls[value] = name, result, op.operands

    def arguments(self, value: int, known: Mapping[tuple[str, int], set[int]]) -> set[int]:
        """The arguments that a value leads back to, and `_OTHER` if it may be other memory too.

        `known` is the same of the results of the group's functions, so far; nothing is known of those that are not there yet.
        """
        found: set[int] = set()
        seen: set[int] = set()
        waiting = [value]
        while waiting:
            each = waiting.pop()
            if each in seen:
                continue
            seen.add(each)
            name, result, operands = self._calls.get(each, ("", 0, ()))
            if each in self._numbers:
                found.add(self._numbers[each])
            elif each in self._sources:
                waiting.extend(self._sources[each])
            elif (name, result) in known:
                behind = known[name, result]
                waiting.extend(operands[argument] for argument in behind if argument != _OTHER)
                found.update(behind & {_OTHER})
            elif name not in self._group:
                found.add(_OTHER)
        return found
