"""Buffers of a function on memrefs: what each memref is a view of, and when each buffer is in use.

A *base* is an allocation, an argument or a global; every view leads back to one. Ops are numbered in the order of the text, those
in the regions of control flow (`numbered`) behind the op that they belong to; a live range is half-open in these numbers.

In a function without control flow it reaches from the first op that touches any alias of the buffer to just after the last one.
Views and deallocations touch nothing. An op that uses a scalar touches what the scalar is computed from: its kernel computes it
again.

With control flow deallocation has decided: an allocation lives from its first use up to its `memref.dealloc` in the same block.
What a loop uses that was allocated outside lives as long as the loop, what an iteration allocates and frees has one place in all
of them, and the ways of a branch share theirs, since their numbers are different. An allocation that is freed elsewhere, by a
condition or by nobody, or whose size is known only when it runs, is of the `heap`: nothing is planned for it.
"""

from __future__ import annotations

from dataclasses import dataclass

from hotdesk._bindings import ir
from hotdesk.analysis.memrefs.memref_views import VIEWS, view_source
from hotdesk.errors import BufferizationError
from hotdesk.ir.locations import python_line
from hotdesk.ir.sizes import Size, is_opaque, product
from hotdesk.ir.symbolic import SymbolicSizes
from hotdesk.ir.types import element_bytes, element_of, is_memref
from hotdesk.ir.walking import captured_operands, entry_block, in_order, top_level_ops, users

_NOT_A_USE = VIEWS | {"memref.dealloc", "memref.dim", "memref.alloc"}


@dataclass(frozen=True, slots=True)
class BufferUse:
    """A base and its uses.

    Attributes:
        base: the memref value.
        kind: `alloc`, `argument`, `global`, or `heap` for an allocation that is not planned, of 0 bytes here.
        lower, upper: the live range, half-open in op numbers; equal when nothing touches the buffer.
        bytes: the size; an expression when it is dynamic.
        users: numbers of the ops that touch it, in order.
    """

    base: ir.Value
    kind: str
    lower: int
    upper: int
    bytes: Size
    users: tuple[int, ...]


def find_buffers(function: ir.Operation) -> tuple[BufferUse, ...]:
    """The bases of a function with their live ranges: arguments first, then allocations and globals in program order.

    Raises:
        BufferizationError: an op of a function without control flow makes a memref of which it is not known what it shows.
    """
    sizes = SymbolicSizes(function)
    if not is_straight(function, sizes):
        return _with_control_flow(function, sizes)
    users: dict[ir.Value, list[int]] = {}
    bases: dict[ir.Value, str] = {a: "argument" for a in entry_block(function).arguments if is_memref(a.type)}
    known: dict[ir.Value, ir.Value] = {}
    behind: dict[ir.Value, tuple[ir.Value, ...]] = {}  # the memrefs that a scalar is computed from
    for number, op in enumerate(top_level_ops(function)):
        if op.name in ("memref.alloc", "memref.get_global"):
            bases[op.results[0]] = "alloc" if op.name == "memref.alloc" else "global"
        elif op.name in VIEWS:
            for i, shown in enumerate(op.results):
                source = op.operands[view_source(op.name, i) or 0]
                known[shown] = known.get(source, source)
        elif any(is_memref(result.type) for result in op.results):
            raise BufferizationError(
                "live ranges", expected="allocations, globals and views", got=f"a memref made by `{op.name}`",
                where=python_line(op.location) or None,
            )  # fmt: skip
        if op.name in _NOT_A_USE:
            continue
        used = list(dict.fromkeys((*op.operands, *(v for _, _, v in captured_operands(op)))))
        used += [memref for value in used for memref in behind.get(value, ())]
        memrefs = tuple(dict.fromkeys(value for value in used if is_memref(value.type)))
        behind.update((result, memrefs) for result in op.results if not is_memref(result.type))
        for value in memrefs:
            users.setdefault(known.get(value, value), []).append(number)
    result: list[BufferUse] = []
    for base, kind in bases.items():
        touched = tuple(dict.fromkeys(users.get(base, ())))
        size = product([*sizes.shape(base), element_bytes(element_of(base.type))])
        lower, upper = (touched[0], touched[-1] + 1) if touched else (0, 0)
        result.append(BufferUse(base, kind, lower, upper, size, touched))
    return tuple(result)


