"""Globals that a program on memrefs may write: memory of the program, which it keeps from one call to the next.

    memref.global "private" @count : memref<i64> = dense<0>            ->     func.func @main(%x: …, %count: memref<i64>) {
    func.func @main(%x: …) { %c = memref.get_global @count …

1. One that is no `constant` becomes an argument behind the others, in memory of its own that holds the initial value; zeros where
   that is `uninitialized`.
2. What is returned of it is a copy: the caller's arrays are none of the program's memory.
"""

from __future__ import annotations

from typing import Any, cast

import numpy as np

from hotdesk._bindings import ir
from hotdesk.analysis.memrefs.aliasing import Aliases
from hotdesk.errors import UnsupportedOpError
from hotdesk.frontends.captured import HeldArray, Weight
from hotdesk.frontends.mlir.arguments import DTYPES
from hotdesk.frontends.mlir.layouts import has_own_layout
from hotdesk.ir.building import alloc, create, dynamic_dims
from hotdesk.ir.functions import returns_of
from hotdesk.ir.locations import python_line
from hotdesk.ir.signature import formals, set_signature, signature
from hotdesk.ir.types import element_bytes, element_of, is_memref, memref_with, shape_of
from hotdesk.ir.walking import defining_op, entry_block, globals_of, nested_ops, text_of
from hotdesk.models.new_memory import GLOBAL
from hotdesk.passes.lower.function import contents_of
from hotdesk.runtime.interface import TensorSpec
from hotdesk.runtime.shared import aligned


def changing_globals(module: ir.Module) -> list[ir.Operation]:
    """The ops that get a global which the program may write, in order."""
    known = globals_of(module)
    gets = [op for op in nested_ops(module.operation) if op.name == GLOBAL]
    return [op for op in gets if "constant" not in known[text_of(op, "name")].attributes]


def keep_globals(module: ir.Module, main: ir.Operation) -> tuple[Weight, ...]:
    """Makes arguments of the globals that a program on memrefs may write: where each lies, and what it holds.

    Raises UnsupportedOpError for one that has no memory here, and one of a function that calls itself.
    """
    found = changing_globals(module)
    if not found:
        return ()
    own = set(nested_ops(main))
    for op in found:
        if op not in own:
            raise refused(op, "a constant, in a function that calls itself")
    _return_copies(main, set(found))
    known, block = globals_of(module), entry_block(main)
    kept: dict[str, tuple[ir.Value, Weight]] = {}
    for op in found:
        name = text_of(op, "name")
        if name not in kept:
            argument = block.add_argument(op.results[0].type, known[name].location)
            kept[name] = argument, Weight(*_memory(op, known[name]))
        op.results[0].replace_all_uses_with(kept[name][0])
        op.erase()
    types = [argument.type for argument, _ in kept.values()]
    set_signature(main, signature(main).with_arguments(formals(types)))
    return tuple(weight for _, weight in kept.values())


def refused(op: ir.Operation, expected: str) -> UnsupportedOpError:
    """The error for an op that gets a global which may be written, where it may not."""
    hint = "Pass it as an argument, which the program may write."
    what, where = f"global @{text_of(op, 'name')}", python_line(op.location) or None
    return UnsupportedOpError(what, expected=expected, got="state", where=where, hint=hint)


def _return_copies(main: ir.Operation, gets: set[ir.Operation]) -> None:
    """Has a function return copies of what may be memory that these ops get."""
    known = Aliases(main)
    found = [
        (end, number)
        for end in returns_of(main)
        for number, value in enumerate(end.operands)
        if is_memref(value.type) and any(defining_op(each) in gets for each in known.origins(value))
    ]
    for end, number in found:
        source = end.operands[number]
        room = alloc(memref_with(shape_of(source.type), source.type), dynamic_dims(source, end), end)
        create("memref.copy", [source, room], [], before=end)
        end.operands[number] = room


def _memory(op: ir.Operation, declared: ir.Operation) -> tuple[TensorSpec, HeldArray]:
    """New memory of a global, with its initial value."""
    kind, name = op.results[0].type, text_of(op, "name")
    element, sizes = element_of(kind), cast("tuple[int, ...]", shape_of(kind))
    if "initial_value" not in declared.attributes:
        raise refused(op, "a global with a value, or `uninitialized`")
    if element not in DTYPES or has_own_layout(kind):
        raise refused(op, f"a row-major memref of {', '.join(dict.fromkeys(DTYPES))}")
    size = element_bytes(element) * int(np.prod(sizes, dtype=np.int64))
    memory, address = aligned(size)
    begin = address - memory.ctypes.data
    array = memory[begin : begin + size]
    initial: Any = declared.attributes["initial_value"]
    if isinstance(initial, ir.UnitAttr):
        array[:] = 0
    else:
        contents: Any = np.ascontiguousarray(contents_of(initial))
        array[:] = contents.reshape(-1).view(np.uint8)
    spec = TensorSpec(f"@{name}", DTYPES[element], sizes, python_line(declared.location))
    return spec, HeldArray(array, DTYPES[element], sizes)
