"""The charts of a trade-off: names of points that do not lie on one another."""

from __future__ import annotations

from typing import Any

from hotdesk.report.tradeoff import Tradeoff, TradeoffPoint
from hotdesk.report.tradeoff_page import tradeoff_chart


def _labels(*points: tuple[str, int, int, float]) -> list[list[str]]:
    made = [TradeoffPoint(name, "given", None, peak, again, 0, None, ms / 1e3) for name, peak, again, ms in points]
    charts: list[dict[str, Any]] = tradeoff_chart(Tradeoff("main", (), "", 2, tuple(made)))["hconcat"]
    for each in charts:
        high = each["layer"][0]["encoding"]["y"]["scale"]["domain"][1]
        assert all(row["held"] < high for row in each["data"]["values"])
    return [[row["label"] for row in each["data"]["values"]] for each in charts]


def test_names_of_points_that_would_lie_on_one_another() -> None:
    """All at one place in work done twice: the one that nothing beats has its name, another with room for it too."""
    by_time, by_work = _labels(("high", 40_960, 0, 1.0), ("beaten", 10_240, 0, 3.0), ("least", 9_216, 0, 2.0))
    assert by_time == ["high", "beaten", "least"]
    assert by_work == ["high", "", "least"]


def test_one_point() -> None:
    assert _labels(("only", 4_096, 0, 1.0)) == [["only"], ["only"]]
