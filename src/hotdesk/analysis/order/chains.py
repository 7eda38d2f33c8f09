"""Values that are kept during one operation and can be made again behind it, by which operations, and what that costs.

1. A value is made before the operation, read behind it, and not by it; it is the one result of a pure operation.
2. To make it again, its operation is done again in front of its first late reader. Operands that are not kept until there are
   made again in front of that, by rule 2; at most `MOST_OPERATIONS` operations. Arguments are there, unless they are overwritten,
   and so are constants. Nothing in between works on memory or is unknown (`analysis.order.schedules`), and no view of the value
   that is read late needs an index made later.
3. An operand that is not kept, and smaller than a quarter of the value, is kept instead.
4. What a chosen value is made of again is kept: it is not chosen itself. A chosen value is not there for others, which make it
   again for themselves.
5. Where it shall cost little, only `elementwise` operations are done again: structured ones that make each element by itself,
   from single elements of their operands. Every loop of theirs is parallel, and runs over a dimension of the result.

The cost of an operation is the number of elements that it reads and writes, and one for every `_PER_ELEMENT` multiplications and
additions of a product. Values are chosen by the bytes that one unit of cost saves, the best first, as long as the cost is
allowed: a greedy form, for one place of the schedule, of what Jain et al. 2020 choose for all of them.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from math import prod

from hotdesk._bindings import ir
from hotdesk.analysis.order.axes import FOLLOWED_VIEWS
from hotdesk.analysis.order.schedules import ASSUMED
from hotdesk.analysis.order.straight_line import StraightLine, ValueRead
from hotdesk.ir.types import is_tensor, shape_of
from hotdesk.ir.walking import is_constant
from hotdesk.models.generics import is_linalg
from hotdesk.models.hotdesk import CONTRACT, CONV, letters_of
from hotdesk.models.purity import is_pure
from hotdesk.models.tensor import EMPTY, KEEPS_NOTHING

MOST_OPERATIONS = 24
_PER_ELEMENT = 16


@dataclass(frozen=True, slots=True)
class RecomputeChain:
    """Operations to do again, by number and in order, in front of operation number `before`, so that a value need not be kept.

    Attributes:
        number: of the operation that makes the value.
        operations: that one, what it is made of that is not there any more, and the views of it that are read.
        before: the first that reads the value late.
        reads: the late reads of it.
        bytes: that need not be kept for it.
        cost: in elements read or written.
    """

    number: int
    operations: tuple[int, ...]
    before: int
    reads: tuple[ValueRead, ...]
    bytes: int
    cost: int


def find_chains(
    line: StraightLine,
    across: int,
    *,
    least: int = 1,
    allowed: int | None = None,
    only: int | None = None,
    elementwise: bool = False,
) -> list[RecomputeChain]:
    """The values to make again behind operation number `across`, so that they need not be kept.

    Args:
        least: values that save fewer bytes are kept.
        allowed: the greatest sum of costs; None for any.
        only: the number of the one operation whose result is made again; None for any.
        elementwise: whether only elementwise operations are done again, by rule 5.
    """
    kept = _KeptAcross(line, across, elementwise)
    numbers = range(across) if only is None else range(only, min(only + 1, across))
    all_found = (kept.chain(number) for number in numbers)
    found = [chain for chain in all_found if chain is not None and chain.bytes >= least]
    found.sort(key=lambda chain: (-chain.bytes / max(1, chain.cost), chain.number))
    chosen: list[RecomputeChain] = []
    for first in found:
        chain = kept.chain(first.number)  # what was chosen since is not there any more
        if chain is None or chain.bytes < least:
            continue
        if allowed is not None and sum(each.cost for each in chosen) + chain.cost > allowed:
            continue
        kept.choose(chain)
        chosen.append(chain)
    return sorted(chosen, key=lambda chain: chain.before)


def cost(line: StraightLine) -> int:
    """What all operations take."""
    return sum(cost_of(line, number) for number in range(len(line.ops)))


@dataclass(slots=True)
class _KeptAcross:
    """What is kept across one operation, and what is not to be any more."""

    line: StraightLine
    across: int
    elementwise: bool
    gone: set[ir.Value] = field(default_factory=set["ir.Value"])
    needed: set[ir.Value] = field(default_factory=set["ir.Value"])

    def chain(self, number: int) -> RecomputeChain | None:
        """How what an operation makes can be made again; None if it is not kept, or cannot be (rules 1 and 2)."""
        if not self._may_be_repeated(number):
            return None
        value = self.line.ops[number].results[0]
        if value in self.needed or value in self.gone:
            return None
        reads = self.line.reads(value)
        late = tuple(read for read in reads if read.reader > self.across)
        if not late or any(read.reader == self.across for read in reads):
            return None
        before = min(read.reader for read in late)
        if before == len(self.line.ops) - 1:
            return None
        views = views_read(self.line, value, late, before)
        if views is None:
            return None
        size = self.line.bytes(value)
        operations: set[int] = {number}
        kept = self._made_again(number, before, size, operations)
        if kept is None or kept >= size:
            return None
        if any(self.line.is_fenced(each, before) for each in operations if self.line.ops[each].name != EMPTY):
            return None
        order = tuple(sorted({*operations, *views}))
        return RecomputeChain(number, order, before, late, size - kept, sum(cost_of(self.line, each) for each in order))

    def _made_again(self, number: int, before: int, size: int, operations: set[int]) -> int | None:
        """Adds what an operation needs again; returns the bytes of what is kept for it, None if it takes too many operations."""
        kept = 0
        for operand in self.line.read_by(number):
            root, path = self.line.root(operand)
            operations.update(path)
            maker = self.line.makers.get(root)
            if maker is None:
                if root in self.line.overwritten and self.line.last_read(root) < before:
                    return None
                continue
            if is_constant(self.line.ops[maker]):
                continue
            if self.line.ops[maker].name == EMPTY:
                operations.add(maker)
                continue
            if maker in operations or (root not in self.gone and self.line.last_read(root) >= before):
                continue
            if root not in self.gone and self.line.bytes(root) * 4 <= size:
                kept += self.line.bytes(root)
                continue
            if len(operations) >= MOST_OPERATIONS or not self._may_be_repeated(maker):
                return None
            operations.add(maker)
            more = self._made_again(maker, before, size, operations)
            if more is None:
                return None
            kept += more
        return kept

    def _may_be_repeated(self, number: int) -> bool:
        op = self.line.ops[number]
        if not is_repeatable(op):
            return False
        loops = self.line.loops(number) if self.elementwise and is_linalg(op) else None
        return not self.elementwise or (loops is not None and loops.is_elementwise)

    def choose(self, chain: RecomputeChain) -> None:
        """Rule 4."""
        self.gone.add(self.line.ops[chain.number].results[0])
        made = {result for number in chain.operations for result in self.line.ops[number].results}
        for number in chain.operations:
            for operand in self.line.read_by(number):
                root, _ = self.line.root(operand)
                if root not in made:
                    self.needed.add(root)


def views_read(line: StraightLine, value: ir.Value, reads: Iterable[ValueRead], before: int) -> list[int] | None:
    """The operations that make the views of a value which are read, by number and in order.

    None if one cannot be done in front of operation number `before`, since what it needs, such as an offset, is not there.
    """
    found: set[int] = set()
    for read in reads:
        view = read.value
        while view != value:
            maker = line.makers[view]
            view, *others = line.ops[maker].operands
            if any(line.makers.get(each, -1) >= before for each in others):
                return None
            found.add(maker)
    return sorted(found)


def is_repeatable(op: ir.Operation) -> bool:
    """Whether it is a pure operation with one result, a tensor that has contents, and has no loops or branches."""
    return op.name not in FOLLOWED_VIEWS and op.name not in KEEPS_NOTHING and len(op.results) == 1 and (
        is_tensor(op.results[0].type) and is_pure(op) and not op.name.startswith("scf.")
    )  # fmt: skip


def cost_of(line: StraightLine, number: int) -> int:
    """The cost of an operation, as the module docstring has it."""
    op = line.ops[number]
    tensors = [value for value in (*op.operands, *op.results) if is_tensor(value.type)]
    if op.name in FOLLOWED_VIEWS or not op.results or not tensors or op.name == EMPTY:
        return 0
    moved = sum(_elements(value) for value in tensors)
    return moved + 2 * _products(op) // _PER_ELEMENT


def _products(op: ir.Operation) -> int:
    """Multiplications of a contraction or a convolution; 0 of others, whose elements take longer."""
    if op.name == CONTRACT:
        sizes = {
            letter: size
            for names, operand in zip(letters_of(op)[:-1], op.operands, strict=False)
            for letter, size in zip(names, _sizes(operand), strict=True)
        }
        return prod(sizes.values())
    if op.name == CONV:
        return _elements(op.results[0]) * prod(_sizes(op.operands[1])[1:])
    return 0


def _sizes(value: ir.Value) -> list[int]:
    return [ASSUMED if size is None else size for size in shape_of(value.type)]


def _elements(value: ir.Value) -> int:
    return prod(_sizes(value))
