"""`bufferization`: clones, deallocation by ownership, and the ops between tensors and memory that partial passes leave."""

from __future__ import annotations

import numpy as np

from hotdesk.checker.buffers import MemRef
from hotdesk.checker.interpreter import Frame, Implementation, OpReader, Step
from hotdesk.checker.values import dtype_of


def _clone(reader: OpReader) -> Step:
    (source,), (result,), interpreter, at = reader.operands, reader.results, reader.interpreter, reader.at
    dtype, name = dtype_of(reader.result_type()), str(reader.result_type())

    def step(frame: Frame) -> None:
        old: MemRef = frame[source]
        buffer = interpreter.memory.allocate(old.elements * dtype.itemsize, "heap", name, at, 16)
        frame[result] = MemRef.of(buffer, old.sizes, dtype)
        interpreter.memory.write(frame[result], interpreter.memory.read(old, at), at)

    return step


def _dealloc(reader: OpReader) -> Step:
    """Frees each memref whose condition holds, once, unless a retained one is the same allocation; what is retained is owned if
    the condition of any memref of its allocation holds."""
    memrefs, conditions, retained = reader.groups()
    results, interpreter, at = reader.results, reader.interpreter, reader.at

    def step(frame: Frame) -> None:
        owned = [bool(interpreter.defined(frame[slot], at)) for slot in conditions]
        views: list[MemRef] = [frame[slot] for slot in memrefs]
        keep: list[MemRef] = [frame[slot] for slot in retained]
        kept = {view.buffer.number for view in keep}
        seen: set[int] = set()
        for view, is_owned in zip(views, owned, strict=True):
            number = view.buffer.number
            if is_owned and number not in kept and number not in seen:
                seen.add(number)
                interpreter.memory.free(view.at(0, (), ()), at)
        for slot, view in zip(results, keep, strict=True):
            same = (o for v, o in zip(views, owned, strict=True) if v.buffer is view.buffer)
            frame[slot] = np.bool_(any(same))

    return step


def _same(reader: OpReader) -> Step:
    """A tensor stands for the memory it is read from until it becomes a memref again."""
    (source,), (result,) = reader.operands, reader.results

    def step(frame: Frame) -> None:
        frame[result] = frame[source]

    return step


OPS: dict[str, Implementation] = {
    "bufferization.clone": _clone,
    "bufferization.dealloc": _dealloc,
    "bufferization.to_buffer": _same,
    "bufferization.to_tensor": _same,
}
