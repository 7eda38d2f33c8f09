"""What a module on tensors needs once it is bufferized and planned: tried on a copy, of which the figures alone are kept.

Results and donated inputs lend their memory, as they will when the program runs. Operations are numbered, those in a loop as the
loop is, so that who makes the buffers at the peak is known on tensors. Figures are remembered by what they follow from, in this
process and in the cache on disk: searches for several budgets share them, and one that was cut short goes on where it was.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, cast

from hotdesk._bindings import ir
from hotdesk.analysis.allocations.lending import Windows, callers_memory, windows
from hotdesk.analysis.memrefs.buffers import BufferUse, find_buffers
from hotdesk.explain import Decision, Source
from hotdesk.ir.context import bytecode, verify
from hotdesk.ir.locations import source_of
from hotdesk.ir.walking import integer_of, main_function, nested_ops, ops_outside_payloads, top_level_ops
from hotdesk.models.registry import all_built_in
from hotdesk.models.scf import FOR
from hotdesk.passes.base import Pass
from hotdesk.passes.tensor.eliminate_empty import EliminateEmptyTensors
from hotdesk.pipeline import remainder
from hotdesk.planning import plan
from hotdesk.report.certificates import Certificate
from hotdesk.runtime.archive import ArchiveError, packed, unpacked
from hotdesk.runtime.cache import keeps_programs, key_of, sources, the_cache
from hotdesk.runtime.plans.describing import certified
from hotdesk.runtime.plans.problems import problem_of
from hotdesk.sizes.size import evaluate, symbols_of

INSERTED = (EliminateEmptyTensors(),)
"""What follows changes that add insertions: values are computed where they belong."""
_NUMBER = "hotdesk.number"


@dataclass(frozen=True, slots=True)
class Trial:
    """Bytes that a program needs for some sizes.

    Attributes:
        arena: of its plan; `bound`: no plan of it needs fewer; `outputs`: its results that lie in no donated input.
        peak_op: the operation of `@main`, by number, at the step that the bound is about, or the next one; -1 if it is none.
        at_peak: the operations that write the buffers in the arena there, and the bytes of each, the largest first.
        certificate: what proves the bound.
    """

    arena: int
    bound: int
    outputs: int
    peak_op: int
    at_peak: tuple[tuple[int, int], ...]
    certificate: Certificate

    @property
    def peak(self) -> int:
        return self.arena + self.outputs

    def may_fit(self, budget: int) -> bool:
        """Whether it is above a budget that a longer search for a plan may meet."""
        return self.bound + self.outputs <= budget < self.peak


@dataclass(slots=True)
class KeptTrials:
    """Trials by what they follow from: the module, the pass that changes it, and how it is bufferized.

    Attributes:
        found: those of this process.
        made, kept: how many were made, and how many were there.
    """

    found: dict[str, tuple[Trial, ...]] = field(default_factory=dict[str, tuple[Trial, ...]])
    made: int = 0
    kept: int = 0

    def key(self, module: ir.Module, *parts: object) -> str:
        """What the trials of a module follow from."""
        return key_of("trial", sources(), bytecode(module), repr(parts))

    def read(self, key: str) -> tuple[Trial, ...] | None:
        """The trials of that key, none where the pass changes nothing: the first answer, and that of a longer search if there was
        one. None where nothing is known.
        """
        if key not in self.found:
            cache = the_cache()
            data = None if cache is None or not _may_keep() else cache.read(key)
            try:
                kept = None if data is None else unpacked(data)
            except ArchiveError:
                kept = None
            if not isinstance(kept, tuple):
                return None
            self.found[key] = cast("tuple[Trial, ...]", kept)
        self.kept += 1
        return self.found[key]

    def write(self, key: str, trials: tuple[Trial, ...]) -> None:
        self.made += 1
        self.found[key] = trials
        cache = the_cache()
        if cache is not None and _may_keep():
            cache.write(key, packed(trials))


def _may_keep() -> bool:
    """Models of ops that users have registered are in no key."""
    return keeps_programs() and all_built_in()


@dataclass(frozen=True, slots=True)
class Bufferized:
    """The buffers of `@main`, with the number of the operation at each step, -1 for those that the tensor program had not, and
    the name and line of each. In a loop it is the loop's.

    `results` are the places of results with memory of their own, `windows` when memory of the caller's is free, by place.
    """

    buffers: tuple[BufferUse, ...]
    results: frozenset[int]
    windows: Mapping[int, Windows]
    numbers: tuple[int, ...]
    sources: tuple[Source, ...]

    @property
    def symbols(self) -> tuple[str, ...]:
        return tuple(sorted({name for buffer in self.buffers for name in symbols_of(buffer.bytes)}))

    def trial(self, symbols: Mapping[str, int], *, longer: bool = False) -> Trial:
        """Plans it for values of the symbols; `longer` searches beyond first answers."""
        sizes = [max(0, evaluate(buffer.bytes, symbols)) for buffer in self.buffers]
        problem = problem_of(self, sizes)
        outputs = sum(sizes[place] for place in self.results)
        made = plan(problem) if longer else plan(problem, effort=0)
        step = made.bound.step
        live = [
            (self._writer(buffer, step), sizes[place])
            for place, buffer in enumerate(self.buffers)
            if buffer.kind == "alloc" and buffer.lower <= step < buffer.upper and sizes[place]
        ]
        found = sorted((size, number) for number, size in live if number >= 0)
        at_peak = tuple((number, size) for size, number in reversed(found))
        number = next((number for number in self.numbers[step:] if number >= 0), -1)
        proof = certified(self, sizes, made)
        return Trial(made.arena, made.bound.bytes, outputs, number, at_peak, proof)

    def _writer(self, buffer: BufferUse, step: int) -> int:
        """The operation that first uses a buffer; the later one whose value it is at a step cannot be told from that."""
        return next((self.numbers[user] for user in buffer.users if user <= step and self.numbers[user] >= 0), -1)


def copied(module: ir.Module) -> ir.Module:
    """A copy of a module, to try something on."""
    return cast(ir.Module, cast(Any, module.operation).clone())


def changed(module: ir.Module, one: Pass) -> tuple[ir.Module, tuple[Decision, ...]]:
    """A copy of a module that a pass has changed, and what the pass decided."""
    copy = copied(module)
    decisions = one.run(copy)
    verify(copy, one.name)
    return copy, decisions


def bufferized(module: ir.Module, changes: Sequence[Pass] = ()) -> Bufferized:
    """Bufferizes a copy of a module on tensors, before destinations are chosen, with `changes` to it first.

    Must be called inside its context.
    """
    copy = copied(module)
    for number, op in enumerate(top_level_ops(main_function(copy))):
        for each in (op, *(nested_ops(op) if op.name == FOR else ())):
            if not each.name.startswith(("arith.", "func.", "cf.")):
                each.attributes[_NUMBER] = ir.IntegerAttr.get(ir.IntegerType.get_signless(64), number)
    remainder(changes).run(copy)
    function = main_function(copy)
    buffers = find_buffers(function)
    ops = ops_outside_payloads(function)
    numbers = tuple(integer_of(op, _NUMBER) if _NUMBER in op.attributes else -1 for op in ops)
    places = {buffer.base: place for place, buffer in enumerate(buffers)}
    given = callers_memory(function)
    results, donated = [places[a] for a in given.results], [places[a] for a in given.donated]
    lent = windows(buffers, results, donated, len(numbers))
    sources = tuple(source_of(op) for op in ops)
    return Bufferized(buffers, frozenset(results) - frozenset(donated), lent, numbers, sources)
