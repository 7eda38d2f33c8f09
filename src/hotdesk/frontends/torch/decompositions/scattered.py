"""PyTorch ops that write or add where indices say, in the forms that torch-mlir can be trusted with.

* dims are counted from the front (torch-mlir's passes die of negative ones), scalars have one;
* booleans and unsigned bytes are added and compared as 32-bit integers (torch-mlir sees them as signed);
* the mean of integers is the floor of their sum by their number;
* `scatter` with a reduction is the op of that reduction;
* `scatter` of tensors of known sizes puts elements into a row of them all, at one number each, where torch-mlir keeps one for
  each dim, and the elements once more;
* `index_copy` into inner dims says where each row goes, where PyTorch transposes the whole tensor twice;
* `index_copy` and `index_add` count from the front alone, and `max_unpool` within a plane: an index that they do not take becomes
  one behind the end, which each run checks, because the stores that they become take more;
* writing one value where a mask is true is a selection;
* stores in as many places as the values of tensors decide take the form that is compiled (`counted`);
* `embedding_bag` gathers rows and adds them up by bag: padding and what no bag holds goes to one bag more, which is cut off;
  sums of 16-bit floats are in f32, and rounded once;
* sums, means and products of 16-bit floats by index are so, too.
"""

# Sizes may be symbolic; the annotations do not show it.
# pyright: reportUnnecessaryIsInstance=false

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, cast

import torch
from torch import Tensor
from torch._decomp import decomposition_table  # pyright: ignore[reportUnknownVariableType]
from torch.fx.experimental.symbolic_shapes import statically_known_true

from hotdesk.frontends.torch.decompositions.counted import MASKS, counted_index_put
from hotdesk.frontends.torch.decompositions.widened import compute_dtype, either

_torch: Any = torch
aten: Any = torch.ops.aten
_PYTORCH = cast("dict[Any, Callable[..., Any]]", decomposition_table)


def _plain_dim(op: Callable[..., Tensor]) -> Callable[..., Tensor]:
    """The op with its dim counted from the front, on tensors that have one."""

    def counted(x: Tensor, dim: int, index: Tensor, *args: Any, **kwargs: Any) -> Tensor:
        if x.dim() == 0:
            one = [each.reshape(1) if isinstance(each, Tensor) else each for each in (index, *args)]
            return op(x.reshape(1), 0, *one, **kwargs).reshape([])
        if index.dim() == 0:
            index = index.reshape([1] * x.dim())
            args = tuple(each.reshape([1] * x.dim()) if isinstance(each, Tensor) else each for each in args)
            return op(x, dim % x.dim(), index, *args, **kwargs)
        return op(x, dim + x.dim(), index, *args, **kwargs) if dim < 0 else NotImplemented

    return counted


def _scattered_in_row(accumulate: bool) -> Callable[..., Tensor]:
    """`scatter`, or `scatter_add`, as an `index_put`."""

    def scattered(x: Tensor, dim: int, index: Tensor, source: Any) -> Tensor:
        if not _is_known(x, index):
            return NotImplemented
        if not isinstance(source, Tensor):
            source = torch.full(index.shape, source, dtype=x.dtype)
        source = source[tuple(slice(0, size) for size in index.shape)]
        put = aten.index_put(x.reshape(-1), [_numbers(x, dim, index)], source.reshape(-1), accumulate)
        return put.reshape(x.shape)

    return scattered


def _reduced_in_row(
    x: Tensor, dim: int, index: Tensor, source: Tensor, reduce: str, *, include_self: bool = True
) -> Tensor:
    """`scatter_reduce` with one number for each element."""
    if x.dim() < 2 or not _is_known(x, index):
        return NotImplemented
    source = source[tuple(slice(0, size) for size in index.shape)].reshape(-1)
    reduced = aten.scatter_reduce(x.reshape(-1), 0, _numbers(x, dim, index), source, reduce, include_self=include_self)
    return reduced.reshape(x.shape)


