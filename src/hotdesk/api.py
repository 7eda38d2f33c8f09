"""Compiling: a front end, the pipeline and the runtime joined."""

from __future__ import annotations

import time
import weakref
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from os import PathLike
from typing import TYPE_CHECKING, Any, TypeAlias, cast

import numpy as np

from hotdesk._bindings import ir
from hotdesk.compiling.linked_program import LinkedProgram, link_program
from hotdesk.compiling.program_cache import keep, kept, key_of_program
from hotdesk.errors import ArgumentTypeError, MissingExtraError, OptionError
from hotdesk.explain import Decision, Outcome, Reason, Source
from hotdesk.frontends.donation import Donate, donating, listed
from hotdesk.frontends.mlir.reading import is_given
from hotdesk.frontends.onnx.reading import is_onnx
from hotdesk.ir.context import entered, of_bytecode
from hotdesk.ir.signature import Formal, set_signature, signature
from hotdesk.ir.walking import main_function, nested_ops
from hotdesk.passes.collecting import collection_made_rare
from hotdesk.pipeline import Log, bufferize, has_parallel_loops, lower, optimize_tensors, privatize, remainder
from hotdesk.planning.problem.numbers import parse_bytes
from hotdesk.python.whole_imports import whole_imports
from hotdesk.runtime.arguments.outputs import Extents
from hotdesk.runtime.code import foreign
from hotdesk.runtime.code.jit import CompiledCode
from hotdesk.runtime.code.products import CONVOLUTIONS, PRODUCTS, compile_ahead, is_compiling
from hotdesk.runtime.code.threads import get_num_threads
from hotdesk.runtime.compiled import CompiledProgram, compiled_function
from hotdesk.runtime.executable import HeldMemory, ProgramInterface
from hotdesk.runtime.heap import give_back_free_memory
from hotdesk.runtime.interface import MemoryCheck, TensorSpec, WeightRange
from hotdesk.runtime.prepared import prepared_types
from hotdesk.runtime.program import Program, check_seed
from hotdesk.runtime.shared import Shared, aligned
from hotdesk.runtime.sources import sources_forgotten
from hotdesk.saved.file import Saving
from hotdesk.search.budget import WithinBudget
from hotdesk.search.ordering import LowerPeak
from hotdesk.search.recomputing import KeepLess

if TYPE_CHECKING:
    from hotdesk.checker.report import CheckReport
    from hotdesk.frontends.captured import Captured, Weight
    from hotdesk.frontends.torch.export import Exported
    from hotdesk.report.tradeoff import Tradeoff
    from hotdesk.search.tradeoff import Way


@dataclass(frozen=True, slots=True)
class Options:
    """How to compile.

    Attributes:
        order: `given`, or `peak` to run operations in an order that makes the arena smaller, if one is found; see
            docs/scheduling.md. Takes longer to compile.
        budget: bytes that a call may take at its peak for the arena and its results, as a number or as in `"24 MiB"`; None
            for any number. The cheapest way to fit is looked for; PlanError if none is found. See docs/budget.md.
        foreign: whether the program may call PyTorch's kernels for ops that have no lowering; without, such a model is refused.
            See docs/operators.md.
        seed: where random numbers begin, an integer of 64 bits; `Program.seed` sets it again. See docs/state.md.
        winograd: whether convolutions of 3 by 3 taps may be computed by Winograd's filtering: a quarter of the multiplications,
            some six times the rounding error. See docs/convolutions.md.
        recompute: whether values may be computed late and made again where they are read much later, if that makes the arena
            smaller and the program does at most one part in twenty more; programs of open sizes stay as they are.
            `compile_step` does so unless it is told otherwise. See docs/training.md.
        private_memory: bytes that the peak of the arena may grow by so that threads can share parallel loops whose iterations
            allocate or reduce, as a number or as in `"1 MiB"`; 0 for none, None for any number. Within a budget such loops run
            one iteration after the other. See docs/control-flow.md.
        keep_ir: keep the IR after each stage, for `Program.ir(stage)`; costs time and memory.
    """

    order: str = "given"
    budget: int | str | None = None
    keep_ir: bool = False
    foreign: bool = True
    winograd: bool = True
    recompute: bool = False
    seed: int = 0
    private_memory: int | str | None = "256 KiB"

    @property
    def budget_bytes(self) -> int | None:
        return _bytes("budget", self.budget)

    @property
    def private_bytes(self) -> int | None:
        return _bytes("private_memory", self.private_memory)

    def __post_init__(self) -> None:
        for option, given in (("budget", self.budget), ("private_memory", self.private_memory)):
            _bytes(option, given)
        check_seed("option 'seed'", self.seed)
        for option in ("keep_ir", "foreign", "winograd", "recompute"):
            check_bool(option, getattr(self, option))
        if not isinstance(cast(object, self.order), str) or self.order not in ("given", "peak"):
            raise OptionError("option 'order'", expected="'given' or 'peak'", got=repr(self.order))


