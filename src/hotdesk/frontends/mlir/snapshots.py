"""Tensors of memory that is written later: made of a copy, taken where the tensor is made.

    %t = bufferization.to_tensor %m restrict      ->    %c = memref.alloc(); memref.copy %m, %c
    memref.store %v, %m[%i]                             %t = bufferization.to_tensor %c restrict
    %r = linalg.exp ins(%t)                             memref.store %v, %m[%i]; %r = linalg.exp ins(%t)

To the passes on tensors `bufferization.to_tensor` is a value like any other: they compute later what is made of it, or take one
for another of the same memory. So it must be the memory itself only where nobody could tell the difference. It is left iff

1. nothing that may write the memory stands in front of an op that is computed from it, directly or through others, or it is not
   promised its memory alone (`restrict`), so that bufferization copies it where it stands;
2. nothing has written the memory since another tensor was made of it.

Ops are in the order of the text, what is in a loop and around it at any time of it. Memory of another argument or allocation is
other memory.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from collections.abc import Set as AbstractSet
from typing import Any, cast

from hotdesk._bindings import ir
from hotdesk.analysis.memrefs.memory_effects import effects_of
from hotdesk.ir.building import alloc, create, dynamic_dims
from hotdesk.ir.types import is_memref, memref_with, shape_of
from hotdesk.ir.walking import defining_op, entry_block, is_loop_or_branch, ops_outside_payloads
from hotdesk.models.memref import VIEWS, view_source
from hotdesk.models.new_memory import ALLOC
from hotdesk.program.op_ranges import between

_TO_TENSOR = "bufferization.to_tensor"
_SHOWN = (
    *(f"tensor.{name}" for name in ("cast", "extract_slice", "expand_shape", "collapse_shape", "reshape")),
    "arith.select",
)
"""Ops whose results may lie where an operand does without anything being written."""
_LOOPS = ("scf.for", "scf.while", "scf.forall", "scf.parallel", "affine.for", "affine.parallel")


def take_snapshots(function: ir.Operation, *, arguments_apart: bool) -> None:
    """Makes tensors of memory that is written later tensors of a copy.

    `arguments_apart` says whether no two arguments share memory.
    """
    ops = ops_outside_payloads(function)
    if any(op.name == _TO_TENSOR for op in ops):
        arguments = set(entry_block(function).arguments) if arguments_apart else set[ir.Value]()
        for op in _Snapshots(function, ops, arguments).wanted():
            _copy(op)


def _copy(op: ir.Operation) -> None:
    with op.location:
        source, promises = op.operands[0], {name: ir.UnitAttr.get() for name in ("restrict", "writable")}
        copied = alloc(memref_with(shape_of(source.type), source.type), dynamic_dims(source, op), op)
        create("memref.copy", [source, copied], [], before=op)
        new = create(_TO_TENSOR, [copied], [op.results[0].type], promises, before=op)
    op.results[0].replace_all_uses_with(new.results[0])
    op.erase()


class _ByMemory:
    """Numbers of ops, in order, by the allocation or argument whose memory they are about; None stands for any."""

    def __init__(self, numbers: Iterable[tuple[int, ir.Value | None]]) -> None:
        self._all: list[int] = []
        self._known: dict[ir.Value | None, list[int]] = {}
        for number, root in numbers:
            self._all.append(number)
            self._known.setdefault(root, []).append(number)

    def of(self, root: ir.Value | None) -> list[list[int]]:
        """Those that may be about this memory, in lists of which each is in order."""
        return [self._all] if root is None else [self._known[each] for each in (root, None) if each in self._known]


class _Snapshots:
    def __init__(self, function: ir.Operation, ops: Sequence[ir.Operation], arguments: AbstractSet[ir.Value]) -> None:
        self._arguments = arguments
        self._ops = ops
        self._numbers = {op: number for number, op in enumerate(ops)}
        self._ends = {list(block.operations)[-1].operation for block in dict.fromkeys(op.block for op in ops)}
        self._made = [op for op in ops if op.name == _TO_TENSOR]
        self._tensors = _ByMemory((self._numbers[op], self._root(op.operands[0])) for op in self._made)
        self._writes = _ByMemory((number, self._root(v)) for number, op in enumerate(ops) for v in _written(op))
        self._is_blocks = len(function.regions[0].blocks) > 1

    def wanted(self) -> list[ir.Operation]:
        """The ops that have to be copies."""
        return [
            op
            for op in self._made
            if self._is_written_since_another(op) or ("restrict" in op.attributes and self._is_written_in_front(op))
        ]

    def _is_written_in_front(self, op: ir.Operation) -> bool:
        """Rule 1."""
        writes = self._writes.of(self._root(op.operands[0]))
        if not writes or self._is_blocks:
            return bool(writes)
        computed, carried = self._computed_from(op)
        begin = self._numbers[op]
        last = max((self._numbers[each] for each in computed), default=begin)
        if any(between(each, begin + 1, last) or (carried and each[0] <= begin) for each in writes):
            return True
        own: list[ir.Operation] = [] if carried else _loops(op)
        again = {loop for each in computed for loop in _loops(each)}.difference(own)
        return self._is_in(again, (number for each in writes for number in each if number > begin))

    def _is_written_since_another(self, op: ir.Operation) -> bool:
        """Rule 2."""
        root, end = self._root(op.operands[0]), self._numbers[op]
        tensors, writes = self._tensors.of(root), self._writes.of(root)
        begin = min((each[0] for each in tensors), default=end)
        if begin >= end or not writes or self._is_blocks:
            return begin < end and bool(writes)
        if any(between(each, begin + 1, end) for each in writes):
            return True
        around = _loops(op)
        others = [_loops(self._ops[n]) for each in tensors for n in between(each, 0, end)] if around else []
        again = {loop for loop in around if any(loop not in each for each in others)}
        return self._is_in(again, (number for each in writes for number in each))

    def _is_in(self, loops: AbstractSet[ir.Operation], numbers: Iterable[int]) -> bool:
        """Whether any of these ops is in any of these loops."""
        return bool(loops) and any(not loops.isdisjoint(_loops(self._ops[number])) for number in numbers)

    def _computed_from(self, op: ir.Operation) -> tuple[list[ir.Operation], bool]:
        """The ops that read a tensor, or what is computed from it; and whether a loop around it carries the tensor.

        What is computed lies in other memory, unless that may be written; what ends a region then reads nothing of this.
        """
        values, around = [op.results[0]], _loops(op)
        shown = set(values)
        found: dict[ir.Operation, None] = {}
        seen, carried = set(values), False
        for value in values:
            for use in value.uses:
                user = cast(Any, use.owner).operation
                while user not in self._numbers:  # in the region of a structured op
                    user = user.parent.operation
                is_flow = is_loop_or_branch(user) or user in self._ends
                if is_flow and value not in shown:
                    continue
                found[user] = None
                further = [*user.results, *(a for block in user.successors for a in block.arguments)]
                for each in ((user, user.parent.operation) if user in self._ends else (user,)) if is_flow else ():
                    further += [
                        *each.results,
                        *(a for r in each.regions for block in r.blocks for a in block.arguments),
                    ]
                    carried |= each in around
                if is_flow or user.name in _SHOWN or "writable" in op.attributes:
                    shown.update(further)
                values += [each for each in further if each not in seen]
                seen.update(further)
        return list(found), carried

    def _root(self, memref: ir.Value) -> ir.Value | None:
        op = defining_op(memref)
        while op is not None and op.name in VIEWS:
            memref = op.operands[view_source(op.name, int(cast(Any, memref).result_number)) or 0]
            op = defining_op(memref)
        if op is None:
            return memref if memref in self._arguments else None
        return memref if op.name in (ALLOC, "memref.alloca", "memref.get_global", "bufferization.to_buffer") else None


def _written(op: ir.Operation) -> list[ir.Value]:
    if is_loop_or_branch(op) or op.name == _TO_TENSOR or op.name in VIEWS:
        return []
    effects = effects_of(op)
    return [value for value in op.operands if is_memref(value.type)] if effects is None else list(effects.writes)


def _loops(op: ir.Operation) -> list[ir.Operation]:
    """The loops that an op is in."""
    found: list[ir.Operation] = []
    parent = op.parent
    while parent is not None:
        if parent.operation.name in _LOOPS:
            found.append(parent.operation)
        parent = parent.operation.parent
    return found
