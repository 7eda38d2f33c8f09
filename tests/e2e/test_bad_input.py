"""What Hotdesk refuses, and how: a class, a code, what was expected and what came, and the Python line where there is one."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable
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
    DataDependentShapeError,
    DeviceError,
    DtypeError,
    ExecutionError,
    ExportError,
    FrontendError,
    HotdeskError,
    LayoutError,
    OptionError,
    OutputOverlapError,
    RankError,
    ShapeError,
    UnsupportedMutationError,
    UnsupportedOpError,
)
from tests.e2e.checking import Call, close, integers, random, seeded


def _well_formed(error: HotdeskError) -> None:
    assert re.fullmatch(r"HD\d{3}", error.code)
    assert str(error).endswith(f"[{error.code}]")
    assert error.what
    assert error.expected is not None or error.got is not None


def _line_of(function: Callable[..., Any]) -> str:
    """`file:line` of the line of `function` marked with `# here`."""
    lines, first = inspect.getsourcelines(function)
    return f"{__file__}:{first + next(i for i, line in enumerate(lines) if '# here' in line)}"


# Compiling


class Svd(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y = x + 1
        return torch.linalg.svd(y).S  # here


class Fourier(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.fft.fft(x).real  # here


class Inverse(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.linalg.inv(x)  # here


class Complex(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.view_as_real(torch.complex(x, x) * 2)  # here


class Random(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x + torch.rand(4, 4)  # here


class Branches(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.cond(x.sum() > 0, lambda y: y + 1, lambda y: y - 1, (x,))


class Nonzero(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x.nonzero()  # here


class Selected(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x[x > 0]  # here


class Length(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.zeros(int(x.sum())) + 1  # here


class Branch(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        if x.sum() > 0:  # here
            return x + 1
        return x - 1


class Item(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x[: x.argmax().item()]  # here


class Raises(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        raise ValueError("this model has no forward")  # here


class Mismatch(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x @ torch.ones(7, 2)  # here


class Overwrites(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x.add_(1)  # here
        return x * 2


@pytest.mark.parametrize(
    ("model", "error"),
    [
        (Svd, UnsupportedOpError),
        (Fourier, UnsupportedOpError),
        (Inverse, UnsupportedOpError),
        (Complex, UnsupportedOpError),
        (Random, UnsupportedOpError),
        (Nonzero, DataDependentShapeError),
        (Selected, DataDependentShapeError),
        (Length, DataDependentShapeError),
        (Branch, DataDependentShapeError),
        (Item, DataDependentShapeError),
        (Raises, ExportError),
        (Mismatch, ExportError),
        (Overwrites, UnsupportedMutationError),
    ],
    ids=lambda value: getattr(value, "__name__", None),
)
def test_models_that_do_not_compile(model: type[nn.Module], error: type[HotdeskError]) -> None:
    with pytest.raises(error) as caught:
        hotdesk.compile(model(), (random(4, 4),))
    _well_formed(caught.value)
    assert isinstance(caught.value, FrontendError)
    assert caught.value.where == _line_of(model.forward)


def test_control_flow_with_subgraphs() -> None:
    with pytest.raises(UnsupportedOpError, match="cond") as caught:
        hotdesk.compile(Branches(), (random(4, 4),))
    _well_formed(caught.value)


def test_an_unsupported_op_is_named() -> None:
    with pytest.raises(UnsupportedOpError, match=r"aten\._linalg_svd"):
        hotdesk.compile(Svd(), (random(4, 4),))


def test_training_mode_batch_norm() -> None:
    model = nn.Sequential(nn.Conv2d(3, 4, 1), nn.BatchNorm2d(4)).train()
    with pytest.raises(UnsupportedMutationError, match=r"1\.(num_batches|running).*model\.eval") as caught:
        hotdesk.compile(model, (random(2, 3, 4, 4),))
    _well_formed(caught.value)


class Counting(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("calls", torch.zeros(1))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        self.calls.add_(1)  # here
        return x * self.calls


def test_a_buffer_that_changes() -> None:
    with pytest.raises(UnsupportedMutationError, match="calls") as caught:
        hotdesk.compile(Counting(), (random(3),))
    assert caught.value.where == _line_of(Counting.forward)


@pytest.mark.parametrize("dtype", [torch.complex64, torch.float8_e4m3fn, torch.uint16], ids=str)
def test_element_types_without_a_lowering(dtype: torch.dtype) -> None:
    with pytest.raises(UnsupportedOpError, match=str(dtype)) as caught:
        hotdesk.compile(Call(lambda x: x.view(2, 2)), (torch.zeros(4).to(dtype),))
    _well_formed(caught.value)


def test_weights_on_another_device() -> None:
    with pytest.raises(HotdeskError) as caught:
        hotdesk.compile(nn.Linear(3, 2, device="meta"), (random(2, 3),))
    _well_formed(caught.value)


def test_weights_on_the_meta_device() -> None:
    with pytest.raises(DeviceError, match=r"weight.*meta") as caught:
        hotdesk.compile(nn.Linear(3, 2, device="meta"), (torch.zeros(2, 3, device="meta"),))
    _well_formed(caught.value)


def test_numbers_that_vary() -> None:
    model = Scaled()
    with pytest.raises(UnsupportedOpError, match="`n`") as caught:
        hotdesk.compile(model, (random(3), 4), dynamic_shapes={"x": None, "n": Dim.DYNAMIC})
    _well_formed(caught.value)


class Scaled(nn.Module):
    def forward(self, x: torch.Tensor, n: Any = 2) -> torch.Tensor:
        return x * n


@pytest.mark.parametrize(
    "model", [None, "model.onnx", lambda x: x, nn.Linear], ids=["none", "text", "function", "class"]
)
def test_what_is_no_model(model: Any) -> None:
    with pytest.raises(ArgumentTypeError, match="argument 'model'") as caught:
        hotdesk.compile(model, (random(3),))
    _well_formed(caught.value)


def test_example_arguments_must_be_a_tuple() -> None:
    with pytest.raises(ArgumentTypeError, match=r"\(x,\)") as caught:
        hotdesk.compile(nn.ReLU(), random(3))  # pyright: ignore[reportArgumentType]
    _well_formed(caught.value)


@pytest.mark.parametrize("args", [(), (random(3), random(3))])
def test_another_number_of_example_arguments(args: tuple[Any, ...]) -> None:
    with pytest.raises(ExportError) as caught:
        hotdesk.compile(nn.ReLU(), args)
    _well_formed(caught.value)


def test_the_constraint_that_is_violated_is_told() -> None:
    with pytest.raises(ExportError, match=r"Not all values of n") as caught:
        hotdesk.compile(Call(lambda x: x[:-1] * 2), (random(4, 3),), dynamic_shapes=(({0: Dim("n", min=2)},),))
    _well_formed(caught.value)


def test_dynamic_shapes_that_do_not_fit() -> None:
    with pytest.raises(ExportError) as caught:
        hotdesk.compile(nn.ReLU(), (random(3),), dynamic_shapes={"y": {0: Dim("n")}})
    _well_formed(caught.value)
    with pytest.raises(ExportError) as caught:
        hotdesk.compile(Call(lambda x: x + torch.ones(3)), (random(3),), dynamic_shapes=(({0: Dim("n", min=2)},),))
    _well_formed(caught.value)


# Calling


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
    _well_formed(caught.value)
    assert isinstance(caught.value, CallError)
    assert expected in (caught.value.expected or "")
    assert got in (caught.value.got or "")
    close(program(X, Y), _two(X, Y))


def test_unknown_keyword(program: hotdesk.Program) -> None:
    with pytest.raises(CallError) as caught:
        program(X, Y, mask=Y)
    _well_formed(caught.value)


def test_arguments_nested_differently() -> None:
    nested = hotdesk.compile(Call(lambda pair, options: pair[0] + options["y"]), ((X, X), {"y": Y}))
    for args in (([X, X], {"y": Y}), ((X, X), {"z": Y}), ((X, (X,)), {"y": Y}), ((X,), {"y": Y}), (X, X, Y), (X, Y)):
        with pytest.raises(CallError) as caught:
            nested(*args)
        _well_formed(caught.value)
    close(nested((X, X), {"y": Y}), X + Y)


@pytest.mark.parametrize("value", [3, 2.0, True, None, "2", torch.tensor(2)], ids=repr)
def test_another_constant(value: Any) -> None:
    scaled = hotdesk.compile(Scaled(), (random(3), 2))
    close(scaled(Y, 2), Y * 2)
    with pytest.raises(ArgumentTypeError, match="fixed when the model was compiled") as caught:
        scaled(Y, value)
    _well_formed(caught.value)
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
        _well_formed(caught.value)
    assert ranged(random(8, 3)).shape == (8, 2)


def test_sizes_that_do_not_go_together() -> None:
    size = Dim("size", max=64)
    shapes = (({0: size}, {0: 2 * size}),)
    related = hotdesk.compile(
        Call(lambda x, y: torch.cat([x, x]) + y), (random(3, 2), random(6, 2)), dynamic_shapes=shapes
    )
    with pytest.raises(ShapeError) as caught:
        related(random(3, 2), random(7, 2))
    _well_formed(caught.value)
    close(related(random(5, 2), random(10, 2)), torch.cat([random(5, 2)] * 2) + random(10, 2))


# Memory for results


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
        _well_formed(caught.value)
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
        _well_formed(caught.value)
    assert not storage.any()


def test_out_that_overlaps_a_weight() -> None:
    model = seeded(lambda: nn.Linear(3, 3))
    linear = hotdesk.compile(model, (random(3, 3),))
    before = model.weight.clone()
    with pytest.raises(OutputOverlapError, match="weight 'weight'") as caught:
        linear(random(3, 3), out=model.weight)
    _well_formed(caught.value)
    close(model.weight, before, 0, 0)


# Running


class Lookup(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.table = nn.Embedding(10, 4)

    def forward(self, ids: torch.Tensor) -> torch.Tensor:
        return self.table(ids).tanh()  # here


def _gathered(x: torch.Tensor, index: torch.Tensor) -> torch.Tensor:
    return x.gather(0, index)


def _indexed(x: torch.Tensor, index: torch.Tensor) -> torch.Tensor:
    return x[index]


def _scattered(x: torch.Tensor, index: torch.Tensor) -> torch.Tensor:
    return x.scatter(0, index, 1.0)


@pytest.mark.parametrize("bad", [10, 11, 1 << 40, -1, -(1 << 62)])
def test_an_index_out_of_range(bad: int) -> None:
    model = seeded(Lookup)
    lookup = hotdesk.compile(model, (integers(10, 3),))
    ids = integers(10, 3)
    close(lookup(ids), model(ids))
    with pytest.raises(ExecutionError) as caught:
        lookup(torch.tensor([0, bad, 1]))
    _well_formed(caught.value)
    assert caught.value.where == _line_of(Lookup.forward)
    close(lookup(ids), model(ids))


@pytest.mark.parametrize("model", [_gathered, _indexed, _scattered])
def test_other_indices_out_of_range(model: Callable[..., torch.Tensor]) -> None:
    x, index = random(5), torch.tensor([0, 4, 2])
    indexing = hotdesk.compile(Call(model), (x, index))
    for bad in (5, 1 << 50, -6, -(1 << 50)):
        with pytest.raises(ExecutionError) as caught:
            indexing(x, torch.tensor([0, bad, 1]))
        _well_formed(caught.value)
    close(indexing(x, index), model(x, index))


# Looking


def test_stages_that_were_not_kept(program: hotdesk.Program) -> None:
    with pytest.raises(OptionError) as caught:
        program.ir("fuse")
    _well_formed(caught.value)
