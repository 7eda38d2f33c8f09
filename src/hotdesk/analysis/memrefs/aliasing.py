"""Whether two memrefs show the same memory: must, may, not at all, or disjoint parts of one buffer.

Every memref is a *view* of a *base*: an allocation, an argument, a global, what control flow passes on or a select chooses, or a
value of which nothing is known. A view has an offset, and for each dimension a size and a stride, all in bytes; each is a number
or an expression over symbols.

1. Different bases: an allocation shares memory with no other base of this function, and two globals none with one another. Two
   arguments, or an argument and a global, may be the same memory, unless one of them is marked `llvm.noalias` or the analysis is
   told that arguments never overlap. A value of which nothing is known may be anything but an allocation of which no op has
   kept a pointer. What is passed on or chosen is related as its *origins* are (`analysis.memrefs.origins`); if two have one in
   common, they may alias.
2. One base, equal offset, sizes, strides and element type: the same element at every index (*must*).
3. One base, and a dimension in which the two parts that are cut out of it never meet: one ends before the other begins, or both
   take every n-th element from different starts. Holds where the base has an address of its own for every index.
4. One base, and the bytes of one end before those of the other begin.
5. A view without elements is disjoint from every other one.
6. Everything else may alias.

This is the one analysis of aliases on memory, in three layers. Passes ask the one that answers their question:

- which memory a memref may be, after all that control flow and calls pass on: `origins`, over `buffer_reading`. Liveness,
  hoisting, promotion, sharing and merging go by the aliases of each allocation that follow from it (`allocations.uses`), copy
  removal by classes of memory (`copies`), deallocation by the memrefs that may own it (`ownership`);
- which part of its base a view shows: `memref_views`. Lowering makes pointers of it;
- what two memrefs have in common, from both: this module. Copy removal and fusion of loops ask it.

The relation is that of two values at one moment: in a loop, of what the two are in one iteration. Symbolic sizes count as at
least 1 (otherwise rule 5 holds), offsets of slices as at least 0, since slices lie inside what they are cut out of. Of other
values nothing is assumed.
"""

from __future__ import annotations

from enum import Enum
from typing import Any, Protocol, cast

import sympy

from hotdesk._bindings import ir
from hotdesk.analysis.memrefs.buffer_program import BufferProgram, Kind
from hotdesk.analysis.memrefs.buffer_reading import read_buffers
from hotdesk.analysis.memrefs.memref_views import MemrefView, Views, row_major
from hotdesk.analysis.memrefs.origins import Origins
from hotdesk.explain import Source
from hotdesk.ir.locations import python_line, source_of
from hotdesk.ir.signature import signature
from hotdesk.ir.types import DYNAMIC, element_bytes
from hotdesk.ir.walking import defining_op, entry_block, int_array
from hotdesk.models.memref import SUBVIEW
from hotdesk.program.symbolic import SymbolicSizes
from hotdesk.sizes.expressions import expand
from hotdesk.sizes.proofs import SizeProver
from hotdesk.sizes.size import Size

_algebra: Any = sympy  # SymPy's functions are not annotated
_APART = {Kind.ALLOCATION, Kind.STACK}


class Alias(str, Enum):
    """How two memrefs relate."""

    MUST = "must"  # the same element at every index
    DISJOINT = "disjoint"  # parts of one base that have no element in common
    NO = "no"  # different memory
    MAY = "may"  # none of the others is proven

    @property
    def apart(self) -> bool:
        """Whether no element of one is an element of the other."""
        return self in (Alias.NO, Alias.DISJOINT)


class Known(Protocol):
    """What others have read of a function."""

    @property
    def program(self) -> BufferProgram: ...

    @property
    def origins(self) -> Origins: ...

    @property
    def views(self) -> Views: ...


