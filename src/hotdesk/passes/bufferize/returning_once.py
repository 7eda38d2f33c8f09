"""Private functions return each tensor once.

    func.func private @f(%x) -> (T, T) { … return %n, %n }        … return %n
    %a:2 = call @f(%x)                                            %a = call @f(%x), and %a where %a#1 was

Callers free each result, so a buffer must not be returned twice, and a copy of it would be made. Legal iff

1. all callers are known: the function is private, and only called;
2. each return of the function has the same value, a tensor, in both places.
"""

from __future__ import annotations

from hotdesk._bindings import ir
from hotdesk.ir.building import create
from hotdesk.ir.functions import called_name, returns_of
from hotdesk.ir.signature import set_signature, signature
from hotdesk.ir.types import is_tensor
from hotdesk.ir.walking import defined_functions, nested_ops, symbol_name
from hotdesk.program.calls import bottom_up


def return_once(module: ir.Module) -> None:
    """Takes results that repeat an earlier one away, callees first, and changes their calls."""
    nodes = [node for node in bottom_up(module) if node.followed]
    if not nodes:
        return
    calls = _calls(module) if any(_repeated(node.function) for node in nodes) else {}
    for node in nodes:
        repeated = _repeated(node.function)
        if not repeated:
            continue
        name = symbol_name(node.function)
        _shorten(node.function, repeated)
        calls[name] = [_shortened(call, repeated) for call in calls[name]]


def _calls(module: ir.Module) -> dict[str, list[ir.Operation]]:
    found: dict[str, list[ir.Operation]] = {}
    for function in defined_functions(module):
        for op in nested_ops(function):
            name = called_name(op)
            if name is not None:
                found.setdefault(name, []).append(op)
    return found


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


def _shorten(function: ir.Operation, repeated: dict[int, int]) -> None:
    for op in returns_of(function):
        kept = [value for number, value in enumerate(op.operands) if number not in repeated]
        create("func.return", kept, [], before=op)
        op.erase()
    known = signature(function)
    set_signature(function, known.keeping(number for number in range(len(known.results)) if number not in repeated))


def _shortened(call: ir.Operation, repeated: dict[int, int]) -> ir.Operation:
    """The call without these results, in the place of one with them."""
    kept = [number for number in range(len(call.results)) if number not in repeated]
    attributes = {name: call.attributes[name] for name in call.attributes if name != "res_attrs"}
    types = [call.results[number].type for number in kept]
    new = create("func.call", list(call.operands), types, attributes, before=call)
    for number, before in enumerate(call.results):
        before.replace_all_uses_with(new.results[kept.index(repeated.get(number, number))])
    call.erase()
    return new
