"""Frees each allocation right after the last op that touches any alias of it, on every path.

    %a = memref.alloc; use %a; %v = subview %a; use %v; other   ->   … use %v; memref.dealloc %a; other

1. A view keeps its buffer alive, and so does whatever control flow makes of it: the last use of any alias counts.
2. An allocation that nothing touches is erased with its views instead; a size of it (`memref.dim`) is the one it was made with.
3. Arguments and globals are never freed: they belong to somebody else. A function owns what it calls for and returns what its
   caller will own: a result that it does not own is copied (`returned-input`, `returned-twice`, `returned-freed-otherwise`).
4. Deallocations that are there already are dropped first, so that a buffer is freed once.
5. Who frees is decided by the rules of `analysis.ownership.owners`, where by the rules of `analysis.ownership.releases`. Only
   where paths differ a flag tells at run time.
6. Paths are told apart where that leaves less to be asked (`passes.buffers.ownership_paths`): selects become branches, and
   results are copied on the paths on which they are not owned.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from typing import ClassVar, cast

from hotdesk._bindings import ir
from hotdesk.analysis.allocations.uses import bytes_of
from hotdesk.analysis.memrefs.buffer_program import BufferProgram, Kind
from hotdesk.analysis.ownership.owners import Ownership
from hotdesk.analysis.ownership.releases import ReleasePoint
from hotdesk.errors import BufferizationError, OptionError
from hotdesk.explain import Decision, Outcome, Reason, Source
from hotdesk.ir.building import index_constant
from hotdesk.ir.locations import source_in_model
from hotdesk.ir.types import shape_of
from hotdesk.ir.walking import constant_of, defined_functions, defining_op, modules, runs_every_call, symbol_name, users
from hotdesk.models.memref import view_source
from hotdesk.models.new_memory import ALLOC
from hotdesk.passes.base import Pass
from hotdesk.passes.buffers.branch_edges import split_edge
from hotdesk.passes.buffers.earlier_frees import drop_free, drop_unused_frees, is_dropped
from hotdesk.passes.buffers.ownership_flags import OwnershipFlags
from hotdesk.passes.buffers.ownership_paths import close_branch
from hotdesk.passes.buffers.returned_copies import ReturnedCopy
from hotdesk.passes.buffers.settle_ownership import settle
from hotdesk.passes.collecting import collection_put_off
from hotdesk.passes.properties import ALL_FREED, FREED_ONCE, Property
from hotdesk.program.calls import bottom_up
from hotdesk.program.symbolic import SymbolicSizes
from hotdesk.sizes.size import Size

_MODES, _PLACEMENTS = ("ownership", "copies"), ("last-use", "end-of-block")


@dataclass(frozen=True, slots=True)
class DeallocateAfterLastUse(Pass):
    """Inserts `memref.dealloc` at last uses (rules in the module docstring).

    Options:
        private_function_dynamic_ownership: private functions that others call do not copy a result that they do not own, but
            return a flag beside it. Recursive ones do copy.
        mode: `ownership`, or `copies`: what would need a flag gets memory of its own on all paths, as buffer deallocation did
            before there was ownership. Copies see no later writes to the original. A refusal names this mode where it does not
            refuse.
        placement: `last-use`, or `end-of-block`, for comparison: at the end of the block with the last use.
        reload_scalars: an op that uses a scalar counts as a use of the memory the scalar was loaded from, for code generators
            that compute scalars again where they are used.
    """

    name: ClassVar[str] = "hotdesk-buffer-deallocation"
    reasons: ClassVar[tuple[Reason, ...]] = (
        Reason.LIVE_RANGE_ENDED,
        Reason.FREED_IF_OWNED,
        Reason.RETURNED_INPUT,
        Reason.RETURNED_TWICE,
        Reason.RETURNED_FREED_OTHERWISE,
    )
    private_function_dynamic_ownership: bool = False
    mode: str = "ownership"
    placement: str = "last-use"
    reload_scalars: bool = False

    def ensures(self) -> tuple[Property, ...]:
        return (ALL_FREED, FREED_ONCE)

    def run(self, module: ir.Module) -> tuple[Decision, ...]:
        for option, value, known in (("mode", self.mode, _MODES), ("placement", self.placement, _PLACEMENTS)):
            if value not in known:
                raise OptionError(
                    f"option '{option}' of pass '{self.name}'", expected=" or ".join(known), got=repr(value)
                )
        given = module.operation.clone(ip=False) if self.mode == "ownership" else None
        with collection_put_off():
            try:
                return self._run_all(module)
            except BufferizationError as error:
                if given is None or not self._takes_copies(cast(ir.Module, given)):
                    raise
                raise _with_copies(error) from error

    def _run_all(self, module: ir.Module) -> tuple[Decision, ...]:
        return tuple(decision for each in modules(module) for decision in self._run(each))

    def _takes_copies(self, module: ir.Module) -> bool:
        """Whether copies do for what ownership does not; changes the module."""
        try:
            replace(self, mode="copies")._run_all(module)
        except BufferizationError:
            return False
        return True

    def _run(self, module: ir.Module) -> tuple[Decision, ...]:
        dynamic = self.private_function_dynamic_ownership
        functions = defined_functions(module)
        order = (
            [(each.function, each.owned) for each in bottom_up(module)] if dynamic else [(f, False) for f in functions]
        )
        flagged: dict[str, tuple[int, ...]] = {}
        decisions: dict[str, list[Decision]] = {}
        for function, lends in order:
            name = symbol_name(function)
            decisions[name], flagged[name] = _Deallocation(function, self, flagged, lends).run()
        return tuple(d for f in functions if runs_every_call(f) for d in decisions[symbol_name(f)])


def _with_copies(error: BufferizationError) -> BufferizationError:
    """The same refusal, with the option that would not refuse."""
    way = "`mode=copies` takes it: memory that is one of several is copied, and copies see no later writes to the original"
    hint = way if error.hint is None else f"{error.hint}; or {way}"
    return type(error)(error.what, expected=error.expected, got=error.got, where=error.where, hint=hint)


class _Deallocation:
    """The rewrite of one function. `flagged` are the results of callees that come with a flag, by name."""

    def __init__(
        self,
        function: ir.Operation,
        options: DeallocateAfterLastUse,
        flagged: Mapping[str, tuple[int, ...]],
        lends: bool,
    ) -> None:
        self._function, self._options, self._flagged, self._lends = function, options, flagged, lends
        self._static: dict[ir.Type, int] = {}  # bytes by type
        self._bytes: dict[int, Size] = {}  # of what is freed

    def run(self) -> tuple[list[Decision], tuple[int, ...]]:
        """What was decided, and the results that now come with a flag."""
        settled = settle(self._function, self._options, self._flagged, self._lends)
        program, ownership = settled.program, settled.ownership
        flags = OwnershipFlags(program, ownership, self._lends)
        sizes = SymbolicSizes(self._function)
        freed = [owner for owner, places in ownership.places.items() if places]
        self._bytes = {owner: self._bytes_of(program.buffers[owner].value, sizes) for owner in freed}
        freeing = [op for op in program.ops if is_dropped(program, op, ownership)]
        dropped = {op.number: flags.rewritten.op(op.number) for op in freeing}
        flags.run()
        unused = {
            o: None
            for o in ownership.places
            if program.buffers[o].kind is Kind.ALLOCATION and ownership.last_uses[o] < 0
        }
        drop_unused_frees(program, unused, dropped)
        decisions = [
            *self._insert(program, ownership, flags, unused),
            *map(self._copied, [*settled.copied, *flags.copied]),
        ]
        for op in dropped.values():
            drop_free(op)
        for branch in settled.opened:
            close_branch(branch)
        return decisions, flags.lent

    def _insert(
        self, program: BufferProgram, ownership: Ownership, flags: OwnershipFlags, unused: Collection[int]
    ) -> list[Decision]:
        """Puts in what frees. `unused` allocations go instead, once it stands: what shows them may tell a place."""
        decisions: list[Decision] = []
        placed: list[tuple[ReleasePoint, int]] = []
        for owner, places in ownership.places.items():
            if owner in unused:
                continue
            placed += ((place, owner) for place in places)
            if places:
                decisions.append(self._decision(program, ownership, flags, owner))
        points = _Points(program, flags, self._options.placement == "end-of-block")
        for place, owner in sorted(placed, key=lambda pair: -pair[1]):
            flags.free(owner, *points.of(place))
        for owner in unused:
            if not _erased_unused(program.buffers[owner].value):
                for place in ownership.places[owner]:
                    flags.free(owner, *points.of(place))
        return decisions

    def _decision(self, program: BufferProgram, ownership: Ownership, flags: OwnershipFlags, owner: int) -> Decision:
        """What is freed behind its last use, or where it is made if it has none; with a flag, if that tells at run time."""
        buffer, last = program.buffers[owner], ownership.last_uses[owner]
        last = max(last, buffer.producer) if last < 0 else last
        at = flags.rewritten.op(last if last >= 0 else program.blocks[buffer.block].last)
        subject = "allocation" if buffer.kind is Kind.ALLOCATION else "buffer"
        reason = Reason.FREED_IF_OWNED if owner in flags.rewritten.flags else Reason.LIVE_RANGE_ENDED
        source = source_in_model(at)
        return Decision(subject, Outcome.FREED, reason, (source,), self._bytes[owner])

    def _bytes_of(self, value: ir.Value, sizes: SymbolicSizes) -> Size:
        """The bytes that a memref shows; 0 for one without a rank."""
        kind = value.type
        size = self._static.get(kind)
        if size is not None:
            return size
        if not isinstance(kind, ir.MemRefType):
            return 0
        found = bytes_of(value, sizes)
        if isinstance(found, int) and None not in shape_of(kind):
            self._static[kind] = found
        return found

    def _copied(self, copied: ReturnedCopy) -> Decision:
        return Decision("result", Outcome.COPIED, copied.reason, (Source("func.return", copied.location),), copied.size)


class _Points:
    """Places as points of the IR."""

    def __init__(self, program: BufferProgram, flags: OwnershipFlags, at_end: bool) -> None:
        self._program, self._flags, self._at_end = program, flags, at_end
        self._branches: dict[int, ir.Operation] = {}
        self._between: dict[tuple[int, int], ir.Operation] = {}

    def of(self, place: ReleasePoint) -> tuple[ir.InsertionPoint, ir.Location]:
        if place.successor >= 0:
            forward = self._way(place.block, place.successor)
            return ir.InsertionPoint.at_block_begin(forward.block), forward.location
        block = place.block if place.after < 0 else self._program.ops[place.after].block
        if self._at_end:
            end = self._end(block)
            return ir.InsertionPoint(end), end.location
        if place.after >= 0:
            op = self._flags.rewritten.op(place.after)
            return ir.InsertionPoint.after(op), op.location
        end = self._end(block)
        return ir.InsertionPoint.at_block_begin(end.block), end.location

    def _end(self, block: int) -> ir.Operation:
        return self._branches.get(block) or self._flags.rewritten.op(self._program.blocks[block].last)

    def _way(self, block: int, successor: int) -> ir.Operation:
        if (block, successor) not in self._between:
            self._branches[block], forward = split_edge(self._end(block), successor)
            self._between[block, successor] = forward
        return self._between[block, successor]


def _erased_unused(value: ir.Value) -> bool:
    """Erases an allocation and its views if nothing else uses them; questions about its sizes are answered."""
    for user in users(value):
        if view_source(user.name, 0) == 0 and len(user.results) == 1:
            _erased_unused(user.results[0])
        elif user.name == "memref.dim":
            _replace_dim(user)
    op = defining_op(value)
    if op is None or next(iter(value.uses), None) is not None:
        return False
    op.erase()
    return True


def _replace_dim(op: ir.Operation) -> None:
    """Replaces a size of an allocation by the operand that gave it; a dimension that it has not, nobody gave."""
    position, alloc = constant_of(op.operands[1]), defining_op(op.operands[0])
    if position is None or alloc is None or alloc.name != ALLOC:
        return
    sizes = shape_of(alloc.results[0].type)
    if not 0 <= position < len(sizes):
        return
    known = sizes[int(position)]
    size = alloc.operands[sizes[: int(position)].count(None)] if known is None else index_constant(known, op)
    op.results[0].replace_all_uses_with(size)
    op.erase()
