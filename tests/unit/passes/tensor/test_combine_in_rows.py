"""Values that are put over what they are combined with, in rows: the same numbers, bit by bit, in fewer bytes and no copy."""

from __future__ import annotations

import numpy as np
import pytest
import torch

import hotdesk
from examples.models import MODELS
from hotdesk.explain import Outcome
from hotdesk.ir.context import entered
from hotdesk.passes.tensor.combine_in_rows import CombineInRows
from tests import reference
from tests.harness import run_module
from tests.unit.parsing import function, parse, run

CONV = "accumulate = false, groups = 1 : i64, dilations = array<i64: 1, 1>, input_dilations = array<i64: 1, 1>"


def conv(result: str, source: str, weight: str, taps: int, shapes: tuple[str, str, str], stride: int = 1) -> str:
    pad = taps // 2
    window = f"strides = array<i64: {stride}, {stride}>, pad_low = array<i64: {pad}, {pad}>, pad_high = array<i64: {pad}, {pad}>"
    x, w, y = (f"tensor<{shape}xf32>" for shape in shapes)
    return f"""%e{result[1:]} = tensor.empty() : {y}
      {result} = "hotdesk.conv"({source}, {weight}, %e{result[1:]}) {{{CONV}, {window}}} : ({x}, {w}, {y}) -> {y}"""


def block(stride: int = 1) -> str:
    """Two convolutions, the end of one block of layers, and those of the next; their results are added, halved and clamped."""
    wide = "1x8x9x5"
    source, narrow, small = "1x4x9x5" if stride == 1 else "1x4x17x9", "1x4x9x5", "8x4x1x1"
    kind = f"tensor<{wide}xf32>"
    maps = ", ".join(
        f"affine_map<(d0, d1, d2, d3) -> ({to})>" for to in ("d0, d1, d2, d3", "d0, d1, d2, d3", "d1", "d0, d1, d2, d3")
    )

    def added(result: str, one: str, other: str) -> str:
        return f"""%e{result[1:]} = tensor.empty() : {kind}
      {result} = linalg.generic {{indexing_maps = [{maps}], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}}
          ins({one}, {other}, %scale : {kind}, {kind}, tensor<8xf32>) outs(%e{result[1:]} : {kind}) {{
      ^bb0(%p: f32, %q: f32, %by: f32, %old: f32):
        %a = arith.mulf %p, %by : f32
        %b = arith.addf %a, %q : f32
        %c = arith.maximumf %b, %zero : f32
        linalg.yield %c : f32
      }} -> {kind}"""

    return f"""func.func @main(%x: tensor<{source}xf32>, %w1: tensor<{small}xf32>, %w2: tensor<{small}xf32>,
        %w3: tensor<4x8x1x1xf32>, %scale: tensor<8xf32>) -> {kind} {{
      %zero = arith.constant 0.0 : f32
      {conv("%m", "%x", "%w1", 1, (source, small, wide), stride)}
      {conv("%s", "%x", "%w2", 1, (source, small, wide), stride)}
      {added("%first", "%s", "%m")}
      {conv("%n", "%first", "%w3", 1, (wide, "4x8x1x1", narrow))}
      {conv("%v", "%n", "%w2", 1, (narrow, small, wide))}
      {added("%second", "%v", "%first")}
      return %second : {kind}
    }}"""


def numbers(stride: int) -> list[np.ndarray]:
    rng = np.random.default_rng(1)
    source = (1, 4, 9, 5) if stride == 1 else (1, 4, 17, 9)
    return [rng.standard_normal(s, dtype=np.float32) for s in (source, (8, 4, 1, 1), (8, 4, 1, 1), (4, 8, 1, 1), (8,))]


ROWS = CombineInRows(least_bytes=1, least_part=1)


@pytest.mark.parametrize("stride", [1, 2])
def test_the_same_numbers(stride: int) -> None:
    text = block(stride)
    split = run(parse(text), ROWS)
    assert split.count("tensor.insert_slice") > 4
    before, after = (reference.run(function(parse(each)), numbers(stride)) for each in (text, split))
    np.testing.assert_array_equal(after[0], before[0])


