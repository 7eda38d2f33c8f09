"""Reads a function on tensors into the records of `analysis.tensors.program`. An op without a model is an error that names it."""

from __future__ import annotations

from dataclasses import replace

from hotdesk._bindings import ir
from hotdesk.analysis.tensors.memory_spaces import USUAL_SPACES, SpaceRules, memory_spaces
from hotdesk.analysis.tensors.program import NOT_A_TENSOR, OpRecord, TensorProgram, TensorValue
from hotdesk.errors import BufferizationError
from hotdesk.explain import Source
from hotdesk.ir.locations import origin, placed, python_line
from hotdesk.ir.signature import signature
from hotdesk.ir.types import element_bytes, element_of, is_buffer, is_tensor, shape_of
from hotdesk.ir.walking import captured_operands, users
from hotdesk.models.bufferization import TO_BUFFER
from hotdesk.models.facts import Facts, Flow
from hotdesk.models.func import RETURN
from hotdesk.models.model import OpModel
from hotdesk.models.registry import model_of
from hotdesk.program.reading import Head, Reader
from hotdesk.program.records import FlowEdge
from hotdesk.program.symbolic import SymbolicSizes
from hotdesk.sizes.expressions import product
from hotdesk.sizes.size import Size

_SEEN_LATER = frozenset((TO_BUFFER,))
_LOADED_AGAIN = _SEEN_LATER | {"tensor.extract"}
"""Ops whose result is the tensor's memory, or computed from it, where it is used."""


def read_function(
    function: ir.Operation,
    *,
    owned: bool = False,
    reload_scalars: bool = False,
    moves: bool = False,
    spaces: SpaceRules = USUAL_SPACES,
) -> TensorProgram:
    """Reads a function.

    Args:
        owned: it may overwrite all of its arguments.
        reload_scalars: an op that uses a scalar reads the tensor that the scalar was extracted from, for code generators that
            load it where it is used.
        moves: insertions may read other elements of the memory that they write, for code generators that copy as `memmove` does.
        spaces: how memory spaces are found.

    Raises:
        BufferizationError: an op has tensors but no model; a tensor is in two memory spaces, or in none that can be inferred.
    """
    record = replace(
        _TensorReader(function, owned, _LOADED_AGAIN if reload_scalars else _SEEN_LATER).run(), moves=moves
    )
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


class _TensorReader(Reader[OpRecord, TensorValue]):
    def __init__(self, function: ir.Operation, owned: bool, seen_later: frozenset[str]) -> None:
        super().__init__(function)
        self._seen_later = seen_later
        self._owned = owned
        self._sizes = SymbolicSizes(function)
        self._types: dict[ir.Type, _TensorType] = {}
        self._scalars: dict[ir.Value, int] = {}
        self._shown: list[FlowEdge] = []
        self._behind: dict[ir.Value, tuple[int, ...]] = {}  # the tensors that a scalar is computed from

    def run(self) -> TensorProgram:
        self.read()
        ops, arguments = tuple(self.ops), self.blocks[0].arguments
        kinds, donated = _argument_attributes(self.function)
        writable = range(len(arguments)) if self._owned else donated
        return TensorProgram(
            self.function,
            ops,
            tuple(self.blocks),
            tuple(self.values),
            tuple(self.flows),
            self.numbers,
            self.body,
            arguments,
            frozenset(arguments[i] for i in writable if arguments[i] != NOT_A_TENSOR),
            kinds,
            self._sizes,
            self._scalars,
            tuple(self._shown),
            _insertions(ops, self._shown),
        )

    def argument(self, value: ir.Value, block: int, position: int, parent: int, known: bool) -> TensorValue | None:
        return self._tensor(value, -1, position, block, 2 * len(self.ops))

    def result(self, value: ir.Value, position: int, op: Head) -> TensorValue | None:
        return self._tensor(value, op.number, position, op.block, 2 * op.end - 1)

    def _tensor(self, value: ir.Value, producer: int, position: int, block: int, order: int) -> TensorValue | None:
        kind = value.type
        if isinstance(kind, ir.UnrankedTensorType) and not (producer < 0 and _is_only_returned(value)):
            where = python_line(value.location)
            raise BufferizationError("a tensor without a rank", expected="ranked tensors", got=str(kind), where=where)
        if not is_tensor(kind):
            self._scalars[value] = order // 2
            return None
        if kind not in self._types:
            with placed(value.location):
                self._types[kind] = _read_type(kind)
        element, item, shape, size = self._types[kind]
        if shape is None or size is None:
            shape = self._sizes.shape(value)
            size = product([*shape, item])
        return TensorValue(len(self.values), value, producer, position, block, shape, element, size, order)

    def flow(self, operation: ir.Operation) -> Flow | None:
        model = model_of(operation.name)
        return model.flow(operation) if model is not None and model.flow is not None else None

    def enters(self, operation: ir.Operation, operands: tuple[int, ...], flow: Flow | None) -> bool:
        return flow is not None

    def op(self, head: Head, results: tuple[int, ...], before: int) -> OpRecord:
        operation, name, operands = head.operation, head.name, head.operands
        model = model_of(name)
        within = [v for _, _, v in captured_operands(operation)] if head.flow is None else []
        computes = model is None or not model.takes_scalars
        asked = head.flow is None and self._behind
        used = [v for v in (*operation.operands, *within) if computes or is_buffer(v.type)] if asked else []
        scalars = [n for v in used for n in self._behind.get(v, ())]
        captured = tuple(dict.fromkeys([*(self.numbers[v] for v in within if v in self.numbers), *scalars]))
        loaded = [n for n in operands if n != NOT_A_TENSOR] if name in self._seen_later else []
        if captured or loaded:
            self._behind.update((v, (*captured, *loaded)) for v in operation.results if not is_tensor(v.type))
        has_tensors = any(n != NOT_A_TENSOR for n in (*operands, *results)) or any(v in self.numbers for v in within)
        facts = _facts(operation, model, has_tensors)
        source = Source(name, *origin(operation.location))
        for operand, region, argument in head.flow.shows if head.flow is not None else ():
            target = self.blocks[head.regions[region][0]].arguments[argument]
            self._shown.append(FlowEdge(head.number, operand, operands[operand], target))
        return OpRecord(
            *(head.number, operation, name, head.block, head.end),
            *(operands, results, head.regions, head.edges, head.flow),
            facts, captured, source,
        )  # fmt: skip


def _insertions(ops: tuple[OpRecord, ...], shown: list[FlowEdge]) -> dict[int, int]:
    results = {edge.target: ops[edge.op].results[dict(ops[edge.op].facts.ties)[edge.operand]] for edge in shown}
    return {
        op.number: results[op.operands[op.facts.part.container]]
        for op in ops
        if op.facts.part is not None and op.facts.part.source is not None and not op.results
    }


def _is_only_returned(value: ir.Value) -> bool:
    return all(user.name == RETURN for user in users(value))


def _facts(operation: ir.Operation, model: OpModel | None, has_tensors: bool) -> Facts:
    if model is not None:
        return model.facts(operation)
    if not has_tensors:
        return Facts()
    raise BufferizationError(
        f"op `{operation.name}` has tensors but no model",
        expected="an op that a model describes",
        got=operation.name,
        where=python_line(operation.location),
        hint="Register one with `hotdesk.models.register` (docs/models.md).",
    )


def _argument_attributes(function: ir.Operation) -> tuple[tuple[str, ...], tuple[int, ...]]:
    arguments = signature(function).arguments
    kinds = tuple(each.kind or "input" for each in arguments)
    return kinds, tuple(number for number, each in enumerate(arguments) if each.donated)
