"""PyTorch models with `cond`, `while_loop`, `scan`, `map` and `associative_scan`: compiled, planned, and run as eager does."""

# PyTorch is annotated in part only.
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false
# pyright: reportUnknownLambdaType=false, reportUnknownParameterType=false, reportMissingParameterType=false
# pyright: reportPrivateImportUsage=false

from __future__ import annotations

from collections.abc import Callable
from copy import deepcopy
from typing import Any

import pytest
import torch
from torch import nn
from torch._higher_order_ops import associative_scan, scan, while_loop
from torch._higher_order_ops.map import map as torch_map
from torch.export import Dim

import hotdesk
from hotdesk.errors import ExecutionError, ExportError, HotdeskError, UnsupportedOpError
from hotdesk.explain import Outcome
from hotdesk.sizes.size import evaluate
from tests.e2e.checking import check_memory, close, integers, random
from tests.e2e.refusing import line_of, well_formed

map_over: Any = torch_map  # annotated with an argument more than it takes
COUNTS = (0, 1, 2, 3, 10)
BATCH, LENGTH = Dim("batch"), Dim("length")


class Layers(nn.Module):
    """A function that is given two linear layers and a buffer."""

    def __init__(self, function: Callable[..., Any]) -> None:
        super().__init__()
        self.function = function
        self.a, self.b = nn.Linear(4, 4), nn.Linear(4, 4)
        self.register_buffer("cache", torch.zeros(6, 4))

    def forward(self, *args: Any) -> Any:
        return self.function(self, *args)


def layers(function: Callable[..., Any]) -> Layers:
    torch.manual_seed(0)
    return Layers(function).eval().requires_grad_(False)


def follow(function: Callable[..., Any], *calls: tuple[Any, ...], dynamic_shapes: Any = None) -> hotdesk.Program:
    """Compiles for the first call; all calls give what eager gives, also under the memory checker.

    No arena is above its bound where sizes are known.
    """
    model = layers(function)
    shapes = None if dynamic_shapes is None else (dynamic_shapes,)
    program = hotdesk.compile(model, calls[0], dynamic_shapes=shapes)
    for args in (*calls, calls[0]):
        given = deepcopy(args)
        with torch.no_grad():
            expected = model(*args)
        close(program(*args), expected)
        close(args, given, 0, 0)
        check_memory(program, expected, args)
        memory = program.memory(*args)
        assert dynamic_shapes is not None or memory.arena == memory.lower_bound
    return program


def counted(*arrays: torch.Tensor) -> list[tuple[Any, ...]]:
    return [(*arrays, torch.tensor(count)) for count in COUNTS]


X = random(3, 4)


# Branches


def test_branches_read_weights_of_their_own() -> None:
    def model(m, x):
        return torch.cond(x.sum() > 0, lambda x: nn.functional.gelu(m.a(x)), lambda x: m.b(x).view(-1) * 2, (x,))

    with pytest.raises(ExportError):  # branches that give different shapes
        hotdesk.compile(layers(model), (X,))

    def same(m, x):
        return torch.cond(x.sum() > 0, lambda x: nn.functional.gelu(m.a(x)), lambda x: m.b(m.a(x)) * 2, (x,)) + m.a(x)

    program = follow(same, (X.abs(),), (-X.abs(),))
    memory = program.memory(X)
    assert memory.arena == memory.lower_bound
    assert memory.copies == 0


def test_branches_of_sizes_that_vary() -> None:
    def model(m, x):
        return torch.cond(
            x.mean() > 0, lambda x: m.a(x) * x.shape[0], lambda x: x.view(-1, 2, 2).flatten(1).exp(), (x,)
        )

    calls = [(sign * random(rows, 4).abs(),) for rows in (3, 1, 9) for sign in (1, -1)]
    follow(model, *calls, dynamic_shapes=({0: BATCH},))


def test_a_branch_on_a_size() -> None:
    def model(m, x):
        return torch.cond(x.shape[0] > 4, lambda x: x.sin(), lambda x: x.cos(), (x,))

    follow(model, (X,), (random(4, 4),), (random(5, 4),), dynamic_shapes=({0: BATCH},))


