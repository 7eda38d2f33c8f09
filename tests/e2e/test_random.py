"""Random ops: Philox by a state of the program's own, the distributions they have, and what is refused."""

# PyTorch and NumPy are annotated in part only.
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false
# pyright: reportUnknownLambdaType=false, reportArgumentType=false, reportPossiblyUnboundVariable=false

from __future__ import annotations

import math
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor
from torch._higher_order_ops import scan, while_loop
from torch._higher_order_ops.map import map as torch_map

import hotdesk
from hotdesk.errors import OptionError, UnsupportedOpError
from hotdesk.frontends.torch.random import philox

_MASK = 0xFFFFFFFF
X = torch.zeros(4)


class _Ints:
    def product(self, word: int, factor: int) -> tuple[int, int]:
        return word * factor >> 32, word * factor & _MASK

    def xor(self, *words: int) -> int:
        found = 0
        for word in words:
            found ^= word
        return found

    def sum(self, word: int, term: int) -> int:
        return word + term & _MASK


class Of(torch.nn.Module):
    def __init__(self, op: Callable[..., Any]) -> None:
        super().__init__()
        self.op = op

    def forward(self, x: Tensor) -> Any:
        return self.op(x)


def compiled(op: Callable[..., Any], x: Tensor = X, **options: Any) -> hotdesk.Program:
    return hotdesk.compile(Of(op), (x,), **options)


def words(seed: int, counter: int, element: int) -> tuple[int, ...]:
    parts = (counter & _MASK, counter >> 32, element & _MASK, element >> 32)
    return philox(parts, (seed & _MASK, seed >> 32 & _MASK), _Ints())


def distance(drawn: Tensor, cumulative: Callable[[Tensor], Tensor]) -> float:
    """Kolmogorov and Smirnov's, times the root of the number of samples: above 1.95 once in a thousand seeds."""
    found, _ = drawn.flatten().double().sort()
    n = len(found)
    expected = cumulative(found)
    steps = torch.arange(n, dtype=torch.float64) / n
    return float(torch.maximum(expected - steps, steps + 1 / n - expected).max()) * math.sqrt(n)


def normal_cdf(x: Tensor) -> Tensor:
    return (1 + torch.erf(x / math.sqrt(2))) / 2


@pytest.mark.parametrize(
    ("counter", "key", "expected"),
    [
        ((0,) * 4, (0, 0), (0x6627E8D5, 0xE169C58D, 0xBC57AC4C, 0x9B00DBD8)),
        ((_MASK,) * 4, (_MASK,) * 2, (0x408F276D, 0x41C83B0E, 0xA20BC7C6, 0x6D5451FD)),
        (
            (0x243F6A88, 0x85A308D3, 0x13198A2E, 0x03707344),
            (0xA4093822, 0x299F31D0),
            (0xD16CFE09, 0x94FDCCEB, 0x5001E420, 0x24126EA1),
        ),
    ],
)
def test_known_answers(counter: Any, key: Any, expected: tuple[int, ...]) -> None:
    """Those of Random123."""
    assert philox(counter, key, _Ints()) == expected


