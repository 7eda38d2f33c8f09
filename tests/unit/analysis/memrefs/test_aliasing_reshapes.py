"""What reshapes, casts, transpositions, and memrefs taken apart and put together again have in common."""

from __future__ import annotations

import pytest

from hotdesk.analysis.memrefs.aliasing import Alias
from tests.unit.analysis.aliases import DISJOINT, MAY, MUST, NO, relation, uses

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
    "rows of what was reshaped by a memref of sizes": (
        f"""
        %h = memref.alloc() : memref<2xindex>
        %e = memref.reshape %m(%h) : (memref<12xf32>, memref<2xindex>) -> memref<2x6xf32>
        %a = memref.subview %e[1, 0] [1, 6] [1, 1] : memref<2x6xf32> to {ROW}
        %b = memref.subview %e[0, 0] [1, 6] [1, 1] : memref<2x6xf32> to memref<6xf32, strided<[1]>>
        """,
        (ROW, "memref<6xf32, strided<[1]>>"),
        DISJOINT,
    ),
    "row of what was reshaped by a memref of sizes, and the same elsewhere": (
        f"""
        %h = memref.alloc() : memref<2xindex>
        %e = memref.reshape %m(%h) : (memref<12xf32>, memref<2xindex>) -> memref<2x6xf32>
        %a = memref.subview %e[1, 0] [1, 6] [1, 1] : memref<2x6xf32> to {ROW}
        %b = memref.subview %m[6] [6] [1] : memref<12xf32> to {ROW}
        """,
        (ROW, ROW),
        MUST,
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
    "in another memory space, and back": (
        """
        %s = memref.memory_space_cast %m : memref<12xf32> to memref<12xf32, 1>
        %a = memref.memory_space_cast %s : memref<12xf32, 1> to memref<12xf32>
        %b = memref.cast %m : memref<12xf32> to memref<12xf32>
        """,
        ("memref<12xf32>", "memref<12xf32>"),
        MUST,
    ),
    "said to be distinct, each its own operand": (
        """
        %c = memref.alloc() : memref<12xf32>
        %u, %v = memref.distinct_objects %m, %c : memref<12xf32>, memref<12xf32>
        %a = memref.cast %v : memref<12xf32> to memref<12xf32>
        %b = memref.cast %m : memref<12xf32> to memref<12xf32>
        """,
        ("memref<12xf32>", "memref<12xf32>"),
        NO,
    ),
    "cast to more and less of the type": (
        """
        %s = memref.cast %m : memref<12xf32> to memref<?xf32>
        %a = memref.cast %s : memref<?xf32> to memref<12xf32>
        %b = memref.cast %m : memref<12xf32> to memref<?xf32>
        """,
        ("memref<12xf32>", "memref<?xf32>"),
        MUST,
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
