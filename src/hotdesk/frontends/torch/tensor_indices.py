"""Indices that are tensors of one number, as in `cache[:, pos]`: Dynamo's graphs index by these tensors, not by their numbers.

    x[:, pos] = y    ->    index_put_(x, (None, pos), y)
    x[:, pos]        ->    index(x, (None, pos))

PyTorch makes a view of them, and asks for the number while AOTAutograd takes the graph apart, when there is none.

1. Numbers, slices, `None` and `...` beside them are a view in front: `x[1, :, pos]` indexes `x[1]`.
2. Masks and tensors of more dims beside them are left alone. Dynamo itself breaks graphs at places of types other than int64.
3. A read is a copy, made where nobody can tell: neither it nor a view of it is returned or given to what may write, and
   nothing is written before its last use.
"""

# PyTorch is annotated in part only.
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false
# pyright: reportPrivateUsage=false

from __future__ import annotations

import copy
import operator
from collections.abc import Collection, Generator
from contextlib import contextmanager
from types import EllipsisType
from typing import Any

import torch

_MODULES = ("_operator", "torch", "torch.functional", "torch.nn.functional", "torch._C._nn")
"""Where functions are from whose names say whether they write: `add_` does, and `+=` returns what it wrote."""
_WRITERS = ("setitem", "delitem", "batch_norm", "instance_norm", "embedding", "embedding_bag")
"""Those that write, or may, and do neither."""
_VIEWS = (
    *(
        "getitem",
        "view",
        "reshape",
        "flatten",
        "unflatten",
        "transpose",
        "permute",
        "movedim",
        "swapaxes",
        "t",
        "contiguous",
    ),
    *("squeeze", "unsqueeze", "expand", "expand_as", "narrow", "select", "to", "float", "type_as", "detach"),
)
"""What may return the memory of an argument as it is."""


@contextmanager
def indexed_by_tensors(owner: torch.fx.GraphModule) -> Generator[None]:
    """Within it the graph of `owner`, and not those of its control flow, is changed; behind it `owner` computes as it did."""
    if not any(_split(*node.args[:2]) for node in owner.graph.nodes if _is_indexing(node)):
        yield
        return
    original = copy.deepcopy(owner.graph)  # the copies of its nodes lack what Dynamo notes of their sources
    for node in filter(_is_indexing, list(owner.graph.nodes)):
        if node.target is operator.setitem:
            _store(node)
        else:
            _read(node)
    owner.recompile()
    try:
        yield
    finally:
        owner.graph = original


def _is_indexing(node: torch.fx.Node) -> bool:
    return node.op == "call_function" and node.target in (operator.setitem, operator.getitem) and not node.kwargs


def _store(node: torch.fx.Node) -> None:
    x, index, given = node.args
    found, into = _split(x, index), _tensor(x)
    if found is None or into is None:
        return
    view, places = found
    graph = node.graph
    if isinstance(given, bool | int | float):
        with graph.inserting_before(node):
            given = graph.call_function(torch.full, ((), given), {"dtype": into.dtype, "device": into.device})
    else:
        value = _tensor(given)
        if value is None or (value.is_complex() and not into.is_complex()) or value.dim() > _rank(into, index):
            return
        if value.dtype != into.dtype:
            with graph.inserting_before(node):
                given = graph.call_method("to", (given, into.dtype))
    with graph.inserting_before(node):
        stored = graph.call_function(torch.ops.aten.index_put_.default, (_viewed(graph, x, view), places, given))
    stored.meta.update({name: each for name, each in node.meta.items() if name != "example_value"})
    node.replace_all_uses_with(stored)
    graph.erase_node(node)


def _read(node: torch.fx.Node) -> None:
    x, index = node.args
    found = _split(x, index)
    if found is None or not _is_copied_unseen(node):
        return
    view, places = found
    graph = node.graph
    with graph.inserting_before(node):
        read = graph.call_function(torch.ops.aten.index.Tensor, (_viewed(graph, x, view), places))
    read.meta.update(node.meta)
    node.replace_all_uses_with(read)
    graph.erase_node(node)


