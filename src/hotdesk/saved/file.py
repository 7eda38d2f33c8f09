"""A compiled program written to a file: what `Program.save` does. `artifacts/` has the format, and reads it.

The program is lowered once more from its IR on memrefs, for each kind of processor that is asked for; its plans, constants and
weights are written as they are.
"""

from __future__ import annotations

import ctypes
import os
import platform
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import numpy as np
import numpy.typing as npt

from hotdesk._bindings import ir
from hotdesk.artifacts.code import processor_features
from hotdesk.artifacts.container import write
from hotdesk.artifacts.decoding import encoded
from hotdesk.artifacts.records import (
    AssertionRecord,
    BoundRecord,
    BufferUseRecord,
    CallingRecord,
    CheckRecord,
    CodeRecord,
    DeliveryRecord,
    FunctionRecord,
    LevelRecord,
    LinksRecord,
    MlirCallingRecord,
    ObjectRecord,
    PlacementRecord,
    PlanRecord,
    PlansRecord,
    PreparedRecord,
    ProgramRecord,
    ReturnedRecord,
    SourcesRecord,
    SpecRecord,
    StackingRecord,
    StoredRecord,
    StructureRecord,
    WeightRecord,
    WindowRecord,
)
from hotdesk.artifacts.symbolic import FormulaWriter
from hotdesk.artifacts.weights import Safetensors
from hotdesk.compiling.linked_program import LinkedProgram
from hotdesk.compiling.saving import Saving
from hotdesk.errors import ArtifactMachineError, NotSavableError, OptionError, WeightsError
from hotdesk.frontends.captured import Weight
from hotdesk.ir.context import make_context, of_bytecode
from hotdesk.ir.linking import define
from hotdesk.kernels.machine import generating_for, host
from hotdesk.kernels.sharing import SHARING, USE_POOL, WORKER
from hotdesk.passes.lower.to_llvm import F16_CONVERSIONS
from hotdesk.pipeline import Log, Lowered, lower
from hotdesk.planning import Plan
from hotdesk.planning.problem.numbers import ALIGNMENT
from hotdesk.planning.sizes.stacking import Stacking
from hotdesk.runtime.calling import Positional
from hotdesk.runtime.code.deliveries import RESULT, Delivery
from hotdesk.runtime.code.foreign import ForeignCall
from hotdesk.runtime.code.jit import code_file
from hotdesk.runtime.code.llvm import compile_for
from hotdesk.runtime.code.objects import PACKED, is_loadable, linked
from hotdesk.runtime.code.products import common_functions, common_modules, use_tiles
from hotdesk.runtime.code.targets import LEVELS, NEEDED
from hotdesk.runtime.code.threads import pool_kind
from hotdesk.runtime.compiled import SizeChecks
from hotdesk.runtime.function import Function
from hotdesk.runtime.interface import RANDOM_STATE, TensorSpec
from hotdesk.runtime.mlir_calling import MlirCalling
from hotdesk.runtime.plans.planner import Planner

if TYPE_CHECKING:
    from hotdesk.frontends.onnx.capture import OnnxCalling
    from hotdesk.passes.lower.calls import Base
    from hotdesk.passes.lower.function import LoweredFunction

Bytes = npt.NDArray[np.uint8]


def save(saving: Saving, path: str, weights: str, cpu: Sequence[str]) -> None:
    """As `Program.save`."""
    _File(saving, path, weights).write(cpu)


class SectionBuilder:
    """Bytes of a section, one after the other, each at a multiple of 64; what has the same address is there once."""

    def __init__(self) -> None:
        self.pieces: list[Any] = []
        self.bytes = 0
        self._known: dict[tuple[int, int], int] = {}

    def add(self, data: Bytes) -> int:
        """Where the bytes lie in the section."""
        key = data.ctypes.data, data.nbytes
        if key in self._known and data.nbytes:
            return self._known[key]
        padding = -self.bytes % ALIGNMENT
        self._known[key] = start = self.bytes + padding
        self.pieces += [bytes(padding), data]
        self.bytes = start + data.nbytes
        return start