def check_bool(option: str, given: object) -> None:
    """Raises OptionError for what is neither True nor False: nothing else is taken for one of them, such as `"no"` for True."""
    if not isinstance(given, bool):
        raise OptionError(f"option '{option}'", expected="True or False", got=repr(given))


def given_options(options: Options | None) -> Options:
    """Those that are given, or the default. Raises OptionError for anything else."""
    if options is not None and not isinstance(cast(object, options), Options):
        raise OptionError("options", expected="hotdesk.Options(…), or None", got=type(options).__name__)
    return options or Options()


def _bytes(option: str, given: int | str | None) -> int | None:
    try:
        return None if given is None else parse_bytes(given)
    except ValueError as error:
        expected = "bytes such as 25165824 or '24 MiB'"
        raise OptionError(f"option '{option}'", expected=expected, got=repr(given)) from error


def compile(
    model: Any,
    args: tuple[Any, ...] = (),
    kwargs: Mapping[str, Any] | None = None,
    *,
    dynamic_shapes: Any = None,
    entry: str | None = None,
    donate: Donate = (),
    order: str | None = None,
    budget: int | str | None = None,
    seed: int | None = None,
    options: Options | None = None,
) -> Program:
    """Compiles a PyTorch model, an ONNX model, or a program in MLIR, so that it runs from one arena.

    Args:
        model: a `torch.nn.Module`, a function of tensors, see docs/functions.md, or a `torch.export.ExportedProgram`; the name
            of a file `.onnx` or an `onnx.ModelProto`, see docs/onnx.md; or MLIR: the name of a file, text, bytecode or a module,
            see docs/mlir.md, or what `jax.jit(f).lower(x)` gives, see docs/jax.md.
        args, kwargs: example arguments, of a PyTorch model only. Their sizes are fixed unless `dynamic_shapes` frees them.
        dynamic_shapes: as `torch.export.export` takes it, e.g. `{"x": {0: torch.export.Dim("batch")}}`; for ONNX sizes by the
            names that the model has for them, each a number or a pair of the least and the greatest, `{"batch": (1, 64)}`.
        entry: the function of a program in MLIR that calls run; by default the only public one, else `main`.
        donate: the arguments that calls may overwrite: positions or names of parameters, with all tensors in them, or names of
            single tensors as in `Program.inputs`; True for all. What a donated tensor holds after a call is unspecified, and a
            result may be a view of its memory; see docs/donated-inputs.md.
        order: `given` or `peak`; goes before that of `options`.
        budget: bytes that a call may take for the arena and its results, such as `"24 MiB"`; goes before that of `options`.
        seed: where random numbers begin; goes before that of `options`.
        options: see `Options`.

    Returns:
        A `Program`: call it with tensors. It reads the model's weights where they are, at every call, except for what
        `@prepare` computed from them once; compile again after changing weights.

    Raises:
        HotdeskError: one of its subclasses, with a code and what to do; see docs/errors.
    """
    options = given_options(options)
    options = options if order is None else replace(options, order=order)
    options = options if budget is None else replace(options, budget=budget)
    options = options if seed is None else replace(options, seed=seed)
    with whole_imports(), sources_forgotten(), collection_made_rare():
        log = Log(keep_ir=options.keep_ir)
        compile_ahead(PRODUCTS)
        if is_onnx(model) or is_given(model):
            with log.stage("capture"):
                captured = donating(_captured(model, args, kwargs, dynamic_shapes, entry), donate)
            log.timings = {**dict(captured.timings), **{k: v for k, v in log.timings.items() if k != "capture"}}
            program = build(captured, log, options)
            del captured
        else:
            if entry is not None:
                raise OptionError("option 'entry'", expected="a program in MLIR", got=type(model).__name__)
            with log.stage("capture"):
                exported = _exported(model, args, kwargs, dynamic_shapes)
            log.timings = {"export": exported.seconds}
            program = _of_exported(exported, donate, options, log)
            del exported
    program.sweep = _sweep_of(model, dynamic_shapes, entry, donate, options)
    give_back_free_memory()
    return program


