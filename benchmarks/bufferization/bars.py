"""What Hotdesk's bufferization is held to, and whether a run met it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from benchmarks.bufferization.runs import Row

WITHOUT_COPIES = ("transformer_encoder", "gpt2", "resnet50")
SHARED_EMPTY, SHARED_EMPTY_SECONDS = "1,000 elementwise ops, one shared tensor.empty", 1.0
DEEP, DEEP_SECONDS = "GPT-2, 48 layers", 5.0
GROWTH = 1.2
GROWING = (
    ("encoder, 12 layers", "encoder, 48 layers", 4),
    ("GPT-2, 12 layers", "GPT-2, 48 layers", 4),
    ("1,000 straight-line ops", "100,000 straight-line ops", 100),
)


@dataclass(frozen=True, slots=True)
class Bar:
    """A bar and its verdict. `met` is None when the run did not measure it; `found` are the figures behind it."""

    text: str
    met: bool | None
    found: tuple[str, ...]


def bars(rows: Sequence[Row]) -> tuple[Bar, ...]:
    """Every bar, judged on the rows of a run."""
    named = {(row.case, row.variant, row.side): row for row in rows}
    return (
        _never_more(rows, "copies", _copies),
        _never_more(rows, "peak bytes", lambda row: row.peak),
        _same_module(rows, "copies", _copies),
        _same_module(rows, "peak bytes", lambda row: row.peak),
        _without_copies(rows),
        _in_time(named.get((SHARED_EMPTY, "as generated", "one-shot")), SHARED_EMPTY, SHARED_EMPTY_SECONDS),
        _in_time(named.get((DEEP, "unfused", "one-shot")), f"{DEEP}, unfused", DEEP_SECONDS),
        _growth(rows),
    )


def ours(rows: Sequence[Row], case: str) -> Row | None:
    """The row that Hotdesk is judged by: the compiler's own pipeline, or one-shot where a module has no pipeline row."""
    found = {row.side: row for row in rows if row.case == case and row.side != "mlir" and row.variant != "fused"}
    return found.get("pipeline", found.get("one-shot"))


def growth(rows: Sequence[Row], side: str, small: str, large: str, factor: int) -> float | None:
    """How much more than `factor` times as long the larger case takes, by the quickest runs; 1 is linear."""
    first, last = (
        next((r.best() for r in rows if (r.case, r.side) == (name, side) and r.variant != "fused"), None)
        for name in (small, large)
    )
    return last / first / factor if first and last else None


def _copies(row: Row) -> int | None:
    return row.counts.copies if row.counts else None


def _never_more(rows: Sequence[Row], what: str, figure: Callable[[Row], int | None]) -> Bar:
    worse: list[str] = []
    compared = 0
    for case in dict.fromkeys(row.case for row in rows):
        theirs = [n for row in rows if row.case == case and row.side == "mlir" and (n := figure(row)) is not None]
        own = ours(rows, case)
        if not theirs or own is None:
            continue
        compared += 1
        worse += _worse(case, figure(own), min(theirs), own)
    return Bar(
        f"never more {what} than MLIR's best ({compared} modules)", not worse if compared else None, tuple(worse)
    )


def _same_module(rows: Sequence[Row], what: str, figure: Callable[[Row], int | None]) -> Bar:
    theirs = {(row.case, row.variant): n for row in rows if row.side == "mlir" and (n := figure(row)) is not None}
    pairs = [
        (row, theirs[row.case, row.variant])
        for row in rows
        if row.side == "one-shot" and (row.case, row.variant) in theirs
    ]
    worse = [line for row, least in pairs for line in _worse(f"{row.case}, {row.variant}", figure(row), least, row)]
    text = f"one-shot alone, on exactly MLIR's module: never more {what} ({len(pairs)} modules)"
    return Bar(text, not worse if pairs else None, tuple(worse))


def _worse(name: str, mine: int | None, least: int, row: Row) -> list[str]:
    if mine is None:
        return [f"{name}: no result ({row.note.partition(' ')[0]})"]
    return [f"{name}: {mine:,} against {least:,}"] if mine > least else []


def _without_copies(rows: Sequence[Row]) -> Bar:
    found = [(case, row) for case in WITHOUT_COPIES if (row := ours(rows, case)) is not None]
    counts = [(case, _copies(row)) for case, row in found]
    text = f"no copy on {', '.join(WITHOUT_COPIES)}"
    return Bar(text, all(n == 0 for _, n in counts) if found else None, tuple(f"{case}: {n}" for case, n in counts))


def _in_time(row: Row | None, what: str, limit: float) -> Bar:
    text = f"{what}: under {limit:.0f} s"
    if row is None:
        return Bar(text, None, ())
    seconds = row.seconds()
    return Bar(text, seconds is not None and seconds < limit, (f"{seconds:.2f} s" if seconds else row.note,))


def _growth(rows: Sequence[Row]) -> Bar:
    found = [(small, large, growth(rows, "one-shot", small, large, factor)) for small, large, factor in GROWING]
    known = [each for _, _, each in found if each is not None]
    lines = tuple(f"{small} → {large}: {each:.2f} × linear" for small, large, each in found if each is not None)
    met = all(each <= GROWTH for each in known) if len(known) == len(GROWING) else None
    return Bar(f"growth at most {GROWTH} × linear", met, lines)