class _File:
    """A file that is made."""

    def __init__(self, saving: Saving, path: str, weights: str) -> None:
        self._saving = saving
        self._made = saving.made
        self._path = path
        self._formulas = FormulaWriter()
        self._constants, self._weights, self._state = SectionBuilder(), SectionBuilder(), SectionBuilder()
        self._given = weights == "given"
        self._other = None if weights in ("inside", "given") else Safetensors(weights)
        require_own_kernels("the program", self._made)

    def write(self, cpu: Sequence[str]) -> None:
        """Writes it. Raises NotSavableError, WeightsError, MissingExtraError, ArtifactMachineError; OSError as `open` does."""
        code, objects = self._code(cpu)
        record = self._record(code)
        sections: dict[str, Sequence[Any]] = {
            "program": [encoded(record)],
            "sources": [encoded(self._sources())],
            **{name: [data] for name, data in objects.items()},
        }
        aligned = {"constants": self._constants, "weights": self._weights, "state": self._state}
        sections.update({name: pool.pieces for name, pool in aligned.items() if pool.pieces})
        write(self._path, sections, {"sources", *aligned, *objects})

    def _record(self, code: CodeRecord) -> ProgramRecord:
        captured, lowered = self._made.captured, self._made.main
        places = {number: each for number, each in enumerate(captured.arguments) if isinstance(each, TensorSpec)}
        checks = SizeChecks(lowered.checks, captured.assumptions).all
        weights = self._weight_records()
        size = self._formulas.size
        calling, mlir = calling_record(captured.calling, size), mlir_calling_record(captured.calling)
        return ProgramRecord(
            hotdesk=version("hotdesk"),
            name=captured.name,
            kind=captured.kind,
            inputs=tuple(self._spec(each) for each in places.values()),
            input_places=tuple(places),
            results=tuple(map(self._spec, captured.results)),
            constraints=dict(captured.constraints),
            symbols=dict(captured.names),
            checks=tuple(CheckRecord(self._formulas.relation(c.relation), c.message, c.source) for c in checks),
            assertions=tuple(AssertionRecord(each.code, each.message, each.source) for each in self._made.assertions),
            main=self._function(lowered, self._saving.main),
            prepare=self._prepare(),
            weights=weights,
            safetensors=self._relative(),
            prepared=self._prepared_records(),
            calling=calling,
            mlir=mlir,
            deliveries=tuple(map(_delivery, captured.foreign)),
            code=code,
            formulas=tuple(self._formulas.nodes),  # of all that stand above
        )

    def _sources(self) -> SourcesRecord:
        prepare = None if self._stored_prepared else self._made.prepare
        return SourcesRecord(tuple(self._made.main.sources), () if prepare is None else tuple(prepare.sources))

    @property
    def _stored_prepared(self) -> bool:
        """Whether what `@prepare` makes is in the file: it is that of the weights that are."""
        return not self._given and self._other is None

    def _prepare(self) -> FunctionRecord | None:
        made, function = self._made.prepare, self._saving.prepare
        return None if made is None or function is None or self._stored_prepared else self._function(made, function)

    def _relative(self) -> str | None:
        if self._other is None:
            return None
        return os.path.relpath(Path(self._other.path).resolve(), Path(self._path).parent.resolve())

    def _weight_records(self) -> tuple[WeightRecord, ...]:
        arguments = self._made.captured.arguments
        tensors = {number: each for number, each in enumerate(arguments) if isinstance(each, Weight)}
        contents = {number: memory_of(each.tensor) for number, each in tensors.items()}
        elsewhere = self._found_elsewhere(tensors, contents)
        found: list[WeightRecord] = []
        for number, each in tensors.items():
            use = self._made.main.buffers[number]
            changed, read = number in self._saving.changing, use.lower < use.upper
            is_absent = number in elsewhere or (self._stored_prepared and not read and not changed)
            pool = self._state if changed else self._weights
            offset = None if is_absent else pool.add(contents[number])
            stored = elsewhere.get(number)
            spec = self._spec(each.spec)
            found.append(WeightRecord(number, spec, contents[number].nbytes, offset, stored, changed, read))
        return tuple(found)

    def _found_elsewhere(self, tensors: Mapping[int, Weight], contents: Mapping[int, Bytes]) -> dict[int, str | None]:
        """The weights that are not in this file, with their names in the safetensors file; None for those given at load."""
        own = {number: each.spec.name for number, each in tensors.items() if not _is_constant(each.spec.name)}
        if self._given:
            return dict.fromkeys(own)
        if self._other is None:
            return {}
        tied: dict[tuple[int, int], list[str]] = {}
        for number, name in own.items():
            tied.setdefault((contents[number].ctypes.data, contents[number].nbytes), []).append(name)
        found: dict[int, str | None] = {}
        for number in own:
            names = tied[contents[number].ctypes.data, contents[number].nbytes]
            stored = next(
                (name for name in names if self._is_stored(name, tensors[number].spec, contents[number])), None
            )
            if stored is not None:
                found[number] = stored
        if own and not found:
            raise WeightsError(
                f"the file '{self._other.path}'",
                expected=f"the weights of the program, such as '{next(iter(own.values()))}', with the same values",
                got="none of them",
            )
        return found

    def _is_stored(self, name: str, spec: TensorSpec, contents: Bytes) -> bool:
        """Whether the safetensors file has a weight with just these values."""
        assert self._other is not None
        stored = self._other.tensors.get(name)
        if stored is None or (stored.dtype, stored.shape) != (spec.dtype, tuple(cast("tuple[int, ...]", spec.shape))):
            return False
        return bool(np.array_equal(self._other.memory[stored.offset : stored.offset + stored.bytes], contents))

    def _prepared_records(self) -> tuple[PreparedRecord, ...]:
        first = len(self._made.captured.arguments)
        found: list[PreparedRecord] = []
        for number, (address, count) in enumerate(self._saving.prepared):
            offset = self._weights.add(bytes_at(address, count)) if self._stored_prepared else None
            found.append(PreparedRecord(first + number, count, offset))
        return tuple(found)

    def _function(self, lowered: LoweredFunction, function: Function) -> FunctionRecord:
        size = self._formulas.size
        plan, for_all, stackings = cast(Planner, function.planner).kept()
        return FunctionRecord(
            entry=lowered.entry,
            buffers=tuple(map(self._buffer, lowered.buffers)),
            constants=tuple(self._constant(place, data) for place, data in lowered.constants.items()),
            numbers=tuple(map(size, lowered.numbers)),
            steps=len(lowered.sources),
            result_places=lowered.result_places,
            donated=lowered.donated,
            state=lowered.state,
            windows=tuple(WindowRecord(place, tuple(free)) for place, free in lowered.windows.items()),
            plans=PlansRecord(None if plan is None else _plan(plan), for_all, tuple(map(_stacking, stackings))),
        )

    def _buffer(self, use: Base) -> BufferUseRecord:
        size = self._formulas.size
        shape = tuple(map(size, use.shape))
        return BufferUseRecord(cast(Any, use.kind), use.lower, use.upper, size(use.bytes), shape, use.element)

    def _constant(self, place: int, data: npt.NDArray[Any]) -> StoredRecord:
        plain: Bytes = cast(Any, np.ascontiguousarray(data)).reshape(-1).view(np.uint8)
        return StoredRecord(place, self._constants.add(plain), plain.nbytes)

    def _spec(self, spec: TensorSpec) -> SpecRecord:
        shape = tuple(map(self._formulas.size, spec.shape))
        return SpecRecord(
            spec.name,
            spec.dtype,
            shape,
            spec.location,
            spec.donated,
            spec.written,
            spec.number,
            spec.changed,
            spec.counted,
        )

    def _code(self, cpu: Sequence[str]) -> tuple[CodeRecord, dict[str, bytes | bytearray]]:
        if not is_loadable():
            raise ArtifactMachineError(
                "saving", expected="Linux on x86-64", got=f"{sys.platform} on {platform.machine()}"
            )
        unknown = [name for name in cpu if name not in LEVELS and name != "host"]
        if unknown or not cpu:
            expected = f"some of 'host', {', '.join(map(repr, LEVELS))}"
            raise OptionError("option 'cpu'", expected=expected, got=repr(unknown[0]) if unknown else "none")
        order = ["host", *reversed(LEVELS)]
        levels: list[LevelRecord] = []
        objects: dict[str, bytes | bytearray] = {}
        for name in sorted(set(cpu), key=order.index):
            if name == "host":
                lowered = lowered_again(self._made)
                called = [call.symbol for call in self._made.captured.foreign]
                features, files = _host_features(lowered), _host_objects(lowered, called)
            else:
                features, files = NEEDED[name], _level_objects(self._made, name)
            made = [(role, linked(data)) for role, data in files]
            wanted = self._called() | {symbol for _, image in made for _, symbol in image.links.named}
            records: list[ObjectRecord] = []
            for number, (role, image) in enumerate(made):
                section, links = f"{name}.{number}", image.links
                record = ObjectRecord(section, cast(Any, role))
                symbols = {symbol: links.symbols[symbol] for symbol in sorted(wanted & links.symbols.keys())}
                told = LinksRecord(links.writable, tuple(links.relative), tuple(links.named), symbols)
                objects |= {section: image.contents, record.links: encoded(told)}
                records.append(record)
            levels.append(LevelRecord(name, tuple(sorted(features)), tuple(records)))
        return CodeRecord(sys.platform, platform.machine(), pool_kind(), tuple(levels)), objects

    def _called(self) -> set[str]:
        """The functions that the runtime calls by name."""
        entries = {each.lowered.entry for each in (self._saving.main, self._saving.prepare) if each is not None}
        return {PACKED + name for name in (*entries, USE_POOL, WORKER)}


