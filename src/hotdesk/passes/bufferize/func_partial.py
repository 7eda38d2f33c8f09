"""Bufferizes function boundaries alone: arguments, results, calls, and values passed between blocks.

    func @f(%x: tensor<4xf32>) -> tensor<4xf32> {         func @f(%m: memref<4xf32>) -> memref<4xf32> {
      %r = call @g(%x)                                      %a = call @g(%m)
      cf.br ^b(%r : tensor<4xf32>)                    ->    cf.br ^b(%a : memref<4xf32>)
    ^b(%s: tensor<4xf32>):                                ^b(%b: memref<4xf32>):
      return %s }                                           return %b }

Every ranked tensor becomes a contiguous memref, in declarations too. Between these and ops that have tensors stand
`bufferization.to_tensor` and `bufferization.to_buffer`. Legal iff functions with tensors are used by `func.call` only. The order
of partial passes does not matter. `hotdesk-finalizing-bufferize` ends what they began.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from hotdesk._bindings import ir
from hotdesk.explain import Decision
from hotdesk.ir.building import remade
from hotdesk.ir.functions import called_name, named_functions, require_calls_alone
from hotdesk.ir.locations import placed
from hotdesk.ir.signature import signature
from hotdesk.ir.types import is_tensor, memref_of
from hotdesk.ir.walking import modules, nested_ops
from hotdesk.models.callee import retype
from hotdesk.models.func import RETURN
from hotdesk.passes.base import Pass
from hotdesk.passes.bufferize.materializing import copied_as, rebuild_arguments, to_buffer, to_tensor
from hotdesk.passes.properties import NO_TENSORS_IN_SIGNATURES, Property


@dataclass(frozen=True, slots=True)
class FuncBufferize(Pass):
    """Bufferizes signatures, calls, returns and branches (see the module docstring)."""

    name: ClassVar[str] = "hotdesk-func-bufferize"

    def ensures(self) -> tuple[Property, ...]:
        return (NO_TENSORS_IN_SIGNATURES,)

    def run(self, module: ir.Module) -> tuple[Decision, ...]:
        for each in modules(module):
            functions = named_functions(each)
            changing = {name: f for name, f in functions.items() if _has_tensors(f)}
            require_calls_alone(each, changing)
            for function in functions.values():
                with placed(function.location):
                    _bufferize(function, changing)
        return ()


def _bufferize(function: ir.Operation, changing: dict[str, ir.Operation]) -> None:
    for block in function.regions[0].blocks:
        rebuild_arguments(block)
    for op in list(nested_ops(function)):
        with placed(op.location):
            _rewrite(op, changing)
    if _has_tensors(function):
        retype(function, memref_of)


def _has_tensors(function: ir.Operation) -> bool:
    return any(map(is_tensor, signature(function).types))


def _rewrite(op: ir.Operation, changing: dict[str, ir.Operation]) -> None:
    if called_name(op) in changing:
        _rewrite_call(op)
    elif op.name == RETURN or (op.name.startswith("cf.") and len(op.successors)):
        for number, operand in enumerate(_passed(op)):
            op.operands[number] = operand


def _passed(op: ir.Operation) -> list[ir.Value]:
    """The operands of an op with memrefs for tensors, contiguous ones as a boundary has them."""
    operands: list[ir.Value] = []
    for value in op.operands:
        if not is_tensor(value.type):
            operands.append(value)
            continue
        memref = to_buffer(value, op)
        kind = memref_of(value.type)
        operands.append(memref if memref.type == kind else copied_as(memref, kind, op))
    return operands


def _rewrite_call(op: ir.Operation) -> None:
    types = [memref_of(r.type) if is_tensor(r.type) else r.type for r in op.results]
    new = remade(op, _passed(op), types)
    for old, result in zip(op.results, new.results, strict=True):
        old.replace_all_uses_with(to_tensor(result, old.type, op) if is_tensor(old.type) else result)
    op.erase()
