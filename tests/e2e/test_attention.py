"""Attention block by block: the same numbers as eager PyTorch, memory that grows with the length and not with its square."""

# PyTorch and NumPy are annotated in part only.
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false
# pyright: reportUnknownLambdaType=false, reportCallIssue=false, reportAssignmentType=false

from __future__ import annotations

import ctypes
import subprocess
import sys
from typing import Any

import pytest
import torch
from torch import nn
from torch.export import Dim
from torch.nn import functional as F

import hotdesk
from hotdesk.explain import Reason
from hotdesk.kernels.scratch import GIVE_SCORES, SLOTS, TAKE_SCORES
from hotdesk.runtime.code.products import address
from hotdesk.runtime.program import Program
from tests.e2e.checking import Call, random, seeded

RTOL, ATOL = 1e-4, 2e-6


class Attention(nn.Module):
    """PyTorch's attention."""

    def __init__(self, **options: Any) -> None:
        super().__init__()
        self.options = options

    def forward(
        self, q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, mask: torch.Tensor | None = None
    ) -> torch.Tensor:
        return F.scaled_dot_product_attention(q, k, v, attn_mask=mask, **self.options)


class ByHand(nn.Module):
    """Attention as people write it, with the heads made and merged again, and a dropout that does nothing."""

    def __init__(self, heads: int, width: int) -> None:
        super().__init__()
        self.heads, self.qkv, self.out = heads, nn.Linear(width, 3 * width), nn.Linear(width, width)

    def forward(self, x: torch.Tensor, mask: torch.Tensor | None = None) -> torch.Tensor:
        batch, length, width = x.shape
        heads = (batch, length, self.heads, width // self.heads)
        q, k, v = (part.view(heads).transpose(1, 2) for part in self.qkv(x).chunk(3, -1))
        scores = torch.matmul(q, k.transpose(2, 3)) / 3.0
        if mask is not None:
            scores = scores + mask
        weights = F.dropout(F.softmax(scores, -1), 0.1, self.training)
        return self.out(torch.matmul(weights, v).transpose(1, 2).reshape(batch, length, width))


def recognized(program: Program, *args: torch.Tensor) -> int:
    """How many attentions never have their scores in memory."""
    return sum(decision.reason is Reason.BLOCK_BY_BLOCK for decision in program.decisions(*args))


def same(model: nn.Module, args: tuple[torch.Tensor, ...], *, attentions: int = 1, **options: Any) -> Program:
    """The program, compared with eager; `attentions` of those are recognized, of which one with a single key is none."""
    model = model.eval()
    program = hotdesk.compile(model, args, **options)
    assert recognized(program, *args) == attentions
    with torch.no_grad():
        torch.testing.assert_close(program(*args), model(*args), rtol=RTOL, atol=ATOL, equal_nan=True)
    return program


def qkv(queries: int, keys: int, width: int, heads: tuple[int, int] = (2, 2), columns: int | None = None) -> Any:
    torch.manual_seed(queries * keys + width)
    q, (h, of_keys) = torch.randn(2, heads[0], queries, width), heads
    return q, torch.randn(2, of_keys, keys, width), torch.randn(2, of_keys, keys, columns or width) * (h > 0)


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
def test_16_bit_floats_are_computed_in_single_precision(dtype: torch.dtype) -> None:
    """Rounded once; few queries are two products, which read keys and values as they are."""
    args = tuple(each.to(dtype) for each in (*qkv(100, 130, 32), torch.randn(100, 130)))
    program = hotdesk.compile(Attention(), args)
    assert recognized(program, *args) == 1
    exact = Attention()(*(each.double() for each in args))
    torch.testing.assert_close(program(*args), exact.to(dtype), rtol=2 * torch.finfo(dtype).eps, atol=1e-3)
    few = args[0][:, :, :3], args[1], args[2]
    assert recognized(hotdesk.compile(Attention(), few), *few) == 0


def same_narrow(model: nn.Module, args: tuple[torch.Tensor, ...], **options: Any) -> Program:
    """The program, compared with float64; what it reads of 16-bit floats is nowhere in memory in 32 bits, scores neither."""
    program = hotdesk.compile(model.eval(), args, **options)
    assert recognized(program, *args) == 1
    dtype = args[0].dtype
    exact = model(*(each if each.dtype is torch.bool else each.double() for each in args))
    torch.testing.assert_close(program(*args), exact.to(dtype), rtol=2 * torch.finfo(dtype).eps, atol=1e-3)
    assert program.memory(*args).arena == 0
    return program


def narrow(args: tuple[torch.Tensor, ...], dtype: torch.dtype) -> tuple[torch.Tensor, ...]:
    return tuple(each.to(dtype) for each in args)


NARROW = pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])


