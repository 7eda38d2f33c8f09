"""Which products and convolutions a program will call, guessed from the graph that `torch.export` has made.

They can be compiled while the graph is decomposed. A wrong guess costs time of another core, and memory for code.
"""

from __future__ import annotations

from typing import Any

import torch

from hotdesk.kernels.parts import PARTS
from hotdesk.kernels.shared import ELEMENTS, shared_name
from hotdesk.kernels.shared_convolution import shared_convolution_name, shared_winograd_name

_ELEMENTS = {torch.float32: "f32", torch.float64: "f64", torch.bfloat16: "bf16", torch.float16: "f16"}
_PRODUCTS = frozenset(
    ("linear", "addmm", "mm", "matmul", "bmm", "baddbmm", "einsum", "scaled_dot_product_attention", "lstm", "gru")
)
_CONVOLUTIONS = frozenset(("conv1d", "conv2d", "convolution"))
_FILTERED = 16  # channels and filters, from which on windows of 3 by 3 may be computed by Winograd's filtering


def likely_functions(graph: torch.fx.Graph) -> tuple[str, ...]:
    """Names of functions, as `runtime.code.products` knows them, those that take longest to compile first."""
    found: set[str] = set()
    for node in graph.nodes:
        space, _, name = str(node.target).partition(".")
        name = name.partition(".")[0]
        if node.op != "call_function" or space != "aten":
            continue
        tensors = [each.meta.get("val") for each in node.all_input_nodes]
        kinds = {_ELEMENTS.get(each.dtype) for each in tensors if isinstance(each, torch.Tensor)} - {None}
        if len(kinds) == 1 and (name in _PRODUCTS or name in _CONVOLUTIONS):
            (element,) = kinds
            found.add(shared_name(element if element in ELEMENTS else "f32"))
            if name in _CONVOLUTIONS:
                found.update(_convolutions(node, str(element)))
    order = (shared_name, shared_winograd_name, shared_convolution_name)
    names = [function(element) for function in order for element in _ELEMENTS.values()]
    return (*(name for name in names if name in found), *([PARTS] if found else []))


def _convolutions(node: torch.fx.Node, element: str) -> list[str]:
    weight: Any = node.args[1]
    filters, channels, *window = weight.meta["val"].shape
    if all(taps == 1 for taps in window) or channels == 1:
        return []
    if window == [3, 3] and filters >= _FILTERED and channels >= _FILTERED:
        return [shared_convolution_name(element), shared_winograd_name(element)]
    return [shared_convolution_name(element)]