def test_branches_read_a_size() -> None:
    def model(m, x):
        n = x.shape[0]
        return torch.cond(x.sum() > 0, lambda x: x * n, lambda x: x + torch.arange(n)[:, None], (x,))

    follow(model, (X,), (-X.abs(),), (random(6, 4),), (-random(7, 4).abs(),), dynamic_shapes=({0: BATCH},))


def test_a_predicate_is_an_argument() -> None:
    follow(
        lambda m, x, p: torch.cond(p, lambda x: x.sin(), lambda x: x.cos(), (x,)),
        (X, torch.tensor(True)),
        (X, torch.tensor(False)),
    )


def test_results_are_nested_as_in_python() -> None:
    def first(d):
        return {"a": d["x"] + 1, "b": (d["y"].sum(), d["x"].bool())}

    def second(d):
        return {"a": d["x"] - 1, "b": (d["y"].mean(), d["x"] > 0.5)}

    follow(lambda m, x: torch.cond(x.sum() > 0, first, second, ({"x": x, "y": x * x},)), (X.abs(),), (-X.abs(),))


def test_a_result_that_nobody_reads() -> None:
    def model(m, x):
        kept, _ = torch.cond(x.sum() > 0, lambda x: (x + 1, m.a(x)), lambda x: (x - 1, m.b(x)), (x,))
        return kept

    x = random(64, 4).abs()
    program = follow(model, (x,), (-x,))
    assert program.memory(x).arena < x.nbytes


# Loops that count


def test_a_loop_runs_as_often_as_it_is_told() -> None:
    def model(m, x, n):
        return while_loop(lambda i, x: i < n, lambda i, x: (i + 1, torch.tanh(m.a(x)) + x.mean()), (torch.tensor(0), x))

    program = follow(model, *counted(X))
    memory = program.memory(X, torch.tensor(2))
    assert memory.arena == memory.lower_bound
    assert memory.copies == 0


def test_a_loop_over_sizes_that_vary() -> None:
    def model(m, x, n):
        return while_loop(lambda i, x: i < n, lambda i, x: (i + 1, m.a(x) - x.sum(0)), (torch.tensor(0), x))[1]

    follow(model, *counted(X), *counted(random(7, 4)), dynamic_shapes=({0: BATCH}, None))


def test_a_loop_ends_when_its_values_say_so() -> None:
    def model(m, x):
        return while_loop(lambda x: x.sum() < 100, lambda x: (x * 1.5,), (x,))

    for dtype in (torch.float64, torch.float32):
        follow(model, (X.abs().to(dtype),), (X.abs().to(dtype) * 1000,))


@pytest.mark.parametrize("dtype", [torch.int64, torch.int32, torch.uint8, torch.bfloat16, torch.float16], ids=str)
def test_element_types(dtype: torch.dtype) -> None:
    def model(m, x, n):
        return while_loop(lambda i, x: i < n, lambda i, x: (i + 1, x * 3), (torch.tensor(0), x))

    follow(model, *counted(integers(9, 12).to(dtype)))


def test_values_that_change_places() -> None:
    def model(m, n):
        first = n, torch.tensor(0), torch.tensor(1)
        return while_loop(lambda n, a, b: n > 0, lambda n, a, b: (n - 1, b.clone(), a + b), first)

    follow(model, *counted())


def test_numbers_are_carried() -> None:
    """Python's integers: they count, index, multiply, and are returned."""

    def body(i, k, x, rows):
        return i + 1, k + 2 * i, x * 2 + k, torch.slice_scatter(rows, x.sum(0, keepdim=True) + x[i], 0, i, i + 1)

    def model(m, x):
        return while_loop(lambda i, k, x, rows: i < x.shape[0], body, (0, 7, x, torch.zeros(3, 4)))

    module = layers(model)
    program = hotdesk.compile(module, (X,))
    for seed in range(3):
        x = random(3, 4, seed=seed)
        close(program(x), module(x))
        assert program.check(x).clean
    for each in (program, hotdesk.compile(module, (X,))):  # the second one may be read from the disk
        i, k, *_ = each(X)
        assert (i, k) == (3, 13)
        assert type(i) is int


