"""Sums of elements that products and scattered rows are added up into, so that these have no memory of their own.

    %p = contract(%a, %b, empty) {accumulate = false}
    %r = generic(%x, %p) { 0.9 * x + p }                  0.9 * %x, to which the product is added where it lies

1. The sum is a pure `linalg.generic` on tensors with one result, all of whose loops are parallel. It does not read what it writes
   over.
2. Its payload yields terms added up, floats of 32 or 64 bits or integers of more than one. One of them is an element of an
   operand as it is, read once, at the place where the result is written.
3. That operand has the type of the sum, is made in the same block, and the sum alone reads it. It is a `hotdesk.contract` or a
   `hotdesk.conv` that does not read its destination, or a `tm_tensor.scatter` that adds to zeros: an accumulator.
4. What the other terms are made of stands in front of it; so does what the sum writes over, where its sizes are read from that.
   Several accumulators add up into one another, in their order; one that stands before what other terms are made of is such a
   term itself.
5. Nothing from the first of them to the sum works on memory or is unknown (`analysis.order.schedules`).
6. It saves memory: there are no other terms, or they can be computed where one of their operands lies, which dies at the sum; or
   there are several accumulators.

Terms are added up in another order, as a product's own are anyway. In floats of 16 bits, what is small beside the sum so far
would be lost, so these are left alone.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass

from hotdesk._bindings import ir
from hotdesk.analysis.order.straight_line import StraightLine
from hotdesk.elements import HALVES
from hotdesk.ir.types import element_of, shape_of
from hotdesk.ir.walking import captured_operands, flag_of
from hotdesk.models.generics import GENERIC, Generic, read_generic
from hotdesk.models.hotdesk import CONTRACT, CONV
from hotdesk.models.linalg import fill_value
from hotdesk.models.purity import is_pure

_ADDITIONS = ("arith.addf", "arith.addi")
_LEFT_ALONE = (*HALVES, "i1")
_PRODUCTS = (CONTRACT, CONV)


@dataclass(frozen=True, slots=True)
class Accumulation:
    """A sum, and the operations that are to add up into one another and to the rest of it.

    Attributes:
        total: the sum.
        accumulators: its operands that they make, by number, in the order in which they are made.
        base: the operand that is the rest of the sum, by number; `COMPUTED` if the rest has to be computed, `NOTHING` if there is
            none: then the first accumulator keeps its destination.
        bytes: of the results that need no memory any more.
    """

    total: ir.Operation
    accumulators: tuple[int, ...]
    base: int
    bytes: int


COMPUTED, NOTHING = -1, -2


def find_accumulations(line: StraightLine, least_bytes: int) -> Iterator[Accumulation]:
    """The sums whose results have at least so many bytes, in the order of the text."""
    for number, op in enumerate(line.ops):
        if op.name == GENERIC and len(op.results) == 1 and line.bytes(op.results[0]) >= least_bytes:
            found = _accumulation(line, number)
            if found is not None:
                yield found


def additions(total: ir.Operation) -> list[ir.Operation]:
    """The operations of a payload that add up terms to what it yields, in order."""
    *body, end = (op.operation for op in total.regions[0].blocks[0].operations)
    wanted, found = set(end.operands), list[ir.Operation]()
    for op in reversed(body):
        if op.name in _ADDITIONS and op.results[0] in wanted and is_used_once(op.results[0]):
            found.append(op)
            wanted.update(op.operands)
    return found[::-1]


def _accumulation(line: StraightLine, number: int) -> Accumulation | None:
    total = read_generic(line.ops[number])
    if total is None or not is_elementwise_sum(total):
        return None
    terms = _terms(total.op)
    places = {i: line.makers[total.op.operands[i]] for i in _elements(total, terms) if is_accumulator(line, total, i)}
    rest = _made_at(line, total, leaving_out=places)
    accumulators = tuple(sorted((i for i in places if places[i] > rest), key=places.__getitem__))
    if not accumulators or line.is_fenced(places[accumulators[0]], number):
        return None
    base = _base(total, terms, accumulators)
    less = len(accumulators) - (0 if base != NOTHING and _has_room(line, total, number, accumulators) else 1)
    return Accumulation(total.op, accumulators, base, less * line.bytes(total.op.results[0])) if less else None


def is_elementwise_sum(total: Generic) -> bool:
    """Whether an operation is a sum by rule 1."""
    (output,) = total.outputs
    parallel = all(total.parallel) and total.is_permutation(output) and not total.reads(output)
    return parallel and element_of(total.op.results[0].type) not in _LEFT_ALONE and is_pure(total.op)


def _terms(total: ir.Operation) -> list[ir.Value]:
    """What a payload adds up."""
    *_, end = total.regions[0].blocks[0].operations
    added = additions(total)
    sums = {op.results[0] for op in added}
    return [value for op in (*added, end.operation) for value in op.operands if value not in sums]


def _elements(total: Generic, terms: list[ir.Value]) -> list[int]:
    """The operands that are terms as they are, where the result is written (rule 2)."""
    (output,) = total.outputs
    arguments = list(total.op.regions[0].blocks[0].arguments)
    return [
        i
        for i in range(total.inputs)
        if arguments[i] in terms and is_used_once(arguments[i]) and total.maps[i] == total.maps[output]
        and total.op.operands[i].type == total.op.results[0].type
    ]  # fmt: skip


def is_accumulator(line: StraightLine, total: Generic, operand: int) -> bool:
    """Whether an operand of a sum is an accumulator (rule 3)."""
    value = total.op.operands[operand]
    maker = line.makers.get(value)
    if maker is None or not is_used_once(value):
        return False
    op = line.ops[maker]
    if op.name in _PRODUCTS:
        return not flag_of(op, "accumulate")
    return op.name == "tm_tensor.scatter" and _adds(op) and fill_value(op.operands[len(op.operands) - 1]) == 0


def _adds(scatter: ir.Operation) -> bool:
    block = scatter.regions[0].blocks[0]
    body = [op.operation for op in block.operations]
    return body[0].name in _ADDITIONS and list(body[1].operands) == list(body[0].results) and (
        set(body[0].operands) == set(block.arguments)
    )  # fmt: skip


def _made_at(line: StraightLine, total: Generic, leaving_out: Collection[int]) -> int:
    """The last operation of the block that makes something for the other terms, or their sizes; -1 if all of it is there."""
    used = [value for i, value in enumerate(total.op.operands[: total.inputs]) if i not in leaving_out]
    if None in shape_of(total.op.results[0].type):
        used.append(total.op.operands[total.inputs])
    used += [value for _, _, value in captured_operands(total.op)]
    return max((line.makers[value] for value in used if value in line.makers), default=-1)


def _base(total: Generic, terms: list[ir.Value], accumulators: tuple[int, ...]) -> int:
    arguments = list(total.op.regions[0].blocks[0].arguments)
    rest = [term for term in terms if term not in [arguments[i] for i in accumulators]]
    if not rest:
        return NOTHING
    return next((i for i in _elements(total, terms) if [arguments[i]] == rest), COMPUTED)


def _has_room(line: StraightLine, total: Generic, number: int, accumulators: tuple[int, ...]) -> bool:
    """Whether the rest can lie where one of its operands does, which dies at the sum (rule 6)."""
    (output,) = total.outputs
    alike = [
        value
        for i, value in enumerate(total.op.operands[: total.inputs])
        if i not in accumulators and value.type == total.op.results[0].type and total.maps[i] == total.maps[output]
    ]
    owned = [value for value in alike if value in line.overwritten or value in line.makers]
    whole = [value for value in owned if not line.root(value)[1]]
    return any(all(read.reader <= number for read in line.reads(value)) for value in whole)


def is_used_once(value: ir.Value) -> bool:
    """Whether one operand of one operation reads a value."""
    return len(list(value.uses)) == 1