def require_own_kernels(what: str, made: LinkedProgram) -> None:
    """Raises NotSavableError for a program that calls kernels of PyTorch's or of another library."""
    ops = sorted({call.op for call in made.captured.foreign if call.op != RESULT})
    if ops:
        raise NotSavableError(
            what, expected="kernels of its own", got=f"calls of other libraries' kernels: {', '.join(ops)}"
        )


def lowered_again(made: LinkedProgram) -> Lowered:
    """The program in the LLVM dialect, from its IR on memrefs, for the machine that kernels are generated for."""
    return lower(of_bytecode(made.module), Log(), deallocated=not made.captured.on_memrefs)


def _host_features(lowered: Lowered) -> frozenset[str]:
    """What the code for this processor may rely on. Only products by tiles rely on AMX, for which the system has to be asked."""
    found = processor_features()
    if use_tiles(common_functions(lowered.module), host()):
        return found
    return frozenset(feature for feature in found if not feature.startswith("amx"))


def _host_objects(lowered: Lowered, called: Sequence[str]) -> Iterator[tuple[str, bytes]]:
    """Roles and object files for this processor; the program calls these functions of Python's."""
    names = common_functions(lowered.module)
    if names:
        yield "pool", code_file(lambda: ir.Module.parse(SHARING, make_context()), source=SHARING)
    for module in common_modules(names, host()):
        yield "shared", module.code_file()
    yield "program", code_file(lowered.module, (*names, *called))


