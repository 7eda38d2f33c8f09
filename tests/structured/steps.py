"""Steps that are one op or a few in a row: elementwise ops, parts that are taken and put, choices, views."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from hypothesis import strategies as st

from tests.structured.building import MOST_ELEMENTS, Builder, Tensor

_INTEGERS = ("addi", "subi", "muli", "maxsi", "minsi", "xori")
_FLOATS = ("addf", "subf", "maximumf", "minimumf")


@dataclass(frozen=True)
class Part:
    """Offsets, sizes and strides as they are written, and the type of the part."""

    text: str
    type: Tensor


# Elementwise


def elementwise(b: Builder, first: Tensor | None = None, out: Tensor | None = None) -> Tensor | None:
    """One tensor, or two of the same shape, into a third, which is one of the two, another one or a new one."""
    first = b.some() if first is None else first
    if first is None:
        return None
    wanted = first
    ins = [first]
    other = b.some(lambda t: t.sizes == wanted.sizes and t.element == wanted.element)
    if other is not None and b.chance(60):
        ins.append(other)
    out = b.init(first) if out is None else out
    reads = b.chance(25)
    identity = ", ".join(f"d{i}" for i in range(first.rank))
    maps = ", ".join([f"affine_map<({identity}) -> ({identity})>"] * (len(ins) + 1))
    kinds = ", ".join(['"parallel"'] * first.rank)
    names = [b.fresh() for _ in (*ins, out)]
    with b.region() as body:
        result = names[0]
        for name in (*names[1:-1], *(names[-1:] if reads else ())):
            op = b.pick(_INTEGERS if first.element == "i32" else _FLOATS)
            result = b.line(f"arith.{op} {result}, {name} : {first.element}")
        if len(ins) == 1 and not reads:  # a body that passes on is a copy, which is counted as one
            op = "addi" if first.element == "i32" else "addf"
            result = b.line(f"arith.{op} {result}, {b.scalar(first.element)} : {first.element}")
        body.append(f"linalg.yield {result} : {first.element}")
    arguments = ", ".join(f"{name} : {first.element}" for name in names).replace(" :", ":")
    text = (
        f"linalg.generic {{indexing_maps = [{maps}], iterator_types = [{kinds}]}} "
        f"ins({', '.join(t.name for t in ins)} : {', '.join(t.type for t in ins)}) outs({out.name} : {out.type}) "
        f"{{\n^bb0({arguments}):\n{indented(body)}\n}} -> {out.type}"
    )
    return b.add(text, replace(out, defined=all(t.defined for t in ins) and (out.defined or not reads)))


def fill(b: Builder) -> None:
    tensor = b.some()
    if tensor is not None:
        b.filled(tensor, tensor if b.chance(70) else None)


def indented(lines: Sequence[str]) -> str:
    return "\n".join("  " + line.replace("\n", "\n  ") for line in lines)


# Parts


def extract_part(b: Builder) -> None:
    tensor = b.some(lambda t: t.rank > 0 and 0 not in t.sizes)
    if tensor is not None:
        take(b, tensor, part(b, tensor))


def insert_part(b: Builder) -> None:
    """Any tensor into any other that has room for it."""
    source = b.some(lambda t: t.rank > 0)
    if source is None:
        return
    wanted = source
    into = b.some(lambda t: t.element == wanted.element and _room(t.sizes, wanted.sizes))
    if into is not None:
        put(b, source, into, part(b, into, sizes=source))


def pair(b: Builder) -> None:
    """A part is taken, changed, and put back: where it was, elsewhere, or into another tensor."""
    tensor = b.some(lambda t: t.rank > 0 and 0 not in t.sizes)
    if tensor is None:
        return
    where = part(b, tensor)
    taken = take(b, tensor, where)
    if b.chance(20):
        taken = _retyped(b, taken)
    changed = elementwise(b, taken, taken if b.chance(60) else None) or taken
    if not changed.like(where.type):
        changed = b.add(
            f"tensor.cast {changed.name} : {changed.type} to {where.type.type}",
            replace(where.type, defined=changed.defined),
        )
    into = tensor
    if b.chance(20):
        into = b.same(tensor) or tensor
    if b.chance(25):
        where = part(b, into, sizes=changed)
    put(b, changed, into, where)
    if b.chance(30):
        elementwise(b, tensor)


def halves(b: Builder) -> None:
    """Two halves of a tensor, each computed from both; the second behind the first one's insertion."""
    tensor = b.some(
        lambda t: 0 not in t.sizes and any(s % 2 == 0 and shown for s, shown in zip(t.sizes, t.static, strict=True))
    )
    if tensor is None:
        return
    axis = next(i for i, s in enumerate(tensor.sizes) if s % 2 == 0 and tensor.static[i])
    half = tensor.sizes[axis] // 2
    parts = [_along(b, tensor, axis, offset, half) for offset in (0, half)]
    p, q = (take(b, tensor, each) for each in parts)
    into = tensor if b.chance(60) else b.empty(tensor)
    if b.chance(30):
        p, q = q, p
        into = put(b, p, into, parts[0])
        put(b, q, into, parts[1])
        return
    x = elementwise(b, p, p if b.chance(60) else None) or p
    into = put(b, x, into, parts[0])
    y = elementwise(b, q, q if b.chance(60) else None) or q
    put(b, y, into, parts[1])


