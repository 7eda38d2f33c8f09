"""The state space of scheduling: which tasks are done, as a bit set, and the bytes that follow from it.

How many bytes are live between two tasks depends on the set of tasks done, not on their order; what one more task takes at its
peak depends on that set and the task. A *part* is a stretch of tasks between two cuts of the graph. It is walked forwards, from
no task done, or backwards from the last task; both ways meet the same bytes, so a backward walk is an order read from its end.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from hotdesk.planning.scheduling.problem import ScheduleProblem, Task, at_first, runs

Step = Callable[[int, int, int], tuple[int, int]]


@dataclass(frozen=True, slots=True)
class Relations:
    """Who makes and reads each value of a problem, and which tasks each task needs before it, directly."""

    maker: tuple[int, ...]
    readers: tuple[tuple[int, ...], ...]
    needs: tuple[tuple[int, ...], ...]


NOBODY = -1


def relate(problem: ScheduleProblem) -> Relations:
    maker = [NOBODY] * len(problem.sizes)
    readers: list[list[int]] = [[] for _ in problem.sizes]
    for number, task in enumerate(problem.tasks):
        for value in task.results:
            maker[value] = number
        for value in task.operands:
            readers[value].append(number)
    needs = [
        tuple(sorted({*task.after, *(maker[v] for v in task.operands if maker[v] != NOBODY)})) for task in problem.tasks
    ]
    return Relations(tuple(maker), tuple(map(tuple, readers)), tuple(needs))


@dataclass(frozen=True, slots=True)
class Walk:
    """One direction through a part: forwards, or backwards from its end.

    `step(done, task, live)` gives the bytes at the peak of a task and after it. `needs` are the tasks that must be done before
    each one, as a bit set, `enables` those that need it, `start` the bytes live before the first.
    """

    step: Step
    needs: Sequence[int]
    enables: Sequence[Sequence[int]]
    start: int
    is_backward: bool

    @property
    def count(self) -> int:
        return len(self.needs)

    def first_ready(self) -> int:
        """The tasks that need no other, as a bit set."""
        return sum(1 << task for task, needs in enumerate(self.needs) if not needs)

    def enabled(self, done: int, task: int) -> list[int]:
        """The tasks that have become ready with `task`, which `done` has already."""
        return [other for other in self.enables[task] if not self.needs[other] & ~done]

    def as_order(self, walked: Sequence[int]) -> tuple[int, ...]:
        """The tasks of a walk in the order in which they run."""
        return tuple(reversed(walked)) if self.is_backward else tuple(walked)


class Segment:
    """Tasks `first` to `end` of a problem: they run after all before them and before all behind them.

    Within a part, tasks are numbered from 0.

    Attributes:
        start, end: the bytes live before the first task and after the last.
        released: the values that die in the part: who makes each (`NOBODY` in the part), who reads it as a bit set, its bytes.
    """

    def __init__(self, problem: ScheduleProblem, relations: Relations, first: int, end: int, start: int) -> None:
        self.count = end - first
        self.start = start
        self._full = (1 << self.count) - 1
        self._makes: list[int] = []
        self._stays: list[int] = []
        self._needs: list[int] = []
        self._enables: list[list[int]] = [[] for _ in range(self.count)]
        self._dying: list[tuple[tuple[int, int], ...]] = []
        self._wants: list[tuple[tuple[int, int], ...]] = []
        self._matched: dict[tuple[int, int], int] = {}
        self.released: list[tuple[int, int, int]] = []
        released: set[int] = set()
        for number in range(first, end):
            task, here = problem.tasks[number], number - first
            self._makes.append(task.scratch + sum(problem.sizes[v] for v in task.results))
            outlive = (v for v in task.results if relations.readers[v] or v in problem.kept)
            self._stays.append(sum(problem.sizes[v] for v in outlive))
            within = [other - first for other in relations.needs[number] if other >= first]
            self._needs.append(sum(1 << other for other in within))
            for other in within:
                self._enables[other].append(here)
            dying = [
                v
                for v in task.operands
                if problem.sizes[v] and v not in problem.kept and relations.readers[v][-1] < end
            ]
            here_dying = tuple((_bits(relations.readers[v], first), problem.sizes[v]) for v in dying)
            self._dying.append(here_dying)
            for v, (readers, size) in zip(dying, here_dying, strict=True):
                if v not in released:
                    released.add(v)
                    self.released.append((max(relations.maker[v] - first, NOBODY), readers, size))
            self._wants.append(_wants(task, problem.sizes, dying))
        self.end = start + sum(self._stays) - sum(size for _, _, size in self.released)

    @property
    def key(self) -> object:
        """Equal for parts that are the same problem."""
        return (self.start, *map(tuple, (self._makes, self._stays, self._needs, self._dying, self._wants)))

    def forwards(self) -> Walk:
        return Walk(self._forward, self._needs, self._enables, self.start, False)

    def backwards(self) -> Walk:
        needs = [sum(1 << other for other in others) for others in self._enables]
        enables: list[list[int]] = [[] for _ in range(self.count)]
        for task, others in enumerate(self._enables):
            for other in others:
                enables[other].append(task)
        return Walk(self._backward, needs, enables, self.end, True)

    def peak(self, order: Sequence[int]) -> int:
        """The most bytes at a task of the part, in an order that is allowed; `start` for none."""
        done, live, peak = 0, self.start, self.start
        for task in order:
            most, live = self._forward(done, task, live)
            done |= 1 << task
            peak = max(peak, most)
        return peak

    def least_growth(self, task: int, later: int) -> int:
        """The bytes that a task adds at its peak to what is live before it, if of the others at most `later` come after it."""
        flags, _ = self._released(task, later)
        return self._makes[task] - self._saved(task, flags)

    def outliving(self, task: int) -> int:
        """The bytes of the results of a task that are live after it."""
        return self._stays[task]

    def _forward(self, done: int, task: int, live: int) -> tuple[int, int]:
        flags, gone = self._released(task, self._full & ~(done | 1 << task))
        return live + self._makes[task] - self._saved(task, flags), live + self._stays[task] - gone

    def _backward(self, done: int, task: int, live: int) -> tuple[int, int]:
        flags, gone = self._released(task, done)
        before = live - self._stays[task] + gone
        return before + self._makes[task] - self._saved(task, flags), before

    def _released(self, task: int, later: int) -> tuple[int, int]:
        """Which operands of a task die there if the tasks `later` run after it, as a bit set, and their bytes."""
        flags, gone = 0, 0
        for place, (readers, size) in enumerate(self._dying[task]):
            if not readers & later:
                flags |= 1 << place
                gone += size
        return flags, gone

    def _saved(self, task: int, flags: int) -> int:
        """The bytes of results that lie in dying operands, at most one in each."""
        wants = self._wants[task]
        if not wants or not flags:
            return 0
        if len(wants) == 1:
            return wants[0][0] if wants[0][1] & flags else 0
        known = self._matched.get((task, flags))
        if known is None:
            known = self._matched[task, flags] = _match(wants, flags)
        return known


def peak_along(problem: ScheduleProblem, order: Sequence[int]) -> int:
    """The most bytes that are live at a task of an order that is allowed; 0 without tasks. O(tasks and operands)."""
    live = sum(problem.sizes[v] for v in at_first(problem))
    peak = 0
    for task, dying, outliving in runs(problem, order):
        wants = _wants(task, problem.sizes, dying)
        makes = task.scratch + sum(problem.sizes[v] for v in task.results)
        peak = max(peak, live + makes - _match(wants, (1 << len(dying)) - 1))
        live += sum(problem.sizes[v] for v in outliving) - sum(problem.sizes[v] for v in dying)
    return peak


def _wants(task: Task, sizes: Sequence[int], dying: Sequence[int]) -> tuple[tuple[int, int], ...]:
    """The bytes of each result that may lie in one of the operands `dying`, and in which, as a bit set."""
    places = {v: 1 << place for place, v in enumerate(dying)}
    hosts: dict[int, int] = {}
    for result, operand in task.displacements:
        hosts[result] = hosts.get(result, 0) | places.get(operand, 0)
    return tuple((sizes[result], mask) for result, mask in hosts.items() if mask)


def _bits(readers: Sequence[int], first: int) -> int:
    return sum(1 << reader - first for reader in readers if reader >= first)


def _match(wants: Sequence[tuple[int, int]], flags: int) -> int:
    """Results, largest first, each in an operand of its own: augmenting paths give the most bytes (Edmonds 1971)."""
    held: dict[int, int] = {}

    def place(result: int, tried: set[int]) -> bool:
        options = wants[result][1] & flags
        for host in range(options.bit_length()):
            if options >> host & 1 and host not in tried:
                tried.add(host)
                if host not in held or place(held[host], tried):
                    held[host] = result
                    return True
        return False

    largest_first = sorted(range(len(wants)), key=lambda i: -wants[i][0])
    return sum(wants[result][0] for result in largest_first if place(result, set()))
