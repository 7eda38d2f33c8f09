import pytest

from hotdesk.planning import Buffer, Pool, Problem, Tie, adjacent, check, plan, read_csv, write_csv

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
    assert plan(read_csv(text, pin=True)).placements == result.placements


def test_pinned_offsets_round_trip() -> None:
    problem = Problem((Buffer("a", 0, 1, 4, 1, fixed_offset=8), Buffer("b", 0, 1, 4, 1)))
    text = write_csv(problem)
    assert text == "id,lower,upper,size,offset\na,0,1,4,8\nb,0,1,4,\n"
    assert read_csv(text, pin=True) == problem
    assert read_csv(text).buffers[0].fixed_offset is None


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "expected the header id,lower,upper,size with optional alignment, .* and offset, got ''"),
        ("id,lower,upper,size,offset,offset\n", "expected the header .*, got 'id,lower,upper,size,offset,offset'"),
        ("id,lower,upper,size,gaps\n1,0,9,4,3-5@0:2\n", "line 2: expected gaps such as 3-5, .*, got '3-5@0:2'"),
        ("id,lower,upper,size,gaps\n1,0,9,4,0-5\n", r"buffer 1: expected gaps .* not at its ends, got \[0, 5\)"),
        ("id,lower,upper,size,host\n1,0,9,4,x\n", "expected ties between buffers of the problem, got one of 'x'"),
        ("id,start,end,size\n", "expected the header .*, got 'id,start,end,size'"),
        ("id,lower,upper,size\n1,2,3\n", "line 2: expected 4 cells, got 3"),
        ("id,lower,upper,size\n\n1,2,3,x\n", "line 3: expected an integer for size, got 'x'"),
        ("id,lower,upper,size\n\n1,2,3,1_000\n", "line 3: expected an integer for size, got '1_000'"),
        ("id,lower,upper,size\n1,2,3,--5\n", "line 2: expected an integer for size, got '--5'"),
        ("id,lower,upper,size\n1,2,3,٣\n", "line 2: expected an integer for size, got '٣'"),
        ("id,lower,upper,size\n1,2,3," + "9" * 5000, r"for size, got '9{60}'\.\.\. \(5,000 characters\)$"),
        ("id,lower,upper,size\n1,2,3," + "9" * 900, r"bytes, got an integer of 2,990 bits$"),
        (
            "id,lower,upper,size\n" + "n" * 200_000 + ",2,3,4\n",
            "line 2: expected cells of up to 131,072 characters, .*limit",
        ),
        ("n" * 200_000 + "\n", "line 1: expected cells of up to 131,072 characters"),
        ("id,lower,upper,size,gaps\n1,0,9,4,²-5\n", "line 2: expected gaps such as 3-5, .*, got '²-5'"),
        ("id,lower,upper,size\n1,3,2,4\n", r"buffer 1: expected lower < upper, got \[3, 2\)"),
    ],
)
def test_what_cannot_be_read(text: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        read_csv(text)


def test_a_byte_order_mark_is_skipped() -> None:
    assert read_csv("\ufeff" + TEXT) == read_csv(TEXT)


def test_numbers_may_have_signs_and_zeros_before_them() -> None:
    assert read_csv("id,lower,upper,size\na,-3,+4, 007 \n").buffers == (Buffer("a", -3, 4, 7, 1),)


def test_an_id_of_many_digits_stays_as_it_is() -> None:
    name = "1" * 5000
    problem = read_csv(f"id,lower,upper,size\n{name},0,1,4\n")
    assert problem.buffers[0].id == name
    assert read_csv(write_csv(problem)) == problem


def test_a_plan_that_borrows_names_its_pools() -> None:
    problem = Problem((Buffer("a", 0, 1, 64), Buffer("b", 0, 1, 64)), (Pool("p", 64, ((0, 1),), cost=2),))
    result = plan(problem, capacity=64)
    assert write_csv(problem, result) == "id,lower,upper,size,pool,offset\na,0,1,64,,0\nb,0,1,64,p,0\n"


def test_alignments_gaps_and_ties_round_trip() -> None:
    text = (
        "id,lower,upper,size,alignment,gaps,host,at\n"
        "a,0,9,4,1,2-3 5-7,,\n"
        "b,1,3,8,4,,a,4\n"
        "c,2,4,2,2,,,\n"
        "d,2,4,2,1,,a,-2\n"
    )
    problem = read_csv(text)
    assert problem.buffers[0] == Buffer("a", 0, 9, 4, 1, None, ((2, 3), (5, 7)))
    assert problem.ties == (Tie("b", "a", 4), Tie("d", "a", -2))
    assert write_csv(problem) == text
    result = plan(problem)
    assert check(problem, result) == ()
    pinned = read_csv(write_csv(problem, result), pin=True)
    assert [b.fixed_offset for b in pinned.buffers] == [p.offset for p in result.placements]


def test_gaps_before_step_0_round_trip() -> None:
    problem = Problem((Buffer("a", -10, 10, 4, 1, None, ((-5, -3), (-1, 2))),))
    text = write_csv(problem)
    assert text == "id,lower,upper,size,gaps\na,-10,10,4,-5--3 -1-2\n"
    assert read_csv(text) == problem


def test_ties_are_written_from_one_of_them() -> None:
    parts = (Buffer("a", 0, 2, 4, 1), Buffer("b", 0, 2, 4, 1), Buffer("c", 0, 2, 4, 1))
    text = write_csv(Problem(parts, (), adjacent(parts)))
    assert text.splitlines()[1:] == ["a,0,2,4,,", "b,0,2,4,a,4", "c,0,2,4,a,8"]
