"""The stages, in order: from linalg on tensors to kernel calls on buffers.

    tensors    normalize named ops · pads → insertions · split @prepare · fuse elementwise · readers of concatenations in
               parts · concatenations → insertions · rematerialize · compute where inserted · choose destinations
    memory     one-shot bufferize · workspaces · deallocate
    machine    kernels and entry functions → LLVM dialect

Each stage changes the module in place, is timed, and leaves a module that verifies; its decisions are kept in order.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

from hotdesk._bindings import ir
from hotdesk.explain import Decision
from hotdesk.ir.context import entered, run_mlir_passes, verify
from hotdesk.ir.linking import define
from hotdesk.ir.walking import main_function
from hotdesk.passes.base import Pass
from hotdesk.passes.bufferize.one_shot import OneShotBufferize
from hotdesk.passes.buffers.deallocate import DeallocateAfterLastUse
from hotdesk.passes.buffers.workspaces import AllocateWorkspaces
from hotdesk.passes.lower.calls import Assertion
from hotdesk.passes.lower.entry import KERNELS, addresses_text, kernels_of
from hotdesk.passes.lower.function import LoweredFunction, lower_function
from hotdesk.passes.lower.library import KernelLibrary, define_support
from hotdesk.passes.lower.to_llvm import kernels_to_llvm
from hotdesk.passes.tensor.dead_code import erase_dead
from hotdesk.passes.tensor.decompose import DecomposeConcatAndPad
from hotdesk.passes.tensor.destinations import ChooseDestinations
from hotdesk.passes.tensor.eliminate_empty import EliminateEmptyTensors
from hotdesk.passes.tensor.guard_divisions import GuardDivisions
from hotdesk.passes.tensor.guard_indices import GuardIndices
from hotdesk.passes.tensor.named_ops import NormalizeNamedOps
from hotdesk.passes.tensor.prepare import SplitPrepare
from hotdesk.passes.tensor.rematerialize import RematerializeCheapOps
from hotdesk.passes.tensor.reshapes import ReshapesAsViews
from hotdesk.passes.tensor.sink_concat import SinkConcat

_CLEAN = "canonicalize,cse"
_ONE_SHOT = OneShotBufferize(reload_scalars=True, results_in_donated=True, allow_return_allocs_from_loops=False)
_FUSE = f"func.func(linalg-generalize-named-ops),func.func(linalg-fuse-elementwise-ops),{_CLEAN}"


@dataclass(slots=True)
class Log:
    """What a compilation leaves behind: seconds, decisions and, if asked for, the IR after each stage."""

    keep_ir: bool = False
    timings: dict[str, float] = field(default_factory=dict[str, float])
    decisions: list[Decision] = field(default_factory=list[Decision])
    ir: dict[str, str] = field(default_factory=dict[str, str])

    @contextmanager
    def stage(self, name: str) -> Generator[None]:
        """Times a stage; on a terminal, says that it runs."""
        start = time.perf_counter()
        shown = sys.stderr.isatty()
        if shown:
            print(f"hotdesk: {name} …", end="", file=sys.stderr, flush=True)
        try:
            yield
        finally:
            self.timings[name] = self.timings.get(name, 0.0) + time.perf_counter() - start
            if shown:
                print(f" {self.timings[name]:.2f} s", file=sys.stderr, flush=True)

    def snapshot(self, name: str, module: ir.Module) -> None:
        """Keeps the IR, under `name` or, where a pass runs again, under `name#2`."""
        if self.keep_ir:
            times = 1 + sum(known.partition("#")[0] == name for known in self.ir)
            self.ir[name if times == 1 else f"{name}#{times}"] = str(module)


@dataclass(frozen=True, slots=True)
class Lowered:
    """A program ready for the JIT: a module in the LLVM dialect, its entry functions, and the run-time checks they may fail."""

    module: ir.Module
    main: LoweredFunction
    prepare: LoweredFunction | None
    assertions: tuple[Assertion, ...]
    kernels: int


def _run(one: Pass, module: ir.Module, log: Log) -> None:
    log.decisions.extend(one.run(module))
    verify(module, one.name)
    log.snapshot(one.name, module)


def optimize_tensors(module: ir.Module, log: Log, changes: Sequence[Callable[[ir.Module, Log], None]] = ()) -> None:
    """The passes on values, up to the choice of destinations, before which `changes` to the order or number of operations go."""
    with entered(module.operation):
        with log.stage("normalize"):
            run_mlir_passes(module, _CLEAN)
            _run(NormalizeNamedOps(), module, log)
            erase_dead(module)
            _run(ReshapesAsViews(), module, log)
            _run(GuardIndices(), module, log)
            _run(GuardDivisions(), module, log)
            _run(DecomposeConcatAndPad(concat=False), module, log)
        with log.stage("prepare"):
            run_mlir_passes(module, _CLEAN)
            _run(SplitPrepare(), module, log)
            erase_dead(module)
        with log.stage("fuse"):
            run_mlir_passes(module, _FUSE)
            _run(SinkConcat(), module, log)
            run_mlir_passes(module, _FUSE)
            _run(DecomposeConcatAndPad(), module, log)
            erase_dead(module)
            verify(module, "fusion")
            log.snapshot("fuse", module)
        with log.stage("destinations"):
            _run(RematerializeCheapOps(), module, log)
            _run(EliminateEmptyTensors(), module, log)
            for change in changes:
                change(module, log)
            _run(ChooseDestinations(reload_scalars=True, results_in_donated=True), module, log)


def bufferize(module: ir.Module, log: Log) -> None:
    """Values to memory, and memory freed."""
    with entered(module.operation):
        with log.stage("bufferize"):
            _run(_ONE_SHOT, module, log)
        with log.stage("buffers"):
            _run(AllocateWorkspaces(), module, log)
            _run(DeallocateAfterLastUse(reload_scalars=True), module, log)  # kernels load scalars again


def lower(module: ir.Module, log: Log) -> Lowered:
    """Memory to machine: kernels in the LLVM dialect and entry functions that call them."""
    with entered(module.operation):
        with log.stage("kernels"):
            library = KernelLibrary(module.context)
            main = lower_function(main_function(module), module, library, "hotdesk_main")
            prepare = _lower_prepare(module, library)
            verify(library.module, "kernel generation")
            log.snapshot("kernels", library.module)
        with log.stage("to-llvm"):
            kernels_to_llvm(library.module)
            _keep_out_of_line(library.module)
            for function in (main, prepare):
                if function is not None:
                    define(library.module, function.text)
            define(library.module, _kernel_addresses(main))
            define_support(library.module)
            verify(library.module, "lowering to LLVM")
            log.snapshot("llvm", library.module)
    return Lowered(library.module, main, prepare, tuple(library.assertions), library.count)


def _kernel_addresses(main: LoweredFunction) -> str:
    """A function that tells the addresses of kernels, for a profile, which calls them one by one; and their declarations."""
    kernels = kernels_of(main.calls)
    return "\n".join([*(f"llvm.func @{kernel}()" for kernel in kernels), addresses_text(KERNELS, kernels)])


def _lower_prepare(module: ir.Module, library: KernelLibrary) -> LoweredFunction | None:
    try:
        function = main_function(module, "prepare")
    except KeyError:
        return None
    return lower_function(function, module, library, "hotdesk_prepare")


def _keep_out_of_line(module: ir.Module) -> None:
    """Kernels stay functions: inlined into the entry function they would be compiled once for each call."""
    for op in module.body.operations:
        is_defined = op.operation.name == "llvm.func" and len(op.operation.regions[0].blocks)
        if is_defined and "always_inline" not in op.operation.attributes:
            op.operation.attributes["no_inline"] = ir.UnitAttr.get()
            if "sym_visibility" in op.operation.attributes:
                del op.operation.attributes["sym_visibility"]


def stages() -> tuple[tuple[str, Callable[[ir.Module, Log], object]], ...]:
    """The stages by name, in order."""
    return (("tensors", optimize_tensors), ("memory", bufferize), ("machine", lower))
