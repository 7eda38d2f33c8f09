"""What a file says of a program, as records: `decoding.py` reads them, and nothing else is read from the file's text.

Places are those of the pointer table, offsets count bytes from the start of a section. A size is a number or a formula.
"""

from typing import Any, Literal

from hotdesk.explain import Source
from hotdesk.python.record import Record


class Ref(Record):
    """A formula by its number, and as users read it."""

    number: int
    text: str


class SpecRecord(Record):
    """An input, result or weight: `runtime.interface.TensorSpec`."""

    name: str
    dtype: str
    shape: tuple[int | Ref, ...]
    location: str
    donated: bool
    written: bool
    number: str
    changed: bool
    counted: str


class BufferUseRecord(Record):
    """An entry of the pointer table: `passes.lower.calls.Base`."""

    kind: Literal["alloc", "argument", "global", "heap"]
    lower: int
    upper: int
    bytes: int | Ref
    shape: tuple[int | Ref, ...]
    element: str


class StoredRecord(Record):
    """Bytes of a section that the pointer table points to."""

    place: int
    offset: int
    bytes: int


class WindowRecord(Record):
    """When memory of the caller's is free."""

    place: int
    free: tuple[tuple[int, int], ...]


class PlacementRecord(Record):
    place: int
    pool: int | None
    offset: int


class BoundRecord(Record):
    bytes: int
    step: int
    places: tuple[int, ...]
    kind: Literal["live", "lent", "pinned", "tied", "dive", "cp-sat"]


class PlanRecord(Record):
    """The one plan of a function whose sizes are numbers."""

    placements: tuple[PlacementRecord, ...]
    arena: int
    bound: BoundRecord
    strategy: str
    no_reuse: int


class StackingRecord(Record):
    """`planning.sizes.stacking.Stacking`; buffers by their position among those that are planned."""

    spaces: tuple[int | None, ...]
    order: tuple[int, ...]
    below: tuple[tuple[int, ...], ...]


class PlansRecord(Record):
    """How a function is planned: by `fixed`, or for the sizes of a call by one stacking that serves `all`, or by several."""

    fixed: PlanRecord | None
    all: bool
    stackings: tuple[StackingRecord, ...]


class FunctionRecord(Record):
    """A lowered function of so many `steps`: `runtime.lowered.EntryFunction`.

    The contents of constants are in the section `constants`, what its ops are called is in the section `sources`.
    """

    entry: str
    buffers: tuple[BufferUseRecord, ...]
    constants: tuple[StoredRecord, ...]
    numbers: tuple[int | Ref, ...]
    steps: int
    result_places: tuple[int, ...]
    donated: tuple[int, ...]
    state: tuple[int, ...]
    windows: tuple[WindowRecord, ...]
    plans: PlansRecord


class SourcesRecord(Record):
    """The ops of both functions, as reports name them: read when one is asked for."""

    main: tuple[Source, ...]
    prepare: tuple[Source, ...]


class CheckRecord(Record):
    """A relation of sizes that a call must fulfil."""

    relation: Ref
    message: str
    source: Source


class AssertionRecord(Record):
    """A run-time check: `passes.lower.calls.Assertion`."""

    code: int
    message: str
    source: Source


class WeightRecord(Record):
    """A tensor of the model.

    Attributes:
        place: its argument of `@main`.
        spec: what it is.
        bytes: how many it has.
        offset: where it lies in the section `weights` or `state`; None where it is in the other file, or given at load.
        stored: the name of the tensor in the safetensors file that has it.
        changed: whether calls change it: it is copied, and not mapped.
        read: whether `@main` reads it; else `@prepare` alone does.
    """

    place: int
    spec: SpecRecord
    bytes: int
    offset: int | None
    stored: str | None
    changed: bool
    read: bool


class PreparedRecord(Record):
    """What `@prepare` makes: its place in `@main`, and where it lies in the section `weights`; None where it is made at load."""

    place: int
    bytes: int
    offset: int | None


class ObjectRecord(Record):
    """An image of code: the section it is in, and whether it shares out work, or is what the threads of a pool run."""

    section: str
    role: Literal["pool", "shared", "program"]

    @property
    def links(self) -> str:
        """The section that says where addresses belong in it: it has a `LinksRecord`."""
        return f"{self.section}.at"


