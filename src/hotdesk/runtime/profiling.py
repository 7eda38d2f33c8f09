"""From the seconds of kernel calls to a profile: calls added up by kernel, with their work and the roof."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from statistics import median

from hotdesk.explain import evaluate
from hotdesk.passes.lower.calls import KernelCall
from hotdesk.passes.lower.work import Work
from hotdesk.report.profile import KernelProfile, Roof


def kernel_profiles(
    calls: Sequence[KernelCall], times: Sequence[Sequence[float]], symbols: Mapping[str, int], roof: Roof
) -> tuple[KernelProfile, ...]:
    """The kernels that are called, the slowest first; `times` has the seconds of each call, for each run."""
    seconds = [median(each) for each in zip(*times, strict=True)]
    found: dict[str, list[int]] = {}
    for number, call in enumerate(calls):
        found.setdefault(call.kernel, []).append(number)
    made = [_profile([(calls[i], seconds[i]) for i in numbers], symbols, roof) for numbers in found.values()]
    return tuple(sorted(made, key=lambda kernel: -kernel.seconds))


def _profile(calls: Sequence[tuple[KernelCall, float]], symbols: Mapping[str, int], roof: Roof) -> KernelProfile:
    first = calls[0][0]
    operations = [evaluate(call.work.operations, symbols) for call, _ in calls]
    read = [evaluate(call.work.read, symbols) for call, _ in calls]
    written = [evaluate(call.work.written, symbols) for call, _ in calls]
    element = first.work.operands[-1][0] if first.work.operands else "f32"
    least = [
        roof.seconds(element, *each) for each in zip(operations, map(sum, zip(read, written, strict=True)), strict=True)
    ]
    lines: dict[str, float] = {}
    for call, taken in calls:
        lines[call.source.location] = lines.get(call.source.location, 0.0) + taken
    return KernelProfile(
        first.kernel,
        first.source.op,
        _operands(first.work, symbols),
        len(calls),
        sum(taken for _, taken in calls),
        sum(operations),
        sum(read),
        sum(written),
        sum(least),
        tuple(sorted(filter(None, lines), key=lambda line: -lines[line])),
    )


def _operands(work: Work, symbols: Mapping[str, int]) -> str:
    """Types and sizes: what is read, an arrow, and what is written last."""
    spelled = [f"{kind}[{','.join(str(evaluate(size, symbols)) for size in sizes)}]" for kind, sizes in work.operands]
    return " ".join([*spelled[:-1], "->", *spelled[-1:]])
