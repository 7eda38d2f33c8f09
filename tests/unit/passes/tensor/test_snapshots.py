"""Tensors of memory that is written later hold what it held when they were made."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import hotdesk
from hotdesk.ir.context import entered
from hotdesk.passes.textual import parse_pipeline
from tests.unit.parsing import parse

T, M = "tensor<4xf32>", "memref<4xf32>"


def program(body: str, result: str = "%r", arguments: str = "") -> str:
    return f"""func.func @main(%m: {M}, %v: f32{arguments}) -> {T} {{
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c3 = arith.constant 3 : index
      {body}
      return {result} : {T}
    }}"""


def made(name: str, promise: str = " restrict", memory: str = "%m") -> str:
    return f"{name} = bufferization.to_tensor {memory}{promise} : {M} to {T}"


def unary(name: str, of: str, function: str = "exp") -> str:
    return f"{name}e = tensor.empty() : {T}\n{name} = linalg.{function} ins({of} : {T}) outs({name}e : {T}) -> {T}"


def added(name: str, a: str, b: str) -> str:
    return f"{name}e = tensor.empty() : {T}\n{name} = linalg.add ins({a}, {b} : {T}, {T}) outs({name}e : {T}) -> {T}"


STORE = f"memref.store %v, %m[%c1] : {M}"
X = np.array([0.5, 1, 2, 3], np.float32)
Y = np.array([0.5, 7, 2, 3], np.float32)

# What is returned, given X and the number 7; and how many copies are made of memory.
CASES = {
    "read behind the store": (f"{made('%t')}\n{STORE}\n{unary('%r', '%t')}", np.exp(X), 1),
    "read in front of it, and fused behind it": (
        f"{made('%t')}\n{unary('%a', '%t')}\n{STORE}\n{added('%r', '%a', '%a')}",
        2 * np.exp(X),
        1,
    ),
    "all in front of it": (f"{made('%t')}\n{unary('%a', '%t')}\n{added('%r', '%a', '%a')}\n{STORE}", 2 * np.exp(X), 0),
    "two of one memory": (
        f"{made('%t')}\n{unary('%a', '%t')}\n{STORE}\n{made('%u')}\n{unary('%b', '%u')}\n{added('%r', '%a', '%b')}",
        np.exp(X) + np.exp(Y),
        2,
    ),
    "two of one memory, without a promise": (
        f"{made('%t', '')}\n{unary('%a', '%t')}\n{STORE}\n{made('%u', '')}\n{unary('%b', '%u')}\n{added('%r', '%a', '%b')}",
        np.exp(X) + np.exp(Y),
        1,
    ),
    "two of one memory that nothing writes between": (
        f"{made('%t')}\n{made('%u')}\n{added('%r', '%t', '%u')}\n{STORE}",
        2 * X,
        0,
    ),
    "a store through a view": (
        f"""{made("%t")}
        %w = memref.subview %m[1] [2] [1] : {M} to memref<2xf32, strided<[1], offset: 1>>
        memref.store %v, %w[%c0] : memref<2xf32, strided<[1], offset: 1>>
        {unary("%r", "%t")}""",
        np.exp(X),
        1,
    ),
    "written by an op on memory": (
        f"{made('%t')}\n{unary('%a', '%t')}\nlinalg.fill ins(%v : f32) outs(%m : {M})\n{added('%r', '%a', '%t')}",
        np.exp(X) + X,
        1,
    ),
    "written in a loop in which it is read": (
        f"""{made("%t")}
        %z = tensor.empty() : {T}
        %r = scf.for %i = %c0 to %c3 step %c1 iter_args(%a = %z) -> {T} {{
          {unary("%x", "%t")}
          {STORE}
          scf.yield %x : {T}
        }}""",
        np.exp(X),
        1,
    ),
    "made and read in each iteration, and then written": (
        f"""%z = tensor.empty() : {T}
        %r = scf.for %i = %c0 to %c3 step %c1 iter_args(%a = %z) -> {T} {{
          {made("%t")}
          {unary("%x", "%t")}
          {STORE}
          scf.yield %x : {T}
        }}""",
        np.exp(Y),
        0,
    ),
    "handed to the next iteration, which has written": (
        f"""%s = memref.alloc() : {M}
        memref.copy %m, %s : {M} to {M}
        {made("%first", memory="%s")}
        %r = scf.for %i = %c0 to %c3 step %c1 iter_args(%a = %first) -> {T} {{
          {STORE}
          {made("%t")}
          scf.yield %t : {T}
        }}""",
        Y,
        1,
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_what_is_read_is_what_was_there(name: str) -> None:
    body, expected, copies = CASES[name]
    compiled = hotdesk.compile(program(body), options=hotdesk.Options(keep_ir=True))
    m = X.copy()
    assert not compiled.check(m, 7.0).faults
    for _ in range(2):
        m[:] = X
        np.testing.assert_allclose(compiled(m, 7.0), expected, rtol=1e-6)
    assert compiled.ir("capture").count("memref.copy") - body.count("memref.copy") == copies


def bufferized(body: str, passes: str) -> np.ndarray[Any, Any]:
    """What a program returns for X and the number 7, in memory that the caller gives it."""
    module = parse(program(body))
    with entered(module.operation):
        parse_pipeline(f"builtin.module({passes},hotdesk-one-shot-bufferize)").run(module)
    m, result = X.copy(), np.zeros_like(X)
    hotdesk.compile(str(module))(m, 7.0, result)
    return result


@pytest.mark.parametrize("name", CASES)
def test_passes_by_hand_behind_the_pass(name: str) -> None:
    body, expected, _ = CASES[name]
    found = bufferized(body, "hotdesk-snapshot-tensors,hotdesk-fuse-elementwise,canonicalize,cse")
    np.testing.assert_allclose(found, expected, rtol=1e-6)


@pytest.mark.parametrize("name", ["read in front of it, and fused behind it", "all in front of it"])
def test_fusion_by_hand_keeps_to_its_side_of_a_write(name: str) -> None:
    body, expected, _ = CASES[name]
    np.testing.assert_allclose(bufferized(body, "hotdesk-fuse-elementwise"), expected, rtol=1e-6)
