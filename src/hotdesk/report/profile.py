"""Where a program's time goes: kernels with their calls, seconds and work, and what of the machine they use."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Any

_TOP = 20


@dataclass(frozen=True, slots=True)
class Roof:
    """What the machine can do, measured, on as many threads as programs use.

    Attributes:
        threads: how many these are.
        flops: operations a second by element type (`f32`, `f64`, and `bf16` where pairs or tiles are multiplied), of the micro-
            kernel on data in the nearest cache.
        bandwidth: bytes a second, read and written, of a copy of arrays that fit no cache.
    """

    threads: int
    flops: dict[str, float]
    bandwidth: float

    def seconds(self, element: str, operations: int, moved: int) -> float:
        """The least time for so many operations on that type and bytes; other types have the roof of `f32`."""
        return max(operations / self.flops.get(element, self.flops["f32"]), moved / self.bandwidth)


@dataclass(frozen=True, slots=True)
class KernelProfile:
    """The calls of one kernel, added up over one call of the program.

    Attributes:
        kernel: the name of the function.
        op: the op that it is the kernel of.
        operands: types and sizes of its memrefs in the first call, as in `f32[1,3,8,8] f32[4,3,3,3] -> f32[1,4,6,6]`.
        calls: how many there are.
        seconds: that they take.
        operations: on floats, as the ops ask for them.
        read, written: bytes, each element once a call.
        roof: the seconds that the machine's roof allows.
        locations: Python lines of the ops, the one that takes most time first.
    """

    kernel: str
    op: str
    operands: str
    calls: int
    seconds: float
    operations: int
    read: int
    written: int
    roof: float
    locations: tuple[str, ...]

    @property
    def moved(self) -> int:
        return self.read + self.written

    @property
    def share(self) -> float:
        """How near to the roof: 1 is there; more than 1 if its data is in a cache."""
        return self.roof / self.seconds if self.seconds else 0.0


@dataclass(frozen=True, slots=True)
class KernelTimes:
    """Where the time of a call goes: by kernel, those that take most first, and by the number of the op, as live ranges count."""

    kernels: tuple[KernelProfile, ...]
    points: tuple[tuple[int, float], ...]


@dataclass(frozen=True, slots=True)
class Profile:
    """The kernels of a program, those that take most time first.

    Attributes:
        name: of the program.
        symbols: sizes, by name.
        runs: how many calls were timed; seconds are the median of each kernel call.
        roof: that of the machine.
        kernels: each with what it takes in one call of the program.
        points: the seconds of each op that runs, by its number, as `Document.points` has them.
    """

    name: str
    symbols: tuple[tuple[str, int], ...]
    runs: int
    roof: Roof
    kernels: tuple[KernelProfile, ...]
    points: tuple[tuple[int, float], ...] = ()

    @property
    def seconds(self) -> float:
        """That all kernels take in one call of the program."""
        return sum(each.seconds for each in self.kernels)

    def to_dict(self) -> dict[str, Any]:
        """What `hotdesk profile --json` prints: derived figures included, and without `points`, which are those of a report."""
        found = asdict(self)
        del found["points"]
        found["seconds"] = self.seconds
        for entry, kernel in zip(found["kernels"], self.kernels, strict=True):
            entry["share"] = kernel.share
        return found

    def __str__(self) -> str:
        return render_profile(self)


def render_profile(profile: Profile, top: int | None = _TOP) -> str:
    """The profile as a table of its `top` slowest kernels, all of them if None."""
    return "\n".join(_lines(profile, profile.kernels[:top]))


def _lines(profile: Profile, shown: Sequence[KernelProfile]) -> Iterator[str]:
    at = ", ".join(f"{name} = {value}" for name, value in profile.symbols)
    calls = sum(each.calls for each in profile.kernels)
    roof, total = profile.roof, profile.seconds
    yield (f"{profile.name} ({at})" if at else profile.name) + (
        f": {total * 1e3:.3f} ms in {calls:,} calls of {len(profile.kernels):,} kernels, median of {profile.runs} runs"
    )
    peaks = ", ".join(f"{each / 1e9:.0f} GF/s {name}" for name, each in roof.flops.items())
    threads = "1 thread" if roof.threads == 1 else f"{roof.threads} threads"
    yield f"roof of {threads}: {peaks}, {roof.bandwidth / 1e9:.1f} GB/s"
    yield f"{'ms':>9} {'%':>5} {'calls':>5} {'GF/s':>7} {'GB/s':>7} {'of roof':>7}  kernel"
    for each in shown:
        share = each.seconds / total if total else 0.0
        yield (
            f"{each.seconds * 1e3:9.3f} {share:5.1%} {each.calls:5} {_rate(each.operations, each.seconds):>7}"
            f" {_rate(each.moved, each.seconds):>7} {each.share:7.0%}  {each.kernel} {each.op} {each.operands}"
        )
        for location in each.locations[:1]:
            more = f" and {len(each.locations) - 1} more" if len(each.locations) > 1 else ""
            yield f"{'':47}{location}{more}"
    rest = profile.kernels[len(shown) :]
    if rest:
        yield f"{sum(each.seconds for each in rest) * 1e3:9.3f} ms in {len(rest):,} more kernels"


def _rate(count: int, seconds: float) -> str:
    return f"{count / seconds / 1e9:.1f}" if count and seconds else "–"
