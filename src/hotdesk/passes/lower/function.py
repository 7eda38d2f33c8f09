"""A bufferized function as kernel calls: every op left becomes a call of a kernel on pointers into buffers."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

import numpy as np
import numpy.typing as npt
import sympy

from hotdesk._bindings import ir
from hotdesk.analysis.allocations.lending import Windows, callers_memory, windows
from hotdesk.analysis.memrefs.buffers import BufferUse, find_buffers, is_straight
from hotdesk.errors import LoweringError
from hotdesk.explain import Source
from hotdesk.graphs import reached
from hotdesk.ir.argument_sizes import argument_shapes
from hotdesk.ir.building import create, elementwise_copy
from hotdesk.ir.functions import called_name, named_functions
from hotdesk.ir.locations import python_line, source_in_model
from hotdesk.ir.printed_constants import bf16_bits, complex_numbers
from hotdesk.ir.signature import signature
from hotdesk.ir.types import element_bytes, element_of
from hotdesk.ir.walking import (
    defining_op,
    dialect_of,
    globals_of,
    nested_ops,
    ops_outside_payloads,
    text_of,
    top_level_ops,
)
from hotdesk.models.cf import ASSERT
from hotdesk.models.func import RETURN
from hotdesk.models.hotdesk import FOREIGN, KEPT, foreign_operands
from hotdesk.models.memref import LOAD, VIEWS
from hotdesk.models.new_memory import ALLOC, DEALLOC, GLOBAL
from hotdesk.passes.lower.calls import Base, KernelCall, Pointer
from hotdesk.passes.lower.control_flow import ControlFlowLowering
from hotdesk.passes.lower.entry import NumberTable, entry_text
from hotdesk.passes.lower.library import KernelLibrary, has_kernel
from hotdesk.passes.lower.structured.kernel import COMPUTED_DIALECTS
from hotdesk.passes.lower.views import MemrefResolver, ResolvedMemref
from hotdesk.passes.lower.work import work_of
from hotdesk.program.symbolic import SymbolicSizes
from hotdesk.sizes.size import Size, is_opaque, spelled, symbols_of

_NO_CODE = VIEWS | {
    ALLOC,
    DEALLOC,
    "memref.dim",
    GLOBAL,
    RETURN,
    LOAD,
}


_COMPLEX = {"complex<f32>": "complex64", "complex<f64>": "complex128"}

_OF_CALLED = Base("heap", 0, 0, 0)
"""The memory of functions that call themselves."""


@dataclass(frozen=True, slots=True)
class SizeCheck:
    """A relation between symbolic sizes that a call must fulfil."""

    relation: Any
    message: str
    source: Source


@dataclass(frozen=True, slots=True)
class LoweredFunction:
    """A function ready for the JIT.

    Attributes:
        entry: the name of its entry function.
        text: MLIR text of the entry function in the LLVM dialect.
        buffers: its bases in the order of the pointer table, with live ranges in op numbers; the status word comes after them.
        constants: contents of the `global` bases, by place in the pointer table.
        numbers: the number table, as expressions.
        checks: relations that the sizes of a call must fulfil.
        sources: the Python line of each op number.
        calls: the kernel calls, in the order of the text.
        result_places: places in the pointer table of the memory that results lie in, by the number of the result.
        donated: places of the donated inputs; one that holds a result is in `result_places` too.
        state: places of the arguments that hold their own new contents in the end; those are no results any more.
        undo: the kernel calls that a call makes which fails behind them, so that state and arguments are as before; with control
            flow they have no pointers.
        flow: with control flow, the entry function in MLIR's own dialects, whose kernel calls have the numbers of `calls`; there
            is no `text` then.
    """

    entry: str
    text: str
    buffers: tuple[Base, ...]
    constants: dict[int, npt.NDArray[Any]]
    numbers: tuple[Size, ...]
    checks: tuple[SizeCheck, ...]
    sources: tuple[Source, ...]
    calls: tuple[KernelCall, ...]
    result_places: tuple[int, ...]
    donated: tuple[int, ...] = ()
    state: tuple[int, ...] = ()
    undo: tuple[KernelCall, ...] = ()
    flow: str = ""

    @property
    def takes_region(self) -> bool:
        """Whether runs take memory from a second region, for what only they know the size of."""
        return any(buffer.kind == "heap" for buffer in self.buffers)

    @property
    def windows(self) -> Mapping[int, Windows]:
        """When memory of the caller's is free for other buffers, by place: see `analysis.allocations.lending`."""
        return windows(self.buffers, self.result_places, self.donated, len(self.sources))


def lower_function(
    function: ir.Operation, module: ir.Module, library: KernelLibrary, entry: str, *, deallocated: bool = True
) -> LoweredFunction:
    """Turns a function on memrefs into kernel calls; kernels go to `library`.

    `deallocated` says whether deallocation has decided where allocations end.

    Raises:
        LoweringError: an op has no kernel, or a size depends on the values of a tensor.
    """
    sizes, given = SymbolicSizes(function), (module, library, entry, deallocated)
    if is_straight(function, sizes):
        return _FunctionLowering(function, sizes, *given, straight=True).run()
    clone = cast(Any, function).clone(ir.InsertionPoint(function)).operation  # which lowering uses up
    lowered = _FunctionLowering(clone, SymbolicSizes(clone), *given, straight=False).run()
    clone.erase()
    return lowered


