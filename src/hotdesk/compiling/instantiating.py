"""A linked program gets memory: weights, what `@prepare` makes of them, and a plan; so it can be called."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from math import prod
from typing import TYPE_CHECKING, Any

from hotdesk.compiling.linked_program import LinkedProgram
from hotdesk.compiling.saving import Saving
from hotdesk.frontends.captured import Captured, Weight
from hotdesk.ir.context import of_bytecode
from hotdesk.ir.types import element_bytes
from hotdesk.pipeline import Log
from hotdesk.runtime.code import foreign
from hotdesk.runtime.code.jit import CompiledCode
from hotdesk.runtime.compiled import CompiledProgram, compiled_function
from hotdesk.runtime.executable import HeldMemory, ProgramInterface
from hotdesk.runtime.function import Function
from hotdesk.runtime.interface import MemoryCheck, TensorSpec, WeightRange
from hotdesk.runtime.program import Program
from hotdesk.runtime.shared import Shared, aligned

if TYPE_CHECKING:
    from hotdesk.checker.report import CheckReport


def instantiate(made: LinkedProgram, machine: CompiledCode, log: Log, shared: Shared | None = None) -> Program:
    """A lowered program with memory: what `@prepare` makes is made here."""
    shared = shared or Shared()
    captured = made.captured
    tensors = {i: a for i, a in enumerate(captured.arguments) if isinstance(a, Weight)}
    changing = changing_tensors(captured, shared)
    weights = {i: a for i, a in tensors.items() if i not in changing}
    state = {i: a for i, a in tensors.items() if i in changing}
    inputs = {i: a for i, a in enumerate(captured.arguments) if isinstance(a, TensorSpec)}
    fixed = {i: int(w.tensor.data_ptr()) for i, w in tensors.items()}
    sizes = {i: int(w.tensor.numel() * w.tensor.element_size()) for i, w in tensors.items()}
    ranges = {i: WeightRange(w.spec.name, fixed[i], sizes[i]) for i, w in tensors.items()}
    made_bytes = [element_bytes(element) * prod(shape) for shape, element in made.prepared]
    memories = [aligned(size) for size in made_bytes]
    addresses = [address for _, address in memories]
    prepare = None
    if made.prepare is not None:
        start = time.perf_counter()
        prepare = compiled_function(made.prepare, machine, made.assertions)
        _run_prepare(prepare, [fixed[i] for i in weights], addresses)
        log.timings["run-prepare"] = time.perf_counter() - start
    count = len(captured.arguments)
    fixed.update({count + i: address for i, address in enumerate(addresses)})
    main = compiled_function(made.main, machine, made.assertions, captured.constraints)
    with log.stage("plan"):
        main.planner.prepare()
    executable = CompiledProgram(
        main,
        ProgramInterface(tuple(inputs.values()), tuple(captured.results), tuple(inputs), captured.constraints),
        HeldMemory(
            fixed,
            (machine, *(w.tensor for w in tensors.values()), *(memory for memory, _ in memories)),
            weight_bytes=_distinct_bytes(fixed, {i: sizes[i] for i in weights}),
            state_bytes=sum(sizes[i] for i in state),
            prepared_bytes=sum(made_bytes),
        ),
        made.decisions,
        captured.assumptions,
        shared,
    )
    return Program(
        executable,
        name=captured.name,
        calling=captured.calling,
        weights=[ranges[i] for i in weights],
        state=[(ranges[i], w.tensor) for i, w in state.items()],
        kind=captured.kind,
        timings=log.timings,
        stages=log.ir,
        checker=_checker(made, tuple(inputs), {i: fixed[i] for i in tensors}),
        symbols=captured.names,
        turns=shared.turns,
        foreign=[call.op for call in captured.foreign if call.is_op],
        shown=captured.shown,
        saver=Saving(made, main, prepare, changing, tuple(zip(addresses, made_bytes, strict=True))),
    )


def _run_prepare(prepare: Function, weights: Sequence[int], results: Sequence[int]) -> None:
    """Runs `@prepare` once, in an arena that goes when it is done; weights and results are addresses."""
    layout, frame = prepare.layout({}), prepare.frame()
    arena, address = aligned(layout.plan.arena)
    frame.set_arena(layout, address)
    frame.set_pointers(range(len(weights)), weights)
    frame.run(layout, results)
    del arena


def changing_tensors(captured: Captured, shared: Shared) -> frozenset[int]:
    """The arguments, by number, that are tensors of the model which this program changes, or one that it shares them with."""

    def changes(tensor: Any) -> bool:
        return shared.state.meeting((tensor.data_ptr(), tensor.data_ptr() + tensor.nbytes)) is not None

    tensors = {number: each.tensor for number, each in enumerate(captured.arguments) if isinstance(each, Weight)}
    return frozenset(number for number, tensor in tensors.items() if number in captured.state or changes(tensor))


def _checker(made: LinkedProgram, places: tuple[int, ...], weights: Mapping[int, int]) -> MemoryCheck:
    """Keeps the IR on memrefs for `Program.check`, as bytes; it is read, and the checker loaded, when it is used."""
    code, main, prepare, bounds = made.module, made.main, made.prepare, made.captured.constraints
    deallocated = not made.captured.on_memrefs
    calls = {call.symbol: foreign.on_arrays(call) for call in made.captured.foreign}

    def check(
        symbols: Mapping[str, int], inputs: Sequence[tuple[int, tuple[int, ...]]], results: Sequence[tuple[int, ...]]
    ) -> CheckReport:
        from hotdesk.runtime.checked_program import CheckedProgram

        program = CheckedProgram(of_bytecode(code), main, prepare, places, weights, bounds, deallocated, calls)
        return program.check(symbols, inputs, results)

    return check


def _distinct_bytes(addresses: Mapping[int, int], sizes: Mapping[int, int]) -> int:
    """Bytes of all weights; one that appears under several names (tied) counts once."""
    return sum({addresses[i]: size for i, size in sizes.items()}.values())
