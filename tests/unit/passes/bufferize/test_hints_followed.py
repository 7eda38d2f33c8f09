"""Hints do what they say: each that the programs of the tests give and that can be followed by rule is followed.

What is asked for is done to the program or to the pipeline; then the op that the decision is about copies or allocates no more,
and nothing is copied or allocated in its place that takes more bytes.
"""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from torch_mlir import ir

from hotdesk.errors import HotdeskError
from hotdesk.explain import Decision, Outcome
from hotdesk.ir.walking import all_functions, nested_ops
from hotdesk.passes.textual import parse_pipeline
from tests.running.filecheck import DIRECTORY, parsed, pieces

DATA = Path(__file__).parents[3] / "data" / "hints"
FILES = [*sorted(DATA.glob("*.mlir")), *sorted((DIRECTORY / "bufferize").glob("one-shot*.mlir"))]
ONE_SHOT = "hotdesk-one-shot-bufferize"
MISSED = (Outcome.COPIED, Outcome.ALLOCATED)
_DONATE = re.compile(r"Donate argument (\d+) with `hotdesk.donated`")
_MOVE = re.compile(r"[Mm]ove (.*) before `[\w.]+` \((\S+)\)\.")
_PLACE = re.compile(r"`[\w.]+` \((\S+?)\)")
_SAY = re.compile(r"Say at `bufferization.to_tensor` \((\S+)\) that the memory is `writable`")
_RUN = re.compile(
    r"Run `([\w-]+)` before|`(hotdesk-choose-destinations)` lets|as `(hotdesk-rematerialize-cheap-ops)` does"
)


def _text(path: Path) -> list[str]:
    return [piece.text for piece in pieces(path)]


def _decided(module: ir.Module, *before: str, options: str = "") -> list[Decision]:
    return list(parse_pipeline(f"builtin.module({','.join([*before, ONE_SHOT + options])})").run(module))


def _missed(decisions: list[Decision]) -> Counter[str]:
    """Bytes copied and allocated by the ops that decisions are about."""
    found: Counter[str] = Counter()
    for decision in decisions:
        if decision.outcome in MISSED and decision.because and isinstance(decision.bytes, int):
            found[decision.because[0].location] += decision.bytes
    return found


def _place(op: ir.Operation) -> str:
    found = re.search(r'"-":(\d+:\d+)', str(op.location))
    return f"-:{found[1]}" if found else ""


def _donate(module: ir.Module, where: str, number: int) -> None:
    for function in all_functions(module):
        if any(_place(op) == where for op in nested_ops(function)):
            count = len(function.regions[0].blocks[0].arguments)
            known: Any = function.attributes["arg_attrs"] if "arg_attrs" in function.attributes else [{}] * count
            entries = [{named.name: named.attr for named in each} if each else {} for each in known]
            entries[number]["hotdesk.donated"] = ir.UnitAttr.get()
            function.attributes["arg_attrs"] = ir.ArrayAttr.get([ir.DictAttr.get(each) for each in entries])


def _move(module: ir.Module, moved: list[str], before: str) -> None:
    """Moves ops, and what makes their operands, in front of another op."""
    ops = {_place(op): op for function in all_functions(module) for op in nested_ops(function)}
    anchor = ops[before]

    def move(op: ir.Operation) -> None:
        for operand in op.operands:
            owner: Any = operand.owner
            if not isinstance(owner, ir.Block) and owner.operation.block == anchor.block:
                move(owner.operation)
        if op.block == anchor.block and not op.is_before_in_block(anchor):
            op.move_before(anchor)

    for place in moved:
        move(ops[place])


def _say_writable(module: ir.Module, where: str) -> None:
    (op,) = [op for function in all_functions(module) for op in nested_ops(function) if _place(op) == where]
    op.attributes["writable"] = ir.UnitAttr.get()


def _followed(text: str, decision: Decision) -> list[Decision] | None:
    """What is decided once a hint is followed; None for one that leaves it to its reader how."""
    hint = decision.hint
    module = parsed(text)
    before = [name for found in _RUN.findall(hint) for name in found if name]
    donated, moved, said = _DONATE.search(hint), _MOVE.search(hint), _SAY.search(hint)
    with module.context, ir.Location.unknown():
        if donated is not None:
            _donate(module, decision.because[0].location, int(donated[1]))
        if moved is not None:
            _move(module, _PLACE.findall(moved[1]), moved[2])
        if said is not None:
            _say_writable(module, said[1])
    if "linalg.fill" in hint and "instead of a constant" in hint:
        before.append("hotdesk-rematerialize-cheap-ops")
    if not before and donated is None and moved is None and said is None:
        return None
    return _decided(module, *before, options="{results-in-donated}" if "results-in-donated" in hint else "")


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_every_hint_that_can_be_followed_does_what_it_says(path: Path) -> None:
    for text in _text(path):
        try:
            decisions = _decided(parsed(text))
        except HotdeskError:  # the file is about the error
            continue
        was = _missed(decisions)
        for decision in decisions:
            if decision.outcome not in MISSED or not decision.hint or not decision.because:
                continue
            found = _followed(text, decision)
            if found is None or "or says what forbids it" in decision.hint:
                continue
            now, place = _missed(found), decision.because[0].location
            assert now[place] < was[place] or not was[place], f"{decision}\n{text}"
            assert sum(now.values()) <= sum(was.values()), f"{decision}\n{text}"


@pytest.mark.parametrize("path", sorted(DATA.glob("*.mlir")), ids=lambda path: path.stem)
def test_what_another_program_would_do_is_no_hint(path: Path) -> None:
    """Neither another map nor a size that differs can be asked for, and nothing where a second thing stands in the way."""
    (text,) = _text(path)
    (allocated,) = [d for d in _decided(parsed(text)) if d.outcome is Outcome.ALLOCATED]
    assert allocated.hint == ""


def test_hints_are_followed_at_all() -> None:
    """The programs of the tests give hints of each kind that can be followed."""
    kinds = Counter[str]()
    for path in FILES:
        for text in _text(path):
            try:
                hints = [d.hint for d in _decided(parsed(text)) if d.outcome in MISSED]
            except HotdeskError:
                continue
            kinds.update(found[0] for hint in hints for found in [re.match(r"\w+", hint)] if found)
    assert {"Donate", "Move", "Say"} <= set(kinds)