class _FunctionLowering:
    def __init__(
        self,
        function: ir.Operation,
        sizes: SymbolicSizes,
        module: ir.Module,
        library: KernelLibrary,
        entry: str,
        deallocated: bool,
        *,
        straight: bool,
    ) -> None:
        self._function = function
        self._module = module
        self._library = library
        self._entry = entry
        self._called = _called(function, module)
        _know_globals(function, self._called)
        self._sizes = sizes
        self._straight = straight
        self._places = MemrefResolver(self._function, self._sizes)
        self._buffers = find_buffers(function, sizes, straight, deallocated)
        self._table = {buffer.base: i for i, buffer in enumerate(self._buffers)}
        self._status = len(self._buffers)
        self._checks: list[SizeCheck] = []
        self._undo: list[KernelCall] = []

    def run(self) -> LoweredFunction:
        sources = [source_in_model(op) for op in ops_outside_payloads(self._function)]
        constants, lent = self._constants(), callers_memory(self._function)
        results, donated, state = (
            tuple(self._table[each] for each in found) for found in (lent.results, lent.donated, lent.state)
        )
        buffers = (*map(self._base, self._buffers), *((_OF_CALLED,) if self._called else ()))
        numbers = NumberTable()
        calls: list[KernelCall] = []
        text = flow_text = ""
        if self._straight:
            calls = self._calls(sources)
            text = entry_text(self._entry, calls, numbers, status=self._status, undo=self._undo)
        else:
            given = self._function, self._sizes, self._buffers
            flow = ControlFlowLowering(*given, self._library, self._entry, numbers, self._called).run()
            calls, flow_text = list(flow.calls), flow.text
            self._undo += flow.undo
        self._refuse_opaque(numbers.sizes)
        return LoweredFunction(
            self._entry,
            text,
            buffers,
            constants,
            tuple(numbers.sizes),
            tuple(self._checks),
            tuple(sources),
            tuple(calls),
            results,
            donated,
            state,
            tuple(self._undo),
            flow_text,
        )

    def _base(self, buffer: BufferUse) -> Base:
        if buffer.kind == "heap":
            return Base(buffer.kind, buffer.lower, buffer.upper, buffer.bytes)
        element = element_of(buffer.base.type)
        return Base(buffer.kind, buffer.lower, buffer.upper, buffer.bytes, buffer.shape, element)

    def _calls(self, sources: Sequence[Source]) -> list[KernelCall]:
        calls: list[KernelCall] = []
        for point, (op, source) in enumerate(zip(top_level_ops(self._function), sources, strict=True)):
            if op.name == ASSERT:
                self._check_sizes(op, source)
            elif not self._is_silent(op):
                call = self._call(op, source, point)
                if call is not None:
                    calls.append(call)
                if KEPT in op.attributes:
                    self._put_back(op, source, point)
        return calls

    def _is_silent(self, op: ir.Operation) -> bool:
        return op.name in _NO_CODE or dialect_of(op.name) in COMPUTED_DIALECTS

    def _call(self, op: ir.Operation, source: Source, point: int) -> KernelCall | None:
        if op.name == FOREIGN:
            return self._foreign(op, source, point)
        where = python_line(op.location)
        if not has_kernel(op.name):
            expected = "linalg, hotdesk or memref view ops"
            raise LoweringError(f"op `{op.name}` has no kernel", expected=expected, got=op.name, where=where)
        kernel = self._library.kernel_of(op, self._places, self._sizes)
        if kernel.passed:
            raise LoweringError(f"op `{op.name}` has no kernel", got="a scalar argument", where=where)
        pointers, last = (
            [self._pointer(self._places.of(value)) for value in memrefs] for memrefs in (kernel.memrefs, kernel.scratch)
        )
        last += [Pointer(self._status, 0)] if kernel.needs_status else []
        work = work_of(op, self._places)
        return KernelCall(kernel.name, tuple(pointers), tuple(kernel.scalars), tuple(last), source, work, point)

    def _put_back(self, kept: ir.Operation, source: Source, point: int) -> None:
        """The call that copies back what an op keeps."""
        back = elementwise_copy(kept.operands[1], kept.operands[0], kept)
        call = self._call(back, source, point)
        back.erase()
        if call is not None:
            self._undo.append(call)

    def _foreign(self, op: ir.Operation, source: Source, point: int) -> KernelCall:
        """Addresses, numbers, and sizes and strides of each memref, as `runtime.code.foreign` reads them."""
        memrefs, numbers = foreign_operands(op)
        places, given = [self._places.of(v) for v in memrefs], [self._sizes.value(v) for v in numbers]
        layouts = [number for place in places for number in (*place.sizes, *place.strides)]
        callee, called = (text_of(op, name) for name in ("callee", "op"))
        pointers, status = tuple(map(self._pointer, places)), (Pointer(self._status, 0),)
        named = Source(called, source.location, source.module)
        return KernelCall(callee, pointers, (*given, *layouts), status, named, work_of(op, self._places), point)

    def _pointer(self, place: ResolvedMemref) -> Pointer:
        offset: Any = place.offset
        return Pointer(self._table[place.base], offset * element_bytes(place.element))

    def _check_sizes(self, op: ir.Operation, source: Source) -> None:
        relation = self._sizes.condition(op.operands[0])
        message = text_of(op, "msg")
        if relation is None or is_opaque(relation):
            raise LoweringError(
                f"the check “{message}” depends on the values of a tensor",
                expected="a relation between sizes",
                where=source.location,
            )
        if relation is sympy.false:
            raise LoweringError(
                "an op of the model does not compile for these sizes",
                expected=message,
                got="sizes for which that never holds",
                where=source.location,
            )
        if relation is not sympy.true:
            self._checks.append(SizeCheck(relation, message, source))

    def _refuse_opaque(self, sizes: list[Size]) -> None:
        from hotdesk.errors import DataDependentShapeError

        unknown = _of_results_alone(self._function)
        for size in (*sizes, *(b.bytes for b in self._buffers if b.kind == "alloc" or unknown)):
            if is_opaque(size) or (unknown and not unknown.isdisjoint(symbols_of(size))):
                raise DataDependentShapeError(
                    "a size depends on the values of a tensor",
                    expected="sizes that follow from the sizes of the arguments",
                    got=spelled(size) if is_opaque(size) else "a size of a result that follows from none of them",
                )

    def _constants(self) -> dict[int, npt.NDArray[Any]]:
        """Contents of the constant globals that the function uses."""
        globals_by_name = globals_of(self._module)
        constants: dict[int, npt.NDArray[Any]] = {}
        for i, buffer in enumerate(self._buffers):
            if buffer.kind == "global":
                get = cast(ir.Operation, defining_op(buffer.base))
                found = globals_by_name[text_of(get, "name")]
                if "constant" not in found.attributes:
                    raise LoweringError(
                        f"global @{text_of(get, 'name')}", expected="a constant", got="one that changes"
                    )
                data = cast(Any, found.attributes["initial_value"])
                constants[i] = np.ascontiguousarray(contents_of(data))
        return constants


