"""Tensors that `scf.parallel` reduces: one iteration after the other, where the tensor lies, and the same numbers."""

from __future__ import annotations

import re
from dataclasses import replace

import numpy as np
import pytest

from hotdesk.passes.bufferize.one_shot import OneShotBufferize
from hotdesk.passes.bufferize.scf_partial import ScfBufferize
from tests.running import MLIR, OURS, RefusedError, check, compiled
from tests.unit.parsing import parse, run

X, Z, F = "tensor<6x4xf32>", "tensor<4xf32>", "tensor<f32>"
HEAD = """
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
"""
ROW = f"""%row = tensor.extract_slice %x[%i, 0] [1, 4] [1, 1] : {X} to {Z}
    %e = tensor.empty() : {Z}
    %v = linalg.map {{ arith.mulf }} ins(%row, %row : {Z}, {Z}) outs(%e : {Z})"""


def combined(op: str, kind: str = Z) -> str:
    return f"""{{
    ^bb0(%a: {kind}, %b: {kind}):
      %s = linalg.map {{ {op} }} ins(%a, %b : {kind}, {kind}) outs(%a : {kind})
      scf.reduce.return %s : {kind}
    }}"""


def rows(init: str, *, after: str = f"return %r : {Z}", given: str = "") -> str:
    return f"""func.func @main(%x: {X}, %z: {Z} {given}, %n: index) -> {Z} {{ {HEAD}
      %r = scf.parallel (%i) = (%c0) to (%n) step (%c1) init ({init}) -> {Z} {{
        {ROW}
        scf.reduce(%v : {Z}) {combined("arith.subf")}
      }}
      {after}
    }}"""


SUM = rows("%z")
DONATED = rows("%z", given="{hotdesk.donated}")
READ_AFTER = rows(
    "%z",
    given="{hotdesk.donated}",
    after=f"%e2 = tensor.empty() : {Z}\n%q = linalg.map {{ arith.addf }} ins(%r, %z : {Z}, {Z}) outs(%e2 : {Z})\nreturn %q : {Z}",
)
SEVERAL = f"""func.func @main(%x: {X}, %z: {Z}, %n: index) -> ({Z}, f32, {Z}) {{ {HEAD}
  %one = arith.constant 1.0 : f32
  %r:3 = scf.parallel (%i, %j) = (%c0, %c0) to (%n, %c3) step (%c1, %c2) init (%z, %one, %z) -> ({Z}, f32, {Z}) {{
    {ROW}
    %t = tensor.extract %row[%j] : {Z}
    scf.reduce(%v, %t, %row : {Z}, f32, {Z}) {combined("arith.addf")}, {{
    ^bb0(%p: f32, %q: f32):
      %u = tensor.extract %z[%c1] : {Z}
      %w = arith.mulf %q, %u : f32
      %y = arith.subf %p, %w : f32
      scf.reduce.return %y : f32
    }}, {combined("arith.maximumf")}
  }}
  return %r#0, %r#1, %r#2 : {Z}, f32, {Z}
}}"""
NESTED = f"""func.func @main(%x: {X}, %z: {Z}, %n: index) -> {Z} {{ {HEAD}
  %r = scf.parallel (%i) = (%c0) to (%n) step (%c1) init (%z) -> {Z} {{
    %w = scf.parallel (%j) = (%c0) to (%c2) step (%c1) init (%z) -> {Z} {{
      %row = tensor.extract_slice %x[%j, 0] [1, 4] [1, 1] : {X} to {Z}
      scf.reduce(%row : {Z}) {combined("arith.addf")}
    }}
    scf.reduce(%w : {Z}) {combined("arith.subf")}
  }}
  return %r : {Z}
}}"""
DYNAMIC = f"""func.func @main(%x: tensor<?xf32> {{hotdesk.shape = ["n"]}}, %n: index) -> tensor<?xf32> {{ {HEAD}
  %r = scf.parallel (%i) = (%c0) to (%n) step (%c1) init (%x) -> tensor<?xf32> {{
    scf.reduce(%x : tensor<?xf32>) {combined("arith.addf", "tensor<?xf32>")}
  }}
  return %r : tensor<?xf32>
}}"""
OF_ONE = f"""func.func @main(%x: {X}, %z: {F}, %n: index) -> {F} {{ {HEAD}
  %r = scf.parallel (%i) = (%c0) to (%n) step (%c1) init (%z) -> {F} {{
    %t = tensor.extract %x[%i, %c1] : {X}
    %v = tensor.from_elements %t : {F}
    scf.reduce(%v : {F}) {combined("arith.maximumf", F)}
  }}
  return %r : {F}
}}"""
SCALARS = f"""func.func @main(%x: {X}, %z: {Z}, %n: index) -> {Z} {{ {HEAD}
  %one = arith.constant 1.0 : f32
  %r = scf.parallel (%i) = (%c0) to (%n) step (%c1) init (%one) -> f32 {{
    %t = tensor.extract %x[%i, %c1] : {X}
    scf.reduce(%t : f32) {{
    ^bb0(%p: f32, %q: f32):
      %u = tensor.extract %z[%c1] : {Z}
      %w = arith.addf %p, %u : f32
      %y = arith.addf %w, %q : f32
      scf.reduce.return %y : f32
    }}
  }}
  %s = tensor.insert %r into %z[%c0] : {Z}
  return %s : {Z}
}}"""
DRAWN = np.random.default_rng(4)
PROGRAMS = {
    "rows": SUM,
    "donated": DONATED,
    "the init is read later": READ_AFTER,
    "several, and a scalar": SEVERAL,
    "nested": NESTED,
    "of rank 0": OF_ONE,
    "scalars alone": SCALARS,
}
COPIES = {
    "rows": 1,  # the init into the result
    "donated": 1,  # what is donated is not the result's memory
    "the init is read later": 1,
    "several, and a scalar": 2,
    "of rank 0": 1,
    "scalars alone": 1,
}


