"""Each allocation of a function with all that is known about who sees it, read once: aliases, uses, deallocations.

An *alias* of an allocation is a memref that may be a view of it, however control passed it on (`analysis.memrefs.origins`).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, cast

from hotdesk._bindings import ir
from hotdesk.analysis.allocations.freeing_calls import FreeingCalls
from hotdesk.analysis.memrefs.buffer_program import FUNCTION, NOT_A_BUFFER, BufferOp, BufferProgram, Kind
from hotdesk.analysis.memrefs.buffer_reading import read_buffers
from hotdesk.analysis.memrefs.memref_views import Views
from hotdesk.analysis.memrefs.origins import Origins
from hotdesk.explain import Source
from hotdesk.ir.locations import source_of
from hotdesk.ir.op_maps import OpMap
from hotdesk.ir.types import element_bytes, is_memref
from hotdesk.ir.walking import defining_op
from hotdesk.models.new_memory import dynamic_sizes, freed, is_free_of, may_free_any
from hotdesk.program.dominance import Dominance
from hotdesk.program.symbolic import SymbolicSizes
from hotdesk.sizes.expressions import product
from hotdesk.sizes.size import Size


@dataclass(frozen=True, slots=True)
class Allocation:
    """An allocation, by the number of its memref. All but `buffer` are op numbers.

    Attributes:
        op: what allocates it.
        aliases: the memrefs that may be views of it, itself included.
        users: the ops that have an alias as an operand, deallocations included, in order.
        frees: those that free it, or may do so.
        is_freed_simply: whether each of those is the op that frees such memory, of the allocation itself.
        keepers: those that may keep a pointer to it (`analysis.memrefs.origins`).
    """

    buffer: int
    op: int
    aliases: tuple[int, ...]
    users: tuple[int, ...]
    frees: tuple[int, ...]
    is_freed_simply: bool
    keepers: tuple[int, ...]


class Allocations:
    """The allocations of a function, on the heap and on the stack, in order; the IR must not change meanwhile.

    What is known of the calls in several functions of a module is found once if all are given the same `freeing`.
    """

    def __init__(self, function: ir.Operation, freeing: FreeingCalls | None = None) -> None:
        self.program: BufferProgram = read_buffers(function)
        self.dominance = Dominance(self.program)
        self.origins = Origins(self.program)
        self.views = Views(function, made_with=dynamic_sizes)
        self.sizes = self.views.sizes
        self._aliases = self._reached()
        freeing = freeing or FreeingCalls()
        self._freeing = {op.number: values for op in self.program.ops if (values := _may_free(op, freeing))}
        self.touching: dict[int, bool] = {}
        """What `ranges` has found of ops, by number."""
        self.positions = OpMap((op.operation, op.number) for op in self.program.ops)
        self._blocks = {self.program.ops[b.last].operation.block: b.number for b in self.program.blocks if b.last >= 0}
        kinds = (Kind.ALLOCATION, Kind.STACK)
        self.all = tuple(self._read(b.number) for b in self.program.buffers if b.kind in kinds)

    def op(self, allocation: Allocation) -> BufferOp:
        return self.program.ops[allocation.op]

    def value(self, allocation: Allocation) -> ir.Value:
        return self.program.buffers[allocation.buffer].value

    @property
    def on_heap(self) -> tuple[Allocation, ...]:
        """Those that are not on the stack: what somebody has to free."""
        return tuple(each for each in self.all if self.program.buffers[each.buffer].kind is Kind.ALLOCATION)

    def bytes(self, allocation: Allocation) -> Size:
        """The size, an expression if it is dynamic; 0 for elements that are not numbers."""
        return bytes_of(self.value(allocation), self.sizes)

    def comes_around(self, allocation: Allocation, inside: int = FUNCTION) -> bool:
        """Whether an alias is what a block had as an argument before it came to the allocation, so that a loop passed it on.

        Only blocks inside the op number `inside` count.
        """
        arguments = {b.block for b in map(self.program.buffers.__getitem__, allocation.aliases) if b.producer < 0}
        end = len(self.program.ops) if inside == FUNCTION else self.program.ops[inside].end
        return bool(arguments) and any(
            block in arguments and inside < self.program.blocks[block].first <= end
            for block in self.dominance.upwards(self.program.ops[allocation.op].block)
        )

    def returned_by(self, allocation: Allocation) -> int | None:
        """The first op that ends the function and has an alias; None if nothing returns the allocation."""
        for user in allocation.users:
            block = self.program.blocks[self.program.ops[user].block]
            if block.parent == FUNCTION and block.last == user and not block.branches:
                return user
        return None

    def block_of(self, value: ir.Value) -> int:
        """The block that defines a value."""
        op = defining_op(value)
        return self._blocks[cast(ir.Block, value.owner)] if op is None else self.program.ops[self.positions[op]].block

    def defining(self, value: ir.Value) -> int:
        """The number of the op that makes a value; -1 for a block argument."""
        op = defining_op(value)
        return -1 if op is None else self.positions[op]

    def source(self, op: int) -> Source:
        operation = self.program.ops[op].operation
        return source_of(operation)

    def _reached(self) -> dict[int, list[int]]:
        reached: dict[int, list[int]] = {}
        for buffer in self.program.buffers:
            for origin in sorted(self.origins.of[buffer.number]):
                reached.setdefault(origin, []).append(buffer.number)
        return reached

    def _read(self, buffer: int) -> Allocation:
        aliases = tuple(self._aliases.get(buffer, [buffer]))
        known = frozenset(aliases)
        users = sorted({user for alias in aliases for user in self.program.users[alias]})
        frees = tuple(user for user in users if not known.isdisjoint(self._freeing.get(user, ())))
        maker = self.program.ops[self.program.buffers[buffer].producer].operation
        simply = all(
            self.program.ops[op].operands[:1] == (buffer,) and is_free_of(self.program.ops[op].operation, maker)
            for op in frees
        )
        keepers = tuple(user for user in users if not known.isdisjoint(self.origins.kept.get(user, ())))
        producer = self.program.buffers[buffer].producer
        return Allocation(buffer, producer, aliases, tuple(users), frees, simply, keepers)


def bytes_of(value: ir.Value, sizes: SymbolicSizes) -> Size:
    """The bytes of a contiguous memref; 0 for one whose elements are neither numbers nor vectors of them."""
    each = bytes_of_element(value.type) if is_memref(value.type) else 0
    return product([*sizes.shape(value), each]) if each else 0


def bytes_of_element(memref: ir.Type) -> int:
    """The bytes of one element of a memref; 0 if it is neither a number nor a vector of numbers."""
    element = cast(ir.Type, cast(Any, memref).element_type)
    if isinstance(element, ir.VectorType) and cast(Any, element).scalable:
        return 0
    numbers = (ir.IntegerType, ir.FloatType, ir.IndexType, ir.ComplexType, ir.VectorType)
    return element_bytes(str(element)) if isinstance(element, numbers) else 0


def _may_free(op: BufferOp, freeing: FreeingCalls) -> tuple[int, ...]:
    """The memrefs that an op may free."""
    called = max(op.operands, default=NOT_A_BUFFER) >= 0 and freeing.include(op.operation)
    is_any = called or may_free_any(op.operation)
    values = op.operands if is_any else (op.operands[i] for i in freed(op.operation))
    return tuple(value for value in values if value != NOT_A_BUFFER)
