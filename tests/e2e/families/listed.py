"""Operators that once crashed, never ended or came out wrong, with their neighbours: other dims, shapes and element types."""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn import functional as F

from tests.e2e.checking import random
from tests.e2e.families.given import Families, Op

ROWS = torch.tensor([[0, 2, 1, 1], [2, 0, 0, 1]])
NONE = torch.zeros(0, 4)
IMAGES = torch.zeros(0, 4, 4, 4)
TRUE = torch.tensor([True, False, True, True])
FALSE = torch.tensor([False, False, True, False])
NAN, INF = float("nan"), float("inf")
REDUCTIONS = ("sum", "prod", "mean", "amax", "amin")


def changed(x: Tensor, place: object, value: Tensor | float) -> Tensor:
    result = x.clone()
    result[place] = value  # pyright: ignore[reportArgumentType]
    return result


def bags(mode: str, **options: object) -> Op:
    def apply(weight: Tensor, indices: Tensor, offsets: Tensor, factors: Tensor) -> Tensor:
        return F.embedding_bag(indices, weight, offsets, mode=mode, **options)  # pyright: ignore[reportArgumentType]

    return apply


def narrow(dtype: torch.dtype) -> tuple[dict[str, Op], tuple[Tensor, ...]]:
    ops: dict[str, Op] = {
        "scatter_add": lambda a, b, i: a.scatter_add(-1, i, b),
        "scatter": lambda a, b, i: a.scatter(-1, i, b),
        "scatter_reduce amax": lambda a, b, i: a.scatter_reduce(0, i, b, "amax"),
        "scatter_reduce amin": lambda a, b, i: a.scatter_reduce(0, i, b, "amin"),
        "index_put accumulate": lambda a, b, i: a.index_put((i,), b, accumulate=True),
        "sort": lambda a, b, i: torch.sort(a),
        "square": lambda a, b, i: a.square(),
        "power": lambda a, b, i: a**2,
        "clamp_min": lambda a, b, i: torch.clamp_min(a, b),
        "clamp_max": lambda a, b, i: torch.clamp_max(a, b),
        "maximum": lambda a, b, i: torch.maximum(a, b),
        "cummax": lambda a, b, i: a.cummax(0),
        "least": lambda a, b, i: a.min(),
        "largest": lambda a, b, i: a.max(),
    }
    a, b = torch.tensor([100, 90, 120, 7]), torch.tensor([3, 100, 5, 7])
    if dtype == torch.uint8:
        a = a + 100
    return ops, (a.to(dtype), b.to(dtype), torch.tensor([0, 0, 1, 2]))


def _ends(*shape: int) -> Tensor:
    """Numbers, some of which are minus infinity or none; the first plane is minus infinity."""
    x = random(*shape)
    x = torch.where(x > 1.2, NAN, torch.where(x < -1, -INF, x))
    x[0, 0] = -INF
    return x


def integer_images(dtype: torch.dtype) -> Tensor:
    return (torch.arange(2 * 3 * 6 * 7) * 37 % 101 - (0 if dtype == torch.uint8 else 50)).reshape(2, 3, 6, 7).to(dtype)


