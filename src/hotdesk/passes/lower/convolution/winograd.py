"""Convolutions as calls of `kernels.winograd`: windows of 3 by 3, stride 1, one group, rows that lie together.

%y (+)= conv %x, %w        ->        func.call @hotdesk_winograd_f32(…)
"""

from __future__ import annotations

from hotdesk.kernels.shared_convolution import shared_winograd_name
from hotdesk.kernels.text import Condition, Index, KernelBuilder
from hotdesk.kernels.values import Values
from hotdesk.kernels.winograd import WINOGRAD_ARGUMENTS
from hotdesk.kernels.winograd_matrices import OUTPUTS, SIZE, TAPS
from hotdesk.passes.lower.convolution.problem import ConvolutionOperands, ConvolutionSpec
from hotdesk.passes.lower.products import write_call

_LEAST_CHANNELS = 16  # below, transforms serve too few filters or add too few channels
_LEAST_TILES = 25  # of all images, below which the transforms of filters serve too few of them
_MOST_PRODUCTS = 6  # for an output, of the nine that there are without: more do not pay for the transforms
_LANES = 16  # tiles that are computed whether they are needed or not


def may_be_winograd(spec: ConvolutionSpec) -> bool:
    """Whether Winograd's filtering computes the convolution, and may be worth it for sizes that are not known."""
    filters, channels, *window = spec.w.sizes
    if window != [TAPS, TAPS] or filters is None or channels is None or spec.groups != 1:
        return False
    plain = {*spec.strides, *spec.dilations, *spec.input_dilations, spec.x.strides[-1], spec.y.strides[-1]} == {1}
    if not plain or min(filters, channels) < _LEAST_CHANNELS:
        return False
    batch, _, *outputs = spec.y.sizes
    known = [size for size in (batch, *outputs) if size is not None]
    return len(known) < 3 or _is_worth(Values(), *known) is True


def is_worth_winograd(k: KernelBuilder, p: ConvolutionOperands) -> Condition:
    """Whether images are so many and so large that it is faster than other ways."""
    rows, columns = p.slides
    return _is_worth(k, p.batch, rows.output, columns.output)


def _is_worth(k: Values, batch: Index, rows: Index, columns: Index) -> Condition:
    lines, line = k.ceildiv(rows, OUTPUTS), k.ceildiv(columns, OUTPUTS)
    computed = k.mul(k.ceildiv(k.mul(lines, k.add(line, 1)), _LANES), _LANES * SIZE * SIZE)
    enough = k.at_least(k.mul(batch, k.mul(lines, line)), _LEAST_TILES)
    return k.both(enough, k.at_least(k.mul(k.mul(rows, columns), _MOST_PRODUCTS), computed))


def convolve_winograd(k: KernelBuilder, p: ConvolutionOperands) -> None:
    """Writes the call."""
    rows, columns = p.slides
    lines = k.ceildiv(rows.output, OUTPUTS)
    values: dict[str, Index] = {
        "first": 0,
        "last": p.batch,
        "tile": 0,
        "stop": k.mul(lines, k.add(k.ceildiv(columns.output, OUTPUTS), 1)),
        "filters": p.filters,
        "channels": p.channels,
        "x_n": p.x.strides[0],
        "x_c": p.x.strides[1],
        "x_h": rows.input_stride,
        "height": rows.input,
        "length": columns.input,
        "top": -rows.pad_low,
        "left": -columns.pad_low,
        "w_f": p.w.strides[0],
        "y_n": p.y.strides[0],
        "y_c": p.y.strides[1],
        "y_h": rows.output_stride,
        "rows": rows.output,
        "columns": columns.output,
        "add": int(p.accumulate),
    }
    places = {"x": (p.x, 0), "w": (p.w, 0), "y": (p.y, 0)}
    write_call(k, shared_winograd_name(p.x.element, p.y.element), WINOGRAD_ARGUMENTS, values, places)
