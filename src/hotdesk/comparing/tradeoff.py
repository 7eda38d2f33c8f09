"""`hotdesk.tradeoff`: the ways to run a model in less memory, what each costs, and how others do, measured in one run.

A model is captured once. `search.tradeoff` finds the ways on its tensors, each is compiled from there, and all of them and others
(`others.py`) are timed in turns.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from importlib.metadata import version
from numbers import Real
from typing import TYPE_CHECKING, Any, TypeAlias

from hotdesk.comparing.others import OTHERS, Other, other, require_others
from hotdesk.compiling.building import ways
from hotdesk.compiling.capturing import captured
from hotdesk.compiling.options import Options, given_options
from hotdesk.errors import OptionError
from hotdesk.frontends.donation import Donate, donating
from hotdesk.frontends.mlir.reading import is_given
from hotdesk.frontends.onnx.reading import is_onnx
from hotdesk.passes.collecting import collection_made_rare
from hotdesk.planning.problem.numbers import parse_bytes
from hotdesk.python.whole_imports import whole_imports
from hotdesk.report.tradeoff import Tradeoff, TradeoffPoint
from hotdesk.runtime.code.threads import get_num_threads
from hotdesk.runtime.interface import TensorSpec
from hotdesk.runtime.process_memory import give_back_free_memory, sources_forgotten
from hotdesk.runtime.timing import CallTime, in_turns
from hotdesk.search.tradeoff import Sweep, Way
from hotdesk.sizes.size import symbols_of

if TYPE_CHECKING:
    from hotdesk.runtime.program import Program

Arguments: TypeAlias = "tuple[Any, ...] | Callable[[Sequence[TensorSpec]], tuple[Any, ...]]"
"""Of a call; or what makes them of the program's inputs."""

Progress: TypeAlias = Callable[[str, float], None]
"""Is told what is done, and which part of that is over; -1 where nobody knows."""


def tradeoff(
    model: Any,
    args: Arguments = (),
    kwargs: Mapping[str, Any] | None = None,
    *,
    dynamic_shapes: Any = None,
    entry: str | None = None,
    donate: Donate = (),
    budgets: Sequence[int | str] | None = None,
    most: int = 8,
    beside: Sequence[str] = OTHERS,
    seconds: float = 10.0,
    options: Options | None = None,
    command: str = "",
    progress: Progress = lambda text, part: None,
) -> Tradeoff:
    """Bytes against milliseconds and against work done twice, for budgets, orders, and others that run the model.

    The searches remember what they tried, in the cache on disk too: one that was interrupted goes on where it was. Programs that
    change tensors of the model change them in the calls that are timed, as those with donated arguments overwrite these.

    Args:
        model, kwargs, dynamic_shapes, entry, donate, options: as `hotdesk.compile` takes them; `order` and `budget` are what is
            looked for, so `options` may not have them, nor `recompute`.
        args: of the calls that are timed, of a PyTorch model also its examples.
        budgets: those to look for, in bytes or as in `"24 MiB"`; None for the peak and part by part below it.
        most: how many budgets are looked for at most where none are given.
        beside: who is measured besides: `eager`, `onnxruntime` and `torch.compile`, where they can run the model.
        seconds: for the time of calls, of all together; 0 measures no time, and nobody else.
        command: what the command line of a point begins with.
        progress: is told what is done.

    Returns:
        A `Tradeoff`: print it, or `to_json()`.

    Raises:
        HotdeskError: as `compile` does; OptionError where a size has no greatest value, for a program on memrefs, and for unknown
            names in `beside`.
    """
    options = given_options(options)
    if options.order != "given" or options.budget is not None:
        raise OptionError("option 'options'", expected="neither order nor budget: both are looked for", got="one")
    if options.recompute:
        raise OptionError("option 'options'", expected="no recompute: budgets make values again", got="recompute=True")
    _require_kinds(
        budgets=(budgets, Iterable | None), beside=(beside, Iterable), most=(most, int), seconds=(seconds, Real)
    )
    sweep_budgets = None if budgets is None else [_bytes(each) for each in budgets]
    others = require_others(beside)
    with whole_imports(), sources_forgotten(), collection_made_rare():
        progress("capture", -1)
        states_types = is_given(model) or is_onnx(model)
        examples = ((), None) if states_types or callable(args) else (args, kwargs)
        found = donating(captured(model, *examples, dynamic_shapes, entry, options), donate)
        sweep = Sweep(
            found.constraints,
            found.names,
            sweep_budgets,
            most,
            progress=lambda text, count: progress(f"search: {text}, {count} found", -1),
        )
        made: list[tuple[Way, Program]] = []
        for way, program in ways(found, sweep, options):
            made.append((way, program))
            progress(f"compile: {_name(way)}", len(made) / max(len(sweep.found), 1))
        del found
        given = args(made[0][1].inputs) if callable(args) else args
        if seconds and made[0][1].inputs and not (given or kwargs):
            names = ", ".join(f"{spec.name}: {spec}" for spec in made[0][1].inputs)
            raise OptionError("argument 'args'", expected=f"values for {names}, or seconds=0", got="none")
        measured = _measured(model, made, given, kwargs or {}, others, seconds, progress)
    give_back_free_memory()
    points = [_point(way, program, given, kwargs or {}, measured.get(_name(way))) for way, program in made]
    points += [_beside(each, measured.get(each.name)) for each in measured.others]
    return Tradeoff(
        *(made[0][1].name, _symbols(made[0][1], given, kwargs or {}), command, get_num_threads()),
        *(tuple(points), _refused(sweep.refused, made[0][1].inputs), version("hotdesk")),
    )