def _is_known(x: Tensor, index: Tensor) -> bool:
    """Whether the sizes of both are known, and neither is empty."""
    return x.dim() > 0 and all(isinstance(size, int) and size > 0 for size in (*x.shape, *index.shape))


def _numbers(x: Tensor, dim: int, index: Tensor) -> Tensor:
    """For each element of the index the number of that of `x` which it means; one behind the end if there is none."""
    steps = [math.prod(x.shape[place + 1 :]) for place in range(x.dim())]
    number = index.to(torch.int64) * steps[dim]
    for place, (size, step) in enumerate(zip(index.shape, steps, strict=True)):
        if place != dim and size > 1:
            column = [-1 if other == place else 1 for other in range(x.dim())]
            number = number + (torch.arange(size) * step).reshape(column)
    return torch.where((index < 0) | (index >= x.size(dim)), x.numel(), number).reshape(-1)


def _summed_wide(op: Callable[..., Tensor]) -> Callable[..., Tensor]:
    """What adds up, or multiplies, 16-bit floats in f32, rounded once: rounded at each step, sums of many come to a stop."""

    def widened(x: Tensor, dim: int, index: Tensor, source: Tensor, *args: Any, **kwargs: Any) -> Tensor:
        wide = compute_dtype(x.dtype)
        if wide == x.dtype or {"amax", "amin"} & {*args, *kwargs.values()}:
            return NotImplemented
        return op(x.to(wide), dim, index, source.to(wide), *args, **kwargs).to(x.dtype)

    return widened


def _scatter_add_bool(x: Tensor, dim: int, index: Tensor, source: Tensor) -> Tensor:
    if x.dtype != torch.bool:
        return NotImplemented
    return aten.scatter_add(x.to(torch.int32), dim, index, source.to(torch.int32)) != 0


def _scatter_reduce(
    x: Tensor, dim: int, index: Tensor, source: Tensor, reduce: str, *, include_self: bool = True
) -> Tensor:
    if x.dtype == torch.bool:
        wide = (x.to(torch.int32), dim, index, source.to(torch.int32))
        return aten.scatter_reduce(*wide, reduce, include_self=include_self) != 0
    if x.dtype == torch.uint8 and reduce != "mean":
        wide = (x.to(torch.int32), dim, index, source.to(torch.int32))
        return aten.scatter_reduce(*wide, reduce, include_self=include_self).to(torch.uint8)
    if reduce != "mean" or x.dtype.is_floating_point:
        return NotImplemented
    begin = x if include_self else aten.scatter(x, dim, index, 0)
    count = torch.ones_like(x) if include_self else torch.zeros_like(x)
    total = aten.scatter_add(begin, dim, index, source)
    count = aten.scatter_add(count, dim, index, torch.ones_like(source))
    if x.dtype == torch.uint8:  # both wrap around as bytes do
        total, count = total.to(torch.int32), count.to(torch.int32)
    return torch.div(total, torch.where(count < 1, 1, count), rounding_mode="floor").to(x.dtype)


def _scatter_by(x: Tensor, dim: int, index: Tensor, source: Tensor, *, reduce: str) -> Tensor:
    if reduce == "add":
        return aten.scatter_add(x, dim, index, source)
    return aten.scatter_reduce(x, dim, index, source, "prod")


def _scatter_value_by(x: Tensor, dim: int, index: Tensor, value: float, *, reduce: str) -> Tensor:
    return _scatter_by(x, dim, index, torch.full(index.shape, value, dtype=x.dtype), reduce=reduce)


def _index_put(x: Tensor, indices: list[Tensor | None], values: Tensor, accumulate: bool = False, *_: Any) -> Tensor:
    given = [(i, each) for i, each in enumerate(indices) if each is not None]
    if len(given) == 1 and given[0][1].dtype in MASKS:
        put = _masked_put(x, given[0][0], given[0][1] != 0, values, accumulate)
        if put is not NotImplemented:
            return put
    if x.dtype == torch.bool and accumulate:
        return aten.index_put(x.to(torch.int32), indices, values.to(torch.int32), True) != 0
    return counted_index_put(x, indices, values, accumulate)


