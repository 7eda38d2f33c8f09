"""Attention: softmax(scores) v, block by block, where no more than a block of scores is ever in memory.

    for each batch and each block of queries, which are tasks shared among threads (`kernels.parts`):
      for each block of keys:
        s = q kᵀ; s = what the op does to scores; m' = max(m, rows of s); p = exp(s - m'); l = l exp(m - m') + rows of p
        out = out exp(m - m') + p v
      out = out / l

After Milakov and Gimelshein, *Online normalizer calculation for softmax*, 2018, and Dao et al., *FlashAttention*, 2022. Products
are those of `kernels.shared`; the block of scores is scratch memory (`kernels.scratch`). Values that are 16-bit floats become f32
a block at a time, and the rows of such a result are summed in f32, in scratch memory too. A query none of whose keys counts
(m = -∞) gives zeros or NaN, as the op says. Each block of queries is computed in the same way whichever thread does it.

Which keys can count for a query is read from the op's region: where an `arith.cmpi` of the two numbers, or an `arith.andi` of
several such, chooses -∞.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import reduce
from math import inf

from hotdesk._bindings import ir
from hotdesk.elements import summed_in
from hotdesk.ir.arithmetic import CASTS
from hotdesk.ir.dialect import ZeroRows
from hotdesk.ir.walking import constant_of, constant_op, defining_op, integer_of, is_constant, made_by
from hotdesk.kernels.machine import Machine
from hotdesk.kernels.micro import Tile
from hotdesk.kernels.parts import with_parts
from hotdesk.kernels.scratch import GIVE_SCORES, TAKE_SCORES
from hotdesk.kernels.text import KernelBuilder, KernelText, Operand, View
from hotdesk.kernels.values import Index
from hotdesk.kernels.vectors import VectorBuilder
from hotdesk.models.control_flow import CHOICE
from hotdesk.passes.lower.products import MatrixOperand, ProductSizes, write_product

QUERY, KEY, SUMMED, COLUMN, UNIT = "m", "n", "d", "e", "1"
"""Letters of an equation of attention; all others are those of the batch."""

# Keys and values are packed anew for each block of queries; its scores are to stay in the second cache.
_MOST_QUERIES, _MOST_KEYS = 192, 384
_GRAIN = 1 << 22  # multiplications that are worth a thread
_FEW_QUERIES, _FEW_KEYS = 24, 2  # of a block on the stack: queries, and vectors of the scores of each
_FINER = 4  # ranges for each thread: they take unequal time where keys do not count
_UNROLLED = 4
_MINUS_INFINITY, _NOT_A_NUMBER = "0xFF800000", "0x7FC00000"

# e^x for x ≤ 0, as in `kernels.elementary`, but with 0 for what is less than the smallest normal number.
_LEAST = -87.33654
_LOG2_E, _LN2_HIGH, _LN2_LOW, _ROUNDER = 1.4426950408889634, 0.693145751953125, 1.4286068203094172e-06, 12582912.0
_POLYNOMIAL = (0.5000000078136531, 0.16666666856144904, 0.04166626927324281, 0.008333265339695814, 0.0013946116998904828,
               0.00019917873656305032)  # fmt: skip


@dataclass(frozen=True, slots=True)
class ScoreOp:
    """An operation on a score: its name and attributes, the numbers of the values that it takes, their types and its result's."""

    name: str
    attributes: str
    operands: tuple[int, ...]
    kinds: tuple[str, ...]
    result: str


@dataclass(frozen=True, slots=True)
class Scoring:
    """What is done to a score. Values are numbered: the score, the extras, the query, the key, the constants, results of the ops.

    Attributes:
        constants: their literals and types.
        ops: in order.
        result: the number of what becomes of the score.
        reach: the last key that can count for a query is its own number plus this; None where every key can.
    """

    constants: tuple[tuple[str, str], ...]
    ops: tuple[ScoreOp, ...]
    result: int
    reach: int | None = None


