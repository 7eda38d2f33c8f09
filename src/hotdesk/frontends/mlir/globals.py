"""Globals that a program may write: memory of the program, which it keeps from one call to the next.

    memref.global "private" @count : memref<i64> = dense<0>            ->     func.func @main(%x: …, %count: memref<i64>) {
    func.func @main(%x: …) { %c = memref.get_global @count …

1. One that is no `constant` becomes an argument behind the others, in memory of its own that holds the initial value; zeros where
   that is `uninitialized`.
2. What is returned of it is a copy: the caller's arrays are none of the program's memory.
3. In a program on tensors, so does an `ml_program.global` that is `mutable`. The argument is a tensor, and what that holds in the
   end is returned behind the results. Where loops and branches store one, it is a memref, as that of a `memref.global` is:

       ml_program.global_store @count = %t    ->    bufferization.materialize_in_destination %t in %count
"""

from __future__ import annotations

from collections.abc import Sequence
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
from hotdesk.ir.op_maps import OpSet
from hotdesk.ir.signature import FunctionSignature, formals, set_signature, signature
from hotdesk.ir.types import (
    element_bytes,
    element_of,
    is_memref,
    is_tensor,
    memref_of,
    memref_with,
    shape_of,
)
from hotdesk.ir.walking import (
    defining_op,
    entry_block,
    globals_of,
    nested_ops,
    symbol_name,
    text_of,
)
from hotdesk.models.bufferization import TO_TENSOR, materialize
from hotdesk.models.new_memory import GLOBAL
from hotdesk.passes.lower.function import contents_of
from hotdesk.runtime.interface import TensorSpec
from hotdesk.runtime.shared import aligned

_TENSOR, _LOAD, _STORE = "ml_program.global", "ml_program.global_load", "ml_program.global_store"


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
    own = OpSet(nested_ops(main))
    for op in found:
        if op not in own:
            raise refused(op, "a constant, in a function that calls itself")
    _return_copies(main, OpSet(found))
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


def keep_tensors(module: ir.Module, main: ir.Operation, *, on_memrefs: bool) -> tuple[tuple[Weight, ...], int]:
    """Makes arguments of the globals that a program may write: memrefs, and tensors, with results for what they hold in the end.

    Memrefs in a program that is not `on_memrefs`. Returns where each lies, and what it holds; memrefs first, then tensors that
    are stored, and how many these are together. Raises UnsupportedOpError for one that a function uses which calls itself, and
    for one that is no tensor with a value.
    """
    known = {symbol_name(op.operation): op.operation for op in module.body.operations if op.operation.name == _TENSOR}
    found = [op for op in nested_ops(module.operation) if op.name in (_LOAD, _STORE)]
    for op in found:
        if _name(op) not in known:
            raise refused(op, "a global of the module")
    found = [op for op in found if "is_mutable" in known[_name(op)].attributes]
    gets, known = [] if on_memrefs else changing_globals(module), known | globals_of(module)
    if not found and not gets:
        return (), 0
    block, own = entry_block(main), OpSet(nested_ops(main))
    for op in (*found, *gets):
        if op not in own:
            raise refused(op, "a constant, in a function that calls itself")
    is_straight = len(main.regions[0].blocks) == 1
    nested = (op for op in found if op.name == _STORE and not (is_straight and op.block == block))
    in_memory = dict.fromkeys(map(_name, (*gets, *nested)))
    stored = [name for name in dict.fromkeys(_name(op) for op in found if op.name == _STORE) if name not in in_memory]
    names = list(dict.fromkeys((*in_memory, *stored, *map(_name, found))))
    weights = tuple(Weight(*_memory(_use_of(name, (*found, *gets)), known[name])) for name in names)
    kinds = [_kind(known[name], in_memory=name in in_memory) for name in names]
    held: dict[str, ir.Value] = {}
    for name, kind in zip(names, kinds, strict=True):
        held[name] = block.add_argument(kind, known[name].location)
    for op in (*gets, *found):  # in the order in which they run
        if _name(op) in in_memory:
            _use_memory(op, held[_name(op)])
        elif op.name == _STORE:
            held[_name(op)] = op.operands[0]
        else:
            op.results[0].replace_all_uses_with(held[_name(op)])
        op.erase()
    end = returns_of(main)[0]
    create("func.return", [*end.operands, *(held[name] for name in stored)], [], before=end)
    end.erase()
    given = signature(main).with_arguments(formals(kinds))
    last = formals(held[name].type for name in stored)
    set_signature(main, FunctionSignature(given.arguments, (*given.results, *last)))
    return weights, len(in_memory) + len(stored)


def _kind(declared: ir.Operation, *, in_memory: bool) -> ir.Type:
    """The type of a global, a memref where it is `in_memory`."""
    kind = cast(Any, declared.attributes["type"]).value
    return memref_of(kind) if in_memory and is_tensor(kind) else kind


def _shown(room: ir.Value, kind: ir.Type, before: ir.Operation) -> ir.Value:
    """What memory holds there, as a tensor."""
    return create(TO_TENSOR, [room], [kind], {"restrict": ir.UnitAttr.get()}, before=before).results[0]


def _use_memory(op: ir.Operation, room: ir.Value) -> None:
    """Has an op that gets, loads or stores a global do so in memory; it is left without a use."""
    if op.name == GLOBAL:
        op.results[0].replace_all_uses_with(room)
    elif op.name == _LOAD:
        op.results[0].replace_all_uses_with(_shown(room, op.results[0].type, op))
    else:
        materialize(op.operands[0], room, op)


def _use_of(name: str, found: Sequence[ir.Operation]) -> ir.Operation:
    return next(op for op in found if _name(op) == name)


def _name(op: ir.Operation) -> str:
    """The name of the global that an op gets, loads or stores."""
    path = cast(Any, op.attributes["name" if op.name == GLOBAL else "global"]).value
    return path if isinstance(path, str) else ".".join(path)


def refused(op: ir.Operation, expected: str) -> UnsupportedOpError:
    """The error for an op that gets a global which may be written, where it may not."""
    hint = "Pass it as an argument, which the program may write."
    what, where = f"global @{_name(op)}", python_line(op.location) or None
    return UnsupportedOpError(what, expected=expected, got="state", where=where, hint=hint)


def _return_copies(main: ir.Operation, gets: OpSet) -> None:
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
    kind, name = cast(Any, declared.attributes["type"]).value, _name(op)
    if not (is_memref(kind) or is_tensor(kind)) or None in shape_of(kind):
        raise refused(op, "a tensor of known sizes")
    element, sizes = element_of(kind), cast("tuple[int, ...]", shape_of(kind))
    initial: Any = declared.attributes.get("initial_value" if is_memref(kind) else "value", None)
    if not isinstance(initial, (ir.UnitAttr, ir.DenseElementsAttr, ir.DenseResourceElementsAttr)):
        raise refused(op, "a global with a value, or `uninitialized`")
    if element not in DTYPES or has_own_layout(kind):
        raise refused(op, f"a row-major memref of {', '.join(dict.fromkeys(DTYPES))}")
    size = element_bytes(element) * int(np.prod(sizes, dtype=np.int64))
    memory, address = aligned(size)
    begin = address - memory.ctypes.data
    array = memory[begin : begin + size]
    if isinstance(initial, ir.UnitAttr):
        array[:] = 0
    else:
        contents: Any = np.ascontiguousarray(contents_of(initial))
        array[:] = contents.reshape(-1).view(np.uint8)
    spec = TensorSpec(f"@{name}", DTYPES[element], sizes, python_line(declared.location))
    return spec, HeldArray(array, DTYPES[element], sizes)
