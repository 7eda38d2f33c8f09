"""Lets a call write its result over an argument that dies there, also one that is larger or has elements of another type.

    %a = memref.alloc() : memref<16xf32>                 %m = memref.alloc() {alignment = 8} : memref<64xi8>
    … write %a                                           %a = memref.view %m[%c0][] : … to memref<16xf32>
    %r = memref.alloc() : memref<4xf64>           ->     … write %a
    call @f(%a, %r)                                      %r = memref.view %m[%c0][] : … to memref<4xf64>
    memref.dealloc %a                                    call @f_over_0(%m)
    …  memref.dealloc %r                                 …  memref.dealloc %m

    func private @f_over_0(%m: memref<64xi8>) { %a = memref.view %m[%c0][];  %r = memref.view %m[%c0][];  … body of @f }

Legal iff rules 1 to 6 of `analysis.allocations.argument_reuse` hold. The function stays; what is called is a private variant of
it, in which the result is a view of the argument, so that whoever reads it sees that the two are one. Calls of one form share it:

1. one type, sizes proven equal: the argument is the result;
2. static sizes, one element type: the result is a `memref.reinterpret_cast` of the argument;
3. otherwise the variant gets bytes, of which both are a `memref.view`, and the dynamic sizes of both as its last arguments.

Run it on what `hotdesk-buffer-results-to-out-params` leaves, in front of a deallocation pass or behind. A function that nobody
calls any more is left to `symbol-dce`.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

from hotdesk._bindings import ir
from hotdesk.analysis.allocations.argument_order import ArgumentOrder
from hotdesk.analysis.allocations.argument_reuse import ArgumentReuse, ReusedArgument
from hotdesk.analysis.allocations.freeing_calls import FreeingCalls
from hotdesk.analysis.allocations.sharing import KEPT_APART
from hotdesk.explain import Decision, Reason
from hotdesk.ir.building import create, index_constant, reshaped
from hotdesk.ir.functions import callee_name, named_functions, private_copy, rebuild_call
from hotdesk.ir.signature import Formal, formals, set_signature, signature
from hotdesk.ir.symbols import Symbols
from hotdesk.ir.types import shape_of
from hotdesk.ir.walking import defined_functions, defining_op, entry_block, modules
from hotdesk.passes.base import Pass
from hotdesk.passes.buffers.share import SlotPlan
from hotdesk.passes.properties import VIEWS_FIT, Property

_VIEW, _CAST = "memref.view", "memref.reinterpret_cast"
_Key = tuple[str, int, int, str, ir.Type]
"""A variant: the function, the argument, the result, the op that makes the result of it, and the type that the caller gives."""


@dataclass(frozen=True, slots=True)
class ReuseArguments(Pass):
    """Writes results of calls over arguments (rules in `analysis.allocations.argument_reuse`)."""

    name: ClassVar[str] = "hotdesk-reuse-arguments"
    reasons: ClassVar[tuple[Reason, ...]] = (
        Reason.DIES_HERE,
        Reason.NO_DEAD_OPERAND_OF_SAME_SIZE,
        Reason.TOO_SMALL,
        Reason.SIZE_NOT_PROVEN,
        Reason.READ_BY_SAME_OP,
        Reason.READ_LATER,
        Reason.ALREADY_OVERWRITTEN,
        Reason.CALLEE_KEEPS_ARGUMENT,
        Reason.NO_BODY,
        Reason.RAISES_PEAK,
        Reason.NOT_WRITABLE_INPUT,
        Reason.NOT_WRITABLE_CONSTANT,
        Reason.PARTIAL_VIEW,
        Reason.USED_ACROSS_BLOCKS,
        *KEPT_APART,
    )

    def ensures(self) -> tuple[Property, ...]:
        return (VIEWS_FIT,)

    def run(self, module: ir.Module) -> tuple[Decision, ...]:
        freeing = FreeingCalls()
        return tuple(decision for each in modules(module) for decision in _run(each, freeing))


def _run(module: ir.Module, freeing: FreeingCalls) -> list[Decision]:
    functions = named_functions(module)
    orders = {name: ArgumentOrder(function, freeing) for name, function in functions.items()}
    reuses = [ArgumentReuse(function, orders, freeing) for function in defined_functions(module)]
    plans = [SlotPlan(reuse.allocations, slot) for reuse in reuses for slot in reuse.slots]
    for plan in plans:
        plan.apply()
    variants = _Variants(module)
    for reuse in reuses:
        for reused in reuse.found:
            variants.call(reused)
    variants.make()
    return [decision for reuse in reuses for decision in reuse.decisions]


class _Variants:
    """The variants that calls of a module need, by what they are given."""

    def __init__(self, module: ir.Module) -> None:
        self._functions = named_functions(module)
        self._symbols = Symbols()
        self._names: dict[_Key, str] = {}

    def call(self, reused: ReusedArgument) -> None:
        """Calls a variant instead, whose argument and result are the same memory by now."""
        call = reused.call
        argument, result = call.operands[reused.argument], call.operands[reused.result]
        form, sizes, given = "", list[ir.Value](), argument
        made, other = defining_op(result), defining_op(argument)
        if argument != result and made is not None:
            form = made.name
            if form == _VIEW and other is not None:
                given = made.operands[0]
                sizes = [*list(other.operands)[2:], *list(made.operands)[2:]]
        key = (callee_name(call), reused.argument, reused.result, form, given.type)
        if key not in self._names:
            self._names[key] = self._symbols.named(self._functions[key[0]], f"{key[0]}_over_{key[1]}")
        kept = [given if n == reused.argument else n for n in range(len(call.operands)) if n != reused.result]
        new = rebuild_call(call, [*kept, *sizes], range(len(call.results)))
        new.attributes["callee"] = ir.FlatSymbolRefAttr.get(self._names[key])
        call.erase()

    def make(self) -> None:
        """Makes the variants, behind the functions."""
        for (name, argument, result, form, given), variant in self._names.items():
            _make(self._functions[name], variant, argument, result, form, given)


def _make(function: ir.Operation, name: str, argument: int, result: int, form: str, given: ir.Type) -> None:
    """A private copy of a function behind it, in which a result is made of an argument, which has a given type."""
    clone = private_copy(function, name)
    block = entry_block(clone)
    first = next(iter(block.operations)).operation
    old, out = block.arguments[argument], block.arguments[result]
    index = ir.IndexType.get()
    added: list[ir.Type] = []
    if form == _VIEW:
        kinds = [old.type, out.type]
        dims = [[block.add_argument(index, clone.location) for _ in range(_dynamic(kind))] for kind in kinds]
        added = [index for each in dims for _ in each]
        zero = index_constant(0, first)
        views = [create(_VIEW, [old, zero, *each], [kind], before=first)
                 for each, kind in zip(dims, kinds, strict=True)]  # fmt: skip
        old.replace_all_uses_except(views[0].results[0], views)
        old.set_type(given)
        out.replace_all_uses_with(views[1].results[0])
    elif form == _CAST:
        out.replace_all_uses_with(reshaped(old, out.type, first))
    else:
        out.replace_all_uses_with(old)
    _drop(clone, argument, result, given)
    block.erase_argument(result)
    set_signature(clone, signature(clone).with_arguments(formals(added)))


def _dynamic(memref: ir.Type) -> int:
    return shape_of(memref).count(None)


def _drop(function: ir.Operation, argument: int, result: int, given: ir.Type) -> None:
    """Takes an argument out of a signature, and says nothing of another one but its type: what was said held for one of them."""
    known = signature(function)
    arguments = [Formal(given) if n == argument else each for n, each in enumerate(known.arguments) if n != result]
    set_signature(function, replace(known, arguments=tuple(arguments)))
