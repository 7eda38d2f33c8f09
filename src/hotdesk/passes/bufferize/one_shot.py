"""Tensors become buffers: every decision of the in-place analysis, carried out in one rewrite.

    func @main(%x: tensor<8xf32>) -> tensor<8xf32> {      func @main(%x: memref<8xf32>, %out: memref<8xf32> {bufferize.result}) {
      %e = tensor.empty()
      %r = linalg.generic ins(%x) outs(%e)            ->    linalg.generic ins(%x) outs(%out)
      return %r }                                           return }

1. A tied operand decided in place is written where it lies; otherwise it gets a new buffer, and a copy of its contents only if
   the op reads them or overwrites a part.
2. An undefined tensor becomes a `memref.alloc` right in front of the first op that writes it, or of the op with the region out of
   which it is passed; one that nobody writes, none.
3. What control flow passes on is a memref too: copied only where the analysis says so.
4. Results become arguments at the end, `bufferize.result`: memory of the caller's. An allocation that a result covers entirely is
   that argument; a result that is an argument itself, a part of a buffer, or returned twice is copied into it.

After the pass no tensor is left in the function; an op without a model is an error that names it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from hotdesk._bindings import ir
from hotdesk.analysis.call_graph import bottom_up
from hotdesk.analysis.inplace import analyse_in_place
from hotdesk.analysis.orders import HEURISTICS, heuristic
from hotdesk.analysis.program import read_function
from hotdesk.errors import OptionError
from hotdesk.explain import Decision
from hotdesk.ir.functions import single_exit
from hotdesk.ir.walking import is_declaration, runs_every_call
from hotdesk.models.callee import retype_declaration
from hotdesk.passes.base import Pass
from hotdesk.passes.bufferize.expanding import expand_ops
from hotdesk.passes.bufferize.results import RESULT, place_results
from hotdesk.passes.bufferize.rewriting import Rewriting

__all__ = ["RESULT", "OneShotBufferize"]


@dataclass(frozen=True, slots=True)
class OneShotBufferize(Pass):
    """Bufferizes every function of a module, boundaries included (rules in the module docstring).

    Options:
        analysis_heuristic: the order in which operands are decided, one of `analysis.orders.HEURISTICS`.
        analysis_fuzzer_seed: with the heuristic `fuzzer`, what the order is drawn from.
    """

    name: ClassVar[str] = "hotdesk-one-shot-bufferize"
    analysis_heuristic: str = "top-down"
    analysis_fuzzer_seed: int = 0

    def run(self, module: ir.Module) -> tuple[Decision, ...]:
        if self.analysis_heuristic not in HEURISTICS:
            expected = "one of " + ", ".join(HEURISTICS)
            raise OptionError(
                f"option 'analysis-heuristic' of pass '{self.name}'",
                expected=expected,
                got=repr(self.analysis_heuristic),
            )
        decisions: list[Decision] = []
        for node in bottom_up(module):
            single_exit(node.function)
            expand_ops(node.function)
            record = read_function(node.function, owned=node.owned)
            order = heuristic(self.analysis_heuristic, record, self.analysis_fuzzer_seed)
            rewriting = Rewriting(node.function, record, analyse_in_place(record, order))
            place_results(node, record, rewriting, rewriting.run())
            decisions.extend(rewriting.deciding.decisions if runs_every_call(node.function) else ())
        for function in module.body.operations:
            if is_declaration(function.operation):
                retype_declaration(function.operation)
        return tuple(decisions)
