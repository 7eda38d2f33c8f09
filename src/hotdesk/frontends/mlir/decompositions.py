"""Decompositions of `linalg` ops that are several in one, such as a softmax, by MLIR's transformations.

MLIR takes them apart on tensors alone. One on memrefs becomes a function that does it on tensors of this memory, bufferized here:

    linalg.softmax dimension(1) ins(%x : memref<?x4xf32>) outs(%y : memref<?x4xf32>)     ->     func.call @softmax_0(%x, %y)

Its inputs are copied in front of it unless nothing of them lies in what it writes. In a program that has tensors besides, the
function stays on tensors, and is bufferized with the others.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from hotdesk._bindings import ir
from hotdesk.analysis.memrefs.aliasing import Aliases
from hotdesk.ir.building import create
from hotdesk.ir.context import entered, run_mlir_passes
from hotdesk.ir.op_maps import OpMap, OpSet
from hotdesk.ir.signature import FunctionSignature, formals, new_function
from hotdesk.ir.symbols import Symbols
from hotdesk.ir.types import is_any_tensor, is_memref, memref_of, shape_of, tensor_with
from hotdesk.ir.walking import attributes_of, function_around, main_function, nested_ops
from hotdesk.models.bufferization import TO_TENSOR
from hotdesk.models.new_memory import DEALLOC
from hotdesk.passes.bufferize.materializing import copied_as
from hotdesk.passes.bufferize.one_shot import OneShotBufferize
from hotdesk.passes.buffers.deallocate import DeallocateAfterLastUse

_PARTS: Mapping[str, tuple[str, Sequence[str]]] = {
    "linalg.softmax": ("decompose_interface", ()),
    **{f"linalg.winograd_{part}_transform": ("decompose_winograd_op", ()) for part in ("filter", "input", "output")},
    "linalg.pack": ("lower_pack", ("tensor.pad", "tensor.expand_shape", "linalg.transpose")),
    "linalg.unpack": (
        "lower_unpack",
        ("tensor.empty", "linalg.transpose", "tensor.collapse_shape", "tensor.extract_slice", "linalg.copy"),
    ),
}
"""Ops that MLIR takes apart on tensors: what of `transform.structured` does it, and what it makes where its type says that."""
_SOURCE, _TARGET = 0, 1
"""The operands of such an op that it reads and writes."""
_ANY_OP = "!transform.any_op"
_SCRIPT = """module {{
  module attributes {{transform.with_named_sequence}} {{
    transform.named_sequence @__transform_main(%root: !transform.any_op {{transform.readonly}}) {{
      {}
      transform.yield
    }}
  }}
}}"""


def take_apart(module: ir.Module) -> None:
    """Makes plain ops of those that are several, on tensors and on memrefs."""
    found = [op for op in nested_ops(module.operation) if op.name in _PARTS]
    if not found:
        return
    with entered(module.operation):
        _call_on_tensors(module, [op for op in found if not len(op.results)])
        _transform(module)


def _transform(module: ir.Module) -> None:
    """Takes the ops on tensors of a module apart."""
    names = dict.fromkeys(op.name for op in nested_ops(module.operation) if op.name in _PARTS)
    steps: list[str] = []
    for i, name in enumerate(names):
        step, parts = _PARTS[name]
        taken = f'!transform.op<"{name}">' if parts else _ANY_OP
        made = [f'!transform.op<"{part}">' for part in parts] or [_ANY_OP]
        steps.append(f'%{i} = transform.structured.match ops{{["{name}"]}} in %root : ({_ANY_OP}) -> {taken}')
        steps.append(f"%m{i}:{len(made)} = transform.structured.{step} %{i} : ({taken}) -> ({', '.join(made)})")
    if not steps:
        return
    parsed = ir.Module.parse(_SCRIPT.format("\n".join(steps)))
    script = parsed.body.operations[0].operation
    script.detach_from_parent()
    module.body.append(script)
    run_mlir_passes(module, "transform-interpreter")
    script.erase()


def _call_on_tensors(module: ir.Module, found: Sequence[ir.Operation]) -> None:
    """Makes calls of ops on memrefs: of functions that are on memrefs as well, where the rest of the program is."""
    if not found:
        return
    main, symbols, apart = main_function(module), Symbols(), ir.Module.create()
    on_memrefs = not any(is_any_tensor(kind) for kind in _types(module))
    around = OpSet(map(function_around, found))
    known = OpMap((function, Aliases(function, function != main)) for function in around)
    copied = [not known[function_around(op)].relation(op.operands[_SOURCE], op.operands[_TARGET]).apart for op in found]
    for op, is_copied in zip(found, copied, strict=True):
        name = symbols.unused(function_around(op), op.name.partition(".")[2])
        operands = list(op.operands)
        if is_copied:
            operands[_SOURCE] = copied_as(operands[_SOURCE], memref_of(operands[_SOURCE].type), op)
        _on_tensors(op, [value.type for value in operands], name, apart)
        create("func.call", operands, [], {"callee": ir.FlatSymbolRefAttr.get(name)}, before=op)
        if is_copied and on_memrefs:
            create(DEALLOC, [operands[_SOURCE]], [], before=op)
        op.erase()
    if on_memrefs:
        _transform(apart)
        for each in (OneShotBufferize(), DeallocateAfterLastUse()):
            each.apply(apart)
    for made in [view.operation for view in apart.body.operations]:
        made.detach_from_parent()
        module.body.append(made)


def _on_tensors(op: ir.Operation, types: Sequence[ir.Type], name: str, module: ir.Module) -> None:
    """A private function of operands of these types that does what an op on memrefs does, on tensors."""
    point = ir.InsertionPoint(module.body)
    function, block = new_function(name, FunctionSignature(formals(types), ()), point, op.location)
    function.attributes["sym_visibility"] = ir.StringAttr.get("private")
    memory, promised = block.arguments[_TARGET], {"restrict": ir.UnitAttr.get()}
    writable = {**promised, "writable": ir.UnitAttr.get()}
    with ir.InsertionPoint(block), op.location:
        end = ir.Operation.create("func.return").operation
    tensors = [
        create(TO_TENSOR, [value], [tensor_with(shape_of(value.type), value.type)], promised, before=end).results[0]
        if is_memref(value.type)
        else value
        for value in block.arguments
    ]
    result = create(op.name, tensors, [tensors[_TARGET].type], attributes_of(op), before=end).results[0]
    create("bufferization.materialize_in_destination", [result, memory], [], writable, before=end)


def _types(module: ir.Module) -> Iterator[ir.Type]:
    """The types of all values of a module."""
    for op in nested_ops(module.operation):
        yield from (value.type for value in op.results)
        yield from (value.type for region in op.regions for block in region.blocks for value in block.arguments)
