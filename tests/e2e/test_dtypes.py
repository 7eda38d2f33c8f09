"""Models in half precision and in integers, compared with eager PyTorch in the same element type.

Half precision: results are rounded to `eps` (2⁻⁷ for bf16, 2⁻¹⁰ for f16), and so is every tensor in between, in an order that
differs from eager's. Each rounding is at most `eps / 2` of its value and roundings add up like a random walk, so a chain of
`depth` rounded tensors may be off by about `eps * sqrt(depth)`: that times the largest result is what is allowed.
Integers: exactly equal.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import nn
from torch.nn import functional as F

import hotdesk
from tests.e2e.checking import Call, ConvNet, Transformer, agree, close, integers, random, seeded

HALVES = [torch.bfloat16, torch.float16]


class Mlp(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(24, 48), nn.GELU(), nn.Linear(48, 48), nn.ReLU(), nn.Linear(48, 10))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.layers(x)


def _image(dtype: torch.dtype) -> torch.Tensor:
    return random(2, 3, 16, 16, dtype=dtype)


def _rows(dtype: torch.dtype) -> torch.Tensor:
    return random(6, 24, dtype=dtype)


def _ids(dtype: torch.dtype) -> torch.Tensor:
    return integers(50, 2, 12)


NORMS: dict[str, Callable[[torch.Tensor], torch.Tensor]] = {
    "of all": lambda x: x.norm(),
    "of columns": lambda x: torch.linalg.vector_norm(x, dim=0),
    "of first order": lambda x: torch.norm(x, p=1, dim=0),
    "of differences": lambda x: torch.dist(x, x.flip(0)),
}


@pytest.mark.parametrize("norm", NORMS.values(), ids=NORMS)
@pytest.mark.parametrize("dtype", HALVES)
def test_norms_add_up_in_f32(norm: Callable[[torch.Tensor], torch.Tensor], dtype: torch.dtype) -> None:
    """One rounding, whatever the number of terms: 4,096 squares that were added up in bf16 end far too low."""
    x = random(4096, 3).to(dtype)
    found = hotdesk.compile(norm, (x,))(x)
    torch.testing.assert_close(found, norm(x.float()).to(dtype), rtol=torch.finfo(dtype).eps, atol=0)


@pytest.mark.parametrize("approximate", ["none", "tanh"])
@pytest.mark.parametrize("dtype", HALVES)
def test_gelu_is_rounded_once(dtype: torch.dtype, approximate: str) -> None:
    """What is near -1 is added to 1 on the way: rounded to 16 bits there, nothing would be left of it."""
    x = torch.arange(-4, 8, 1 / 64).to(dtype)
    expected = F.gelu(x.double(), approximate=approximate)
    found = hotdesk.compile(lambda x: F.gelu(x, approximate=approximate), (x,))(x)
    assert (
        (found.double() - expected).abs() <= torch.finfo(dtype).eps / 2 * expected.abs().clamp_min(1e-4) * 1.5
    ).all()


@pytest.mark.parametrize("dtype", HALVES)
def test_what_is_moved_stays_what_it_is(dtype: torch.dtype) -> None:
    """Numbers smaller than the smallest normal one, too, where an index is checked in front of what it reads."""
    least = torch.finfo(dtype).tiny * torch.finfo(dtype).eps
    x = torch.tensor([least, 3.0, 5 * least, -least, 0.0]).to(dtype)
    places = torch.tensor([3, 4, 0, 2, 1])
    moved: dict[str, Callable[[torch.Tensor, torch.Tensor], torch.Tensor]] = {
        "gathered": lambda x, i: torch.gather(x, 0, i),
        "rows": lambda x, i: F.embedding(i, x.unsqueeze(1)),
        "sorted": lambda x, i: x.sort()[0],
        "in the middle": lambda x, i: x.median(),
        "largest": lambda x, i: x.topk(4)[0],
        "found": lambda x, i: torch.isin(x, torch.cat([x, x, x])),
    }
    for name, op in moved.items():
        found = hotdesk.compile(Call(op), (x, places))(x, places)
        assert torch.equal(found, op(x, places)), name


@pytest.mark.parametrize("op", [torch.sigmoid, lambda x: x**4, torch.lgamma])
@pytest.mark.parametrize("dtype", HALVES)
def test_functions_of_all_numbers_are_rounded_once(
    dtype: torch.dtype, op: Callable[[torch.Tensor], torch.Tensor]
) -> None:
    x = torch.arange(-(1 << 15), 1 << 15, dtype=torch.int32).to(torch.int16).view(dtype)
    x = x[torch.isfinite(x) & (x.abs() < 80)]
    found, exact, limits = hotdesk.compile(Call(op), (x,))(x).double(), op(x.double()), torch.finfo(dtype)
    step = limits.eps * 2.0 ** (torch.frexp(exact.abs().clamp_min(limits.tiny)).exponent - 1).double()
    is_close = (found - exact).abs() <= 0.51 * step
    assert (is_close | (exact.abs() > limits.max) | (exact.abs() < limits.tiny)).all()
    assert (found[exact == 0] == 0).all()


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, *HALVES])
def test_rms_norm_of_small_values_has_epsilon(dtype: torch.dtype) -> None:
    """Where none is given it is that of the type that PyTorch computes in, which is much for values of 0.001."""
    x = (random(4, 24) * 1e-3).to(dtype)
    found = hotdesk.compile(nn.RMSNorm(24, dtype=dtype), (x,))(x)
    torch.testing.assert_close(found, F.rms_norm(x, (24,)), rtol=2 * torch.finfo(dtype).eps, atol=0)


HALF_MODELS: list[tuple[str, Callable[[], nn.Module], Callable[[torch.dtype], torch.Tensor], int]] = [
    # name, model, input, rounded tensors in a chain
    ("mlp", Mlp, _rows, 5),
    ("convnet", ConvNet, _image, 10),
    ("transformer", Transformer, _ids, 24),
    ("embedding", lambda: nn.Embedding(50, 24), _ids, 1),
    ("layer norm", lambda: nn.LayerNorm(24), _rows, 1),
    ("rms norm", lambda: nn.RMSNorm(24), _rows, 1),
    ("normalized", lambda: Call(lambda x: F.normalize(x, dim=-1)), _rows, 2),
    ("group norm", lambda: nn.Sequential(nn.Conv2d(3, 8, 1), nn.GroupNorm(2, 8)), _image, 2),
    ("batch norm", lambda: nn.BatchNorm2d(3), _image, 1),
    ("softmax", lambda: nn.Softmax(-1), _rows, 1),
    ("log softmax", lambda: nn.LogSoftmax(-1), _rows, 1),
    ("max pool", lambda: nn.MaxPool2d(3, 2, 1), _image, 1),
    ("average pool", lambda: nn.AvgPool2d(3, 2, 1), _image, 1),
    ("global pool", lambda: nn.AdaptiveAvgPool2d(1), _image, 1),
    ("elementwise", lambda: Call(lambda x: x.sigmoid() * x.tanh() + x.exp().log1p() - x.abs().sqrt()), _rows, 6),
    ("activations", lambda: nn.Sequential(nn.SiLU(), nn.Hardswish(), nn.Softplus(), nn.GELU("tanh")), _rows, 4),
    ("reductions", lambda: Call(lambda x: torch.stack([x.sum(-1), x.mean(-1), x.amax(-1), x.std(-1)])), _rows, 2),
    ("concatenation", lambda: Call(lambda x: torch.cat([x, x * 2, x[:, :3]], 1)), _rows, 1),
    ("masks", lambda: Call(lambda x: torch.where(x > 0, x, -1.5).masked_fill(x > 1, 3).clamp(-1, 2)), _rows, 1),
    ("casts", lambda: Call(lambda x: (x.float() * 1.5).to(x.dtype) + x.int().to(x.dtype)), _rows, 2),
    ("cumulative sum", lambda: Call(lambda x: x.cumsum(-1)), _rows, 24),
    ("attention", lambda: Call(lambda x: F.scaled_dot_product_attention(x[None], x[None], x[None])), _rows, 4),
    ("transposed convolution", lambda: nn.ConvTranspose2d(3, 4, 2, 2), _image, 1),
    ("interpolation", lambda: nn.Upsample(scale_factor=2, mode="bilinear"), _image, 4),
    ("lstm", lambda: Call(_lstm), _rows, 12),
]


def _lstm(x: torch.Tensor) -> torch.Tensor:
    gates = torch.stack([x, x * 0.5, -x, x + 1])
    keep, take, new, out = gates.unbind(0)
    return out.sigmoid() * (keep.sigmoid() + take.sigmoid() * new.tanh()).tanh()


@pytest.mark.parametrize("dtype", HALVES, ids=["bf16", "f16"])
@pytest.mark.parametrize(
    ("factory", "given", "depth"), [case[1:] for case in HALF_MODELS], ids=[c[0] for c in HALF_MODELS]
)
def test_half_precision(
    factory: Callable[[], nn.Module], given: Callable[[torch.dtype], torch.Tensor], depth: int, dtype: torch.dtype
) -> None:
    model, x = seeded(factory, dtype), given(dtype)
    expected = model(x)
    result = hotdesk.compile(model, (x,))(x)
    assert result.dtype == expected.dtype
    allowed = torch.finfo(dtype).eps * math.sqrt(depth) * float(expected.double().abs().max())
    torch.testing.assert_close(result, expected, rtol=0, atol=allowed)


@pytest.mark.parametrize("dtype", HALVES, ids=["bf16", "f16"])
def test_half_precision_beside_exact(dtype: torch.dtype) -> None:
    """Not further from the exact result than eager is, but for one rounding."""
    model, x = seeded(Transformer, dtype), integers(50, 2, 12)
    exact = model.double()(x)
    model = model.to(dtype)
    eager, ours = model(x).double(), hotdesk.compile(model, (x,))(x).double()
    unit = torch.finfo(dtype).eps * exact.abs().max()
    assert (ours - exact).abs().max() <= (eager - exact).abs().max() + unit


@pytest.mark.parametrize("dtype", HALVES, ids=["bf16", "f16"])
def test_half_constants(dtype: torch.dtype) -> None:
    def constants(x: torch.Tensor) -> tuple[torch.Tensor, ...]:
        return torch.full((2,), 1.5, dtype=dtype), torch.ones(2, dtype=dtype) * 0.1, x + torch.tensor(0.25, dtype=dtype)

    agree(constants, (random(2, dtype=dtype),), rtol=torch.finfo(dtype).eps)


# Integers


def _embedding_sums(ids: torch.Tensor) -> torch.Tensor:
    table = torch.arange(200).reshape(50, 4)
    return table[ids].sum(1)


def _where(x: torch.Tensor) -> torch.Tensor:
    return torch.where((x > 10) & (x < 40), x * 2, -x).clamp(-20, 60)


def _bits(x: torch.Tensor) -> tuple[torch.Tensor, ...]:
    return x & 12, x | 3, x ^ 5, x << 2, x >> 1, ~x


def _divisions(x: torch.Tensor) -> tuple[torch.Tensor, ...]:
    signed = x - 25
    return signed // 7, signed % 7, signed // -7, signed % -7, torch.div(signed, 7, rounding_mode="trunc"), signed / 7


def _order(x: torch.Tensor) -> tuple[torch.Tensor, ...]:
    return x.argmax(1), x.argmin(1), x.amax(0), x.amin(0), x.sort(1).values, x.topk(2).values, x.max(1).indices


def _running(x: torch.Tensor) -> tuple[torch.Tensor, ...]:
    return x.cumsum(0), x.cumsum(1), x.sum(), x.sum(1), x.prod(1), (x > 20).sum(0), (x > 20).cumsum(1)


def _compared(x: torch.Tensor) -> tuple[torch.Tensor, ...]:
    return x == 3, x != 3, x <= x.flip(1), (x > 3).any(1), (x > 3).all(0), torch.isin(x, torch.tensor([1, 2])), x.bool()


def _products(x: torch.Tensor) -> tuple[torch.Tensor, ...]:
    return x @ x.t(), x * x.flip(0), x**2, torch.outer(x[0], x[1]), torch.einsum("ij,kj->ik", x, x)


def _moved(x: torch.Tensor) -> tuple[torch.Tensor, ...]:
    return torch.cat([x, x]), x.roll(1, 1), x.t().reshape(-1), F.pad(x, (1, 1), value=-1), x.repeat(2, 1), x.tril()


def _one_hot(x: torch.Tensor) -> torch.Tensor:
    return F.one_hot(x, 50).sum(0)


@pytest.mark.parametrize(
    "model",
    [_embedding_sums, _where, _bits, _divisions, _order, _running, _compared, _products, _moved, _one_hot],
    ids=lambda model: model.__name__.strip("_"),
)
def test_integer_models(model: Callable[[torch.Tensor], torch.Tensor]) -> None:
    agree(model, (integers(50, 6, 5),), rtol=0, atol=0)


@pytest.mark.parametrize(
    "model", [_where, _divisions, _order, _running, _compared, _products, _moved], ids=lambda m: m.__name__
)
def test_narrow_integer_models(model: Callable[[torch.Tensor], torch.Tensor]) -> None:
    agree(model, (integers(50, 6, 5, dtype=torch.int32),), rtol=0, atol=0)


@pytest.mark.parametrize("to", HALVES, ids=["bf16", "f16"])
@pytest.mark.parametrize("source", [torch.float64, torch.float32, torch.int64, torch.bool], ids=str)
def test_numbers_become_halves_as_in_pytorch(source: torch.dtype, to: torch.dtype) -> None:
    """Of f64 by way of f32: 1 + 2^-11 + 2^-30 is 1 in f16 then, and not the number above."""
    numbers = torch.randn(1000, dtype=torch.float64, generator=torch.Generator().manual_seed(0)) * 1000
    edges = torch.tensor([1 + 2**-11 + 2**-30, 65520.0, 1e300, 1e-300, float("inf"), -0.0], dtype=torch.float64)
    x = torch.cat([numbers, edges if source.is_floating_point else numbers]).to(source)
    model = Call(lambda x: x.to(to) * 1)
    assert torch.equal(hotdesk.compile(model, (x,))(x), model(x))


@pytest.mark.parametrize("number", [True, False])
def test_truths_and_a_truth_of_python(number: bool) -> None:
    def model(x: torch.Tensor) -> tuple[torch.Tensor, ...]:
        return x + number, number + x, torch.add(x, number, alpha=True), x.clone().add_(number), x * number, x | number

    x = torch.tensor([True, False, True])
    close(hotdesk.compile(Call(model), (x,))(x), model(x))


def test_truths_of_any_byte_but_0() -> None:
    """A caller's memory may hold others than 0 and 1; eager takes them for true."""
    truths = torch.tensor([0, 1, 2, 4, 128, 255] * 8, dtype=torch.uint8).view(torch.bool)

    def model(truths: torch.Tensor, x: torch.Tensor) -> tuple[torch.Tensor, ...]:
        return torch.where(truths, x, -x), truths.logical_not(), truths.float()

    x = random(48)
    close(hotdesk.compile(model, (truths, x))(truths, x), model(truths, x))


