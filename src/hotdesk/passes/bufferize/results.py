"""Results of a function as its last arguments: memory of the caller's, in which they are computed where that is possible."""

from __future__ import annotations

from typing import Any, cast

from hotdesk._bindings import ir
from hotdesk.analysis.program import FunctionRecord
from hotdesk.errors import BufferizationError
from hotdesk.explain import Outcome, Reason
from hotdesk.ir.building import create, elementwise_copy, integers
from hotdesk.ir.locations import python_line
from hotdesk.ir.types import is_memref, is_tensor, memref_of, row_major, shape_of
from hotdesk.ir.walking import defining_op, entry_block
from hotdesk.passes.bufferize.rewriting import Rewriting

RESULT = "bufferize.result"
_VIEWS = ("memref.expand_shape", "memref.collapse_shape", "memref.cast")


def place_results(
    function: ir.Operation, record: FunctionRecord, rewriting: Rewriting, buffers: list[ir.Value]
) -> None:
    """Replaces the return by one without tensors, and the allocations that results cover by arguments.

    Raises:
        BufferizationError: a result is no tensor, or a tensor is left.
    """
    returned = record.ops[-1]
    values = list(returned.operation.operands)
    for number, value in enumerate(values):
        if not is_tensor(value.type) and not _is_private(function):
            where = python_line(returned.operation.location) or None
            raise BufferizationError(f"result {number}", expected="a tensor", got=str(value.type), where=where)
    kept = [value for value in buffers if not is_memref(value.type)]
    types: dict[int, ir.Type] = {
        number: memref_of(value.type) for number, value in enumerate(values) if is_tensor(value.type)
    }
    last = create("func.return", kept, [], before=returned.operation)
    returned.operation.erase()
    _place(function, record, rewriting, buffers, types, last)
    rewriting.finish()
    _set_type(function, record, types, kept)


def _is_private(function: ir.Operation) -> bool:
    return (
        "sym_visibility" in function.attributes and cast(Any, function.attributes["sym_visibility"]).value == "private"
    )


def _place(
    function: ir.Operation,
    record: FunctionRecord,
    rewriting: Rewriting,
    buffers: list[ir.Value],
    types: dict[int, ir.Type],
    last: ir.Operation,
) -> None:
    taken: set[ir.Value] = set()
    deciding = rewriting.deciding
    block = entry_block(function)
    for number, result_type in types.items():
        buffer, value = buffers[number], record.ops[-1].operands[number]
        argument = block.add_argument(result_type, last.location)
        allocation, reason = rewriting.covered_allocation(value, buffer, taken)
        if allocation is not None and allocation.type != result_type and None in row_major(shape_of(allocation.type)):
            allocation, reason = None, Reason.SIZE_NOT_PROVEN_EQUAL
        if allocation is None:
            elementwise_copy([buffer], argument, None, len(shape_of(result_type)), last)
            deciding.of_result(number, value, Outcome.COPIED, reason)
            continue
        deciding.of_result(number, value, Outcome.LENT, Reason.RESULT_SLOT)
        if allocation in deciding.allocations:
            deciding.decisions.remove(deciding.allocations[allocation])
        op = cast(ir.Operation, defining_op(allocation))
        replacement = argument if allocation.type == argument.type else _seen_as(argument, allocation, op)
        allocation.replace_all_uses_with(replacement)
        buffers[:] = [replacement if other == allocation else other for other in buffers]
        op.erase()
        taken.update((replacement, argument, allocation))


def _set_type(function: ir.Operation, record: FunctionRecord, types: dict[int, ir.Type], kept: list[ir.Value]) -> None:
    block = entry_block(function)
    function_type = ir.FunctionType.get([a.type for a in block.arguments], [value.type for value in kept])
    function.attributes["function_type"] = ir.TypeAttr.get(function_type)
    given = "arg_attrs" in function.attributes
    empty = [ir.DictAttr.get({})] * (len(block.arguments) - len(types))
    attributes = list(cast(Any, function.attributes["arg_attrs"])) if given else empty
    i64 = ir.IntegerType.get_signless(64)
    for number in types:
        operand = record.ops[-1].operands[number]
        shape = [ir.StringAttr.get(str(size)) for size in record.values[operand].shape]
        entry: dict[str, ir.Attribute] = {
            RESULT: ir.IntegerAttr.get(i64, number),
            "hotdesk.shape": ir.ArrayAttr.get(shape),
        }
        attributes.append(ir.DictAttr.get(entry))
    function.attributes["arg_attrs"] = ir.ArrayAttr.get(attributes)
    if "res_attrs" in function.attributes:
        del function.attributes["res_attrs"]


def _seen_as(argument: ir.Value, allocation: ir.Value, op: ir.Operation) -> ir.Value:
    """A contiguous argument seen with an allocation's sizes, at the allocation's place in the program."""
    dynamic = -(2**63)
    sizes = shape_of(allocation.type)
    strides = row_major(sizes)
    attributes = {
        "static_offsets": integers([0]),
        "static_sizes": integers([dynamic if s is None else s for s in sizes]),
        "static_strides": integers([cast(int, s) for s in strides]),
        "operandSegmentSizes": ir.DenseI32ArrayAttr.get([1, 0, len(op.operands), 0]),
    }
    operands = [argument, *op.operands]
    return create("memref.reinterpret_cast", operands, [allocation.type], attributes, before=op).results[0]
