"""Selections and stores at places that are counted when the program runs, rewritten to those that `data_sizes` puts code in for.

x[mask], masked_select(x, mask)   ->    x[nonzero(mask)]
x[start : start + 3]              ->    elements at places, where the start may be a negative number
split(x, [n, m])                  ->    x[:n], x[n : n + m]
x[places] = y                     ->    rows stored at places, none of them counted from the end
"""

# PyTorch and SymPy are annotated in part only.
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false
# pyright: reportUnnecessaryIsInstance=false

from __future__ import annotations

import operator
from collections.abc import Sequence
from typing import Any, cast

import sympy
import torch
from torch.fx.node import map_arg

from hotdesk.frontends.torch.cutting import expression_of, note_settled_places, settled_places, shape_expressions
from hotdesk.frontends.torch.data_sizes import defined_symbols, new_symbols, store_rows, symbols_in, value_of
from hotdesk.frontends.torch.decompositions.counted import MASKS
from hotdesk.frontends.torch.lines import place_like

aten: Any = torch.ops.aten
_algebra: Any = sympy  # SymPy's functions are not annotated


def settle_selections(graph: torch.fx.Graph) -> None:
    """Selections by masks become selections by the places of what is true."""
    for node in list(graph.nodes):
        if node.target is aten.masked_select.default:
            _settle_masked_select(node)
        elif node.target is torch.ops.prims.amax.default:
            node.target = aten.amax.default
        elif node.target in _SLICES and any(_is_by_cases(each.meta["val"]) for each in node.all_input_nodes):
            _settle_narrow(node)
        elif node.target is aten.split_with_sizes.default and any(map(_is_node, _split_sizes(node))):
            _settle_split(node)
    for node in list(graph.nodes):
        if node.target is aten.index.Tensor:
            _settle_masks(node)
        elif node.target is aten.index_put.default:
            places = [each for each in cast("Sequence[Any]", node.args[1]) if each is not None]
            is_counted = any(symbols_in(list(value_of(each).shape)) for each in places)
            (_settle_index_put if is_counted else _count_from_front)(node)


def _settle_masked_select(node: torch.fx.Node) -> None:
    given = [cast(torch.fx.Node, each) for each in node.args]
    shape = torch.broadcast_shapes(*(each.meta["val"].shape for each in given))
    with node.graph.inserting_before(node):
        wide = [
            each
            if tuple(each.meta["val"].shape) == tuple(shape)
            else _put(node, aten.expand.default, each, list(shape))
            for each in given
        ]
        made = node.graph.call_function(aten.index.Tensor, (wide[0], [wide[1]]))
    made.meta.update(node.meta)
    node.replace_all_uses_with(made)
    node.graph.erase_node(node)


def _is_by_cases(value: Any) -> bool:
    return isinstance(value, torch.SymInt) and bool(expression_of(value).has(_algebra.Piecewise))


_SLICES = (aten.slice.Tensor, aten.slice_scatter.default)


def _settle_narrow(node: torch.fx.Node) -> None:
    """A part of known length that may begin at a negative number, which ends at one of two then: elements at places."""
    tensor, *rest = cast("tuple[Any, ...]", node.args)
    part = node if node.target is aten.slice.Tensor else rest.pop(0)
    dim, start, _, *step = rest
    length = shape_expressions(value_of(part))[dim]
    if not isinstance(length, int) or step not in ([], [1]):
        return
    with node.graph.inserting_before(node):
        places = _put(node, aten.add.Scalar, _put(node, aten.arange.default, length), start)
        if part is node:
            places = _from_front(node, tensor, places, dim)
            made = node.graph.call_function(aten.index_select.default, (tensor, dim, places))
        else:
            made = node.graph.call_function(aten.index_put.default, (tensor, [*[None] * dim, places], part))
    made.meta.update(node.meta)
    node.replace_all_uses_with(made)
    node.graph.erase_node(node)


def _is_node(value: Any) -> bool:
    return isinstance(value, torch.fx.Node)


def _split_sizes(split: torch.fx.Node) -> Sequence[Any]:
    return cast("Sequence[Any]", split.args[1])


def _settle_split(split: torch.fx.Node) -> None:
    """Parts whose sizes are numbers that vary, of which torch-mlir makes none: each is a slice."""
    tensor, sizes, dim = cast("tuple[torch.fx.Node, Sequence[Any], int]", (*split.args, 0)[:3])
    for part in [user for user in split.users if user.target is operator.getitem]:
        number = cast(int, part.args[1])
        with split.graph.inserting_before(part):
            start: Any = 0
            for size in sizes[:number]:
                start = size if start == 0 else _sum(part, start, size)
            end = sizes[number] if start == 0 else _sum(part, start, sizes[number])
            made = split.graph.call_function(aten.slice.Tensor, (tensor, dim, start, end))
        made.meta.update(part.meta)
        part.replace_all_uses_with(made)
        split.graph.erase_node(part)
    split.graph.erase_node(split)


