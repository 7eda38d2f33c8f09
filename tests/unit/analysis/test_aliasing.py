"""What two memrefs have in common, proven and not proven."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from hotdesk.analysis.aliasing import Alias, Aliases, described
from tests.unit.parsing import function, parse

MUST, MAY, NO, DISJOINT = Alias.MUST, Alias.MAY, Alias.NO, Alias.DISJOINT


def relation(body: str, arguments: str = "", module: str = "", overlap: bool = True) -> Alias:
    """The relation of the two memrefs that the body deallocates."""
    text = f"{module}\nfunc.func @main({arguments}) {{\n{body}\n}}"
    parsed = parse(text)
    ops = [op.operation for op in function(parsed).regions[0].blocks[0].operations]
    a, b = (op for op in ops if op.name == "memref.dealloc")
    return Aliases(function(parsed), overlap).relation(a.operands[0], b.operands[0])


def uses(a: str, b: str) -> str:
    """`%a` and `%b`, of these types, are what it is about."""
    return f"memref.dealloc %a : {a}\nmemref.dealloc %b : {b}\nreturn"


def two(a: str, b: str, of: str = "memref<8xf32>", before: str = "") -> Alias:
    """Two slices of an argument, such as `[0] [3] [1]`."""
    rank = a.split("]")[0].count(",") + 1
    layout = f"strided<[{', '.join('?' * rank)}], offset: ?>"
    source = f"memref<{'x'.join('?' * rank)}xf32, {layout}>"
    lines = [before, f"%s = memref.cast %m : {of} to {source}"]
    types: list[str] = []
    for name, text in (("a", a), ("b", b)):
        sizes = text.split("[")[2].split("]")[0].split(", ")
        types.append(f"memref<{'x'.join('?' if '%' in size else size for size in sizes)}xf32, {layout}>")
        lines.append(f"%{name} = memref.subview %s{text} : {source} to {types[-1]}")
    return relation("\n".join([*lines, uses(*types)]), f"%m: {of}, %i: index, %n: index")


@pytest.mark.parametrize(
    ("a", "b", "expected"),
    [
        ("[0] [3] [1]", "[3] [3] [1]", DISJOINT),
        ("[3] [3] [1]", "[0] [3] [1]", DISJOINT),
        ("[0] [5] [1]", "[3] [5] [1]", MAY),
        ("[2] [4] [1]", "[2] [4] [1]", MUST),
        ("[2] [4] [1]", "[2] [3] [1]", MAY),
        ("[0] [4] [2]", "[1] [4] [2]", DISJOINT),
        ("[0] [4] [2]", "[2] [3] [2]", MAY),
        ("[0] [2] [4]", "[2] [2] [4]", DISJOINT),
        ("[0] [0] [1]", "[0] [8] [1]", DISJOINT),
        ("[3] [1] [1]", "[3] [1] [2]", MUST),
        ("[0] [2] [3]", "[1] [2] [1]", MAY),
        ("[%i] [3] [1]", "[%i] [3] [1]", MUST),
        ("[%i] [3] [1]", "[%j] [3] [1]", DISJOINT),
        ("[%i] [4] [1]", "[%j] [4] [1]", MAY),
        ("[0] [%n] [1]", "[%n] [%n] [1]", DISJOINT),
        ("[0] [%n] [1]", "[0] [%n] [1]", MUST),
        ("[0] [%n] [1]", "[%i] [%n] [1]", MAY),
        ("[%i] [3] [%n]", "[%i] [3] [%n]", MUST),
    ],
)
def test_s5_2_slices(a: str, b: str, expected: Alias) -> None:
    before = "%three = arith.constant 3 : index\n%j = arith.addi %i, %three : index"
    assert two(a, b, before=before) is expected


@pytest.mark.parametrize(
    ("a", "b", "expected"),
    [
        ("[0, 0] [4, 3] [1, 1]", "[0, 3] [4, 3] [1, 1]", DISJOINT),  # halves of rows: bytes interleave
        ("[0, 0] [2, 6] [1, 1]", "[2, 0] [2, 6] [1, 1]", DISJOINT),
        ("[0, 0] [3, 4] [1, 1]", "[1, 3] [3, 3] [1, 1]", MAY),
        ("[0, %i] [4, 1] [1, 1]", "[0, %i] [4, 1] [1, 1]", MUST),
    ],
)
def test_s5_2_slices_of_rows(a: str, b: str, expected: Alias) -> None:
    assert two(a, b, of="memref<4x6xf32>") is expected


def test_slices_of_an_argument_whose_rows_may_overlap() -> None:
    layout = "memref<4x6xf32, strided<[?, 1], offset: ?>>"
    assert two("[0, 0] [4, 3] [1, 1]", "[0, 3] [4, 3] [1, 1]", of=layout) is MAY
    assert two("[0, 0] [1, 3] [1, 1]", "[0, 3] [1, 3] [1, 1]", of=layout) is MAY
    padded = "memref<4x6xf32, strided<[8, 1]>>"
    assert two("[0, 0] [4, 3] [1, 1]", "[0, 3] [4, 3] [1, 1]", of=padded) is DISJOINT


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("%a = memref.alloc() : memref<4xf32>\n%b = memref.alloc() : memref<4xf32>", NO),
        ("%a = memref.alloca() : memref<4xf32>\n%b = memref.cast %x : memref<4xf32> to memref<4xf32>", NO),
        ("%a = memref.get_global @c : memref<4xf32>\n%b = memref.get_global @d : memref<4xf32>", NO),
        ("%a = memref.get_global @c : memref<4xf32>\n%b = memref.get_global @c : memref<4xf32>", MUST),
        ("%a = memref.get_global @c : memref<4xf32>\n%b = memref.cast %x : memref<4xf32> to memref<4xf32>", MAY),
        ("%a = memref.alloc() : memref<4xf32>\n%b = arith.select %p, %a, %x : memref<4xf32>", MAY),
        (
            "%a = memref.cast %x : memref<4xf32> to memref<4xf32>\n%b = memref.cast %y : memref<4xf32> to memref<4xf32>",
            MAY,
        ),
        (
            "%a = memref.cast %x : memref<4xf32> to memref<4xf32>\n%b = memref.cast %z : memref<4xf32> to memref<4xf32>",
            NO,
        ),
        ("%a = memref.get_global @c : memref<4xf32>\n%b = memref.cast %z : memref<4xf32> to memref<4xf32>", NO),
    ],
)
def test_bases(body: str, expected: Alias) -> None:
    globals_ = "".join(f'memref.global "private" @{n} : memref<4xf32> = dense<0.0>\n' for n in "cd")
    arguments = "%x: memref<4xf32>, %y: memref<4xf32>, %z: memref<4xf32> {llvm.noalias}, %p: i1"
    assert relation(f"{body}\n{uses('memref<4xf32>', 'memref<4xf32>')}", arguments, globals_) is expected


def test_arguments_that_never_overlap() -> None:
    casts = "\n".join(f"%{a} = memref.cast %{x} : memref<f32> to memref<f32>" for a, x in ("ax", "by"))
    body = f"{casts}\n{uses('memref<f32>', 'memref<f32>')}"
    arguments = "%x: memref<f32>, %y: memref<f32>"
    assert relation(body, arguments) is MAY
    assert relation(body, arguments, overlap=False) is NO


PART = "memref<4xf32, strided<[1], offset: 2>>"
MOVED = "memref<4xf32, strided<[?], offset: ?>>"
OFFSET = "memref<4xf32, strided<[1], offset: ?>>"
DYNAMIC = "memref<?xf32, strided<[?], offset: ?>>"
METADATA = f"%p, %o, %n, %t = memref.extract_strided_metadata %s : {PART} -> memref<f32>, index, index, index"
ROW = "memref<6xf32, strided<[1], offset: 6>>"
RESHAPED = {
    "expanded and merged again": (
        """
        %e = memref.expand_shape %m [[0, 1]] output_shape [2, 6] : memref<12xf32> into memref<2x6xf32>
        %a = memref.collapse_shape %e [[0, 1]] : memref<2x6xf32> into memref<12xf32>
        %b = memref.cast %m : memref<12xf32> to memref<12xf32>
        """,
        ("memref<12xf32>", "memref<12xf32>"),
        MUST,
    ),
    "second row of a reshape, first half": (
        f"""
        %e = memref.expand_shape %m [[0, 1]] output_shape [2, 6] : memref<12xf32> into memref<2x6xf32>
        %a = memref.subview %e[1, 0] [1, 6] [1, 1] : memref<2x6xf32> to {ROW}
        %b = memref.subview %m[0] [6] [1] : memref<12xf32> to memref<6xf32, strided<[1]>>
        """,
        (ROW, "memref<6xf32, strided<[1]>>"),
        DISJOINT,
    ),
    "second row of a reshape, second half": (
        f"""
        %e = memref.expand_shape %m [[0, 1]] output_shape [2, 6] : memref<12xf32> into memref<2x6xf32>
        %a = memref.subview %e[1, 0] [1, 6] [1, 1] : memref<2x6xf32> to {ROW}
        %b = memref.subview %m[6] [6] [1] : memref<12xf32> to {ROW}
        """,
        (ROW, ROW),
        MUST,
    ),
    "reinterpreted": (
        f"""
        %a = memref.reinterpret_cast %m to offset: [2], sizes: [4], strides: [1] : memref<12xf32> to {PART}
        %b = memref.subview %m[2] [4] [1] : memref<12xf32> to {PART}
        """,
        (PART, PART),
        MUST,
    ),
    "taken apart and put together again": (
        f"""
        %s = memref.subview %m[2] [4] [1] : memref<12xf32> to {PART}
        {METADATA}
        %a = memref.reinterpret_cast %p to offset: [%o], sizes: [%n], strides: [%t] : memref<f32> to {DYNAMIC}
        %b = memref.subview %m[2] [4] [1] : memref<12xf32> to {PART}
        """,
        (DYNAMIC, PART),
        MUST,
    ),
    "taken apart, and another part of it": (
        f"""
        %s = memref.subview %m[2] [4] [1] : memref<12xf32> to {PART}
        {METADATA}
        %e = arith.addi %o, %n : index
        %a = memref.reinterpret_cast %p to offset: [%e], sizes: [4], strides: [%t] : memref<f32> to {MOVED}
        %b = memref.subview %m[2] [4] [1] : memref<12xf32> to {PART}
        """,
        (MOVED, PART),
        DISJOINT,
    ),
    "taken apart, a part that meets it": (
        f"""
        %s = memref.subview %m[2] [4] [1] : memref<12xf32> to {PART}
        {METADATA}
        %e = arith.addi %o, %t : index
        %a = memref.reinterpret_cast %p to offset: [%e], sizes: [4], strides: [%t] : memref<f32> to {MOVED}
        %b = memref.subview %m[2] [4] [1] : memref<12xf32> to {PART}
        """,
        (MOVED, PART),
        MAY,
    ),
    "the pointer alone": (
        f"""
        %s = memref.subview %m[2] [4] [1] : memref<12xf32> to {PART}
        {METADATA}
        %a = memref.cast %p : memref<f32> to memref<f32>
        %b = memref.subview %m[2] [4] [1] : memref<12xf32> to {PART}
        """,
        ("memref<f32>", PART),
        MAY,
    ),
    "offset read from a moved pointer": (
        f"""
        %h = arith.constant 16 : index
        %r = memref.alloc() : memref<64xi8>
        %v = memref.view %r[%h][] : memref<64xi8> to memref<4xf32>
        %s = memref.cast %v : memref<4xf32> to memref<4xf32>
        %p, %o, %n, %t = memref.extract_strided_metadata %s : memref<4xf32> -> memref<f32>, index, index, index
        %a = memref.reinterpret_cast %p to offset: [%o], sizes: [4], strides: [1] : memref<f32> to {OFFSET}
        %z = arith.constant 0 : index
        %b = memref.view %r[%z][] : memref<64xi8> to memref<4xf32>
        """,
        (OFFSET, "memref<4xf32>"),
        MAY,
    ),
    "reshaped by a memref of sizes": (
        """
        %h = memref.alloc() : memref<2xindex>
        %a = memref.reshape %m(%h) : (memref<12xf32>, memref<2xindex>) -> memref<?x?xf32>
        %b = memref.cast %m : memref<12xf32> to memref<12xf32>
        """,
        ("memref<?x?xf32>", "memref<12xf32>"),
        MAY,
    ),
    "reshaped by a memref of sizes, of another base": (
        """
        %h = memref.alloc() : memref<2xindex>
        %c = memref.alloc() : memref<12xf32>
        %a = memref.reshape %m(%h) : (memref<12xf32>, memref<2xindex>) -> memref<?x?xf32>
        %b = memref.cast %c : memref<12xf32> to memref<12xf32>
        """,
        ("memref<?x?xf32>", "memref<12xf32>"),
        NO,
    ),
    "aligned": (
        """
        %a = memref.assume_alignment %m, 16 : memref<12xf32>
        %b = memref.cast %m : memref<12xf32> to memref<12xf32>
        """,
        ("memref<12xf32>", "memref<12xf32>"),
        MUST,
    ),
    "turned": (
        """
        %e = memref.expand_shape %m [[0, 1]] output_shape [3, 4] : memref<12xf32> into memref<3x4xf32>
        %t = memref.transpose %e (i, j) -> (j, i) : memref<3x4xf32> to memref<4x3xf32, strided<[1, 4]>>
        %a = memref.subview %t[0, 0] [2, 3] [1, 1] : memref<4x3xf32, strided<[1, 4]>> to memref<2x3xf32, strided<[1, 4]>>
        %b = memref.subview %e[0, 2] [3, 2] [1, 1] : memref<3x4xf32> to memref<3x2xf32, strided<[4, 1], offset: 2>>
        """,
        ("memref<2x3xf32, strided<[1, 4]>>", "memref<3x2xf32, strided<[4, 1], offset: 2>>"),
        DISJOINT,
    ),
    "bytes apart": (
        """
        %s = arith.constant 16 : index
        %o = arith.constant 0 : index
        %r = memref.alloc() : memref<64xi8>
        %a = memref.view %r[%o][] : memref<64xi8> to memref<4xf32>
        %b = memref.view %r[%s][] : memref<64xi8> to memref<2xf64>
        """,
        ("memref<4xf32>", "memref<2xf64>"),
        DISJOINT,
    ),
    "the same bytes of another type": (
        """
        %o = arith.constant 0 : index
        %r = memref.alloc() : memref<64xi8>
        %a = memref.view %r[%o][] : memref<64xi8> to memref<4xf32>
        %b = memref.view %r[%o][] : memref<64xi8> to memref<4xi32>
        """,
        ("memref<4xf32>", "memref<4xi32>"),
        MAY,
    ),
    "offsets of a moved pointer": (
        """
        %s = arith.constant 16 : index
        %r = memref.alloc() : memref<64xi8>
        %v = memref.view %r[%s][] : memref<64xi8> to memref<4xf32>
        %a = memref.reinterpret_cast %v to offset: [0], sizes: [4], strides: [1] : memref<4xf32> to memref<4xf32>
        %o = arith.constant 0 : index
        %b = memref.view %r[%o][] : memref<64xi8> to memref<4xf32>
        """,
        ("memref<4xf32>", "memref<4xf32>"),
        MAY,
    ),
}


@pytest.mark.parametrize("name", RESHAPED)
def test_reshapes(name: str) -> None:
    body, types, expected = RESHAPED[name]
    assert relation(f"{body}\n{uses(*types)}", "%m: memref<12xf32>") is expected


def test_an_argument_taken_apart_and_put_together_again() -> None:
    """Offset and strides are not known, and still the same."""
    body = f"""
      %p, %o, %n, %t = memref.extract_strided_metadata %m : {DYNAMIC} -> memref<f32>, index, index, index
      %a = memref.reinterpret_cast %p to offset: [%o], sizes: [%n], strides: [%t] : memref<f32> to {DYNAMIC}
      %b = memref.cast %m : {DYNAMIC} to {DYNAMIC}
      {uses(DYNAMIC, DYNAMIC)}"""
    assert relation(body, f"%m: {DYNAMIC}") is MUST


@pytest.mark.parametrize(
    ("first", "second", "expected"), [("%i", "%i", MUST), ("%i", "%j", DISJOINT), ("%i", "%n", MAY)]
)
def test_reinterpreted_at_symbolic_offsets(first: str, second: str, expected: Alias) -> None:
    cut = "memref.reinterpret_cast %m to offset: [{}], sizes: [3], strides: [1] : memref<12xf32> to {}"
    part = "memref<3xf32, strided<[1], offset: ?>>"
    body = f"""
      %three = arith.constant 3 : index
      %j = arith.addi %i, %three : index
      %a = {cut.format(first, part)}
      %b = {cut.format(second, part)}
      {uses(part, part)}"""
    assert relation(body, "%m: memref<12xf32>, %i: index, %n: index") is expected


def test_a_slice_is_named_by_what_it_cuts_out() -> None:
    text = """func.func @main(%m: memref<8xf32>, %i: index) {
      %a = memref.subview %m[%i] [3] [1] : memref<8xf32> to memref<3xf32, strided<[1], offset: ?>>
      return
    }"""
    op = next(iter(function(parse(text)).regions[0].blocks[0].operations)).operation
    assert str(described(op.results[0])) == "memref.subview [?] [3] [1] at -:2:12"
    assert str(described(op.operands[0])) == "argument 0"


def test_what_is_proven_holds_for_every_pair_of_slices() -> None:
    """All slices of slices of six elements, against the elements that they really show."""
    whole = np.arange(6)
    cuts = [(o, s, t) for t in (1, 2, 3) for o in range(4) for s in range(1, 4) if o + (s - 1) * t < 6]
    lines: list[str] = []
    shown: list[list[int]] = []
    for number, (offset, size, step) in enumerate(cuts):
        outer = whole[offset : offset + (size - 1) * step + 1 : step]
        kind = f"memref<{size}xf32, strided<[{step}], offset: {offset}>>"
        lines.append(f"%o{number} = memref.subview %m[{offset}] [{size}] [{step}] : memref<6xf32> to {kind}")
        if size < 3:
            inner = kind
            lines.append(f"memref.dealloc %o{number} : {kind}")
            shown.append(outer.tolist())
            continue
        inner = f"memref<2xf32, strided<[{step}], offset: {offset + step}>>"
        lines.append(f"%i{number} = memref.subview %o{number}[1] [2] [1] : {kind} to {inner}")
        lines.append(f"memref.dealloc %i{number} : {inner}")
        shown.append(outer[1:].tolist())
    module = parse("func.func @main(%m: memref<6xf32>) {\n" + "\n".join(lines) + "\nreturn\n}")
    aliases = Aliases(function(module))
    values = [
        o.operation.operands[0]
        for o in function(module).regions[0].blocks[0].operations
        if o.operation.name == "memref.dealloc"
    ]
    for (a, x), (b, y) in itertools.product(zip(values, shown, strict=True), repeat=2):
        found = aliases.relation(a, b)
        assert (found is MUST) == (x == y)
        assert not found.apart or not set(x) & set(y)
