"""Results of a graph that are views of its arguments or of other results: PyTorch makes them again at each call.

AOTAutograd makes a view that a function returns from what it is a view of, by sizes, strides and offset of what the graph
returned. A copy of the view has others. So such results are left to PyTorch's own view ops, on the tensors that were given and
returned; no program computes or copies them.

A result is one of them if nothing but ops that return views lies between it and an argument that the graph does not change, or a
result that is computed and lies without gaps, and these ops read nothing else but numbers that follow from arguments.
"""

# PyTorch is annotated in part only.
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false

from __future__ import annotations

import operator
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from typing import Any, cast

import torch
from torch.fx import Graph, GraphModule, Node

from hotdesk.errors import UnsupportedOpError
from hotdesk.frontends.torch.lines import node_line
from hotdesk.frontends.torch.signature import order_in_memory
from hotdesk.graphs import reached


@dataclass(frozen=True, slots=True)
class Returned:
    """What becomes of a graph's results.

    Attributes:
        first: how many of them, from the first on, go to who calls the graph.
        again: the places of those that are made again by sizes, strides and offset of what the graph returns.
    """

    first: int = 0
    again: Collection[int] = ()


@dataclass(frozen=True, slots=True)
class ReturnedViews:
    """Views among the results of a graph.

    Attributes:
        places: which results they are.
        arguments: the numbers of the arguments that they follow from.
        bases: the places of the other results that they follow from.
        make: gives them, of these arguments and results.
    """

    places: tuple[int, ...]
    arguments: tuple[int, ...]
    bases: tuple[int, ...]
    make: Callable[..., Sequence[torch.Tensor]]

    def put(self, results: list[Any], args: Sequence[Any]) -> None:
        """Puts the views of a call at their places."""
        given = (*(args[number] for number in self.arguments), *(results[place] for place in self.bases))
        for place, view in zip(self.places, self.make(*given), strict=True):
            results[place] = view


def take_returned_views(graph: Graph, known: Returned) -> ReturnedViews | None:
    """Takes the views among the first results out of a graph, which returns () in their place; None if there are none.

    Raises:
        UnsupportedOpError: a result that is made again is no such view, so that a copy of it would be taken for one.
    """
    output = graph.output_node()
    results: list[Any] = list(cast(Any, output.args[0]))
    placeholders = graph.find_nodes(op="placeholder")
    changed = {node.args[0] for node in graph.find_nodes(op="call_function", target=torch.ops.aten.copy_.default)}
    roots = {*filter(_is_tensor, results[: known.first]), *placeholders} - changed
    views: dict[int, Node] = {}
    bases: dict[Node, int] = {}
    for place, value in enumerate(results[: known.first]):
        if not _is_tensor(value) or value.op == "placeholder":
            continue
        root = _root(value, roots)
        is_computed = root.op != "placeholder"
        if root is value or (is_computed and order_in_memory(root.meta["val"]) is None):
            if place in known.again:
                raise _no_view(value)
            continue
        views[place] = value
        if is_computed:
            bases[root] = results.index(root)
    if not views:
        return None
    made = _made(graph, placeholders, views, bases)
    for place in views:
        results[place] = ()
    output.args = (tuple(results),)
    graph.eliminate_dead_code()
    return made


def _no_view(value: Node) -> UnsupportedOpError:
    return UnsupportedOpError(
        f"result `{value.name}` is a view that cannot be made again",
        expected="views, by sizes alone, of an argument or of a result without gaps",
        got=f"what `{value.target}` gives",
        where=node_line(value),
        hint="Return a copy of it: `.clone()`.",
    )


def _root(value: Node, roots: Collection[Node]) -> Node:
    """The last of these nodes on the way to what a value is a view of; the value itself, which is one, if there is no other."""
    root, node = value, value
    while node.op != "placeholder" and all(map(_is_number, node.all_input_nodes[1:])):
        source = _viewed(node)
        if source is None:
            break
        node = source
        root = node if node in roots else root
    return root


def _is_number(node: Node) -> bool:
    """Whether a node is a number that follows from arguments alone."""
    if _is_tensor(node):
        return False
    found = reached([node], lambda each: () if each.op == "placeholder" else each.all_input_nodes)
    return all(each.op == "placeholder" or (each.op == "call_function" and not _is_tensor(each)) for each in found)


def _viewed(node: Node) -> Node | None:
    """What a node is a view of."""
    if node.op != "call_function" or not node.args or not isinstance(node.args[0], Node):
        return None
    if node.target is operator.getitem:
        return node.args[0]
    schema: Any = getattr(node.target, "_schema", None)
    if schema is None or not schema.returns:
        return None
    told = [each.alias_info for each in schema.returns]
    if any(each is None or each.is_write for each in told) or schema.arguments[0].alias_info is None:
        return None
    return node.args[0]


def _is_tensor(value: Any) -> bool:
    return isinstance(value, Node) and isinstance(value.meta.get("val"), torch.Tensor)


def _made(graph: Graph, placeholders: Sequence[Node], views: dict[int, Node], bases: dict[Node, int]) -> ReturnedViews:
    """The ops of these views as a module of their own."""
    needed = {*reached(views.values(), lambda node: () if node in bases else node.all_input_nodes)}
    own = Graph()
    copies: dict[Node, Node] = {}
    read = [(number, node) for number, node in enumerate(placeholders) if node in needed]
    found = [(place, node) for node, place in bases.items() if node in needed]
    for number, node in (*read, *found):
        copies[node] = own.placeholder(f"given_{len(copies)}_{number}")
    for node in graph.nodes:
        if node in needed and node not in copies:
            copies[node] = own.node_copy(node, copies.__getitem__)
    own.output(tuple(copies[node] for node in views.values()))
    return ReturnedViews(
        places=tuple(views),
        arguments=tuple(number for number, _ in read),
        bases=tuple(place for place, _ in found),
        make=GraphModule(torch.nn.Module(), own),
    )


__all__ = ["Returned", "ReturnedViews", "take_returned_views"]
