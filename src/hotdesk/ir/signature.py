"""The signature of a function: its arguments and results, by type and by what their attributes say; read, made and set.

    func.func @main(%x: tensor<?xf32> {hotdesk.kind = "input", hotdesk.donated, hotdesk.shape = ["n"]}) -> tensor<?xf32>

A function whose signature is set has its old attributes but for those of arguments and results. The entry block and the returns
are the business of whoever sets it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, cast

from hotdesk._bindings import ir
from hotdesk.ir.building import integers
from hotdesk.ir.walking import int_array

SHAPE, ARENA, ARENA_BYTES = "hotdesk.shape", "hotdesk.arena", "hotdesk.arena_bytes"
RESULT = "bufferize.result"
DONATED = "hotdesk.donated"
_KIND = "hotdesk.kind"
_ACCESS, _HOLDS, _SIZES = "hotdesk.access", "hotdesk.holds", "hotdesk.sizes"
_STATE = "hotdesk.state"
ARGUMENT_ATTRIBUTES = (SHAPE, ARENA, ARENA_BYTES, DONATED, _KIND, _ACCESS, _HOLDS, _SIZES, _STATE)
"""All that begin with `hotdesk.`, by users and by passes."""
_DECLARED, _NO_ALIAS = "bufferization.access", "llvm.noalias"


class _Given(Mapping[str, "ir.Attribute"]):
    """The attributes of a dictionary of MLIR's, none of which is looked at before it is asked for: there may be many weights."""

    __slots__ = ("_entry",)

    def __init__(self, entry: Any) -> None:
        self._entry = entry

    def __contains__(self, name: object) -> bool:
        return name in self._entry

    def __getitem__(self, name: str) -> ir.Attribute:
        return self._entry[name]

    def __iter__(self) -> Iterator[str]:
        return (named.name for named in self._entry)

    def __len__(self) -> int:
        return len(self._entry)


@dataclass(frozen=True, slots=True)
class Formal:
    """An argument or a result as a signature has it: its type, and attributes by name. What they say is a field each."""

    type: ir.Type
    attributes: Mapping[str, ir.Attribute] = field(default_factory=dict[str, ir.Attribute])

    @property
    def kind(self) -> str | None:
        """`weight`, `state` (a tensor of the model that changes), `input`, `written` (an input in which the caller wants results)
        or `prepared`; None if not said."""
        return self._text(_KIND)

    @property
    def donated(self) -> bool:
        """Whether the caller gave its memory away."""
        return DONATED in self.attributes

    @property
    def result(self) -> int | None:
        """The result whose memory it is."""
        return int(self._value(RESULT)) if RESULT in self.attributes else None

    @property
    def holds(self) -> tuple[int, ...]:
        """The results that lie in its memory when the function is done."""
        return int_array(self.attributes[_HOLDS]) if _HOLDS in self.attributes else ()

    @property
    def state(self) -> int | None:
        """The result that its memory must hold when the function is done: new contents of a tensor that the caller keeps."""
        return int(self._value(_STATE)) if _STATE in self.attributes else None

    @property
    def sizes(self) -> tuple[tuple[int, int], ...]:
        """For each dynamic size of a result: an argument and a dim of it, or -1 for its value."""
        flat = int_array(self.attributes[_SIZES]) if _SIZES in self.attributes else ()
        return tuple(zip(flat[::2], flat[1::2], strict=True))

    @property
    def access(self) -> str | None:
        """What the function does with its memory, said by bufferization to callers: `read`, `write`, `read-write` or `none`."""
        return self._text(_ACCESS)

    @property
    def declared_access(self) -> str | None:
        """The same, said by MLIR's `bufferization.access`."""
        return self._text(_DECLARED)

    @property
    def no_alias(self) -> bool:
        """Whether its memory is reached by no other argument."""
        return _NO_ALIAS in self.attributes

    @property
    def arena(self) -> int | None:
        """The alignment, in bytes, of an arena that the function carves its buffers out of; 0 if none is stated."""
        if ARENA not in self.attributes:
            return None
        return int(self._value(ARENA)) if isinstance(self.attributes[ARENA], ir.IntegerAttr) else 0

    @property
    def sized_by(self) -> str:
        """The function that tells the bytes of an arena of dynamic size, given the other arguments; "" if there is none."""
        return self._text(ARENA_BYTES) or ""

    def stating(
        self, *, kind: str | None = None, donated: bool = False, shape: Sequence[str] | None = None,
        result: int | None = None, holds: Sequence[int] | None = None, state: int | None = None,
        sizes: Sequence[tuple[int, int]] | None = None,
        access: str | None = None, declared_access: str | None = None, no_alias: bool = False,
        arena: int | None = None, sized_by: str = "",
    ) -> Formal:  # fmt: skip
        """The same, with more said of it; `shape` has a size, by name or number, for each dim."""
        i64 = ir.IntegerType.get_signless(64)
        text = ir.StringAttr.get
        said: dict[str, ir.Attribute | None] = {
            _KIND: None if kind is None else text(kind),
            DONATED: ir.UnitAttr.get() if donated else None,
            SHAPE: None if shape is None else ir.ArrayAttr.get([text(size) for size in shape]),
            RESULT: None if result is None else ir.IntegerAttr.get(i64, result),
            _HOLDS: None if holds is None else integers(holds),
            _STATE: None if state is None else ir.IntegerAttr.get(i64, state),
            _SIZES: None if sizes is None else integers([each for pair in sizes for each in pair]),
            _ACCESS: None if access is None else text(access),
            _DECLARED: None if declared_access is None else text(declared_access),
            _NO_ALIAS: ir.UnitAttr.get() if no_alias else None,
            ARENA: None if arena is None else ir.IntegerAttr.get(i64, arena),
            ARENA_BYTES: ir.FlatSymbolRefAttr.get(sized_by) if sized_by else None,
        }
        return replace(
            self, attributes={**self.attributes, **{name: each for name, each in said.items() if each is not None}}
        )

    def _value(self, name: str) -> Any:
        return cast(Any, self.attributes[name]).value

    def _text(self, name: str) -> str | None:
        return str(self._value(name)) if name in self.attributes else None


