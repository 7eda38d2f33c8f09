"""Arguments without a rank (`tensor<*xf32>`) get the one that they are cast to, results the one that they are cast from.

    func.func @f(%x: tensor<*xf32>) {                                ->     func.func @f(%x: tensor<4x?xf32>) {
      %t = tensor.cast %x : tensor<*xf32> to tensor<4x?xf32>

1. All that uses the argument are casts to one rank, reads of sizes, and calls of functions whose argument gets a rank so.
2. A size is that of all these casts, `?` where they differ; memrefs in layouts of their own are all cast to one type.
3. A value with a rank that is cast to none and then to one again is cast at once.
4. A result is what a value with a rank was cast to at every return; a size is that of all these values, `?` where they differ.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from hotdesk._bindings import ir
from hotdesk.frontends.mlir.layouts import has_own_layout
from hotdesk.ir.building import cast_to
from hotdesk.ir.functions import find_uses, returns_of
from hotdesk.ir.laid_out import can_cast
from hotdesk.ir.signature import Formal, FunctionSignature, set_signature, signature
from hotdesk.ir.types import is_memref, is_strided, is_tensor, memref_with, shape_of, tensor_with
from hotdesk.ir.walking import defined_functions, entry_block, made_by, nested_ops, next_op, symbol_name, users

_CASTS = ("tensor.cast", "memref.cast")
_READ_SIZES = ("tensor.dim", "tensor.rank", "memref.dim", "memref.rank")


def give_ranks(module: ir.Module) -> None:
    """Gives a rank to the arguments and results that have none and may have one, callees before callers."""
    while any(_give_rank(module, function) for function in defined_functions(module) if _unranked(function)):
        pass
    while any(_give_results_ranks(module, function) for function in defined_functions(module)):
        pass
    for op in [op for op in nested_ops(module.operation) if op.name in _CASTS]:
        first = made_by(op.operands[0], *_CASTS)
        if first is not None and not _has_rank(first.results[0].type) and _may_be(first.operands[0].type, op):
            op.results[0].replace_all_uses_with(cast_to(first.operands[0], op.results[0].type, op))
            op.erase()
            _erase_unread(first.results[0])


def _erase_unread(value: ir.Value) -> None:
    """Erases the casts to no rank that a value is the last of, as far as nothing else reads them."""
    made = made_by(value, *_CASTS)
    if made is not None and not _has_rank(value.type) and not users(value):
        source = made.operands[0]
        made.erase()
        _erase_unread(source)


def _unranked(function: ir.Operation) -> list[int]:
    """The arguments without a rank, by number."""
    return [number for number, kind in enumerate(signature(function).inputs) if _is_unranked(kind)]


def _is_unranked(kind: ir.Type) -> bool:
    return isinstance(kind, (ir.UnrankedTensorType, ir.UnrankedMemRefType))


def _has_rank(kind: ir.Type) -> bool:
    return is_tensor(kind) or is_memref(kind)


def _give_rank(module: ir.Module, function: ir.Operation) -> bool:
    """Gives ranks to arguments of a function, in its calls too; returns whether it gave any."""
    uses = find_uses(module).get(symbol_name(function))
    if uses is not None and uses.others:
        return False
    found = {number: kind for number in _unranked(function) if (kind := _seen_as(function, number)) is not None}
    for number, kind in found.items():
        argument: Any = entry_block(function).arguments[number]
        argument.set_type(kind)
        for op in [op for op in users(argument) if op.name in _CASTS]:
            op.results[0].replace_all_uses_with(cast_to(argument, op.results[0].type, op))
            op.erase()
        for call in () if uses is None else uses.calls:
            call.operands[number] = cast_to(call.operands[number], kind, call)
    given = signature(function)
    set_signature(function, given.stating(lambda number, each: Formal(found.get(number, each.type), each.attributes)))
    return bool(found)


def _give_results_ranks(module: ir.Module, function: ir.Operation) -> bool:
    """Gives ranks to results of a function, in its calls too; returns whether it gave any."""
    given = signature(function)
    uses = find_uses(module).get(symbol_name(function))
    unranked = [number for number, kind in enumerate(given.outputs) if _is_unranked(kind)]
    if not unranked or (uses is not None and uses.others):
        return False
    ends = returns_of(function)
    found = {number: kind for number in unranked if (kind := _returned_as(ends, number)) is not None}
    for number, kind in found.items():
        for end in ends:
            old = end.operands[number]
            end.operands[number] = cast_to(_uncast(old), kind, end)
            _erase_unread(old)
        for call in () if uses is None else uses.calls:
            result: Any = call.results[number]
            old, readers = result.type, [(use.owner.operation, use.operand_number) for use in result.uses]
            result.set_type(kind)
            plain = cast_to(result, old, next_op(call)) if readers else None
            for reader, place in readers:
                reader.operands[place] = plain
    outputs = tuple(Formal(found.get(number, each.type), each.attributes) for number, each in enumerate(given.results))
    set_signature(function, FunctionSignature(given.arguments, outputs))
    return bool(found)


def _returned_as(ends: Sequence[ir.Operation], number: int) -> ir.Type | None:
    """The type of a result by rule 4; None if there is none."""
    return _common(list(dict.fromkeys(_uncast(end.operands[number]).type for end in ends)))


def _uncast(value: ir.Value) -> ir.Value:
    """What a value without a rank was cast from, if it was."""
    made = None if _has_rank(value.type) else made_by(value, *_CASTS)
    return value if made is None else _uncast(made.operands[0])


def _seen_as(function: ir.Operation, number: int) -> ir.Type | None:
    """The type of an argument by rules 1 and 2; None if there is none."""
    readers = users(entry_block(function).arguments[number])
    kinds = list(dict.fromkeys(op.results[0].type for op in readers if op.name in _CASTS))
    if not kinds or any(op.name not in (*_CASTS, *_READ_SIZES) for op in readers):
        return None
    return _common(kinds)


def _common(kinds: Sequence[ir.Type]) -> ir.Type | None:
    """The type with a rank that values of these may be cast to, `?` where their sizes differ; None if there is none."""
    if len(kinds) == 1:
        return kinds[0] if _has_rank(kinds[0]) else None
    if not all(map(_has_rank, kinds)) or any(map(has_own_layout, kinds)):
        return None
    shapes = [shape_of(kind) for kind in kinds]
    if len({len(shape) for shape in shapes}) > 1:
        return None
    sizes = [each[0] if len(set(each)) == 1 else None for each in zip(*shapes, strict=True)]
    return tensor_with(sizes, kinds[0]) if is_tensor(kinds[0]) else memref_with(sizes, kinds[0])


def _may_be(source: ir.Type, op: ir.Operation) -> bool:
    """Whether a value of a type may be cast to that of a cast's result."""
    kind = op.results[0].type
    if not _has_rank(source) or not _has_rank(kind) or len(shape_of(source)) != len(shape_of(kind)):
        return False
    if is_memref(kind) and not (is_strided(source) and is_strided(kind) and can_cast(source, kind)):
        return False
    return all(a is None or b is None or a == b for a, b in zip(shape_of(source), shape_of(kind), strict=True))
