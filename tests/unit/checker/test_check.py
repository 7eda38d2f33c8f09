"""Programs that are wrong, of which the checker tells every fault and nothing else, and programs that are right."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from torch_mlir import ir

from hotdesk.checker import CheckReport, FaultKind, check_module
from hotdesk.cli.expectations import expectations
from hotdesk.ir.context import make_context

_DATA = Path(__file__).parents[2] / "data" / "checker"
WRONG = {path.stem: path for path in sorted((_DATA / "wrong").glob("*.mlir"))}
RIGHT = {path.stem: path for path in sorted((_DATA / "right").glob("*.mlir"))}


def check_text(text: str) -> CheckReport:
    """Checks `@main`; a line `// sizes: 5, 3` gives its dynamic sizes and scalar integers."""
    given = re.search(r"^// sizes: (.*)$", text, re.MULTILINE)
    sizes = [] if given is None else [int(number) for number in given[1].split(",")]
    with make_context(), ir.Location.unknown():
        return check_module(ir.Module.parse(text), sizes=sizes)


def test_corpus_is_there() -> None:
    assert len(WRONG) >= 40
    assert len(RIGHT) >= 20


def test_every_kind_of_fault_is_in_the_corpus() -> None:
    texts = "\n".join(path.read_text(encoding="utf-8") for path in WRONG.values())
    assert [kind.value for kind in FaultKind if f"{{{{{kind.value}}}}}" not in texts] == []


@pytest.mark.parametrize("name", WRONG)
def test_wrong_program(name: str) -> None:
    text = WRONG[name].read_text(encoding="utf-8")
    wanted, bad = expectations(text.split("\n"), name)
    report = check_text(text)
    assert not bad
    assert wanted
    found = sorted((int(fault.at.location.split(":")[1]), fault.kind.value) for fault in report.faults)
    assert found == sorted((one.line, one.text) for one in wanted), str(report)
    assert not report.clean


@pytest.mark.parametrize("name", RIGHT)
def test_right_program(name: str) -> None:
    report = check_text(RIGHT[name].read_text(encoding="utf-8"))
    assert report.clean, str(report)
    assert not report.stopped
