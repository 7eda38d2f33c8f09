"""State that shifts: elements move where they lie, in an order that loses none; what wraps around alone is kept aside."""

# PyTorch is annotated in part only.
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false
# pyright: reportUnknownLambdaType=false, reportUnknownParameterType=false, reportMissingParameterType=false

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

import hotdesk
from hotdesk.explain import Outcome, Reason
from hotdesk.sizes.size import evaluate
from tests.e2e.checking import random
from tests.e2e.test_state import Stateful, follows
from tests.reference import Array


def moved(program: hotdesk.Program, *args: object) -> list[int]:
    """The bytes of each move."""
    found = [each for each in program.decisions(*args) if each.reason is Reason.MOVED_WITHIN]
    return [evaluate(each.bytes, {}) for each in found]


def copied(program: hotdesk.Program) -> int:
    """The bytes that are copied."""
    return sum(evaluate(each.bytes, {}) for each in program.decisions() if each.outcome is Outcome.COPIED)


def _rolls(self: Any, x: torch.Tensor) -> torch.Tensor:
    self.a.copy_(torch.roll(self.a, -1, 0))
    return x + 1


def _rolls_up(self: Any, x: torch.Tensor) -> torch.Tensor:
    self.a.copy_(torch.roll(self.a, 3, 0))
    return x + 1


def _appends(self: Any, x: torch.Tensor) -> torch.Tensor:
    self.a = torch.cat([self.a[1:], x[None]])
    return x + 1


def _prepends(self: Any, x: torch.Tensor) -> torch.Tensor:
    self.a = torch.cat([x[None], self.a[:-1]])
    return x + 1


def _shifts(self: Any, x: torch.Tensor) -> torch.Tensor:
    self.a[:-1] = self.a[1:].clone()
    self.a[-1] = x
    return x + 1


def _shifts_up(self: Any, x: torch.Tensor) -> torch.Tensor:
    self.a[2:] = self.a[:-2].clone()
    return x + 1


def _shifts_columns(self: Any, x: torch.Tensor) -> torch.Tensor:
    self.a[:, 3:] = self.a[:, :-3].clone()
    return x + 1


def _scatters(self: Any, x: torch.Tensor) -> torch.Tensor:
    self.a.copy_(torch.slice_scatter(self.a, self.a[:-1], 0, 1))
    return x + 1


def _shifts_both_ways(self: Any, x: torch.Tensor) -> torch.Tensor:
    self.a[1:-1, :-2] = self.a[:-2, 2:].clone()
    return x + 1


ROW, ROWS = 48 * 4, 10


@pytest.mark.parametrize(
    ("function", "move", "aside"),
    [
        (_rolls, (ROWS - 1) * ROW, 2 * ROW),
        (_rolls_up, (ROWS - 3) * ROW, 2 * 3 * ROW),
        (_appends, (ROWS - 1) * ROW, ROW),
        (_prepends, (ROWS - 1) * ROW, ROW),
        (_shifts, (ROWS - 1) * ROW, ROW),
        (_shifts_up, (ROWS - 2) * ROW, 0),
        (_shifts_columns, ROWS * 45 * 4, 0),
        (_shifts_both_ways, (ROWS - 2) * 46 * 4, 0),
        (_scatters, (ROWS - 1) * ROW, 0),
    ],
)
def test_elements_move_where_they_lie(function: Any, move: int, aside: int) -> None:
    """What wraps around is copied out and back, what is new is copied in; all else moves within the state."""
    model = Stateful(function, a=random(ROWS, 48))
    address = model.get_buffer("a").data_ptr()
    program = follows(model, [(random(48, seed=seed),) for seed in range(3)])
    assert moved(program) == [move]
    assert copied(program) <= aside
    assert program.memory().arena <= aside // 2 if aside > ROW else program.memory().arena == 0
    assert model.get_buffer("a").data_ptr() == address


