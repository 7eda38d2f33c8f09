"""`linalg`: `generic`, which all structured ops are turned into (`structured`), and what MLIR does not turn into it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from hotdesk.checker.buffers import MemRef
from hotdesk.checker.dialects.structured import GenericOp
from hotdesk.checker.interpreter import Frame, Implementation, Interpreter, OpReader, Step, Terminator, leave
from hotdesk.checker.overlaps import sharing
from hotdesk.checker.report import FaultKind
from hotdesk.checker.values import Array, Unwritten, Value, plain, xp
from hotdesk.explain import Source


def _generic(reader: OpReader) -> Step:
    return GenericOp(reader).run


def _index(reader: OpReader) -> Step:
    loop, interpreter, (result,) = int(reader.attribute("dim").value), reader.interpreter, reader.results

    def step(frame: Frame) -> None:
        frame[result] = interpreter.counters[-1][loop]

    return step


def _softmax(reader: OpReader) -> Step:
    """An element is not defined if one of its row is not."""
    (source, target), interpreter, at = reader.operands, reader.interpreter, reader.at
    axis = int(reader.attribute("dimension").value)

    def step(frame: Frame) -> None:
        a, b = frame[source], frame[target]
        _check_sizes(interpreter, b, a.sizes, at)
        _check_apart(interpreter, a, b, at)
        value = interpreter.memory.read(a, at)
        if interpreter.settings.undefined == "refuse":
            value = interpreter.defined(value, at)
        if not b.elements:
            return
        values = plain(value)
        powers = xp.exp(values - values.max(axis=axis, keepdims=True))
        result = (powers / powers.sum(axis=axis, keepdims=True)).astype(b.dtype)
        if type(value) is Unwritten:
            where = np.broadcast_to(value.where.any(axis=axis, keepdims=True), b.sizes)
            result = Unwritten(result, where, value.reader, value.buffer)
        interpreter.memory.write(b, result, at)

    return step


class _Tiling:
    """How `linalg.pack` and `linalg.unpack` see a memref: dims cut into tiles, and the packed one's order of dims."""

    def __init__(self, rank: int, positions: Sequence[int], order: Sequence[int], tiles: Sequence[int]) -> None:
        self._tile = dict(zip(positions, tiles, strict=True))
        self._rank = rank
        axes: dict[int, list[int]] = {}
        for count in range(rank):
            first = sum(map(len, axes.values()))
            axes[count] = [first, first + 1] if count in self._tile else [first]
        self._axes = [axes[dim][0] for dim in (order or range(rank))] + [axes[dim][1] for dim in positions]

    def padded(self, sizes: Sequence[int]) -> list[int]:
        """The sizes, rounded up to whole tiles."""
        return [-(-size // self._tile.get(dim, 1)) * self._tile.get(dim, 1) for dim, size in enumerate(sizes)]

    def cut(self, sizes: Sequence[int]) -> list[int]:
        """The sizes with two dims for each that is cut into tiles."""
        found: list[int] = []
        for dim, size in enumerate(self.padded(sizes)):
            found += [size // self._tile[dim], self._tile[dim]] if dim in self._tile else [size]
        return found

    def packed_sizes(self, sizes: Sequence[int]) -> list[int]:
        cut = self.cut(sizes)
        return [cut[axis] for axis in self._axes]

    def pack(self, values: Array, padding: Any) -> Array:
        whole = xp.full(self.padded(values.shape), padding, values.dtype)
        whole[tuple(slice(0, size) for size in values.shape)] = values
        return whole.reshape(self.cut(values.shape)).transpose(self._axes)

    def unpack(self, values: Array, sizes: Sequence[int]) -> Array:
        whole = values.transpose(np.argsort(self._axes)).reshape(self.padded(sizes))
        return whole[tuple(slice(0, size) for size in sizes)]


def _tiling(reader: OpReader, slots: Sequence[int], rank: int) -> Callable[[Frame], _Tiling]:
    tiles_of, positions = reader.mixed("static_inner_tiles", slots), reader.integers("inner_dims_pos")
    order = reader.integers("outer_dims_perm") if reader.has("outer_dims_perm") else ()
    findings, at = reader.interpreter.findings, reader.at

    def tiling(frame: Frame) -> _Tiling:
        tiles = tiles_of(frame)
        if min(tiles, default=1) < 1:
            findings.stop(FaultKind.SHAPE, at, f"tiles of {min(tiles)} elements")
        return _Tiling(rank, positions, order, tiles)

    return tiling


def _pack(reader: OpReader) -> Step:
    (source,), (target,), padding, tiles = reader.groups()
    interpreter, at = reader.interpreter, reader.at
    tiling_of = _tiling(reader, tiles, reader.operand_type(0).rank)

    def step(frame: Frame) -> None:
        a, b, tiling = frame[source], frame[target], tiling_of(frame)
        _check_sizes(interpreter, b, tiling.packed_sizes(a.sizes), at)
        _check_apart(interpreter, a, b, at)
        if not padding and list(a.sizes) != tiling.padded(a.sizes):
            message = f"{_listed(a.sizes)} elements are no whole tiles, and nothing is said to fill them up with"
            interpreter.findings.stop(FaultKind.SHAPE, at, message, a.buffer)
        fill = interpreter.defined(frame[padding[0]], at) if padding else 0
        value = interpreter.memory.read(a, at)
        interpreter.memory.write(b, _moved(value, tiling.pack, fill, np.False_), at)

    return step


def _unpack(reader: OpReader) -> Step:
    source, target, *tiles = reader.operands
    interpreter, at = reader.interpreter, reader.at
    tiling_of = _tiling(reader, tiles, reader.operand_type(1).rank)

    def step(frame: Frame) -> None:
        a, b, tiling = frame[source], frame[target], tiling_of(frame)
        _check_sizes(interpreter, a, tiling.packed_sizes(b.sizes), at)
        _check_apart(interpreter, a, b, at)
        value = interpreter.memory.read(a, at)
        interpreter.memory.write(b, _moved(value, tiling.unpack, b.sizes, b.sizes), at)

    return step


def _moved(value: Value, move: Callable[[Array, Any], Array], given: Any, given_for_marks: Any) -> Value:
    """Elements elsewhere, defined or not."""
    if type(value) is not Unwritten:
        return move(value, given)
    where = move(value.where, given_for_marks)
    return Unwritten(move(value.values, given), where, value.reader, value.buffer)


def _check_sizes(interpreter: Interpreter, view: MemRef, sizes: Sequence[int], at: Source) -> None:
    if list(view.sizes) != list(sizes):
        message = f"{_listed(sizes)} elements in a memref of {_listed(view.sizes)}"
        interpreter.findings.stop(FaultKind.SHAPE, at, message, view.buffer)


def _check_apart(interpreter: Interpreter, source: MemRef, target: MemRef, at: Source) -> None:
    if sharing(source, target):
        message = f"reads {source.buffer.name} while it writes it"
        interpreter.findings.add(FaultKind.OVERLAP, at, message, source.buffer)


def _listed(sizes: Sequence[int]) -> str:
    return "×".join(map(str, sizes)) if sizes else "1"


OPS: dict[str, Implementation] = {
    "linalg.generic": _generic,
    "linalg.index": _index,
    "linalg.pack": _pack,
    "linalg.softmax": _softmax,
    "linalg.unpack": _unpack,
}
TERMINATORS: dict[str, Terminator] = {"linalg.yield": leave, "tm_tensor.yield": leave}
