"""What ops demand of sizes, as relations."""

from __future__ import annotations

import pytest

from hotdesk._bindings import ir
from hotdesk.errors import InvalidIRError
from hotdesk.frontends.mlir.sizes import size_checks
from hotdesk.ir.context import make_context
from hotdesk.ir.walking import main_function

HEAD = """func.func @main(%x: tensor<?x?xf32> {hotdesk.shape = ["a", "b"]}, %y: tensor<?x?xf32> {hotdesk.shape = ["c", "d"]},
    %v: tensor<?xf32> {hotdesk.shape = ["n"]}, %w: tensor<?xf32> {hotdesk.shape = ["m"]},
    %s: tensor<?xi8> {hotdesk.shape = ["k"]},
    %p: memref<?xf32> {hotdesk.shape = ["n"]}, %q: memref<?xf32> {hotdesk.shape = ["m"]}) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %k = tensor.dim %s, %c0 : tensor<?xi8>
  %f = arith.constant 0.0 : f32
"""
ONE, TWO = "tensor<?xf32>", "tensor<?x?xf32>"


def demands(body: str) -> list[str]:
    with make_context(), ir.Location.unknown():
        module = ir.Module.parse(f"{HEAD}  {body}\n  return\n}}")
        return [str(check.relation) for check in size_checks(main_function(module))]


@pytest.mark.parametrize(
    ("body", "found"),
    [
        (f"%0 = linalg.add ins(%x, %y : {TWO}, {TWO}) outs(%x : {TWO}) -> {TWO}", ["Eq(a, c)", "Eq(b, d)"]),
        (f"%0 = linalg.exp ins(%x : {TWO}) outs(%x : {TWO}) -> {TWO}", []),
        (f"%0 = linalg.matmul ins(%x, %y : {TWO}, {TWO}) outs(%x : {TWO}) -> {TWO}", ["Eq(b, c)", "Eq(d, b)"]),
        (f"%0 = linalg.conv_1d ins(%v, %w : {ONE}, {ONE}) outs(%v : {ONE}) -> {ONE}", ["Eq(m, 0) | Eq(n, 0) | (m + n - 2 < n)"]),
        (f"%0 = tensor.cast %v : {ONE} to tensor<4xf32>", ["Eq(n, 4)"]),
        (f"%0 = tensor.concat dim(1) %x, %y : ({TWO}, {TWO}) -> {TWO}", ["Eq(a, c)"]),
        (f"%0 = tensor.extract %v[%c3] : {ONE}", ["3 < n"]),
        (f"%0 = tensor.extract %v[%k] : {ONE}", ["k < n"]),
        (f"%0 = tensor.extract_slice %v[%c1] [%k] [1] : {ONE} to {ONE}", ["Eq(k, 0) | (k < n)"]),
        (f"%0 = tensor.extract_slice %v[0] [%k] [2] : {ONE} to {ONE}", ["Eq(k, 0) | (2*k - 2 < n)"]),
        (f"%0 = tensor.insert_slice %v into %w[0] [%k] [1] : {ONE} into {ONE}", ["Eq(k, 0) | (k - 1 < m)", "Eq(n, k)"]),
        (f"%0 = tensor.expand_shape %v [[0, 1]] output_shape [%k, 2] : {ONE} into tensor<?x2xf32>", ["Eq(n, 2*k)"]),
        ("memref.copy %p, %q : memref<?xf32> to memref<?xf32>", ["Eq(n, m)"]),
        ("%0 = memref.load %p[%c3] : memref<?xf32>", ["3 < n"]),
        ("%0 = arith.subi %k, %c3 : index\n  %1 = memref.alloc(%0) : memref<?xf32>", ["k - 3 >= 0"]),
    ],
)  # fmt: skip
def test_relations(body: str, found: list[str]) -> None:
    assert demands(body) == found


def test_each_relation_is_asked_once() -> None:
    add = f"linalg.add ins(%v, %w : {ONE}, {ONE}) outs(%v : {ONE}) -> {ONE}"
    assert demands(f"%0 = {add}\n  %1 = {add}") == ["Eq(n, m)"]


def test_what_depends_on_data_is_left_out() -> None:
    index = "%0 = tensor.extract %s[%c0] : tensor<?xi8>\n  %1 = arith.index_cast %0 : i8 to index"
    assert demands(f"{index}\n  %2 = tensor.extract %v[%1] : {ONE}") == ["0 < k"]


def test_what_no_sizes_fulfil_is_an_error() -> None:
    with pytest.raises(
        InvalidIRError, match="op `tensor.empty`: expected no size below 0, got sizes for which that never holds"
    ):
        demands(f"%0 = arith.constant -2 : index\n  %1 = tensor.empty(%0) : {ONE}")