@NARROW
@pytest.mark.parametrize(
    ("queries", "keys", "width", "columns"), [(5, 33, 3, 7), (127, 129, 20, 33), (200, 1100, 16, 8), (9, 2050, 64, 256)]
)
def test_16_bit_floats_are_read_and_written_as_they_are(
    queries: int, keys: int, width: int, columns: int, dtype: torch.dtype
) -> None:
    same_narrow(Attention(), narrow(qkv(queries, keys, width, columns=columns), dtype))


@NARROW
@pytest.mark.parametrize("shape", [(9, 13), (2, 2, 1, 13), (2, 1, 1, 1)])
def test_masks_of_16_bit_floats_and_of_truths(shape: tuple[int, ...], dtype: torch.dtype) -> None:
    args = narrow(qkv(9, 13, 8), dtype)
    same_narrow(Attention(), (*args, torch.randn(shape) > -0.5))
    same_narrow(Attention(), (*args, torch.randn(shape).to(dtype)))


@NARROW
def test_grouped_queries_of_16_bit_floats(dtype: torch.dtype) -> None:
    args = narrow(qkv(40, 50, 8, heads=(6, 2)), dtype)
    same_narrow(Attention(is_causal=True, enable_gqa=True), args)
    hand = Call(
        lambda q, k, v: Attention()(q, *(x[:, :, None].expand(2, 2, 3, 50, 8).reshape(2, 6, 50, 8) for x in (k, v)))
    )
    same_narrow(hand, args)


@NARROW
def test_16_bit_floats_whose_rows_lie_apart(dtype: torch.dtype) -> None:
    """Heads beside one another, as projections make them, in operands and result; values turned."""
    q, k, v = narrow(qkv(40, 50, 8), dtype)
    beside = Call(lambda q, k, v: Attention()(*(x.transpose(1, 2) for x in (q, k, v))).transpose(1, 2))
    same_narrow(beside, tuple(x.transpose(1, 2).contiguous() for x in (q, k, v)))
    same_narrow(Call(lambda q, k, v: Attention()(q, k, v.mT)), (q, k, v.mT.contiguous()))


@NARROW
def test_16_bit_queries_that_no_key_counts_for(dtype: torch.dtype) -> None:
    mask = torch.ones(70, 600, dtype=torch.bool)
    mask[3], mask[60, :599], mask[5, 512:], mask[6, :512] = False, False, False, False
    same_narrow(Attention(), (*narrow(qkv(70, 600, 8), dtype), mask))


def test_16_bit_floats_that_somebody_wants_in_32_bits() -> None:
    """A result that is not rounded stays in 32 bits; operands of two types are computed in 32 bits, as they were."""

    def wide(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor) -> torch.Tensor:
        return torch.softmax(q.float() @ k.float().mT, -1) @ v.float()

    args = narrow(qkv(40, 50, 8), torch.bfloat16)
    q, k, v = (each.double() for each in args)
    exact = torch.softmax(q @ k.mT, -1) @ v
    for given in (args, (*args[:2], args[2].half())):
        program = hotdesk.compile(Call(wide), given)
        assert recognized(program, *given) == 1
        torch.testing.assert_close(program(*given), exact.float(), rtol=1e-4, atol=1e-5)


def test_16_bit_floats_of_sizes_known_when_called() -> None:
    batch, length = Dim("batch", min=1, max=64), Dim("length", min=5, max=4096)
    sizes = {0: batch, 2: length}
    program = hotdesk.compile(
        Attention(),
        narrow(qkv(9, 9, 8), torch.bfloat16),
        dynamic_shapes={"q": sizes, "k": sizes, "v": sizes},
    )
    for count in (9, 700):
        args = narrow(qkv(count, count, 8), torch.bfloat16)
        exact = Attention()(*(each.double() for each in args))
        torch.testing.assert_close(program(*args), exact.to(torch.bfloat16), rtol=2**-7, atol=1e-3)
        assert program.memory(*args).arena == 0


@pytest.mark.parametrize(
    ("queries", "keys", "width", "columns"),
    [(1, 1, 1, 1), (1, 33, 8, 8), (5, 1, 3, 7), (127, 129, 20, 33), (200, 1100, 16, 8), (3, 2050, 64, 64)],
)
def test_sizes_that_fill_no_block(queries: int, keys: int, width: int, columns: int) -> None:
    same(Attention(), qkv(queries, keys, width, columns=columns), attentions=int(keys > 1))


