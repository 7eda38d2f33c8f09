"""Sizes and numbers that the values of tensors decide: equal to eager, planned at their limits, checked as PyTorch demands."""

# Lambdas are not annotated here.
# pyright: reportUnknownLambdaType=false, reportUnknownArgumentType=false, reportUnknownMemberType=false
# pyright: reportUnknownVariableType=false, reportPrivateUsage=false

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import nn
from torch._higher_order_ops import scan
from torch.utils import _pytree as pytree

import hotdesk
from hotdesk.errors import ArgumentTypeError, DataDependentShapeError, ExecutionError, ExportError
from tests.e2e.checking import Call


def random(*sizes: int) -> torch.Tensor:
    return torch.randn(*sizes, generator=torch.Generator().manual_seed(len(sizes)))


X = random(3, 4)


def checked(count: torch.Tensor, most: int) -> Any:
    number = count.item()
    torch._check(number >= 1)
    torch._check(number <= most)
    return number


def rest_of_a_negative_number(count: torch.Tensor) -> Any:
    number = count.item()
    torch._check(number > -100)
    return torch.arange(6) + number % 3, torch.arange(6) + number // 3


def stored(x: torch.Tensor, where: torch.Tensor) -> Any:
    places = torch.where(where > 0)[0]
    a, b, c = x.clone(), x.clone(), x.clone()
    a[places - x.size(0)] = 7.0  # places counted from the end
    b[places, places % 4] = x[places, 0]
    c.index_add_(0, places, x[places])
    return a, b, c, x.index_copy(0, places, -x[places])


def counted_rows(x: torch.Tensor) -> Any:
    def step(count: torch.Tensor, row: torch.Tensor) -> Any:
        found = torch.nonzero(row > 0)
        return count + found.sum(), count + found.size(0)

    return scan(step, torch.tensor(0), x)


FLAGS = torch.tensor([0, 1, 0, 1, 1, 0])
ALIKE: dict[str, tuple[Callable[..., Any], tuple[torch.Tensor, ...], dict[str, int]]] = {
    "nonzero": (lambda x: torch.nonzero(x > 0), (X,), {}),
    "nonzero of nothing": (lambda x: torch.nonzero(x), (torch.zeros(3, 4),), {}),
    "nonzero of no rows": (lambda x: torch.nonzero(x), (torch.zeros(0, 4),), {}),
    "nonzero of a scalar": (lambda x: torch.nonzero(x), (torch.tensor(2.0),), {}),
    "nonzero of nan": (lambda x: torch.nonzero(x), (torch.tensor([0.0, float("nan"), -0.0]),), {}),
    "nonzero of bytes": (lambda x: torch.nonzero(x), (torch.tensor([0, 200, 3], dtype=torch.uint8),), {}),
    "nonzero of halves": (lambda x: torch.nonzero(x.half()), (X,), {}),
    "where": (lambda x: torch.where(x > 0), (X,), {}),
    "mask": (lambda x: x[x > 0] * 2, (X,), {}),
    "mask of rows": (lambda x: (x[x.sum(1) > 0] @ torch.ones(4, 3)).relu(), (random(6, 4),), {}),
    "mask between": (lambda x: x[:, x.sum(0) > 0], (X,), {}),
    "mask of complex numbers": (
        lambda x: torch.complex(x, x)[x > 0],
        (X,),
        {"aten.complex": 1, "aten.reshape": 1, "aten.index.Tensor": 1},
    ),
    "masked_select": (lambda x: torch.masked_select(x, x[0] > 0).sum(), (X,), {}),
    "masked_select by a wider mask": (lambda x, y: x[0].masked_select(y > 0) * 2, (X, X), {}),
    "masked_select of a column": (lambda x, y: torch.masked_select(x[:, :1], y > -9).sum(), (X, X), {}),
    "unique": (lambda x: torch.unique((2 * x).long(), return_counts=True), (random(9),), {"aten._unique2": 1}),
    "unique_consecutive of a last dim": (
        lambda x: (torch.unique_consecutive(x.round(), True, True, -1), x.round().unique_consecutive(dim=-2)),
        (X,),
        {"aten.unique_consecutive": 2},
    ),
    "unique_consecutive": (
        lambda x: torch.unique_consecutive(x),
        (torch.tensor([1, 1, 2, 2, 1]),),
        {"aten.unique_consecutive": 1},
    ),
    "repeat_interleave": (
        lambda x, n: torch.repeat_interleave(x, n, dim=0),
        (X, torch.tensor([1, 0, 4])),
        {"aten.repeat_interleave.Tensor": 1},
    ),
    "bincount": (lambda x: torch.bincount(x) * 2, (torch.tensor([1, 4, 4, 0]),), {"aten.bincount": 1}),
    "topk": (lambda x, k: torch.topk(x, checked(k, 4)), (X, torch.tensor(3)), {}),
    "topk and its k": (lambda x, k: (x.topk(checked(k, 2))[0].softmax(-1), k.item()), (X, torch.tensor(2)), {}),
    "rows up to a number": (lambda x, n: x[: checked(n, 3)].sum(0), (X, torch.tensor(2)), {}),
    "one row": (lambda x, n: x[checked(n, 2)], (X, torch.tensor(2)), {}),
    "as long as a number": (lambda n: torch.zeros(n.item(), 3) + 1, (torch.tensor(5),), {}),
    "the rest of a negative number": (rest_of_a_negative_number, (torch.tensor(-4),), {}),
    "a number": (lambda x: x.item(), (torch.tensor(2.5),), {}),
    "a sum": (lambda x: x / x.sum().item(), (X,), {}),
    "a number and a size": (lambda x: (torch.nonzero(x).size(0), x.argmax().item()), (X,), {}),
    "stores": (stored, (random(6, 4), FLAGS), {}),
    "stores of nothing": (stored, (random(6, 4), 0 * FLAGS), {}),
    "counts in a loop": (counted_rows, (X,), {}),
    "branches of different sizes": (
        lambda p, x: torch.cond(p, lambda x: x[:2] * 1, lambda x: x * 2, (x,)),
        (torch.tensor(True), X),
        {},
    ),
    "two selections": (lambda x, y: torch.cat([x[x > 0], y[y > 0]]).sort()[0], (X, -X), {}),
}


