"""Live ranges, alias sets and candidates for in-place calls of a function, as dicts keyed by the names of values.

A value is named by its location, `loc("y1")`, if that is a name nobody else has, otherwise as it is printed: `%arg0`, `%3#1`.
Ops are numbered from 0 in the order of the text, ops in regions after the op around them. A module stands for its only function;
InvalidIRError is raised for anything else.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Any, cast

from hotdesk._bindings import ir
from hotdesk.analysis.in_place.destinations import decide_destination
from hotdesk.analysis.in_place.places import Places
from hotdesk.analysis.tensors.program import NOT_A_TENSOR, OpRecord, TensorProgram
from hotdesk.analysis.tensors.readers import Readers
from hotdesk.analysis.tensors.reading import read_function
from hotdesk.errors import InvalidIRError
from hotdesk.explain import Reason
from hotdesk.ir.walking import functions_of, is_function, is_module
from hotdesk.program.dataflow import united
from hotdesk.program.liveness import Liveness
from hotdesk.sizes.proofs import SizeProver


@dataclass(frozen=True, slots=True)
class Candidates:
    """Operands whose memory a result could take over, as far as sizes and live ranges tell.

    Attributes:
        exact: those that have the result's element type and, provably, its sizes.
        large_enough: those that have, provably, as many bytes or more; the exact ones too.
    """

    exact: tuple[str, ...]
    large_enough: tuple[str, ...]


def value_names(function: ir.Operation, record: TensorProgram) -> tuple[str, ...]:
    """The names of a function's tensor values, by number."""
    state = ir.AsmState(function)
    given = [_given_name(value.value) for value in record.values]
    counts = Counter(given)
    return tuple(
        f"%{name}" if name and counts[name] == 1 else value.value.get_name(state)
        for name, value in zip(given, record.values, strict=True)
    )


def _given_name(value: ir.Value) -> str:
    owner = value.owner
    location = cast(Any, value).location if isinstance(owner, ir.Block) else cast(Any, owner).location
    several = not isinstance(owner, ir.Block) and len(cast(Any, owner).operation.results) > 1
    return location.name_str if isinstance(location, ir.NameLoc) and not several else ""


def only_function(given: Any) -> ir.Operation:
    """A `func.func` as it is, or the only one of a module. Raises InvalidIRError for anything else."""
    op = getattr(given, "operation", None)
    if not isinstance(op, ir.Operation):
        raise InvalidIRError("analysis", expected="a func.func, or a module with one", got=type(given).__name__)
    functions = functions_of(op) if is_module(op) else [op] if is_function(op) else []
    if len(functions) != 1:
        got = f"a module with {len(functions)}" if is_module(op) else op.name
        raise InvalidIRError("analysis", expected="a func.func, or a module with one", got=got)
    return functions[0]


def live_ranges(function: ir.Operation | ir.Module) -> dict[str, tuple[int, int]]:
    """From the op that makes each tensor to the last op that uses it, by number.

    An argument of a block is made by the first op of the block. What is made outside a loop and used inside is in use until the
    loop ends; between blocks, as far down as a block from which its uses are reached.
    """
    function = only_function(function)
    record = read_function(function)
    liveness = Liveness(record)
    ends = [_start(record, number) for number in range(len(record.values))]
    for op in record.ops:
        for value in (*op.operands, *op.captured):
            if value != NOT_A_TENSOR:
                ends[value] = max(ends[value], _last(record, liveness, record.values[value].block, op))
    names = value_names(function, record)
    return {names[number]: (_start(record, number), end) for number, end in enumerate(ends)}


def _start(record: TensorProgram, number: int) -> int:
    value = record.values[number]
    return value.producer if value.producer >= 0 else record.blocks[value.block].first


def _last(record: TensorProgram, liveness: Liveness, home: int, op: OpRecord) -> int:
    """The last op to which a value of block `home` is in use because an op uses it."""
    last, block, region = op.number, record.blocks[op.block], record.region_of(home)
    while block.number not in region:
        parent = record.ops[block.parent]
        if block.region in record.following(parent, block.region):
            last = parent.end - 1
        block = record.blocks[parent.block]
    if block.number == home:
        return last
    between = (each for each in liveness.reached(home, home) if block.number in liveness.reached(each, home))
    return max([last, *(record.blocks[each].end - 1 for each in between)])


def alias_sets(function: ir.Operation | ir.Module) -> dict[str, frozenset[str]]:
    """The values in whose memory each tensor may lie, whatever is decided about writes; two alias iff their sets meet.

    A view lies where its operand does; what control flow passes on, and what is selected, where any of its sources does.
    """
    function = only_function(function)
    record = read_function(function)
    targets: dict[int, list[int]] = {}
    for op in record.ops:
        for operand, result in (*op.facts.views, *op.facts.choices):
            if NOT_A_TENSOR not in (op.operands[operand], op.results[result]):
                targets.setdefault(op.operands[operand], []).append(op.results[result])
    for edge in record.flows:
        targets.setdefault(edge.source, []).append(edge.target)
    shown = {target for many in targets.values() for target in many}
    numbers = range(len(record.values))
    found = united([frozenset[int]() if number in shown else frozenset({number}) for number in numbers], targets)
    names = value_names(function, record)
    return {names[number]: frozenset(names[each] for each in found[number]) for number in range(len(names))}


def in_place_candidates(function: ir.Operation | ir.Module) -> dict[str, Candidates]:
    """For each result that an op writes, the operands that die there, may be written, and are large enough.

    They die if no value that lies in their memory by then is read later; the ops above have been decided as by
    `hotdesk-choose-destinations`. Results of ops without tensor operands are not listed.
    """
    function = only_function(function)
    record = read_function(function)
    readers = Readers(record)
    places = Places(record, readers)
    names = value_names(function, record)
    prover = SizeProver(may_be_negative=lambda symbol: False)  # each is a size of a tensor
    found: dict[str, Candidates] = {}
    for op in record.ops:
        operands = [
            (i, v) for i, v in enumerate(op.operands) if v != NOT_A_TENSOR and readers.root[v] not in readers.undefined
        ]
        for result in _written(op) if operands else ():
            wanted = record.values[op.results[result]]
            dying = dict.fromkeys(v for i, v in operands if _dies(op, i, result, places, readers))
            large = [v for v in dying if prover.is_never_less(record.values[v].bytes, wanted.bytes)]
            exact = [v for v in large if _alike(record, v, op.results[result])]
            found[names[wanted.number]] = Candidates(tuple(names[v] for v in exact), tuple(names[v] for v in large))
        decide_destination(record, op, places, readers)
    return found


def _written(op: OpRecord) -> list[int]:
    """The results that an op writes itself."""
    if op.flow is not None:
        return []
    shown = {result for _, result in (*op.facts.views, *op.facts.choices)}
    other = shown | op.facts.undefined | op.facts.constants
    return [result for result, value in enumerate(op.results) if value != NOT_A_TENSOR and result not in other]


def _dies(op: OpRecord, operand: int, result: int, places: Places, readers: Readers) -> bool:
    """Whether a result could lie where an operand does, but for the elements in which the op itself reads it."""
    value = op.operands[operand]
    if places.place_of(value) is None or readers.live(readers.root[value], op.block, op.end) is not None:
        return False
    conflict = places.conflict(op, operand, value, result)
    return conflict is None or conflict.reason is Reason.READ_BY_SAME_OP


def _alike(record: TensorProgram, value: int, result: int) -> bool:
    a, b = record.values[value], record.values[result]
    return a.shape == b.shape and a.element == b.element
