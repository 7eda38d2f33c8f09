"""Kernels for convolutions of any rank, grouped, strided, dilated, padded or transposed; padding is never stored.

The first of these that fits is taken::

    pointwise   a window of one tap, stride 1, no padding: a contraction
    depthwise   one channel per group, few taps known: vectors of outputs, or loops, with the taps unrolled
    spread      a transposed convolution whose windows do not overlap: one matrix product a tap
    winograd    floats, 3 by 3, stride 1, many channels and outputs: 36 products for 16 outputs
    unfolded    floats, filters stored channel by channel and tap by tap: the products of `kernels.convolution`
    direct      anything else: loops

16-bit floats have a result of f32 there, as `torch.export` leaves it; `spread` is for f32 and f64.

Where a layout or size is known only at run time the kernel asks for it there. `spread` takes one operand more, the workspace
`%pW`, last of all arguments.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal, TypeAlias

from hotdesk.ir.types import element_bytes
from hotdesk.kernels.machine import Machine, target
from hotdesk.kernels.text import Index, KernelBuilder, KernelText
from hotdesk.passes.lower.contraction import ContractionDim, contract
from hotdesk.passes.lower.convolution import transposed
from hotdesk.passes.lower.convolution.depthwise import Ring, choose_ring, depthwise
from hotdesk.passes.lower.convolution.direct import convolve_directly
from hotdesk.passes.lower.convolution.problem import ConvolutionOperands, ConvolutionSpec
from hotdesk.passes.lower.convolution.transposed import (
    WORKSPACE_LIMIT,
    Spread,
    choose_spread,
    convolve_spread,
    spread_in,
)
from hotdesk.passes.lower.convolution.unfolded import convolve_unfolded
from hotdesk.passes.lower.convolution.winograd import convolve_winograd, is_worth_winograd, may_be_winograd
from hotdesk.passes.lower.products import has_convolutions, has_products

__all__ = ["ConvolutionSpec", "convolution", "workspace_bytes"]

Path: TypeAlias = Literal["pointwise", "depthwise", "spread", "winograd", "unfolded", "direct"]


@dataclass(frozen=True, slots=True)
class _Choice:
    path: Path
    spread: Spread | None = None
    ring: Ring | None = None


def workspace_bytes(spec: ConvolutionSpec) -> int:
    """The workspace that a kernel of `spec`, which has none yet, asks for; 0 if it does not want one.

    That decides for `spread`: the kernel is made later, by the workspace that it is given, when sizes may be known otherwise.
    """
    spread = _choose(spec, asks=True).spread
    if spread is None:
        return 0
    (channels,) = _known(spec.w.sizes[1:2])
    return spread.elements(channels) * element_bytes(spec.y.element)


def convolution(spec: ConvolutionSpec, machine: Machine | None = None) -> KernelText:
    """The kernel of `spec` for a machine, or else the one that kernels are generated for.

    Its operands are x, w, y, then the workspace if `spec` has one.

    Raises:
        ValueError: the element types do not go together.
        LoweringError: the workspace is too small.
    """
    choice = _choose(spec)
    if choice.ring is not None:
        return depthwise(spec, choice.ring, machine or target())
    k = KernelBuilder((spec.x, spec.w, spec.y), spec.noalias)
    p = ConvolutionOperands.of(k, spec)
    if choice.path == "pointwise":
        _pointwise(k, p)
    elif choice.path == "winograd":
        worth = is_worth_winograd(k, p)
        k.branch(worth, lambda: convolve_winograd(k, p), lambda: convolve_unfolded(k, p))
    elif choice.path == "unfolded":
        convolve_unfolded(k, p)
    elif choice.spread is not None:
        cut, workspace = choice.spread, k.workspace(spec.y.element)
        legal = transposed.legal(k, p)
        k.branch(legal, lambda: convolve_spread(k, p, cut, workspace), lambda: convolve_directly(k, p))
    else:
        convolve_directly(k, p)
    return k.finish()


def _known(sizes: tuple[int | None, ...]) -> tuple[int, ...]:
    known = tuple(size for size in sizes if size is not None)
    assert len(known) == len(sizes)
    return known


def _choose(spec: ConvolutionSpec, *, asks: bool = False) -> _Choice:
    """What fits; `spread` if it is given a workspace, or `asks` for one."""
    window = spec.w.sizes[2:]
    width = element_bytes(spec.y.element)
    if spec.workspace:
        features, channels = _known(spec.w.sizes[:2])
        elements, capacity = spec.workspace // width, WORKSPACE_LIMIT // width
        return _Choice("spread", spread=spread_in(elements, features // spec.groups, channels, capacity))
    ones = (1,) * len(window)
    plain = spec.input_dilations == ones
    unpadded = not any((*spec.pad_low, *spec.pad_high))
    if window == ones and spec.strides == ones and plain and unpadded:
        return _Choice("pointwise")
    if len(window) > 2 or None in spec.w.sizes or 0 in spec.w.sizes:
        return _Choice("direct")
    features, channels, *taps = _known(spec.w.sizes)
    ring = choose_ring(taps, spec.strides, spec.dilations, spec.y.sizes[-1])
    if channels == 1 and plain and ring is not None:
        return _Choice("depthwise", ring=ring)
    elements = spec.x.element, spec.w.element, spec.y.element
    if not has_convolutions(*elements) or not _filters_are_rows(spec):
        return _Choice("direct")
    if (
        asks
        and has_products(*elements)
        and spec.strides == spec.dilations == ones
        and spec.input_dilations == tuple(taps)
    ):
        plane = None if None in spec.x.sizes[2:] else math.prod(_known(spec.x.sizes[2:]))
        spread = choose_spread(features // spec.groups, channels, plane, WORKSPACE_LIMIT // width)
        if spread is not None:
            return _Choice("spread", spread=spread)
    return _Choice("winograd" if spec.winograd and may_be_winograd(spec) else "unfolded")


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