@pytest.mark.parametrize(
    ("seed", "offset"), [(0, 0), (0x299F31D0A4093822, 0x85A308D3243F6A88 - 2**64), (-1, 2**32 - 1)]
)
def test_programs_draw_these_words(seed: int, offset: int) -> None:
    program = compiled(
        lambda x: (
            torch.rand(3, 5) + x.sum(),
            torch.rand(7, dtype=torch.float64),
            torch.randint(-(2**63), 2**63 - 1, (5,)),
            torch.randint(-5, 1000, (2, 3), dtype=torch.int32),
        )
    )
    program.seed(seed, offset)
    single, double, wide, narrow = program(X)
    drawn = [[words(seed, (offset + op) % 2**64, i) for i in range(15)] for op in range(4)]
    assert single.flatten().tolist() == [(w[0] >> 8) * 2.0**-24 for w in drawn[0]]
    assert double.tolist() == [((w[0] << 32 | w[1]) >> 11) * 2.0**-53 for w in drawn[1][:7]]
    assert wide.tolist() == [(w[0] << 32 | w[1]) % (2**64 - 1) - 2**63 for w in drawn[2][:5]]
    assert narrow.dtype == torch.int32
    assert narrow.flatten().tolist() == [((w[0] << 32 | w[1]) * 1005 >> 64) - 5 for w in drawn[3][:6]]


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_normal_numbers_are_box_and_mullers(dtype: torch.dtype) -> None:
    program = compiled(lambda _: torch.randn(64, dtype=dtype), seed=7)
    found = program(X)
    expected: list[float] = []
    for w in (words(7, 0, i) for i in range(64)):
        if dtype == torch.float64:
            above, angle, unit = (w[0] << 32 | w[1]) >> 11, (w[2] << 32 | w[3]) >> 11, 2.0**-53
        else:
            above, angle, unit = w[0], w[1], 2.0**-32
        expected.append(math.sqrt(-2 * math.log((above + 0.5) * unit)) * math.cos(2 * math.pi * angle * unit))
    torch.testing.assert_close(found, torch.tensor(expected, dtype=dtype), rtol=1e-5, atol=2e-6)


DISTRIBUTIONS: dict[str, tuple[Callable[[Tensor], Tensor], float, float, Callable[[Tensor], Tensor]]] = {
    "rand": (lambda _: torch.rand(200, 100), 0.5, 1 / 12, lambda x: x),
    "rand in f64": (lambda _: torch.rand(20000, dtype=torch.float64), 0.5, 1 / 12, lambda x: x),
    "rand_like": (lambda x: torch.rand_like(x.new_zeros(20000)), 0.5, 1 / 12, lambda x: x),
    "uniform": (lambda _: torch.empty(20000).uniform_(-1, 3), 1.0, 16 / 12, lambda x: (x + 1) / 4),
    "randn": (lambda _: torch.randn(200, 100), 0.0, 1.0, normal_cdf),
    "randn in f64": (lambda _: torch.randn(20000, dtype=torch.float64), 0.0, 1.0, normal_cdf),
    "normal": (lambda _: torch.empty(20000).normal_(2, 3), 2.0, 9.0, lambda x: normal_cdf((x - 2) / 3)),
    "normal of tensors": (
        lambda x: torch.normal(x.new_full((20000,), 2.0), x.new_full((20000,), 0.5)),
        2.0,
        0.25,
        lambda x: normal_cdf((x - 2) * 2),
    ),
}


@pytest.mark.parametrize("name", DISTRIBUTIONS)
def test_distribution(name: str) -> None:
    op, mean, variance, cumulative = DISTRIBUTIONS[name]
    drawn = compiled(op, seed=3)(X)
    assert drawn.dtype == op(X).dtype
    count = drawn.numel()
    assert abs(float(drawn.double().mean()) - mean) < 4 * math.sqrt(variance / count)
    assert abs(float(drawn.double().var()) - variance) < 4 * variance * math.sqrt(2 / count)
    assert distance(drawn, cumulative) < 1.95


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_halves(dtype: torch.dtype) -> None:
    drawn, normal = compiled(lambda _: (torch.rand(9000, dtype=dtype), torch.randn(9000, dtype=dtype)))(X)
    assert drawn.dtype == normal.dtype == dtype
    assert drawn.min() >= 0
    assert drawn.max() < 1
    assert abs(float(drawn.double().mean()) - 0.5) < 0.015
    assert abs(float(normal.double().var()) - 1) < 0.06


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_halves_between_two_numbers_stay_below_the_upper(dtype: torch.dtype) -> None:
    """One in a few thousand would round up to it if more bits were drawn than the type has."""
    drawn = compiled(lambda x: x.new_empty(30000, dtype=dtype).uniform_(0, 1))(X)
    assert drawn.dtype == dtype
    assert drawn.min() >= 0
    assert drawn.max() < 1


