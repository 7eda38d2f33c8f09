"""Tensors become buffers: every decision of the in-place analysis, carried out in one rewrite.

    func @main(%x: tensor<8xf32>) -> tensor<8xf32> {      func @main(%x: memref<8xf32>, %out: memref<8xf32> {bufferize.result}) {
      %e = tensor.empty()
      %r = linalg.generic ins(%x) outs(%e)            ->    linalg.generic ins(%x) outs(%out)
      return %r }                                           return }

1. A tied operand decided in place is written where it lies; otherwise it gets a new buffer, and a copy of its contents only if
   the op reads them or overwrites a part.
2. An undefined tensor becomes a `memref.alloc` right in front of the first op that writes it; one that nobody writes, none.
3. Results become arguments at the end, `bufferize.result`: memory of the caller's. An allocation that a result covers entirely is
   that argument; a result that is an argument itself, a part of a buffer, or returned twice is copied into it.

After the pass no tensor is left in the function; an op without a model is an error that names it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, cast

from hotdesk._bindings import ir
from hotdesk.analysis.inplace import InPlaceAnalysis, analyse_in_place
from hotdesk.analysis.program import FunctionRecord, OpRecord, read_function
from hotdesk.errors import BufferizationError
from hotdesk.explain import Decision, Outcome, Reason
from hotdesk.ir.building import create, dynamic_dims, elementwise_copy, integers
from hotdesk.ir.locations import python_line
from hotdesk.ir.types import is_tensor, memref_of, row_major, shape_of
from hotdesk.ir.walking import defined_functions, defining_op, entry_block, nested_ops, runs_every_call
from hotdesk.models.registry import model_of
from hotdesk.passes.base import Pass

RESULT = "bufferize.result"


@dataclass(frozen=True, slots=True)
class OneShotBufferize(Pass):
    """Bufferizes every function of a module, boundaries included (rules in the module docstring)."""

    name: ClassVar[str] = "hotdesk-one-shot-bufferize"

    def run(self, module: ir.Module) -> tuple[Decision, ...]:
        decisions: list[Decision] = []
        for function in defined_functions(module):
            record = read_function(function)
            found = _Bufferization(function, record, analyse_in_place(record)).run()
            decisions.extend(found if runs_every_call(function) else ())
        return tuple(decisions)


class _Bufferization:
    """The rewrite of one function; implements what models see of it (`models.model.Buffers`)."""

    def __init__(self, function: ir.Operation, record: FunctionRecord, analysis: InPlaceAnalysis) -> None:
        self._function = function
        self._record = record
        self._analysis = analysis
        self._buffers: dict[ir.Value, ir.Value] = {}
        self._current: OpRecord = record.ops[0]
        self._decisions: list[Decision] = []
        self._allocations: dict[ir.Value, Decision] = {}

    def run(self) -> list[Decision]:
        block = entry_block(self._function)
        old_count = len(block.arguments)
        for argument in list(block.arguments):
            new_type = memref_of(argument.type) if is_tensor(argument.type) else argument.type
            new = block.add_argument(new_type, argument.location)
            if is_tensor(argument.type):
                self._buffers[argument] = new
            else:
                argument.replace_all_uses_with(new)
        results = self._rewrite()
        for _ in range(old_count):
            block.erase_argument(0)
        self._set_type(results)
        self._check()
        return self._decisions

    # What models see

    def buffer(self, value: ir.Value) -> ir.Value:
        if value not in self._buffers:
            self._buffers[value] = self._allocate(value, self._current.operation)
        return self._buffers[value]

    def destination(self, op: ir.Operation, operand: int) -> ir.Value:
        value = op.operands[operand]
        record = self._current
        decision = self._analysis.by_operand[(record.number, operand)]
        if decision.in_place and not decision.fresh:
            self._decide(Outcome.IN_PLACE, decision.reason, operand, None)
            return self.buffer(value)
        if decision.in_place:
            buffer = self.buffer(value)
            self._allocations[buffer] = self._decide(Outcome.ALLOCATED, decision.reason, operand, decision.conflict)
            return buffer
        new = self._allocate(value, op)
        needs_contents = operand in record.facts.reads or operand not in record.facts.overwrites
        if needs_contents and not self._is_undefined(value):
            elementwise_copy([self.buffer(value)], new, None, len(shape_of(new.type)), op)
            self._decide(Outcome.COPIED, decision.reason, operand, decision.conflict)
        else:
            self._allocations[new] = self._decide(Outcome.ALLOCATED, decision.reason, operand, decision.conflict)
        return new

    def assign(self, value: ir.Value, memref: ir.Value) -> None:
        self._buffers[value] = memref

    def contiguous(self, memref: ir.Value, op: ir.Operation, operand: int) -> ir.Value:
        new = _alloc(_plain(memref), dynamic_dims(memref, op), op)
        elementwise_copy([memref], new, None, len(shape_of(new.type)), op)
        self._decide(Outcome.COPIED, Reason.DIFFERENT_LAYOUT, operand, None)
        return new

    # The rewrite

    def _rewrite(self) -> list[ir.Value]:
        """Rewrites every op; returns the memrefs of the results, in order, and erases what had tensors."""
        erase: list[ir.Operation] = []
        results: list[ir.Value] = []
        for record in self._record.ops:
            self._current = record
            if record.name == "func.return":
                results = self._boundary(record)
                continue
            model = model_of(record.name)
            if model is None or model.bufferize is None:
                self._refuse_tensors(record.operation)
                continue
            model.bufferize(record.operation, self)
            if any(is_tensor(v.type) for v in (*record.operation.operands, *record.operation.results)):
                erase.append(record.operation)
        for op in reversed(erase):
            op.erase()
        self._place_results(results)
        return results

    def _boundary(self, record: OpRecord) -> list[ir.Value]:
        """Replaces the return by one without operands; result buffers are placed when the tensors are gone."""
        values = list(record.operation.operands)
        for number, value in enumerate(values):
            if not is_tensor(value.type):
                raise BufferizationError(
                    f"result {number}",
                    expected="a tensor",
                    got=str(value.type),
                    where=python_line(record.operation.location) or None,
                )
        buffers = [self.buffer(v) if is_tensor(v.type) else v for v in values]
        self._result_types = [memref_of(v.type) if is_tensor(v.type) else v.type for v in values]
        new = create("func.return", [], [], before=record.operation)
        record.operation.erase()
        self._return = new
        return buffers

    def _place_results(self, buffers: list[ir.Value]) -> None:
        taken: set[ir.Value] = set()
        block = entry_block(self._function)
        for number, result_type in enumerate(self._result_types):
            buffer = buffers[number]
            argument = block.add_argument(result_type, self._return.location)
            allocation, reason = _covered_allocation(buffer, taken)
            if (
                allocation is not None
                and allocation.type != result_type
                and None in row_major(shape_of(allocation.type))
            ):
                allocation, reason = None, Reason.SIZE_NOT_PROVEN_EQUAL
            if allocation is None:
                elementwise_copy([buffer], argument, None, len(shape_of(result_type)), self._return)
                self._decisions.append(
                    Decision(f"result {number}", Outcome.COPIED, reason, (), self._result_bytes(number))
                )
                continue
            self._decisions.append(
                Decision(f"result {number}", Outcome.LENT, Reason.RESULT_SLOT, (), self._result_bytes(number))
            )
            if allocation in self._allocations:
                self._decisions.remove(self._allocations[allocation])
            op = cast(ir.Operation, defining_op(allocation))
            replacement: ir.Value = argument
            if allocation.type != argument.type:
                replacement = _seen_as(argument, allocation, op)
            allocation.replace_all_uses_with(replacement)
            buffers = [replacement if other == allocation else other for other in buffers]
            op.erase()
            taken.add(replacement)
            taken.add(argument)

    def _result_bytes(self, number: int) -> Any:
        operand = self._record.ops[-1].operands[number]
        return self._record.values[operand].bytes

    def _allocate(self, value: ir.Value, before: ir.Operation) -> ir.Value:
        """A new buffer with a tensor's type and sizes, in front of the op that writes it."""
        producer = defining_op(value)
        if producer is not None and producer.name == "tensor.empty":
            sizes = list(producer.operands)
        else:
            sizes = dynamic_dims(self._buffers[value], before)
        return _alloc(memref_of(value.type), sizes, before)

    def _is_undefined(self, value: ir.Value) -> bool:
        producer = defining_op(value)
        return producer is not None and producer.name == "tensor.empty"

    def _decide(self, outcome: Outcome, reason: Reason, operand: int, conflict: int | None) -> Decision:
        record = self._current
        value = record.operands[operand]
        because = (record.source, *([self._record.ops[conflict].source] if conflict is not None else []))
        results = dict(record.facts.ties)
        subject = f"operand {operand} of {record.name}"
        if operand in results:
            subject = (
                f"result of {record.name}"
                if len(record.results) == 1
                else f"result {results[operand]} of {record.name}"
            )
        decision = Decision(subject, outcome, reason, because, self._record.values[value].bytes)
        self._decisions.append(decision)
        return decision

    def _set_type(self, results: list[ir.Value]) -> None:
        block = entry_block(self._function)
        function_type = ir.FunctionType.get([a.type for a in block.arguments], [])
        self._function.attributes["function_type"] = ir.TypeAttr.get(function_type)
        attributes = (
            list(cast(Any, self._function.attributes["arg_attrs"]))
            if "arg_attrs" in self._function.attributes
            else [ir.DictAttr.get({})] * (len(block.arguments) - len(results))
        )
        i64 = ir.IntegerType.get_signless(64)
        for number, operand in enumerate(self._record.ops[-1].operands):
            shape = [ir.StringAttr.get(str(size)) for size in self._record.values[operand].shape]
            entry: dict[str, ir.Attribute] = {
                RESULT: ir.IntegerAttr.get(i64, number),
                "hotdesk.shape": ir.ArrayAttr.get(shape),
            }
            attributes.append(ir.DictAttr.get(entry))
        self._function.attributes["arg_attrs"] = ir.ArrayAttr.get(attributes)
        if "res_attrs" in self._function.attributes:
            del self._function.attributes["res_attrs"]

    def _check(self) -> None:
        for op in nested_ops(self._function):
            self._refuse_tensors(op)

    def _refuse_tensors(self, op: ir.Operation) -> None:
        if any(is_tensor(v.type) for v in (*op.operands, *op.results)):
            raise BufferizationError(
                f"op `{op.name}` still has tensors after bufferization",
                expected="buffers only",
                got=str(next(v.type for v in (*op.operands, *op.results) if is_tensor(v.type))),
                where=python_line(op.location) or None,
            )