def _level_objects(made: LinkedProgram, level: str) -> Iterator[tuple[str, bytes]]:
    """The same for a kind of processors."""
    target = LEVELS[level]
    with generating_for(target.machine):
        lowered = lowered_again(made)
        names = common_functions(lowered.module)
        if names:
            pool = ir.Module.parse(SHARING, make_context())
            yield "pool", compile_for(_with_packed(pool, {WORKER: 1, USE_POOL: 2}), target)
        for module in common_modules(names, target.machine):
            yield "shared", compile_for(_with_halves(_with_packed(module.make(), {USE_POOL: 2}), level), target)
        entries = {function.entry: 2 for function in (made.main, made.prepare) if function is not None}
        yield "program", compile_for(_with_halves(_with_packed(lowered.module, entries), level), target)


def _with_halves(module: ir.Module, level: str) -> ir.Module:
    """A module with the conversions of f16, where the processors of a level need not have instructions for them."""
    if "f16c" not in NEEDED[level]:
        define(module, F16_CONVERSIONS)
    return module


def _with_packed(module: ir.Module, functions: Mapping[str, int]) -> ir.Module:
    """A module with functions that take an array of addresses of arguments, as LLVM's engine makes them, of 8 bytes each."""
    kinds = {USE_POOL: ("!llvm.ptr", "i64")}
    for name, count in functions.items():
        types = kinds.get(name, ("!llvm.ptr",) * count)
        lines: list[str] = []
        for i, kind in enumerate(types):
            lines.append(f"  %p{i} = llvm.getelementptr %packed[{i}] : (!llvm.ptr) -> !llvm.ptr, !llvm.ptr")
            lines.append(f"  %q{i} = llvm.load %p{i} : !llvm.ptr -> !llvm.ptr")
            lines.append(f"  %a{i} = llvm.load %q{i} : !llvm.ptr -> {kind}")
        passed = ", ".join(f"%a{i}" for i in range(len(types)))
        lines.append(f"  llvm.call @{name}({passed}) : ({', '.join(types)}) -> ()")
        body = "\n".join(lines)
        declared = f"llvm.func @{name}({', '.join(types)})\n"
        define(module, f"{declared}llvm.func @{PACKED}{name}(%packed: !llvm.ptr) {{\n{body}\n  llvm.return\n}}")
    return module


