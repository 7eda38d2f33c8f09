"""Results become arguments: the caller says where they go.

    func private @f(%x) -> memref<4xf32> {            func private @f(%x, %out: memref<4xf32>) {
      %a = memref.alloc()                               %a = memref.alloc()
      … write %a                                  ->    … write %a
      return %a }                                       copy %a to %out; return }
    %r = call @f(%x)                                  %r = memref.alloc(); call @f(%x, %r)

Legal iff

1. the function is private, or `modify-public-functions` is given (`public-function`);
2. it is used by `func.call` only (`address-taken`);
3. the caller can tell the result's size: it is static, or, with `hoist-dynamic-allocs`, the sizes of the allocation that is
   returned are computed from arguments by index arithmetic (`size-unknown-to-caller`);
4. the result is contiguous in row-major order, or of any layout at all, `strided<[?], offset: ?>` (`different-layout`).

What is returned is copied into the new argument, unless

5. `hoist-static-allocs` or, for dynamic sizes, `hoist-dynamic-allocs` is given, and it is an allocation of the entry block, is
   what every return gives in that place, and is returned in no earlier place (`allocated-inside`, `returned-input`,
   `returned-twice`, `returned-view`); then the allocation is the new argument.

`add-result-attr` marks the new arguments `bufferize.result = <number of the result>`. Declarations change like functions.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, cast

from hotdesk._bindings import ir
from hotdesk.analysis.allocations.uses import bytes_of_element
from hotdesk.explain import Decision, Outcome, Reason, Source
from hotdesk.ir.building import create, elementwise_copy
from hotdesk.ir.functions import Uses, find_uses, keep_results, named_functions, rebuild_call, returns_of
from hotdesk.ir.locations import python_line, source_of
from hotdesk.ir.recompute import are_known, computed
from hotdesk.ir.signature import Formal, set_signature, signature
from hotdesk.ir.types import is_memref, is_row_major, layout_of, shape_of, static_entries
from hotdesk.ir.walking import attributes_of, defining_op, entry_block, modules, segment_sizes
from hotdesk.models.func import CALL
from hotdesk.models.new_memory import ALLOC
from hotdesk.passes.base import Pass
from hotdesk.passes.bufferize.conventions import why_fixed
from hotdesk.passes.properties import NO_MEMREFS_RETURNED, Property
from hotdesk.program.symbolic import SymbolicSizes
from hotdesk.sizes.expressions import product
from hotdesk.sizes.size import Size


@dataclass(frozen=True, slots=True)
class _Result:
    """What happens to a result: the allocation that becomes the argument, or None where it is copied."""

    number: int
    type: ir.Type
    allocation: ir.Operation | None


@dataclass(frozen=True, slots=True)
class BufferResultsToOutParams(Pass):
    """Turns memref results into trailing arguments (rules in the module docstring).

    Options:
        add_result_attr: the new arguments are marked `bufferize.result = <number of the result>`.
        hoist_static_allocs: a returned allocation of static size is not copied: it is the new argument.
        hoist_dynamic_allocs: the same for one of dynamic size.
        modify_public_functions: public functions change too: whoever calls them from elsewhere has to know.
    """

    name: ClassVar[str] = "hotdesk-buffer-results-to-out-params"
    reasons: ClassVar[tuple[Reason, ...]] = (
        Reason.RESULT_SLOT,
        Reason.ADDRESS_TAKEN,
        Reason.ALLOCATED_INSIDE,
        Reason.DIFFERENT_LAYOUT,
        Reason.PUBLIC_FUNCTION,
        Reason.RETURNED_INPUT,
        Reason.RETURNED_TWICE,
        Reason.RETURNED_VIEW,
        Reason.SIZE_UNKNOWN_TO_CALLER,
    )
    add_result_attr: bool = False
    hoist_static_allocs: bool = False
    hoist_dynamic_allocs: bool = False
    modify_public_functions: bool = False

    def ensures(self) -> tuple[Property, ...]:
        return (NO_MEMREFS_RETURNED,)

    def run(self, module: ir.Module) -> tuple[Decision, ...]:
        return tuple(decision for each in modules(module) for decision in self._run(each))

    def _run(self, module: ir.Module) -> tuple[Decision, ...]:
        decisions: list[Decision] = []
        uses = find_uses(module)
        for name, function in named_functions(module).items():
            results, told = self._plan(name, function, uses.get(name, Uses()))
            decisions.extend(told)
            if results:
                _change_calls(function, uses.get(name, Uses()).calls, results)
                self._change_function(function, results)
        return tuple(decisions)

    def _plan(self, name: str, function: ir.Operation, uses: Uses) -> tuple[list[_Result], list[Decision]]:
        results: list[_Result] = []
        decisions: list[Decision] = []
        known = SymbolicSizes(function) if returns_of(function) else None
        for number, result in enumerate(signature(function).outputs):
            if not is_memref(result):
                continue
            subject, because = f"result {number} of @{name}", _sources(function, number)
            size = _bytes(function, number, result, known)
            refusal = self._refusal(function, result, uses, number)
            if refusal is not None:
                reason, behind = refusal
                decisions.append(Decision(subject, Outcome.ALLOCATED, reason, (*because, *behind), size))
                continue
            allocation = self._hoisted(function, number)
            results.append(_Result(number, result, allocation))
            lent = allocation is not None or not returns_of(function)
            outcome, reason = (Outcome.LENT, Reason.RESULT_SLOT) if lent else (Outcome.COPIED, _why(function, number))
            decisions.append(Decision(subject, outcome, reason, because, size))
        return results, decisions

    def _refusal(
        self, function: ir.Operation, result: ir.Type, uses: Uses, number: int
    ) -> tuple[Reason, tuple[Source, ...]] | None:
        fixed = why_fixed(function, uses, public=self.modify_public_functions)
        if fixed is not None:
            return fixed
        if not is_row_major(result) and not _is_any_layout(result):
            return Reason.DIFFERENT_LAYOUT, ()
        if None in shape_of(result) and self._hoisted(function, number) is None:
            return Reason.SIZE_UNKNOWN_TO_CALLER, ()
        return None

    def _hoisted(self, function: ir.Operation, number: int) -> ir.Operation | None:
        """The allocation that may become the argument itself."""
        values = {op.operands[number] for op in returns_of(function)}
        allocation = defining_op(values.pop()) if len(values) == 1 else None
        if allocation is None or allocation.name != ALLOC or allocation.block != entry_block(function):
            return None
        if any(allocation.results[0] in list(op.operands)[:number] for op in returns_of(function)):
            return None
        dynamic, symbols = segment_sizes(allocation)
        wanted = self.hoist_dynamic_allocs if dynamic else self.hoist_static_allocs
        return allocation if wanted and not symbols and are_known(allocation.operands, function) else None

    def _change_function(self, function: ir.Operation, results: Sequence[_Result]) -> None:
        returns = returns_of(function)
        moved = {result.number for result in results}
        kept = [i for i in range(len(signature(function).outputs)) if i not in moved]
        arguments: list[ir.Value] = []
        if returns:
            block = entry_block(function)
            arguments = [block.add_argument(result.type, function.location) for result in results]
            for argument, result in zip(arguments, results, strict=True):
                if result.allocation is not None:
                    result.allocation.results[0].replace_all_uses_with(argument)
                    result.allocation.erase()
        for op in returns:
            for argument, result in zip(arguments, results, strict=True):
                if op.operands[result.number] != argument:
                    elementwise_copy(op.operands[result.number], argument, op)
        keep_results(function, kept)
        set_signature(function, signature(function).with_arguments(map(self._argument, results)))

    def _argument(self, result: _Result) -> Formal:
        return Formal(result.type).stating(result=result.number if self.add_result_attr else None)


def _sources(function: ir.Operation, number: int) -> tuple[Source, ...]:
    """The op that makes a result, and the one that returns it, of the first return; the function where that has no body."""
    returns = returns_of(function)
    if not returns:
        return (source_of(function),)
    value, end = returns[0].operands[number], source_of(returns[0])
    made = defining_op(value)
    if made is None:
        return (Source(f"argument {cast(Any, value).arg_number}", python_line(value.location)), end)
    return (source_of(made), end)


def _bytes(function: ir.Operation, number: int, result: ir.Type, known: SymbolicSizes | None) -> Size:
    """The bytes of a result as the first return has it; 0 where nothing tells: no body and no static type, or other elements
    than numbers."""
    element, shape = bytes_of_element(result), shape_of(result)
    if element and known is not None:
        return product([*known.shape(returns_of(function)[0].operands[number]), element])
    return 0 if None in shape else product([element, *(size for size in shape if size is not None)])


def _why(function: ir.Operation, number: int) -> Reason:
    """Why a result is copied."""
    for op in returns_of(function):
        value = op.operands[number]
        owner = defining_op(value)
        if owner is None:
            return Reason.RETURNED_INPUT
        if value in list(op.operands)[:number]:
            return Reason.RETURNED_TWICE
        if owner.name in (ALLOC, CALL):
            return Reason.ALLOCATED_INSIDE
    return Reason.RETURNED_VIEW


def _is_any_layout(memref: ir.Type) -> bool:
    strides, offset = layout_of(memref)
    return offset is None and all(stride is None for stride in strides)


def _change_calls(function: ir.Operation, calls: Sequence[ir.Operation], results: Sequence[_Result]) -> None:
    moved = {result.number for result in results}
    kept = [i for i in range(len(signature(function).outputs)) if i not in moved]
    for call in calls:
        places = [_place(result, function, call) for result in results]
        rebuild_call(call, [*range(len(call.operands)), *places], kept)
        for place, result in zip(places, results, strict=True):
            call.results[result.number].replace_all_uses_with(place)
        call.erase()


def _place(result: _Result, function: ir.Operation, call: ir.Operation) -> ir.Value:
    """Memory for a result, in front of a call."""
    attributes: dict[str, ir.Attribute] = {}
    sizes: list[ir.Value] = []
    if result.allocation is not None:
        attributes = attributes_of(result.allocation)
        sizes = computed(list(result.allocation.operands), function, call)
    attributes["operandSegmentSizes"] = ir.DenseI32ArrayAttr.get([len(sizes), 0])
    plain = result.type if is_row_major(result.type) else _contiguous(result.type)
    place = create("memref.alloc", sizes, [plain], attributes, before=call).results[0]
    if plain == result.type:
        return place
    return create("memref.cast", [place], [result.type], before=call).results[0]


def _contiguous(memref: ir.Type) -> ir.Type:
    shaped = cast(Any, memref)
    return ir.MemRefType.get(static_entries(shape_of(memref)), shaped.element_type, None, shaped.memory_space)
