"""The gradient of cross entropy as one expression of what log-softmax gave, made element by element.

PyTorch's backward pass fills a tensor of all classes with zeros, scatters -1 to the labels' places, and takes from it its sum
along the classes times the softmax: two tensors of the logits' size beside the logits. As the sum is known, with `g` the gradient
of each row's loss, and 0 for rows to be ignored,

    gradient of the logits = g * (exp(log-softmax) - (class == label))

which one loop computes where log-softmax lies. Labels out of range are an error of the loss itself, in the forward pass.
"""

# PyTorch is annotated in part only.
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false

from __future__ import annotations

from typing import Any, cast

import torch
from torch import Tensor
from torch.fx import Graph, Node

aten: Any = torch.ops.aten

_LOSSES = (aten.nll_loss_backward.default, aten.nll_loss2d_backward.default)
_MEAN = 1


def fuse_cross_entropy(graph: Graph) -> None:
    """Rewrites each gradient of a log-softmax whose result went into the loss of labels alone; with weights of classes none."""
    for node in graph.find_nodes(op="call_function", target=aten._log_softmax_backward_data.default):
        of_loss, scores, dim, dtype = node.args
        if isinstance(of_loss, Node) and of_loss.target in _LOSSES and len(of_loss.users) == 1:
            _fuse(graph, node, of_loss, cast(Node, scores), cast(int, dim), dtype)


def _undetached(node: Node) -> Node:
    while node.target == aten.detach.default:
        node = cast(Node, node.args[0])
    return node


def _fuse(graph: Graph, node: Node, of_loss: Node, scores: Node, dim: int, dtype: Any) -> None:
    gradient, given, labels, weights, reduction, ignored, total = cast("tuple[Any, ...]", of_loss.args)
    of_scores: Tensor = scores.meta["val"]
    classes = 0 if of_scores.dim() < 2 else 1
    if (
        weights is not None
        or _undetached(given) is not _undetached(scores)
        or dtype != of_scores.dtype
        or dim % of_scores.dim() != classes
    ):
        return
    if labels.meta["val"].dim() != of_scores.dim() - 1:
        return

    def call(target: Any, *args: Any) -> Any:
        made = graph.call_function(target, args)
        made.meta = {name: value for name, value in node.meta.items() if name != "val"}
        return made

    with graph.inserting_before(node):
        label = call(aten.unsqueeze.default, labels, classes)
        if reduction == _MEAN:
            gradient = call(aten.div.Tensor, gradient, total)
        elif gradient.meta["val"].dim():
            gradient = call(aten.unsqueeze.default, gradient, classes)
        gradient = call(aten.where.ScalarOther, call(aten.ne.Scalar, label, ignored), gradient, 0.0)
        numbers = call(aten.arange.default, of_scores.shape[classes])
        numbers = call(aten.view.default, numbers, [-1 if d == classes else 1 for d in range(of_scores.dim())])
        hit = call(aten._to_copy.default, call(aten.eq.Tensor, numbers, label))
        hit.kwargs = {"dtype": of_scores.dtype}
        probability = call(aten.exp.default, scores)
        result = call(aten.mul.Tensor, call(aten.sub.Tensor, probability, hit), gradient)
    node.replace_all_uses_with(result)
    graph.erase_node(node)
    graph.erase_node(of_loss)