def _sweep_of(
    model: Any, dynamic_shapes: Any, entry: str | None, donate: Donate, options: Options
) -> Callable[[tuple[Any, ...], Mapping[str, Any]], Tradeoff] | None:
    """What compiles a model again, in other ways, without holding it: by its file, or as long as somebody else holds it."""
    held: Any
    try:
        held = partial(str, model) if _is_name(model) else weakref.ref(model)
    except TypeError:
        return None
    plain = replace(options, order="given", budget=None)

    def sweep(args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Tradeoff:
        from hotdesk.comparing.tradeoff import tradeoff

        found = held()
        if found is None:
            raise OptionError("trade-off", expected="a model that is still there", got="one that is gone")
        return tradeoff(found, args, kwargs, dynamic_shapes=dynamic_shapes, entry=entry, donate=donate, options=plain)

    return sweep


def _is_name(model: Any) -> bool:
    """Whether a model is the name of a file."""
    return isinstance(model, (str, PathLike)) and "\n" not in str(cast(Any, model))


Entry: TypeAlias = "tuple[Any, tuple[Any, ...]] | tuple[Any, ...]"
"""A model, example arguments, keyword arguments and dynamic shapes, as `compile` takes them; the last ones may be left out."""


def compile_many(entries: Mapping[str, Entry], *, options: Options | None = None) -> dict[str, Program]:
    """Compiles several programs that share memory: such as one that reads a prompt and one that adds a token to it.

        programs = hotdesk.compile_many({"prefill": (model, (prompt, start)), "step": (model, (token, position))})

    They read the same weights and change the same state, as programs of one model do. Besides, they run in one arena, as large as
    the largest of theirs, and calls of any of them that read or change state run one by one. What one of them changes is no
    constant for another. See docs/state.md.

    Args:
        entries: by name, what `compile` takes by position, and `dynamic_shapes` behind it.
        options: see `Options`; for all of them.

    Returns:
        The programs, by name. Calls of them from several threads at once have an arena each, as those of one program have.

    Raises:
        HotdeskError: as `compile` does.
    """
    options = given_options(options)
    if not isinstance(cast(object, entries), Mapping):
        expected = "a dict: by name, a tuple of a model, arguments, keyword arguments and dynamic shapes"
        raise OptionError("entries of compile_many", expected=expected, got=type(entries).__name__)
    with whole_imports(), sources_forgotten(), collection_made_rare():
        logs = {name: Log(keep_ir=options.keep_ir) for name in entries}
        captured = {name: _entry(name, entry, options) for name, entry in entries.items()}
        shared = Shared(state=Extents(each for found in captured.values() for each in _changed(found)))
        programs = {name: build(found, logs[name], options, shared) for name, found in captured.items()}
    give_back_free_memory()
    return programs


def _entry(name: str, entry: Entry, options: Options) -> Captured:
    if not isinstance(cast(object, entry), tuple) or not 1 <= len(entry) <= 4:
        expected = "a tuple of a model, arguments, keyword arguments and dynamic shapes"
        raise OptionError(f"entry '{name}' of compile_many", expected=expected, got=type(entry).__name__)
    given: tuple[Any, ...] = ((), None, None)
    model, args, kwargs, dynamic_shapes = cast("tuple[Any, Any, Any, Any]", (*entry, *given[len(entry) - 1 :]))
    return replace(captured(model, args, kwargs, dynamic_shapes, None, options), name=name)


def captured(
    model: Any, args: Any, kwargs: Mapping[str, Any] | None, dynamic_shapes: Any, entry: str | None, options: Options
) -> Captured:
    """A model of any kind, as `compile` takes it, and as the pipeline does. Of files, `args` are none of its business."""
    compile_ahead(PRODUCTS)
    if is_onnx(model) or is_given(model):
        return _captured(model, args, kwargs, dynamic_shapes, entry)
    if entry is not None:
        raise OptionError("option 'entry'", expected="a program in MLIR", got=type(model).__name__)
    from hotdesk.frontends.torch.export import lower as lower_exported

    exported = _exported(model, args, kwargs, dynamic_shapes)
    return lower_exported(exported, foreign=options.foreign, seed=options.seed)


def _changed(captured: Captured) -> Iterator[WeightRange]:
    """Where the tensors of the model lie that a program changes."""
    from hotdesk.frontends.captured import Weight

    for number in captured.state:
        argument = captured.arguments[number]
        if isinstance(argument, Weight):
            yield WeightRange(argument.spec.name, argument.tensor.data_ptr(), argument.tensor.nbytes)


def _captured(
    model: Any, args: Any, kwargs: Mapping[str, Any] | None, dynamic_shapes: Any, entry: str | None
) -> Captured:
    """A program of a file, or of what files hold."""
    if is_onnx(model):
        return _capture_onnx(model, dynamic_shapes, entry, examples=bool(args or kwargs))
    return _capture_mlir(model, entry, examples=bool(args or kwargs or dynamic_shapes))


def _capture_onnx(model: Any, dynamic_shapes: Any, entry: str | None, *, examples: bool) -> Captured:
    if entry is not None:
        raise OptionError("option 'entry'", expected="a program in MLIR", got="an ONNX model, which is one graph")
    if examples:
        hint = "Sizes that the model names are given by `dynamic_shapes`, such as {'batch': 8}."
        raise OptionError(
            "arguments of compile", expected="no examples for ONNX: its types say all", got="some", hint=hint
        )
    if dynamic_shapes is not None and not isinstance(dynamic_shapes, Mapping):
        expected = "for ONNX, a dictionary of sizes by name, such as {'batch': 8}"
        raise OptionError("argument 'dynamic_shapes'", expected=expected, got=type(dynamic_shapes).__name__)
    from hotdesk.frontends.onnx.capture import capture

    return capture(model, cast("Mapping[str, Any] | None", dynamic_shapes))


def _capture_mlir(model: Any, entry: str | None, *, examples: bool) -> Captured:
    from hotdesk.frontends.mlir.capture import capture

    if examples:
        hint = "What may vary is `?` in the program, and `hotdesk.bounds` limits it."
        raise OptionError(
            "arguments of compile", expected="no examples for MLIR: its types say all", got="some", hint=hint
        )
    return capture(model, entry)


def _of_exported(exported: Exported, donate: Donate, options: Options, log: Log) -> Program:
    """The program as it was kept on disk, or else compiled and kept."""
    from hotdesk.frontends.torch.export import forget_trace, lower

    donate = donate if isinstance(donate, bool | int | str) else listed(donate)
    with log.stage("look-up"):
        settings = (options.order, options.budget_bytes, options.foreign, options.winograd, options.recompute)
        key = None if options.keep_ir else key_of_program(exported, donate, settings)
        found = None if key is None else kept(key, exported)
    if found is not None:
        forget_trace()
        return _program(*found, log)
    with log.stage("capture"):
        captured = donating(lower(exported, foreign=options.foreign, seed=options.seed), donate)
    log.timings = {**log.timings, **captured.timings}
    del log.timings["capture"]
    made, machine = finish(captured, log, options)
    if key is not None:
        with log.stage("keep"):
            keep(key, made, exported)
    return _program(made, machine, log)


def _exported(model: Any, args: Any, kwargs: Mapping[str, Any] | None, dynamic_shapes: Any) -> Exported:
    try:
        import torch
    except ImportError as error:
        raise MissingExtraError.of("compiling a PyTorch model", "torch", "torch") from error
    from hotdesk.frontends.torch.export import export

    if callable(model) and not isinstance(model, (torch.nn.Module, torch.export.ExportedProgram, type)):
        from hotdesk.frontends.torch.functions import as_module

        model = as_module(model)
    if not isinstance(model, (torch.nn.Module, torch.export.ExportedProgram)):
        raise ArgumentTypeError(
            "argument 'model'",
            expected="a torch.nn.Module, a function, a torch.export.ExportedProgram, an ONNX model (a file .onnx or a "
            "ModelProto), or MLIR: a file, text, bytecode or a module",
            got=type(model).__name__,
        )
    if not isinstance(cast(object, args), tuple):
        raise ArgumentTypeError(
            "argument 'args'", expected="a tuple of example arguments", got=type(args).__name__, hint="Write `(x,)`."
        )
    return export(model, args, kwargs, dynamic_shapes=dynamic_shapes)


def build(captured: Captured, log: Log, options: Options | None = None, shared: Shared | None = None) -> Program:
    """Takes a captured program through the pipeline and gives it memory, of which some may be `shared`."""
    shared = shared or Shared()
    return _program(*finish(captured, log, given_options(options), shared), log, shared)


def finish(
    captured: Captured, log: Log, options: Options, shared: Shared | None = None
) -> tuple[LinkedProgram, CompiledCode]:
    """Takes a captured program through the pipeline, and to machine code."""
    shared = shared or Shared()
    module = captured.module
    with entered(module.operation):
        _annotate(main_function(module), captured, _state(captured, shared))
        log.snapshot("capture", module)
        if is_compiling() and any("conv" in op.name for op in nested_ops(main_function(module))):
            compile_ahead(CONVOLUTIONS)
    if captured.on_memrefs:
        _refuse_changes(options)
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
    captured: Captured, sweep: Callable[[ir.Module], Sequence[Way]], *, winograd: bool = True
) -> Iterator[tuple[Way, Program]]:
    """The programs of all ways that a sweep finds, compiled one after the other; `winograd` is as in `Options`.

    Raises OptionError for a program on memrefs.
    """
    if captured.on_memrefs:
        got = "one on memrefs, whose operations stay as they are"
        raise OptionError("a trade-off", expected="a program on tensors", got=got)
    with entered(captured.module.operation):
        _annotate(main_function(captured.module), captured, _state(captured, Shared()))
    found: list[Way] = []
    optimize_tensors(captured.module, Log(), [lambda module, log: found.extend(sweep(module))], winograd=winograd)
    for way in found:
        log = Log(decisions=list(way.decisions))
        with entered(way.module.operation):
            log.decisions.extend(remainder().run(way.module))
        changed = replace(captured, module=way.module)
        made, machine = link_program(changed, lower(way.module, log), prepared_types(way.module), log.decisions)
        yield way, _program(made, machine, log)


