"""`memref`: what allocates, frees, reads and writes."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from hotdesk.runtime.checking.arenas import settle
from hotdesk.runtime.checking.blocks import Block, View
from hotdesk.runtime.checking.code import Frame, Meaning, Reading, Step
from hotdesk.runtime.checking.elements import dtype_of
from hotdesk.runtime.checking.hazards import overlapping
from hotdesk.runtime.checking.parameters import ARENA
from hotdesk.runtime.checking.report import FaultKind

_HEAP_ALIGNMENT = 16  # bytes, what malloc promises


def _allocation(kind: str) -> Meaning:
    def meaning(reading: Reading) -> Step:
        memref, machine, at = reading.result_type(), reading.machine, reading.at
        dtype, name = dtype_of(memref), str(memref)
        sizes_of = reading.dynamic_sizes(memref, reading.groups()[0])
        least = dtype.itemsize if kind == "stack" else _HEAP_ALIGNMENT
        alignment = int(reading.attribute("alignment").value) if reading.has("alignment") else least
        home, carved = machine.homes.get(reading.op), reading.has(ARENA) or _is_bytes(memref, machine.settings.arenas)
        (result,) = reading.results

        def step(frame: Frame) -> None:
            sizes = sizes_of(frame)
            if any(size < 0 for size in sizes):
                machine.findings.stop(FaultKind.SHAPE, at, f"allocates {_listed(sizes)} elements")
            block = machine.memory.allocate(math.prod(sizes) * dtype.itemsize, kind, name, at, alignment)
            if home is not None:
                settle(block, *home)
            if carved:
                machine.carve(block)
            if kind == "stack":
                machine.on_stack(block)
            frame[result] = View.of(block, sizes, dtype)

        return step

    return meaning


def _is_bytes(memref: Any, wanted: bool) -> bool:
    return wanted and memref.rank == 1 and str(memref.element_type) == "i8"


def _dealloc(reading: Reading) -> Step:
    (source,), memory, at = reading.operands, reading.machine.memory, reading.at

    def step(frame: Frame) -> None:
        memory.free(frame[source], at)

    return step


def _realloc(reading: Reading) -> Step:
    memref, machine, at = reading.result_type(), reading.machine, reading.at
    dtype, name = dtype_of(memref), str(memref)
    sizes_of = reading.dynamic_sizes(memref, reading.operands[1:])
    alignment = int(reading.attribute("alignment").value) if reading.has("alignment") else _HEAP_ALIGNMENT
    source, (result,) = reading.operands[0], reading.results

    def step(frame: Frame) -> None:
        old, (size,) = frame[source], sizes_of(frame)
        if size < 0:
            machine.findings.stop(FaultKind.SHAPE, at, f"allocates {size} elements", old.block)
        new = View.of(machine.memory.allocate(size * dtype.itemsize, "heap", name, at, alignment), [size], dtype)
        kept = min(size, old.sizes[0])
        part = old.at(old.offset, [kept], old.strides)
        machine.memory.write(new.at(0, [kept], [1]), machine.memory.read(part, at), at)
        machine.memory.free(old, at)
        frame[result] = new

    return step


def _load(reading: Reading) -> Step:
    source, *indices = reading.operands
    (result,) = reading.results
    machine, memory, at = reading.machine, reading.machine.memory, reading.at

    def step(frame: Frame) -> None:
        frame[result] = memory.load(frame[source], [machine.defined(frame[i], at) for i in indices], at)

    return step


def _store(reading: Reading) -> Step:
    value, target, *indices = reading.operands
    machine, memory, at = reading.machine, reading.machine.memory, reading.at

    def step(frame: Frame) -> None:
        memory.store(frame[target], [machine.defined(frame[i], at) for i in indices], frame[value], at)

    return step


def _copy(reading: Reading) -> Step:
    source, target = reading.operands
    machine, at = reading.machine, reading.at

    def step(frame: Frame) -> None:
        a, b = frame[source], frame[target]
        if a.sizes != b.sizes:
            message = f"copies {_listed(a.sizes)} elements to {_listed(b.sizes)}"
            machine.findings.stop(FaultKind.SHAPE, at, message, b.block)
        if overlapping(a, b):
            machine.findings.add(FaultKind.OVERLAP, at, "source and target of a copy share bytes", b.block)
        machine.memory.write(b, machine.memory.read(a, at), at)

    return step


def _global(reading: Reading) -> Step:
    name, machine, at = str(reading.attribute("name").value), reading.machine, reading.at
    (result,) = reading.results

    def step(frame: Frame) -> None:
        frame[result] = machine.global_view(name, at)

    return step


def _dim(reading: Reading) -> Step:
    source, position = reading.operands
    (result,) = reading.results
    machine, at = reading.machine, reading.at

    def step(frame: Frame) -> None:
        view, number = frame[source], int(machine.defined(frame[position], at))
        if not 0 <= number < len(view.sizes):
            machine.findings.stop(FaultKind.OUT_OF_BOUNDS, at, f"dimension {number} of {len(view.sizes)}", view.block)
        frame[result] = np.int64(view.sizes[number])

    return step


def _rank(reading: Reading) -> Step:
    (source,), (result,) = reading.operands, reading.results

    def step(frame: Frame) -> None:
        frame[result] = np.int64(len(frame[source].sizes))

    return step


def _pointer(reading: Reading) -> Step:
    (source,), (result,) = reading.operands, reading.results

    def step(frame: Frame) -> None:
        view = frame[source]
        frame[result] = np.int64(view.block.address + view.start)

    return step


def _aligned(reading: Reading) -> Step:
    source, results, machine, at = reading.operands[0], reading.results, reading.machine, reading.at
    alignment = int(reading.attribute("alignment").value)

    def step(frame: Frame) -> None:
        view: View = frame[source]
        address = view.block.address + view.first_byte
        if address % alignment:
            message = f"a buffer that is aligned to {address & -address} bytes is said to be aligned to {alignment}"
            machine.findings.add(FaultKind.ALIGNMENT, at, message, view.block)
        for slot in results:
            frame[slot] = view

    return step


def _scope(reading: Reading) -> Step:
    machine, at, region, results = reading.machine, reading.at, reading.region(0), reading.results
    for sources in region.passed:
        reading.code.join(sources, results)

    def step(frame: Frame) -> None:
        values = machine.scoped(lambda: region.run(frame), at)
        for slot, value in zip(results, values, strict=True):
            frame[slot] = value

    return step


def _distinct(reading: Reading) -> Step:
    """`memref.distinct_objects` says that its operands are different allocations."""
    operands, results, machine, at = reading.operands, reading.results, reading.machine, reading.at

    def step(frame: Frame) -> None:
        seen: dict[int, Block] = {}
        for source, result in zip(operands, results, strict=True):
            block = frame[source].block
            if block.number in seen:
                machine.findings.add(FaultKind.OVERLAP, at, "operands that are said to be distinct are not", block)
            seen[block.number] = block
            frame[result] = frame[source]

    return step


def _listed(sizes: Sequence[int]) -> str:
    return "×".join(map(str, sizes)) if sizes else "1"


MEANINGS: dict[str, Meaning] = {
    "memref.alloc": _allocation("heap"),
    "memref.alloca": _allocation("stack"),
    "memref.alloca_scope": _scope,
    "memref.assume_alignment": _aligned,
    "memref.copy": _copy,
    "memref.dealloc": _dealloc,
    "memref.dim": _dim,
    "memref.distinct_objects": _distinct,
    "memref.extract_aligned_pointer_as_index": _pointer,
    "memref.get_global": _global,
    "memref.load": _load,
    "memref.rank": _rank,
    "memref.realloc": _realloc,
    "memref.store": _store,
}