@pytest.mark.parametrize("shape", [(9, 13), (1, 13), (9, 1), (2, 1, 9, 13), (1, 2, 9, 13), (2, 2, 1, 13), (2, 1, 1, 1)])
@pytest.mark.parametrize("kind", [torch.bool, torch.float32])
def test_masks_of_any_shape(shape: tuple[int, ...], kind: torch.dtype) -> None:
    args = qkv(9, 13, 8)
    mask = torch.randn(shape) > -0.5 if kind is torch.bool else torch.randn(shape) * 3
    same(Attention(), (*args, mask))


@pytest.mark.parametrize("kind", [torch.bool, torch.float32])
def test_masks_among_branches(kind: torch.dtype) -> None:
    class Branches(nn.Module):
        def forward(self, q: torch.Tensor, mask: torch.Tensor, which: torch.Tensor) -> torch.Tensor:
            found = F.scaled_dot_product_attention(q, q, q, attn_mask=mask)
            return torch.cond(which, lambda x: x + 1, lambda x: x * 2, (found,))

    q, mask = random(2, 4, 16, 8), (random(2, 1, 1, 16) > 0).to(kind)
    for which in (True, False):
        same(Branches(), (q, mask, torch.tensor(which)))


def test_queries_that_no_key_counts_for() -> None:
    args, mask = qkv(70, 600, 8), torch.ones(70, 600, dtype=torch.bool)
    mask[3], mask[60, :599], mask[5, 512:], mask[6, :512] = False, False, False, False
    same(Attention(), (*args, mask))
    low = torch.zeros(70, 600).masked_fill(~mask, float("-inf"))
    model = Call(lambda q, k, v, mask: torch.softmax(q @ k.mT + mask, -1) @ v)
    program = same(model, (*args, low))
    assert program(*args, low)[:, :, 3].isnan().all()


@pytest.mark.parametrize(("queries", "keys"), [(9, 13), (13, 9), (300, 1300)])
def test_causal_without_a_mask_in_memory(queries: int, keys: int) -> None:
    args = qkv(queries, keys, 8)
    program = same(Attention(is_causal=True), args)
    assert program.memory(*args).arena == 0


def test_grouped_queries_without_repeated_keys() -> None:
    args = qkv(40, 50, 8, heads=(6, 2))
    program = same(Attention(is_causal=True, enable_gqa=True), args)
    assert program.memory(*args).arena == 0
    hand = Call(
        lambda q, k, v: Attention()(q, *(x[:, :, None].expand(2, 2, 3, 50, 8).reshape(2, 6, 50, 8) for x in (k, v)))
    )
    assert same(hand, args).memory(*args).arena == 0
    query, key, value = args
    same(Attention(is_causal=True, enable_gqa=True), (query, key, value[:, :1]))


def test_scale_and_softcap() -> None:
    same(Attention(scale=0.7), qkv(9, 13, 8))
    capped = Call(lambda q, k, v: torch.softmax(torch.tanh(q @ k.mT / 5) * 5, -1) @ v)
    for args in (qkv(9, 13, 8), qkv(70, 70, 8)):
        assert same(capped, args).memory(*args).arena == 0


def test_a_window_and_a_bias_by_distance() -> None:
    def slid(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor) -> torch.Tensor:
        distance = torch.arange(70)[:, None] - torch.arange(70)
        near = (distance >= 0) & (distance < 7)
        bias = distance.to(torch.float32) * -0.1
        return torch.softmax((q @ k.mT + bias).masked_fill(~near, float("-inf")), -1) @ v

    args = qkv(70, 70, 8)
    assert same(Call(slid), args).memory(*args).arena == 0


@pytest.mark.parametrize("mask", [None, (2, 1, 11, 11), (11, 11)])
def test_heads_are_read_and_written_where_they_lie(mask: tuple[int, ...] | None) -> None:
    model = seeded(lambda: ByHand(4, 24))
    args = (random(2, 11, 24),) if mask is None else (random(2, 11, 24), random(*mask))
    program = same(model, args)
    assert program.memory(*args).arena == 2 * 11 * 24 * 4 * 4  # q, k and v in one, and what goes into the last product


@pytest.mark.parametrize("shape", [(1, 9, 8), (3, 1, 8)])
def test_a_multiplication_that_also_repeats_the_queries(shape: tuple[int, ...]) -> None:
    model = Call(lambda q, k, v: torch.softmax((q * torch.full((3, 9, 1), 2.0)) @ k.mT, -1) @ v)
    same(model, (random(*shape), random(3, 13, 8), random(3, 13, 5)))


