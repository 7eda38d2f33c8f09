"""Which `tensor.empty` may be the place where its contents are inserted in the end.

An *insertion* puts a value into a destination: `tensor.insert_slice`, `tensor.parallel_insert_slice` and
`bufferization.materialize_in_destination`. Its *chain* leads from the inserted value back through destinations and casts to a
`tensor.empty`: `empty → fill → matmul → insert`. The chain may write where the value ends, iff:

1. each link but the last is read by the next link alone, and nobody reads the last one after the insertion (`multiple-readers`,
   `read-later`);
2. all of it stands in one block (`different-block`);
3. the destination, offsets and sizes are known in front of the chain, or the chain can move down to the insertion, because
   nothing else reads it (`destination-later`);
4. nothing but the insertion reads the destination after the chain began, or no elements that are inserted, by static numbers; a
   link that reads it reads the very elements that it is about to write, and no link makes it (`read-by-same-op`, `read-later`);
5. a destination in memory is promised to be free to write (`restrict writable`), and nothing else in the function touches it
   (`destination-shared`);
6. the function's peak does not rise, by the estimate of `analysis.insertion.raised_peak` (`destination-raises-peak`).

An empty tensor holds nothing, so values never change; the rules keep memory from growing. Chains without an empty tensor at
their end are no subject of this analysis.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, cast

from hotdesk._bindings import ir
from hotdesk.analysis.insertion.chain import Chain
from hotdesk.analysis.insertion.raised_peak import RaisedPeak
from hotdesk.explain import Decision, Outcome, Reason
from hotdesk.ir.locations import source_of
from hotdesk.ir.op_maps import OpSet
from hotdesk.ir.types import DYNAMIC, SLICE, is_memref
from hotdesk.ir.walking import defining_op, dialect_of, int_array, is_function, made_by, users
from hotdesk.models.bufferization import MATERIALIZE
from hotdesk.models.dialects import DESTINATION_DIALECTS
from hotdesk.models.memref import asks_for_size
from hotdesk.models.new_memory import new_memory
from hotdesk.models.registry import model_of
from hotdesk.models.tensor import CAST, EMPTY
from hotdesk.models.tensor_slices import EXTRACT_SLICE, INSERT_SLICE

INSERTIONS = (INSERT_SLICE, "tensor.parallel_insert_slice", MATERIALIZE)


def find_chain(insertion: ir.Operation, held: RaisedPeak) -> Chain | Decision | None:
    """The chain of an insertion, or why it has to keep memory of its own; None if it ends in no `tensor.empty`.

    `held` is the estimate for the function that the insertion is in.
    """
    links: list[ir.Operation] = []
    value, operand = insertion.operands[0], -1
    while (op := defining_op(value)) is not None and op.name != EMPTY:
        followed = _followed(op, value)
        if followed is None:
            return None
        links.insert(0, op)
        value, operand = op.operands[followed], followed
    if op is None or not links:
        return None
    anchor = insertion
    if insertion.name == "tensor.parallel_insert_slice":
        anchor = cast(Any, insertion.parent).operation
    if any(link.block != anchor.block for link in links):
        return _refused(insertion, Reason.DIFFERENT_BLOCK, links[-1])
    others = _other_readers(links, insertion)
    late = next((user for user in others if not _is_before(user, anchor)), None)
    if late is not None:
        return _refused(insertion, Reason.READ_LATER, late)
    inner = _other_readers(links[:-1], links[-1], *links)
    if inner:
        return _refused(insertion, Reason.MULTIPLE_READERS, inner[0])
    destination = insertion.operands[1]
    made = {result for link in links for result in link.results}
    if any(value in made for value in list(insertion.operands)[1:]):
        return _refused(insertion, Reason.READ_BY_SAME_OP, insertion)
    moves = not all(_is_known(v, links[0]) for v in list(insertion.operands)[1:])
    if moves and others:
        return _refused(insertion, Reason.DESTINATION_LATER, defining_op(destination) or insertion)
    if is_memref(destination.type):
        touching = _touching(insertion)
        if touching is not None:
            return _refused(insertion, Reason.DESTINATION_SHARED, touching)
    else:
        conflict = _destination_read(insertion, links, anchor if moves else links[0])
        if conflict is not None:
            return _refused(insertion, *conflict)
    chain = Chain(insertion, tuple(links), operand, moves)
    return _refused(insertion, Reason.DESTINATION_RAISES_PEAK, links[-1]) if held.raised_by(chain) else chain


def same_slice(a: ir.Operation, b: ir.Operation) -> bool:
    """Whether a `tensor.extract_slice` and a `tensor.insert_slice` are of the same elements, by the same values."""
    if a.name != EXTRACT_SLICE or any(name not in b.attributes for name in SLICE):
        return False
    return (
        all(a.attributes[name] == b.attributes[name] for name in SLICE) and list(a.operands)[1:] == list(b.operands)[2:]
    )


def _followed(op: ir.Operation, value: ir.Value) -> int | None:
    """The operand in whose buffer a result is written."""
    if op.name == CAST:
        return 0 if isinstance(op.operands[0].type, ir.RankedTensorType) else None
    model = model_of(op.name)
    if model is None or dialect_of(op.name) not in DESTINATION_DIALECTS:
        return None
    result = list(op.results).index(cast(Any, value))
    return next((operand for operand, tied in model.facts(op).ties if tied == result), None)


def _other_readers(links: list[ir.Operation], *known: ir.Operation) -> list[ir.Operation]:
    """Who uses results of links, besides the next link and the ops that are known."""
    allowed = OpSet((*links, *known))
    found = [user for link in links for result in link.results for user in users(result)]
    return [user for user in OpSet(found) if user not in allowed]


def _is_before(op: ir.Operation, anchor: ir.Operation) -> bool:
    """Whether an op comes before another one of the same block, or of a block around it."""
    while op.block != anchor.block:
        parent = cast(Any, op.parent)
        if parent is None or is_function(parent.operation):
            return False
        op = parent.operation
    return op != anchor and op.is_before_in_block(anchor)


def _is_known(value: ir.Value, op: ir.Operation) -> bool:
    """Whether a value that is known at the insertion is known in front of `op` too, which is in the insertion's block."""
    owner = defining_op(value)
    return owner is None or owner.block != op.block or owner.is_before_in_block(op)


