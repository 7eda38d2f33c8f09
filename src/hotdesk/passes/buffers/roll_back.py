"""What checks may find half written is kept, and put back by a call that fails: it leaves state and arguments as they were.

    memref.store %one, %calls[]                    %kept = memref.alloc()
    call of a function that may fail       ->      linalg.generic ins(%calls) outs(%kept) {hotdesk.kept}    // copies
                                                   memref.store %one, %calls[]
                                                   call of a function that may fail
                                                   memref.dealloc %kept

State, and an argument that the program writes, is kept (`kept-for-checks`) iff

1. the program may write it, and may fail later or in the same op of the entry block: by a `cf.assert` that does not compare
   sizes of arguments alone, a `hotdesk.foreign`, a call of a function that calls itself, or an allocation of a size that nothing
   limits,
2. and the function does not say `hotdesk.roll_back = false`, as `hotdesk.Options(roll_back=False)` has it.

Programs on memrefs are not rolled back by the compiler: these take the memory that they name.
`hotdesk-move-checks-first` runs before, so that little is left to keep. All is kept in front of the first write of any, until the
last op that may fail. Lowering has the way out behind a failed check copy it back (`passes.lower.flow_checks`,
`passes.lower.entry`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, cast

from hotdesk._bindings import ir
from hotdesk.analysis.memrefs.buffers import is_straight
from hotdesk.analysis.memrefs.entry_writes import EntryWrites, changed_arguments
from hotdesk.explain import Decision, Outcome, Reason, Source
from hotdesk.ir.building import create, dim, elementwise_copy
from hotdesk.ir.functions import called_name
from hotdesk.ir.locations import source_of
from hotdesk.ir.types import element_bytes, element_of, shape_of
from hotdesk.ir.walking import nested_ops
from hotdesk.models.cf import ASSERT
from hotdesk.models.hotdesk import FOREIGN, KEPT, ROLL_BACK
from hotdesk.models.new_memory import ALLOC, DEALLOC
from hotdesk.passes.base import FunctionPass
from hotdesk.program.symbolic import SymbolicSizes
from hotdesk.sizes.expressions import product
from hotdesk.sizes.proofs import known_limit
from hotdesk.sizes.size import is_opaque


@dataclass(frozen=True, slots=True)
class RollBackWrites(FunctionPass):
    """Keeps what state and arguments hold where a check may end the call behind a write (rules in the module docstring)."""

    name: ClassVar[str] = "hotdesk-roll-back-writes"
    reasons: ClassVar[tuple[Reason, ...]] = (Reason.KEPT_FOR_CHECKS,)

    def run_on(self, function: ir.Operation) -> list[Decision]:
        arguments = changed_arguments(function)
        if not arguments or _is_not_put_back(function):
            return []
        sizes, writes = SymbolicSizes(function), EntryWrites(function)
        last = _last_failing(function, writes.ops, sizes)
        firsts = ((each, writes.first_of(each)) for each in arguments)
        kept = [(each, first) for each, first in firsts if first is not None and first <= last]
        if not kept:
            return []
        before, failing = writes.ops[min(first for _, first in kept)], writes.ops[last]
        behind = writes.ops[last + 1] if last + 1 < len(writes.ops) else None
        because = (source_of(before), source_of(failing))
        return [_keep(each, before, behind, because, sizes) for each, _ in kept]


def _is_not_put_back(function: ir.Operation) -> bool:
    return ROLL_BACK in function.attributes and function.attributes[ROLL_BACK] == ir.BoolAttr.get(False)


def _last_failing(function: ir.Operation, ops: Sequence[ir.Operation], sizes: SymbolicSizes) -> int:
    """The place of the last op in the entry block that may end the call, its end if another block may; -1 if nothing does.

    In a straight function all checks beside kernels are of sizes, and are made before it runs.
    """
    straight = is_straight(function, sizes)
    others = (view.operation for block in list(function.regions[0].blocks)[1:] for view in block.operations)
    if any(_fails(each, sizes) for op in others for each in (op, *nested_ops(op))):
        return len(ops) - 1
    for place in reversed(range(len(ops))):
        inside = any(_fails(each, sizes) for each in nested_ops(ops[place]))
        if inside or (_fails(ops[place], sizes) and not (straight and ops[place].name == ASSERT)):
            return place
    return -1


def _fails(op: ir.Operation, sizes: SymbolicSizes) -> bool:
    """Whether an op may end the call, its regions aside."""
    if op.name == ALLOC:
        shape = sizes.shape(op.results[0])
        return any(is_opaque(size) and known_limit(size) is None for size in shape)
    return op.name in (ASSERT, FOREIGN) or called_name(op) is not None


def _keep(
    argument: ir.Value,
    before: ir.Operation,
    behind: ir.Operation | None,
    because: tuple[Source, Source],
    sizes: SymbolicSizes,
) -> Decision:
    """Copies an argument in front of an op, into memory that is freed in front of another one, or when the call ends."""
    kind = ir.MemRefType.get(cast(Any, argument.type).shape, cast(Any, argument.type).element_type)
    open_sizes = [dim(argument, i, before) for i, size in enumerate(shape_of(kind)) if size is None]
    segments: dict[str, ir.Attribute] = {"operandSegmentSizes": ir.DenseI32ArrayAttr.get([len(open_sizes), 0])}
    kept = create(ALLOC, open_sizes, [kind], segments, before=before).results[0]
    elementwise_copy(argument, kept, before).attributes[KEPT] = ir.UnitAttr.get()
    if behind is not None:
        create(DEALLOC, [kept], [], before=behind)
    size = product([*sizes.shape(argument), element_bytes(element_of(kind))])
    subject = f"argument {cast(Any, argument).arg_number}"
    return Decision(subject, Outcome.COPIED, Reason.KEPT_FOR_CHECKS, because, size)
