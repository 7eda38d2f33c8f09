"""Tensors without a rank become unranked memrefs, in front of the analysis: memory that nobody writes while it is seen so.

    %u = tensor.cast %x : tensor<4xf32> to tensor<*xf32>      %b = bufferization.to_buffer %x read_only
    %y = func.call @f(%u)                                 ->  %u = memref.cast %b : memref<4xf32> to memref<*xf32>
    %z = tensor.cast %y : tensor<*xf32> to tensor<?xf32>      %y = func.call @f(%u)
                                                              %c = memref.cast %y : memref<*xf32> to memref<?xf32>
                                                              %z = bufferization.to_tensor %c restrict

1. A ranked tensor is seen without a rank where it lies if only calls of functions with a body see it so, else in a copy.
2. An unranked tensor is seen with a rank where it lies, as memory that is not writable: who writes it copies it first.
3. Control flow, calls and `arith.select` pass unranked memrefs on as they are.
4. A function returns an unranked tensor in new memory: in a copy, unless it is a ranked one's copy, or what a call returned. A
   function without a body is passed a copy, unless it says that it only reads.
5. `to_tensor` is a copy, unless it is promised the memory alone (`restrict`); `to_buffer` is one, unless it is only read.
6. Where functions keep their tensors, an argument is seen by `to_buffer`, and calls and returns get `to_tensor`s, without copies;
   what a call with tensors returns may lie in memory of theirs, and is copied at once.

A copy of an unranked memref goes through its descriptor: rank and sizes are known at run time only. Other ops with
unranked tensors are refused.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, cast

from hotdesk._bindings import ir
from hotdesk.errors import BufferizationError
from hotdesk.explain import Decision, Outcome, Reason, Source
from hotdesk.ir.building import alloc, cast_to, create, index_constant, loop
from hotdesk.ir.functions import called_name, named_functions
from hotdesk.ir.locations import origin, placed, python_line
from hotdesk.ir.signature import set_signature, signature
from hotdesk.ir.types import (
    DYNAMIC,
    dynamic_layout,
    element_bytes,
    element_of,
    is_tensor,
    memref_of,
    shape_of,
    unranked_memref_of,
)
from hotdesk.ir.walking import defining_op, entry_block, is_declaration, nested_ops, next_op, runs_every_call
from hotdesk.models.bufferization import TO_BUFFER, TO_TENSOR
from hotdesk.models.control_flow import CHOICE
from hotdesk.models.func import CALL, RETURN
from hotdesk.models.registry import model_of
from hotdesk.models.tensor import CAST
from hotdesk.sizes.writing import unnamed

_PASSED_ON = frozenset((CALL, RETURN, CHOICE))
_HINT = "Casts, calls, control flow, `arith.select`, `tensor.dim`, `tensor.rank` and default memory take it; else cast it first."


@dataclass(frozen=True, slots=True)
class _Copying:
    """Copies by rank, and the decision about each; `strided` if the elements may lie in any layout."""

    strided: bool = False
    decisions: list[Decision] = field(default_factory=list[Decision])

    def copied(
        self, memref: ir.Value, op: ir.Operation, subject: str, reason: Reason, before: ir.Operation
    ) -> ir.Value:
        """A copy that `op` needs, or of what it makes."""
        words = f"elements of {cast(Any, memref.type)}"
        size = unnamed(len(self.decisions), words) * element_bytes(element_of(memref.type))
        source = Source(op.name, *origin(op.location))
        self.decisions.append(Decision(subject, Outcome.COPIED, reason, (source,), size, read=source))
        return copied_by_rank(memref, before, strided=self.strided)

    def of_operand(self, op: ir.Operation, number: int) -> ir.Value:
        return self.copied(op.operands[number], op, f"operand {number} of {op.name}", Reason.NOT_FOLLOWED, op)


def buffers_of_unranked(module: ir.Module, *, functions: bool = True, strided: bool = False) -> tuple[Decision, ...]:
    """Replaces the unranked tensors of the functions of a module; says which are copied.

    Without `functions`, signatures stay as they are: `tensors_at_edges` is to be called when all else is rewritten. What
    arguments and calls bring is in any layout if `strided` then.

    Raises:
        BufferizationError: an op other than those above has an unranked tensor.
    """
    named = named_functions(module)
    decisions: list[Decision] = []
    for function in named.values():
        if not is_declaration(function):
            copying = _Copying(strided and not functions)
            _shorten_casts(function)
            _replace(function, named if functions else None, copying)
            decisions.extend(copying.decisions if runs_every_call(function) else ())
    for function in named.values() if functions else ():
        _retype(function)
    return tuple(decisions)


def tensors_at_edges(module: ir.Module) -> None:
    """Gives arguments, calls and returns the unranked tensors of the signatures again, seen from and as memrefs."""
    named = named_functions(module)
    for function in (each for each in named.values() if not is_declaration(each)):
        known, block = signature(function), entry_block(function)
        first = next(iter(block.operations)).operation
        with placed(function.location):
            _take_tensors(block.arguments, [each.type for each in known.arguments], first)
        for op in nested_ops(function):
            name = called_name(op)
            callee = named.get(name) if name is not None else None
            if callee is not None:
                told = signature(callee)
                _pass_tensors(op, [each.type for each in told.arguments])
                _take_tensors(op.results, [each.type for each in told.results], next_op(op))
            elif op.name == RETURN:
                _pass_tensors(op, [each.type for each in known.results])


def _pass_tensors(op: ir.Operation, types: Sequence[ir.Type]) -> None:
    for number, kind in enumerate(types):
        if isinstance(kind, ir.UnrankedTensorType):
            made = create(TO_TENSOR, [op.operands[number]], [kind], before=op)
            op.operands[number] = made.results[0]


def _take_tensors(values: Iterable[ir.Value], types: Sequence[ir.Type], before: ir.Operation) -> None:
    """Gives memrefs their tensor types again; what reads them reads a memref of it, which nobody writes."""
    for value, kind in zip(values, types, strict=True):
        if isinstance(kind, ir.UnrankedTensorType):
            memref, uses = value.type, _uses(value)
            value.set_type(kind)
            if uses:
                read_only = {"read_only": ir.UnitAttr.get(kind.context)}
                made = create(TO_BUFFER, [value], [memref], read_only, before=before)
                _let_read(uses, made.results[0])


def _uses(value: ir.Value) -> list[tuple[ir.Operation, int]]:
    return [(use.owner.operation, use.operand_number) for use in value.uses]


def _let_read(uses: Iterable[tuple[ir.Operation, int]], value: ir.Value) -> None:
    for owner, number in uses:
        owner.operands[number] = value


def _is_unranked(value: ir.Value) -> bool:
    return isinstance(value.type, ir.UnrankedTensorType)


def _retype(function: ir.Operation) -> None:
    known = signature(function)
    if any(isinstance(kind, ir.UnrankedTensorType) for kind in known.types):
        with placed(function.location):
            set_signature(function, known.retyped(_buffer_type))


def _buffer_type(kind: ir.Type) -> ir.Type:
    return unranked_memref_of(kind) if isinstance(kind, ir.UnrankedTensorType) else kind


def _shorten_casts(function: ir.Operation) -> None:
    """Casts from a rank to none and back again are one cast, if any sizes are of both types."""
    passed: dict[ir.Value, ir.Operation] = {}
    for op in nested_ops(function):
        if op.name != CAST or not (_is_unranked(op.operands[0]) and is_tensor(op.results[0].type)):
            continue
        made, kind = defining_op(op.operands[0]), op.results[0].type
        if made is None or made.name != CAST or not _may_be(made.operands[0].type, kind):
            continue
        source = made.operands[0]
        new = cast_to(source, kind, op)
        op.results[0].replace_all_uses_with(new)
        op.erase()
        passed[made.results[0]] = made
    for value, made in passed.items():
        if next(iter(value.uses), None) is None:
            made.erase()


def _may_be(source: ir.Type, kind: ir.Type) -> bool:
    """Whether a `tensor.cast` between two types is possible."""
    if not is_tensor(source) or cast(Any, source).encoding != cast(Any, kind).encoding:
        return False
    sizes = (shape_of(source), shape_of(kind))
    alike = len(sizes[0]) == len(sizes[1])
    return alike and all(None in pair or pair[0] == pair[1] for pair in zip(*sizes, strict=True))


def _replace(function: ir.Operation, functions: dict[str, ir.Operation] | None, copying: _Copying) -> None:
    """Replaces them in a function; without `functions`, calls and returns pass tensors on, which nobody writes."""
    inside = [function, *nested_ops(function)]
    found = [(op, [i for i, v in enumerate(op.operands) if _is_unranked(v)]) for op in inside[1:] if _is_concerned(op)]
    for op, _ in found:
        _require_taken(op)
    blocks = [block for op in inside for region in op.regions for block in region.blocks]
    shaped = [
        value for each in (*(op.results for op in inside), *(block.arguments for block in blocks)) for value in each
    ]
    values = {value for value in shaped if _is_unranked(value)}
    for value in values:
        with placed(value.location):
            value.set_type(unranked_memref_of(value.type))
    own: set[ir.Value] = {value for op, _ in found if op.name == CALL for value in op.results if value in values}
    ends = [(op, operands) for op, operands in found if op.name == RETURN]
    for op, operands in found:
        change = _CHANGES.get(op.name)
        name = called_name(op)
        if name is not None and functions is not None:
            _pass(op, operands, functions.get(name), copying)
        elif name is not None:
            _take(op, values, copying)
        elif change is not None:
            new = change(op, copying)
            if op.name == CAST and not operands:
                own.add(new)
            op.results[0].replace_all_uses_with(new)
            op.erase()
    arguments = set(entry_block(function).arguments)
    for end, operands in ends if functions is not None else ():
        _return(end, operands, own, arguments, copying)


def _is_concerned(op: ir.Operation) -> bool:
    return any(map(_is_unranked, (*op.operands, *op.results)))


def _require_taken(op: ir.Operation) -> None:
    model = model_of(op.name)
    parent = model_of(op.parent.name) if op.parent is not None else None
    passes = model is not None and (model.flow is not None or model.branches is not None)
    ends = parent is not None and parent.flow is not None and not len(op.results) and not len(op.regions)
    here = not any(_is_elsewhere(value.type) for value in (*op.operands, *op.results))
    if passes or ends or op.name in _PASSED_ON or (op.name in _CHANGES and here):
        return
    kind = next(value.type for value in (*op.operands, *op.results) if _is_unranked(value))
    where = python_line(op.location)
    raise BufferizationError(
        f"`{op.name}` has a tensor without a rank", expected="ranked tensors", got=str(kind), where=where, hint=_HINT
    )


def _is_elsewhere(kind: ir.Type) -> bool:
    """Whether it is a memref in another space than the default one."""
    return isinstance(kind, ir.UnrankedMemRefType) and kind != unranked_memref_of(kind)


# Ops with tensors of no rank, which have unranked memrefs by now


def _cast(op: ir.Operation, copying: _Copying) -> ir.Value:
    source, kind = op.operands[0], op.results[0].type
    if source.type == kind:
        return source
    if is_tensor(kind):
        memref = memref_of(kind)
        memref = dynamic_layout(memref) if copying.strided else memref
        return _seen(create("memref.cast", [source], [memref], before=op).results[0], kind, op)
    read_only = {"read_only": ir.UnitAttr.get()}
    buffer = create(TO_BUFFER, [source], [memref_of(source.type)], read_only, before=op).results[0]
    return create("memref.cast", [buffer], [kind], before=op).results[0]


def _seen(memref: ir.Value, kind: ir.Type, op: ir.Operation) -> ir.Value:
    restrict = {"restrict": ir.UnitAttr.get()}
    return create(TO_TENSOR, [memref], [kind], restrict, before=op).results[0]


def _rank(op: ir.Operation, _: _Copying) -> ir.Value:
    return create("memref.rank", list(op.operands), [ir.IndexType.get()], before=op).results[0]


def _dim(op: ir.Operation, _: _Copying) -> ir.Value:
    return create("memref.dim", list(op.operands), [ir.IndexType.get()], before=op).results[0]


def _to_tensor(op: ir.Operation, copying: _Copying) -> ir.Value:
    source = op.operands[0]
    return source if "restrict" in op.attributes else copying.of_operand(op, 0)


def _to_buffer(op: ir.Operation, copying: _Copying) -> ir.Value:
    source = op.operands[0]
    return source if "read_only" in op.attributes else copying.of_operand(op, 0)


_CHANGES: dict[str, Callable[[ir.Operation, _Copying], ir.Value]] = {
    "tensor.cast": _cast,
    "tensor.rank": _rank,
    "tensor.dim": _dim,
    TO_TENSOR: _to_tensor,
    TO_BUFFER: _to_buffer,
}


def _pass(call: ir.Operation, operands: Sequence[int], callee: ir.Operation | None, copying: _Copying) -> None:
    """Gives a function without a body, which may write what it is passed, copies."""
    if callee is not None and not is_declaration(callee):
        return
    told = () if callee is None else signature(callee).arguments
    for number in operands:
        if not told or told[number].declared_access not in ("read", "none"):
            call.operands[number] = copying.of_operand(call, number)


def _take(call: ir.Operation, values: Container[ir.Value], copying: _Copying) -> None:
    """Copies what a call returns, which may lie in memory that it was passed."""
    passed = any(is_tensor(each.type) or each in values for each in call.operands)
    for result in call.results if passed else ():
        uses = _uses(result) if result in values else []
        if uses:
            _let_read(uses, copying.copied(result, call, f"result of {call.name}", Reason.NOT_FOLLOWED, next_op(call)))


def _return(
    end: ir.Operation,
    operands: Sequence[int],
    own: Container[ir.Value],
    arguments: Container[ir.Value],
    copying: _Copying,
) -> None:
    """Returns memory of the caller's own: what casts copied or calls returned, once, and copies of the rest."""
    given: set[ir.Value] = set()
    for number in operands:
        value = end.operands[number]
        if value not in own or value in given:
            reason = Reason.RETURNED_TWICE if value in given else Reason.NOT_FOLLOWED
            reason = Reason.RETURNED_INPUT if value in arguments else reason
            end.operands[number] = copying.copied(value, end, f"result {number}", reason, end)
        given.add(value)


