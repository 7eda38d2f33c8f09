"""What every front end hands to the pipeline: a module, what its arguments are, and how Python calls it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from hotdesk._bindings import ir
from hotdesk.runtime.code.foreign import ForeignCall
from hotdesk.runtime.interface import Calling, TensorSpec
from hotdesk.sizes.size import Bounds

if TYPE_CHECKING:
    from hotdesk.runtime.arguments.tensors import Kind


@dataclass(frozen=True, slots=True)
class Weight:
    """A tensor of the model: an argument of `@main` that points at the user's memory. `tensor` keeps that memory alive."""

    spec: TensorSpec
    tensor: Any


class HeldArray:
    """An array as a weight: its memory stays where it is for as long as this lives."""

    def __init__(self, array: Any, dtype: str, sizes: Sequence[int]) -> None:
        """`array` is flat and contiguous; `dtype` the name of its elements, and `sizes` its shape."""
        self._array = array
        self.dtype = dtype
        self.shape = tuple(sizes)

    @property
    def nbytes(self) -> int:
        return int(self._array.nbytes)

    def tobytes(self) -> bytes:
        return bytes(self._array.tobytes())

    def data_ptr(self) -> int:
        return int(self._array.ctypes.data)

    def numel(self) -> int:
        return int(self._array.size)

    def element_size(self) -> int:
        return int(self._array.itemsize)


@dataclass(frozen=True, slots=True)
class Captured:
    """A program as a front end found it.

    Attributes:
        module: holds `func.func @main` on tensors; its arguments are `arguments`, in order.
        arguments: each a `Weight`, or the `TensorSpec` of an input of the user's.
        results: the tensors that `@main` returns, in order.
        constraints: the smallest and largest value of each symbolic size (None: unbounded).
        calling: how Python arguments become inputs and results become what the user gets.
        timings: seconds by stage.
        names: symbols by the names that the user gave to sizes.
        assumptions: relations of SymPy's between sizes for which alone the program was captured, or checks with such.
        kind: whose tensors the results are where no argument tells.
        name: what the function is called in reports.
        on_memrefs: whether `@main` is on memrefs: results are arguments already, and buffers stay as they are.
        state: arguments by number that a call changes in place: on tensors, `@main` returns the new contents of each behind
            `results`, in this order.
        foreign: what its `hotdesk.foreign` ops call.
        shown: what a call takes, where that is something else than a tensor for each input.
    """

    module: ir.Module
    arguments: tuple[Weight | TensorSpec, ...]
    results: tuple[TensorSpec, ...]
    constraints: Bounds
    calling: Calling
    timings: Mapping[str, float] = field(default_factory=dict[str, float])
    names: Mapping[str, str] = field(default_factory=dict[str, str])
    assumptions: tuple[Any, ...] = ()
    kind: Kind = "torch"
    name: str = "main"
    on_memrefs: bool = False
    state: tuple[int, ...] = ()
    foreign: tuple[ForeignCall, ...] = ()
    shown: tuple[TensorSpec, ...] = ()