@dataclass(frozen=True, slots=True)
class FunctionSignature:
    """The arguments and the results of a function, in order."""

    arguments: tuple[Formal, ...]
    results: tuple[Formal, ...]

    @property
    def inputs(self) -> tuple[ir.Type, ...]:
        """The types of the arguments."""
        return tuple(each.type for each in self.arguments)

    @property
    def outputs(self) -> tuple[ir.Type, ...]:
        """The types of the results."""
        return tuple(each.type for each in self.results)

    @property
    def types(self) -> tuple[ir.Type, ...]:
        return (*self.inputs, *self.outputs)

    def retyped(self, change: Callable[[ir.Type], ir.Type]) -> FunctionSignature:
        """With other types, and the same attributes."""
        arguments, results = (
            tuple(replace(each, type=change(each.type)) for each in formals)
            for formals in (self.arguments, self.results)
        )
        return FunctionSignature(arguments, results)

    def with_arguments(self, added: Iterable[Formal]) -> FunctionSignature:
        """With more arguments, behind the others."""
        return replace(self, arguments=(*self.arguments, *added))

    def keeping(self, results: Iterable[int]) -> FunctionSignature:
        """With the results of these numbers only."""
        return replace(self, results=tuple(self.results[number] for number in results))

    def stating(self, change: Callable[[int, Formal], Formal]) -> FunctionSignature:
        """With something else said of arguments, by number."""
        return replace(self, arguments=tuple(change(number, each) for number, each in enumerate(self.arguments)))


def formals(types: Iterable[ir.Type]) -> tuple[Formal, ...]:
    """Arguments or results of which nothing is said."""
    return tuple(Formal(kind) for kind in types)


def signature(function: ir.Operation) -> FunctionSignature:
    """The signature of a function, or of a declaration."""
    kind = cast(Any, function.attributes["function_type"]).value
    return FunctionSignature(
        _read(function, "arg_attrs", list(kind.inputs)), _read(function, "res_attrs", list(kind.results))
    )


def set_signature(function: ir.Operation, new: FunctionSignature) -> None:
    """Gives a function a signature."""
    with function.context:
        written = _written(new)
    for name in ("arg_attrs", "res_attrs"):
        if name in function.attributes and name not in written:
            del function.attributes[name]
    for name, attribute in written.items():
        function.attributes[name] = attribute


def new_function(
    name: str, new: FunctionSignature, point: ir.InsertionPoint, location: ir.Location
) -> tuple[ir.Operation, ir.Block]:
    """A function at a place, and its entry block, which is empty."""
    attributes = {"sym_name": ir.StringAttr.get(name), **_written(new)}
    with point, location:
        function = ir.Operation.create("func.func", attributes=attributes, regions=1).operation
    return function, function.regions[0].blocks.append(*new.inputs, arg_locs=[location] * len(new.inputs))


def _read(function: ir.Operation, name: str, types: Sequence[ir.Type]) -> tuple[Formal, ...]:
    if name not in function.attributes:
        return formals(types)
    entries = cast(Any, function.attributes[name])
    return tuple(Formal(kind, _Given(entry)) for kind, entry in zip(types, entries, strict=True))


def _written(new: FunctionSignature) -> dict[str, ir.Attribute]:
    """The attributes of a function that hold its signature; nothing is said of arguments of which nothing is to be said."""
    written: dict[str, ir.Attribute] = {
        "function_type": ir.TypeAttr.get(ir.FunctionType.get(list(new.inputs), list(new.outputs)))
    }
    for name, each in (("arg_attrs", new.arguments), ("res_attrs", new.results)):
        if any(formal.attributes for formal in each):
            written[name] = ir.ArrayAttr.get([ir.DictAttr.get(dict(formal.attributes)) for formal in each])
    return written
