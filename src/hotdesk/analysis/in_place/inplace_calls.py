"""Which calls can have their results written over arguments that die there, and which functions must be able to do so.

An op in destination-passing style overwrites an operand by the rules of `destinations`. Of a `func.call`, result r
overwrites argument a iff

1. the callee has a body, and does not call itself, directly or through others (`no-body`, `recursive-call`, `not-analysed`);
2. a and r have one type, and the caller may write a's memory: it is a whole buffer, no constant, and no argument of the caller's
   that is not donated (`no-dead-operand-of-same-size`, `not-writable-input`, `not-writable-weight`, `not-writable-constant`,
   `not-writable-memory`, `partial-view`);
3. nobody reads a's memory after the call, and the call gets it once (`read-later`, `read-by-same-op`);
4. in the callee, if it may overwrite all arguments that this call gives away, r lies where a does when it returns
   (`callee-keeps-argument`).

Rule 4 is this analysis of the callee with these arguments given away; each set of arguments is looked at once.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from hotdesk._bindings import ir
from hotdesk.analysis.in_place.destinations import DestinationDecision, decide_destination
from hotdesk.analysis.in_place.flow_copies import FlowCopies
from hotdesk.analysis.in_place.flow_edges import FlowEdges
from hotdesk.analysis.in_place.places import Places
from hotdesk.analysis.tensors.program import NOT_A_TENSOR, OpRecord, TensorProgram
from hotdesk.analysis.tensors.readers import Readers
from hotdesk.analysis.tensors.reading import read_function
from hotdesk.explain import Reason
from hotdesk.ir.functions import callee_name
from hotdesk.ir.walking import symbol_name
from hotdesk.models.func import CALL
from hotdesk.program.calls import bottom_up

DEEPEST = 50
"""How many calls within calls are followed; what is called deeper down is taken to overwrite nothing."""

Given = frozenset[int]
"""Arguments of a function, by number, that it may overwrite."""


@dataclass(frozen=True, slots=True)
class FunctionPlan:
    """What becomes of each call in a function, an op or `func.call`, if the function may overwrite certain arguments.

    Attributes:
        record: the function as it was read.
        choices: one for each result, in program order; of a `func.call`, `operand` is `NOT_A_TENSOR` where none has its type.
        given: the arguments that each call of a function gives away, by op; calls that give none are not in it.
        held: the result that lies in an argument when the function returns, by argument.
    """

    record: TensorProgram
    choices: tuple[DestinationDecision, ...]
    given: Mapping[int, Given]
    held: Mapping[int, int]


class CallPlans:
    """Plans the calls of a module's functions; each function, with each set of arguments given away, once."""

    def __init__(self, module: ir.Module) -> None:
        found = bottom_up(module)
        self.functions = {symbol_name(each.function): each.function for each in found}
        self._recursive = {symbol_name(each.function) for each in found if each.recursive}
        self._records: dict[str, TensorProgram] = {}
        self._plans: dict[tuple[str, Given], FunctionPlan] = {}
        self._depth = 0

    def plan(self, name: str, given: Given = frozenset()) -> FunctionPlan:
        """The plan of a function that may overwrite its donated arguments and the `given` ones.

        Raises:
            BufferizationError: an op has tensors but no model.
        """
        if (name, given) not in self._plans:
            self._depth += 1
            self._plans[name, given] = self._make(name, given)
            self._depth -= 1
        return self._plans[name, given]

    def why_not(self, op: OpRecord) -> Reason | None:
        """Why nothing is known of the function that is called, or None if it can be looked at."""
        name = callee_name(op.operation)
        if name not in self.functions:
            return Reason.NO_BODY
        if name in self._recursive:
            return Reason.RECURSIVE_CALL
        return Reason.NOT_ANALYSED if self._depth > DEEPEST else None

    def _make(self, name: str, given: Given) -> FunctionPlan:
        if name not in self._records:
            self._records[name] = read_function(self.functions[name])
        record = self._records[name]
        writable = record.writable_arguments | {record.arguments[i] for i in given}
        supposed = self._supposing(replace(record, writable_arguments=writable))
        readers = Readers(supposed)
        places = Places(supposed, readers)
        flows = FlowCopies(supposed, places, readers, FlowEdges(supposed))
        flows.pass_forward()
        choices: list[DestinationDecision] = []
        gifts: dict[int, Given] = {}
        for op in supposed.ops:
            if op.name == CALL:
                found = self._call(supposed, op, places, readers)
                gifts[op.number] = frozenset(taken.operand for taken in found if taken.value is not None)
            else:
                found = decide_destination(supposed, op, places, readers)
            choices.extend(found)
        flows.pass_around()
        held = _held(supposed, places)
        gifts = {number: gift for number, gift in gifts.items() if gift}
        return FunctionPlan(record, tuple(choices), gifts, held)

    def _supposing(self, function: TensorProgram) -> TensorProgram:
        """The function as if each of its calls wrote results over all arguments that die there and that its callee can use."""
        readers = Readers(function)
        places = Places(function, readers)
        ops = list(function.ops)
        for op in function.ops:
            if op.name != CALL or self.why_not(op) is not None:
                continue
            dying = [i for i in range(len(op.operands)) if _refusal(op, i, places, readers) is None]
            ties = tuple(sorted(self._usable(callee_name(op.operation), frozenset(dying)).items()))
            tied = frozenset(operand for operand, _ in ties)
            ops[op.number] = replace(op, facts=replace(op.facts, ties=ties, clobbers=op.facts.clobbers - tied))
        return replace(function, ops=tuple(ops))

    def _usable(self, name: str, given: Given) -> dict[int, int]:
        """Of arguments that may be overwritten those that are of use, each with the result that comes to lie there."""
        while given:
            held = self.plan(name, given).held
            used = {argument: result for argument, result in held.items() if argument in given}
            if used.keys() == given:
                return used
            given = frozenset(used)
        return {}

    def _call(
        self, function: TensorProgram, op: OpRecord, places: Places, readers: Readers
    ) -> list[DestinationDecision]:
        chosen: dict[int, int] = {}
        refused: dict[int, DestinationDecision] = {}
        for operand, result in op.facts.ties:
            value = op.operands[operand]
            conflict = places.conflict(op, operand, value, result)
            if conflict is None:
                chosen[operand] = result
            else:
                refused[result] = DestinationDecision(op.number, operand, result, None, conflict.reason, conflict.op)
        taken: dict[int, DestinationDecision] = {}
        for operand, result in self._usable(callee_name(op.operation), frozenset(chosen)).items() if chosen else ():
            value = op.operands[operand]
            if chosen[operand] == result and places.conflict(op, operand, value, result) is None:
                places.join(value, op.results[result])
                taken[result] = DestinationDecision(op.number, operand, result, value, Reason.DIES_HERE)
        results = [number for number, value in enumerate(op.results) if value != NOT_A_TENSOR]
        reason = self.why_not(op)
        return [
            taken.get(result) or refused.get(result) or _closest(function, op, result, reason, places, readers)
            for result in results
        ]


