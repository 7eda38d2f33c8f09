"""Kernels for convolutions of any rank, grouped, strided, dilated, padded or transposed; padding is never stored.

The first of these that fits is taken::

    pointwise   a window of one tap, stride 1, no padding: a contraction
    depthwise   one channel per group, few taps known: vectors of outputs, or loops, with the taps unrolled
    spread      a transposed convolution: one matrix product a tap, or one a filter where windows overlap
    winograd    floats, 3 by 3, stride 1, many channels and outputs: 36 products for 16 outputs
    unfolded    floats, filters stored channel by channel and tap by tap: the products of `kernels.convolution`
    direct      anything else: loops

16-bit floats have a result of their type or of f32: sums are in f32.

Where a layout or size is known only at run time the kernel asks for it there. `spread` takes one operand more, the workspace
`%pW`, last of all arguments; `with_spread` chooses it, and the kernel is made later, when sizes may be known otherwise.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias

from hotdesk.elements import summed_in
from hotdesk.ir.types import element_bytes
from hotdesk.kernels.machine import Machine, target
from hotdesk.kernels.text import Index, KernelBuilder, KernelText
from hotdesk.passes.lower.contraction import ContractionDim, contract
from hotdesk.passes.lower.convolution import transposed
from hotdesk.passes.lower.convolution.depthwise import MOST_TAPS, Ring, choose_ring, depthwise
from hotdesk.passes.lower.convolution.depthwise_vectors import fits_vectors
from hotdesk.passes.lower.convolution.direct import convolve_directly
from hotdesk.passes.lower.convolution.problem import ConvolutionOperands, ConvolutionSpec
from hotdesk.passes.lower.convolution.transposed import (
    WORKSPACE_LIMIT,
    choose_overlapping,
    choose_spread,
    convolve_spread,
)
from hotdesk.passes.lower.convolution.unfolded import convolve_unfolded
from hotdesk.passes.lower.convolution.winograd import convolve_winograd, is_worth_winograd, may_be_winograd
from hotdesk.passes.lower.products import has_matrix_products
from hotdesk.passes.lower.window import dims_that_slide

__all__ = ["ConvolutionSpec", "convolution", "may_be_cut", "with_spread", "workspace_bytes"]

Path: TypeAlias = Literal["pointwise", "depthwise", "winograd", "unfolded", "direct"]


@dataclass(frozen=True, slots=True)
class _Choice:
    path: Path
    ring: Ring | None = None


def with_spread(spec: ConvolutionSpec) -> ConvolutionSpec:
    """The convolution with its work cut, if a kernel of it wants scratch memory for that."""
    taps = spec.w.sizes[2:]
    if not may_be_cut(spec.strides, spec.dilations, spec.input_dilations, taps):
        return spec
    if not has_matrix_products(spec.x.element, spec.w.element, spec.y.element):
        return spec
    if _choose(spec).path not in ("winograd", "unfolded"):
        return spec
    features, channels = _known(spec.w.sizes[:2])
    plane = None if None in spec.x.sizes[2:] else math.prod(_known(spec.x.sizes[2:]))
    summed = summed_in(spec.y.element)
    capacity, filters = WORKSPACE_LIMIT // element_bytes(summed), features // spec.groups
    if spec.input_dilations == taps:
        alike = spec.w.element == summed
        return replace(spec, spread=choose_spread(filters, channels, plane, capacity, alike=alike))
    if spec.y.element != summed:
        return spec  # outputs of 16 bits would be rounded once for each tap
    return replace(spec, spread=choose_overlapping(filters, channels, math.prod(_known(taps)), plane, capacity))


def may_be_cut(
    strides: Sequence[int], dilations: Sequence[int], input_dilations: Sequence[int], taps: Sequence[int | None]
) -> bool:
    """Whether a kernel may want scratch memory: of up to three dimensions, transposed or of one tap, windows side by side."""
    side_by_side = len(strides) <= 3 and {*strides, *dilations} == {1}
    return side_by_side and ({*input_dilations} != {1} or {*taps} <= {1, None})


def workspace_bytes(spec: ConvolutionSpec) -> int:
    """The bytes of scratch memory that the kernel of `spec` is given."""
    if spec.spread is None:
        return 0
    (channels,), cut = _known(spec.w.sizes[1:2]), spec.spread
    taps = spec.w.sizes[2:]
    results = 1 if spec.input_dilations == taps else math.prod(_known(taps))
    row = results * cut.width + (channels if cut.gathers else 0)
    return cut.filters * row * element_bytes(summed_in(spec.y.element))


def convolution(spec: ConvolutionSpec, machine: Machine | None = None) -> KernelText:
    """The kernel of `spec` for a machine, or else the one that kernels are generated for.

    Its operands are x, w, y, then the workspace if `spec` has one.

    Raises:
        ValueError: the element types do not go together.
    """
    spec = spec if spec.spread is not None else _sliding(spec)
    choice, cut, machine = _choose(spec), spec.spread, machine or target()
    if cut is None and (choice.ring is not None or _is_depthwise_volume(spec, machine)):
        return depthwise(spec, choice.ring, machine)
    k = KernelBuilder((spec.x, spec.w, spec.y), spec.noalias)
    p = ConvolutionOperands.of(k, spec)
    if cut is not None:
        workspace = k.workspace(summed_in(spec.y.element))
        k.branch(transposed.legal(k, p), lambda: convolve_spread(k, p, cut, workspace), lambda: convolve_directly(k, p))
    elif choice.path == "pointwise":
        _pointwise(k, p)
    elif choice.path == "winograd":
        worth = is_worth_winograd(k, p)
        k.branch(worth, lambda: convolve_winograd(k, p), lambda: convolve_unfolded(k, p))
    elif choice.path == "unfolded":
        convolve_unfolded(k, p)
    else:
        convolve_directly(k, p)
    return k.finish()


def _sliding(spec: ConvolutionSpec) -> ConvolutionSpec:
    """The same convolution without spatial dims of one element, which have one tap."""
    kept = dims_that_slide((spec.x, spec.w, spec.y), spec.w.sizes[2:], spec.pad_low, spec.pad_high)
    dims = [0, 1, *(2 + dim for dim in kept)]
    lists = {
        name: tuple(getattr(spec, name)[dim] for dim in kept)
        for name in ("strides", "dilations", "pad_low", "pad_high", "input_dilations")
    }
    return replace(spec, x=spec.x.only(dims), w=spec.w.only(dims), y=spec.y.only(dims), **lists)


def _known(sizes: tuple[int | None, ...]) -> tuple[int, ...]:
    known = tuple(size for size in sizes if size is not None)
    assert len(known) == len(sizes)
    return known


def _choose(spec: ConvolutionSpec) -> _Choice:
    """What fits without a workspace."""
    window = spec.w.sizes[2:]
    ones = (1,) * len(window)
    plain = spec.input_dilations == ones
    unpadded = not any((*spec.pad_low, *spec.pad_high))
    if window == ones and spec.strides == ones and plain and unpadded:
        return _Choice("pointwise")
    if len(window) > 3 or None in spec.w.sizes or 0 in spec.w.sizes:
        return _Choice("direct")
    _, channels, *taps = _known(spec.w.sizes)
    ring = choose_ring(taps, spec.strides, spec.dilations, spec.y.sizes[-1]) if len(window) < 3 else None
    if channels == 1 and plain and ring is not None:
        return _Choice("depthwise", ring=ring)
    elements = spec.x.element, spec.w.element, spec.y.element
    if not has_matrix_products(*elements) or not _filters_are_rows(spec):
        return _Choice("direct")
    return _Choice("winograd" if spec.winograd and may_be_winograd(spec) else "unfolded")


def _is_depthwise_volume(spec: ConvolutionSpec, machine: Machine) -> bool:
    """Whether there is one channel per group, and the window has planes, few taps, and rows that vectors read."""
    if len(spec.strides) != 3 or None in spec.w.sizes or spec.input_dilations != (1, 1, 1):
        return False
    _, channels, *taps = _known(spec.w.sizes)
    return channels == 1 and 0 < math.prod(taps) <= MOST_TAPS and fits_vectors(spec, machine)


def _filters_are_rows(spec: ConvolutionSpec) -> bool:
    """Whether w's channels and taps lie together, in this order."""
    length = 1
    for size, stride in zip(reversed(spec.w.sizes[1:]), reversed(spec.w.strides[1:]), strict=True):
        if size != 1 and stride != length:
            return False
        length *= size or 1
    return True


