"""Ops of PyTorch by family, each compared with eager PyTorch; and the ops that Hotdesk refuses, with the error they raise.

A family is one program that returns a result for each op, so that four hundred ops are some sixty compilations.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import pytest
import torch
from torch import Tensor, nn
from torch.nn import functional as F

import hotdesk
from hotdesk.errors import DataDependentShapeError, HotdeskError, LoweringError, UnsupportedOpError
from tests.e2e.checking import agree, integers, random

Op = Callable[..., Any]


class Family(nn.Module):
    """Applies every op to the arguments; modules among the ops keep their weights."""

    def __init__(self, ops: Mapping[str, Op]) -> None:
        super().__init__()
        self.modules_by_name = nn.ModuleDict({name: op for name, op in ops.items() if isinstance(op, nn.Module)})
        self.ops = dict(ops)

    def forward(self, *args: Tensor) -> dict[str, Any]:
        return {name: op(*args) for name, op in self.ops.items()}


def _torch(*names: str) -> dict[str, Op]:
    return {name: getattr(torch, name) for name in names}


def _layers(*names: str) -> dict[str, Op]:
    return {name: getattr(nn, name)() for name in names}


def _seeded(**ops: Callable[[], nn.Module]) -> dict[str, Op]:
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        return {name: make() for name, make in ops.items()}


class _Decoder(nn.TransformerDecoderLayer):
    def forward(self, x: Tensor) -> Tensor:
        return super().forward(x, x[:, :3])


class _SelfAttention(nn.MultiheadAttention):
    def forward(self, x: Tensor) -> Any:
        return super().forward(x, x, x)


X, Y, Z = random(3, 5), random(3, 5, seed=7), random(2, 3, 4)
POSITIVE, UNIT = random(3, 5).abs() + 0.5, random(3, 5).sigmoid() * 0.9 + 0.05
SQUARE, INTS, MASK = random(4, 4), integers(9, 3, 5), random(3, 5, seed=9) > 0
IMAGE, ROW, VOLUME = random(2, 4, 8, 7), random(2, 4, 9), random(1, 2, 4, 5, 6)
INDEX = torch.tensor([[0, 2], [1, 1], [2, 0]])

FAMILIES: dict[str, tuple[dict[str, Op], tuple[Tensor, ...]]] = {
    "unary": (
        _torch(
            *(
                "abs",
                "neg",
                "exp",
                "exp2",
                "expm1",
                "sin",
                "cos",
                "tan",
                "sinh",
                "cosh",
                "tanh",
                "asinh",
                "atan",
                "erf",
            ),
            *("sigmoid", "floor", "ceil", "round", "trunc", "frac", "sign", "relu", "square", "sinc", "deg2rad"),
            *("rad2deg", "positive", "nan_to_num", "isnan", "isinf", "isfinite", "logical_not", "sgn"),
        ),
        (X,),
    ),
    "unary, positive": (
        {
            **_torch("log", "log2", "log10", "log1p", "sqrt", "rsqrt", "reciprocal"),
            "acosh": lambda x: torch.acosh(x + 1),
        },
        (POSITIVE,),
    ),
    "unary, below one": (_torch("asin", "acos", "atanh", "logit"), (UNIT,)),
    "binary": (
        {
            **_torch("add", "sub", "mul", "div", "maximum", "minimum", "fmax", "fmin", "atan2", "fmod", "remainder"),
            **_torch("floor_divide", "logaddexp", "dist", "ldexp"),
            "alpha": lambda x, y: torch.add(x, y, alpha=2),
            "floor": lambda x, y: torch.div(x, y, rounding_mode="floor"),
            "trunc": lambda x, y: torch.div(x, y, rounding_mode="trunc"),
            "lerp": lambda x, y: torch.lerp(x, y, 0.3),
            "addcmul": lambda x, y: torch.addcmul(x, x, y, value=0.5),
            "addcdiv": lambda x, y: torch.addcdiv(x, x, y, value=0.5),
            "broadcast": lambda x, y: x[:, :, None] * y[:, None, :] + x.sum(),
            "outer": lambda x, y: torch.outer(x[0], y[0]),
            "cosine": lambda x, y: F.cosine_similarity(x, y, dim=1),
            "cross": lambda x, y: torch.linalg.cross(x[:, :3], y[:, :3]),
        },
        (X, Y),
    ),
    "powers": (
        {
            **_torch("pow", "xlogy", "heaviside"),
            **{f"to the {n}": lambda x, _, n=n: x**n for n in (-1, 0, 0.5, 1, 2, 2.5, 3, 4)},
            "of two": lambda x, _: 2.0**x,
        },
        (POSITIVE, POSITIVE.flip(0)),
    ),
    "comparisons": (
        {
            **_torch("eq", "ne", "lt", "le", "gt", "ge", "isclose", "logical_and", "logical_or", "logical_xor"),
            "itself": lambda x, y: (x == x, x != x),
            "numbers": lambda x, y: (x > 0, x <= 0.5, x == 1, x != 2, y < 1),
        },
        (X, Y),
    ),
    "scalars": (
        {
            "clamp": lambda x: (x.clamp(-0.5, 0.5), x.clamp(min=0), x.clamp(max=0), x.clamp(min=x.flip(0))),
            "from the left": lambda x: (3 - x, 2 / x, 1 + x),
            "where": lambda x: (torch.where(x > 0, x, 0.0), torch.where(x > 0, 1, 0), x.masked_fill(x > 0, -1.0)),
            "integers": lambda x: (x + 1, x * 2, x - 3, x / 4, x // 2, x % 2, -x % -2),
        },
        (X,),
    ),
    "masks": (
        {
            "bits": lambda x, m: (m & (x > 0), m | (x > 0), m ^ (x > 0), ~m),
            "where": lambda x, m: torch.where(m, x, -x),
            "fill": lambda x, m: x.masked_fill(m, float("-inf")).softmax(-1),
            "any": lambda x, m: (m.any(), m.all(), m.any(1), m.all(0), m.sum(), m.sum(1), m.float().mean()),
            "arithmetic": lambda x, m: (m * x, m + m, m.long() + 1),
        },
        (X, MASK),
    ),
    "whole reductions": (
        _torch(
            *(
                "sum",
                "mean",
                "amax",
                "amin",
                "prod",
                "any",
                "all",
                "argmax",
                "argmin",
                "var",
                "std",
                "max",
                "min",
                "norm",
            ),
            *("nansum", "count_nonzero"),
        ),
        (Z,),
    ),
    "reductions": (
        {
            **{
                f"{name} {dim}": lambda x, name=name, dim=dim: getattr(torch, name)(x, dim=dim)
                for dim in (1, -1)
                for name in (
                    *(
                        "sum",
                        "mean",
                        "amax",
                        "amin",
                        "prod",
                        "any",
                        "all",
                        "argmax",
                        "argmin",
                        "var",
                        "std",
                        "max",
                        "min",
                    ),
                    *("nansum", "nanmean", "logsumexp", "count_nonzero"),
                )
            },
            "kept": lambda x: (x.sum((0, 2), keepdim=True), x.std(-1, keepdim=True), x.argmax(1, keepdim=True)),
            "two": lambda x: (x.mean((0, 2)), x.var((1, 2), correction=0), torch.var_mean(x, dim=1)),
            "norms": lambda x: [
                x.norm(p=1, dim=1),
                *(torch.linalg.vector_norm(x, n, -1) for n in (2, float("inf"), 3)),
            ],
            "normalize": lambda x: F.normalize(x, dim=1),
        },
        (Z,),
    ),
    "along a dim": (
        {
            **{
                f"{name} {dim}": lambda x, name=name, dim=dim: getattr(torch, name)(x, dim=dim)
                for dim in (0, 1, -1)
                for name in ("cumsum", "softmax", "log_softmax")
            },
            **{name: lambda x, name=name: getattr(torch, name)(x, dim=1) for name in ("cumprod", "logcumsumexp")},
            "sort": lambda x: (x.sort(1), x.sort(-1, descending=True).values, x.argsort(-1)),
            "topk": lambda x: (x.topk(2, -1), x.topk(1, 1, largest=False).values),
            "kthvalue": lambda x: torch.kthvalue(x, 2, 1),
            "diff": lambda x: (x.diff(), torch.trapezoid(x)),
        },
        (Z,),
    ),
    "joining and splitting": (
        {
            "cat": lambda x, y: (torch.cat([x, y]), torch.cat([x, y, x * 2], 1), torch.cat([x.relu(), y], -1)),
            "stack": lambda x, y: (torch.stack([x, y]), torch.stack([x, y], 1), torch.stack([x, y], -1)),
            "split": lambda x, y: (x.split(2, 1), y.split([1, 2, 2], 1), x.chunk(3), x.unbind(0), x.tensor_split(2, 1)),
            "meshgrid": lambda x, y: torch.meshgrid(x[0], y[:, 0], indexing="ij"),
            "kron": lambda x, y: torch.kron(x[:2, :2], y[:2, :3]),
        },
        (X, Y),
    ),
    "padding": (
        {
            "constant": lambda x: (
                F.pad(x, (1, 2)),
                F.pad(x, (1, 2, 0, 1), value=0.5),
                F.pad(x, (-1, 2)),
                F.pad(x, (0, -2)),
            ),
            "reflect": lambda x: F.pad(x, (1, 2), mode="reflect"),
            "replicate": lambda x: F.pad(x, (1, 2), mode="replicate"),
            "circular": lambda x: F.pad(x, (1, 2), mode="circular"),
        },
        (ROW,),
    ),
    "rearrangement": (
        {
            "permute": lambda x: (x.permute(2, 0, 1), x.permute(2, 0, 1).reshape(4, 6), x.movedim(0, -1), x.mT),
            "views": lambda x: (
                x.view(6, 4),
                x.flatten(1),
                x.unflatten(1, (1, 3)),
                x.unsqueeze(0).squeeze(0),
                x.ravel(),
            ),
            "slices": lambda x: (
                x[:, 1:],
                x[..., ::2],
                x[-1],
                x[:, -2:, :-1],
                x.select(1, 1),
                x.narrow(2, 1, 2),
                x[0, 1],
            ),
            "repeats": lambda x: (
                x[:, None].expand(2, 5, 3, 4),
                x.repeat(2, 1, 3),
                x.tile((2,)),
                x.repeat_interleave(2, 1),
            ),
            "moves": lambda x: (
                x.roll((1, 2), (0, 1)),
                x.roll(2),
                x.flip(1),
                x.flip(0, 2),
                torch.rot90(x),
                x.swapaxes(0, 1),
            ),
            "windows": lambda x: x.unfold(1, 2, 1),
            "triangles": lambda x: (x.tril(), x.triu(1), x.diagonal(0, 1, 2), torch.diag(x[0, 0]), torch.trace(x[0])),
        },
        (Z,),
    ),
    "indexing": (
        {
            "gather": lambda x, i: (x.gather(1, i), torch.take_along_dim(x, i, 1), torch.take(x, i)),
            "select": lambda x, i: (x.index_select(0, i[0]), x[i], x[:, i], x[i, i], x[i[0]], x[torch.tensor([-1, 0])]),
            "embedding": lambda x, i: F.embedding(i, x),
            "one hot": lambda x, i: F.one_hot(i, 5),
            "isin": lambda x, i: (
                torch.isin(i, torch.tensor([1, 2])),
                torch.bucketize(x, torch.tensor([-1.0, 0.0, 1.0])),
            ),
        },
        (X, INDEX),
    ),
    "writing": (
        {
            "scatter": lambda x, i, s: (x.scatter(0, i, s), x.scatter_add(0, i, s), x.scatter_reduce(0, i, s, "amax")),
            "index": lambda x, i, s: (x.index_add(1, i[0], s), x.index_copy(1, i[0], s), x.index_put((i[:, 0],), x)),
            "put": lambda x, i, s: (x.index_put((i[:, 0], i[:, 1]), s[:, 0], accumulate=True),),
            "slices": lambda x, i, s: (torch.slice_scatter(x, s, 1, 1, 3), torch.select_scatter(x, x[0], 0, 1)),
            "local": lambda x, i, s: _written_to(x),
        },
        (X, INDEX, random(3, 2)),
    ),
    "new tensors": (
        {
            "filled": lambda x: (torch.full((3, 5), 2.0) + x, torch.ones_like(x) + x, torch.zeros(5), torch.eye(4) * 2),
            "ranges": lambda x: (
                x + torch.arange(5),
                x + torch.arange(0, 1, 0.2),
                x * torch.linspace(0, 1, 5),
                torch.arange(9),
            ),
            "constants": lambda x: (
                torch.full((2,), 7.0) + (-2),
                torch.full((2,), 7.0) % -2,
                torch.full((2,), 1) < 1.5,
            ),
            "powers": lambda x: (
                x * torch.logspace(0, 1, 5),
                torch.vander(x[0]),
                torch.tensor([1.0, 2.0, 3.0, 4.0, 5.0]) * x,
            ),
            "casts": lambda x: (x.int(), x.double(), x.half(), x.bool(), (x * 9).to(torch.int8), x.long().float() / 3),
        },
        (X,),
    ),
    "products": (
        {
            "mm": lambda x, y: (x @ y.t(), torch.mv(x, y[0]), torch.dot(x[0], y[0]), x @ y[0], torch.inner(x, y)),
            "add": lambda x, y: (torch.addmm(x[:, :3], x, y.t(), beta=0.5, alpha=2), torch.addmv(x[:, 0], y, x[0])),
            "einsum": lambda x, y: (
                torch.einsum("ij,kj->ik", x, y),
                torch.einsum("i,j->ij", x[0], y[0]),
                torch.einsum("ij->j", x),
            ),
            "integers": lambda x, y: x.long() @ y.long().t(),
        },
        (X, Y),
    ),
    "batched products": (
        {
            "bmm": lambda x, y: (torch.bmm(x, y), x @ y, x @ x.mT, x.mT @ x, torch.baddbmm(x @ y, x, y, beta=0.5)),
            "broadcast": lambda x, y: (x[:, None] @ y, x @ y[0], x[0] @ y, x @ y[0, :, 0]),
            "einsum": lambda x, y: (torch.einsum("bij,bjk->bik", x, y), torch.einsum("bij,bjk->bki", x, y)),
            "tensordot": lambda x, y: torch.tensordot(x, y, dims=([2], [1])),
        },
        (random(2, 3, 4), random(2, 4, 5)),
    ),
    "linear layers": (
        _seeded(
            linear=lambda: nn.Linear(5, 4),
            no_bias=lambda: nn.Linear(5, 4, bias=False),
            two=lambda: nn.Sequential(nn.Linear(5, 3), nn.ReLU(), nn.Linear(3, 2)),
        ),
        (X,),
    ),
    "convolutions of rows": (
        _seeded(
            plain=lambda: nn.Conv1d(4, 6, 3, padding=1),
            dilated=lambda: nn.Conv1d(4, 6, 3, stride=2, dilation=2, padding=2),
            groups=lambda: nn.Conv1d(4, 8, 3, groups=4),
            transposed=lambda: nn.ConvTranspose1d(4, 3, 3, stride=2),
        ),
        (ROW,),
    ),
    "convolutions": (
        _seeded(
            plain=lambda: nn.Conv2d(4, 6, 3),
            strided=lambda: nn.Conv2d(4, 6, 3, stride=2, padding=1),
            dilated=lambda: nn.Conv2d(4, 6, 3, dilation=2, padding=2),
            groups=lambda: nn.Conv2d(4, 6, 3, groups=2, padding=1),
            depthwise=lambda: nn.Conv2d(4, 8, 3, groups=4, padding=1),
            pointwise=lambda: nn.Conv2d(4, 6, 1, bias=False),
            same=lambda: nn.Conv2d(4, 6, 2, padding="same"),
            reflected=lambda: nn.Conv2d(4, 6, 3, padding=1, padding_mode="reflect"),
            oblong=lambda: nn.Conv2d(4, 6, (3, 1), stride=(1, 2), padding=(1, 0)),
        ),
        (IMAGE,),
    ),
    "transposed convolutions": (
        _seeded(
            plain=lambda: nn.ConvTranspose2d(4, 3, 2, stride=2),
            padded=lambda: nn.ConvTranspose2d(4, 3, 3, stride=2, padding=1, output_padding=1),
            groups=lambda: nn.ConvTranspose2d(4, 4, 3, stride=2, groups=2),
            dilated=lambda: nn.ConvTranspose2d(4, 3, 3, dilation=2),
        ),
        (IMAGE,),
    ),
    "convolutions of volumes": (
        _seeded(
            plain=lambda: nn.Conv3d(2, 3, 3, padding=1),
            groups=lambda: nn.Conv3d(2, 4, 2, groups=2),
            transposed=lambda: nn.ConvTranspose3d(2, 3, 2, stride=2),
        ),
        (VOLUME,),
    ),
    "convolution by an argument": (
        {"plain": lambda x, w: F.conv2d(x, w, padding=1), "unbatched": lambda x, w: F.conv2d(x[0], w)},
        (IMAGE, random(3, 4, 3, 3)),
    ),
    "pooling": (
        {
            "max": lambda x: (
                F.max_pool2d(x, 3, 2, 1),
                F.max_pool2d(x, 3, 2, ceil_mode=True),
                F.max_pool2d(x, 2, 1, 0, 2),
            ),
            "max with indices": lambda x: F.max_pool2d(x, 2, return_indices=True),
            "average": lambda x: (F.avg_pool2d(x, 3, 2, 1), F.avg_pool2d(x, 2, divisor_override=3)),
            "average without padding": lambda x: F.avg_pool2d(x, 3, 2, 1, count_include_pad=False),
            "average rounded up": lambda x: F.avg_pool2d(x, 3, 2, ceil_mode=True),
            "adaptive average": lambda x: [F.adaptive_avg_pool2d(x, n) for n in (1, 2, (3, 4), (8, 7))],
            "adaptive max": lambda x: [F.adaptive_max_pool2d(x, n) for n in (1, 2, (4, 3))],
            "power": lambda x: F.lp_pool2d(x.abs() + 0.1, 2, 2),
        },
        (IMAGE,),
    ),
    "pooling of rows and volumes": (
        {
            "rows": lambda x, _: (
                F.max_pool1d(x, 2),
                F.avg_pool1d(x, 2),
                F.adaptive_avg_pool1d(x, 3),
                F.adaptive_max_pool1d(x, 1),
            ),
            "volumes": lambda _, x: (F.max_pool3d(x, 2), F.avg_pool3d(x, 2)),
        },
        (ROW, VOLUME),
    ),
    "interpolation": (
        {
            "nearest": lambda x: (F.interpolate(x, scale_factor=2), F.interpolate(x, size=(5, 9))),
            "nearest-exact": lambda x: F.interpolate(x, size=(5, 9), mode="nearest-exact"),
            "bilinear": lambda x: F.interpolate(x, scale_factor=2, mode="bilinear"),
            "bilinear at corners": lambda x: F.interpolate(x, size=(5, 9), mode="bilinear", align_corners=True),
            "bicubic": lambda x: F.interpolate(x, size=(5, 9), mode="bicubic"),
            "area": lambda x: F.interpolate(x, size=(4, 7), mode="area"),
        },
        (IMAGE,),
    ),
    "image rearrangement": (
        {
            "shuffle": lambda x: (F.pixel_shuffle(x, 2), F.channel_shuffle(x, 2), F.pixel_unshuffle(x[..., :6], 2)),
            "unfold": lambda x: F.unfold(x, 2),
            "fold": lambda x: F.fold(F.unfold(x, 2), (8, 7), 2),
            "grid": lambda x: F.grid_sample(x, x[:, :2, :, :].permute(0, 2, 3, 1).tanh(), align_corners=False),
        },
        (IMAGE,),
    ),
    "norms": (
        _seeded(
            batch=lambda: nn.BatchNorm2d(4),
            instance=lambda: nn.InstanceNorm2d(4, affine=True),
            group=lambda: nn.GroupNorm(2, 4),
            layer=lambda: nn.LayerNorm((8, 7)),
            plain=lambda: nn.LayerNorm(7, elementwise_affine=False),
            rms=lambda: nn.RMSNorm(7),
            local=lambda: nn.LocalResponseNorm(2),
        ),
        (IMAGE,),
    ),
    "activations": (
        {
            **_layers(
                *("ReLU", "ReLU6", "LeakyReLU", "ELU", "SELU", "CELU", "GELU", "SiLU", "Mish", "Softplus", "Softsign"),
                *(
                    "Hardtanh",
                    "Hardswish",
                    "Hardsigmoid",
                    "LogSigmoid",
                    "Tanhshrink",
                    "Softshrink",
                    "Hardshrink",
                    "PReLU",
                ),
                *("Sigmoid", "Tanh", "Identity", "Dropout", "AlphaDropout", "RReLU"),
            ),
            "tanh GELU": nn.GELU("tanh"),
            "threshold": nn.Threshold(0.1, 2.0),
            "softmin": nn.Softmin(dim=1),
            "glu": lambda x: F.glu(x[:, :4]),
        },
        (X,),
    ),
    "losses": (
        {
            **{name: getattr(F, name) for name in ("mse_loss", "l1_loss", "smooth_l1_loss", "huber_loss")},
            "binary": lambda x, y: F.binary_cross_entropy_with_logits(x, y.sigmoid()),
            "classes": lambda x, y: F.cross_entropy(x, y.argmax(1)),
            "divergence": lambda x, y: F.kl_div(x.log_softmax(1), y.softmax(1), reduction="batchmean"),
        },
        (X, Y),
    ),
    "attention": (
        {
            "plain": F.scaled_dot_product_attention,
            "causal": lambda q, k, v: F.scaled_dot_product_attention(q, k, v, is_causal=True),
            "masked": lambda q, k, v: F.scaled_dot_product_attention(q, k, v, torch.ones(6, 6).tril().bool()),
            "biased": lambda q, k, v: F.scaled_dot_product_attention(q, k, v, q[..., :6], scale=0.3),
            "grouped": lambda q, k, v: F.scaled_dot_product_attention(q, k[:, :2], v[:, :2], enable_gqa=True),
            "row without keys": lambda q, k, v: F.scaled_dot_product_attention(
                q, k, v, torch.ones(6, 6).tril(-1).bool()
            ),
        },
        (random(2, 4, 6, 8), random(2, 4, 6, 8, seed=5), random(2, 4, 6, 8, seed=6)),
    ),
    "transformer layers": (
        _seeded(
            encoder=lambda: nn.TransformerEncoderLayer(8, 2, 16, batch_first=True),
            decoder=lambda: _Decoder(8, 2, 16, batch_first=True),
            attention=lambda: _SelfAttention(8, 2, batch_first=True),
        ),
        (random(2, 4, 8),),
    ),
    "recurrent layers": (
        _seeded(
            lstm=lambda: nn.LSTM(8, 5, batch_first=True),
            gru=lambda: nn.GRU(8, 5, batch_first=True),
            rnn=lambda: nn.RNN(8, 5, batch_first=True),
        ),
        (random(2, 3, 8),),
    ),
}


def _written_to(x: Tensor) -> Tensor:
    table = torch.zeros(3, 5)
    table[:, 1:3] = x[:, :2]
    table[0] = 1.0
    table[2] += x[1]
    return table + x


@pytest.mark.parametrize("name", FAMILIES)
def test_family(name: str) -> None:
    ops, args = FAMILIES[name]
    agree(Family(ops), args)


UNSUPPORTED: dict[str, tuple[Op, Tensor, type[HotdeskError]]] = {
    **{
        name: (getattr(torch, name), POSITIVE, UnsupportedOpError)
        for name in ("erfc", "erfinv", "lgamma", "digamma", "i0", "signbit", "median", "histc")
    },
    **{
        name: (lambda x, name=name: getattr(torch, name)(x, dim=1), X, UnsupportedOpError)
        for name in ("mode", "median", "cummax", "cummin")
    },
    "copysign": (lambda x: torch.copysign(x, -x), X, UnsupportedOpError),
    "hypot": (lambda x: torch.hypot(x, x), X, UnsupportedOpError),
    "view of another type": (lambda x: x.view(torch.int32), X, UnsupportedOpError),
    "cdist": (lambda x: torch.cdist(x, x), X, UnsupportedOpError),
    "searchsorted": (lambda x: torch.searchsorted(torch.tensor([-1.0, 1.0]), x), X, UnsupportedOpError),
    "block_diag": (lambda x: torch.block_diag(x, x), X, UnsupportedOpError),
    "antialiasing": (
        lambda x: F.interpolate(x, size=(2, 2), mode="bilinear", antialias=True),
        IMAGE,
        UnsupportedOpError,
    ),
    "adaptive maximum with steps that vary": (lambda x: F.adaptive_max_pool2d(x, 3), IMAGE, LoweringError),
    "svd": (lambda x: torch.linalg.svd(x).S, SQUARE, UnsupportedOpError),
    "qr": (lambda x: torch.linalg.qr(x)[0], SQUARE, UnsupportedOpError),
    "eigenvalues": (lambda x: torch.linalg.eigvalsh(x + x.t()), SQUARE, UnsupportedOpError),
    "inverse": (torch.linalg.inv, SQUARE, UnsupportedOpError),
    "cholesky": (lambda x: torch.linalg.cholesky(x @ x.t()), SQUARE, UnsupportedOpError),
    "solve": (lambda x: torch.linalg.solve(x, x), SQUARE, UnsupportedOpError),
    "determinant": (torch.linalg.det, SQUARE, HotdeskError),
    "matrix exponential": (torch.matrix_exp, SQUARE, UnsupportedOpError),
    "fft": (lambda x: torch.fft.fft(x).real, X, UnsupportedOpError),
    "rfft": (lambda x: torch.fft.rfft(x).abs(), X, UnsupportedOpError),
    "complex numbers": (lambda x: torch.view_as_real(torch.complex(x, x)), X, UnsupportedOpError),
    "rand": (lambda x: torch.rand(3) + x.sum(), X, UnsupportedOpError),
    "randn_like": (lambda x: torch.randn_like(x) + x, X, UnsupportedOpError),
    "bernoulli": (torch.bernoulli, UNIT, UnsupportedOpError),
    "multinomial": (lambda x: torch.multinomial(x, 2), UNIT, UnsupportedOpError),
    "dropout in training": (lambda x: F.dropout(x, training=True), X, UnsupportedOpError),
    "nonzero": (torch.nonzero, X, DataDependentShapeError),
    "masked_select": (lambda x: x[x > 0], X, DataDependentShapeError),
    "unique": (torch.unique, INTS, DataDependentShapeError),
    "bincount": (lambda x: torch.bincount(x.flatten(), minlength=9), INTS, DataDependentShapeError),
    "equal": (lambda x: torch.equal(x, x + 1), X, DataDependentShapeError),
    "cond": (lambda x: torch.cond(x.sum() > 0, lambda y: y + 1, lambda y: y - 1, (x,)), X, UnsupportedOpError),
}


@pytest.mark.parametrize("name", UNSUPPORTED)
def test_unsupported(name: str) -> None:
    op, x, error = UNSUPPORTED[name]
    with pytest.raises(error) as caught:
        hotdesk.compile(Family({"op": op}), (x,))
    assert caught.value.expected
    assert caught.value.got