def close(made: Any, wanted: Any) -> None:
    found, expected = pytree.tree_leaves(made), pytree.tree_leaves(wanted)
    assert [type(each) for each in found] == [type(each) for each in expected]
    for each, other in zip(found, expected, strict=True):
        torch.testing.assert_close(each, other, equal_nan=True)


@pytest.mark.parametrize("name", ALIKE)
def test_as_in_eager(name: str) -> None:
    function, args, called = ALIKE[name]
    program = hotdesk.compile(Call(function), args)
    assert dict(program.foreign) == called
    for _ in range(2):
        close(program(*args), function(*args))
    report = program.check(*args)
    assert not report.faults


class Experts(nn.Module):
    """Tokens that go to the expert that wants them most."""

    def __init__(self) -> None:
        super().__init__()
        self.gate = nn.Linear(4, 3)
        self.experts = nn.ModuleList(nn.Linear(4, 4) for _ in range(3))
        self.requires_grad_(False)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        weight, chosen = self.gate(x).softmax(-1).max(-1)
        out = torch.zeros_like(x)
        for number, expert in enumerate(self.experts):
            places = torch.where(chosen == number)[0]
            out = out.index_add(0, places, expert(x[places]) * weight[places, None])
        return out


def test_experts() -> None:
    torch.manual_seed(0)
    model, x = Experts(), random(6, 4)
    program = hotdesk.compile(model, (x,), options=hotdesk.Options(foreign=False))
    for each in (x, -x, 0 * x):
        close(program(each), model(each))
    model.gate.bias[0] = 100.0  # nothing is left for the others
    close(program(x), model(x))
    assert not program.check(x).faults


def test_sizes_that_vary_besides() -> None:
    model = Call(lambda x: x[x > 0] * 2)
    dims = {0: torch.export.Dim("rows", max=50), 1: torch.export.Dim.AUTO}
    program = hotdesk.compile(model, (X,), dynamic_shapes=((dims,),))
    for sizes in ((3, 4), (7, 5), (50, 2)):
        x = random(*sizes)
        close(program(x), model(x))
    assert str(program) == "<Program main(args_0: f32[rows, dim 1 of %args_0]) -> (f32[count of mask])>"


def test_planned_at_the_limit() -> None:
    x = random(100)
    program = hotdesk.compile(Call(lambda x: x[x > 0].sort()[0].sum()), (x,))
    allocated = [line.bytes for line in program.buffers(x) if line.where == "arena"]
    assert set(allocated) == {100, 400, 800}  # the mask, what it selects, places
    memory = program.memory(x)
    assert memory.arena == memory.lower_bound


def test_a_limit_of_the_users_is_planned() -> None:
    def first(x: torch.Tensor, count: torch.Tensor) -> torch.Tensor:
        return x[: checked(count, 8)].sort()[0].cumsum(0).sum()

    program = hotdesk.compile(Call(first), (random(1000), torch.tensor(3)))
    assert program.memory().arena <= 4 * 64
    close(program(random(1000), torch.tensor(8)), first(random(1000), torch.tensor(8)))


class Rows(nn.Module):
    def forward(self, x: torch.Tensor, count: torch.Tensor) -> Any:
        number = count.item()
        torch._check(number >= 1)
        torch._check(number <= 3)
        return x[:number].sum(0)


def test_what_is_demanded_is_checked_before_it_matters() -> None:
    program = hotdesk.compile(Rows(), (X, torch.tensor(2)))
    for bad in (4, 0, -1, 10**12):
        with pytest.raises(
            ExecutionError, match=r"`torch\._check` failed: expected \(value of item\) [<>]= \d"
        ) as caught:
            program(X, torch.tensor(bad))
        assert __file__ in str(caught.value.where)
    close(program(X, torch.tensor(3)), X.sum(0))


