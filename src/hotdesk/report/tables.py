"""A report as tables for a terminal, by rich."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from rich import box
from rich.table import Table
from rich.text import Text

from hotdesk.report.diff import Diff
from hotdesk.report.document import Document
from hotdesk.report.text import counted, size
from hotdesk.report.tradeoff import COLUMNS, Tradeoff, cells, title_of

_SHOWN = 10
_BAR = 24


def tables(made: Document) -> Iterator[Table | Text]:
    """What a call takes, the buffers at the peak, and what was decided how often, for which reason."""
    at = ", ".join(f"{name} = {value}" for name, value in made.symbols)
    yield Text(f"{made.name} ({at})" if at else made.name, style="bold")
    yield _figures(made)
    if made.at_peak:
        yield _at_peak(made)
    if made.decisions:
        yield _decisions(made)


def diff_table(found: Diff) -> Table:
    """Figures of two reports beside each other."""
    table = Table(box=box.SIMPLE_HEAD, title=f"{found.before} → {found.after}", title_justify="left")
    for name in ("", found.before, found.after, "change", "%"):
        table.add_column(name, justify="left" if not name else "right")
    for each in found.figures:
        style = "" if not each.change else "red" if each.change > 0 else "green"
        percent = "" if each.percent is None or not each.change else f"{each.percent:+.1f}"
        change = f"{each.change:+,}" if each.change else "="
        table.add_row(each.name, f"{each.before:,}", f"{each.after:,}", Text(change, style), Text(percent, style))
    return table


def tradeoff_table(made: Tradeoff) -> Iterator[Table | Text]:
    """The ways to run a program and those beside, and what is to be said of them."""
    table = Table(box=box.SIMPLE_HEAD, title=title_of(made), title_justify="left")
    for name in COLUMNS:
        table.add_column(name, justify="left" if name in ("unbeaten", "how") else "right", overflow="fold")
    for point in made.points:
        row = cells(made, point)
        table.add_row(*(Text(text, "green" if row[0] else "") for text in row))
    yield table
    yield from (Text(f"{point.name}: {point.note}", "dim") for point in made.points if point.note)
    if made.refused:
        yield Text(f"lower: {made.refused}", "dim")


def _figures(made: Document) -> Table:
    memory, table = made.memory, Table(box=None, show_header=False, pad_edge=False)
    rows = [
        ("peak", memory.peak, "arena and outputs"),
        ("arena", memory.arena, counted(memory.allocations, "buffer")),
        ("bound", memory.lower_bound, "no arena can be smaller"),
        ("no reuse", memory.no_reuse, "every tensor in a buffer of its own"),
        ("inputs", memory.inputs, ""),
        ("outputs", memory.outputs, ""),
        ("weights", memory.weights, ""),
        ("prepared", memory.prepared, "computed from the weights, once"),
        ("state", memory.state, "changed by calls"),
        ("copies", memory.copies, "of arguments, once a call"),
    ]
    most = max(memory.no_reuse, 1)
    for name, value, text in rows:
        if value or name in ("peak", "arena"):
            bar = "█" * round(_BAR * value / most) if name in ("peak", "arena", "bound", "no reuse") else ""
            table.add_row(
                Text(name, "bold" if name == "peak" else ""), size(value), Text(bar, "cyan"), Text(text, "dim")
            )
    for each in made.series:
        bar = "█" * min(round(_BAR * each.peak / most), _BAR)
        table.add_row(each.name, size(each.peak), Text(bar, "yellow"), Text(each.source, "dim"))
    if made.time is not None:
        table.add_row("time", made.time)
    return table


def _at_peak(made: Document) -> Table:
    point = made.points[made.peak_point]
    title = f"in use at point {made.peak_point}, {point.op}: {size(point.bytes)}"
    table = Table(box=box.SIMPLE_HEAD, title=title, title_justify="left")
    for name in ("buffer", "bytes", "%", "operation", "submodule", "line"):
        table.add_column(name, justify="right" if name in ("bytes", "%") else "left", overflow="fold")
    for each in made.at_peak[:_SHOWN]:
        share = f"{100 * each.bytes / point.bytes:.0f}" if point.bytes else ""
        table.add_row(*map(Text, (each.title, f"{each.bytes:,}", share, each.op, each.module, each.line)))
    rest = made.at_peak[_SHOWN:]
    if rest:
        table.add_row(f"{len(rest):,} more", f"{sum(each.bytes for each in rest):,}")
    return table


def _decisions(made: Document) -> Table:
    counts = Counter((each.outcome, each.reason, each.text) for each in made.decisions)
    held: Counter[tuple[str, str, str]] = Counter()
    for each in made.decisions:
        held[each.outcome, each.reason, each.text] += each.bytes
    table = Table(box=box.SIMPLE_HEAD, title="decisions", title_justify="left")
    for name in ("", "outcome", "reason", "bytes"):
        table.add_column(name, justify="right" if name in ("", "bytes") else "left")
    for key in sorted(counts, key=lambda key: (-held[key], key)):
        table.add_row(f"{counts[key]:,}", key[0], key[1], f"{held[key]:,}")
    return table
