"""Ops whose sizes the values of tensors decide, where PyTorch's own way does not hold for all of these sizes.

Stores in as many places as there happen to be take the one form that is compiled:

    x.index_put([i, j], y)    ->    rows y, [n, rest], stored at x[i, j], with i and j of n places each in the first dims of x

* masks are the places of what is true;
* indices are broadcast to one another, values to what they are stored in, and the dims of the indices become one;
* dims that are not indexed go behind those that are, and back afterwards;
* counts that are not known to be equal are checked when the program runs; as many values as one are stored in all places.

The largest of what may be empty is minus infinity inside of a softmax, and no number elsewhere: that is checked.
"""

# Sizes may be symbolic; the annotations do not show it.
# pyright: reportUnnecessaryIsInstance=false, reportUnknownMemberType=false, reportPrivateUsage=false
# pyright: reportUnknownVariableType=false, reportUnknownArgumentType=false

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import combinations, combinations_with_replacement
from math import comb
from typing import Any, TypeGuard

import numpy as np
import torch
from torch import Tensor
from torch.fx.experimental.symbolic_shapes import free_unbacked_symbols, statically_known_true, sym_or

aten: Any = torch.ops.aten
MASKS = (torch.bool, torch.uint8)


def counted_index_put(
    x: Tensor, indices: Sequence[Tensor | None], values: Tensor, accumulate: bool = False, *_: Any
) -> Tensor:
    """`index_put` in the form above; NotImplemented if it has that form, or if no number of places depends on values."""
    given = [each for each in indices if each is not None]
    is_counted = any(_is_counted(each) for each in [*given, values]) or any(each.dtype in MASKS for each in given)
    if not is_counted or _is_settled(x, indices, values):
        return NotImplemented
    places = _places(indices)
    dims = sorted(places)
    if not dims or any(each.dim() == 0 and each.dtype in MASKS for each in given):
        return NotImplemented
    others = [dim for dim in range(x.dim()) if dim not in places]
    wide = _broadcast([places[dim] for dim in dims])
    shape = list(wide[0].shape)
    begin = dims[0] if dims == list(range(dims[0], dims[-1] + 1)) else 0  # where PyTorch has the dims of the places
    inner = [x.size(dim) for dim in others]
    rows = _expanded(values, [*inner[:begin], *shape, *inner[begin:]])
    rows = rows.movedim(list(range(begin, begin + len(shape))), list(range(len(shape))))
    if len(shape) != 1:
        wide = [each.reshape([-1]) for each in wide]
        rows = rows.reshape([wide[0].size(0), *inner])
    order = [*dims, *others]
    stored = aten.index_put(x.permute(order), wide, rows, accumulate)
    return stored.permute([order.index(dim) for dim in range(x.dim())])


def _is_counted(x: Tensor) -> bool:
    return bool(free_unbacked_symbols(x.shape))


def _is_settled(x: Tensor, indices: Sequence[Tensor | None], values: Tensor) -> bool:
    """Whether a store has the form that is compiled."""
    first = indices[0]
    if first is None or first.dim() != 1:
        return False
    if not all(each is not None and each.dtype not in MASKS and are_same(each.shape, first.shape) for each in indices):
        return False
    return are_same(values.shape, [*first.shape, *x.shape[len(indices) :]])


def are_same(sizes: Sequence[Any], others: Sequence[Any]) -> bool:
    """Whether sizes are known to be equal; those that two ops have counted are not."""
    pairs = zip(sizes, others, strict=False)
    return len(sizes) == len(others) and all(statically_known_true(size == other) for size, other in pairs)


def _places(indices: Sequence[Tensor | None]) -> dict[int, Tensor]:
    """The places in each dim that is indexed, by that dim."""
    found: dict[int, Tensor] = {}
    dim = 0
    for each in indices:
        if each is None:
            dim += 1
        elif each.dtype not in MASKS:
            found[dim] = each
            dim += 1
        else:
            true = aten.nonzero(each)
            found |= {dim + number: true.select(1, number) for number in range(each.dim())}
            dim += each.dim()
    return found


