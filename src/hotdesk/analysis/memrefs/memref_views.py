"""Memrefs as parts of the memory they are cut out of: offset, sizes and strides, numbers or expressions over symbols.

Followed are slices, casts, reshapes (`memref.expand_shape` and its like), `memref.transpose`, `memref.view`,
`memref.reinterpret_cast`, and the numbers that `memref.extract_strided_metadata` reads for it. A memref from anything else but an
allocation, an argument or a global is a base of its own. Answers are remembered, so the IR must not change meanwhile.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, cast

import sympy

from hotdesk._bindings import ir
from hotdesk.errors import BufferizationError
from hotdesk.ir.shapes import MadeWith
from hotdesk.ir.types import element_bytes, element_of, is_strided, kept_dims, layout_of, shape_of
from hotdesk.ir.walking import defining_op, groups_of, segment_sizes, text_of
from hotdesk.models.memref import CASTS, METADATA, ONE_TO_ONE, REARRANGING, RESHAPE, SUBVIEW, view_source
from hotdesk.models.new_memory import GLOBAL
from hotdesk.program.symbolic import SymbolicSizes
from hotdesk.sizes.expressions import expand, product
from hotdesk.sizes.size import OPAQUE, Size, is_opaque


@dataclass(frozen=True, slots=True)
class MemrefView:
    """What a memref shows of its base.

    Attributes:
        base: the value it leads back to.
        offset, sizes, strides: in bytes, counted from the base's aligned pointer; sizes in elements.
        element: the element type.
        root: the value that `box` is cut out of: the base, or a reshape of it.
        box: offset, size and step for each dimension of the root, in elements.
        dims: for each dimension the root's.
        not_negative: symbols that are sizes or offsets on the way from the base, and so never negative.
        known: False if it lies somewhere in its base and no more is known.
    """

    base: ir.Value
    offset: Size
    sizes: tuple[Size, ...]
    strides: tuple[Size, ...]
    element: str
    root: ir.Value
    box: tuple[tuple[Size, Size, Size], ...]
    dims: tuple[int, ...]
    not_negative: frozenset[object]
    known: bool = True


class Views:
    """What each memref of a function shows of its base; `sizes` are those of the function, if they are known already."""

    def __init__(
        self, function: ir.Operation, sizes: SymbolicSizes | None = None, made_with: MadeWith = lambda value: None
    ) -> None:
        self._sizes = sizes or SymbolicSizes(function, self._read, made_with)
        self._views: dict[ir.Value, MemrefView] = {}
        self._globals: dict[str, ir.Value] = {}
        self._fresh = 0

    @property
    def sizes(self) -> SymbolicSizes:
        """The sizes and index values that views are made of."""
        return self._sizes

    def view(self, value: ir.Value) -> MemrefView:
        """What a memref shows of its base."""
        if value not in self._views:
            self._views[value] = self._compute(value)
        return self._views[value]

    def _compute(self, value: ir.Value) -> MemrefView:
        op = defining_op(value)
        if not cast(Any, value.type).has_rank:
            base = self.view(op.operands[0]).base if op is not None and op.name in CASTS else value
            return replace(_whole(base, value, 0, (), ()), known=False)
        if op is None:
            return self._base(value)
        if op.name == GLOBAL:
            name = text_of(op, "name")
            return self._base(self._globals.setdefault(name, value))
        if op.name in CASTS and not cast(Any, op.operands[0].type).has_rank:
            return replace(self._base(value), base=self.view(op.operands[0]).base, known=False)
        if op.name in CASTS:
            return self.view(op.operands[0])
        if op.name in ONE_TO_ONE:
            return self.view(op.operands[int(cast(Any, value).result_number)])
        if op.name == SUBVIEW:
            return self._subview(op)
        if op.name in REARRANGING:
            return self._arranged(op)
        if op.name == "memref.transpose":
            return _transposed(op, self.view(op.operands[0]))
        if op.name == METADATA:
            return self._start(op)
        return self._base(value)

    def _base(self, value: ir.Value) -> MemrefView:
        sizes = self._sizes.shape(value)
        if not is_strided(value.type):
            strides = tuple(expand(self._unknown()) for _ in sizes)
            return replace(_whole(value, value, expand(self._unknown()), sizes, strides), known=False)
        strides, offset = layout_of(value.type)
        element, known_bytes = step_of(element_of(value.type))
        plain = cast(Any, value.type).affine_map == ir.AffineMap.get_identity(len(sizes), value.context)
        known = row_major(sizes) if plain else tuple(self._unknown() if s is None else s for s in strides)
        start = self._unknown() if offset is None else offset
        view = _whole(value, value, expand(start * element), sizes, tuple(expand(s * element) for s in known))
        return replace(view, known=known_bytes)

    def _subview(self, op: ir.Operation) -> MemrefView:
        source = self.view(op.operands[0])
        counts = segment_sizes(op)
        dynamic = list(op.operands)[1:]
        offsets = self._sizes.mixed(op.attributes["static_offsets"], dynamic[: counts[1]])
        sizes = self._sizes.mixed(op.attributes["static_sizes"], dynamic[counts[1] : counts[1] + counts[2]])
        steps = self._sizes.mixed(op.attributes["static_strides"], dynamic[counts[1] + counts[2] :])
        box = list(source.box)
        total = source.offset
        for dim, offset, size, step, stride in zip(source.dims, offsets, sizes, steps, source.strides, strict=True):
            start, _, by = box[dim]
            box[dim] = (expand(start + offset * by), size, expand(by * step))
            total = expand(total + offset * stride)
        kept = kept_dims(sizes, shape_of(op.results[0].type))
        return replace(
            source,
            offset=total,
            sizes=tuple(sizes[i] for i in kept),
            strides=tuple(expand(source.strides[i] * steps[i]) for i in kept),
            box=tuple(box),
            dims=tuple(source.dims[i] for i in kept),
            not_negative=source.not_negative | _symbols((*offsets, *sizes)),
        )

    def _start(self, op: ir.Operation) -> MemrefView:
        """The pointer to the memory, which is what `memref.extract_strided_metadata` has besides numbers."""
        source = self.view(op.operands[0])
        return replace(_whole(source.base, op.results[0], 0, (), ()), not_negative=source.not_negative, known=False)

    def _read(self, value: ir.Value) -> Size | None:
        """What `memref.extract_strided_metadata` gives, in elements; None if it is not known."""
        op = cast(ir.Operation, defining_op(value))
        source = self.view(op.operands[0])
        rank, number = len(source.sizes), int(cast(Any, value).result_number)
        if not source.known or _is_shifted(op.operands[0]):
            return None
        if 2 <= number < 2 + rank:
            return source.sizes[number - 2]
        return in_elements(source.offset if number == 1 else source.strides[number - 2 - rank], source.element)

    def _arranged(self, op: ir.Operation) -> MemrefView:
        """The memory of a view in other dimensions."""
        source, result = self.view(op.operands[0]), op.results[0]
        sizes = self._sizes.shape(result)
        element, known_bytes = step_of(element_of(result.type))
        known = source.known and known_bytes
        offset, strides = source.offset, tuple(expand(s * element) for s in row_major(sizes))
        if op.name == "memref.view":
            offset = expand(offset + self._sizes.value(op.operands[1]))
        elif op.name == "memref.reinterpret_cast":
            counts = segment_sizes(op)
            dynamic = list(op.operands)[1:]
            offset = expand(self._sizes.mixed(op.attributes["static_offsets"], dynamic[: counts[1]])[0] * element)
            steps = self._sizes.mixed(op.attributes["static_strides"], dynamic[counts[1] + counts[2] :])
            strides = tuple(expand(step * element) for step in steps)
            known = known_bytes and not _is_shifted(op.operands[0])
        elif op.name == RESHAPE:  # contiguous memory, of sizes that may be read from memory
            known = known and not any(is_opaque(size) for size in sizes)
        else:
            groups = groups_of(op)
            strides = (
                _expanded(source, groups, sizes) if op.name == "memref.expand_shape" else _collapsed(source, groups)
            )
        view = _whole(source.base, result, offset, sizes, strides)
        return replace(view, not_negative=view.not_negative | source.not_negative, known=known)

    def _unknown(self) -> Size:
        self._fresh += 1
        return sympy.Symbol(f"{OPAQUE}_layout{self._fresh}")


def _whole(
    base: ir.Value, root: ir.Value, offset: Size, sizes: tuple[Size, ...], strides: tuple[Size, ...]
) -> MemrefView:
    box = tuple((0, size, 1) for size in sizes)
    dims = tuple(range(len(sizes)))
    return MemrefView(base, offset, sizes, strides, element_of(root.type), root, box, dims, _symbols(sizes))


def _symbols(sizes: tuple[Size, ...]) -> frozenset[object]:
    return frozenset(size for size in sizes if isinstance(size, sympy.Symbol))


def _is_shifted(value: ir.Value) -> bool:
    """Whether a `memref.view` has moved the pointer that offsets are counted from."""
    op = defining_op(value)
    while op is not None and op.name not in ONE_TO_ONE and view_source(op.name, 0) == 0:
        if op.name == "memref.view":
            return True
        op = defining_op(op.operands[0])
    return False


def _expanded(source: MemrefView, groups: list[tuple[int, ...]], sizes: tuple[Size, ...]) -> tuple[Size, ...]:
    strides: list[Size] = [step_of(source.element)[0]] * len(sizes)
    for group, stride in zip(groups, source.strides, strict=True):
        for position, dim in enumerate(group):
            strides[dim] = expand(product([sizes[i] for i in group[position + 1 :]]) * stride)
    return tuple(strides)


def _collapsed(source: MemrefView, groups: list[tuple[int, ...]]) -> tuple[Size, ...]:
    """A merged dimension steps as its last one does that has more than one element."""
    wide = [[i for i in group if source.sizes[i] != 1] or list(group) for group in groups]
    return tuple(source.strides[group[-1]] for group in wide)


def _transposed(op: ir.Operation, source: MemrefView) -> MemrefView:
    order = [int(each.position) for each in cast(Any, op.attributes["permutation"]).value.results]
    return replace(
        source,
        sizes=tuple(source.sizes[i] for i in order),
        strides=tuple(source.strides[i] for i in order),
        dims=tuple(source.dims[i] for i in order),
    )


_algebra: Any = sympy  # SymPy's functions are not annotated


def step_of(element: str) -> tuple[int, bool]:
    """The bytes from one element to the next; 1 if they are not known, and whether they are."""
    try:
        return element_bytes(element), True
    except BufferizationError:
        return 1, False


def in_elements(value: Size, element: str) -> Size | None:
    """A number of bytes as one of elements; None if it is not known to be a whole number of them."""
    found: Any = _algebra.expand(_algebra.sympify(value) / element_bytes(element))
    parts = [part.as_coeff_Mul()[0] for part in _algebra.Add.make_args(found)]
    return expand(found) if all(part.is_integer for part in parts) else None


def row_major(sizes: tuple[Size, ...]) -> tuple[Size, ...]:
    """Strides of contiguous rows, in elements."""
    return tuple(product(sizes[i + 1 :]) for i in range(len(sizes)))
