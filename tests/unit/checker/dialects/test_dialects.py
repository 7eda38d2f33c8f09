"""Which ops the checker knows, what those compute that MLIR has no loops for, and how the others are refused."""

# NumPy is annotated in part only.
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false

from __future__ import annotations

import importlib
import inspect
from typing import Any

import numpy as np
import pytest
from torch_mlir import ir

from hotdesk.checker import CheckReport, FaultKind, Settings, check_module
from hotdesk.checker.dialects import DIALECTS
from hotdesk.errors import HotdeskError, LoweringError
from hotdesk.ir.context import make_context

REFUSED = {
    "affine": "dma_start dma_wait",
    "arith": "scaling_extf scaling_truncf",
    "bufferization": "alloc_tensor dealloc_tensor materialize_in_destination",
    "cf": "",
    "func": "",
    "math": "",
    "memref": "dma_start dma_wait",
    "scf": "",
    "vector": (
        "bitcast compressstore contract deinterleave expandload fma from_elements insert insert_strided_slice interleave "
        "maskedload maskedstore multi_reduction outerproduct print scalable.extract scalable.insert scan shuffle step "
        "to_elements type_cast vscale"
    ),
}
"""Ops that are refused by name, by dialect."""
ELSEWHERE = {
    "affine": "apply for if load max min parallel prefetch store vector_load vector_store yield",
    "func": "func",
    "memref": "global",
}
"""Ops that are lowered before the program runs, or belong to the module."""


def check(text: str, *arguments: Any, undefined: str = "refuse") -> CheckReport:
    settings = Settings(undefined=undefined)
    with make_context(), ir.Location.unknown():
        return check_module(ir.Module.parse(text), "main", arguments, settings=settings)


@pytest.mark.parametrize("dialect", REFUSED)
def test_every_op_of_a_dialect_is_known_or_refused(dialect: str) -> None:
    module = importlib.import_module(f"torch_mlir.dialects._{dialect}_ops_gen")
    classes: list[Any] = [each for each in vars(module).values() if inspect.isclass(each)]
    names = {each.OPERATION_NAME for each in classes if hasattr(each, "OPERATION_NAME")}
    known = DIALECTS.ops.keys() | DIALECTS.terminators.keys()
    told = {f"{dialect}.{name}" for name in ELSEWHERE.get(dialect, "").split()}
    refused = {f"{dialect}.{name}" for name in REFUSED[dialect].split()}
    assert len(names) > 3
    assert names - known - told == refused


X = np.random.default_rng(0).standard_normal((5, 7)).astype(np.float32)
SOFTMAX = """func.func @main(%x: memref<5x7xf32>, %y: memref<5x7xf32> {{bufferize.result = 0}}) {{
  linalg.softmax dimension({}) ins(%x : memref<5x7xf32>) outs(%y : memref<5x7xf32>)
  return
}}"""


@pytest.mark.parametrize("axis", [0, 1])
def test_softmax(axis: int) -> None:
    report = check(SOFTMAX.format(axis), X)
    assert report.clean, str(report)
    powers = np.exp(X.astype(np.float64))
    np.testing.assert_allclose(report.results[0].values, powers / powers.sum(axis, keepdims=True), rtol=1e-5)


def test_softmax_of_a_row_that_is_half_written() -> None:
    text = """func.func @main(%y: memref<2x3xf32> {bufferize.result = 0}) {
  %one = arith.constant 1.0 : f32
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %a = memref.alloca() : memref<2x3xf32>
  linalg.fill ins(%one : f32) outs(%a : memref<2x3xf32>)
  %b = memref.alloca() : memref<1xf32>
  %part = memref.subview %a[1, 1] [1, 1] [1, 1] : memref<2x3xf32> to memref<1xf32, strided<[1], offset: 4>>
  memref.copy %b, %part : memref<1xf32> to memref<1xf32, strided<[1], offset: 4>>
  linalg.softmax dimension(1) ins(%a : memref<2x3xf32>) outs(%y : memref<2x3xf32>)
  return
}"""
    report = check(text, undefined="carry")
    assert report.clean, str(report)
    np.testing.assert_array_equal(report.results[0].written, [[True] * 3, [False] * 3])
    assert [fault.kind for fault in check(text).faults] == [FaultKind.UNWRITTEN]


def test_softmax_over_what_it_reads() -> None:
    text = """func.func @main(%x: memref<5x7xf32>) {
  linalg.softmax dimension(1) ins(%x : memref<5x7xf32>) outs(%x : memref<5x7xf32>)
  return
}"""
    assert [fault.kind for fault in check(text, X).faults] == [FaultKind.OVERLAP]