@dataclass(frozen=True, slots=True)
class AttentionSpec:
    """Views and letters of queries, keys, values, extras and the result; `noalias` as in `KernelBuilder`."""

    views: tuple[View, ...]
    letters: tuple[str, ...]
    scoring: Scoring
    zero_rows: ZeroRows
    noalias: tuple[bool, ...]

    def __post_init__(self) -> None:
        element, columns = self.views[0].element, self.views[-1].sizes[self.letters[-1].index(COLUMN)]
        if summed_in(element) != "f32" or any(view.element != element for view in self.views[1:3]):
            got = ", ".join(view.element for view in self.views[:3])
            raise ValueError(f"attention: expected queries, keys and values of f32, or all of f16 or bf16, got {got}")
        if self.views[-1].element not in (element, "f32"):
            raise ValueError(f"attention: expected a result of {element} or f32, got {self.views[-1].element}")
        if self.is_narrow and columns is None:
            raise ValueError(f"attention: expected values of {element} with rows of a known length")

    @property
    def is_narrow(self) -> bool:
        """Whether queries, keys and values are 16-bit floats."""
        return self.views[0].element != "f32"

    @property
    def in_memory(self) -> tuple[View, ...]:
        """The views as memory has them: a truth is a byte."""
        return tuple(View("i8", v.sizes, v.strides) if v.element == "i1" else v for v in self.views)

    @property
    def batch(self) -> tuple[str, ...]:
        return tuple(c for c in self.letters[-1] if c not in (QUERY, COLUMN))


def attention(spec: AttentionSpec, machine: Machine) -> KernelText:
    """The kernel of `spec`; operands in the order of its views."""
    head = KernelBuilder(spec.in_memory, spec.noalias)
    sizes = _sizes(spec, head.operands)
    blocks = _blocks(head, sizes[QUERY], machine)
    tasks = reduce(head.mul, (sizes[c] for c in spec.batch), blocks[1])
    products = head.mul(head.mul(sizes[QUERY], sizes[KEY]), head.add(sizes[SUMMED], sizes[COLUMN]))
    work = reduce(head.mul, (sizes[c] for c in spec.batch), products)
    head.share(tasks, head.floordiv(work, _GRAIN), _FINER)
    return with_parts(head.finish(), _Part(spec, machine).finish())


def _sizes(spec: AttentionSpec, operands: Sequence[Operand]) -> dict[str, Index]:
    """The size of each letter, a number where one operand knows it."""
    found: dict[str, Index] = {}
    for operand, letters in zip(operands, spec.letters, strict=True):
        for letter, size in zip(letters, operand.sizes, strict=True):
            if letter != UNIT and not isinstance(found.get(letter), int):
                found[letter] = size
    return found


def _blocks(k: KernelBuilder, queries: Index, machine: Machine) -> tuple[int, Index]:
    """How many queries a block has, and how many blocks there are: of much the same length, whole tiles."""
    length = _even(queries, _MOST_QUERIES, Tile.of(machine).rows)
    return length, k.ceildiv(queries, length)


