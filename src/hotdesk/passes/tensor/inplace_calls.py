"""In-place calls: what a call computes is written over an argument that dies there.

    %y1 = linalg.add ins(%x, %x) outs(%e)               %y1 = linalg.add ins(%x, %x) outs(%e)
    %y2 = linalg.mul ins(%y1, %x) outs(%e)       ->     %y2 = linalg.mul ins(%y1, %x) outs(%y1)
    %y3 = call @f(%y2)                                  %y3 = call @f_inplace_0(%y2)

    func.func @f(%a) { … }                              func.func @f(%a) { … }
                                                        func.func private @f_inplace_0(%a {hotdesk.donated}) { … }

1. An op with an undefined destination gets an operand that dies there, by the rules of `analysis.in_place.displacement`.
2. A `func.call` that may overwrite arguments, by the rules of `analysis.in_place.inplace_calls`, calls a variant of the function
   that is given them. Calls that give the same arguments share a variant, whose own calls are treated alike; others keep the
   function.
3. Values stay what they are: a variant computes what its function does. Bufferization follows the attribute.

Common subexpressions are eliminated first, unless `cse=false`. Fuse before this pass: an op that overwrites an operand is not
fused with what makes that. A function that nobody calls any more is left to `symbol-dce`. With `test-analysis-only` nothing is
changed but attributes, which tell live ranges, alias sets and candidates (`analysis.in_place.plain_values`).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from hotdesk._bindings import ir
from hotdesk.analysis.in_place.destinations import DestinationDecision
from hotdesk.analysis.in_place.inplace_calls import CallPlans, FunctionPlan, Given
from hotdesk.analysis.in_place.plain_values import alias_sets, in_place_candidates, live_ranges
from hotdesk.analysis.tensors.program import TensorProgram
from hotdesk.analysis.tensors.reading import read_function
from hotdesk.explain import Decision, Outcome, Reason
from hotdesk.ir.context import run_mlir_passes
from hotdesk.ir.functions import callee_name, private_copy
from hotdesk.ir.signature import set_signature, signature
from hotdesk.ir.symbols import Symbols
from hotdesk.ir.walking import all_functions, defined_functions, modules, runs_every_call, symbol_name
from hotdesk.models.func import CALL
from hotdesk.passes.base import Pass

ANALYSED = LIVE, ALIASES, EXACT, LARGE = tuple(
    f"hotdesk.{name}" for name in ("live_ranges", "alias_sets", "exact_candidates", "large_enough_candidates")
)
"""The attributes of a function that say what was found about its values, in `test-analysis-only`."""


@dataclass(frozen=True, slots=True)
class UseInPlaceCalls(Pass):
    """Turns calls into in-place calls (rules in the module docstring).

    Options:
        cse: whether common subexpressions are eliminated first.
        test_analysis_only: whether to annotate functions with what is known of their values instead.
    """

    name: ClassVar[str] = "hotdesk-use-inplace-calls"
    reasons: ClassVar[tuple[Reason, ...]] = (
        Reason.DIES_HERE,
        Reason.OVERWRITTEN_UNREAD,
        Reason.WRITTEN_IN_DESTINATION,
        Reason.CALLEE_KEEPS_ARGUMENT,
        Reason.NO_BODY,
        Reason.RECURSIVE_CALL,
        Reason.NOT_ANALYSED,
        Reason.ALREADY_OVERWRITTEN,
        Reason.DIFFERENT_ELEMENT_TYPE,
        Reason.DIFFERENT_LAYOUT,
        Reason.NO_DEAD_OPERAND_OF_SAME_SIZE,
        Reason.NOT_WRITABLE_CONSTANT,
        Reason.NOT_WRITABLE_MEMORY,
        Reason.NOT_WRITABLE_INPUT,
        Reason.NOT_WRITABLE_WEIGHT,
        Reason.OTHER_MEMORY_SPACE,
        Reason.PARTIAL_VIEW,
        Reason.READ_BY_SAME_OP,
        Reason.READ_LATER,
        Reason.RESULT_SLOT,
        Reason.RUNS_IN_PARALLEL,
        Reason.SIZE_NOT_PROVEN_EQUAL,
    )
    cse: bool = True
    test_analysis_only: bool = False

    def run(self, module: ir.Module) -> tuple[Decision, ...]:
        if self.cse:
            run_mlir_passes(module, "cse")
        if self.test_analysis_only:
            for function in all_functions(module):
                _annotate(function)
            return ()
        return tuple(decision for each in modules(module) for decision in _Rewriting(each).run())


class _Rewriting:
    def __init__(self, module: ir.Module) -> None:
        self._module = module
        self._plans = CallPlans(module)
        self._symbols = Symbols()
        self._variants: dict[tuple[str, Given], str] = {}

    def run(self) -> tuple[Decision, ...]:
        originals = {symbol_name(function): self._plans.plan(symbol_name(function))
                     for function in defined_functions(self._module)}  # fmt: skip
        wanted = [key for plan in originals.values() for key in self._called(plan)]
        for name, given in wanted:  # grows as variants call variants
            if (name, given) in self._variants:
                continue
            stem = f"{name}_inplace_{'_'.join(map(str, sorted(given)))}"
            self._variants[name, given] = self._symbols.named(self._plans.functions[name], stem)
            wanted.extend(self._called(self._plans.plan(name, given)))
        made = {key: _clone(self._plans.functions[key[0]], variant, key[1]) for key, variant in self._variants.items()}
        decisions: list[Decision] = []
        for name, plan in originals.items():
            if runs_every_call(self._plans.functions[name]):
                decisions.extend(_decision(plan.record, taken) for taken in plan.choices)
            self._apply(plan, plan.record)
        for key, clone in made.items():
            plan = self._plans.plan(*key)
            decisions.extend(_decision(plan.record, taken, self._variants[key]) for taken in plan.choices)
            self._apply(plan, read_function(clone))
        return tuple(decisions)

    def _called(self, plan: FunctionPlan) -> list[tuple[str, Given]]:
        """The variants that a function calls: those of functions that are not given these arguments already."""
        calls = [(callee_name(plan.record.ops[number].operation), given) for number, given in plan.given.items()]
        return [(name, given) for name, given in calls if not given <= _donated(self._plans.functions[name])]

    def _apply(self, plan: FunctionPlan, record: TensorProgram) -> None:
        """Carries a plan out on a function that was read as `record`, the planned one or a clone of it."""
        for taken in plan.choices:
            if taken.fresh and taken.value is not None:
                record.ops[taken.op].operation.operands[taken.operand] = record.values[taken.value].value
        for number, given in plan.given.items():
            op = record.ops[number]
            variant = self._variants.get((callee_name(op.operation), given))
            if variant is not None:
                op.operation.attributes["callee"] = ir.FlatSymbolRefAttr.get(variant)


def _donated(function: ir.Operation) -> Given:
    return frozenset(number for number, each in enumerate(signature(function).arguments) if each.donated)


def _clone(function: ir.Operation, name: str, given: Given) -> ir.Operation:
    """A private copy of a function behind it, which is given arguments."""
    clone = private_copy(function, name)
    set_signature(clone, signature(clone).stating(lambda number, each: each.stating(donated=number in given)))
    return clone


def _decision(record: TensorProgram, taken: DestinationDecision, variant: str = "") -> Decision:
    op = record.ops[taken.op]
    one = len(op.results) == 1
    subject = f"result of {op.name}" if one else f"result {taken.result} of {op.name}"
    because = [op.source] if taken.conflict is None else [op.source, record.ops[taken.conflict].source]
    copied = op.name != CALL and not taken.fresh and op.facts.needs(taken.operand)
    missed = Outcome.COPIED if copied else Outcome.ALLOCATED
    return Decision(
        f"{subject} in @{variant}" if variant else subject,
        Outcome.IN_PLACE if taken.value is not None else missed,
        taken.reason,
        tuple(because),
        record.values[op.results[taken.result]].bytes,
    )


def _annotate(function: ir.Operation) -> None:
    ranges = {name: ir.DenseI64ArrayAttr.get(list(each)) for name, each in live_ranges(function).items()}
    aliases = {name: _strings(sorted(each)) for name, each in alias_sets(function).items()}
    candidates = in_place_candidates(function)
    exact = {name: _strings(each.exact) for name, each in candidates.items()}
    large = {name: _strings(each.large_enough) for name, each in candidates.items()}
    for name, entries in ((LIVE, ranges), (ALIASES, aliases), (EXACT, exact), (LARGE, large)):
        function.attributes[name] = ir.DictAttr.get(dict[str, ir.Attribute](entries))


def _strings(names: Any) -> ir.Attribute:
    return ir.ArrayAttr.get([ir.StringAttr.get(name) for name in names])
