"""A convolution as its kernels see it: operands, sizes per group, and one slide for each spatial dimension."""

from __future__ import annotations

from dataclasses import dataclass

from hotdesk.kernels.text import Condition, Index, KernelBuilder, Operand, View
from hotdesk.passes.lower.window import Slide


@dataclass(frozen=True, slots=True)
class Spread:
    """How the work is cut that is done in scratch memory.

    Attributes:
        filters: how many at a time.
        width: of the stretch of input positions.
        gathers: whether filters of a tap are put together there; else they are read where they lie.
    """

    filters: int
    width: int
    gathers: bool


@dataclass(frozen=True, slots=True)
class ConvolutionSpec:
    """y (+)= the convolution of x with w; sizes N, G*C, spatial; G*F, C, window; N, G*F, spatial output.

    The input is widened by `input_dilations - 1` zeros between its elements, then padded with zeros (a negative pad
    crops). What y's sizes say decides how many outputs there are; `pad_high` is what padding they imply. `noalias` says of
    x, w, y whether it overlaps no other operand; with `spread` the kernel is given scratch memory for that.
    """

    x: View
    w: View
    y: View
    groups: int
    strides: tuple[int, ...]
    dilations: tuple[int, ...]
    pad_low: tuple[int, ...]
    pad_high: tuple[int, ...]
    input_dilations: tuple[int, ...]
    accumulate: bool
    noalias: tuple[bool, bool, bool]
    spread: Spread | None = None
    winograd: bool = True

    def __post_init__(self) -> None:
        rank = len(self.strides)
        lists = (self.strides, self.dilations, self.pad_low, self.pad_high, self.input_dilations)
        if rank == 0 or any(len(each) != rank for each in lists):
            raise ValueError(f"convolution: expected one number for each spatial dimension, got {lists}")
        for name, view in (("x", self.x), ("w", self.w), ("y", self.y)):
            if len(view.sizes) != rank + 2:
                raise ValueError(f"convolution: expected {name} to have rank {rank + 2}, got {len(view.sizes)}")
        if min((self.groups, *self.strides, *self.dilations, *self.input_dilations)) < 1:
            raise ValueError("convolution: expected groups, strides and dilations of at least 1")


@dataclass(frozen=True, slots=True)
class OperandOffsets:
    """Offsets into x, w and y, in elements."""

    x: Index
    w: Index
    y: Index


@dataclass(frozen=True, slots=True)
class ConvolutionOperands:
    """The operands of a convolution inside its kernel. `tap_strides` are w's, in elements, one for each slide."""

    x: Operand
    w: Operand
    y: Operand
    batch: Index
    groups: int
    filters: Index
    channels: Index
    slides: tuple[Slide, ...]
    tap_strides: tuple[Index, ...]
    accumulate: bool

    @classmethod
    def of(cls, k: KernelBuilder, spec: ConvolutionSpec) -> ConvolutionOperands:
        x, w, y = k.operands[:3]
        numbers = zip(spec.strides, spec.dilations, spec.pad_low, spec.input_dilations, strict=True)
        slides = [
            Slide(x.sizes[d], w.sizes[d], y.sizes[d], *each, x.strides[d], y.strides[d])
            for d, each in enumerate(numbers, start=2)
        ]
        tap_strides = list(w.strides[2:])
        if len(slides) == 1:  # a row is an image of one row
            slides.insert(0, Slide(1, 1, 1, 1, 1, 0, 1, 0, 0))
            tap_strides.insert(0, 0)
        filters = k.floordiv(w.sizes[0], spec.groups)
        return cls(
            x,
            w,
            y,
            y.sizes[0],
            spec.groups,
            filters,
            w.sizes[1],
            tuple(slides),
            tuple(tap_strides),
            spec.accumulate,
        )

    def place(self, k: KernelBuilder, image: Index, group: Index, filter_: Index = 0) -> OperandOffsets:
        """The first channel of a group in an image; of w and y, one of the group's filters."""
        feature = k.add(k.mul(group, self.filters), filter_)
        return OperandOffsets(
            k.add(k.mul(image, self.x.strides[0]), k.mul(k.mul(group, self.channels), self.x.strides[1])),
            k.mul(feature, self.w.strides[0]),
            k.add(k.mul(image, self.y.strides[0]), k.mul(feature, self.y.strides[1])),
        )

    def x_plane(self, k: KernelBuilder) -> tuple[Condition, Index]:
        """Whether a channel of x lies together in memory, and how many elements it has."""
        return together(k, [(slide.input, slide.input_stride) for slide in self.slides])

    def y_plane(self, k: KernelBuilder) -> tuple[Condition, Index]:
        """Whether a channel of y lies together in memory, and how many elements it has."""
        return together(k, [(slide.output, slide.output_stride) for slide in self.slides])


def together(k: KernelBuilder, dimensions: list[tuple[Index, Index]]) -> tuple[Condition, Index]:
    """Whether (size, stride) pairs, outermost first, are one run of elements, and its length."""
    condition: Condition = True
    length: Index = 1
    for size, stride in reversed(dimensions):
        condition = k.both(condition, k.either(k.at_least(1, size), k.equal(stride, length)))
        length = k.mul(length, size)
    return condition, length
