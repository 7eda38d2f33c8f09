"""Steps of programs on memrefs that make views: slices, casts, reshapes, transpositions, choices."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from tests.structured.memory_writing import Memref, Writer, is_whole


def turned(w: Writer) -> None:
    """A view whose elements come in another order."""
    source = w.some(lambda m: len(m.sizes) == 2)
    if source is None:
        return
    strides, offset = source.strides
    view = replace(
        source, name=f"%v{w.number()}", sizes=source.sizes[::-1], shown=source.shown[::-1], cells=source.places.T,
        layout=(strides[::-1], offset), owned=None,
    )  # fmt: skip
    w.lines.append(f"{view.name} = memref.transpose {source.name} (i, j) -> (j, i) : {source.type} to {view.type}")
    w.memrefs.append(view)


def subview(w: Writer) -> None:
    source = w.some(lambda m: bool(m.sizes) and 0 not in m.sizes)
    if source is None:
        return
    strides, start = source.strides
    texts: tuple[list[str], list[str], list[str]] = ([], [], [])
    sizes: list[int] = []
    shown: list[bool] = []
    moved: list[int | None] = []
    places = source.places
    for axis, whole in enumerate(source.sizes):
        step = w.pick((1, 1, 1, 2)) if whole > 1 else 1
        size = w.pick((whole, whole // step, max(whole // 2 // step, 1))) if step == 1 else whole // 2
        offset = w.random.randrange(whole - (size - 1) * step)
        hidden = w.chance(15)
        texts[0].append(w.index(offset) if hidden else str(offset))
        moved.append(None if hidden else offset)
        shown.append(not w.chance(15))
        texts[1].append(str(size) if shown[-1] else w.index(size))
        texts[2].append(str(step))
        sizes.append(size)
        places = np.take(places, range(offset, offset + size * step, step), axis)
    steps = [int(step) for step in texts[2]]
    layout = (
        tuple(None if s is None else s * step for s, step in zip(strides, steps, strict=True)),
        None
        if start is None or any(o is None or (s is None and o) for o, s in zip(moved, strides, strict=True))
        else start + sum((o or 0) * (s or 0) for o, s in zip(moved, strides, strict=True)),
    )
    view = Memref(f"%v{w.number()}", tuple(sizes), tuple(shown), source.element, source.bases, places, layout)
    text = "".join(f"[{', '.join(part)}]" for part in texts)
    w.lines.append(f"{view.name} = memref.subview {source.name}{text} : {source.type} to {view.type}")
    w.memrefs.append(view)


def cast(w: Writer) -> None:
    source = w.some(lambda m: m.layout is None and bool(m.sizes))
    if source is None:
        return
    shown = tuple(w.chance(50) for _ in source.sizes)
    if shown != source.shown:
        view = replace(source, name=f"%v{w.number()}", shown=shown, owned=None)
        w.lines.append(f"{view.name} = memref.cast {source.name} : {source.type} to {view.type}")
        w.memrefs.append(view)


def reshape(w: Writer) -> None:
    source = w.some(lambda m: m.layout is None and all(m.shown) and bool(m.sizes) and 0 not in m.sizes)
    if source is None:
        return
    name = f"%v{w.number()}"
    if len(source.sizes) == 2:
        sizes = (source.sizes[0] * source.sizes[1],)
        view = replace(source, name=name, sizes=sizes, shown=(True,), cells=source.places.reshape(sizes), owned=None)
        w.lines.append(f"{name} = memref.collapse_shape {source.name} [[0, 1]] : {source.type} into {view.type}")
    else:
        sizes = (source.sizes[0] // 2, 2) if source.sizes[0] % 2 == 0 else (source.sizes[0], 1)
        cells = source.places.reshape(sizes)
        view = replace(source, name=name, sizes=sizes, shown=(True, True), cells=cells, owned=None)
        shape = f"output_shape [{sizes[0]}, {sizes[1]}]"
        w.lines.append(f"{name} = memref.expand_shape {source.name} [[0, 1]] {shape} : {source.type} into {view.type}")
    w.memrefs.append(view)


def reinterpreted(w: Writer) -> None:
    source = w.some(lambda m: m.layout is None and m.cells is None and bool(m.sizes) and 0 not in m.sizes)
    if source is None:
        return
    count = int(np.prod(source.sizes))
    size = w.pick((count, max(count // 2, 1)))
    start = w.random.randrange(count - size + 1)
    everything: Any = np.arange(count)
    cells: Any = everything[start : start + size]
    view = Memref(f"%v{w.number()}", (size,), (True,), source.element, source.bases, cells, ((1,), start))
    text = f"offset: [{start}], sizes: [{size}], strides: [1]"
    w.lines.append(f"{view.name} = memref.reinterpret_cast {source.name} to {text} : {source.type} to {view.type}")
    w.memrefs.append(view)


def select(w: Writer) -> None:
    first = w.some(is_whole)
    second = (
        None if first is None else w.some(lambda m: is_whole(m) and m.type == first.type and m.sizes == first.sizes)
    )
    if first is not None and second is not None:
        name = w.line(f"arith.select {w.condition()}, {first.name}, {second.name} : {first.type}")
        w.memrefs.append(replace(first, name=name, bases=first.bases | second.bases, owned=None))