def _even(size: Index, most: int, multiple: int) -> int:
    """The length of blocks of a size: about `most` at most, a multiple of a number, all blocks of much the same length."""
    most = max(multiple, most // multiple * multiple)
    if isinstance(size, str):
        return most
    each = -(-size // max(1, -(-size // most)))
    return max(multiple, -(-each // multiple) * multiple)


class _Part(VectorBuilder):
    """The function of a range of blocks of queries."""

    def __init__(self, spec: AttentionSpec, machine: Machine) -> None:
        KernelBuilder.__init__(self, spec.in_memory, spec.noalias)
        self.machine, self.element = machine, "f32"
        self.lanes = machine.lanes("f32")
        self.vector = f"vector<{self.lanes}xf32>"
        self._spec = spec
        self._size = _sizes(spec, self.operands)
        self._places = [
            {c: stride for c, stride in zip(letters, operand.strides, strict=True) if c != UNIT}
            for operand, letters in zip(self.operands, spec.letters, strict=True)
        ]
        first, last = self.number("first"), self.number("last")
        self._queries, count = _blocks(self, self._size[QUERY], machine)
        few = min(_FEW_QUERIES, self._queries)
        own = self.scratch(self._room(few, _FEW_KEYS * self.lanes))
        self._keys, self._scores = self._take(own)
        self._rows = self.select(self.same_memory(self._scores, own), few, self._queries)
        self._values_at = self.mul(self._rows, self._keys)
        self._sums_at = self.add(self._values_at, self.mul(self._keys, self._columns))
        self._peaks, self._totals = self.scratch(self._queries), self.scratch(self._queries)
        with self.loop(first, last) as task:
            self._task(task, count)
        self.call(GIVE_SCORES, ["memref<f32>"] * 2, [self._scores.pointer, own.pointer])

    def _take(self, own: Operand) -> tuple[Index, Operand]:
        """How many keys a block has, and memory for the scores of so many; a few, on the stack, where there is none."""
        keys = _even(self._size[KEY], _MOST_KEYS, _FEW_KEYS * self.lanes)
        size = self.index(self._room(self._queries, keys) * 4)
        self._declarations[f"func.func private @{TAKE_SCORES}(index, memref<f32>) -> memref<f32>"] = None
        taken = self.value(f"func.call @{TAKE_SCORES}({size}, {own.pointer}) : (index, memref<f32>) -> memref<f32>")
        scores = self.of_pointer(taken)
        return self.select(self.same_memory(scores, own), _FEW_KEYS * self.lanes, keys), scores

    @property
    def _columns(self) -> int:
        """Of values that become f32 a block at a time, and of sums that become 16-bit floats in the end; else 0."""
        columns = self._size[COLUMN]
        return columns if self._spec.is_narrow and isinstance(columns, int) else 0

    def _room(self, rows: int, keys: int) -> int:
        """Elements of scratch memory: the scores of a block, its values in f32, and sums of its rows."""
        return rows * keys + (keys + rows) * self._columns

    def _task(self, task: Index, blocks: Index) -> None:
        place: dict[str, Index] = {}
        rest = self.floordiv(task, blocks)
        start = self.mul(self.sub(task, self.mul(rest, blocks)), self._queries)
        for letter in reversed(self._spec.batch):
            following = self.floordiv(rest, self._size[letter])
            place[letter] = self.sub(rest, self.mul(following, self._size[letter]))
            rest = following
        stop = self.minimum(self.add(start, self._queries), self._size[QUERY])
        with self.steps(start, stop, self._rows) as first:
            self._rows_from(first, self.minimum(self._rows, self.sub(stop, first)), place)

    def _rows_from(self, start: Index, rows: Index, place: dict[str, Index]) -> None:
        """Some rows of the result, from a query on, for all keys; `place` is where in the batch."""
        place = place | {QUERY: start}
        keys, reach = self._size[KEY], self._spec.scoring.reach
        if reach is not None:
            keys = self.maximum(0, self.minimum(keys, self.add(start, rows, reach)))
        at = [
            self.add(*(self.mul(place[c], stride) for c, stride in strides.items() if c in place))
            for strides in self._places
        ]
        infinity = self.constant(_MINUS_INFINITY, "f32")
        with self.loop(0, rows) as row:
            self.store(infinity, self._peaks, row)
            self.store(self.constant("0.0", "f32"), self._totals, row)
        with self.steps(0, keys, self._keys) as key:
            count = self.minimum(self._keys, self.sub(keys, key))
            self._block(at, start, rows, key, count)
        self.branch(self.at_least(keys, 1), lambda: self._divide(rows, at[-1]), lambda: self._fill(rows, at[-1]))

    # One block

    def _block(self, at: Sequence[Index], start: Index, rows: Index, key: Index, count: Index) -> None:
        q, k, v = self.operands[:3]
        of_q, of_k, of_v = self._places[:3]
        scores, sums = MatrixOperand(self._scores, 0, self._keys, 1), self._sums(at[-1])
        write_product(
            self,
            ProductSizes(rows, count, self._size[SUMMED]),
            MatrixOperand(q, at[0], of_q[QUERY], of_q[SUMMED]),
            MatrixOperand(k, self.add(at[1], self.mul(key, of_k[KEY])), of_k[SUMMED], of_k[KEY]),
            scores,
            add=False,
        )
        later = self.at_least(key, 1)
        with self.loop(0, rows) as row:
            base = self.mul(row, self._keys)
            query = self.add(start, row)
            extras = self._extras(at, row)
            highest = self._raise(base, count, key, query, extras)
            old = self.load(self._peaks, row)
            new = self._larger(old, highest, "f32")
            self.store(new, self._peaks, row)
            infinity = self.constant(_MINUS_INFINITY, "f32")
            none = self.value(f"arith.cmpf oeq, {new}, {infinity} : f32")
            level = self.value(f"arith.select {none}, {self.constant('0.0', 'f32')}, {new} : f32")
            fading = self._one(self._exp(self._single(self.value(f"arith.subf {old}, {level} : f32")), 1))
            total = self._powers(base, count, level)
            before = self.value(f"arith.mulf {self.load(self._totals, row)}, {fading} : f32")
            self.store(self.value(f"arith.addf {before}, {total} : f32"), self._totals, row)
            same = self.value(f"arith.cmpf oeq, {fading}, {self.constant('1.0', 'f32')} : f32")
            fades = self.value(f"arith.xori {same}, {self.constant('true', 'i1')} : i1")
            self.branch(self.both(later, fades), lambda: self._scale(sums, row, fading, sums))
        values = MatrixOperand(v, self.add(at[2], self.mul(key, of_v[KEY])), of_v[KEY], of_v[COLUMN])
        values = self._widened(values, count) if self._spec.is_narrow else values
        write_product(self, ProductSizes(rows, self._size[COLUMN], count), scores, values, sums, add=later)

    def _sums(self, at: Index) -> MatrixOperand:
        """Where the rows of a block are summed: in the result, unless that is of 16-bit floats."""
        out, of = self.operands[-1], self._places[-1]
        if out.element == "f32":
            return MatrixOperand(out, at, of[QUERY], of[COLUMN])
        return MatrixOperand(self._scores, self._sums_at, self._columns, 1)

    def _widened(self, values: MatrixOperand, count: Index) -> MatrixOperand:
        """Values of a block in f32."""
        wide = MatrixOperand(self._scores, self._values_at, self._columns, 1)
        whole = self._columns - self._columns % self.lanes if values.column == 1 else 0
        with self.loop(0, count) as key:
            there, here = (
                self.add(values.offset, self.mul(key, values.row)),
                self.add(wide.offset, self.mul(key, wide.row)),
            )
            with self.loop(0, whole, self.lanes) as column:
                self.store_vector(
                    self.load_wide(values.operand, self.add(there, column)), wide.operand, self.add(here, column)
                )
            with self.loop(whole, self._columns) as column:
                value = self.load_wide(values.operand, self.add(there, self.mul(column, values.column)), vector=False)
                self.store(value, wide.operand, self.add(here, column))
        return wide

    def _extras(self, at: Sequence[Index], row: Index) -> list[Index]:
        """Where the row of each extra begins."""
        return [self.add(at[3 + i], self.mul(row, of.get(QUERY, 0))) for i, of in enumerate(self._places[3:-1])]

    def _raise(self, base: Index, count: Index, key: Index, query: Index, extras: Sequence[Index]) -> str:
        """Turns a row of scores into what the op makes of them; the largest of them."""
        lanes, infinity = self.lanes, self.constant(_MINUS_INFINITY, "f32")

        def step(width: int) -> Callable[[Index, str], str]:
            def one(column: Index, peak: str) -> str:
                place = self.add(base, column)
                score = self._load(self._scores, place, width)
                found = self._scored(score, self.add(key, column), query, extras, width)
                if found != score:
                    self._store(found, self._scores, place, width)
                return self._larger(peak, found, _kind("f32", width))

            return one

        def several(column: Index, peaks: list[str]) -> list[str]:
            return [step(lanes)(self.add(column, i * lanes), peak) for i, peak in enumerate(peaks)]

        lowest = self.constant(f"dense<{_MINUS_INFINITY}>", self.vector)
        long = self.sub(count, self.mod(count, _UNROLLED * lanes))
        whole = self.sub(count, self.mod(count, lanes))
        peaks = self.carry(0, long, _UNROLLED * lanes, [lowest] * _UNROLLED, several)
        peak = reduce(lambda a, b: self._larger(a, b, self.vector), peaks)
        peak = self.reduce(long, whole, lanes, peak, self.vector, step(lanes))
        halves = [self.value(f"vector.extract {peak}[{i}] : f32 from {self.vector}") for i in range(lanes)]
        while len(halves) > 1:
            halves = [self._larger(a, b, "f32") for a, b in zip(halves[::2], halves[1::2], strict=True)]
        rest = self.reduce(whole, count, 1, self._single(halves[0]), _kind("f32", 1), step(1))
        with self.loop(count, self._rounded(count)) as column:
            self.store(infinity, self._scores, self.add(base, column))
        return self._one(rest)

    def _rounded(self, count: Index) -> Index:
        return self.mul(self.ceildiv(count, self.lanes), self.lanes)

    def _powers(self, base: Index, count: Index, level: str) -> str:
        """Turns a row of scores into e to their power, less a number; their sum."""
        down, lanes = self.broadcast(level), self.lanes

        def step(column: Index, total: str) -> str:
            place = self.add(base, column)
            score = self.load_vector(self._scores, place)
            power = self._exp(self.value(f"arith.subf {score}, {down} : {self.vector}"), lanes)
            self.store_vector(power, self._scores, place)
            return self.add_vectors(total, power)

        def several(column: Index, totals: list[str]) -> list[str]:
            return [step(self.add(column, i * lanes), total) for i, total in enumerate(totals)]

        count = self._rounded(count)
        long = self.sub(count, self.mod(count, _UNROLLED * lanes))
        totals = self.carry(0, long, _UNROLLED * lanes, [self.zeros()] * _UNROLLED, several)
        return self.total(self.reduce(long, count, lanes, reduce(self.add_vectors, totals), self.vector, step))

    def _scored(self, score: str, key: Index, query: Index, extras: Sequence[Index], width: int) -> str:
        """What the op makes of `width` scores of a query, from a key on."""
        scoring = self._spec.scoring
        used = {number for op in scoring.ops for number in op.operands} | {scoring.result}
        count = len(extras)
        values: dict[int, str] = {0: score}
        for i, at in enumerate(extras):
            if i + 1 in used:
                values[i + 1] = self._extra(3 + i, at, key, width)
        if count + 1 in used:
            values[count + 1] = self._spread(self.index(query), "index", width)
        if count + 2 in used:
            places = self.constant(f"dense<{list(range(width))}>", _kind("index", width))
            first = self._spread(self.index(key), "index", width)
            values[count + 2] = self.value(f"arith.addi {first}, {places} : {_kind('index', width)}")
        for i, (literal, kind) in enumerate(scoring.constants):
            values[count + 3 + i] = self.constant(f"dense<{literal}>", _kind(kind, width))
        for i, op in enumerate(scoring.ops):
            names = ", ".join(values[number] for number in op.operands)
            kinds = ", ".join(_kind(kind, width) for kind in op.kinds)
            text = f'"{op.name}"({names}) {op.attributes} : ({kinds}) -> {_kind(op.result, width)}'
            values[count + 3 + len(scoring.constants) + i] = self.value(text)
        return values[scoring.result]

    def _extra(self, number: int, at: Index, key: Index, width: int) -> str:
        """The elements of an extra for some keys."""
        operand, stride = self.operands[number], self._places[number].get(KEY, 0)
        kind = _kind(operand.element, width)
        place = self.add(at, self.mul(key, stride))
        if stride == 0:
            found = self._spread(self.load(operand, place), operand.element, width)
        elif stride == 1:
            found = self._load(operand, place, width)
        else:
            each = [self.load(operand, self.add(place, self.mul(i, stride))) for i in range(width)]
            found = self.value(f"vector.from_elements {', '.join(each)} : {kind}")
        if operand.element != "i8" or self._spec.views[number].element == "i8":
            return found
        return self.value(f"arith.cmpi ne, {found}, {self.constant('dense<0>', kind)} : {kind}")

    # Rows of the result

    def _scale(self, sums: MatrixOperand, row: Index, factor: str, to: MatrixOperand) -> None:
        """Writes a row of sums, multiplied, to a row of a matrix: of the same one, or of one of 16-bit floats."""
        here, there = (self.add(each.offset, self.mul(row, each.row)) for each in (sums, to))
        narrow = "" if to.operand.element == "f32" else to.operand.element
        count: Index = self._size[COLUMN]
        whole: Index = 0
        if sums.column == 1 and to.column == 1:
            whole = self.sub(count, self.mod(count, self.lanes))
            factors = self.broadcast(factor)
            with self.loop(0, whole, self.lanes) as column:
                total = self.load_vector(sums.operand, self.add(here, column))
                value = self.value(f"arith.mulf {total}, {factors} : {self.vector}")
                value = self.narrowed(value, narrow) if narrow else value
                self.store_vector(value, to.operand, self.add(there, column))
        with self.loop(whole, count) as column:
            total = self.load(sums.operand, self.add(here, self.mul(column, sums.column)))
            value = self.value(f"arith.mulf {total}, {factor} : f32")
            value = self.narrowed(value, narrow, lanes=0) if narrow else value
            self.store(value, to.operand, self.add(there, self.mul(column, to.column)))

    def _divide(self, rows: Index, at: Index) -> None:
        of = self._places[-1]
        one = self.constant("1.0", "f32")
        with self.loop(0, rows) as row:
            total = self.load(self._totals, row)
            if self._spec.zero_rows is ZeroRows.MASKED:
                none = self.value(f"arith.cmpf oeq, {total}, {self.constant('0.0', 'f32')} : f32")
                total = self.value(f"arith.select {none}, {one}, {total} : f32")
            factor = self.value(f"arith.divf {one}, {total} : f32")
            result = MatrixOperand(self.operands[-1], at, of[QUERY], of[COLUMN])

            def divided() -> None:
                self._scale(self._sums(at), row, factor, result)

            if self._spec.zero_rows is ZeroRows.UNDEFINED:
                defined = self.value(f"arith.cmpf ogt, {total}, {self.constant('0.0', 'f32')} : f32")
                self.branch(defined, divided, lambda: self._fill(1, self.add(at, self.mul(row, of[QUERY]))))
            else:
                divided()

    def _fill(self, rows: Index, at: Index) -> None:
        """Rows that no key counts for: zeros where there is none at all, else what the op says."""
        number, of = self.constant("0.0", "f32"), self._places[-1]
        if self._spec.zero_rows is ZeroRows.NEVER:
            some = self.value(f"arith.cmpi sgt, {self.index(self._size[KEY])}, {self.index(0)} : index")
            number = self.value(f"arith.select {some}, {self.constant(_NOT_A_NUMBER, 'f32')}, {number} : f32")
        out = self.operands[-1]
        number = number if out.element == "f32" else self.narrowed(number, out.element, lanes=0)
        with self.loop(0, rows) as row, self.loop(0, self._size[COLUMN]) as column:
            self.store(number, out, self.add(at, self.mul(row, of[QUERY]), self.mul(column, of[COLUMN])))

    # Vectors of any width

    def _load(self, operand: Operand, at: Index, width: int) -> str:
        kind = _kind(operand.element, width)
        return self.value(f"vector.load {operand.flat}[{self.index(at)}] : memref<?x{operand.element}>, {kind}")

    def _store(self, value: str, operand: Operand, at: Index, width: int) -> None:
        kind = _kind(operand.element, width)
        self.line(f"vector.store {value}, {operand.flat}[{self.index(at)}] : memref<?x{operand.element}>, {kind}")

    def _spread(self, scalar: str, kind: str, width: int) -> str:
        return self.value(f"vector.broadcast {scalar} : {kind} to {_kind(kind, width)}")

    def _single(self, scalar: str) -> str:
        return self._spread(scalar, "f32", 1)

    def _one(self, single: str) -> str:
        return self.value(f"vector.extract {single}[0] : f32 from {_kind('f32', 1)}")

    def _larger(self, a: str, b: str, kind: str) -> str:
        """The larger; a where one is not a number, which the sum of powers then is."""
        condition = "i1" if kind == "f32" else kind.replace("xf32", "xi1")
        larger = self.value(f"arith.cmpf ogt, {b}, {a} : {kind}")
        return self.value(
            f"arith.select {larger}, {b}, {a} : {condition}, {kind}"
            if kind != "f32"
            else f"arith.select {larger}, {b}, {a} : f32"
        )

    def _exp(self, x: str, width: int) -> str:
        """e^x for x ≤ 0."""
        kind, bits = _kind("f32", width), _kind("i32", width)

        def number(value: float) -> str:
            return self.constant(f"dense<{value:.17e}>", kind)

        def fma(a: str, b: str, c: str) -> str:
            return self.value(f"math.fma {a}, {b}, {c} : {kind}")

        least = number(_LEAST)
        low = self.value(f"arith.cmpf olt, {x}, {least} : {kind}")
        x = self.value(f"arith.select {low}, {least}, {x} : {_kind('i1', width)}, {kind}")
        shifted = fma(x, number(_LOG2_E), number(_ROUNDER))
        whole = self.value(f"arith.subf {shifted}, {number(_ROUNDER)} : {kind}")
        r = fma(whole, number(-_LN2_LOW), fma(whole, number(-_LN2_HIGH), x))
        p = number(_POLYNOMIAL[-1])
        for coefficient in reversed(_POLYNOMIAL[:-1]):
            p = fma(p, r, number(coefficient))
        square = self.value(f"arith.mulf {r}, {r} : {kind}")
        small = self.value(f"arith.addf {fma(square, p, r)}, {number(1.0)} : {kind}")
        exponent = self.value(f"arith.bitcast {shifted} : {kind} to {bits}")
        moved = self.value(f"arith.addi {exponent}, {self.constant(f'dense<{127 - 0x4B400000}>', bits)} : {bits}")
        high = self.value(f"arith.shli {moved}, {self.constant('dense<23>', bits)} : {bits}")
        power = self.value(f"arith.bitcast {high} : {bits} to {kind}")
        found = self.value(f"arith.mulf {small}, {power} : {kind}")
        return self.value(f"arith.select {low}, {number(0.0)}, {found} : {_kind('i1', width)}, {kind}")


def _kind(element: str, width: int) -> str:
    return f"vector<{width}x{element}>"


_LESS, _LESS_OR_EQUAL, _GREATER, _GREATER_OR_EQUAL = (2, 6), (3, 7), (4, 8), (5, 9)
"""Predicates of `arith.cmpi`, signed and unsigned."""


# What the op does to scores, read from its region


def scoring(op: ir.Operation) -> Scoring:
    """What the region does."""
    block = op.regions[0].blocks[0]
    body = [each.operation for each in block.operations]
    numbers: dict[ir.Value, int] = {argument: i for i, argument in enumerate(block.arguments)}
    constants: list[tuple[str, str]] = []
    for value in (v for each in body for v in each.operands):
        made = constant_op(value)
        if value not in numbers and made is not None:
            numbers[value] = len(block.arguments) + len(constants)
            constants.append((_literal(made.attributes["value"]), str(value.type)))
    ops: list[ScoreOp] = []
    for each in body[:-1]:
        if is_constant(each):
            continue
        numbers[each.results[0]] = len(block.arguments) + len(constants) + len(ops)
        attributes = ", ".join(f"{name} = {each.attributes[name]}" for name in sorted(each.attributes))
        operands, kinds = tuple(numbers[v] for v in each.operands), tuple(str(v.type) for v in each.operands)
        ops.append(ScoreOp(each.name, f"{{{attributes}}}", operands, kinds, str(each.results[0].type)))
    return Scoring(tuple(constants), tuple(ops), numbers[body[-1].operands[0]], _reach(block))


def _literal(attribute: ir.Attribute) -> str:
    text = str(attribute)
    return text.rpartition(" : ")[0] or text


def _reach(block: ir.Block) -> int | None:
    """The last key that can count for a query, less the query: where others become -∞ by a comparison of the two numbers."""
    last = list(block.operations)[-1].operation
    choice = made_by(last.operands[0], CHOICE)
    *_, query, key = block.arguments
    if choice is None or constant_of(choice.operands[2]) != -inf:
        return None
    conditions = [choice.operands[0]]
    while conditions:
        test = defining_op(conditions.pop())
        if test is not None and test.name == "arith.andi":
            conditions += test.operands
        elif test is not None and test.name == "arith.cmpi":
            found = _bound(test, query, key)
            if found is not None:
                return found
    return None


def _bound(test: ir.Operation, query: ir.Value, key: ir.Value) -> int | None:
    left, right = (_uncast(v) for v in test.operands)
    predicate = integer_of(test, "predicate")
    if (left, right) == (key, query):
        return 0 if predicate in _LESS_OR_EQUAL else -1 if predicate in _LESS else None
    if (left, right) == (query, key):
        return 0 if predicate in _GREATER_OR_EQUAL else -1 if predicate in _GREATER else None
    return None


def _uncast(value: ir.Value) -> ir.Value:
    op = made_by(value, *CASTS)
    return value if op is None else _uncast(op.operands[0])
