"""PyTorch ops without a lowering of their own, composed of ops that have one.

* copies of views, and memory without contents, which here are zeros;
* maximum pooling of integers, and adaptive maximum pooling, gather the window of every result; of what is no number, the last is
  the largest;
* `cdist` takes all differences, or makes squares of a product of matrices as `|x|² - 2xy + |y|²`;
* `median` is taken out of the sorted elements;
* `logaddexp` takes the larger one out, whatever is infinite, or no number;
* determinants are the pivots of Gaussian elimination with row exchanges; small triangular systems are solved by substitution;
* `erfc` is a Chebyshev fit (W. Press et al., Numerical Recipes, 6.2), good to 1.2e-7 of its value, so for f32 alone.
"""

# Sizes may be symbolic; the annotations do not show it.
# pyright: reportUnnecessaryIsInstance=false

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor
from torch.fx.experimental.symbolic_shapes import statically_known_true

from hotdesk.frontends.torch.decompositions.widened import compute_dtype

aten: Any = torch.ops.aten
_torch: Any = torch

_MOST_SUBTRACTED = 25
"""Points whose distances `cdist` takes from their differences; those of more come from a product of matrices, as in PyTorch."""
_BY_PRODUCT = 1
"""The `compute_mode` of `cdist` that says so for any number of points; 0, or None, is as above, and 2 is never."""
LARGEST_DETERMINANT = 16
"""Rows of the largest matrix whose elimination is written out."""


def _strided(size: list[int], strides: list[int], *, dtype: torch.dtype | None = None, **_: Any) -> Tensor:
    return torch.zeros(size, dtype=dtype)


def _new_strided(
    x: Tensor, size: list[int], strides: list[int], *, dtype: torch.dtype | None = None, **_: Any
) -> Tensor:
    return torch.zeros(size, dtype=dtype or x.dtype)


def _copied(view: Callable[..., Any]) -> Callable[..., Any]:
    def copy(x: Tensor, *args: Any, **kwargs: Any) -> Any:
        result = view(x, *args, **kwargs)
        return result.clone() if isinstance(result, Tensor) else [each.clone() for each in result]

    return copy


def _pixel_unshuffle(x: Tensor, factor: int) -> Tensor:
    """PyTorch leaves a tensor without elements as it is."""
    return x.clone() if isinstance(x.numel(), int) and x.numel() == 0 else NotImplemented