@pytest.mark.parametrize("stride", [1, 2])
def test_the_same_numbers_when_compiled(stride: int) -> None:
    """On whole numbers, whose sums are exact."""
    inputs = [np.round(4 * each) for each in numbers(stride)]
    (before,), (after,) = (run_module(each, *inputs) for each in (block(stride), run(parse(block(stride)), ROWS)))
    np.testing.assert_array_equal(after, before)


def test_the_fewest_parts_that_reach_what_is_held_anyway() -> None:
    """Behind the last sum only its 1,440 bytes are held, beside 720 of what the value is made of: one row at a time."""
    module = parse(block())
    with entered(module.operation):
        first, second = CombineInRows(least_bytes=1, least_part=500).run(module)
    assert (first.outcome, second.outcome) == (Outcome.SPLIT, Outcome.SPLIT)
    assert second.subject == "result of hotdesk.conv, 1440 bytes, in 3 parts over an operand of linalg.generic"
    assert second.bytes == 1440 - 480


class Residual(torch.nn.Module):
    """A block of layers as in ResNet: wide, narrow, wide again and added to where it began, narrow."""

    def __init__(self) -> None:
        super().__init__()
        self.wide = torch.nn.Conv2d(16, 256, 1, bias=False)
        self.narrow = torch.nn.Conv2d(256, 16, 1, bias=False)
        self.wide_again = torch.nn.Conv2d(16, 256, 1, bias=False)
        self.norm = torch.nn.BatchNorm2d(256)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = torch.relu(self.wide(x))
        x = torch.relu(self.norm(self.wide_again(self.narrow(x))) + x)
        return self.narrow(x)


@pytest.mark.slow
def test_resnet50_has_a_half_of_each_sum_at_a_time() -> None:
    """The largest input of a block is 3,211,264 bytes. Beside it lie two that are a half and an eighth of it."""
    spec = MODELS["resnet50"]
    model, inputs = spec.build(), spec.inputs()
    program = hotdesk.compile(model, inputs)
    memory = program.memory(*inputs)
    assert (memory.arena, memory.lower_bound, memory.copies) == (5_218_304, 5_218_304, 0)
    with torch.inference_mode():
        torch.testing.assert_close(program(*inputs), model(*inputs), rtol=spec.rtol, atol=spec.atol)


def test_a_residual_is_added_in_the_memory_of_what_it_is_added_to() -> None:
    """256 channels of 40 by 40 are 1,638,400 bytes, 16 are 102,400: two of the former and one of the latter were there.

    A row of all channels has 40,960: parts of 262,144 or a little less have 6 rows.
    """
    model, x = Residual().eval().requires_grad_(False), torch.randn(1, 16, 40, 40)
    program = hotdesk.compile(model, (x,))
    memory = program.memory(x)
    assert memory.peak == 1_638_400 + 102_400 + 6 * 40_960
    assert memory.copies == 0
    (made,) = (each for each in program.decisions() if each.outcome is Outcome.SPLIT)
    assert made.bytes == 1_638_400 - 6 * 40_960
    torch.testing.assert_close(program(x), model(x), rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
def test_convolutions_in_16_bits_have_nothing_in_32(dtype: torch.dtype) -> None:
    """24 channels of 128 by 128 are 786,432 bytes in 16 bits, of which two are there at a time."""
    torch.manual_seed(0)
    layers = [torch.nn.Conv2d(3, 24, 3, padding=1, bias=False), torch.nn.ReLU()]
    layers += [
        torch.nn.Conv2d(24, 24, 3, padding=1, bias=False),
        torch.nn.ReLU(),
        torch.nn.Conv2d(24, 1, 1, bias=False),
    ]
    model = torch.nn.Sequential(*layers).requires_grad_(False)
    x = torch.randn(1, 3, 128, 128).to(dtype)
    exact = model.double()(x.double())
    program = hotdesk.compile(model.to(dtype), (x,))
    assert program.memory(x).arena == 2 * 786_432
    assert not [each for each in program.decisions(x) if each.outcome is Outcome.SPLIT]
    torch.testing.assert_close(program(x).double(), exact, rtol=0, atol=8 * torch.finfo(dtype).eps)
