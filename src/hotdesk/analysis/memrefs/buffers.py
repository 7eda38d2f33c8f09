"""Buffers of a function on memrefs: what each memref is a view of, and when each buffer is in use.

A *base* is an allocation, an argument or a global; every view leads back to one. The live range of a buffer is half-open in op
numbers: from the first op that touches any alias of it to just after the last one. Views and deallocations touch nothing. An op
that uses a scalar touches what the scalar is computed from: its kernel computes it again.

Covers a function of one block; an op with regions counts as one op.
"""

from __future__ import annotations

from dataclasses import dataclass

from hotdesk._bindings import ir
from hotdesk.analysis.memrefs.memref_views import VIEWS, view_source
from hotdesk.errors import BufferizationError
from hotdesk.ir.locations import python_line
from hotdesk.ir.sizes import Size, product
from hotdesk.ir.symbolic import SymbolicSizes
from hotdesk.ir.types import element_bytes, element_of, is_memref
from hotdesk.ir.walking import captured_operands, entry_block, top_level_ops

_NOT_A_USE = VIEWS | {"memref.dealloc", "memref.dim", "memref.alloc"}


@dataclass(frozen=True, slots=True)
class BufferUse:
    """A base and its uses.

    Attributes:
        base: the memref value.
        kind: `alloc`, `argument` or `global`.
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
        BufferizationError: the function has more than one block, or an op makes a memref of which it is not known what it shows.
    """
    if len(function.regions[0].blocks) != 1:
        raise BufferizationError(
            "live ranges", expected="a function of one block", got=f"{len(function.regions[0].blocks)} blocks",
            where=python_line(function.location) or None,
        )  # fmt: skip
    sizes = SymbolicSizes(function)
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
