"""Compiles tensor programs given as MLIR text and runs them in memory that shows every mistake.

Inputs, weights, results and the arena lie between guard bytes and begin at addresses aligned to nothing more than is promised.
What has no defined contents is poisoned. After a run everything that the program must not write is as it was.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import sympy
from torch_mlir import ir

from hotdesk.ir.context import entered, make_context, run_mlir_passes
from hotdesk.ir.signature import RESULT
from hotdesk.passes.tensor.decompose import DecomposeConcatAndPad
from hotdesk.passes.tensor.destinations import ChooseDestinations
from hotdesk.passes.tensor.named_ops import NormalizeNamedOps
from hotdesk.passes.tensor.rematerialize import RematerializeCheapOps
from hotdesk.pipeline import Log, Lowered, bufferize, lower, optimize_tensors
from hotdesk.planning.problem.numbers import ALIGNMENT
from hotdesk.runtime.code.products import linked
from hotdesk.runtime.compiled import compiled_function
from hotdesk.runtime.function import Function
from hotdesk.runtime.lowered import held_results
from tests import reference
from tests.guarded import POISONS, Memory
from tests.reference import DTYPES, Array, Expected


def _placed(array: Array) -> Memory:
    memory = Memory(array.nbytes, array.itemsize, 0)
    memory.bytes[:] = np.ascontiguousarray(array).reshape(-1).view(np.uint8)
    return memory


@dataclass(frozen=True)
class _Argument:
    kind: str
    donated: bool
    shape: tuple[Any, ...]
    dtype: np.dtype[Any]


class Compiled:
    """A compiled program; call it with an array for each argument of `@main`, weights too."""

    def __init__(self, text: str, pipeline: Callable[[ir.Module], Lowered]) -> None:
        with make_context() as context, ir.Location.unknown():
            module = ir.Module.parse(text)
            self.source = ir.Module.parse(text)
        self._context = context
        self.arguments = [_argument(a, given) for a, given in _arguments(_main(module))]
        lowered = pipeline(module)
        entries = [function.entry for function in (lowered.main, lowered.prepare) if function is not None]
        machine = linked(lowered.module, entries)
        self._main = compiled_function(lowered.main, machine, lowered.assertions)
        prepare = lowered.prepare
        self._prepare = None if prepare is None else compiled_function(prepare, machine, lowered.assertions)
        self.lowered, self.module = lowered, module
        self._machine = machine
        after = [(a.type, given) for a, given in _arguments(_main(module))]
        self._prepared = [_memref(*each) for each in after[len(self.arguments) :] if RESULT not in each[1]]
        own = {int(given[RESULT].value): _memref(kind, given) for kind, given in after if RESULT in given}
        self._held = held_results(lowered.main)  # arguments have the first places
        self._results = [
            own[number] if number in own else ((), self.arguments[place].dtype)
            for number, place in enumerate(lowered.main.result_places)
        ]

    def expected(self, inputs: Sequence[Array]) -> list[Expected]:
        """What the reference makes of the program."""
        with self._context:
            return reference.expected(_main(self.source), inputs)

    def __call__(self, *inputs: Array, poison: int = POISONS[0]) -> list[Array]:
        symbols = self.symbols(inputs)
        held = [_placed(array) for array in inputs]
        kept = [memory.bytes.copy() for memory in held]
        prepared = [Memory(_bytes(shape, dtype, symbols), ALIGNMENT, poison) for shape, dtype in self._prepared]
        weights = [m for m, a in zip(held, self.arguments, strict=True) if a.kind == "weight"]
        if self._prepare is not None:
            _run(self._prepare, weights, prepared, {}, poison)
        before = [memory.bytes.copy() for memory in prepared]
        results = [
            held[self._held[number]]
            if number in self._held
            else Memory(_bytes(shape, dtype, symbols), dtype.itemsize, poison)
            for number, (shape, dtype) in enumerate(self._results)
        ]
        _run(self._main, [*held, *prepared], results, symbols, poison)
        for memory, old, argument in zip(held, kept, self.arguments, strict=True):
            assert argument.donated or np.array_equal(memory.bytes, old), f"{argument.kind} changed"
        for memory, old in zip(prepared, before, strict=True):
            assert np.array_equal(memory.bytes, old), "prepared value changed"
        for memory in (*held, *prepared, *results):
            memory.check("argument or result")
        return [
            memory.bytes.copy().view(dtype).reshape(shape)
            for memory, shape, (_, dtype) in zip(results, self.result_shapes(inputs), self._results, strict=True)
        ]

    def result_shapes(self, inputs: Sequence[Array]) -> list[tuple[int, ...]]:
        """The sizes of the results; nothing but the reference tells those of one that lies in a donated argument."""
        symbols, wanted = self.symbols(inputs), self.expected(inputs) if self._held else []
        return [
            wanted[number].values.shape if number in self._held else tuple(_sizes(shape, symbols))
            for number, (shape, _) in enumerate(self._results)
        ]

    def symbols(self, inputs: Sequence[Array]) -> dict[str, int]:
        """The values of symbolic sizes."""
        found: dict[str, int] = {}
        for argument, array in zip(self.arguments, inputs, strict=True):
            assert array.dtype == argument.dtype
            for size, actual in zip(argument.shape, array.shape, strict=True):
                if isinstance(size, str) and re.fullmatch(r"\w+", size):
                    assert found.setdefault(size, actual) == actual, f"two sizes for {size}"
        return found


def _run(
    function: Function, arguments: Sequence[Memory], results: Sequence[Memory], symbols: Mapping[str, int], poison: int
) -> None:
    layout = function.layout(symbols)
    arena = Memory(layout.plan.arena, ALIGNMENT, poison)
    constants = {place: data.copy() for place, data in function.lowered.constants.items()}
    frame = function.frame()
    frame.set_arena(layout, arena.address)
    frame.set_pointers(range(len(arguments)), [memory.address for memory in arguments])
    frame.run(layout, [memory.address for memory in results])
    arena.check("arena")
    for place, data in constants.items():
        assert np.array_equal(data, function.lowered.constants[place], equal_nan=data.dtype.kind == "f")


def _bytes(shape: Sequence[Any], dtype: np.dtype[Any], symbols: Mapping[str, int]) -> int:
    total = dtype.itemsize
    for size in _sizes(shape, symbols):
        total *= size
    return total


def _main(module: ir.Module) -> ir.Operation:
    return next(
        op.operation
        for op in module.body.operations
        if op.operation.name == "func.func" and op.operation.attributes["sym_name"].value == "main"
    )


def _arguments(function: ir.Operation) -> list[tuple[ir.Value, dict[str, Any]]]:
    arguments = list(function.regions[0].blocks[0].arguments)
    given = list(function.attributes["arg_attrs"]) if "arg_attrs" in function.attributes else [{}] * len(arguments)
    return [
        (
            argument,
            {
                name: entry[name]
                for name in ("hotdesk.kind", "hotdesk.shape", "hotdesk.donated", RESULT)
                if name in entry
            },
        )
        for argument, entry in zip(arguments, given, strict=True)
    ]


def _shape(mlir_type: Any, given: Mapping[str, Any]) -> tuple[Any, ...]:
    named = [str(entry.value) for entry in given["hotdesk.shape"]] if "hotdesk.shape" in given else None
    return tuple(
        (named[i] if named else "?") if mlir_type.is_dynamic_dim(i) else mlir_type.get_dim_size(i)
        for i in range(mlir_type.rank)
    )


def _argument(value: ir.Value, given: Mapping[str, Any]) -> _Argument:
    kind = given["hotdesk.kind"].value if "hotdesk.kind" in given else "input"
    element = DTYPES[str(value.type.element_type)]
    return _Argument(kind, "hotdesk.donated" in given, _shape(value.type, given), element)


def _memref(mlir_type: Any, given: Mapping[str, Any]) -> tuple[tuple[Any, ...], np.dtype[Any]]:
    return _shape(mlir_type, given), DTYPES[str(mlir_type.element_type)]


def _sizes(shape: Sequence[Any], symbols: Mapping[str, int]) -> list[int]:
    """Sizes as they are printed, computed exactly."""
    known = {name: sympy.Integer(value) for name, value in symbols.items()}
    return [int(sympy.sympify(size, locals=known)) for size in shape]


# Pipelines


def everything(module: ir.Module) -> Lowered:
    """The pipeline as it is."""
    log = Log()
    optimize_tensors(module, log)
    bufferize(module, log)
    return lower(module, log)


def buffers_alone(module: ir.Module) -> Lowered:
    """No fusion, no chosen destinations, named ops as they are: what in-place analysis has to cope with by itself."""
    return _partial(module, DecomposeConcatAndPad())


def destinations_alone(module: ir.Module) -> Lowered:
    """Chosen destinations without fusion, preparation and MLIR's own simplifications."""
    return _partial(module, NormalizeNamedOps(), DecomposeConcatAndPad(), RematerializeCheapOps(), ChooseDestinations())


