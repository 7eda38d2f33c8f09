"""Arithmetic on tensors goes element by element, on scalars it touches no memory; a tensor constant is read-only memory.

    %r = arith.addf %a, %b : tensor<4xf32>   ->   %r = linalg.generic ins(%a, %b) outs(%a) { yield addf }

The result is computed over an operand of its type that nothing else uses, if there is one: the payload does not read it, so the
analysis may write there or elsewhere. Else the init is empty.
"""

from __future__ import annotations

from hotdesk._bindings import ir
from hotdesk.ir.building import create, empty_of, structured
from hotdesk.ir.types import is_tensor
from hotdesk.ir.walking import attributes_of, function_around
from hotdesk.models.facts import Facts, reads_tensors
from hotdesk.models.model import Buffers, OpModel
from hotdesk.models.scf import SELECT


def _expand_elementwise(op: ir.Operation) -> list[ir.Value] | None:
    """The op in the payload of a `linalg.generic`; None for one on scalars."""
    kinds = [result.type for result in op.results]
    if not kinds or not all(is_tensor(kind) for kind in kinds):
        return None
    inputs = [value for value in op.operands if is_tensor(value.type)]
    inits: list[ir.Value] = []
    for kind in kinds:
        dying = (v for v in inputs if v.type == kind and v not in inits and _is_used_once(v, op))
        inits.append(next(dying, None) or empty_of(kind, inputs[0], op))
    generic, end = structured(inputs, inits, op)
    scalars = iter(generic.regions[0].blocks[0].arguments)
    operands = [next(scalars) if is_tensor(value.type) else value for value in op.operands]
    elements = [kind.element_type for kind in kinds if isinstance(kind, ir.RankedTensorType)]
    attributes = attributes_of(op)
    scalar = create(op.name, operands, elements, attributes, before=end)
    for number, value in enumerate(scalar.results):
        end.operands[number] = value
    return list(generic.results)


def _is_used_once(value: ir.Value, op: ir.Operation) -> bool:
    """Whether an op of the same block made it, and `op` alone uses it."""
    owner = value.owner
    if isinstance(owner, ir.Block) or owner.operation.block != op.block:
        return False
    return len(list(value.uses)) == 1


ELEMENTWISE = OpModel(reads_tensors, expand=_expand_elementwise)


def _constant_facts(op: ir.Operation) -> Facts:
    return Facts(constants=frozenset({0})) if is_tensor(op.results[0].type) else Facts()


def _bufferize_constant(op: ir.Operation, buffers: Buffers) -> None:
    """A tensor constant becomes a private constant `memref.global` in front of the function."""
    result = op.results[0]
    if not is_tensor(result.type):
        return
    function = function_around(op)
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


def _select_facts(op: ir.Operation) -> Facts:
    return reads_tensors(op) if is_tensor(op.operands[0].type) else SELECT.facts(op)


def _expand_select(op: ir.Operation) -> list[ir.Value] | None:
    """Of tensors element by element; one scalar condition chooses one of two tensors and is left as it is."""
    return _expand_elementwise(op) if is_tensor(op.operands[0].type) else None


MODELS = {
    "arith.*": ELEMENTWISE,
    "math.*": ELEMENTWISE,
    "arith.constant": OpModel(_constant_facts, _bufferize_constant),
    "arith.select": OpModel(_select_facts, SELECT.bufferize, expand=_expand_select),
}
