"""Where the results of a function are: in an argument's memory, in memory of the caller's, or in new memory that it returns.

1. A result that lies entirely in the memory of an argument stays there, if every caller is known, or if that is asked for and the
   argument is donated: it is no result any more. One that is in other memory on some way, and would be copied anyhow, is
   copied to the donated argument.
2. The new contents of an argument that is state (`hotdesk.state`) lie in its memory in the end: computed there, or copied, after
   everything else is where it belongs, all at once (`program.parallel_copies`).
3. Else it becomes the next argument, memory of the caller's in which it is computed where that is possible, if callers can tell
   its sizes, or nobody calls the function; unless, on some path, it lies in memory that a call returned: it is not computed here.
4. Else it is returned, as new memory that the caller owns.

Callers find it in the signature (`models.callee`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import cast

from hotdesk._bindings import ir
from hotdesk.analysis.in_place.access import argument_access
from hotdesk.analysis.in_place.recursion import held_results, results_in_donated
from hotdesk.analysis.tensors.known_sizes import KnownSizes
from hotdesk.analysis.tensors.program import TensorProgram
from hotdesk.explain import Outcome, Reason
from hotdesk.ir.argument_sizes import Stating
from hotdesk.ir.building import alloc, cast_to, create, dynamic_dims, elementwise_copy, sliced, with_values
from hotdesk.ir.signature import Formal, FunctionSignature, formals, set_signature, signature
from hotdesk.ir.types import is_tensor, row_major, shape_of
from hotdesk.ir.walking import defining_op, entry_block, symbol_name
from hotdesk.models.bufferization import TO_TENSOR
from hotdesk.models.callee import assumed
from hotdesk.models.memref import all_of, viewed
from hotdesk.models.new_memory import BASES
from hotdesk.passes.bufferize.result_memory import is_called
from hotdesk.passes.bufferize.rewriting import Rewriting
from hotdesk.program.calls import Callable
from hotdesk.program.parallel_copies import sequentialized
from hotdesk.sizes.size import Size

Sizes = tuple[tuple[int, int], ...]


@dataclass(slots=True)
class _Boundary:
    """Where each tensor result is, by number: `held` in an argument, as new contents of one that is `state`, `added` as an
    argument with its sizes, or `returned`.

    `shapes` are the sizes of those that are added, by the names that a caller knows.
    """

    held: dict[int, int] = field(default_factory=dict[int, int])
    state: dict[int, int] = field(default_factory=dict[int, int])
    added: dict[int, Sizes | None] = field(default_factory=dict[int, "Sizes | None"])
    shapes: dict[int, tuple[Size, ...]] = field(default_factory=dict[int, "tuple[Size, ...]"])
    returned: list[int] = field(default_factory=list[int])


def place_results(node: Callable, rewriting: Rewriting, buffers: list[ir.Value]) -> None:
    """Replaces the return by one without tensors, and the allocations that results cover by arguments.

    Results that are no tensors stay results.

    Raises:
        BufferizationError: a tensor is left.
    """
    record = rewriting.analysis.function
    last = record.end
    if not rewriting.conventions.functions:
        _return_tensors(last.operation, rewriting, buffers)
        return
    boundary = _boundary(node, record, rewriting, buffers)
    end = create("func.return", [], [], before=last.operation)
    places = _ResultPlacement(node.function, record, rewriting, buffers, end)
    last.operation.erase()
    rewriting.finish()
    for number, argument in boundary.held.items():
        places.hold(number, argument)
    if not node.recursive:  # others rely on what was found for recursive functions
        boundary.added = {n: sizes for n, sizes in boundary.added.items() if not places.return_as_it_came(n)}
    arguments = {number: places.add_argument(number) for number in boundary.added}
    for number in sorted(arguments, key=places.is_undefined):
        places.put(number, arguments[number])
    for number in sorted(boundary.returned, key=places.is_undefined):
        places.give_back(number)
    places.update(boundary.state)
    in_arguments = {*boundary.held, *boundary.state, *boundary.added}
    kept = [places.buffers[number] for number in range(len(buffers)) if number not in in_arguments]
    create("func.return", kept, [], before=end)
    end.erase()
    _set_type(node, boundary, [value.type for value in kept])
    if node.called:
        _tell_callers(node.function, rewriting)


def _return_tensors(last: ir.Operation, rewriting: Rewriting, buffers: list[ir.Value]) -> None:
    """Returns the tensors of the memrefs: the signature stays."""
    for number, (value, memref) in enumerate(zip(last.operands, buffers, strict=True)):
        if is_tensor(value.type):
            tensor = create(TO_TENSOR, [memref], [value.type], before=last)
            last.operands[number] = tensor.results[0]
    rewriting.finish()


def _boundary(node: Callable, record: TensorProgram, rewriting: Rewriting, buffers: Sequence[ir.Value]) -> _Boundary:
    said = assumed(symbol_name(node.function)) if node.recursive else None
    held: Mapping[int, int] = {}
    if said is not None:
        held = said.held
    elif node.owned:
        held = held_results(record, rewriting.analysis.places)
        held = {n: each for n, each in held.items() if rewriting.result_memory.is_in_one(record.end.operands[n])}
    elif rewriting.conventions.in_donated and not node.recursive:
        held = results_in_donated(record, rewriting.analysis.places)
        held = {n: each for n, each in held.items() if not _is_apart(record, rewriting, n, buffers[n])}
    known_as = enumerate(signature(node.function).arguments)
    state = {each.state: argument for argument, each in known_as if each.state is not None}
    held = {n: each for n, each in held.items() if n not in state and each not in state.values()}
    found, known = _Boundary(dict(held), state), KnownSizes(record)
    for number, value in enumerate(record.end.operands):
        if value < 0 or number in held or number in state:
            continue
        sizes = None if node.recursive else _sizes(known, record, value)
        static = None not in shape_of(record.values[value].value.type)
        if (sizes is None and node.called and not static) or (rewriting.conventions.returned and not node.recursive):
            found.returned.append(number)
        else:
            found.added[number] = () if static else sizes
            found.shapes[number] = tuple(known.named(size) for size in record.values[value].shape)
    return found


def _is_apart(record: TensorProgram, rewriting: Rewriting, number: int, buffer: ir.Value) -> bool:
    """Whether a result that may lie in an argument is certainly in memory of its own."""
    value, result_memory = record.end.operands[number], rewriting.result_memory
    if result_memory.is_in_one(value):
        return False
    return is_called(buffer) or result_memory.allocation(value, buffer, set())[0] is not None


def _sizes(known: KnownSizes, record: TensorProgram, value: int) -> Sizes | None:
    """Where a caller finds each dynamic size of a result, as `models.callee` writes it; None if it cannot find one."""
    found: list[tuple[int, int]] = []
    static = shape_of(record.values[value].value.type)
    for size, fixed in zip(record.values[value].shape, static, strict=True):
        if fixed is None:
            source = known.source(size)
            if source is None:
                return None
            found.append(source)
    return tuple(found)


class _ResultPlacement:
    """Puts the results of one function where they belong, in front of its end."""

    def __init__(
        self,
        function: ir.Operation,
        record: TensorProgram,
        rewriting: Rewriting,
        buffers: list[ir.Value],
        end: ir.Operation,
    ) -> None:
        self.buffers = buffers
        self._block = entry_block(function)
        self._record = record
        self._rewriting = rewriting
        self._decided = rewriting.decided
        self._end = end
        self._taken: set[ir.Value] = set()
        self._kinds = {
            number: rewriting.signature_type(record.values[value].value.type)
            for number, value in enumerate(record.end.operands)
            if value >= 0
        }

    def hold(self, number: int, argument: int) -> None:
        value = self._record.end.operands[number]
        memref = self._block.arguments[argument]
        here = viewed(self.buffers[number]) == viewed(memref)
        if not (here or self._rewriting.result_memory.is_in_one(value) or self.is_undefined(number)):
            elementwise_copy(self.buffers[number], memref, self._end)
            self._decided.of_result(number, value, Outcome.COPIED, Reason.LIES_ELSEWHERE)
            return
        reason = Reason.DONATED if self._rewriting.result_memory.is_written(value) else Reason.EQUALS_ARGUMENT
        self._decided.of_result(number, value, Outcome.LENT, reason)

    def update(self, state: Mapping[int, int]) -> None:
        """Brings the new contents of state to where they belong: `state` has the argument for each, by number."""
        copied: dict[int, ir.Value] = {}
        for number, argument in state.items():
            memref, value = self._block.arguments[argument], self._record.end.operands[number]
            if self._lies_in(number, memref, argument) or self.is_undefined(number):
                self._decided.of_result(number, value, Outcome.IN_PLACE, Reason.STATE)
                continue
            self._decided.of_result(number, value, Outcome.COPIED, Reason.LIES_ELSEWHERE)
            copied[number] = memref
            if not self._is_of_one(number) or viewed(self.buffers[number]) == memref:
                self._move_out(number)
        numbers = list(copied)
        for copy, aside in sequentialized([[viewed(self.buffers[n])] for n in numbers], [[m] for m in copied.values()]):
            number = numbers[copy]
            if aside:
                self._move_out(number)
            else:
                elementwise_copy(self.buffers[number], copied[number], self._end)

    def _lies_in(self, number: int, memref: ir.Value, argument: int) -> bool:
        """Whether a result is all of an argument's memory."""
        places, value = self._rewriting.analysis.places, self._record.end.operands[number]
        if all_of(self.buffers[number]) == memref:
            return True
        place = places.place_of(value)
        given = places.find(self._record.arguments[argument])
        return place is not None and place == given and self._rewriting.result_memory.is_in_one(value)

    def _is_of_one(self, number: int) -> bool:
        """Whether it is known which allocation or argument a result is seen through."""
        op = defining_op(root := viewed(self.buffers[number]))
        return root in self._block.arguments if op is None else op.name in BASES

    def _move_out(self, number: int) -> None:
        """Copies a result to new memory."""
        old, kind = self.buffers[number], self._kinds[number]
        self.buffers[number] = alloc(kind, dynamic_dims(old, self._end), self._end)
        elementwise_copy(old, self.buffers[number], self._end)

    def is_undefined(self, number: int) -> bool:
        """Whether a result has no contents: then it needs none, and leaves an allocation to one that has."""
        readers = self._rewriting.analysis.readers
        return readers.root[self._record.end.operands[number]] in readers.undefined

    def add_argument(self, number: int) -> ir.Value:
        return self._block.add_argument(self._kinds[number], self._end.location)

    def put(self, number: int, argument: ir.Value) -> None:
        value, kind = self._record.end.operands[number], argument.type
        allocation, reason = self._rewriting.result_memory.allocation(value, self.buffers[number], self._taken)
        if allocation is not None and allocation.type != kind and None in row_major(shape_of(allocation.type)):
            allocation, reason = None, Reason.SIZE_NOT_PROVEN_EQUAL
        if allocation is None and not self.is_undefined(number):
            elementwise_copy(self.buffers[number], argument, self._end)
            self._decided.of_result(number, value, Outcome.COPIED, reason)
            return
        self._decided.of_result(number, value, Outcome.LENT, Reason.RESULT_SLOT)
        if allocation is None:
            return
        if allocation in self._decided.allocations:
            self._decided.decisions.remove(self._decided.allocations[allocation])
        op = cast(ir.Operation, defining_op(allocation))
        replacement = argument if allocation.type == argument.type else _seen_as(argument, allocation, op)
        allocation.replace_all_uses_with(replacement)
        self.buffers[:] = [replacement if other == allocation else other for other in self.buffers]
        op.erase()
        self._taken.update((replacement, argument, allocation))

    def return_as_it_came(self, number: int) -> bool:
        """Whether a result is, on some path, what a call returned: then it is returned, if that needs no copy."""
        made = self._rewriting.result_memory.made(self._record.end.operands[number], self.buffers[number], self._taken)
        if made is None or not any(is_called(memref) for memref in made):
            return False
        self._return(number, self.buffers[number], made)
        return True

    def give_back(self, number: int) -> None:
        """Returns a result: the memory in which it was made, if nothing else is there, or a copy."""
        value, old, kind = self._record.end.operands[number], self.buffers[number], self._kinds[number]
        result_memory = self._rewriting.result_memory
        allocation, reason = result_memory.allocation(value, old, self._taken)
        made = result_memory.made(value, old, self._taken) if allocation is None else frozenset([allocation])
        if made is not None:
            self._return(number, allocation if allocation is not None and allocation.type == kind else old, made)
            return
        self.buffers[number] = alloc(kind, dynamic_dims(old, self._end), self._end)
        outcome = Outcome.ALLOCATED
        if not self.is_undefined(number):
            elementwise_copy(old, self.buffers[number], self._end)
            outcome = Outcome.COPIED
        self._decided.of_result(number, value, outcome, reason)

    def _return(self, number: int, memref: ir.Value, made: frozenset[ir.Value]) -> None:
        """Returns what was made in the function, seen as `memref`, whose layout may be known in the result's type only."""
        self.buffers[number] = cast_to(memref, self._kinds[number], self._end)
        self._taken.update(made)
        self._decided.of_result(number, self._record.end.operands[number], Outcome.IN_PLACE, Reason.RETURNED_AS_MADE)