def _state(captured: Captured, shared: Shared) -> frozenset[int]:
    """The arguments, by number, that are tensors of the model which this program changes, or one that it shares them with."""
    from hotdesk.frontends.captured import Weight

    def changes(tensor: Any) -> bool:
        return shared.state.meeting((tensor.data_ptr(), tensor.data_ptr() + tensor.nbytes)) is not None

    tensors = {number: each.tensor for number, each in enumerate(captured.arguments) if isinstance(each, Weight)}
    return frozenset(number for number, tensor in tensors.items() if number in captured.state or changes(tensor))


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
    optimize_tensors(captured.module, log, changes, winograd=options.winograd, budget=budget)
    bufferize(captured.module, log)


def _called(call: foreign.ForeignCall) -> Decision:
    hint = "Write it with ops that have a lowering, see docs/coverage.md; `Options(foreign=False)` refuses such ops."
    return Decision(
        call.op, Outcome.CALLED, Reason.NO_LOWERING, (Source(call.op, call.location),), bytes=call.bytes, hint=hint
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


def _annotate(main: ir.Operation, captured: Captured, model_state: frozenset[int]) -> None:
    """Says of each argument what it is and which symbolic sizes it has."""
    from hotdesk.frontends.captured import Weight
    from hotdesk.ir.types import shape_of
    from hotdesk.sizes.size import spelled

    state = {argument: len(captured.results) + place for place, argument in enumerate(captured.state)}

    def stating(number: int, formal: Formal) -> Formal:
        if number >= len(captured.arguments):
            return formal
        argument = captured.arguments[number]
        spec = argument.spec if isinstance(argument, Weight) else argument
        is_open = None in shape_of(formal.type)  # a size that varied when it was exported may be fixed by now
        return formal.stating(
            kind=_kind(argument, number in model_state),
            donated=spec.donated or number in state,
            state=state.get(number),
            shape=[spelled(dim) for dim in spec.shape] if is_open else None,
        )

    set_signature(main, signature(main).stating(stating))


def _kind(argument: Weight | TensorSpec, is_state: bool) -> str:
    if isinstance(argument, TensorSpec):
        return "written" if argument.written else "input"
    return "state" if is_state else "weight"


def _program(made: LinkedProgram, machine: CompiledCode, log: Log, shared: Shared | None = None) -> Program:
    """A lowered program with memory: what `@prepare` makes is made here."""
    shared = shared or Shared()
    from hotdesk.frontends.captured import Weight
    from hotdesk.ir.types import element_bytes

    captured = made.captured
    tensors = {i: a for i, a in enumerate(captured.arguments) if isinstance(a, Weight)}
    changing = _state(captured, shared)
    weights = {i: a for i, a in tensors.items() if i not in changing}
    state = {i: a for i, a in tensors.items() if i in changing}
    inputs = {i: a for i, a in enumerate(captured.arguments) if isinstance(a, TensorSpec)}
    fixed = {i: int(w.tensor.data_ptr()) for i, w in tensors.items()}
    sizes = {i: int(w.tensor.numel() * w.tensor.element_size()) for i, w in tensors.items()}
    ranges = {i: WeightRange(w.spec.name, fixed[i], sizes[i]) for i, w in tensors.items()}
    memories: list[object] = []
    made_bytes: list[int] = []
    prepare = None
    addresses: list[int] = []
    for shape, element in made.prepared:
        size = element_bytes(element) * int(np.prod(shape, dtype=np.int64))
        memory, address = aligned(size)
        memories.append(memory)
        addresses.append(address)
        made_bytes.append(size)
    if made.prepare is not None:
        start = time.perf_counter()
        prepare = compiled_function(made.prepare, machine, made.assertions)
        layout = prepare.layout({})
        scratch, scratch_address = aligned(layout.plan.arena)
        frame = prepare.frame()
        frame.set_arena(layout, scratch_address)
        frame.set_pointers(range(len(weights)), [fixed[i] for i in weights])
        frame.run(layout, addresses)
        del scratch
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
            (machine, *(w.tensor for w in tensors.values()), *memories),
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


def _checker(made: LinkedProgram, places: tuple[int, ...], weights: Mapping[int, int]) -> MemoryCheck:
    """Keeps the IR on memrefs for `Program.check`, as bytes; it is read, and the checker loaded, when it is used."""
    code, main, prepare, bounds = made.module, made.main, made.prepare, made.captured.constraints
    deallocated = not made.captured.on_memrefs
    calls = {call.symbol: foreign.on_arrays(call) for call in made.captured.foreign}

    def check(
        symbols: Mapping[str, int], inputs: Sequence[tuple[int, tuple[int, ...]]], results: Sequence[tuple[int, ...]]
    ) -> CheckReport:
        from hotdesk.runtime.planned import PlannedProgram

        program = PlannedProgram(of_bytecode(code), main, prepare, places, weights, bounds, deallocated, calls)
        return program.check(symbols, inputs, results)

    return check


def _distinct_bytes(addresses: Mapping[int, int], sizes: Mapping[int, int]) -> int:
    """Bytes of all weights; one that appears under several names (tied) counts once."""
    return sum({addresses[i]: size for i, size in sizes.items()}.values())