def _broadcast(tensors: Sequence[Tensor]) -> list[Tensor]:
    """Tensors of one shape. A count that may differ from another is never 1 for that: it is checked to be the same."""
    rank = max(each.dim() for each in tensors)
    full = [each.reshape([*[1] * (rank - each.dim()), *each.shape]) for each in tensors]
    shape: list[Any] = []
    for dim in range(rank):
        sizes = [each.size(dim) for each in full if not _is_one(each.size(dim))]
        for size in sizes[1:]:
            torch._check(size == sizes[0])
        shape.append(sizes[0] if sizes else 1)
    return [each if are_same(each.shape, shape) else each.expand(shape) for each in full]


def _expanded(values: Tensor, shape: Sequence[Any]) -> Tensor:
    """Values broadcast to a shape."""
    values = values.reshape(list(values.shape)[max(0, values.dim() - len(shape)) :])
    for dim in range(values.dim()):
        size, wanted = values.size(dim), shape[dim - values.dim()]
        if _is_one(size) or statically_known_true(size == wanted):
            continue
        torch._check(sym_or(size == wanted, size == 1))
        each = torch.arange(wanted)
        values = aten.index_select(values, dim, torch.where(each < size, each, 0))
    return values if are_same(values.shape, shape) else values.expand(shape)


def _is_one(size: Any) -> bool:
    return statically_known_true(size == 1)


def counted_amax(x: Tensor, dim: int) -> Tensor:
    """The largest along a dim, which is kept; minus infinity along one that turns out to be empty.

    PyTorch's `aten.amax` demands elements; `settle_selections` makes one of this op when nobody asks any more.
    """
    if not isinstance(x.size(dim), int) and free_unbacked_symbols(x.size(dim)):
        return torch.ops.prims.amax(x, [dim % x.dim()]).unsqueeze(dim)
    return torch.amax(x, [dim], keepdim=True)


def extreme(op: Callable[..., Tensor]) -> Callable[[Tensor], Tensor]:
    """The largest or the smallest of all elements, given that along dims: it checks that there are elements."""

    def checked(x: Tensor) -> Tensor:
        return op(x, list(range(x.dim()))) if _is_counted(x) and x.dim() else NotImplemented

    return checked


COUNTED: dict[Any, Callable[..., Any]] = {
    aten.max.default: extreme(torch.amax),
    aten.min.default: extreme(torch.amin),
}


def _masked_select(x: Tensor, mask: Tensor) -> Tensor:
    """Of what both are broadcast to: PyTorch takes the number of elements of `x` for a limit."""
    shape = torch.broadcast_shapes(x.shape, mask.shape)
    if not shape:  # a scalar is selected, or not, as a tensor of one element
        return torch.masked_select(x.reshape(1), mask.reshape(1))
    return torch.masked_select(x.expand(shape), mask)


def _get_item(x: Tensor, index: Any) -> Any:
    """`x[mask]` with a mask of one truth: of none or one of such tensors, all of it."""
    return x.unsqueeze(0)[index.reshape(1)] if _is_truth(index) else NotImplemented


def _is_truth(index: Any) -> TypeGuard[Tensor]:
    return isinstance(index, Tensor) and index.dtype == torch.bool and index.dim() == 0


def _set_item(x: Tensor, index: Any, value: Any) -> Any:
    """`x[mask] = value` with a mask of one truth, as a selection: PyTorch would ask for the truth itself.

    And `x[:, n] = value` with a number that only the run knows, or a tensor of one, as `x[:, n][…] = value`: PyTorch's indexing
    takes none.
    """
    index = _with_numbers(index)
    if isinstance(index, tuple) and any(isinstance(each, torch.SymInt) for each in index):
        part, rest = _selected(x, tuple(map(_with_dims, index)))
        part[rest] = value
        return None
    if not _is_truth(index):
        return NotImplemented
    given = value if isinstance(value, Tensor) else torch.full([], value, dtype=x.dtype)
    if given.dtype != x.dtype:
        return NotImplemented
    extra = given.dim() - x.dim()
    if any(size != 1 for size in given.shape[: max(0, extra)]):
        return NotImplemented
    x.copy_(torch.where(index, given.reshape(given.shape[max(0, extra) :]), x))
    return None


