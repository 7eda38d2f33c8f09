"""What the reference makes of control flow and tensor ops, against values that were worked out by hand."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from tests import reference
from tests.reference import run
from tests.reference.values import Array, Fill, Operation
from tests.running import wanted

_A = np.array([1, 2, 3, 4], np.int32)
_T = "tensor<4xi32>"
_HEAD = f"""func.func @main(%a: {_T}, %n: index) -> TYPE {{
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c4 = arith.constant 4 : index
  %s = arith.constant 7 : i32
  %b = arith.constant dense<[5, 6, 7, 8]> : {_T}
"""
BODIES: dict[str, tuple[str, str, Any]] = {
    "for": (
        (
            f"%r:2 = scf.for %i = %c0 to %n step %c2 iter_args(%x = %a, %y = %b) -> ({_T}, {_T}) {{\n"
            f"%w = tensor.insert %s into %x[%i] : {_T}\nscf.yield %y, %w : {_T}, {_T} }}\n return %r#0 : {_T}"
        ),
        _T,
        [7, 2, 3, 4],  # a and b change places twice: a has 7 at 0, b at 2
    ),
    "while": (
        (
            f"%r:2 = scf.while (%i = %c0, %x = %a) : (index, {_T}) -> ({_T}, index) {{\n"
            f"%c = arith.cmpi slt, %i, %n : index\nscf.condition(%c) %x, %i : {_T}, index }} do {{\n"
            f"^bb0(%x: {_T}, %i: index):\n%w = tensor.insert %s into %x[%i] : {_T}\n%j = arith.addi %i, %c2 : index\n"
            f"scf.yield %j, %w : index, {_T} }}\n return %r#0 : {_T}"
        ),
        _T,
        [7, 2, 7, 4],
    ),
    "if without else": ("%c = arith.cmpi eq, %n, %c0 : index\nscf.if %c { }\nreturn %a : " + _T, _T, [1, 2, 3, 4]),
    "switch": (
        (
            f"%r = scf.index_switch %n -> {_T}\ncase 1 {{ scf.yield %a : {_T} }}\ncase 3 {{ scf.yield %b : {_T} }}\n"
            f"default {{ %e = tensor.splat %s : {_T}\nscf.yield %e : {_T} }}\nreturn %r : {_T}"
        ),
        _T,
        [5, 6, 7, 8],
    ),
    "forall": (
        (
            f"%r = scf.forall (%i) = (0) to (2) step (1) shared_outs(%o = %a) -> ({_T}) {{\n"
            f"%p = tensor.extract_slice %o[%i] [2] [1] : {_T} to tensor<2xi32>\n%j = arith.muli %i, %c2 : index\n"
            f"scf.forall.in_parallel {{ tensor.parallel_insert_slice %p into %o[%j] [2] [1] : tensor<2xi32> into {_T} }} }}\n"
            f"return %r : {_T}"
        ),
        _T,
        [1, 2, 2, 3],  # each thread reads what was there before
    ),
    "parallel": (
        (
            f"%t = scf.parallel (%i) = (%c0) to (%c4) step (%c1) init(%s) -> i32 {{\n%v = tensor.extract %a[%i] : {_T}\n"
            "scf.reduce(%v : i32) {\n^bb0(%l: i32, %m: i32):\n%q = arith.addi %l, %m : i32\nscf.reduce.return %q : i32 } }\n"
            "%r = tensor.from_elements %t : tensor<1xi32>\nreturn %r : tensor<1xi32>"
        ),
        "tensor<1xi32>",
        [17],
    ),
    "branches": (
        (
            f"cf.br ^head(%c0, %a, %b : index, {_T}, {_T})\n^head(%i: index, %x: {_T}, %y: {_T}):\n"
            f"%c = arith.cmpi slt, %i, %n : index\n%j = arith.addi %i, %c1 : index\n"
            f"cf.cond_br %c, ^head(%j, %y, %x : index, {_T}, {_T}), ^end(%x : {_T})\n^end(%r: {_T}):\nreturn %r : {_T}"
        ),
        _T,
        [5, 6, 7, 8],
    ),
    "switch of branches": (
        (
            f"%k = arith.constant 2 : i32\ncf.switch %k : i32, [ default: ^end(%a : {_T}), 2: ^end(%b : {_T}) ]\n"
            f"^end(%r: {_T}):\nreturn %r : {_T}"
        ),
        _T,
        [5, 6, 7, 8],
    ),
    "region": (f"%r = scf.execute_region -> {_T} {{ scf.yield %b : {_T} }}\nreturn %r : {_T}", _T, [5, 6, 7, 8]),
    "select": (
        f"%c = arith.cmpi eq, %n, %c0 : index\n%r = arith.select %c, %a, %b : {_T}\nreturn %r : {_T}",
        _T,
        [5, 6, 7, 8],
    ),
    "strided insertion": (
        (
            f"%p = tensor.extract_slice %a[1] [2] [1] : {_T} to tensor<2xi32>\n"
            f"%r = tensor.insert_slice %p into %b[1] [2] [2] : tensor<2xi32> into {_T}\nreturn %r : {_T}"
        ),
        _T,
        [5, 2, 7, 3],
    ),
    "dropped dimension": (
        (
            f"%m = tensor.expand_shape %a [[0, 1]] output_shape [2, 2] : {_T} into tensor<2x2xi32>\n"
            "%r = tensor.extract_slice %m[0, 1] [2, 1] [1, 1] : tensor<2x2xi32> to tensor<2xi32>\nreturn %r : tensor<2xi32>"
        ),
        "tensor<2xi32>",
        [2, 4],
    ),
    "generate": (
        (
            "%r = tensor.generate {\n^bb0(%i: index):\n%v = arith.index_cast %i : index to i32\n%w = arith.subi %v, %s : i32\n"
            f"tensor.yield %w : i32\n}} : {_T}\nreturn %r : {_T}"
        ),
        _T,
        [-7, -6, -5, -4],
    ),
    "gather": (
        (
            "%i = arith.constant dense<[[3], [0]]> : tensor<2x1xindex>\n"
            f"%r = tensor.gather %a[%i] gather_dims([0]) : ({_T}, tensor<2x1xindex>) -> tensor<2xi32>\nreturn %r : tensor<2xi32>"
        ),
        "tensor<2xi32>",
        [4, 1],
    ),
    "scatter": (
        (
            "%i = arith.constant dense<[[3], [0]]> : tensor<2x1xindex>\n"
            f"%p = tensor.extract_slice %b[0] [2] [1] : {_T} to tensor<2xi32>\n"
            f"%r = tensor.scatter %p into %a[%i] scatter_dims([0]) unique : (tensor<2xi32>, {_T}, tensor<2x1xindex>) -> {_T}\n"
            f"return %r : {_T}"
        ),
        _T,
        [6, 2, 3, 5],
    ),
    "copy by name": (f"%r = bufferization.alloc_tensor() copy(%b) : {_T}\nreturn %r : {_T}", _T, [5, 6, 7, 8]),
    "materialized": (
        (
            f"%e = tensor.empty() : {_T}\n%r = bufferization.materialize_in_destination %b in %e : ({_T}, {_T}) -> {_T}\n"
            f"return %r : {_T}"
        ),
        _T,
        [5, 6, 7, 8],
    ),
    "transfers": (
        (
            f"%v = vector.transfer_read %a[%c2], %s : {_T}, vector<3xi32>\n%w = arith.addi %v, %v : vector<3xi32>\n"
            f"%r = vector.transfer_write %w, %b[%c1] : vector<3xi32>, {_T}\nreturn %r : {_T}"
        ),
        _T,
        [5, 6, 8, 14],  # 3 and 4, and 7 from outside, doubled
    ),
    "bits": (
        f"%f = tensor.bitcast %a : {_T} to tensor<4xf32>\n%g = tensor.bitcast %f : tensor<4xf32> to {_T}\nreturn %g : {_T}",
        _T,
        [1, 2, 3, 4],
    ),
}


@pytest.mark.parametrize("name", BODIES)
def test_op(name: str) -> None:
    body, result, values = BODIES[name]
    (got,) = wanted(f"{_HEAD.replace('TYPE', result)}{body}\n}}", [_A, np.int64(3)])
    assert got.defined.all()
    assert got.values.tolist() == values


def test_recursion() -> None:
    text = f"""
func.func private @f(%x: {_T}, %i: index) -> {_T} {{
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %s = arith.constant 7 : i32
  %c = arith.cmpi eq, %i, %c0 : index
  cf.cond_br %c, ^end(%x : {_T}), ^on
^on:
  %j = arith.subi %i, %c1 : index
  %w = tensor.insert %s into %x[%j] : {_T}
  %q = func.call @f(%w, %j) : ({_T}, index) -> {_T}
  cf.br ^end(%q : {_T})
^end(%r: {_T}):
  return %r : {_T}
}}
func.func @main(%a: {_T}, %n: index) -> ({_T}, {_T}) {{
  %r = func.call @f(%a, %n) : ({_T}, index) -> {_T}
  return %r, %a : {_T}, {_T}
}}"""
    got, old = wanted(text, [_A, np.int64(2)])
    assert got.values.tolist() == [7, 7, 3, 4]
    assert old.values.tolist() == [1, 2, 3, 4]


def test_undefined_stays_undefined() -> None:
    """A tensor without contents is no other for having gone round a loop, and half of one is half defined."""
    body = f"""%e = tensor.empty() : {_T}
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%x = %e) -> ({_T}) {{ scf.yield %x : {_T} }}
  %p = tensor.extract_slice %a[0] [2] [1] : {_T} to tensor<2xi32>
  %w = tensor.insert_slice %p into %r[1] [2] [1] : tensor<2xi32> into {_T}
  return %w : {_T}
}}"""
    (got,) = wanted(_HEAD.replace("TYPE", _T) + body, [_A, np.int64(3)])
    assert got.defined.tolist() == [False, True, True, False]


@pytest.mark.parametrize(("steps", "runs"), [(0, 1), (2, 6)])
def test_one_run_tells_where_nothing_undefined_is_read(steps: int, runs: int, monkeypatch: pytest.MonkeyPatch) -> None:
    body = f"""%e = tensor.empty() : {_T}
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%x = %a) -> ({_T}) {{
    %w = linalg.map {{ arith.addi }} ins(%x, %e : {_T}, {_T}) outs(%x : {_T})
    %z = linalg.map {{ arith.subi }} ins(%w, %w : {_T}, {_T}) outs(%x : {_T})
    scf.yield %z : {_T}
  }}
  return %r : {_T}
}}"""
    seen: list[Fill] = []

    def noted(function: Operation, inputs: Sequence[Any], undefined: Fill) -> list[Array]:
        seen.append(undefined)
        return run(function, inputs, undefined)

    monkeypatch.setattr(reference, "run", noted)
    (got,) = wanted(_HEAD.replace("TYPE", _T) + body, [_A, np.int64(steps)])
    assert got.values.tolist() == ([0] * 4 if steps else _A.tolist())
    assert got.defined.all()
    assert len(seen) == runs


def test_program_that_does_not_end() -> None:
    body = f"cf.br ^again\n^again:\n  cf.br ^again\n^end:\n  return %a : {_T}\n}}"
    with pytest.raises(AssertionError, match="does not end"):
        wanted(_HEAD.replace("TYPE", _T) + body, [_A, np.int64(3)])
