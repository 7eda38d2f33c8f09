"""Bufferizes some ops of a module among others that keep their tensors: what the partial passes have in common."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from hotdesk._bindings import ir
from hotdesk.analysis.tensors.memory_spaces import plain_space
from hotdesk.errors import BufferizationError
from hotdesk.explain import Decision
from hotdesk.ir.building import alloc
from hotdesk.ir.locations import placed, python_line
from hotdesk.ir.symbols import Symbols
from hotdesk.ir.types import is_tensor, memref_of
from hotdesk.ir.walking import all_functions, captured_operands, nested_ops, segment_sizes
from hotdesk.models.bufferization import ALLOC_TENSOR
from hotdesk.models.registry import model_of
from hotdesk.models.tensor import EMPTY
from hotdesk.passes.bufferize.expanding import expand_among
from hotdesk.passes.bufferize.materializing import Materializing, copied_as, outside_payloads, to_buffer, to_tensor

_UNDEFINED = (EMPTY, ALLOC_TENSOR)
_IN_PAYLOADS = ("tensor.extract", "tensor.dim")


def bufferize_ops(module: ir.Module, wanted: Callable[[str], bool]) -> tuple[Decision, ...]:
    """Bufferizes every op whose name is wanted, that has a model and ranked tensors alone; other ops keep their tensors."""
    decisions: list[Decision] = []
    symbols = Symbols()
    for function in all_functions(module):
        for op in _payloads_first(_expanded(function, wanted)):
            if _has_tensors(op) and (op.name in _IN_PAYLOADS or outside_payloads(op) == op):
                with placed(op.location):
                    decisions.extend(_bufferize(op, function, symbols))
    return tuple(decisions)


def _expanded(function: ir.Operation, wanted: Callable[[str], bool]) -> list[ir.Operation]:
    """The ops that are wanted, and those of any dialect that their models made of some of them."""
    ops = [op for op in nested_ops(function) if wanted(op.name) and _has_tensors(op) and outside_payloads(op) == op]
    return [op for op, made in expand_among(function, ops) if made or wanted(op.name)]


def _payloads_first(ops: list[ir.Operation]) -> Iterator[ir.Operation]:
    """Ops in their order, but each behind those of its payload, which would go with it."""
    around: ir.Operation | None = None
    for op in ops:
        outside = outside_payloads(op)
        if around is not None and outside != around:
            yield around
            around = None
        if outside == op:
            around = op
        else:
            yield op
    if around is not None:
        yield around


def _bufferize(op: ir.Operation, function: ir.Operation, symbols: Symbols) -> list[Decision]:
    if op.name in _UNDEFINED:
        _allocate_undefined(op)
        return []
    model = model_of(op.name)
    if model is None or model.bufferize is None:
        return []
    facts = model.facts(op)
    buffers = Materializing(op, function, facts, symbols)
    model.bufferize(op, buffers)
    op.erase()
    return buffers.decisions


def _allocate_undefined(op: ir.Operation) -> None:
    """Memory for a tensor without contents, or with another tensor's. Raises BufferizationError for one in a memory space."""
    if "memory_space" in op.attributes and plain_space(op.attributes["memory_space"]) is not None:
        raise _in_a_space(op)
    result = op.results[0]
    kind = memref_of(result.type)
    dynamic, copies, _ = segment_sizes(op) if "operandSegmentSizes" in op.attributes else (len(op.operands), 0, 0)
    source = op.operands[dynamic] if copies else None
    sizes = list(op.operands)[:dynamic]
    memref = alloc(kind, sizes, op) if source is None else copied_as(to_buffer(source, op), kind, op)
    result.replace_all_uses_with(to_tensor(memref, result.type, op))
    op.erase()


def _has_tensors(op: ir.Operation) -> bool:
    """Whether an op has tensors, all of them ranked."""
    values = (*op.operands, *op.results, *(value for _, _, value in captured_operands(op)))
    unranked = any(isinstance(value.type, ir.UnrankedTensorType) for value in values)
    return not unranked and any(is_tensor(value.type) for value in values)


def _in_a_space(op: ir.Operation) -> BufferizationError:
    return BufferizationError(
        f"memory space of `{op.name}`",
        expected="the default space, the only one that partial passes know",
        got=f"space {op.attributes['memory_space']}",
        where=python_line(op.location),
        hint="bufferize it with hotdesk-one-shot-bufferize",
    )
