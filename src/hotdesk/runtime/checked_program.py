"""A compiled program under the memory checker: its IR on memrefs, with each buffer where the plan has put it.

`@prepare` runs first, and `@main` on what it made; `@main` is told of what `@prepare` left unwritten where it reads that. Inputs,
weights and prepared values may only be read unless they are donated; results begin unwritten. A buffer that reads bytes which
another one has written since, in the arena or in a result or a donated input that lends its memory, is an overlap: whatever the
planner and its check have said.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, cast

import numpy as np

from hotdesk._bindings import ir
from hotdesk.checker import interpreter_for, run
from hotdesk.checker.arenas import settle
from hotdesk.checker.arguments import passed
from hotdesk.checker.buffers import CheckedArena, MemRef
from hotdesk.checker.interpreter import Interpreter, Settings
from hotdesk.checker.parameters import Parameter, parameters
from hotdesk.checker.report import CheckReport, Result
from hotdesk.checker.values import Array, dtype_of, xp
from hotdesk.ir.context import entered
from hotdesk.ir.op_maps import OpMap
from hotdesk.ir.signature import signature
from hotdesk.ir.walking import main_function, nested_ops, ops_outside_payloads
from hotdesk.models.new_memory import ALLOC
from hotdesk.passes.lower.function import LoweredFunction
from hotdesk.runtime.lowered import held_results
from hotdesk.runtime.plans.planner import Planner
from hotdesk.runtime.prepared import prepared_types
from hotdesk.sizes.size import Bounds


@dataclass(frozen=True, slots=True)
class CheckedProgram:
    """What the checker needs of a compiled program. It keeps the IR on memrefs that the program was lowered from.

    Attributes:
        module: that IR; nothing changes it.
        main, prepare: its functions as they were lowered.
        inputs: which arguments of `@main` are passed in at each call.
        weights: addresses of the others that point at weights or state, by argument. State is checked on a copy.
        bounds: the least and greatest value of each symbol in sizes.
        deallocated: whether all that is allocated is freed. A program on memrefs of the user's need not, since it has an arena.
        calls: what its foreign calls run, by name.
    """

    module: ir.Module
    main: LoweredFunction
    prepare: LoweredFunction | None
    inputs: tuple[int, ...]
    weights: Mapping[int, int]
    bounds: Bounds
    deallocated: bool = True
    calls: Mapping[str, Callable[[Sequence[Array], Sequence[int], Sequence[Array]], None]] = field(
        default_factory=dict[str, Any]
    )

    def check(
        self,
        symbols: Mapping[str, int],
        inputs: Sequence[tuple[int, tuple[int, ...]]],
        results: Sequence[tuple[int, ...]],
    ) -> CheckReport:
        """Runs the program on inputs at these addresses with these shapes; `results` are the shapes of what it makes.

        Raises:
            LoweringError: the program uses an op that the checker does not know.
        """
        with entered(self.module.operation):
            prepared: tuple[Result, ...] = ()
            if self.prepare is not None:
                given = signature(main_function(self.module)).arguments
                fixed = [number for number in sorted(self.weights) if given[number].kind == "weight"]
                weights = {place: self._weight(number, self.weights[number]) for place, number in enumerate(fixed)}
                shapes = {number: shape for number, (shape, _) in enumerate(prepared_types(self.module))}
                carry = Settings(undefined="carry", calls=self.calls)
                report = self._run("prepare", self.prepare, {}, weights, shapes, settings=carry)
                if report.faults:
                    return report
                prepared = report.results
            given = dict(zip(self.inputs, inputs, strict=True))
            values = {number: self._array("main", number, *given[number]) for number in self.inputs}
            values.update({number: self._weight(number, address) for number, address in self.weights.items()})
            first = len(self.inputs) + len(self.weights)
            values.update({first + i: result.values for i, result in enumerate(prepared)})
            written = {first + i: result.written for i, result in enumerate(prepared)}
            settings = Settings(deallocated=self.deallocated, calls=self.calls)
            return self._run("main", self.main, symbols, values, dict(enumerate(results)), written, settings)

    def _run(
        self,
        name: str,
        lowered: LoweredFunction,
        symbols: Mapping[str, int],
        values: Mapping[int, Array],
        shapes: Mapping[int, tuple[int, ...]],
        written: Mapping[int, Array] | None = None,
        settings: Settings | None = None,
    ) -> CheckReport:
        """Calls a function. `written` says of an argument which elements somebody has written, if not all."""
        interpreter, entry = interpreter_for(self.module, name, settings)
        found = parameters(entry, True)
        arguments = [values[p.number] if p.result is None else _room(p, shapes) for p in found]
        given = passed(interpreter, entry, found, arguments)
        for number, where in (written or {}).items():
            if not np.all(where):
                view: MemRef = given[number]
                view.buffer.written = xp.repeat(where.reshape(-1), view.dtype.itemsize).astype(np.uint8) * np.uint8(255)
        lent = dict(enumerate(cast("list[MemRef]", given)))
        slots = {p.result: lent[p.number] for p in found if p.result is not None}
        for number, place in held_results(lowered).items():
            slots[number] = MemRef.of(lent[place].buffer, shapes[number], lent[place].dtype)
        slots.update((len(slots) + i, lent[place]) for i, place in enumerate(lowered.state))
        self._place(interpreter, name, entry, lowered, symbols, lent)
        return run(interpreter, name, given, slots)

    def _place(
        self,
        interpreter: Interpreter,
        name: str,
        entry: ir.Operation,
        lowered: LoweredFunction,
        symbols: Mapping[str, int],
        arguments: Mapping[int, MemRef],
    ) -> None:
        """Tells the interpreter where the plan puts each allocation: in the arena, a result or a donated input that lends memory.

        `arguments` are views by place: arguments have the first places in the pointer table, in their order.
        """
        planner = Planner(lowered, self.bounds)
        sizes = planner.sizes.at(symbols)
        plan = planner.plan(sizes)
        arenas: dict[int | None, CheckedArena] = {None: CheckedArena("the arena", np.zeros(plan.arena, np.int32))}
        names = {place: f"result {number}" for number, place in enumerate(lowered.result_places)}
        names.update({place: f"donated argument {place}" for place in lowered.donated})
        for place, lender in names.items():
            arenas[place] = CheckedArena(lender, np.zeros(sizes[place], np.int32))
            settle(arguments[place].buffer, arenas[place], 0)
        original = main_function(self.module, name)
        allocated = [place for place, buffer in enumerate(lowered.buffers) if buffer.kind in ("alloc", "heap")]
        by_place = dict(zip(allocated, filter(_allocates, ops_outside_payloads(original)), strict=False))
        copies = OpMap(zip(*(filter(_allocates, nested_ops(each)) for each in (original, entry)), strict=True))
        for placement in plan.placements:
            op = by_place[cast(int, placement.buffer_id)]
            interpreter.homes[copies[op]] = (arenas[cast("int | None", placement.pool)], placement.offset)

    def _weight(self, number: int, address: int) -> Array:
        argument = main_function(self.module).regions[0].blocks[0].arguments[number]
        kind: Any = argument.type
        return self._array("main", number, address, tuple(int(size) for size in kind.shape))

    def _array(self, name: str, number: int, address: int, shape: tuple[int, ...]) -> Array:
        """The memory of an argument as an array that may only be read."""
        kind: Any = main_function(self.module, name).regions[0].blocks[0].arguments[number].type
        dtype = dtype_of(kind)
        size = dtype.itemsize * int(np.prod(shape, dtype=np.int64))
        if not size:
            return np.empty(shape, dtype)
        memory = (ctypes.c_uint8 * size).from_address(address)
        array: Array = xp.frombuffer(memory, np.uint8).view(dtype).reshape(shape)
        array.flags.writeable = False
        return array


def _allocates(op: ir.Operation) -> bool:
    return op.name == ALLOC


def _room(parameter: Parameter, shapes: Mapping[int, tuple[int, ...]]) -> Array:
    """An array of the sizes of a result."""
    shape = shapes.get(cast(int, parameter.result), cast("tuple[int, ...]", parameter.shape))
    return np.zeros(shape, dtype_of(parameter.type))
