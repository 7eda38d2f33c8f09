"""In which memory space each tensor of a function lies: memory of an accelerator, say, beside the host's.

1. An op may say it: memory that is allocated in a space, or that is there already as a memref of a type.
2. At the edge of a function types say it: the encoding of a tensor, where encodings are memory spaces; else the default space.
3. What is written where an operand lies, seen there, chosen among operands, or passed on by control flow is in its space.
4. What is in no space by then is where its type says, as at the edge, unless all spaces must be inferred.

A value of several spaces is an error. What is needed in another space than its own is copied (`misplaced`).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, cast

from hotdesk._bindings import ir
from hotdesk.analysis.tensors.program import NOT_A_TENSOR, OpRecord, TensorProgram
from hotdesk.errors import BufferizationError
from hotdesk.graphs import DisjointSets
from hotdesk.ir.locations import python_line
from hotdesk.ir.types import memref_of, same_space

Space = ir.Attribute | None
"""A memory space as memref types write it; None for the default one."""


@dataclass(frozen=True, slots=True)
class SpaceRules:
    """How memory spaces are found.

    Attributes:
        encoded: the encoding of a tensor type is its memory space; if not, encodings say nothing.
        inferred: a tensor for which only a default is left is an error.
    """

    encoded: bool = False
    inferred: bool = False

    def of_type(self, tensor: ir.Type) -> Space:
        """The space of a tensor type where nothing but the type is known."""
        return plain_space(cast(Any, tensor).encoding) if self.encoded else None

    def memref_of(self, tensor: ir.Type) -> ir.MemRefType:
        """The memref type of a tensor type where nothing but the type is known, contiguous in row-major order."""
        return memref_of(tensor, self.of_type(tensor))


USUAL_SPACES = SpaceRules()


def plain_space(space: Space) -> Space:
    """A memory space as types keep it: number 0 is the default one."""
    return None if isinstance(space, ir.IntegerAttr) and space.value == 0 else space


def memory_spaces(function: TensorProgram, rules: SpaceRules = USUAL_SPACES) -> tuple[Space, ...]:
    """The space of each value, by number; empty if all are in the default one.

    Raises:
        BufferizationError: a value is in two spaces, or in none that could be inferred.
    """
    if not (rules.encoded or rules.inferred or any(_says(op) for op in function.ops)):
        return ()
    groups = DisjointSets(len(function.values))
    for one, other in _together(function):
        groups.unite(one, other)
    found: dict[int, tuple[Space, int]] = {}
    for value, space in _stated(function, rules):
        known = found.setdefault(groups.find(value), (space, value))
        if not same_space(known[0], space):
            raise _two_spaces(function, known[1], known[0], value, space)
    for value in function.values:
        if groups.find(value.number) not in found:
            if rules.inferred and rules.of_type(value.value.type) is None:
                raise _not_inferred(function, value.number)
            found[groups.find(value.number)] = rules.of_type(value.value.type), value.number
    return tuple(found[groups.find(value.number)][0] for value in function.values)


def _says(op: OpRecord) -> bool:
    """Whether an op says that something is in another space than the default one."""
    stated = (*op.facts.spaces.results, *op.facts.spaces.operands)
    return any(plain_space(space) is not None for _, space in stated)


def misplaced(function: TensorProgram, rules: SpaceRules = USUAL_SPACES) -> Iterator[tuple[OpRecord, int, Space]]:
    """The operands that are needed in another space than their own, each with its op and that space."""
    for op in function.ops:
        wanted = dict(op.facts.spaces.operands)
        for operand, value in enumerate(op.operands):
            if value == NOT_A_TENSOR or not (op.facts.spaces.edge or operand in wanted):
                continue
            space = wanted.get(operand, rules.of_type(function.values[value].value.type))
            if not same_space(space, function.space(value)):
                yield op, operand, space


def _together(function: TensorProgram) -> Iterator[tuple[int, int]]:
    """Pairs of values that lie in one space."""
    for op in function.ops:
        facts = op.facts
        if not facts.spaces.edge:
            for operand, result in (*facts.ties, *facts.views, *facts.choices, *facts.spaces.alike):
                yield op.operands[operand], op.results[result]
    for edge in (*function.flows, *function.shown):
        yield edge.source, edge.target


def _stated(function: TensorProgram, rules: SpaceRules) -> Iterator[tuple[int, Space]]:
    """The values whose space something says."""
    for number in function.arguments:
        if number != NOT_A_TENSOR:
            yield number, rules.of_type(function.values[number].value.type)
    for op in function.ops:
        for result, space in op.facts.spaces.results:
            yield op.results[result], plain_space(space)
        if op.facts.spaces.edge:
            for result in op.results:
                if result != NOT_A_TENSOR:
                    yield result, rules.of_type(function.values[result].value.type)


def _two_spaces(function: TensorProgram, one: int, first: Space, other: int, second: Space) -> BufferizationError:
    return BufferizationError(
        f"memory space of {_name(function, other)}",
        expected=f"{_spelled(first)}, in which {_name(function, one)} is, whose memory it may be",
        got=_spelled(second),
        where=python_line(function.values[other].value.location),
        hint="copy one of them with `bufferization.alloc_tensor() copy(%x) {memory_space = …}`",
    )


def _not_inferred(function: TensorProgram, value: int) -> BufferizationError:
    return BufferizationError(
        f"memory space of {_name(function, value)}",
        expected="a space that the IR says or that follows from it (`must-infer-memory-space`)",
        got="none",
        where=python_line(function.values[value].value.location),
        hint="allocate it with `bufferization.alloc_tensor() {memory_space = …}`, or run hotdesk-eliminate-empty-tensors first",
    )


def _name(function: TensorProgram, value: int) -> str:
    found = function.values[value]
    if found.producer >= 0:
        return f"the result of `{function.ops[found.producer].name}`"
    parent = function.blocks[found.block].parent
    return f"argument {found.position}" + ("" if parent < 0 else f" of `{function.ops[parent].name}`")


def _spelled(space: Space) -> str:
    return "the default space" if space is None else f"space {space}"