PACK = """func.func @main(%x: memref<5x7xf32>, %n: index, %p: memref<{}xf32> {{bufferize.result = 0}},
                %y: memref<5x7xf32> {{bufferize.result = 1}}) {{
  %z = arith.constant 9.0 : f32
  linalg.pack %x {} {} into %p : memref<5x7xf32> -> memref<{}xf32>
  linalg.unpack %p {} into %y : memref<{}xf32> -> memref<5x7xf32>
  return
}}"""
PADDED = "padding_value(%z : f32)"


def _packed(sizes: str, tiles: str, padding: str = PADDED) -> str:
    return PACK.format(sizes, padding, tiles, sizes, tiles, sizes)


def test_pack_and_unpack() -> None:
    tiles = "inner_dims_pos = [0, 1] inner_tiles = [2, 4]"
    report = check(_packed("3x2x2x4", tiles), X, np.int64(4))
    assert report.clean, str(report)
    packed, unpacked = (result.values for result in report.results)
    np.testing.assert_array_equal(unpacked, X)
    for i, j, k, m in np.ndindex(3, 2, 2, 4):
        row, column = 2 * i + k, 4 * j + m
        assert packed[i, j, k, m] == (X[row, column] if row < 5 and column < 7 else 9)


def test_pack_and_unpack_in_another_order_with_a_size_of_the_run() -> None:
    tiles = "outer_dims_perm = [1, 0] inner_dims_pos = [1] inner_tiles = [%n]"
    report = check(_packed("2x5x?", tiles).replace("%p: memref<2x5x?xf32>", "%p: memref<2x5x4xf32>").replace(
        "%z =", "%q = memref.cast %p : memref<2x5x4xf32> to memref<2x5x?xf32>\n%z ="
    ).replace("into %p", "into %q").replace("unpack %p", "unpack %q"), X, np.int64(4))  # fmt: skip
    assert report.clean, str(report)
    packed, unpacked = (result.values for result in report.results)
    np.testing.assert_array_equal(unpacked, X)
    for j, i, m in np.ndindex(2, 5, 4):
        assert packed[j, i, m] == (X[i, 4 * j + m] if 4 * j + m < 7 else 9)


def test_pack_into_other_sizes() -> None:
    text = """func.func @main(%x: memref<?xf32>, %p: memref<?x4xf32>) {
  linalg.pack %x inner_dims_pos = [0] inner_tiles = [4] into %p : memref<?xf32> -> memref<?x4xf32>
  return
}"""
    assert check(text, X.reshape(-1)[:8], np.zeros((2, 4), np.float32)).clean
    for count, tiles in ((8, 3), (7, 2)):
        report = check(text, X.reshape(-1)[:count], np.zeros((tiles, 4), np.float32))
        assert [fault.kind for fault in report.faults] == [FaultKind.SHAPE]


@pytest.mark.parametrize(("op", "wanted"), [("index_cast", -3), ("index_castui", 2**32 - 3)])
def test_an_index_cast_of_a_memref_casts_what_is_read_of_it(op: str, wanted: int) -> None:
    text = f"""func.func @main(%m: memref<3xi32>, %y: memref<2xindex> {{bufferize.result = 0}}) -> index {{
  %c0 = arith.constant 0 : index
  %c5 = arith.constant 5 : index
  %cast = arith.{op} %m : memref<3xi32> to memref<3xindex>
  %part = memref.subview %cast[1] [2] [1] : memref<3xindex> to memref<2xindex, strided<[1], offset: 1>>
  memref.store %c5, %part[%c0] : memref<2xindex, strided<[1], offset: 1>>
  memref.copy %part, %y : memref<2xindex, strided<[1], offset: 1>> to memref<2xindex>
  %v = memref.load %cast[%c0] : memref<3xindex>
  return %v : index
}}"""
    with make_context(), ir.Location.unknown():
        text = text.replace("%m: memref<3xi32>", "%m: memref<3xi32> {hotdesk.donated}")
        report = check_module(ir.Module.parse(text), "main", [np.array([-3, 7, 8], np.int32)])
    assert report.clean, str(report)
    assert [result.values.tolist() for result in report.results] == [[5, 8], wanted]


