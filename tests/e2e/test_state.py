"""Models that change their buffers or arguments: new contents lie where eager puts them, and what is refused changes nothing."""

from __future__ import annotations

import copy
import random as randoms
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest
import torch
from torch import nn
from torch.nn import functional as F
from torch.utils import _pytree as pytree

import hotdesk
from hotdesk.errors import (
    ArgumentTypeError,
    DonatedOverlapError,
    ExecutionError,
    LayoutError,
    OutputOverlapError,
    ShapeError,
    UnsupportedMutationError,
)
from hotdesk.explain import Outcome, Reason
from hotdesk.sizes.size import evaluate
from tests.e2e.checking import random


class Stateful(nn.Module):
    """Calls a function with itself, with buffers of these names."""

    def __init__(self, function: Callable[..., Any], **buffers: torch.Tensor) -> None:
        super().__init__()
        self._function = function
        for name, tensor in buffers.items():
            self.register_buffer(name, tensor)

    def forward(self, *args: torch.Tensor) -> Any:
        return self._function(self, *args)


def follows(model: nn.Module, calls: Sequence[tuple[torch.Tensor, ...]], **options: Any) -> hotdesk.Program:
    """The program of a model, which did at each call what eager does: results, state, arguments, and under the checker."""
    eager = copy.deepcopy(model)
    program = hotdesk.compile(model, tuple(each.clone() for each in calls[0]), **options)
    for args in calls:
        ours, theirs = [each.clone() for each in args], [each.clone() for each in args]
        found = program.check(*ours)
        assert not found.faults
        with torch.no_grad():
            wanted = eager(*theirs)
        results = program(*ours)
        torch.testing.assert_close(results, wanted)
        tensors = [each for each in pytree.tree_leaves(results) if each is not None]
        for checked, result in zip(found.results, tensors, strict=False):  # behind the results is new state
            torch.testing.assert_close(torch.as_tensor(checked.values), result)
        torch.testing.assert_close(ours, theirs)
        torch.testing.assert_close(model.state_dict(), eager.state_dict())
    return program


def copied(program: hotdesk.Program, *args: torch.Tensor, least: int = 0) -> list[Reason]:
    """Why something of so many bytes at least is copied."""
    found = [each for each in program.decisions(*args) if each.outcome is Outcome.COPIED]
    return [each.reason for each in found if evaluate(each.bytes, {}) >= least]


# Buffers


def _counts(self: Any, x: torch.Tensor) -> torch.Tensor:
    self.calls += 1
    return x * self.calls


def _writes_rows(self: Any, x: torch.Tensor, i: torch.Tensor) -> torch.Tensor:
    self.rows.index_copy_(0, i, x)
    return self.rows.sum(0)


def _puts(self: Any, x: torch.Tensor, i: torch.Tensor) -> torch.Tensor:
    self.rows.index_put_((i,), x, accumulate=True)
    return x + 1


def _assigns(self: Any, x: torch.Tensor) -> torch.Tensor:
    self.rows[2:4] = x
    self.rows[5, 1:] = x[0, 1:]
    return self.rows * 2


def _fills(self: Any, x: torch.Tensor) -> torch.Tensor:
    self.rows.fill_(3).mul_(x[0, 0])
    return x


def _twice(self: Any, x: torch.Tensor) -> torch.Tensor:
    self.calls += 1
    y = x * self.calls
    self.calls *= 2
    return y + self.calls


def _of_slices(self: Any, x: torch.Tensor) -> torch.Tensor:
    self.rows.copy_(torch.slice_scatter(self.rows, x, 0, 1, 3))
    return x.sum()


ROWS = torch.arange(24.0).reshape(6, 4)
TWO_ROWS = [(random(2, 4, seed=seed),) for seed in range(3)]
AT = [(x, torch.tensor([seed, 5])) for seed, (x,) in enumerate(TWO_ROWS)]


@pytest.mark.parametrize(
    ("function", "calls"),
    [(_writes_rows, AT), (_puts, AT), (_assigns, TWO_ROWS), (_of_slices, TWO_ROWS)],
    ids=lambda value: getattr(value, "__name__", None),
)
def test_buffers_are_written_where_they_lie(function: Any, calls: Any) -> None:
    model = Stateful(function, rows=ROWS.clone())
    address = model.get_buffer("rows").data_ptr()
    program = follows(model, calls)
    assert not copied(program, *calls[0], least=ROWS.nbytes)
    assert model.get_buffer("rows").data_ptr() == address
    memory = program.memory(*calls[0])
    assert (memory.state, memory.weights) == (ROWS.nbytes, 0)


