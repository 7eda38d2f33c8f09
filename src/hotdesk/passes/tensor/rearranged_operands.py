"""Operands of products are read where they lie, behind reshapes too: letters are split until a transpose is an order of letters.

    %t = linalg.transpose ins(%x) permutation = [0, 2, 3, 1]
    %a = tensor.collapse_shape %t [[0, 1], [2], [3]]      ->    %c = hotdesk.contract %x, %w, … {"bkhw,nk->bhwn"}
    %c = hotdesk.contract %a, %w, … {"bmk,nk->bmn"}             %r = tensor.collapse_shape %c [[0, 1], [2], [3]]

Where a dim of an operand was several, its letter becomes as many, in the other operand and the result too: splitting a dim of a
tensor is a view. Merging dims of a value that was transposed, repeated or cut out is none, and would be a copy. An operand is
followed back iff

1. what makes it collapses, expands, transposes or repeats a tensor and does nothing else, and so on;
2. dims that were merged are as large as letters are, or as some of them together, or as parts of one;
3. a letter that the operand loses, as it is repeated along it, is in the other operand or, if it is not summed, in the result;
4. at least one transpose, repetition or slice is behind that, and each size that is not known is that of a dim there;
5. the product stays fast: rows, columns and summed elements that are one dim in memory are 48 or more each, or as many as before.
   What was repeated is never copied, however few these are.

Letters that stand together in all operands stay one. The result is collapsed again, which is a view.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import prod
from string import ascii_lowercase, ascii_uppercase
from typing import ClassVar, TypeAlias

from hotdesk._bindings import ir
from hotdesk.explain import Decision, Outcome, Reason, Source
from hotdesk.ir.building import collapsed, create, dim, expanded
from hotdesk.ir.locations import source_of
from hotdesk.ir.types import shape_of, tensor_with
from hotdesk.ir.walking import attributes_of, defining_op, flag_of, groups_of, made_by, ops_outside_payloads
from hotdesk.models.hotdesk import CONTRACT, letters_of
from hotdesk.models.tensor import COLLAPSE, EXPAND
from hotdesk.models.tensor_slices import EXTRACT_SLICE
from hotdesk.passes.base import FunctionPass
from hotdesk.passes.properties import LETTERS_FIT, Property
from hotdesk.passes.tensor.contractions import source_letters
from hotdesk.passes.tensor.dead_code import EraseDead
from hotdesk.program.symbolic import SymbolicSizes
from hotdesk.sizes.size import Size

_FEWEST_IN_ONE_GO = 48
"""Of rows, columns or summed elements of one call of a product: of fewer, copies that lie together cost less."""
_GUESS = 64
"""The size assumed of a letter whose size is not known."""

_Dims: TypeAlias = tuple[str, ...]
"""The letters of each dim of a tensor: of a dim of size 1 none, of one that the equation has as several dims several."""


@dataclass(frozen=True, slots=True)
class FoldRearrangedOperands(FunctionPass):
    """Has products read their operands as they were before reshapes, transposes and repetitions (see the module docstring)."""

    name: ClassVar[str] = "hotdesk-fold-rearranged-operands"
    reasons: ClassVar[tuple[Reason, ...]] = (Reason.VIEW_OF_OPERAND,)

    def ensures(self) -> tuple[Property, ...]:
        return (LETTERS_FIT,)

    def run_on(self, function: ir.Operation) -> Iterator[Decision]:
        known = SymbolicSizes(function)
        folded = False
        for op in ops_outside_payloads(function):
            if op.name == CONTRACT and len(op.results):
                sources = _rewrite(op, known)
                folded = folded or bool(sources)
                for source in sources:
                    yield Decision("rearranged operand", Outcome.FOLDED, Reason.VIEW_OF_OPERAND, (source,), 0)
        if folded:
            EraseDead().run_on(function)


def _rewrite(op: ir.Operation, known: SymbolicSizes) -> list[Source]:
    """Has an op read what its operands are made from; what was folded."""
    spelled = _Product.of(op, known)
    sources: list[Source] = []
    # What was repeated first: where it is not, the dims of the other one may be one dim in memory.
    for number in sorted(range(2), key=lambda each: not _followed(spelled, each, known).repeated):
        found = _followed(spelled, number, known)
        if found.behind and (found.repeated or _is_fast(found.product, spelled)):
            spelled = found.product
            sources += found.behind
    if sources:
        _replace(op, spelled.joined())
    return sources


@dataclass(frozen=True, slots=True)
class _Operand:
    value: ir.Value
    dims: _Dims

    @property
    def letters(self) -> str:
        return "".join(self.dims)

    def renamed(self, old: str, new: str) -> _Operand:
        return _Operand(self.value, tuple(each.replace(old, new) for each in self.dims))


@dataclass(frozen=True, slots=True)
class _Product:
    """A contraction: its operands, the letters of each dim of its result, and the sizes of all letters."""

    operands: tuple[_Operand, ...]
    result: _Dims
    sizes: Mapping[str, Size]

    @classmethod
    def of(cls, op: ir.Operation, known: SymbolicSizes) -> _Product:
        *inputs, result = letters_of(op)
        sizes: dict[str, Size] = {}
        operands: list[_Operand] = []
        for value, letters in zip(op.operands, inputs, strict=False):
            sizes.update(zip(letters, known.shape(value), strict=True))
            operands.append(_Operand(value, tuple(letters)))
        sizes.update(zip(result, known.shape(op.results[0]), strict=True))
        return cls(tuple(operands), tuple(result), sizes)

    @property
    def summed(self) -> set[str]:
        return {*"".join(each.letters for each in self.operands)} - {*"".join(self.result)}

    @property
    def has_all_sizes(self) -> bool:
        """Whether each size is a number or that of a dim of an operand."""
        told = {each for operand in self.operands for each in operand.dims}
        return all(isinstance(size, int) or letter in told for letter, size in self.sizes.items())

    def split(self, letter: str, sizes: Sequence[Size]) -> tuple[_Product, str] | None:
        """The product with letters of these sizes in the place of one, and these; None where all letters are taken."""
        free = [each for each in ascii_lowercase + ascii_uppercase if each not in self.sizes]
        new = "".join(free[: len(sizes)])
        if len(new) < len(sizes):
            return None
        known = {name: size for name, size in self.sizes.items() if name != letter} | dict(zip(new, sizes, strict=True))
        return self._renamed(letter, new, known), new

    def _renamed(self, old: str, new: str, sizes: Mapping[str, Size]) -> _Product:
        operands = tuple(each.renamed(old, new) for each in self.operands)
        return _Product(operands, tuple(each.replace(old, new) for each in self.result), sizes)

    def with_operand(self, number: int, operand: _Operand) -> _Product:
        return _Product(
            tuple(operand if i == number else each for i, each in enumerate(self.operands)), self.result, self.sizes
        )

    def joined(self) -> _Product:
        """The product with one letter for those that are one dim wherever they are."""
        everywhere = [*(each.dims for each in self.operands), self.result]
        for pair in {each[i : i + 2] for dims in everywhere for each in dims for i in range(len(each) - 1)}:
            if all(pair in text or not {*pair} & {*text} for text in map("|".join, everywhere)):
                outer, inner = (self.sizes[letter] for letter in pair)
                sizes = {name: size for name, size in self.sizes.items() if name != pair[1]} | {pair[0]: outer * inner}
                return self._renamed(pair, pair[0], sizes).joined()
        return self


# Back to what an operand is made from


@dataclass(frozen=True, slots=True)
class _Followed:
    """The product with an operand before all that only rearranges it, what did, and whether some of that repeats it."""

    product: _Product
    behind: tuple[Source, ...]
    repeated: bool


def _followed(product: _Product, number: int, known: SymbolicSizes) -> _Followed:
    here, found = product, _Followed(product, (), repeated=False)
    while (producer := defining_op(here.operands[number].value)) is not None:
        step = _before(here, number, producer, known)
        if step is None:
            break
        repeated = found.repeated or _repeats(here, step, number)
        here = step
        if _copies(producer) and here.joined().has_all_sizes:
            found = _Followed(here, (*found.behind, source_of(producer)), repeated)
    return found


def _repeats(before: _Product, after: _Product, number: int) -> bool:
    """Whether an operand has fewer elements after a step back."""
    return _elements(after, number) < _elements(before, number)


def _elements(product: _Product, number: int) -> int:
    return prod(_guess(product.sizes[letter]) for letter in product.operands[number].letters)


def _copies(producer: ir.Operation) -> bool:
    """Whether what an op makes would be a copy: a view is none, unless it merges dims of what was cut out."""
    if producer.name == EXPAND:
        return False
    if producer.name != COLLAPSE:
        return True
    shape = shape_of(producer.operands[0].type)
    merges = any(sum(shape[i] != 1 for i in group) > 1 for group in groups_of(producer))
    return merges and made_by(producer.operands[0], EXTRACT_SLICE) is not None


def _before(product: _Product, number: int, producer: ir.Operation, known: SymbolicSizes) -> _Product | None:
    """The product with what the maker of an operand makes it from; None where that does more than to rearrange it."""
    dims = product.operands[number].dims
    if producer.name == EXPAND:
        merged = tuple("".join(dims[i] for i in group) for group in groups_of(producer))
        return product.with_operand(number, _Operand(producer.operands[0], merged))
    if producer.name == COLLAPSE:
        return _uncollapsed(product, number, producer, known)
    places = (ascii_lowercase + ascii_uppercase)[: len(dims)]
    found = source_letters(producer, places) if len(places) == len(dims) else None
    if found is None:
        return None
    step = product.with_operand(number, _Operand(producer.operands[0], tuple(dims[places.index(c)] for c in found)))
    lost = {*product.operands[number].letters} - {*step.operands[number].letters}
    kept = {*step.operands[1 - number].letters, *"".join(product.result)}
    return step if lost <= kept else None


def _uncollapsed(product: _Product, number: int, view: ir.Operation, known: SymbolicSizes) -> _Product | None:
    source, dims = view.operands[0], list[str]()
    extents = known.shape(source)
    for i, group in enumerate(groups_of(view)):
        found = _divided(product, product.operands[number].dims[i], [extents[at] for at in group])
        if found is None:
            return None
        product, parts = found
        dims += parts
    return product.with_operand(number, _Operand(source, tuple(dims)))


def _divided(product: _Product, letters: str, sizes: Sequence[Size]) -> tuple[_Product, list[str]] | None:
    """Letters of one dim given to several of these sizes, which they have together; letters are split where they have to be."""
    wanted = [size for size in sizes if size != 1]
    if len(letters) == 1 and len(wanted) > 1:
        split = product.split(letters, wanted)
        if split is None:
            return None
        product, letters = split
    left, parts = letters, list[str]()
    for size in sizes:
        taken = ""
        while size != 1:
            if not left:
                return None
            have = product.sizes[left[0]]
            if have == size:
                taken, left, size = taken + left[0], left[1:], 1
            elif not isinstance(have, int) or not isinstance(size, int):
                return None
            elif size % have == 0:
                taken, left, size = taken + left[0], left[1:], size // have
            elif have % size == 0:
                split = product.split(left[0], [size, have // size])
                if split is None:
                    return None
                product, new = split
                left = new + left[1:]
            else:
                return None
        parts.append(taken)
    if any(product.sizes[letter] != 1 for letter in left):
        return None
    parts[-1] += left
    return product, parts


# What it costs


def _guess(size: Size) -> int:
    return size if isinstance(size, int) else _GUESS


def _is_fast(product: _Product, before: _Product) -> bool:
    """Whether products of two matrices, which the dims of the operands are loops around, are large enough (condition 5)."""
    return all(now >= min(_FEWEST_IN_ONE_GO, then) for now, then in zip(_matrix(product), _matrix(before), strict=True))


def _matrix(product: _Product) -> tuple[int, int, int]:
    """Rows, columns and summed elements of the largest product of two matrices that memory has no other dims between."""
    sizes = _axes(product)
    left, right = ({*each.letters} for each in product.operands)
    kept = {*"".join(product.result)}

    def largest(letters: set[str]) -> int:
        return max((sizes[letter] for letter in letters if letter in sizes), default=1)

    return largest((left - right) & kept), largest((right - left) & kept), largest((left & right) - kept)


def _axes(product: _Product) -> dict[str, int]:
    """The sizes of what is one dimension in memory for all operands, each under its last letter."""
    everywhere = [
        ("|" if made_by(each.value, EXTRACT_SLICE) is not None else "").join(each.dims) for each in product.operands
    ]
    everywhere.append("".join(product.result))
    sizes = {letter: _guess(size) for letter, size in product.sizes.items()}
    for outer in product.sizes:
        for inner in product.sizes:
            pair = outer + inner
            if outer in sizes and all(pair in text or not {*pair} & {*text} for text in everywhere):
                sizes[inner] *= sizes.pop(outer)
    return sizes


# The new op


def _replace(op: ir.Operation, product: _Product) -> None:
    accumulates = flag_of(op, "accumulate")
    whole = "".join(product.result)
    sizes = _Extents(product, op)
    init, kind = op.operands[2], tensor_with([sizes.static(c) for c in whole], op.operands[2].type)
    if len(whole) != len(product.result):
        if accumulates:
            init = expanded(init, map(len, product.result), [sizes.of(c) for c in whole], op)
        else:
            dynamic = [sizes.of(c) for c in whole if sizes.static(c) is None]
            init = create("tensor.empty", [each for each in dynamic if isinstance(each, ir.Value)], [kind], before=op)
            init = init.results[0]
    operands = [_apart(each, sizes, op) for each in product.operands]
    equation = ",".join(each.letters for each in product.operands) + "->" + whole
    attributes = attributes_of(op) | {"equation": ir.StringAttr.get(equation)}
    new = create("hotdesk.contract", [*operands, init], [init.type], attributes, before=op).results[0]
    if len(whole) != len(product.result):
        new = collapsed(new, list(map(len, product.result)), op)
    op.results[0].replace_all_uses_with(new)


class _Extents:
    """The sizes of letters as numbers and, where these are not known, values in front of an op."""

    def __init__(self, product: _Product, before: ir.Operation) -> None:
        self._product, self._before = product, before

    def static(self, letter: str) -> int | None:
        size = self._product.sizes[letter]
        return size if isinstance(size, int) else None

    def of(self, letter: str) -> int | ir.Value:
        known = self.static(letter)
        if known is not None:
            return known
        holder = next(each for each in self._product.operands if letter in each.dims)
        return dim(holder.value, holder.dims.index(letter), self._before)


def _apart(operand: _Operand, sizes: _Extents, before: ir.Operation) -> ir.Value:
    """The operand with one dim for each of its letters."""
    value = operand.value
    dims = [each for each in operand.dims if each]
    if len(dims) < len(operand.dims):
        value = collapsed(value, list(_with_units(operand.dims)), before)
    if all(len(each) == 1 for each in dims):
        return value
    return expanded(value, map(len, dims), [sizes.of(c) for c in "".join(dims)], before)


def _with_units(dims: _Dims) -> Iterable[int]:
    """How many neighbours each dim with letters is merged with: those of size 1 behind it, the first with those before too."""
    first = next(i for i, each in enumerate(dims) if each)
    count = first
    for i, each in enumerate(dims[first:]):
        if each and i:
            yield count
            count = 0
        count += 1
    yield count
