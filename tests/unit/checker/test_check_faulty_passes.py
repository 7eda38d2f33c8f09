"""Faults planted in the passes on buffers and in bufferization: a rule is not kept, and the checker notices what comes of it.

Each case is a program on which the pass is right, and which shows the fault: the checker tells of one, or the results differ from
those of the program as it was.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from torch_mlir import ir

from hotdesk.analysis.tensors.readers import Readers
from hotdesk.checker import CheckReport, FaultKind, Settings, check_module
from hotdesk.ir.context import make_context
from hotdesk.passes import base
from hotdesk.passes.textual import parse_pipeline
from tests.planted.boundaries import EQUIVALENT, OUT_PARAMS, OUT_PARAMS_HOISTED, WORKSPACES
from tests.planted.copying import COPIES, FUSION
from tests.planted.placing import DEALLOCATION, HOISTING, LOOP_HOISTING, PROMOTION
from tests.planted.planting import WRONG_RESULTS, Case, Patch, always
from tests.planted.sharing import MERGING, SHARING
from tests.running import wanted
from tests.running.examples import EXAMPLES, inputs_of
from tests.unit.analysis.test_analysis_mutations import CASES as IN_PLACE

PASSES = {
    "hotdesk-buffer-deallocation": DEALLOCATION,
    "hotdesk-buffer-hoisting": HOISTING,
    "hotdesk-buffer-loop-hoisting": LOOP_HOISTING,
    "hotdesk-promote-buffers-to-stack": PROMOTION,
    "hotdesk-copy-removal": COPIES,
    "hotdesk-share-buffers": SHARING,
    "hotdesk-merge-allocations": MERGING,
    "hotdesk-fuse-buffers": FUSION,
    "hotdesk-allocate-workspaces": WORKSPACES,
    "hotdesk-buffer-results-to-out-params": OUT_PARAMS,
    "hotdesk-buffer-results-to-out-params{hoist-dynamic-allocs=true}": OUT_PARAMS_HOISTED,
    "hotdesk-drop-equivalent-buffer-results": EQUIVALENT,
}
CASES = [
    pytest.param(name, case, id=f"{name.removeprefix('hotdesk-')}: {fault}")
    for name, cases in PASSES.items()
    for fault, case in cases.items()
]


def _checked(text: str, pipeline: str, sizes: tuple[int, ...], settings: Settings) -> CheckReport:
    with make_context(), ir.Location.unknown():
        module = ir.Module.parse(text)
        parse_pipeline(f"builtin.module({pipeline})").run(module)
        assert module.operation.verify()
        return check_module(module, sizes=sizes, settings=settings)


def _settings(name: str, case: Case) -> Settings:
    frees = name == "hotdesk-buffer-deallocation" or "memref.dealloc" in case.text
    return Settings(deallocated=frees, arenas=name == "hotdesk-merge-allocations")


def _shown(report: CheckReport, before: CheckReport) -> set[FaultKind | str]:
    kinds: set[FaultKind | str] = {fault.kind for fault in report.faults}
    same = [a.values.tobytes() == b.values.tobytes() for a, b in zip(before.results, report.results, strict=False)]
    return kinds if all(same) else {*kinds, WRONG_RESULTS}


@pytest.mark.parametrize(("name", "case"), CASES)
def test_fault_in_a_pass_on_buffers_is_noticed(name: str, case: Case, monkeypatch: pytest.MonkeyPatch) -> None:
    before = _checked(case.text, "", case.sizes, replace(_settings(name, case), deallocated=False))
    assert before.clean, str(before)
    right = _checked(case.text, name, case.sizes, _settings(name, case))
    assert right.clean, str(right)
    assert _shown(right, before) == set()
    case.fault(monkeypatch)
    monkeypatch.setattr(base, "_check", lambda *_: None)  # what passes ensure says it for some: the checker shall, too
    report = _checked(case.text, name, case.sizes, _settings(name, case))
    assert case.shown in _shown(report, before), str(report)


INSERTED_BEFORE = EXAMPLES["forall_swaps"].read_text(encoding="utf-8")
ELSEWHERE = (
    "reads of scalars are not seen",  # where a kernel loads a scalar again
    "buffers are given away one op early",
    "live ranges end with the last direct use",
)
"""Faults of the plan, and of deallocation, which has cases of its own."""
BUFFERIZATION: dict[str, tuple[Patch, str, tuple[Any, ...]]] = {
    **{
        name: (case.fault, case.text, case.inputs)
        for name, case in IN_PLACE.items()
        if case.pipeline == "buffers alone" and name not in ELSEWHERE
    },
    "a part that was inserted is read as if it were not": (
        always(Readers, "_changes", False),
        INSERTED_BEFORE,
        tuple(inputs_of(INSERTED_BEFORE)),
    ),
}


def _freed(text: str, inputs: tuple[Any, ...]) -> tuple[CheckReport, bool]:
    """The report on a program that Hotdesk has bufferized and deallocated, and whether its results are those of the reference."""
    expected = wanted(text, inputs)
    with make_context(), ir.Location.unknown():
        module = ir.Module.parse(text)
        parse_pipeline("builtin.module(hotdesk-one-shot-bufferize,hotdesk-buffer-deallocation)").run(module)
        report = check_module(module, "main", inputs)
    pairs = zip(report.results, expected, strict=False)
    return report, all(np.allclose(got.values, want.values, equal_nan=True) for got, want in pairs)


@pytest.mark.parametrize("name", BUFFERIZATION)
def test_fault_in_bufferization_is_noticed(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    fault, text, inputs = BUFFERIZATION[name]
    report, is_right = _freed(text, inputs)
    assert report.clean, str(report)
    assert is_right
    fault(monkeypatch)
    report, is_right = _freed(text, inputs)
    assert report.faults or not is_right
