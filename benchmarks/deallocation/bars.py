"""What Hotdesk's passes on buffers are held to, and whether a run met it."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from benchmarks.bufferization.bars import Bar
from benchmarks.deallocation.rows import Figures, Row
from benchmarks.deallocation.sides import ALONE, BEST, OURS, THEIRS

MIB = 1 << 20
ACTIVATIONS = (("resnet50", 7.9), ("transformer_encoder", 3.6), ("gpt2, 64 tokens", 12.5))
SWAP = "swap of two buffers"
CHAIN, CHAIN_SECONDS = "4,000 allocations", 1.0


def bars(rows: Sequence[Row]) -> tuple[Bar, ...]:
    """Every bar, judged on the rows of a run."""
    return (
        *(_never_more(rows, side, "peak bytes", lambda figures: figures.peak) for side in (ALONE, BEST)),
        *(_activations(rows, name, limit) for name, limit in ACTIVATIONS),
        *(_never_more(rows, side, "checks in the text", lambda figures: figures.checks) for side in (ALONE, BEST)),
        *(_never_more(rows, side, "checks in a run", lambda figures: figures.executed) for side in (ALONE, BEST)),
        _never_more(rows, BEST, "copies in a run", lambda figures: figures.copied),
        _without_checks(rows),
        _swap(rows),
        _faultless(rows, "loops, 100,000 times round: no leak, no double free, no other fault", {"endurance"}),
        _faultless(
            rows,
            "all other runs: no fault that the program does not have when MLIR's passes free it too",
            {"loops", "examples", "random"},
        ),
        _unchanged(rows),
        _in_time(rows),
    )


def theirs(rows: Sequence[Row], program: str, group: str) -> Row | None:
    """MLIR's side that a program is judged by: the one that holds least, then asks least at run time, then copies least."""
    found = [(row.figures, row) for row in rows if (row.program, row.group) == (program, group) and row.side in THEIRS]
    known = [(figures, row) for figures, row in found if figures is not None and not figures.faults]
    return min(known, key=lambda pair: _rank(pair[0]), default=(None, None))[1]


def _rank(figures: Figures) -> tuple[int, ...]:
    return figures.peak, figures.checks, figures.executed, figures.copies


def _never_more(rows: Sequence[Row], side: str, what: str, figure: Callable[[Figures], int]) -> Bar:
    worse: list[str] = []
    compared = 0
    for row in rows:
        other = theirs(rows, row.program, row.group) if row.side == side else None
        if other is None or other.figures is None:
            continue
        compared += 1
        if row.figures is None:
            worse.append(f"{row.program}: no result ({row.note[:80]})")
        elif figure(row.figures) > figure(other.figures):
            worse.append(f"{row.program}: {figure(row.figures):,} against {figure(other.figures):,} ({other.side})")
    text = f"{side}: never more {what} than MLIR's best ({compared:,} programs)"
    return Bar(text, not worse if compared else None, tuple(worse))


def _activations(rows: Sequence[Row], name: str, limit: float) -> Bar:
    text = f"{name}, as the compiler bufferizes it: at most {limit} MiB of activations"
    program = f"{name}, Hotdesk's buffers"
    found = {row.side: row.figures for row in rows if row.program == program and row.figures is not None}
    kept = [found[side] for side in (ALONE, BEST) if side in found]
    lines = [
        f"{side}: {found[side].activations / MIB:.3f} MiB; {found[side].peak / MIB:.3f} MiB with what is prepared"
        for side in (ALONE, BEST)
        if side in found
    ]
    given = theirs(rows, f"{name}, MLIR's buffers", "models")
    if given is not None and given.figures is not None:
        lines.append(
            f"MLIR's passes on its own buffers: {given.figures.peak / MIB:.3f} MiB, weights' transposes included"
        )
    return Bar(text, all(each.activations <= limit * MIB for each in kept) if kept else None, tuple(lines))


def _without_checks(rows: Sequence[Row]) -> Bar:
    found = [(row, row.figures) for row in rows if row.group == "models" and row.side in (ALONE, BEST) and row.figures]
    lines = tuple(
        f"{row.program}, {row.side}: {figures.checks} in the text, {figures.executed} in a run"
        for row, figures in found
        if figures.checks or figures.executed
    )
    text = f"models are freed without any check ({len({row.program for row, _ in found}):,} programs)"
    return Bar(text, not lines if found else None, lines)


def _swap(rows: Sequence[Row]) -> Bar:
    found = {row.side: row.figures for row in rows if (row.program, row.group) == (SWAP, "loops") and row.figures}
    kept = [found[side] for side in (ALONE, BEST) if side in found]
    lines = tuple(
        f"{side}: {found[side].deallocations} deallocations, {found[side].conditions} conditions, "
        f"{found[side].comparisons} comparisons; {found[side].executed} checks in a run"
        for side in (ALONE, BEST, "mlir, liveness")
        if side in found
    )
    met = all(each.checks == each.executed == 0 for each in kept) if kept else None
    return Bar("a loop that swaps two buffers frees without any check", met, lines)


def _faultless(rows: Sequence[Row], text: str, groups: set[str]) -> Bar:
    found = [row for row in rows if row.group in groups and row.side in OURS]
    known = {
        (row.program, row.group, fault)
        for row in rows
        if row.side in THEIRS and row.figures
        for fault in row.figures.faults
    }
    lines = [
        f"{row.program}, {row.side}: {row.figures.faults[0] if row.figures else row.note[:160]}"
        for row in found
        if row.figures is None or any((row.program, row.group, fault) not in known for fault in row.figures.faults)
    ]
    return Bar(f"{text} ({len(found):,} runs)", not lines if found else None, tuple(lines))


def _unchanged(rows: Sequence[Row]) -> Bar:
    found = [row for row in rows if row.side in OURS and row.figures is not None]
    differing = {(row.program, row.group) for row in rows if row.side in THEIRS and row.figures and row.figures.differs}
    lines = tuple(
        f"{row.program}, {row.side}"
        for row in found
        if row.figures and row.figures.differs and (row.program, row.group) not in differing
    )
    text = "computes what it did before anything was freed, unless MLIR's does not either"
    return Bar(text, not lines if found else None, lines)


def _in_time(rows: Sequence[Row]) -> Bar:
    found = {row.side: row for row in rows if row.program == CHAIN}
    seconds = found[ALONE].processor if ALONE in found else None
    lines = tuple(
        f"{row.side}: {row.processor:.2f} s" if row.processor is not None else f"{row.side}: {row.note[:80]}"
        for row in found.values()
    )
    text = f"{CHAIN} are freed in less than {CHAIN_SECONDS:.0f} s of processor time"
    return Bar(text, seconds is not None and seconds < CHAIN_SECONDS if found else None, lines)