def _touching(insertion: ir.Operation) -> ir.Operation | None:
    """What forbids to write a destination in memory early: the insertion itself without its promises, or another user."""
    if not ("restrict" in insertion.attributes and "writable" in insertion.attributes):
        return insertion
    memref = insertion.operands[1]
    owner = defining_op(memref)
    if owner is not None and new_memory(owner) is None:
        return owner
    return next((user for user in users(memref) if user != insertion and not asks_for_size(user.name)), None)


def _destination_read(
    insertion: ir.Operation, links: list[ir.Operation], start: ir.Operation
) -> tuple[Reason, ir.Operation] | None:
    """Who reads the destination after `start`, the first op that will write into it, or while the links write."""
    destination = insertion.operands[1]
    if made_by(destination, EMPTY) is not None:
        return None
    for user, value in _readers(destination, insertion):
        if user in links:
            seen = defining_op(value)
            if seen is None or not same_slice(seen, insertion) or not _reads_elementwise(user, value):
                return Reason.READ_BY_SAME_OP, user
        elif user != insertion and not _is_before(user, start):
            return Reason.READ_LATER, user
    return None


def _readers(value: ir.Value, insertion: ir.Operation | None = None) -> Iterator[tuple[ir.Operation, ir.Value]]:
    """Every op that uses a tensor or a view of it for more than its sizes, with what it uses.

    Views of other elements than those that are inserted are left out.
    """
    for user in users(value):
        if insertion is not None and is_apart(user, insertion):
            continue
        model = model_of(user.name)
        views = model.facts(user).views if model is not None else ()
        if views:
            for operand, result in views:
                if user.operands[operand] == value:
                    yield from _readers(user.results[result])
        elif not asks_for_size(user.name):
            yield user, value


def is_apart(a: ir.Operation, b: ir.Operation) -> bool:
    """Whether a `tensor.extract_slice` and a `tensor.insert_slice` of one tensor are of other elements, by static numbers."""
    if a.name != EXTRACT_SLICE or b.name != INSERT_SLICE:
        return False
    offsets, sizes, steps = ([int_array(op.attributes[name]) for op in (a, b)] for name in SLICE)
    for starts, counts, strides in zip(
        zip(*offsets, strict=True), zip(*sizes, strict=True), zip(*steps, strict=True), strict=True
    ):
        if DYNAMIC in (*starts, *counts, *strides) or min(strides) < 1 or 0 in counts:
            continue
        (first, last), (other, end) = (
            (start, start + (count - 1) * stride) for start, count, stride in zip(starts, counts, strides, strict=True)
        )
        if last < other or end < first:
            return True
    return False


def _reads_elementwise(op: ir.Operation, value: ir.Value) -> bool:
    model = model_of(op.name)
    if model is None:
        return False
    elementwise = model.facts(op).elementwise
    return all(operand in elementwise for operand, v in enumerate(op.operands) if v == value)


def _refused(insertion: ir.Operation, reason: Reason, because: ir.Operation) -> Decision:
    source = source_of(because)
    return Decision(f"source of {insertion.name}", Outcome.ALLOCATED, reason, (source,))
