"""Bases, aliases and live ranges of functions on memrefs."""

from __future__ import annotations

import pytest
import sympy

from hotdesk.analysis.memrefs.buffers import BufferUse, find_buffers
from hotdesk.errors import BufferizationError
from hotdesk.ir.walking import top_level_ops
from tests.unit.parsing import function, parse


def buffers(text: str) -> list[BufferUse]:
    return list(find_buffers(function(parse(text))))


def test_arguments_come_first_then_allocations_and_globals() -> None:
    found = buffers("""
      memref.global "private" constant @c : memref<2xf32> = dense<1.0>
      func.func @f(%x: memref<4xf32>, %n: index, %out: memref<8xi1>) {
        %a = memref.alloc() : memref<4xf64>
        %c = memref.get_global @c : memref<2xf32>
        return
      }""")
    assert [(b.kind, b.bytes) for b in found] == [("argument", 16), ("argument", 8), ("alloc", 32), ("global", 8)]


def test_a_live_range_goes_from_the_first_touch_to_just_after_the_last() -> None:
    found = buffers("""
      func.func @f(%x: memref<4xf32>, %out: memref<4xf32>) {
        %a = memref.alloc() : memref<4xf32>
        %b = memref.alloc() : memref<4xf32>
        linalg.map { math.exp } ins(%x : memref<4xf32>) outs(%b : memref<4xf32>)
        linalg.map { math.exp } ins(%b : memref<4xf32>) outs(%b : memref<4xf32>)
        linalg.map { math.exp } ins(%b : memref<4xf32>) outs(%out : memref<4xf32>)
        memref.dealloc %b : memref<4xf32>
        return
      }""")
    assert [(b.lower, b.upper, b.users) for b in found] == [(2, 3, (2,)), (4, 5, (4,)), (0, 0, ()), (2, 5, (2, 3, 4))]


VIEWS = """
  func.func @f(%n: index, %out: memref<?xf32>) {
    %a = memref.alloc(%n) : memref<?x4xf32>
    %v = memref.subview %a[0, 0] [%n, 2] [1, 1] : memref<?x4xf32> to memref<?x2xf32, strided<[4, 1]>>
    %w = memref.expand_shape %v [[0], [1, 2]] output_shape [%n, 1, 2]
      : memref<?x2xf32, strided<[4, 1]>> into memref<?x1x2xf32, strided<[4, 2, 1]>>
    %c = memref.collapse_shape %a [[0, 1]] : memref<?x4xf32> into memref<?xf32>
    %d = memref.cast %c : memref<?xf32> to memref<8xf32>
    %r = memref.reinterpret_cast %d to offset: [0], sizes: [8], strides: [1] : memref<8xf32> to memref<8xf32>
    linalg.map { math.exp } ins(%w : memref<?x1x2xf32, strided<[4, 2, 1]>>) outs(%w : memref<?x1x2xf32, strided<[4, 2, 1]>>)
    linalg.map { math.exp } ins(%r : memref<8xf32>) outs(%r : memref<8xf32>)
    return
  }"""


def test_touching_a_view_touches_its_base() -> None:
    module = parse(VIEWS)
    found = find_buffers(function(module))
    assert [b.users for b in found] == [(), (6, 7)]
    assert found[1].base == top_level_ops(function(module))[0].results[0]


def test_sizes_may_be_expressions() -> None:
    found = buffers("""
      func.func @f(%x: memref<?xf32> {hotdesk.shape = ["n"]}) {
        %i = arith.constant 0 : index
        %n = memref.dim %x, %i : memref<?xf32>
        %a = memref.alloc(%n) : memref<?x3xi64>
        return
      }""")
    n = sympy.Symbol("n")
    assert [b.bytes for b in found] == [4 * n, 24 * n]


def test_asking_for_a_size_touches_nothing() -> None:
    (only,) = buffers("""
      func.func @f(%n: index) {
        %i = arith.constant 0 : index
        %a = memref.alloc(%n) : memref<?xf32>
        %d = memref.dim %a, %i : memref<?xf32>
        return
      }""")
    assert (only.lower, only.upper, only.users) == (0, 0, ())


def test_regions_touch_what_they_capture() -> None:
    found = buffers("""
      func.func @f(%at: memref<4xindex>, %table: memref<16xf32>, %out: memref<4xf32>) {
        linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
            ins(%at : memref<4xindex>) outs(%out : memref<4xf32>) {
        ^bb0(%i: index, %o: f32):
          %t = memref.load %table[%i] : memref<16xf32>
          linalg.yield %t : f32
        }
        return
      }""")
    assert [b.users for b in found] == [(0,), (0,), (0,)]


def test_using_a_scalar_touches_what_it_is_computed_from() -> None:
    found = buffers("""
      func.func @f(%x: memref<4xf32>, %y: memref<4xf32>, %out: memref<4xf32>) {
        %i = arith.constant 0 : index
        %a = memref.load %x[%i] : memref<4xf32>
        %b = memref.load %y[%i] : memref<4xf32>
        %s = arith.addf %a, %b : f32
        linalg.map { math.exp } ins(%x : memref<4xf32>) outs(%x : memref<4xf32>)
        linalg.fill ins(%s : f32) outs(%out : memref<4xf32>)
        return
      }""")
    assert [b.upper for b in found] == [6, 6, 6]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("func.func @f() {\n cf.br ^a\n^a:\n return\n}", "expected a function of one block, got 2 blocks"),
        (
            (
                "func.func @f(%c: i1, %x: memref<4xf32>, %y: memref<4xf32>) {\n"
                " %s = arith.select %c, %x, %y : memref<4xf32>\n return\n}"
            ),
            r"a memref made by `arith.select` \(-:2:7\)",
        ),
    ],
)
def test_what_is_not_covered_is_refused(text: str, message: str) -> None:
    with pytest.raises(BufferizationError, match=message):
        buffers(text)
