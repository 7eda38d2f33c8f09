"""Buffers of a function on memrefs as lowering sees them: each with its size and the ops during which it is in use.

A *base* is an allocation, an argument or a global; every view leads back to one. Ops are numbered as `ops_outside_payloads` has
them; a live range is half-open in these numbers. What uses a memref is read as deallocation reads it (`buffer_reading`): an op
that uses a scalar uses what the scalar is computed from, since its kernel computes it again. Views, sizes and deallocations touch
nothing.

An allocation lives from the first op that touches any alias of it up to its `memref.dealloc`, which deallocation has put right
behind the last one; deallocations in a row are one point. In a function without control flow all other bases live from the
first op that touches them to just after the last one. So do its allocations in a user's program on memrefs, which is taken as it
is: it frees late or not at all, and what it frees is not freed again. What a pass keeps for calls that fail lives until it is
freed.

With control flow the `memref.dealloc` of an allocation counts if it is in the same block; a user's program may free it long
after the last op that touches any alias of it, which counts then. Arguments live from the first such op of the entry block to
just after the last one, aliases by any way that control passes them on (`origins`); all the time where another block touches
one or memory has escaped. What a loop uses that was allocated outside lives as long as the loop, what an iteration allocates
and frees has one place in all of them, and the ways of a branch share theirs, since their numbers are different. An allocation
that is freed elsewhere, by a condition or by nobody, or whose size is known only when it runs, is of the `heap`: nothing is
planned for it. One whose size is known only then, but has a limit that is known before (`arith.minsi`), is planned at the
limit.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from hotdesk._bindings import ir
from hotdesk.analysis.memrefs.buffer_program import BufferProgram, BufferValue, Kind
from hotdesk.analysis.memrefs.buffer_reading import read_buffers
from hotdesk.analysis.memrefs.origins import Origins
from hotdesk.errors import BufferizationError
from hotdesk.ir.locations import python_line
from hotdesk.ir.op_maps import OpMap
from hotdesk.ir.types import element_bytes, element_of, is_memref
from hotdesk.ir.walking import is_loop_or_branch, ops_outside_payloads, top_level_ops
from hotdesk.models.cf import ASSERT
from hotdesk.models.control_flow import CHOICE
from hotdesk.models.func import CALL
from hotdesk.models.hotdesk import KEPT
from hotdesk.models.memref import COPY, QUIET, STORE, VIEWS
from hotdesk.models.new_memory import ALLOC, ALLOCA, BASES, DEALLOC, SCOPE
from hotdesk.program.symbolic import SymbolicSizes
from hotdesk.sizes.expressions import product
from hotdesk.sizes.proofs import known_limit
from hotdesk.sizes.size import Size, is_opaque

_UNTOUCHING = VIEWS | QUIET | {DEALLOC}
_CODE = (
    *(STORE, COPY, ALLOCA, CALL, SCOPE, "memref.prefetch"),
    *("memref.atomic_rmw", "memref.generic_atomic_rmw", "affine.store", "affine.load", "affine.prefetch"),
)
"""Ops that are code of their own between the kernels, as control flow is."""


@dataclass(frozen=True, slots=True)
class BufferUse:
    """A base and its uses.

    Attributes:
        base: the memref value.
        kind: `alloc`, `argument`, `global`, or `heap` for an allocation that is not planned, of 0 bytes here.
        lower, upper: the live range, half-open in op numbers; equal when nothing touches the buffer.
        bytes: the size; an expression when it is dynamic.
        shape: the sizes of its dimensions, or what these never exceed; 0 where no limit is known, empty for `heap`.
        users: numbers of the ops that touch it, in order; with control flow of allocations alone.
    """

    base: ir.Value
    kind: str
    lower: int
    upper: int
    bytes: Size
    shape: tuple[Size, ...]
    users: tuple[int, ...]


def find_buffers(
    function: ir.Operation,
    sizes: SymbolicSizes | None = None,
    straight: bool | None = None,
    deallocated: bool = True,
) -> tuple[BufferUse, ...]:
    """The bases of a function with their live ranges: arguments first, then allocations and globals in program order.

    Args:
        sizes: those of the function, if they are known already.
        straight: what `is_straight` says of it, if that is known already.
        deallocated: whether deallocation has run, and decided where allocations end.

    Raises:
        BufferizationError: an op of a function without control flow makes a memref of which it is not known what it shows.
    """
    sizes = SymbolicSizes(function) if sizes is None else sizes
    straight = is_straight(function, sizes) if straight is None else straight
    if straight:
        _check_known(function)
    return _Bases(read_buffers(function, scalars=True), sizes, straight, deallocated).run()


def is_straight(function: ir.Operation, sizes: SymbolicSizes) -> bool:
    """Whether a function is nothing but kernel calls, one after the other, whose sizes and offsets are known before they run."""
    if len(function.regions[0].blocks) != 1:
        return False
    for op in top_level_ops(function):
        if is_loop_or_branch(op) or op.name in _CODE or op.name.startswith("vector."):
            return False
        if op.name == CHOICE and is_memref(op.results[0].type):
            return False
        if any(isinstance(result.type, ir.IndexType) and is_opaque(sizes.value(result)) for result in op.results):
            return False
        if op.name == ASSERT and not _is_of_sizes(sizes.condition(op.operands[0])):
            return False
    return True


def _is_of_sizes(relation: Any) -> bool:
    return relation is not None and not is_opaque(relation)


def _check_known(function: ir.Operation) -> None:
    for op in top_level_ops(function):
        if op.name in VIEWS or op.name in BASES:
            continue
        if any(is_memref(result.type) for result in op.results):
            raise BufferizationError(
                "live ranges", expected="allocations, globals and views", got=f"a memref made by `{op.name}`",
                where=python_line(op.location),
            )  # fmt: skip


class _Bases:
    def __init__(self, program: BufferProgram, sizes: SymbolicSizes, straight: bool, deallocated: bool) -> None:
        self._program, self._sizes = program, sizes
        self._straight, self._deallocated = straight, deallocated
        self._ops = OpMap((op, number) for number, op in enumerate(ops_outside_payloads(program.function)))
        self._numbers: list[int] = []  # by op of the program; of what is in a payload, the number of the op around it
        for op in program.ops:
            number = self._ops.get(op.operation)
            self._numbers.append(self._numbers[program.blocks[op.block].parent] if number is None else number)
        self._points: list[int] = []  # by op number; of a deallocation, the number of the first one in its row
        before = ""
        for number, op in enumerate(self._ops):
            self._points.append(self._points[-1] if op.name == before == DEALLOC else number)
            before = op.name
        self._users: dict[int, list[int]] = {}  # by base
        for buffer in program.buffers:
            self._users.setdefault(program.root(buffer.number), []).extend(program.users[buffer.number])

    def run(self) -> tuple[BufferUse, ...]:
        found = ((buffer, self._kind(buffer)) for buffer in self._program.buffers)
        return tuple(self._base(buffer, kind) for buffer, kind in found if kind)

    def _kind(self, buffer: BufferValue) -> str:
        """The kind of a base; empty for what is none."""
        if buffer.kind is Kind.ALLOCATION:
            op = self._program.ops[buffer.producer]
            return "alloc" if op.name == ALLOC and op.operation in self._ops else ""
        known = {Kind.ARGUMENT: "argument", Kind.GLOBAL: "global"} if is_memref(buffer.value.type) else {}
        return known.get(buffer.kind, "")

    def _base(self, buffer: BufferValue, kind: str) -> BufferUse:
        shape, element = self._sizes.shape(buffer.value), element_bytes(element_of(buffer.value.type))
        size = product([*shape, element])
        limits = [known_limit(each) for each in shape]
        most = tuple(0 if limit is None else limit for limit in limits)
        if self._straight:
            users = self._touching(buffer)
            freed = kind == "alloc" and (self._deallocated or self._is_kept(buffer))
            decided = self._lifetime(buffer) if freed else None
            lower, upper = decided or ((users[0], users[-1] + 1) if users else (0, 0))
            return BufferUse(buffer.value, kind, lower, upper, size, most, users)
        if kind == "argument":
            lower, upper = self._touched(buffer) or (0, len(self._ops))
            return BufferUse(buffer.value, kind, lower, upper, size, most, ())
        number = self._numbers[buffer.producer]
        if kind == "global":
            return BufferUse(buffer.value, kind, number, number + 1, size, most, ())
        lifetime = self._lifetime(buffer)
        if lifetime is None or (is_opaque(size) and None in limits):
            return BufferUse(buffer.value, "heap", 0, 0, 0, (), ())
        return BufferUse(buffer.value, kind, *lifetime, product([*most, element]), most, self._touching(buffer))

    def _touching(self, buffer: BufferValue) -> tuple[int, ...]:
        users = self._users[buffer.number]
        return tuple(sorted({self._numbers[op] for op in users if self._touches(op)}))

    def _touches(self, number: int) -> bool:
        """Whether an op touches what it uses, or chooses one of several memrefs: what uses its choice may touch any of them."""
        op = self._program.ops[number]
        return op.name not in _UNTOUCHING or (op.name == CHOICE and is_memref(op.operation.results[0].type))

    def _lifetime(self, buffer: BufferValue) -> tuple[int, int] | None:
        """From the first use of an allocation to its deallocation; None if that is not in its block."""
        program, first, freed = self._program, len(self._ops), None
        for user in self._users[buffer.number]:
            above, name = program.within(user, buffer.block), program.ops[user].name
            if name == DEALLOC and above == user:
                freed = self._points[self._numbers[user]]
            elif self._touches(user) and above is not None:
                first = min(first, self._numbers[above])
        if freed is None:
            return None
        touched = None if self._deallocated or self._is_kept(buffer) else self._touched(buffer)
        return touched or (min(first, freed), freed)

    def _is_kept(self, buffer: BufferValue) -> bool:
        """Whether the buffer holds what a call that fails puts back, up to where it is freed."""
        return any(KEPT in self._program.ops[user].operation.attributes for user in self._users[buffer.number])

    def _touched(self, base: BufferValue) -> tuple[int, int] | None:
        """From the first op of a base's block that touches any alias of it, or has one inside that does, to just after the last.

        None if another block touches one, or if it is not known what does.
        """
        program = self._program
        if self._is_opaque or base.number in self._origins.escaped:
            return None
        users = {user for alias in self._aliases[base.number] for user in program.users[alias] if self._touches(user)}
        tops = [program.within(user, base.block) for user in users]
        ops = [program.ops[top] for top in tops if top is not None]
        if len(ops) < len(tops):
            return None
        lower = min((self._numbers[op.number] for op in ops), default=0)
        return lower, max((self._numbers[op.end - 1] + 1 for op in ops), default=0)

    @cached_property
    def _origins(self) -> Origins:
        return Origins(self._program)

    @cached_property
    def _aliases(self) -> Mapping[int, Sequence[int]]:
        """The memrefs that may be views of each base."""
        found: dict[int, list[int]] = {}
        for alias, bases in enumerate(self._origins.of):
            for base in bases:
                found.setdefault(base, []).append(alias)
        return found

    @cached_property
    def _is_opaque(self) -> bool:
        """Whether there are memrefs that may be memory of anybody's."""
        return any(buffer.kind is Kind.UNKNOWN for buffer in self._program.buffers)