def _set_type(node: Callable, boundary: _Boundary, kept: list[ir.Type]) -> None:
    function = node.function
    block = entry_block(function)
    known = signature(function)
    own = zip(known.arguments, block.arguments, strict=False)  # what is added has no place in the old signature
    arguments = [replace(each, type=argument.type) for each, argument in own]
    stating = Stating()
    for argument, (number, sizes) in zip(list(block.arguments)[len(arguments) :], boundary.added.items(), strict=True):
        shape = stating.of(len(arguments), boundary.shapes[number])
        told = sizes if sizes and node.called else None
        arguments.append(Formal(argument.type).stating(result=number, shape=shape, sizes=told))
    for argument in boundary.held.values():
        held = [number for number, each in boundary.held.items() if each == argument]
        arguments[argument] = arguments[argument].stating(holds=held)
    set_signature(function, FunctionSignature(tuple(arguments), formals(kept)))


def _tell_callers(function: ir.Operation, rewriting: Rewriting) -> None:
    accesses = argument_access(rewriting.analysis)

    def stating(number: int, argument: Formal) -> Formal:
        access = accesses[number] if number < len(accesses) else None
        return argument if access is None else argument.stating(access=access.value)

    set_signature(function, signature(function).stating(stating))


def _seen_as(argument: ir.Value, allocation: ir.Value, op: ir.Operation) -> ir.Value:
    """A contiguous argument seen with an allocation's sizes, at the allocation's place in the program."""
    shape = shape_of(allocation.type)
    sizes, strides = with_values(shape, op.operands), [cast(int, stride) for stride in row_major(shape)]
    return sliced("memref.reinterpret_cast", [argument], allocation.type, [0], sizes, op, strides=strides)
