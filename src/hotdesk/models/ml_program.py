"""Global tensors of a program become global memory.

    ml_program.global private mutable @state(dense<0.0> : tensor<4xf32>) : tensor<4xf32>
    %t = ml_program.global_load @state : tensor<4xf32>        ->   memref.global, memref.get_global, and a copy
    ml_program.global_store @state = %t : tensor<4xf32>       ->   memref.get_global, and a copy into it

A global that cannot change is read where it lies; what is loaded of another one is a copy, since a later store changes it.
"""

from __future__ import annotations

from typing import Any, cast

from hotdesk._bindings import ir
from hotdesk.errors import BufferizationError
from hotdesk.ir.building import cast_to, create, elementwise_copy
from hotdesk.ir.locations import python_line
from hotdesk.ir.types import is_tensor, memref_of, shape_of
from hotdesk.ir.walking import module_around, symbol_name
from hotdesk.models.facts import Facts, Spaces
from hotdesk.models.model import Buffers, OpModel

_GLOBALS = ("ml_program.global", "memref.global")


def _load_facts(op: ir.Operation) -> Facts:
    if not is_tensor(op.results[0].type) or _is_mutable(_global(op)):
        return Facts()
    return Facts(constants=frozenset({0}), spaces=Spaces(results=((0, None),)))


def _bufferize_load(op: ir.Operation, buffers: Buffers) -> None:
    mutable = _is_mutable(_global(op))
    memory = _memory(op, op.results[0].type)
    if not mutable:
        buffers.assign(op.results[0], memory)
        return
    memref = buffers.result(op, 0, [])
    elementwise_copy(memory, memref, op)
    buffers.assign(op.results[0], memref)


def _store_facts(op: ir.Operation) -> Facts:
    return Facts(reads=frozenset({0})) if is_tensor(op.operands[0].type) else Facts()


def _bufferize_store(op: ir.Operation, buffers: Buffers) -> None:
    buffers.copy_into(_memory(op, op.operands[0].type), op, 0)


def _is_mutable(op: ir.Operation) -> bool:
    return "is_mutable" in op.attributes if op.name == "ml_program.global" else "constant" not in op.attributes


def _global(op: ir.Operation) -> ir.Operation:
    """The global that a load or store names, in its old form or already in its new one."""
    module = module_around(op)
    path = cast(Any, op.attributes["global"]).value  # the names of modules too, if it is in another one
    name = path if isinstance(path, str) else "::@".join(path)
    for view in module.regions[0].blocks[0].operations:
        if view.operation.name in _GLOBALS and symbol_name(view.operation) == name:
            return view.operation
    raise BufferizationError(
        f"{op.name} of `@{name}`",
        expected="a global of the module",
        got="none of that name",
        where=python_line(op.location),
    )


def _memory(op: ir.Operation, kind: ir.Type) -> ir.Value:
    """The memory of the global that an op names, which becomes a `memref.global` if it is not one."""
    found = _global(op)
    if found.name == "ml_program.global":
        found = _converted(found)
    name = ir.FlatSymbolRefAttr.get(symbol_name(found))
    memory: ir.Value = create(
        "memref.get_global", [], [cast(Any, found.attributes["type"]).value], {"name": name}, before=op
    ).results[0]
    return cast_to(memory, memref_of(kind), op)


def _converted(old: ir.Operation) -> ir.Operation:
    kind = cast(Any, old.attributes["type"]).value
    if not is_tensor(kind) or None in shape_of(kind):
        raise BufferizationError(
            f"global `@{symbol_name(old)}`",
            expected="a tensor of static sizes",
            got=str(kind),
            where=python_line(old.location),
        )
    attributes: dict[str, ir.Attribute] = {
        "sym_name": old.attributes["sym_name"],
        "type": ir.TypeAttr.get(memref_of(kind)),
    }
    if "sym_visibility" in old.attributes:
        attributes["sym_visibility"] = old.attributes["sym_visibility"]
    value = old.attributes["value"] if "value" in old.attributes else ir.UnitAttr.get()
    if "extern" not in str(value)[:20]:  # what is defined elsewhere has no initial value here
        attributes["initial_value"] = value
    if "is_mutable" not in old.attributes:
        attributes["constant"] = ir.UnitAttr.get()
    new = create("memref.global", [], [], attributes, before=old)
    old.erase()
    return new


_LOAD = OpModel(_load_facts, _bufferize_load)
MODELS = {
    "ml_program.global_load": _LOAD,
    "ml_program.global_load_const": _LOAD,
    "ml_program.global_store": OpModel(_store_facts, _bufferize_store),
}
