from hotdesk.planning import Bound, Buffer, Pool, Problem, lower_bound, plan


def test_the_certificate_names_what_is_live_at_the_peak() -> None:
    problem = Problem((Buffer("a", 0, 4, 64), Buffer("b", 2, 6, 128), Buffer("c", 4, 8, 64), Buffer("none", 2, 3, 0)))
    assert lower_bound(problem) == Bound(192, 2, ("a", "b"))


def test_live_ranges_are_half_open() -> None:
    assert lower_bound(Problem((Buffer("a", 0, 1, 64), Buffer("b", 1, 2, 64)))).bytes == 64


def test_footprints_count_not_sizes() -> None:
    assert lower_bound(Problem((Buffer("a", 0, 1, 1, 64), Buffer("b", 0, 1, 65, 64)))).bytes == 192


def test_nothing_needs_nothing() -> None:
    assert lower_bound(Problem(())) == Bound(0, 0, ())
    assert lower_bound(Problem((Buffer("a", 5, 6, 0),))) == Bound(0, 0, ())


def test_a_pool_lends_to_buffers_inside_a_free_interval() -> None:
    buffers = (Buffer("a", 0, 4, 128), Buffer("b", 1, 3, 64))
    assert lower_bound(Problem(buffers, (Pool("p", 64, ((1, 3),)),))) == Bound(128, 0, ("a",))
    assert lower_bound(Problem(buffers, (Pool("p", 64, ((1, 2), (2, 3))),))) == Bound(128, 0, ("a",))
    assert lower_bound(Problem(buffers, (Pool("p", 64, ((0, 2), (3, 4))),))).bytes == 192
    assert lower_bound(Problem(buffers, (Pool("p", 63, ((0, 4),)),))).bytes == 192


def test_a_pool_lends_no_more_than_its_capacity() -> None:
    buffers = tuple(Buffer(i, 0, 1, 64) for i in range(3))
    assert lower_bound(Problem(buffers, (Pool("p", 128, ((0, 1),)),))).bytes == 64
    assert lower_bound(Problem(buffers, (Pool("p", 128, ((0, 1),)), Pool("q", 512, ((0, 9),))))).bytes == 0


def test_padding_at_the_end_of_a_pool_needs_no_memory() -> None:
    assert lower_bound(Problem((Buffer("a", 0, 1, 100),), (Pool("p", 100, ((0, 1),)),))).bytes == 0


def test_what_is_behind_the_last_whole_block_of_a_pool_is_lent_to_what_may_end_there() -> None:
    sizes = {"a": 96, "b": 48, "c": 32}
    pool = (Pool("p", 80, ((0, 1),)),)
    buffers = tuple(Buffer(name, 0, 1, size, 64) for name, size in sizes.items())
    assert lower_bound(Problem(buffers, pool)).bytes == 128 + 64 + 64 - 64
    assert plan(Problem(buffers, pool)).arena == 128 + 64 + 64 - 64
    assert lower_bound(Problem((*buffers, Buffer("d", 0, 1, 16, 64)), pool)).bytes == 128 + 64 + 64 + 64 - 128
    assert lower_bound(Problem((*buffers, Buffer("d", 0, 1, 64, 32)), pool)).bytes == 128 + 64 + 64 + 64 - 128


def test_two_pools_do_not_lend_to_one_buffer_twice() -> None:
    """`small` fits both pools, `large` neither: the arena must hold all of `large`."""
    buffers = (Buffer("small", 0, 1, 64), Buffer("large", 0, 1, 256))
    pools = (Pool("p", 64, ((0, 1),)), Pool("q", 64, ((0, 1),)))
    assert lower_bound(Problem(buffers, pools)).bytes == 256


def test_the_peak_may_follow_the_end_of_a_range() -> None:
    """While `both` is live it counts against two pools; once it is gone the bound tightens."""
    buffers = (Buffer("both", 0, 1, 64), Buffer("rest", 0, 2, 64))
    pools = (Pool("p", 64, ((0, 1),)), Pool("q", 64, ((0, 1),)))
    assert lower_bound(Problem(buffers, pools)) == Bound(64, 0, ("both", "rest"))


def test_a_pinned_top_can_be_the_bound() -> None:
    problem = Problem((Buffer("low", 0, 9, 64), Buffer("high", 3, 5, 64, fixed_offset=640)))
    assert lower_bound(problem) == Bound(704, 3, ("high",), "pinned")


def test_a_pinned_buffer_borrows_nothing() -> None:
    problem = Problem((Buffer("a", 0, 1, 64, fixed_offset=0),), (Pool("p", 64, ((0, 1),)),))
    assert lower_bound(problem).bytes == 64
