"""Scalar arithmetic touches no memory; a tensor constant is read-only memory; assertions read scalars."""

from __future__ import annotations

from typing import Any, cast

from hotdesk._bindings import ir
from hotdesk.ir.building import create
from hotdesk.ir.types import is_tensor, memref_of
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
    count = sum(1 for o in function.block.operations if o.operation.name == "memref.global")
    symbol, memref = f"constant_{count}", memref_of(result.type)
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


_SCALAR_OPS = (
    *("addi", "subi", "muli", "divsi", "divui", "remsi", "remui", "floordivsi", "ceildivsi", "ceildivui", "maxsi"),
    *("minsi", "maxui", "minui", "andi", "ori", "xori", "shli", "shrsi", "shrui", "cmpi", "cmpf"),
    *("addf", "subf", "mulf", "divf", "remf", "negf", "maximumf", "minimumf", "maxnumf", "minnumf", "extf", "truncf"),
    *("extsi", "extui", "trunci", "sitofp", "uitofp", "fptosi", "fptoui", "index_cast", "index_castui", "bitcast"),
)
MODELS = {
    "arith.constant": OpModel(_constant_facts, _bufferize_constant),
    "arith.select": SELECT,
    "cf.assert": OpModel(_scalar),
    **{f"arith.{name}": OpModel(_scalar) for name in _SCALAR_OPS},
    **{
        f"math.{name}": OpModel(_scalar)
        for name in ("sqrt", "rsqrt", "exp", "log", "sin", "cos", "tanh", "powf", "fpowi")
    },
}
