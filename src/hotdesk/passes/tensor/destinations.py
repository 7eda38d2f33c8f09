"""Memory displacement: an op whose destination is undefined writes over an operand that dies there.

    %e = tensor.empty()
    %r = linalg.generic ins(%x) outs(%e)        ->        %r = linalg.generic ins(%x) outs(%x)

Legal iff the op does not read its destination and an operand qualifies by the rules of `analysis.in_place.displacement`. If none
does, the op keeps its own destination; one-shot bufferization, which then makes a buffer for it, reports the reason. So does an
op in a loop that would copy more for it (`analysis.in_place.destinations`).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from hotdesk._bindings import ir
from hotdesk.analysis.in_place.destinations import choose_destinations
from hotdesk.analysis.tensors.program import TensorProgram
from hotdesk.analysis.tensors.reading import read_function
from hotdesk.explain import Decision
from hotdesk.ir.walking import all_functions
from hotdesk.passes.base import Pass
from hotdesk.passes.collecting import collection_put_off


@dataclass(frozen=True, slots=True)
class ChooseDestinations(Pass):
    """Gives ops with undefined destinations an operand that dies there (rules in the module docstring).

    Options:
        reload_scalars, results_in_donated, overlapping_moves: as in `hotdesk-one-shot-bufferize`.
    """

    name: ClassVar[str] = "hotdesk-choose-destinations"

    reload_scalars: bool = False
    results_in_donated: bool = False
    overlapping_moves: bool = False

    def run(self, module: ir.Module) -> tuple[Decision, ...]:
        with collection_put_off():
            for function in all_functions(module):
                record = read_function(function, reload_scalars=self.reload_scalars, moves=self.overlapping_moves)
                _choose(record, apart=not self.results_in_donated)
        return ()


def _choose(function: TensorProgram, *, apart: bool) -> None:
    for (op, operand), value in choose_destinations(function, apart=apart).items():
        function.ops[op].operation.operands[operand] = function.values[value].value
