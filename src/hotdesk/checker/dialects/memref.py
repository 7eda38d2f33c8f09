"""`memref`: allocating, freeing, reading and writing, atomically too, and making other views of the same memory.

A view that leaves what it is made from is told where it is made.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from hotdesk.checker.arenas import settle
from hotdesk.checker.buffers import CheckedBuffer, MemRef, row_major
from hotdesk.checker.interpreter import Frame, Implementation, Interpreter, OpReader, Step, Terminator, leave
from hotdesk.checker.overlaps import overlapping
from hotdesk.checker.races import Touch
from hotdesk.checker.report import FaultKind
from hotdesk.checker.values import dtype_of, xp
from hotdesk.explain import Source
from hotdesk.ir.signature import ARENA
from hotdesk.ir.types import DYNAMIC

_HEAP_ALIGNMENT = 16  # bytes, what malloc promises


def _allocation(kind: str) -> Implementation:
    def implementation(reader: OpReader) -> Step:
        memref, interpreter, at = reader.result_type(), reader.interpreter, reader.at
        dtype, name = dtype_of(memref), str(memref)
        sizes_of = reader.dynamic_sizes(memref, reader.groups()[0])
        least = dtype.itemsize if kind == "stack" else _HEAP_ALIGNMENT
        alignment = int(reader.attribute("alignment").value) if reader.has("alignment") else least
        home, carved = (
            interpreter.homes.get(reader.op),
            reader.has(ARENA) or _is_bytes(memref, interpreter.settings.arenas),
        )
        (result,) = reader.results

        def step(frame: Frame) -> None:
            sizes = sizes_of(frame)
            if any(size < 0 for size in sizes):
                interpreter.findings.stop(FaultKind.SHAPE, at, f"allocates {_listed(sizes)} elements")
            buffer = interpreter.memory.allocate(math.prod(sizes) * dtype.itemsize, kind, name, at, alignment)
            if home is not None:
                settle(buffer, *home)
            if carved:
                interpreter.carve(buffer)
            if kind == "stack":
                interpreter.on_stack(buffer)
            frame[result] = MemRef.of(buffer, sizes, dtype)

        return step

    return implementation


def _is_bytes(memref: Any, wanted: bool) -> bool:
    return wanted and memref.rank == 1 and str(memref.element_type) == "i8"


def _dealloc(reader: OpReader) -> Step:
    (source,), memory, at = reader.operands, reader.interpreter.memory, reader.at

    def step(frame: Frame) -> None:
        memory.free(frame[source], at)

    return step


def _realloc(reader: OpReader) -> Step:
    memref, interpreter, at = reader.result_type(), reader.interpreter, reader.at
    dtype, name = dtype_of(memref), str(memref)
    sizes_of = reader.dynamic_sizes(memref, reader.operands[1:])
    alignment = int(reader.attribute("alignment").value) if reader.has("alignment") else _HEAP_ALIGNMENT
    source, (result,) = reader.operands[0], reader.results

    def step(frame: Frame) -> None:
        old, (size,) = frame[source], sizes_of(frame)
        if size < 0:
            interpreter.findings.stop(FaultKind.SHAPE, at, f"allocates {size} elements", old.buffer)
        new = MemRef.of(interpreter.memory.allocate(size * dtype.itemsize, "heap", name, at, alignment), [size], dtype)
        kept = min(size, old.sizes[0])
        part = old.at(old.offset, [kept], old.strides)
        interpreter.memory.write(new.at(0, [kept], [1]), interpreter.memory.read(part, at), at)
        interpreter.memory.free(old, at)
        frame[result] = new

    return step


def _load(reader: OpReader) -> Step:
    source, *indices = reader.operands
    (result,) = reader.results
    interpreter, memory, at = reader.interpreter, reader.interpreter.memory, reader.at

    def step(frame: Frame) -> None:
        frame[result] = memory.load(frame[source], [interpreter.defined(frame[i], at) for i in indices], at)

    return step


def _store(reader: OpReader) -> Step:
    value, target, *indices = reader.operands
    interpreter, memory, at = reader.interpreter, reader.interpreter.memory, reader.at

    def step(frame: Frame) -> None:
        memory.store(frame[target], [interpreter.defined(frame[i], at) for i in indices], frame[value], at)

    return step


def _copy(reader: OpReader) -> Step:
    source, target = reader.operands
    interpreter, at = reader.interpreter, reader.at

    def step(frame: Frame) -> None:
        a, b = frame[source], frame[target]
        if a.sizes != b.sizes:
            message = f"copies {_listed(a.sizes)} elements to {_listed(b.sizes)}"
            interpreter.findings.stop(FaultKind.SHAPE, at, message, b.buffer)
        if overlapping(a, b):
            interpreter.findings.add(FaultKind.OVERLAP, at, "source and target of a copy share bytes", b.buffer)
        interpreter.memory.write(b, interpreter.memory.read(a, at), at)

    return step


def _global(reader: OpReader) -> Step:
    name, interpreter, at = str(reader.attribute("name").value), reader.interpreter, reader.at
    (result,) = reader.results

    def step(frame: Frame) -> None:
        frame[result] = interpreter.global_view(name, at)

    return step


def _dim(reader: OpReader) -> Step:
    source, position = reader.operands
    (result,) = reader.results
    interpreter, at = reader.interpreter, reader.at

    def step(frame: Frame) -> None:
        view, number = frame[source], int(interpreter.defined(frame[position], at))
        if not 0 <= number < len(view.sizes):
            interpreter.findings.stop(
                FaultKind.OUT_OF_BOUNDS, at, f"dimension {number} of {len(view.sizes)}", view.buffer
            )
        frame[result] = np.int64(view.sizes[number])

    return step


def _rank(reader: OpReader) -> Step:
    (source,), (result,) = reader.operands, reader.results

    def step(frame: Frame) -> None:
        frame[result] = np.int64(len(frame[source].sizes))

    return step


def _pointer(reader: OpReader) -> Step:
    (source,), (result,) = reader.operands, reader.results

    def step(frame: Frame) -> None:
        view = frame[source]
        frame[result] = np.int64(view.buffer.address + view.start)

    return step


def _aligned(reader: OpReader) -> Step:
    source, results, interpreter, at = reader.operands[0], reader.results, reader.interpreter, reader.at
    alignment = int(reader.attribute("alignment").value)

    def step(frame: Frame) -> None:
        view: MemRef = frame[source]
        address = view.buffer.address + view.first_byte
        if address % alignment:
            message = f"a buffer that is aligned to {address & -address} bytes is said to be aligned to {alignment}"
            interpreter.findings.add(FaultKind.ALIGNMENT, at, message, view.buffer)
        for slot in results:
            frame[slot] = view

    return step


def _scope(reader: OpReader) -> Step:
    interpreter, at, region, results = reader.interpreter, reader.at, reader.region(0), reader.results
    for sources in region.passed:
        reader.function.join(sources, results)

    def step(frame: Frame) -> None:
        values = interpreter.scoped(lambda: region.run(frame), at)
        for slot, value in zip(results, values, strict=True):
            frame[slot] = value

    return step


def _distinct(reader: OpReader) -> Step:
    """`memref.distinct_objects` says that its operands are different allocations."""
    operands, results, interpreter, at = reader.operands, reader.results, reader.interpreter, reader.at

    def step(frame: Frame) -> None:
        seen: dict[int, CheckedBuffer] = {}
        for source, result in zip(operands, results, strict=True):
            buffer = frame[source].buffer
            if buffer.number in seen:
                interpreter.findings.add(FaultKind.OVERLAP, at, "operands that are said to be distinct are not", buffer)
            seen[buffer.number] = buffer
            frame[result] = frame[source]

    return step


def _prefetch(reader: OpReader) -> Step:
    """Tells the processor what may be read soon; reads nothing."""
    indices, interpreter, at = reader.operands[1:], reader.interpreter, reader.at

    def step(frame: Frame) -> None:
        for index in indices:
            interpreter.defined(frame[index], at)

    return step


# Atomic reads and writes


def _atomic(reader: OpReader) -> Step:
    value, target, *indices = reader.operands
    (result,) = reader.results
    interpreter, memory, at = reader.interpreter, reader.interpreter.memory, reader.at
    combine = _KINDS[int(reader.attribute("kind").value)]

    def step(frame: Frame) -> None:
        place = [interpreter.defined(frame[i], at) for i in indices]
        old = memory.load(frame[target], place, at, Touch.ATOMIC)
        given = interpreter.defined(frame[value], at)
        frame[result] = old
        memory.store(frame[target], place, combine(interpreter.defined(old, at), given), at, Touch.ATOMIC)

    return step


def _unsigned(a: Any) -> Any:
    return a.view(np.dtype(f"u{a.dtype.itemsize}"))


_KINDS: tuple[Callable[[Any, Any], Any], ...] = (
    lambda a, b: a + b,  # addf
    lambda a, b: a + b,  # addi
    lambda a, b: a & b,  # andi
    lambda a, b: b,  # assign
    xp.maximum,  # maximumf
    xp.fmax,  # maxnumf
    xp.maximum,  # maxs
    lambda a, b: xp.maximum(_unsigned(a), _unsigned(b)).view(a.dtype),  # maxu
    xp.minimum,  # minimumf
    xp.fmin,  # minnumf
    xp.minimum,  # mins
    lambda a, b: xp.minimum(_unsigned(a), _unsigned(b)).view(a.dtype),  # minu
    lambda a, b: a * b,  # mulf
    lambda a, b: a * b,  # muli
    lambda a, b: a | b,  # ori
    lambda a, b: a ^ b,  # xori
)
"""`arith.AtomicRMWKind`, by number."""


def _generic_atomic(reader: OpReader) -> Step:
    target, *indices = reader.operands
    (result,) = reader.results
    interpreter, memory, at, region = reader.interpreter, reader.interpreter.memory, reader.at, reader.region(0)

    def step(frame: Frame) -> None:
        place = [interpreter.defined(frame[i], at) for i in indices]
        (value,) = region.run(frame, [memory.load(frame[target], place, at, Touch.ATOMIC)])
        memory.store(frame[target], place, value, at, Touch.ATOMIC)
        frame[result] = value

    return step


# Views


def _checked(reader: OpReader) -> Callable[[MemRef], MemRef]:
    """Notes it when a view does not have the sizes, strides or offset that its type states."""
    kind, interpreter, at = reader.result_type(), reader.interpreter, reader.at
    if not hasattr(kind, "get_strides_and_offset"):  # unranked
        return lambda view: view
    sizes = [None if kind.is_dynamic_dim(i) else int(kind.get_dim_size(i)) for i in range(kind.rank)]
    try:
        strides, offset = kind.get_strides_and_offset()
    except (RuntimeError, ValueError):  # a layout that is no strided one
        strides, offset = [DYNAMIC] * kind.rank, DYNAMIC

    def check(view: MemRef) -> MemRef:
        fits = len(sizes) == len(view.sizes) and all(s in (None, v) for s, v in zip(sizes, view.sizes, strict=True))
        if not fits:
            message = f"a view of {_listed(view.sizes)} elements becomes a {kind}"
            interpreter.findings.stop(FaultKind.SHAPE, at, message, view.buffer)
        wrong = [
            stride
            for size, stride, stated in zip(view.sizes, view.strides, strides, strict=True)
            if size > 1 and stated not in (DYNAMIC, stride)
        ]
        if view.elements and (wrong or offset not in (DYNAMIC, view.offset)):
            message = f"a view with strides {list(view.strides)} and offset {view.offset} becomes a {kind}"
            interpreter.findings.stop(FaultKind.SHAPE, at, message, view.buffer)
        return view

    return check


def _cast(reader: OpReader) -> Step:
    (source,), (result,), check = reader.operands, reader.results, _checked(reader)
    reader.function.cast([source], [result])

    def step(frame: Frame) -> None:
        frame[result] = check(frame[source])

    return step


def _subview(reader: OpReader) -> Step:
    (source,), starts, counts, steps = reader.groups()
    offsets_of = reader.mixed("static_offsets", starts)
    sizes_of = reader.mixed("static_sizes", counts)
    steps_of = reader.mixed("static_strides", steps)
    interpreter, at, check, kind = reader.interpreter, reader.at, _checked(reader), reader.result_type()
    wanted = [None if kind.is_dynamic_dim(i) else int(kind.get_dim_size(i)) for i in range(kind.rank)]
    (result,) = reader.results

    def step(frame: Frame) -> None:
        view: MemRef = frame[source]
        offsets, sizes, steps = offsets_of(frame), sizes_of(frame), steps_of(frame)
        for number, (offset, size, stride, whole) in enumerate(zip(offsets, sizes, steps, view.sizes, strict=True)):
            last = offset + max(size - 1, 0) * stride
            empty = size == 0 and 0 <= offset <= whole
            if size < 0 or not (empty or (0 <= offset < whole and 0 <= last < whole)):
                message = f"elements {offset} to {last} in dimension {number}, which has {whole}"
                interpreter.findings.stop(FaultKind.OUT_OF_BOUNDS, at, message, view.buffer)
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


def _expand(reader: OpReader) -> Step:
    source, *sizes = reader.operands
    sizes_of, groups = reader.mixed("static_output_shape", sizes), _groups(reader)
    (result,), interpreter, at, check = reader.results, reader.interpreter, reader.at, _checked(reader)

    def step(frame: Frame) -> None:
        view: MemRef = frame[source]
        sizes = sizes_of(frame)
        strides = [1] * len(sizes)
        for group, size, stride in zip(groups, view.sizes, view.strides, strict=True):
            inner = [sizes[i] for i in group]
            if math.prod(inner) != size:
                message = f"{size} elements become {_listed(inner)}"
                interpreter.findings.stop(FaultKind.SHAPE, at, message, view.buffer)
            for i, row in zip(group, row_major(inner), strict=True):
                strides[i] = row * stride
        frame[result] = check(view.at(view.offset, sizes, strides))

    return step


def _collapse(reader: OpReader) -> Step:
    (source,), (result,), groups = reader.operands, reader.results, _groups(reader)
    interpreter, at, check = reader.interpreter, reader.at, _checked(reader)

    def step(frame: Frame) -> None:
        view: MemRef = frame[source]
        sizes, strides = [1] * len(groups), [1] * len(groups)
        for number, group in enumerate(groups):
            wide = [i for i in group if view.sizes[i] != 1] or list(group[-1:])
            sizes[number], strides[number] = math.prod(view.sizes[i] for i in group), view.strides[wide[-1]]
            rows = itertools.pairwise(wide)
            if view.elements and any(view.strides[a] != view.strides[b] * view.sizes[b] for a, b in rows):
                message = (
                    f"strides {[view.strides[i] for i in group]} of {_listed([view.sizes[i] for i in group])} elements"
                )
                interpreter.findings.stop(FaultKind.SHAPE, at, f"{message} are no single stride", view.buffer)
        frame[result] = check(view.at(view.offset, sizes, strides))

    return step


def _groups(reader: OpReader) -> list[tuple[int, ...]]:
    return [tuple(int(i.value) for i in group) for group in reader.attribute("reassociation")]


def _reinterpret(reader: OpReader) -> Step:
    """Counts from where the source is aligned, whatever its own offset is. It may name elements that are never used."""
    (source,), offsets, sizes, strides = reader.groups()
    offset_of, sizes_of = reader.mixed("static_offsets", offsets), reader.mixed("static_sizes", sizes)
    strides_of, check = reader.mixed("static_strides", strides), _checked(reader)
    (result,) = reader.results

    def step(frame: Frame) -> None:
        view: MemRef = frame[source]
        frame[result] = check(view.at(offset_of(frame)[0], sizes_of(frame), strides_of(frame)))

    return step


def _metadata(reader: OpReader) -> Step:
    (source,) = reader.operands
    base, offset, *rest = reader.results

    def step(frame: Frame) -> None:
        view: MemRef = frame[source]
        frame[base] = view.at(0, (), ())
        frame[offset] = np.int64(view.offset)
        for slot, number in zip(rest, (*view.sizes, *view.strides), strict=True):
            frame[slot] = np.int64(number)

    return step


def _view(reader: OpReader) -> Step:
    """Bytes as elements. In an arena, a buffer of its own each time."""
    source, shift, *sizes = reader.operands
    memref, interpreter, at = reader.result_type(), reader.interpreter, reader.at
    dtype, name = dtype_of(memref), str(memref)
    sizes_of, (result,) = reader.dynamic_sizes(memref, sizes), reader.results

    def step(frame: Frame) -> None:
        view: MemRef = frame[source]
        first, sizes = int(interpreter.defined(frame[shift], at)), sizes_of(frame)
        size = math.prod(sizes) * dtype.itemsize
        if first < 0 or min(sizes, default=0) < 0 or first + size > view.elements:
            message = f"bytes {first} to {first + size} of a view of {view.elements}"
            interpreter.findings.stop(FaultKind.OUT_OF_BOUNDS, at, message, view.buffer)
        made = MemRef(view.buffer, view.first_byte + first, 0, sizes, row_major(sizes), dtype)
        if (view.buffer.address + made.start) % dtype.itemsize and size:
            message = f"{dtype} elements from byte {first} on, which is not aligned to {dtype.itemsize}"
            interpreter.findings.add(FaultKind.ALIGNMENT, at, message, view.buffer)
        if view.buffer.carved is not None:
            made = MemRef.of(interpreter.memory.carve(made, f"{name} at byte {made.start}", at), sizes, dtype)
        frame[result] = made

    return step


def _reshape(reader: OpReader) -> Step:
    source, shape = reader.operands
    (result,), interpreter, at, check = reader.results, reader.interpreter, reader.at, _checked(reader)

    def step(frame: Frame) -> None:
        view: MemRef = frame[source]
        sizes = [
            int(n) for n in xp.asarray(interpreter.defined(interpreter.memory.read(frame[shape], at), at)).reshape(-1)
        ]
        if math.prod(sizes) != view.elements or min(sizes, default=0) < 0:
            message = f"{view.elements} elements become {_listed(sizes)}"
            interpreter.findings.stop(FaultKind.SHAPE, at, message, view.buffer)
        _contiguous(interpreter, view, at)
        frame[result] = check(view.at(view.offset, sizes, row_major(sizes)))

    return step


def _contiguous(interpreter: Interpreter, view: MemRef, at: Source) -> None:
    rows = zip(view.sizes, view.strides, row_major(view.sizes), strict=True)
    if view.elements and any(size != 1 and stride != row for size, stride, row in rows):
        message = f"strides {list(view.strides)} where contiguous rows are wanted"
        interpreter.findings.stop(FaultKind.SHAPE, at, message, view.buffer)


def _transpose(reader: OpReader) -> Step:
    (source,), (result,), check = reader.operands, reader.results, _checked(reader)
    order = [int(each.position) for each in reader.attribute("permutation").value.results]

    def step(frame: Frame) -> None:
        view: MemRef = frame[source]
        turned = view.at(view.offset, [view.sizes[i] for i in order], [view.strides[i] for i in order])
        frame[result] = check(turned)

    return step


def _listed(sizes: Sequence[Any]) -> str:
    return "×".join(map(str, sizes)) if sizes else "1"


OPS: dict[str, Implementation] = {
    "memref.alloc": _allocation("heap"),
    "memref.alloca": _allocation("stack"),
    "memref.alloca_scope": _scope,
    "memref.assume_alignment": _aligned,
    "memref.atomic_rmw": _atomic,
    "memref.cast": _cast,
    "memref.collapse_shape": _collapse,
    "memref.copy": _copy,
    "memref.dealloc": _dealloc,
    "memref.dim": _dim,
    "memref.distinct_objects": _distinct,
    "memref.expand_shape": _expand,
    "memref.extract_aligned_pointer_as_index": _pointer,
    "memref.extract_strided_metadata": _metadata,
    "memref.generic_atomic_rmw": _generic_atomic,
    "memref.get_global": _global,
    "memref.load": _load,
    "memref.memory_space_cast": _cast,
    "memref.prefetch": _prefetch,
    "memref.rank": _rank,
    "memref.realloc": _realloc,
    "memref.reinterpret_cast": _reinterpret,
    "memref.reshape": _reshape,
    "memref.store": _store,
    "memref.subview": _subview,
    "memref.transpose": _transpose,
    "memref.view": _view,
}
TERMINATORS: dict[str, Terminator] = {"memref.alloca_scope.return": leave, "memref.atomic_yield": leave}