@pytest.mark.parametrize("dtype", [torch.int8, torch.uint8, torch.int32, torch.int64])
def test_shifts_by_all_bits_and_by_less_than_none(dtype: torch.dtype) -> None:
    numbers = (0, 1, 7, 8, 9, 31, 32, 33, 63, 64, 300, -1, -8)
    x = torch.tensor([1, 2, 100, 127, 255] if dtype == torch.uint8 else [1, -2, 100, 127, -128]).to(dtype)
    by = torch.tensor(numbers).to(dtype).unsqueeze(1)

    def shifted(x: torch.Tensor, by: torch.Tensor) -> list[torch.Tensor]:
        return [torch.stack([y for n in numbers for y in (x << n, x >> n)]), x << by, x >> by, 3 << by, 3 >> by]

    found = hotdesk.compile(shifted, (x, by))(x, by)
    for own, wanted in zip(found, shifted(x, by), strict=True):
        torch.testing.assert_close(own, wanted)


def test_a_number_beyond_its_type_is_refused_as_by_eager() -> None:
    def clamped(x: torch.Tensor) -> torch.Tensor:
        return torch.clamp(x, 0, 300)

    with pytest.raises(hotdesk.HotdeskError, match=r"PyTorch refuses `max=300` of op `aten\.clamp"):
        hotdesk.compile(clamped, (torch.ones(3, dtype=torch.int8),))


