"""Reads a function once into the records of `analysis/tensors/program.py`. An op without a model is an error that names it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, cast

from hotdesk._bindings import ir
from hotdesk.analysis.tensors.memory_spaces import USUAL_SPACES, SpaceRules, memory_spaces
from hotdesk.analysis.tensors.program import NOT_A_TENSOR, BlockRecord, FlowEdge, FunctionRecord, OpRecord, TensorValue
from hotdesk.errors import BufferizationError
from hotdesk.explain import Source
from hotdesk.ir.locations import placed, python_line
from hotdesk.ir.signature import signature
from hotdesk.ir.sizes import Size, product
from hotdesk.ir.symbolic import SymbolicSizes
from hotdesk.ir.types import element_bytes, element_of, is_buffer, is_tensor, shape_of
from hotdesk.ir.walking import captured_operands, in_order, users
from hotdesk.models.facts import Facts
from hotdesk.models.flow import RESULTS, Flow
from hotdesk.models.model import OpModel
from hotdesk.models.registry import model_of

_SEEN_LATER = frozenset(("bufferization.to_buffer",))
_LOADED_AGAIN = _SEEN_LATER | {"tensor.extract"}
"""Ops whose result is the tensor's memory, or computed from it, where it is used."""


def read_function(
    function: ir.Operation, *, owned: bool = False, reload_scalars: bool = False, spaces: SpaceRules = USUAL_SPACES
) -> FunctionRecord:
    """Reads a function.

    Args:
        owned: it may overwrite all of its arguments.
        reload_scalars: an op that uses a scalar reads the tensor that the scalar was extracted from, for code generators that
            load it where it is used.
        spaces: how memory spaces are found.

    Raises:
        BufferizationError: an op has tensors but no model; a tensor is in two memory spaces, or in none that can be inferred.
    """
    record = _Reader(function, owned, _LOADED_AGAIN if reload_scalars else _SEEN_LATER).run()
    found = memory_spaces(record, spaces)
    return replace(record, spaces=found) if found else record


_TensorType = tuple[str, int, "tuple[Size, ...] | None", "Size | None"]
"""Of a tensor type: the element type, its bytes, and where all sizes are static, the shape and the bytes."""


def _read_type(tensor: ir.Type) -> _TensorType:
    element, shape = element_of(tensor), shape_of(tensor)
    item = element_bytes(element)
    static = tuple(size for size in shape if size is not None)
    if len(static) < len(shape):
        return element, item, None, None
    return element, item, static, product([*static, item])