def _pointwise(k: KernelBuilder, p: ConvolutionOperands) -> None:
    """A contraction over channels; positions are one dimension where planes turn out to lie together."""

    def write(positions: list[tuple[Index, Index, Index]]) -> None:
        x, w, y = p.x.strides, p.w.strides, p.y.strides
        axes = [
            ContractionDim(p.batch, a=x[0], b=None, c=y[0]),
            ContractionDim(p.groups, a=k.mul(p.channels, x[1]), b=k.mul(p.filters, w[0]), c=k.mul(p.filters, y[1])),
            ContractionDim(p.filters, a=None, b=w[0], c=y[1]),
            ContractionDim(p.channels, a=x[1], b=w[1], c=None),
            *(ContractionDim(size, a=read, b=None, c=written) for size, read, written in positions),
        ]
        contract(k, p.x, p.w, p.y, axes, accumulate=p.accumulate)

    apart = [(slide.output, slide.input_stride, slide.output_stride) for slide in p.slides]
    x_in_one, _ = p.x_plane(k)
    y_in_one, length = p.y_plane(k)
    in_one = k.both(x_in_one, y_in_one)
    if isinstance(in_one, bool):
        write(apart)
    else:
        k.branch(in_one, lambda: write([(length, 1, 1)]), lambda: write(apart))
