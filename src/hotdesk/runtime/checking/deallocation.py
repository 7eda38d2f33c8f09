"""`bufferization`: clones, deallocation by ownership, and the ops between tensors and memory that partial passes leave."""

from __future__ import annotations

import numpy as np

from hotdesk.runtime.checking.blocks import View
from hotdesk.runtime.checking.code import Frame, Meaning, Reading, Step
from hotdesk.runtime.checking.elements import dtype_of


def _clone(reading: Reading) -> Step:
    (source,), (result,), machine, at = reading.operands, reading.results, reading.machine, reading.at
    dtype, name = dtype_of(reading.result_type()), str(reading.result_type())

    def step(frame: Frame) -> None:
        old: View = frame[source]
        block = machine.memory.allocate(old.elements * dtype.itemsize, "heap", name, at, 16)
        frame[result] = View.of(block, old.sizes, dtype)
        machine.memory.write(frame[result], machine.memory.read(old, at), at)

    return step


def _dealloc(reading: Reading) -> Step:
    """Frees each memref whose condition holds, once, unless a retained one is the same allocation; what is retained is owned if
    the condition of any memref of its allocation holds."""
    memrefs, conditions, retained = reading.groups()
    results, machine, at = reading.results, reading.machine, reading.at

    def step(frame: Frame) -> None:
        owned = [bool(machine.defined(frame[slot], at)) for slot in conditions]
        views: list[View] = [frame[slot] for slot in memrefs]
        keep: list[View] = [frame[slot] for slot in retained]
        kept = {view.block.number for view in keep}
        seen: set[int] = set()
        for view, is_owned in zip(views, owned, strict=True):
            number = view.block.number
            if is_owned and number not in kept and number not in seen:
                seen.add(number)
                machine.memory.free(view.at(0, (), ()), at)
        for slot, view in zip(results, keep, strict=True):
            same = (o for v, o in zip(views, owned, strict=True) if v.block is view.block)
            frame[slot] = np.bool_(any(same))

    return step


def _same(reading: Reading) -> Step:
    """A tensor stands for the memory it is read from until it becomes a memref again."""
    (source,), (result,) = reading.operands, reading.results

    def step(frame: Frame) -> None:
        frame[result] = frame[source]

    return step


MEANINGS: dict[str, Meaning] = {
    "bufferization.clone": _clone,
    "bufferization.dealloc": _dealloc,
    "bufferization.to_buffer": _same,
    "bufferization.to_tensor": _same,
}
