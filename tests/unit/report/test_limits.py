"""Limits to the peak, and the buffers that are named where one is broken."""

from __future__ import annotations

import pytest

from hotdesk.errors import PeakError
from hotdesk.explain import Source
from hotdesk.report import BufferLine, Document, Memory
from hotdesk.report.document import document
from hotdesk.report.limits import grown, require_growth, require_peak

POINTS = (Source("linalg.exp"), Source("linalg.add"))


def made(*sizes: tuple[str, int]) -> Document:
    lines, offset = [], 0
    for module, count in sizes:
        lines.append(BufferLine("linalg.exp", count, "model.py:3", 0, 2, "arena", offset, module, (count // 4,), "f32"))
        offset += count
    return document("net", (), Memory(offset, offset, offset, offset, 0, 0, 0, 0, len(sizes)), lines, POINTS, ())


def test_a_peak_as_high_as_allowed() -> None:
    require_peak(made(("a", 64), ("b", 32)), 96)


def test_a_peak_too_high_names_the_largest() -> None:
    with pytest.raises(PeakError, match="expected at most 80 bytes, got 96 bytes") as caught:
        require_peak(made(("a", 64), ("b", 32)), 80)
    assert "Largest there: 64 bytes b0 f32[16] by linalg.exp in a at model.py:3; 32 bytes b1 f32[8]" in str(
        caught.value
    )


@pytest.mark.parametrize("percent", [50, 60.5])
def test_growth_that_is_allowed(percent: float) -> None:
    require_growth(made(("a", 64), ("b", 32)), made(("a", 64)), percent)


def test_growth_names_what_is_new() -> None:
    with pytest.raises(PeakError, match="expected at most 1 % more than 64 bytes, got 96 bytes") as caught:
        require_growth(made(("a", 64), ("b", 32)), made(("a", 64)), 1)
    assert "New at the peak: 32 bytes b1 f32[8] by linalg.exp in b at model.py:3." in str(caught.value)


def test_a_second_buffer_of_a_kind_is_new() -> None:
    assert [each.name for each in grown(made(("a", 64), ("a", 64)), made(("a", 64)))] == ["b1"]
    assert grown(made(("a", 64)), made(("a", 64))) == ()


def test_more_than_three_are_counted() -> None:
    with pytest.raises(PeakError, match="and 2 more"):
        require_peak(made(*[(f"m{i}", 8) for i in range(5)]), 1)
