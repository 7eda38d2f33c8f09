"""Memory that a program has besides its tensors: memrefs, which are arrays that change, and globals.

A tensor of a memref is what the memref holds then, and a memref of a tensor is memory of its own: an implementation may share
memory only so that nobody can tell.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from tests.reference.interpreter import Interpreter, Meaning
from tests.reference.values import DYNAMIC, Operation, Undefined, Values, dtype_of, place, slices


def _copied(machine: Interpreter, op: Operation, operands: list[Any], values: Values) -> Sequence[Any]:
    return [operands[0].copy()]


def _itself(machine: Interpreter, op: Operation, operands: list[Any], values: Values) -> Sequence[Any]:
    return [operands[0]]


def _nothing(machine: Interpreter, op: Operation, operands: list[Any], values: Values) -> Sequence[Any]:
    return []


def _load(machine: Interpreter, op: Operation, operands: list[Any], values: Values) -> Sequence[Any]:
    memref, *position = operands
    return [memref[place(memref, position)]]


def _store(machine: Interpreter, op: Operation, operands: list[Any], values: Values) -> Sequence[Any]:
    scalar, memref, *position = operands
    memref[place(memref, position)] = scalar
    return []


def _subview(machine: Interpreter, op: Operation, operands: list[Any], values: Values) -> Sequence[Any]:
    part = operands[0][slices(op, operands, 1, operands[0].shape)]
    assert part.ndim == op.results[0].type.rank, "a subview that drops dimensions has no meaning here"
    return [part]


def _alloc(machine: Interpreter, op: Operation, operands: list[Any], values: Values) -> Sequence[Any]:
    shape = [int(operands.pop(0)) if size == DYNAMIC else size for size in op.results[0].type.shape]
    return [np.array(machine.read(Undefined(tuple(shape), dtype_of(op.results[0].type))))]


def _transpose(machine: Interpreter, op: Operation, operands: list[Any], values: Values) -> Sequence[Any]:
    order = op.attributes["permutation"].value
    return [operands[0].transpose([expression.position for expression in order.results])]


def _copy(machine: Interpreter, op: Operation, operands: list[Any], values: Values) -> Sequence[Any]:
    operands[1][...] = operands[0]
    return []


def _global(machine: Interpreter, op: Operation) -> tuple[str, Any]:
    """The name of a global, and what it holds."""
    name = op.attributes["global"].value
    assert isinstance(name, str), "a global of another module has no meaning here"
    if name not in machine.globals:
        module = op.parent
        while module.name != "builtin.module":
            module = module.parent
        views = (view.operation for view in module.regions[0].blocks[0].operations)
        found = next(o for o in views if o.name == "ml_program.global" and o.attributes["sym_name"].value == name)
        machine.globals[name] = np.array(found.attributes["value"])
    return name, machine.globals[name]


def _global_load(machine: Interpreter, op: Operation, operands: list[Any], values: Values) -> Sequence[Any]:
    return [_global(machine, op)[1]]


def _global_store(machine: Interpreter, op: Operation, operands: list[Any], values: Values) -> Sequence[Any]:
    machine.globals[_global(machine, op)[0]] = operands[0]
    return []


MEANINGS: dict[str, Meaning] = {
    "bufferization.to_tensor": _copied,
    "bufferization.to_buffer": _copied,
    "bufferization.dealloc_tensor": _nothing,
    "hotdesk.own": _itself,
    "memref.alloc": _alloc,
    "memref.cast": _itself,
    "memref.dealloc": _nothing,
    "memref.load": _load,
    "memref.store": _store,
    "memref.subview": _subview,
    "memref.transpose": _transpose,
    "memref.copy": _copy,
    "ml_program.global_load": _global_load,
    "ml_program.global_load_const": _global_load,
    "ml_program.global_store": _global_store,
}
