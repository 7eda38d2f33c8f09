"""A function with control flow as machine code: its loops, branches and scalars as they are, around calls of kernels.

    scf.for %i … {                                  scf.for %i … {
      %v = memref.subview %a[%i] …           ->       %v = memref.subview %A[%i] …
      linalg.generic ins(%v) outs(%b) … }             call @kernel_3(address of %v, address of %B, strides of %v) }

1. Arguments, planned allocations and globals become memrefs at the addresses of the pointer table; so plans and frames are those
   of functions without control flow (`entry`). Deallocations of what is planned are no code (`flow_memory`).
2. Other allocations come from a second region (`kernels.region`) and go back to it where deallocation says.
3. Every op on memory that has a kernel becomes a call of it. Sizes and strides that its operands' types leave open, and scalars,
   are passed as they are at that point.
4. A failed `cf.assert` stores its code in the status word and leaves the function (`flow_checks`).
5. Parallel loops that are worth it are shared out among the threads of the pool (`parallel_loops`).
6. A function that calls itself stays one. It takes its memory from the second region, and no more of the stack than `STACK`
   bytes, however deep it calls itself: an assertion at its beginning looks.

MLIR's own conversions take the rest to LLVM.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple, cast

from hotdesk._bindings import ir
from hotdesk.analysis.memrefs.buffers import BufferUse
from hotdesk.analysis.memrefs.shared_loops import SharedLoop, find_shared_loops
from hotdesk.errors import LoweringError
from hotdesk.explain import Source
from hotdesk.ir.building import (
    compared,
    constant,
    create,
    elementwise_copy,
    index_cast,
    index_constant,
)
from hotdesk.ir.context import run_mlir_passes
from hotdesk.ir.functions import called_name, callee_name
from hotdesk.ir.locations import CHECKED_OP, python_line, source_in_model
from hotdesk.ir.op_maps import OpMap, OpSet
from hotdesk.ir.signature import FunctionSignature, formals, new_function, signature
from hotdesk.ir.types import shape_of
from hotdesk.ir.walking import (
    defined_functions,
    defining_op,
    dialect_of,
    entry_block,
    nested_ops,
    ops_outside_payloads,
    symbol_name,
    text_of,
)
from hotdesk.kernels.parts import share_name
from hotdesk.kernels.region import FUNCTIONS, GIVE, TAKE
from hotdesk.models.cf import ASSERT
from hotdesk.models.func import RETURN
from hotdesk.models.hotdesk import FOREIGN, KEPT, WITH_KERNELS, foreign_operands
from hotdesk.models.memref import COPY
from hotdesk.models.new_memory import ALLOC, BASES, DEALLOC, GLOBAL
from hotdesk.passes.lower.calls import KernelCall
from hotdesk.passes.lower.entry import NumberTable
from hotdesk.passes.lower.flow_checks import UNDO, leave_where_failed, mark_undone, settle_assertions
from hotdesk.passes.lower.flow_memory import give_back, pointer_to, put_at, shown, stack_at_entry, take
from hotdesk.passes.lower.flow_operands import FlowOperands, KnownExtents
from hotdesk.passes.lower.flow_profile import CALL
from hotdesk.passes.lower.library import KernelLibrary, has_kernel
from hotdesk.passes.lower.parallel_loops import outline
from hotdesk.passes.lower.unpacked_memrefs import (
    element_at,
    metadata,
    passed_types,
    put_together,
    table_entry,
    taken_apart,
)
from hotdesk.passes.lower.views import MemrefPlaces
from hotdesk.passes.lower.work import Work, work_of
from hotdesk.program.symbolic import SymbolicSizes
from hotdesk.sizes.size import Size

_CODE = ("scf", "cf", "arith", "math", "memref", "affine", "index", "ub", "vector", "complex")
"""The dialects that MLIR takes to LLVM as they are."""

STACK = 1 << 20
"""Bytes of the machine's stack that functions which call themselves may use, below the entry function."""

_UNKNOWN_WORK = Work((), 0, 0, 0)

_DEEP = f"calls that take no more than {STACK >> 20} MiB of the stack"


class EntryFlow(NamedTuple):
    """The kernel calls of an entry function, by the number that each has in `text`, where the times of them can be taken.

    `undo` are those that are made where one fails.
    """

    calls: tuple[KernelCall, ...]
    text: str
    undo: tuple[KernelCall, ...]