def _index_add(x: Tensor, dim: int, index: Tensor, source: Tensor, *, alpha: float = 1) -> Tensor:
    if x.dtype == torch.bool:
        return aten.index_add(x.to(torch.int32), dim, index, source.to(torch.int32), alpha=int(alpha)) != 0
    return _PYTORCH[aten.index_add.default](x, dim, _from_the_front(x, dim, index), source, alpha=alpha)


def _index_copy(x: Tensor, dim: int, index: Tensor, source: Tensor) -> Tensor:
    """Rows are put where the indices of all dims in front of them say, so that nothing is transposed for it."""
    dim = dim % x.dim() if x.dim() else 0
    index = _from_the_front(x, dim, index)
    if dim == 0 or index.dim() != 1:
        return _PYTORCH[aten.index_copy.default](x, dim, index, source)
    places = [*(torch.arange(size) for size in x.shape[:dim]), index.to(torch.int64)]
    spread = [place.reshape([-1 if i == number else 1 for i in range(dim + 1)]) for number, place in enumerate(places)]
    return aten.index_put(x, spread, source)


def _index_fill(op: Any) -> Callable[..., Tensor]:
    """PyTorch's decomposition, which is an `index_copy`, with indices from the end counted from the front."""

    def fill(x: Tensor, dim: int, index: Tensor, value: Any) -> Tensor:
        return _PYTORCH[op](x, dim, torch.where(index < 0, index + (x.size(dim) if x.dim() else 1), index), value)

    return fill


def _from_the_front(x: Tensor, dim: int, index: Tensor) -> Tensor:
    return torch.where(index < 0, x.size(dim) if x.dim() else 1, index)


def _max_unpool(op: Any, dims: int) -> Callable[..., Tensor]:
    """PyTorch's decomposition, with indices behind all planes for those that are outside of their own."""

    def unpool(x: Tensor, indices: Tensor, output_size: Sequence[Any], *windows: Any) -> Tensor:
        size = math.prod(output_size)
        outside = (indices < 0) | (indices >= size)
        behind = math.prod(x.shape[:-dims]) * size
        return _PYTORCH[op](x, torch.where(outside, behind, indices), output_size, *windows)

    return unpool


def _masked_put(x: Tensor, place: int, mask: Tensor, values: Tensor, accumulate: bool) -> Tensor:
    """Values that are the same wherever the mask, which stands for the dims from `place` on, is true."""
    behind = x.dim() - place - mask.dim()
    extra = max(0, values.dim() - place - 1 - behind)
    fits = all(size == 1 for size in values.shape[:extra])
    _torch._check(fits, lambda: "the values of `index_put` have another shape than the places they go to")
    values = values.reshape(values.shape[extra:])
    if values.dim() > behind:
        chosen = values.dim() - behind - 1
        if not statically_known_true(values.size(chosen) == 1):
            return NotImplemented
        values = values.reshape([*values.shape[:chosen], *[1] * mask.dim(), *values.shape[chosen + 1 :]])
    where = mask.reshape([*[1] * place, *mask.shape, *[1] * behind])
    if accumulate:
        values = (x | values) if x.dtype == torch.bool else x + values
    return torch.where(where, values, x)


