"""Loops joined: which are, which are not, and that joined ones compute the same."""

from __future__ import annotations

import re

import numpy as np
import pytest

import hotdesk
from tests.unit.passes.lower.structured.loop_kernels import kernel

ID = "affine_map<(n, c, h, w) -> (n, c, h, w)>"
CHANNEL = "affine_map<(n, c, h, w) -> (c, 0, 0)>"
BODY = "%t = arith.mulf %a, %b : f32"
INDEXED = "%i = linalg.index {} : index\n%j = arith.index_cast %i : index to i64\n%t = arith.sitofp %j : i64 to f32"


def joined(x: str, y: str, y_map: str, body: str = BODY, kinds: str = "pppp", written: str | None = None) -> str:
    """The iterator types of what becomes of an op that reads x, as it is written, and y by a map."""
    names = {"p": '"parallel"', "r": '"reduction"'}
    out, out_map = (written or f"{x} by {ID}").split(" by ")
    text = f"""linalg.generic {{
      indexing_maps = [{ID}, {y_map}, {out_map}], iterator_types = [{", ".join(names[k] for k in kinds)}]
    }} ins(%x, %y : {x}, {y}) outs(%o : {out}) {{
    ^bb0(%a: f32, %b: f32, %c: f32):
      {body}
      linalg.yield %t : f32
    }}"""
    _, made = kernel(f"%x: {x}, %y: {y}, %o: {out}", text)
    types = re.search(r"iterator_types = \[(.*?)\]", made)
    assert types is not None
    return "".join(each[1] for each in types[1].split(", "))


def test_neighbours_that_lie_together_are_one_loop_and_loops_of_one_iteration_none() -> None:
    kind = "memref<1x6x3x5xf32>"
    assert joined(kind, kind, ID) == "p"
    assert joined(kind, "memref<6x1x1xf32>", CHANNEL) == "pp"
    assert joined("memref<2x6x3x5xf32>", "memref<6x1x1xf32>", CHANNEL) == "ppp"


def test_the_first_of_joined_loops_may_be_of_unknown_length() -> None:
    assert joined("memref<16x?x3x5xf32>", "memref<16x?x3x5xf32>", ID) == "pp"  # the first is cut into ranges
    assert joined("memref<16x6x3x?xf32>", "memref<16x6x3x?xf32>", ID) == "pppp"


def test_what_lies_apart_or_is_turned_is_not_joined() -> None:
    assert joined("memref<2x6x3x5xf32>", "memref<2x6x3x5xf32, strided<[180, 30, 10, 1]>>", ID) == "pp"
    turned = "affine_map<(n, c, h, w) -> (n, c, w, h)>"
    assert joined("memref<2x6x3x5xf32>", "memref<2x6x5x3xf32>", turned) == "ppp"
    assert joined("memref<2x3x4x5xf32>", "memref<2x5xf32>", "affine_map<(n, c, h, w) -> (n, w)>") == "ppp"


def test_summed_loops_are_joined_with_summed_ones_alone() -> None:
    kind, total = "memref<2x6x3x5xf32>", "memref<2x6xf32> by affine_map<(n, c, h, w) -> (n, c)>"
    body = "%m = arith.mulf %a, %b : f32\n%t = arith.addf %m, %c : f32"
    assert joined(kind, kind, ID, body, "pprr", total) == "pr"


def test_loops_whose_places_are_asked_for_stay() -> None:
    kind = "memref<1x6x3x5xf32>"
    assert joined(kind, kind, ID, INDEXED.format(3)) == "pp"
    assert joined(kind, kind, ID, INDEXED.format(0)) == "pp"


def test_a_diagonal_and_memory_seen_in_two_ways_stay() -> None:
    kind = "memref<3x3x3x5xf32>"
    assert joined(kind, "memref<3x3xf32>", "affine_map<(n, c, h, w) -> (n, n)>") == "pppp"


@pytest.mark.parametrize("shape", [(1, 6, 3, 5), (2, 1, 7, 7), (1, 1, 1, 1), (3, 0, 2, 2), (2, 40, 60, 60)])
@pytest.mark.parametrize("asked", [0, 1, 2, 3])
def test_joined_loops_compute_the_same(shape: tuple[int, ...], asked: int) -> None:
    """x y[c] + the place in a loop, whose length is known or not."""
    n, c, h, w = shape
    for batch in (n, "?"):
        kind = f"tensor<{batch}x{c}x{h}x{w}xf32>"
        size = "%z = arith.constant 0 : index\n%n = tensor.dim %x, %z : " + kind
        empty = f"tensor.empty({'%n' if batch == '?' else ''}) : {kind}"
        program = hotdesk.compile(f"""
          func.func @main(%x: {kind}, %y: tensor<{c}x1x1xf32>) -> {kind} {{
            {size}
            %e = {empty}
            %r = linalg.generic {{indexing_maps = [{ID}, {CHANNEL}, {ID}],
                                  iterator_types = ["parallel", "parallel", "parallel", "parallel"]}}
                ins(%x, %y : {kind}, tensor<{c}x1x1xf32>) outs(%e : {kind}) {{
            ^bb0(%a: f32, %b: f32, %o: f32):
              %i = linalg.index {asked} : index
              %j = arith.index_cast %i : index to i64
              %k = arith.sitofp %j : i64 to f32
              %m = arith.mulf %a, %b : f32
              %t = arith.addf %m, %k : f32
              linalg.yield %t : f32
            }} -> {kind}
            return %r : {kind}
          }}""")
        rng = np.random.default_rng(3)
        x, y = rng.standard_normal(shape).astype(np.float32), rng.standard_normal((c, 1, 1)).astype(np.float32)
        expected = x * y + np.indices(shape)[asked].astype(np.float32)
        np.testing.assert_array_equal(program(x, y), expected)


def test_memory_that_a_scalar_is_loaded_from_keeps_its_dims() -> None:
    kind = "tensor<1x6x3x5xf32>"
    program = hotdesk.compile(f"""
      func.func @main(%x: {kind}) -> {kind} {{
        %i = arith.constant 0 : index
        %j = arith.constant 2 : index
        %s = tensor.extract %x[%i, %j, %j, %i] : {kind}
        %e = tensor.empty() : {kind}
        %r = linalg.generic {{indexing_maps = [{ID}, {ID}],
                              iterator_types = ["parallel", "parallel", "parallel", "parallel"]}}
            ins(%x : {kind}) outs(%e : {kind}) {{
        ^bb0(%a: f32, %o: f32):
          %t = arith.addf %a, %s : f32
          linalg.yield %t : f32
        }} -> {kind}
        return %r : {kind}
      }}""")
    x = np.random.default_rng(0).standard_normal((1, 6, 3, 5), np.float32)
    np.testing.assert_array_equal(program(x), x + x[0, 2, 2, 0])