class ControlFlowLowering:
    """Makes the entry function of a function in the library's module; the function itself is used up.

    Args:
        function: on memrefs; its results are arguments.
        sizes: those of the function.
        buffers: its bases, as in the pointer table; the status word comes after them.
        entry: the name of the entry function.
        numbers: gets the sizes of arguments that are known when the function is called.
        called: the functions that it calls, which stay as they are; it knows all globals that they use. With any, the pointer
            table has one entry more in front of the status word.
    """

    def __init__(
        self,
        function: ir.Operation,
        sizes: SymbolicSizes,
        buffers: Sequence[BufferUse],
        library: KernelLibrary,
        entry: str,
        numbers: NumberTable,
        called: Sequence[ir.Operation],
    ) -> None:
        self._called = {symbol_name(each): each for each in called}
        self._function = function
        self._library = library
        self._entry = entry
        self._numbers = numbers
        self._sizes = sizes
        self._buffers = buffers
        self._status_place = len(self._buffers) + bool(called)
        self._declared: dict[str, str] = {}
        self._outside: dict[str, str] = {}  # functions that are not the library's
        self._calls: list[KernelCall] = []
        self._undo: list[KernelCall] = []
        self._told: tuple[Source, Work] | None = None  # of the op that is lowered; None if its calls are not counted
        self._point = 0  # the number of that
        self._in_region = False

    def run(self) -> EntryFlow:
        """The entry function. Raises LoweringError if an op has no kernel."""
        ops = ops_outside_payloads(self._function)
        extents = KnownExtents(self._sizes)
        told = [self._told_of(op, extents) for op in ops]
        points = OpMap((op, point) for point, op in enumerate(ops))
        shared = [(loop, self._library.reserved_name(), points[loop.op]) for loop in find_shared_loops(ops)]
        apart = OpSet(op for loop, *_ in shared for op in nested_ops(loop.op))
        told = [None if op in apart else each for op, each in zip(ops, told, strict=True)]
        bases = [defining_op(buffer.base) for buffer in self._buffers]
        self._globals = ["" if op is None or op.name != GLOBAL else _global(op) for op in bases]
        shapes = {i: self._sizes.shape(b.base) for i, b in enumerate(self._buffers) if b.kind == "argument"}
        module, block = self._moved()
        self._pointers, self._table_of_numbers = block.arguments
        # An op that stays: what comes in first goes in front of it.
        first = cast(ir.Operation, defining_op(index_constant(0, block.operations[0].operation)))
        self._status = self._at_entry(self._status_place, ir.IntegerType.get_signless(32), first)
        self._stack = _stack_pointer(first) if self._called else None
        for self._point, (op, source) in enumerate(zip(ops, told, strict=True)):
            self._told = source
            with op.location:
                self._lower(op)
        for place, buffer in enumerate(self._buffers):
            if buffer.kind == "argument":
                buffer.base.replace_all_uses_with(self._argument(place, buffer.base, shapes[place], first))
            elif buffer.kind in ("alloc", "global"):
                self._place(place, cast(ir.Operation, defining_op(buffer.base)))
        entry = self._status, self._pointers
        for each in self._called.values():
            self._lower_called(each, module)
        self._status, self._pointers = entry
        if self._called or any(buffer.kind == "heap" for buffer in self._buffers):
            self._take_from_region(module, first)
        for loop, name, point in shared:
            self._point = point
            self._share(loop, name)
        return EntryFlow(tuple(self._calls), self._leave(module), tuple(self._undo))

    def _told_of(self, op: ir.Operation, extents: MemrefPlaces) -> tuple[Source, Work] | None:
        if _is_kernel_call(op):
            return source_in_model(op), work_of(op, extents)
        return (source_in_model(op), _UNKNOWN_WORK) if called_name(op) in self._called else None

    def _moved(self) -> tuple[ir.Module, ir.Block]:
        """The function's blocks in a function of tables, in a module of its own."""
        module = ir.Module.create()
        i64 = ir.IntegerType.get_signless(64)
        table = ir.MemRefType.get([1 << 32], i64)
        takes = FunctionSignature(formals([table, table]), ())
        new, block = new_function(self._entry, takes, ir.InsertionPoint(module.body), self._function.location)
        self._old = entry_block(self._function)
        for op in list(self._old.operations):
            block.append(op)
        for other in list(self._function.regions[0].blocks)[1:]:
            other.append_to(new.regions[0])
        return module, block

    # Memory

    def _at_entry(self, place: int, element: ir.Type, before: ir.Operation) -> ir.Value:
        """What a place of the pointer table points at."""
        return element_at(table_entry(self._pointers, place, before), element, before)

    def _argument(self, place: int, argument: ir.Value, shape: Sequence[Size], before: ir.Operation) -> ir.Value:
        pointer = self._at_entry(place, cast(Any, argument.type).element_type, before)
        open_sizes = [size for size, known in zip(shape, shape_of(argument.type), strict=True) if known is None]
        sizes: list[ir.Value] = []
        for size in open_sizes:
            if isinstance(size, int):
                sizes.append(index_constant(size, before))
            else:
                number = table_entry(self._table_of_numbers, self._numbers.index(size), before)
                sizes.append(index_cast(number, ir.IndexType.get(), before))
        return shown(pointer, argument.type, sizes, before)

    def _place(self, place: int, op: ir.Operation) -> None:
        """Puts what an op allocates, or a global, in its place."""
        put_at(self._at_entry(place, cast(Any, op.results[0].type).element_type, op), op)

    def _take_from_region(self, module: ir.Module, first: ir.Operation) -> None:
        """Takes what is not planned from the second region, and gives it back where it is deallocated."""
        region = table_entry(self._pointers, self._status_place + 1, first)
        self._in_region = True
        for buffer in self._buffers:
            if buffer.kind == "heap":
                take(region, cast(ir.Operation, defining_op(buffer.base)))
        for op in [each for each in nested_ops(module.operation) if each.name == DEALLOC]:
            give_back(op)

    # Functions that call themselves

    def _lower_called(self, function: ir.Operation, module: ir.Module) -> None:
        """Makes a function of the pointer table, the stack pointer of the entry function, and what it takes itself."""
        cloned = cast(Any, function).clone(ir.InsertionPoint(module.body)).operation
        ops, given = ops_outside_payloads(cloned), signature(cloned)
        types = [self._pointers.type, ir.IntegerType.get_signless(64), *_passed(given.inputs)]
        takes = FunctionSignature(formals(types), formals(_passed(given.outputs)))
        point = ir.InsertionPoint(module.body)
        new, block = new_function(self._name_of(symbol_name(function)), takes, point, function.location)
        old = entry_block(cloned)
        for each in list(old.operations):
            block.append(each)
        for other in list(cloned.regions[0].blocks)[1:]:
            other.append_to(new.regions[0])
        first = block.operations[0].operation
        with first.location:
            self._pointers, self._stack, *numbers = block.arguments
            self._status = self._at_entry(self._status_place, ir.IntegerType.get_signless(32), first)
            self._look_at_stack(first, function.location)
            region = table_entry(self._pointers, self._status_place + 1, first)
            rest = iter(numbers)
            for argument in old.arguments:
                argument.replace_all_uses_with(_put_together(argument.type, rest, first))
        self._told = None
        memory = [op for op in ops if op.name in BASES]
        for op in ops:
            with op.location:
                if op.name == RETURN:
                    create("func.return", _taken_apart(op.operands, op), [], before=op)
                    op.erase()
                else:
                    self._lower(op)
        for op in memory:
            if op.name == ALLOC:
                take(region, op)
            else:
                self._place(self._globals.index(_global(op)), op)
        cloned.erase()

    def _look_at_stack(self, before: ir.Operation, at: ir.Location) -> None:
        """Checks that the stack is no deeper than it may be; `at` is where the function stands."""
        assert self._stack is not None
        i64 = ir.IntegerType.get_signless(64)
        used = create("arith.subi", [self._stack, _stack_pointer(before)], [i64], before=before).results[0]
        holds = compared("sle", used, constant(STACK, i64, before), before)
        told: dict[str, ir.Attribute] = {"msg": ir.StringAttr.get(_DEEP), CHECKED_OP: ir.StringAttr.get("func.call")}
        made = create("cf.assert", [holds], [], told, before=before)
        cast(Any, made).location = at

    def _name_of(self, function: str) -> str:
        return f"{self._entry}_{function}"

    def _call_of(self, op: ir.Operation) -> None:
        """Calls a function that calls itself, and leaves this one where a check has failed in it."""
        assert self._stack is not None
        operands = [self._pointers, self._stack, *_taken_apart(op.operands, op)]
        results = _passed([result.type for result in op.results])
        name = self._name_of(callee_name(op))
        made = self._create_call(name, operands, op, results=results)
        leave_where_failed(self._status, op)
        rest = iter(made.results)
        for result in op.results:
            result.replace_all_uses_with(_put_together(result.type, rest, op))
        op.erase()

    # Parallel loops

    def _share(self, loop: SharedLoop, name: str) -> None:
        """Has the iterations of a parallel loop shared out, and leaves the function where a check has failed in one."""
        op = loop.op
        has_checks = any(each.name == ASSERT or self._status in each.operands for each in nested_ops(op))
        self._told = source_in_model(op), _UNKNOWN_WORK
        operands = outline(loop, name, self._pointers)
        self._outside[share_name(name)] = ", ".join(str(value.type) for value in operands)
        self._create_call(share_name(name), operands, op)
        if has_checks:
            leave_where_failed(self._status, op)
        op.erase()

    # Ops

    def _lower(self, op: ir.Operation) -> None:
        if op.name == RETURN:
            self._return(op)
        elif op.name == COPY:
            self._call(elementwise_copy(op.operands[0], op.operands[1], op))
            op.erase()
        elif op.name == FOREIGN:
            self._foreign(op)
        elif KEPT in op.attributes:
            self._keep(op)
        elif called_name(op) in self._called:
            self._call_of(op)
        elif has_kernel(op.name):
            self._call(op)
        elif dialect_of(op.name) not in _CODE:
            where = python_line(op.location)
            raise LoweringError(f"op `{op.name}` has no kernel", expected=", ".join(_CODE), got=op.name, where=where)

    def _return(self, op: ir.Operation) -> None:
        if len(op.operands):
            raise LoweringError("results", expected="arguments in their place", got=f"{len(op.operands)} returned")

    def _keep(self, op: ir.Operation) -> None:
        """Has a copy made that keeps something, and behind it, where nobody comes by yet, the one that puts that back."""
        back = elementwise_copy(op.operands[1], op.operands[0], op)
        cast(Any, op).move_before(back)
        self._call(op)
        told, self._told = self._told, None
        undo = self._call(back)
        self._told = told
        undo.attributes[UNDO] = ir.UnitAttr.get()
        source, work = told or (Source(COPY), _UNKNOWN_WORK)
        self._undo.append(KernelCall(callee_name(undo), (), (), (), source, work, self._point))

    def _call(self, op: ir.Operation) -> ir.Operation:
        places = FlowOperands(op)
        kernel = self._library.kernel_of(op, places, places, computes=False)
        operands = [pointer_to(value, op, bytewise=op.name in WITH_KERNELS) for value in kernel.memrefs]
        operands += [places.number(size, op) for size in kernel.scalars]
        operands += [*kernel.passed, *(pointer_to(scratch, op, as_in=kernel.memrefs[-1]) for scratch in kernel.scratch)]
        operands += [self._status] if kernel.needs_status else []
        self._declared.setdefault(kernel.name, ", ".join(str(value.type) for value in operands))
        made = self._create_call(kernel.name, operands, op)
        if kernel.needs_status:
            leave_where_failed(self._status, op)
        op.erase()
        return made

    def _create_call(
        self,
        name: str,
        operands: Sequence[ir.Value],
        before: ir.Operation,
        op: str = "",
        results: Sequence[ir.Type] = (),
    ) -> ir.Operation:
        """A call in the place of the op that is lowered; `op` is what that is called, if not by its name."""
        attributes: dict[str, ir.Attribute] = {"callee": ir.FlatSymbolRefAttr.get(name)}
        if self._told is not None:
            source, work = self._told
            source = source._replace(op=op or source.op)
            attributes[CALL] = ir.IntegerAttr.get(ir.IntegerType.get_signless(64), len(self._calls))
            self._calls.append(KernelCall(name, (), (), (), source, work, self._point))
        return create("func.call", operands, results, attributes, before=before)

    def _foreign(self, op: ir.Operation) -> None:
        """Addresses, numbers, and sizes and strides of each memref, as `runtime.code.foreign` reads them.

        Where the call failed the function is left.
        """
        memrefs, numbers = foreign_operands(op)
        operands = [*(pointer_to(each, op) for each in memrefs), *numbers]
        for each in memrefs:
            operands += list(metadata(each, op).results)[2:]
        operands.append(self._status)
        name, called = (text_of(op, each) for each in ("callee", "op"))
        self._outside[name] = ", ".join(str(value.type) for value in operands)
        self._create_call(name, operands, op, called)
        leave_where_failed(self._status, op)
        op.erase()

    # Leaving

    def _leave(self, module: ir.Module) -> str:
        """Hands the function to the library: without structured control flow and assertions. Returns the text of it."""
        _declare(module, self._declared | self._outside)
        _declare(self._library.module, self._outside)
        if self._in_region:
            _define(module, FUNCTIONS)
        mark_undone(next(each for each in defined_functions(module) if symbol_name(each) == self._entry))
        run_mlir_passes(module, "func.func(scf-forall-to-for,convert-vector-to-scf),lower-affine,convert-scf-to-cf")
        own = [each for each in defined_functions(module) if symbol_name(each) not in (TAKE, GIVE)]
        for function in own:
            settle_assertions(function, self._status_of(function), self._library.assertion_code)
            stack_at_entry(function)
        if self._in_region and not _defines(self._library.module, TAKE):
            _define(self._library.module, FUNCTIONS)
        entry = next(each for each in own if symbol_name(each) == self._entry)
        for function in own:
            if function != entry:
                self._hand_over(function)
                _define(module, _declaration(function))
        text = str(module)
        self._hand_over(entry)
        return text

    def _hand_over(self, function: ir.Operation) -> None:
        function.detach_from_parent()
        self._library.module.body.append(function)

    def _status_of(self, function: ir.Operation) -> ir.Value:
        table = entry_block(function).arguments[0]
        first = entry_block(function).operations[0].operation
        return element_at(table_entry(table, self._status_place, first), ir.IntegerType.get_signless(32), first)


