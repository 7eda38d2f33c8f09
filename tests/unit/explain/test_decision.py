"""Decisions and their codes."""

from __future__ import annotations

import pickle
import re

import pytest
import sympy

from hotdesk.explain import Decision, Outcome, Reason, Source
from hotdesk.sizes.writing import unnamed

BATCH, LENGTH = sympy.Symbol("s0", integer=True, positive=True), sympy.Symbol("s1", integer=True)


@pytest.mark.parametrize("reason", list(Reason), ids=str)
def test_reason_has_a_stable_code_and_one_sentence(reason: Reason) -> None:
    assert re.fullmatch(r"[a-z]+(-[a-z]+)*", reason.value)
    assert reason.value == reason.name.lower().replace("_", "-") == f"{reason}"
    assert re.fullmatch(r"[A-Z][^.]*\.", reason.text)
    assert Reason(reason.value) is reason


def test_reason_texts_differ() -> None:
    assert len({reason.text for reason in Reason}) == len(Reason)


def test_outcome_prints_its_words() -> None:
    assert [f"{outcome}" for outcome in (Outcome.IN_PLACE, Outcome.COPIED)] == ["in place", "copied"]


def test_source_prints_its_line_if_known() -> None:
    assert str(Source("linalg.add", "model.py:12")) == "linalg.add at model.py:12"
    assert str(Source("linalg.add")) == "linalg.add"


def test_a_decision_shows_sizes_as_users_read_them() -> None:
    size = 4 * sympy.Max(0, unnamed(1, "dim 0 of %x"))
    decision = Decision("sum", Outcome.COPIED, Reason.READ_LATER, (Source("a"),), size, hint="h")
    assert "bytes=4*max(0, dim 0 of %x), read=None" in repr(decision)
    assert repr(decision).endswith("hint='h')")


def test_at_gives_bytes_a_number_and_keeps_the_rest() -> None:
    because = (Source("linalg.add", "model.py:12"),)
    decision = Decision("sum", Outcome.COPIED, Reason.READ_LATER, because, 4 * BATCH * LENGTH)
    bound = decision.at({"s0": 3, "s1": 5, "unused": 9})
    assert bound == Decision("sum", Outcome.COPIED, Reason.READ_LATER, because, 60)
    assert type(bound.bytes) is int
    assert decision.bytes == 4 * BATCH * LENGTH


def test_at_without_a_value_names_the_symbol() -> None:
    with pytest.raises(KeyError, match="s1"):
        Decision("sum", Outcome.COPIED, Reason.READ_LATER, (), LENGTH).at({"s0": 3})


def test_decisions_are_values() -> None:
    decision = Decision("sum", Outcome.IN_PLACE, Reason.DIES_HERE, (Source("a"),), 4)
    assert pickle.loads(pickle.dumps(decision)) == decision
    assert len({decision, Decision("sum", Outcome.IN_PLACE, Reason.DIES_HERE, (Source("a"),), 4)}) == 1