def copied_by_rank(memref: ir.Value, op: ir.Operation, *, strided: bool = False) -> ir.Value:
    """A new unranked memref with the contents of one whose elements lie in row-major order, or `strided`, in front of `op`.

    Its sizes are read in a loop over its rank; the elements are copied as one row, or by a `memref.copy` without a rank.
    """
    index, element = ir.IndexType.get(), cast(Any, memref.type).element_type
    row = ir.MemRefType.get([DYNAMIC], element)
    zero, one = index_constant(0, op), index_constant(1, op)
    rank = create("memref.rank", [memref], [index], before=op).results[0]
    shape = alloc(ir.MemRefType.get([DYNAMIC], index), [rank], op)
    sizes, position, (product,), end = loop([zero, rank, one], [one], op)
    size = create("memref.dim", [memref, position], [index], before=end).results[0]
    create("memref.store", [size, shape, position], [], before=end)
    end.operands[0] = create("arith.muli", [product, size], [index], before=end).results[0]
    new = alloc(row, [sizes.results[0]], op)
    if strided:
        whole = create("memref.reshape", [new, shape], [memref.type], before=op).results[0]
        create("memref.copy", [memref, whole], [], before=op)
        return whole
    count = alloc(ir.MemRefType.get([1], index), [], op)
    create("memref.store", [sizes.results[0], count, zero], [], before=op)
    elements = create("memref.reshape", [memref, count], [row], before=op).results[0]
    create("memref.copy", [elements, new], [], before=op)
    return create("memref.reshape", [new, shape], [memref.type], before=op).results[0]
