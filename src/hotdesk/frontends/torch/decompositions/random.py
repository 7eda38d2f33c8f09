"""Random PyTorch ops as three: `rand` of f32 and f64, `randn` of these, and `randint.low` of i64 (`torch.random`)."""

# PyTorch is annotated in part only.
# pyright: reportUnknownArgumentType=false, reportUnknownVariableType=false, reportUnknownMemberType=false

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import Tensor

aten: Any = torch.ops.aten

_HALVES = {torch.float16: 11, torch.bfloat16: 8}
"""Half-precision floats, with how many bits of theirs are drawn: as many as stay below one, as in PyTorch."""


def _drawn(dtype: torch.dtype) -> torch.dtype:
    """The type in which numbers for a tensor are drawn."""
    return torch.float64 if dtype == torch.float64 else torch.float32


def _rand(size: Sequence[int], *, dtype: torch.dtype | None = None, **_: Any) -> Tensor:
    dtype = dtype or torch.get_default_dtype()
    if dtype not in _HALVES:
        return NotImplemented
    steps = 1 << _HALVES[dtype]
    return (torch.floor(torch.rand(size, dtype=torch.float32) * steps) / steps).to(dtype)


def _randn(size: Sequence[int], *, dtype: torch.dtype | None = None, **_: Any) -> Tensor:
    dtype = dtype or torch.get_default_dtype()
    return torch.randn(size, dtype=torch.float32).to(dtype) if dtype in _HALVES else NotImplemented


def _rand_like(x: Tensor, *, dtype: torch.dtype | None = None, **_: Any) -> Tensor:
    return torch.rand(x.shape, dtype=dtype or x.dtype)


def _randn_like(x: Tensor, *, dtype: torch.dtype | None = None, **_: Any) -> Tensor:
    return torch.randn(x.shape, dtype=dtype or x.dtype)


def _randint(high: int, size: Sequence[int], *, dtype: torch.dtype | None = None, **_: Any) -> Tensor:
    return torch.randint(0, high, size, dtype=dtype or torch.int64)


def _randint_low(low: int, high: int, size: Sequence[int], *, dtype: torch.dtype | None = None, **_: Any) -> Tensor:
    if dtype in (None, torch.int64):
        return NotImplemented
    return torch.randint(low, high, size, dtype=torch.int64).to(dtype)


def _randint_like(x: Tensor, high: int, *, dtype: torch.dtype | None = None, **_: Any) -> Tensor:
    return torch.randint(0, high, x.shape, dtype=dtype or x.dtype)


def _randint_like_low(x: Tensor, low: int, high: int, *, dtype: torch.dtype | None = None, **_: Any) -> Tensor:
    return torch.randint(low, high, x.shape, dtype=dtype or x.dtype)


def _bernoulli(x: Tensor, *, generator: Any = None) -> Tensor:
    return _bernoulli_tensor(x, x)


def _bernoulli_tensor(x: Tensor, p: Tensor, *, generator: Any = None) -> Tensor:
    dtype = _drawn(p.dtype)
    return (torch.rand(x.shape, dtype=dtype) < p.to(dtype)).to(x.dtype)


def _bernoulli_p(x: Tensor, p: float = 0.5, *, generator: Any = None) -> Tensor:
    return (torch.rand(x.shape, dtype=_drawn(x.dtype)) < p).to(x.dtype)


def _native_dropout(x: Tensor, p: float, train: bool | None) -> tuple[Tensor, Tensor]:
    if train is False:
        return NotImplemented
    mask = torch.rand(x.shape, dtype=_drawn(x.dtype)) < 1 - p
    return x * mask.to(x.dtype) * (1 / (1 - p) if p < 1 else 0.0), mask


def _rrelu(
    x: Tensor,
    noise: Tensor,
    lower: float = 0.125,
    upper: float = 1 / 3,
    training: bool = False,
    generator: Any = None,
) -> tuple[Tensor, Tensor]:
    """The noise is the factor of each element."""
    if not training:
        return NotImplemented
    slope = torch.rand(x.shape, dtype=_drawn(x.dtype)) * (upper - lower) + lower
    factor = torch.where(x <= 0, slope.to(x.dtype), 1)
    return x * factor, factor


def _uniform(x: Tensor, low: float = 0.0, high: float = 1.0, *, generator: Any = None) -> Tensor:
    """Never `high`, as in PyTorch: a number that is rounded to it becomes `low`."""
    dtype = _drawn(x.dtype)
    drawn = (torch.rand(x.shape, dtype=x.dtype).to(dtype) * (high - low) + low).to(x.dtype)
    return torch.where(drawn.to(dtype) >= high, low, drawn).to(x.dtype)


def _normal_functional(x: Tensor, mean: float = 0.0, std: float = 1.0, *, generator: Any = None) -> Tensor:
    return (torch.randn(x.shape, dtype=_drawn(x.dtype)) * std + mean).to(x.dtype)


