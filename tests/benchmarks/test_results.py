"""What the page says follows from the rows."""

from __future__ import annotations

import json
from dataclasses import replace
from math import comb
from pathlib import Path
from typing import Any

import pytest

from benchmarks.material import Facts
from benchmarks.measure import Latency
from benchmarks.results import Row, Run, median_interval, render, write

RECORD = {"arena": 3_000_000, "lower_bound": 2_000_000, "no_reuse": 9_000_000, "prepared": 0, "weights": 14_000_000}


def memory(transient: int, retained: int, **more: Any) -> dict[str, Any]:
    difference = {"absolute": 1e-6, "relative": 2e-7, "close": True}
    return {"transient": transient, "retained": retained, "large_allocations": 4, **difference, **more}


def latency(median: float) -> Latency:
    return Latency(median=median, best=median / 2, calls=10, prepare=1.5, first_call=0.1)


def run(*rows: Row) -> Run:
    facts = Facts(weights=14_000_000, inputs=600_000, results=4_000, rtol=1e-3, atol=1e-4, onnx_error=None)
    versions = {"python": "3.11.7"}
    return Run("2026-01-01 00:00 UTC", "a machine", 2, 0.5, versions, {"net": facts}, rows)


HOTDESK = memory(
    1_000_000, 3_000_000, memory=RECORD, timings={"plan": 0.5, "lower": 0.7}, out_peak=0, out_allocations=0
)
EAGER = Row("net", "eager", memory(6_000_000, 10_000_000), latency(0.020))


def cells(page: str, start: str) -> list[str]:
    line = next(line for line in page.splitlines() if line.startswith(f"| {start} "))
    return [cell.strip() for cell in line.strip("|").split("|")]


def test_a_row_is_held_against_eager() -> None:
    page = render(run(Row("net", "hotdesk", HOTDESK, latency(0.005)), EAGER))
    row = cells(page, "net | hotdesk")
    assert row[2:7] == ["1.0", "3.0", "4.0", "0.17", "0.25"]
    assert row[7:] == ["4", "5 (2.5)", "0.25", "1.0e-06, 2.0e-07"]


def test_the_best_of_the_others_is_named_for_each_figure() -> None:
    quick, lean = (
        Row("net", "quick", memory(9_000_000, 1), latency(0.004)),
        Row("net", "lean", memory(1, 2_000_000), latency(0.1)),
    )
    other_door = Row("net", "hotdesk-onnx", memory(1, 1), latency(0.001))
    page = render(run(Row("net", "hotdesk", HOTDESK, latency(0.005)), EAGER, quick, lean, other_door))
    row = cells(page.partition("## Beside the best")[2], "net")
    assert row[1:] == ["1.25", "–", "quick", "1.25", "quick", "2.00", "lean"]
    assert "## Beside the best" not in render(run(EAGER))


def test_turns_are_compared_within_their_round() -> None:
    """The machine is three times as slow in some rounds, and ours is always nine tenths: no interval is left."""
    theirs = tuple(0.010 * slow for slow in (1.0, 3.0, 1.0, 3.0, 3.0, 1.0, 3.0))
    ours = tuple(0.9 * seconds for seconds in theirs)
    rows = (
        Row("net", name, latency=replace(latency(sorted(turns)[3]), turns=turns))
        for name, turns in (("hotdesk", ours), ("quick", theirs))
    )
    row = cells(render(run(*rows)).partition("## Beside the best")[2], "net")
    assert row[1:4] == ["0.90", "0.90 (0.90 to 0.90)", "quick"]


@pytest.mark.parametrize("count", [6, 7, 25, 40, 200])
def test_an_interval_holds_the_median_in_95_of_100_cases_and_no_narrower_one_does(count: int) -> None:
    low, high = median_interval(count)
    missed = 2 * sum(comb(count, below) for below in range(low + 1)) / 2**count
    assert missed <= 0.05 < missed + 2 * comb(count, low + 1) / 2**count
    assert low + high == count - 1


def test_means_leave_small_models_out_of_the_bytes_only() -> None:
    small = (Row("small", "eager", memory(100, 100), latency(0.01)), Row("small", "x", memory(900, 900), latency(0.04)))
    page = render(run(EAGER, Row("net", "x", memory(3_000_000, 1_000_000), latency(0.020)), *small))
    assert cells(page, "x")[1:] == ["0.50 (1)", "0.25 (1)", "2.00 (2)"]


def test_hotdesk_reports_its_plan() -> None:
    page = render(run(Row("net", "hotdesk", HOTDESK, latency(0.005)), EAGER))
    plan = page.partition("## What Hotdesk says of itself")[2]
    assert cells(plan, "net")[1:4] == ["3.0", "2.0", "1.50"]
    assert cells(plan, "net")[-2:] == ["1.5", "lower 0.7, plan 0.5"]


def test_an_error_is_a_row_and_a_sentence() -> None:
    page = render(run(Row("net", "hotdesk", errors=("memory: killed by SIGSEGV",)), EAGER))
    assert set(cells(page, "net | hotdesk (error)")[2:]) == {"–"}
    assert "- net, hotdesk: memory: killed by SIGSEGV" in page
    assert "What Hotdesk says of itself" not in page


def test_a_wrong_result_is_marked() -> None:
    page = render(run(Row("net", "x", memory(1, 1) | {"close": False}), EAGER))
    assert cells(page, "net | x")[-1].endswith("✗")


@pytest.mark.parametrize("baseline", [(), (Row("net", "eager", errors=("memory: no",)),)])
def test_without_a_baseline_there_are_no_ratios(baseline: tuple[Row, ...]) -> None:
    row = cells(render(run(Row("net", "x", memory(2_000_000, 1_000_000), latency(0.1)), *baseline)), "net | x")
    assert (row[4], row[5], row[6], row[9]) == ("3.0", "–", "–", "–")


def test_both_files_are_written(tmp_path: Path) -> None:
    page = write(run(EAGER), tmp_path / "out")
    assert page.read_text().startswith("# Benchmarks\n")
    (row,) = json.loads((tmp_path / "out" / "results.json").read_text())["rows"]
    assert (row["memory"]["transient"], row["latency"]["median"]) == (6_000_000, 0.020)


def test_the_slowest_kernels_are_listed() -> None:
    kernel = {
        "kernel": "hotdesk.conv f32[1] -> f32[1]",
        "calls": 3,
        "seconds": 0.002,
        "gflops": 98.7,
        "gbytes": 1.25,
        "share": 0.5,
        "line": "/site-packages/torch/conv.py:12",
    }
    page = render(run(Row("net", "hotdesk", HOTDESK | {"slowest": [kernel]}), EAGER))
    listed = cells(page.partition("## Where the time goes")[2], "net")
    assert listed == ["net", "2", "3", "99", "1.2", "50%", "`hotdesk.conv f32[1] -> f32[1]`", "conv.py:12"]