def test_a_buffer_that_is_filled() -> None:
    follows(Stateful(_fills, rows=ROWS.clone()), TWO_ROWS)


@pytest.mark.parametrize("function", [_counts, _twice])
@pytest.mark.parametrize("start", [torch.ones(1), torch.tensor(3), torch.tensor(2.0)], ids=str)
def test_counters(function: Any, start: torch.Tensor) -> None:
    program = follows(Stateful(function, calls=start.clone()), [(random(3, seed=seed),) for seed in range(3)])
    assert function is _twice or not copied(program, random(3))
    assert f"state {start.nbytes} bytes" in program.report(random(3))


def test_batch_norm_in_training() -> None:
    model = nn.Sequential(nn.Conv2d(3, 4, 1), nn.BatchNorm2d(4), nn.ReLU()).train()
    program = follows(model, [(random(2, 3, 4, 4, seed=seed),) for seed in range(3)])
    assert program.memory().state == 4 * 4 * 2 + 8
    assert not copied(program)


def _copies(self: Any, x: torch.Tensor) -> torch.Tensor:
    self.rows.copy_(1.7 * x.double() + self.rows[0])
    return self.rows + x


@pytest.mark.parametrize("dtype", [torch.float32, torch.float16, torch.int64, torch.bool])
def test_what_is_copied_takes_the_type_and_sizes_of_the_buffer(dtype: torch.dtype) -> None:
    """torch.export drops both: later reads of the buffer, in the same call too, gave the float64 numbers of one row."""
    follows(Stateful(_copies, rows=ROWS.to(dtype)), [(random(4, seed=seed),) for seed in range(3)])


