"""The rules by which MLIR decides in place, each on programs: Hotdesk makes what the reference makes, and neither copies nor
takes more bytes than MLIR's own pass, by itself and with destinations chosen before.

`HEURISTICS` are the rules about order, on which both decide in that order.
"""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.running import RefusedError, Run, Subject, assert_no_more
from tests.unit.passes.bufferize import rules_of_deciding, rules_of_memory
from tests.unit.passes.bufferize.upstream_programs import PEERS, run, run_peer

RULES = {**rules_of_deciding.RULES, **rules_of_memory.RULES}
WITHOUT_PROGRAM = {
    "R16": "there is no rule of that number",
    "R17": "there is no rule of that number",
    "R18": "there is no rule of that number",
    "R19": "there is no rule of that number",
}
HEURISTICS = {"R20": "bottom-up", "R21": "top-down", "R22": "bottom-up-from-terminators"}
REFUSED = ("R10",)
"""Rules of what MLIR's pass does not take."""
BEFORE = ("", "hotdesk-choose-destinations,")


def _ours(rule: str, before: str) -> Subject:
    heuristic = HEURISTICS.get(rule, "top-down")
    return Subject("Hotdesk's", f"builtin.module({before}hotdesk-one-shot-bufferize{{analysis-heuristic={heuristic}}})")


def _theirs(rule: str, text: str) -> Run:
    if rule not in HEURISTICS:
        return run_peer(text)
    ordered = f"analysis-heuristic={HEURISTICS[rule]} bufferize-function-boundaries"
    peer = PEERS[0]
    return run(text, replace(peer, pipeline=peer.pipeline.replace("bufferize-function-boundaries", ordered)))


def test_each_rule_has_a_program_or_a_reason() -> None:
    numbers = {f"R{number}" for number in range(1, 41)}
    assert {name.split()[0] for name in RULES} | set(WITHOUT_PROGRAM) == numbers
    assert not {name.split()[0] for name in RULES} & set(WITHOUT_PROGRAM)


@pytest.mark.parametrize("name", RULES)
def test_takes_no_more_than_mlir(name: str) -> None:
    rule, text = name.split()[0], RULES[name]
    if rule in REFUSED:
        with pytest.raises(RefusedError):
            run_peer(text)
        run(text, _ours(rule, ""))
        return
    theirs = _theirs(rule, text)
    for before in BEFORE:
        assert_no_more(run(text, _ours(rule, before)), theirs)