def _embedding_bag(
    weight: Tensor,
    indices: Tensor,
    offsets: Tensor,
    scale_grad_by_freq: bool = False,
    mode: int = 0,
    sparse: bool = False,
    per_sample_weights: Tensor | None = None,
    include_last_offset: bool = False,
    padding_idx: int = -1,
) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    count, bags = indices.size(0), offsets.size(0) - (1 if include_last_offset else 0)
    begins = offsets[:bags].to(torch.int64)
    places = torch.arange(count)
    bag = (places.unsqueeze(1) >= begins.unsqueeze(0)).to(torch.int64).sum([1]) - 1
    kept = indices != padding_idx  # -1: there is none
    if include_last_offset:
        kept = kept & (places < offsets[bags])
    put = torch.where(kept, bag, bags)
    rows = aten.index_select(weight, 0, indices).to(compute_dtype(weight.dtype))
    if per_sample_weights is not None:
        rows = rows * per_sample_weights.unsqueeze(1)
    size = torch.zeros([bags + 1], dtype=torch.int64)
    size = aten.index_put(size, [put], torch.ones([count], dtype=torch.int64), True)[:bags]
    result = torch.zeros([bags + 1, weight.size(1)], dtype=rows.dtype)
    last = offsets.clone()
    if mode == 2:
        spread = put.unsqueeze(1).expand(rows.shape)
        every = aten.scatter_reduce(result, 0, spread, rows, "amax", include_self=False)
        last, result = _rows_of_largest(rows, every, put, indices)[:bags], every[:bags]
    else:
        result = aten.index_put(result, [put], rows, True)[:bags]
    if mode == 1:
        result = result / torch.where(size < 1, 1, size).unsqueeze(1).to(result.dtype)
    return result.to(weight.dtype), bag.to(indices.dtype), size.to(indices.dtype), last


def _rows_of_largest(rows: Tensor, largest: Tensor, put: Tensor, indices: Tensor) -> Tensor:
    """For each bag and column the index of the first row with its largest element, which takes the gradient; 0 without rows."""
    count = rows.size(0)
    is_largest = rows == aten.index_select(largest, 0, put)
    places = torch.where(is_largest, torch.arange(count).unsqueeze(1), count)
    first = torch.full(largest.shape, count, dtype=torch.int64)
    first = aten.scatter_reduce(first, 0, put.unsqueeze(1).expand(rows.shape), places, "amin")
    ends_with_none = torch.cat([indices, torch.zeros([1], dtype=indices.dtype)])
    return aten.index_select(ends_with_none, 0, first.reshape([-1])).reshape(largest.shape)


def _embedding_bag_padded(
    weight: Tensor,
    indices: Tensor,
    offsets: Tensor,
    scale_grad_by_freq: bool,
    mode: int,
    sparse: bool,
    per_sample_weights: Tensor | None,
    include_last_offset: bool,
    padding_idx: int | None,
) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    rest = (scale_grad_by_freq, mode, sparse, per_sample_weights, include_last_offset)
    return _embedding_bag(weight, indices, offsets, *rest, -1 if padding_idx is None else padding_idx % weight.size(0))


SCATTERED: dict[Any, Callable[..., Any]] = {
    **{op: either(_plain_dim(op), _scattered_in_row(False)) for op in (aten.scatter.src, aten.scatter.value)},
    aten.scatter.reduce: _scatter_by,
    aten.scatter.value_reduce: _scatter_value_by,
    aten.scatter_add.default: either(
        _plain_dim(aten.scatter_add), _summed_wide(aten.scatter_add), _scatter_add_bool, _scattered_in_row(True)
    ),
    aten.scatter_reduce.two: either(
        _plain_dim(aten.scatter_reduce), _summed_wide(aten.scatter_reduce), _scatter_reduce, _reduced_in_row
    ),
    aten.index_add.default: either(_summed_wide(aten.index_add), _index_add),
    aten.index_copy.default: _index_copy,
    **{op: _index_fill(op) for op in (aten.index_fill.int_Scalar, aten.index_fill.int_Tensor)},
    aten.index_put.default: _index_put,
    aten._unsafe_index_put.default: _index_put,
    aten.max_unpool2d.default: _max_unpool(aten.max_unpool2d.default, 2),
    aten.max_unpool3d.default: _max_unpool(aten.max_unpool3d.default, 3),
    aten._embedding_bag.default: _embedding_bag,
    aten._embedding_bag_forward_only.default: _embedding_bag,
    aten.embedding_bag.padding_idx: _embedding_bag_padded,
}
