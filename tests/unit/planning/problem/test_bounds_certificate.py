"""What proves a bound, in figures: buffers, what they take together, and what pools lend."""

from __future__ import annotations

from hotdesk.planning import Bound, Buffer, Pool, Problem, Tie, plan
from hotdesk.planning.problem.bounds import certificate, certificate_text

BUFFERS = (Buffer("a", 0, 2, 100), Buffer("b", 1, 3, 130), Buffer("c", 2, 4, 100), Buffer("d", 1, 2, 10))


def test_live_together() -> None:
    problem = Problem(BUFFERS)
    made = plan(problem)
    found = certificate(problem, made.bound)
    assert [buffer.id for buffer in found.buffers] == ["b", "a", "d"]
    assert (found.together, found.lent, made.bound.bytes) == (192 + 128 + 64, 0, 384)
    assert certificate_text(found) == "b 192, a 128, d 64"
    assert certificate_text(found, 1) == "b 192, 2 more 192"


def test_what_pools_lend() -> None:
    """`a` and `d` may lie in the pool, whose 150 bytes are 192 with padding."""
    problem = Problem((BUFFERS[0], BUFFERS[1], BUFFERS[3]), (Pool("r", 150, ((0, 2),)),))
    made = plan(problem)
    found = certificate(problem, made.bound)
    eligible = [buffer for buffer in found.buffers if buffer.upper <= 2]
    assert made.bound.step == 1
    assert found.lent == min(192, sum(buffer.footprint for buffer in eligible))
    assert found.together - found.lent == made.bound.bytes == 192
    assert certificate_text(found).endswith(", less 192 that pools lend")


def test_tied_buffers_count_once() -> None:
    problem = Problem(BUFFERS, (), (Tie("d", "b", 64),))
    found = certificate(problem, plan(problem).bound)
    assert (found.together, found.lent, found.bound.bytes) == (192 + 128, 0, 320)
    assert certificate_text(found) == "b 192, a 128, d 64, less 64 that ties share"


def test_pinned() -> None:
    problem = Problem((Buffer("a", 0, 1, 64, fixed_offset=640),))
    found = certificate(problem, plan(problem).bound)
    assert (found.bound.kind, found.bound.bytes, found.together, found.lent) == ("pinned", 704, 64, 0)


def test_a_search_takes_nothing_off() -> None:
    found = certificate(Problem(BUFFERS), Bound(448, 0, ("a", "b", "c", "d"), "dive"))
    assert (found.together, found.lent, len(found.buffers)) == (512, 0, 4)


def test_no_buffers() -> None:
    problem = Problem(())
    found = certificate(problem, plan(problem).bound)
    assert (found.buffers, found.together, found.lent, certificate_text(found)) == ((), 0, 0, "")
