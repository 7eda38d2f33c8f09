"""Calls that eager PyTorch refuses for the integers or booleans they are given, although `torch.export` takes them.

Export asks what the results of a call look like, not whether there is a kernel that makes them: `softmax` of integers has a shape
and a type, and no kernel. So eager PyTorch is asked itself. Each call of a graph that is given integers or booleans is made with
small tensors of the same types: of zeros, as not every kernel looks whether the places are there that it is given, and the first
one nearly always is; and of ones if that fails, as nothing is divided by zero. A call that fails is refused

1. if eager PyTorch says that it has no kernel for such elements;
2. if eager PyTorch says something else, and takes the call with floats in place of all integers and booleans.

Whether the lengths of `segment_reduce` are those of the tensor is not asked: zeros are not.

What fails otherwise has to do with the small sizes, or with the numbers. Nothing is said of floats: which have a kernel is
another matter on another device. Nothing is said either of random ops, which would take numbers of PyTorch's generator, of
gradients, which write at places from the forward pass and do not look whether there are such, of ops that are not PyTorch's own,
and of calls that fill more memory than is small.
"""

# Sizes may be symbolic; the annotations do not show it.
# pyright: reportUnnecessaryIsInstance=false

from __future__ import annotations

import math
import re
from collections.abc import Callable
from typing import Any, cast

import torch
from torch._ops import OpOverload
from torch.utils import _pytree as pytree

from hotdesk.errors import ExportError
from hotdesk.frontends.torch.control_flow import all_graphs
from hotdesk.frontends.torch.lines import node_line

_MOST_ELEMENTS = 4096
"""Of tensors that are made in the sizes of the model."""
_MOST_RESULTS = 1 << 17
"""Elements of what comes of these."""
_SMALL = 4
"""A size where that would be too many: equal sizes stay equal, and those below it what they are."""
_NO_KERNEL = re.compile(r"not implemented for '(Bool|Byte|Char|Short|Int|Long)'")

_Key = tuple[Any, str]
_aten: Any = torch.ops.aten


def refuse_types_without_kernel(graph: torch.fx.Graph) -> None:
    """Raises ExportError for a call, also in graphs of control flow, that eager PyTorch refuses by the rules above."""
    asked = set[_Key]()
    for node in (node for each in all_graphs(graph) for node in each.nodes):
        call = _small_call(node)
        if call is None:
            continue
        key = (node.target, repr(pytree.tree_map_only(torch.Tensor, _described, call)))
        if key in asked:
            continue
        asked.add(key)
        said = _refusal(node.target, *call)
        if said is not None:
            given = [each for each in pytree.tree_leaves(call) if isinstance(each, torch.Tensor)]
            raise ExportError(
                f"PyTorch refuses op `{node.target}`",
                expected="tensors of element types that it has a kernel for",
                got=f"{', '.join(dict.fromkeys(str(each.dtype) for each in given))}: {' '.join(str(said).split())[:200]}",
                where=node_line(node),
                hint="Convert the tensor first, such as `x.float()`.",
            )


def _small_call(node: torch.fx.Node) -> tuple[Any, Any] | None:
    """The arguments of a call with small tensors in place of its own; None for one that is not made."""
    target: Any = node.target
    if not isinstance(target, OpOverload) or cast(Any, target).namespace != "aten":
        return None
    if torch.Tag.nondeterministic_seeded in cast(Any, target).tags or "backward" in cast(Any, target).name():
        return None
    given: list[torch.fx.Node] = node.all_input_nodes
    values = [each.meta.get("val") for each in given]
    tensors = [each for each in values if isinstance(each, torch.Tensor)]
    if not any(_is_whole(each.dtype) for each in tensors) or any(each.device.type != "cpu" for each in tensors):
        return None
    results = [each for each in pytree.tree_leaves(node.meta.get("val")) if isinstance(each, torch.Tensor)]
    sizes = [size for each in (*tensors, *results) for size in each.shape]
    is_small = (
        all(isinstance(size, int) for size in sizes)
        and all(each.numel() <= _MOST_ELEMENTS for each in tensors)
        and all(each.numel() <= _MOST_RESULTS for each in results)
    )

    def small(value: Any) -> Any:
        if isinstance(value, torch.fx.Node):
            value = value.meta.get("val")
        if isinstance(value, torch.Tensor):
            shape = [size if is_small else _small_size(size) for size in value.shape]
            return torch.zeros(shape, dtype=value.dtype)
        return _SMALL if isinstance(value, torch.SymInt) else value

    named = {**node.kwargs, "unsafe": True} if target == _aten.segment_reduce.default else node.kwargs
    call = pytree.tree_map(small, (node.args, named), is_leaf=lambda each: isinstance(each, torch.fx.Node))
    return call if is_small or _fills_little(call) else None


def _is_whole(dtype: torch.dtype) -> bool:
    return not dtype.is_floating_point and not dtype.is_complex


def _small_size(size: Any) -> int:
    return min(size, _SMALL) if isinstance(size, int) else _SMALL


def _fills_little(call: tuple[Any, Any]) -> bool:
    """Whether the numbers of a call, if they are sizes, are of little memory."""
    numbers = [each for each in pytree.tree_leaves(call) if isinstance(each, int)]
    return math.prod(max(1, abs(each)) for each in numbers) <= _MOST_ELEMENTS


def _described(x: torch.Tensor) -> str:
    return f"{x.dtype}{list(x.shape)}"


def _refusal(op: Any, args: Any, kwargs: Any) -> Exception | None:
    """What eager PyTorch says of a call that it refuses for its types."""

    def raised(changed: Callable[[torch.Tensor], torch.Tensor]) -> Exception | None:
        given, named = pytree.tree_map_only(torch.Tensor, changed, (args, kwargs))
        try:
            op(*given, **named)
        except Exception as error:
            return error
        return None

    for make in (torch.zeros_like, torch.ones_like):
        error = raised(make)
        if error is None or _NO_KERNEL.search(str(error)):
            return error
    taken = raised(lambda x: torch.ones_like(x, dtype=torch.float32 if _is_whole(x.dtype) else x.dtype)) is None
    return error if taken else None
