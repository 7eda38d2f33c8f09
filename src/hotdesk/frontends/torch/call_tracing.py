"""A fast trace of what one call is decomposed to: the decomposition runs once, on fake tensors, and its ops become nodes.

PyTorch's own tracing passes each op through functionalization and dispatch, twice, and prepares for half a second whatever it is
given. Here an op is called once, on fake tensors.

Legal iff the call is one of the ops named here, which PyTorch's tracing takes apart in the same way, and calls ops that change
nothing, from tensors that it was given or has made to new ones; else the call is left to PyTorch. The nodes are the ones that
PyTorch makes.
"""

# PyTorch is annotated in part only.
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping
from functools import cache
from typing import Any, NamedTuple, cast

import torch
from torch._export.utils import _is_preservable_cia_op  # pyright: ignore[reportPrivateUsage]
from torch._subclasses import FakeTensorMode
from torch.fx import Graph, Node
from torch.utils import _pytree as pytree
from torch.utils._python_dispatch import TorchDispatchMode

from hotdesk.frontends.torch.decompositions.autograd_kernels import COMPOSITE

_aten: Any = torch.ops.aten

_NAMES = """
__and__ abs adaptive_avg_pool2d add addmm alias amax amin arange argmax avg_pool2d baddbmm batch_norm bitwise_and
bitwise_or bmm cat chunk clamp clone contiguous conv1d conv2d conv3d conv_transpose1d conv_transpose2d cos cumsum diff
div dropout einsum elu embedding eq erf exp expand expand_as flatten flip floor_divide full full_like gather ge gelu
group_norm gt hardsigmoid hardswish hardtanh index index_select layer_norm le leaky_relu linear log log_softmax
logical_and logical_not lt masked_fill matmul max_pool2d maximum mean minimum mish mm mul ne neg new_ones new_zeros
ones_like outer pad permute pixel_shuffle pow reciprocal relu relu6 remainder repeat reshape rms_norm roll rsqrt
scaled_dot_product_attention select sigmoid silu sin slice softmax softplus split split_with_sizes sqrt squeeze stack
sub sum t tanh to transpose tril triu unflatten unsqueeze upsample_bilinear2d var view where zeros_like
"""

TRACED: frozenset[Any] = frozenset(getattr(_aten, name) for name in _NAMES.split())
"""Ops whose calls are traced here, all their overloads: those that most programs consist of."""


class TracedCall(NamedTuple):
    """What a call is decomposed to, in a graph of its own.

    Attributes:
        arguments: the placeholders for the tensors that it takes, in the order of its `all_input_nodes`.
        results: for each of its results the node that makes it.
    """

    arguments: tuple[Node, ...]
    results: tuple[Node, ...]


def trace_call(call: Node, op: Any, table: Mapping[Any, Callable[..., Any]], mode: FakeTensorMode) -> TracedCall | None:
    """What a call is decomposed to that calls `op`, which changes nothing; None if it is left to PyTorch.

    `table` is that of all decompositions.
    """
    if op.overloadpacket not in TRACED or not all(_has_elements(each) for each in (call, *call.all_input_nodes)):
        return None  # PyTorch copies what has no elements
    graph, taken = Graph(), dict[Node, torch.Tensor]()
    with mode:
        tracer = _Tracer(graph, table)
        for number, each in enumerate(call.all_input_nodes):
            taken[each] = fresh_like(each.meta["val"], mode)
            tracer.takes(f"argument_{number}", taken[each])
        args, kwargs = torch.fx.map_arg((call.args, call.kwargs), cast(Any, taken.__getitem__))
        try:
            made = tracer.called(op, args, kwargs)
        except _LeftToPyTorch:
            return None
    results = made if isinstance(made, (tuple, list)) else (made,)
    if not all(isinstance(each, torch.Tensor) and each in tracer.made for each in results):
        return None
    arguments = tuple(node for node in graph.nodes if node.op == "placeholder")
    return TracedCall(arguments, tuple(tracer.made[each] for each in results))


def fresh_like(value: torch.Tensor, mode: FakeTensorMode) -> torch.Tensor:
    """A tensor of the same kind at a place of its own."""
    with mode:
        held = torch.empty(
            value.untyped_storage().nbytes() // value.element_size(), dtype=value.dtype, device=value.device
        )
        return held.as_strided(value.shape, value.stride(), value.storage_offset())


def _has_elements(node: Node) -> bool:
    return all(each.numel() for each in pytree.tree_leaves(node.meta["val"]) if isinstance(each, torch.Tensor))


class _LeftToPyTorch(Exception):
    """An op was called that changes its arguments or returns one, takes a tensor of another's, or may be kept whole."""


class _Tracer(TorchDispatchMode):
    """Adds the ops that are called to a graph; `made` are the nodes of the tensors."""

    def __init__(self, graph: Graph, table: Mapping[Any, Callable[..., Any]]) -> None:
        super().__init__()
        self._graph, self._table = graph, table
        self.made: dict[torch.Tensor, Node] = {}  # a tensor is hashed by which one it is

    def takes(self, name: str, tensor: torch.Tensor) -> None:
        """Adds a placeholder for a tensor."""
        self.made[tensor] = node = self._graph.placeholder(name)
        node.meta["val"] = tensor

    def called(self, op: Any, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Any:
        """What an op returns: by its decomposition in the table, or PyTorch's of composite ops, or else as a node."""
        if op is _aten.detach.default:
            return args[0]  # no node of PyTorch's either
        if op in self._table:
            with self:
                result = self._table[op](*args, **kwargs)
            if result is not NotImplemented:
                return result
        if _is_composite(op):
            if _is_kept_whole(op):
                raise _LeftToPyTorch
            with self:
                return op.decompose(*args, **kwargs)
        result = op(*args, **kwargs)
        tensors = [each for each in pytree.tree_leaves(result) if isinstance(each, torch.Tensor)]
        if not tensors:
            return result  # what is known of a tensor, as its device
        told = pytree.tree_leaves((args, kwargs))
        is_known = all(each in self.made for each in told if isinstance(each, torch.Tensor))
        if op._schema.is_mutable or not is_known or not self.made.keys().isdisjoint(tensors):
            raise _LeftToPyTorch
        node = self._graph.call_function(op, *pytree.tree_map_only(torch.Tensor, self.made.__getitem__, (args, kwargs)))
        node.meta["val"] = result
        if isinstance(result, torch.Tensor):
            self.made[result] = node
            return result
        for number, each in enumerate(result):
            self.made[each] = item = self._graph.call_function(operator.getitem, (node, number))
            item.meta["val"] = each
        return result

    def __torch_dispatch__(self, op: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        return self.called(op, args, kwargs or {})


@cache
def _is_composite(op: Any) -> bool:
    """Whether PyTorch takes an op apart itself. Not all that is asked is an op of the dispatcher's, as what tells a device."""
    return cast(Any, torch)._C._dispatch_has_kernel(op.name()) and op.has_kernel_for_dispatch_key(COMPOSITE)


@cache
def _is_kept_whole(op: Any) -> bool:
    """Whether PyTorch keeps a composite op whole if no table has it."""
    return _is_preservable_cia_op(op)
