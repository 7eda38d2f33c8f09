"""How many bytes a module on memrefs holds at once: its allocations and deallocations, carried out in program order.

1. Bytes are those of the elements; alignment adds nothing. An `alloc` holds its bytes until its `dealloc`, an `alloca` to the
   end of the function.
2. Arguments count nothing, for they are the caller's. A result that is an argument (`bufferize.result`) counts from the first op
   that touches it, a result that is returned from its allocation, both to the end.
3. What `@prepare` keeps for `@main` (`hotdesk.kind = "prepared"`) counts in `@main` from start to end. A module holds what its
   hungriest function holds. Its *activations* are what `@main` holds besides.
4. A loop's body runs once, from the initial values. Of an `if` both branches run from the same state: the peak is the larger
   one's; afterwards what either freed is free, and what the larger one left is left. So a conditional `dealloc` frees.

A memref whose buffer cannot be told raises `ValueError`, and so does freeing twice.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

from benchmarks.bufferization.count import ALLOCATIONS, Bytes
from hotdesk._bindings import ir
from hotdesk.ir.types import is_memref
from hotdesk.ir.walking import defined_functions, entry_block, main_function
from hotdesk.models.memref import VIEWS

RESULT, KIND = "bufferize.result", "hotdesk.kind"
_VIEWS = VIEWS | {"memref.extract_strided_metadata"}
_BRANCHES = ("scf.if", "scf.index_switch")


def peak_of(module: ir.Module, symbols: Mapping[str, int] | None = None) -> int:
    """The peak of a module in bytes (rules in the module docstring)."""
    return max((_Simulation(f, Bytes(f, symbols or {})).run() for f in defined_functions(module)), default=0)


def activations_of(module: ir.Module, symbols: Mapping[str, int] | None = None) -> int:
    """The peak of `@main` in bytes, without what is prepared of the weights."""
    main = main_function(module)
    return _Simulation(main, Bytes(main, symbols or {}), prepared=False).run()


class _Simulation:
    """One run of one function."""

    def __init__(self, function: ir.Operation, sizes: Bytes, *, prepared: bool = True) -> None:
        self._prepared = prepared
        self._function = function
        self._sizes = sizes
        self._base: dict[ir.Value, ir.Value] = {}
        self._waiting: set[ir.Value] = set()  # results that nothing has touched yet
        self._held: dict[ir.Value, int] = {}
        self._level = 0
        self._peak = 0

    def run(self) -> int:
        arguments = list(entry_block(self._function).arguments)
        attributes = self._function.attributes
        entries: list[Any] = [{} for _ in arguments]
        if "arg_attrs" in attributes:
            entries = list(cast(Any, attributes["arg_attrs"]))
        for argument, entry in zip(arguments, entries, strict=True):
            if not is_memref(argument.type):
                continue
            self._base[argument] = argument
            if RESULT in entry:
                self._waiting.add(argument)
            elif self._prepared and KIND in entry and entry[KIND].value == "prepared":
                self._hold(argument)
        for block in self._function.regions[0].blocks:
            self._run_block(block)
        return self._peak

    def _run_block(self, block: ir.Block) -> tuple[ir.Value, ...]:
        """Runs a block; returns the operands of its terminator."""
        last: tuple[ir.Value, ...] = ()
        for op in block.operations:
            last = tuple(op.operation.operands)
            self._step(op.operation)
        return last

    def _step(self, op: ir.Operation) -> None:
        if op.name in ALLOCATIONS:
            self._base[op.results[0]] = op.results[0]
            self._hold(op.results[0])
        elif op.name == "memref.get_global":
            self._base[op.results[0]] = op.results[0]
        elif op.name in _VIEWS:
            self._base[op.results[0]] = self._base_of(op.operands[0])
        elif op.name == "memref.dealloc":
            self._free(self._base_of(op.operands[0]))
        elif op.name in _BRANCHES:
            self._branch(op)
        elif op.name.startswith("scf.") and len(op.regions):
            self._loop(op)
        else:
            self._touch(op)

    def _touch(self, op: ir.Operation) -> None:
        if any(is_memref(result.type) for result in op.results):
            raise ValueError(f"expected allocations, views and scf, got a memref made by `{op.name}`")
        if op.name == "memref.dim" or not self._waiting:
            return
        for base in {self._base_of(v) for v in op.operands if is_memref(v.type)} & self._waiting:
            self._waiting.discard(base)
            self._hold(base)

    def _loop(self, op: ir.Operation) -> None:
        carried = [value for value in op.operands if is_memref(value.type)]
        ends: list[list[ir.Value]] = []
        for region in op.regions:
            block = region.blocks[0]
            self._pass_on(carried, block.arguments)
            carried = [value for value in self._run_block(block) if is_memref(value.type)]
            ends.append(carried)
        self._pass_on(ends[0], op.results)  # what a `while` forwards is what its condition forwards

    def _branch(self, op: ir.Operation) -> None:
        before, waiting = dict(self._held), set(self._waiting)
        ends: list[tuple[int, dict[ir.Value, int], tuple[ir.Value, ...]]] = []
        for region in op.regions:
            self._held, self._level = dict(before), sum(before.values())
            self._waiting = set(waiting)
            yielded = self._run_block(region.blocks[0]) if len(region.blocks) else ()
            ends.append((self._level, self._held, yielded))
        _, held, yielded = max(ends, key=lambda end: end[0])
        freed = {base for base in before for _, end, _ in ends if base not in end}
        touched = {base for base in waiting for _, end, _ in ends if base in end}
        self._held = {base: size for base, size in held.items() if base not in freed}
        self._waiting = waiting - touched
        self._level = sum(self._held.values())
        for base in sorted(touched - set(self._held), key=lambda value: cast(Any, value).arg_number):
            self._hold(base)
        self._pass_on([value for value in yielded if is_memref(value.type)], op.results)

    def _pass_on(self, values: list[ir.Value], names: Any) -> None:
        targets = [name for name in names if is_memref(name.type)]
        if targets and len(targets) != len(values):
            raise ValueError(f"expected {len(targets)} memrefs carried, got {len(values)}")
        self._base.update(zip(targets, map(self._base_of, values), strict=False))

    def _base_of(self, value: ir.Value) -> ir.Value:
        if value not in self._base:
            raise ValueError(f"expected a memref whose buffer is known, got {value}")
        return self._base[value]

    def _hold(self, base: ir.Value) -> None:
        if base in self._held:  # allocated anew in a later run of a body
            raise ValueError(f"expected a buffer that is not held yet, got {base}")
        self._held[base] = self._sizes.of(base)
        self._level += self._held[base]
        self._peak = max(self._peak, self._level)

    def _free(self, base: ir.Value) -> None:
        if base not in self._held:
            raise ValueError(f"expected a buffer that is held, got {base}")
        self._level -= self._held.pop(base)
