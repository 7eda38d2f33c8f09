"""Results of a graph that are views of arguments, of other results or of what it computes: PyTorch makes them at each call.

AOTAutograd makes a view that a function returns from what it is a view of, by sizes, strides and offset of what the graph
returned. A copy of the view has others. So such results are left to PyTorch's own view ops, on the tensors that were given and
returned; no program computes or copies them.

A result is one of them if nothing but ops that return views lies between it and

1. an argument that the graph does not change, or a result that is computed and lies without gaps; or
2. where the result itself has gaps or is broadcast, a value that is computed and has not: the program returns that one in place
   of the result, as its base. What is kept for a backward graph is a copy, as AOTAutograd would not notice that it changes; or
3. where several results are views of one value that is computed and lies without gaps, that value, as in 2: where one of them
   is changed in place, so are the others.

The ops read nothing else but numbers that follow from arguments.
"""

# PyTorch is annotated in part only.
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false

from __future__ import annotations

import operator
from collections import Counter
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from typing import Any, cast

import torch
from torch.fx import Graph, GraphModule, Node
from torch.fx.experimental.symbolic_shapes import statically_known_true

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
        bases: the places of the other results that they follow from; those behind all results are no results of the graph.
        make: gives them, of these arguments and results.
        count: how many results the graph has.
        computed: the places of the views whose base is no result of the graph's.
    """

    places: tuple[int, ...]
    arguments: tuple[int, ...]
    bases: tuple[int, ...]
    make: Callable[..., Sequence[torch.Tensor]]
    count: int
    computed: Collection[int]

    def put(self, results: list[Any], args: Sequence[Any]) -> None:
        """Puts the views of a call at their places, and drops bases that are no results.

        To autograd a view of such a base is a tensor like any other that was computed, which may be changed in place.
        """
        given = (*(args[number] for number in self.arguments), *(results[place] for place in self.bases))
        for place, view in zip(self.places, self.make(*given), strict=True):
            results[place] = view.detach() if place in self.computed else view
        del results[self.count :]


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
    count = len(results)
    computed: set[int] = set()
    several = _several_views(results[: known.first], known.again, roots)
    for place, value in enumerate(results[: known.first]):
        if not _is_tensor(value) or value.op == "placeholder":
            continue
        root, base = _root(value, roots), several.get(place)
        if base is not None or root is value or (root.op != "placeholder" and _has_gaps(root)):
            if place in known.again:
                raise _no_view(value)
            root = base or _computed_base(value)
            if root is None:
                continue
            computed.add(place)
        views[place] = value
        if root.op != "placeholder" and root not in bases:
            if place in computed:
                bases[root] = len(results)
                results.append(root)
            else:
                bases[root] = results.index(root)
    if not views:
        return None
    made = _made(graph, placeholders, views, bases, count, computed)
    for place in views:
        results[place] = ()
    output.args = (tuple(results),)
    graph.eliminate_dead_code()
    return made


def _has_gaps(value: Node) -> bool:
    """Whether a tensor has gaps, is broadcast, or may be: its copy lies in another way. So of several tensors in one value."""
    return not _is_tensor(value) or order_in_memory(value.meta["val"]) is None


def _several_views(results: Sequence[Any], again: Collection[int], roots: Collection[Node]) -> dict[int, Node]:
    """The places of results that are views of one value, with it: it is computed, lies without gaps and is no result itself."""
    views = {place: value for place, value in enumerate(results) if _is_tensor(value) and place not in again}
    bases = {place: _viewed_in_the_end(value) for place, value in views.items()}
    counts = Counter(_viewed_in_the_end(value) for value in {*views.values()})
    return {
        place: base
        for place, base in bases.items()
        if counts[base] > 1 and base not in roots and base.op != "placeholder" and not _has_gaps(base)
    }


def _viewed_in_the_end(value: Node) -> Node:
    """The tensor that a value is a view of, which is none itself; the value if it is no view."""
    base, node = value, _source(value)
    while node is not None:
        base = node if _is_tensor(node) else base
        node = _source(node)
    return base


def _computed_base(value: Node) -> Node | None:
    """What is computed that a result with gaps is a view of, and has none itself; None if there is no such value.

    The last one on the way or, of several views of all its elements, the first.
    """
    if not _has_gaps(value):
        return None
    base: Node | None = value
    while base is not None and base.op != "placeholder" and _has_gaps(base):
        base = _source(base)
    if base is None or base.op == "placeholder":
        return None
    source = _source(base)
    while source is not None and source.op != "placeholder" and _are_same_elements(source, base):
        base, source = source, _source(source)
    return base


def _are_same_elements(source: Node, view: Node) -> bool:
    if _has_gaps(source):
        return False
    return bool(statically_known_true(source.meta["val"].numel() == view.meta["val"].numel()))


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
    root = value
    node = _source(value)
    while node is not None:
        root = node if node in roots else root
        node = _source(node)
    return root


def _source(node: Node) -> Node | None:
    """What a node is a view of, by numbers that follow from arguments alone; None if it is no such view."""
    is_told = node.op != "placeholder" and all(map(_is_number, node.all_input_nodes[1:]))
    return _viewed(node) if is_told else None


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


def _made(
    graph: Graph,
    placeholders: Sequence[Node],
    views: dict[int, Node],
    bases: dict[Node, int],
    count: int,
    computed: Collection[int],
) -> ReturnedViews:
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
        count=count,
        computed=frozenset(computed),
    )


__all__ = ["Returned", "ReturnedViews", "take_returned_views"]