LISTED: Families = {
    "numbers for bools": (
        {
            "full": lambda x: torch.full((3,), 6, dtype=torch.bool) | x,
            "full_like": lambda x: torch.full_like(x, 2),
            "new_full": lambda x: x.new_full((3,), 4),
            "fill": lambda x: x.clone().fill_(2),
            "masked_fill": lambda x: x.masked_fill(x, 2),
            "and": lambda x: x & 1,
            "or": lambda x: x | 2,
            "xor": lambda x: x ^ 3,
            "and true": lambda x: x & True,
            "reciprocal": lambda x: x.reciprocal(),
            "of one": lambda x: 1 / x,
            "cummax": lambda x: x.cummax(0),
            "cummin": lambda x: x.cummin(0),
        },
        (torch.tensor([True, False, True]),),
    ),
    "reciprocals of integers": (
        {"reciprocal": lambda x: x.reciprocal(), "of": lambda x: 2 / x},
        (torch.tensor([4, 0, -3]),),
    ),
    "integers divided": (
        {
            "floor": lambda x, y: x // y,
            "remainder": lambda x, y: x % y,
            "fmod": lambda x, y: torch.fmod(x, y),
            "trunc": lambda x, y: torch.div(x, y, rounding_mode="trunc"),
            "negative": lambda x, y: (-x) // y,
            "by a number": lambda x, y: (x // -3, x % -3, x // 7, y // 2),
            "of a number": lambda x, y: (7 // y, -7 % y),
            "by a float": lambda x, y: x // 2.5,
            "selected": lambda x, y: x // torch.where(y > 0, y, 1),
        },
        (torch.tensor([2**62 + 1, -(2**61) - 3, 17]), torch.tensor([3, 7, -5])),
    ),
    "the least integer by minus one": (
        {"floor": lambda x, y: x // y, "remainder": lambda x, y: x % y},
        (torch.tensor([-(2**63), 7]), torch.tensor([-1, -1])),
    ),
    "as strided scalars": (
        {
            "resize": lambda x: x.clone().resize_(()),
            "copy": lambda x: torch.as_strided_copy(x, (2, 1), (1, 2)),
            "second": lambda x: torch.as_strided(x.clone(), (), (), 1),
        },
        (torch.tensor([1.0, 2.0, 3.0]),),
    ),
    **{
        f"maximum pooling of {dtype}": (
            {
                "plain": lambda x: F.max_pool2d(x, 2, return_indices=True),
                "padded": lambda x: F.max_pool2d(x, 3, 2, padding=1, return_indices=True),
                "upwards": lambda x: F.max_pool2d(x, 3, 2, padding=1, ceil_mode=True, return_indices=True),
                "dilated": lambda x: F.max_pool2d(x, (2, 3), 1, padding=(0, 1), dilation=(3, 2), return_indices=True),
                "unbatched": lambda x: F.max_pool2d(x[0], (3, 2), return_indices=True),
            },
            (integer_images(dtype),),
        )
        for dtype in (torch.int64, torch.int32, torch.uint8)
    },
    "maximum pooling of one image": ({"pool": lambda x: F.max_pool2d(x, 2, return_indices=True)}, (random(3, 4, 6),)),
    "scatter along negative dims": (
        {
            "value": lambda x, i: x.scatter(-1, i, 1.0),
            "source": lambda x, i: x.scatter(-2, i, x),
            "in place": lambda x, i: x.clone().scatter_(-2, i, 2.0),
            "scatter_add": lambda x, i: x.scatter_add(-2, i, x),
            "add": lambda x, i: x.scatter(-2, i, x, reduce="add"),
            "multiply": lambda x, i: x.scatter(0, i, 2.0, reduce="multiply"),
            **{name: lambda x, i, name=name: x.scatter_reduce(-2, i, x, name) for name in REDUCTIONS},
        },
        (random(3, 4), ROWS),
    ),
    "closeness of what is infinite, or no number": (
        {
            "plain": lambda x, y: torch.isclose(x, y),
            "equal": lambda x, y: torch.isclose(x, y, equal_nan=True),
            "without tolerance": lambda x, y: torch.isclose(x, y, 0.0, 0.0),
            "f64": lambda x, y: torch.isclose(x.double(), y.double(), rtol=1e30),
            "bf16": lambda x, y: x.bfloat16().isclose(y.bfloat16()),
        },
        (torch.tensor([NAN, NAN, INF, -INF, INF, 1, 1]), torch.tensor([NAN, 1, INF, INF, 1, 1.000001, 1.1])),
    ),
    "sums of exponentials of what is infinite, or no number": (
        {"logaddexp": torch.logaddexp, "logaddexp2": torch.logaddexp2},
        (
            torch.tensor([NAN, -INF, INF, -INF, INF, NAN, 100, 1e-3]),
            torch.tensor([-INF, NAN, NAN, -INF, -INF, 1, 101, -17]),
        ),
    ),
    "maximum pooling of what is infinite, or no number": (
        {
            "padded": lambda x: F.max_pool2d(x, 3, 2, padding=1, return_indices=True),
            "dilated": lambda x: F.max_pool2d(x, (2, 3), padding=1, dilation=2, ceil_mode=True, return_indices=True),
            "half": lambda x: F.max_pool2d(x.half(), 2, return_indices=True),
            "lines": lambda x: F.max_pool1d(x[0], 2, padding=1, return_indices=True),
            "volumes": lambda x: F.max_pool3d(x, 2, padding=1, return_indices=True),
            "batch of volumes": lambda x: F.max_pool3d(x[None], (1, 2, 3), return_indices=True),
            "adaptive": lambda x: (
                *F.adaptive_max_pool2d(x, (3, 4), return_indices=True),
                *F.adaptive_max_pool2d(x, (3, 2), return_indices=True),
            ),
            "adaptive volumes": lambda x: (
                *F.adaptive_max_pool3d(x, (2, 4, 5), return_indices=True),
                *F.adaptive_max_pool3d(x[None], (3, 3, 2), return_indices=True),
            ),
        },
        (_ends(2, 3, 6, 8),),
    ),
    "scatter on scalars": (
        {
            "scatter": lambda x, i: x.scatter(0, i, x + 1),
            "scatter_add": lambda x, i: x.scatter_add(-1, i, x),
        },
        (torch.tensor(1.5), torch.tensor(0)),
    ),
    "no elements": (
        {
            "reshape": lambda x: x.reshape(-1) + 1,
            "flatten": lambda x: x.flatten(1),
            "roll": lambda x: x.roll(1),
            "product": lambda x: x.t() @ x,
            "product without elements": lambda x: x @ x.t(),
            "sum": lambda x: (x.sum(), x.sum(0), x.sum(1)),
            "prod": lambda x: x.prod(),
            "mean": lambda x: x.mean(),
            "any and all": lambda x: (x.any(), x.all()),
            "logsumexp": lambda x: (x.logsumexp(0), x.logsumexp(1)),
            "cat": lambda x: torch.cat([x, x + 1]),
            "cat with more": lambda x: torch.cat([x, torch.ones(2, 4)]),
            "pad": lambda x: F.pad(x, (1, 1, 1, 1)),
            "index_add": lambda x: torch.ones(3, 4).index_add(0, torch.zeros(0, dtype=torch.int64), x) + 1,
        },
        (NONE,),
    ),
    "batches of no images": (
        {
            "pixel_shuffle": lambda x: F.pixel_shuffle(x, 2),
            "pixel_unshuffle": lambda x: F.pixel_unshuffle(x, 2),
            "group_norm": lambda x: F.group_norm(x, 2),
            "unfold": lambda x: F.unfold(x, 2),
            "bilinear": lambda x: F.bilinear(x, x, torch.ones(3, 4, 4)),
            "convolution": lambda x: F.conv2d(x, torch.ones(2, 4, 3, 3)),
            "pooling": lambda x: F.max_pool2d(x, 2),
            "attention": lambda x: F.scaled_dot_product_attention(x, x, x),
        },
        (IMAGES,),
    ),
    "products over no elements": (
        {
            "matmul": lambda a, b: a @ b,
            "multi_dot": lambda a, b: torch.linalg.multi_dot([a[0], b, b.t()]),
            "attention": lambda a, b: F.scaled_dot_product_attention(a, a, a),
        },
        (random(5, 5, 0), random(0, 5)),
    ),
    "resize": (
        {
            "resize_": lambda x: x.clone().resize_(1, 1),
            "all": lambda x: x.clone().resize_(4),
            "transposed": lambda x: x.t().clone().resize_(1, 3),
        },
        (random(2, 2),),
    ),
    "embedding_bag": (
        {
            "per_sample_weights": lambda w, i, o, p: F.embedding_bag(i, w, o, mode="sum", per_sample_weights=p),
            **{mode: bags(mode) for mode in ("sum", "mean", "max")},
            **{f"{mode} with padding": bags(mode, padding_idx=2) for mode in ("sum", "mean", "max")},
            "last offset": bags("sum", include_last_offset=True),
            "rows": lambda w, i, o, p: F.embedding_bag(i.reshape(2, 3), w),
        },
        (random(5, 3), torch.tensor([0, 2, 2, 4, 1, 0]), torch.tensor([0, 2, 2, 6]), random(6)),
    ),
    "running": (
        {
            "logcumsumexp": lambda x: (x.logcumsumexp(0), x.logcumsumexp(-1)),
            "cummax": lambda x: (*x.cummax(0), *x.cummax(-1)),
            "cummin": lambda x: (*x.cummin(0), *x.cummin(-1)),
        },
        (torch.tensor([[100.0, 100, 3], [-200, -200, 3], [float("-inf"), float("-inf"), 3], [1, float("nan"), 3]]),),
    ),
    "too few samples": (
        {
            "var": lambda x: (x[:1].var(), x[:0].var(), x.var(correction=5)),
            "std": lambda x: (x[:1].std(), x[:0].std()),
            "var_mean": lambda x: torch.var_mean(x[:1]),
            "std_mean": lambda x: torch.std_mean(x[:0]),
            "biased": lambda x: x[:1].var(unbiased=False),
        },
        (random(3),),
    ),
    "mean of scattered integers": (
        {
            "with self": lambda x, i, s: x.scatter_reduce(0, i, s, "mean"),
            "without": lambda x, i, s: x.scatter_reduce(0, i, s, "mean", include_self=False),
        },
        (torch.tensor([-3, 5, 7]), torch.tensor([0, 0, 2]), torch.tensor([-2, 3, -8])),
    ),
    "mean of scattered bytes": (
        {"with self": lambda x, i, s: x.scatter_reduce(0, i, s, "mean")},
        (torch.tensor([100, 5, 7]).byte(), torch.tensor([0, 0, 2]), torch.tensor([100, 62, 255]).byte()),
    ),
    "booleans": (
        {
            "clamp_min": lambda a, b, i: a.clamp_min(b),
            "clamp_max": lambda a, b, i: a.clamp_max(b),
            "maximum": lambda a, b, i: torch.maximum(a, b),
            "minimum": lambda a, b, i: torch.minimum(a, b),
            "sort": lambda a, b, i: (torch.sort(a), torch.sort(a, descending=True)),
            "msort": lambda a, b, i: a.msort(),
            "argsort": lambda a, b, i: a.argsort(stable=True),
            "scatter_add": lambda a, b, i: a.scatter_add(-1, i, b),
            **{
                name: lambda a, b, i, name=name: a.scatter_reduce(0, i, b, name)
                for name in ("sum", "prod", "amax", "amin")
            },
            "index_put accumulate": lambda a, b, i: a.index_put((i,), b, accumulate=True),
            "index_add": lambda a, b, i: a.index_add(0, i, b),
            "square": lambda a, b, i: a.square(),
            "powers": lambda a, b, i: (a**2, a**3),
            "extremes": lambda a, b, i: (a.amax(), a.amin(), *a.max(0), *a.min(0)),
            "sums": lambda a, b, i: (a.sum(), a.cumsum(0), a.any(), a.all(), a + b, a * b),
        },
        (TRUE, FALSE, torch.tensor([0, 0, 0, 2])),
    ),
    **{
        str(dtype).removeprefix("torch."): narrow(dtype)
        for dtype in (torch.int8, torch.uint8, torch.int16, torch.int32)
    },
    "written where a mask is true": (
        {
            "number": lambda x, m, r: changed(x, m, 0.0),
            "row": lambda x, m, r: changed(x, m[:, 0], r),
            "columns": lambda x, m, r: changed(x, (slice(None), m[0]), 1.0),
        },
        (random(3, 4), random(3, 4) > 0, random(4)),
    ),
    "determinants": (
        {
            "det": torch.linalg.det,
            "slogdet": torch.linalg.slogdet,
            "logdet": lambda x: torch.logdet(x @ x.mT + torch.eye(5)),
            "one row": lambda x: torch.linalg.det(x[:, :1, :1]),
        },
        (random(2, 5, 5),),
    ),
    "broadcast": (
        {"fmax": torch.fmax, "fmin": torch.fmin},
        (torch.tensor([[1.0], [float("nan")]]), torch.tensor([3.0, float("nan"), -1])),
    ),
    "adaptive pooling": (
        {
            "steps that vary": lambda x: F.adaptive_max_pool2d(x, 3),
            "indices": lambda x: F.adaptive_max_pool2d(x, (3, 5), return_indices=True),
            "one image": lambda x: F.adaptive_max_pool2d(x[0], (None, 3)),
            "as it is": lambda x: F.adaptive_avg_pool2d(x[0], (None, None)),
        },
        (random(2, 3, 8, 7),),
    ),
    "scalars": (
        {
            **{
                name: lambda x, name=name: getattr(x, name)(0) for name in ("amax", "amin", "any", "all", "prod", "sum")
            },
            **{name: lambda x, name=name: getattr(x, name)(-1) for name in ("cumsum", "cumprod", "logsumexp", "mean")},
            **{name: lambda x, name=name: tuple(getattr(x, name)(0)) for name in ("max", "min", "sort", "median")},
            "var": lambda x: (x.var(-1), x.std(0, correction=0), *torch.var_mean(x, 0, correction=0)),
        },
        (torch.tensor(2.5),),
    ),
    "integers": (
        {
            "power": lambda a, b: a**b,
            "power of a number": lambda a, b: 2**b,
            "isclose": torch.isclose,
            "fmax": torch.fmax,
            "addbmm": lambda a, b: torch.addbmm(
                a.reshape(2, 3), b.reshape(1, 2, 3), torch.ones(1, 3, 3, dtype=torch.int64)
            ),
            "addbmm of cut numbers": lambda a, b: torch.addbmm(
                a.reshape(2, 3), b.reshape(1, 2, 3), torch.ones(1, 3, 3, dtype=torch.int64), beta=1.6, alpha=2.2
            ),
            "addmm of cut numbers": lambda a, b: torch.addmm(
                a.reshape(2, 3), b.reshape(2, 3), torch.ones(3, 3, dtype=torch.int64), beta=0.6, alpha=2.2
            ),
        },
        (torch.tensor([2, -3, 1, -1, 7, 0]), torch.tensor([10, 3, -2, -3, 23, 0])),
    ),
    "sorted with NaN": (
        {
            "sort": lambda x: (*torch.sort(x), *torch.sort(x, descending=True)),
            "stable": lambda x: torch.sort(x, stable=True),
            "topk": lambda x: torch.topk(x, 2),
            "median": lambda x: x.median(),
        },
        (torch.tensor([1.0, float("nan"), -2, float("inf"), torch.finfo(torch.float32).max]),),
    ),
    "median of nothing": (
        {
            "all": lambda x: x.median(),
            "integers": lambda x: x.long().median(),
            "rows of no row": lambda x: x.median(1),
        },
        (torch.zeros(0, 3),),
    ),
    "composed": (
        {
            **{f"cdist {p}": lambda x, y, p=p: torch.cdist(x, y, p=p) for p in (0.0, 1.0, 2.0, 3.0, float("inf"))},
            "cdist of what is no number": lambda x, y: torch.cdist(torch.where(x > 1, NAN, x), y, p=0.0),
            "median": lambda x, y: (x.median(), *x.median(0), *x.median(-1, keepdim=True)),
            "searchsorted": lambda x, y: (
                torch.searchsorted(x.sort(-1)[0], x),
                torch.searchsorted(y[0].sort()[0], x, right=True),
            ),
            "bucketize": lambda x, y: torch.bucketize(y, torch.tensor([-1.0, 0, 1])),
            "erfc": lambda x, y: torch.erfc(x * 3) * 1e3,
            "block_diag": torch.block_diag,
            "addbmm": lambda x, y: torch.addbmm(x, x[None], torch.eye(4)[None], beta=2, alpha=3),
        },
        (random(3, 4), random(5, 4)),
    ),
}