def is_straight(function: ir.Operation, sizes: SymbolicSizes) -> bool:
    """Whether a function is nothing but kernel calls, one after the other, whose sizes and offsets are known before they run."""
    if len(function.regions[0].blocks) != 1:
        return False
    for op in top_level_ops(function):
        if _is_flow(op) or op.name in _CODE or op.name.startswith("vector."):
            return False
        if op.name == "arith.select" and is_memref(op.results[0].type):
            return False
        if any(isinstance(result.type, ir.IndexType) and is_opaque(sizes.value(result)) for result in op.results):
            return False
    return True


_CODE = ("memref.store", "memref.copy", "memref.alloca", "func.call")
"""Ops that are code of their own between the kernels, as control flow is."""


def _is_flow(op: ir.Operation) -> bool:
    return len(op.regions) > 0 and op.name.partition(".")[0] in ("scf", "affine")


def numbered(function: ir.Operation) -> list[ir.Operation]:
    """The ops of a function, each at its number: those in the regions of control flow behind the op that has these regions."""
    found: list[ir.Operation] = []

    def visit(region: ir.Region) -> None:
        for block in in_order(region):
            for op in block.operations:
                found.append(op.operation)
                if _is_flow(op.operation):
                    for each in op.operation.regions:
                        visit(each)

    visit(function.regions[0])
    return found


def _with_control_flow(function: ir.Operation, sizes: SymbolicSizes) -> tuple[BufferUse, ...]:
    ops = numbered(function)
    number = {op: i for i, op in enumerate(ops)}
    end = _ends(ops, number)
    result = [
        BufferUse(argument, "argument", 0, len(ops), _bytes(sizes, argument), ())
        for argument in entry_block(function).arguments
        if is_memref(argument.type)
    ]
    for op in ops:
        if op.name == "memref.get_global":
            base = op.results[0]
            result.append(BufferUse(base, "global", number[op], end[number[op]], _bytes(sizes, base), ()))
        elif op.name == "memref.alloc":
            base = op.results[0]
            lower, upper = _lifetime(op, number)
            size = _bytes(sizes, base)
            if upper is None or is_opaque(size):
                result.append(BufferUse(base, "heap", 0, 0, 0, ()))
            else:
                result.append(BufferUse(base, "alloc", lower, upper, size, ()))
    return tuple(result)


def _bytes(sizes: SymbolicSizes, base: ir.Value) -> Size:
    return product([*sizes.shape(base), element_bytes(element_of(base.type))])


def _ends(ops: list[ir.Operation], number: dict[ir.Operation, int]) -> list[int]:
    """For each op the number after it and all that is in its regions."""
    ends = list(range(1, len(ops) + 1))
    for i in range(len(ops) - 1, -1, -1):
        parent = ops[i].parent
        outer = None if parent is None else number.get(parent.operation)
        if outer is not None:
            ends[outer] = max(ends[outer], ends[i])
    return ends


def _lifetime(alloc: ir.Operation, number: dict[ir.Operation, int]) -> tuple[int, int | None]:
    """The first use of an allocation and its deallocation, as numbers of ops of its block; None if that is not in its block."""
    block, first, freed = alloc.block, len(number), None
    pending = [alloc.results[0]]
    while pending:
        value = pending.pop()
        for user in users(value):
            if user.name in VIEWS:
                pending.extend(user.results)
            above = _of_block(user, block)
            if user.name == "memref.dealloc" and above is not None and above == user:
                freed = number[user]
            elif user.name not in _NOT_A_USE and above is not None:
                first = min(first, number[above])
    return (first, freed) if freed is None or first < freed else (freed, freed)


def _of_block(op: ir.Operation, block: ir.Block) -> ir.Operation | None:
    """The op of a block that an op is, or is in a region of; None if it is in another block."""
    current: ir.Operation | None = op
    while current is not None and current.block != block:
        parent = current.parent
        current = None if parent is None or parent.name == "func.func" else parent.operation
    return current
