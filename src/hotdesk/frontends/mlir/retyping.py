"""Types changed throughout a module: of values, signatures and globals."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, cast

from hotdesk._bindings import ir
from hotdesk.ir.functions import named_functions
from hotdesk.ir.signature import set_signature, signature
from hotdesk.ir.walking import nested_ops, nested_values


def retype(module: ir.Module, change: Callable[[ir.Type], ir.Type]) -> None:
    """Gives every value, function and global of a module the type that `change` makes of its own."""
    for value in list(nested_values(module.operation)):
        changed = change(value.type)
        if changed != value.type:
            cast(Any, value).set_type(changed)
    for op in nested_ops(module.operation):
        if op.name == "memref.global":
            op.attributes["type"] = ir.TypeAttr.get(change(cast(Any, op.attributes["type"]).value))
    for function in named_functions(module).values():
        given = signature(function)
        if any(change(kind) != kind for kind in given.types):
            set_signature(function, given.retyped(change))
