"""PyTorch ops that read or write places which are known or computed, as gathers, scatters and choices.

* `as_strided` gathers the places of its results from all elements in the order of their memory; what the view's own tensor does
  not hold is refused, for nothing but memory would tell it;
* `resize` takes elements in the order of their memory, and zeros behind them;
* `as_strided_scatter` and `put` write there; `diagonal_scatter` chooses between two tensors;
* `index_reduce` is a `scatter_reduce` whose indices are repeated;
* pairwise distances are the upper triangle of all distances;
* `nanmedian` counts the elements that are numbers, and the median is in the middle of so many sorted ones;
* `mode` counts what is equal, of few elements, of which PyTorch's sort does not exchange equal ones; where some are no numbers,
  what that sort brings together;
* reflecting and replicating padding gathers along all dims at once, so that nothing is padded along one of them alone;
* resizing without aliases is a product with a matrix of weights on each side.
"""

# Sizes may be symbolic; the annotations do not show it.
# pyright: reportUnnecessaryIsInstance=false

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import Tensor
from torch._prims_common import suggest_memory_format

from hotdesk.errors import UnsupportedOpError
from hotdesk.frontends.torch.decompositions.composed import norm_of_difference

aten: Any = torch.ops.aten

_MOST_PAIRED = 64
"""Rows whose pairs `pdist` writes out."""
_MOST_CHOSEN = 256
"""Choices that `combinations` writes out."""
_MOST_COUNTED = 16
"""Elements among which `mode` counts: PyTorch's sort keeps the order of equal ones for so many."""


def _in_memory(x: Tensor, op: str = "as_strided") -> tuple[Tensor, list[int]] | None:
    """All elements in the order of their memory, and the dims from the widest stride to the narrowest.

    None if sizes vary: PyTorch's kernel is called then. Raises UnsupportedOpError for memory with gaps, of which there is no more
    than the elements when the program runs.
    """
    sizes, strides = list(x.shape), list(x.stride())
    if not _is_fixed(*sizes, *strides):
        if x.is_contiguous() and _is_fixed(x.storage_offset()) and x.storage_offset() == 0:
            return None
        raise _without_memory("elements that lie row by row", "a view whose sizes vary", op)
    order = sorted(range(x.dim()), key=lambda dim: (-strides[dim], sizes[dim] == 1))
    ordered = x.permute(order)
    if not ordered.is_contiguous():
        raise _without_memory("elements without gaps between them", f"strides {strides}", op)
    return ordered.reshape(-1), order


def _without_memory(expected: str, got: str, op: str = "as_strided") -> UnsupportedOpError:
    return UnsupportedOpError(
        f"op `aten.{op}` reads memory beside its tensor",
        expected=expected,
        got=got,
        hint="Take the view of the tensor that the memory belongs to.",
    )


def _strided_places(x: Tensor, size: Sequence[int], stride: Sequence[int], offset: int | None) -> Tensor:
    """The places of a strided view among the elements of its tensor in memory, in order: `[elements of the view]`."""
    first = int(x.storage_offset())
    begin = (first if offset is None else offset) - first
    last = begin + sum((count - 1) * step for count, step in zip(size, stride, strict=True))
    if begin < 0 or last >= x.numel():
        raise _without_memory(f"places among its {x.numel()} elements", f"those from {begin} to {last}")
    places: Any = torch.full([], begin)
    for count, step in zip(size, stride, strict=True):
        places = places.unsqueeze(-1) + torch.arange(count) * step
    return places.reshape(-1)


def _resize(x: Tensor, size: list[int], *, memory_format: Any = None) -> Tensor:
    if memory_format not in (None, torch.contiguous_format):
        return NotImplemented
    if x.shape == torch.Size(size):
        return x.clone()
    found = None if x.is_contiguous() else _in_memory(x, "resize")
    flat, count = x.reshape(-1) if found is None else found[0], math.prod(size)
    if count > x.numel():
        flat = torch.cat([flat, torch.zeros([count - x.numel()], dtype=x.dtype)])
    return flat[:count].reshape(size)


def _is_fixed(*numbers: Any) -> bool:
    return all(isinstance(number, int) for number in numbers)


def _as_strided(x: Tensor, size: list[int], stride: list[int], storage_offset: int | None = None) -> Tensor:
    if 0 in size:
        return torch.zeros(size, dtype=x.dtype)
    found = _in_memory(x)
    if found is None or not _is_fixed(*size, *stride, storage_offset or 0):
        return NotImplemented
    places = _strided_places(x, size, stride, storage_offset)
    return aten.index_select(found[0], 0, places).reshape(size)