ATTENTIONS: dict[str, tuple[dict[str, Any], int]] = {
    "plain": ({}, 4),
    "causal": ({"is_causal": True}, 4),
    "of grouped queries": ({"enable_gqa": True}, 2),
}


@pytest.mark.parametrize("queries", [1, 3, 8])
@pytest.mark.parametrize("name", ATTENTIONS)
@pytest.mark.parametrize("dtype", HALVES)
def test_attention_is_as_exact_as_eager_however_few_its_queries(dtype: torch.dtype, name: str, queries: int) -> None:
    options, heads = ATTENTIONS[name]
    q = (3 * random(2, 4, queries, 16)).to(dtype)
    k, v = (random(2, heads, 70, 16).to(dtype) for _ in range(2))

    def attend(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor) -> torch.Tensor:
        return F.scaled_dot_product_attention(q, k, v, **options)

    exact = attend(q.double(), k.double(), v.double())
    off, allowed = (
        (found - exact).abs().max() for found in (hotdesk.compile(attend, (q, k, v))(q, k, v), attend(q, k, v))
    )
    assert off <= 1.3 * allowed


@pytest.mark.parametrize("dtype", HALVES)
def test_a_step_of_generation_makes_no_wider_copy_of_keys_and_values(dtype: torch.dtype) -> None:
    q, k, v = (random(1, 4, n, 16).to(dtype) for n in (1, 512, 512))
    program = hotdesk.compile(Call(F.scaled_dot_product_attention), (q, k, v))
    assert program.memory(q, k, v).arena <= 2 * 4 * 4 * 512  # of two rows of scores for each head


