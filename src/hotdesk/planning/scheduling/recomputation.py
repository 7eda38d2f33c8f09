"""Tasks done again, so that what they make need not be kept until it is read, and a sequence of tasks fits in some bytes.

The sequence is changed step by step. Each time the step with the highest level above the target is looked at, and of what is kept
across it one value is made again in front of its next reader, as are the operands that are not there any more. It is the value
that takes most from what is above the target, over all steps that it is not kept at any more, for the cost of its tasks. What
reads it later reads what was made again, and that may be made again in turn: so tasks of one part of the sequence that are done
again share what they read, as in Chen et al. 2016. It is a greedy form of what Jain et al. 2020 (Checkmate) solve exactly. Each
change looks at all steps, so the time is quadratic: 0.1 s for 200 tasks, 5 s for 1,600.

1. A task is done again only if it may be, and in front of tasks of its own stretch.
2. Operands are there in front of a reader if they are kept until there anyway. Others are made again, if that keeps less than
   they have bytes, and else kept; what no task makes is not kept. Of a value small beside the one that is made again is kept.
3. Less is kept than what is made again, and while it is made the level is below that of the step that is looked at.
4. Steps behind that make the same again are taken out, if there is room to keep it until then.
5. Once nothing helps the highest step, nothing more is made again: others do not matter then.

What no task makes lies in memory that does not count, and so does what is put over it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np

from hotdesk.planning.scheduling.problem import ScheduleProblem

MOST_TASKS = 24
"""Tasks that are done again for one value."""
_MOST_CHANGES = 4
"""How many times as many changes as tasks there are at most."""
_SMALL = 4
"""A value is small beside another one of so many times its bytes."""

ValueCopy = tuple[int, int]
"""A value, and which of its copies: 0 for the one that its task made at first."""


@dataclass(frozen=True, slots=True)
class RecomputeProblem:
    """Tasks in their order, and which of them may be done again.

    Attributes:
        schedule: the tasks and the bytes of values. Values that are kept to the end are not made again.
        costs: of each task, in any unit.
        repeatable: of each task, whether it may be done again.
        stretches: of each task, the number of the stretch that it is in.
    """

    schedule: ScheduleProblem
    costs: tuple[int, ...]
    repeatable: tuple[bool, ...]
    stretches: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class RecomputeStep:
    """A task that is done, for the first time if `copy` is 0. `reads` says which copy of each operand it reads."""

    task: int
    copy: int
    reads: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Remade:
    """What was decided: the task whose results are made again, the one that reads them first, how many tasks are done again
    for it, and the bytes that are not kept."""

    task: int
    reader: int
    tasks: int
    bytes: int


@dataclass(frozen=True, slots=True)
class Recomputed:
    """Steps, of which those that are no copies are the tasks in their order; their highest level, and what was decided."""

    steps: tuple[RecomputeStep, ...]
    peak: int
    remade: tuple[Remade, ...]


def recompute(problem: RecomputeProblem, target: int) -> Recomputed:
    """Has tasks done again until no step has more than `target` bytes, or nothing helps."""
    sequence = _Sequence(problem)
    remade: list[Remade] = []
    for _ in range(_MOST_CHANGES * len(problem.schedule.tasks)):
        levels = sequence.levels()
        place = int(levels.argmax())
        best = sequence.best(place, levels, target) if levels[place] > target else None
        if best is None:
            break
        reader = sequence.steps[best.before].task
        remade.append(Remade(best.step.task, reader, len(best.again), best.bytes))
        sequence.make_again(best, levels, target)
    steps = tuple(RecomputeStep(step.task, step.copy, tuple(step.reads)) for step in sequence.steps)
    return Recomputed(steps, int(sequence.levels().max(initial=0)), tuple(remade))


@dataclass(slots=True, eq=False)
class _PlacedStep:
    """A step while the sequence is changed; `place` is where it stands."""

    task: int
    copy: int
    reads: list[int]
    place: int


@dataclass(frozen=True, slots=True)
class _Again:
    """Steps to do again in front of the one at place `before`, for the results of `step`: what that saves and costs."""

    step: _PlacedStep
    again: dict[_PlacedStep, None]
    before: int
    bytes: int
    score: float


@dataclass(slots=True)
class _Chain:
    """What is done again, and what is kept, for some value; `bytes` are those that are kept."""

    again: dict[_PlacedStep, None] = field(default_factory=dict[_PlacedStep, None])
    kept: dict[ValueCopy, None] = field(default_factory=dict[ValueCopy, None])
    bytes: int = 0

    def copy(self) -> _Chain:
        return _Chain(dict(self.again), dict(self.kept), self.bytes)


class _Sequence:
    """Steps in order, who makes and reads each copy of a value, and where each copy is read last."""

    def __init__(self, problem: RecomputeProblem) -> None:
        self._problem = problem
        self._tasks = problem.schedule.tasks
        made = {value for task in self._tasks for value in task.results}
        self._sizes = [size if value in made else 0 for value, size in enumerate(problem.schedule.sizes)]
        self._kept = problem.schedule.kept
        self._copies = [1 for _ in self._tasks]
        self._makers: dict[ValueCopy, _PlacedStep] = {}
        self._readers: dict[ValueCopy, list[_PlacedStep]] = {}
        self._last: dict[ValueCopy, int] = {}
        self.steps: list[_PlacedStep] = []
        for number, task in enumerate(self._tasks):
            step = _PlacedStep(number, 0, [0 for _ in task.operands], number)
            self.steps.append(step)
            self._note(step)

    def _note(self, step: _PlacedStep) -> None:
        for copy in self._operands(step):
            self._readers.setdefault(copy, []).append(step)
        for copy in self._results(step):
            self._makers[copy] = step
            self._readers.setdefault(copy, [])

    def _operands(self, step: _PlacedStep) -> Iterator[ValueCopy]:
        return zip(self._tasks[step.task].operands, step.reads, strict=True)

    def _results(self, step: _PlacedStep) -> list[ValueCopy]:
        return [(value, step.copy) for value in self._tasks[step.task].results]

    def levels(self) -> np.ndarray:
        """The bytes that are there at each step."""
        count = len(self.steps)
        change = np.zeros(count + 1, np.int64)
        self._last = {}
        for copy, readers in self._readers.items():
            maker = self._makers.get(copy)
            first = maker.place if maker is not None else 0
            stays = copy[0] in self._kept and not copy[1]
            last = count - 1 if stays else max((step.place for step in readers), default=first)
            self._last[copy] = last
            change[first] += self._sizes[copy[0]]
            change[last + 1] -= self._sizes[copy[0]]
        levels = change.cumsum()[:-1]
        for step in self.steps:
            task = self._tasks[step.task]
            if task.displacements:
                levels[step.place] -= self._taken_over(step)
            levels[step.place] += task.scratch
        return levels

    def _taken_over(self, step: _PlacedStep) -> int:
        """The bytes of results that lie where operands did."""
        task = self._tasks[step.task]
        copies = dict(self._operands(step))
        results, operands = set[int](), set[int]()
        for result, operand in task.displacements:
            free = self._last[operand, copies[operand]] == step.place
            if free and result not in results and operand not in operands:
                results.add(result)
                operands.add(operand)
        return sum(self._sizes[result] for result in results)

    def best(self, place: int, levels: np.ndarray, target: int) -> _Again | None:
        """What to make again that is kept across a place."""
        above = np.concatenate(([0], np.maximum(levels - target, 0).cumsum()))
        found: _Again | None = None
        for step in self.steps[:place]:
            again = self._again(step, place, levels, above, target)
            if again is not None and (found is None or again.score > found.score):
                found = again
        return found

    def _again(
        self, step: _PlacedStep, place: int, levels: np.ndarray, above: np.ndarray, target: int
    ) -> _Again | None:
        results = self._results(step)
        if not self._problem.repeatable[step.task] or all(self._last[copy] <= place for copy in results):
            return None
        size, since, before = 0, step.place, len(self.steps)
        for copy in results:
            places = [reader.place for reader in self._readers[copy]]
            late = min((each for each in places if each > place), default=None)
            if late is None or place in places:
                continue
            if copy[0] in self._kept:
                return None
            size += self._sizes[copy[0]]
            since = max(since, *(each for each in places if each < place), step.place)
            before = min(before, late)
        if not size or self._is_apart(step, before):
            return None
        chain = _Chain()
        if not self._add(step, before, size, chain) or chain.bytes >= size:
            return None
        if levels[before] + self._more(chain) - size > max(levels[place] - 1, target):
            return None
        cost = sum(self._problem.costs[each.task] for each in chain.again)
        saved = size - chain.bytes
        return _Again(step, chain.again, before, saved, saved * int(above[before] - above[since + 1]) / (1 + cost))

    def _is_apart(self, step: _PlacedStep, before: int) -> bool:
        stretches = self._problem.stretches
        return stretches[step.task] != stretches[self.steps[before].task]

    def _add(self, step: _PlacedStep, before: int, size: int, chain: _Chain) -> bool:
        """Adds a step, and what is not there for it, to what is done again; whether it can be."""
        chain.again[step] = None
        for copy in self._operands(step):
            maker = self._makers.get(copy)
            if maker in chain.again or copy in chain.kept or self._last[copy] >= before:
                continue
            if maker is None:
                return False
            bytes_of = self._sizes[copy[0]]
            small = bytes_of * _SMALL <= size
            again = self._problem.repeatable[maker.task] and len(chain.again) < MOST_TASKS
            if again and not small and not self._is_apart(maker, before):
                longer = chain.copy()
                if self._add(maker, before, size, longer) and longer.bytes - chain.bytes < bytes_of:
                    chain.again, chain.kept, chain.bytes = longer.again, longer.kept, longer.bytes
                    continue
            chain.kept[copy] = None
            chain.bytes += bytes_of
        return True

    def _more(self, chain: _Chain) -> int:
        """The bytes at once of what a chain makes, at the step of it that has most."""
        made = {copy for step in chain.again for copy in self._results(step)}
        return max(
            sum(self._sizes[copy[0]] for copy in (*self._results(step), *self._operands(step)) if copy in made)
            for step in chain.again
        )

    def make_again(self, chosen: _Again, levels: np.ndarray, target: int) -> None:
        """Changes the sequence (rule 4), and the levels by what is kept longer."""
        made: dict[_PlacedStep, _PlacedStep] = {}
        for step in sorted(chosen.again, key=lambda each: each.place):
            reads = [
                made[maker].copy if (maker := self._makers.get(copy)) in made else copy[1]
                for copy in self._operands(step)
            ]
            made[step] = _PlacedStep(step.task, self._copies[step.task], reads, 0)
            self._copies[step.task] += 1
            self._note(made[step])
        for step, again in made.items():
            for copy in self._results(step):
                self._let_read(copy, again, chosen.before)
            for later in self._later(step, chosen.before, levels, target):
                self._replace(later, again)
        self.steps[chosen.before : chosen.before] = made.values()
        for place, step in enumerate(self.steps):
            step.place = place

    def _later(self, step: _PlacedStep, before: int, levels: np.ndarray, target: int) -> list[_PlacedStep]:
        """The steps behind a place that make again what a step makes, and need not, since there is room to keep it until then."""
        found: list[_PlacedStep] = []
        size = sum(self._sizes[value] for value in self._tasks[step.task].results)
        for other in self.steps[before:]:
            if other.task == step.task and other.copy and levels[before : other.place].max(initial=0) + size <= target:
                levels[before : other.place] += size
                found.append(other)
        return found

    def _replace(self, later: _PlacedStep, again: _PlacedStep) -> None:
        """Has all that reads what a step makes read what another one in front of it makes, and takes that step out."""
        for copy in self._operands(later):
            self._readers[copy].remove(later)
        for copy in self._results(later):
            del self._makers[copy]
            for reader in self._readers.pop(copy):
                reader.reads[self._tasks[reader.task].operands.index(copy[0])] = again.copy
                self._readers[copy[0], again.copy].append(reader)
        self.steps.remove(later)

    def _let_read(self, copy: ValueCopy, again: _PlacedStep, before: int) -> None:
        """Has the steps from a place on, of those that were there, read another copy of a value."""
        readers = self._readers[copy]
        late = [reader for reader in readers if reader.place >= before]
        self._readers[copy] = [reader for reader in readers if reader.place < before]
        self._readers[copy[0], again.copy] += late
        for reader in late:
            operands = self._tasks[reader.task].operands
            reader.reads[operands.index(copy[0])] = again.copy
