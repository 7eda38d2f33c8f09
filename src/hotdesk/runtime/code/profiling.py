"""From the seconds of kernel calls to a profile: calls added up by kernel, with their work and the roof, and by op."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from statistics import median

from hotdesk.passes.lower.calls import KernelCall
from hotdesk.passes.lower.work import Work
from hotdesk.report.profile import KernelProfile, KernelTimes, Roof
from hotdesk.sizes.size import Size, evaluate, symbols_of


def kernel_times(
    calls: Sequence[KernelCall],
    times: Sequence[Sequence[tuple[float, int]]],
    symbols: Mapping[str, int],
    roof: Roof,
) -> KernelTimes:
    """The kernels that are called, the slowest first, and the seconds of each op that calls one.

    `times` has, for each run, the seconds of each call and how often it was made.
    """
    seconds = [median(taken for taken, _ in each) for each in zip(*times, strict=True)]
    counts = [count for _, count in times[-1]]
    found: dict[str, list[int]] = {}
    for number, call in enumerate(calls):
        if counts[number]:
            found.setdefault(call.kernel, []).append(number)
    made = [_profile([(calls[i], seconds[i], counts[i]) for i in each], symbols, roof) for each in found.values()]
    points: dict[int, float] = {}
    for call, taken, count in zip(calls, seconds, counts, strict=True):
        if count:
            points[call.point] = points.get(call.point, 0.0) + taken
    return KernelTimes(tuple(sorted(made, key=lambda kernel: -kernel.seconds)), tuple(sorted(points.items())))


def _profile(calls: Sequence[tuple[KernelCall, float, int]], symbols: Mapping[str, int], roof: Roof) -> KernelProfile:
    first = calls[0][0]
    operations = [count * _known(call.work.operations, symbols) for call, _, count in calls]
    read = [count * _known(call.work.read, symbols) for call, _, count in calls]
    written = [count * _known(call.work.written, symbols) for call, _, count in calls]
    element = first.work.operands[-1][0] if first.work.operands else "f32"
    least = [
        roof.seconds(element, *each) for each in zip(operations, map(sum, zip(read, written, strict=True)), strict=True)
    ]
    lines: dict[str, float] = {}
    for call, taken, _ in calls:
        lines[call.source.location] = lines.get(call.source.location, 0.0) + taken
    return KernelProfile(
        first.kernel,
        first.source.op,
        _operands(first.work, symbols),
        sum(count for *_, count in calls),
        sum(taken for _, taken, _ in calls),
        sum(operations),
        sum(read),
        sum(written),
        sum(least),
        tuple(sorted(filter(None, lines), key=lambda line: -lines[line])),
    )


def _known(size: Size, symbols: Mapping[str, int]) -> int:
    """The value of a size; 0 of one that only the run knows."""
    return evaluate(size, symbols) if symbols.keys() >= set(symbols_of(size)) else 0


def _operands(work: Work, symbols: Mapping[str, int]) -> str:
    """Types and sizes: what is read, an arrow, and what is written last."""
    spelled = [f"{kind}[{','.join(_spelled(size, symbols) for size in sizes)}]" for kind, sizes in work.operands]
    return " ".join([*spelled[:-1], "->", *spelled[-1:]])


def _spelled(size: Size, symbols: Mapping[str, int]) -> str:
    return str(evaluate(size, symbols)) if symbols.keys() >= set(symbols_of(size)) else "?"
