"""Loops cut into ranges for threads: which may be, which are worth it, and that every range computes its own."""

from __future__ import annotations

import re
from collections.abc import Iterator

import numpy as np
import pytest

import hotdesk
from tests.unit.passes.lower.structured.loop_kernels import kernel

N, M = 512, 2048
KIND = f"memref<{N}x{M}xf32>"
ID, TURNED = "affine_map<(i, j) -> (i, j)>", "affine_map<(i, j) -> (j, i)>"
ADD = "%t = arith.addf %a, %o : f32"


@pytest.fixture(autouse=True)
def two_threads() -> Iterator[None]:
    before = hotdesk.get_num_threads()
    hotdesk.set_num_threads(2)
    yield
    hotdesk.set_num_threads(before)


def generic(read: str, written: str, body: str = ADD, iterators: str = '"parallel", "parallel"') -> str:
    """An op on two memrefs, each as `%name : type by map`."""
    (a, a_kind, a_map), (o, o_kind, o_map) = (re.split(" : | by ", one) for one in (read, written))
    return f"""linalg.generic {{indexing_maps = [{a_map}, {o_map}], iterator_types = [{iterators}]}}
      ins({a} : {a_kind}) outs({o} : {o_kind}) {{
    ^bb0(%a: f32, %o: f32):
      {body}
      linalg.yield %t : f32
    }}"""


def test_the_outermost_loop_that_is_long_enough_is_cut() -> None:
    made, text = kernel(f"%x: {KIND}, %y: {KIND}", generic(f"%x : {KIND} by {ID}", f"%y : {KIND} by {ID}"))
    assert made.head.count("@KERNEL_share") == 2
    assert f"strided<[{M}, 1], offset: ?>" in text
    short = f"memref<4x{N * M}xf32>"
    made, text = kernel(f"%x: {short}, %y: {short}", generic(f"%x : {short} by {ID}", f"%y : {short} by {ID}"))
    assert f"memref<4x?xf32, strided<[{N * M}, 1], offset: ?>>" in text


def test_loops_that_are_one_are_cut_where_the_result_would_be_cut_in_its_rows() -> None:
    """Images whose channels come last: 14 by 14 pixels are shared out, not the channels of each, which are a row."""
    image, rows = "memref<1024x14x14xf32>", "memref<14x14x1024xf32>"
    maps = "affine_map<(i, j, c) -> (c, i, j)>", "affine_map<(i, j, c) -> (i, j, c)>"
    loops = ", ".join(['"parallel"'] * 3)
    op = generic(f"%x : {image} by {maps[0]}", f"%y : {rows} by {maps[1]}", iterators=loops)
    made, text = kernel(f"%x: {image}, %y: {rows}", op)
    assert "arith.constant 196 : index" in made.head
    assert "memref<?x1024xf32, strided<[1024, 1], offset: ?>>" in text
    assert "memref<1024x?xf32, strided<[196, 1], offset: ?>>" in text


def test_a_loop_of_a_few_is_cut_where_the_result_would_be_cut_in_short_rows() -> None:
    """Windows of an image: rows of them are shared out, not the channels of each pixel."""
    image, windows = "memref<8x7x8x7x96xf32>", "memref<8x8x7x7x96xf32>"
    maps = "affine_map<(a, b, c, d, e) -> (a, c, b, d, e)>", "affine_map<(a, b, c, d, e) -> (a, b, c, d, e)>"
    loops = ", ".join(['"parallel"'] * 5)
    op = generic(f"%x : {image} by {maps[0]}", f"%y : {windows} by {maps[1]}", "%t = arith.negf %a : f32", loops)
    made, text = kernel(f"%x: {image}, %y: {windows}", op)
    assert made.head
    assert "memref<?x8x7x672xf32" in text
    few = "memref<3x4000xf32>"
    body = "\n".join(f"%{name} = math.exp %{of} : f32" for of, name in zip("asuvw", "suvwt", strict=True))
    op = generic(f"%x : {few} by {ID}", f"%y : {few} by {ID}", body)
    made, text = kernel(f"%x: {few}, %y: {few}", op)
    assert made.head
    assert "memref<3x?xf32, strided<[4000, 1], offset: ?>>" in text


def test_little_work_is_done_by_one_thread() -> None:
    small = "memref<64x64xf32>"
    made, _ = kernel(f"%x: {small}, %y: {small}", generic(f"%x : {small} by {ID}", f"%y : {small} by {ID}"))
    assert made.head == ""


def test_a_loop_of_unknown_length_is_cut_when_it_is_worth_it() -> None:
    kind = f"memref<?x{M}xf32>"
    arguments = ", ".join(f'{name}: {kind} {{hotdesk.shape = ["n", "{M}"]}}' for name in ("%x", "%y"))
    made, _ = kernel(arguments, generic(f"%x : {kind} by {ID}", f"%y : {kind} by {ID}"))
    assert "arith.floordivsi" in made.head


def test_a_summed_loop_is_not_cut() -> None:
    total = f"memref<{M}xf32>"
    made, text = kernel(
        f"%x: {KIND}, %y: {total}",
        generic(
            f"%x : {KIND} by {ID}", f"%y : {total} by affine_map<(i, j) -> (j)>", iterators='"reduction", "parallel"'
        ),
    )
    assert made.head
    assert f"memref<{N}x?xf32, strided<[{M}, 1], offset: ?>>" in text
    made, _ = kernel(
        f"%x: {KIND}, %y: memref<f32>",
        generic(
            f"%x : {KIND} by {ID}", "%y : memref<f32> by affine_map<(i, j) -> ()>", iterators='"reduction", "reduction"'
        ),
    )
    assert made.head == ""


