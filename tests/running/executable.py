"""Compiles bufferized modules with MLIR's own passes and runs them.

`@main` takes a memref for each tensor and scalars as they are. A result is returned, or it is memory of the caller's: an argument
with `bufferize.result = <number of the result>`, or a donated one that `hotdesk.holds` it. Calls of other functions are the
program's own business.
"""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from torch_mlir import ir
from torch_mlir.execution_engine import ExecutionEngine
from torch_mlir.passmanager import PassManager

from tests.guarded import POISONS, Memory
from tests.reference import Array
from tests.running.heap import Heap, Traffic
from tests.running.instruments import ALLOCATE, ALLOCATED, COPIED, FREE, NOTE, instrument
from tests.running.memrefs import Kind, array_of, described, kind_of

RESULT, HOLDS, DONATED = "bufferize.result", "hotdesk.holds", "hotdesk.donated"
_SETTLE = "convert-bufferization-to-memref,canonicalize,cse"
_LOWER = (
    "func.func(scf-forall-to-for)",
    "func.func(convert-linalg-to-loops)",
    "func.func(convert-vector-to-scf)",
    "canonicalize",
    "lower-affine",
    "expand-strided-metadata",
    "lower-affine",
    "convert-scf-to-cf",
    "func.func(math-expand-ops{ops=rsqrt})",
    "convert-math-to-libm",
    "convert-complex-to-llvm",
    "convert-vector-to-llvm",
    "arith-expand",
    "convert-arith-to-llvm",
    "convert-index-to-llvm",
    "convert-ub-to-llvm",
    "finalize-memref-to-llvm{use-generic-functions=1}",
    "convert-func-to-llvm",
    "convert-cf-to-llvm",
    "reconcile-unrealized-casts",
)


@dataclass(frozen=True)
class Run:
    """What a run made, and what it took: memory that was allocated, by the caller for results too; copies; what was freed;
    and how many allocations nobody can free any more."""

    results: tuple[Array, ...]
    allocations: Traffic
    copies: Traffic
    frees: int
    leaks: int


@dataclass(frozen=True)
class _Argument:
    kind: Kind
    donated: bool
    result: int | None
    holds: tuple[int, ...]


class _Watch:
    """What a run does to memory. Its hooks, which the machine code calls, do not hold the executable: that goes when it is
    dropped, with its engine and its context."""

    def __init__(self) -> None:
        self.begin(0)

    def begin(self, poison: int) -> None:
        self.heap = Heap(poison)
        self.noted: dict[int, Traffic] = {}

    def hooks(self) -> dict[str, Any]:
        note = ctypes.CFUNCTYPE(None, ctypes.c_int64, ctypes.c_int64)(self._note)
        allocate = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_int64)(self._allocate)
        free = ctypes.CFUNCTYPE(None, ctypes.c_int64)(self._free)
        return {NOTE: note, ALLOCATE: allocate, FREE: free}

    def _allocate(self, size: int) -> int:
        return self.heap.allocate(size)

    def _free(self, address: int) -> None:
        self.heap.free(address)

    def _note(self, what: int, size: int) -> None:
        self.noted[what] = self.noted.get(what, Traffic()).plus(size)


