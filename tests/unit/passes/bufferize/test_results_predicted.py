"""Which results are copied at the end: what in-place analysis counts with is what the rewrite does."""

from __future__ import annotations

from pathlib import Path

import pytest

from hotdesk._bindings import ir
from hotdesk.analysis.in_place.copied_bytes import copied_results
from hotdesk.explain import Decision, Outcome, Reason
from hotdesk.passes.bufferize import one_shot
from hotdesk.passes.bufferize.rewrite_decisions import RewriteDecisions
from hotdesk.passes.bufferize.rewriting import Rewriting
from hotdesk.program.calls import Callable
from tests.running.run_lines import failure

FILES = Path(__file__).parents[3] / "filecheck" / "bufferize"
_IN_PLACE_AFTER_ALL = (Reason.DONATED, Reason.EQUALS_ARGUMENT, Reason.RETURNED_AS_MADE)
"""In memory of an argument's, which the prediction leaves out, or in what a call on some path has returned."""


@pytest.mark.parametrize(
    "file",
    [
        "call-results-yielded.mlir",
        "one-shot-control-flow.mlir",
        "one-shot-copies.mlir",
        "one-shot-results-apart.mlir",
        "results-in-donated.mlir",
        "slices-of-reshaped-slices.mlir",
    ],
)
def test_copied_results_are_those_predicted(file: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    decided: dict[int, list[tuple[Outcome, Reason]]] = {}
    compared: list[tuple[set[int], set[int]]] = []

    def of_result(self: RewriteDecisions, number: int, value: int, outcome: Outcome, reason: Reason) -> Decision:
        decided.setdefault(number, []).append((outcome, reason))
        return told(self, number, value, outcome, reason)

    def place(node: Callable, rewriting: Rewriting, buffers: list[ir.Value]) -> None:
        decided.clear()
        predicted = set(copied_results(rewriting.analysis))
        placed(node, rewriting, buffers)
        elsewhere = {n for n, each in decided.items() if any(reason in _IN_PLACE_AFTER_ALL for _, reason in each)}
        copied = {n for n, each in decided.items() if any(outcome is Outcome.COPIED for outcome, _ in each)}
        if rewriting.conventions.functions:
            compared.append((predicted - elsewhere, copied))

    told, placed = RewriteDecisions.of_result, one_shot.place_results
    monkeypatch.setattr(RewriteDecisions, "of_result", of_result)
    monkeypatch.setattr(one_shot, "place_results", place)
    assert failure(FILES / file, tmp_path / "t") is None
    assert [predicted for predicted, _ in compared] == [copied for _, copied in compared]
    assert compared