def _refusal(op: OpRecord, operand: int, places: Places, readers: Readers) -> tuple[Reason, int | None] | None:
    """Why a call must not overwrite its operand (rules 2 and 3), with the op behind it, as far as contents tell."""
    value = op.operands[operand]
    if value == NOT_A_TENSOR or readers.root[value] in readers.undefined:
        return Reason.NO_DEAD_OPERAND_OF_SAME_SIZE, None
    reason = places.why_read_only(value)
    if reason is not None:
        return reason, None
    if sum(readers.root[other] == readers.root[value] for other in op.operands if other != NOT_A_TENSOR) > 1:
        return Reason.READ_BY_SAME_OP, op.number
    later = readers.live(readers.root[value], op.block, op.number + 1)
    if later is not None:
        return Reason.READ_LATER, later.op
    return None if places.place_of(value) is not None else (Reason.PARTIAL_VIEW, None)


def _closest(
    function: TensorProgram, op: OpRecord, result: int, unknown: Reason | None, places: Places, readers: Readers
) -> DestinationDecision:
    """Why no argument of a call is overwritten: what is said of the callee, or of the first argument of the result's type."""
    wanted = function.values[op.results[result]].value.type
    alike = [n for n, v in enumerate(op.operands) if v != NOT_A_TENSOR and function.values[v].value.type == wanted]
    if not alike:
        return DestinationDecision(op.number, NOT_A_TENSOR, result, None, Reason.NO_DEAD_OPERAND_OF_SAME_SIZE)
    found = [(number, _refusal(op, number, places, readers)) for number in alike]
    operand = next((number for number, refusal in found if refusal is None), None)
    if operand is not None:
        return DestinationDecision(op.number, operand, result, None, unknown or Reason.CALLEE_KEEPS_ARGUMENT)
    number, refusal = found[0]
    assert refusal is not None
    return DestinationDecision(op.number, number, result, None, *refusal)


def _held(function: TensorProgram, places: Places) -> dict[int, int]:
    """The first result that lies where an argument does, whenever the function returns, and has its type; by argument."""
    returns = function.returns
    held = [(places.place_of(value), i) for i, value in enumerate(function.arguments) if value != NOT_A_TENSOR]
    homes = {place: i for place, i in held if place is not None and places.stay(place)}
    found: dict[int, int] = {}
    for result, value in enumerate(returns[0].operands if returns else ()):
        if value == NOT_A_TENSOR:
            continue
        homes_of = {places.place_of(op.operands[result]) for op in returns}
        home = homes_of.pop() if len(homes_of) == 1 else None
        argument = homes.get(home) if home is not None else None
        if argument is None or argument in found:
            continue
        argument_type = function.values[function.arguments[argument]].value.type
        if argument_type == function.values[value].value.type:
            found[argument] = result
    return found
