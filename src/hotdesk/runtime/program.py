"""A compiled program, called like the function it was compiled from.

A call is checked completely before anything runs (`arguments/admission.py`); the plan for each value of the symbols is
remembered. A call seen before costs a look at each tensor, the memory of the results and the run.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import nullcontext
from ctypes import memmove
from dataclasses import replace
from threading import Lock
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NoReturn, cast, overload

from hotdesk.errors import ArgumentTypeError, MissingExtraError, NotSavableError, OptionError
from hotdesk.runtime.arguments.admission import Admission, Admitted
from hotdesk.runtime.arguments.donation import Donation, TakenInputs
from hotdesk.runtime.arguments.limits import is_bounds, limits
from hotdesk.runtime.arguments.outputs import Extents, PlainOutputs, admit
from hotdesk.runtime.arguments.remembered import PLAN_BYTES, PLANS, PlanCounts, Remembered, Signature
from hotdesk.runtime.arguments.tensors import TensorView, address, contiguous, empty, maker, seen_as, written
from hotdesk.runtime.calling import Positional
from hotdesk.runtime.code.deliveries import expect, handed_on
from hotdesk.runtime.forks import tell_of_forks
from hotdesk.runtime.interface import (
    RANDOM_STATE,
    Binding,
    Calling,
    Executable,
    MemoryCheck,
    Saver,
    TensorSpec,
    WeightRange,
)
from hotdesk.runtime.shared import Turns

if TYPE_CHECKING:
    from pathlib import Path

    from hotdesk.checker.report import CheckReport
    from hotdesk.explain import Decision
    from hotdesk.report import BufferLine, Document, Memory, Report, WorstCase
    from hotdesk.report.diff import Diff
    from hotdesk.report.profile import Profile
    from hotdesk.report.tradeoff import Tradeoff
    from hotdesk.runtime.arguments.tensors import Kind

PROFILED_RUNS = 7
"""How often a profile runs the program; the middle time of each kernel call counts."""


def check_seed(name: str, given: object) -> None:
    """Raises OptionError unless it is an integer of 64 bits."""
    if isinstance(given, bool) or not isinstance(given, int) or not -(2**63) <= given < 2**63:
        raise OptionError(name, expected="an integer from -2**63 to 2**63 - 1", got=repr(given))


class Program:
    """What `hotdesk.compile` returns.

    Call it with `torch.Tensor` or `numpy.ndarray` arguments on the CPU. Results are new tensors: torch's if any argument
    is torch's, otherwise NumPy's. Given `out=`, a tensor or a tuple with one for each result, they are computed there
    instead and nothing is allocated. One that is not contiguous is copied once a call.
    Gradients are not recorded: arguments may require them, results do not carry any.

    Arguments are only read, unless they are donated (`hotdesk.compile(..., donate=...)`): what a donated tensor holds after a
    call, or after one that failed while it ran, is unspecified, and a result may be a view of its memory; see
    docs/donated-inputs.md. Tensors of the model and arguments that the model changes are changed where they lie; see
    docs/state.md.

    Threads may share a program: calls run at once, each in an arena of its own, up to as many as there are processor cores;
    others wait for one to end. Calls of a program that changes tensors of its model run one by one. Python's lock is released
    while the program runs.
    """

    def __init__(
        self,
        executable: Executable,
        *,
        name: str = "main",
        calling: Calling | None = None,
        weights: Sequence[WeightRange] = (),
        kind: Kind = "numpy",
        timings: Mapping[str, float] | None = None,
        stages: Mapping[str, str] | None = None,
        plans: int = PLANS,
        plan_bytes: int = PLAN_BYTES,
        checker: MemoryCheck | None = None,
        symbols: Mapping[str, str] | None = None,
        foreign: Sequence[str] = (),
        state: Sequence[tuple[WeightRange, object]] = (),
        turns: Turns | None = None,
        saver: Saver | None = None,
        shown: Sequence[TensorSpec] = (),
    ) -> None:
        """`kind` is that of the results if there are no inputs; `stages` are texts of the IR by stage, in order.

        At most `plans` plans are kept, of at most `plan_bytes` bytes together, those used last; OptionError if that is none.
        `symbols` are other names by which `memory` knows symbols. `foreign` are the ops that kernels of PyTorch's are
        called for. `state` are the tensors of the model that calls change, or other programs that take their `turns` with this
        one, and where they lie; random numbers follow from the one that is named `RANDOM_STATE`. `saver` writes to files.
        `shown` is what a call takes, where that is something else than a tensor for each input.
        """
        self._foreign = tuple(foreign)
        self.name = name
        self.sweep: Callable[[tuple[Any, ...], Mapping[str, Any]], Tradeoff] | None = None  # compiles the model again
        self._executable = executable
        self._calling = calling or Positional([spec.name for spec in executable.inputs])
        self._inputs = executable.inputs
        self._shown = tuple(shown) or executable.inputs
        self._results = executable.results
        self._static = all(isinstance(dim, int) for spec in executable.inputs for dim in spec.shape)
        self._weights = Extents((*weights, *(each for each, _ in state)))
        self._state = tuple(tensor for _, tensor in state)
        self._random_state: Any = next((tensor for each, tensor in state if each.name == RANDOM_STATE), None)
        self._saver = saver
        self._donation = Donation(executable.inputs, executable.held, self._weights, Extents(each for each, _ in state))
        self._is_donating = self._donation.exists
        self._kind: Kind = kind
        self._timings = MappingProxyType(dict(timings or {}))
        self._stages = dict(stages or {})
        self._checker = checker
        self._names = dict(symbols or {})
        self._remembered = Remembered(plans, plan_bytes)
        self._lock = Lock()
        self._one_by_one = turns or Turns()
        self._counted = tuple(number for number, spec in enumerate(executable.results) if spec.counted)
        self._plain_outputs = PlainOutputs([spec.dtype for spec in executable.results], self._weights)
        self._makers: dict[Kind, list[Callable[[tuple[int, ...]], tuple[Any, int]]]] = {}
        self._admission = Admission(executable.inputs, executable.constraints, kind, self._remembered, self._lock)
        tell_of_forks(self)

    def forked(self) -> None:
        """In the child of a fork, where a thread of the parent may have been making a plan."""
        self._lock = self._admission.lock = Lock()

    def __call__(self, *args: Any, out: Any = None, **kwargs: Any) -> Any:
        """Run. Raises a CallError before anything is written, or an ExecutionError while it runs."""
        results, symbols, leaves = self._run(args, kwargs, out, self._executable.run)
        return self._calling.unflatten(results, symbols, leaves)

    @property
    def random_state(self) -> tuple[int, int] | None:
        """The seed, and the offset that each call advances; None if the program draws no random numbers."""
        if self._random_state is None:
            return None
        with self._one_by_one:
            seed, offset = self._random_state.tolist()
        return seed, offset

    def seed(self, seed: int, offset: int = 0) -> None:
        """Sets what random numbers follow from: the same seed and offset give the same numbers again.

        Nothing happens in a program that draws none. Raises OptionError unless both are integers of 64 bits.
        """
        check_seed("seed", seed)
        check_seed("offset", offset)
        if self._random_state is None:
            return
        with self._one_by_one:
            self._random_state[0], self._random_state[1] = seed, offset

    def profile(self, *args: Any, **kwargs: Any) -> Profile:
        """Where the time of a call with these arguments goes: each kernel's calls, seconds, work, share of the roof, lines.

        The program runs several times, and the roof of the machine is measured once a process; see docs/profile.md. Raises what
        a call does.
        """
        from hotdesk.report.profile import Profile
        from hotdesk.runtime.code.roof import measured_roof  # which generates code

        found: list[Profile] = []

        def run(binding: Binding, inputs: Sequence[int], results: Sequence[int]) -> None:
            times = self._executable.profile(binding, inputs, results, PROFILED_RUNS)
            symbols = tuple(binding.symbols.items())
            found.append(Profile(self.name, symbols, PROFILED_RUNS, measured_roof(), times.kernels, times.points))

        self._run(args, kwargs, None, run)
        return found[0]

    def _run(
        self,
        args: tuple[Any, ...],
        kwargs: Mapping[str, Any],
        out: Any,
        run: Callable[[Binding, Sequence[int], Sequence[int]], None],
    ) -> tuple[Sequence[object], Mapping[str, int], Sequence[object]]:
        """A call up to its results, its sizes and its tensors."""
        leaves = self._calling.flatten(args, kwargs)
        if out is not None and self._counted:
            got = f"result {self._counted[0]}, whose sizes are known only when the program runs"
            raise ArgumentTypeError("out=", expected="results of known sizes", got=got)
        call = self._admission.admit(leaves)
        signature = call.signature
        with self._lock:
            binding = self._remembered.binding(signature.values) or self._bind(signature)
        if self._counted:
            expect(signature.kind)
        if self._is_donating:
            results = self._run_donated(leaves, call, binding, out, run)
        else:
            results, addresses = self._new(signature.kind, binding) if out is None else self._lend(out, call, binding)
            run(binding, call.addresses, addresses)
        return handed_on(results, self._counted) if self._counted else results, signature.symbols, leaves

    def _run_donated(
        self,
        leaves: Sequence[object],
        call: Admitted,
        binding: Binding,
        out: Any,
        run: Callable[[Binding, Sequence[int], Sequence[int]], None],
    ) -> Sequence[object]:
        """The results of a call with inputs that it may write, in which some results may lie, or with state."""
        taken = self._donation.take(leaves, call)
        results = self._allocate(call, taken, binding) if out is None else self._lend(out, call, binding)[0]
        for view in taken.donated.values():
            written(view.owner)
        addresses = [address(result) for result in results]
        places = list(addresses)
        for number, source in self._donation.held.items():
            places[number] = taken.addresses[source]
        with self._one_by_one if self._state else nullcontext():
            for tensor in self._state:
                written(tensor)
            run(binding, taken.addresses, places)
        taken.copy_back()
        for number, source in self._donation.held.items():
            if addresses[number] != places[number]:
                memmove(addresses[number], places[number], call.signature.bytes[source])
        return results

    def __repr__(self) -> str:
        inputs = ", ".join(f"{spec.name}: {spec}" for spec in self._shown)
        return f"<Program {self.name}({inputs}) -> ({', '.join(str(spec) for spec in self._results)})>"

    def _repr_mimebundle_(self, **_: Any) -> dict[str, str]:
        """What a notebook shows: the charts of the report, of the sizes used last where they vary, with the extra `report`."""
        shown = {"text/plain": repr(self)}
        with self._lock:
            last = next(reversed(self._remembered.bindings), None)
        if self._static:
            made = self.document()
        elif last is not None:
            made = self._document(last, ())
        else:
            return shown
        from hotdesk.report.page import svg

        try:
            return {**shown, "image/svg+xml": svg(made)}
        except MissingExtraError:
            return shown

    @property
    def inputs(self) -> tuple[TensorSpec, ...]:
        """Name, element type and sizes of each tensor that is passed in."""
        return self._shown

    @property
    def results(self) -> tuple[TensorSpec, ...]:
        """Name, element type and sizes of each tensor that is returned."""
        return self._results

    @property
    def foreign(self) -> Mapping[str, int]:
        """How many kernels of other libraries a call runs, by op: those that have no lowering."""
        return MappingProxyType(Counter(self._foreign))

    @property
    def timings(self) -> Mapping[str, float]:
        """Seconds each stage of compilation took, in order."""
        return self._timings

    @property
    def stages(self) -> tuple[str, ...]:
        """The stages whose IR was kept, in order."""
        return tuple(self._stages)

    def ir(self, stage: str) -> str:
        """The text of the IR after `stage`. Raises OptionError if it was not kept."""
        if not isinstance(cast(object, stage), str) or stage not in self._stages:
            expected = f"one of {', '.join(self._stages)}" if self._stages else "a program compiled to keep its stages"
            raise OptionError(f"stage '{stage}'", expected=expected, got="no such stage")
        return self._stages[stage]

    @overload
    def memory(self, bounds: Mapping[str, tuple[int, int | None]], /) -> WorstCase: ...

    @overload
    def memory(self, *args: Any, **kwargs: Any) -> Memory: ...

    def memory(self, *args: Any, **kwargs: Any) -> Memory | WorstCase:
        """What a call with these arguments takes, in bytes. Without dynamic sizes, no arguments are needed.

        Given ranges of sizes instead, as in `program.memory({"batch": (1, 64)})`, the most that any call with sizes in these
        ranges takes. What is not named ranges as declared; a size without a greatest value raises OptionError. So it does in
        `program.memory({})`, the worst case over all that was declared.
        """
        if len(args) == 1 and not kwargs and is_bounds(args[0]):
            ranges = limits(args[0], self._executable.constraints, self._inputs, self._names)
            with self._lock:
                return self._executable.worst(ranges)
        return self._memory(*self._plan(args, kwargs))

    @property
    def arenas(self) -> int:
        """How many arenas the program has made: as many as calls ran at once, and no more than there are processor cores."""
        return self._executable.arenas

    @property
    def code_bytes(self) -> int:
        """Bytes of the program's machine code, without what all programs share; 0 where LLVM's engine keeps it."""
        return self._executable.code_bytes

    @property
    def plans(self) -> PlanCounts:
        """How often a plan was made, laid out and reused, and what is remembered."""
        with self._lock:
            made, for_all = self._executable.plans
            kept = self._remembered
            return PlanCounts(made, for_all, kept.added, kept.reused, len(kept), kept.bytes)

    @property
    def planned(self) -> tuple[Memory, ...]:
        """What a call takes by each plan that is remembered, in bytes; without dynamic sizes, by the one that there is."""
        if self._static:
            return (self._plan((), {})[0].memory,)
        with self._lock:
            return tuple(binding.memory for binding in self._remembered.bindings)

    def decisions(self, *args: Any, **kwargs: Any) -> tuple[Decision, ...]:
        """What was decided about each tensor of a call with these arguments, and why."""
        binding, views = self._plan(args, kwargs)
        return self._decisions(binding, views)

    def buffers(self, *args: Any, **kwargs: Any) -> tuple[BufferLine, ...]:
        """Every buffer of a call with these arguments: its bytes, place, live range and Python line."""
        return self._executable.details(self._plan(args, kwargs)[0]).buffers

    def summary(self, *args: Any, **kwargs: Any) -> Report:
        """The report on a call with these arguments, as a record."""
        from hotdesk.report import summarize

        binding, views = self._plan(args, kwargs)
        symbols, decisions = tuple(binding.symbols.items()), self._decisions(binding, views)
        at_peak = self._executable.details(binding).peak_buffers
        return summarize(self.name, symbols, self._memory(binding, views), at_peak, decisions)

    def document(self, *args: Any, **kwargs: Any) -> Document:
        """The report on a call with these arguments, complete: points, buffers, bound, decisions; `to_json` writes it down."""
        return self._document(*self._plan(args, kwargs))

    def _document(self, binding: Binding, views: tuple[TensorView, ...]) -> Document:
        from hotdesk.report.document import document

        details = self._executable.details(binding)
        return document(
            self.name,
            tuple(binding.symbols.items()),
            self._memory(binding, views),
            details.buffers,
            details.points,
            self._decisions(binding, views),
        )

    def explain(self, what: str, *args: Any, **kwargs: Any) -> str:
        """Why memory is as it is in a call with these arguments, and what would free it.

        `what` is `peak`; a buffer such as `b12`; a line such as `model.py:12`; or a submodule such as `encoder.layer.3`. Raises
        OptionError for anything that the program does not have.
        """
        from hotdesk.report.explaining import explain

        return explain(self.document(*args, **kwargs), what)

    def diff(self, other: Program | Document, *args: Any, **kwargs: Any) -> Diff:
        """What differs in memory between this program and another one, or an older report, in a call with these arguments."""
        from hotdesk.report.diff import diff
        from hotdesk.report.document import Document

        if not isinstance(cast(object, other), Program | Document):
            raise OptionError("what to compare", expected="a program, or a report of one", got=repr(other))
        made = self.document(*args, **kwargs)
        return diff(made, other.document(*args, **kwargs) if isinstance(other, Program) else other)

    def tradeoff(self, *args: Any, **kwargs: Any) -> Tradeoff:
        """Bytes against milliseconds and against work done twice, in calls with these arguments; see `hotdesk.tradeoff`.

        The model is compiled again, in every way that is found, with the options of this program but for order and budget. A
        program holds no model, so that may be gone: OptionError. So it is for one that was loaded, and for text in MLIR.
        """
        if self.sweep is None:
            expected = "a program that `hotdesk.compile` made of a model that is still there"
            hint = "Give the model itself: `hotdesk.tradeoff(model, args)`."
            raise OptionError("trade-off", expected=expected, got="another one", hint=hint)
        return self.sweep(args, kwargs)

    def report(self, *args: Any, **kwargs: Any) -> str:
        """The report on a call with these arguments, as at most 20 lines of text."""
        from hotdesk.report import render

        return render(self.summary(*args, **kwargs))

    def check(self, *args: Any, **kwargs: Any) -> CheckReport:
        """Runs the program on these arguments under the memory checker: the IR on memrefs, with buffers where the plan puts them.

        Slow: the IR is interpreted. The report has every wrong use of memory, and the results; see docs/checker.md.
        Raises OptionError if the program does not come from `hotdesk.compile`, LoweringError for an op the checker does not know.
        """
        if self._checker is None:
            raise OptionError("check", expected="a program that `hotdesk.compile` made", got="another one")
        signature, views = self._admission.check(self._calling.flatten(args, kwargs))
        with self._lock:
            binding = self._bind(signature)
        held = [contiguous(view) for view in views]
        with self._one_by_one if self._state else nullcontext():
            addresses = [(view.pointer, view.shape) for view in held]
            return self._checker(binding.symbols, addresses, binding.result_shapes)

    def __reduce_ex__(self, protocol: object) -> NoReturn:
        """Refuses `pickle` and `copy`: a copy would have machine code, and weights of a model, in places of another one."""
        raise NotSavableError(
            "a compiled program",
            expected="`program.save(path)` and `hotdesk.load(path)`, or the program itself, which threads may share",
            got="`pickle` or `copy`",
            hint="Compile a copied model anew; leave the program out of what is pickled, or copied with its owner.",
        )

    def save(
        self,
        path: str | os.PathLike[str],
        *,
        weights: str | os.PathLike[str] = "inside",
        cpu: str | Sequence[str] = "host",
    ) -> None:
        """Writes the program to a file that `hotdesk.load` reads, with NumPy alone: code, plans, constants and weights.

        See docs/artifacts.md. Args:
            path: the file. It is replaced in one step, so that readers see all of it or what was there.
            weights: "inside"; or the name of a safetensors file that has them, to which the file refers by its place from here;
                or "given", for weights that `load` is given.
            cpu: "host" for this processor; or kinds of processors, "x86-64", "x86-64-v2", "x86-64-v3", "x86-64-v4", of which the
                best that a processor can run is taken. These take the extra `aot`.

        Raises:
            NotSavableError: the program has a part that cannot be written, such as calls of PyTorch's kernels.
            ArtifactMachineError: not on Linux for x86-64. MissingExtraError: kinds of processors without llvmlite.
            WeightsError: the safetensors file has none of the weights. OptionError: an unknown `cpu`.
            OSError: the file cannot be written.
        """
        from hotdesk.file_errors import path_of

        if not isinstance(cast(object, cpu), Iterable):
            raise OptionError("option 'cpu'", expected="'host', or names of kinds of processors", got=repr(cpu))
        levels = (cpu,) if isinstance(cpu, str) else tuple(cpu)
        file, taken = path_of(path, "the file of a saved program"), path_of(weights, "option 'weights'")
        self._savable().save(file, taken, levels)

    def export_c(
        self, folder: str | os.PathLike[str], *, target: str = "x86-64", name: str = "model"
    ) -> tuple[Path, ...]:
        """Writes the program as C: a header, a source, an object file of kernels, weights, a CMake file and an example.

        See docs/export-c.md. Takes the extra `aot`. Args:
            folder: made if it is not there; files of these names are replaced.
            target: "x86-64", "aarch64", "armv7", "thumbv7em", "riscv64" or "riscv32".
            name: what files and functions begin with.

        Returns:
            The files.

        Raises:
            NotSavableError: sizes that vary, tensors that calls change, or another part that cannot be exported.
            MissingExtraError: without llvmlite. OptionError: an unknown target, or what is no name in C.
            OSError: the files cannot be written.
        """
        from hotdesk.file_errors import path_of

        return self._savable().export_c(path_of(folder, "the folder of a program in C"), target, name)

    def _savable(self) -> Saver:
        if self._saver is None:
            raise NotSavableError("the program", expected="one that `hotdesk.compile` made", got="one that was loaded")
        return self._saver

    def _plan(self, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> tuple[Binding, tuple[TensorView, ...]]:
        if self._static and not args and not kwargs:
            signature, views = Signature({}, (), self._kind, ()), ()
        else:
            signature, views = self._admission.check(self._calling.flatten(args, kwargs))
        with self._lock:
            return self._bind(signature), views

    def _decisions(self, binding: Binding, views: Sequence[TensorView]) -> tuple[Decision, ...]:
        made = self._executable.details(binding).decisions
        return (*(decision.at(binding.symbols) for decision in made), *self._donation.copies(views))

    def _bind(self, signature: Signature) -> Binding:
        """The plan, made now if it is not kept. The caller holds the lock."""
        binding = self._remembered.binding(signature.values)
        if binding is None:
            binding = self._executable.bind(signature.symbols)
            self._remembered.add(signature.values, binding)
        return binding

    def _new(self, kind: Kind, binding: Binding) -> tuple[Sequence[object], list[int]]:
        """New memory for each result, and its addresses."""
        makers = self._makers.get(kind)
        if makers is None:
            makers = self._makers[kind] = [maker(kind, spec.dtype) for spec in self._results]
        results: list[object] = []
        addresses: list[int] = []
        for make, shape in zip(makers, binding.result_shapes, strict=True):
            made, pointer = make(shape)
            results.append(made)
            addresses.append(pointer)
        return results, addresses

    def _allocate(self, call: Admitted, taken: TakenInputs, binding: Binding) -> list[object]:
        """New memory for each result, but a view of a donated input for one that lies there."""
        kind, held = call.signature.kind, self._donation.held
        return [
            seen_as(taken.donated[held[number]].owner, kind, spec.dtype, shape)
            if number in held
            else empty(kind, spec.dtype, shape)
            for number, (spec, shape) in enumerate(zip(self._results, binding.result_shapes, strict=True))
        ]

    def _lend(self, out: object, call: Admitted, binding: Binding) -> tuple[Sequence[object], list[int]]:
        """The caller's tensors for the results, and their addresses."""
        if not self._is_donating and not call.views:
            found = self._plain_outputs.admit(out, binding.result_shapes, call.addresses, call.signature.bytes)
            if found is not None:
                for value in found[0]:
                    written(value)
                return found
        names = (f"argument '{spec.name}'" for spec in self._inputs)
        extents = call.extents()
        held = {number: extents[source] for number, source in self._donation.held.items()}
        inputs = zip(names, extents, strict=True)
        views = admit(out, self._results, binding.result_shapes, inputs, self._weights, held)
        for view in views:
            written(view.owner)
        return [view.owner for view in views], [view.pointer for view in views]

    def _memory(self, binding: Binding, views: Sequence[TensorView]) -> Memory:
        copies = sum(view.bytes for number, view in enumerate(views) if self._donation.is_copied(number, view))
        proof = self._executable.certificate(binding)
        bound = binding.memory.lower_bound if proof is None else proof.bytes
        found = {"copies": copies, "grown": self._executable.grown, "lower_bound": bound}
        return replace(binding.memory, **found, certificate=proof)
