"""What may reduce in another order: its neutral element changes nothing, and what may depend on the order is not taken."""

from __future__ import annotations

import numpy as np
import pytest
from torch_mlir import ir

import hotdesk
from hotdesk.analysis.memrefs.reductions import CHUNKS, chunk_count, chunk_length, find_combiners
from hotdesk.ir.context import make_context
from hotdesk.ir.walking import nested_ops

FLOATS = ("addf", "mulf", "maximumf", "minimumf", "maxnumf", "minnumf")
INTEGERS = ("addi", "muli", "andi", "ori", "xori", "maxsi", "minsi", "maxui", "minui")
TYPES = {"i1": bool, "i8": np.int8, "i64": np.int64, "index": np.int64, "f32": np.float32, "f64": np.float64}


def reducing(body: str, kind: str) -> str:
    return f"""func.func @main(%x: {kind}, %z: {kind}, %n: index) -> {kind} {{
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %r = scf.parallel (%i) = (%c0) to (%n) step (%c1) init(%z) -> {kind} {{
        scf.reduce(%x : {kind}) {{
        ^bb0(%a: {kind}, %b: {kind}):
          {body}
        }}
      }}
      return %r : {kind}
    }}"""


def combined(op: str, kind: str, operands: str = "%a, %b") -> str:
    return f"%s = arith.{op} {operands} : {kind}\nscf.reduce.return %s : {kind}"


def neutral(text: str) -> int | float | None:
    with make_context(), ir.Location.unknown():
        module = ir.Module.parse(text)
        (loop,) = [op for op in nested_ops(module.operation) if op.name == "scf.parallel"]
        found = find_combiners(loop)
        return None if found is None else found[0].neutral


CASES = [(op, kind) for kind in ("f32", "f64") for op in FLOATS]
CASES += [(op, kind) for kind in ("i1", "i8", "i64", "index") for op in INTEGERS]


@pytest.mark.parametrize(("op", "kind"), CASES)
def test_the_neutral_element_changes_nothing(op: str, kind: str) -> None:
    """On the machine, on both sides, for values at the ends of the type, NaN and both zeros, bit by bit."""
    number = neutral(reducing(combined(op, kind), kind))
    assert number is not None
    dtype = np.dtype(TYPES[kind])
    written = {"inf": "0x7F800000", "-inf": "0xFF800000", "nan": "0x7FC00000"} if kind == "f32" else {}
    written = written or {"inf": "0x7FF0000000000000", "-inf": "0xFFF0000000000000", "nan": "0x7FF8000000000000"}
    text = written.get(str(number), str(number)) if kind != "i1" else ("true" if number & 1 else "false")
    memory = f"memref<?x{kind}>"
    program = hotdesk.compile(f"""func.func @main(%x: {memory}, %y: {memory}, %z: {memory}) {{
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %n = memref.dim %x, %c0 : {memory}
      %e = arith.constant {text}{"" if kind == "i1" else f" : {kind}"}
      scf.for %i = %c0 to %n step %c1 {{
        %v = memref.load %x[%i] : {memory}
        %a = arith.{op} %v, %e : {kind}
        %b = arith.{op} %e, %v : {kind}
        memref.store %a, %y[%i] : {memory}
        memref.store %b, %z[%i] : {memory}
      }}
      return
    }}""")
    if dtype.kind == "f":
        x = np.array([0.0, -0.0, 1.5, -3.25, np.inf, -np.inf, np.finfo(dtype).tiny], dtype)
    elif dtype.kind == "b":
        x = np.array([False, True])
    else:
        x = np.array([0, 1, -1, 77, np.iinfo(dtype).min, np.iinfo(dtype).max], dtype)
    y, z = np.zeros_like(x), np.zeros_like(x)
    program(x, y, z)
    assert x.tobytes() == y.tobytes() == z.tobytes()


OTHER = {
    "another operation": ("subf", "f32"),
    "another type": ("addi", "i128"),
    "the one value twice": ("addf", "f32", "%b, %b"),
    "a value from outside": ("addf", "f32", "%a, %x"),
}


@pytest.mark.parametrize("case", OTHER)
def test_what_may_depend_on_the_order(case: str) -> None:
    assert neutral(reducing(combined(*OTHER[case]), OTHER[case][1])) is None


def test_more_than_one_operation_and_none() -> None:
    two = "%t = arith.addf %a, %b : f32\n%s = arith.addf %t, %b : f32\nscf.reduce.return %s : f32"
    assert neutral(reducing(two, "f32")) is None
    assert neutral(reducing("scf.reduce.return %b : f32", "f32")) is None
    unused = "%s = arith.addf %a, %b : f32\nscf.reduce.return %a : f32"
    assert neutral(reducing(unused, "f32")) is None
    assert neutral(reducing(combined("addf", "f32", "%b, %a"), "f32")) == 0.0


@pytest.mark.parametrize("trips", [0, 1, 2, 63, 64, 65, 127, 128, 129, 1000, 10**9 + 1])
def test_chunks_cover_all_iterations_once(trips: int) -> None:
    length, count = chunk_length(trips), chunk_count(trips)
    assert count <= CHUNKS
    assert length * (count - 1) < trips <= length * count or trips == count == 0
