"""`vector`: memory read and written, elements spread, rearranged, reduced. Vectors are arrays; `arith` takes them as they are."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np

from hotdesk.checker.buffers import MemRef
from hotdesk.checker.interpreter import Frame, Implementation, OpReader, Step, Terminator, leave, unknown
from hotdesk.checker.report import FaultKind
from hotdesk.checker.values import Unwritten, dtype_of, plain, xp
from hotdesk.ir.types import DYNAMIC

_Places: TypeAlias = Callable[[Frame, MemRef, "list[int]"], "list[tuple[Any, list[int]]]"]


def _places(reader: OpReader, shape: tuple[int, ...]) -> _Places:
    """The positions of a vector that lie in a memref, each with where; one that leaves it although it must not is told."""
    dims = [
        int(e.position) if hasattr(e, "position") else None for e in reader.attribute("permutation_map").value.results
    ]
    bounded = [bool(b.value) for b in reader.attribute("in_bounds")]
    interpreter, at = reader.interpreter, reader.at
    own = reader.groups()[-1]

    def places(frame: Frame, view: MemRef, start: list[int]) -> list[tuple[Any, list[int]]]:
        found: list[tuple[Any, list[int]]] = []
        mask = frame[own[0]] if own else interpreter.masks[-1] if interpreter.masks else np.True_
        allowed = np.broadcast_to(interpreter.defined(mask, at), shape)
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
                        interpreter.findings.stop(FaultKind.OUT_OF_BOUNDS, at, message, view.buffer)
            if inside:
                found.append((point, where))
        return found

    return places


def _transfer_read(reader: OpReader) -> Step:
    (source,), indices, (padding,), _ = reader.groups()
    kind, (result,), interpreter, at = reader.result_type(), reader.results, reader.interpreter, reader.at
    shape, dtype = tuple(int(n) for n in kind.shape), dtype_of(kind)
    places = _places(reader, shape)

    def step(frame: Frame) -> None:
        view: MemRef = frame[source]
        start = [int(interpreter.defined(frame[i], at)) for i in indices]
        values, missing = np.full(shape, plain(frame[padding]), dtype), np.zeros(shape, np.bool_)
        for point, where in places(frame, view, start):
            value = interpreter.memory.load(view, where, at)
            values[point], missing[point] = plain(value), type(value) is Unwritten
        frame[result] = Unwritten(values, missing, at, view.buffer) if missing.any() else values

    return step


def _transfer_write(reader: OpReader) -> Step:
    (value,), (target,), indices, _ = reader.groups()
    interpreter, at = reader.interpreter, reader.at
    places = _places(reader, tuple(int(n) for n in reader.operand_type(0).shape))

    def step(frame: Frame) -> None:
        view: MemRef = frame[target]
        start = [int(interpreter.defined(frame[i], at)) for i in indices]
        vector = frame[value]
        for point, where in places(frame, view, start):
            interpreter.memory.store(view, where, _element(vector, point), at)

    return step


def _load(reader: OpReader) -> Step:
    source, *indices = reader.operands
    kind, (result,), interpreter, at = reader.result_type(), reader.results, reader.interpreter, reader.at
    shape = tuple(int(n) for n in kind.shape)

    def step(frame: Frame) -> None:
        part = _part(frame[source], [int(interpreter.defined(frame[i], at)) for i in indices], shape)
        value = interpreter.memory.read(_inside(reader, frame[source], part, frame, indices), at)
        copied = np.array(plain(value))
        frame[result] = Unwritten(copied, value.where, at, part.buffer) if type(value) is Unwritten else copied

    return step


def _store(reader: OpReader) -> Step:
    value, target, *indices = reader.operands
    interpreter, at, shape = reader.interpreter, reader.at, tuple(int(n) for n in reader.operand_type(0).shape)

    def step(frame: Frame) -> None:
        part = _part(frame[target], [int(interpreter.defined(frame[i], at)) for i in indices], shape)
        interpreter.memory.write(_inside(reader, frame[target], part, frame, indices), frame[value], at)

    return step


def _part(view: MemRef, start: list[int], shape: tuple[int, ...]) -> MemRef:
    """The part of a memref that a vector covers: its last dimensions, from an element on."""
    offset = view.offset + sum(a * b for a, b in zip(start, view.strides, strict=True))
    return view.at(offset, shape, view.strides[len(view.strides) - len(shape) :])


def _inside(reader: OpReader, view: MemRef, part: MemRef, frame: Frame, indices: list[int]) -> MemRef:
    """The part, if it lies in the view."""
    sizes = (1,) * (len(view.sizes) - len(part.sizes)) + part.sizes
    for number, (slot, size, whole) in enumerate(zip(indices, sizes, view.sizes, strict=True)):
        first = int(plain(frame[slot]))
        if first < 0 or first + size > whole:
            message = f"elements {first} to {first + size - 1} in dimension {number}, which has {whole}"
            reader.interpreter.findings.stop(FaultKind.OUT_OF_BOUNDS, reader.at, message, view.buffer)
    return part


def _masked(reader: OpReader) -> Step:
    """`vector.mask`: the op in its region leaves out what the mask does."""
    mask, *others = reader.operands
    interpreter, body, results = reader.interpreter, reader.region(0), reader.results
    inner = [op.operation for op in reader.op.regions[0].blocks[0].operations]
    yielded = tuple(reader.function.slot(v) for v in inner[-1].operands)
    if others or any(op.name not in _MASKABLE for op in inner):
        return unknown(reader)

    def step(frame: Frame) -> None:
        interpreter.masks.append(frame[mask])
        try:
            body.run(frame)
        finally:
            interpreter.masks.pop()
        for slot, source in zip(results, yielded, strict=True):
            frame[slot] = frame[source]

    return step


_MASKABLE = ("vector.transfer_read", "vector.transfer_write", "vector.yield")


def _create_mask(reader: OpReader) -> Step:
    operands, (result,), interpreter, at = reader.operands, reader.results, reader.interpreter, reader.at
    shape = tuple(int(n) for n in reader.result_type().shape)
    stated = reader.integers("mask_dim_sizes") if reader.has("mask_dim_sizes") else None

    def step(frame: Frame) -> None:
        sizes = stated if stated is not None else [int(interpreter.defined(frame[slot], at)) for slot in operands]
        mask = np.zeros(shape, np.bool_)
        mask[tuple(slice(0, max(size, 0)) for size in sizes)] = True
        frame[result] = mask

    return step


def _gather(reader: OpReader) -> Step:
    source, *rest = reader.operands
    *offsets, indices, mask, otherwise = rest
    (result,), interpreter, at = reader.results, reader.interpreter, reader.at
    shape = tuple(int(n) for n in reader.result_type().shape)

    def step(frame: Frame) -> None:
        values, missing = np.array(plain(frame[otherwise])), np.zeros(shape, np.bool_)
        for point, where in _scattered(reader, frame, offsets, indices, mask):
            value = interpreter.memory.load(frame[source], where, at)
            values[point], missing[point] = plain(value), type(value) is Unwritten
        frame[result] = Unwritten(values, missing, at, frame[source].buffer) if missing.any() else values

    return step


def _scatter(reader: OpReader) -> Step:
    target, *rest = reader.operands
    *offsets, indices, mask, value = rest

    def step(frame: Frame) -> None:
        for point, where in _scattered(reader, frame, offsets, indices, mask):
            reader.interpreter.memory.store(frame[target], where, _element(frame[value], point), reader.at)

    return step


def _scattered(
    reader: OpReader, frame: Frame, offsets: list[int], indices: int, mask: int
) -> list[tuple[tuple[int, ...], list[int]]]:
    """Each position that the mask leaves in, and its place: the indices count in the last dimension."""
    defined, at = reader.interpreter.defined, reader.at
    steps, allowed = defined(frame[indices], at), defined(frame[mask], at)
    start = [int(defined(frame[slot], at)) for slot in offsets]
    points = [point for point in itertools.product(*map(range, steps.shape)) if allowed[point]]
    return [(point, [*start[:-1], start[-1] + int(steps[point])]) for point in points]


def _broadcast(reader: OpReader) -> Step:
    (source,), (result,), shape = reader.operands, reader.results, tuple(int(n) for n in reader.result_type().shape)

    def step(frame: Frame) -> None:
        value = frame[source]
        spread = xp.broadcast_to(plain(value), shape).copy()
        if type(value) is Unwritten:
            frame[result] = Unwritten(spread, np.broadcast_to(value.where, shape), value.reader, value.buffer)
        else:
            frame[result] = spread

    return step


def _rearranged(reader: OpReader, change: Callable[[Any], Any]) -> Step:
    """The elements of a vector in other places, or some of them, and of each whether it was written."""
    (source,), (result,) = reader.operands, reader.results

    def step(frame: Frame) -> None:
        value = frame[source]
        values = np.array(change(plain(value)))
        if type(value) is Unwritten:
            missing = np.array(change(np.broadcast_to(value.where, value.values.shape)))
            frame[result] = Unwritten(values, missing, value.reader, value.buffer) if missing.any() else values
        else:
            frame[result] = values

    return step


def _extract(reader: OpReader) -> Step:
    (source, *dynamic), (result,), interpreter, at = reader.operands, reader.results, reader.interpreter, reader.at
    stated = reader.integers("static_position")

    def step(frame: Frame) -> None:
        rest = iter([int(interpreter.defined(frame[slot], at)) for slot in dynamic])
        frame[result] = _element(frame[source], tuple(next(rest) if n == DYNAMIC else n for n in stated))

    return step


def _transpose(reader: OpReader) -> Step:
    permutation = list(reader.integers("permutation"))
    return _rearranged(reader, lambda value: np.transpose(value, permutation))


def _shape_cast(reader: OpReader) -> Step:
    shape = tuple(int(n) for n in reader.result_type().shape)
    return _rearranged(reader, lambda value: np.reshape(value, shape))


def _strided_slice(reader: OpReader) -> Step:
    begins, sizes, strides = (_entries(reader, name) for name in ("offsets", "sizes", "strides"))
    parts = zip(begins, sizes, strides, strict=True)
    taken = tuple(slice(begin, begin + (size - 1) * stride + 1, stride) for begin, size, stride in parts)
    return _rearranged(reader, lambda value: value[taken])


def _entries(reader: OpReader, name: str) -> list[int]:
    return [int(each.value) for each in reader.attribute(name)]


_REDUCED: dict[str, Any] = {
    "add": np.add,
    "mul": np.multiply,
    "and": np.bitwise_and,
    "or": np.bitwise_or,
    "xor": np.bitwise_xor,
    "minsi": np.minimum,
    "maxsi": np.maximum,
    "minui": np.minimum,
    "maxui": np.maximum,
    "minimumf": np.minimum,
    "maximumf": np.maximum,
    "minnumf": np.fmin,
    "maxnumf": np.fmax,
}


def _reduction(reader: OpReader) -> Step:
    """All elements, one after the other, behind what they are added to."""
    operands, (result,) = reader.operands, reader.results
    kind = str(reader.attribute("kind")).rpartition("<")[2].rstrip(">")

    def step(frame: Frame) -> None:
        given = [frame[slot] for slot in operands]
        found: Any = np.concatenate([np.atleast_1d(plain(value)) for value in reversed(given)])
        dtype = found.dtype
        one: Any = {"add": np.bitwise_xor, "mul": np.bitwise_and}.get(kind) if dtype == np.bool_ else None
        seen = found.view(f"u{dtype.itemsize}") if kind.endswith("ui") and dtype != np.bool_ else found
        total = (one or _REDUCED[kind]).reduce(seen, dtype=seen.dtype).astype(dtype)[()]
        missing = next((value for value in given if type(value) is Unwritten and np.any(value.where)), None)
        frame[result] = total if missing is None else Unwritten(total, np.True_, missing.reader, missing.buffer)

    return step


def _element(vector: Any, point: tuple[int, ...]) -> Any:
    if type(vector) is not Unwritten:
        return vector[point]
    where = np.broadcast_to(vector.where, vector.values.shape)[point]
    return (
        Unwritten(vector.values[point], where, vector.reader, vector.buffer) if np.any(where) else vector.values[point]
    )


OPS: dict[str, Implementation] = {
    "vector.broadcast": _broadcast,
    "vector.constant_mask": _create_mask,
    "vector.create_mask": _create_mask,
    "vector.extract": _extract,
    "vector.extract_strided_slice": _strided_slice,
    "vector.gather": _gather,
    "vector.load": _load,
    "vector.mask": _masked,
    "vector.reduction": _reduction,
    "vector.scatter": _scatter,
    "vector.shape_cast": _shape_cast,
    "vector.store": _store,
    "vector.transfer_read": _transfer_read,
    "vector.transfer_write": _transfer_write,
    "vector.transpose": _transpose,
}
TERMINATORS: dict[str, Terminator] = {"vector.yield": leave}
