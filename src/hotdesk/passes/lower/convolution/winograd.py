"""Convolutions as calls of `kernels.winograd`: windows of 3 by 3, stride 1, one group, rows that lie together.

    %y (+)= conv %x, %w        ->        func.call @hotdesk_winograd_f32(…)

They need scratch memory, of a size that depends on the convolution alone; how many threads share it is decided when it is called.
"""

from __future__ import annotations

from hotdesk.ir.types import element_bytes
from hotdesk.kernels.shared_convolution import shared_winograd_name
from hotdesk.kernels.text import Condition, Index, KernelBuilder, Operand
from hotdesk.kernels.values import Values
from hotdesk.kernels.winograd import WINOGRAD_ARGUMENTS, good_room
from hotdesk.kernels.winograd_matrices import OUTPUTS, SIZE, TAPS
from hotdesk.passes.lower.convolution.problem import ConvolutionOperands, ConvolutionSpec
from hotdesk.passes.lower.products import write_call

_LEAST_CHANNELS = 16  # below, transforms serve too few filters or add too few channels
_LEAST_TILES = 25  # of all images, below which the transforms of filters serve too few of them
_MOST_PRODUCTS = 6  # for an output, of the nine that there are without: more do not pay for the transforms
_LANES = 16  # tiles that are computed whether they are needed or not
_THREADS = 2  # that there is room for, at least, with a good number of filters each


def winograd_room(spec: ConvolutionSpec) -> int:
    """Elements of scratch memory for the convolution by Winograd's filtering; 0 where that is impossible or not worth it."""
    filters, channels, *window = spec.w.sizes
    if window != [TAPS, TAPS] or filters is None or channels is None or spec.groups != 1:
        return 0
    plain = {*spec.strides, *spec.dilations, *spec.input_dilations, spec.x.strides[-1], spec.y.strides[-1]} == {1}
    if not plain or min(filters, channels) < _LEAST_CHANNELS:
        return 0
    batch, _, *outputs = spec.y.sizes
    known = [size for size in (batch, *outputs) if size is not None]
    if len(known) == 3 and _is_worth(Values(), *known) is not True:
        return 0
    return _THREADS * good_room(filters, channels, element_bytes(spec.y.element))


def is_worth_winograd(k: KernelBuilder, p: ConvolutionOperands) -> Condition:
    """Whether images are so many and so large that it is faster than other ways."""
    rows, columns = p.slides
    return _is_worth(k, p.batch, rows.output, columns.output)


def _is_worth(k: Values, batch: Index, rows: Index, columns: Index) -> Condition:
    lines, line = k.ceildiv(rows, OUTPUTS), k.ceildiv(columns, OUTPUTS)
    computed = k.mul(k.ceildiv(k.mul(lines, k.add(line, 1)), _LANES), _LANES * SIZE * SIZE)
    enough = k.at_least(k.mul(batch, k.mul(lines, line)), _LEAST_TILES)
    return k.both(enough, k.at_least(k.mul(k.mul(rows, columns), _MOST_PRODUCTS), computed))


def convolve_winograd(k: KernelBuilder, p: ConvolutionOperands, room: int, workspace: Operand) -> None:
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
        "room": room,
        "add": int(p.accumulate),
    }
    places = {"x": (p.x, 0), "w": (p.w, 0), "y": (p.y, 0), "scratch": (workspace, 0)}
    write_call(k, shared_winograd_name(p.x.element), WINOGRAD_ARGUMENTS, values, places)