def test_exponential_numbers_are_never_zero() -> None:
    """An element for which zero is drawn has a logarithm all the same."""
    op, place = 4710, 6628
    assert words(0, op, place)[0] >> 8 == 0
    program = compiled(lambda x: x.new_empty(8192).exponential_(2.0))
    program.seed(0, op)
    drawn = program(X)
    assert drawn[place] == 2.0**-26
    assert (drawn > 0).all()


def test_exponential_numbers_of_a_half_are_never_zero() -> None:
    program = compiled(lambda x: x.new_empty(1 << 20, dtype=torch.float16).exponential_(1024.0))
    assert (program(X) > 0).all()


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32])
def test_uniform_numbers_are_never_the_upper_end(dtype: torch.dtype) -> None:
    """Rounded, many would be: numbers of float32 near a million are 1/16 apart."""
    low = {torch.float16: 1000.0, torch.bfloat16: 100.0, torch.float32: 1e6}[dtype]
    drawn = compiled(lambda x: x.new_empty(4096, dtype=dtype).uniform_(low, low + 1))(X)
    assert drawn.dtype == dtype
    assert ((drawn >= low) & (drawn < low + 1)).all()
    assert (drawn > low).any()


def test_integers_are_uniform() -> None:
    drawn = compiled(lambda _: torch.randint(-3, 7, (20000,)))(X)
    counts = torch.bincount(drawn + 3, minlength=10)
    assert len(counts) == 10
    assert float(((counts - 2000) ** 2 / 2000).sum()) < 27.9  # chi-squared of 9 degrees: once in a thousand seeds


def test_bernoulli() -> None:
    p = torch.tensor([0.0, 0.25, 0.75, 1.0]).repeat(5000, 1)
    by_tensor, by_number = compiled(lambda p: (torch.bernoulli(p), torch.bernoulli(p, 0.3)), p)(p)
    assert set(by_tensor.unique().tolist()) == {0.0, 1.0}
    means = by_tensor.mean(0)
    assert (means[0], means[3]) == (0, 1)
    torch.testing.assert_close(means[1:3], p[0, 1:3], rtol=0, atol=0.025)
    assert abs(float(by_number.mean()) - 0.3) < 0.015


@pytest.mark.parametrize("p", [0.0, 0.25, 1.0])
def test_dropout(p: float) -> None:
    x = torch.rand(100, 200) + 1
    found = compiled(lambda x: F.dropout(x, p, training=True), x)(x)
    kept = found != 0
    if p < 1:
        torch.testing.assert_close(found[kept], x[kept] / (1 - p))
    assert abs(float(kept.double().mean()) - (1 - p)) <= 4 * math.sqrt(p * (1 - p) / x.numel())


def test_a_module_in_training_draws_anew_in_each_call() -> None:
    model = torch.nn.Sequential(torch.nn.Linear(8, 64), torch.nn.Dropout(0.5), torch.nn.Linear(64, 64))
    x = torch.randn(3, 8)
    program = hotdesk.compile(model.train(), (x,), seed=5)
    first, second = program(x), program(x)
    assert not torch.equal(first, second)
    assert program.random_state == (5, 2)
    program.seed(5)
    assert torch.equal(program(x), first)
    assert torch.equal(program(x), second)
    program.seed(5, offset=1)
    assert torch.equal(program(x), second)
    program.seed(6)
    assert not torch.equal(program(x), first)


def test_ops_draw_different_numbers_and_calls_too() -> None:
    program = compiled(lambda x: (torch.rand(50), torch.rand(50)))
    drawn = torch.cat([each for _ in range(3) for each in program(X)])
    assert len(drawn.unique()) == 300
    assert program.random_state == (0, 6)


