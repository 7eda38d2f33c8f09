"""`memref`: what makes another view of the same memory. A view that leaves what it is made from is told where it is made."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from hotdesk.explain import Source
from hotdesk.ir.types import DYNAMIC
from hotdesk.runtime.checking.blocks import View, row_major
from hotdesk.runtime.checking.code import Frame, Meaning, Reading, Step
from hotdesk.runtime.checking.elements import dtype_of, xp
from hotdesk.runtime.checking.machine import Machine
from hotdesk.runtime.checking.report import FaultKind


def _checked(reading: Reading) -> Callable[[View], View]:
    """Notes it when a view does not have the sizes, strides or offset that its type states."""
    kind, machine, at = reading.result_type(), reading.machine, reading.at
    if not hasattr(kind, "get_strides_and_offset"):  # unranked
        return lambda view: view
    sizes = [None if kind.is_dynamic_dim(i) else int(kind.get_dim_size(i)) for i in range(kind.rank)]
    try:
        strides, offset = kind.get_strides_and_offset()
    except (RuntimeError, ValueError):  # a layout that is no strided one
        strides, offset = [DYNAMIC] * kind.rank, DYNAMIC

    def check(view: View) -> View:
        fits = len(sizes) == len(view.sizes) and all(s in (None, v) for s, v in zip(sizes, view.sizes, strict=True))
        if not fits:
            message = f"a view of {_listed(view.sizes)} elements becomes a {kind}"
            machine.findings.stop(FaultKind.SHAPE, at, message, view.block)
        wrong = [
            stride
            for size, stride, stated in zip(view.sizes, view.strides, strides, strict=True)
            if size > 1 and stated not in (DYNAMIC, stride)
        ]
        if view.elements and (wrong or offset not in (DYNAMIC, view.offset)):
            message = f"a view with strides {list(view.strides)} and offset {view.offset} becomes a {kind}"
            machine.findings.stop(FaultKind.SHAPE, at, message, view.block)
        return view

    return check


def _cast(reading: Reading) -> Step:
    (source,), (result,), check = reading.operands, reading.results, _checked(reading)
    reading.code.cast([source], [result])

    def step(frame: Frame) -> None:
        frame[result] = check(frame[source])

    return step


def _subview(reading: Reading) -> Step:
    (source,), starts, counts, steps = reading.groups()
    offsets_of = reading.mixed("static_offsets", starts)
    sizes_of = reading.mixed("static_sizes", counts)
    steps_of = reading.mixed("static_strides", steps)
    machine, at, check, kind = reading.machine, reading.at, _checked(reading), reading.result_type()
    wanted = [None if kind.is_dynamic_dim(i) else int(kind.get_dim_size(i)) for i in range(kind.rank)]
    (result,) = reading.results

    def step(frame: Frame) -> None:
        view: View = frame[source]
        offsets, sizes, steps = offsets_of(frame), sizes_of(frame), steps_of(frame)
        for number, (offset, size, stride, whole) in enumerate(zip(offsets, sizes, steps, view.sizes, strict=True)):
            last = offset + max(size - 1, 0) * stride
            empty = size == 0 and 0 <= offset <= whole
            if size < 0 or not (empty or (0 <= offset < whole and 0 <= last < whole)):
                message = f"elements {offset} to {last} in dimension {number}, which has {whole}"
                machine.findings.stop(FaultKind.OUT_OF_BOUNDS, at, message, view.block)
        strides = [a * b for a, b in zip(view.strides, steps, strict=True)]
        start = view.offset + sum(a * b for a, b in zip(offsets, view.strides, strict=True))
        kept = _kept(sizes, wanted)
        frame[result] = check(view.at(start, [sizes[i] for i in kept], [strides[i] for i in kept]))

    return step


def _kept(sizes: Sequence[int], wanted: Sequence[int | None]) -> list[int]:
    """The dimensions that stay: a type of lower rank leaves out some of one element. Of those it does not matter which."""
    if len(sizes) == len(wanted):
        return list(range(len(sizes)))
    for kept in itertools.combinations(range(len(sizes)), len(wanted)):
        fits = all(want in (None, sizes[i]) for want, i in zip(wanted, kept, strict=True))
        if fits and all(size == 1 for i, size in enumerate(sizes) if i not in kept):
            return list(kept)
    return list(range(len(sizes)))  # does not fit its type, as the check will tell


def _expand(reading: Reading) -> Step:
    source, *sizes = reading.operands
    sizes_of, groups = reading.mixed("static_output_shape", sizes), _groups(reading)
    (result,), machine, at, check = reading.results, reading.machine, reading.at, _checked(reading)

    def step(frame: Frame) -> None:
        view: View = frame[source]
        sizes = sizes_of(frame)
        strides = [1] * len(sizes)
        for group, size, stride in zip(groups, view.sizes, view.strides, strict=True):
            inner = [sizes[i] for i in group]
            if math.prod(inner) != size:
                message = f"{size} elements become {_listed(inner)}"
                machine.findings.stop(FaultKind.SHAPE, at, message, view.block)
            for i, row in zip(group, row_major(inner), strict=True):
                strides[i] = row * stride
        frame[result] = check(view.at(view.offset, sizes, strides))

    return step


def _collapse(reading: Reading) -> Step:
    (source,), (result,), groups = reading.operands, reading.results, _groups(reading)
    machine, at, check = reading.machine, reading.at, _checked(reading)

    def step(frame: Frame) -> None:
        view: View = frame[source]
        sizes, strides = [1] * len(groups), [1] * len(groups)
        for number, group in enumerate(groups):
            wide = [i for i in group if view.sizes[i] != 1] or list(group[-1:])
            sizes[number], strides[number] = math.prod(view.sizes[i] for i in group), view.strides[wide[-1]]
            rows = itertools.pairwise(wide)
            if view.elements and any(view.strides[a] != view.strides[b] * view.sizes[b] for a, b in rows):
                message = (
                    f"strides {[view.strides[i] for i in group]} of {_listed([view.sizes[i] for i in group])} elements"
                )
                machine.findings.stop(FaultKind.SHAPE, at, f"{message} are no single stride", view.block)
        frame[result] = check(view.at(view.offset, sizes, strides))

    return step


def _groups(reading: Reading) -> list[tuple[int, ...]]:
    return [tuple(int(i.value) for i in group) for group in reading.attribute("reassociation")]


def _reinterpret(reading: Reading) -> Step:
    """Counts from where the source is aligned, whatever its own offset is. It may name elements that are never used."""
    (source,), offsets, sizes, strides = reading.groups()
    offset_of, sizes_of = reading.mixed("static_offsets", offsets), reading.mixed("static_sizes", sizes)
    strides_of, check = reading.mixed("static_strides", strides), _checked(reading)
    (result,) = reading.results

    def step(frame: Frame) -> None:
        view: View = frame[source]
        frame[result] = check(view.at(offset_of(frame)[0], sizes_of(frame), strides_of(frame)))

    return step


def _metadata(reading: Reading) -> Step:
    (source,) = reading.operands
    base, offset, *rest = reading.results

    def step(frame: Frame) -> None:
        view: View = frame[source]
        frame[base] = view.at(0, (), ())
        frame[offset] = np.int64(view.offset)
        for slot, number in zip(rest, (*view.sizes, *view.strides), strict=True):
            frame[slot] = np.int64(number)

    return step


def _view(reading: Reading) -> Step:
    """Bytes as elements. In an arena, a buffer of its own each time."""
    source, shift, *sizes = reading.operands
    memref, machine, at = reading.result_type(), reading.machine, reading.at
    dtype, name = dtype_of(memref), str(memref)
    sizes_of, (result,) = reading.dynamic_sizes(memref, sizes), reading.results

    def step(frame: Frame) -> None:
        view: View = frame[source]
        first, sizes = int(machine.defined(frame[shift], at)), sizes_of(frame)
        size = math.prod(sizes) * dtype.itemsize
        if first < 0 or min(sizes, default=0) < 0 or first + size > view.elements:
            message = f"bytes {first} to {first + size} of a view of {view.elements}"
            machine.findings.stop(FaultKind.OUT_OF_BOUNDS, at, message, view.block)
        made = View(view.block, view.first_byte + first, 0, sizes, row_major(sizes), dtype)
        if (view.block.address + made.start) % dtype.itemsize and size:
            message = f"{dtype} elements from byte {first} on, which is not aligned to {dtype.itemsize}"
            machine.findings.add(FaultKind.ALIGNMENT, at, message, view.block)
        if view.block.carved is not None:
            made = View.of(machine.memory.carve(made, f"{name} at byte {made.start}", at), sizes, dtype)
        frame[result] = made

    return step


def _reshape(reading: Reading) -> Step:
    source, shape = reading.operands
    (result,), machine, at, check = reading.results, reading.machine, reading.at, _checked(reading)

    def step(frame: Frame) -> None:
        view: View = frame[source]
        sizes = [int(n) for n in xp.asarray(machine.defined(machine.memory.read(frame[shape], at), at)).reshape(-1)]
        if math.prod(sizes) != view.elements or min(sizes, default=0) < 0:
            message = f"{view.elements} elements become {_listed(sizes)}"
            machine.findings.stop(FaultKind.SHAPE, at, message, view.block)
        _contiguous(machine, view, at)
        frame[result] = check(view.at(view.offset, sizes, row_major(sizes)))

    return step


def _contiguous(machine: Machine, view: View, at: Source) -> None:
    rows = zip(view.sizes, view.strides, row_major(view.sizes), strict=True)
    if view.elements and any(size != 1 and stride != row for size, stride, row in rows):
        message = f"strides {list(view.strides)} where contiguous rows are wanted"
        machine.findings.stop(FaultKind.SHAPE, at, message, view.block)


def _transpose(reading: Reading) -> Step:
    (source,), (result,), check = reading.operands, reading.results, _checked(reading)
    order = [int(each.position) for each in reading.attribute("permutation").value.results]

    def step(frame: Frame) -> None:
        view: View = frame[source]
        turned = view.at(view.offset, [view.sizes[i] for i in order], [view.strides[i] for i in order])
        frame[result] = check(turned)

    return step


def _listed(sizes: Sequence[Any]) -> str:
    return "×".join(map(str, sizes)) if sizes else "1"


MEANINGS: dict[str, Meaning] = {
    "memref.cast": _cast,
    "memref.collapse_shape": _collapse,
    "memref.expand_shape": _expand,
    "memref.extract_strided_metadata": _metadata,
    "memref.memory_space_cast": _cast,
    "memref.reinterpret_cast": _reinterpret,
    "memref.reshape": _reshape,
    "memref.subview": _subview,
    "memref.transpose": _transpose,
    "memref.view": _view,
}