def counted_tokens(ids: torch.Tensor, x: torch.Tensor) -> torch.Tensor:
    torch._check(((ids == 3).sum() * x.size(1) == x.numel()).item())
    return x + 1


def at_least_three(n: torch.Tensor) -> torch.Tensor:
    torch._check(n.item() > 2)
    return n + 1


def first_two(x: torch.Tensor, n: torch.Tensor) -> torch.Tensor:
    number = n.item()
    torch._check(number == 2)
    return x[:number] * number


@pytest.mark.parametrize(
    ("function", "good", "bad"),
    [
        (first_two, (random(3, 4), torch.tensor(2)), (random(3, 4), torch.tensor(3))),
        (at_least_three, (torch.tensor(3),), (torch.tensor(2),)),
        (counted_tokens, (torch.tensor([3, 1, 3]), random(2, 4)), (torch.tensor([3, 1, 1]), random(2, 4))),
    ],
)
def test_numbers_that_nothing_else_reads_are_checked(function: Any, good: Any, bad: Any) -> None:
    program = hotdesk.compile(Call(function), good)
    close(program(*good), function(*good))
    with pytest.raises(ExecutionError, match="a check of `torch._check` failed"):
        program(*bad)


def demanded(count: Callable[..., Any], demand: Callable[..., Any], dim: int = 0) -> Callable[..., Any]:
    """What counts something, and demands of the size of it what PyTorch then writes for it everywhere."""

    def function(*tensors: torch.Tensor) -> Any:
        found = count(*tensors)
        first = found[0] if isinstance(found, tuple) else found
        torch._check(demand(first.shape[dim], tensors))
        return pytree.tree_map(lambda each: each * 2, found)

    return function


def three(count: Any, _: Any) -> Any:
    return count == 3


def as_many(count: Any, tensors: Any) -> Any:
    return count == tensors[1].shape[0]