def test_eager_numbers_are_left_alone() -> None:
    program = compiled(lambda x: torch.rand(5) + x.sum())
    torch.manual_seed(1)
    expected = torch.rand(3)
    torch.manual_seed(1)
    program(X)
    assert torch.equal(torch.rand(3), expected)


def test_options_and_entries() -> None:
    model = Of(lambda x: torch.rand(6) + x.sum())
    by_option = hotdesk.compile(model, (X,), options=hotdesk.Options(seed=9))
    programs = hotdesk.compile_many({"a": (model, (X,)), "b": (model, (X,))}, options=hotdesk.Options(seed=9))
    expected = by_option(X)
    assert torch.equal(programs["a"](X), expected)
    assert torch.equal(programs["b"](X), expected)


def test_threads_do_not_matter() -> None:
    program = compiled(lambda _: torch.rand(300, 400))
    before = hotdesk.get_num_threads()
    try:
        hotdesk.set_num_threads(1)
        expected = program(X)
        program.seed(0)
        hotdesk.set_num_threads(2)
        assert torch.equal(program(X), expected)
    finally:
        hotdesk.set_num_threads(before)
    small = compiled(lambda _: torch.rand(20))
    expected_calls = {tuple(small(X).tolist()) for _ in range(16)}
    small.seed(0)
    with ThreadPoolExecutor(4) as pool:
        assert {tuple(each.tolist()) for each in pool.map(small, [X] * 16)} == expected_calls


def test_sizes_that_vary() -> None:
    x = torch.zeros(3, 5, 2)
    dims = {"x": {0: torch.export.Dim("a", max=99), 1: torch.export.Dim("b", max=99)}}

    class Model(torch.nn.Module):
        def forward(self, x: Tensor) -> Tensor:
            return torch.rand_like(x)

    program = hotdesk.compile(Model(), (x,), dynamic_shapes=dims)
    for call, shape in enumerate(((3, 5, 2), (4, 7, 2), (0, 7, 2))):
        found = program(torch.zeros(shape))
        expected = [(words(0, call, i)[0] >> 8) * 2.0**-24 for i in range(math.prod(shape))]
        assert found.shape == shape
        assert found.flatten().tolist() == expected


def test_no_elements_and_one() -> None:
    program = compiled(lambda x: (torch.rand(0, 3), torch.randn(()), torch.randint(4, (2, 0))))
    none, one, integers = program(X)
    assert (none.shape, one.shape, integers.shape) == ((0, 3), (), (2, 0))
    assert torch.isfinite(one)


def test_check_finds_no_fault() -> None:
    program = compiled(lambda x: F.dropout(torch.randn_like(x), 0.5, training=True))
    state = program.random_state
    report = program.check(X)
    assert not report.faults
    assert program.random_state == state


def test_numbers_that_nobody_reads_are_not_drawn() -> None:
    def op(x: Tensor) -> Tensor:
        torch.rand(3)
        return x + 1

    program = compiled(op)
    assert torch.equal(program(X), X + 1)
    assert program.random_state is None
    program.seed(1)


@pytest.mark.parametrize("seed", [2**63, 1.5, True])
def test_seeds_that_are_none(seed: Any) -> None:
    with pytest.raises(OptionError):
        hotdesk.Options(seed=seed)
    with pytest.raises(OptionError):
        compiled(lambda _: torch.rand(3)).seed(seed)


def uniform(seed: int, counter: int, count: int) -> Tensor:
    """What the op that has this counter draws."""
    return torch.tensor([(words(seed, counter, i)[0] >> 8) * 2.0**-24 for i in range(count)])


def in_while(x: Tensor) -> Any:
    def step(i: Tensor, x: Tensor) -> tuple[Tensor, Tensor]:
        return i + 1, x + torch.rand(4) * (i + 1)

    return while_loop(lambda i, x: i < 3, step, (torch.tensor(0), x + torch.rand(4)))[1] - torch.rand(4)


