"""Memory of functions with control flow: planned buffers at their addresses, others from the second region.

    %a = memref.alloc(%n)    ->    %address = call @TAKE(%region, bytes of it); cf.assert that there is room; %a at %address
    memref.dealloc %a        ->    call @GIVE(address of %a)

Allocations of the plan, and globals, are shown where the pointer table says; their deallocations are no code. What passes of
vectors put on the stack is made once, when the function begins.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

from hotdesk._bindings import ir
from hotdesk.errors import LoweringError
from hotdesk.ir.building import (
    compared,
    constant,
    create,
    index_cast,
    index_constant,
    sliced,
    with_values,
)
from hotdesk.ir.locations import CHECKED_OP
from hotdesk.ir.types import element_bytes, element_of, row_major, shape_of
from hotdesk.ir.walking import entry_block, nested_ops
from hotdesk.kernels.region import GIVE, TAKE
from hotdesk.models.memref import VIEWS
from hotdesk.models.new_memory import ALLOCA, DEALLOC
from hotdesk.passes.lower.unpacked_memrefs import element_at, metadata

_MEMORY = "a size that the machine has memory for"


def put_at(pointer: ir.Value, op: ir.Operation) -> None:
    """Shows what an op allocates, or a global, where `pointer` is; nobody frees it any more."""
    memref = op.results[0]
    for view in _views_of(memref):
        for use in list(view.uses):
            user = cast(Any, use.owner).operation
            if user.name == DEALLOC:
                user.erase()
    memref.replace_all_uses_with(shown(pointer, memref.type, list(op.operands), op))
    op.erase()


def take(region: ir.Value, op: ir.Operation) -> None:
    """Takes from the second region what an op allocates; a check fails if that is full.

    Bytes that 64 bits cannot count are as many as these can, of which there is never room.
    """
    i64, kind = ir.IntegerType.get_signless(64), op.results[0].type
    zero, most, number = (constant(value, i64, op) for value in (0, -1, element_bytes(element_of(kind))))
    rest = iter(op.operands)
    for size in shape_of(kind):
        index = next(rest) if size is None else index_constant(size, op)
        factor = index_cast(index, i64, op)
        low, high = create("arith.mului_extended", [number, factor], [i64, i64], before=op).results
        is_more = compared("ne", high, zero, op)
        number = create("arith.select", [is_more, most, low], [i64], before=op).results[0]
    callee = {"callee": ir.FlatSymbolRefAttr.get(TAKE)}
    address = create("func.call", [region, number], [i64], callee, before=op).results[0]
    is_there = compared("ne", address, zero, op)
    told: dict[str, ir.Attribute] = {"msg": ir.StringAttr.get(_MEMORY), CHECKED_OP: ir.StringAttr.get(op.name)}
    create("cf.assert", [is_there], [], told, before=op)
    element = cast(Any, kind).element_type
    op.results[0].replace_all_uses_with(shown(element_at(address, element, op), kind, list(op.operands), op))
    op.erase()


def give_back(op: ir.Operation) -> None:
    """Gives back to the second region what an op frees."""
    start = _start(metadata(op.operands[0], op).results[0], op)
    address = index_cast(start, ir.IntegerType.get_signless(64), op)
    create("func.call", [address], [], {"callee": ir.FlatSymbolRefAttr.get(GIVE)}, before=op)
    op.erase()


def stack_at_entry(function: ir.Operation) -> None:
    """Makes in the first block what lies on the stack: what passes of vectors put in loops would grow it at each turn.

    That is of a size that is a number, and written before it is read wherever it is made.
    """
    first = entry_block(function)
    for op in [op for op in nested_ops(function) if op.name == ALLOCA and op.block != first]:
        cast(Any, op).move_before(first.operations[0])


def shown(pointer: ir.Value, kind: ir.Type, sizes: Sequence[ir.Value], before: ir.Operation) -> ir.Value:
    """A memref of a type, its rows one after the other, at an element in memory; `sizes` are the dynamic ones."""
    shape = shape_of(kind)
    if cast(Any, kind).affine_map != ir.AffineMap.get_identity(len(shape)):
        raise LoweringError("a memref", expected="rows one after the other", got=str(kind))
    static = row_major(shape)
    known = iter(sizes)
    values = [next(known) if size is None else index_constant(size, before) for size in shape]
    steps: list[ir.Value] = []
    index = ir.IndexType.get()
    step = index_constant(1, before)
    for dim in range(len(shape) - 1, -1, -1):
        if static[dim] is None:
            steps.insert(0, step)
        step = create("arith.muli", [step, values[dim]], [index], before=before).results[0]
    apart = with_values(static, steps)
    return sliced("memref.reinterpret_cast", [pointer], kind, [0], with_values(shape, sizes), before, strides=apart)


def pointer_to(
    memref: ir.Value, before: ir.Operation, *, bytewise: bool = False, as_in: ir.Value | None = None
) -> ir.Value:
    """The first element of a memref, as a kernel takes it.

    `bytewise` says whether that takes truths as the bytes they are, `as_in` is a memref whose elements it takes the bytes for.
    """
    index, i64 = ir.IndexType.get(), ir.IntegerType.get_signless(64)
    found = metadata(memref, before)
    start = _start(found.results[0], before)
    size = index_constant(element_bytes(element_of(memref.type)), before)
    offset = create("arith.muli", [found.results[1], size], [index], before=before).results[0]
    address = create("arith.addi", [start, offset], [index], before=before).results[0]
    number = index_cast(address, i64, before)
    element = cast(Any, (memref if as_in is None else as_in).type).element_type
    is_byte = bytewise and element == ir.IntegerType.get_signless(1)
    return element_at(number, ir.IntegerType.get_signless(8) if is_byte else element, before)


def _start(base: ir.Value, before: ir.Operation) -> ir.Value:
    """The address of the base of a memref, an index."""
    name = "memref.extract_aligned_pointer_as_index"
    return create(name, [base], [ir.IndexType.get()], before=before).results[0]


def _views_of(memref: ir.Value) -> list[ir.Value]:
    """A memref and all that show it."""
    found = [memref]
    for value in found:
        for use in value.uses:
            user = cast(Any, use.owner).operation
            if user.name in VIEWS:
                found.extend(user.results)
    return found
