"""What single ops on memrefs read and write, by the names of their operands."""

from __future__ import annotations

import pytest

from hotdesk.models.memory_effects import effects_of, payload_effects
from tests.unit.parsing import function, parse

KIND = "memref<4xf32>"
GENERIC = """linalg.generic {{indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}}
    ins(%x : {kind}) outs(%y : {kind}) {{
  ^bb0(%p: f32, %o: f32):
    {payload}
    linalg.yield %t : f32
  }}"""


def effects(op: str) -> tuple[list[int], list[int]] | None:
    """The numbers of the arguments that the first op reads and writes."""
    arguments = f"%x: {KIND}, %y: {KIND}, %z: {KIND}, %i: index, %s: f32"
    module = parse(f"func.func private @f()\nfunc.func @main({arguments}) {{\n{op}\nreturn\n}}")
    block = function(module).regions[0].blocks[0]
    found = effects_of(next(iter(block.operations)).operation)
    known = list(block.arguments)
    return found and ([known.index(v) for v in found.reads], [known.index(v) for v in found.writes])


@pytest.mark.parametrize(
    ("op", "expected"),
    [
        (f"memref.copy %x, %y : {KIND} to {KIND}", ([0], [1])),
        (f"memref.store %s, %x[%i] : {KIND}", ([], [0])),
        (f"%l = memref.load %y[%i] : {KIND}", ([1], [])),
        (f"memref.dealloc %z : {KIND}", ([], [2])),
        (f"%a = memref.alloc() : {KIND}", ([], [])),
        ("%a = arith.addf %s, %s : f32", ([], [])),
        (f"linalg.fill ins(%s : f32) outs(%x : {KIND})", ([], [0])),
        (f"linalg.map {{ arith.addf }} ins(%x, %y : {KIND}, {KIND}) outs(%z : {KIND})", ([0, 1], [2])),
        (GENERIC.format(kind=KIND, payload="%t = math.exp %p : f32"), ([0], [1])),
        (GENERIC.format(kind=KIND, payload="%t = math.exp %o : f32"), ([1], [1])),
        (GENERIC.format(kind=KIND, payload=f"%t = memref.load %z[%i] : {KIND}"), ([2], [1])),
        (GENERIC.format(kind=KIND, payload="func.call @f() : () -> ()\n    %t = math.exp %p : f32"), None),
        ("func.call @f() : () -> ()", None),
        ("scf.for %k = %i to %i step %i {\n}", None),
    ],
)
def test_effects(op: str, expected: tuple[list[int], list[int]] | None) -> None:
    assert effects(op) == expected


def test_effects_of_a_payload_alone() -> None:
    text = GENERIC.format(kind=KIND, payload=f"memref.store %p, %z[%i] : {KIND}\n    %t = math.exp %p : f32")
    module = parse(f"func.func @main(%x: {KIND}, %y: {KIND}, %z: {KIND}, %i: index) {{\n{text}\nreturn\n}}")
    block = function(module).regions[0].blocks[0]
    found = payload_effects(next(iter(block.operations)).operation)
    assert found is not None
    assert (found.reads, found.writes) == ((), (block.arguments[2],))
