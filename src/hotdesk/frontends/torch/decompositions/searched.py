"""Places among sorted elements (`searchsorted`, `bucketize`), those that PyTorch's binary search ends at.

Where a row is short the elements in front of each value are counted; a longer one, or for few values, is searched step by step:

    count:   sum over i of not (row[i] >= x)
    search:  middle = (start + end) / 2,  then  start = middle + 1  if not (row[middle] >= x)  else  end = middle

The two are the same in a sorted row. In one with an element that is no number, in front of every value, or in one that is
not sorted, a search does not ask all elements. To count what it finds, each element becomes the one that a search for it would
have to pass: of those met on the way there, no later than each that lies behind it, and no earlier than each in front of it.
"""

# Sizes may be symbolic; the annotations do not show it.
# pyright: reportUnnecessaryIsInstance=false, reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

aten: Any = torch.ops.aten

_MOST_COUNTED = 64
"""Elements of a row that are all compared with each value."""
_MOST_STEPS = 40
"""Of a search among as many elements as there may be: a tensor of more has terabytes."""


def _searchsorted(
    row: Tensor,
    x: Tensor,
    *,
    out_int32: bool = False,
    right: bool = False,
    side: str | None = None,
    sorter: Tensor | None = None,
) -> Tensor:
    """The place of each of `x` `[…, values]` in `row` `[…, elements]`, or in a row for all, `[elements]`."""
    if sorter is not None:
        row = torch.gather(row, -1, sorter)
    dtype = torch.int32 if out_int32 else torch.int64
    is_behind = torch.gt if right or side == "right" else torch.ge
    sizes = (row.size(-1), row.numel(), x.numel())
    if all(isinstance(size, int) for size in sizes) and sizes[0] <= _MOST_COUNTED and sizes[1] <= sizes[2]:
        passed = _passed(row)
        ordered = passed if row.dim() == 1 else passed.unsqueeze(-2)
        return torch.logical_not(is_behind(ordered, x.unsqueeze(-1))).to(dtype).sum(-1, dtype=dtype)
    return _searched(row, x, is_behind).to(dtype)


def _passed(row: Tensor) -> Tensor:
    """What a search for each element would have to pass, those that are no number in front of all."""
    later = torch.fmax if row.dtype.is_floating_point else torch.maximum
    passed, places = row, torch.arange(row.size(-1))
    for met in reversed(_met(places)):
        middle = aten.index_select(row, -1, met)
        passed = torch.where(places <= met, torch.minimum(middle, passed), later(middle, passed))
    return torch.amax(torch.stack([passed, passed]), [0])  # what is reduced is not computed again for each value


def _met(places: Tensor) -> list[Tensor]:
    """For each element of a row the places that a search for it meets before; then itself, where others take more steps."""
    start, end = torch.zeros_like(places), torch.full_like(places, places.size(0))
    met: list[Tensor] = []
    for _ in range(places.size(0).bit_length() - 1):
        middle = torch.bitwise_right_shift(start + end, 1)
        start = torch.where(places > middle, middle + 1, start)
        end = torch.where(places < middle, middle, end)
        met.append(middle)
    return met


def _searched(row: Tensor, x: Tensor, is_behind: Callable[[Tensor, Tensor], Tensor]) -> Tensor:
    """Step by step, all values at once. A search that has ended, perhaps behind the row, reads an element for nothing."""
    count: Any = row.size(-1)
    steps = count.bit_length() if isinstance(count, int) else _steps(count)
    if not isinstance(count, int) or not count:
        row = aten.constant_pad_nd(row, [0, 1])
    start = torch.zeros(x.shape, dtype=torch.int64)
    end = torch.zeros(x.shape, dtype=torch.int64) + count
    for _ in range(steps):
        middle = torch.bitwise_right_shift(start + end, 1)
        middle = torch.clamp_max(middle, count - 1) if isinstance(count, int) and count else middle
        met = aten.index.Tensor(row, [middle]) if row.dim() == 1 else torch.gather(row, -1, middle)
        behind, goes_on = is_behind(met, x), start < end
        start = torch.where(goes_on & torch.logical_not(behind), middle + 1, start)
        end = torch.where(goes_on & behind, middle, end)
    return start


def _steps(count: Any) -> int:
    """So many that a search among `count` elements ends."""
    most = count.node.shape_env.bound_sympy(count.node.expr).upper
    return min(int(most).bit_length(), _MOST_STEPS) if most.is_Integer else _MOST_STEPS


def _searchsorted_number(row: Tensor, x: float, **kwargs: Any) -> Tensor:
    return _searchsorted(row, torch.full([], x, dtype=torch.result_type(row, x)), **kwargs)


def _bucketize(x: Tensor, boundaries: Tensor, *, out_int32: bool = False, right: bool = False) -> Tensor:
    return _searchsorted(boundaries, x, out_int32=out_int32, right=right)


SEARCHED: dict[Any, Callable[..., Any]] = {
    aten.searchsorted.Tensor: _searchsorted,
    aten.searchsorted.Scalar: _searchsorted_number,
    aten.bucketize.Tensor: _bucketize,
}