def _windows(size: int, results: int) -> tuple[Tensor, int]:
    """For each of so many results along a dim of `size`: the places of its window; the last is repeated to equal lengths."""
    begins = torch.div(torch.arange(results) * size, results, rounding_mode="floor")
    ends = torch.div((torch.arange(results) + 1) * size + results - 1, results, rounding_mode="floor")
    longest = max(-(-(i + 1) * size // results) - i * size // results for i in range(results))
    places = begins.unsqueeze(1) + torch.arange(longest).unsqueeze(0)
    return torch.minimum(places, ends.unsqueeze(1) - 1), longest


def _adaptive_max_pool(x: Tensor, output_size: list[int]) -> tuple[Tensor, Tensor]:
    dims = len(output_size)
    plane = x.shape[-dims:]
    if not all(isinstance(size, int) for size in plane):
        return NotImplemented
    if all(wanted and size % wanted == 0 for size, wanted in zip(plane, output_size, strict=True)):
        pool = aten.max_pool2d_with_indices if dims == 2 else aten.max_pool3d_with_indices
        kernel = [size // wanted for size, wanted in zip(plane, output_size, strict=True)]
        return pool(x, kernel, kernel, [0] * dims, [1] * dims, False)
    places = torch.zeros([], dtype=torch.int64)
    count = 1
    for dim, (size, wanted) in enumerate(zip(plane, output_size, strict=True)):
        along, longest = _windows(size, wanted)
        spread = [1] * (2 * dims)
        spread[dim], spread[dims + dim] = wanted, longest
        places, count = places * size + along.reshape(spread), count * longest
    places = places.reshape([*output_size, count])
    flat = x.reshape([*x.shape[:-dims], math.prod(plane)])
    windows = aten.index_select(flat, x.dim() - dims, places.reshape(-1))
    windows = windows.reshape([*x.shape[:-dims], *places.shape])
    first = torch.argmax(windows, -1, keepdim=True)
    found = torch.gather(places.expand(windows.shape), -1, first).squeeze(-1)
    if x.dtype.is_floating_point:
        found = _or_last_nan(found, torch.amax(torch.where(torch.isnan(windows), places, -1), [-1]))
    return torch.amax(windows, [-1]), found


def _or_last_nan(found: Tensor, last: Tensor) -> Tensor:
    """The place of the largest: where there is one, the last that is no number, -1 otherwise."""
    return torch.where(last < 0, found, last)


def _max_pool(
    x: Tensor,
    kernel_size: list[int],
    stride: list[int] | None = None,
    padding: list[int] | int = 0,
    dilation: list[int] | int = 1,
    ceil_mode: bool = False,
) -> tuple[Tensor, Tensor]:
    """Maximum pooling of integers and where the first of the largest is; of images without a batch, as a batch of one."""
    if x.dim() == 3:
        found = aten.max_pool2d_with_indices(
            x.unsqueeze(0), kernel_size, stride or [], padding, dilation, ceil_mode=ceil_mode
        )
        return found[0].squeeze(0), found[1].squeeze(0)
    height, width = x.shape[-2:]
    if x.dtype.is_floating_point or not isinstance(height, int) or not isinstance(width, int):
        return NotImplemented
    wide = x.to(torch.int32) if x.dtype == torch.uint8 else x
    kernel, gaps, pads = _pair(kernel_size), _pair(dilation), _pair(padding)
    steps = _pair(stride or kernel_size)
    dims = zip((height, width), kernel, steps, pads, gaps, strict=True)
    rows, columns = (_steps(*each, ceil_mode) for each in dims)
    valid = ((rows >= 0) & (rows < height)).reshape(-1, 1, kernel[0], 1)
    valid = valid & ((columns >= 0) & (columns < width)).reshape(1, -1, 1, kernel[1])
    places = rows.clamp(0, height - 1).reshape(-1, 1, kernel[0], 1) * width
    places = places + columns.clamp(0, width - 1).reshape(1, -1, 1, kernel[1])
    shape = [rows.size(0), columns.size(0), kernel[0] * kernel[1]]
    valid, places = valid.reshape(shape), places.reshape(shape)
    flat = wide.reshape([*x.shape[:-2], height * width])
    windows = aten.index_select(flat, x.dim() - 2, places.reshape(-1)).reshape([*x.shape[:-2], *shape])
    largest = torch.amax(torch.where(valid, windows, torch.iinfo(wide.dtype).min), [-1], keepdim=True)
    first = torch.argmax(((windows == largest) & valid).to(torch.int32), -1, keepdim=True)
    found = torch.gather(places.expand(windows.shape), -1, first)
    return largest.squeeze(-1).to(x.dtype), found.squeeze(-1)


def _max_pool3d(x: Tensor, *window: Any) -> tuple[Tensor, Tensor]:
    if x.dim() != 4:
        return NotImplemented
    found = aten.max_pool3d_with_indices(x.unsqueeze(0), *window)
    return found[0].squeeze(0), found[1].squeeze(0)


def _pair(number: list[int] | int) -> list[int]:
    given = [number] if isinstance(number, int) else list(number)
    return given * 2 if len(given) == 1 else given


def _steps(size: int, kernel: int, step: int, pad: int, gap: int, ceil_mode: bool) -> Tensor:
    """The places of each window along a dim, those in the padding too: `[windows, kernel]`."""
    room = size + 2 * pad - gap * (kernel - 1) - 1
    count = (-(-room // step) if ceil_mode else room // step) + 1
    if ceil_mode and (count - 1) * step >= size + pad:
        count -= 1
    return (torch.arange(count) * step - pad).unsqueeze(1) + (torch.arange(kernel) * gap).unsqueeze(0)


def _cdist(x: Tensor, y: Tensor, p: float = 2.0, compute_mode: int | None = None) -> Tensor:
    """Of many points as PyTorch's, by a product of matrices: what is beyond the range in it is no number there either."""
    many = any(statically_known_true(each.size(-2) > _MOST_SUBTRACTED) for each in (x, y))
    if p == 2 and (compute_mode == _BY_PRODUCT or (many and not compute_mode)):
        squares, of_others = ((each * each).sum(-1, keepdim=True) for each in (x, y))
        return torch.sqrt(torch.clamp_min(torch.matmul(x * -2, y.mT) + squares + of_others.mT, 0))
    return norm_of_difference(x.unsqueeze(-2) - y.unsqueeze(-3), p, keeps_nan=False)


def norm_of_difference(difference: Tensor, p: float, *, keeps_nan: bool) -> Tensor:
    """Along the last dim. Of what is no number PyTorch's largest is none either, or the largest of the others."""
    difference = torch.abs(difference)
    if p == 0:
        return torch.clamp_max(torch.ceil(difference), 1).sum(-1)  # what is no number stays none
    if p == 1:
        return difference.sum(-1)
    if p == 2:
        return torch.sqrt((difference * difference).sum(-1))
    if not math.isinf(p):
        return (difference**p).sum(-1) ** (1 / p)
    if isinstance(difference.size(-1), int) and difference.size(-1) == 0:
        return difference.sum(-1)
    return torch.amax(difference if keeps_nan else torch.where(difference >= 0, difference, 0), [-1])


def _median(x: Tensor) -> Tensor:
    return _median_along(x.reshape(-1), 0)[0] if isinstance(x.numel(), int) and x.numel() else NotImplemented


def _median_along(x: Tensor, dim: int, keepdim: bool = False) -> tuple[Tensor, Tensor]:
    if x.dim() == 0:
        return x.clone(), torch.zeros([], dtype=torch.int64)
    if not isinstance(x.size(dim), int) or not x.size(dim):
        return NotImplemented
    missing = torch.isnan(x) if x.dtype.is_floating_point else None
    values, order = torch.sort(x if missing is None else torch.where(missing, float("inf"), x), dim)
    middle = (x.size(dim) - 1) // 2
    value, place = values.narrow(dim, middle, 1), order.narrow(dim, middle, 1)
    if missing is not None:
        some = missing.any(dim, keepdim=True)
        value = torch.where(some, float("nan"), value)
        place = torch.where(some, torch.argmax(missing.to(torch.int32), dim, keepdim=True), place)
    return (value, place) if keepdim else (value.squeeze(dim), place.squeeze(dim))


def _pivots(matrix: Tensor) -> list[Tensor] | None:
    """The pivots of Gaussian elimination; each has the sign of its exchange of rows."""
    count = matrix.size(-1)
    if not isinstance(count, int) or not 0 < count <= LARGEST_DETERMINANT or matrix.dtype.itemsize < 4:
        return None
    found: list[Tensor] = []
    for left in range(count, 0, -1):
        column = matrix.narrow(-1, 0, 1)
        chosen = torch.argmax(torch.abs(column), -2, keepdim=True)
        row = torch.gather(matrix, -2, chosen.expand([*matrix.shape[:-2], 1, left]))
        places = torch.arange(left).unsqueeze(1)
        matrix = torch.where(places == chosen, matrix.narrow(-2, 0, 1), matrix).narrow(-2, 1, left - 1)
        pivot = row.narrow(-1, 0, 1)
        found.append(torch.where(chosen == 0, pivot, -pivot).squeeze(-1).squeeze(-1))
        if left > 1:
            factors = matrix.narrow(-1, 0, 1) / torch.where(pivot == 0, 1.0, pivot)
            matrix = matrix.narrow(-1, 1, left - 1) - factors * row.narrow(-1, 1, left - 1)
    return found


def _has_no_rows(matrix: Tensor) -> bool:
    return isinstance(matrix.size(-1), int) and matrix.size(-1) == 0


def _det(matrix: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    if _has_no_rows(matrix):
        return (
            torch.ones(matrix.shape[:-2], dtype=matrix.dtype),
            matrix,
            torch.zeros(matrix.shape[:-1], dtype=torch.int32),
        )
    pivots = _pivots(matrix)
    if pivots is None:
        return NotImplemented
    result = pivots[0]
    for pivot in pivots[1:]:
        result = result * pivot
    return result, matrix, torch.zeros(matrix.shape[:-1], dtype=torch.int32)


def _slogdet(matrix: Tensor) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    if _has_no_rows(matrix):
        one = torch.ones(matrix.shape[:-2], dtype=matrix.dtype)
        return one, torch.zeros_like(one), matrix, torch.zeros(matrix.shape[:-1], dtype=torch.int32)
    pivots = _pivots(matrix)
    if pivots is None:
        return NotImplemented
    sign, logarithm = torch.sign(pivots[0]), torch.log(torch.abs(pivots[0]))
    for pivot in pivots[1:]:
        sign, logarithm = sign * torch.sign(pivot), logarithm + torch.log(torch.abs(pivot))
    return sign, logarithm, matrix, torch.zeros(matrix.shape[:-1], dtype=torch.int32)


def _logdet(matrix: Tensor) -> Tensor:
    found: Any = _slogdet(matrix)
    return found if found is NotImplemented else torch.where(found[0] < 0, float("nan"), found[1])


def _solve_triangular(
    matrix: Tensor, right: Tensor, *, upper: bool, left: bool = True, unitriangular: bool = False
) -> Tensor:
    """By substitution, column by column."""
    if not left:
        turned = _solve_triangular(
            matrix.transpose(-2, -1), right.transpose(-2, -1), upper=not upper, unitriangular=unitriangular
        )
        return turned if turned is NotImplemented else turned.transpose(-2, -1)
    count = matrix.size(-1)
    if not isinstance(count, int) or not 0 < count <= LARGEST_DETERMINANT or matrix.dtype.itemsize < 4:
        return NotImplemented
    if matrix.dtype.is_complex or right.numel() == 0:
        return NotImplemented
    batch: list[Any] = list(_torch.broadcast_shapes(matrix.shape[:-2], right.shape[:-2]))
    rest = right.expand([*batch, *right.shape[-2:]])
    found: list[Tensor] = []
    for step in range(count):
        place = count - 1 - step if upper else step
        row = rest.narrow(-2, count - 1 - step if upper else 0, 1)
        if not unitriangular:
            row = row / matrix.narrow(-2, place, 1).narrow(-1, place, 1)
        found.append(row)
        begin, kept = (0, count - 1 - step) if upper else (step + 1, count - 1 - step)
        if kept:
            column = matrix.narrow(-1, place, 1).narrow(-2, begin, kept)
            rest = rest.narrow(-2, 0 if upper else 1, kept) - column * row
    return torch.cat(found[::-1] if upper else found, -2)


def _triangular_solve(
    right: Tensor, matrix: Tensor, upper: bool = True, transpose: bool = False, unitriangular: bool = False
) -> tuple[Tensor, Tensor]:
    turned = matrix.transpose(-2, -1) if transpose else matrix
    found = _solve_triangular(turned, right, upper=upper != transpose, unitriangular=unitriangular)
    if found is NotImplemented:
        return NotImplemented
    return found, matrix.expand([*found.shape[:-2], *matrix.shape[-2:]]).clone()


def _leading(whole: Callable[..., Any], count: int) -> Callable[..., Any]:
    """The first results of a decomposition."""

    def cut(*args: Any) -> Any:
        found = whole(*args)
        return found if found is NotImplemented else found[0] if count == 1 else tuple(found[:count])

    return cut


def _batched(op: Callable[..., Any]) -> Callable[..., Any]:
    """A pooling in two dims of one image, as a batch of it."""

    def pooled(x: Tensor, *args: Any) -> Any:
        return op(x.unsqueeze(0), *args).squeeze(0) if x.dim() == 3 else NotImplemented

    return pooled


_ERFC = (
    -1.26551223,
    1.00002368,
    0.37409196,
    0.09678418,
    -0.18628806,
    0.27886807,
    -1.13520398,
    1.48851587,
    -0.82215223,
    0.17087277,
)


def _erfc(x: Tensor) -> Tensor:
    dtype = x.dtype if x.dtype.is_floating_point else torch.get_default_dtype()
    if dtype not in (torch.float32, torch.float16, torch.bfloat16):
        return NotImplemented
    wide = x.to(torch.float32)
    size = torch.abs(wide)
    t = 1 / (1 + 0.5 * size)
    fit = torch.full([], _ERFC[-1])
    for coefficient in reversed(_ERFC[:-1]):
        fit = fit * t + coefficient
    tail = t * torch.exp(fit - size * size)
    return torch.where(wide < 0, 2 - tail, tail).to(dtype)


def _added_exponentials(power: Callable[[Tensor], Tensor], base: float) -> Callable[..., Tensor]:
    """The logarithm of the sum of two powers of a base, of which the larger one is taken out."""

    def both(x: Tensor, y: Tensor) -> Tensor:
        dtype = torch.result_type(x, y)
        if not dtype.is_floating_point:
            return NotImplemented
        wide = compute_dtype(dtype)
        x, y = x.to(wide), y.to(wide)
        apart = torch.where(x == y, 0, torch.abs(x - y))  # equal infinities
        rest = torch.log1p(power(-apart))
        return (torch.maximum(x, y) + (rest if base == math.e else rest / math.log(base))).to(dtype)

    return both


COMPOSED: dict[Any, Callable[..., Any]] = {
    aten.empty_strided.default: _strided,
    aten.new_empty_strided.default: _new_strided,
    aten.view_copy.default: _copied(aten.view.default),
    aten.permute_copy.default: _copied(aten.permute.default),
    aten.unbind_copy.int: _copied(aten.unbind.int),
    aten.narrow_copy.default: _copied(aten.narrow.default),
    aten.as_strided_copy.default: _copied(aten.as_strided.default),
    aten.pixel_unshuffle.default: _pixel_unshuffle,
    aten.adaptive_max_pool2d.default: _adaptive_max_pool,
    aten.adaptive_max_pool3d.default: _adaptive_max_pool,
    aten.max_pool2d_with_indices.default: _max_pool,
    aten.max_pool3d_with_indices.default: _max_pool3d,
    aten._cdist_forward.default: _cdist,
    aten.cdist.default: _cdist,
    aten.median.default: _median,
    aten.median.dim: _median_along,
    aten._linalg_det.default: _det,
    aten.linalg_det.default: _leading(_det, 1),
    aten._linalg_slogdet.default: _slogdet,
    aten.linalg_slogdet.default: _leading(_slogdet, 2),
    aten.logdet.default: _logdet,
    aten.linalg_solve_triangular.default: _solve_triangular,
    aten.triangular_solve.default: _triangular_solve,
    aten.adaptive_avg_pool2d.default: _batched(aten.adaptive_avg_pool2d.default),
    aten._adaptive_avg_pool2d.default: _batched(aten._adaptive_avg_pool2d.default),
    aten.logaddexp.default: _added_exponentials(torch.exp, math.e),
    aten.logaddexp2.default: _added_exponentials(torch.exp2, 2),
    aten.erfc.default: _erfc,
    aten.special_erfc.default: _erfc,
}
