"""Steps that are one op each which bufferization says as others: padding, concatenation, gathers, scatters, arithmetic."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace

from hypothesis import strategies as st

from tests.structured.building import MOST_ELEMENTS, Builder, Tensor


def arithmetic(b: Builder) -> None:
    """Elementwise on whole tensors; a comparison and a choice now and then."""
    first = b.some()
    second = None if first is None else b.same(first)
    if first is None or second is None:
        return
    like = replace(first, defined=first.defined and second.defined)
    ending = "i" if first.element == "i32" else "f"
    if b.chance(70):
        b.add(f"arith.{b.pick(('add', 'sub', 'mul'))}{ending} {first.name}, {second.name} : {first.type}", like)
        return
    kind = "slt" if ending == "i" else "olt"
    truth = b.line(f"arith.cmp{ending} {kind}, {first.name}, {second.name} : {first.type}")
    mask = replace(first, element="i1").type
    b.add(f"arith.select {truth}, {second.name}, {first.name} : {mask}, {first.type}", like)


def pad(b: Builder) -> None:
    """With one value, which a tensor may hold, or with one that depends on the position."""
    tensor = b.some(lambda t: t.rank > 0 and math.prod(s + 2 for s in t.sizes) <= 2 * MOST_ELEMENTS)
    if tensor is None:
        return
    amounts = [(b.between(0, 1), b.between(0, 2)) for _ in tensor.sizes]
    amounts = [(low, min(high, 2 - low)) for low, high in amounts]
    hidden = [b.chance(25) for _ in tensor.sizes]
    low = ", ".join(b.index(a) if h else str(a) for (a, _), h in zip(amounts, hidden, strict=True))
    high = ", ".join(str(c) for _, c in amounts)
    sizes = tuple(a + s + c for (a, c), s in zip(amounts, tensor.sizes, strict=True))
    static = tuple(shown and not h for shown, h in zip(tensor.static, hidden, strict=True))
    result = replace(tensor, sizes=sizes, static=static)
    places = [b.fresh() for _ in sizes]
    scalar = b.scalar(tensor.element)
    with b.region() as body:
        if tensor.element == "i32" and b.chance(40):
            number = b.line(f"arith.index_cast {places[0]} : index to i32")
            scalar = b.line(f"arith.addi {number}, {scalar} : i32")
        body.append(f"tensor.yield {scalar} : {tensor.element}")
    arguments = ", ".join(f"{place}: index" for place in places)
    text = f"tensor.pad {tensor.name} low[{low}] high[{high}] {{\n^bb0({arguments}):\n  " + "\n  ".join(body)
    b.add(f"{text}\n}} : {tensor.type} to {result.type}", result)


def concat(b: Builder) -> None:
    """A tensor and one or two of its shape, one of them perhaps twice."""
    first = b.some(lambda t: t.rank > 0 and math.prod(t.sizes) * 3 <= 2 * MOST_ELEMENTS)
    if first is None:
        return
    parts = [first, *(b.same(first) or first for _ in range(b.between(1, 2)))]
    axis = b.between(0, first.rank - 1)
    sizes = tuple(s * len(parts) if i == axis else s for i, s in enumerate(first.sizes))
    result = replace(first, sizes=sizes, defined=all(p.defined for p in parts))
    names, types = ", ".join(p.name for p in parts), ", ".join(p.type for p in parts)
    b.add(f"tensor.concat dim({axis}) {names} : ({types}) -> {result.type}", result)


def _windows(b: Builder) -> tuple[Tensor, str, str, int] | None:
    """A tensor, different places along its first dimension as a constant, the type of that, and how many there are."""
    tensor = b.some(lambda t: t.rank > 0 and 0 not in t.sizes and all(t.static))
    if tensor is None:
        return None
    count = b.between(1, min(3, tensor.sizes[0]))
    order: list[int] = b.draw(st.permutations(range(tensor.sizes[0])))
    kind = f"tensor<{count}x1x{b.pick(('index', 'i32'))}>"
    places = ", ".join(f"[{i}]" for i in order[:count])
    return tensor, b.line(f"arith.constant dense<[{places}]> : {kind}"), kind, count


def gather(b: Builder) -> None:
    found = _windows(b)
    if found is None:
        return
    tensor, indices, kind, count = found
    kept = (1, *tensor.sizes[1:]) if b.chance(50) else tensor.sizes[1:]
    result = replace(tensor, sizes=(count, *kept), static=(True,) * (1 + len(kept)))
    signature = f"({tensor.type}, {kind}) -> {result.type}"
    b.add(f"tensor.gather {tensor.name}[{indices}] gather_dims([0]) unique : {signature}", result)


def scatter(b: Builder) -> None:
    """Parts of another tensor, or of the same one, to different places."""
    found = _windows(b)
    if found is None:
        return
    into, indices, kind, count = found
    wanted = (count, *into.sizes[1:])
    source = b.some(lambda t: t.sizes == wanted and t.element == into.element and all(t.static))
    if source is None:
        offsets, strides = ", ".join(["0"] * into.rank), ", ".join(["1"] * into.rank)
        source = replace(into, sizes=wanted)
        part = f"{into.name}[{offsets}]{list(wanted)}[{strides}] : {into.type} to {source.type}"
        source = b.add(f"tensor.extract_slice {part}", source)
    result = replace(into, defined=into.defined and source.defined)
    signature = f"({source.type}, {into.type}, {kind}) -> {into.type}"
    b.add(f"tensor.scatter {source.name} into {into.name}[{indices}] scatter_dims([0]) unique : {signature}", result)


def reshape_by_tensor(b: Builder) -> None:
    """To a shape in a tensor: of `index` where sizes are read from it, since MLIR lowers no other to LLVM."""
    tensor = b.some(lambda t: t.rank > 0)
    if tensor is None:
        return
    sizes = tuple(reversed(tensor.sizes)) if b.chance(50) else (math.prod(tensor.sizes),)
    result = replace(tensor, sizes=sizes, static=tuple(not b.chance(30) for _ in sizes))
    element = b.pick(("index", "i32")) if all(result.static) else "index"
    kind = f"tensor<{len(sizes)}x{element}>"
    shape = b.line(f"arith.constant dense<{list(sizes)}> : {kind}")
    b.add(f"tensor.reshape {tensor.name}({shape}) : ({tensor.type}, {kind}) -> {result.type}", result)


def reduce(b: Builder) -> None:
    """Sums along the last dimension, onto what another tensor holds."""
    tensor = b.some(lambda t: t.rank > 0 and t.element == "i32")
    if tensor is None:
        return
    out = b.init(replace(tensor, sizes=tensor.sizes[:-1], static=tensor.static[:-1]))
    text = f"linalg.reduce {{ arith.addi }} ins({tensor.name} : {tensor.type}) outs({out.name} : {out.type})"
    result = replace(out, defined=out.defined and tensor.defined)
    b.add(f"{text} dimensions = [{tensor.rank - 1}]", result)


def product(b: Builder) -> None:
    """A square matrix times itself or another one, onto a third, which may be one of both."""
    left = b.some(lambda t: t.rank == 2 and t.sizes[0] == t.sizes[1])
    right = None if left is None else b.same(left)
    if left is None or right is None:
        return
    out = b.init(left)
    ins = f"ins({left.name}, {right.name} : {left.type}, {right.type})"
    result = replace(out, defined=left.defined and right.defined and out.defined)
    b.add(f"linalg.matmul {ins} outs({out.name} : {out.type}) -> {out.type}", result)


def memory(b: Builder) -> None:
    """A memref of a tensor is written and read; the tensor stays as it is."""
    tensor = b.some(lambda t: t.defined and 0 not in t.sizes and t.element == "i32")
    if tensor is None:
        return
    places = ", ".join(b.index(b.between(0, s - 1)) for s in tensor.sizes)
    kind = tensor.type.replace("tensor", "memref")
    written = b.chance(70)
    memref = b.line(f"bufferization.to_buffer {tensor.name}{'' if written else ' read_only'} : {tensor.type} to {kind}")
    if written:
        b.lines.append(f"memref.store {b.scalar('i32')}, {memref}[{places}] : {kind}")
    b.scalars.append(b.line(f"memref.load {memref}[{places}] : {kind}"))


TENSORS: tuple[Callable[[Builder], object], ...] = (
    arithmetic, arithmetic, pad, concat, gather, scatter, reshape_by_tensor, reduce, product, memory,
)  # fmt: skip