class Aliases:
    """Answers for the memrefs of one function; the IR must not change meanwhile.

    `known` is what has been read of the function already: then it is not read again.
    """

    def __init__(self, function: ir.Operation, arguments_overlap: bool = True, known: Known | None = None) -> None:
        self._views = Views(function) if known is None else known.views
        self._program = read_buffers(function) if known is None else known.program
        self._origins = Origins(self._program) if known is None else known.origins
        arguments = entry_block(function).arguments
        self._unshared = {a for a in arguments if not arguments_overlap or _is_noalias(function, a)}

    @property
    def sizes(self) -> SymbolicSizes:
        """The sizes of the function that memrefs are told apart by."""
        return self._views.sizes

    def relation(self, a: ir.Value, b: ir.Value) -> Alias:
        """How two memrefs relate."""
        first, second = self._views.view(a), self._views.view(b)
        if 0 in first.sizes or 0 in second.sizes:
            return Alias.DISJOINT
        if first.base != second.base:
            return self._between(first.base, second.base)
        if not (first.known and second.known):
            return Alias.MAY
        if _is_same(first, second):
            return Alias.MUST
        apart = self._apart_in_box(first, second) or self._before(first, second) or self._before(second, first)
        return Alias.DISJOINT if apart else Alias.MAY

    def base(self, value: ir.Value) -> ir.Value:
        """The value that a memref is a view of."""
        return self._views.view(value).base

    def origins(self, value: ir.Value) -> tuple[ir.Value, ...]:
        """The allocations, arguments, globals and unknown memrefs that a memref may be a view of, however it got here."""
        return tuple(self._program.buffers[origin].value for origin in sorted(self.origin_numbers(value)))

    def origin_numbers(self, value: ir.Value) -> frozenset[int]:
        """The same, by number."""
        return self._origins.of[self._program.numbers[self.base(value)]]

    def may_be_shared(self, value: ir.Value) -> bool:
        """Whether a memref may be memory that another origin is as well: an argument, a global, or not known."""
        return any(
            self._program.buffers[origin].kind not in _APART or origin in self._origins.escaped
            for origin in self.origin_numbers(value)
        )

    def _between(self, a: ir.Value, b: ir.Value) -> Alias:
        """How two bases relate (rule 1)."""
        first, second = self.origins(a), self.origins(b)
        apart = all(x != y and self._are_apart(x, y) for x in first for y in second)
        return Alias.NO if apart else Alias.MAY

    def _are_apart(self, a: ir.Value, b: ir.Value) -> bool:
        """Whether two origins that are not the same share no memory."""
        kinds = {self._kind(a), self._kind(b)}
        if Kind.UNKNOWN in kinds:
            return any(self._kind(x) in _APART and not self._has_escaped(x) for x in (a, b))
        if kinds & _APART or kinds == {Kind.GLOBAL}:
            return True
        return a in self._unshared or b in self._unshared

    def _has_escaped(self, base: ir.Value) -> bool:
        return self._program.numbers[base] in self._origins.escaped

    def _kind(self, base: ir.Value) -> Kind:
        return self._program.buffers[self._program.numbers[base]].kind

    def _apart_in_box(self, a: MemrefView, b: MemrefView) -> bool:
        """Rule 3."""
        if a.root != b.root or not _has_own_addresses(self._views.view(a.root)):
            return False
        known = a.not_negative | b.not_negative
        return any(_ends_before(x, y, known) or _ends_before(y, x, known) for x, y in zip(a.box, b.box, strict=True))

    def _before(self, a: MemrefView, b: MemrefView) -> bool:
        """Whether the bytes of `a` end before those of `b` begin (rule 4)."""
        prover = _prover((*a.sizes, *b.sizes), a.not_negative | b.not_negative)
        if not all(prover.is_never_less(stride, 0) for stride in (*a.strides, *b.strides)):
            return False
        last: Size = a.offset
        for size, stride in zip(a.sizes, a.strides, strict=True):
            last = last + (size - 1) * stride
        return prover.is_never_less(expand(b.offset - last), element_bytes(a.element))


def _ends_before(a: tuple[Size, Size, Size], b: tuple[Size, Size, Size], known: frozenset[object]) -> bool:
    """Whether, in one dimension, the elements of `a` end before those of `b` begin, or the two alternate."""
    (start, size, step), (other, other_size, other_step) = a, b
    distance = expand(other - start)
    if step == other_step and isinstance(step, int) and isinstance(distance, int) and step and distance % step:
        return True
    prover = _prover((size, other_size), known)
    if not (prover.is_never_less(step, 0) and prover.is_never_less(other_step, 0)):
        return False
    return prover.is_never_less(expand(distance - (size - 1) * step), 1)


def _prover(sizes: tuple[Size, ...], known: frozenset[object]) -> SizeProver:
    """What holds where `sizes` are at least 1, and symbols in `known` are not negative."""
    bounds = {str(size): (1, None) for size in sizes if isinstance(size, sympy.Symbol)}
    return SizeProver(bounds, lambda symbol: symbol not in known)


def described(value: ir.Value) -> Source:
    """A memref as a reason names it: what is cut out for a slice, the op or the argument otherwise."""
    op = defining_op(value)
    if op is None:
        return Source(f"argument {cast(Any, value).arg_number}", python_line(value.location))
    if op.name != SUBVIEW:
        return source_of(op)
    parts = [int_array(op.attributes[f"static_{name}"]) for name in ("offsets", "sizes", "strides")]
    text = " ".join(f"[{', '.join('?' if n == DYNAMIC else str(n) for n in part)}]" for part in parts)
    return Source(f"{op.name} {text}", python_line(op.location))


def _is_same(a: MemrefView, b: MemrefView) -> bool:
    """Rule 2; where a size is 1, the stride does not matter."""
    if a.element != b.element or a.offset != b.offset or a.sizes != b.sizes:
        return False
    wide = [i for i in range(len(a.sizes)) if a.sizes[i : i + 1] != (1,)]
    return all(a.strides[i : i + 1] == b.strides[i : i + 1] for i in wide)


def _has_own_addresses(view: MemrefView) -> bool:
    """Whether different indices have different addresses: each dimension steps over all of the next smaller ones."""
    element = element_bytes(view.element)
    if view.strides == tuple(expand(s * element) for s in row_major(view.sizes)):
        return True
    pairs = [(s, t) for s, t in zip(view.sizes, view.strides, strict=True) if isinstance(s, int) and isinstance(t, int)]
    if len(pairs) != len(view.sizes):
        return False
    needed = element
    for size, stride in sorted(pairs, key=lambda pair: pair[1]):
        if size == 1:
            continue
        if stride < needed:
            return False
        needed = stride * size
    return True


def _is_noalias(function: ir.Operation, argument: ir.Value) -> bool:
    return signature(function).arguments[int(cast(Any, argument).arg_number)].no_alias