def twice_as_many(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    found = x[x > 0]
    torch._check(found.shape[0] == 2 * y.shape[0])
    return found.reshape(-1, 2) + y[:, None]


def vector(*numbers: float) -> torch.Tensor:
    return torch.tensor([*map(float, numbers)])


COUNT_2, COUNT_3, COUNT_4 = vector(1, 0, 0, 3), vector(1, 0, 2, 3), vector(1, 2, 3, 4)
AUTO = torch.export.Dim.AUTO
LENGTHS = {0: AUTO}
DEMANDED: dict[str, tuple[Callable[..., Any], tuple[Any, ...], Any, list[Any], list[Any]]] = {
    "nonzero": (demanded(torch.nonzero, three), (COUNT_3,), None, [], [(COUNT_2,), (COUNT_4,)]),
    "nonzero of any length": (
        demanded(torch.nonzero, three),
        (COUNT_3,),
        [LENGTHS],
        [(vector(1, 2, 3),), (vector(0, 1, 0, 0, 1, 1, 0),)],
        [(COUNT_2,), (COUNT_4,), (vector(1, 2),)],
    ),
    "at most": (
        demanded(torch.nonzero, lambda count, _: count <= 3),
        (COUNT_3,),
        None,
        [(COUNT_2,), (0 * COUNT_2,)],
        [(COUNT_4,)],
    ),
    "none": (demanded(torch.nonzero, lambda count, _: count == 0), (0 * COUNT_2,), None, [], [(COUNT_2,)]),
    "masked_select": (
        demanded(lambda x: x.masked_select(x > 0), three),
        (COUNT_3,),
        None,
        [],
        [(COUNT_2,), (COUNT_4,)],
    ),
    "mask": (demanded(lambda x: x[x > 0], three), (COUNT_3,), None, [], [(COUNT_2,), (COUNT_4,)]),
    "mask of columns": (
        demanded(lambda x: x[:, x[0] > 0], three, 1),
        (torch.stack([COUNT_3, COUNT_2]),),
        None,
        [(torch.stack([COUNT_3, COUNT_4]),)],
        [(torch.stack([COUNT_2, COUNT_3]),)],
    ),
    "unique": (demanded(torch.unique, three), (COUNT_2,), None, [], [(COUNT_3,), (0 * COUNT_2,)]),
    "unique, and where": (
        demanded(lambda x: torch.unique(x, return_inverse=True, return_counts=True), three),
        (COUNT_2,),
        None,
        [(vector(2, 2, 1, 0),)],
        [(COUNT_3,), (0 * COUNT_2,)],
    ),
    "as many as another has": (
        demanded(lambda x, y: x.nonzero()[:, 0] + y, as_many),
        (COUNT_3, vector(1, 2, 3)),
        [LENGTHS, LENGTHS],
        [(COUNT_2, vector(1, 2)), (vector(1, 1, 1, 0, 0, 1), vector(1, 2, 3, 4))],
        [(COUNT_2, vector(1, 2, 3)), (vector(1, 1), vector(1, 2, 3)), (COUNT_4, vector(1, 2))],
    ),
    "twice as many": (
        twice_as_many,
        (COUNT_4, vector(1, 2)),
        [LENGTHS, LENGTHS],
        [(vector(1, 2, 3, 4, 5, 6), vector(1, 2, 3))],
        [(COUNT_2, vector(1, 2)), (COUNT_3, vector(1, 2))],
    ),
}


@pytest.mark.parametrize("name", DEMANDED)
def test_demands_of_counts_are_checked(name: str) -> None:
    function, example, sizes, good, bad = DEMANDED[name]
    program = hotdesk.compile(Call(function), example, dynamic_shapes=sizes and (tuple(sizes),))
    for given in (example, *good):
        close(program(*given), function(*given))
    for given in bad:
        with pytest.raises(ExecutionError, match="a check of `torch._check` failed: expected .*count of"):
            program(*given)
    close(program(*example), function(*example))


@pytest.mark.parametrize("count", [torch.nonzero, torch.unique])
def test_demands_of_counts_that_nothing_else_reads_are_checked(count: Callable[..., Any]) -> None:
    def function(x: torch.Tensor) -> torch.Tensor:
        demanded(count, three)(x)
        return x + 1

    program = hotdesk.compile(Call(function), (vector(1, 2, 3),))
    close(program(vector(1, 2, 3)), vector(2, 3, 4))
    with pytest.raises(ExecutionError, match="expected .*count of"):
        program(vector(0, 0, 0))


class Counted(nn.Module):
    """Counts its calls in front of a check and behind it."""

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("calls", torch.zeros(2))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        self.calls[0] += 1
        found = demanded(torch.nonzero, three)(x)
        self.calls[1] += 1
        return found


def test_a_call_that_fails_a_check_of_counts_changes_nothing() -> None:
    model = Counted()
    program = hotdesk.compile(model, (COUNT_3,))
    program(COUNT_3)
    with pytest.raises(ExecutionError):
        program(COUNT_2)
    assert model.calls.tolist() == [1, 1]


def test_a_count_that_a_branch_fixes_is_refused() -> None:
    def chosen(x: torch.Tensor) -> torch.Tensor:
        return torch.cond(x.sum() > 0, demanded(torch.nonzero, three), lambda _: torch.zeros(3, 1).long(), (x,))

    with pytest.raises(DataDependentShapeError, match=r"aten\.nonzero.*, in a branch or a loop, is fixed"):
        hotdesk.compile(Call(chosen), (COUNT_3,))


def test_results_are_new_each_time() -> None:
    program = hotdesk.compile(Call(lambda x: (x[x > 0], x + 1)), (X,))
    first, _ = program(X)
    kept = first.clone()
    second, _ = program(-X)
    close((first, second), (kept, -X[X < 0]))
    assert first.untyped_storage().nbytes() == first.nbytes


def test_results_of_such_sizes_are_not_computed_in_memory_of_the_callers() -> None:
    program = hotdesk.compile(Call(lambda x: x[x > 0]), (X,))
    with pytest.raises(ArgumentTypeError, match="result 0, whose sizes are known only when the program runs"):
        program(X, out=torch.empty(()))


@pytest.mark.parametrize("count", [torch.unique, torch.nonzero, torch.bincount, lambda w: w[w > 1]])
def test_counts_of_weights_alone_are_new_each_time(count: Callable[..., Any]) -> None:
    class Weights(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.register_buffer("weights", torch.tensor([2, 0, 1, 2]))

        def forward(self, x: torch.Tensor) -> Any:
            return x + 1, count(self.weights), count(x)

    x = torch.tensor([3, 3, 0])
    program = hotdesk.compile(Weights(), (x,))
    for _ in range(2):
        found: Any = program(x)
        close(found, Weights()(x))
        found[1].zero_()


def test_the_kernels_that_count_may_be_forbidden() -> None:
    options = hotdesk.Options(foreign=False)
    assert not hotdesk.compile(Call(lambda x: x[x > 0]), (X,), options=options).foreign
    with pytest.raises(DataDependentShapeError, match="_unique2"):
        hotdesk.compile(Call(torch.unique), (X,), options=options)


def test_a_result_of_counted_size_is_returned_twice() -> None:
    class Twice(nn.Module):
        def forward(self, x: torch.Tensor) -> Any:
            found = torch.nonzero(x)
            return found, found.t(), found, found.sum()

    program = hotdesk.compile(Twice(), (X,))
    for x in (X, torch.zeros(3, 4), torch.eye(3, 4)):
        made = program(x)
        torch.testing.assert_close(made, Twice()(x))
        assert made[0] is made[2]


@pytest.mark.parametrize("size", [1 << 31, 1 << 32, 1 << 62])
def test_bytes_that_64_bits_cannot_count_are_refused(size: int) -> None:
    class Square(nn.Module):
        def forward(self, count: torch.Tensor) -> torch.Tensor:
            number = count.item()
            torch._check(number >= 0)
            return torch.ones(number, number, 4).sum()

    program = hotdesk.compile(Square(), (torch.tensor(3),))
    assert program(torch.tensor(3)).item() == 36
    with pytest.raises(ExecutionError, match="a size that the machine has memory for"):
        program(torch.tensor(size))


def in_place(change: Callable[..., Any]) -> Callable[..., torch.Tensor]:
    def changed(x: torch.Tensor, *others: torch.Tensor) -> torch.Tensor:
        x = x.clone()
        change(x, *others)
        return x

    return changed


def expert(x: torch.Tensor, chosen: torch.Tensor) -> torch.Tensor:
    out = torch.zeros_like(x)
    for number in range(3):
        out[chosen == number] = x[chosen == number] @ torch.full((4, 4), number + 1.0)
    return out


ROWS, PLANES, SOME = random(6, 4), random(6, 2, 4), torch.tensor([1, 0, 1, 1, 0, 1])
STORES: dict[str, tuple[Callable[..., Any], tuple[torch.Tensor, ...]]] = {
    "rows": (in_place(lambda x, s: x.__setitem__(s > 0, x[s > 0] * 2)), (ROWS, SOME)),
    "elements": (in_place(lambda x, s: x.__setitem__(x > s[0], x[x > s[0]].exp())), (ROWS, SOME)),
    "one mask for both": (in_place(lambda x, y, s: (m := s > 0, x.__setitem__(m, y[m]))), (ROWS, -ROWS, SOME)),
    "added": (in_place(lambda x, s: x.__setitem__(s > 0, x[s > 0] + 1)), (ROWS, SOME)),
    "added up": (lambda x, s: x.index_put((s > 0,), x[s > 0], accumulate=True), (ROWS, SOME)),
    "integers added up": (lambda s: s.index_put((s > 0,), s[s > 0], accumulate=True), (SOME,)),
    "truths added up": (lambda s: (s > 0).index_put((s > 0,), s[s > 0] > 0, accumulate=True), (SOME,)),
    "in columns": (lambda x, s: x.t().index_fill(1, s.nonzero()[:, 0], 5.0), (ROWS, SOME)),
    "in columns by a mask": (in_place(lambda x, s: x.t().__setitem__((slice(None), s > 0), 3.0)), (ROWS, SOME)),
    "in planes": (in_place(lambda x, s: x.__setitem__((s > 0, slice(None), torch.tensor([1])), 7.0)), (PLANES, SOME)),
    "what is in front": (in_place(lambda x: x.__setitem__(x[..., 0] > 0, x[x[..., 0] > 0] * 2)), (PLANES,)),
    "what is behind": (in_place(lambda x: x.__setitem__((slice(None), x[0] > 0), x[:, x[0] > 0] * 2)), (PLANES,)),
    "in a grid": (
        lambda x, s: x.index_put((s.nonzero(), torch.tensor([0, -1])), torch.ones(())),
        (ROWS, SOME),
    ),
    "counted twice": (
        lambda x, s: x.index_put((s.nonzero()[:, 0], (s != 0).nonzero()[:, 0] // 2), torch.ones(())),
        (ROWS, SOME),
    ),
    "by 32-bit integers": (lambda x, s: x.index_put((s.nonzero()[:, 0].int(),), x[s != 0]), (ROWS, SOME)),
    "of experts": (expert, (ROWS, torch.tensor([0, 2, 2, 1, 0, 2]))),
}


@pytest.mark.parametrize("name", STORES)
def test_stores_in_places_that_are_counted(name: str) -> None:
    function, args = STORES[name]
    program = hotdesk.compile(Call(function), args)
    everywhere, nowhere = [torch.full_like(each, 2) for each in args], [torch.full_like(each, -1) for each in args]
    for given in (args, everywhere, nowhere):
        close(program(*given), function(*given))
    assert not program.check(*args).faults


def test_as_many_values_as_places_or_one_for_all() -> None:
    stores = in_place(lambda x, y, to, of: x.__setitem__(to, y[of]))
    all_of, one, two = torch.ones(4).bool(), torch.tensor([0, 1, 0, 0]).bool(), torch.tensor([0, 1, 1, 0]).bool()
    program = hotdesk.compile(Call(stores), (X.t(), -X.t(), two, two))
    for to, of in ((all_of, all_of), (two, two.roll(1)), (all_of, one), (~all_of, one), (~all_of, ~all_of)):
        close(program(X.t(), -X.t(), to, of), stores(X.t(), -X.t(), to, of))
    for to, of in ((all_of, two), (one, two), (two, ~all_of)):
        with pytest.raises(RuntimeError, match="shape mismatch"):
            stores(X.t(), -X.t(), to, of)
        with pytest.raises(ExecutionError, match=r"`torch\._check` failed"):
            program(X.t(), -X.t(), to, of)


_PUT: dict[str, Any] = {
    "set": lambda x, m, y: _stored(x, m, y),
    "added": lambda x, m, y: x.index_put((m,), y, accumulate=True),
    "bytes": lambda x, m, y: x.index_put((m.to(torch.uint8),), y),
}


def _stored(x: torch.Tensor, mask: torch.Tensor, values: Any) -> torch.Tensor:
    x = x.clone()
    x[mask] = values
    return x


@pytest.mark.filterwarnings("ignore:indexing with dtype torch.uint8:UserWarning")
@pytest.mark.parametrize("sizes", ["fixed", "open"])
@pytest.mark.parametrize("name", _PUT)
def test_a_mask_is_given_as_many_values_as_it_has_places(name: str, sizes: str) -> None:
    """They were read beyond their memory where there were fewer."""

    class Put(nn.Module):
        def forward(self, x: torch.Tensor, m: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
            return _PUT[name](x, m, y)

    length = 4000 if sizes == "open" else 8
    args = torch.randn(8), torch.arange(8) < 5, torch.randn(5)
    program = hotdesk.compile(Put(), args, dynamic_shapes=({0: AUTO},) * 3 if sizes == "open" else None)
    assert program(*args).equal(Put()(*args))
    for places in (0, 3, 7, length):
        given = torch.randn(length), torch.arange(length) < places, args[2]
        with pytest.raises(RuntimeError, match="shape mismatch"):
            Put()(*given)
        with pytest.raises(ExecutionError, match=r"`torch\._check` failed"):
            program(*given)


def test_values_of_too_many_dims_do_not_fit_a_mask() -> None:
    mask = torch.arange(6).reshape(2, 3) > 2
    with pytest.raises(ExportError, match="values of `index_put` have another shape"):
        hotdesk.compile(lambda x, y: _stored(x, mask, y), (torch.randn(2, 3), torch.randn(2, 1)))


@pytest.mark.parametrize("x", [torch.tensor(1.5), torch.rand(2, 3), torch.arange(4)])
@pytest.mark.parametrize("value", [0.0, 2.7, 2**53 + 1])
def test_a_mask_of_one_truth(x: torch.Tensor, value: Any) -> None:
    def stored(x: torch.Tensor, mask: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        return _stored(x, mask, value), _stored(x, mask, (x * 2)[None])

    program = hotdesk.compile(stored, (x, torch.tensor(True)))
    for truth in (True, False):
        for found, wanted in zip(program(x, torch.tensor(truth)), stored(x, torch.tensor(truth)), strict=True):
            assert found.equal(wanted)
            assert found.dtype == wanted.dtype


def test_one_of_a_scalar_by_a_mask_of_one_truth() -> None:
    program = hotdesk.compile(Call(lambda x: x[x > 0]), (torch.tensor(1.0),))
    for x in map(torch.tensor, (1.0, -1.0)):
        close(program(x), x[x > 0])


CUBE, PICK = random(2, 3, 4), torch.tensor([[True, False, True], [False, True, False]])
AT_A_NUMBER: dict[str, Callable[[Any], Any]] = {
    "row": lambda n: n,
    "column": lambda n: (slice(None), n),
    "last dim": lambda n: (..., n),
    "twice": lambda n: (n, slice(None), n),
    "new dim": lambda n: (None, n, slice(0, 2)),
    "places": lambda n: ([0, 0, 1], slice(None), n),
    "mask": lambda n: (PICK, n),
}


@pytest.mark.parametrize("name", AT_A_NUMBER)
def test_stores_at_a_number(name: str) -> None:
    """Nobody has to say what holds of the number, as nobody has to where it is read at one."""
    where = AT_A_NUMBER[name]
    program = hotdesk.compile(lambda x, n: _stored(x, where(n.item()), 7.0), (CUBE, torch.tensor(1)))
    for number in (1, -1, 0, -2):
        close(program(CUBE, torch.tensor(number)), _stored(CUBE, where(number), 7.0))
    for number in (4, -5):
        with pytest.raises(ExecutionError, match=r"index of `select` is not within dim"):
            program(CUBE, torch.tensor(number))


@pytest.mark.parametrize("mask", [PICK.tolist(), PICK.numpy()])
def test_a_mask_that_is_no_tensor_beside_a_number(mask: Any) -> None:
    program = hotdesk.compile(lambda x, n: _stored(x, (mask, n.item()), 7.0), (CUBE[:, :, :3], torch.tensor(1)))
    for number in (1, -1):
        close(program(CUBE[:, :, :3], torch.tensor(number)), _stored(CUBE[:, :, :3], (PICK, number), 7.0))


def test_a_store_at_the_last_place_of_an_open_size() -> None:
    """PyTorch's reader of places would fix the size."""
    rows = {0: torch.export.Dim("rows", min=2, max=6)}
    program = hotdesk.compile(lambda x: _stored(x, (..., x.shape[0] - 1), 7.0), (random(3, 6),), dynamic_shapes=(rows,))
    for size in (2, 6):
        close(program(random(size, 6)), _stored(random(size, 6), (..., size - 1), 7.0))


def test_views_at_a_number_change_what_they_are_of() -> None:
    def changed(x: torch.Tensor, n: torch.Tensor) -> torch.Tensor:
        y = x.clone()
        y[:, n.item()] += 1  # type: ignore[index]
        y.select(2, n.item()).mul_(2)  # type: ignore[arg-type]
        return torch.cond(x.sum() > 0, lambda y, n: y * 1, lambda y, n: _stored(y, n.item(), 3.0), (y, n))

    program = hotdesk.compile(changed, (CUBE, torch.tensor(1)))
    for x, number in ((CUBE, 1), (CUBE, -2), (-CUBE, 0)):
        y = x.clone()
        y[:, number] += 1
        y[..., number] *= 2
        close(program(x, torch.tensor(number)), y if x.sum() > 0 else _stored(y, number, 3.0))


def test_a_store_at_a_number_writes_a_row_alone() -> None:
    class Cache(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.register_buffer("rows", torch.zeros(1000, 64))

        def forward(self, row: torch.Tensor, n: torch.Tensor) -> torch.Tensor:
            self.rows[n.item()] = row  # type: ignore[index]
            return self.rows.sum()

    program = hotdesk.compile(Cache(), (random(64), torch.tensor(1)))
    assert program.memory().arena < 1000
    close(program(random(64), torch.tensor(-1)), random(64).sum())


def test_stores_in_a_buffer_are_made_in_its_memory() -> None:
    class Written(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.register_buffer("kept", torch.zeros(4, 3))

        def forward(self, x: torch.Tensor, where: torch.Tensor) -> torch.Tensor:
            self.kept[where] = x[where] * 2
            return self.kept.sum()

    model, where, reference = Written(), torch.tensor([0, 1, 1, 0]).bool(), Written()
    memory = model.kept.data_ptr()
    program = hotdesk.compile(model, (X.t(), where))
    for mask in (where, ~where, where & ~where):
        close(program(X.t() + mask[0], mask), reference(X.t() + mask[0], mask))
        close(model.kept, reference.kept)
    assert model.kept.data_ptr() == memory


EMPTY: dict[str, Callable[[torch.Tensor], Any]] = {
    "softmax": lambda x: x[x > 0].softmax(0),
    "log_softmax": lambda x: x[x > 0].log_softmax(0),
    "softmax of columns": lambda x: x[:, x[0] > 0].softmax(1),
    "attention": lambda x: (lambda y: nn.functional.scaled_dot_product_attention(y, y, y))(x[None, x[:, 0] > 0]),
    "attention with a mask": lambda x: (
        lambda y: nn.functional.scaled_dot_product_attention(y, y, y, attn_mask=y[0, :, 0] > 1)
    )(x[None, x[:, 0] > 0]),
}


@pytest.mark.parametrize("name", EMPTY)
def test_a_softmax_of_nothing_is_empty(name: str) -> None:
    program = hotdesk.compile(Call(EMPTY[name]), (X,))
    for x in (X, -X.abs(), X.abs()):
        close(program(x), EMPTY[name](x))


_NO_IDENTITY = r'> 0 \("reducing over zero-size dimension'


@pytest.mark.parametrize(
    ("extreme", "told"),
    [(torch.max, _NO_IDENTITY), (torch.min, _NO_IDENTITY), (torch.argmax, r'!= 0 \("argmax: Expected reduction dim')],
)
def test_nothing_has_no_largest_element(extreme: Callable[[torch.Tensor], torch.Tensor], told: str) -> None:
    """In PyTorch's words, of its first check; not as the range that it takes the count to have."""
    program = hotdesk.compile(Call(lambda x: extreme(x[x > 0])), (X,))
    close(program(X), extreme(X[X > 0]))
    with pytest.raises(ExecutionError, match=rf"expected \(count of mask\) {told}"):
        program(-X.abs())


def test_a_variance_of_what_is_empty_is_not_a_number() -> None:
    program = hotdesk.compile(Call(lambda x: torch.var_mean(x[x > 0])), (X,))
    for x in (X, torch.zeros(3, 4)):
        close(program(x), torch.var_mean(x[x > 0]))
    rows = hotdesk.compile(Call(lambda x: x.var(0)), (X,), dynamic_shapes=(({0: torch.export.Dim("rows", min=0)},),))
    for size in (0, 1, 5):
        close(rows(random(size, 4)), random(size, 4).var(0))


def moved_part(x: torch.Tensor, begin: torch.Tensor) -> torch.Tensor:
    y = x.clone()
    y.narrow(1, begin.item(), 2).add_(1)  # type: ignore[arg-type]
    return y


ROW = random(6)
PARTS: dict[str, tuple[Callable[..., Any], torch.Tensor, list[Any]]] = {
    "tensor_split": (lambda x, at: torch.tensor_split(x, at), ROW, [[1, 4], [0, 6], [-2, 2], [4, 1], [9, 12]]),
    "tensor_split of columns": (lambda x, at: torch.tensor_split(x, at, dim=-1), X, [[1], [-3], [4]]),
    "slice": (lambda x, at: x[at[0].item() : at[1].item()] * 2, ROW, [[1, 3], [3, 1], [-4, -1], [2, 9]]),
    "narrow": (lambda x, begin: x.narrow(0, begin.item(), 2) * 2, ROW, [3, 0, 4, -2, -6]),
    "narrow of columns": (lambda x, begin: x.narrow(-1, begin.item(), 2) * 2, X, [0, 2, -2, -4]),
    "narrow, in place": (moved_part, X, [0, 2, -2, -4]),
}


@pytest.mark.parametrize("name", PARTS)
def test_parts_that_begin_where_a_tensor_says(name: str) -> None:
    function, x, places = PARTS[name]
    program = hotdesk.compile(Call(function), (x, torch.tensor(places[0])))
    for each in map(torch.tensor, places):
        torch.testing.assert_close(list(program(x, each)), list(function(x, each)))


@pytest.mark.parametrize("begin", [5, -1, -7])
def test_a_part_that_is_not_there_is_an_error(begin: int) -> None:
    program = hotdesk.compile(Call(PARTS["narrow"][0]), (ROW, torch.tensor(3)))
    with pytest.raises(ExecutionError, match="the part that `narrow` takes is not within dim 0"):
        program(ROW, torch.tensor(begin))


def test_a_part_by_the_names_of_its_arguments() -> None:
    def part(x: torch.Tensor, begin: torch.Tensor) -> Any:
        at_number = torch.narrow(input=x, dim=0, start=begin.item(), length=2)  # type: ignore[arg-type]
        return at_number * 2, torch.narrow(input=x, dim=0, start=1, length=2) * 2

    program = hotdesk.compile(Call(part), (ROW, torch.tensor(3)))
    torch.testing.assert_close(tuple(program(ROW, torch.tensor(-6))), part(ROW, torch.tensor(-6)))


def test_checks_are_made_in_the_order_they_are_written() -> None:
    """A divisor is checked before what is divided by it: a division by 0 ends the process."""
    text = """
import torch, hotdesk.errors

def rows(x, n):
    count = n.item()
    torch._check(count > 0)
    torch._check(12 % count == 0, lambda: "rows")
    return x * count

program = hotdesk.compile(rows, (torch.ones(12), torch.tensor(3)))
assert torch.equal(program(torch.ones(12), torch.tensor(4)), 4 * torch.ones(12))
for number in (0, -1, 5):
    try:
        program(torch.ones(12), torch.tensor(number))
    except hotdesk.errors.ExecutionError as error:
        print(error)
"""
    done = subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, check=True)
    first, second, third = done.stdout.splitlines()
    assert "expected (value of item) > 0" in first
    assert "expected (value of item) > 0" in second
    assert 'expected (12 mod (value of item)) == 0 ("rows")' in third


def test_a_part_in_a_branch_begins_where_a_tensor_says() -> None:
    def tripled(x: torch.Tensor, begin: torch.Tensor) -> torch.Tensor:
        y = x.clone()
        y.narrow(0, begin.item(), 2).mul_(3)  # type: ignore[arg-type]
        return torch.cat([y, x.narrow(0, begin.item(), 2)])  # type: ignore[arg-type]

    def chosen(x: torch.Tensor, begin: torch.Tensor) -> torch.Tensor:
        return torch.cond(x[0] > 0, tripled, lambda x, _: torch.cat([x, x[:2]]), (x, begin))

    program = hotdesk.compile(Call(chosen), (ROW.abs(), torch.tensor(3)))
    for begin in (3, 0, 4, -2, -6):
        close(program(ROW.abs(), torch.tensor(begin)), tripled(ROW.abs(), torch.tensor(begin)))
    close(program(-ROW.abs(), torch.tensor(9)), torch.cat([-ROW.abs(), -ROW.abs()[:2]]))
    for begin in (5, -1, -7):
        with pytest.raises(ExecutionError, match=r"`torch\._check` failed"):
            program(ROW.abs(), torch.tensor(begin))


def test_a_refusal_names_the_op_whose_results_are_counted() -> None:
    with pytest.raises(DataDependentShapeError, match="in op `aten.tensor_split"):
        hotdesk.compile(Call(lambda x, sections: torch.tensor_split(x, sections)), (ROW, torch.tensor(3)))


@pytest.mark.parametrize("extreme", [torch.max, torch.min])
def test_a_tensor_that_is_always_empty_has_no_largest_element(extreme: Callable[[torch.Tensor], torch.Tensor]) -> None:
    with pytest.raises(ExportError, match="Expected reduction dim"):
        hotdesk.compile(Call(extreme), (torch.zeros(0, 4),))
