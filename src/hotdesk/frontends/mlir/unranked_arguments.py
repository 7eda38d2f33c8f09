"""Ranks for what has none (`tensor<*xf32>`): from casts, from calls, from branches, and as `hotdesk.shape` says.

    func.func @f(%x: tensor<*xf32>) {                                ->     func.func @f(%x: tensor<4x?xf32>) {
      %t = tensor.cast %x : tensor<*xf32> to tensor<4x?xf32>

1. An argument has the rank that it is cast to; else the one that `hotdesk.shape` states, or that of what all calls pass.
2. A size is that of all these types, `?` where they differ; memrefs in layouts of their own are all of one type.
3. A value with a rank that is cast to none and then to one again is cast at once; its sizes are read, and clones of it made,
   with its rank.
4. A result is what a value with a rank was cast to at every return; that of a branch, a choice or a loop, what each way gives, or
   goes round. A size is that of all these values, `?` where they differ.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, cast

from hotdesk._bindings import ir
from hotdesk.frontends.mlir.layouts import has_own_layout
from hotdesk.frontends.mlir.memory_spaces import CLONE
from hotdesk.ir.building import cast_to, create
from hotdesk.ir.functions import find_uses, returns_of
from hotdesk.ir.laid_out import can_cast
from hotdesk.ir.signature import SHAPE, Formal, FunctionSignature, set_signature, signature
from hotdesk.ir.types import is_memref, is_strided, is_tensor, memref_with, shape_of, tensor_with
from hotdesk.ir.walking import (
    defined_functions,
    entry_block,
    made_by,
    nested_ops,
    nested_values,
    next_op,
    symbol_name,
    top_level_ops,
    users,
)
from hotdesk.models import memref, tensor
from hotdesk.models.control_flow import CHOICE
from hotdesk.models.new_memory import DEALLOC
from hotdesk.models.scf import FOR

_CASTS = (tensor.CAST, memref.CAST)
_BRANCHES = ("scf.if", "scf.index_switch", "scf.execute_region")
_READ_SIZES = ("tensor.dim", "tensor.rank", "memref.dim", "memref.rank")


def give_ranks(module: ir.Module) -> None:
    """Gives a rank to what has none and may have one."""
    if not any(_is_unranked(value.type) for value in nested_values(module.operation)):
        return
    while any(_give_more_ranks(module)):
        pass
    for op in [op for op in nested_ops(module.operation) if len(op.operands) and _is_unranked(op.operands[0].type)]:
        first = made_by(op.operands[0], *_CASTS)
        if first is None or not _has_rank(_uncast(first.results[0]).type):
            continue
        source = _uncast(first.results[0])
        if op.name in _CASTS and _may_be(source.type, op):
            op.results[0].replace_all_uses_with(cast_to(source, op.results[0].type, op))
            op.erase()
        elif op.name in (*_READ_SIZES, DEALLOC):
            op.operands[0] = source
        elif op.name == CLONE:
            made = create(CLONE, [source], [source.type], before=op).results[0]
            op.results[0].replace_all_uses_with(cast_to(made, op.results[0].type, op))
            op.erase()
        else:
            continue
        _erase_unread(first.results[0])


def _give_more_ranks(module: ir.Module) -> Iterator[bool]:
    """Gives ranks one step further; says of each step whether it gave any."""
    for function in defined_functions(module):
        yield bool(_unranked(function)) and _give_rank(module, function)
        yield _give_results_ranks(module, function)
    for op in nested_ops(module.operation):
        yield _give_ranks_of_ways(op)


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
    calls = () if uses is None else uses.calls
    known = ((number, _seen_as(function, number, calls)) for number in _unranked(function))
    found = {number: kind for number, kind in known if kind is not None}
    for number, kind in found.items():
        _retype(entry_block(function).arguments[number], kind, top_level_ops(function)[0])
        for call in calls:
            call.operands[number] = cast_to(call.operands[number], kind, call)
    given = signature(function)
    set_signature(function, given.stating(lambda number, each: Formal(found.get(number, each.type), each.attributes)))
    return bool(found)


def _retype(value: Any, kind: ir.Type, behind: ir.Operation) -> None:
    """Gives a value a rank; what reads it reads a cast of it to what it was, which is made in front of the op `behind`."""
    old, readers = value.type, [(use.owner.operation, use.operand_number) for use in value.uses]
    value.set_type(kind)
    plain = cast_to(value, old, behind) if readers else None
    for reader, place in readers:
        reader.operands[place] = plain


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
            _pass_on(end, number, kind)
        for call in () if uses is None else uses.calls:
            _retype(call.results[number], kind, next_op(call))
    outputs = tuple(Formal(found.get(number, each.type), each.attributes) for number, each in enumerate(given.results))
    set_signature(function, FunctionSignature(given.arguments, outputs))
    return bool(found)


def _give_ranks_of_ways(op: ir.Operation) -> bool:
    """Gives ranks to results of a branch, a choice or a loop; returns whether it gave any."""
    gave = False
    for number, result in enumerate(op.results) if op.name in (*_BRANCHES, CHOICE, FOR) else ():
        if not _is_unranked(result.type):
            continue
        ways, around = _ways(op, number)
        sources = [_uncast(each.operands[place]) for each, place in ways]
        kind = _common(list(dict.fromkeys(each.type for each in sources if around is None or each != around)))
        if kind is None:
            continue
        if around is not None:
            _retype(around, kind, next(iter(around.owner.operations)).operation)
        for each, place in ways:
            _pass_on(each, place, kind)
        _retype(result, kind, next_op(op))
        gave = True
    return gave


def _ways(op: ir.Operation, number: int) -> tuple[list[tuple[ir.Operation, int]], Any]:
    """The operands that a result may be, by op and place, and what goes round in a loop."""
    if op.name == CHOICE:
        return [(op, 1), (op, 2)], None
    ends = [list(block.operations)[-1].operation for region in op.regions for block in region.blocks]
    ways = [(end, number) for end in ends if end.name == "scf.yield"]
    if op.name != FOR:
        return ways, None
    return [(op, len(op.operands) - len(op.results) + number), *ways], op.regions[0].blocks[0].arguments[1 + number]


def _pass_on(end: ir.Operation, place: int, kind: ir.Type) -> None:
    """Has an op that passes a value on without a rank pass it on with one."""
    old = end.operands[place]
    end.operands[place] = cast_to(_uncast(old), kind, end)
    _erase_unread(old)


def _returned_as(ends: Sequence[ir.Operation], number: int) -> ir.Type | None:
    """The type of a result by rule 4; None if there is none."""
    return _common(list(dict.fromkeys(_uncast(end.operands[number]).type for end in ends)))


def _uncast(value: ir.Value) -> ir.Value:
    """What a value without a rank was cast from, if it was."""
    made = None if _has_rank(value.type) else made_by(value, *_CASTS)
    return value if made is None else _uncast(made.operands[0])


def _seen_as(function: ir.Operation, number: int, calls: Sequence[ir.Operation]) -> ir.Type | None:
    """The type of an argument by rules 1 and 2; None if there is none."""
    formal = signature(function).arguments[number]
    readers = users(entry_block(function).arguments[number])
    kinds = list(dict.fromkeys(op.results[0].type for op in readers if op.name in _CASTS))
    if kinds:
        return _common(kinds)
    if SHAPE in formal.attributes:
        return _stated(formal)
    return _common(list(dict.fromkeys(_uncast(call.operands[number]).type for call in calls)))


def _stated(formal: Formal) -> ir.Type | None:
    """The type with the sizes that `hotdesk.shape` states, `?` where these are no numbers; None where it is no list of texts."""
    entries: Any = formal.attributes[SHAPE]
    if not isinstance(entries, ir.ArrayAttr) or not all(isinstance(each, ir.StringAttr) for each in entries):
        return None
    texts = [cast(Any, each).value for each in entries]
    sizes = [int(text) if text.isdecimal() else None for text in texts]
    return (tensor_with if isinstance(formal.type, ir.UnrankedTensorType) else memref_with)(sizes, formal.type)


def _common(kinds: Sequence[ir.Type]) -> ir.Type | None:
    """The type with a rank that values of these may be cast to, `?` where their sizes differ; None if there is none."""
    if not kinds:
        return None
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