def _require_kinds(**given: tuple[object, Any]) -> None:
    """Raises OptionError for a value, by its name, that is not of its kind."""
    for name, (value, kind) in given.items():
        if not isinstance(value, kind):
            raise OptionError(f"option '{name}'", expected=_KINDS[name], got=repr(value))


_KINDS = {
    "budgets": "several budgets, or None",
    "beside": "names, in a list",
    "most": "how many budgets at most",
    "seconds": "a number of seconds",
}


def _refused(told: str, inputs: Sequence[TensorSpec]) -> str:
    """Why no lower budget is met, with the sizes that vary: nothing is cut along these."""
    names = sorted({name for spec in inputs for size in spec.shape for name in symbols_of(size)})
    if not told or not names:
        return told
    vary = f"{', '.join(names)} var{'y' if len(names) > 1 else 'ies'} here"
    return (
        f"{told} Operations are cut only along sizes that are fixed, and {vary}: one that is fixed may be met in less."
    )


class _TimedCalls(dict[str, CallTime]):
    """Times by name, and the others that were asked."""

    others: Sequence[Other] = ()


def _measured(
    model: Any,
    made: Sequence[tuple[Way, Program]],
    args: tuple[Any, ...],
    kwargs: Mapping[str, Any],
    names: Sequence[str],
    seconds: float,
    progress: Progress,
) -> _TimedCalls:
    """The times of all calls, in turns."""
    found = _TimedCalls()
    if not seconds:
        return found
    runs: dict[str, Callable[[], object]] = {
        _name(way): lambda program=program: program(*args, **kwargs) for way, program in made
    }
    others: list[Other] = []
    in_mlir = is_given(model) and not is_onnx(model)
    for name in () if in_mlir else names:  # programs in MLIR nobody else runs
        progress(f"prepare: {name}", -1)
        each = other(name, model, args, kwargs, get_num_threads())
        others += [] if each is None else [each]
    found.others = others
    runs.update({each.name: each.call for each in others if each.call is not None})
    found.update(in_turns(runs, seconds, lambda part: progress("measure", part)))
    return found


def _point(
    way: Way, program: Program, args: tuple[Any, ...], kwargs: Mapping[str, Any], time: CallTime | None
) -> TradeoffPoint:
    """A way with the memory of its calls; of the greatest sizes, where they vary and no arguments are given."""
    known = _is_known(program, args, kwargs)
    memory = program.memory(*args, **kwargs) if known else None
    peak, prepared = (way.peak, None) if memory is None else (memory.peak, memory.prepared)
    return TradeoffPoint(
        *(_name(way), way.order, way.budget, peak, way.again, way.operations, prepared),
        *((None, None, 0) if time is None else (time.median, time.best, time.calls)),
    )


def _is_known(program: Program, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> bool:
    """Whether the sizes of the calls are."""
    return bool(args or kwargs) or all(isinstance(dim, int) for spec in program.inputs for dim in spec.shape)


def _symbols(program: Program, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> tuple[tuple[str, int], ...]:
    return program.summary(*args, **kwargs).symbols if _is_known(program, args, kwargs) else ()


def _beside(each: Other, time: CallTime | None) -> TradeoffPoint:
    timed = (None, None, 0) if time is None else (time.median, time.best, time.calls)
    return TradeoffPoint(each.name, None, None, each.peak, None, None, None, *timed, each.note)


def _name(way: Way) -> str:
    if way.budget is not None:
        return f"budget {way.budget:,}"
    return "as it is" if way.order == "given" else "order peak"


def _bytes(budget: int | str) -> int:
    try:
        return parse_bytes(budget)
    except ValueError as error:
        expected = "bytes such as 25165824 or '24 MiB'"
        raise OptionError("option 'budgets'", expected=expected, got=repr(budget)) from error
