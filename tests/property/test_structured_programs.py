"""Programs with control flow: every bufferization makes of them what the reference does, and ours takes no more memory."""

from __future__ import annotations

import re

import pytest
from hypothesis import HealthCheck, given, note, seed, settings
from hypothesis import strategies as st

from tests.running import MLIR, MLIR_UNFREED, OURS, RefusedError, Run, Subject, assert_no_more, check, wanted
from tests.running.examples import EXAMPLES, inputs_of
from tests.structured import Program, structured_programs

SUBJECTS = (MLIR, OURS)
"""What is held against the reference. One that `may_refuse` need not take a program; without that it has to take them all."""

NO_MORE = (
    "branches_overwrite_slices_in_loop",
    "branches_overwrite_the_same_slice",
    "cast_between_pair",
    "if_of_what_overwrites_donated",
    "if_takes_what_is_one_of_two_at_times",
    "loop_begins_in_a_tile_that_is_written",
    "loop_copies_in_cycles",
    "loop_passes_on_new_over_a_tile",
    "loop_over_a_tile",
    "loop_over_parts_of_a_tile",
    "loop_swaps_with_one_of_two",
    "rope_halves",
    "select_of_what_overwrites_donated",
    "slice_of_slice_put_back",
    "slice_of_what_is_put_back",
    "swap_halves_in_place",
    "switch_overwrites_slices",
    "tiles_of_tiles",
    "tiles_of_tiles_in_one_loop",
    "view_read_after_write",
)
"""Examples for which ours neither copies nor takes more bytes than MLIR's."""

MLIR_IS_WRONG = (
    "branches_write_argument",
    "forall_inserts_in_order",
    "forall_swaps",
    "loop_yields_one_new_twice",
    "strided_write_keeps_the_rest",
    "switch_result_written",
)
"""Examples of which MLIR's makes something else."""

_MLIR_MAY_BE_WRONG = re.compile(
    r"scf\.yield .*?(%[\w#]+), (?:%[\w#]+, )*\1[ ,]"  # a loop that yields one new tensor twice: two results in one buffer
    r"|scf\.index_switch"  # its result may be a read-only argument, and is written
    r"|parallel_insert_slice[^\n]*\n[^\n]*parallel_insert_slice"  # one overwrites what the next one reads
    r"|scf\.yield [^\n]*%a\d"  # an argument of the function goes round a loop that has written it
    r"|cf\.(cond_)?br"  # an argument of the function is written in a later block although it is read behind that
)
_QUIET = [HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.large_base_example]
_EACH = pytest.mark.parametrize("subject", SUBJECTS, ids=lambda subject: subject.name)


def _check(text: str, inputs: list[object], subject: Subject) -> Run | None:
    """What a run took, or None if the subject may refuse a program and did."""
    try:
        return check(text, inputs, subject)
    except RefusedError:
        if subject.may_refuse:
            return None
        raise


@pytest.mark.parametrize("name", EXAMPLES)
def test_reference_defines_examples(name: str) -> None:
    text = EXAMPLES[name].read_text(encoding="utf-8")
    assert all(result.defined.all() for result in wanted(text, inputs_of(text)))


@_EACH
@pytest.mark.parametrize("name", EXAMPLES)
def test_example(name: str, subject: Subject) -> None:
    text = EXAMPLES[name].read_text(encoding="utf-8")
    if subject is MLIR and name in MLIR_IS_WRONG:
        with pytest.raises(AssertionError, match=r"is wrong|an argument changed"):
            check(text, inputs_of(text), subject)
        return
    _check(text, inputs_of(text), subject)


@pytest.mark.parametrize("name", NO_MORE)
def test_takes_no_more_than_mlir(name: str) -> None:
    text = EXAMPLES[name].read_text(encoding="utf-8")
    inputs = inputs_of(text)
    ours = check(text, inputs, OURS)
    theirs = _check(text, inputs, MLIR) or check(text, inputs, MLIR_UNFREED)
    assert_no_more(ours, theirs)


def _check_program(program: Program, number: int, subject: Subject) -> None:
    note(program.text)
    if subject is not MLIR or _MLIR_MAY_BE_WRONG.search(program.text) is None:
        _check(program.text, program.inputs(number), subject)


@_EACH
@settings(max_examples=150, derandomize=True, deadline=None, database=None, suppress_health_check=_QUIET)
@given(structured_programs(), st.integers(0, 9))
def test_results(subject: Subject, program: Program, number: int) -> None:
    _check_program(program, number, subject)


@pytest.mark.slow
@_EACH
@seed(20261)
@settings(max_examples=1000, deadline=None, database=None, suppress_health_check=_QUIET)
@given(structured_programs(), st.integers(0, 9))
def test_results_of_many_programs(subject: Subject, program: Program, number: int) -> None:
    _check_program(program, number, subject)