def _called(function: ir.Operation, module: ir.Module) -> tuple[ir.Operation, ...]:
    """The functions that one calls, directly or through others: those that call themselves, since all others are inlined."""
    functions = named_functions(module)

    def called(each: ir.Operation) -> list[str]:
        return [name for name in map(called_name, nested_ops(each)) if name in functions]

    return tuple(functions[name] for name in reached(called(function), lambda name: called(functions[name])))


def _know_globals(function: ir.Operation, called: Sequence[ir.Operation]) -> None:
    """Has a function name all globals that those which it calls use, so that they have a place in its pointer table."""
    known = {op.attributes["name"] for op in nested_ops(function) if op.name == GLOBAL}
    first = top_level_ops(function)[0]
    for op in (op for each in called for op in nested_ops(each) if op.name == GLOBAL):
        if op.attributes["name"] not in known:
            known.add(op.attributes["name"])
            create(op.name, [], [op.results[0].type], {"name": op.attributes["name"]}, before=first)


def _of_results_alone(function: ir.Operation) -> set[str]:
    """The symbols in sizes of results that no other argument has: nobody knows what those are."""
    found: tuple[set[str], set[str]] = set(), set()
    arguments = signature(function).arguments
    for number, shape in argument_shapes(function).items():
        for size in shape:
            found[arguments[number].result is not None].update(symbols_of(size))
    others, results = found
    return results - others


def contents_of(data: Any) -> npt.NDArray[Any]:
    """The elements of a constant, in an array of its shape."""
    if str(data.type.element_type) == "bf16" and data.is_splat:  # NumPy has no such type: the upper half of the float
        value = int.from_bytes(np.float32(data.get_splat_value().value).tobytes(), sys.byteorder) >> 16
        return np.full(tuple(data.type.shape), value, dtype=np.uint16)
    element = str(data.type.element_type)
    if element == "bf16" and "dense_resource" not in str(data)[:20]:
        return bf16_bits(str(data)).reshape(tuple(data.type.shape))
    if element in _COMPLEX and "dense_resource" not in str(data)[:20]:
        numbers = complex_numbers(str(data), np.dtype(_COMPLEX[element]))
        return np.full(tuple(data.type.shape), numbers[0]) if data.is_splat else numbers.reshape(tuple(data.type.shape))
    try:
        values = np.array(data)
    except TypeError as error:
        raise LoweringError("the values of a constant", expected="numbers", got=str(data)[:60]) from error
    if values.dtype == object:  # a resource, which the bindings cannot read
        raise LoweringError("the values of a constant", expected="a dense constant", got=str(data)[:60])
    return values