def test_a_cache_slides_along_its_third_dim() -> None:
    def function(self: Any, x: torch.Tensor) -> torch.Tensor:
        self.keys.copy_(torch.cat([self.keys[:, :, 1:], x], 2))
        return (self.keys.float() * 2).sum(2)

    keys = random(2, 3, 8, 6).to(torch.bfloat16)
    calls = [(random(2, 3, 1, 6, seed=seed).to(torch.bfloat16),) for seed in range(3)]
    program = follows(Stateful(function, keys=keys), calls)
    assert moved(program) == [2 * 3 * 7 * 6 * 2]


def test_what_is_no_move() -> None:
    """Elements that go by several distances."""

    def function(self: Any, x: torch.Tensor) -> torch.Tensor:
        self.a.copy_(torch.flip(self.a, [0]))
        self.b.copy_(self.b.transpose(0, 1).clone())
        self.c.copy_(torch.roll(self.c, (1, -2), (0, 1)))
        return x + 1

    buffers = {name: random(6, 6, seed=seed) for seed, name in enumerate("abc")}
    program = follows(Stateful(function, **buffers), [(random(4, seed=seed),) for seed in range(3)])
    assert sum(moved(program)) < 6 * 6 * 4


DTYPES = (torch.bool, torch.int8, torch.int64, torch.float16, torch.bfloat16, torch.float64)


def _shifts_all(self: Any, x: torch.Tensor) -> torch.Tensor:
    for number, dtype in enumerate(DTYPES):
        buffer = getattr(self, f"b{number}")
        buffer.copy_(torch.cat([buffer[..., 1:], x[..., :1].to(dtype)], -1))
        getattr(self, f"c{number}")[..., 5:] = getattr(self, f"c{number}")[..., :-5].clone()
    return x * 2


def test_element_types() -> None:
    buffers = {
        f"{name}{number}": (100 * random(2, 3, 71, seed=number)).to(dtype)
        for name in "bc"
        for number, dtype in enumerate(DTYPES)
    }
    program = follows(Stateful(_shifts_all, **buffers), [(random(2, 3, 71, seed=seed),) for seed in range(3)])
    assert len(moved(program)) == 2 * len(DTYPES)
    assert program.memory().arena == 0


class Streaming(torch.nn.Module):
    """Convolutions over a stream of frames, each of which remembers the last frames that it was given."""

    def __init__(self) -> None:
        super().__init__()
        self.layers = torch.nn.ModuleList([torch.nn.Conv1d(8, 8, 5, bias=False) for _ in range(3)])
        for number in range(3):
            self.register_buffer(f"frames{number}", torch.zeros(1, 8, 5))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        for number, layer in enumerate(self.layers):
            frames = self.get_buffer(f"frames{number}")
            frames.copy_(torch.cat([frames[:, :, 1:], x], 2))
            x = torch.relu(layer(frames))
        return x


def test_a_stream_of_frames() -> None:
    torch.manual_seed(0)
    program = follows(Streaming().eval().requires_grad_(False), [(random(1, 8, 1, seed=seed),) for seed in range(7)])
    assert moved(program) == [8 * 4 * 4] * 3
    assert copied(program) <= 3 * 8 * 4


def test_old_contents_that_are_read_later_are_copied_and_that_is_told() -> None:
    def function(self: Any, x: torch.Tensor) -> torch.Tensor:
        new = torch.cat([self.a[1:], x[None]])
        old = self.a + new
        self.a.copy_(new)
        return old

    program = follows(Stateful(function, a=random(6, 4)), [(random(4, seed=seed),) for seed in range(3)])
    told = [each for each in program.decisions() if each.outcome is Outcome.COPIED]
    assert sum(evaluate(each.bytes, {}) for each in told) >= 6 * 4 * 4


