"""From a captured program to one that runs: the pipeline, machine code, and memory."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from hotdesk._bindings import ir
from hotdesk.compiling.instantiating import changing_tensors, instantiate
from hotdesk.compiling.linked_program import LinkedProgram, link_program
from hotdesk.compiling.options import Options, given_options
from hotdesk.errors import OptionError
from hotdesk.explain import Decision, Outcome, Reason, Source
from hotdesk.frontends.captured import Captured, Weight
from hotdesk.ir.context import entered
from hotdesk.ir.signature import Formal, set_signature, signature
from hotdesk.ir.types import is_memref, shape_of
from hotdesk.ir.walking import main_function, nested_ops
from hotdesk.models.hotdesk import ROLL_BACK
from hotdesk.pipeline import (
    Log,
    bufferize,
    has_parallel_loops,
    lower,
    move_checks,
    optimize_tensors,
    privatize,
    remainder,
)
from hotdesk.runtime.code import foreign
from hotdesk.runtime.code.jit import CompiledCode
from hotdesk.runtime.code.products import CONVOLUTIONS, compile_ahead, is_compiling
from hotdesk.runtime.code.threads import get_num_threads
from hotdesk.runtime.interface import TensorSpec
from hotdesk.runtime.prepared import prepared_types
from hotdesk.runtime.program import Program
from hotdesk.runtime.shared import Shared
from hotdesk.search.budget import WithinBudget
from hotdesk.search.ordering import LowerPeak
from hotdesk.search.recomputing import KeepLess
from hotdesk.sizes.size import spelled

if TYPE_CHECKING:
    from hotdesk.search.tradeoff import Way


def build(captured: Captured, log: Log, options: Options | None = None, shared: Shared | None = None) -> Program:
    """Takes a captured program through the pipeline and gives it memory, of which some may be `shared`."""
    shared = shared or Shared()
    return instantiate(*lower_and_link(captured, log, given_options(options), shared), log, shared)


def lower_and_link(
    captured: Captured, log: Log, options: Options, shared: Shared | None = None
) -> tuple[LinkedProgram, CompiledCode]:
    """Takes a captured program through the pipeline, and to machine code."""
    shared = shared or Shared()
    module = captured.module
    with entered(module.operation):
        _annotate(main_function(module), captured, changing_tensors(captured, shared), options)
        log.snapshot("capture", module)
        if is_compiling() and any("conv" in op.name for op in nested_ops(main_function(module))):
            compile_ahead(CONVOLUTIONS)
    if captured.on_memrefs:
        _refuse_changes(options)
        move_checks(module, log)
        prepared = list[tuple[tuple[int, ...], str]]()
    else:
        _to_memrefs(captured, log, options)
        prepared = prepared_types(module)
    if has_parallel_loops(module):
        is_limited = options.budget is not None
        privatize(module, log, 1 if is_limited else get_num_threads(), 0 if is_limited else options.private_bytes)
    lowered = lower(module, log, deallocated=not captured.on_memrefs)
    log.decisions.extend(_called(call) for call in captured.foreign if call.is_op)
    with log.stage("llvm"):
        return link_program(captured, lowered, prepared, log.decisions)


def ways(
    captured: Captured, sweep: Callable[[ir.Module], Sequence[Way]], options: Options
) -> Iterator[tuple[Way, Program]]:
    """The programs of all ways that a sweep finds, compiled one after the other.

    Raises OptionError for a program on memrefs.
    """
    if captured.on_memrefs:
        got = "one on memrefs, whose operations stay as they are"
        raise OptionError("a trade-off", expected="a program on tensors", got=got)
    with entered(captured.module.operation):
        _annotate(main_function(captured.module), captured, changing_tensors(captured, Shared()), options)
    found: list[Way] = []
    _optimize_tensors(captured, Log(), [lambda module, log: found.extend(sweep(module))], options)
    for way in found:
        log = Log(decisions=list(way.decisions))
        with entered(way.module.operation):
            log.decisions.extend(remainder().run(way.module))
        changed = replace(captured, module=way.module)
        made, machine = link_program(changed, lower(way.module, log), prepared_types(way.module), log.decisions)
        yield way, instantiate(made, machine, log)


def _annotate(main: ir.Operation, captured: Captured, model_state: frozenset[int], options: Options) -> None:
    """Says what each argument is and which symbolic sizes it has, and whether calls that fail are undone."""
    formals = signature(main).arguments

    def in_memory(number: int) -> bool:
        """Whether an argument is memory that a program on tensors writes where it lies, as that of a global."""
        return number in captured.state and not captured.on_memrefs and is_memref(formals[number].type)

    held = [number for number in captured.state if not in_memory(number)]
    state = {argument: len(captured.results) + place for place, argument in enumerate(held)}

    def stating(number: int, formal: Formal) -> Formal:
        if number >= len(captured.arguments):
            return formal
        argument = captured.arguments[number]
        spec = argument.spec if isinstance(argument, Weight) else argument
        is_open = None in shape_of(formal.type)  # a size that varied when it was exported may be fixed by now
        return formal.stating(
            kind="written" if in_memory(number) else _kind(argument, number in model_state),
            donated=spec.donated or number in state,
            state=state.get(number),
            shape=[spelled(dim) for dim in spec.shape] if is_open else None,
        )

    set_signature(main, signature(main).stating(stating))
    if not options.roll_back:
        main.attributes[ROLL_BACK] = ir.BoolAttr.get(False)


def _kind(argument: Weight | TensorSpec, is_state: bool) -> str:
    if isinstance(argument, TensorSpec):
        return "written" if argument.written else "input"
    return "state" if is_state else "weight"


def _to_memrefs(captured: Captured, log: Log, options: Options) -> None:
    """The passes on values, and values to memory."""
    budget = options.budget_bytes
    changes: list[Callable[[ir.Module, Log], None]] = []
    if options.recompute:
        changes.append(KeepLess())
    if options.order == "peak":
        changes.append(LowerPeak(captured.constraints, captured.names))
    if budget is not None:
        changes.append(WithinBudget(budget, captured.constraints, captured.names, recompute=options.recompute))
    _optimize_tensors(captured, log, changes, options)
    bufferize(captured.module, log)


def _optimize_tensors(
    captured: Captured, log: Log, changes: Sequence[Callable[[ir.Module, Log], None]], options: Options
) -> None:
    """The passes on values, as the options have them."""
    optimize_tensors(
        captured.module,
        log,
        changes,
        winograd=options.winograd,
        prepare=options.prepared_bytes,
        budget=options.budget_bytes,
    )


def _refuse_changes(options: Options) -> None:
    """Raises OptionError for what changes operations: those on memrefs stay as they are."""
    settings = (
        ("order", options.order != "given"),
        ("budget", options.budget is not None),
        ("recompute", options.recompute),
    )
    for name, given in settings:
        if given:
            got = "one on memrefs, whose operations stay as they are"
            raise OptionError(f"option '{name}'", expected="a program on tensors", got=got)


def _called(call: foreign.ForeignCall) -> Decision:
    hint = "Write it with ops that have a lowering, see docs/coverage.md; `Options(foreign=False)` refuses such ops."
    return Decision(
        call.op, Outcome.CALLED, Reason.NO_LOWERING, (Source(call.op, call.location),), bytes=call.bytes, hint=hint
    )