def _partial(module: ir.Module, *passes: Any) -> Lowered:
    with entered(module.operation):
        for one in passes:
            one.run(module)
        run_mlir_passes(module, "func.func(linalg-generalize-named-ops)" if len(passes) > 1 else "cse")
        module.operation.verify()
    log = Log()
    bufferize(module, log)
    return lower(module, log)


PIPELINES = {"everything": everything, "buffers alone": buffers_alone, "destinations alone": destinations_alone}


def run_module(text: str, *inputs: Array, pipeline: Callable[[ir.Module], Lowered] = everything) -> list[Array]:
    """The results of a program."""
    return Compiled(text, pipeline)(*inputs)


def check_module(text: str, *inputs: Array, pipelines: Sequence[str] = tuple(PIPELINES)) -> None:
    """Fails if a pipeline makes anything else of a program than the reference, or writes where it must not."""
    for name in pipelines:
        compiled = Compiled(text, PIPELINES[name])
        check(compiled, inputs, name)


def check(compiled: Compiled, inputs: Sequence[Array], name: str = "everything") -> None:
    """Fails if a run gives anything else than the reference, for each poison."""
    wanted = compiled.expected(inputs)
    for poison in POISONS:
        results = compiled(*inputs, poison=poison)
        assert len(results) == len(wanted)
        for number, (result, want) in enumerate(zip(results, wanted, strict=True)):
            assert result.shape == want.values.shape, (
                f"{name}: result {number} is {result.shape}, not {want.values.shape}"
            )
            assert_same(result, want, f"{name}: result {number}")


def assert_same(result: Array, want: Expected, what: str) -> None:
    """Integers exactly, floats to the rounding of sums in another order."""
    got, exact = result[want.defined], want.values[want.defined]
    if exact.dtype.kind == "f":
        finite = np.abs(exact[np.isfinite(exact)], dtype=np.float64)
        scale = max(1.0, float(finite.max(initial=0.0)))
        digits = 2e-5 if exact.dtype == np.float32 else 1e-11
        same = np.isclose(got, exact, rtol=digits, atol=digits * scale, equal_nan=True)
    else:
        same = got == exact
    assert same.all(), f"{what} is wrong:\n{result}\nexpected\n{want.values}\nwhere\n{want.defined}"
