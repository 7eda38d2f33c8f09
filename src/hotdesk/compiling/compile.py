"""`hotdesk.compile` and `hotdesk.compile_many`: from models to programs that can be called."""

from __future__ import annotations

import weakref
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from functools import partial
from os import PathLike
from typing import TYPE_CHECKING, Any, TypeAlias, cast

from hotdesk.compiling.building import build, lower_and_link
from hotdesk.compiling.capturing import captured, captured_or_exported, lower_exported
from hotdesk.compiling.instantiating import instantiate
from hotdesk.compiling.options import Options, given_options
from hotdesk.compiling.program_cache import keep, kept, key_of_program
from hotdesk.errors import OptionError
from hotdesk.frontends.captured import Captured, Weight
from hotdesk.frontends.donation import Donate, donating, listed
from hotdesk.passes.collecting import collection_made_rare
from hotdesk.pipeline import Log
from hotdesk.python.whole_imports import whole_imports
from hotdesk.runtime.arguments.outputs import Extents
from hotdesk.runtime.interface import WeightRange
from hotdesk.runtime.process_memory import give_back_free_memory, sources_forgotten
from hotdesk.runtime.program import Program
from hotdesk.runtime.shared import Shared

if TYPE_CHECKING:
    from hotdesk.frontends.torch.export import Exported
    from hotdesk.report.tradeoff import Tradeoff


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
        with log.stage("capture"):
            found = captured_or_exported(model, args, kwargs, dynamic_shapes, entry, options)
        if isinstance(found, Captured):
            log.timings = dict(found.timings)
            program = build(donating(found, donate), log, options)
        else:
            log.timings = {"export": found.seconds}
            program = _of_exported(found, donate, options, log)
        del found
    program.sweep = _sweep_of(model, dynamic_shapes, entry, donate, options)
    give_back_free_memory()
    return program


def _of_exported(exported: Exported, donate: Donate, options: Options, log: Log) -> Program:
    """The program as it was kept on disk, or else compiled and kept."""
    from hotdesk.frontends.torch.export import forget_trace

    donate = donate if isinstance(donate, bool | int | str) else listed(donate)
    with log.stage("look-up"):
        key = None if options.keep_ir else key_of_program(exported, donate, options.what_is_compiled())
        found = None if key is None else kept(key, exported)
    if found is not None:
        forget_trace()
        return instantiate(*found, log)
    with log.stage("capture"):
        captured = donating(lower_exported(exported, options), donate)
    log.timings = {**log.timings, **captured.timings}
    del log.timings["capture"]
    made, machine = lower_and_link(captured, log, options)
    if key is not None:
        with log.stage("keep"):
            keep(key, made, exported)
    return instantiate(made, machine, log)


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


def _changed(captured: Captured) -> Iterator[WeightRange]:
    """Where the tensors of the model lie that a program changes."""
    for number in captured.state:
        argument = captured.arguments[number]
        if isinstance(argument, Weight):
            yield WeightRange(argument.spec.name, argument.tensor.data_ptr(), argument.tensor.nbytes)