def _drawn(*shape: int) -> np.ndarray:
    return DRAWN.standard_normal(shape, dtype=np.float32)


def _inputs(text: str, times: int) -> list[object]:
    return [_drawn(6, 4), _drawn() if F in text.partition("->")[0] else _drawn(4), np.int64(times)]


@pytest.mark.parametrize("times", [0, 1, 5])
@pytest.mark.parametrize("name", PROGRAMS)
def test_what_it_computes(name: str, times: int) -> None:
    done = check(PROGRAMS[name], _inputs(PROGRAMS[name], times), OURS)
    if name in COPIES:
        assert done.copies.count == COPIES[name]


@pytest.mark.parametrize("times", [0, 3])
def test_sizes_that_are_not_known(times: int) -> None:
    assert check(DYNAMIC, [_drawn(5), np.int64(times)], OURS).copies.count == 1


@pytest.mark.parametrize("heuristic", ["bottom-up", "bottom-up-from-terminators", "largest-first", "fuzzer"])
def test_every_order_of_decisions(heuristic: str) -> None:
    subject = replace(OURS, pipeline=f"builtin.module(hotdesk-one-shot-bufferize{{analysis-heuristic={heuristic}}})")
    check(SEVERAL, _inputs(SEVERAL, 3), subject)


@pytest.mark.parametrize("name", PROGRAMS)
def test_after_tensor_passes(name: str) -> None:
    first = "hotdesk-rematerialize-cheap-ops,hotdesk-eliminate-empty-tensors,hotdesk-reorder-for-peak,hotdesk-choose-destinations"
    subject = replace(OURS, pipeline=f"builtin.module({first},hotdesk-one-shot-bufferize,hotdesk-buffer-deallocation)")
    check(PROGRAMS[name], _inputs(PROGRAMS[name], 4), replace(subject, frees=True))


@pytest.mark.parametrize("name", [name for name in PROGRAMS if name != "scalars alone"])
def test_loops_of_tensors_are_loops(name: str) -> None:
    text = run(parse(PROGRAMS[name]), OneShotBufferize())
    assert "scf.for" in text
    assert "scf.parallel" not in text


@pytest.mark.parametrize("name", [name for name in PROGRAMS if name != "scalars alone"])
def test_loops_alone_become_buffers(name: str) -> None:
    partial = ScfBufferize()
    text = run(parse(PROGRAMS[name]), partial)
    assert "scf.parallel" not in text
    assert re.findall(r"linalg\.\w+ .*memref<", text) == []  # those inside keep their tensors
    assert "hotdesk." not in text.replace("hotdesk.donated", "")
    loops = re.findall(r"scf\.for .* -> \(([^)]*)\)", text)
    assert loops
    assert all("tensor" not in kinds for kinds in loops)
    finished = "hotdesk-scf-bufferize,hotdesk-one-shot-bufferize"
    check(PROGRAMS[name], _inputs(PROGRAMS[name], 3), replace(OURS, pipeline=f"builtin.module({finished})"))


def test_the_peer_takes_none_of_them() -> None:
    with pytest.raises(RefusedError, match="op was not bufferized"):
        compiled(SUM, MLIR)
