"""Where each memref of a function lies, as kernels see it: base, offset, sizes and strides (`analysis.memrefs.memref_views`)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

from hotdesk._bindings import ir
from hotdesk.analysis.memrefs.memref_views import Views, in_elements
from hotdesk.errors import LoweringError
from hotdesk.ir.locations import python_line
from hotdesk.ir.types import element_of, layout_of, row_major, shape_of
from hotdesk.ir.walking import defining_op
from hotdesk.kernels.text import View
from hotdesk.models.new_memory import BASES
from hotdesk.program.symbolic import SymbolicSizes
from hotdesk.sizes.size import Size


@dataclass(frozen=True, slots=True)
class ResolvedMemref:
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


def seen_by_type(value: ir.Value, base: ir.Value, unknown: Callable[[int], Size]) -> ResolvedMemref:
    """A memref as far as its type tells; of what that leaves open, `unknown` is asked: of dims first, of strides behind."""
    shape = shape_of(value.type)
    strides, _ = layout_of(value.type)
    numbers = [unknown(i) if n is None else n for i, n in enumerate((*shape, *(strides or row_major(shape))))]
    sizes, steps = tuple(numbers[: len(shape)]), tuple(numbers[len(shape) :])
    return ResolvedMemref(base, 0, sizes, steps, element_of(value.type))


class MemrefPlaces(Protocol):
    """Where memrefs lie, as somebody knows it."""

    def of(self, value: ir.Value) -> ResolvedMemref:
        """The place of a memref."""
        ...


class ScalarSizes(Protocol):
    """The numbers that index values are, as somebody knows them."""

    def value(self, value: ir.Value) -> Size:
        """The number, or an expression for it."""
        ...


def _known(size: Size) -> int | None:
    return size if isinstance(size, int) else None


class MemrefResolver:
    """Resolves the memrefs of one function; answers are remembered."""

    def __init__(self, function: ir.Operation, sizes: SymbolicSizes) -> None:
        self._views = Views(function, sizes)
        self._known: dict[ir.Value, ResolvedMemref] = {}

    def of(self, value: ir.Value) -> ResolvedMemref:
        """The place of a memref value. Raises LoweringError if it is no view of an argument, an allocation or a global."""
        if value not in self._known:
            self._known[value] = self._resolve(value)
        return self._known[value]

    def _resolve(self, value: ir.Value) -> ResolvedMemref:
        view = self._views.view(value)
        base = defining_op(view.base)
        if base is not None and base.name not in BASES:
            raise LoweringError(
                f"op `{base.name}` makes a memref that is not understood", where=python_line(base.location)
            )
        numbers = [in_elements(number, view.element) for number in (view.offset, *view.strides)]
        found = tuple(number for number in numbers if number is not None)
        if not view.known or len(found) < len(numbers):
            op = defining_op(value)
            name = "argument" if op is None else op.name
            raise LoweringError(
                f"view `{name}` is not lowered",
                got=name,
                where=None if op is None else python_line(op.location),
            )
        return ResolvedMemref(view.base, found[0], view.sizes, found[1:], view.element)
