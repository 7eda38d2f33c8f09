import pytest

from hotdesk.planning import Buffer, Pool, Problem, check, plan, read_csv, read_csv_plan, write_csv

TEXT = "id,lower,upper,size\n0,0,2,4\nb1,1,3,8\n007,2,4,2\n"


def test_ids_are_integers_where_they_read_back_the_same() -> None:
    problem = read_csv(TEXT)
    assert problem == Problem((Buffer(0, 0, 2, 4, 1), Buffer("b1", 1, 3, 8, 1), Buffer("007", 2, 4, 2, 1)))
    assert write_csv(problem) == TEXT


def test_alignment_is_given_by_the_reader() -> None:
    assert {b.alignment for b in read_csv(TEXT, alignment=64).buffers} == {64}


def test_a_plan_round_trips() -> None:
    problem = read_csv(TEXT)
    result = plan(problem)
    text = write_csv(problem, result)
    assert text.splitlines()[0] == "id,lower,upper,size,offset"
    assert read_csv(text) == problem
    again = read_csv_plan(problem, text)
    assert (again.placements, again.arena, again.bound) == (result.placements, result.arena, result.bound)
    assert check(problem, again) == ()


def test_pinned_offsets_round_trip() -> None:
    problem = Problem((Buffer("a", 0, 1, 4, 1, fixed_offset=8), Buffer("b", 0, 1, 4, 1)))
    text = write_csv(problem)
    assert text == "id,lower,upper,size,offset\na,0,1,4,8\nb,0,1,4,\n"
    assert read_csv(text, pin=True) == problem
    assert read_csv(text).buffers[0].fixed_offset is None


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "expected the header id,lower,upper,size with an optional offset, got ''"),
        ("id,start,end,size\n", "expected the header .*, got 'id,start,end,size'"),
        ("id,lower,upper,size\n1,2,3\n", "line 2: expected 4 cells, got 3"),
        ("id,lower,upper,size\n\n1,2,3,x\n", "line 3: expected an integer for size, got 'x'"),
        ("id,lower,upper,size\n1,3,2,4\n", r"buffer 1: expected lower < upper, got \[3, 2\)"),
    ],
)
def test_what_cannot_be_read(text: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        read_csv(text)


def test_a_plan_needs_every_offset() -> None:
    with pytest.raises(ValueError, match="expected an offset for every buffer, got none for 'b1'"):
        read_csv_plan(read_csv(TEXT), "id,lower,upper,size,offset\n0,0,2,4,0\n")


def test_a_plan_that_borrows_has_no_csv_form() -> None:
    problem = Problem((Buffer("a", 0, 1, 64),), (Pool("p", 64, ((0, 1),)),))
    with pytest.raises(ValueError, match="expected a plan without pools, got 'a' in pool 'p'"):
        write_csv(problem, plan(problem))
