"""Runs functions: blocks, branches between them, and a table that says what each op means.

An op's meaning is a function of the interpreter, the op, its operands and the values in scope; it returns the op's results. A
dialect's file has a table of them, and what runs a region (`scf`, `func`) does so through `Interpreter.region`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from tests.reference.values import Fill, Operation, Undefined, Values

Meaning: TypeAlias = "Callable[[Interpreter, Operation, list[Any], Values], Sequence[Any]]"
POINT: Any = "the point of the iteration domain"
_MOST_STEPS = 100_000  # blocks; a program that runs more does not end


@dataclass(frozen=True)
class End:
    """Where a region ended: its terminator, the operands of that, and what was in scope."""

    op: Operation
    operands: list[Any]
    values: Values


class Interpreter:
    def __init__(self, meanings: Mapping[str, Meaning], passing: frozenset[str], undefined: Fill) -> None:
        """`passing` are the ops that hand tensors on without reading them."""
        self._meanings = meanings
        self._passing = passing
        self._undefined = undefined
        self._steps = 0
        self.globals: dict[str, Any] = {}
        """What the globals hold that were loaded or stored."""

    def region(self, region: Any, arguments: Sequence[Any], outside: Values) -> End:
        """Runs a region from its first block to a terminator that leaves it."""
        values = dict(outside)
        block, given = region.blocks[0], list(arguments)
        while True:
            self._steps += 1
            assert self._steps < _MOST_STEPS, "the program does not end"
            values.update(zip(block.arguments, given, strict=True))
            terminator = self._block(block, values)
            operands = [values[v] for v in terminator.operands]
            if not terminator.name.startswith("cf."):
                return End(terminator, operands, values)
            number, given = _branch(terminator, operands)
            block = terminator.successors[number]

    def yielded(self, region: Any, arguments: Sequence[Any], outside: Values) -> list[Any]:
        """The operands of the terminator with which a region ends."""
        return self.region(region, arguments, outside).operands

    def read(self, value: Any) -> Any:
        """What a value holds; one without contents holds something else each time."""
        return self._undefined(value.shape, value.dtype) if isinstance(value, Undefined) else value

    def _block(self, block: Any, values: Values) -> Operation:
        """Runs the ops of a block; its terminator, which has not run. `values` gets what the block defines."""
        *ops, terminator = (view.operation for view in block.operations)
        for op in ops:
            operands = [values[v] for v in op.operands]
            if op.name not in self._passing:
                operands = [self.read(x) for x in operands]
            meaning = self._meanings.get(op.name)
            assert meaning is not None, f"{op.name} has no meaning here"
            values.update(zip(op.results, meaning(self, op, operands, values), strict=True))
        return terminator


def _branch(op: Operation, operands: list[Any]) -> tuple[int, list[Any]]:
    """Which successor a branch takes, and with which arguments."""
    if op.name == "cf.br":
        return 0, operands
    counts = [int(n) for n in op.attributes["operandSegmentSizes"]]
    if op.name == "cf.cond_br":
        groups, number = counts[1:], 0 if operands[0] else 1
    else:
        assert op.name == "cf.switch", f"{op.name} has no meaning here"
        groups, number = [counts[1], *(int(n) for n in op.attributes["case_operand_segments"])], 0
        if "case_values" in op.attributes:
            cases = [int(v) for v in op.attributes["case_values"]]
            number = cases.index(int(operands[0])) + 1 if int(operands[0]) in cases else 0
    start = 1 + sum(groups[:number])
    return number, operands[start : start + groups[number]]