def _global(op: ir.Operation) -> str:
    """The name of the global that an op gets."""
    return text_of(op, "name")


def _passed(kinds: Sequence[ir.Type]) -> list[ir.Type]:
    return [each for kind in kinds for each in passed_types(kind)]


def _taken_apart(values: Iterable[ir.Value], before: ir.Operation) -> list[ir.Value]:
    return [each for value in values for each in taken_apart(value, before)]


def _put_together(kind: ir.Type, rest: Iterator[ir.Value], before: ir.Operation) -> ir.Value:
    return put_together(kind, [next(rest) for _ in passed_types(kind)], before)


def _stack_pointer(before: ir.Operation) -> ir.Value:
    """Where the stack of the machine ends, an `i64`: it grows downwards."""
    pointer = create("llvm.intr.stacksave", [], [ir.Type.parse("!llvm.ptr")], before=before).results[0]
    return create("llvm.ptrtoint", [pointer], [ir.IntegerType.get_signless(64)], before=before).results[0]


def _declaration(function: ir.Operation) -> str:
    kinds = signature(function)
    inputs, outputs = (", ".join(map(str, each)) for each in (kinds.inputs, kinds.outputs))
    return f"func.func private @{symbol_name(function)}({inputs}) -> ({outputs})"


def _declare(module: ir.Module, functions: Mapping[str, str]) -> None:
    """Declares functions in a module, given the types of their arguments."""
    _define(module, "\n".join(f"func.func private @{name}({types})" for name, types in functions.items()))


def _define(module: ir.Module, text: str) -> None:
    defined = ir.Module.parse(text)  # its ops are there as long as it is
    for op in list(defined.body.operations):
        module.body.append(op)


def _defines(module: ir.Module, name: str) -> bool:
    return any(symbol_name(op.operation) == name for op in module.body.operations)


def _is_kernel_call(op: ir.Operation) -> bool:
    """Whether an op becomes a call of a kernel: a copy too, by that of the loop that it is."""
    return has_kernel(op.name) or op.name in (COPY, FOREIGN)
