"""Equal layers that hand something on."""

import random
from itertools import pairwise

import pytest

from hotdesk.planning import Buffer, Problem, check, plan, portfolio
from hotdesk.planning.deadline import NO_DEADLINE
from hotdesk.planning.instance import Instance, Layout, build_instance
from hotdesk.planning.layers import find_layers, plan_layers
from hotdesk.planning.skyline import find_neighbours, skyline


def network(count: int, seed: int = 0, mask: int = 0) -> Problem:
    """`count` equal layers of ten steps; `x` of each is live from its last step to the middle of the next layer.

    `mask` is read by all layers but the first and the last.
    """
    rng = random.Random(seed)
    starts = [rng.randrange(8) for _ in range(6)]
    inner = [(start, rng.randint(start + 1, 9), 16 * rng.randint(1, 9)) for start in starts]
    buffers = [Buffer("mask", 5, 10 * count - 6, mask, 16)]
    for n in range(count):
        at = 10 * n
        buffers += [Buffer(f"{n}.{k}", at + a, at + b, size, 16) for k, (a, b, size) in enumerate(inner)]
        buffers.append(Buffer(f"{n}.x", at + 8, at + 14, 64, 16))
    return Problem(tuple(buffers))


def apart(instance: Instance, offsets: tuple[int, ...]) -> bool:
    n = len(instance)
    return all(
        instance.upper[i] <= instance.lower[j]
        or instance.upper[j] <= instance.lower[i]
        or offsets[i] + instance.size[i] <= offsets[j]
        or offsets[j] + instance.size[j] <= offsets[i]
        for i in range(n)
        for j in range(i)
    )


@pytest.mark.parametrize("mask", [0, 48])
@pytest.mark.parametrize("seed", [0, 2, 3, 4, 5, 9, 24, 25])
def test_layers_are_planned_once_and_fit_together(seed: int, mask: int) -> None:
    instance = build_instance(network(40, seed, mask))
    solved: list[Instance] = []

    def solve(part: Instance) -> Layout:
        solved.append(part)
        return portfolio.STRATEGIES["portfolio"](part, portfolio.Request(0, 20_000, NO_DEADLINE))

    layout = plan_layers(instance, solve)
    assert len(solved) <= 16  # of 40 layers, and for four ways to put long-lived buffers aside
    assert layout is not None or not mask
    if layout is not None:
        assert layout.arena == instance.floor
        assert apart(instance, layout.offsets)


def test_what_crosses_several_seams_lies_on_the_ground() -> None:
    instance = build_instance(network(10, 3, mask=48))
    found = find_layers(instance, aside=(0,))
    assert found is not None
    layers, spanning = found
    assert [instance.size[i] for i in spanning] == [48]
    assert len(layers) >= 8
    assert all(layer.handed_on == after.given for layer, after in pairwise(layers))


@pytest.mark.parametrize("seed", [9, 24, 25, 40, 52])
@pytest.mark.parametrize("mask", [0, 48])
def test_the_portfolio_plans_layers_where_orders_do_not_do(
    seed: int, mask: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    problem = network(40, seed, mask)
    result = plan(problem, effort=20_000)
    assert check(problem, result) == ()
    assert (result.strategy, result.proven_optimal) == ("layers", True)

    def without(*_: object) -> None:
        """No layers are found."""

    monkeypatch.setattr(portfolio, "plan_layers", without)
    assert plan(problem, effort=20_000).gap > 0.03


def test_without_layers_there_is_no_answer() -> None:
    rng = random.Random(1)
    starts = [rng.randrange(60) for _ in range(120)]
    for problem in (
        Problem(()),
        Problem((Buffer("a", 0, 1, 64),)),
        Problem((Buffer("a", 0, 2, 64), Buffer("b", 2, 4, 64))),
        Problem(tuple(Buffer(i, s, s + rng.randrange(9, 25), 64, 1) for i, s in enumerate(starts))),
        Problem((*network(5).buffers, Buffer("pin", 0, 50, 64, fixed_offset=0))),
        Problem((*network(5).buffers, Buffer("odd", 0, 50, 3, 1))),
    ):
        instance = build_instance(problem)
        assert (
            plan_layers(instance, lambda part: skyline(part, find_neighbours(part), range(len(part)), "given")) is None
        )