@pytest.mark.parametrize("dims", [(0, 1), (1, 2)])
def test_a_result_seen_with_other_heads(dims: tuple[int, int]) -> None:
    args = (random(3, 2, 9, 8), random(3, 2, 13, 8), random(3, 2, 13, 5))
    same(Call(lambda q, k, v: (torch.softmax(q @ k.mT, -1) @ v).reshape(2, 3, 9, 5).transpose(*dims)), args)


def test_a_result_seen_with_batch_and_heads_exchanged_that_are_known_when_called() -> None:
    def exchanged(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor) -> torch.Tensor:
        result = torch.softmax(q @ k.mT, -1) @ v
        return result.reshape(q.shape[1], q.shape[0], 9, 5).transpose(1, 2)

    args = (random(3, 2, 9, 8), random(3, 2, 13, 8), random(3, 2, 13, 5))
    sizes = {0: Dim("batch", min=1, max=64), 1: Dim("heads", min=1, max=64)}
    same(Call(exchanged), args, dynamic_shapes={"args": (sizes, sizes, sizes)})


@pytest.mark.parametrize("queries", [1, 9])
def test_keys_before_the_query_alone(queries: int) -> None:
    def strict(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor) -> torch.Tensor:
        before = torch.arange(q.shape[1])[:, None] > torch.arange(k.shape[1])
        return torch.softmax(torch.where(before, q @ k.mT, float("-inf")), -1) @ v

    free = {1: Dim("queries", min=1, max=64)}
    program = hotdesk.compile(
        Call(strict), (random(3, 9, 8), random(3, 13, 8), random(3, 13, 5)), dynamic_shapes={"args": (free, {}, {})}
    )
    args = (random(3, queries, 8), random(3, 13, 8), random(3, 13, 5))
    torch.testing.assert_close(program(*args), strict(*args), rtol=RTOL, atol=ATOL, equal_nan=True)