def in_cond(x: Tensor) -> Any:
    def one(x: Tensor) -> Tensor:
        return x + torch.rand(4)

    def two(x: Tensor) -> Tensor:
        return x - torch.rand(4) - 2 * torch.rand(4)

    return torch.cond(x.sum() > 0, one, two, (x,)) + torch.rand(4)


def in_scan(x: Tensor) -> Any:
    def step(total: Tensor, row: Tensor) -> tuple[Tensor, Tensor]:
        drawn = torch.rand(4)
        return total + drawn, drawn * row

    return scan(step, x, torch.ones(3, 4))


def in_map(x: Tensor) -> Any:
    return torch_map(lambda row, x: row + x * torch.rand(4), torch.zeros(3, 4), x + 1)


def in_both(x: Tensor) -> Any:
    """A branch in a loop."""

    def one(x: Tensor) -> Tensor:
        return x + torch.rand(4)

    def none(x: Tensor) -> Tensor:
        return x * 2

    def step(i: Tensor, x: Tensor) -> tuple[Tensor, Tensor]:
        return i + 1, torch.cond(i % 2 == 0, one, none, (x,)) + torch.rand(4)

    return while_loop(lambda i, x: i < 3, step, (torch.tensor(0), x))[1]


def expected_in_both(u: Callable[[int], Tensor], x: Tensor) -> Tensor:
    x = x + u(0) + u(1)
    x = x * 2 + u(2)
    return x + u(3) + u(4)


DRAWN: dict[str, tuple[Callable[[Tensor], Any], int, Callable[[Callable[[int], Tensor], Tensor], Any]]] = {
    "while_loop": (in_while, 5, lambda u, x: x + u(0) + u(1) + 2 * u(2) + 3 * u(3) - u(4)),
    "cond": (in_cond, 3, lambda u, x: x - u(0) - 2 * u(1) + u(2)),
    "scan": (in_scan, 3, lambda u, x: (x + u(0) + u(1) + u(2), torch.stack([u(0), u(1), u(2)]))),
    "map": (in_map, 3, lambda u, x: torch.stack([(x + 1) * u(0), (x + 1) * u(1), (x + 1) * u(2)])),
    "cond in while_loop": (in_both, 5, expected_in_both),
}


@pytest.mark.parametrize("name", DRAWN)
def test_loops_and_branches_draw_in_order(name: str) -> None:
    """Each iteration, and what comes behind a loop, goes on where the last one has stopped; and so does the next call."""
    op, count, expected = DRAWN[name]
    program = compiled(op, seed=11)
    x = -torch.arange(4.0)
    for call in range(2):
        wanted = expected(lambda i, begin=call * count: uniform(11, begin + i, 4), x)
        torch.testing.assert_close(program(x), wanted)
        assert program.random_state == (11, (call + 1) * count)
    program.seed(11, offset=count)
    torch.testing.assert_close(program(x), expected(lambda i: uniform(11, count + i, 4), x))
    assert not program.check(x).faults


def test_the_way_that_is_taken_counts() -> None:
    program = compiled(in_cond, seed=11)
    torch.testing.assert_close(program(X + 1), X + 1 + uniform(11, 0, 4) + uniform(11, 1, 4))
    assert program.random_state == (11, 2)


def test_permutations() -> None:
    program = compiled(lambda x: torch.randperm(5))
    counts = torch.zeros(5, 5)
    seen = set[tuple[int, ...]]()
    for _ in range(600):
        drawn = program(X)
        assert sorted(drawn.tolist()) == list(range(5))
        counts[torch.arange(5), drawn] += 1
        seen.add(tuple(drawn.tolist()))
    assert drawn.dtype == torch.int64
    assert len(seen) > 110  # of 120
    assert float(((counts - 120) ** 2 / 120).sum()) < 47  # chi-squared of 16 degrees: once in ten thousand seeds
    narrow = compiled(lambda x: torch.randperm(5, dtype=torch.int32))(X)
    assert narrow.dtype == torch.int32


