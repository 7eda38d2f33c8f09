"""What is needed in another memory space than its own is copied there, while it is a tensor still.

func.call @f(%x)    ->    %y = bufferization.alloc_tensor() copy(%x) {memory_space = 0 : i64}
                          func.call @f(%y)
"""

from __future__ import annotations

from hotdesk._bindings import ir
from hotdesk.analysis.tensors.memory_spaces import SpaceRules, misplaced
from hotdesk.analysis.tensors.program import TensorProgram
from hotdesk.ir.building import create


def copy_between_spaces(record: TensorProgram, rules: SpaceRules) -> bool:
    """Copies what calls, returns and memrefs need elsewhere; whether anything is, so that the record is out of date."""
    found = list(misplaced(record, rules)) if record.spaces else []
    for op, operand, space in found:
        value = op.operation.operands[operand]
        attributes: dict[str, ir.Attribute] = {
            "memory_space": ir.IntegerAttr.get(ir.IntegerType.get_signless(64), 0) if space is None else space,
            "operandSegmentSizes": ir.DenseI32ArrayAttr.get([0, 1, 0]),
        }
        made = create("bufferization.alloc_tensor", [value], [value.type], attributes, before=op.operation)
        op.operation.operands[operand] = made.results[0]
    return bool(found)
