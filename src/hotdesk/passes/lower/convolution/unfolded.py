"""Convolutions as calls of `kernels.shared_convolution`: products of the filters with the image, unfolded panel by panel.

    %y (+)= conv %x, %w        ->        func.call @hotdesk_convolution_f32(…)

One call where rows of y lie together; where they do not, one for each row of a plane of outputs.
"""

from __future__ import annotations

from hotdesk.kernels.convolution import CONVOLUTION_ARGUMENTS
from hotdesk.kernels.shared_convolution import shared_convolution_name
from hotdesk.kernels.text import Index, KernelBuilder
from hotdesk.passes.lower.convolution.problem import ConvolutionOperands, together
from hotdesk.passes.lower.products import write_call
from hotdesk.passes.lower.window import Slide

_ONE_PLANE = Slide(1, 1, 1, 1, 1, 0, 1, 0, 0)


def convolve_unfolded(k: KernelBuilder, p: ConvolutionOperands) -> None:
    """Writes the calls, for element types that `has_matrix_products` knows, and filters whose channels and taps lie together in
    w, in this order."""
    rows, columns = p.slides[-2:]
    in_one, positions = together(k, [(slide.output, slide.output_stride) for slide in (rows, columns)])

    def by_rows() -> None:
        with k.loop(0, rows.output) as row:
            below, y = k.mul(row, rows.stride), k.mul(row, rows.output_stride)
            _call(k, p, columns.output, below, y, columns.output_stride)

    k.branch(in_one, lambda: _call(k, p, positions, 0, 0, 1), by_rows)


def _call(k: KernelBuilder, p: ConvolutionOperands, positions: Index, below: Index, y: Index, step: Index) -> None:
    """The call for as many outputs of each plane, `step` apart from an offset of y on; the first reads the image `below` where it
    begins."""
    planes, rows, columns = (_ONE_PLANE, *p.slides)[-3:]
    (x_n, x_c), (y_n, y_c) = p.x.strides[:2], p.y.strides[:2]
    values: dict[str, Index] = {
        "first": 0,
        "last": k.mul(k.mul(p.batch, p.groups), planes.output),
        "pixel": 0,
        "stop": positions,
        "filters": p.filters,
        "groups": p.groups,
        "group_filters": p.filters,
        "slices": planes.output,
        "channels": p.channels,
        "planes": planes.window,
        "rows": rows.window,
        "columns": columns.window,
        "width": columns.output,
        "x_n": x_n,
        "x_c": x_c,
        "x_d": planes.input_stride,
        "x_h": rows.input_stride,
        "x_w": columns.input_stride,
        "depth": planes.input,
        "height": rows.input,
        "length": columns.input,
        "sd": planes.stride,
        "sh": rows.stride,
        "sw": columns.stride,
        "dd": planes.dilation,
        "dh": rows.dilation,
        "dw": columns.dilation,
        "front": -planes.pad_low,
        "top": k.sub(below, rows.pad_low),
        "left": -columns.pad_low,
        "wide_d": planes.widening,
        "wide_h": rows.widening,
        "wide_w": columns.widening,
        "w_f": p.w.strides[0],
        "y_n": y_n,
        "y_c": y_c,
        "y_d": planes.output_stride,
        "y_w": step,
        "add": int(p.accumulate),
    }
    places = {"x": (p.x, 0), "w": (p.w, 0), "y": (p.y, y)}
    write_call(k, shared_convolution_name(p.x.element, p.y.element), CONVOLUTION_ARGUMENTS, values, places)
