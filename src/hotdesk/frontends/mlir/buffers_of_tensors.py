"""Memory that is asked for of tensors (`bufferization.to_buffer`), made ready for MLIR's simplifications.

These take it for the memory that the tensor was made of, or for a `memref.alloc` of its type and a copy. So in front of them

1. tensors of memory that is written before it is read are made of copies (`passes.tensor.snapshots`), calls inlined first;
2. a tensor that is asked for in a layout which is open in part is copied into memory laid out that way, as MLIR has none of such
   a type:

       %b = bufferization.to_buffer %t : tensor<3x4xf32> to memref<3x4xf32, strided<[?, 2], offset: 3>>
       ->
       %c = bufferization.to_buffer %t : tensor<3x4xf32> to memref<3x4xf32>
       %m = memref.alloc() : memref<35xf32>; %b = memref.reinterpret_cast %m to offset: [3], …, strides: [8, 2]; %b is given %c
"""

from __future__ import annotations

from hotdesk._bindings import ir
from hotdesk.frontends.mlir.layouts import has_own_layout
from hotdesk.ir.building import create
from hotdesk.ir.context import entered, run_mlir_passes
from hotdesk.ir.types import is_memref, is_strided, is_tensor, layout_of, memref_of
from hotdesk.ir.walking import defined_functions, made_by, main_function, nested_ops
from hotdesk.models.bufferization import TO_BUFFER, TO_TENSOR
from hotdesk.passes.bufferize.materializing import copied_as
from hotdesk.passes.tensor.snapshots import take_snapshots


def settle_buffers(module: ir.Module) -> None:
    """Makes what a program asks for of tensors independent of the memory that they show, where that is not it."""
    if not any(op.name == TO_BUFFER for op in nested_ops(module.operation)):
        return
    run_mlir_passes(module, "inline{default-pipeline=},symbol-dce")
    with entered(module.operation):
        main = main_function(module)
        for function in defined_functions(module):
            take_snapshots(function, arguments_apart=function == main)
        for op in [op for op in nested_ops(module.operation) if op.name == TO_BUFFER]:
            if _is_open(op):
                plain = create(TO_BUFFER, [op.operands[0]], [memref_of(op.results[0].type)], before=op).results[0]
                op.results[0].replace_all_uses_with(copied_as(plain, op.results[0].type, op))
                op.erase()


def _is_open(op: ir.Operation) -> bool:
    """Whether a tensor is asked for in a layout that is open in part, and that the memory it was made of need not have."""
    tensor, kind = op.operands[0], op.results[0].type
    if not is_tensor(tensor.type) or not has_own_layout(kind):
        return False
    strides, offset = layout_of(kind)
    wanted = (*strides, offset)
    made = made_by(tensor, TO_TENSOR)
    if None not in wanted:
        return False
    if made is None or not is_memref(made.operands[0].type) or not is_strided(made.operands[0].type):
        return True
    there, begin = layout_of(made.operands[0].type)
    return not all(b is None or a == b for a, b in zip((*there, begin), wanted, strict=True))