def shifted(b: Builder) -> None:
    """A part of a tensor into the same tensor, at another place, which may meet the first."""
    tensor = b.some(lambda t: t.rank > 0 and 0 not in t.sizes)
    if tensor is not None:
        taken = take(b, tensor, part(b, tensor))
        put(b, taken, tensor, part(b, tensor, sizes=taken))


def overwritten(b: Builder) -> None:
    """A view of a tensor, then the tensor is written, then the view is read."""
    tensor = b.some(lambda t: t.rank > 0 and 0 not in t.sizes)
    if tensor is None:
        return
    view = take(b, tensor, part(b, tensor)) if b.chance(60) else _retyped(b, tensor)
    elementwise(b, b.same(tensor), tensor)
    elementwise(b, view)


def part(b: Builder, tensor: Tensor, sizes: Tensor | None = None) -> Part:
    """A part of a tensor that has elements, of the sizes of another tensor or of any. It begins inside even if it has none."""
    entries: list[tuple[str, str, int]] = []
    found: list[int] = []
    shown: list[bool] = []
    for i, whole in enumerate(tensor.sizes):
        size = b.between(0 if b.chance(10) else min(1, whole), whole) if sizes is None else sizes.sizes[i]
        static = sizes.static[i] if sizes is not None else not b.chance(15)
        stride = 2 if size and (size - 1) * 2 < whole and b.chance(15) else 1
        room = whole - ((size - 1) * stride + 1 if size else 1)
        moving = [index.name for index in b.indices if index.high <= room]
        if moving and b.chance(50):
            offset = b.pick(moving)
        else:
            number = b.between(0, room)
            offset = str(number) if b.chance(70) else b.index(number)
        entries.append((offset, str(size) if static else b.index(size), stride))
        found.append(size)
        shown.append(static)
    text = "".join("[" + ", ".join(str(entry[i]) for entry in entries) + "]" for i in range(3))
    return Part(text, Tensor("", tuple(found), tuple(shown), tensor.element, tensor.defined))


def _along(b: Builder, tensor: Tensor, axis: int, offset: int, size: int) -> Part:
    """A part that is whole but along one axis."""
    sizes = tuple(size if i == axis else s for i, s in enumerate(tensor.sizes))
    shown = [
        str(s) if static or i == axis else b.index(s)
        for i, (s, static) in enumerate(zip(sizes, tensor.static, strict=True))
    ]
    offsets = [str(offset) if i == axis else "0" for i in range(tensor.rank)]
    text = f"[{', '.join(offsets)}][{', '.join(shown)}][{', '.join(['1'] * tensor.rank)}]"
    return Part(text, replace(tensor, name="", sizes=sizes))


def take(b: Builder, tensor: Tensor, where: Part) -> Tensor:
    like = replace(where.type, defined=tensor.defined)
    return b.add(f"tensor.extract_slice {tensor.name}{where.text} : {tensor.type} to {like.type}", like)


def put(b: Builder, source: Tensor, into: Tensor, where: Part) -> Tensor:
    whole = source.sizes == into.sizes
    like = replace(into, defined=source.defined and (into.defined or whole))
    return b.add(
        f"tensor.insert_slice {source.name} into {into.name}{where.text} : {source.type} into {into.type}", like
    )


def _room(sizes: Sequence[int], part: Sequence[int]) -> bool:
    return 0 not in sizes and len(sizes) == len(part) and all(p <= s for p, s in zip(part, sizes, strict=True))


# Elements


def extract(b: Builder) -> None:
    tensor = b.some(lambda t: t.defined and 0 not in t.sizes and t.element == "i32")
    if tensor is not None:
        b.scalars.append(b.line(f"tensor.extract {tensor.name}[{_position(b, tensor)}] : {tensor.type}"))


def insert(b: Builder) -> None:
    tensor = b.some(lambda t: 0 not in t.sizes)
    if tensor is not None:
        scalar = b.scalar(tensor.element)
        b.add(f"tensor.insert {scalar} into {tensor.name}[{_position(b, tensor)}] : {tensor.type}", tensor)


def _position(b: Builder, tensor: Tensor) -> str:
    places: list[str] = []
    for size in tensor.sizes:
        moving = [index.name for index in b.indices if index.high < size]
        places.append(b.pick(moving) if moving and b.chance(60) else b.index(b.between(0, size - 1)))
    return ", ".join(places)


# The same contents


def retype(b: Builder) -> None:
    tensor = b.some()
    if tensor is not None:
        _retyped(b, tensor)


def _retyped(b: Builder, tensor: Tensor) -> Tensor:
    static = tuple(b.chance(50) for _ in tensor.sizes)
    result = replace(tensor, static=static)
    if static == tensor.static:
        return tensor
    return b.add(f"tensor.cast {tensor.name} : {tensor.type} to {result.type}", result)


