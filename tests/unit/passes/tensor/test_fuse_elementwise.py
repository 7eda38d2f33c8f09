"""Elementwise ops computed where they are read: the same numbers, and the ops that remain."""

from __future__ import annotations

import random

import numpy as np
import pytest

from hotdesk.passes.tensor.fuse_elementwise import FuseElementwise
from tests import reference
from tests.harness import check_module
from tests.unit.parsing import function, parse, run

DRAWN = np.random.default_rng(9)
MAPS = {
    "as it is": "affine_map<(i, j) -> (i, j)>",
    "turned": "affine_map<(i, j) -> (j, i)>",
    "rows": "affine_map<(i, j) -> (i)>",
    "columns": "affine_map<(i, j) -> (j)>",
}


def generic(payload: str, inputs: list[tuple[str, str, str]], output: tuple[str, str, str], kinds: str = "pp") -> str:
    """A two-dimensional op; operands are (value, type, map), `%p0 …` their elements, `%t` what is yielded."""
    operands = [*inputs, output]
    maps = ", ".join(MAPS[name] for _, _, name in operands)
    iterators = ", ".join('"parallel"' if kind == "p" else '"reduction"' for kind in kinds)
    arguments = ", ".join(f"%p{i}: f32" for i in range(len(operands)))
    reads = f"ins({', '.join(v for v, _, _ in inputs)} : {', '.join(t for _, t, _ in inputs)})" if inputs else ""
    return f"""linalg.generic {{indexing_maps = [{maps}], iterator_types = [{iterators}]}}
      {reads} outs({output[0]} : {output[1]}) {{
    ^bb0({arguments}):
      {payload}
      linalg.yield %t : f32
    }} -> {output[1]}"""


SQUARE, ROW = "tensor<3x3xf32>", "tensor<3xf32>"
INDEXED = """%i = linalg.index 0 : index
      %k = arith.index_cast %i : index to i32
      %f = arith.sitofp %k : i32 to f32
      %t = arith.mulf %p0, %f : f32"""
ADD = "%t = arith.addf %p0, %p1 : f32"
MULTIPLY = "%t = arith.mulf %p0, %p1 : f32"
TURNED = f"""func.func @main(%x: {SQUARE}, %y: {ROW}) -> ({SQUARE}, {ROW}) {{
    %e = tensor.empty() : {SQUARE}
    %a = {generic(INDEXED, [("%x", SQUARE, "turned")], ("%e", SQUARE, "turned"))}
    %b = {generic(ADD, [("%a", SQUARE, "turned"), ("%y", ROW, "columns")], ("%e", SQUARE, "as it is"))}
    %c = {generic(ADD, [("%b", SQUARE, "turned")], ("%y", ROW, "rows"), "pr")}
    return %x, %c : {SQUARE}, {ROW}
}}"""
SPREAD = f"""func.func @main(%x: {SQUARE}, %y: {ROW}) -> ({SQUARE}, {SQUARE}) {{
    %e = tensor.empty() : {SQUARE}
    %a = {generic("%t = arith.negf %p0 : f32", [("%y", ROW, "rows")], ("%e", SQUARE, "as it is"))}
    %b = {generic(MULTIPLY, [("%a", SQUARE, "turned")] * 2, ("%e", SQUARE, "as it is"))}
    %c = {generic(ADD, [("%b", SQUARE, "as it is"), ("%x", SQUARE, "turned")], ("%e", SQUARE, "turned"))}
    return %c, %x : {SQUARE}, {SQUARE}
}}"""
TWO_WAYS = f"""func.func @main(%x: {SQUARE}, %y: {ROW}) -> ({SQUARE}, {SQUARE}) {{
    %e = tensor.empty() : {SQUARE}
    %a = {generic("%t = arith.negf %p0 : f32", [("%x", SQUARE, "as it is")], ("%e", SQUARE, "as it is"))}
    %b = {generic(ADD, [("%a", SQUARE, "as it is"), ("%a", SQUARE, "turned")], ("%e", SQUARE, "as it is"))}
    return %b, %b : {SQUARE}, {SQUARE}
}}"""
CASES = {"turned": (TURNED, 1), "spread": (SPREAD, 1), "read in two ways": (TWO_WAYS, 2)}


@pytest.mark.parametrize("name", CASES)
def test_the_same_before_and_after(name: str) -> None:
    text, left = CASES[name]
    inputs = [DRAWN.random((3, 3), np.float32), DRAWN.random(3, np.float32)]
    after = run(parse(text), FuseElementwise())
    assert after.count("linalg.generic") == left
    _compare(text, after, inputs)
    check_module(after, *inputs, pipelines=["buffers alone"])


@pytest.mark.parametrize("seed", range(10))
def test_any_graph(seed: int) -> None:
    """Random graphs of elementwise ops and sums, with values read often and in several orders."""
    draw = random.Random(seed)
    values = [("%x", SQUARE), ("%y", ROW), ("%s", ROW)]
    lines = [f"%e = tensor.empty() : {SQUARE}", f"%d = tensor.empty() : {ROW}"]
    for number in range(9):
        picked = [draw.choice(values[-4:]) for _ in range(draw.choice([1, 2]))]
        inputs = [
            (v, t, draw.choice(["as it is", "turned"] if t == SQUARE else ["rows", "columns"])) for v, t in picked
        ]
        if draw.random() < 0.3:
            inputs.append(("%x", SQUARE, "as it is"))
            line = generic(f"%t = arith.addf %p0, %p{len(inputs)} : f32", inputs, ("%y", ROW, "rows"), "pr")
            made = (f"%v{number}", ROW)
        else:
            payload = "%t = arith.subf %p0, %p1 : f32" if len(inputs) > 1 else INDEXED
            line = generic(payload, inputs, ("%e", SQUARE, draw.choice(["as it is", "turned"])))
            made = (f"%v{number}", SQUARE)
        lines.append(f"{made[0]} = {line}")
        values.append(made)
    results = values[-3:]
    body = "\n".join(lines)
    text = f"""func.func @main(%x: {SQUARE}, %y: {ROW}, %s: {ROW}) -> ({", ".join(t for _, t in results)}) {{
    {body}
    return {", ".join(v for v, _ in results)} : {", ".join(t for _, t in results)}
    }}"""
    inputs_ = [DRAWN.random((3, 3), np.float32), DRAWN.random(3, np.float32), DRAWN.random(3, np.float32)]
    _compare(text, run(parse(text), FuseElementwise()), inputs_)


def _compare(before: str, after: str, inputs: list[reference.Array]) -> None:
    results: list[list[reference.Expected]] = []
    for text in (before, after):
        module = parse(text)
        with module.context:
            results.append(reference.expected(function(module), inputs))
    for a, b in zip(*results, strict=True):
        assert b.defined[a.defined].all()
        np.testing.assert_allclose(a.values[a.defined], b.values[a.defined], rtol=1e-5)
