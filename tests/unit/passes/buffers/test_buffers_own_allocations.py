"""Allocations of an unregistered dialect: what moves, and what goes to the stack or into an arena, is what its model says may."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

import pytest

from hotdesk.errors import BufferizationError
from hotdesk.explain import Outcome, Reason
from hotdesk.models import MemoryEffects, NewMemory
from tests.unit.passes.buffers.pool import (
    ALL,
    BRANCH,
    FREE,
    HOIST,
    IN_LOOP,
    LOOP_HOIST,
    MADE,
    MERGE,
    SHARE,
    SIZED,
    STACK,
    TWICE,
    after,
    count,
    program,
    registered,
    rewritten,
    say,
)


@pytest.fixture(autouse=True)
def pool() -> Iterator[None]:
    with registered():
        yield


# Nothing said, nothing done


@pytest.mark.parametrize(
    ("one", "body", "reason"),
    [
        (LOOP_HOIST, IN_LOOP, Reason.NOT_KNOWN_TO_MOVE),
        (HOIST, BRANCH, Reason.NOT_KNOWN_TO_MOVE),
        (STACK, TWICE, Reason.NOT_ORDINARY_MEMORY),
        (SHARE, TWICE, Reason.NOT_ORDINARY_MEMORY),
        (MERGE, TWICE, Reason.NOT_ORDINARY_MEMORY),
    ],
)
@pytest.mark.parametrize("memory", [None, NewMemory()])
def test_stays_if_nothing_is_said(one: str, body: str, reason: Reason, memory: NewMemory | None) -> None:
    say(memory)
    text, decisions = after(body, one)
    assert set(decisions) == {(Outcome.ALLOCATED, reason)}
    assert count(text) == count(program(body))


@pytest.mark.parametrize(
    ("memory", "one", "body", "outcome"),
    [
        (NewMemory(movable=True), LOOP_HOIST, IN_LOOP, Outcome.MOVED),
        (NewMemory(movable=True), STACK, TWICE, Outcome.ALLOCATED),
        (NewMemory(ordinary=True), LOOP_HOIST, IN_LOOP, Outcome.ALLOCATED),
        (NewMemory(ordinary=True), STACK, TWICE, Outcome.ON_STACK),
    ],
)
def test_either_is_said_alone(memory: NewMemory, one: str, body: str, outcome: Outcome) -> None:
    say(memory)
    assert {found for found, _ in after(body, one)[1]} == {outcome}


# What each pass makes of it


def test_goes_out_of_a_loop_with_what_frees_it() -> None:
    say(ALL)
    text, decisions = after(IN_LOOP, LOOP_HOIST)
    assert decisions == [(Outcome.MOVED, Reason.SERVES_EVERY_ITERATION)]
    assert text.index("pool.reserve") < text.index("scf.for") < text.index("pool.release")


def test_goes_above_a_branch_and_is_freed_once() -> None:
    say(ALL)
    text, _ = after(BRANCH, HOIST, FREE)
    assert text.index("pool.reserve") < text.index("scf.if")
    assert count(text) == {"pool.release": 1, "pool.reserve": 1}


def test_a_size_that_may_be_negative_is_made_not_so_where_it_moves() -> None:
    say(replace(ALL, sizes=(0,)))
    body = """scf.for %i = %c0 to %n step %c1 {
      %a = reserve(%n) : memref<?xf32>
      memref.store %one, %a[%c0] : memref<?xf32>
      release(%a) : memref<?xf32>
    }
    linalg.fill ins(%one : f32) outs(%out : memref<8xf32>)"""
    text, decisions = after(body, LOOP_HOIST)
    assert decisions == [(Outcome.MOVED, Reason.SERVES_EVERY_ITERATION)]
    clamped = re.search(r"(%\S+) = arith\.maxsi %arg0", text)
    assert clamped is not None
    assert f'"pool.reserve"({clamped[1]})' in text


def test_moves_no_further_than_its_size() -> None:
    say(replace(ALL, sizes=(0,)))
    body = """scf.for %i = %c0 to %n step %c1 {
      %m = arith.addi %i, %c1 : index
      %a = reserve(%m) : memref<?xf32>
      memref.store %one, %a[%c0] : memref<?xf32>
      release(%a) : memref<?xf32>
    }
    linalg.fill ins(%one : f32) outs(%out : memref<8xf32>)"""
    assert after(body, LOOP_HOIST)[1] == [(Outcome.ALLOCATED, Reason.SIZE_DEFINED_BELOW)]


def test_does_not_move_with_an_operand_that_is_no_size() -> None:
    say(ALL)
    body = IN_LOOP.replace("%a = reserve()", "%a = reserve(%n)")  # the number of a pool
    assert after(body, LOOP_HOIST)[1] == [(Outcome.ALLOCATED, Reason.NOT_KNOWN_TO_MOVE)]
    assert rewritten(program(body), STACK)[2] == [(Outcome.ON_STACK, Reason.SMALL_AND_LOCAL)]


def test_lies_on_the_stack_aligned_as_it_was() -> None:
    say(replace(ALL, alignment=32))
    text, _ = after(TWICE, STACK)
    assert count(text) == {"memref.alloca": 2}
    assert text.count("alignment = 32 : i64") == 2


def test_goes_into_the_arena() -> None:
    say(replace(ALL, alignment=128))
    text, decisions = after(TWICE, MERGE)
    assert {reason for _, reason in decisions} == {Reason.PLACED_IN_ARENA}
    assert count(text) == {"memref.alloc": 1, "memref.dealloc": 1}
    assert "memref.alloc() {alignment = 128 : i64} : memref<128xi8>" in text


def test_its_sizes_make_the_arena() -> None:
    say(replace(ALL, sizes=(0,)))
    text, decisions = after(SIZED, MERGE)
    assert {reason for _, reason in decisions} == {Reason.PLACED_IN_ARENA}
    assert count(text) == {"memref.alloc": 1, "memref.dealloc": 1}


# Models that do not fit


@pytest.mark.parametrize(
    ("memory", "effects"),
    [
        (NewMemory(sizes=(0,), movable=True), MADE),
        (NewMemory(alignment=24, movable=True), MADE),
        (NewMemory(movable=True), replace(MADE, allocates=frozenset({0, 1}))),
    ],
)
def test_a_model_that_does_not_fit_is_an_error(memory: NewMemory, effects: MemoryEffects) -> None:
    say(memory, effects)
    if len(effects.allocates) > 1:
        body = '%a:2 = "pool.reserve"() : () -> (memref<8xf32>, memref<8xf32>)'
    else:
        body = "%a = reserve() : memref<8xf32>"
    for one in (STACK, MERGE, SHARE):
        with pytest.raises(BufferizationError, match=r"the model of `pool\.reserve`: expected one new memref"):
            rewritten(program(body), one)


def test_what_the_op_reads_besides_keeps_it_in_its_place() -> None:
    say(ALL, replace(MADE, reads=frozenset({0})))
    body = IN_LOOP.replace("reserve() :", "reserve(%x) :")
    text = program(body).replace("(index) -> memref", "(memref<8xf32>) -> memref")
    for one in (LOOP_HOIST, MERGE, STACK, SHARE):
        before, found, decisions = rewritten(text, one)
        assert found == before
        assert decisions == [(Outcome.ALLOCATED, Reason.DOES_MORE_THAN_ALLOCATE)]