def reshape(b: Builder) -> None:
    tensor = b.some(lambda t: t.rank > 0 and all(t.static))
    if tensor is None:
        return
    if tensor.rank > 1 and b.chance(50):
        result = replace(tensor, sizes=(math.prod(tensor.sizes),), static=(True,))
        groups = [list(range(tensor.rank))]
        b.add(f"tensor.collapse_shape {tensor.name} {groups} : {tensor.type} into {result.type}", result)
        return
    if tensor.rank == 3:
        return
    factor = 2 if tensor.sizes[0] % 2 == 0 and tensor.sizes[0] else 1
    sizes = (factor, tensor.sizes[0] // factor, *tensor.sizes[1:])
    result = replace(tensor, sizes=sizes, static=(True,) * len(sizes))
    groups = [[0, 1], *([i] for i in range(2, len(sizes)))]
    text = f"tensor.expand_shape {tensor.name} {groups} output_shape {list(sizes)} : {tensor.type} into {result.type}"
    b.add(text, result)


def select(b: Builder) -> None:
    first = b.some()
    second = None if first is None else b.same(first)
    if first is not None and second is not None:
        like = replace(first, defined=first.defined and second.defined)
        b.add(f"arith.select {b.condition()}, {first.name}, {second.name} : {first.type}", like)


def copied(b: Builder) -> None:
    tensor = b.some()
    if tensor is None:
        return
    if b.chance(50):
        b.add(f"bufferization.alloc_tensor() copy({tensor.name}) : {tensor.type}", tensor)
        return
    into = b.empty(tensor)
    types = f"({tensor.type}, {into.type}) -> {into.type}"
    text = f"bufferization.materialize_in_destination {tensor.name} in {into.name} : {types}"
    b.add(text, replace(into, defined=tensor.defined))


# Other ops


def transpose(b: Builder) -> None:
    tensor = b.some(lambda t: t.rank > 1)
    if tensor is None:
        return
    order: list[int] = b.draw(st.permutations(range(tensor.rank)))
    wanted = replace(tensor, sizes=tuple(tensor.sizes[i] for i in order), static=tuple(tensor.static[i] for i in order))
    out = b.init(wanted)
    if out == tensor:
        out = b.empty(wanted)
    text = (
        f"linalg.transpose ins({tensor.name} : {tensor.type}) outs({out.name} : {out.type}) permutation = {list(order)}"
    )
    b.add(text, replace(out, defined=tensor.defined))


def made(b: Builder) -> None:
    """A tensor of nothing: a constant, a fill, or element by element."""
    like = b.described(b.shape(), b.element())
    if b.chance(50):
        b.fresh_tensor(like)
        return
    sizes = ", ".join(b.index(s) for s, shown in zip(like.sizes, like.static, strict=True) if not shown)
    places = [b.fresh() for _ in like.sizes]
    tensor = b.some(lambda t: t.sizes == like.sizes and t.element == like.element)
    if tensor is None or not places:
        b.add(f"tensor.splat {b.scalar(like.element)}{f'[{sizes}]' if sizes else ''} : {like.type}", like)
        return
    with b.region() as body:
        body.append(f"%x{places[0][1:]} = tensor.extract {tensor.name}[{', '.join(places)}] : {tensor.type}")
        body.append(f"tensor.yield %x{places[0][1:]} : {like.element}")
    arguments = ", ".join(f"{place}: index" for place in places)
    text = f"tensor.generate {sizes} {{\n^bb0({arguments}):\n{indented(body)}\n}} : {like.type}"
    b.add(text, replace(like, defined=tensor.defined))


def transfer(b: Builder) -> None:
    """A vector is read, and written into a tensor of the same rank."""
    source = b.some(lambda t: 0 < t.rank < 3 and 0 not in t.sizes and math.prod(t.sizes) <= MOST_ELEMENTS)
    if source is None:
        return
    wanted = source
    into = b.some(lambda t: t.element == wanted.element and t.rank == wanted.rank)
    if into is None:
        return
    size = 2
    vector = f"vector<{size}x{source.element}>"
    start = ", ".join(b.index(b.between(0, s - 1)) for s in source.sizes)
    zero = b.scalar(source.element)
    value = b.line(f"vector.transfer_read {source.name}[{start}], {zero} : {source.type}, {vector}")
    if 0 in into.sizes:
        return
    start = ", ".join(b.index(b.between(0, s - 1)) for s in into.sizes)
    text = f"vector.transfer_write {value}, {into.name}[{start}] : {vector}, {into.type}"
    b.add(text, replace(into, defined=into.defined and source.defined))


STEPS: tuple[Callable[[Builder], object], ...] = (
    elementwise, elementwise, elementwise, fill, extract_part, insert_part, pair, pair, halves, shifted, overwritten,
    overwritten, extract, insert, insert, retype, reshape, select, copied, transpose, made, transfer,
)  # fmt: skip