class Executable:
    """A module that can be called. It takes the module over."""

    is_ours: bool = True
    """Whether Hotdesk made it: what MLIR's passes made of a program is not held to the memory checker."""

    def __init__(self, module: ir.Module) -> None:
        with module.context:
            PassManager.parse(f"builtin.module({_SETTLE})").run(module.operation)
            main = main_of(module)
            self._arguments = [_argument(a.type, given) for a, given in arguments_of(main)]
            self._returned = [kind_of(t) for t in main.attributes["function_type"].value.results]
            main.attributes["llvm.emit_c_interface"] = ir.UnitAttr.get()
            self._watch = _Watch()
            self._hooks = self._watch.hooks()
            addresses = {name: ctypes.cast(hook, ctypes.c_void_p).value or 0 for name, hook in self._hooks.items()}
            self._globals = instrument(module, addresses)
            PassManager.parse(f"builtin.module({','.join(_LOWER)})").run(module.operation)
            self._engine = ExecutionEngine(module, opt_level=0)
        self._module = module

    def __call__(self, inputs: Sequence[Any], shapes: Sequence[Sequence[int]], poison: int = POISONS[0]) -> Run:
        """Runs it: an array for a memref, a numpy scalar for a scalar; `shapes` are those of the results.

        Fails if memory is used wrongly, or an argument changes that is not donated, or a constant.
        """
        self._watch.begin(poison)
        held, slots = self._place(inputs, shapes, poison)
        before = [None if memory is None else memory.bytes.copy() for memory in held]
        globals_before = self._read_globals()
        given = [
            _scalar(argument, x) if memory is None else described(argument.kind, memory.address, np.shape(x))
            for argument, memory, x in zip(self._arguments, held, self._values(inputs, shapes), strict=True)
        ]
        returned = self._invoke(given)
        results = {
            number: _contents(held[i], self._arguments[i], shapes[number])
            for i, argument in enumerate(self._arguments)
            for number in ((slots[i],) if i in slots else argument.holds)
        }
        rest = [number for number in range(len(shapes)) if number not in results]
        assert len(rest) == len(returned), f"{len(returned)} results returned, {len(rest)} wanted"
        for number, kind, value in zip(rest, self._returned, returned, strict=True):
            results[number] = array_of(kind, value)
        self._watch.heap.check()
        for argument, memory, old in zip(self._arguments, held, before, strict=True):
            if memory is None:
                continue
            memory.check("argument")
            kept = argument.donated or argument.result is not None
            assert kept or np.array_equal(memory.bytes, old), "an argument changed"
        self._restore_globals(globals_before)
        return self._run(results, slots, returned)

    def _run(self, results: dict[int, Array], slots: dict[int, int], returned: Sequence[Any]) -> Run:
        allocations = self._watch.noted.get(ALLOCATED, Traffic())
        for number in slots.values():
            allocations = allocations.plus(results[number].nbytes)
        owned = {value.allocated for value in returned if hasattr(value, "allocated")}
        leaks = self._watch.heap.live - sum(self._watch.heap.holds(address) for address in owned)
        copies = self._watch.noted.get(COPIED, Traffic())
        return Run(tuple(results[i] for i in range(len(results))), allocations, copies, self._watch.heap.frees, leaks)

    def _values(self, inputs: Sequence[Any], shapes: Sequence[Sequence[int]]) -> list[Any]:
        """An input, or an array of a result's shape, for each argument."""
        rest = iter(inputs)
        return [
            next(rest) if a.result is None else np.empty(tuple(shapes[a.result]), a.kind.dtype) for a in self._arguments
        ]

    def _place(
        self, inputs: Sequence[Any], shapes: Sequence[Sequence[int]], poison: int
    ) -> tuple[list[Memory | None], dict[int, int]]:
        """Memory for each argument that is a memref, and which argument is which result."""
        held: list[Memory | None] = []
        slots: dict[int, int] = {}
        for position, (argument, value) in enumerate(zip(self._arguments, self._values(inputs, shapes), strict=True)):
            if argument.kind.rank is None:
                held.append(None)
                continue
            memory = Memory(value.nbytes, argument.kind.dtype.itemsize, poison)
            if argument.result is None:
                assert value.dtype == argument.kind.dtype, f"argument {position} is {value.dtype}"
                memory.bytes[:] = np.ascontiguousarray(value).reshape(-1).view(np.uint8)
            else:
                slots[position] = argument.result
            held.append(memory)
        return held, slots

    def _invoke(self, given: Sequence[Any]) -> list[Any]:
        """Calls `@main` by its C interface: pointers to descriptors, and scalars, after a pointer to what is returned."""
        kinds = self._returned
        passed = [ctypes.pointer(ctypes.pointer(x) if isinstance(x, ctypes.Structure) else x) for x in given]
        if not kinds:
            self._engine.invoke("main", *passed)
            return []
        if len(kinds) == 1 and kinds[0].rank is None:
            scalar = kinds[0].structure()
            self._engine.invoke("main", *passed, ctypes.pointer(scalar))
            return [scalar.value]
        fields = [(f"result{i}", kind.structure) for i, kind in enumerate(kinds)]
        whole = type("Results", (ctypes.Structure,), {"_fields_": fields})()
        self._engine.invoke("main", ctypes.pointer(ctypes.pointer(whole)), *passed)
        return [getattr(whole, name) for name, _ in fields]

    def _read_globals(self) -> list[tuple[int, bytes, bool]]:
        """Where each global lies, what it holds, and whether it is a constant."""
        found: list[tuple[int, bytes, bool]] = []
        for name, (size, constant) in self._globals.items():
            address = ctypes.c_int64()
            self._engine.invoke(name, ctypes.pointer(address))
            found.append((address.value, ctypes.string_at(address.value, size), constant))
        return found

    def _restore_globals(self, before: Sequence[tuple[int, bytes, bool]]) -> None:
        """Sets globals to what they held, for the next run. Fails if a constant changed."""
        for address, held, constant in before:
            assert not constant or ctypes.string_at(address, len(held)) == held, "a constant changed"
            ctypes.memmove(address, held, len(held))


def _scalar(argument: _Argument, value: Any) -> Any:
    return argument.kind.structure(value)


def _contents(memory: Memory | None, argument: _Argument, shape: Sequence[int]) -> Array:
    assert memory is not None, "a result that is a scalar has no memory"
    return memory.bytes.copy().view(argument.kind.dtype).reshape(tuple(shape))


def main_of(module: ir.Module) -> Any:
    views: Any = (view.operation for view in module.body.operations)
    return next(op for op in views if op.name == "func.func" and op.attributes["sym_name"].value == "main")


def arguments_of(function: Any) -> list[tuple[Any, Any]]:
    arguments = list(function.regions[0].blocks[0].arguments)
    given: list[Any] = (
        list(function.attributes["arg_attrs"]) if "arg_attrs" in function.attributes else [{}] * len(arguments)
    )
    return list(zip(arguments, given, strict=True))


def _argument(mlir_type: Any, given: Any) -> _Argument:
    holds = tuple(int(number) for number in given[HOLDS]) if HOLDS in given else ()
    return _Argument(kind_of(mlir_type), DONATED in given, int(given[RESULT].value) if RESULT in given else None, holds)