def _with_numbers(index: Any) -> Any:
    """An index with the number of each tensor that is one, if there is one that only the run knows."""
    places = index if isinstance(index, tuple) else (index,)
    numbers = tuple(each.item() if _is_number(each) else each for each in places)
    is_told = any(isinstance(each, torch.SymInt) for each in numbers)
    return numbers if is_told and any(map(_is_number, places)) else index


def _is_number(place: Any) -> TypeGuard[Tensor]:
    if not isinstance(place, Tensor) or place.dim() != 0 or place.dtype in MASKS:
        return False
    return not place.dtype.is_floating_point and not place.dtype.is_complex


def _selected(x: Tensor, index: tuple[Any, ...]) -> tuple[Tensor, tuple[Any, ...]]:
    """The view of a tensor at those of its places that are numbers which vary, and the other places."""
    dim = 0
    for number, each in enumerate(index):
        if isinstance(each, torch.SymInt):
            x = x.select(dim, each)
        elif each is Ellipsis:
            dim = x.dim() - sum(map(_indexed_dims, index[number + 1 :]))
        else:
            dim += _indexed_dims(each)
    return x, tuple(each for each in index if not isinstance(each, torch.SymInt))


def _with_dims(place: Any) -> Any:
    """A place in an index, as a tensor if it is a list or an array: a mask stands for as many dims as it has."""
    return torch.tensor(place) if isinstance(place, Sequence | np.ndarray) else place


def _indexed_dims(place: Any) -> int:
    """How many dims of a tensor one of the places in an index stands for."""
    if place is None or isinstance(place, bool):
        return 0
    return place.dim() if isinstance(place, Tensor) and place.dtype in MASKS else 1


SELECTIONS: dict[Any, Callable[..., Any]] = {
    torch.masked_select: _masked_select,
    Tensor.masked_select: _masked_select,
    Tensor.__getitem__: _get_item,
    Tensor.__setitem__: _set_item,
}


def _unique_consecutive(*args: Any, **kwargs: Any) -> Any:
    """Along a dim that is counted from the front: PyTorch takes the sizes of the results for others with one from the end."""
    names = ("input", "return_inverse", "return_counts", "dim")
    given = {**dict(zip(names, args, strict=False)), **kwargs}
    dim = given.get("dim")
    if dim is None or dim >= 0:
        return NotImplemented
    x = given.pop("input")
    return torch.unique_consecutive(x, **{**given, "dim": range(x.dim())[dim]})


_MOST_COMBINATIONS = 1 << 16
"""Rows of places that are a constant of the program."""


def _combinations(input: Tensor, r: int = 2, with_replacement: bool = False) -> Tensor:
    """Of as many elements as are known: PyTorch reads which ones go together from a mask."""
    if input.dim() != 1 or not isinstance(input.shape[0], int) or r < 1:
        return NotImplemented
    count, chosen = input.shape[0], combinations_with_replacement if with_replacement else combinations
    if comb(count + r - 1 if with_replacement else count, r) > _MOST_COMBINATIONS:
        return NotImplemented
    places = torch.tensor(list(chosen(range(count), r)), dtype=torch.int64).reshape(-1, r)
    return input[places]


NAMED: dict[Any, Callable[..., Any]] = {
    torch.unique_consecutive: _unique_consecutive,
    Tensor.unique_consecutive: _unique_consecutive,
    torch.combinations: _combinations,
}
"""Functions whose arguments are mostly given by name."""
