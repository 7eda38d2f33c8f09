"""The plugin for pytest: a peak that is held, one that is not, growth beside a report, and marks that make no sense."""

from __future__ import annotations

import pytest
import torch

import hotdesk

pytest_plugins = ["pytester"]

TEST = """
import pytest, torch
MODEL = torch.nn.Sequential(torch.nn.Linear(16, 64), torch.nn.ReLU(), torch.nn.Linear(64, 16)).eval()
X = torch.ones(8, 16)

{mark}
def test_model(hotdesk_compile):
    program = hotdesk_compile(MODEL, (X,))
    torch.testing.assert_close(program(X), MODEL(X))
"""


@pytest.fixture(autouse=True, scope="module")
def loaded() -> None:
    """Loads what tests inside load: modules that a run of pytester's loads are dropped after it, and torch loads once."""
    x = torch.ones(2, 2)
    hotdesk.compile(torch.nn.Linear(2, 2), (x,)).document(x)


def _run(pytester: pytest.Pytester, mark: str, test: str = TEST) -> pytest.RunResult:
    pytester.makepyfile(test.replace("{mark}", mark))
    return pytester.runpytest_inprocess("-p", "hotdesk.pytest_plugin", "--strict-markers", "-q")


def test_a_peak_that_is_held(pytester: pytest.Pytester) -> None:
    _run(pytester, "@pytest.mark.hotdesk_peak('24 MB')").assert_outcomes(passed=1)


def test_a_peak_that_is_not(pytester: pytest.Pytester) -> None:
    found = _run(pytester, "@pytest.mark.hotdesk_peak(2048)")
    found.assert_outcomes(failed=1)
    found.stdout.fnmatch_lines(["*the peak of main: expected at most 2.00 KiB (2,048), got 2.50 KiB (2,560).*"])
    found.stdout.fnmatch_lines(["peak       2.50 KiB (2,560): arena and outputs"])


def test_without_a_mark_all_is_well(pytester: pytest.Pytester) -> None:
    _run(pytester, "").assert_outcomes(passed=1)


@pytest.mark.parametrize(("growth", "failed"), [(50, 0), (1, 1)])
def test_growth_beside_a_report(growth: int, failed: int, pytester: pytest.Pytester) -> None:
    x = torch.ones(8, 16)
    model = torch.nn.Sequential(torch.nn.Linear(16, 48), torch.nn.ReLU(), torch.nn.Linear(48, 16)).eval()
    pytester.path.joinpath("main.json").write_text(hotdesk.compile(model, (x,)).document(x).to_json())
    found = _run(pytester, f"@pytest.mark.hotdesk_peak(against='main.json', growth={growth})")
    found.assert_outcomes(passed=1 - failed, failed=failed)
    if failed:
        found.stdout.fnmatch_lines(["*New at the peak: 2.00 KiB (2,048) b0 f32?8, 64? by hotdesk.contract in 0*"])


def test_a_mark_that_says_nothing(pytester: pytest.Pytester) -> None:
    found = _run(pytester, "@pytest.mark.hotdesk_peak()")
    found.assert_outcomes(failed=1)
    found.stdout.fnmatch_lines(["*neither a number of bytes nor a report*"])


@pytest.mark.parametrize("fixture", ["hotdesk_compile", ""])
def test_a_mark_on_a_test_that_compiles_nothing(fixture: str, pytester: pytest.Pytester) -> None:
    """Also where it compiles without the fixture: nothing would be held."""
    test = f"import pytest\n@pytest.mark.hotdesk_peak('1 MB')\ndef test_nothing({fixture}):\n    pass\n"
    found = _run(pytester, "", test)
    found.assert_outcomes(failed=1)
    found.stdout.fnmatch_lines(["*expected a program that the fixture hotdesk_compile made, got none*"])
