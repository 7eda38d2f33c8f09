"""One plan for all sizes: what is proven is compared with plans of their own for sizes all over the range."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hotdesk.planning import Buffer, Plan, Pool, Problem, check, lower_bound, plan
from hotdesk.planning.sizes.all_sizes import good_for_all, sure_loans
from hotdesk.planning.sizes.repacking import borrowing_less, repacked
from hotdesk.planning.sizes.stacking import arena_of, lay_out, read_stacking
from hotdesk.sizes.polynomials import Polynomial

N, M = Polynomial.symbol("n"), Polynomial.symbol("m")
RANGES = {"n": (1, None), "m": (1, None)}
Live = tuple[int, int]


def problem_at(
    live: Sequence[Live], sizes: Sequence[Polynomial], values: Mapping[str, int], pool: tuple[Polynomial, int] | None
) -> Problem:
    buffers = tuple(Buffer(i, a, b, size.at(values)) for i, ((a, b), size) in enumerate(zip(live, sizes, strict=True)))
    return Problem(buffers, () if pool is None else (Pool("r", pool[0].at(values), ((0, pool[1]),)),))


def laid_out(problem: Problem, made: Plan, then: Problem) -> Plan:
    """The stacking of a plan, laid out for other sizes and checked."""
    found = lay_out(read_stacking(problem.buffers, made), then)
    assert found is not None
    again = Plan(found[0], found[1], lower_bound(then), "stacking", found[1])
    assert check(then, again) == ()
    return again


CHAIN = tuple((i, i + 2) for i in range(7))


def test_a_chain_of_layers_in_batches() -> None:
    sizes = [N.times(4 * width) for width in (6, 9, 4, 100, 6, 9, 24)]
    pool = (N.times(36), 3)
    sample = problem_at(CHAIN, sizes, {"n": 64}, pool)
    stacking = good_for_all(sample, plan(sample), sizes, {"r": pool[0]}, {"n": (1, None)})
    assert stacking is not None
    for n in (1, 2, 3, 15, 16, 17, 63, 65, 100, 4096):
        there = problem_at(CHAIN, sizes, {"n": n}, pool)
        found = lay_out(stacking, there)
        assert found is not None
        assert found[1] == lower_bound(there).bytes


def test_which_of_two_is_larger_depends_on_the_sizes() -> None:
    """`a` and `b` are never live together, and the arena is the larger one: proven only if their order is known."""
    live, sizes = ((0, 1), (1, 2)), [N.times(64), M.times(128)]
    sample = problem_at(live, sizes, {"n": 8, "m": 8}, None)
    assert good_for_all(sample, plan(sample), sizes, {}, RANGES) is not None  # each is what its own step needs
    beside = [*live, (0, 2)]
    wider = [*sizes, N.times(64)]
    sample = problem_at(beside, wider, {"n": 8, "m": 8}, None)
    stacking = good_for_all(sample, plan(sample), wider, {}, RANGES)
    assert stacking is not None
    for n, m in product((1, 5, 100), repeat=2):
        there = problem_at(beside, wider, {"n": n, "m": m}, None)
        found = lay_out(stacking, there)
        assert found is not None
        assert found[1] == lower_bound(there).bytes


def test_two_that_lie_where_one_lay_are_padded_more() -> None:
    """400 n bytes and twice 200 n: with n = 1 the two take 512, the one 448, so no plan is the least for all n by proof."""
    live, sizes = ((0, 1), (1, 2), (1, 2)), [N.times(400), N.times(200), N.times(200)]
    sample = problem_at(live, sizes, {"n": 64}, None)
    assert good_for_all(sample, plan(sample), sizes, {}, {"n": (1, None)}) is not None  # the second step needs as much
    live = ((0, 3), (0, 1), (1, 2), (1, 3), (2, 3))
    sizes = [N.times(k) for k in (64, 400, 200, 200, 200)]
    sample = problem_at(live, sizes, {"n": 64}, None)
    stacking = good_for_all(sample, plan(sample), sizes, {}, {"n": (1, None)})
    for n in (1, 2, 3, 7, 64) if stacking is not None else ():
        there = problem_at(live, sizes, {"n": n}, None)
        assert laid_out(sample, plan(sample), there).arena == lower_bound(there).bytes


def test_a_loan_that_does_not_fit_for_all_sizes_is_not_proven() -> None:
    live, sizes = ((0, 2),), [M.times(64)]
    pool = (N.times(64), 2)
    sample = problem_at(live, sizes, {"n": 8, "m": 8}, pool)
    made = plan(sample)
    assert made.arena == 0
    assert good_for_all(sample, made, sizes, {"r": pool[0]}, RANGES) is None
    assert good_for_all(sample, made, sizes, {"r": pool[0]}, {"n": (9, None), "m": (1, 9)}) is not None
    stacking = read_stacking(sample.buffers, made)
    assert sure_loans(sample, stacking, sizes, {"r": pool[0]}, RANGES) == frozenset()
    assert sure_loans(sample, stacking, sizes, {"r": pool[0]}, {"n": (9, None), "m": (1, 9)}) == {0}
    without = borrowing_less(sample, made, ())
    assert (check(sample, without), without.arena) == ((), 8 * 64)
    assert lay_out(stacking, problem_at(live, sizes, {"n": 8, "m": 9}, pool)) is None


@pytest.mark.parametrize("other", [Buffer("a", 0, 2, 64, alignment=128), Buffer("a", 0, 2, 64, fixed_offset=0)])
def test_mixed_alignment_and_pins_are_left_alone(other: Buffer) -> None:
    problem = Problem((other, Buffer("b", 0, 1, 64)))
    assert good_for_all(problem, plan(problem), [N.times(64)] * 2, {}, RANGES) is None


def test_buffers_without_bytes() -> None:
    sizes = [Polynomial.number(0), N.times(64), Polynomial.number(0)]
    live = ((0, 3), (0, 2), (1, 3))
    sample = problem_at(live, sizes, {"n": 4}, (Polynomial.number(0), 3))
    assert laid_out(sample, plan(sample), problem_at(live, sizes, {"n": 9}, None)).arena == 9 * 64


SIZES = st.one_of(
    st.integers(0, 300).map(Polynomial.number),
    st.integers(1, 300).map(N.times),
    st.integers(1, 300).map(M.times),
    st.tuples(st.integers(1, 99), st.integers(0, 200)).map(lambda t: N.times(t[0]) + Polynomial.number(t[1])),
)
LIVES = st.tuples(st.integers(0, 6), st.integers(1, 4)).map(lambda t: (t[0], t[0] + t[1]))


@settings(max_examples=40, deadline=None, derandomize=True)
@given(
    st.lists(st.tuples(LIVES, SIZES), min_size=1, max_size=8), st.one_of(st.none(), st.tuples(SIZES, st.integers(1, 7)))
)
def test_what_is_proven_holds_for_all_sizes(
    drawn: list[tuple[Live, Polynomial]], pool: tuple[Polynomial, int] | None
) -> None:
    live, sizes = [a for a, _ in drawn], [b for _, b in drawn]
    sample = problem_at(live, sizes, {"n": 9, "m": 5}, pool)
    made = plan(sample, effort=0)
    stacking = good_for_all(sample, made, sizes, {} if pool is None else {"r": pool[0]}, RANGES)
    for n, m in product((1, 2, 3, 8, 100), (1, 4, 33)):
        there = problem_at(live, sizes, {"n": n, "m": m}, pool)
        found = lay_out(read_stacking(sample.buffers, made), there)
        if found is None:
            assert stacking is None
            continue
        again = Plan(found[0], found[1], lower_bound(there), "stacking", found[1])
        assert check(there, again) == ()
        assert check(there, repacked(there, again)) == ()
        assert repacked(there, again).arena <= again.arena
        assert check(there, borrowing_less(there, again, {0, 2})) == ()
        footprints = [buffer.footprint for buffer in there.buffers]
        assert arena_of(read_stacking(sample.buffers, made), footprints) == again.arena
        if stacking is not None:
            assert again.proven_optimal