class _Reader:
    def __init__(self, function: ir.Operation, owned: bool, seen_later: frozenset[str]) -> None:
        self._function = function
        self._seen_later = seen_later
        self._owned = owned
        self._sizes = SymbolicSizes(function)
        self._types: dict[ir.Type, _TensorType] = {}
        self._values: list[TensorValue] = []
        self._numbers: dict[ir.Value, int] = {}
        self._scalars: dict[ir.Value, int] = {}
        self._ops: list[OpRecord | None] = []
        self._blocks: list[BlockRecord | None] = []
        self._flows: list[FlowEdge] = []
        self._shown: list[FlowEdge] = []
        self._behind: dict[ir.Value, tuple[int, ...]] = {}  # the tensors that a scalar is computed from

    def run(self) -> FunctionRecord:
        self._region(self._function.regions[0], -1, 0)
        ops = tuple(cast("list[OpRecord]", self._ops))
        blocks = tuple(cast("list[BlockRecord]", self._blocks))
        arguments = blocks[0].arguments
        kinds, donated = _argument_attributes(self._function)
        writable = range(len(arguments)) if self._owned else donated
        return FunctionRecord(
            ops,
            tuple(self._values),
            arguments,
            frozenset(arguments[i] for i in writable if arguments[i] != NOT_A_TENSOR),
            kinds,
            blocks,
            tuple(edge for edge in self._flows if NOT_A_TENSOR not in (edge.source, edge.target)),
            self._sizes,
            self._scalars,
            tuple(self._shown),
            _insertions(ops, self._shown),
        )

    def _add(self, value: ir.Value, producer: int | None, result: int, block: int, order: int) -> int:
        kind = value.type
        if isinstance(kind, ir.UnrankedTensorType) and not (producer is None and _is_only_returned(value)):
            where = python_line(value.location) or None
            raise BufferizationError("a tensor without a rank", expected="ranked tensors", got=str(kind), where=where)
        if not is_tensor(kind):
            self._scalars[value] = order // 2
            return NOT_A_TENSOR
        if kind not in self._types:
            with placed(value.location):
                self._types[kind] = _read_type(kind)
        element, item, shape, size = self._types[kind]
        if shape is None or size is None:
            shape = self._sizes.shape(value)
            size = product([*shape, item])
        number = len(self._values)
        self._values.append(TensorValue(number, value, producer, result, shape, element, size, block, order))
        self._numbers[value] = number
        return number

    def _region(self, region: ir.Region, parent: int, number: int) -> list[BlockRecord]:
        """Reads the blocks of a region; edges between them are added at the end."""
        places: dict[Any, int] = {}
        branches: list[OpRecord] = []
        for block in in_order(region):
            places[block] = len(self._blocks)
            self._blocks.append(None)
            order = 2 * len(self._ops)
            arguments = tuple(self._add(a, None, i, places[block], order) for i, a in enumerate(block.arguments))
            first = len(self._ops)
            for operation in block.operations:
                self._operation(operation.operation, places[block])
            if len(self._ops) > first:
                last = self._last_in(places[block], len(self._ops))
                if len(last.operation.successors):
                    branches.append(last)
            self._blocks[places[block]] = BlockRecord(
                places[block], parent, number, first, len(self._ops), arguments, ()
            )
        for op in branches:
            targets = [places[successor] for successor in op.operation.successors]
            model = model_of(op.name)
            self._blocks[op.block] = replace(cast(BlockRecord, self._blocks[op.block]), successors=tuple(targets))
            if model is not None and model.branches is not None:
                for operand, successor, argument in model.branches(op.operation):
                    target = cast(BlockRecord, self._blocks[targets[successor]]).arguments[argument]
                    self._flows.append(FlowEdge(op.number, operand, op.operands[operand], target))
        return [cast(BlockRecord, self._blocks[i]) for i in places.values()]

    def _operation(self, operation: ir.Operation, block: int) -> None:
        number, name = len(self._ops), operation.name
        given, made = list(operation.operands), list(operation.results)
        model = model_of(name)
        flow = model.flow(operation) if model is not None and model.flow is not None else None
        operands = tuple([self._numbers.get(v, NOT_A_TENSOR) for v in given])
        within = [v for _, _, v in captured_operands(operation)] if flow is None else []
        computes = model is None or not model.takes_scalars
        asked = flow is None and self._behind
        used = [v for v in (*given, *within) if computes or is_buffer(v.type)] if asked else []
        scalars = [n for v in used for n in self._behind.get(v, ())]
        captured = tuple(dict.fromkeys([*(self._numbers[v] for v in within if v in self._numbers), *scalars]))
        loaded = [n for n in operands if n != NOT_A_TENSOR] if name in self._seen_later else []
        if captured or loaded:
            self._behind.update((v, (*captured, *loaded)) for v in made if not is_tensor(v.type))
        self._ops.append(None)
        regions = [self._region(r, number, i) for i, r in enumerate(operation.regions)] if flow is not None else []
        end = len(self._ops)
        order = 2 * (end - 1) + 1
        results = tuple([self._add(v, number, i, block, order) for i, v in enumerate(made)])
        involved = (*operands, *results)
        has_tensors = any(n != NOT_A_TENSOR for n in involved) or any(v in self._numbers for v in within)
        record = OpRecord(
            number,
            operation,
            name,
            _facts(operation, model, has_tensors),
            operands,
            captured,
            results,
            Source(name, python_line(operation.location)),
            end,
            block,
            flow,
        )
        self._ops[number] = record
        if flow is not None:
            self._pass_on(record, flow, regions)

    def _pass_on(self, op: OpRecord, flow: Flow, regions: list[list[BlockRecord]]) -> None:
        """The edges between an op, its regions and its results."""
        for operand, region, argument in flow.entries:
            target = regions[region][0].arguments[argument]
            self._flows.append(FlowEdge(op.number, operand, op.operands[operand], target))
        for operand, region, argument in flow.shows:
            target = regions[region][0].arguments[argument]
            self._shown.append(FlowEdge(op.number, operand, op.operands[operand], target))
        for operand, result in flow.skips:
            self._flows.append(FlowEdge(op.number, operand, op.operands[operand], op.results[result]))
        for region, operand, target_region, argument in flow.exits:
            targets = op.results if target_region == RESULTS else regions[target_region][0].arguments
            for block in regions[region]:
                if not block.successors:
                    last = self._last_in(block.number, block.end)
                    self._flows.append(FlowEdge(last.number, operand, last.operands[operand], targets[argument]))

    def _last_in(self, block: int, end: int) -> OpRecord:
        """The last op that is directly in a block, whose ops end before number `end`."""
        number = end - 1
        while (op := cast(OpRecord, self._ops[number])).block != block:
            number -= 1
        return op


def _insertions(ops: tuple[OpRecord, ...], shown: list[FlowEdge]) -> dict[int, int]:
    results = {edge.target: ops[edge.op].results[dict(ops[edge.op].facts.ties)[edge.operand]] for edge in shown}
    return {
        op.number: results[op.operands[op.facts.part.container]]
        for op in ops
        if op.facts.part is not None and op.facts.part.source is not None and not op.results
    }


def _is_only_returned(value: ir.Value) -> bool:
    return all(user.name == "func.return" for user in users(value))


def _facts(operation: ir.Operation, model: OpModel | None, has_tensors: bool) -> Facts:
    if model is not None:
        return model.facts(operation)
    if not has_tensors:
        return Facts()
    raise BufferizationError(
        f"op `{operation.name}` has tensors but no model",
        expected="an op that a model describes",
        got=operation.name,
        where=python_line(operation.location) or None,
        hint="Register one with `hotdesk.models.register` (docs/models.md).",
    )


def _argument_attributes(function: ir.Operation) -> tuple[tuple[str, ...], tuple[int, ...]]:
    arguments = signature(function).arguments
    kinds = tuple(each.kind or "input" for each in arguments)
    return kinds, tuple(number for number, each in enumerate(arguments) if each.donated)
