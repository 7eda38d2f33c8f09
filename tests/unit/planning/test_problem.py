import pytest

from hotdesk.planning import Buffer, Pool, Problem


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"lower": 3, "upper": 3}, r"buffer 'x': expected lower < upper, got \[3, 3\)"),
        ({"lower": 4, "upper": 3}, r"expected lower < upper, got \[4, 3\)"),
        ({"size": -1}, "expected a size of 0 bytes or more, got -1"),
        ({"alignment": 0}, "expected an alignment that is a power of two, got 0"),
        ({"alignment": -2}, "expected an alignment that is a power of two, got -2"),
        ({"alignment": 48}, "expected an alignment that is a power of two, got 48"),
        ({"fixed_offset": 32}, "expected a fixed offset that is a multiple of 64, got 32"),
        ({"fixed_offset": -64}, "expected a fixed offset that is a multiple of 64, got -64"),
    ],
)
def test_buffer_rejects(arguments: dict[str, int], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Buffer("x", **{"lower": 0, "upper": 1, "size": 8, **arguments})


@pytest.mark.parametrize(
    ("size", "alignment", "footprint"), [(0, 64, 0), (1, 64, 64), (64, 64, 64), (65, 64, 128), (7, 1, 7)]
)
def test_footprint_is_the_size_rounded_up(size: int, alignment: int, footprint: int) -> None:
    assert Buffer(0, 0, 1, size, alignment).footprint == footprint


@pytest.mark.parametrize(
    ("capacity", "free", "message"),
    [
        (-1, ((0, 1),), "pool 'p': expected a capacity of 0 bytes or more, got -1"),
        (8, ((2, 2),), r"expected a free interval with start < end, got \[2, 2\)"),
        (8, ((4, 6), (0, 2)), "in order and disjoint, got one that starts at 0 before 6"),
        (8, ((0, 3), (2, 4)), "in order and disjoint, got one that starts at 2 before 3"),
    ],
)
def test_pool_rejects(capacity: int, free: tuple[tuple[int, int], ...], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Pool("p", capacity, free)


def test_problem_rejects_repeated_ids() -> None:
    with pytest.raises(ValueError, match="expected every buffer id once, got 'x' twice"):
        Problem((Buffer("x", 0, 1, 8), Buffer("x", 1, 2, 8)))
    with pytest.raises(ValueError, match="expected every pool id once, got 0 twice"):
        Problem((), (Pool(0, 8, ()), Pool(0, 8, ())))


def test_problem_rejects_pinned_buffers_that_collide() -> None:
    with pytest.raises(ValueError, match="to lie apart, got 'a' and 'b' at 0 and 64"):
        Problem((Buffer("a", 0, 2, 65, fixed_offset=0), Buffer("b", 1, 3, 1, fixed_offset=64)))


def test_problem_accepts_pinned_buffers_that_never_meet() -> None:
    Problem((Buffer("a", 0, 2, 65, fixed_offset=0), Buffer("b", 2, 3, 1, fixed_offset=64)))
    Problem((Buffer("a", 0, 2, 64, fixed_offset=0), Buffer("b", 1, 3, 1, fixed_offset=64)))


def test_problem_rejects_sizes_beyond_its_integers() -> None:
    with pytest.raises(ValueError, match="expected sizes that sum to less than"):
        Problem((Buffer("a", 0, 1, 1 << 59), Buffer("b", 0, 1, 1 << 59)))