def _as_strided_scatter(
    x: Tensor, source: Tensor, size: list[int], stride: list[int], storage_offset: int | None = None
) -> Tensor:
    if 0 in size:
        return x.clone()
    found = _in_memory(x)
    if found is None or not _is_fixed(*size, *stride, storage_offset or 0):
        return NotImplemented
    places = _strided_places(x, size, stride, storage_offset)
    flat, order = found
    written = aten.scatter(flat, 0, places, source.to(x.dtype).reshape(-1))
    back = [order.index(dim) for dim in range(x.dim())]
    return written.reshape([x.size(dim) for dim in order]).permute(back)


def _diagonal_scatter(x: Tensor, source: Tensor, offset: int = 0, dim1: int = 0, dim2: int = 1) -> Tensor:
    matrices = torch.movedim(x, (dim1, dim2), (-2, -1))
    rows, columns = matrices.shape[-2:]
    if not isinstance(rows, int) or not isinstance(columns, int) or source.numel() == 0:
        return NotImplemented
    length = source.size(-1)
    pad = (rows if offset >= 0 else columns) - length
    wide = aten.constant_pad_nd(source.to(x.dtype), [0, pad]) if pad else source.to(x.dtype)
    spread = wide.unsqueeze(-1 if offset >= 0 else -2)
    chosen = torch.arange(columns) - torch.arange(rows).unsqueeze(1) == offset
    return torch.movedim(torch.where(chosen, spread, matrices), (-2, -1), (dim1, dim2))


def _put(x: Tensor, index: Tensor, source: Tensor, accumulate: bool = False) -> Tensor:
    if not isinstance(x.numel(), int):
        return NotImplemented
    if isinstance(index.numel(), int) and index.numel() == 0:
        return x.clone()
    return aten.index_put(x.reshape(-1), [index.reshape(-1)], source.reshape(-1), accumulate).reshape(x.shape)


def _take(x: Tensor, index: Tensor) -> Tensor:
    if not isinstance(x.numel(), int) or x.numel() == 0:
        return NotImplemented
    places = index.reshape(-1)
    places = torch.where(places < 0, places + x.numel(), places)
    return aten.index_select(x.reshape(-1), 0, places).reshape(index.shape)


def are_written_out(x: Tensor, r: int = 2, with_replacement: bool = False) -> bool:
    """Whether `combinations` of a tensor is one of few elements."""
    return isinstance(x.numel(), int) and x.dim() == 1 and r > 0 and math.comb(x.numel() + r, r) <= _MOST_CHOSEN


def _combinations(x: Tensor, r: int = 2, with_replacement: bool = False) -> Tensor:
    """Of few elements, each choice of them written out."""
    choose = itertools.combinations_with_replacement if with_replacement else itertools.combinations
    if not are_written_out(x, r):
        return NotImplemented
    chosen = list(choose(range(x.numel()), r))
    if not chosen:
        return torch.zeros([0, r], dtype=x.dtype)
    return torch.stack(
        [torch.cat([x.narrow(0, each, 1) for each in column]) for column in zip(*chosen, strict=True)], 1
    )


def _index_reduce(
    x: Tensor, dim: int, index: Tensor, source: Tensor, reduce: str, *, include_self: bool = True
) -> Tensor:
    if x.dim() == 0:
        return _index_reduce(
            x.reshape(1), 0, index.reshape(-1), source.reshape(-1), reduce, include_self=include_self
        ).reshape([])
    dim = dim % x.dim()
    places = index.reshape([-1 if i == dim else 1 for i in range(x.dim())]).to(torch.int64).expand(source.shape)
    return aten.scatter_reduce(x, dim, places, source, reduce, include_self=include_self)


def _pdist(x: Tensor, p: float = 2.0) -> Tensor:
    rows = x.size(0)
    if not isinstance(rows, int) or rows > _MOST_PAIRED:
        return NotImplemented
    if rows < 2:
        return torch.zeros([0], dtype=x.dtype)
    distances = norm_of_difference(x.unsqueeze(-2) - x.unsqueeze(-3), p, keeps_nan=True)
    return torch.cat([distances[row, row + 1 :] for row in range(rows - 1)])


def _nanmedian(x: Tensor) -> Tensor:
    return _nanmedian_along(x.reshape(-1), 0)[0] if isinstance(x.numel(), int) and x.numel() else NotImplemented