class LinksRecord(Record):
    """What `runtime.code.objects.Links` says of an image, which is as good as code: nobody can check where it leads."""

    writable: int
    relative: tuple[int, ...]
    named: tuple[tuple[int, str], ...]
    symbols: dict[str, int]


class LevelRecord(Record):
    """Code for a kind of processor: the features it needs, by their names in /proc/cpuinfo, and images as they are linked."""

    name: str
    features: tuple[str, ...]
    objects: tuple[ObjectRecord, ...]


class CodeRecord(Record):
    """Machine code: the system and architecture it is for, the kind of its thread pool, and levels, the best first."""

    system: str
    architecture: str
    pool: str
    levels: tuple[LevelRecord, ...]


class StructureRecord(Record):
    """A nest of containers: `kind`, the keys of a dictionary, and what is in it; a leaf has none."""

    kind: Literal["leaf", "none", "tuple", "list", "dict"]
    keys: tuple[Any, ...]
    parts: tuple[Any, ...]


class ReturnedRecord(Record):
    """A leaf of what a call returns: a tensor result, a number that one holds, a number made of sizes, or a constant."""

    kind: Literal["tensor", "held", "number", "constant"]
    result: int
    number: int | Ref
    type: Literal["int", "float", "bool"]
    constant: Any


class ConstantRecord(Record):
    """A leaf of the arguments that is no tensor: its name, and the value that it has to have."""

    name: str
    value: Any


class CallingRecord(Record):
    """How Python arguments become inputs, and results what a call returns. Leaves of `arguments` are numbered from 0 on."""

    positional: tuple[str, ...]
    keywords: tuple[str, ...]
    arguments: StructureRecord
    constants: tuple[ConstantRecord | None, ...]
    returned: StructureRecord
    leaves: tuple[ReturnedRecord, ...]


class MlirCallingRecord(Record):
    """How a program in MLIR is called that takes or gives numbers, or returns arguments.

    `names` are those of the arguments, `returned` has for each result the argument that it is, or None. Which arguments and
    results are numbers, their specs say.
    """

    names: tuple[str, ...]
    returned: tuple[int | None, ...]


class DeliveryRecord(Record):
    """What copies a result whose sizes only the run knows: `runtime.code.deliveries.Delivery`.

    Attributes:
        symbol: the name that machine code calls it by.
        number: what stands for the result in the program.
        dtype: its element type.
        rank: how many dimensions it has.
        location: where it comes from.
    """

    symbol: str
    number: int
    dtype: str
    rank: int
    location: str


class ProgramRecord(Record):
    """A program.

    Attributes:
        hotdesk: the version that saved it.
        name: what it is called in reports.
        kind: whose tensors the results are where no argument tells.
        formulas: the operations of `formulas.Formulas`.
        inputs, input_places: the tensors of a call, and their arguments of `@main`.
        constraints: the least and the greatest value of each symbol.
        symbols: symbols by the names that the user gave to sizes.
        safetensors: the file that has weights, as a path from this one; None if none has.
        prepared: what `@prepare` hands to `@main`, in order.
        calling: None where a call takes a tensor for each input.
        mlir: how it is called instead, where it is a program in MLIR.
    """

    hotdesk: str
    name: str
    kind: Literal["torch", "numpy"]
    formulas: tuple[tuple[Any, ...], ...]
    inputs: tuple[SpecRecord, ...]
    input_places: tuple[int, ...]
    results: tuple[SpecRecord, ...]
    constraints: dict[str, tuple[int, int | None]]
    symbols: dict[str, str]
    checks: tuple[CheckRecord, ...]
    assertions: tuple[AssertionRecord, ...]
    main: FunctionRecord
    prepare: FunctionRecord | None
    weights: tuple[WeightRecord, ...]
    safetensors: str | None
    prepared: tuple[PreparedRecord, ...]
    calling: CallingRecord | None
    mlir: MlirCallingRecord | None
    deliveries: tuple[DeliveryRecord, ...]
    code: CodeRecord
