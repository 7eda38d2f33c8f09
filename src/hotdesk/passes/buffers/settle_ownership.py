"""Reads a function, finds who owns what, and rewrites it until as little as possible is left to run time.

With `mode=copies`, what would be asked is copied first (`critical_aliases`); otherwise paths are told apart (`ownership_paths`).
Branches get blocks on those edges on which something is freed that no other edge may free. Refused is memory of which it cannot
be told who owns it, or how long it is in use, and a function that frees under conditions already (`bufferization.dealloc`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol

from hotdesk._bindings import ir
from hotdesk.analysis.memrefs.buffer_program import BufferProgram
from hotdesk.analysis.memrefs.buffer_reading import read_buffers
from hotdesk.analysis.ownership.allocators import returned_elsewhere
from hotdesk.analysis.ownership.candidates import EXTERNAL
from hotdesk.analysis.ownership.owners import Ownership, solve
from hotdesk.analysis.ownership.slots import Key, OwnershipSlots
from hotdesk.analysis.ownership.unreleased import hidden_refused, leaves
from hotdesk.errors import BufferizationError
from hotdesk.explain import Reason
from hotdesk.ir.locations import python_line
from hotdesk.passes.buffers.branch_edges import passes_more, split_edge
from hotdesk.passes.buffers.critical_aliases import copy_critical_aliases, copy_open_results
from hotdesk.passes.buffers.new_copies import copy_of
from hotdesk.passes.buffers.ownership_flags import flagged_results
from hotdesk.passes.buffers.ownership_paths import (
    asked_choices,
    branch_of,
    choice_of,
    foreign_points,
    open_branch,
    opened,
    put_off,
)
from hotdesk.passes.buffers.ownership_tails import follow_paths
from hotdesk.passes.buffers.reallocs import expand_reallocs
from hotdesk.passes.buffers.returned_copies import ReturnedCopy, reason_of
from hotdesk.passes.buffers.unused_values import drop_unused


def _refuse_conditional(program: BufferProgram) -> None:
    """Raises BufferizationError if memory is freed already, under conditions."""
    for op in program.ops:
        if op.name == "bufferization.dealloc":
            raise BufferizationError(
                "deallocation of a function that frees already",
                expected="`memref.dealloc`, which is dropped, or nothing freed",
                got="`bufferization.dealloc`",
                where=python_line(op.operation.location),
                hint="lower it first: --convert-bufferization-to-memref",
            )


def _refuse_unfinished(program: BufferProgram, ownership: Ownership) -> None:
    """Raises BufferizationError if memory would be freed or transferred that an asynchronous op may still use."""
    for number in ownership.unfinished:
        op = program.ops[number]
        raise BufferizationError(
            f"memory that `{op.name}` uses beside the program",
            expected="an op that waits for it, in the block in which the memory is allocated",
            got="none, so that it may use the memory when it is freed or transferred",
            where=python_line(op.operation.location),
            hint="wait in that block: async.await or gpu.wait for its token, memref.dma_wait for its tag, omp.taskwait or "
            "omp.barrier for a task, acc.wait for all queues; or hand in memory that somebody else frees "
            "(docs/deallocation.md)",
        )


def _refuse_hidden(program: BufferProgram, ownership: Ownership) -> None:
    """Raises BufferizationError if a tensor or handle leaves the region in which the memory is freed that it leads to."""
    for number, buffer in program.passed_on:
        owners = (owner for owner in ownership.candidates[buffer] if owner != EXTERNAL and ownership.places.get(owner))
        if any(leaves(program, program.ops[number], owner) for owner in owners):
            raise hidden_refused(program.ops[number])


def _refuse_several(program: BufferProgram, ownership: Ownership) -> None:
    """Raises BufferizationError if one of several owned operands is passed on, so that nobody would free the others."""
    passed: dict[tuple[int, int, int], set[int]] = {}
    for flow in program.flows:
        passed.setdefault((flow.op, flow.edge, flow.target), set()).add(flow.operand)
    for (number, _, _), operands in passed.items():
        if len(operands) > 1 and any(h.moved for o in operands if (h := ownership.transfers.get((number, o)))):
            op = program.ops[number]
            raise BufferizationError(
                f"memory that `{op.name}` passes on",
                expected="one operand for each argument and result",
                got=f"{len(operands)} operands for one",
                where=python_line(op.operation.location),
            )


class DeallocationOptions(Protocol):
    """The options of deallocation that count here."""

    @property
    def mode(self) -> str: ...
    @property
    def placement(self) -> str: ...
    @property
    def reload_scalars(self) -> bool: ...


@dataclass(frozen=True, slots=True)
class Settled:
    """A function as it is now, who owns its buffers, the results that are copied, and the branches that got an `else`."""

    program: BufferProgram
    ownership: Ownership
    copied: tuple[ReturnedCopy, ...]
    opened: tuple[ir.Operation, ...]


def settle(
    function: ir.Operation, options: DeallocationOptions, flagged: Mapping[str, tuple[int, ...]], lends: bool
) -> Settled:
    """Settles who owns what. `flagged` are results of callees that come with a flag; one that lends returns flags itself.

    Raises:
        BufferizationError: memory is passed on by an op of which nothing is known, or freed by `bufferization.dealloc`.
    """
    return _Settling(function, options, flagged, lends).run()


class _Settling:
    def __init__(
        self, function: ir.Operation, options: DeallocationOptions, flagged: Mapping[str, tuple[int, ...]], lends: bool
    ) -> None:
        self._function, self._options, self._flagged, self._lends = function, options, flagged, lends
        self._copied: list[ReturnedCopy] = []

    def run(self) -> Settled:
        program, slots = self._records()
        while expand_reallocs(program) or drop_unused(program, slots):
            program, slots = self._records()
        if elsewhere := returned_elsewhere(program, slots):
            self._copy_returned(program, dict.fromkeys(elsewhere, Reason.RETURNED_FREED_OTHERWISE))
            program, slots = self._records()
        if self._options.mode == "copies":
            copy_critical_aliases(self._function)
            self._read()
            self._copy_results()
        else:
            self._read((program, slots))
            self._decide_choices()
            if not self._lends:
                self._copy_on_paths()
                self._copy_compared()
        branches = opened(self._program, self._ownership) if self._options.placement == "last-use" else []
        for branch in branches:
            open_branch(branch)
        if branches:
            self._read()
        return Settled(self._program, self._ownership, tuple(self._copied), tuple(branches))

    def _records(self) -> tuple[BufferProgram, OwnershipSlots]:
        """The function as it is now, and its slots."""
        program = read_buffers(self._function, self._options.reload_scalars)
        return program, OwnershipSlots(program)

    def _read(self, records: tuple[BufferProgram, OwnershipSlots] | None = None) -> None:
        """Solves the function, as it has been read or is read now."""
        while True:
            program, slots = records or self._records()
            _refuse_conditional(program)
            ownership = solve(program, slots, flagged_results(program, self._flagged))
            _refuse_several(program, ownership)
            unclear = _unclear_edges(program, ownership) or _edges_of_flags(program, ownership)
            if not unclear:
                _refuse_unfinished(program, ownership)
                _refuse_hidden(program, ownership)
                break
            for number, edges in unclear.items():
                branch = program.ops[number].operation
                for edge in sorted(edges):
                    branch, _ = split_edge(branch, edge)
            records = None
        self._program, self._ownership = program, ownership

    def _decide_choices(self) -> None:
        """Makes choices branches where that leaves less to be asked."""
        while self._ownership.asked and (choices := asked_choices(self._program, self._ownership)):
            asked = self._ownership.asked
            for choice in choices:
                put_off(self._program, self._ownership, choice)
            branches = [branch_of(choice.operation) for choice in choices]
            self._read()
            if self._ownership.asked >= asked:
                for branch in branches:
                    choice_of(branch)
                self._read()
                return

    def _copy_results(self) -> None:
        """Copies what is returned and not certainly owned."""
        ends = {op.number: op.operation for op in self._program.returns}
        values = {(n, i): value for n, end in ends.items() for i, value in enumerate(end.operands)}
        for transfer in copy_open_results(self._program, self._ownership):
            end = ends[transfer.key[0]]
            self._copied.append(ReturnedCopy.of(values[transfer.key], reason_of(transfer), end, self._function))
        if self._copied:
            self._read()

    def _copy_on_paths(self) -> None:
        """Copies what is returned on the paths on which it belongs to somebody else."""
        while True:
            points, tail = foreign_points(self._program, self._ownership)
            if tail is not None:
                follow_paths(self._program, tail)
                self._read()
                continue
            if not points:
                return
            for transfer, passed in points:
                end = self._program.ops[transfer.key[0]].operation
                value = end.operands[transfer.key[1]]
                self._copied.append(ReturnedCopy.of(value, reason_of(transfer), end, self._function))
                for number, operand in passed:
                    op = self._program.ops[number].operation
                    op.operands[operand] = copy_of(op.operands[operand], op)
            self._read()

    def _copy_compared(self) -> None:
        """Copies what is returned where addresses would have to tell what it is."""
        transfers = self._ownership.transfers.values()
        found = {h.key: reason_of(h) for h in transfers if h.slot.returned >= 0 and self._ownership.compared(h)}
        if found:
            self._copy_returned(self._program, found)
            self._read()

    def _copy_returned(self, program: BufferProgram, reasons: Mapping[Key, Reason]) -> None:
        """Copies these operands of returns."""
        for (op, operand), reason in reasons.items():
            end = program.ops[op].operation
            value = end.operands[operand]
            self._copied.append(ReturnedCopy.of(value, reason, end, self._function))
            end.operands[operand] = copy_of(value, end)


def _unclear_edges(program: BufferProgram, ownership: Ownership) -> dict[int, set[int]]:
    """Edges of branches on which something is freed that no other edge may free: what a transfer does not take."""
    found: dict[int, set[int]] = {}
    for transfer in ownership.transfers.values():
        op = program.ops[transfer.key[0]]
        block = program.blocks[op.block]
        is_branch = block.last == op.number and len(block.branches) > 1
        if is_branch and transfer.moved and len(transfer.candidates) > 1:
            found.setdefault(op.number, set()).update(ownership.slots.edges(transfer.key))
    return found


def _edges_of_flags(program: BufferProgram, ownership: Ownership) -> dict[int, set[int]]:
    """Edges of branches that cannot pass the flag which is to go along them."""
    found: dict[int, set[int]] = {}
    for key in (key for slot in ownership.dynamic for key in slot.keys):
        op = program.ops[key[0]]
        block = program.blocks[op.block]
        if block.branches and block.last == op.number and not passes_more(op.operation):
            found.setdefault(op.number, set()).update(ownership.slots.edges(key))
    return found
