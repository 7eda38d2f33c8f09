"""Memory displacement: an op whose destination is undefined writes over an operand that dies there.

    %e = tensor.empty()
    %r = linalg.generic ins(%x) outs(%e)        ->        %r = linalg.generic ins(%x) outs(%x)

Legal iff the op does not read its destination and `analysis.displacement` finds an operand. An op for which it finds none keeps
its own destination; one-shot bufferization, which then makes a buffer for it, reports the reason.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from hotdesk._bindings import ir
from hotdesk.analysis.displacement import find_displacement
from hotdesk.analysis.program import FunctionRecord, read_function
from hotdesk.analysis.readers import BufferState, conflict_of, find_readers
from hotdesk.explain import Decision
from hotdesk.ir.walking import defined_functions
from hotdesk.passes.base import Pass


@dataclass(frozen=True, slots=True)
class ChooseDestinations(Pass):
    """Gives ops with undefined destinations an operand that dies there (rules in the module docstring)."""

    name: ClassVar[str] = "hotdesk-choose-destinations"

    def run(self, module: ir.Module) -> tuple[Decision, ...]:
        for function in defined_functions(module):
            _choose(read_function(function))
        return ()


def _choose(function: FunctionRecord) -> None:
    readers = find_readers(function)
    state = BufferState(function)
    for op in function.ops:
        in_place: dict[int, bool] = {}
        for operand, result in op.facts.ties:
            value = op.operands[operand]
            if value in state.undefined and operand not in op.facts.reads:
                found = find_displacement(function, op, result, readers, state)
                if found.value is not None:
                    op.operation.operands[operand] = function.values[found.value].value
                    value = found.value
                in_place[operand] = True
            else:
                in_place[operand] = conflict_of(op, operand, value, readers, state) is None
            if in_place[operand]:
                state.taken[readers.root[value]] = op.number
        state.step(op, in_place)
