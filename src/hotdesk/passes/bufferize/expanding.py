"""In front of the analysis: ops whose models say them as other ops on tensors, and types that have no form in memory."""

from __future__ import annotations

from collections.abc import Sequence

from hotdesk._bindings import ir
from hotdesk.errors import BufferizationError
from hotdesk.ir.locations import python_line
from hotdesk.ir.walking import defining_op
from hotdesk.models.model import OpModel
from hotdesk.models.registry import model_of


def expand_ops(function: ir.Operation) -> None:
    """Replaces the ops of a function whose models have an `expand`; payloads of structured ops are left alone.

    Raises:
        BufferizationError: a tensor has no rank, or is sparse.
    """
    for region in function.regions:
        for block in region.blocks:
            _refuse(function, list(block.arguments))
            for view in list(block.operations):
                _visit(view.operation)


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


def _visit(op: ir.Operation) -> None:
    _refuse(op, op.results)
    model = model_of(op.name)
    if not expand(op, model) and model is not None and model.flow is not None:
        expand_ops(op)


def _refuse(op: ir.Operation, values: Sequence[ir.Value]) -> None:
    for value in values:
        kind = value.type
        if isinstance(kind, ir.UnrankedTensorType):
            raise BufferizationError(
                f"`{op.name}` has a tensor without a rank",
                expected="ranked tensors",
                got=str(kind),
                where=python_line(op.location) or None,
            )
        if isinstance(kind, ir.RankedTensorType) and "#sparse_tensor" in str(kind.encoding):
            raise BufferizationError(
                f"`{op.name}` has a sparse tensor",
                expected="dense tensors",
                got=str(kind),
                where=python_line(op.location) or None,
                hint="lower it first: `--sparsification-and-bufferization`",
            )