def test_an_operand_is_a_constant() -> None:
    class Scaled(nn.Module):
        def forward(self, x: torch.Tensor, n: int) -> Any:
            return while_loop(lambda i, x: i < n, lambda i, x: (i + 1, x * n), (0, x))

    program = hotdesk.compile(Scaled(), (X, 3))
    close(program(X, 3), (3, X * 27))


# Loops over rows


def recurrent(m, h, xs):
    def step(h, x):
        h = torch.tanh(m.a(h) + m.b(x))
        return h, h * 2

    return scan(step, h, xs, dim=0)


def test_a_recurrent_net() -> None:
    program = follow(recurrent, (random(2, 4), random(5, 2, 4)), (random(2, 4, seed=3), random(5, 2, 4, seed=4)))
    memory = program.memory()
    assert memory.arena == memory.lower_bound
    assert memory.copies == 0


def test_a_recurrent_net_of_any_length() -> None:
    calls = [(random(batch, 4), random(length, batch, 4)) for batch, length in ((2, 5), (3, 1), (1, 30))]
    program = follow(recurrent, *calls, dynamic_shapes=({0: BATCH}, {0: LENGTH, 1: BATCH}))
    short, long = (program.memory(random(2, 4), random(length, 2, 4)) for length in (5, 500))
    assert short.arena == long.arena


def test_scans_backwards_over_another_dim() -> None:
    def model(m, h, xs):
        return scan(lambda h, x: (h * 0.5 + x, (h + x, x.sum())), h, xs, dim=1, reverse=True)

    follow(model, (X, random(3, 5, 4)))


def test_scans_of_trees() -> None:
    def step(h, x):
        return {"a": h["a"] + x[0], "k": h["k"] + 1}, h["a"] * x[1]

    def model(m, h, xs):
        return scan(step, {"a": h, "k": torch.tensor(0)}, xs, dim=0)

    follow(model, (X, (random(5, 3, 4), random(5, 4))))


def test_only_the_end_of_a_scan_is_read() -> None:
    program = follow(lambda m, h, xs: recurrent(m, h, xs)[0], (random(2, 4), random(50, 2, 4)))
    assert program.memory().arena < 50 * 2 * 4 * 4


def test_maps() -> None:
    def model(m, xs):
        return map_over(lambda x, w: (x @ w).softmax(-1), xs, m.a.weight)

    follow(model, (random(5, 3, 4),), (random(1, 3, 4),), (random(8, 2, 4),), dynamic_shapes=({0: LENGTH, 1: BATCH},))


def test_maps_of_several_tensors() -> None:
    def model(m, a, b):
        return map_over(lambda ab: (m.a(ab[0]), ab[1].sum()), (a, b))

    follow(model, (random(5, 3, 4), random(5, 2)))


@pytest.mark.parametrize("rows", [1, 2, 3, 17])
def test_associative_scans(rows: int) -> None:
    def model(m, x):
        return associative_scan(lambda a, b: a * b + a, x, dim=0, combine_mode="generic")

    follow(model, (random(rows, 4) * 0.1,))


# One in another


def test_a_branch_in_a_loop() -> None:
    def model(m, x, n):
        def body(i, x):
            return i + 1, torch.cond(x.sum() > 0, lambda x: m.a(x) - 1, lambda x: x.exp(), (x,))

        return while_loop(lambda i, x: i < n, body, (torch.tensor(0), x))

    follow(model, *counted(X), *counted(random(6, 4)), dynamic_shapes=({0: BATCH}, None))


def test_a_loop_in_a_branch() -> None:
    def model(m, x, n):
        def first(x, n):
            return while_loop(lambda n, x: n > 0, lambda n, x: (n - 1, m.a(x)), (n, x))[1]

        return torch.cond(x.sum() > 0, first, lambda x, n: x * n, (x, n))

    follow(model, *counted(X.abs()), *counted(-X.abs()))


def test_a_loop_in_a_loop() -> None:
    def model(m, x, n):
        def inner(i, x):
            return scan(lambda h, row: (m.a(h) + row, h * row), x[0] * 1, x, dim=0)[1]

        return while_loop(lambda i, x: i < n, lambda i, x: (i + 1, inner(i, x)), (torch.tensor(0), x))

    follow(model, *counted(X))


