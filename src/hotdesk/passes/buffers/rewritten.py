"""From the records of a function to its IR while flags are put in: the op, memref and flag that each record is now."""

from __future__ import annotations

from hotdesk._bindings import ir
from hotdesk.analysis.memrefs.buffer_program import BufferOp, BufferProgram
from hotdesk.analysis.ownership.owners import Ownership
from hotdesk.passes.buffers.freeing import free


class Rewritten:
    """The IR as it is now. `flags` has for each owner that may own nothing the value that tells."""

    def __init__(self, program: BufferProgram, ownership: Ownership) -> None:
        self._program, self._ownership = program, ownership
        self._ops: dict[int, ir.Operation] = {}
        self._values: dict[int, ir.Value] = {}
        self.flags: dict[int, ir.Value] = {}

    def op(self, number: int) -> ir.Operation:
        return self._ops.get(number) or self._program.ops[number].operation

    def value(self, buffer: int) -> ir.Value:
        found = self._values.get(buffer)
        return self._program.buffers[buffer].value if found is None else found

    def replace(self, op: BufferOp, new: ir.Operation) -> None:
        """Puts a new op, and the first of its results, in the place of an op that goes."""
        old = self.op(op.number)
        if op.results:
            results = list(new.results)
            for before, after in zip(old.results, results, strict=False):  # behind those there are flags
                before.replace_all_uses_with(after)
            self._values.update((value, results[i]) for i, value in enumerate(op.results) if value >= 0)
        self._ops[op.number] = new
        old.erase()

    def free(self, owner: int, at: ir.InsertionPoint, location: ir.Location, flag: ir.Value | None) -> None:
        """Frees what an owner has, by the op that its allocator wants; if the flag is true, where there is one."""
        name, value = self._ownership.freed_by(owner), self.value(owner)
        if flag is None:
            free(value, at, location, name)
            return
        choice = ir.Operation.create("scf.if", [], [flag], None, None, 2, location, at)
        inside = ir.InsertionPoint(choice.regions[0].blocks.append())
        free(value, inside, location, name)
        ir.Operation.create("scf.yield", [], [], None, None, 0, location, inside)
