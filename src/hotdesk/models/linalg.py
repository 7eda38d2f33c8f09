"""Every linalg op through one model: destination-passing style, and what is read follows from the payload and the maps."""

from __future__ import annotations

from typing import Any, cast

from hotdesk._bindings import ir
from hotdesk.ir.walking import segment_sizes
from hotdesk.models.facts import Facts
from hotdesk.models.model import Buffers, OpModel
from hotdesk.models.structured import bufferize_destination_style


def _generic_facts(op: ir.Operation) -> Facts:
    inputs, outputs = segment_sizes(op)
    arguments = list(op.regions[0].blocks[0].arguments)
    reads = {number for number, argument in enumerate(arguments) if next(iter(argument.uses), None) is not None}
    ties = tuple((inputs + i, i) for i in range(outputs)) if len(op.results) else ()
    maps = [m.value for m in cast(Any, op.attributes["indexing_maps"])]
    parallel = all("parallel" in str(kind) for kind in cast(Any, op.attributes["iterator_types"]))
    written = maps[inputs:]
    complete = parallel and all(m.is_permutation for m in written)
    elementwise = (
        frozenset(i for i in range(inputs) if all(maps[i] == m for m in written)) if complete else frozenset[int]()
    )
    overwrites = frozenset(operand for operand, _ in ties) if complete else frozenset[int]()
    return Facts(reads=frozenset(reads), ties=ties, overwrites=overwrites, elementwise=elementwise)


def _named_facts(op: ir.Operation) -> Facts:
    """Named ops: inits of pure data movement are overwritten unread, those of everything else are accumulated into.

    The payload of a `linalg.map` says which operands it reads.
    """
    outputs = len(op.results)
    inputs = len(op.operands) - outputs
    ties = tuple((inputs + i, i) for i in range(outputs))
    moves = op.name.removeprefix("linalg.") in _ELEMENTWISE or op.name in (
        "linalg.fill",
        "linalg.copy",
        "linalg.transpose",
        "linalg.broadcast",
        "linalg.map",
    )
    tied = frozenset(operand for operand, _ in ties)
    reads = frozenset(range(inputs)) | (frozenset[int]() if moves else tied)
    if op.name == "linalg.map":
        arguments = enumerate(op.regions[0].blocks[0].arguments)
        reads = frozenset(number for number, argument in arguments if next(iter(argument.uses), None) is not None)
    alike = op.name in ("linalg.copy", "linalg.map") or op.name.removeprefix("linalg.") in _ELEMENTWISE
    elementwise = frozenset(range(inputs)) if alike else frozenset[int]()
    return Facts(reads=reads, ties=ties, overwrites=tied if moves else frozenset(), elementwise=elementwise)


def facts(op: ir.Operation) -> Facts:
    return _generic_facts(op) if op.name == "linalg.generic" else _named_facts(op)


def _bufferize(op: ir.Operation, buffers: Buffers) -> None:
    bufferize_destination_style(op, facts(op).ties, buffers)


_ELEMENTWISE = frozenset(
    {
        *(
            "add",
            "sub",
            "mul",
            "div",
            "div_unsigned",
            "max",
            "min",
            "powf",
            "exp",
            "log",
            "abs",
            "ceil",
            "floor",
            "negf",
        ),
        *("reciprocal", "round", "sqrt", "rsqrt", "square", "tanh", "erf", "select"),
    }
)
_NAMES = (
    *("generic", "fill", "copy", "transpose", "broadcast", "map", "reduce", "softmax"),
    *("matmul", "batch_matmul", "matvec", "vecmat", "dot", "batch_matvec", "batch_vecmat", "contract"),
    *sorted(_ELEMENTWISE),
    "elementwise",
    *("conv_1d_ncw_fcw", "conv_2d_nchw_fchw", "conv_2d_nhwc_hwcf", "conv_2d_ngchw_gfchw", "conv_3d_ncdhw_fcdhw"),
    *("depthwise_conv_1d_ncw_cw", "depthwise_conv_2d_nchw_chw", "depthwise_conv_2d_nhwc_hwc"),
    *("pooling_nchw_max", "pooling_nchw_sum", "pooling_ncw_max", "pooling_ncw_sum", "pooling_nhwc_max"),
    *("pooling_nhwc_sum", "pooling_nhwc_min", "pooling_ndhwc_max", "pooling_ndhwc_sum"),
)
MODELS = {f"linalg.{name}": OpModel(facts, _bufferize) for name in _NAMES}
