"""Arithmetic on tensors goes element by element, on scalars it touches no memory; a tensor constant is read-only memory."""

from __future__ import annotations

from typing import Any, cast

from hotdesk._bindings import ir
from hotdesk.ir.building import create
from hotdesk.ir.types import is_tensor
from hotdesk.models.elementwise import ELEMENTWISE, elementwise_facts, expand_elementwise
from hotdesk.models.facts import Facts
from hotdesk.models.model import Buffers, OpModel
from hotdesk.models.scf import SELECT


def _constant_facts(op: ir.Operation) -> Facts:
    return Facts(constants=frozenset({0})) if is_tensor(op.results[0].type) else Facts()


def _bufferize_constant(op: ir.Operation, buffers: Buffers) -> None:
    """A tensor constant becomes a private constant `memref.global` in front of the function."""
    result = op.results[0]
    if not is_tensor(result.type):
        return
    function = op
    while function.name != "func.func":
        function = cast(Any, function.parent).operation
    symbol, memref = buffers.symbols.unused(function, "constant"), buffers.plain_type(result)
    create(
        "memref.global",
        [],
        [],
        {
            "sym_name": ir.StringAttr.get(symbol),
            "sym_visibility": ir.StringAttr.get("private"),
            "type": ir.TypeAttr.get(memref),
            "initial_value": op.attributes["value"],
            "constant": ir.UnitAttr.get(),
        },
        before=function,
    )
    name = ir.FlatSymbolRefAttr.get(symbol)
    buffers.assign(result, create("memref.get_global", [], [memref], {"name": name}, before=op).results[0])


def _scalar(op: ir.Operation) -> Facts:
    return Facts()


def _select_facts(op: ir.Operation) -> Facts:
    return elementwise_facts(op) if is_tensor(op.operands[0].type) else SELECT.facts(op)


def _expand_select(op: ir.Operation) -> list[ir.Value] | None:
    """Of tensors element by element; one scalar condition chooses one of two tensors and is left as it is."""
    return expand_elementwise(op) if is_tensor(op.operands[0].type) else None


MODELS = {
    "arith.*": ELEMENTWISE,
    "math.*": ELEMENTWISE,
    "arith.constant": OpModel(_constant_facts, _bufferize_constant),
    "arith.select": OpModel(_select_facts, SELECT.bufferize, expand=_expand_select),
    "cf.assert": OpModel(_scalar),
}
