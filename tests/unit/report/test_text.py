"""The text report: exact, short, the same every time."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest
import sympy

from hotdesk.explain import Decision, Outcome, Reason, Source
from hotdesk.report import BufferLine, Certificate, CertifiedBuffer, Memory, Report, render, summarize
from hotdesk.report.text import WIDTH, size

MIB = 1 << 20
MEMORY = Memory(
    arena=5 * MIB,
    peak=8_200_192,
    lower_bound=5 * MIB - 4096,
    no_reuse=30 * MIB,
    weights=102_228_128,
    prepared=212_480,
    inputs=602_112,
    outputs=8_200_192 - 5 * MIB,
    allocations=12,
    copies=602_112,
)
AT_PEAK = (
    BufferLine("relu", MIB, "resnet.py:31", 4, 6, "arena"),
    BufferLine("conv1", 3_211_264, "resnet.py:12", 2, 5, "arena"),
    BufferLine("logits", 4000, "resnet.py:80", 3, 9, "result 0"),
    BufferLine("small", 16, "resnet.py:81", 3, 9, "arena"),
)
DECISIONS = (
    Decision("conv1", Outcome.ALLOCATED, Reason.NO_DEAD_OPERAND_OF_SAME_SIZE, (), 3_211_264),
    Decision("relu", Outcome.IN_PLACE, Reason.DIES_HERE, (Source("linalg.generic", "resnet.py:31"),), 3_211_264),
    Decision(
        "skip",
        Outcome.COPIED,
        Reason.READ_LATER,
        (Source("linalg.add", "resnet.py:40"), Source("linalg.add", "resnet.py:41")),
        sympy.Integer(3_211_264 + 64),
    ),
    Decision("bn", Outcome.IN_PLACE, Reason.DIES_HERE, (), 64),
    Decision("pool", Outcome.SHARED, Reason.LIVE_RANGE_ENDED, (), 64),
    Decision("x", Outcome.COPIED, Reason.NON_CONTIGUOUS_ARGUMENT, (), 602_112),
)
FULL = summarize("resnet", (("s0", 4), ("s1", 224)), MEMORY, AT_PEAK, DECISIONS)
NOTHING = summarize("empty", (), Memory(0, 0, 0, 0, 0, 0, 0, 0, 0), (), ())


def test_full_report(golden: Callable[[str, str], None]) -> None:
    golden("report_full.txt", render(FULL))


def test_report_on_a_program_without_memory(golden: Callable[[str, str], None]) -> None:
    golden("report_empty.txt", render(NOTHING))


def test_summary_counts_in_the_order_of_outcomes_and_keeps_copies_apart() -> None:
    assert FULL.outcomes == ((Outcome.IN_PLACE, 2), (Outcome.COPIED, 1), (Outcome.ALLOCATED, 1), (Outcome.SHARED, 1))
    assert [line.name for line in FULL.largest] == ["conv1", "relu", "logits"]
    assert FULL.missed is DECISIONS[2]
    assert FULL.copies == (("x", 602_112),)


def test_of_equal_misses_the_first_is_named() -> None:
    first = Decision("a", Outcome.COPIED, Reason.READ_LATER, (), 8)
    report = summarize("p", (), MEMORY, (), (first, replace(first, subject="b")))
    assert report.missed is first


@pytest.mark.parametrize(
    ("count", "text"),
    [
        (0, "0 bytes"),
        (1, "1 byte"),
        (1023, "1023 bytes"),
        (1024, "1.00 KiB (1,024)"),
        (MIB - 1, "1.00 MiB (1,048,575)"),
        (8_200_192, "7.82 MiB (8,200,192)"),
        (5 << 30, "5.00 GiB (5,368,709,120)"),
        (5000 << 40, "5000.00 TiB (5,497,558,138,880,000)"),
    ],
)
def test_sizes_are_readable_and_exact(count: int, text: str) -> None:
    assert size(count) == text


def _stretched(report: Report) -> Report:
    """The same report with every number and name as long as it gets."""
    huge = 987_654_321_098
    lines = tuple(replace(line, name="n" * 99, bytes=huge, location="p" * 200 + "/m.py:9") for line in report.largest)
    because = (Source("o" * 90, "q" * 90 + "/m.py:8"),) * 12
    missed = Decision("m" * 99, Outcome.ALLOCATED, Reason.NO_DEAD_OPERAND_OF_SAME_SIZE, because, huge)
    buffer = CertifiedBuffer("b" * 99, huge - 1, huge, "p" * 200 + "/m.py:9")
    certificate = Certificate(4 * huge - 7, "live", 123_456, "o" * 99, "q" * 200 + "/m.py:8", (buffer,) * 5, huge + 7)
    return Report(
        name="r" * 200,
        symbols=tuple((f"s{index}", index) for index in range(50)),
        memory=Memory(huge, huge, huge - 1, 99 * huge, huge, huge, huge, huge, 123_456, huge, certificate=certificate),
        outcomes=tuple((outcome, 12_345) for outcome in Outcome),
        largest=lines,
        missed=missed,
        copies=tuple((f"argument_{index}", 1) for index in range(50)),
    )


@pytest.mark.parametrize("report", [FULL, NOTHING, _stretched(FULL)], ids=["full", "nothing", "stretched"])
def test_report_keeps_to_its_page(report: Report) -> None:
    lines = render(report).splitlines()
    assert len(lines) <= 20
    assert all(len(line) <= WIDTH == 110 for line in lines)
    assert lines == [line.rstrip() for line in lines]
    assert render(report) == render(report)


def test_the_operation_of_a_bound_is_shown_with_the_end_of_its_path() -> None:
    (line,) = (line for line in render(_stretched(FULL)).splitlines() if line.startswith("bound"))
    assert line.endswith("/m.py:8")


def test_long_locations_keep_file_and_line() -> None:
    text = render(_stretched(FULL))
    assert text.count("/m.py:9\n") == 6
    assert "/m.py:8 and 11 more" in text
