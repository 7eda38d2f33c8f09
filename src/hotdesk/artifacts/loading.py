"""From a file to a program that runs: `hotdesk.load`."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, cast, overload

import numpy as np

from hotdesk.artifacts.code import load_code
from hotdesk.artifacts.container import Container
from hotdesk.artifacts.decoding import decoded
from hotdesk.artifacts.formulas import Evaluated, Formula, Formulas
from hotdesk.artifacts.plans import MadePlans
from hotdesk.artifacts.records import (
    BufferUseRecord,
    CallingRecord,
    CheckRecord,
    FunctionRecord,
    MlirCallingRecord,
    ProgramRecord,
    SourcesRecord,
    SpecRecord,
    StructureRecord,
)
from hotdesk.artifacts.structure import NESTED, Structure, StructuredCalling
from hotdesk.artifacts.validating import size_of, validate
from hotdesk.artifacts.weights import Weights, mapped
from hotdesk.errors import ArtifactError, HotdeskError
from hotdesk.explain import Source
from hotdesk.python.record import Record
from hotdesk.runtime.code.deliveries import Delivery, delivering
from hotdesk.runtime.code.foreign import address_of, entered
from hotdesk.runtime.executable import HeldMemory, PlannedExecutable, ProgramInterface
from hotdesk.runtime.function import EntryCode, Function
from hotdesk.runtime.interface import RANDOM_STATE, Calling, TensorSpec, WeightRange
from hotdesk.runtime.process_memory import give_back_free_memory
from hotdesk.runtime.program import Program
from hotdesk.runtime.shared import aligned

if TYPE_CHECKING:
    import numpy.typing as npt

    from hotdesk.runtime.mlir_calling import MlirCalling

Bytes: TypeAlias = "npt.NDArray[np.uint8]"
_FunctionName: TypeAlias = Literal["main", "prepare"]


class _Mapped(Record):
    """Sections of the file that stay where they are."""

    constants: Bytes
    sources: Bytes


class LoadedBuffer(Record):
    """An entry of the pointer table."""

    kind: str
    lower: int
    upper: int
    bytes: Any
    shape: tuple[Any, ...]
    element: str


class LoadedSources(Sequence[Source]):
    """The ops of a function, by number, as reports name them: the text is in the file, and read when the first is asked for."""

    __slots__ = ("_count", "_field", "_found", "_text")

    def __init__(self, count: int, text: Bytes, field: _FunctionName) -> None:
        self._count = count
        self._text = text
        self._field = field
        self._found: tuple[Source, ...] | None = None

    def __len__(self) -> int:
        return self._count

    @overload
    def __getitem__(self, number: int) -> Source: ...
    @overload
    def __getitem__(self, number: slice) -> Sequence[Source]: ...
    def __getitem__(self, number: int | slice) -> Source | Sequence[Source]:
        """Raises ArtifactError where the text has others than the program has ops."""
        if self._found is None:
            found: tuple[Source, ...] = getattr(decoded(SourcesRecord, self._text.tobytes()), self._field)
            if len(found) != self._count:
                raise ArtifactError("the ops of the program", expected=f"{self._count:,}", got=f"{len(found):,}")
            self._found = found
        return self._found[number]


class LoadedFunction(Record):
    """A function of a file: implements `runtime.lowered.EntryFunction`."""

    entry: str
    buffers: tuple[LoadedBuffer, ...]
    constants: Mapping[int, Bytes]
    numbers: tuple[int | Formula, ...]
    sources: Sequence[Source]
    result_places: tuple[int, ...]
    donated: tuple[int, ...]
    state: tuple[int, ...]
    windows: Mapping[int, tuple[tuple[int, int], ...]]


class LoadedCheck(Record):
    """A relation of sizes: like `passes.lower.function.SizeCheck`."""

    relation: Formula
    message: str
    source: Source


class LoadedChecks:
    """The checks of a program on its sizes: implements `runtime.executable.Checks`."""

    __slots__ = ("_checks",)

    def __init__(self, checks: tuple[CheckRecord, ...], table: Formulas) -> None:
        self._checks = [
            LoadedCheck(Formula(table, each.relation.number, each.relation.text), each.message, each.source)
            for each in checks
        ]

    def failed(self, symbols: Mapping[str, int]) -> Any:
        """The first check that does not hold for these sizes."""
        return next((check for check in self._checks if not check.relation.at(symbols)), None)


def load(
    path: str | os.PathLike[str],
    *,
    weights: Mapping[str, Any] | str | os.PathLike[str] | None = None,
    verify: bool = False,
) -> Program:
    """Loads a program that `Program.save` has written. Takes NumPy alone: neither torch nor MLIR is imported.

    Args:
        path: the file. Its code runs in this process: load files only of those whom you trust as much as their programs.
        weights: tensors by name, or the name of a safetensors file, for a program that was saved without its weights or with
            reference to such a file, whose place this one takes then. Tensors are read where they are, at every call.
        verify: whether the checksum of the weights is compared as well, which reads them all. Everything else is always checked.

    Returns:
        A `Program`. It takes and returns NumPy arrays, and PyTorch's tensors where these are given. Its weights are mapped from
        the file, so processes share them; what calls change is this process's own.

    Raises:
        ArtifactError: no such file, or one that is damaged. ArtifactVersionError: of another version of the format.
        ArtifactMachineError: its code is for another system or processor. WeightsError: weights that are missing or others.
    """
    with Container(path) as container:
        try:
            program = _loaded(container, weights, verify=verify)
        except HotdeskError:
            raise
        except OSError as error:
            raise container.fault("memory that the file can be mapped to", str(error.strerror)) from error
        except (ValueError, LookupError, TypeError, OverflowError) as error:  # a contradiction that no check has named
            raise container.fault("a program that goes together", str(error)[:120]) from error
    give_back_free_memory()  # what reading the text took
    return program


def _loaded(container: Container, given: object, *, verify: bool) -> Program:
    record = decoded(ProgramRecord, container.read("program"))
    table = Formulas(record.formulas)
    validate(record, container, table)
    memory = _Mapped(_mapped(container, "constants"), _mapped(container, "sources"))
    calling = _called(record, table)
    weights = Weights(record, container, given, verify=verify)
    delivered = _deliveries(record)
    code = load_code(record.code, container, {name: address_of(each) for name, each in delivered.items()})
    assertions: Any = record.assertions
    main = _function(record.main, "main", memory, table, code, assertions)
    prepared, kept = _prepared(record, memory, table, code, weights, assertions)
    read = {each.place: weights.addresses[each.place] for each in record.weights}
    unchanged = {read[each.place]: each.bytes for each in record.weights if each.read and not each.changed}
    executable = PlannedExecutable(
        main,
        ProgramInterface(
            tuple(_spec(each, table) for each in record.inputs),
            tuple(_spec(each, table) for each in record.results),
            tuple(record.input_places),
            record.constraints,
        ),
        HeldMemory(
            {**read, **prepared},
            (code, weights, memory, *delivered.values(), *kept),
            weight_bytes=sum(unchanged.values()),
            state_bytes=sum(each.bytes for each in record.weights if each.changed),
            prepared_bytes=sum(each.bytes for each in record.prepared),
        ),
        LoadedChecks(record.checks, table),
        Evaluated(table, [size_of(size, table) for spec in record.results for size in spec.shape]),
    )
    ranges = {each.place: WeightRange(each.spec.name, read[each.place], each.bytes) for each in record.weights}
    state = [
        (ranges[each.place], _tensor(each.spec, weights.tensors.get(each.place)))
        for each in record.weights
        if each.changed
    ]
    return Program(
        executable,
        name=record.name,
        calling=calling,
        weights=[ranges[each.place] for each in record.weights if not each.changed and each.read],
        state=state,
        kind=record.kind if _has_torch() else "numpy",
        symbols=record.symbols,
    )


def _function(
    record: FunctionRecord, name: _FunctionName, memory: _Mapped, table: Formulas, code: EntryCode, assertions: Any
) -> Function:
    buffers = tuple(_buffer(each, table) for each in record.buffers)
    lowered = LoadedFunction(
        record.entry,
        buffers,
        {each.place: memory.constants[each.offset : each.offset + each.bytes] for each in record.constants},
        tuple(size_of(each, table) for each in record.numbers),
        LoadedSources(record.steps, memory.sources, name),
        record.result_places,
        record.donated,
        record.state,
        {each.place: each.free for each in record.windows},
    )
    sizes = Evaluated(table, [buffer.bytes for buffer in buffers])
    plans = MadePlans(lowered, record.plans)
    return Function(lowered, code, assertions, plans, sizes, Evaluated(table, lowered.numbers))


def _buffer(record: BufferUseRecord, table: Formulas) -> LoadedBuffer:
    shape = tuple(size_of(each, table) for each in record.shape)
    return LoadedBuffer(record.kind, record.lower, record.upper, size_of(record.bytes, table), shape, record.element)


def _prepared(
    record: ProgramRecord, memory: _Mapped, table: Formulas, code: EntryCode, weights: Weights, assertions: Any
) -> tuple[dict[int, int], list[object]]:
    """Where prepared values lie: in the file, or in memory where `@prepare` makes them now."""
    inside = {each.place: weights.inside + each.offset for each in record.prepared if each.offset is not None}
    if len(inside) == len(record.prepared) or record.prepare is None:
        return inside, []
    found, kept = dict[int, int](), list[object]()
    for each in record.prepared:
        owner, found[each.place] = aligned(each.bytes)
        kept.append(owner)
    prepare = _function(record.prepare, "prepare", memory, table, code, assertions)
    layout = prepare.layout({})
    scratch, address = aligned(layout.plan.arena)
    frame = prepare.frame()
    frame.set_arena(layout, address)
    fixed = [weights.addresses[each.place] for each in record.weights if not each.changed]
    frame.set_pointers(range(len(fixed)), fixed)
    frame.run(layout, list(found.values()))
    del scratch
    return found, kept


def _deliveries(record: ProgramRecord) -> dict[str, object]:
    """The functions that machine code calls with results whose sizes only the run knows, by name."""
    return {
        each.symbol: entered(delivering(each.symbol, each.rank, each.location, Delivery(each.number, each.dtype)))
        for each in record.deliveries
    }


def _mapped(container: Container, name: str) -> Bytes:
    """The contents of a section: checked, and mapped; none where it is not there."""
    if name not in container.sections:
        return np.empty(0, np.uint8)
    container.verify(name)
    section = container.section(name)
    return mapped(container.descriptor, section.offset, section.bytes)


def _called(record: ProgramRecord, table: Formulas) -> Calling | None:
    """How the program is called; None where a call takes a tensor for each input."""
    if record.calling is not None:
        return _calling(record.calling, len(record.inputs), len(record.results), table)
    return None if record.mlir is None else _calling_of_mlir(record.mlir, record.inputs, record.results)


def _calling_of_mlir(
    record: MlirCallingRecord, inputs: Sequence[SpecRecord], results: Sequence[SpecRecord]
) -> MlirCalling:
    from hotdesk.runtime.mlir_calling import COMPLEX, MlirCalling, Number

    for spec in (*inputs, *results):
        is_plain = not spec.shape and COMPLEX.get(spec.number, spec.number) == spec.dtype
        _needs(spec.number in ("", "index") or is_plain, "numbers of their types")
    _needs(len(record.names) == len(inputs), "a name for each argument")
    _needs(record.returned.count(None) == len(results), "a place for each result")
    _needs(all(0 <= each < len(inputs) for each in record.returned if each is not None), "arguments that there are")
    kinds = [Number(spec.number) if spec.number else None for spec in (*inputs, *results)]
    rest = iter(kinds[len(inputs) :])
    returned = [next(rest) if each is None else each for each in record.returned]
    return MlirCalling(record.names, kinds[: len(inputs)], returned)


def _calling(record: CallingRecord, inputs: int, results: int, table: Formulas) -> StructuredCalling:
    arguments, returned = _structure(record.arguments, 0), _structure(record.returned, 0)
    _needs(str(arguments).startswith("(") and len(arguments.parts) == 2, "positional and keyword arguments")
    positional, keywords = arguments.parts
    _needs(
        len(positional.parts) >= len(record.positional) and len(keywords.parts) == len(record.keywords),
        "names of arguments",
    )
    _needs(
        arguments.leaves == len(record.constants) and returned.leaves == len(record.leaves),
        "leaves of arguments and results",
    )
    _needs(sum(each is None for each in record.constants) == inputs, "an input for each tensor")
    for leaf in record.leaves:
        _needs(leaf.kind not in ("tensor", "held") or 0 <= leaf.result < results, "results that there are")
    numbers = [size_of(leaf.number, table) if leaf.kind == "number" else None for leaf in record.leaves]
    for leaf in record.leaves:
        _needs(isinstance(leaf.number, int) or 0 <= leaf.number.number < len(table), "formulas that there are")
    return StructuredCalling(record, arguments, returned, numbers)


def _structure(record: StructureRecord, depth: int) -> Structure:
    _needs(depth <= NESTED, f"nests of at most {NESTED} containers")
    parts = [_structure(_as_structure(part), depth + 1) for part in record.parts]
    _needs(record.kind != "leaf" or not parts, "leaves without parts")
    is_dict = record.kind == "dict"
    _needs(len(record.keys) == (len(parts) if is_dict else 0), "a key for each part of a dictionary")
    _needs(all(type(key) in (str, int, bool) for key in record.keys), "keys that are text or numbers")
    _needs(record.kind != "none" or not parts, "None without parts")
    return Structure(record.kind, record.keys, parts)


def _as_structure(part: Any) -> StructureRecord:
    found: Any = part
    _needs(
        isinstance(part, list) and len(found) == 3 and found[0] in ("leaf", "none", "tuple", "list", "dict"),
        "containers",
    )
    _needs(isinstance(found[1], list) and isinstance(found[2], list), "containers with keys and parts")
    return StructureRecord(found[0], tuple(found[1]), tuple(found[2]))


def _needs(holds: bool, expected: str) -> None:
    if not holds:
        raise ArtifactError("how the program is called", expected=expected, got="others")


def _spec(record: SpecRecord, table: Formulas) -> TensorSpec:
    shape: Any = tuple(size_of(size, table) for size in record.shape)
    flags = record.donated, record.written, record.number, record.changed, record.counted
    return TensorSpec(record.name, record.dtype, shape, record.location, *flags)


def _tensor(spec: SpecRecord, tensor: Any) -> Any:
    """State as an array of its type, where it is memory of this process's own: what a program says of it is read from there."""
    if spec.name == RANDOM_STATE and isinstance(tensor, np.ndarray):
        return cast(Any, tensor).view(np.int64)
    return tensor


def _has_torch() -> bool:
    """Whether PyTorch is in use, which is not imported for that."""
    import sys

    return sys.modules.get("torch") is not None
