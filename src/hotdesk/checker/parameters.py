"""What the arguments of a function are, as their types and attributes state it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, cast

from hotdesk._bindings import ir
from hotdesk.errors import LoweringError
from hotdesk.ir.argument_sizes import argument_shapes
from hotdesk.ir.locations import python_line
from hotdesk.ir.signature import Formal, signature
from hotdesk.ir.types import is_memref
from hotdesk.ir.walking import symbol_name
from hotdesk.sizes.size import Size


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

    One may be written if it is the memory of a result (`bufferize.result`), donated (`hotdesk.donated`) or of the kind
    `written`. Any other may only be
    read if `read_only` is set, if some argument is a result or has a kind (then the function is of Hotdesk's making), or if an
    attribute of MLIR's says so.

    Raises:
        InvalidIRError: sizes that an argument states are none.
    """
    given = signature(function).arguments
    stated = argument_shapes(function)
    ours = read_only or any(each.result is not None or each.kind is not None for each in given)
    return [
        Parameter(
            number,
            each.type,
            each.result,
            each.result is not None
            or each.donated
            or each.kind == "written"
            or each.arena is not None
            or not (ours or _only_read(each)),
            each.arena is not None,
            each.sized_by,
            each.holds,
            each.arena or 0,
            stated.get(number, ()),
        )
        for number, each in enumerate(given)
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
            where=python_line(function.location),
            hint="give the memory checker a function that makes it and calls this one",
        )


def _only_read(argument: Formal) -> bool:
    if "llvm.readonly" in argument.attributes or "llvm.readnone" in argument.attributes:
        return True
    if argument.declared_access is not None:
        return argument.declared_access in ("read", "none")
    return (
        "bufferization.writable" in argument.attributes
        and not cast(Any, argument.attributes["bufferization.writable"]).value
    )
