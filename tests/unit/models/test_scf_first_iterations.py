"""Which loops certainly have a first iteration, held against what they do when they are compiled."""

from __future__ import annotations

import numpy as np
import pytest
from torch_mlir import ir

from hotdesk.analysis.memrefs.buffer_reading import read_buffers
from hotdesk.ir.context import make_context
from hotdesk.models.scf import has_first_iteration
from hotdesk.program.records import ENTRY, EXIT
from tests.running import Executable
from tests.unit.parsing import function, ops, parse

LOOPS = (
    ("signed", "index", 0, 1, 1, True),
    ("signed", "index", -3, -2, 1, True),
    ("signed", "index", 1, 1, 1, False),
    ("signed", "index", 2, 1, 1, False),
    ("signed", "index", 0, -1, 1, False),
    ("unsigned", "index", 0, -1, (2**64 - 1) // 3, True),
    ("unsigned", "index", -2, -1, 1, True),
    ("unsigned", "index", -1, 0, 1, False),
    ("unsigned", "index", 2, 1, 1, False),
    ("signed", "i8", 0, -56, 100, False),
    ("unsigned", "i8", 0, -56, 100, True),
    ("signed", "i8", -56, 0, 56, True),
    ("unsigned", "i8", -56, 0, 56, False),
    ("signed", "i64", -(2**63), 1 - 2**63, 1, True),
    ("unsigned", "i64", -(2**63), 2**63 - 1, 1, False),
    ("unsigned", "i64", 2**63 - 1, -(2**63), 1, True),
)
"""How bounds are compared, their type, the lower one, the upper one, the step, and whether the loop runs."""
_DTYPES = {"index": np.int64, "i64": np.int64, "i8": np.int8}


def loop(compared: str, kind: str, low: str, high: str, step: str) -> str:
    """A loop that says in the result of the program whether it has run."""
    sign, suffix = "unsigned " * (compared == "unsigned"), f": {kind}" * (kind != "index")
    return f"""
    %zero = arith.constant 0 : i32
    %one = arith.constant 1 : i32
    memref.store %zero, %out[] : memref<i32>
    scf.for {sign}%i = {low} to {high} step {step} {suffix} {{
      memref.store %one, %out[] : memref<i32>
    }}
    return"""


@pytest.mark.parametrize(("compared", "kind", "low", "high", "step", "runs"), LOOPS)
def test_constant_bounds(compared: str, kind: str, low: int, high: int, step: int, runs: bool) -> None:
    bounds = f"%low = arith.constant {low} : {kind}\n%high = arith.constant {high} : {kind}\n"
    body = loop(compared, kind, "%low", "%high", "%step")
    module = parse(f"func.func @f(%out: memref<i32>, %step: {kind}) {{\n{bounds}{body}\n}}")
    (op,) = ops(module, "scf.for")
    assert has_first_iteration(op) is runs
    (edges,) = [each.edges for each in read_buffers(function(module)).ops if each.name == "scf.for"]
    assert any((edge.start, edge.end) == (ENTRY, EXIT) for edge in edges) is not runs


@pytest.mark.parametrize(("compared", "kind", "low", "high", "step", "runs"), LOOPS)
def test_runs(compared: str, kind: str, low: int, high: int, step: int, runs: bool) -> None:
    body = loop(compared, kind, "%l", "%h", "%s")
    arguments = f"%l: {kind}, %h: {kind}, %s: {kind}, %out: memref<i32> {{bufferize.result = 0 : i64}}"
    with make_context():
        program = Executable(ir.Module.parse(f"func.func @main({arguments}) {{\n{body}\n}}"))
    given = [_DTYPES[kind](number) for number in (low, high, step)]
    assert program(given, [()]).results[0] == runs


@pytest.mark.parametrize(
    ("low", "high"),
    [("%n", "%c9"), ("%c0", "%n"), ("%c0", "%far"), ("%before", "%c0")],
    ids=["lower bound open", "upper bound open", "above 32 bits", "below 32 bits"],
)
def test_not_certain(low: str, high: str) -> None:
    """The width of an index is the target's: it may not hold what is beyond 32 bits."""
    module = parse(f"""func.func @f(%n: index, %out: memref<i32>) {{
      %c0 = arith.constant 0 : index
      %c9 = arith.constant 9 : index
      %far = arith.constant 4294967296 : index
      %before = arith.constant -2147483649 : index
      {loop("signed", "index", low, high, "%c9")}
    }}""")
    (op,) = ops(module, "scf.for")
    assert not has_first_iteration(op)
