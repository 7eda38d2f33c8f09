"""Bases, aliases and live ranges of functions on memrefs."""

from __future__ import annotations

import pytest
import sympy

from hotdesk.analysis.memrefs.buffers import BufferUse, find_buffers
from hotdesk.errors import BufferizationError
from hotdesk.ir.walking import top_level_ops
from hotdesk.passes.bufferize.one_shot import OneShotBufferize
from hotdesk.passes.buffers.deallocate import DeallocateAfterLastUse
from tests.unit.parsing import function, parse, run


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


LATE = """
  func.func @f(%x: memref<4xf32>, %out: memref<4xf32>) {
    %a = memref.alloc() : memref<4xf32>
    %b = memref.alloc() : memref<4xf32>
    linalg.map { math.exp } ins(%x : memref<4xf32>) outs(%b : memref<4xf32>)
    linalg.map { math.exp } ins(%b : memref<4xf32>) outs(%b : memref<4xf32>)
    linalg.map { math.exp } ins(%x : memref<4xf32>) outs(%out : memref<4xf32>)
    linalg.map { math.exp } ins(%x : memref<4xf32>) outs(%out : memref<4xf32>)
    memref.dealloc %b : memref<4xf32>
    return
  }"""


def test_a_live_range_goes_from_the_first_touch_to_the_deallocation() -> None:
    found = buffers(LATE)
    assert [(b.lower, b.upper, b.users) for b in found[2:]] == [(0, 0, ()), (2, 6, (2, 3))]


def test_without_deallocation_it_goes_to_just_after_the_last_touch() -> None:
    found = find_buffers(function(parse(LATE)), deallocated=False)
    assert [(b.lower, b.upper, b.users) for b in found] == [
        (2, 6, (2, 4, 5)),
        (4, 6, (4, 5)),
        (0, 0, ()),
        (2, 4, (2, 3)),
    ]


FREED = """
  func.func @main(%x: tensor<4x4xf32>, %i: index) -> (tensor<4x4xf32>, tensor<f32>) {
    %e = tensor.empty() : tensor<4x4xf32>
    %a = linalg.exp ins(%x : tensor<4x4xf32>) outs(%e : tensor<4x4xf32>) -> tensor<4x4xf32>
    %b = linalg.tanh ins(%a : tensor<4x4xf32>) outs(%e : tensor<4x4xf32>) -> tensor<4x4xf32>
    %s = tensor.extract_slice %b[0, 0] [2, 4] [1, 1] : tensor<4x4xf32> to tensor<2x4xf32>
    %h = tensor.empty() : tensor<2x4xf32>
    %c = linalg.abs ins(%s : tensor<2x4xf32>) outs(%h : tensor<2x4xf32>) -> tensor<2x4xf32>
    %p = tensor.insert_slice %c into %a[2, 0] [2, 4] [1, 1] : tensor<2x4xf32> into tensor<4x4xf32>
    %z = tensor.extract %b[%i, %i] : tensor<4x4xf32>
    %r = linalg.add ins(%p, %a : tensor<4x4xf32>, tensor<4x4xf32>) outs(%e : tensor<4x4xf32>) -> tensor<4x4xf32>
    %o = tensor.empty() : tensor<f32>
    %q = linalg.fill ins(%z : f32) outs(%o : tensor<f32>) -> tensor<f32>
    return %r, %q : tensor<4x4xf32>, tensor<f32>
  }"""


@pytest.mark.parametrize("placement", ["last-use", "end-of-block"])
def test_live_ranges_end_where_deallocation_frees(placement: str) -> None:
    module = parse(FREED)
    run(module, OneShotBufferize(reload_scalars=True), DeallocateAfterLastUse(reload_scalars=True, placement=placement))
    ops = top_level_ops(function(module))
    freed = {op.operands[0]: number for number, op in enumerate(ops) if op.name == "memref.dealloc"}
    ranges = {b.base: b.upper for b in find_buffers(function(module)) if b.kind == "alloc"}
    assert len(ranges) >= 3
    assert freed.keys() == ranges.keys()
    for base, upper in ranges.items():
        assert {op.name for op in ops[upper : freed[base] + 1]} == {"memref.dealloc"}
        assert ops[upper - 1].name != "memref.dealloc"


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


def test_what_makes_a_memref_of_its_own_is_refused() -> None:
    with pytest.raises(BufferizationError, match=r"a memref made by `builtin.unrealized_conversion_cast` \(-:2:7\)"):
        buffers(
            "func.func @f(%n: i64) {\n %s = builtin.unrealized_conversion_cast %n : i64 to memref<4xf32>\n return\n}"
        )


def test_a_loop_is_in_use_of_what_it_uses() -> None:
    found = buffers("""
      func.func @f(%n: index) {
        %c0 = arith.constant 0 : index
        %c1 = arith.constant 1 : index
        %a = memref.alloc() : memref<4xf32>
        %b = memref.alloc() : memref<4xf32>
        linalg.map { math.exp } ins(%b : memref<4xf32>) outs(%b : memref<4xf32>)
        scf.for %i = %c0 to %n step %c1 {
          %c = memref.alloc() : memref<4xf32>
          linalg.map { math.exp } ins(%b : memref<4xf32>) outs(%c : memref<4xf32>)
          memref.dealloc %c : memref<4xf32>
          linalg.map { math.exp } ins(%a : memref<4xf32>) outs(%a : memref<4xf32>)
        }
        memref.dealloc %a : memref<4xf32>
        memref.dealloc %b : memref<4xf32>
        return
      }""")
    assert [(b.kind, b.lower, b.upper) for b in found] == [("alloc", 5, 11), ("alloc", 4, 11), ("alloc", 7, 8)]