def test_maps_in_maps() -> None:
    def model(m, x):
        def row(r):
            return torch.cond(r.sum() > 0, lambda e: m.a(e) * 2, lambda e: e + 1, (r,))

        return map_over(lambda rows: map_over(row, rows), x)

    follow(model, (random(5, 3, 4),), (random(2, 3, 4),), dynamic_shapes=({0: LENGTH},))


# Ops that are called


def test_calls_in_branches_and_loops() -> None:
    def model(m, x, n):
        def body(i, x):
            return i + 1, torch.cond(x.sum() > 0, lambda x: torch.linalg.matrix_exp(x * 0.1), lambda x: x @ x, (x,))

        _, x = while_loop(lambda i, x: i < n, body, (torch.tensor(0), x))
        return torch.linalg.svdvals(x), torch.fft.rfft(x).abs()

    square = random(4, 4) * 0.5
    program = follow(model, *counted(square), *counted(-square.abs()))
    assert program.foreign["aten.linalg_matrix_exp"] == 1
    assert program.memory(square, torch.tensor(2)).copies == 0


def test_calls_on_sizes_that_vary() -> None:
    def model(m, x, n):
        return while_loop(
            lambda i, x: i < n, lambda i, x: (i + 1, torch.linalg.qr(x)[0].contiguous()), (torch.tensor(0), x)
        )[1]

    follow(model, *counted(random(5, 4)), *counted(random(9, 4)), dynamic_shapes=({0: Dim("rows", min=4)}, None))


def test_complex_numbers_are_carried() -> None:
    def model(m, x, n):
        return while_loop(lambda i, x: i < n, lambda i, x: (i + 1, x * x.conj() + x), (torch.tensor(0), x))[1]

    module = layers(model)
    for z in (torch.complex(X, X + 1), torch.complex(X, -X)):
        program = hotdesk.compile(module, (z, torch.tensor(1)))
        for count in COUNTS[:4]:
            close(program(z, torch.tensor(count)), module(z, torch.tensor(count)))


def test_a_call_that_fails_ends_the_loop() -> None:
    """Here nothing else would."""

    def body(x):
        return torch.linalg.eigh(x)[1].contiguous() * 0 + torch.ones(3, 3) / 3

    def ended(m, x):
        return while_loop(lambda x: ~((x.sum() - 3).abs() < 0.1), lambda x: (body(x),), (x,))

    program = hotdesk.compile(layers(ended), (torch.eye(3) * 5,))
    with pytest.raises(ExecutionError, match="eigh"):
        program(torch.full((3, 3), torch.nan))
    close(program(torch.eye(3) * 5), (torch.ones(3, 3) / 3,))


# Memory


def cached(m, x, n):
    """Writes a row of the cache in each step and attends to all of them."""

    def body(i, x, cache):
        cache = torch.index_copy(cache, 0, i.reshape(1), m.a(x))
        return i + 1, torch.softmax(x @ cache.T, -1) @ cache, cache

    _, x, cache = while_loop(lambda i, x, cache: i < n, body, (torch.tensor(0), x, m.cache))
    m.cache.copy_(cache)
    return x


@pytest.mark.parametrize("rows", [6, 60])
def test_a_loop_over_a_cache_copies_nothing(rows: int) -> None:
    model = layers(cached)
    model.cache = torch.zeros(rows, 4)
    eager = deepcopy(model)
    program = hotdesk.compile(model, (random(1, 4), torch.tensor(1)))
    where = model.cache.data_ptr()
    for count in (3, 0, 6, 1):
        args = random(1, 4, seed=count), torch.tensor(count)
        close(program(*args), eager(*args))
        close(model.cache, eager.cache)
    assert model.cache.data_ptr() == where
    memory = program.memory()
    assert (memory.copies, memory.state) == (0, rows * 16)
    copies = [evaluate(each.bytes, {}) for each in program.decisions() if each.outcome is Outcome.COPIED]
    assert max(copies, default=0) <= 16  # a row
    assert memory.arena == memory.lower_bound
    assert memory.arena < 400 + 2 * 4 * rows  # scores and their softmax