def _normal(mean: Tensor | float, std: Tensor | float = 1.0, *, generator: Any = None) -> Tensor:
    """One of the two at least is a tensor."""
    dtype = mean.dtype if isinstance(mean, Tensor) else torch.result_type(std, mean)
    shape = torch.broadcast_shapes(*(each.shape for each in (mean, std) if isinstance(each, Tensor)))
    return (torch.randn(shape, dtype=_drawn(dtype)) * std + mean).to(dtype)


def _normal_sized(
    mean: float, std: float, size: Sequence[int], *, dtype: torch.dtype | None = None, **_: Any
) -> Tensor:
    dtype = dtype or torch.get_default_dtype()
    return (torch.randn(size, dtype=_drawn(dtype)) * std + mean).to(dtype)


def _exponential(x: Tensor, rate: float = 1.0, *, generator: Any = None) -> Tensor:
    """Never zero, whose logarithm is infinite: half a step where zero is drawn, and at least the least number of the type."""
    dtype, info = _drawn(x.dtype), torch.finfo(x.dtype)
    half = 2.0**-54 if dtype == torch.float64 else 2.0**-25
    drawn = -torch.log1p(-torch.rand(x.shape, dtype=dtype)).clamp(max=-half) / rate
    return drawn.clamp(min=info.smallest_normal * info.eps).to(x.dtype)


def _geometric(x: Tensor, p: float, *, generator: Any = None) -> Tensor:
    """How many trials it takes, the last one included."""
    above = 1 - torch.rand(x.shape, dtype=_drawn(x.dtype))
    return torch.ceil(torch.log(above) / (math.log1p(-p) if p < 1 else -math.inf)).clamp(min=1).to(x.dtype)


def _cauchy(x: Tensor, median: float = 0.0, sigma: float = 1.0, *, generator: Any = None) -> Tensor:
    turn = torch.rand(x.shape, dtype=_drawn(x.dtype)) - 0.5
    return (torch.tan(math.pi * turn) * sigma + median).to(x.dtype)


def _log_normal(x: Tensor, mean: float = 1.0, std: float = 2.0, *, generator: Any = None) -> Tensor:
    return torch.exp(torch.randn(x.shape, dtype=_drawn(x.dtype)) * std + mean).to(x.dtype)


def _random_from(x: Tensor, low: int, high: int | None, *, generator: Any = None) -> Tensor:
    return NotImplemented if high is None else torch.randint(low, high, x.shape, dtype=torch.int64).to(x.dtype)


def _random_to(x: Tensor, high: int, *, generator: Any = None) -> Tensor:
    return _random_from(x, 0, high)


def _randperm(n: int, *, dtype: torch.dtype | None = None, **_: Any) -> Tensor:
    """The order of random numbers of 53 bits; of equal ones, which sort as they stand, there are two in 2⁵⁴ / n² permutations."""
    return torch.sort(torch.rand(n, dtype=torch.float64), stable=True)[1].to(dtype or torch.int64)


def _multinomial(x: Tensor, count: int, replacement: bool = False, *, generator: Any = None) -> Tensor:
    """With replacement, where a number falls among the sums of weights; else the first of as many exponential clocks as there
    are weights, each at the rate of its weight: P. S. Efraimidis and P. G. Spirakis, Weighted random sampling with a reservoir,
    2006."""
    weights = x.to(_drawn(x.dtype))
    if replacement:
        ends = torch.cumsum(weights, -1)
        drawn = torch.rand((*x.shape[:-1], count), dtype=weights.dtype) * ends[..., -1:]
        return (ends.unsqueeze(-2) <= drawn.unsqueeze(-1)).sum(-1)
    least = torch.finfo(weights.dtype).tiny
    rung = weights / _exponential(weights).clamp(min=least)
    return torch.argmax(rung, -1, keepdim=True) if count == 1 else torch.topk(rung, count)[1]


RANDOM: dict[Any, Callable[..., Any]] = {
    aten.rand.default: _rand,
    aten.randn.default: _randn,
    aten.rand_like.default: _rand_like,
    aten.randn_like.default: _randn_like,
    aten.randint.default: _randint,
    aten.randint.low: _randint_low,
    aten.randint_like.default: _randint_like,
    aten.randint_like.low_dtype: _randint_like_low,
    aten.bernoulli.default: _bernoulli,
    aten.bernoulli.Tensor: _bernoulli_tensor,
    aten.bernoulli.p: _bernoulli_p,
    aten.native_dropout.default: _native_dropout,
    aten.rrelu_with_noise_functional.default: _rrelu,
    aten.uniform.default: _uniform,
    aten.normal_functional.default: _normal_functional,
    aten.normal.Tensor_Tensor: _normal,
    aten.normal.Tensor_float: _normal,
    aten.normal.float_Tensor: _normal,
    aten.normal.float_float: _normal_sized,
    aten.exponential.default: _exponential,
    aten.geometric.default: _geometric,
    aten.cauchy.default: _cauchy,
    aten.log_normal.default: _log_normal,
    aten.random.to: _random_to,
    getattr(aten.random, "from"): _random_from,
    aten.randperm.default: _randperm,
    aten.multinomial.default: _multinomial,
}