WEIGHTS = torch.tensor([[0.0, 1.0, 2.0, 5.0], [3.0, 0.0, 0.0, 1.0]])


def test_multinomial_with_replacement() -> None:
    drawn = compiled(lambda w: torch.multinomial(w, 4000, replacement=True), WEIGHTS)(WEIGHTS)
    assert drawn.shape == (2, 4000)
    for row, weights in zip(drawn, WEIGHTS, strict=True):
        found = torch.bincount(row, minlength=4) / 4000
        torch.testing.assert_close(found, weights / weights.sum(), rtol=0, atol=0.035)
        assert (found[weights == 0] == 0).all()


def test_multinomial_without_replacement() -> None:
    program = compiled(lambda w: torch.multinomial(w, 2), WEIGHTS)
    first, pairs = torch.zeros(2, 4), torch.zeros(4, 4)
    for _ in range(1500):
        drawn = program(WEIGHTS)
        assert (drawn[:, 0] != drawn[:, 1]).all()
        assert (WEIGHTS.gather(1, drawn) > 0).all()
        first[torch.arange(2), drawn[:, 0]] += 1 / 1500
        pairs[drawn[0, 0], drawn[0, 1]] += 1 / 1500
    p = WEIGHTS / WEIGHTS.sum(1, keepdim=True)
    torch.testing.assert_close(first, p, rtol=0, atol=0.06)
    torch.testing.assert_close(pairs[3, 2], p[0, 3] * p[0, 2] / (1 - p[0, 3]), rtol=0, atol=0.06)
    one = compiled(lambda w: torch.multinomial(w, 1), WEIGHTS)
    drawn = torch.cat([one(WEIGHTS) for _ in range(1500)], 1)
    torch.testing.assert_close(torch.bincount(drawn[0], minlength=4) / 1500, p[0], rtol=0, atol=0.06)


MORE: dict[str, tuple[Callable[[Tensor], Tensor], Callable[[Tensor], Tensor]]] = {
    "exponential": (lambda x: x.new_empty(20000).exponential_(3.0), lambda x: 1 - torch.exp(-3 * x)),
    "cauchy": (lambda x: x.new_empty(20000).cauchy_(1.0, 2.0), lambda x: torch.atan((x - 1) / 2) / math.pi + 0.5),
    "log_normal": (lambda x: x.new_empty(20000).log_normal_(0.5, 0.25), lambda x: normal_cdf((x.log() - 0.5) * 4)),
}


@pytest.mark.parametrize("name", MORE)
def test_distribution_by_its_quantiles(name: str) -> None:
    op, cumulative = MORE[name]
    drawn = compiled(op, seed=3)(X)
    assert drawn.dtype == op(X).dtype
    assert distance(drawn, cumulative) < 1.95


def test_geometric_and_integers_in_place() -> None:
    trials, between = compiled(lambda x: (x.new_empty(20000).geometric_(0.25), x.new_empty(9000).random_(3)))(X)
    counts = torch.bincount(trials.long())
    assert counts[0] == 0
    torch.testing.assert_close(counts[1:5] / 20000, 0.25 * 0.75 ** torch.arange(4), rtol=0, atol=0.015)
    assert between.unique().tolist() == [0, 1, 2]


def in_condition(x: Tensor) -> Any:
    return while_loop(lambda i, x: torch.rand(()) < 0.5, lambda i, x: (i + 1, x + 1), (torch.tensor(0), x))[1]


@pytest.mark.parametrize(
    ("name", "op"),
    [("poisson", torch.poisson), ("while_loop", in_condition)],
)
def test_what_is_refused(name: str, op: Callable[..., Any]) -> None:
    with pytest.raises(UnsupportedOpError, match=name):
        compiled(op)
