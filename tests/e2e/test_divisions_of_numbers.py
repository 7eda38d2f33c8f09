"""Divisions by numbers that only a run knows: one by zero is an error at its line, as eager PyTorch's is, and ends no process."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch import nn
from torch._higher_order_ops import while_loop

import hotdesk
from hotdesk.errors import ExecutionError, ShapeError
from tests.e2e.checking import Call, close
from tests.e2e.refusing import line_of, well_formed

X = torch.arange(1.0, 13.0)
Numbers = Callable[[torch.Tensor, torch.Tensor], torch.Tensor]


def _zeros(x: torch.Tensor, n: torch.Tensor) -> torch.Tensor:
    length: Any = 12 // n.item()
    torch._check(length >= 0)
    torch._check(length <= 12)
    return torch.zeros(length) + x[0]


def _in_a_branch(x: torch.Tensor, n: torch.Tensor) -> torch.Tensor:
    return torch.cond(x.sum() > 0, lambda x, n: x * (12 // n.item()), lambda x, n: x + 1, (x, n))


def _in_a_loop(x: torch.Tensor, n: torch.Tensor) -> torch.Tensor:
    first = (torch.tensor(0), x)
    return while_loop(lambda k, _: k < 3, lambda k, x: (k + 1, x * (12 % n.item())), first)[1]


MODELS: dict[str, Numbers] = {
    "a quotient": lambda x, n: x * (12 // n.item()),
    "a remainder": lambda x, n: x * (12 % n.item()),
    "a quotient of two": lambda x, n: x * ((n.item() + 12) // n.item()),
    "a fraction": lambda x, n: x * (12 / n.item()),
    "a negative power": lambda x, n: x * n.item() ** -1,
    "a length": lambda x, n: x[: 12 // n.item()],  # type: ignore[misc]
    "a count": lambda x, n: x[: 12 // (x * n).nonzero().shape[0]],
    "a size": _zeros,
    "in a branch": _in_a_branch,
    "in a loop": _in_a_loop,
}

OF_A_LENGTH = ("a length", "a count", "a size")
"""Programs whose results are as long as a run finds: they are not saved."""


@pytest.mark.parametrize("name", MODELS)
def test_a_number_by_zero(name: str, tmp_path: Path) -> None:
    model = MODELS[name]
    dividing = hotdesk.compile(Call(model), (X, torch.tensor(3)))
    programs: list[Any] = [dividing]
    if name not in OF_A_LENGTH:
        dividing.save(tmp_path / "program.hotdesk")
        programs.append(hotdesk.load(tmp_path / "program.hotdesk"))
    for program in programs:
        with pytest.raises(ExecutionError, match="by zero|power of zero") as caught:
            program(X, torch.tensor(0))
        well_formed(caught.value)
        for n in (torch.tensor(3), torch.tensor(5)):
            close(torch.as_tensor(program(X, n)), model(X, n))


SIMPLIFIED: dict[str, Numbers] = {
    "what is left of itself": lambda x, n: x * (n.item() % n.item()),
    "a quotient's quotient": lambda x, n: x + (((n.item() + 7) // 2) // -3),
}


@pytest.mark.parametrize("name", SIMPLIFIED)
def test_numbers_are_those_of_exported_programs(name: str) -> None:
    model = Call(SIMPLIFIED[name])
    exported = torch.export.export(model, (X, torch.tensor(3)), strict=False).module()
    program = hotdesk.compile(model, (X, torch.tensor(3)))
    for n in (0, 1, 2, 5):
        close(program(X, torch.tensor(n)), exported(X, torch.tensor(n)))


def _quotient(a: torch.Tensor, b: torch.Tensor, c: torch.Tensor) -> Any:
    return (a.item() // b.item()) // c.item()


QUOTIENTS_OF_QUOTIENTS: dict[str, Callable[..., torch.Tensor]] = {
    "a length": lambda x, *n: x[: _quotient(*n)],
    "a length of a remainder": lambda x, *n: x[: _quotient(*n) % 3],
    "a length of a third quotient": lambda x, *n: x[: _quotient(*n) // -2],
    "a place": lambda x, *n: x[_quotient(*n)],
    "a remainder": lambda x, *n: x + _quotient(*n) % 5,
    "a fraction": lambda x, *n: x + _quotient(*n) / 4,
}


@pytest.mark.parametrize("name", QUOTIENTS_OF_QUOTIENTS)
def test_quotients_are_divided_where_divisors_are_negative(name: str) -> None:
    model = QUOTIENTS_OF_QUOTIENTS[name]
    program = hotdesk.compile(Call(model), (X, *map(torch.tensor, (6, 2, 2))))
    for numbers in ((7, 2, -3), (-7, -2, -3), (-50, 7, -2), (50, -7, -2), (20, 3, 4), (-11, 5, 3)):
        given = (X, *map(torch.tensor, numbers))
        close(program(*given), model(*given))


def test_the_line_and_the_op_are_told() -> None:
    class Model(nn.Module):
        def forward(self, x: torch.Tensor, n: torch.Tensor) -> torch.Tensor:
            return x * (12 // n.item())  # here

    with pytest.raises(ExecutionError, match="a check of `operator.floordiv` failed: expected no division") as caught:
        hotdesk.compile(Model(), (X, torch.tensor(3)))(X, torch.tensor(0))
    assert caught.value.where == line_of(Model.forward)


def test_a_check_of_ones_own_comes_first() -> None:
    def checked(x: torch.Tensor, n: torch.Tensor) -> torch.Tensor:
        number: Any = n.item()
        torch._check(number != 0, lambda: "no parts")
        return x * (12 // number)

    with pytest.raises(ExecutionError, match="no parts"):
        hotdesk.compile(Call(checked), (X, torch.tensor(3)))(X, torch.tensor(0))


def test_c_without_python_says_it(tmp_path: Path) -> None:
    dividing = hotdesk.compile(Call(MODELS["a quotient"]), (X, torch.tensor(3)))
    dividing.export_c(tmp_path, name="net")
    command = ["cc", "net.c", "net_weights.S", "net_kernels.o", "main.c", "-lm", "-o", "example"]
    subprocess.run(command, cwd=tmp_path, check=True)

    def run(n: int) -> subprocess.CompletedProcess[bytes]:
        given = X.numpy().tobytes() + np.int64(n).tobytes()
        return subprocess.run([tmp_path / "example"], input=given, capture_output=True, check=False)

    assert np.frombuffer(run(3).stdout, np.float32).tolist() == (X * 4).tolist()
    failed = run(0)
    assert failed.returncode > 0  # by itself, not by a signal
    assert b"no division of an integer by zero" in failed.stderr


def test_no_state_changes_where_the_check_fails() -> None:
    class Counting(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.register_buffer("count", torch.zeros(12))
            self.count: torch.Tensor

        def forward(self, x: torch.Tensor, n: torch.Tensor) -> torch.Tensor:
            self.count += x
            return self.count * (12 // n.item())

    model = Counting()
    counting = hotdesk.compile(model, (X, torch.tensor(3)))
    before = model.count.clone()
    with pytest.raises(ExecutionError):
        counting(X, torch.tensor(0))
    close(model.count, before)
    close(counting(X, torch.tensor(2)), (before + X) * 6)


def test_a_quotient_that_64_bits_do_not_hold() -> None:
    def divided(x: torch.Tensor, a: torch.Tensor, n: torch.Tensor) -> torch.Tensor:
        return x * (a.item() // n.item())

    least = torch.tensor(-(1 << 63))
    dividing = hotdesk.compile(Call(divided), (X, torch.tensor(12), torch.tensor(3)))
    with pytest.raises(ExecutionError, match="no division of the smallest integer by -1"):
        dividing(X, least, torch.tensor(-1))
    close(dividing(X, least, torch.tensor(2)), divided(X, least, torch.tensor(2)))


def test_a_step_of_torch_compile() -> None:
    def divided(x: torch.Tensor, n: torch.Tensor) -> torch.Tensor:
        return x * (12 // n.item())

    with torch._dynamo.config.patch(capture_scalar_outputs=True):
        compiled = torch.compile(divided, backend="hotdesk", fullgraph=True)
        close(compiled(X, torch.tensor(5)), divided(X, torch.tensor(5)))
        with pytest.raises((ExecutionError, ZeroDivisionError), match="by zero"):
            compiled(X, torch.tensor(0))


SHAPES: dict[str, Callable[..., tuple[Any, ...]]] = {
    "the last": lambda k: (k, -1),
    "the first": lambda k: (-1, k),
    "between": lambda k: (2, -1, k),
    "beside": lambda k: (k, 3, -1),
}


@pytest.mark.parametrize("name", SHAPES)
def test_a_shape_with_a_size_to_be_found(name: str) -> None:
    def shaped(x: torch.Tensor, n: torch.Tensor) -> torch.Tensor:
        return x.reshape(SHAPES[name](n.item())) * 2

    shaping = hotdesk.compile(Call(shaped), (torch.arange(48.0), torch.tensor(4)))
    for n in (1, 2, 8):
        close(shaping(torch.arange(48.0), torch.tensor(n)), shaped(torch.arange(48.0), torch.tensor(n)))
    for n in (0, 5, -3):
        with pytest.raises(ExecutionError):
            shaping(torch.arange(48.0), torch.tensor(n))


def test_a_size_of_an_argument() -> None:
    def divided(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        return x * (12 // (y.shape[0] - 3))

    rows = torch.export.Dim("rows", min=0, max=9)
    dividing = hotdesk.compile(Call(divided), (X, torch.zeros(5)), dynamic_shapes=((None, {0: rows}),))
    close(dividing(X, torch.zeros(8)), divided(X, torch.zeros(8)))
    with pytest.raises(ShapeError):
        dividing(X, torch.zeros(3))


# Programs in MLIR, where it is undefined what such a division gives

QUOTIENT = """
func.func @main(%n: tensor<i64>, %x: tensor<12xf32>) -> tensor<12xf32> {{
  %v = tensor.extract %n[] : tensor<i64>
  %c = arith.constant 12 : i64
  {quotient}
  %f = arith.sitofp %q : i64 to f32
  %e = tensor.splat %f : tensor<12xf32>
  %r = linalg.add ins(%e, %x : tensor<12xf32>, tensor<12xf32>) outs(%e : tensor<12xf32>) -> tensor<12xf32>
  return %r : tensor<12xf32>
}}
"""
QUOTIENTS = {
    **{
        name: f"%q = arith.{name} %c, %v : i64"
        for name in ("divsi", "divui", "floordivsi", "ceildivsi", "remsi", "remui")
    },
    "divs": "%i = arith.index_cast %v : i64 to index  %d = arith.index_cast %c : i64 to index  %p = index.divs %d, %i"
    "  %q = arith.index_cast %p : index to i64",
    "narrow": "%i = arith.trunci %v : i64 to i8  %d = arith.trunci %c : i64 to i8  %p = arith.divsi %d, %i : i8"
    "  %q = arith.extsi %p : i8 to i64",
    "vector": "%i = vector.broadcast %v : i64 to vector<2x4xi64>  %d = vector.broadcast %c : i64 to vector<2x4xi64>"
    "  %p = arith.remsi %d, %i : vector<2x4xi64>  %q = vector.extract %p[1, 2] : i64 from vector<2x4xi64>",
    "in a loop": "%z = arith.constant 0 : index  %one = arith.constant 1 : index  %end = arith.constant 3 : index"
    "  %q = scf.for %i = %z to %end step %one iter_args(%s = %c) -> i64 { %p = arith.divsi %s, %v : i64  scf.yield %p : i64 }",
}


@pytest.mark.parametrize("name", QUOTIENTS)
def test_a_division_in_mlir(name: str) -> None:
    program = hotdesk.compile(QUOTIENT.format(quotient=QUOTIENTS[name].replace("  %", "\n  %")))
    x = np.zeros(12, np.float32)
    program(np.array(5), x)
    with pytest.raises(ExecutionError, match="no division of an integer by zero") as caught:
        program(np.array(0), x)
    well_formed(caught.value)


def test_a_division_by_an_index_of_the_caller() -> None:
    program = hotdesk.compile("""
        func.func @main(%n: index, %x: memref<12xf32>) {
          %c = arith.constant 12 : index
          %q = arith.divui %c, %n : index
          %one = arith.constant 1.0 : f32
          memref.store %one, %x[%q] : memref<12xf32>
          return
        }""")
    x = np.zeros(12, np.float32)
    program(4, x)
    assert x[3] == 1
    with pytest.raises(ShapeError, match="no division of an integer by zero"):
        program(0, x)
