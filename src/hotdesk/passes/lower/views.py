"""Where each memref of a function lies: its base buffer, and offset, sizes and strides as symbolic sizes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, cast

from hotdesk._bindings import ir
from hotdesk.errors import LoweringError
from hotdesk.ir.locations import python_line
from hotdesk.ir.sizes import Size, expand, product
from hotdesk.ir.symbolic import SymbolicSizes
from hotdesk.ir.types import element_of, kept_dims, shape_of
from hotdesk.ir.walking import defining_op, int_array, segment_sizes
from hotdesk.passes.lower.kernel import View


@dataclass(frozen=True, slots=True)
class Place:
    """A memref resolved: `offset` and `strides` are in elements, counted from the first byte of `base`."""

    base: ir.Value
    offset: Size
    sizes: tuple[Size, ...]
    strides: tuple[Size, ...]
    element: str

    def view(self) -> View:
        """What a kernel sees: numbers where they are known now, None where they come with the call."""
        return View(self.element, tuple(map(_known, self.sizes)), tuple(map(_known, self.strides)))

    def unknowns(self) -> list[Size]:
        """The values behind the None of `view`, sizes first."""
        return [s for s in (*self.sizes, *self.strides) if not isinstance(s, int)]


def _known(size: Size) -> int | None:
    return size if isinstance(size, int) else None


def row_major_strides(sizes: Sequence[Size]) -> tuple[Size, ...]:
    """Strides of a contiguous array."""
    return tuple(product(list(sizes[i + 1 :])) for i in range(len(sizes)))


class Places:
    """Resolves the memrefs of one function; answers are remembered."""

    def __init__(self, sizes: SymbolicSizes) -> None:
        self._sizes = sizes
        self._known: dict[ir.Value, Place] = {}

    def of(self, value: ir.Value) -> Place:
        """The place of a memref value. Raises LoweringError for a view op that is not known."""
        if value not in self._known:
            self._known[value] = self._resolve(value)
        return self._known[value]

    def _resolve(self, value: ir.Value) -> Place:
        op = defining_op(value)
        sizes = self._sizes.shape(value)
        if op is None or op.name in ("memref.alloc", "memref.get_global"):
            return Place(value, 0, sizes, row_major_strides(sizes), element_of(value.type))
        source = self.of(op.operands[0]) if op.name.startswith("memref.") else None
        if source is None:
            raise LoweringError(f"op `{op.name}` makes a memref that is not understood", where=python_line(op.location))
        match op.name:
            case "memref.cast":
                return source
            case "memref.subview":
                return self._subview(op, source)
            case "memref.expand_shape":
                return self._expanded(op, source, sizes)
            case "memref.collapse_shape":
                return self._collapsed(op, source, sizes)
            case "memref.reinterpret_cast":
                strides = self._mixed(op, "static_strides", 3)
                offset = self._mixed(op, "static_offsets", 1)[0]
                return Place(source.base, offset, self._mixed(op, "static_sizes", 2), strides, source.element)
            case _:
                raise LoweringError(
                    f"view `{op.name}` is not lowered", got=op.name, where=python_line(op.location) or None
                )

    def _mixed(self, op: ir.Operation, name: str, segment: int) -> tuple[Size, ...]:
        counts = segment_sizes(op)
        start = sum(counts[:segment])
        return self._sizes.mixed(op.attributes[name], list(op.operands)[start : start + counts[segment]])

    def _subview(self, op: ir.Operation, source: Place) -> Place:
        offsets, sizes, steps = (
            self._mixed(op, name, i + 1) for i, name in enumerate(("static_offsets", "static_sizes", "static_strides"))
        )
        offset: Any = source.offset
        for start, stride in zip(offsets, source.strides, strict=True):
            offset = offset + start * stride
        strides = tuple(expand(a * b) for a, b in zip(source.strides, steps, strict=True))
        kept = kept_dims(sizes, shape_of(op.results[0].type))
        return Place(
            source.base,
            expand(offset),
            tuple(sizes[i] for i in kept),
            tuple(strides[i] for i in kept),
            source.element,
        )

    def _expanded(self, op: ir.Operation, source: Place, sizes: tuple[Size, ...]) -> Place:
        strides: list[Size] = []
        for group, stride in zip(_groups(op), source.strides, strict=True):
            inner = row_major_strides([sizes[i] for i in group])
            strides.extend(expand(cast(Any, s) * stride) for s in inner)
        if not source.strides:
            strides = [1] * len(sizes)
        return Place(source.base, source.offset, sizes, tuple(strides), source.element)

    def _collapsed(self, op: ir.Operation, source: Place, sizes: tuple[Size, ...]) -> Place:
        strides: list[Size] = []
        for group in _groups(op):
            relevant = [i for i in group if source.sizes[i] != 1]
            strides.append(source.strides[relevant[-1]] if relevant else source.strides[group[-1]])
        return Place(source.base, source.offset, sizes, tuple(strides), source.element)


def _groups(op: ir.Operation) -> list[tuple[int, ...]]:
    return [int_array(group) for group in cast(Any, op.attributes["reassociation"])]