@pytest.mark.parametrize("dtype", HALVES)
def test_means_and_deviations_of_norms_have_the_type_that_eager_gives_them(dtype: torch.dtype) -> None:
    x, weight = random(2, 4, 6).to(dtype), torch.ones(6)

    def norms(x: torch.Tensor) -> list[torch.Tensor]:
        weights = (None, weight.to(dtype), weight)
        layers = [result for each in weights for result in torch.native_layer_norm(x, [6], each, each, 1e-5)]
        return [*layers, *torch.native_group_norm(x, None, None, 2, 4, 6, 2, 1e-5)]

    for found, expected in zip(hotdesk.compile(norms, (x,))(x), norms(x), strict=True):
        torch.testing.assert_close(found, expected)


WIDENED: dict[str, tuple[Callable[[torch.Tensor], torch.Tensor], int]] = {
    "layer norm": (lambda x: F.layer_norm(x, [96]), 8),
    "RMS norm": (lambda x: F.rms_norm(x, [96]), 8),
    "group norm": (lambda x: F.group_norm(x.view(2, 8, 4, 96), 2, torch.arange(8.0).to(x), torch.ones(8).to(x)), 8),
    "instance norm": (lambda x: F.instance_norm(x.view(2, 8, 4, 96)), 8),
    "log-softmax": (lambda x: F.log_softmax(x, -1), 8),
}
"""Ops on `[64, 96]` that read their input several times, and how many bytes they may keep of each row."""