def _nanmedian_along(x: Tensor, dim: int, keepdim: bool = False) -> tuple[Tensor, Tensor]:
    if not x.dtype.is_floating_point:
        return aten.median.dim(x, dim, keepdim)
    if x.dim() == 0:
        return x.clone(), torch.zeros([], dtype=torch.int64)
    if not isinstance(x.numel(), int) or x.numel() == 0:
        return NotImplemented
    values, order = torch.sort(x, dim)  # NaN behind everything
    count = torch.logical_not(torch.isnan(x)).to(torch.int64).sum([dim], keepdim=True)
    middle = torch.where(count < 1, 0, torch.div(count - 1, 2, rounding_mode="trunc"))
    value, place = torch.gather(values, dim, middle), torch.gather(order, dim, middle)
    return (value, place) if keepdim else (value.squeeze(dim), place.squeeze(dim))


def _mode(x: Tensor, dim: int = -1, keepdim: bool = False) -> tuple[Tensor, Tensor]:
    """The smallest of the most frequent elements, and where it is last."""
    if x.dim() == 0:
        return x.clone(), torch.zeros([], dtype=torch.int64)
    if not isinstance(x.size(dim), int) or not 0 < x.size(dim) <= _MOST_COUNTED or x.numel() == 0:
        return NotImplemented
    wide, largest = torch.int64, torch.iinfo(torch.int64).max
    if x.dtype.is_floating_point:
        wide, largest = torch.float64, math.inf
    rows, places = torch.movedim(x.to(wide), dim, -1), torch.arange(x.size(dim))
    same = rows.unsqueeze(-1) == rows.unsqueeze(-2)
    run = _runs(rows) if x.dtype.is_floating_point else torch.zeros([1], dtype=torch.int64)
    count = (same & (run.unsqueeze(-1) == run.unsqueeze(-2))).to(torch.int64).sum([-1])
    count = torch.clamp_min(count, 1)  # what is no number does not even equal itself
    frequent = count == torch.amax(count, [-1], keepdim=True)
    frequent = frequent & (run == torch.amin(torch.where(frequent, run, 2 * x.size(dim)), [-1], keepdim=True))
    value = torch.amin(torch.where(frequent, rows, largest), [-1], keepdim=True)
    hit = rows == value
    if x.dtype.is_floating_point:
        hit = hit | torch.isnan(rows)
    place = torch.amax(torch.where(frequent & hit, places, 0), [-1], keepdim=True)
    place = torch.movedim(place, -1, dim)
    value = torch.gather(x, dim, place)
    return (value, place) if keepdim else (value.squeeze(dim), place.squeeze(dim))


def _runs(rows: Tensor) -> Tensor:
    """Which sorted run each element of a few gets into, by the sort of C++ (GNU's), to which what is no number bars the way.

    It inserts each element behind the last one in front of it that is not larger, or that is no number: into the run behind
    that. What is smaller than the first of all elements is put in front of it at once: in the first run. Runs have even numbers,
    what is no number has an odd one of its own.
    """
    missing, places = torch.isnan(rows), torch.arange(rows.size(-1))
    is_before = places.unsqueeze(0) < places.unsqueeze(1)
    barred = (missing.unsqueeze(-2) & is_before).to(torch.int64).sum([-1])
    numbers = torch.where(missing, math.inf, rows).unsqueeze(-2)
    least = torch.amin(torch.where(is_before, numbers, math.inf), [-1])
    in_front = (rows < least) & torch.logical_not(missing.narrow(-1, 0, 1))
    return torch.where(in_front, 0, 2 * barred + missing.to(torch.int64))


def _resizing_weights(old: int, new: int, align_corners: bool, factor: float | None) -> Tensor:
    """How much each element of a line counts for each of the resized one: `[new, old]`, as triangles that overlap."""
    scale = 1 / factor if factor else old / new
    if align_corners:
        scale = (old - 1) / (new - 1) if new > 1 else 0.0
    reach = max(scale, 1.0)
    centres = (torch.arange(new, dtype=torch.float32) + 0.5) * scale
    distance = torch.arange(old, dtype=torch.float32) + 0.5 - centres.unsqueeze(1)
    weights = 1 - torch.abs(distance) * (1 / reach)
    weights = torch.where(weights > 0, weights, 0.0)
    return weights / weights.sum([1], keepdim=True)


def _resized(
    x: Tensor,
    output_size: list[int],
    align_corners: bool,
    scales_h: float | None = None,
    scales_w: float | None = None,
) -> Tensor:
    if x.dtype != torch.float32 or not _is_fixed(*x.shape, *output_size) or x.numel() == 0:
        return NotImplemented
    height = _resizing_weights(x.size(-2), output_size[0], align_corners, scales_h)
    width = _resizing_weights(x.size(-1), output_size[1], align_corners, scales_w)
    return torch.matmul(height, torch.matmul(x, width.t()))


