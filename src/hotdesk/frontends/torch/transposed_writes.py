"""Parts of transposed tensors that are written and transposed back are written in the tensors themselves.

    %t = permute(%x, [1, 0])                        %s = permute(%part, [1, 0])
    %w = slice_scatter(%t, %part, 0, 2, 5)    ->    %y = slice_scatter(%x, %s, 1, 2, 5)
    %y = permute(%w, [1, 0])

A tensor transposed twice would be copied twice. The write goes in front of the transpose iff

1. the op is `slice_scatter`, or `index_put` by integers whose number does not depend on data;
2. somebody transposes its result back, or what more such writes make of it.

Whoever else reads the result reads it transposed. What `slice` and `select` take of the transposed tensor, before or after, is
taken of the tensor itself, and transposed.
"""

# PyTorch is annotated in part only.
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

import torch
from torch.fx import Graph, Node
from torch.fx.experimental.symbolic_shapes import free_unbacked_symbols

aten: Any = torch.ops.aten
_INSERT, _PUT, _SELECT = aten.slice_scatter.default, aten.index_put.default, aten.select.int
_READS = (aten.slice.Tensor, _SELECT)
_INTEGERS = (torch.int64, torch.int32)


def untranspose_writes(graph: Graph) -> None:
    """Moves such writes in front of transposes; see the module."""
    written: dict[Node, None] = {}
    for node in list(graph.nodes):
        if _is_write(node) and (order := _order(node.args[0])) is not None and _is_undone(node, order):
            written |= dict.fromkeys(_move(node, order))
    for source in written:
        for transposed, order in [(user, order) for user in source.users if (order := _order(user)) is not None]:
            for read in [user for user in transposed.users if user.target in _READS]:
                _read_before(read, source, order)
    for node in reversed(graph.nodes) if written else ():
        if node.target in (aten.permute.default, _INSERT, _PUT, *_READS) and not node.users:
            graph.erase_node(node)


def _order(value: Any) -> tuple[int, ...] | None:
    """The dims of its source that a transpose has, in order; None for what is none."""
    if not isinstance(value, Node) or value.target is not aten.permute.default:
        return None
    given = cast("Sequence[int]", value.args[1])
    return tuple(dim % len(given) for dim in given)


def _is_write(node: Node) -> bool:
    if node.target is _PUT:
        indices = [each for each in cast("Sequence[Any]", node.args[1]) if each is not None]
        values = [each.meta["val"] for each in indices]
        counted = any(free_unbacked_symbols(each.shape) for each in values)
        return bool(values) and not counted and all(each.dtype in _INTEGERS for each in values)
    return node.target is _INSERT


def _is_undone(write: Node, order: Sequence[int]) -> bool:
    """Whether what a write makes of a transposed tensor is transposed back in the end."""
    for user in write.users:
        if _is_write(user) and user.args[0] is write and _is_undone(user, order):
            return True
        if _undoes(user, order):
            return True
    return False


def _undoes(node: Node, order: Sequence[int]) -> bool:
    back = _order(node)
    return back is not None and [order[dim] for dim in back] == [*range(len(order))]


def _move(write: Node, order: Sequence[int]) -> tuple[Node, Node]:
    """Moves a write in front of a transpose; the tensor before it, and behind it."""
    source = cast(Node, cast(Node, write.args[0]).args[0])
    with write.graph.inserting_before(write):
        if write.target is _PUT:
            args = (source, *_put(write, order))
        else:
            dim = _dim(write, 2, len(order))
            part = _permuted(cast(Node, write.args[1]), _sorted(order))
            args = (source, part, order[dim], *write.args[3:])
        made = _call(write, write.target, args, source.meta["val"])
        again = _permuted(made, order)
    for user in [user for user in write.users if _undoes(user, order)]:
        user.replace_all_uses_with(made)
    write.replace_all_uses_with(again)
    return source, made


def _read_before(read: Node, source: Node, order: Sequence[int]) -> None:
    """Takes a part of a transposed tensor of the tensor itself, and transposes it."""
    dim = _dim(read, 1, len(order))
    kept = [each for place, each in enumerate(order) if not (place == dim and read.target is _SELECT)]
    places = _sorted(kept)
    with read.graph.inserting_before(read):
        value = read.meta["val"].permute(places)
        made = _call(read, read.target, (source, order[dim], *read.args[2:]), value)
        back = _permuted(made, _sorted(places))
    read.replace_all_uses_with(back)


def _sorted(dims: Sequence[int]) -> list[int]:
    """The places of dims, in the order of the dims."""
    return sorted(range(len(dims)), key=lambda place: dims[place])


def _put(write: Node, order: Sequence[int]) -> tuple[list[Node | None], Node, Any]:
    """The indices and values of a put into the source, and whether it adds."""
    given = [*cast("Sequence[Node | None]", write.args[1])]
    given += [None] * (len(order) - len(given))
    indices: list[Node | None] = [given[place] for place in _sorted(order)]
    rank = max(index.meta["val"].dim() for index in indices if index is not None)
    before = _places([index is not None for index in given], range(len(order)), rank)
    after = _places([index is not None for index in indices], _sorted(order), rank)
    values = cast(Node, write.args[2])
    while values.meta["val"].dim() < len(before):
        values = _call(write, aten.unsqueeze.default, (values, 0), values.meta["val"].unsqueeze(0))
    accumulate = write.args[3] if len(write.args) > 3 else False
    return indices, _permuted(values, [before.index(place) for place in after]), accumulate


def _places(indexed: Sequence[bool], names: Sequence[int], dims: int) -> list[int]:
    """The dims of the values of a put: those of the tensor that are not indexed, by name, and -1, -2, … of the indices."""
    of_indices = [-1 - dim for dim in range(dims)]
    at = [dim for dim, is_indexed in enumerate(indexed) if is_indexed]
    rest = [name for name, is_indexed in zip(names, indexed, strict=True) if not is_indexed]
    front = at[0] if at[-1] - at[0] < len(at) else 0
    return [*rest[:front], *of_indices, *rest[front:]]


def _dim(node: Node, place: int, rank: int) -> int:
    return cast(int, node.args[place]) % rank if len(node.args) > place else 0


def _permuted(value: Node, order: Sequence[int]) -> Node:
    if [*order] == [*range(len(order))]:
        return value
    return _call(value, aten.permute.default, (value, [*order]), value.meta["val"].permute([*order]))


def _call(like: Node, target: Any, args: tuple[Any, ...], value: Any) -> Node:
    """A call in place of another one, with a value of its own."""
    made = like.graph.call_function(target, args)
    made.meta.update({key: held for key, held in like.meta.items() if key != "tensor_meta"}, val=value)
    return made
