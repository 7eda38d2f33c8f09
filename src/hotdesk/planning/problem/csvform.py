"""The CSV form in which allocator benchmarks are exchanged: `id,lower,upper,size` and, for answers, `offset`.

Live ranges are half open, sizes in bytes. Further columns may follow, in any order; their cells may be empty.

- `alignment`: of the offset, else the one given when reading.
- `gaps`: half-open intervals in which the buffer is not needed, as `3-5 8-9`.
- `host` and `at`: the buffer starts `at` bytes after the buffer `host`. Several that are tied all name one of them.
- `pool`: where an answer does not lie in the arena. Pools themselves are given when reading.

An id that is a decimal integer in its shortest form is read as int, any other as str. Numbers are decimal digits,
behind a sign if need be. A byte order mark before the header is skipped.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Protocol

from hotdesk.planning.problem.bodies import bodies_of
from hotdesk.planning.problem.buffers import Buffer, BufferId, Pool, Tie
from hotdesk.planning.problem.numbers import shown
from hotdesk.planning.problem.plan import Plan
from hotdesk.planning.problem.problem import Problem

_COLUMNS = ("id", "lower", "upper", "size")
_OPTIONAL = ("alignment", "gaps", "host", "at", "pool", "offset")
_BYTE_ORDER_MARK = "\ufeff"
_MOST_DIGITS = 1_000
"""Far beyond what a problem accepts, and below what Python refuses to read."""


class _Rows(Iterator[list[str]], Protocol):
    @property
    def line_num(self) -> int: ...


def read_csv(text: str, *, alignment: int = 1, pin: bool = False, pools: Sequence[Pool] = ()) -> Problem:
    """The problem that `text` states, every buffer aligned to `alignment` where no column says otherwise.

    With `pin`, cells of the offset column become fixed offsets; else that column is an answer, and left aside.
    Raises ValueError for a wrong header, a short or long row and a cell that does not read as it should, with its line.
    """
    buffers: list[Buffer] = []
    ties: list[Tie] = []
    for line, row in _rows(text):
        name = _read_id(row["id"])
        offset = row.get("offset", "")
        buffers.append(
            Buffer(
                id=name,
                lower=_read_int(line, "lower", row["lower"]),
                upper=_read_int(line, "upper", row["upper"]),
                size=_read_int(line, "size", row["size"]),
                alignment=_read_int(line, "alignment", row.get("alignment") or str(alignment)),
                fixed_offset=_read_int(line, "offset", offset) if pin and offset else None,
                gaps=tuple(_read_gap(line, gap) for gap in row.get("gaps", "").split()),
            )
        )
        if host := row.get("host"):
            ties.append(Tie(name, _read_id(host), _read_int(line, "at", row.get("at") or "0")))
    return Problem(tuple(buffers), tuple(pools), tuple(ties))


def write_csv(problem: Problem, plan: Plan | None = None) -> str:
    """`problem` in the CSV form, with the offsets of `plan`, or else those its buffers are pinned to, if any.

    Columns that would say nothing are left out, and so is an alignment that all buffers have.
    """
    columns: dict[str, Callable[[Buffer], object]] = {
        "id": lambda b: b.id,
        "lower": lambda b: b.lower,
        "upper": lambda b: b.upper,
        "size": lambda b: b.size,
    }
    if len({b.alignment for b in problem.buffers}) > 1:
        columns["alignment"] = lambda b: b.alignment
    if any(b.gaps for b in problem.buffers):
        columns["gaps"] = lambda b: " ".join(f"{start}-{end}" for start, end in b.gaps)
    if problem.ties:
        hosts = _hosts(problem)
        columns["host"] = lambda b: hosts.get(b.id, ("", ""))[0]
        columns["at"] = lambda b: hosts.get(b.id, ("", ""))[1]
    pools = {p.buffer_id: p.pool for p in plan.placements if p.pool is not None} if plan else {}
    if pools:
        columns["pool"] = lambda b: pools.get(b.id, "")
    offsets: Mapping[BufferId, int] = (
        {p.buffer_id: p.offset for p in plan.placements}
        if plan
        else {b.id: b.fixed_offset for b in problem.buffers if b.fixed_offset is not None}
    )
    if offsets:
        columns["offset"] = lambda b: offsets.get(b.id, "")
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows([cell(b) for cell in columns.values()] for b in problem.buffers)
    return out.getvalue()


def _hosts(problem: Problem) -> dict[BufferId, tuple[BufferId, int]]:
    """For each buffer that is tied, but the first of its kind, that first one and the distance from it."""
    found: dict[BufferId, tuple[BufferId, int]] = {}
    for body in bodies_of(problem.buffers, problem.ties):
        (first, at), *others = body.members
        found |= {problem.buffers[i].id: (problem.buffers[first].id, offset - at) for i, offset in others}
    return found


def _rows(text: str) -> Iterator[tuple[int, dict[str, str]]]:
    """Line number and cells by column of every row below the header; blank lines are skipped."""
    reader = csv.reader(io.StringIO(text.removeprefix(_BYTE_ORDER_MARK)))
    rows = _read(reader)
    header = next((tuple(cell.strip() for cell in row) for row in rows), ())
    further = header[len(_COLUMNS) :]
    if header[: len(_COLUMNS)] != _COLUMNS or len({*further}) < len(further) or not {*further} <= {*_OPTIONAL}:
        raise ValueError(
            f"expected the header id,lower,upper,size with optional {', '.join(_OPTIONAL[:-1])} and {_OPTIONAL[-1]}, "
            f"got {shown(','.join(header))}"
        )
    for row in rows:
        if not row:
            continue
        if len(row) != len(header):
            raise ValueError(f"line {reader.line_num}: expected {len(header)} cells, got {len(row)}")
        yield reader.line_num, {column: cell.strip() for column, cell in zip(header, row, strict=True)}


def _read(reader: _Rows) -> Iterator[list[str]]:
    try:
        yield from reader
    except csv.Error as error:
        raise ValueError(
            f"line {reader.line_num}: expected cells of up to {csv.field_size_limit():,} characters, with commas between, "
            f"got what cannot be read: {error}"
        ) from error


def _read_gap(line: int, cell: str) -> tuple[int, int]:
    found = re.fullmatch(r"([+-]?[0-9]+)-([+-]?[0-9]+)", cell) if len(cell) <= _MOST_DIGITS else None
    if found is None:
        raise ValueError(f"line {line}: expected gaps such as 3-5, with spaces between, got {shown(cell)}")
    return int(found[1]), int(found[2])


def _read_id(cell: str) -> BufferId:
    return int(cell) if _is_integer(cell) and str(int(cell)) == cell else cell


def _read_int(line: int, column: str, cell: str) -> int:
    if not _is_integer(cell[1:] if cell[:1] in ("+", "-") else cell):
        raise ValueError(f"line {line}: expected an integer for {column}, got {shown(cell)}")
    return int(cell)


def _is_integer(cell: str) -> bool:
    """Whether these are decimal digits, of which Python reads so many."""
    return len(cell) <= _MOST_DIGITS and re.fullmatch("[0-9]+", cell) is not None
