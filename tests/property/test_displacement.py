"""Random programs of small matrices, each made from others: displaced and not, they compute the same, and take no more memory.

Buffers are read element by element, transposed, row by row, by views, later again or never; freed behind their last use, or not.
"""

from __future__ import annotations

import random
from typing import Any

import numpy as np
from hypothesis import given, note, settings
from hypothesis import strategies as st
from torch_mlir import ir

from hotdesk.checker import CheckReport, Settings, check_module
from hotdesk.ir.context import make_context
from hotdesk.passes.textual import parse_pipeline

M = "memref<4x4xf32>"
T = "memref<4x4xf32, strided<[1, 4]>>"
SAME = "affine_map<(i, j) -> (i, j)>"
ROW = (
    f"""linalg.generic {{{{indexing_maps = [{SAME}, affine_map<(i, j) -> (i, 0)>, {SAME}],"""
    """
  iterator_types = ["parallel", "parallel"]}} ins({a}, {b} : {m}, {m}) outs({r} : {m}) {{
^bb0(%p: f32, %q: f32, %o: f32):
  %s = arith.subf %p, %q : f32
  linalg.yield %s : f32
}}"""
)
OPS = (
    "linalg.tanh ins({a} : {m}) outs({r} : {m})",
    "linalg.add ins({a}, {b} : {m}, {m}) outs({r} : {m})",
    "linalg.sub ins({a}, {a} : {m}, {m}) outs({r} : {m})",
    "linalg.map {{ arith.mulf }} ins({a}, {b} : {m}, {m}) outs({r} : {m})",
    "linalg.transpose ins({a} : {m}) outs({r} : {m}) permutation = [1, 0]",
    "%v{n} = memref.transpose {a} (i, j) -> (j, i) : {m} to {t}\nlinalg.add ins({a}, %v{n} : {m}, {t}) outs({r} : {m})",
    "%v{n} = memref.transpose {b} (i, j) -> (j, i) : {m} to {t}\nlinalg.add ins({a}, %v{n} : {m}, {t}) outs({r} : {m})",
    ROW,
)


def program(chance: random.Random, *, frees: bool) -> str:
    """`@main` of two matrices that are read and one that is written."""
    known, steps, last = ["%x", "%y"], list[list[str]](), dict[str, int]()
    for n in range(chance.randrange(2, 9)):
        a, b = chance.choice(known[-3:]), chance.choice(known)
        last[a] = last[b] = n
        steps.append([f"%r{n} = memref.alloc() : {M}", chance.choice(OPS).format(a=a, b=b, r=f"%r{n}", n=n, m=M, t=T)])
        known.append(f"%r{n}")
        last[known[-1]] = n
    last[known[-1]] = len(steps)
    steps.append([f"memref.copy {known[-1]}, %out : {M} to {M}"])
    for name, n in last.items() if frees else ():
        if name.startswith("%r"):
            steps[min(len(steps) - 1, n + chance.randrange(2))].append(f"memref.dealloc {name} : {M}")
    body = "\n".join(line for step in steps for line in step)
    return f"func.func @main(%x: {M}, %y: {M}, %out: {M} {{bufferize.result = 0 : i64}}) {{\n{body}\nreturn\n}}"


def run(module: ir.Module, inputs: list[Any], *, frees: bool) -> CheckReport:
    report = check_module(
        module, "main", inputs, result_shapes={0: (4, 4)}, read_only=True, settings=Settings(deallocated=frees)
    )
    assert report.clean, f"{report}\n{module}"
    return report


@settings(max_examples=60, derandomize=True, deadline=None, database=None)
@given(st.integers(0, 1 << 30), st.booleans(), st.sampled_from(["hotdesk-displace-buffers", "hotdesk-buffer-pipeline"]))
def test_the_same_is_computed(number: int, frees: bool, pipeline: str) -> None:
    chance = random.Random(number)
    text = program(chance, frees=frees)
    note(text)
    inputs = [np.random.default_rng(number + i).standard_normal((4, 4)).astype("f4") for i in range(2)]
    with make_context(), ir.Location.unknown():
        before, after = ir.Module.parse(text), ir.Module.parse(text)
        parse_pipeline(f"builtin.module({pipeline})").run(after)
        assert after.operation.verify()
        note(str(after))
        freed = frees or pipeline.endswith("pipeline")
        was, now = run(before, inputs, frees=frees), run(after, inputs, frees=freed)
        assert str(after).count("memref.alloc()") <= text.count("memref.alloc()")
    np.testing.assert_array_equal(was.results[0].values, now.results[0].values)


def test_results_are_displaced_in_many_of_them() -> None:
    displaced = 0
    for number in range(40):
        text = program(random.Random(number), frees=bool(number % 2))
        with make_context(), ir.Location.unknown():
            module = ir.Module.parse(text)
            decisions = parse_pipeline("builtin.module(hotdesk-displace-buffers)").run(module)
        displaced += sum(str(decision.outcome) == "in place" for decision in decisions)
    assert displaced >= 20
