"""How a PyTorch model is called, as records that are read without PyTorch."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, cast

from hotdesk.artifacts.records import CallingRecord, ConstantRecord, ReturnedRecord, StructureRecord
from hotdesk.errors import NotSavableError
from hotdesk.frontends.torch.calling import ResultHeld, ResultNumber, ResultSlot, TorchCalling

_PLAIN = (bool, int, float, str)
_TYPES = {int: "int", float: "float", bool: "bool"}


def record_of(calling: TorchCalling, size: Callable[[Any], Any]) -> CallingRecord:
    """The record of a calling; `size` writes an expression of sizes.

    Raises NotSavableError for containers of the model's own, such as dataclasses and named tuples: without their classes nothing
    can make them.
    """
    if calling.carries:
        raise NotSavableError(
            "the program", expected="tensors that hold their values", got="tensors of carried element types"
        )
    constants = tuple(
        None if each is None else ConstantRecord(each[0], _constant(each[1])) for each in calling.constants
    )
    leaves = tuple(_returned(each, size) for each in calling.template)
    arguments, returned = (_structure(spec) for spec in calling.structures)
    return CallingRecord(calling.positional, calling.keywords, arguments, constants, returned, leaves)


def _structure(spec: Any) -> StructureRecord:
    if spec.is_leaf():
        return StructureRecord("leaf", (), ())
    parts = tuple(_structure(each) for each in spec.children())
    if spec.type is dict:
        return StructureRecord("dict", tuple(map(_constant, spec.context)), parts)
    if spec.type in (tuple, list):
        return StructureRecord(cast(Any, spec.type.__name__), (), parts)
    raise NotSavableError(
        "what a call of the program takes or returns",
        expected="tuples, lists and dictionaries",
        got=getattr(spec.type, "__name__", str(spec.type)),
        hint="Wrap the model so that it takes and returns such.",
    )


def _returned(leaf: Any, size: Callable[[Any], Any]) -> ReturnedRecord:
    if isinstance(leaf, ResultSlot):
        return ReturnedRecord("tensor", int(leaf), 0, "int", None)
    if isinstance(leaf, ResultHeld):
        return ReturnedRecord("held", int(leaf), 0, "int", None)
    if isinstance(leaf, ResultNumber):
        kind: Any = _TYPES.get(cast(Any, leaf.kind))
        if kind is None:
            raise NotSavableError("a result of the program", expected="a number", got=str(leaf.kind))
        return ReturnedRecord("number", 0, size(leaf.expression), kind, None)
    return ReturnedRecord("constant", 0, 0, "int", _constant(leaf))


def _constant(value: Any) -> Any:
    if value is None or type(value) in _PLAIN:
        return value
    raise NotSavableError(
        "an argument or a result of the program", expected="None, a number or text", got=type(value).__name__
    )
