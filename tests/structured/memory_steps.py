"""Steps of programs on memrefs without regions: allocations, views, copies, ops, calls."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from tests.structured.memory_views import cast, reinterpreted, reshape, select, subview, turned
from tests.structured.memory_writing import HIDDEN_NAMES, HIDDEN_TYPES, Memref, Writer, is_whole


def _allocated(w: Writer) -> None:
    memref = w.allocate()
    if w.chance(60):
        filled(w, memref)


def _fill(w: Writer) -> None:
    memref = w.some()
    if memref is not None:
        filled(w, memref)


def filled(w: Writer, memref: Memref) -> None:
    w.lines.append(
        f"linalg.fill ins({w.scalar(memref.element)} : {memref.element}) outs({memref.name} : {memref.type})"
    )


def _copy(w: Writer) -> None:
    source = w.some()
    target = None if source is None else w.wrote(source.element, source.sizes, source)
    if source is None or target is None:
        return
    if w.chance(75):
        w.lines.append(f"memref.copy {source.name}, {target.name} : {source.type} to {target.type}")
    else:
        w.lines.append(f"linalg.copy ins({source.name} : {source.type}) outs({target.name} : {target.type})")


def _shadow(w: Writer) -> None:
    """An allocation that some memory is copied to, and which is read, or written as well."""
    source = w.some(lambda m: m.element != "i64")
    if source is None:
        return
    like = replace(source, shown=source.shown if w.chance(80) else (False,) * len(source.sizes))
    made = w.allocate(like)
    w.lines.append(f"memref.copy {source.name}, {made.name} : {source.type} to {made.type}")
    if w.chance(30):
        w.pick(MEMORY_STEPS)(w)
    if made in w.memrefs:
        _elementwise(w, made)
    if w.chance(40):
        _elementwise(w)
    _maybe_free(w, source, made)


def _temporary(w: Writer) -> None:
    """What is computed in an allocation and copied somewhere else, a part of a buffer perhaps."""
    target = w.some(lambda m: m.element != "i64")
    if target is None:
        return
    made = w.allocate(replace(target, layout=None, cells=None))
    if w.chance(70):
        _written(w, made)
    else:
        filled(w, made)
        _written(w, made)
    if w.chance(30):
        w.pick(MEMORY_STEPS)(w)
    if made in w.memrefs and target in w.memrefs:
        w.lines.append(f"memref.copy {made.name}, {target.name} : {made.type} to {target.type}")
    _maybe_free(w, made)
    if w.chance(50):
        _elementwise(w, target if target in w.memrefs else None)


def _maybe_free(w: Writer, *memrefs: Memref) -> None:
    for memref in memrefs:
        here = any(line.startswith(f"{memref.name} =") for line in w.lines)
        if w.frees and here and memref in w.memrefs and memref.owned is not None and w.chance(60):
            w.free(memref)


def _written(w: Writer, out: Memref) -> None:
    """An elementwise op that writes some memory."""
    source = w.some(lambda m: m.element == out.element and m.sizes == out.sizes and m.fits(out))
    if source is not None:
        _elementwise(w, source, out)


def _elementwise(w: Writer, first: Memref | None = None, out: Memref | None = None) -> None:
    first = w.some(lambda m: m.element != "i64") if first is None else first
    if first is None:
        return
    second = w.some(lambda m: m.sizes == first.sizes and m.element == first.element) or first
    out = w.wrote(first.element, first.sizes, first) if out is None else out
    if out is None or not second.fits(out):
        return
    operands = f"ins({first.name}, {second.name} : {first.type}, {second.type}) outs({out.name} : {out.type})"
    if w.chance(50):
        w.lines.append(f"linalg.add {operands}")
        return
    identity = ", ".join(f"d{i}" for i in range(len(first.sizes)))
    maps = ", ".join([f"affine_map<({identity}) -> ({identity})>"] * 3)
    kinds = ", ".join(['"parallel"'] * len(first.sizes))
    kind = "i" if first.element == "i32" else "f"
    read = "%c" if w.chance(30) else "%a"
    element = first.element
    w.lines.append(
        f"linalg.generic {{indexing_maps = [{maps}], iterator_types = [{kinds}]}} {operands} {{\n"
        f"^bb0(%a: {element}, %b: {element}, %c: {element}):\n  %s = arith.add{kind} {read}, %b : {element}\n"
        f"  linalg.yield %s : {element}\n}}"
    )


def _transposed(w: Writer) -> None:
    source = w.some(lambda m: len(m.sizes) == 2)
    if source is None:
        return
    out = w.some(
        lambda m: (
            (m.sizes, m.shown) == (source.sizes[::-1], source.shown[::-1])
            and m.element == source.element
            and not m.bases & source.bases
        )
    )
    if out is not None:
        w.lines.append(
            f"linalg.transpose ins({source.name} : {source.type}) outs({out.name} : {out.type}) permutation = [1, 0]"
        )


def _payload(w: Writer) -> None:
    """An op that reads memory which is no operand, backwards."""
    source = w.some(lambda m: len(m.sizes) == 1 and 0 not in m.sizes)
    if source is None:
        return
    out = w.wrote(source.element, source.sizes, source)
    if out is None or not source.apart(out):
        return
    last, names = w.index(source.sizes[0] - 1), [f"%p{w.number()}" for _ in range(4)]
    kind = "f" if source.element[0] == "f" else "i"
    w.lines.append(
        'linalg.generic {indexing_maps = [affine_map<(i) -> (i)>], iterator_types = ["parallel"]} '
        f"outs({out.name} : {out.type}) {{\n^bb0(%a: {out.element}):\n  {names[0]} = linalg.index 0 : index\n"
        f"  {names[1]} = arith.subi {last}, {names[0]} : index\n"
        f"  {names[2]} = memref.load {source.name}[{names[1]}] : {source.type}\n"
        f"  {names[3]} = arith.add{kind} {names[2]}, {names[2]} : {out.element}\n  linalg.yield {names[3]} : {out.element}\n}}"
    )


def _load(w: Writer) -> None:
    memref = w.some(lambda m: 0 not in m.sizes)
    if memref is not None:
        w.scalars[memref.element].append(w.line(f"memref.load {memref.name}[{_position(w, memref)}] : {memref.type}"))


def _store(w: Writer) -> None:
    memref = w.some(lambda m: 0 not in m.sizes)
    if memref is not None:
        value = w.scalar(memref.element)
        w.lines.append(f"memref.store {value}, {memref.name}[{_position(w, memref)}] : {memref.type}")


def _position(w: Writer, memref: Memref) -> str:
    found: list[str] = []
    for size in memref.sizes:
        moving = [name for name, most in w.indices if most < size]
        found.append(w.pick(moving) if moving and w.chance(50) else w.index(w.random.randrange(size)))
    return ", ".join(found)


def _freed(w: Writer) -> None:
    """Only what is directly in the region that frees it."""
    owned = w.some(lambda m: m.owned is not None and any(line.startswith(f"{m.name} =") for line in w.lines))
    if w.frees and owned is not None:
        w.free(owned)


def _call(w: Writer) -> None:
    if not w.callees:
        return
    name, parameters, result = w.pick(w.callees)
    given = [w.some(lambda m, p=p: is_whole(m) and m.type == p.type) for p in parameters]
    passed = [m for m in given if m is not None]
    if len(passed) < len(parameters):
        return
    names = ", ".join([HIDDEN_NAMES, *(m.name for m in passed)])
    types = ", ".join([HIDDEN_TYPES, *(m.type for m in passed)])
    if result is None:
        w.lines.append(f"func.call {name}({names}) : ({types}) -> ()")
        return
    number = w.number()
    made = replace(result, name=f"%m{number}", bases=frozenset({number}), owned=number)
    w.lines.append(f"{made.name} = func.call {name}({names}) : ({types}) -> {made.type}")
    w.memrefs.append(made)


MEMORY_STEPS: tuple[Callable[[Writer], None], ...] = (
    _allocated, _allocated, _fill, _copy, _copy, _copy, _copy, _elementwise, _elementwise, _elementwise, _transposed,
    _load, _store, _payload, _payload, turned, subview, subview, _shadow, _shadow, _temporary, _temporary, cast,
    reshape, reinterpreted, select, _freed, _freed, _call,
)  # fmt: skip