@pytest.mark.parametrize("map_", ["affine_map<(i, j) -> (i + j)>", "affine_map<(i, j) -> (i * 2 + j)>"])
def test_a_loop_that_is_part_of_a_place_is_not_cut(map_: str) -> None:
    row = f"memref<{2 * N + M}xf32>"
    made, _ = kernel(f"%x: {row}, %y: {KIND}", generic(f"%x : {row} by {map_}", f"%y : {KIND} by {ID}"))
    assert made.head == ""


def test_memory_read_elsewhere_than_it_is_written_keeps_a_loop_whole() -> None:
    square = f"memref<{N}x{N}xf32>"
    made, _ = kernel(f"%x: {square}", generic(f"%x : {square} by {TURNED}", f"%x : {square} by {ID}"))
    assert made.head == ""
    made, _ = kernel(f"%x: {square}", generic(f"%x : {square} by {ID}", f"%x : {square} by {ID}"))
    assert made.head
    part = f"memref<{N - 1}x{N}xf32, strided<[{N}, 1]>>"
    later = f"memref<{N - 1}x{N}xf32, strided<[{N}, 1], offset: {N}>>"
    views = f"""%u = memref.subview %x[0, 0] [{N - 1}, {N}] [1, 1] : {square} to {part}
    %v = memref.subview %x[1, 0] [{N - 1}, {N}] [1, 1] : {square} to {later}"""
    made, _ = kernel(f"%x: {square}", f"{views}\n{generic(f'%u : {part} by {ID}', f'%v : {later} by {ID}')}")
    assert made.head == ""


def test_memory_that_the_region_reads_by_itself_keeps_a_loop_whole() -> None:
    body = f"%z = arith.constant 0 : index\n%b = memref.load %y[%z, %z] : {KIND}\n%t = arith.addf %a, %b : f32"
    made, _ = kernel(f"%x: {KIND}, %y: {KIND}", generic(f"%x : {KIND} by {ID}", f"%y : {KIND} by {ID}", body))
    assert made.head == ""


@pytest.mark.parametrize("shape", [(512, 2048), (3, 400_000), (1, 1_000_003), (2, 0)])
def test_ranges_together_are_the_whole(shape: tuple[int, int]) -> None:
    """With places of both loops in the sum, an operand that is broadcast, and one that is turned."""
    rows, columns = shape
    kind, turned, row = f"tensor<{rows}x{columns}xf32>", f"tensor<{columns}x{rows}xf32>", f"tensor<{columns}xf32>"
    program = hotdesk.compile(f"""
      func.func @main(%x: {kind}, %y: {turned}, %z: {row}) -> {kind} {{
        %e = tensor.empty() : {kind}
        %r = linalg.generic {{indexing_maps = [{ID}, {TURNED}, affine_map<(i, j) -> (j)>, {ID}],
                              iterator_types = ["parallel", "parallel"]}}
            ins(%x, %y, %z : {kind}, {turned}, {row}) outs(%e : {kind}) {{
        ^bb0(%a: f32, %b: f32, %c: f32, %o: f32):
          %i = linalg.index 0 : index
          %j = linalg.index 1 : index
          %k = arith.muli %i, %j : index
          %l = arith.index_cast %k : index to i64
          %f = arith.sitofp %l : i64 to f32
          %p = arith.mulf %a, %b : f32
          %q = arith.addf %p, %c : f32
          %t = arith.addf %q, %f : f32
          linalg.yield %t : f32
        }} -> {kind}
        return %r : {kind}
      }}""")
    draw = np.random.default_rng(0)
    x, y, z = (draw.random(each, dtype=np.float32) for each in (shape, shape[::-1], shape[1:]))
    places = np.arange(rows)[:, None] * np.arange(columns)
    found = program(x, y, z)
    np.testing.assert_allclose(found, x * np.transpose(y) + z + places.astype(np.float32), rtol=1e-6)


@pytest.mark.parametrize("row", [0, 1, N - 1])
@pytest.mark.parametrize("donated", [False, True])
def test_an_element_of_an_operand_is_the_same_for_all_ranges(row: int, *, donated: bool) -> None:
    """x + x[row, 1], in other memory or over x: the element is read at its own place, and before it is written."""
    kind, attributes = f"tensor<{N}x{M}xf32>", " {hotdesk.donated}" if donated else ""
    program = hotdesk.compile(f"""
      func.func @main(%x: {kind}{attributes}) -> {kind} {{
        %i = arith.constant {row} : index
        %j = arith.constant 1 : index
        %s = tensor.extract %x[%i, %j] : {kind}
        %e = tensor.empty() : {kind}
        %r = linalg.generic {{indexing_maps = [{ID}, {ID}], iterator_types = ["parallel", "parallel"]}}
            ins(%x : {kind}) outs(%e : {kind}) {{
        ^bb0(%a: f32, %o: f32):
          %t = arith.addf %a, %s : f32
          linalg.yield %t : f32
        }} -> {kind}
        return %r : {kind}
      }}""")
    x = np.random.default_rng(0).standard_normal((N, M), np.float32)
    expected = x + x[row, 1]
    np.testing.assert_array_equal(program(x), expected)
