"""First steps of bufferization: ops expanded as models say, types without a form in memory refused, memory spaces changed."""

from __future__ import annotations

from collections.abc import Sequence

from hotdesk._bindings import ir
from hotdesk.analysis.tensors.memory_spaces import SpaceRules, misplaced
from hotdesk.analysis.tensors.program import TensorProgram
from hotdesk.errors import BufferizationError
from hotdesk.ir.building import create
from hotdesk.ir.locations import python_line
from hotdesk.ir.types import is_tensor
from hotdesk.ir.walking import defining_op, nested_ops
from hotdesk.models.model import OpModel
from hotdesk.models.purity import is_pure
from hotdesk.models.registry import model_of

_GIVEN = "hotdesk.given"
"""On ops that were there before others were expanded."""


def expand_ops(function: ir.Operation) -> None:
    """Replaces the ops of a function whose models have an `expand`; payloads of structured ops are left alone.

    What only those used goes with them.

    Raises:
        BufferizationError: a tensor has no rank, or is sparse.
    """
    for region in function.regions:
        for block in region.blocks:
            _refuse(function, list(block.arguments))
            for view in list(block.operations):
                operands = list(view.operation.operands)
                if _visit(view.operation):
                    _erase_unused(operands)


def expand_among(function: ir.Operation, ops: Sequence[ir.Operation]) -> list[tuple[ir.Operation, bool]]:
    """Replaces those of some ops whose models have an `expand`; all ops of the function then, and whether each was made so.

    Ops are told apart by a mark: what an op hashes to depends on its operands, which change.
    """
    expanding = [op for op in ops if (model := model_of(op.name)) is not None and model.expand is not None]
    given = nested_ops(function)
    if not expanding:
        return [(op, False) for op in given]
    for op in given:
        op.attributes[_GIVEN] = ir.UnitAttr.get()
    for op in reversed(expanding):  # those inside of others first, which would take them along
        expand(op, model_of(op.name))
    found = [(op, _GIVEN not in op.attributes) for op in nested_ops(function)]
    for op, made in found:
        if not made:
            del op.attributes[_GIVEN]
    return found


def expand(op: ir.Operation, model: OpModel | None) -> bool:
    """Replaces an op by what its model makes of it; whether there was something."""
    values = model.expand(op) if model is not None and model.expand is not None else None
    if values is None:
        return False
    for result, value in zip(op.results, values, strict=True):
        result.replace_all_uses_with(value)
    op.erase()
    for made in filter(None, map(defining_op, values)):
        _visit(made)  # a loop has ops of the payload that it runs
    return True


def _erase_unused(values: Sequence[ir.Value]) -> None:
    """Erases what made tensors that nobody uses any more, if it does nothing else."""
    waiting = list(dict.fromkeys(values))
    while waiting:
        op = defining_op(waiting.pop())
        if op is not None and _is_unused(op):
            gone, operands = list(op.results), list(op.operands)
            op.erase()
            waiting = [value for value in dict.fromkeys([*waiting, *operands]) if value not in gone]


def _is_unused(op: ir.Operation) -> bool:
    makes = len(op.results) > 0 and all(is_tensor(result.type) for result in op.results)
    return makes and all(next(iter(result.uses), None) is None for result in op.results) and is_pure(op)


def _visit(op: ir.Operation) -> bool:
    """Replaces an op or those in its regions; whether it is gone."""
    _refuse(op, op.results)
    model = model_of(op.name)
    gone = expand(op, model)
    if not gone and model is not None and model.flow is not None:
        expand_ops(op)
    return gone


def _refuse(op: ir.Operation, values: Sequence[ir.Value]) -> None:
    for value in values:
        kind = value.type
        if isinstance(kind, ir.UnrankedTensorType):
            raise BufferizationError(
                f"`{op.name}` has a tensor without a rank",
                expected="ranked tensors",
                got=str(kind),
                where=python_line(op.location),
            )
        if isinstance(kind, ir.RankedTensorType) and "#sparse_tensor" in str(kind.encoding):
            raise BufferizationError(
                f"`{op.name}` has a sparse tensor",
                expected="dense tensors",
                got=str(kind),
                where=python_line(op.location),
                hint="lower it first: `--sparsification-and-bufferization`",
            )


def copy_between_spaces(record: TensorProgram, rules: SpaceRules) -> bool:
    """Copies what calls, returns and memrefs need in another memory space, while it is a tensor still.

    func.call @f(%x)    ->    %y = bufferization.alloc_tensor() copy(%x) {memory_space = 0 : i64}
                              func.call @f(%y)

    Returns whether anything is copied, so that the record is out of date.
    """
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
