"""Private functions return each tensor once.

    func.func private @f(%x) -> (T, T) { … return %n, %n }        … return %n
    %a:2 = call @f(%x)                                            %a = call @f(%x), and %a where %a#1 was

Callers free each result, so a buffer must not be returned twice, and a copy of it would be made. Legal iff

1. all callers are known: the function is private, and only called;
2. each return of the function has the same value, a tensor, in both places.
"""

from __future__ import annotations

from hotdesk._bindings import ir
from hotdesk.ir.functions import find_uses, keep_results, rebuild_call, returns_of
from hotdesk.ir.signature import signature
from hotdesk.ir.types import is_tensor
from hotdesk.ir.walking import symbol_name
from hotdesk.program.calls import bottom_up


def return_once(module: ir.Module) -> None:
    """Takes results that repeat an earlier one away, callees first, and changes their calls."""
    nodes = [node for node in bottom_up(module) if node.followed]
    if not any(_repeated(node.function) for node in nodes):
        return
    uses = find_uses(module)
    for node in nodes:
        repeated = _repeated(node.function)
        if repeated:
            kept = [number for number in range(len(signature(node.function).results)) if number not in repeated]
            for call in uses[symbol_name(node.function)].calls:
                _shorten(call, kept, repeated)
            keep_results(node.function, kept)


def _repeated(function: ir.Operation) -> dict[int, int]:
    """The results that are an earlier one again, each with the first of them."""
    returns = [list(op.operands) for op in returns_of(function)]
    if not returns:
        return {}
    found: dict[int, int] = {}
    for number, value in enumerate(returns[0]):
        earlier = (i for i in range(number) if all(operands[i] == operands[number] for operands in returns))
        first = next(earlier, None) if is_tensor(value.type) else None
        if first is not None:
            found[number] = first
    return found


def _shorten(call: ir.Operation, kept: list[int], repeated: dict[int, int]) -> None:
    """Leaves these results of a call, which are those that the others repeat."""
    new = rebuild_call(call, range(len(call.operands)), kept)
    for number, first in repeated.items():
        call.results[number].replace_all_uses_with(new.results[kept.index(first)])
    call.erase()
