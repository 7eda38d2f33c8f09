"""Kernels for pooling: y = the maximum, minimum or sum of x over sliding windows of its last dimensions.

Padding contributes what changes nothing (minus infinity or the least integer, their opposites, 0), so it is never read:
loops cover only the taps and outputs that meet inside the input. A maximum or minimum over anything and NaN is NaN.

Where a row of outputs is at least as long as the window, one row at a time is kept on the stack and combined with each tap
in turn, innermost along the outputs; otherwise each output is one value in a register, innermost along the window.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import reduce
from math import prod
from typing import Literal

from hotdesk.kernels.parts import shared_loops
from hotdesk.kernels.text import Index, KernelBuilder, KernelText, Operand, View
from hotdesk.passes.lower.scalar import combine, narrow, neutral, sum_type, widen
from hotdesk.passes.lower.window import Slide, dims_that_slide

_ROW = 128  # outputs kept on the stack at a time
_FEWEST_LANES = 8
_GRAIN = 1 << 16  # elements of windows that are worth a thread: ten microseconds or more


@dataclass(frozen=True, slots=True)
class PoolingSpec:
    """y (+)= the reduction of x over windows of its last ``len(window)`` dimensions.

    A negative pad crops. What y's sizes say decides how many outputs there are; `pad_high` is what padding they imply.
    `accumulate` combines with what y holds; otherwise y is never read. `noalias` says of x, y whether it overlaps the other.
    """

    x: View
    y: View
    kind: Literal["max", "min", "sum"]
    window: tuple[int, ...]
    strides: tuple[int, ...]
    dilations: tuple[int, ...]
    pad_low: tuple[int, ...]
    pad_high: tuple[int, ...]
    accumulate: bool
    noalias: tuple[bool, bool]

    def __post_init__(self) -> None:
        rank = len(self.window)
        lists = (self.window, self.strides, self.dilations, self.pad_low, self.pad_high)
        if rank == 0 or any(len(each) != rank for each in lists):
            raise ValueError(f"pooling: expected one number for each spatial dimension, got {lists}")
        if len(self.x.sizes) != len(self.y.sizes) or len(self.x.sizes) < rank:
            ranks = f"{len(self.x.sizes)} and {len(self.y.sizes)}"
            raise ValueError(f"pooling: expected x and y of one rank of at least {rank}, got {ranks}")
        if min((*self.window, *self.strides, *self.dilations)) < 1:
            raise ValueError("pooling: expected windows, strides and dilations of at least 1")


def pooling(spec: PoolingSpec) -> KernelText:
    """The kernel of `spec`; operands x, y.

    Raises ValueError if the element types do not go together.
    """
    spec = _sliding(spec)
    kind = sum_type(spec.y.element, spec.x.element)
    leading = len(spec.x.sizes) - len(spec.window)

    def outer(k: KernelBuilder) -> tuple[Sequence[Index], Index]:
        sizes = k.operands[1].sizes
        return sizes[:-1], k.floordiv(reduce(k.mul, sizes, prod(spec.window)), _GRAIN)

    def inner(k: KernelBuilder, positions: Sequence[Index]) -> None:
        x, y = k.operands
        numbers = zip(spec.window, y.sizes[leading:], spec.strides, spec.dilations, spec.pad_low, strict=True)
        slides = tuple(
            Slide(x.sizes[d], window, output, stride, dilation, pad, 1, x.strides[d], y.strides[d])
            for d, (window, output, stride, dilation, pad) in enumerate(numbers, start=leading)
        )
        _Pool(k, spec, x, y, slides, kind).write(positions)

    return shared_loops(lambda: KernelBuilder((spec.x, spec.y), spec.noalias), outer, inner)


def _sliding(spec: PoolingSpec) -> PoolingSpec:
    """The same pooling without spatial dims of one element, which have a window of one."""
    leading = len(spec.x.sizes) - len(spec.window)
    kept = dims_that_slide((spec.x, spec.y), spec.window, spec.pad_low, spec.pad_high)
    dims = [*range(leading), *(leading + dim for dim in kept)]
    lists = {
        name: tuple(getattr(spec, name)[dim] for dim in kept)
        for name in ("window", "strides", "dilations", "pad_low", "pad_high")
    }
    return replace(spec, x=spec.x.only(dims), y=spec.y.only(dims), **lists)


@dataclass(frozen=True, slots=True)
class _Pool:
    """The kernel being written; `element` is the type the reduction is kept in."""

    k: KernelBuilder
    spec: PoolingSpec
    x: Operand
    y: Operand
    slides: tuple[Slide, ...]
    element: str

    def write(self, positions: Sequence[Index]) -> None:
        """The outputs of a row, whose places in all dimensions but the last are given."""
        k, last = self.k, self.slides[-1]
        leading = len(positions) - len(self.slides) + 1
        by_rows = isinstance(last.output, str) or last.output >= min(_FEWEST_LANES, self.spec.window[-1])
        row = k.stack(self.element, _ROW if isinstance(last.output, str) else max(1, min(last.output, _ROW)))
        outputs = positions[leading:]
        x_here = k.dot(positions[:leading], self.x.strides[:leading])
        y_here = k.dot(positions, self.y.strides[:-1])
        if by_rows:
            self._row(row, x_here, y_here, outputs)
            return
        with k.loop(0, last.output) as output:
            y_one = k.add(y_here, k.mul(output, last.output_stride))
            self._store(self._window(x_here, (*outputs, output), self._start(y_one)), y_one)

    def _start(self, offset: Index) -> str:
        if self.spec.accumulate:
            return widen(self.k, self.k.load(self.y, offset), self.y.element, self.element)
        return neutral(self.k, self.element, self.spec.kind)

    def _store(self, value: str, offset: Index) -> None:
        self.k.store(narrow(self.k, value, self.element, self.y.element), self.y, offset)

    def _combined(self, running: str, offset: Index) -> str:
        value = widen(self.k, self.k.load(self.x, offset), self.x.element, self.element)
        return combine(self.k, running, value, self.element, self.spec.kind)

    # One output at a time

    def _window(self, x: Index, outputs: Sequence[Index], running: str) -> str:
        """The reduction over the window at `outputs`, the positions in the dimensions still to be looped over."""
        if not outputs:
            return self._combined(running, x)
        k, slide = self.k, self.slides[-len(outputs)]
        taps = slide.taps(k, outputs[0])

        def step(i: Index, value: str) -> str:
            position = k.add(taps.input, k.mul(i, taps.input_step))
            return self._window(k.add(x, k.mul(position, slide.input_stride)), outputs[1:], value)

        return k.reduce(0, taps.count(k), 1, running, self.element, step)

    # A row of outputs at a time

    def _row(self, row: Operand, x: Index, y: Index, outputs: Sequence[Index]) -> None:
        k, last = self.k, self.slides[-1]
        width = row.sizes[0]
        assert isinstance(width, int)
        with k.loop(0, last.output, width) as first:
            count = k.minimum(width, k.sub(last.output, first))
            y_first = k.add(y, k.mul(first, last.output_stride))
            with k.loop(0, count) as i:
                k.store(self._start(k.add(y_first, k.mul(i, last.output_stride))), row, i)
            self._taps(row, x, outputs, first, count)
            with k.loop(0, count) as i:
                self._store(k.load(row, i), k.add(y_first, k.mul(i, last.output_stride)))

    def _taps(self, row: Operand, x: Index, outputs: Sequence[Index], first: Index, count: Index) -> None:
        """Combines every tap with the row; `outputs` are the positions in the dimensions still to be looped over."""
        k, slide = self.k, self.slides[-1 - len(outputs)]
        if outputs:
            taps = slide.taps(k, outputs[0])
            with k.loop(0, taps.count(k)) as i:
                position = k.add(taps.input, k.mul(i, taps.input_step))
                self._taps(row, k.add(x, k.mul(position, slide.input_stride)), outputs[1:], first, count)
            return
        with k.loop(0, slide.window) as tap:
            run = slide.outputs(k, tap, first, k.add(first, count))
            x_first = k.add(x, k.mul(run.input, slide.input_stride))
            slot = k.sub(run.start, first)
            with k.loop(0, run.count(k)) as i:
                here = k.add(slot, i)
                offset = k.add(x_first, k.mul(i, k.mul(run.input_step, slide.input_stride)))
                k.store(self._combined(k.load(row, here), offset), row, here)