@pytest.mark.parametrize(
    ("last", "ranges"),
    [
        ("memref.copy %m, %r", [(2, 6), (2, 7), (6, 7), (0, 0)]),
        ("cf.br ^end\n^end:\n memref.copy %m, %r", [(2, 6), (0, 9), (0, 9), (0, 0)]),
        ("cf.br ^end\n^end:\n memref.copy %o, %r", [(2, 6), (2, 6), (0, 9), (0, 9)]),
        (
            "%p = memref.extract_aligned_pointer_as_index %a : memref<4xf32> -> index\n memref.copy %m, %r",
            [(0, 9), (2, 8), (7, 8), (0, 0)],
        ),
        ("%u = func.call @give() : () -> memref<64xf32>\n memref.copy %u, %r", [(0, 9)] * 4),
    ],
    ids=["one block", "another block", "with others", "by a pointer", "any memory"],
)
def test_with_control_flow_an_argument_is_in_use_from_what_touches_it_first_to_what_does_last(
    last: str, ranges: list[tuple[int, int]]
) -> None:
    found = buffers(f"""
      func.func private @give() -> memref<64xf32>
      func.func @f(%n: index, %a: memref<4xf32>, %m: memref<64xf32>, %r: memref<64xf32>, %o: memref<64xf32>) {{
        %c0 = arith.constant 0 : index
        %c1 = arith.constant 1 : index
        scf.for %i = %c0 to %n step %c1 {{
          %v = memref.subview %m[%i] [4] [1] : memref<64xf32> to memref<4xf32, strided<[1], offset: ?>>
          linalg.map {{ math.exp }} ins(%a : memref<4xf32>) outs(%v : memref<4xf32, strided<[1], offset: ?>>)
        }}
        {last} : memref<64xf32> to memref<64xf32>
        return
      }}""")
    assert [(b.lower, b.upper) for b in found] == ranges


CARRIED = """
  func.func @f(%n: index, %c: i1, %x: memref<4xf32>, %y: memref<4xf32>, %z: memref<4xf32>, %r: memref<4xf32>) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    linalg.exp ins(%z : memref<4xf32>) outs(%r : memref<4xf32>)
    %l:2 = scf.for %i = %c0 to %n step %c1 iter_args(%p = %x, %q = %y) -> (memref<4xf32>, memref<4xf32>) {
      linalg.exp ins(%p : memref<4xf32>) outs(%q : memref<4xf32>)
      scf.yield %q, %p : memref<4xf32>, memref<4xf32>
    }
    linalg.exp ins(%r : memref<4xf32>) outs(%r : memref<4xf32>)
    %v = memref.load %l#0[%c0] : memref<4xf32>
    linalg.exp ins(%r : memref<4xf32>) outs(%r : memref<4xf32>)
    linalg.fill ins(%v : f32) outs(%r : memref<4xf32>)
    linalg.exp ins(%r : memref<4xf32>) outs(%r : memref<4xf32>)
    return
  }"""


def test_an_argument_is_in_use_by_every_name_that_control_gives_it() -> None:
    x, y, z, r = buffers(CARRIED)
    assert (z.lower, z.upper) == (2, 3)
    assert (x.lower, x.upper) == (y.lower, y.upper) == (3, 10)  # a loop swaps them, and a kernel loads the scalar again
    assert (r.lower, r.upper) == (2, 11)


FREED_LATE = """
  func.func @f(%n: index, %x: memref<4xf32>, %r: memref<4xf32>) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %a = memref.alloc() : memref<4xf32>
    %b = memref.alloc() : memref<4xf32>
    scf.for %i = %c0 to %n step %c1 {
      linalg.exp ins(%x : memref<4xf32>) outs(%a : memref<4xf32>)
    }
    linalg.exp ins(%a : memref<4xf32>) outs(%b : memref<4xf32>)
    linalg.exp ins(%b : memref<4xf32>) outs(%r : memref<4xf32>)
    memref.dealloc %a : memref<4xf32>
    memref.dealloc %b : memref<4xf32>
    return
  }"""


def test_what_a_user_frees_late_ends_with_its_last_touch() -> None:
    late = function(parse(FREED_LATE))
    assert [(b.kind, b.lower, b.upper) for b in find_buffers(late, deallocated=False)[2:]] == [
        ("alloc", 4, 8),
        ("alloc", 7, 9),
    ]
    assert [(b.lower, b.upper) for b in find_buffers(late)[2:]] == [(4, 9), (7, 9)]


def test_the_ways_of_a_branch_have_numbers_of_their_own() -> None:
    way = """%x = memref.alloc() : memref<4xf32>
          linalg.map { math.exp } ins(%x : memref<4xf32>) outs(%x : memref<4xf32>)
          memref.dealloc %x : memref<4xf32>"""
    found = buffers(f"func.func @f(%c: i1) {{ scf.if %c {{ {way} }} else {{ {way} }} return }}")
    assert [(b.lower, b.upper) for b in found] == [(2, 3), (6, 7)]


@pytest.mark.parametrize(
    "freed",
    ["", "scf.if %c { memref.dealloc %a : memref<4xf32> }", "cf.br ^end\n^end:\n memref.dealloc %a : memref<4xf32>"],
    ids=["by nobody", "under a condition", "in another block"],
)
def test_what_is_not_freed_in_its_block_comes_from_the_heap(freed: str) -> None:
    text = f"""func.func @f(%c: i1, %i: index) {{
      %a = memref.alloc() : memref<4xf32>
      %z = arith.constant 0.0 : f32
      memref.store %z, %a[%i] : memref<4xf32>
      {freed}
      return
    }}"""
    assert [(b.kind, b.bytes) for b in buffers(text)] == [("heap", 0)]