def test_sizes_that_vary() -> None:
    def model(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        x.copy_(torch.cat([x[1:], y[None]]))
        y[1:] = y[:-1].clone()
        return y * 2

    shapes = {
        "args": ({0: torch.export.Dim("n", min=3), 1: torch.export.Dim("m", min=3)}, {0: torch.export.Dim("m", min=3)})
    }
    program = hotdesk.compile(Stateful(lambda _, x, y: model(x, y)), (random(5, 4), random(4)), dynamic_shapes=shapes)
    for n, m in ((5, 4), (3, 33), (40, 100)):
        ours, theirs = (random(n, m), random(m, seed=1)), (random(n, m), random(m, seed=1))
        assert not program.check(*(each.clone() for each in ours)).faults
        torch.testing.assert_close(program(*ours), model(*theirs))
        torch.testing.assert_close(ours, theirs)


def test_a_loop_that_shifts_what_it_carries() -> None:
    """A delay line in a `while_loop`."""
    from torch._higher_order_ops import while_loop

    def function(self: Any, x: torch.Tensor, n: torch.Tensor) -> torch.Tensor:
        def step(i: torch.Tensor, line: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
            return i + 1, torch.cat([line[1:], (x * i)[None]])

        _, line = while_loop(lambda i, line: i < n, step, (torch.tensor(0), self.a))
        self.a.copy_(line)
        return line.sum(0)

    calls = [(random(4), torch.tensor(n)) for n in (0, 1, 3, 9)]
    follows(Stateful(function, a=random(6, 4)), calls)


MOVES = """
func.func @main(%x: tensor<7x9x21xf32> {hotdesk.donated}, %a: index, %b: index, %c: index, %d: index, %e: index, %f: index)
    -> tensor<7x9x21xf32> {
  %s = tensor.extract_slice %x[%a, %b, %c] [4, 5, 17] [1, 1, 1] : tensor<7x9x21xf32> to tensor<4x5x17xf32>
  %r = tensor.insert_slice %s into %x[%d, %e, %f] [4, 5, 17] [1, 1, 1] : tensor<4x5x17xf32> into tensor<7x9x21xf32>
  return %r : tensor<7x9x21xf32>
}
"""

ROWS_WITH_STEPS = """
func.func @main(%x: tensor<40x18xi32> {hotdesk.donated}, %n: index, %a: index, %d: index) -> tensor<40x18xi32> {
  %s = tensor.extract_slice %x[%a, 0] [%n, 18] [2, 1] : tensor<40x18xi32> to tensor<?x18xi32>
  %r = tensor.insert_slice %s into %x[%d, 0] [%n, 18] [2, 1] : tensor<?x18xi32> into tensor<40x18xi32>
  return %r : tensor<40x18xi32>
}
"""


def test_places_that_only_the_call_knows() -> None:
    """Every direction in each of three dims, by one program that has one arena for all."""
    program = hotdesk.compile(MOVES)
    assert len(moved(program, np.zeros((7, 9, 21), np.float32), *[0] * 6)) == 1
    draw = np.random.default_rng(0)
    for _ in range(60):
        a, b, c, d, e, f = (int(draw.integers(0, most)) for most in (4, 5, 5, 4, 5, 5))
        x: Array = draw.standard_normal((7, 9, 21)).astype(np.float32)
        wanted = x.copy()
        wanted[d : d + 4, e : e + 5, f : f + 17] = x[a : a + 4, b : b + 5, c : c + 17]
        found = program(x, a, b, c, d, e, f)
        np.testing.assert_array_equal(found, wanted)
        assert np.shares_memory(found, x)


def test_rows_with_steps_between_them() -> None:
    program = hotdesk.compile(ROWS_WITH_STEPS)
    for n, a, d in ((10, 0, 4), (10, 4, 0), (17, 1, 3), (17, 3, 0), (1, 5, 5), (0, 2, 4)):
        x: Array = np.arange(720, dtype=np.int32).reshape(40, 18)
        wanted = x.copy()
        wanted[d : d + 2 * n : 2] = x[a : a + 2 * n : 2]
        np.testing.assert_array_equal(program(x, n, a, d), wanted)


LAYOUTS = """
func.func @main(%m: memref<6x8xf32, strided<[?, ?]>>, %n: memref<6x8xf32, strided<[1, 6]>>) {
  %x = bufferization.to_tensor %m restrict writable : memref<6x8xf32, strided<[?, ?]>> to tensor<6x8xf32>
  %s = tensor.extract_slice %x[0, 1] [5, 7] [1, 1] : tensor<6x8xf32> to tensor<5x7xf32>
  %r = tensor.insert_slice %s into %x[1, 0] [5, 7] [1, 1] : tensor<5x7xf32> into tensor<6x8xf32>
  bufferization.materialize_in_destination %r in restrict writable %m
      : (tensor<6x8xf32>, memref<6x8xf32, strided<[?, ?]>>) -> ()
  %y = bufferization.to_tensor %n restrict writable : memref<6x8xf32, strided<[1, 6]>> to tensor<6x8xf32>
  %t = tensor.extract_slice %y[1, 0] [5, 7] [1, 1] : tensor<6x8xf32> to tensor<5x7xf32>
  %u = tensor.insert_slice %t into %y[0, 1] [5, 7] [1, 1] : tensor<5x7xf32> into tensor<6x8xf32>
  bufferization.materialize_in_destination %u in restrict writable %n
      : (tensor<6x8xf32>, memref<6x8xf32, strided<[1, 6]>>) -> ()
  return
}
"""


def test_layouts_that_are_not_known_to_be_row_major() -> None:
    """Which element goes first depends on where they lie: nothing moves where that is not known, or is another order."""
    program = hotdesk.compile(LAYOUTS)
    numbers: Array = np.arange(96, dtype=np.float32)
    for given in (numbers[:48].reshape(6, 8), numbers[:48].reshape(8, 6).T, numbers.reshape(6, 16)[:, ::2]):
        x, y = given.copy(order="K"), numbers[:48].reshape(8, 6).copy().T
        kept: Array = np.empty((6, 16), np.float32)[:, ::2] if given.strides[1] == 8 else x
        kept[...] = given
        wanted = given.copy(), y.copy()
        wanted[0][1:, :7] = given[:5, 1:]
        wanted[1][:5, 1:] = y[1:, :7]
        assert moved(program, kept, y) == []
        assert {each.reason for each in program.decisions(kept, y)} >= {Reason.DIFFERENT_LAYOUT}
        assert not program.check(kept, y).faults
        program(kept, y)
        np.testing.assert_array_equal(kept, wanted[0])
        np.testing.assert_array_equal(y, wanted[1])


MADE_AND_MOVED = """
func.func @main(%x: tensor<6x8xf32>) -> tensor<6x8xf32> {
  %e = tensor.empty() : tensor<6x8xf32>
  %y = linalg.exp ins(%x : tensor<6x8xf32>) outs(%e : tensor<6x8xf32>) -> tensor<6x8xf32>
  %s = tensor.extract_slice %y[0, 1] [5, 7] [1, 1] : tensor<6x8xf32> to tensor<5x7xf32>
  %r = tensor.insert_slice %s into %y[1, 0] [5, 7] [1, 1] : tensor<5x7xf32> into tensor<6x8xf32>
  return %r : tensor<6x8xf32>
}
"""


def test_programs_as_files_and_as_c(tmp_path: Path) -> None:
    program = hotdesk.compile(MADE_AND_MOVED)
    x: Array = np.linspace(0, 1, 48, dtype=np.float32).reshape(6, 8)
    wanted: Array = np.exp(x)
    wanted[1:, :7] = np.exp(x[:5, 1:])
    assert moved(program, x) == [5 * 7 * 4]
    program.save(tmp_path / "moved.hotdesk")
    np.testing.assert_allclose(hotdesk.load(tmp_path / "moved.hotdesk")(x), wanted, rtol=1e-5)
    program.export_c(tmp_path, name="moved")
    files = ["moved.c", "moved_weights.S", "moved_kernels.o", "main.c"]
    subprocess.run(["cc", "-std=c11", *files, "-lm", "-o", "example"], cwd=tmp_path, check=True)
    found = subprocess.run([tmp_path / "example"], input=x.tobytes(), capture_output=True, check=True).stdout
    np.testing.assert_allclose(np.frombuffer(found, np.float32).reshape(6, 8), wanted, rtol=1e-5)


def test_a_large_move() -> None:
    model = Stateful(_appends, a=random(1000, 257))
    program = hotdesk.compile(model, (random(257),))
    expected = model.get_buffer("a").clone()
    for seed in range(3):
        x = random(257, seed=seed)
        program(x)
        expected = torch.cat([expected[1:], x[None]])
        assert torch.equal(model.get_buffer("a"), expected)