def calling_record(calling: object, size: Callable[[Any], Any]) -> CallingRecord | None:
    """How a program is called, as a record. Raises NotSavableError."""
    if type(calling).__name__ == "OnnxCalling":
        return _listing(cast(Any, calling))
    if isinstance(calling, (Positional, MlirCalling)):
        return None
    if type(calling).__name__ == "TorchCalling":
        from hotdesk.frontends.torch.saved_calling import record_of

        return record_of(cast(Any, calling), size)
    raise NotSavableError("the program", expected="calls with tensors", got="calls that only Python can make")


def mlir_calling_record(calling: object) -> MlirCallingRecord | None:
    """How a program in MLIR is called that takes or gives other things than tensors, as a record. Raises NotSavableError."""
    if not isinstance(calling, MlirCalling) or calling.is_plain:
        return None
    if calling.takes_layouts:
        raise NotSavableError(
            "the program", expected="arguments in row-major order", got="one with a layout of its own"
        )
    return MlirCallingRecord(calling.names, calling.returned)


def _listing(calling: OnnxCalling) -> CallingRecord | None:
    """The record of a calling whose results may be lists of tensors; None if none is one."""
    if all(count is None for count in calling.counts):
        return None
    leaf = StructureRecord("leaf", (), ())
    names = tuple(name for name, _ in calling.parameters)
    positional, keywords = StructureRecord("tuple", (), (leaf,) * len(names)), StructureRecord("dict", (), ())
    made = tuple(leaf if each is None else StructureRecord("list", (), (leaf,) * each) for each in calling.counts)
    total = sum(1 if count is None else count for count in calling.counts)
    return CallingRecord(
        positional=names,
        keywords=(),
        arguments=StructureRecord("tuple", (), (positional, keywords)),
        constants=(None,) * len(names),
        returned=made[0] if len(made) == 1 else StructureRecord("tuple", (), made),
        leaves=tuple(ReturnedRecord("tensor", number, 0, "int", None) for number in range(total)),
    )


def _delivery(call: ForeignCall) -> DeliveryRecord:
    """What copies a result of a size that only the run knows, as a record. Raises NotSavableError."""
    if not isinstance(call.runs, Delivery):
        raise NotSavableError(
            "the program", expected="tensors that hold their values", got="tensors of carried element types"
        )
    return DeliveryRecord(call.symbol, call.runs.number, call.runs.dtype, call.inputs[0], call.location)


def _is_constant(name: str) -> bool:
    """Whether a tensor is none that the user knows: one that `torch.export` has lifted out of the code, or Hotdesk's own."""
    return name == RANDOM_STATE or name.rpartition(".")[2].startswith(("lifted_tensor", "_tensor_constant"))


def _plan(plan: Plan) -> PlanRecord:
    placements = tuple(
        PlacementRecord(cast(int, each.buffer_id), cast("int | None", each.pool), each.offset)
        for each in plan.placements
    )
    bound = BoundRecord(
        plan.bound.bytes, plan.bound.step, cast("tuple[int, ...]", plan.bound.buffer_ids), plan.bound.kind
    )
    return PlanRecord(placements, plan.arena, bound, plan.strategy, plan.no_reuse)


def _stacking(stacking: Stacking) -> StackingRecord:
    return StackingRecord(cast("tuple[int | None, ...]", stacking.spaces), stacking.order, stacking.below)


def memory_of(tensor: Any) -> Bytes:
    """The memory of a tensor."""
    return bytes_at(int(tensor.data_ptr()), int(tensor.numel() * tensor.element_size()))


def bytes_at(address: int, count: int) -> Bytes:
    """Bytes from an address on, which others keep."""
    if not count:
        return np.empty(0, np.uint8)
    return np.frombuffer(memoryview((ctypes.c_uint8 * count).from_address(address)), np.uint8)
