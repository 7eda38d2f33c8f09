"""A report as text: at most 20 lines of at most 110 columns, the same for the same record."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from hotdesk.explain import Decision, Source
from hotdesk.report.certificates import Certificate
from hotdesk.report.memory import Memory
from hotdesk.report.records import LARGEST, BufferLine, Report
from hotdesk.sizes.size import evaluate

WIDTH = 110
_UNITS = ("KiB", "MiB", "GiB", "TiB")
_INDENT = 11


def render(report: Report) -> str:
    """`report` as lines of text, without a newline at the end."""
    return "\n".join(_cut(line) for line in _lines(report))


def size(count: int) -> str:
    """`count` bytes, rounded for reading and exact in parentheses: `7.82 MiB (8,200,192)`."""
    if count < 1024:
        return f"{count} byte" if count == 1 else f"{count} bytes"
    value, rank = count / 1024, 0
    while round(value, 2) >= 1024 and rank + 1 < len(_UNITS):
        value, rank = value / 1024, rank + 1
    return f"{value:.2f} {_UNITS[rank]} ({count:,})"


def counted(count: int, noun: str) -> str:
    """A number of things: `1 buffer`, `1,024 buffers`."""
    return f"{count:,} {noun}{'s' * (count != 1)}"


def unit_of(count: int) -> tuple[str, int]:
    """The unit that bytes are some of, and how many bytes it is: for an axis of a chart."""
    rank = max(0, min(3, (count.bit_length() - 1) // 10))
    return ("bytes", *_UNITS)[rank], 1024**rank


def place(line: str) -> str:
    """A Python line without the folder that packages are installed in."""
    return line.rpartition("site-packages/")[2]


def _lines(report: Report) -> Iterator[str]:
    memory = report.memory
    at = ", ".join(f"{name} = {value}" for name, value in report.symbols)
    yield f"{report.name} ({at})" if at else report.name
    yield _entry("peak", f"{size(memory.peak)}: arena and outputs")
    yield _entry("arena", _arena(memory))
    if memory.certificate is not None and memory.certificate.buffers:
        yield from _entries("bound", _bound(memory.certificate))
    yield _entry("no reuse", _no_reuse(memory))
    if memory.grown:
        yield _entry("grown", f"{size(memory.grown)} at most so far, for what is known only when it runs")
    donated = f", donated {size(memory.donated)}" if memory.donated else ""
    yield _entry("inputs", f"{size(memory.inputs)}, outputs {size(memory.outputs)}{donated}")
    state = f", state {size(memory.state)}" if memory.state else ""
    yield _entry("weights", f"{size(memory.weights)}, prepared {size(memory.prepared)}{state}")
    yield _entry("decisions", ", ".join(f"{count} {outcome.value}" for outcome, count in report.outcomes) or "none")
    if report.spent:
        yield _entry("budget", _spent(report.spent))
    yield from _entries("largest", _table(report.largest))
    if report.missed is not None:
        yield from _entries("missed", _missed(report.missed))
    if report.copies:
        names = ", ".join(name for name, _ in report.copies)
        which = "non-contiguous or read-only" if memory.donated else "non-contiguous"
        yield _entry("copies", f"{size(memory.copies)}, once a call, of {which} arguments: {names}")


def _arena(memory: Memory) -> str:
    buffers = counted(memory.allocations, "buffer")
    if memory.arena <= memory.lower_bound:
        return f"{size(memory.arena)} for {buffers}, the least possible"
    return f"{size(memory.arena)} for {buffers}, lower bound {size(memory.lower_bound)}"


def _bound(found: Certificate) -> Iterator[str]:
    """What proves the bound: where, by which buffers, and what there is to add and to take off."""
    if found.proof == "live":
        text = f"{size(found.bytes)}: live together in {_short(found.op, 28)}"
        where = _tail(found.location, WIDTH - _INDENT - len(text) - 4)
        yield f"{text} at {where}" if where else text
    elif found.proof == "lent":
        yield f"{size(found.bytes)}: whichever of these lie in results and donated inputs"
    else:
        yield f"{size(found.bytes)}: {found.proof}, a search through all placements of these, found none smaller"
    shown = found.buffers[:LARGEST]
    widest = max(len(size(buffer.bytes)) for buffer in shown)
    names = max(len(_short(buffer.name, 28)) for buffer in shown)
    for buffer in shown:
        row = f"{size(buffer.bytes):<{widest}}  {_short(buffer.name, 28):<{names}}"
        yield f"{row}  {_tail(buffer.location, WIDTH - _INDENT - len(row) - 2)}".rstrip()
    rest = found.buffers[LARGEST:]
    padding = found.together - sum(buffer.bytes for buffer in found.buffers)
    parts = [f"{size(sum(buffer.bytes for buffer in rest))} in {len(rest):,} more"] if rest else []
    parts += [f"{size(padding)} of padding"] if padding else []
    parts += [f"less {size(found.lent)} lent"] if found.lent else []
    if parts:
        yield ", ".join(parts)


def _no_reuse(memory: Memory) -> str:
    if not memory.peak:
        return size(memory.no_reuse)
    return f"{size(memory.no_reuse)}, {memory.no_reuse / memory.peak:.2f} times the peak"


def _spent(spent: tuple[Decision, ...]) -> str:
    """What was done to fit, and what it costs when the program runs: after the last colon of each subject."""
    saved = sum(evaluate(decision.bytes, {}) for decision in spent)
    count = "1 change" if len(spent) == 1 else f"{len(spent)} changes"
    costs = "; ".join(dict.fromkeys(decision.subject.rpartition(": ")[2] for decision in spent))
    return f"{count} for {saved:,} bytes less at the peak: {costs}"


def _table(lines: tuple[BufferLine, ...]) -> Iterator[str]:
    widest = max((len(size(line.bytes)) for line in lines), default=0)
    names = max((len(_short(line.name, 28)) for line in lines), default=0)
    places = max((len(line.where) for line in lines), default=0)
    for line in lines:
        row = f"{size(line.bytes):<{widest}}  {_short(line.name, 28):<{names}}  {line.where:<{places}}"
        yield f"{row}  {_tail(line.location, WIDTH - _INDENT - len(row) - 2)}".rstrip()


def _missed(decision: Decision) -> Iterator[str]:
    subject = _short(decision.subject, 24)
    yield f"{size(evaluate(decision.bytes, {}))}  {subject} was {decision.outcome}: {decision.reason}"
    yield decision.reason.text
    if decision.because:
        yield f"because of {_sources(decision.because)}"


def _sources(because: tuple[Source, ...]) -> str:
    """The last, which is what stood in the way, and how many more there are."""
    last = Source(_short(because[-1].op, 30), _tail(because[-1].location, 40))
    return f"{last} and {len(because) - 1} more" if len(because) > 1 else str(last)


def _entry(title: str, text: str) -> str:
    return f"{title:<{_INDENT}}{text}"


def _entries(title: str, texts: Iterable[str]) -> Iterator[str]:
    for index, text in enumerate(texts):
        yield _entry("" if index else title, text)


def _short(text: str, width: int) -> str:
    return text if len(text) <= width else f"{text[: width - 1]}…"


def _tail(text: str, width: int) -> str:
    """The end of `text`, which is where a path names its file and line."""
    return text if len(text) <= width else f"…{text[len(text) - width + 1 :]}"


def _cut(line: str) -> str:
    return _short(line.rstrip(), WIDTH)
