"""Rows of images in parts: what windows reach, what is computed twice for it, and the same numbers, bit by bit."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
import pytest

from hotdesk.analysis.order.halos import bytes_again, parts_of
from hotdesk.analysis.order.splitting import find_split
from hotdesk.analysis.order.straight_line import StraightLine
from hotdesk.analysis.order.windows import WindowAccess
from hotdesk.ir.context import entered
from hotdesk.passes.tensor.eliminate_empty import EliminateEmptyTensors
from hotdesk.passes.tensor.split_rows import SplitRows
from tests import reference
from tests.harness import run_module
from tests.unit.parsing import function, ops, parse, run


@dataclass
class Images:
    """Text of a program on images, from the input on; `shape` is that of the last value."""

    shape: tuple[int, ...]
    lines: list[str] = field(default_factory=list[str])
    weights: list[tuple[int, ...]] = field(default_factory=list[tuple[int, ...]])
    last: str = "%x"
    count: int = 0

    def _add(self, text: str, shape: tuple[int, ...], destination: bool = True) -> Images:
        self.count += 1
        kind, made = _kind(shape), f"%v{self.count}"
        if destination:
            self.lines.append(f"%e{self.count} = tensor.empty() : {kind}")
        self.lines.append(f"{made} = " + text.format(x=self.last, t=_kind(self.shape), e=f"%e{self.count}", r=kind))
        self.last, self.shape = made, shape
        return self

    def conv(
        self,
        filters: int,
        taps: int,
        stride: int = 1,
        dilation: int = 1,
        low: int = 0,
        high: int = 0,
        spread: int = 1,
        groups: int = 1,
    ) -> Images:
        n, channels, height, width = self.shape
        weight = (filters, channels // groups, taps, taps)
        self.weights.append(weight)
        rows, columns = (
            ((s - 1) * spread + 1 + low + high - (taps - 1) * dilation - 1) // stride + 1 for s in (height, width)
        )
        text = (
            f'"hotdesk.conv"({{x}}, %w{len(self.weights)}, {{e}}) {{{{accumulate = false, groups = {groups} : i64, '
            f"strides = {_two(stride)}, dilations = {_two(dilation)}, pad_low = {_two(low)}, pad_high = {_two(high)}, "
            f"input_dilations = {_two(spread)}}}}} : ({{t}}, {_kind(weight)}, {{r}}) -> {{r}}"
        )
        return self._add(text, (n, filters, rows, columns))

    def pool(
        self, window: int, stride: int, low: int = 0, high: int = 0, kind: str = "max", dilation: int = 1
    ) -> Images:
        n, channels, *sizes = self.shape
        rows, columns = ((s + low + high - (window - 1) * dilation - 1) // stride + 1 for s in sizes)
        text = (
            f'"hotdesk.pool"({{x}}, {{e}}) {{{{accumulate = false, kind = "{kind}", window = {_two(window)}, '
            f"strides = {_two(stride)}, dilations = {_two(dilation)}, pad_low = {_two(low)}, pad_high = {_two(high)}}}}} "
            ": ({t}, {r}) -> {r}"
        )
        return self._add(text, (n, channels, rows, columns))

    def positive(self) -> Images:
        return self._add("linalg.map {{ math.absf }} ins({x} : {t}) outs({e} : {r})", self.shape)

    def pad(self, low: int, high: int) -> Images:
        n, channels, height, width = self.shape
        body = "^bb0(%a: index, %b: index, %c: index, %d: index):\n tensor.yield %zero : f32"
        text = (
            f"tensor.pad {{x}} low[0, 0, {low}, {low}] high[0, 0, {high}, {high}] {{{{\n{body}\n}}}} : {{t}} to {{r}}"
        )
        return self._add(text, (n, channels, height + low + high, width + low + high), destination=False)

    def beside_itself(self) -> Images:
        """What came last, twice, one behind the other along channels."""
        n, channels, height, width = self.shape
        places = [f"[0, {c}, 0, 0] [{n}, {channels}, {height}, {width}] [1, 1, 1, 1]" for c in (0, channels)]
        kind, whole = _kind(self.shape), _kind((n, 2 * channels, height, width))
        first = f"%c{self.count}"
        self.lines.append(f"{first}e = tensor.empty() : {whole}")
        self.lines.append(f"{first} = tensor.insert_slice {self.last} into {first}e{places[0]} : {kind} into {whole}")
        text = f"tensor.insert_slice {{x}} into {first}{places[1]} : {{t}} into {{r}}"
        return self._add(text, (n, 2 * channels, height, width), destination=False)

    def text(self, shape: tuple[int, ...]) -> str:
        weights = "".join(f", %w{i}: {_kind(weight)}" for i, weight in enumerate(self.weights, start=1))
        body = "\n".join(self.lines)
        return f"""func.func @main(%x: {_kind(shape)}{weights}) -> {_kind(self.shape)} {{
          %zero = arith.constant 0.0 : f32
          {body}
          return {self.last} : {_kind(self.shape)}
        }}"""


def _two(number: int) -> str:
    return f"array<i64: {number}, {number}>"


def _kind(shape: tuple[int, ...]) -> str:
    return f"tensor<{'x'.join(map(str, shape))}xf32>"


SHAPE = (1, 2, 13, 5)
CHAINS: dict[str, Callable[[Images], Images]] = {
    "convolutions and a pooling": (
        lambda x: x.conv(6, 3, low=1, high=1).positive().conv(4, 3, low=1, high=1).pool(2, 2)
    ),
    "strides": lambda x: x.conv(6, 3, stride=2, low=1, high=1).conv(2, 3, stride=2, low=1),
    "dilation": lambda x: x.conv(6, 3, dilation=2, low=2, high=2).positive().conv(2, 2, dilation=3, high=1),
    "groups": lambda x: x.conv(8, 1, groups=2).conv(8, 3, groups=8, low=1, high=1).positive().conv(2, 1),
    "transposed": lambda x: x.conv(4, 2, spread=2, low=1, high=1).conv(1, 3),
    "transposed, far apart": lambda x: x.conv(3, 2, spread=3, low=1, high=2).pool(3, 2, 1, 1),
    "sums that overlap": lambda x: x.positive().pool(3, 1, low=1, high=1, kind="sum").pool(2, 2, dilation=3, high=3),
    "padding by itself": lambda x: x.conv(4, 1).pad(1, 1).conv(4, 3).pad(2, 0).conv(1, 3),
    "one beside the other": lambda x: x.conv(4, 3, low=1, high=1).beside_itself().conv(2, 3, low=1, high=1),
    "batches of three": lambda x: x.conv(4, 3, low=1, high=1).positive().conv(1, 3),
}


def numbers(chain: Images, shape: tuple[int, ...]) -> list[np.ndarray]:
    rng = np.random.default_rng(1)
    return [rng.standard_normal(each, dtype=np.float32) for each in (shape, *chain.weights)]


def start(name: str, rows: int = SHAPE[2]) -> tuple[int, ...]:
    return (3 if name.startswith("batches") else 1, 2, rows, 5)


@pytest.mark.parametrize("name", CHAINS)
def test_the_same_numbers(name: str) -> None:
    shape = start(name)
    chain = CHAINS[name](Images(shape))
    text = chain.text(shape)
    inputs = numbers(chain, shape)
    before = reference.run(function(parse(text)), inputs)
    for parts in (2, 5):
        split = run(parse(text), SplitRows(parts=parts, least_bytes=400, large=1, dim=2), EliminateEmptyTensors())
        band = -(-chain.shape[2] // parts)
        made = -(-chain.shape[2] // band)
        assert split.count(" = tensor.insert_slice") >= text.count(" = tensor.insert_slice") + made
        for a, b in zip(before, reference.run(function(parse(split)), inputs), strict=True):
            np.testing.assert_array_equal(b, a)


@pytest.mark.parametrize("name", CHAINS)
def test_the_same_numbers_in_a_loop(name: str) -> None:
    shape = start(name, 61)
    chain = CHAINS[name](Images(shape))
    text = chain.text(shape)
    inputs = numbers(chain, shape)
    split = run(parse(text), SplitRows(parts=12, least_bytes=400, large=1, dim=2, unrolled=2), EliminateEmptyTensors())
    assert ("scf.for" in split) == (name != "transposed, far apart")  # bands of 8 rows, elements 3 apart
    written_out = SplitRows(parts=12, least_bytes=400, large=1, dim=2, unrolled=0)
    assert len(split) <= len(run(parse(text), written_out, EliminateEmptyTensors()))
    before = reference.run(function(parse(text)), inputs)
    for a, b in zip(before, reference.run(function(parse(split)), inputs), strict=True):
        np.testing.assert_array_equal(b, a)


@pytest.mark.parametrize("name", ["convolutions and a pooling", "transposed", "one beside the other", "groups"])
def test_the_same_numbers_when_compiled(name: str) -> None:
    """On whole numbers, whose sums are exact: for products of other sizes, kernels may round otherwise."""
    chain = CHAINS[name](Images(SHAPE))
    split = run(parse(chain.text(SHAPE)), SplitRows(parts=3, least_bytes=400, large=1, dim=2), EliminateEmptyTensors())
    inputs = [np.round(4 * each) for each in numbers(chain, SHAPE)]
    for before, after in zip(run_module(chain.text(SHAPE), *inputs), run_module(split, *inputs), strict=True):
        np.testing.assert_array_equal(after, before)


def test_what_windows_reach() -> None:
    plain = WindowAccess(stride=1, span=3, size=8, low=1)
    assert [plain.elements(*each) for each in ((0, 4), (4, 8), (3, 4))] == [(0, 5), (3, 8), (2, 5)]
    assert [plain.padding(*each) for each in ((0, 4), (4, 8), (3, 4))] == [(1, 0), (0, 1), (0, 0)]
    spread = WindowAccess(stride=1, span=2, size=4, low=0, spread=3)
    assert [spread.elements(*each) for each in ((0, 3), (1, 2), (3, 6))] == [(0, 2), (1, 1), (1, 3)]
    assert spread.padding(3, 6) == (0, 0)
    assert spread.padding(4, 6) == (2, 0)


def test_the_price_of_windows() -> None:
    """Two convolutions of three taps: two rows of what lies between are needed for both halves."""
    text = Images((1, 1, 8, 4)).conv(4, 3, low=1, high=1).conv(1, 3, low=1, high=1).text((1, 1, 8, 4))
    line = StraightLine(function(parse(text)))
    first = next(op for op in line.ops if op.name == "hotdesk.conv").results[0]
    split = find_split(line, first, 2, large=1)
    assert split is not None
    parts = parts_of(split, 2)
    assert parts is not None
    assert [part.made[first] for part in parts] == [(0, 5), (3, 8)]
    assert bytes_again(split, parts) == 2 * 4 * 4 * 4
    module = parse(text)
    with entered(module.operation):
        (made,) = SplitRows(least_bytes=1, only=split.ops[0].number).run(module)
    assert made.subject == "result of hotdesk.conv, 512 bytes, in 2 parts, 128 bytes written again"
    assert made.bytes == 512 - 5 * 4 * 4 * 4


def test_parts_that_would_read_padding_only_are_not_made() -> None:
    chain = Images((1, 2, 4, 4)).conv(8, 1, low=3, high=3).positive().conv(1, 1)
    module = parse(chain.text((1, 2, 4, 4)))
    with entered(module.operation):
        assert SplitRows(parts=5, least_bytes=100).run(module) == ()
        assert len(SplitRows(parts=2, least_bytes=100).run(module)) == 1


NHWC = """
func.func @main(%x: tensor<1x13x9x4xf32>, %w: tensor<3x3x4xf32>, %v: tensor<1x1x4x6xf32>) -> tensor<1x3x2x6xf32> {
  %z = arith.constant 0.0 : f32
  %p = tensor.pad %x low[0, 1, 1, 0] high[0, 1, 1, 0] {
  ^bb0(%a: index, %b: index, %c: index, %d: index):
    tensor.yield %z : f32
  } : tensor<1x13x9x4xf32> to tensor<1x15x11x4xf32>
  %e = tensor.empty() : tensor<1x13x9x4xf32>
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<1x13x9x4xf32>) -> tensor<1x13x9x4xf32>
  %h = linalg.depthwise_conv_2d_nhwc_hwc {dilations = dense<1> : tensor<2xi64>, strides = dense<1> : tensor<2xi64>}
      ins(%p, %w : tensor<1x15x11x4xf32>, tensor<3x3x4xf32>) outs(%f : tensor<1x13x9x4xf32>) -> tensor<1x13x9x4xf32>
  %k = tensor.empty() : tensor<1x13x9x6xf32>
  %l = linalg.fill ins(%z : f32) outs(%k : tensor<1x13x9x6xf32>) -> tensor<1x13x9x6xf32>
  %y = linalg.conv_2d_nhwc_hwcf {dilations = dense<1> : tensor<2xi64>, strides = dense<1> : tensor<2xi64>}
      ins(%h, %v : tensor<1x13x9x4xf32>, tensor<1x1x4x6xf32>) outs(%l : tensor<1x13x9x6xf32>) -> tensor<1x13x9x6xf32>
  %n = tensor.empty() : tensor<4x4xf32>
  %o = tensor.empty() : tensor<1x3x2x6xf32>
  %q = linalg.fill ins(%z : f32) outs(%o : tensor<1x3x2x6xf32>) -> tensor<1x3x2x6xf32>
  %r = linalg.pooling_nhwc_sum {dilations = dense<1> : tensor<2xi64>, strides = dense<4> : tensor<2xi64>}
      ins(%y, %n : tensor<1x13x9x6xf32>, tensor<4x4xf32>) outs(%q : tensor<1x3x2x6xf32>) -> tensor<1x3x2x6xf32>
  return %r : tensor<1x3x2x6xf32>
}
"""


@pytest.mark.parametrize("parts", [2, 3])
def test_operations_of_linalg(parts: int) -> None:
    """Channels last, one filter for each channel; the last row of what is summed is read by none."""
    split = run(parse(NHWC), SplitRows(parts=parts, least_bytes=1800, large=1))
    module = parse(split)
    assert len(ops(module, "linalg.depthwise_conv_2d_nhwc_hwc")) == parts
    assert "tensor<1x13x9x6xf32>) ->" not in split
    rng = np.random.default_rng(2)
    inputs = [rng.standard_normal(s, dtype=np.float32) for s in ((1, 13, 9, 4), (3, 3, 4), (1, 1, 4, 6))]
    for before, after in zip(run_module(NHWC, *inputs), run_module(split, *inputs), strict=True):
        np.testing.assert_array_equal(after, before)
