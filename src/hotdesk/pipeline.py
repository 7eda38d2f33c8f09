"""The stages, in order: from linalg on tensors to kernel calls on buffers.

    TENSORS    normalize named ops · attention · operands where they lie · positions · pads → insertions · split @prepare
               widen in readers · fuse elementwise · readers of concatenations in parts · invariants once
               concatenations → insertions · checks before loops · early copies · tall sums in blocks · rematerialize
               compute where inserted
               sums in rows · choose destinations
    MEMORY     one-shot bufferize · workspaces · deallocate · checks first · writes rolled back
    parallel   memory for each worker of parallel loops and for what they reduce, where there are any
    lower      kernels and entry functions → LLVM dialect

`TENSORS` and `MEMORY` are lists of registered passes: `compiler()` prints as a text that `hotdesk-opt` runs to the same IR. What
tries other ways (`search`) puts passes in front of `COMBINED`. Each pass changes the module in place and leaves one that
verifies; stages are timed, and decisions kept in order. Kernels stay functions (`llvm.func`) of their own, called by entry
functions.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace

from hotdesk._bindings import ir
from hotdesk.explain import Decision
from hotdesk.ir.context import entered, verify
from hotdesk.ir.linking import define
from hotdesk.ir.walking import main_function, nested_ops
from hotdesk.kernels.parts import share_parts
from hotdesk.models.control_flow import SHAREABLE
from hotdesk.passes.base import Pass
from hotdesk.passes.bufferize.one_shot import OneShotBufferize
from hotdesk.passes.buffers.checks_first import MoveChecksFirst
from hotdesk.passes.buffers.deallocate import DeallocateAfterLastUse
from hotdesk.passes.buffers.privatize import PrivatizeBuffers
from hotdesk.passes.buffers.roll_back import RollBackWrites
from hotdesk.passes.buffers.workspaces import AllocateWorkspaces
from hotdesk.passes.lower.calls import Assertion
from hotdesk.passes.lower.entry import KERNELS, addresses_text, kernels_of
from hotdesk.passes.lower.function import LoweredFunction, lower_function
from hotdesk.passes.lower.library import KernelLibrary, define_support
from hotdesk.passes.lower.to_llvm import kernels_to_llvm
from hotdesk.passes.tensor.attention import RecognizeAttention
from hotdesk.passes.tensor.block_sums import SumInBlocks
from hotdesk.passes.tensor.checks_before_loops import CheckBeforeLoops
from hotdesk.passes.tensor.combine_in_rows import CombineInRows
from hotdesk.passes.tensor.dead_code import EraseDead
from hotdesk.passes.tensor.decompose import DecomposeConcatAndPad
from hotdesk.passes.tensor.destinations import ChooseDestinations
from hotdesk.passes.tensor.eliminate_empty import EliminateEmptyTensors
from hotdesk.passes.tensor.guard_divisions import GuardDivisions
from hotdesk.passes.tensor.guard_indices import GuardIndices
from hotdesk.passes.tensor.hoist_invariants import HoistInvariants
from hotdesk.passes.tensor.identity_broadcasts import DropIdentityBroadcasts
from hotdesk.passes.tensor.named_ops import NormalizeNamedOps
from hotdesk.passes.tensor.positions import ComputePositions
from hotdesk.passes.tensor.prepare import SplitPrepare
from hotdesk.passes.tensor.rearranged_operands import FoldRearrangedOperands
from hotdesk.passes.tensor.rematerialize import RematerializeCheapOps
from hotdesk.passes.tensor.reshapes import ReshapesAsViews
from hotdesk.passes.tensor.results_early import CopyResultsEarly
from hotdesk.passes.tensor.sink_concat import SinkConcat
from hotdesk.passes.tensor.widenings import WidenInReaders
from hotdesk.passes.textual import MLIRPasses, PassPipeline
from hotdesk.progress import is_heard, tell

_CLEAN = MLIRPasses("canonicalize,cse")
_WIDEN = WidenInReaders()
_FUSE = MLIRPasses("func.func(linalg-generalize-named-ops),func.func(linalg-fuse-elementwise-ops),canonicalize,cse")


@dataclass(frozen=True, slots=True)
class Stage:
    """Passes that are timed together. Where it is `kept`, so is the IR behind all of them, under the name of the stage."""

    name: str
    passes: tuple[Pass, ...]
    kept: bool = False


COMBINED = CombineInRows()
"""The pass that `changes` to the order or number of operations go in front of."""

TENSORS = (
    Stage(
        "normalize",
        (
            *(_CLEAN, NormalizeNamedOps(), EraseDead(), ReshapesAsViews()),
            *(DropIdentityBroadcasts(), _CLEAN, RecognizeAttention(), FoldRearrangedOperands()),
            *(GuardIndices(), ComputePositions(), GuardDivisions(), DecomposeConcatAndPad(concat=False)),
        ),
    ),
    Stage("prepare", (_CLEAN, SplitPrepare(), EraseDead())),
    Stage(
        "fuse",  # twice, since the first fusion makes a widening of what also centres 16-bit floats
        (_WIDEN, _FUSE, SinkConcat(), _WIDEN, _FUSE, HoistInvariants(), DecomposeConcatAndPad(), EraseDead()),
        kept=True,
    ),
    Stage(
        "destinations",
        (
            *(CheckBeforeLoops(), CopyResultsEarly(), SumInBlocks()),
            *(RematerializeCheapOps(), EliminateEmptyTensors(), COMBINED),
            ChooseDestinations(reload_scalars=True, results_in_donated=True, overlapping_moves=True),
        ),
    ),
)
"""The passes on values."""

MEMORY = (
    Stage(
        "bufferize",
        (
            OneShotBufferize(
                reload_scalars=True,
                overlapping_moves=True,
                results_in_donated=True,
                allow_return_allocs_from_loops=False,
            ),
        ),
    ),
    Stage(
        "buffers",  # kernels load scalars again
        (AllocateWorkspaces(), DeallocateAfterLastUse(reload_scalars=True), MoveChecksFirst(), RollBackWrites()),
    ),
)
"""Values to memory, and memory freed."""


_STAGES = (
    "capture",
    "look-up",
    *(stage.name for stage in (*TENSORS, *MEMORY)),
    "parallel",
    "kernels",
    "to-llvm",
    "llvm",
    "keep",
    "plan",
)
"""All stages of a compilation, in order, those of `compiling` included."""


def compiler(changes: Sequence[Pass] = ()) -> PassPipeline:
    """What a compilation runs up to the buffers, with `changes` in front of the choice of destinations."""
    passes = _passes()
    at = passes.index(COMBINED)
    return PassPipeline((*passes[:at], *changes, *passes[at:]))


def remainder(changes: Sequence[Pass] = ()) -> PassPipeline:
    """What is left of it in front of that choice: `changes`, the choice, and all behind."""
    passes = _passes()
    return PassPipeline((*changes, *passes[passes.index(COMBINED) :]))


def _passes() -> tuple[Pass, ...]:
    return tuple(one for stage in (*TENSORS, *MEMORY) for one in stage.passes)


@dataclass(slots=True)
class Log:
    """What a compilation leaves behind: seconds, decisions, the passes that ran and, if asked for, the IR after each."""

    keep_ir: bool = False
    timings: dict[str, float] = field(default_factory=dict[str, float])
    decisions: list[Decision] = field(default_factory=list[Decision])
    passes: list[Pass] = field(default_factory=list[Pass])
    ir: dict[str, str] = field(default_factory=dict[str, str])

    @property
    def pipeline(self) -> PassPipeline:
        """The passes that ran: with the order or the parts that a budget took, too."""
        return PassPipeline(tuple(self.passes))

    @contextmanager
    def stage(self, name: str) -> Generator[None]:
        """Times a stage; says that it runs to who hears it, or else on a terminal."""
        start = time.perf_counter()
        tell(f"stage: {name}", _STAGES.index(name) / len(_STAGES) if name in _STAGES else -1.0)
        shown = sys.stderr.isatty() and not is_heard()
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


_BLOCKS_IN_BUDGET = 64
"""How many blocks of sums a budget has room for, at least."""


def run_pass(one: Pass, module: ir.Module, log: Log) -> tuple[Decision, ...]:
    """Has a pass change a module, and returns what it decided; of clean-up the IR is not kept."""
    decisions = one.apply(module)
    log.passes.append(one)
    if not isinstance(one, (MLIRPasses, EraseDead)):
        log.snapshot(one.name, module)
    return decisions


def optimize_tensors(
    module: ir.Module,
    log: Log,
    changes: Sequence[Callable[[ir.Module, Log], None]] = (),
    *,
    winograd: bool = True,
    prepare: int | None = None,
    budget: int | None = None,
) -> None:
    """The passes on values; `changes` to the order or number of operations go in front of `COMBINED`.

    `winograd` says whether convolutions may be computed by Winograd's filtering, `prepare` how many bytes may be kept that are
    computed from weights once; None for any number. Within a budget, in bytes, blocks of sums take a small part of it: nothing
    takes them back.
    """

    def set_up(one: Pass) -> Pass:
        if isinstance(one, NormalizeNamedOps):
            return replace(one, winograd=winograd)
        if isinstance(one, SplitPrepare) and prepare is not None:
            return replace(one, max_kept_in_bytes=prepare)
        if isinstance(one, SumInBlocks) and budget is not None:
            return replace(one, max_block_in_bytes=budget // _BLOCKS_IN_BUDGET)
        return one

    _run([replace(stage, passes=tuple(map(set_up, stage.passes))) for stage in TENSORS], module, log, changes)


def bufferize(module: ir.Module, log: Log) -> None:
    """Values to memory, and memory freed."""
    _run(MEMORY, module, log)


def move_checks(module: ir.Module, log: Log) -> None:
    """What is done on programs that come as memrefs: checks go in front of what they write, and nothing is copied for others."""
    _run([Stage("buffers", (MoveChecksFirst(),))], module, log)


def has_parallel_loops(module: ir.Module) -> bool:
    """Whether a module has loops that threads may share."""
    return any(op.name in SHAREABLE for op in nested_ops(module.operation))


def privatize(module: ir.Module, log: Log, threads: int, growth: int | None) -> None:
    """Memory for each worker of parallel loops, for so many threads; `growth` is what the peak may grow by, in bytes."""
    _run([Stage("parallel", (PrivatizeBuffers(threads, -1 if growth is None else growth),))], module, log)


def _run(
    stages: Sequence[Stage],
    module: ir.Module,
    log: Log,
    changes: Sequence[Callable[[ir.Module, Log], None]] = (),
) -> None:
    with entered(module.operation):
        for stage in stages:
            with log.stage(stage.name):
                for each in stage.passes:
                    for change in changes if each == COMBINED else ():
                        change(module, log)
                    log.decisions.extend(run_pass(each, module, log))
                if stage.kept:
                    log.snapshot(stage.name, module)


def lower(module: ir.Module, log: Log, *, deallocated: bool = True) -> Lowered:
    """Memory to machine: kernels in the LLVM dialect and entry functions that call them.

    `deallocated` says whether deallocation has decided where allocations end, as in all but programs on memrefs of the user's.
    """
    with entered(module.operation):
        with log.stage("kernels"):
            library = KernelLibrary(module.context)
            main = lower_function(main_function(module), module, library, "hotdesk_main", deallocated=deallocated)
            prepare = _lower_prepare(module, library)
            verify(library.module, "kernel generation")
            log.snapshot("kernels", library.module)
        with log.stage("to-llvm"):
            kernels_to_llvm(library.module)
            share_parts(library.module)
            _keep_out_of_line(library.module)
            for function in (main, prepare):
                if function is not None and function.text:
                    define(library.module, function.text)
            define(library.module, _kernel_addresses(main))
            define_support(library.module)
            verify(library.module, "lowering to LLVM")
            log.snapshot("llvm", library.module)
    return Lowered(library.module, main, prepare, tuple(library.assertions), library.count)


def _kernel_addresses(main: LoweredFunction) -> str:
    """A function that tells the addresses of kernels, for a profile, which calls them one by one; and their declarations."""
    kernels = kernels_of((*main.calls, *main.undo))
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
