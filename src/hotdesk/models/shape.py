"""Shapes as tensors of sizes, tensors of undefined contents, and regions that run under an assumption.

What an assumption's region yields is the op's result, in the memory where it was computed. Shape arithmetic is lowered first.
"""

from __future__ import annotations

from hotdesk._bindings import ir
from hotdesk.errors import BufferizationError
from hotdesk.ir.building import cast_to, create, dim
from hotdesk.ir.locations import python_line
from hotdesk.ir.types import is_tensor, shape_of
from hotdesk.models.facts import RESULTS, Facts, Flow, no_facts
from hotdesk.models.model import Buffers, OpModel
from hotdesk.models.rewrites import bufferize_region_op, bufferize_terminator


def _expand_shape_of(op: ir.Operation) -> list[ir.Value] | None:
    """A tensor of the sizes."""
    source, kind = op.operands[0], op.results[0].type
    if not is_tensor(kind) or not is_tensor(source.type):
        return None
    sizes = [dim(source, i, op) for i in range(len(shape_of(source.type)))]
    static = ir.RankedTensorType.get([len(sizes)], ir.IndexType.get())
    made = create("tensor.from_elements", sizes, [static], before=op).results[0]
    return [cast_to(made, kind, op)]


def _refuse(op: ir.Operation) -> Facts:
    tensors = [v.type for v in (*op.operands, *op.results) if is_tensor(v.type)]
    if tensors:
        raise BufferizationError(
            f"op `{op.name}` has tensors but no model",
            expected="shapes as index values",
            got=str(tensors[0]),
            where=python_line(op.location),
            hint="lower it first: `--convert-shape-to-std`",
        )
    return Facts()


def _assuming_flow(op: ir.Operation) -> Flow:
    """The region runs once, and yields the results."""
    return Flow(exits=tuple((0, i, RESULTS, i) for i in range(len(op.results))), runs=True)


def _bufferize_assuming(op: ir.Operation, buffers: Buffers) -> None:
    bufferize_region_op(op, _assuming_flow(op), buffers)


def _poison_facts(op: ir.Operation) -> Facts:
    return Facts(undefined=frozenset({0})) if is_tensor(op.results[0].type) else Facts()


def _expand_poison(op: ir.Operation) -> list[ir.Value] | None:
    """A tensor without contents; one whose sizes are undefined too has no memory."""
    kind = op.results[0].type
    if not is_tensor(kind):
        return None
    if None in shape_of(kind):
        where = python_line(op.location)
        raise BufferizationError("op `ub.poison`", expected="a tensor of static sizes", got=str(kind), where=where)
    return [create("tensor.empty", [], [kind], before=op).results[0]]


MODELS = {
    "shape.*": OpModel(_refuse),
    "shape.assuming": OpModel(no_facts, _bufferize_assuming, _assuming_flow),
    "shape.assuming_yield": OpModel(no_facts, bufferize_terminator, takes_scalars=True),
    "shape.shape_of": OpModel(no_facts, expand=_expand_shape_of),
    "ub.poison": OpModel(_poison_facts, expand=_expand_poison),
}