@pytest.mark.parametrize("name", WIDENED)
@pytest.mark.parametrize("dtype", HALVES, ids=["bf16", "f16"])
def test_what_is_read_several_times_is_never_in_memory_in_f32(dtype: torch.dtype, name: str) -> None:
    op, bytes_of_row = WIDENED[name]
    x = (3 + 5 * random(64, 96)).to(dtype)
    program = hotdesk.compile(Call(op), (x,))
    assert program.memory(x).arena <= 64 * bytes_of_row + 128
    exact = op(x.double())
    off, allowed = ((found - exact).abs().max() for found in (program(x), op(x)))
    assert off <= 1.3 * allowed


BYTES: dict[str, Callable[[torch.Tensor, torch.Tensor], torch.Tensor]] = {
    "distance": F.pairwise_distance,
    "ranking loss": lambda a, b: F.margin_ranking_loss(a, b, b, margin=0.5, reduction="none"),
    "triplet loss": lambda a, b: F.triplet_margin_loss(a, b, b.flip(0)),
    "sum with a number": lambda a, b: torch.ops.aten.add.Scalar(a - b, 0.25),
    "difference from a number": lambda a, b: torch.ops.aten.rsub.Scalar(a - b, 0.25),
    "product with a number": lambda a, b: torch.ops.aten.mul.Scalar(a - b, 0.25),
    "quotient by a number": lambda a, b: torch.ops.aten.div.Scalar(a - b, 3),
}


@pytest.mark.parametrize("name", BYTES)
def test_bytes_that_meet_floats_have_no_sign(name: str) -> None:
    a, b = (torch.tensor(each, dtype=torch.uint8) for each in ([[1, 5, 200], [7, 0, 9]], [[3, 2, 255], [4, 250, 1]]))
    found = hotdesk.compile(Call(BYTES[name]), (a, b))(a, b)
    torch.testing.assert_close(found, BYTES[name](a, b))


@pytest.mark.parametrize("groups", [1, 2])
@pytest.mark.parametrize("dtype", HALVES, ids=["bf16", "f16"])
def test_convolutions_with_a_bias_are_rounded_once_and_take_half_the_arena(dtype: torch.dtype, groups: int) -> None:
    torch.manual_seed(0)
    layers = [nn.Conv2d(80, 80, 3, padding=1, groups=groups), nn.ReLU(), nn.Conv2d(80, 40, 3, 2), nn.ReLU()]
    model, x = nn.Sequential(*layers).requires_grad_(False), torch.randn(2, 80, 24, 24)
    full = hotdesk.compile(model, (x,)).memory(x).arena
    half, rounded = model.to(dtype), x.to(dtype)
    program = hotdesk.compile(half, (rounded,))
    assert program.memory(rounded).arena <= full // 2
    first = hotdesk.compile(half[0], (rounded,))(rounded).double()
    exact = half[0].double()(rounded.double())
    half.to(dtype)
    spread = F.conv2d(rounded.double().abs(), half[0].weight.double().abs(), padding=1, groups=groups).max()
    assert ((first - exact).abs() <= exact.abs() * torch.finfo(dtype).eps / 2 + 3e-6 * spread).all()
