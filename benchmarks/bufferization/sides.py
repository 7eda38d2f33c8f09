"""Those compared: each takes a module from linalg on tensors to freed memrefs and says how many seconds each pass took.

    mlir        the passes of the wheel. results returned or as arguments: whichever copies less, then holds less
    one-shot    Hotdesk's bufferization on exactly the module that MLIR gets
    pipeline    Hotdesk's tensor and memory stages as the compiler runs them, from the module as it was captured

Arguments are only read on all sides: modules say `bufferization.writable = false` to MLIR; Hotdesk does not write them anyway.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, cast

from benchmarks.bufferization.count import Counts, count
from benchmarks.bufferization.simulate import RESULT, peak_of
from hotdesk._bindings import PassManager, ir
from hotdesk.ir.context import entered, run_mlir_passes
from hotdesk.ir.walking import entry_block, main_function, nested_ops
from hotdesk.passes.textual import parse_pipeline
from hotdesk.pipeline import Log, bufferize, optimize_tensors

RESULT_SHAPES = "hotdesk.result_shapes"
"""On `@main`: the symbolic sizes of its results, one array of strings each."""

_DECIDE = (
    "eliminate-empty-tensors",
    "one-shot-bufferize{bufferize-function-boundaries function-boundary-type-conversion=identity-layout-map}",
)
_CLEAN = ("canonicalize", "cse")
_OUT_PARAMS = (
    "buffer-results-to-out-params{add-result-attr hoist-dynamic-allocs hoist-static-allocs modify-public-functions}",
)
_FREE = ("buffer-deallocation-pipeline", "func.func(optimize-allocation-liveness)")
_HOTDESK = (
    *("hotdesk-sink-concat", "hotdesk-decompose-concat-and-pad", "hotdesk-rematerialize-cheap-ops"),
    *("hotdesk-eliminate-empty-tensors", "hotdesk-choose-destinations"),
    *("hotdesk-one-shot-bufferize", "hotdesk-buffer-deallocation"),
)


@dataclass(frozen=True, slots=True)
class Finished:
    """A bufferized module and what it took.

    Attributes:
        seconds: by pass, in order; of processor time, which other processes do not lengthen.
        wall: the sum, by the clock on the wall.
        modules: what counts is the best of them, by copies, then by peak.
    """

    seconds: Mapping[str, float]
    wall: float
    modules: tuple[ir.Module, ...]

    def measure(self, symbols: Mapping[str, int]) -> tuple[Counts, int]:
        """Counts and peak of the best module."""
        figures = [(count(module, symbols), peak_of(module, symbols)) for module in self.modules]
        return min(figures, key=lambda figure: (figure[0].copies, figure[1]))


@dataclass(slots=True)
class Watch(Log):
    """Seconds of processor time by name, and all of them on the wall; a log of the pipeline's that is timed so."""

    seconds: dict[str, float] = field(default_factory=dict[str, float])
    wall: float = 0.0

    @contextmanager
    def stage(self, name: str) -> Generator[None]:
        wall, processor = time.perf_counter(), time.process_time()
        yield
        self.seconds[name] = time.process_time() - processor
        self.wall += time.perf_counter() - wall


def bufferize_with_mlir(module: ir.Module) -> Watch:
    """MLIR's bufferization with results returned; nothing is freed. The seconds it took."""
    watch = Watch()
    _bufferize_tm_tensor(module)
    _timed(module, (*_DECIDE, *_CLEAN), watch)
    return watch


def run_mlir(module: ir.Module) -> Finished:
    """MLIR's passes, those that the wheel has."""
    watch = bufferize_with_mlir(module)
    with module.context:
        returned = ir.Module.parse(str(module))
    shapes = _result_shapes(module)
    _timed(module, (*_OUT_PARAMS, *_FREE), watch)
    _name_results(module, shapes)
    _timed(returned, _FREE, Watch())
    return Finished(watch.seconds, watch.wall, (module, returned))


def run_one_shot(module: ir.Module) -> Finished:
    """Hotdesk's passes by name, each verified as MLIR verifies its own."""
    watch = Watch()
    for name in _HOTDESK:
        pipeline = parse_pipeline(f"builtin.module({name})")
        with watch.stage(name):
            pipeline.run(module)
    return Finished(watch.seconds, watch.wall, (module,))


def run_pipeline(module: ir.Module) -> Finished:
    """The compiler's own stages; those before destinations are chosen are not bufferization and not timed."""
    tensors, memory = Watch(), Watch()
    optimize_tensors(module, tensors)
    bufferize(module, memory)
    destinations = tensors.seconds["destinations"]
    return Finished({"destinations": destinations, **memory.seconds}, destinations + memory.wall, (module,))


SIDES: Mapping[str, Callable[[ir.Module], Finished]] = {
    "mlir": run_mlir,
    "one-shot": run_one_shot,
    "pipeline": run_pipeline,
}
FREEING = frozenset(
    {"buffer-deallocation-pipeline", "optimize-allocation-liveness", "hotdesk-buffer-deallocation", "buffers"}
)
"""The passes that free: all others bufferize."""


def _bufferize_tm_tensor(module: ir.Module) -> None:
    """torch-mlir's scans and sorts become buffer ops by its own pass, untimed: one-shot bufferization does not know them.

    What they write are new allocations, which no other tensor shows: `restrict`.
    """
    if not any(op.name.startswith("tm_tensor.") for op in nested_ops(module.operation)):
        return
    run_mlir_passes(module, "func.func(tm-tensor-bufferize)")
    with entered(module.operation):
        for op in nested_ops(module.operation):
            if op.name == "bufferization.to_tensor":
                op.attributes["restrict"] = op.attributes["writable"] = ir.UnitAttr.get()


def _timed(module: ir.Module, passes: tuple[str, ...], watch: Watch) -> None:
    for text in passes:
        if not _exists(module, text):
            continue
        with watch.stage(text.removeprefix("func.func(").removesuffix(")").partition("{")[0]):
            run_mlir_passes(module, text)


def _exists(module: ir.Module, text: str) -> bool:
    with module.context:
        try:
            PassManager.parse(f"builtin.module({text})")
        except ValueError:
            return False
    return True


def _result_shapes(module: ir.Module) -> list[ir.Attribute]:
    main = main_function(module)
    return list(cast(Any, main.attributes[RESULT_SHAPES])) if RESULT_SHAPES in main.attributes else []


def _name_results(module: ir.Module, shapes: list[ir.Attribute]) -> None:
    """Says of each result that became an argument which symbolic sizes it has; MLIR's pass drops that."""
    main = main_function(module)
    if not shapes or len(entry_block(main).arguments) == 0:
        return
    left = iter(shapes)
    with entered(module.operation):
        entries = [
            {named.name: named.attr for named in entry} | ({"hotdesk.shape": next(left)} if RESULT in entry else {})
            for entry in cast(Any, main.attributes["arg_attrs"])
        ]
        main.attributes["arg_attrs"] = ir.ArrayAttr.get([ir.DictAttr.get(entry) for entry in entries])
