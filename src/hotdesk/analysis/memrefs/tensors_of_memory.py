"""Tensors of memory (`bufferization.to_tensor`): which of them would be read behind a write.

    %t = bufferization.to_tensor %m restrict
    memref.store %v, %m[%i]
    %r = linalg.exp ins(%t)                      reads what was stored

To the passes on tensors such a tensor is a value like any other: they compute later what is made of it, or take one for another
of the same memory. So it may be the memory itself only where nobody could tell the difference. It is left iff

1. nothing that may write the memory stands in front of an op that is computed from it, directly or through others, or it is not
   promised its memory alone (`restrict`), so that bufferization copies it where it stands (`read-later`);
2. nothing has written the memory since another tensor was made of it (`read-later`).

Ops are in the order of the text, what is in a loop and around it at any time of it. Memory of another allocation is other memory.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Sequence
from itertools import takewhile
from typing import Any, cast

from hotdesk._bindings import ir
from hotdesk.ir.op_maps import OpMap, OpSet
from hotdesk.ir.walking import defining_op, entry_block, is_loop_or_branch, nested_ops, ops_around, ops_outside_payloads
from hotdesk.models import tensor
from hotdesk.models.bufferization import TO_BUFFER, TO_TENSOR
from hotdesk.models.control_flow import CHOICE, LOOPS
from hotdesk.models.memory_effects import may_write
from hotdesk.models.memref import VIEWS, viewed
from hotdesk.models.new_memory import ALLOCA, BASES
from hotdesk.program.op_ranges import between

_VIEWS = (*tensor.VIEWS, "tensor.reshape")
_SHOWN = (*_VIEWS, CHOICE)
"""Ops whose results may lie where an operand does without anything being written."""


def read_behind_writes(function: ir.Operation, *, arguments_apart: bool) -> list[ir.Operation]:
    """The `to_tensor` of a function that have to be copies.

    `arguments_apart` says whether no two arguments share memory.
    """
    ops = ops_outside_payloads(function)
    return _Function(function, ops, apart=arguments_apart).found() if any(op.name == TO_TENSOR for op in ops) else []


class MemoryWrites:
    """The ops of a function that write memory, by block and in order; one with such an op inside counts as that one."""

    def __init__(self, function: ir.Operation) -> None:
        self._writers: dict[ir.Block, OpMap[set[ir.Value | None]]] = {}
        for op in nested_ops(function):
            written = {_root(value, apart=False) for value in _written(op)}
            inside = takewhile(lambda each: each != function, (op, *ops_around(op))) if written else ()
            for around in inside:
                self._writers.setdefault(around.block, OpMap()).setdefault(around, set()).update(written)
        self._order = {block: list(found) for block, found in self._writers.items()}

    def between(self, first: ir.Operation, last: ir.Operation) -> ir.Operation | None:
        """What writes, between two ops of a block, memory that the first one reads as a tensor."""
        made = [op for value in first.operands if (op := _made_of_memory(value)) is not None]
        writers = self._order.get(first.block) if made else None
        if not writers:
            return None
        shown = {_root(op.operands[0], apart=False) for op in made}
        begin = bisect_left(writers, True, key=first.is_before_in_block)
        behind = (writers[i] for i in range(begin, len(writers)))
        for writer in takewhile(lambda each: each.is_before_in_block(last), behind):
            written = self._writers[first.block][writer]
            if None in shown | written or not written.isdisjoint(shown):
                return writer
        return None


def _made_of_memory(value: ir.Value) -> ir.Operation | None:
    """The `to_tensor` that a tensor shows, as it is or by a view."""
    op = defining_op(value)
    while op is not None and op.name in _VIEWS:
        op = defining_op(op.operands[0])
    return op if op is not None and op.name == TO_TENSOR else None


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


class _Function:
    def __init__(self, function: ir.Operation, ops: Sequence[ir.Operation], *, apart: bool) -> None:
        self._apart = apart
        self._ops = ops
        self._numbers = OpMap((op, number) for number, op in enumerate(ops))
        self._ends = OpSet(list(block.operations)[-1].operation for block in dict.fromkeys(op.block for op in ops))
        self._made = [op for op in ops if op.name == TO_TENSOR]
        self._tensors = _ByMemory((self._numbers[op], _root(op.operands[0], apart=apart)) for op in self._made)
        self._writes = _ByMemory((number, _root(v, apart=apart)) for number, op in enumerate(ops) for v in _written(op))
        self._is_blocks = len(function.regions[0].blocks) > 1

    def found(self) -> list[ir.Operation]:
        """The ops that have to be copies."""
        return [
            op
            for op in self._made
            if self._is_written_since_another(op) or ("restrict" in op.attributes and self._is_written_in_front(op))
        ]

    def _is_written_in_front(self, op: ir.Operation) -> bool:
        """Rule 1."""
        writes = self._writes.of(_root(op.operands[0], apart=self._apart))
        if not writes or self._is_blocks:
            return bool(writes)
        computed, carried = self._computed_from(op)
        begin = self._numbers[op]
        last = max((self._numbers[each] for each in computed), default=begin)
        if any(between(each, begin + 1, last) or (carried and each[0] <= begin) for each in writes):
            return True
        own: list[ir.Operation] = [] if carried else _loops(op)
        again = OpSet(loop for each in computed for loop in _loops(each) if loop not in own)
        return self._is_in(again, (number for each in writes for number in each if number > begin))

    def _is_written_since_another(self, op: ir.Operation) -> bool:
        """Rule 2."""
        root, end = _root(op.operands[0], apart=self._apart), self._numbers[op]
        tensors, writes = self._tensors.of(root), self._writes.of(root)
        begin = min((each[0] for each in tensors), default=end)
        if begin >= end or not writes or self._is_blocks:
            return begin < end and bool(writes)
        if any(between(each, begin + 1, end) for each in writes):
            return True
        around = _loops(op)
        others = [_loops(self._ops[n]) for each in tensors for n in between(each, 0, end)] if around else []
        again = OpSet(loop for loop in around if any(loop not in each for each in others))
        return self._is_in(again, (number for each in writes for number in each))

    def _is_in(self, loops: OpSet, numbers: Iterable[int]) -> bool:
        """Whether any of these ops is in any of these loops."""
        return bool(loops) and any(not loops.isdisjoint(_loops(self._ops[number])) for number in numbers)

    def _computed_from(self, op: ir.Operation) -> tuple[list[ir.Operation], bool]:
        """The ops that read a tensor, or what is computed from it; and whether a loop around it carries the tensor.

        What is computed lies in other memory, unless that may be written; what ends a region then reads nothing of this.
        """
        values, around = [op.results[0]], _loops(op)
        shown = set(values)
        found = OpSet()
        seen, carried = set(values), False
        for value in values:
            for use in value.uses:
                user = cast(Any, use.owner).operation
                while user not in self._numbers:  # in the region of a structured op
                    user = user.parent.operation
                is_flow = is_loop_or_branch(user) or user in self._ends
                if is_flow and value not in shown:
                    continue
                found.add(user)
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


def _root(memref: ir.Value, *, apart: bool) -> ir.Value | None:
    """The allocation or argument whose memory this is; None where it may be any, as that of arguments that are not `apart`."""
    memref = viewed(memref, VIEWS)
    op = defining_op(memref)
    if op is None:
        block = cast(ir.Block, memref.owner)
        return memref if apart and block == entry_block(block.owner.operation) else None
    return memref if op.name in (ALLOCA, *BASES, TO_BUFFER) else None


def _written(op: ir.Operation) -> list[ir.Value]:
    if is_loop_or_branch(op) or op.name == TO_TENSOR or op.name in VIEWS:
        return []
    return may_write(op)


def _loops(op: ir.Operation) -> list[ir.Operation]:
    """The loops that an op is in."""
    return [each for each in ops_around(op) if each.name in LOOPS]