def _sum(like: torch.fx.Node, a: Any, b: Any) -> Any:
    return _put(like, operator.add, a, b) if _is_node(a) or _is_node(b) else a + b


def _settle_masks(node: torch.fx.Node) -> None:
    _flatten_mask(node)
    indices = list(cast("Sequence[Any]", node.args[1]))
    masks = [each for each in indices if each is not None and each.meta["val"].dtype in MASKS]
    shape, found_before = node.meta["val"].shape, settled_places(node)
    if not masks or len(defined_symbols(node)) != 1:
        return
    new = new_symbols(node)
    counted = next(dim for dim, size in enumerate(shape) if symbols_in(size) & new or (0, dim) in found_before)
    settled_count = {(0, 0): found_before[0, counted]} if found_before else {}
    note_settled_places(node, {})
    places: list[Any] = []
    with node.graph.inserting_before(node):
        for each in indices:
            if each not in masks:
                places.append(each)
                continue
            rank = each.meta["val"].dim()
            found = node.graph.call_function(aten.nonzero.default, (each,))
            found.meta.update({key: value for key, value in node.meta.items() if key != "tensor_meta"})
            note_settled_places(found, settled_count)
            with node.meta["val"].fake_mode:
                found.meta["val"] = torch.empty((shape[counted], rank), dtype=torch.int64)
            places += [_put(node, aten.select.int, found, 1, number) for number in range(rank)]
    node.args = (node.args[0], places)


def _settle_index_put(node: torch.fx.Node) -> None:
    """Stores in as many places as there happen to be, as `decompositions/counted.py` leaves them: torch-mlir's lowering takes
    none for one."""
    tensor, places, values, *rest = cast("tuple[Any, ...]", node.args)
    with node.graph.inserting_before(node):
        columns = [
            _put(node, aten.unsqueeze.default, _from_front(node, tensor, each, dim), 1)
            for dim, each in enumerate(places)
        ]
        index = columns[0] if len(columns) == 1 else _put(node, aten.cat.default, columns, 1)
        for _ in places:
            values = _put(node, aten.unsqueeze.default, values, 1)
        made = node.graph.call_function(store_rows, (tensor, index, values, bool(rest and rest[0])))
    made.meta.update(node.meta)
    node.replace_all_uses_with(made)
    node.graph.erase_node(node)


def _count_from_front(node: torch.fx.Node) -> None:
    """Places of a store that are counted from the end, counted from the front: torch-mlir takes a negative one as it is."""
    tensor, indices, *rest = cast("tuple[Any, ...]", node.args)
    placed: list[Any] = []
    dim = 0
    with node.graph.inserting_before(node):
        for each in indices:
            is_mask = each is not None and value_of(each).dtype in MASKS
            placed.append(each if each is None or is_mask else _from_front(node, tensor, each, dim))
            dim += value_of(each).dim() if is_mask else 1
    node.args = (tensor, placed, *rest)


def _from_front(node: torch.fx.Node, tensor: torch.fx.Node, places: torch.fx.Node, dim: int) -> torch.fx.Node:
    """Places in a dim, none of them counted from its end."""
    if places.target is aten.select.int and cast(Any, places.args[0]).target is aten.nonzero.default:
        return places
    wide = places if value_of(places).dtype == torch.int64 else _put(node, aten.to.dtype, places, torch.int64)
    behind = _put(node, aten.add.Scalar, wide, _sized(node, tensor, dim))
    return _put(node, aten.where.self, _put(node, aten.lt.Scalar, wide, 0), behind, wide)


def _sized(node: torch.fx.Node, tensor: torch.fx.Node, dim: int) -> Any:
    """A size of a tensor: an integer, or a node for it."""
    size = value_of(tensor).shape[dim]
    return size if isinstance(size, int) else _put(node, aten.sym_size.int, tensor, dim)


def _flatten_mask(node: torch.fx.Node) -> None:
    """A mask over several dims, in front of all that it does not select from, as a mask over one."""
    tensor, (mask, *others) = cast("tuple[Any, Any]", node.args)
    if others or mask is None or value_of(mask).dtype not in MASKS or value_of(mask).dim() < 2:
        return
    with node.graph.inserting_before(node):
        rest = list(value_of(tensor).shape)[value_of(mask).dim() :]
        flat = _put(node, aten.reshape.default, tensor, [-1, *rest]) if not _has_sizes(rest) else None
        if flat is not None:
            node.args = (flat, [_put(node, aten.reshape.default, mask, [-1])])


def _has_sizes(sizes: Sequence[Any]) -> bool:
    return any(not isinstance(size, int) for size in sizes)


def _put(like: torch.fx.Node, target: Any, *args: Any) -> torch.fx.Node:
    """A node at the line of another one."""
    made = like.graph.call_function(target, args)
    place_like(made, like)
    with like.meta["val"].fake_mode:
        made.meta["val"] = target(*map_arg(args, lambda each: each.meta["val"]))
    return made
