"""Calls that do not fit a program: arguments, memory for results, questions; refused with what was expected and what came."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch import nn
from torch.export import Dim

import hotdesk
from hotdesk.errors import (
    ArgumentCountError,
    ArgumentTypeError,
    CallError,
    DeviceError,
    DtypeError,
    HotdeskError,
    LayoutError,
    OptionError,
    OutputOverlapError,
    RankError,
    ShapeError,
)
from tests.e2e.checking import Call, close, random, seeded
from tests.e2e.refusing import Scaled, well_formed


@pytest.fixture(scope="module")
def program() -> hotdesk.Program:
    """`f32[2, 3], f32[3]` to `f32[2, 3], f32[2]`."""
    return hotdesk.compile(Call(_two), (random(2, 3), random(3)))


def _two(x: torch.Tensor, y: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    return (x * y).tanh(), x @ y


X, Y = random(2, 3), random(3)


@pytest.mark.parametrize(
    ("args", "error", "expected", "got"),
    [
        ((), ArgumentCountError, "2", "0"),
        ((X,), ArgumentCountError, "2", "1"),
        ((X, Y, Y), ArgumentCountError, "2", "3"),
        ((X, 3.0), ArgumentTypeError, "a tensor", "float"),
        ((X, None), ArgumentTypeError, "torch.Tensor", "NoneType"),
        (([[1.0] * 3] * 2, Y), HotdeskError, "", ""),
        ((X.double(), Y), DtypeError, "f32", "f64"),
        ((X.half(), Y), DtypeError, "f32", "f16"),
        ((X, Y.numpy().astype(np.int64)), DtypeError, "f32", "i64"),
        ((X, Y[None]), RankError, "1 dimensions", "2"),
        ((X, Y.sum()), RankError, "1 dimensions", "0"),
        ((X[:1], Y), ShapeError, "2", "1"),
        ((X, Y[:2]), ShapeError, "3", "2"),
        ((X[:0], Y), ShapeError, "2", "0"),
        ((X.to("meta"), Y), DeviceError, "cpu", "meta"),
        ((X.to_sparse(), Y), LayoutError, "strided", "sparse"),
        ((X, Y.numpy().astype(">f4")), DtypeError, "byte order", "f4"),
    ],
)
def test_arguments_that_do_not_fit(
    program: hotdesk.Program, args: tuple[Any, ...], error: type[HotdeskError], expected: str, got: str
) -> None:
    with pytest.raises(error) as caught:
        program(*args)
    well_formed(caught.value)
    assert isinstance(caught.value, CallError)
    assert expected in (caught.value.expected or "")
    assert got in (caught.value.got or "")
    close(program(X, Y), _two(X, Y))


def test_unknown_keyword(program: hotdesk.Program) -> None:
    with pytest.raises(CallError) as caught:
        program(X, Y, mask=Y)
    well_formed(caught.value)


def test_arguments_nested_differently() -> None:
    nested = hotdesk.compile(Call(lambda pair, options: pair[0] + options["y"]), ((X, X), {"y": Y}))
    for args in (([X, X], {"y": Y}), ((X, X), {"z": Y}), ((X, (X,)), {"y": Y}), ((X,), {"y": Y}), (X, X, Y), (X, Y)):
        with pytest.raises(CallError) as caught:
            nested(*args)
        well_formed(caught.value)
    close(nested((X, X), {"y": Y}), X + Y)


@pytest.mark.parametrize("value", [3, 2.0, True, None, "2", torch.tensor(2)], ids=repr)
def test_another_constant(value: Any) -> None:
    scaled = hotdesk.compile(Scaled(), (random(3), 2))
    close(scaled(Y, 2), Y * 2)
    with pytest.raises(ArgumentTypeError, match="fixed when the model was compiled") as caught:
        scaled(Y, value)
    well_formed(caught.value)
    assert caught.value.expected == "2"


def test_a_constant_that_is_not_a_number() -> None:
    scaled = hotdesk.compile(Scaled(), (random(3), float("nan")))
    assert bool(scaled(Y, float("nan")).isnan().all())


def test_sizes_out_of_their_range() -> None:
    shapes = {"input": {0: Dim("rows", min=2, max=8)}}
    ranged = hotdesk.compile(seeded(lambda: nn.Linear(3, 2)), (random(4, 3),), dynamic_shapes=shapes)
    for rows in (0, 1, 9):
        with pytest.raises(ShapeError, match="2 <= .* <= 8") as caught:
            ranged(random(rows, 3))
        well_formed(caught.value)
    assert ranged(random(8, 3)).shape == (8, 2)


def test_sizes_that_do_not_go_together() -> None:
    size = Dim("size", max=64)
    shapes = (({0: size}, {0: 2 * size}),)
    related = hotdesk.compile(
        Call(lambda x, y: torch.cat([x, x]) + y), (random(3, 2), random(6, 2)), dynamic_shapes=shapes
    )
    with pytest.raises(ShapeError) as caught:
        related(random(3, 2), random(7, 2))
    well_formed(caught.value)
    close(related(random(5, 2), random(10, 2)), torch.cat([random(5, 2)] * 2) + random(10, 2))


def test_out_that_does_not_fit(program: hotdesk.Program) -> None:
    good, sums = torch.empty(2, 3), torch.empty(2)
    readonly = np.empty((2, 3), np.float32)
    readonly.flags.writeable = False
    cases: list[tuple[Any, type[HotdeskError]]] = [
        (good, ArgumentCountError),
        ((good,), ArgumentCountError),
        ((good, sums, sums), ArgumentCountError),
        ((good, None), ArgumentTypeError),
        ((good.double(), sums), DtypeError),
        ((torch.empty(3, 3), sums), ShapeError),
        ((torch.empty(6), sums), RankError),
        ((torch.empty(3, 2).t(), sums), LayoutError),
        ((torch.empty(2, 6)[:, ::2], sums), LayoutError),
        ((torch.empty(2, 1).expand(2, 3), sums), LayoutError),
        ((readonly, sums), LayoutError),
        ((torch.empty(2, 3, device="meta"), sums), DeviceError),
        ((torch.empty(2, 3, requires_grad=True), sums), ArgumentTypeError),
    ]
    for out, error in cases:
        with pytest.raises(error) as caught:
            program(X, Y, out=out)
        well_formed(caught.value)
    program(X, Y, out=(good, sums))
    close((good, sums), _two(X, Y))


def test_out_that_overlaps(program: hotdesk.Program) -> None:
    storage = torch.zeros(20)
    x, sums = storage[:6].view(2, 3), torch.empty(2)
    inside = storage[4:10].view(2, 3)
    for out in (
        (x, sums),
        (inside, sums),
        (torch.empty(2, 3), storage[2:4]),
        (storage[8:14].view(2, 3), storage[12:14]),
    ):
        with pytest.raises(OutputOverlapError) as caught:
            program(x, Y, out=out)
        well_formed(caught.value)
    assert not storage.any()


def test_out_that_overlaps_a_weight() -> None:
    model = seeded(lambda: nn.Linear(3, 3))
    linear = hotdesk.compile(model, (random(3, 3),))
    before = model.weight.clone()
    with pytest.raises(OutputOverlapError, match="weight 'weight'") as caught:
        linear(random(3, 3), out=model.weight)
    well_formed(caught.value)
    close(model.weight, before, 0, 0)


def test_stages_that_were_not_kept(program: hotdesk.Program) -> None:
    with pytest.raises(OptionError) as caught:
        program.ir("fuse")
    well_formed(caught.value)


WRONG: list[Any] = [None, 3, "x", [], {}, object(), 1.5, b"x", [None], {"a": 3}, print]
"""What none of the functions below takes, or some do."""
MLIR = "func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> { return %x : tensor<4xf32> }"
BUFFER = ("a", 0, 3, 16)
FUNCTIONS: dict[str, Any] = {
    "plan": lambda wrong: hotdesk.plan(wrong),
    "a strategy": lambda wrong: hotdesk.plan([BUFFER], strategy=wrong),
    "a time limit": lambda wrong: hotdesk.plan([BUFFER], time_limit=wrong),
    "a buffer": lambda wrong: hotdesk.plan([wrong]),
    "an id": lambda wrong: hotdesk.plan([(wrong, *BUFFER[1:])]),
    "load": lambda wrong: hotdesk.load(wrong),
    "many": lambda wrong: hotdesk.compile_many(wrong),
    "one of many": lambda wrong: hotdesk.compile_many({"f": wrong}),
    "options of many": lambda wrong: hotdesk.compile_many({}, options=wrong),
    "options": lambda wrong: hotdesk.compile(MLIR, options=wrong),
    "donated": lambda wrong: hotdesk.compile(MLIR, donate=wrong),
    "an entry": lambda wrong: hotdesk.compile(MLIR, entry=wrong),
    "budgets": lambda wrong: hotdesk.tradeoff(MLIR, budgets=wrong, seconds=0),
    "others": lambda wrong: hotdesk.tradeoff(MLIR, beside=wrong, seconds=0),
    "a limit": lambda wrong: hotdesk.tradeoff(MLIR, most=wrong, seconds=0),
    "a time": lambda wrong: hotdesk.tradeoff(MLIR, beside=(), seconds=wrong),
}
METHODS: dict[str, Any] = {
    "a difference": lambda program, wrong: program.diff(wrong),
    "an explanation": lambda program, wrong: program.explain(wrong),
    "a stage": lambda program, wrong: program.ir(wrong),
    "a kind of processor": lambda program, wrong: program.save("saved", cpu=wrong),
    "weights of a file": lambda program, wrong: program.save("saved", weights=wrong),
    "a file": lambda program, wrong: program.save(wrong),
    "a folder": lambda program, wrong: program.export_c(wrong),
    "a processor": lambda program, wrong: program.export_c("folder", target=wrong),
    "a name in C": lambda program, wrong: program.export_c("folder", name=wrong),
}


def _refuses(call: Any, wrong: Any) -> None:
    """What is accepted is fine; what is not is refused by an error that says what is expected, and what it got."""
    try:
        call(wrong)
    except (hotdesk.HotdeskError, ValueError) as error:
        told = str(error)
    else:
        return
    assert "expected" in told
    assert "got" in told


@pytest.mark.parametrize("name", FUNCTIONS)
def test_arguments_of_the_wrong_kind(name: str) -> None:
    for wrong in WRONG:
        _refuses(FUNCTIONS[name], wrong)


@pytest.mark.parametrize("name", METHODS)
def test_arguments_of_methods_of_the_wrong_kind(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    program = hotdesk.compile(MLIR)
    for wrong in WRONG:
        _refuses(partial(METHODS[name], program), wrong)