def _viewed(graph: torch.fx.Graph, x: Any, view: tuple[Any, ...]) -> torch.fx.Node:
    is_all = all(isinstance(each, slice) and each == slice(None) for each in view)
    return x if is_all else graph.call_function(operator.getitem, (x, view))


def _split(x: Any, index: Any) -> tuple[tuple[Any, ...], list[Any]] | None:
    """The index of a view, and the tensors that index this view, by dim; None if there are none, or what is no place or basic."""
    into = _tensor(x)
    if into is None:
        return None
    view: list[Any] = []
    places: list[Any] = []
    given = index if isinstance(index, tuple) else (index,)
    for each in given:
        if _is_place(each):
            view.append(slice(None))
            places.append(each)
        elif each is None or isinstance(each, slice):
            view.append(each)
            places.append(None)
        elif isinstance(each, EllipsisType):
            view.append(each)
            places += [None] * (into.dim() - _taken(given))
        elif _is_number(each):
            view.append(each)
        else:
            return None
    if not any(each is not None for each in places) or _taken(given) > into.dim():
        return None
    while places[-1] is None:
        places.pop()
    return tuple(view), places


def _taken(given: tuple[Any, ...]) -> int:
    """How many dims an index is about."""
    return sum(each is not None and not isinstance(each, EllipsisType) for each in given)


def _rank(into: torch.Tensor, index: Any) -> int:
    """How many dims `into[index]` has."""
    given = index if isinstance(index, tuple) else (index,)
    return into.dim() + sum((each is None) - (_is_place(each) or _is_number(each)) for each in given)


def _tensor(each: Any) -> torch.Tensor | None:
    value = each.meta.get("example_value") if isinstance(each, torch.fx.Node) else None
    return value if isinstance(value, torch.Tensor) else None


def _is_place(each: Any) -> bool:
    value = _tensor(each)
    return value is not None and value.dim() == 0 and value.dtype == torch.int64


def _is_number(each: Any) -> bool:
    value = each.meta.get("example_value") if isinstance(each, torch.fx.Node) else each
    return isinstance(value, int | torch.SymInt) and not isinstance(value, bool)


def _is_copied_unseen(read: torch.fx.Node) -> bool:
    """Condition 3."""
    memory = _memory(read)
    same: set[torch.fx.Node] = {read}
    uses: set[torch.fx.Node] = set()
    nodes = list(read.graph.nodes)
    behind = nodes[nodes.index(read) + 1 :]
    for node in behind:
        if same.isdisjoint(node.all_input_nodes):
            continue
        uses.add(node)
        if _memory(node) == memory:
            same.add(node)
        elif _tensor(node) is None and not _stores(node, same):  # such as a tuple of views
            return False
    for node in behind:
        if not uses:
            break
        if not _is_pure(node) and not (uses == {node} and _stores(node, same)):
            return False
        uses.discard(node)
    return True


def _memory(node: torch.fx.Node) -> int | None:
    value = _tensor(node)
    return None if value is None else value.untyped_storage()._cdata


def _stores(node: torch.fx.Node, values: Collection[torch.fx.Node]) -> bool:
    """Whether a node stores one of the values somewhere else."""
    return node.target is operator.setitem and node.args[0] not in values and node.args[2] in values


def _is_pure(node: torch.fx.Node) -> bool:
    """Whether an op is known to write to nothing."""
    if node.op in ("get_attr", "placeholder"):
        return True
    if node.op not in ("call_method", "call_function"):
        return False
    target: Any = node.target
    name = target if isinstance(target, str) else getattr(target, "__name__", "_")
    if (
        not isinstance(target, str)
        and getattr(target, "__module__", None) not in _MODULES
        and target is not _torchs(name)
    ):
        return False
    if name.endswith("_") or name in _WRITERS or node.kwargs.get("out") is not None:
        return False
    return name in _VIEWS or _memory(node) is None or _memory(node) not in map(_memory, node.all_input_nodes)


def _torchs(name: str) -> Any:
    return getattr(torch, name, None) or getattr(torch.nn.functional, name, None)