def _alloc(memref: ir.Type, sizes: list[ir.Value], before: ir.Operation) -> ir.Value:
    attributes: dict[str, ir.Attribute] = {"operandSegmentSizes": ir.DenseI32ArrayAttr.get([len(sizes), 0])}
    return create("memref.alloc", sizes, [memref], attributes, before=before).results[0]


def _plain(memref: ir.Value) -> ir.Type:
    element = cast(Any, memref.type).element_type
    dynamic = ir.ShapedType.get_dynamic_size()
    return ir.MemRefType.get([dynamic if s is None else s for s in shape_of(memref.type)], element)


def _covered_allocation(buffer: ir.Value, taken: set[ir.Value]) -> tuple[ir.Value | None, Reason]:
    """The allocation that a result covers entirely, or why there is none."""
    op = defining_op(buffer)
    while op is not None and op.name in ("memref.expand_shape", "memref.collapse_shape", "memref.cast"):
        buffer = op.operands[0]
        op = defining_op(buffer)
    if buffer in taken:
        return None, Reason.RETURNED_TWICE
    if op is None:
        return None, Reason.RETURNED_INPUT
    if op.name == "memref.subview":
        return None, Reason.PARTIAL_VIEW_RETURNED
    if op.name == "memref.reinterpret_cast":
        return None, Reason.RETURNED_TWICE
    if op.name != "memref.alloc":
        return None, Reason.NOT_WRITABLE_CONSTANT
    return buffer, Reason.RESULT_SLOT


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