def test_an_unranked_memref_is_cloned() -> None:
    text = """func.func @main() -> f32 {
  %c0 = arith.constant 0 : index
  %one = arith.constant 1.0 : f32
  %a = memref.alloc() : memref<4xf32>
  linalg.fill ins(%one : f32) outs(%a : memref<4xf32>)
  %u = memref.cast %a : memref<4xf32> to memref<*xf32>
  %c = bufferization.clone %u : memref<*xf32> to memref<*xf32>
  memref.dealloc %a : memref<4xf32>
  %r = memref.cast %c : memref<*xf32> to memref<4xf32>
  %v = memref.load %r[%c0] : memref<4xf32>
  memref.dealloc %c : memref<*xf32>
  return %v : f32
}"""
    report = check(text)
    assert report.clean, str(report)
    assert report.results[0].values == 1


def test_indices_are_taken_apart_and_put_together() -> None:
    text = """func.func @main(%i: index, %n: index) -> (index, index, index, index, index, index, index) {
  %a:3 = affine.delinearize_index %i into (4, %n, 5) : index, index, index
  %b:3 = affine.delinearize_index %i into (%n, 5) : index, index, index
  %c = affine.linearize_index [%a#0, %a#1, %a#2] by (4, %n, 5) : index
  return %a#0, %a#1, %a#2, %b#0, %b#1, %b#2, %c : index, index, index, index, index, index, index
}"""
    report = check(text, np.int64(38), np.int64(3))
    assert report.clean, str(report)
    assert [int(result.values) for result in report.results] == [2, 1, 3, 2, 1, 3, 38]


@pytest.mark.parametrize(
    ("op", "kind", "wanted"),
    [
        ("%r, %s = math.sincos %x : f32", "f32", np.sin(np.float32(-2.5))),
        ("%r = math.isnormal %x : f32", "i1", True),
        ("%r = arith.flush_denormals %x : f32", "f32", -2.5),
        ("%h = arith.truncf %x : f32 to f16\n  %r = arith.convertf %h : f16 to bf16", "bf16", -2.5),
        ("%r, %s = arith.subui_extended %i, %j : i32, i1", "i32", -1),
        ("%s, %r = arith.subui_extended %i, %j : i32, i1", "i1", True),
        ("%a = complex.mul %z, %z : complex<f32>\n  %r = complex.re %a : complex<f32>", "f32", 6.25 - 9),
        ("%r = complex.abs %z : complex<f32>", "f32", np.abs(np.complex64(-2.5 + 3j))),
        ("%r = complex.neq %z, %z : complex<f32>", "i1", False),
        ("%g = func.constant @twice : (f32) -> f32\n  %r = func.call_indirect %g(%x) : (f32) -> f32", "f32", -5),
    ],
)
def test_numbers(op: str, kind: str, wanted: Any) -> None:
    text = f"""func.func private @twice(%a: f32) -> f32 {{
  %b = arith.addf %a, %a : f32
  return %b : f32
}}
func.func @main() -> {kind} {{
  %x = arith.constant -2.5 : f32
  %y = arith.constant 3.0 : f32
  %i = arith.constant 6 : i32
  %j = arith.constant 7 : i32
  %z = complex.create %x, %y : complex<f32>
  {op}
  return %r : {kind}
}}"""
    report = check(text)
    assert report.clean, str(report)
    np.testing.assert_allclose(report.results[0].values.astype(np.float64), wanted, rtol=1e-6)


TO_TENSOR = "%t = bufferization.to_tensor %m restrict : memref<4xf32> to tensor<4xf32>\n"
GENERIC = """%r = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
    outs(%t : tensor<4xf32>) {
  ^bb0(%a: f32):
    linalg.yield %a : f32
  } -> tensor<4xf32>"""


@pytest.mark.parametrize(
    ("body", "said"),
    [
        (
            "%e = arith.constant dense<1.0> : tensor<4xf32>",
            "does not know op `arith.constant` on tensors",
        ),
        (
            f"{TO_TENSOR}%r = arith.addf %t, %t : tensor<4xf32>",
            "does not know op `arith.addf` on tensors",
        ),
        (
            TO_TENSOR + GENERIC,
            "does not know op `linalg.generic` on tensors",
        ),
        ("%v = vector.load %m[%c0] : memref<4xf32>, vector<4xf32>\nvector.print %v : vector<4xf32>", "`vector.print`"),
        ("%a = memref.alloc() : memref<4xvector<2xf32>>", "got type vector<2xf32>"),
        ("%a = memref.alloc() : memref<4xi4>", "got type i4"),
    ],
)
def test_what_is_refused_is_named(body: str, said: str) -> None:
    text = f"func.func @main(%m: memref<4xf32>) {{\n%c0 = arith.constant 0 : index\n{body}\nreturn\n}}"
    with pytest.raises(HotdeskError) as refused:
        check(text, X[0, :4])
    assert isinstance(refused.value, LoweringError)
    assert said in str(refused.value)