def _angle(x: Tensor) -> Tensor:
    if x.dtype.is_complex:
        return NotImplemented
    dtype = x.dtype if x.dtype.is_floating_point else torch.get_default_dtype()
    if x.dtype == torch.bool:
        return torch.zeros(x.shape, dtype=dtype)
    found = torch.where(x < 0, math.pi, torch.zeros([], dtype=dtype))
    return torch.where(torch.isnan(x), x, found) if x.dtype.is_floating_point else found


def _shifted(back: bool) -> Callable[..., Tensor]:
    """A roll by half of each size: zero goes to the middle, or back."""

    def roll(x: Tensor, dim: list[int] | None = None) -> Tensor:
        dims = list(range(x.dim())) if dim is None else [each % x.dim() for each in dim]
        if x.dtype.is_complex or not _is_fixed(*x.shape):
            return NotImplemented
        shifts = [(x.size(each) + (1 if back else 0)) // 2 for each in dims]
        return aten.roll(x, shifts, dims) if dims else x.clone()

    return roll


def _norm(
    x: Tensor,
    order: float | None = None,
    dim: list[int] | None = None,
    keepdim: bool = False,
    *,
    dtype: torch.dtype | None = None,
) -> Tensor:
    """Of vectors, and of matrices that which only adds up and compares."""
    if order is None:
        return aten.linalg_vector_norm(x, 2, dim, keepdim, dtype=dtype)
    dims = list(range(x.dim())) if dim is None else list(dim)
    if len(dims) == 1:
        return aten.linalg_vector_norm(x, order, dims, keepdim, dtype=dtype)
    if len(dims) != 2 or abs(order) not in (1, math.inf) or x.dtype.is_complex or x.numel() == 0:
        return NotImplemented
    added, compared = (each % x.dim() for each in (dims if abs(order) == 1 else dims[::-1]))
    sums = torch.abs(x if dtype is None else x.to(dtype)).sum([added], keepdim=True)
    found = (torch.amax if order > 0 else torch.amin)(sums, [compared], keepdim=True)
    return found if keepdim else found.squeeze((added, compared))


def _padded(places: Callable[[Tensor, int], Tensor]) -> Callable[..., Any]:
    """Padding by elements at `places`, which are made of those beyond the tensor, from below 0 on, and the last that is there."""

    def pad(x: Tensor, padding: Sequence[int]) -> Tensor:
        dims = len(padding) // 2
        found: list[Tensor | None] = [None] * (x.dim() - dims)
        for dim in range(-dims, 0):
            before, behind = padding[-2 * dim - 2], padding[-2 * dim - 1]  # the last dim's come first
            along = places(torch.arange(-before, x.shape[dim] + behind), x.shape[dim] - 1)
            found.append(along.view(-1, *[1] * (-dim - 1)))
        return aten._unsafe_index(x, found).contiguous(memory_format=suggest_memory_format(x))

    return pad


def _reflected(places: Tensor, last: int) -> Tensor:
    return last - (last - places.abs()).abs()


def _replicated(places: Tensor, last: int) -> Tensor:
    return places.clamp(0, last)


PLACED: dict[Any, Callable[..., Any]] = {
    **dict.fromkeys([getattr(aten, f"reflection_pad{dims}d").default for dims in (1, 2, 3)], _padded(_reflected)),
    **dict.fromkeys([getattr(aten, f"replication_pad{dims}d").default for dims in (1, 2, 3)], _padded(_replicated)),
    aten.as_strided.default: _as_strided,
    aten.as_strided_scatter.default: _as_strided_scatter,
    aten.diagonal_scatter.default: _diagonal_scatter,
    aten.put.default: _put,
    aten.take.default: _take,
    aten.combinations.default: _combinations,
    aten.index_reduce.default: _index_reduce,
    aten.resize.default: _resize,
    aten._pdist_forward.default: _pdist,
    aten.nanmedian.default: _nanmedian,
    aten.nanmedian.dim: _nanmedian_along,
    aten.mode.default: _mode,
    aten._upsample_bilinear2d_aa.default: _resized,
    aten.angle.default: _angle,
    aten.linalg_norm.default: _norm,
    aten.fft_fftshift.default: _shifted(False),
    aten.fft_ifftshift.default: _shifted(True),
}