def test_a_loop_that_runs_long_takes_no_more() -> None:
    def model(m, x, n):
        return while_loop(lambda i, x: i < n, lambda i, x: (i + 1, torch.tanh(m.a(x))), (torch.tensor(0), x))[1]

    program = hotdesk.compile(layers(model), (X, torch.tensor(1)))
    once = program.memory(X, torch.tensor(1)).arena
    assert program.memory(X, torch.tensor(100_000)).arena == once
    args = X, torch.tensor(2_000)
    close(program(*args), program(*args), 0, 0)
    close(program(*args), layers(model)(*args))


# Programs that are kept, and torch.compile


def test_branches_are_told_apart_when_programs_are_kept(tmp_path, monkeypatch) -> None:
    monkeypatch.setenv("HOTDESK_CACHE_DIR", str(tmp_path))

    def one(m, x):
        return torch.cond(x.sum() > 0, lambda x: x + 1, lambda x: x - 1, (x,))

    def other(m, x):
        return torch.cond(x.sum() > 0, lambda x: x + 1, lambda x: x - 2, (x,))

    for function in (one, other, one):
        follow(function, (X.abs(),), (-X.abs(),))


@pytest.mark.parametrize("dynamic", [False, True])
def test_torch_compile(dynamic: bool) -> None:
    def counts(m, x, n):
        body = lambda i, x: (i + 1, torch.cond(x.sum() > 0, lambda x: m.a(x), lambda x: m.b(x), (x,)))  # noqa: E731
        return while_loop(lambda i, x: i < n, body, (torch.tensor(0), x))

    for function, args in ((recurrent, (random(2, 4), random(5, 2, 4))), (counts, (X, torch.tensor(4)))):
        torch.compiler.reset()
        before = hotdesk.dynamo_report()
        module = layers(function)
        compiled = torch.compile(module, backend="hotdesk", fullgraph=True, dynamic=dynamic)
        close(compiled(*args), module(*args))
        after = hotdesk.dynamo_report()
        assert len(after.graphs) - len(before.graphs) == 1
        assert len(after.fallbacks) == len(before.fallbacks)


# What is refused


class Draws(nn.Module):
    def forward(self, x: torch.Tensor) -> Any:
        return while_loop(lambda x: x.sum() < torch.rand(()), lambda x: (x + 1,), (x,))  # here


class PassesOn(nn.Module):
    def forward(self, x: torch.Tensor) -> Any:
        return torch.cond(x.sum() > 0, lambda x: x, lambda x: x * 2, (x,))  # here


class Decomposes(nn.Module):
    def forward(self, x: torch.Tensor) -> Any:
        def row(x: torch.Tensor) -> torch.Tensor:
            return torch.linalg.svdvals(x)  # here

        return map_over(row, x[None])


@pytest.mark.parametrize(
    ("model", "error"),
    [
        (Draws, UnsupportedOpError),
        (PassesOn, ExportError),
        (Decomposes, UnsupportedOpError),
    ],
    ids=lambda value: getattr(value, "__name__", None),
)
def test_what_is_refused(model: type[nn.Module], error: type[HotdeskError]) -> None:
    with pytest.raises(error) as caught:
        hotdesk.compile(model(), (X,), options=hotdesk.Options(foreign=False))
    well_formed(caught.value)
    assert caught.value.where == line_of(model.forward)


def test_convolutions_in_and_behind_a_loop() -> None:
    """They have scratch memory as elsewhere: what a loop leaves behind was no memory that they could ask for it by."""

    class Repeated(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.again = nn.Conv2d(8, 8, 3, padding=1)
            self.last = nn.Conv2d(8, 8, 3, padding=1)

        def forward(self, x: torch.Tensor, count: torch.Tensor) -> torch.Tensor:
            _, x = while_loop(
                lambda i, x: i < count, lambda i, x: (i + 1, torch.relu(self.again(x))), (torch.tensor(0), x)
            )
            return self.last(x)

    torch.manual_seed(0)
    model, x = Repeated().eval().requires_grad_(False), torch.randn(1, 8, 16, 16)
    program = hotdesk.compile(model, (x, torch.tensor(3)))
    for count in (0, 1, 4):
        torch.testing.assert_close(program(x, torch.tensor(count)), model(x, torch.tensor(count)))
