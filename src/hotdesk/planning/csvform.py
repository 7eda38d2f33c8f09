"""The CSV form in which allocator benchmarks are exchanged: `id,lower,upper,size` and, for answers, `offset`.

Live ranges are half open, sizes in bytes. The form knows neither pools nor alignments: both are given when reading,
and a plan that borrows cannot be written. An id that is a decimal integer in its shortest form is read as int, any
other as str.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator

from hotdesk.planning.bounds import lower_bound
from hotdesk.planning.plan import Placement, Plan
from hotdesk.planning.problem import Buffer, BufferId, Problem

_COLUMNS = ("id", "lower", "upper", "size")


def read_csv(text: str, *, alignment: int = 1, pin: bool = False) -> Problem:
    """The problem that `text` states, every buffer aligned to `alignment`.

    With `pin`, cells of the offset column become fixed offsets; else that column is an answer, and left aside.
    Raises ValueError for a wrong header, a short or long row and a cell that is not an integer, with its line.
    """
    buffers: list[Buffer] = []
    for line, row in _rows(text):
        offset = row.get("offset", "")
        buffers.append(
            Buffer(
                id=_read_id(row["id"]),
                lower=_read_int(line, "lower", row["lower"]),
                upper=_read_int(line, "upper", row["upper"]),
                size=_read_int(line, "size", row["size"]),
                alignment=alignment,
                fixed_offset=_read_int(line, "offset", offset) if pin and offset else None,
            )
        )
    return Problem(tuple(buffers))


def read_csv_plan(problem: Problem, text: str) -> Plan:
    """The offsets in `text` as a plan of `problem`, in the order of the problem; whether it is right, `check` says.

    Raises ValueError where `text` has no offset for a buffer.
    """
    offsets: dict[BufferId, int] = {}
    for line, row in _rows(text):
        if cell := row.get("offset", ""):
            offsets[_read_id(row["id"])] = _read_int(line, "offset", cell)
    for buffer in problem.buffers:
        if buffer.id not in offsets:
            raise ValueError(f"expected an offset for every buffer, got none for {buffer.id!r}")
    placements = tuple(Placement(b.id, None, offsets[b.id]) for b in problem.buffers)
    arena = max((offsets[b.id] + b.footprint for b in problem.buffers if b.size), default=0)
    no_reuse = sum(b.footprint for b in problem.buffers)
    return Plan(placements, arena, lower_bound(problem), "csv", no_reuse)


def write_csv(problem: Problem, plan: Plan | None = None) -> str:
    """`problem` in the CSV form, with the offsets of `plan`, or else those its buffers are pinned to, if any.

    Alignments and pools are left out. Raises ValueError for a plan that places a buffer in a pool.
    """
    if plan is None:
        offsets = {b.id: b.fixed_offset for b in problem.buffers if b.fixed_offset is not None}
    else:
        borrowed = next((p for p in plan.placements if p.pool is not None), None)
        if borrowed is not None:
            raise ValueError(f"expected a plan without pools, got {borrowed.buffer_id!r} in pool {borrowed.pool!r}")
        offsets = {p.buffer_id: p.offset for p in plan.placements}
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow((*_COLUMNS, "offset") if offsets else _COLUMNS)
    for b in problem.buffers:
        cells = (b.id, b.lower, b.upper, b.size)
        writer.writerow((*cells, offsets.get(b.id, "")) if offsets else cells)
    return out.getvalue()


def _rows(text: str) -> Iterator[tuple[int, dict[str, str]]]:
    """Line number and cells by column of every row below the header; blank lines are skipped."""
    reader = csv.reader(io.StringIO(text))
    header = next((tuple(cell.strip() for cell in row) for row in reader), ())
    if header not in (_COLUMNS, (*_COLUMNS, "offset")):
        raise ValueError(f"expected the header id,lower,upper,size with an optional offset, got {','.join(header)!r}")
    for row in reader:
        if not row:
            continue
        if len(row) != len(header):
            raise ValueError(f"line {reader.line_num}: expected {len(header)} cells, got {len(row)}")
        yield reader.line_num, {column: cell.strip() for column, cell in zip(header, row, strict=True)}


def _read_id(cell: str) -> BufferId:
    return int(cell) if cell.isdecimal() and str(int(cell)) == cell else cell


def _read_int(line: int, column: str, cell: str) -> int:
    try:
        return int(cell)
    except ValueError:
        raise ValueError(f"line {line}: expected an integer for {column}, got {cell!r}") from None