def test_weights_that_somebody_wants() -> None:
    def both(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        weights = torch.softmax(q @ k.mT, -1)
        return weights @ v, weights

    args = qkv(9, 13, 8)
    program = hotdesk.compile(Call(both), args)
    assert recognized(program, *args) == 0
    torch.testing.assert_close(program(*args), both(*args), rtol=RTOL, atol=ATOL)


def test_other_types_stay_as_they_were() -> None:
    args = tuple(x.double() for x in qkv(9, 13, 8))
    program = hotdesk.compile(Attention().eval(), args)
    assert recognized(program, *args) == 0
    torch.testing.assert_close(program(*args), Attention()(*args))


def test_nothing_to_attend_to() -> None:
    model = Call(lambda q, k, v: torch.softmax(q @ k.mT, -1) @ v)
    for queries, keys in ((0, 5), (5, 0)):
        args = qkv(queries, keys, 8)
        program = hotdesk.compile(model, args)
        torch.testing.assert_close(program(*args), model(*args))


@pytest.mark.parametrize("masked", [False, True])
def test_sizes_known_when_called(masked: bool) -> None:
    batch, length = Dim("batch", min=2, max=64), Dim("length", min=2, max=4096)
    model = seeded(lambda: ByHand(4, 24)).eval()
    shapes: dict[str, Any] = {"x": {0: batch, 1: length}} | (
        {"mask": {0: batch, 2: length, 3: length}} if masked else {}
    )
    example = (random(2, 9, 24), random(2, 1, 9, 9)) if masked else (random(2, 9, 24),)
    program = hotdesk.compile(model, example, dynamic_shapes=shapes)
    assert recognized(program, *example) == 1
    for size, count in ((2, 9), (3, 700), (5, 131)):
        args = (random(size, count, 24), *([random(size, 1, count, count)] if masked else []))
        with torch.no_grad():
            torch.testing.assert_close(program(*args), model(*args), rtol=RTOL, atol=1e-5)


@pytest.mark.parametrize(("dtype", "width"), [("float32", 64), ("bfloat16", 256)])
def test_a_small_stack_is_enough(dtype: str, width: int) -> None:
    """Of the smallest size that many threads of servers have; apart, as what is too small ends the process."""
    code = f"""
import threading, torch, hotdesk
q, k, v = (torch.randn(1, 2, 600, {width}).to(torch.{dtype}) for _ in range(3))
model = torch.nn.Module()
model.forward = lambda q, k, v: torch.nn.functional.scaled_dot_product_attention(q, k, v)
program = hotdesk.compile(model, (q, k, v))
threading.stack_size(256 * 1024)
found = []
thread = threading.Thread(target=lambda: found.append(program(q, k, v)))
thread.start()
thread.join()
torch.testing.assert_close(found[0], model(q, k, v), atol=1e-5 if q.dtype == torch.float32 else 1e-2, rtol=2e-2)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_without_scratch_memory_blocks_are_smaller(dtype: torch.dtype) -> None:
    """As where all blocks are taken by others: the same numbers from a few queries and keys at a time."""
    args = narrow((random(2, 3, 70, 16), random(2, 3, 600, 16), random(2, 3, 600, 16)), dtype)
    program = same(Attention(), args) if dtype is torch.float32 else same_narrow(Attention(), args)
    take = ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_int64, ctypes.c_void_p)(address(TAKE_SCORES))
    give = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p)(address(GIVE_SCORES))
    blocks = [take(64, None) for _ in range(SLOTS)]
    try:
        assert take(64, None) is None
        exact = Attention()(*(each.double() for each in args)).to(dtype)
        close = (RTOL, ATOL) if dtype is torch.float32 else (2**-7, 1e-3)
        torch.testing.assert_close(program(*args), exact, rtol=close[0], atol=close[1])
    finally:
        for block in blocks:
            give(block, None)


@pytest.mark.parametrize("length", [1024, 8192])
def test_memory_grows_with_the_length(length: int) -> None:
    model = ByHand(2, 8).eval()
    example = (torch.zeros(1, length, 8),)
    memory = hotdesk.compile(model, example).memory(*example)
    assert memory.arena == 4 * 8 * 4 * length  # a matrix of all scores of a head would take 4 · length² bytes


def test_the_checker_runs_it() -> None:
    args = (*qkv(9, 13, 8, heads=(4, 2)), torch.randn(9, 13) > -0.5)
    program = hotdesk.compile(Attention(enable_gqa=True).eval(), args)
    report = program.check(*args)
    assert not report.faults
    expected = Attention(enable_gqa=True)(*args)
    torch.testing.assert_close(torch.from_numpy(report.results[0].values), expected, rtol=RTOL, atol=ATOL)
    halves = *narrow(args[:3], torch.float16), args[3]
    report = hotdesk.compile(Attention(enable_gqa=True).eval(), halves).check(*halves)
    assert not report.faults
    torch.testing.assert_close(torch.from_numpy(report.results[0].values).float(), expected, rtol=2e-2, atol=1e-2)


TINY = {"hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 4, "intermediate_size": 48}


def bert(how: str) -> nn.Module:
    from transformers import BertConfig, BertModel

    return BertModel(BertConfig(vocab_size=50, **TINY, attn_implementation=how), add_pooling_layer=False)


def gpt2(how: str) -> nn.Module:
    from transformers import GPT2Config, GPT2Model

    small = {"n_embd": 32, "n_layer": 2, "n_head": 4, "vocab_size": 50, "bos_token_id": 0, "eos_token_id": 0}
    return GPT2Model(GPT2Config(**small, attn_implementation=how))


def llama(how: str) -> nn.Module:
    from transformers import LlamaConfig, LlamaModel

    return LlamaModel(LlamaConfig(vocab_size=50, num_key_value_heads=2, **TINY, attn_implementation=how))


def vit(how: str) -> nn.Module:
    from transformers import ViTConfig, ViTModel

    return ViTModel(ViTConfig(image_size=16, patch_size=4, **TINY, attn_implementation=how), add_pooling_layer=False)


def whisper(how: str) -> nn.Module:
    from transformers import WhisperConfig
    from transformers.models.whisper.modeling_whisper import WhisperEncoder

    sizes = {"d_model": 32, "encoder_layers": 2, "encoder_attention_heads": 4, "encoder_ffn_dim": 48}
    return WhisperEncoder(WhisperConfig(num_mel_bins=8, max_source_positions=20, **sizes, attn_implementation=how))


@pytest.mark.parametrize("how", ["sdpa", "eager"])
@pytest.mark.parametrize("make", [bert, gpt2, llama, vit, whisper])
def test_models_of_transformers(make: Any, how: str) -> None:
    class Hidden(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.model = make(how)

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            options = {"use_cache": False} if make in (gpt2, llama) else {}
            return self.model(x, **options).last_hidden_state

    x = {vit: random(2, 3, 16, 16), whisper: random(2, 8, 40)}.get(make, torch.arange(24).reshape(2, 12))
    model = seeded(Hidden).eval()
    program = hotdesk.compile(model, (x,))
    assert recognized(program, x) == 2
    with torch.no_grad():
        torch.testing.assert_close(program(x), model(x), rtol=1e-4, atol=1e-5)