@pytest.mark.parametrize("dropout", [F.dropout, F.alpha_dropout, F.dropout1d, F.feature_alpha_dropout])
def test_dropout_that_drops_nothing_is_its_argument(dropout: Any) -> None:
    """What is changed in place behind it is the argument; PyTorch's functionalization takes it for a copy."""

    def model(x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        before = x + 1
        after = dropout(before, 0.5, training=False)
        after.mul_(2)
        return before * 1, dropout(after, 0.5, training=False)

    x = random(2, 3, 4)
    for found, expected in zip(hotdesk.compile(model, (x,))(x), model(x), strict=True):
        assert torch.equal(found, expected)


def test_nothing_that_changes_is_prepared() -> None:
    def function(self: Any, x: torch.Tensor) -> torch.Tensor:
        y = x * torch.exp(self.scale * self.weight).sum()
        self.scale += 1
        return y

    model = Stateful(function, scale=random(4), weight=random(4, seed=1))
    program = follows(model, [(random(3, seed=seed),) for seed in range(3)])
    assert not [each for each in program.decisions() if each.outcome is Outcome.PREPARED]


def test_buffers_that_are_not_in_the_state_dict() -> None:
    model = Stateful(_counts)
    model.register_buffer("calls", torch.ones(1), persistent=False)
    program = hotdesk.compile(model, (random(3),))
    program(random(3))
    program(random(3))
    assert model.get_buffer("calls").item() == 3


def test_parameters() -> None:
    def function(self: Any, x: torch.Tensor) -> torch.Tensor:
        with torch.no_grad():
            self.weight.mul_(0.5)
        return x * self.weight

    model = Stateful(function)
    model.weight = nn.Parameter(random(3))
    follows(model, [(random(3, seed=seed),) for seed in range(3)])


def test_a_buffer_in_another_order() -> None:
    follows(Stateful(_assigns, rows=torch.arange(24.0).reshape(4, 6).t()), TWO_ROWS)
    square = Stateful(lambda self, x: (self.a.copy_(x @ self.a), x)[1], a=random(4, 4).t())
    follows(square, [(random(4, 4, seed=seed),) for seed in range(3)])


# Old contents that are still wanted, and contents that change places


def test_the_buffer_as_it_was_and_as_it_is() -> None:
    def function(self: Any, x: torch.Tensor) -> tuple[torch.Tensor, ...]:
        before = self.rows.clone()
        self.rows[0:2] += x
        return before, self.rows, self.rows - before

    program = follows(Stateful(function, rows=ROWS.clone()), TWO_ROWS)
    assert len(copied(program)) >= 2


def test_results_stay_as_they_are() -> None:
    model = Stateful(lambda self, x: self.rows.add_(x[0]), rows=torch.zeros(4))
    program = hotdesk.compile(model, TWO_ROWS[0])
    first = program(*TWO_ROWS[0])
    kept = first.clone()
    program(*TWO_ROWS[1])
    assert torch.equal(first, kept)


@pytest.mark.parametrize(
    "seed", [0, 1, 2, *range(4, 12)]
)  # with 3, PyTorch's own decompositions fail: one value for two buffers
def test_buffers_that_change_places(seed: int) -> None:
    """Each of five buffers gets the contents of one of them, some of them computed with."""
    draw = randoms.Random(seed)
    names = "abcde"
    sources = [draw.choice(names) for _ in names] if seed % 2 else draw.sample(names, len(names))
    steps = [draw.choice(["as it is", "negated", "added", "reversed"]) for _ in names]
    returned = draw.choice(names)

    def function(self: Any, x: torch.Tensor) -> Any:
        old = {name: getattr(self, name).clone() for name in names}
        for name, source, step in zip(names, sources, steps, strict=True):
            made = old[source]
            made = -made if step == "negated" else made + x if step == "added" else made
            getattr(self, name).copy_(made.flip(0) if step == "reversed" else made)
        return old[returned] if seed % 3 else old[returned] * 2

    buffers = {name: random(6, 5, seed=number) for number, name in enumerate(names)}
    follows(Stateful(function, **buffers), [(random(6, 5, seed=seed + 9),) for seed in range(3)])


def test_a_cycle_takes_one_copy_more() -> None:
    def swap(self: Any, x: torch.Tensor) -> torch.Tensor:
        a = self.a.clone()
        self.a.copy_(self.b)
        self.b.copy_(a)
        return x + 1

    model = Stateful(swap, a=random(256), b=random(256, seed=1))
    program = follows(model, [(random(3),)] * 3)
    assert copied(program) == [Reason.LIES_ELSEWHERE] * 2
    assert program.memory().arena == 1024


def _history(self: Any, x: torch.Tensor) -> None:
    self.b.copy_(self.a)
    self.a.copy_(x[:, None] * x[:16])


def _older_history(self: Any, x: torch.Tensor) -> None:
    self.c.copy_(self.b)
    self.b.copy_(self.a)
    self.a.add_(x[:, None])


def _returns_old(self: Any, x: torch.Tensor) -> torch.Tensor:
    old = self.a.clone()
    self.a.add_(x[:, None])
    return old


def _returns_old_rows(self: Any, x: torch.Tensor) -> torch.Tensor:
    old = self.a[2:18].clone()
    self.a.mul_(x[:, None])
    return old


def _returns_between(self: Any, x: torch.Tensor) -> torch.Tensor:
    between = self.a.add_(x[:, None]).clone()
    self.a.mul_(2)
    return between


def _computes_product(self: Any, x: torch.Tensor) -> None:
    self.a.copy_(x[:, None] @ x[None, :16])


def _transposes(self: Any, x: torch.Tensor) -> None:
    self.a.copy_((x[:16, None] * x).t())


def _changes_chained_views(self: Any, x: torch.Tensor) -> torch.Tensor:
    self.a.view(8, 8, 16)[1:3].view(-1, 16)[2:5].mul_(2)
    return self.a.sum(1) + x


def _changes_transposed_rows(self: Any, x: torch.Tensor) -> torch.Tensor:
    self.a.t()[2:5].mul_(x)
    self.a.T[0] = x
    return self.a.T[1] + x


_A = 64 * 16 * 4


@pytest.mark.parametrize(
    ("function", "least"),
    [
        (_history, _A),
        (_older_history, 2 * _A),
        (_returns_old, _A),
        (_returns_old_rows, _A // 4),
        (_returns_between, 0),
        (_computes_product, 0),
        (_transposes, 0),
        (_changes_chained_views, 0),
        (_changes_transposed_rows, _A // 16),
    ],
)
def test_what_is_copied_is_what_has_to_be(function: Any, least: int) -> None:
    """Old contents that are wanted are copied once; new ones are computed where they belong."""
    model = Stateful(function, **{name: random(64, 16, seed=number) for number, name in enumerate("abc")})
    program = follows(model, [(random(64, seed=seed),) for seed in range(3)])
    found = [each for each in program.decisions() if each.outcome is Outcome.COPIED]
    assert sum(evaluate(each.bytes, {}) for each in found) == least
    assert program.memory().arena == 0


def test_a_matrix_that_is_transposed_in_place() -> None:
    model = Stateful(lambda self, x: (self.a.copy_(self.a.t().clone()), x)[1], a=random(5, 5))
    follows(model, [(random(3),)] * 3)


# Arguments


def _changes(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    x[1:].mul_(2)
    x.add_(y)
    return y * x


def _only_changes(_: Any, x: torch.Tensor, y: torch.Tensor) -> None:
    x.add_(y)


def test_arguments() -> None:
    calls = [(random(3, 4, seed=seed), random(4, seed=seed)) for seed in range(3)]
    program = follows(Stateful(lambda _, x, y: _changes(x, y)), calls)
    assert [each.changed for each in program.inputs] == [True, False]
    assert not copied(program)
    program = follows(Stateful(lambda _, x, y: (_changes(x, y), x)), calls)
    assert len(copied(program)) == 1
    assert not follows(Stateful(_only_changes), [(torch.ones(1), torch.ones(1))]).results


def test_sizes_that_vary() -> None:
    model = Stateful(lambda _, x, y: _changes(x, y))
    shapes = {"args": ({0: torch.export.Dim("n", min=3)}, None)}
    program = hotdesk.compile(model, (random(3, 4), random(4)), dynamic_shapes=shapes)
    for count in (4, 7, 3):
        ours, theirs, y = random(count, 4), random(count, 4), random(4, seed=count)
        torch.testing.assert_close(program(ours, y), _changes(theirs, y))
        torch.testing.assert_close(ours, theirs)


@pytest.mark.parametrize("donate", [False, True])
def test_arguments_with_gaps_are_copied_back(donate: bool) -> None:
    program = hotdesk.compile(Stateful(lambda _, x, y: _changes(x, y)), (random(3, 4), random(4)), donate=donate)
    for make in (lambda: random(4, 3).t(), lambda: random(3, 8)[:, ::2], lambda: random(13)[1:].view(3, 4)):
        ours, theirs = make(), make()
        torch.testing.assert_close(program(ours, random(4)), _changes(theirs, random(4)))
        torch.testing.assert_close(ours, theirs)
    assert program.memory(random(4, 3).t(), random(4)).copies == 48
    array, theirs = np.ones((3, 8), np.float32)[:, ::2], torch.ones(3, 4)
    result = program(array, np.ones(4, np.float32))
    np.testing.assert_array_equal(result, _changes(theirs, torch.ones(4)).numpy())
    np.testing.assert_array_equal(array, theirs.numpy())


def test_autograd_is_told() -> None:
    model = Stateful(_counts, calls=torch.ones(3))
    program = hotdesk.compile(model, (random(3),))
    weight = random(3).requires_grad_()
    product = (weight * model.get_buffer("calls")).sum()
    program(random(3))
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        product.backward()


# What is refused


def test_a_refused_call_changes_nothing() -> None:
    model = Stateful(_counts, calls=torch.ones(3))
    program = hotdesk.compile(model, (random(3),))
    with pytest.raises(ShapeError):
        program(random(4))
    with pytest.raises(OutputOverlapError, match="weight 'calls'"):
        program(random(3), out=model.get_buffer("calls"))
    with pytest.raises(DonatedOverlapError, match="'calls', which the program changes"):
        program(model.get_buffer("calls"))
    assert torch.equal(model.get_buffer("calls"), torch.ones(3))
    out = torch.empty(3)
    assert program(torch.ones(3), out=out) is out
    assert torch.equal(out, torch.full((3,), 2.0))


def test_arguments_that_cannot_be_changed() -> None:
    program = hotdesk.compile(Stateful(lambda _, x, y: _changes(x, y)), (random(3, 4), random(4)))
    x = random(3, 4)
    before = x.clone()
    with pytest.raises(DonatedOverlapError, match=r"changed argument 'args_0': .* shared with argument"):
        program(x, x[1])
    with pytest.raises(ArgumentTypeError, match="without requires_grad"):
        program(x.clone().requires_grad_(), x[1].clone())
    with pytest.raises(LayoutError, match="writable"):
        program(x[:1].expand(3, 4), x[1].clone())
    array = np.ones((3, 4), np.float32)
    array.flags.writeable = False
    with pytest.raises(LayoutError, match="writable"):
        program(array, np.ones(4, np.float32))
    assert torch.equal(x, before)


@pytest.mark.parametrize(
    ("make", "match"),
    [
        (lambda a: {"rows": a, "other": a}, "shared with `(rows|other)`"),
        (lambda a: {"rows": a[1:], "other": a[:2]}, "shared with `other`"),
        (lambda a: {"rows": a[:, ::2], "other": random(2)}, r"strides \(4, 2\) for sizes \(6, 2\)"),
    ],
    ids=["tied", "overlapping", "gaps"],
)
def test_state_without_memory_of_its_own(make: Any, match: str) -> None:
    def function(self: Any, x: torch.Tensor) -> torch.Tensor:
        self.rows.add_(1)
        return x * self.other.sum()

    model = Stateful(function, **make(random(6, 4)))
    with pytest.raises(UnsupportedMutationError, match=match) as caught:
        hotdesk.compile(model, (random(3),))
    assert "`rows`" in str(caught.value)


def test_a_check_that_fails_says_that_state_is_as_before() -> None:
    model = Stateful(_writes_rows, rows=ROWS.clone())
    program = hotdesk.compile(model, AT[0])
    with pytest.raises(ExecutionError, match="what it changes in place is as before it"):
        program(AT[0][0], torch.tensor([0, 6]))


# Threads, reports, other orders


@pytest.mark.parametrize("index", [[4], [-5], [1, 9], [9, 1]])
@pytest.mark.parametrize("write", ["index_copy_", "index_put_", "scatter_"])
def test_an_index_out_of_range_writes_nothing(write: str, index: list[int]) -> None:
    def function(self: Any, index: torch.Tensor, x: torch.Tensor) -> torch.Tensor:
        if write == "index_copy_":
            self.a.index_copy_(0, index, x)
        elif write == "index_put_":
            self.a.index_put_((index,), x)
        else:
            self.a.scatter_(0, index[:, None].expand(x.shape), x)
        self.b.copy_(x)
        return self.a + 1

    x = random(len(index), 3)
    model = Stateful(function, a=random(4, 3), b=torch.zeros_like(x))
    before = copy.deepcopy(dict(model.named_buffers()))
    program = hotdesk.compile(model, (torch.zeros(len(index), dtype=torch.int64), x))
    with pytest.raises(ExecutionError, match="expected every index in range"):
        program(torch.tensor(index), x)
    for name, buffer in model.named_buffers():
        torch.testing.assert_close(buffer, before[name], rtol=0, atol=0)
    assert torch.equal(program(torch.arange(len(index)), x), model.a + 1)


def test_calls_run_one_by_one() -> None:
    def function(self: Any, x: torch.Tensor) -> torch.Tensor:
        self.total.copy_((self.total @ x).clamp(max=1e9) * 0 + self.total + 1)
        return self.total.sum()

    model = Stateful(function, total=torch.zeros(48, 48))
    program = hotdesk.compile(model, (torch.eye(48),))
    with ThreadPoolExecutor(4) as pool:
        sums = list(pool.map(lambda _: float(program(torch.eye(48))), range(80)))
    assert sorted(sums) == [48.0 * 48 * (1 + number) for number in range(80)]


@pytest.mark.parametrize("options", [{"order": "peak"}, {"budget": "1 MiB"}], ids=str)
def test_other_orders(options: dict[str, Any]) -> None:
    follows(Stateful(_assigns, rows=ROWS.clone()), TWO_ROWS, **options)


def test_a_profile_is_of_calls_that_change_state() -> None:
    model = Stateful(_counts, calls=torch.zeros(1))
    program = hotdesk.compile(model, (random(3),))
    program.profile(random(3))
    assert model.get_buffer("calls").item() == 8


class SameName(nn.Module):
    """A buffer `k`, a parameter `v`, and arguments of these names."""

    def __init__(self, which: str) -> None:
        super().__init__()
        self.register_buffer("k", torch.zeros(4))
        self.v, self.which = nn.Parameter(torch.ones(4)), which

    def forward(self, q: torch.Tensor, k: torch.Tensor, v: torch.Tensor) -> torch.Tensor:
        if "buffer" in self.which:
            self.k.add_(k + v)
        if "argument" in self.which:
            k.add_(self.k + self.v)
        return q * self.k + k


@pytest.mark.parametrize("which", ["buffer", "argument", "buffer and argument"])
def test_arguments_that_have_the_names_of_buffers(which: str) -> None:
    model = SameName(which).requires_grad_(False)
    q, k, v = random(4), random(4), random(4)
    program = hotdesk.compile(model, (q, k.clone(), v))
    eager, theirs, ours = copy.deepcopy(model), k.clone(), k.clone()
    for _ in range(2):
        torch.testing.assert_close(program(q, ours, v), eager(q, theirs, v))
        torch.testing.assert_close(ours, theirs)
        torch.testing.assert_close(model.k, eager.k)


def test_an_argument_of_another_shape_has_the_name_of_a_buffer() -> None:
    model = Stateful(lambda self, k, at: self.k.index_copy_(0, at, k).sum(), k=torch.zeros(8, 3))
    rows, at = random(2, 3), torch.tensor([5, 1])
    program = hotdesk.compile(model, (rows, at))
    torch.testing.assert_close(program(rows, at), rows.sum())
    torch.testing.assert_close(model.get_buffer("k")[at], rows)
