"""What the arguments of a function are, as their types and attributes state it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, cast

from hotdesk._bindings import ir
from hotdesk.errors import LoweringError
from hotdesk.ir.argument_sizes import argument_shapes
from hotdesk.ir.locations import python_line
from hotdesk.ir.sizes import Size
from hotdesk.ir.types import is_memref
from hotdesk.ir.walking import entry_block, int_array, symbol_name
from hotdesk.models.callee import HOLDS
from hotdesk.passes.bufferize.one_shot import RESULT
from hotdesk.passes.tensor.prepare import KIND

_DONATED = "hotdesk.donated"
ARENA = "hotdesk.arena"
_ARENA_BYTES = "hotdesk.arena_bytes"


@dataclass(frozen=True, slots=True)
class Parameter:
    """An argument of a function, as its type and attributes state it.

    Attributes:
        type: its MLIR type.
        result: which result it is the memory of, or None.
        writable: whether the function may write it.
        arena: whether it is memory that the function carves its buffers out of.
        sized_by: the function that tells the bytes of an arena of dynamic size, given the other arguments; "" if there is none.
        holds: the results that lie in its memory when the function is done.
        alignment: the bytes that an arena is aligned to, as it states them; 0 if nothing is stated.
        stated: its sizes by `hotdesk.shape`, expressions in the symbols of the function; () if it has none.
    """

    number: int
    type: Any
    result: int | None
    writable: bool
    arena: bool
    sized_by: str = ""
    holds: tuple[int, ...] = ()
    alignment: int = 0
    stated: tuple[Size, ...] = ()

    @property
    def is_memref(self) -> bool:
        return hasattr(self.type, "element_type")

    @property
    def shape(self) -> tuple[int | None, ...]:
        return tuple(
            None if self.type.is_dynamic_dim(i) else int(self.type.get_dim_size(i)) for i in range(self.type.rank)
        )


def parameters(function: ir.Operation, read_only: bool) -> list[Parameter]:
    """The arguments of a function.

    One may be written if it is the memory of a result (`bufferize.result`) or donated (`hotdesk.donated`). Any other may only be
    read if `read_only` is set, if some argument is a result or has a kind (then the function is of Hotdesk's making), or if an
    attribute of MLIR's says so.

    Raises:
        InvalidIRError: sizes that an argument states are none.
    """
    arguments = list(entry_block(function).arguments)
    given: list[Any] = [{}] * len(arguments)
    if "arg_attrs" in function.attributes:
        given = list(cast(Any, function.attributes["arg_attrs"]))
    stated = argument_shapes(function)
    ours = read_only or any(RESULT in entry or KIND in entry for entry in given)
    return [
        Parameter(
            number,
            argument.type,
            int(entry[RESULT].value) if RESULT in entry else None,
            RESULT in entry or _DONATED in entry or ARENA in entry or not (ours or _only_read(entry)),
            ARENA in entry,
            str(entry[_ARENA_BYTES].value) if _ARENA_BYTES in entry else "",
            int_array(entry[HOLDS]) if HOLDS in entry else (),
            int(entry[ARENA].value) if ARENA in entry and isinstance(entry[ARENA], ir.IntegerAttr) else 0,
            stated.get(number, ()),
        )
        for number, (argument, entry) in enumerate(zip(arguments, given, strict=True))
    ]


def refuse_unknown(function: ir.Operation, found: Sequence[Parameter]) -> None:
    """Raises LoweringError for the first argument that nobody can give from outside: no number, and no memref with a rank."""
    for parameter in found:
        if is_memref(parameter.type) or isinstance(parameter.type, (ir.IntegerType, ir.IndexType, ir.FloatType)):
            continue
        raise LoweringError(
            f"argument {parameter.number} of @{symbol_name(function)}",
            expected="a memref with a rank, or a number",
            got=str(parameter.type),
            where=python_line(function.location) or None,
            hint="give the memory checker a function that makes it and calls this one",
        )


def _only_read(entry: Any) -> bool:
    if "llvm.readonly" in entry or "llvm.readnone" in entry:
        return True
    if "bufferization.access" in entry:
        return str(entry["bufferization.access"].value) in ("read", "none")
    return "bufferization.writable" in entry and not entry["bufferization.writable"].value
