"""`vector`: reading and writing memory, and spreading a scalar. Vectors are arrays; `arith` takes them as they are."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np

from hotdesk.runtime.checking.blocks import View
from hotdesk.runtime.checking.code import Frame, Meaning, Reading, Step, unknown
from hotdesk.runtime.checking.elements import Unwritten, dtype_of, plain, xp
from hotdesk.runtime.checking.report import FaultKind

_Places: TypeAlias = Callable[[Frame, View, "list[int]"], "list[tuple[Any, list[int]]]"]


def _places(reading: Reading, shape: tuple[int, ...]) -> _Places:
    """The positions of a vector that lie in a memref, each with where; one that leaves it although it must not is told."""
    dims = [
        int(e.position) if hasattr(e, "position") else None for e in reading.attribute("permutation_map").value.results
    ]
    bounded = [bool(b.value) for b in reading.attribute("in_bounds")]
    machine, at = reading.machine, reading.at
    own = reading.groups()[-1]

    def places(frame: Frame, view: View, start: list[int]) -> list[tuple[Any, list[int]]]:
        found: list[tuple[Any, list[int]]] = []
        mask = frame[own[0]] if own else machine.masks[-1] if machine.masks else np.True_
        allowed = np.broadcast_to(machine.defined(mask, at), shape)
        for point in itertools.product(*map(range, shape)):
            if not allowed[point]:
                continue
            where, inside = list(start), True
            for step, dim, must in zip(point, dims, bounded, strict=True):
                if dim is None:  # broadcast: every step reads the same element
                    continue
                where[dim] += step
                if not 0 <= where[dim] < view.sizes[dim]:
                    inside = False
                    if must:
                        message = f"index {where[dim]} in dimension {dim}, which has {view.sizes[dim]} elements"
                        machine.findings.stop(FaultKind.OUT_OF_BOUNDS, at, message, view.block)
            if inside:
                found.append((point, where))
        return found

    return places


def _transfer_read(reading: Reading) -> Step:
    (source,), indices, (padding,), _ = reading.groups()
    kind, (result,), machine, at = reading.result_type(), reading.results, reading.machine, reading.at
    shape, dtype = tuple(int(n) for n in kind.shape), dtype_of(kind)
    places = _places(reading, shape)

    def step(frame: Frame) -> None:
        view: View = frame[source]
        start = [int(machine.defined(frame[i], at)) for i in indices]
        values, missing = np.full(shape, plain(frame[padding]), dtype), np.zeros(shape, np.bool_)
        for point, where in places(frame, view, start):
            value = machine.memory.load(view, where, at)
            values[point], missing[point] = plain(value), type(value) is Unwritten
        frame[result] = Unwritten(values, missing, at, view.block) if missing.any() else values

    return step


def _transfer_write(reading: Reading) -> Step:
    (value,), (target,), indices, _ = reading.groups()
    machine, at = reading.machine, reading.at
    places = _places(reading, tuple(int(n) for n in reading.operand_type(0).shape))

    def step(frame: Frame) -> None:
        view: View = frame[target]
        start = [int(machine.defined(frame[i], at)) for i in indices]
        vector = frame[value]
        for point, where in places(frame, view, start):
            machine.memory.store(view, where, _element(vector, point), at)

    return step


def _load(reading: Reading) -> Step:
    source, *indices = reading.operands
    kind, (result,), machine, at = reading.result_type(), reading.results, reading.machine, reading.at
    shape = tuple(int(n) for n in kind.shape)

    def step(frame: Frame) -> None:
        part = _part(frame[source], [int(machine.defined(frame[i], at)) for i in indices], shape)
        value = machine.memory.read(_inside(reading, frame[source], part, frame, indices), at)
        copied = np.array(plain(value))
        frame[result] = Unwritten(copied, value.where, at, part.block) if type(value) is Unwritten else copied

    return step


def _store(reading: Reading) -> Step:
    value, target, *indices = reading.operands
    machine, at, shape = reading.machine, reading.at, tuple(int(n) for n in reading.operand_type(0).shape)

    def step(frame: Frame) -> None:
        part = _part(frame[target], [int(machine.defined(frame[i], at)) for i in indices], shape)
        machine.memory.write(_inside(reading, frame[target], part, frame, indices), frame[value], at)

    return step


def _part(view: View, start: list[int], shape: tuple[int, ...]) -> View:
    """The part of a memref that a vector covers: its last dimensions, from an element on."""
    offset = view.offset + sum(a * b for a, b in zip(start, view.strides, strict=True))
    return view.at(offset, shape, view.strides[len(view.strides) - len(shape) :])


def _inside(reading: Reading, view: View, part: View, frame: Frame, indices: list[int]) -> View:
    """The part, if it lies in the view."""
    sizes = (1,) * (len(view.sizes) - len(part.sizes)) + part.sizes
    for number, (slot, size, whole) in enumerate(zip(indices, sizes, view.sizes, strict=True)):
        first = int(plain(frame[slot]))
        if first < 0 or first + size > whole:
            message = f"elements {first} to {first + size - 1} in dimension {number}, which has {whole}"
            reading.machine.findings.stop(FaultKind.OUT_OF_BOUNDS, reading.at, message, view.block)
    return part


def _masked(reading: Reading) -> Step:
    """`vector.mask`: the op in its region leaves out what the mask does."""
    mask, *others = reading.operands
    machine, body, results = reading.machine, reading.region(0), reading.results
    inner = [op.operation for op in reading.op.regions[0].blocks[0].operations]
    yielded = tuple(reading.code.slot(v) for v in inner[-1].operands)
    if others or any(op.name not in _MASKABLE for op in inner):
        return unknown(reading)

    def step(frame: Frame) -> None:
        machine.masks.append(frame[mask])
        try:
            body.run(frame)
        finally:
            machine.masks.pop()
        for slot, source in zip(results, yielded, strict=True):
            frame[slot] = frame[source]

    return step


_MASKABLE = ("vector.transfer_read", "vector.transfer_write", "vector.yield")


def _create_mask(reading: Reading) -> Step:
    operands, (result,), machine, at = reading.operands, reading.results, reading.machine, reading.at
    shape = tuple(int(n) for n in reading.result_type().shape)
    stated = reading.integers("mask_dim_sizes") if reading.has("mask_dim_sizes") else None

    def step(frame: Frame) -> None:
        sizes = stated if stated is not None else [int(machine.defined(frame[slot], at)) for slot in operands]
        mask = np.zeros(shape, np.bool_)
        mask[tuple(slice(0, max(size, 0)) for size in sizes)] = True
        frame[result] = mask

    return step


def _gather(reading: Reading) -> Step:
    source, *rest = reading.operands
    *offsets, indices, mask, otherwise = rest
    (result,), machine, at = reading.results, reading.machine, reading.at
    shape = tuple(int(n) for n in reading.result_type().shape)

    def step(frame: Frame) -> None:
        values, missing = np.array(plain(frame[otherwise])), np.zeros(shape, np.bool_)
        for point, where in _scattered(reading, frame, offsets, indices, mask):
            value = machine.memory.load(frame[source], where, at)
            values[point], missing[point] = plain(value), type(value) is Unwritten
        frame[result] = Unwritten(values, missing, at, frame[source].block) if missing.any() else values

    return step


def _scatter(reading: Reading) -> Step:
    target, *rest = reading.operands
    *offsets, indices, mask, value = rest

    def step(frame: Frame) -> None:
        for point, where in _scattered(reading, frame, offsets, indices, mask):
            reading.machine.memory.store(frame[target], where, _element(frame[value], point), reading.at)

    return step


def _scattered(
    reading: Reading, frame: Frame, offsets: list[int], indices: int, mask: int
) -> list[tuple[tuple[int, ...], list[int]]]:
    """Each position that the mask leaves in, and its place: the indices count in the last dimension."""
    defined, at = reading.machine.defined, reading.at
    steps, allowed = defined(frame[indices], at), defined(frame[mask], at)
    start = [int(defined(frame[slot], at)) for slot in offsets]
    points = [point for point in itertools.product(*map(range, steps.shape)) if allowed[point]]
    return [(point, [*start[:-1], start[-1] + int(steps[point])]) for point in points]


def _broadcast(reading: Reading) -> Step:
    (source,), (result,), shape = reading.operands, reading.results, tuple(int(n) for n in reading.result_type().shape)

    def step(frame: Frame) -> None:
        value = frame[source]
        spread = xp.broadcast_to(plain(value), shape).copy()
        if type(value) is Unwritten:
            frame[result] = Unwritten(spread, np.broadcast_to(value.where, shape), value.reader, value.buffer)
        else:
            frame[result] = spread

    return step


def _element(vector: Any, point: tuple[int, ...]) -> Any:
    if type(vector) is not Unwritten:
        return vector[point]
    where = np.broadcast_to(vector.where, vector.values.shape)[point]
    return Unwritten(vector.values[point], where, vector.reader, vector.buffer) if where else vector.values[point]


MEANINGS: dict[str, Meaning] = {
    "vector.broadcast": _broadcast,
    "vector.constant_mask": _create_mask,
    "vector.create_mask": _create_mask,
    "vector.gather": _gather,
    "vector.load": _load,
    "vector.mask": _masked,
    "vector.scatter": _scatter,
    "vector.store": _store,
    "vector.transfer_read": _transfer_read,
    "vector.transfer_write": _transfer_write,
}
