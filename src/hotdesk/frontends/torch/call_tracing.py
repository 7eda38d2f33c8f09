"""A fast trace of what one call is decomposed to: our decomposition runs once, on fake tensors, and its ops become nodes.

PyTorch's own tracing passes each op through functionalization and dispatch, twice. That is a millisecond an op, and networks of
convolutions have a batch norm of a dozen ops after each. Here an op is called once, on fake tensors.

Legal iff the decomposition is one of those named here and calls ops from tensors to one tensor that change nothing; else the
call is left to PyTorch. The nodes are the ones that PyTorch makes.
"""

# PyTorch is annotated in part only.
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, cast

import torch
from torch._subclasses import FakeTensorMode
from torch.fx import Graph, Node
from torch.utils import _pytree as pytree
from torch.utils._python_dispatch import TorchDispatchMode

_aten: Any = torch.ops.aten


def trace_call(
    call: Node, table: Mapping[Any, Callable[..., Any]], mode: FakeTensorMode
) -> tuple[list[Node], Node] | None:
    """The placeholders for the tensors that a call takes, in the order of its `all_input_nodes`, and the node that makes what it
    does, all in a graph of their own; None if the call is left to PyTorch. `table` is that of all decompositions."""
    found = _decomposition(call, table)
    if found is None:
        return None
    decomposition, given = found
    graph, taken = Graph(), dict[Node, torch.Tensor]()
    placeholders = list[Node]()
    with mode:
        tracer = _Tracer(graph, table)
        for number, each in enumerate(call.all_input_nodes):
            # A tensor of its own: that of the program may be one of several nodes'.
            tensor = torch.empty_strided(
                each.meta["val"].shape, each.meta["val"].stride(), dtype=each.meta["val"].dtype
            )
            taken[each] = tensor
            placeholders.append(tracer.takes(f"argument_{number}", tensor))
        try:
            with tracer:
                made = decomposition(*[taken[each] if isinstance(each, Node) else each for each in given])
        except _LeftToPyTorch:
            return None
    return placeholders, tracer.made[made]


def _decomposition(call: Node, table: Mapping[Any, Callable[..., Any]]) -> tuple[Callable[..., Any], list[Any]] | None:
    """What makes the result of a call, and what it is to be given; None if calls of this kind are left to PyTorch."""
    if call.target is not _aten.batch_norm.default or call.kwargs:
        return None
    x, weight, bias, mean, variance, training, momentum, epsilon, *_ = cast("tuple[Any, ...]", call.args)
    if training or not x.meta["val"].numel():  # PyTorch copies what has no elements
        return None
    normalized = table[_aten._native_batch_norm_legit_no_training.default]
    return (lambda *given: normalized(*given)[0]), [x, weight, bias, mean, variance, momentum, epsilon]


class _LeftToPyTorch(Exception):
    """An op was called that has several results, or changes its arguments."""


class _Tracer(TorchDispatchMode):
    """Adds the ops that are called to a graph; `made` are the nodes of the tensors."""

    def __init__(self, graph: Graph, table: Mapping[Any, Callable[..., Any]]) -> None:
        super().__init__()
        self._graph, self._table = graph, table
        self.made: dict[torch.Tensor, Node] = {}  # a tensor is hashed by which one it is

    def takes(self, name: str, tensor: torch.Tensor) -> Node:
        """A placeholder for a tensor."""
        self.made[tensor] = node = self._graph.placeholder(name)
        node.meta["val"] = tensor
        return node

    def __torch_dispatch__(self, op: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        if op in self._table:
            with self:
                result = self._table[op](*args, **kwargs)
            if result is not NotImplemented:
                return result
        result = op(*args, **kwargs)
        if not any(isinstance(each, torch.Tensor) for each in pytree.tree_leaves(result)):
            return result  # what is known of a tensor, as its device
        if op._schema.is_mutable or not isinstance(result, torch.Tensor) or result in self.made:
            raise _LeftToPyTorch
        told = pytree.tree_map_only(torch.Tensor, self.made.__getitem__, (args, kwargs))
        self.made[result] = node = self._graph.call_function(op, *told)
        node.meta["val"] = result
        return result
