"""PyTorch ops that write a part of a tensor: what they write has to have the shape of the part.

PyTorch's kernels alone ask for that. `torch.export` and Dynamo trace such an op with sources of any shape, and what it is taken
apart into, or compiled to, would read or write beyond memory.

While a model is exported its functions are checked, so that PyTorch knows from there on which sizes are equal. The ops of a
program that comes exported are checked before they are taken apart, but for parts whose place only a run knows: a view of one
lies where no tensor of the program does. That `select` takes such a place from within its dim is asked by `size_checks`.
"""

# Sizes may be symbolic; the annotations do not show it.
# pyright: reportUnnecessaryIsInstance=false

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import zip_longest
from typing import Any

import torch
from torch import Tensor
from torch.fx.experimental.symbolic_shapes import free_unbacked_symbols

_torch: Any = torch
aten: Any = torch.ops.aten
_INTEGERS = (torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64)


def _demand_shape(op: str, source: Tensor, shape: Sequence[Any]) -> None:
    """PyTorch keeps what is demanded of open sizes, and calls check it. Raises RuntimeError for sizes that differ."""
    dims = f"the source of `{op}` has {source.dim()} dims, and the part that it is written to {len(shape)}"
    _torch._check(source.dim() == len(shape), lambda: dims)
    for dim, (own, size) in enumerate(zip(source.shape, shape, strict=True)):
        told = f"dim {dim} of the source of `{op}` has another size than the part that it is written to"
        if isinstance(own, int) and isinstance(size, int):
            told = f"{told}: {own}, not {size}"
        _torch._check(own == size, lambda told=told: told)


def _slice_scatter(
    input: Tensor, src: Tensor, dim: int = 0, start: Any = None, end: Any = None, step: Any = 1
) -> Tensor:
    _demand_shape("slice_scatter", src, aten.slice.Tensor(input, dim, start, end, step).shape)
    return NotImplemented


def _select_scatter(input: Tensor, src: Tensor, dim: int, index: Any) -> Tensor:
    _demand_shape("select_scatter", src, aten.select.int(input, dim, index).shape)
    return NotImplemented


def _diagonal_scatter(input: Tensor, src: Tensor, offset: int = 0, dim1: int = 0, dim2: int = 1) -> Tensor:
    _demand_shape("diagonal_scatter", src, aten.diagonal.default(input, offset, dim1, dim2).shape)
    return NotImplemented


def _as_strided_scatter(
    input: Tensor, src: Tensor, size: Sequence[Any], stride: Sequence[Any], storage_offset: Any = None
) -> Tensor:
    _demand_shape("as_strided_scatter", src, size)
    return NotImplemented


def _index_put(input: Tensor, indices: Sequence[Tensor | None], values: Tensor, accumulate: bool = False) -> Tensor:
    given = [index for index in indices if index is not None]
    counts = any(
        index.dtype in (torch.bool, torch.uint8) for index in given
    )  # a mask: how many elements only a run knows
    if counts or any(free_unbacked_symbols(each.shape) for each in (input, values, *given)):
        return NotImplemented
    places = [dim for dim, index in enumerate(indices) if index is not None]
    front = places[0] if places and places[-1] - places[0] < len(places) else 0  # where indices' dims go
    rest: list[Any] = [size for dim, size in enumerate(input.shape) if dim not in places]
    found: tuple[Any, ...] = _torch.broadcast_shapes(*(index.shape for index in given))
    shape = [*rest[:front], *found, *rest[front:]]
    told = "the values of `index_put` have another shape than the places they go to"
    for own, size in zip_longest(reversed(values.shape), reversed(shape), fillvalue=1):
        if not (isinstance(own, int) and own == 1):
            _torch._check(own == size, lambda: told)
    return NotImplemented


def _index_add(input: Tensor, dim: int, index: Tensor, source: Tensor, *, alpha: Any = 1) -> Tensor:
    if input.dim() == source.dim() > 0 and not any(
        free_unbacked_symbols(each.shape) for each in (input, index, source)
    ):
        shape: list[Any] = [*input.shape]
        shape[dim] = index.numel()
        _demand_shape("index_add", source, shape)
    return NotImplemented


def _narrow(input: Tensor, dim: int, start: Any, length: Any) -> Tensor:
    """PyTorch asks that a part which begins where only a run knows is within its dim, but does not say so.

    Where a tensor says where it begins, it asks of which kind that is, and reads it in a kernel.
    """
    is_read = isinstance(start, Tensor) and start.dim() == 0 and start.dtype in _INTEGERS
    if is_read:
        start = start.item()
    if isinstance(start, torch.SymInt) and free_unbacked_symbols(start):
        size, end = input.size(dim), start + length
        inside = ((start >= 0) & (end <= size)) | ((start >= -size) & (end <= 0))
        _torch._check(inside, lambda: f"the part that `narrow` takes is not within dim {dim}")
    return _torch.narrow(input, dim, start, length) if is_read else NotImplemented


def _at_known_place(check: Callable[..., Any]) -> Callable[..., Any]:
    """A check that is not made where only a run knows the place: a view of it would be traced into the program."""

    def checked(*args: Any, **kwargs: Any) -> Any:
        numbers = [each for each in (*args, *kwargs.values()) if isinstance(each, torch.SymInt)]
        return NotImplemented if any(map(free_unbacked_symbols, numbers)) else check(*args, **kwargs)

    return checked


PARTS: dict[Any, Callable[..., Any]] = {
    aten.slice_scatter.default: _at_known_place(_slice_scatter),
    aten.select_scatter.default: _at_known_place(_select_scatter),
    aten.diagonal_scatter.default: _at_known_place(_diagonal_scatter),
    aten.as_strided_scatter.default: _as_strided_scatter,
    aten.index_put.default: _index_put,
    aten.index_add.default: _index_add,
}
"""Of ops, which check and leave the call to the next decomposition."""

PART_FUNCTIONS: dict[Any, Callable[..., Any]] = {
    torch.narrow: _narrow,
    torch.Tensor.narrow: _narrow,
    torch.slice_scatter: _slice_scatter,
    torch.Tensor.slice_scatter: _slice_scatter,
    torch.select_scatter: _select_scatter,
    torch.Tensor.select_scatter: _select_scatter,
    torch.diagonal_scatter: _diagonal_scatter,
    torch.Tensor.diagonal_scatter: _diagonal_scatter,
    torch.as_strided_scatter: _as_strided_scatter,
    torch.Tensor.as_strided_scatter: _as_strided_scatter,
}
"""Of functions, while a model is exported."""
