"""Results of calls that may be memory of the caller's: what writes one writes the other, or the program is refused."""

from __future__ import annotations

import numpy as np
import pytest

import hotdesk
from hotdesk.errors import UnsupportedOpError

KIND = "memref<4xf32>"


def _program(body: str, use: str, before: str = "") -> str:
    """`@f` calls itself `%k` times, ends with what `body` yields, and `@main` does something with its result."""
    return f"""
      func.func private @f(%k: index, %c: i1, %a: {KIND}, %b: {KIND}) -> {KIND} {{
        %c0 = arith.constant 0 : index
        %c1 = arith.constant 1 : index
        %e = arith.cmpi eq, %k, %c0 : index
        %x = scf.if %e -> ({KIND}) {{
          {body}
        }} else {{
          %k1 = arith.subi %k, %c1 : index
          %r = func.call @f(%k1, %c, %a, %b) : (index, i1, {KIND}, {KIND}) -> {KIND}
          scf.yield %r : {KIND}
        }}
        return %x : {KIND}
      }}
      func.func @main(%s: {KIND}, %t: {KIND}, %z: f32, %k: index, %c: i1, %o: {KIND}) {{
        {before}
        %r = func.call @f(%k, %c, %s, %t) : (index, i1, {KIND}, {KIND}) -> {KIND}
        {use}
        return
      }}"""


ARGUMENT = f"scf.yield %b : {KIND}"
CHOICE = f"%v = arith.select %c, %a, %b : {KIND}\nscf.yield %v : {KIND}"
OWN = f"%v = memref.alloc() : {KIND}\nmemref.copy %b, %v : {KIND} to {KIND}\nscf.yield %v : {KIND}"
ZERO = "%zero = arith.constant 0 : index\n"
CHECKED = f"""linalg.generic {{indexing_maps = [affine_map<(d) -> (d)>, affine_map<(d) -> (d)>], iterator_types = ["parallel"]}}
          ins(%o : {KIND}) outs(%r : {KIND}) {{
        ^bb0(%in: f32, %old: f32):
          %p = arith.cmpf olt, %in, %z : f32
          cf.assert %p, "small"
          linalg.yield %z : f32
        }}"""
ATOMIC = f"{ZERO}%q = memref.atomic_rmw addf %z, %r[%zero] : (f32, {KIND}) -> f32"
VECTOR = f"{ZERO}%v = vector.broadcast %z : f32 to vector<4xf32>\nvector.store %v, %r[%zero] : {KIND}, vector<4xf32>"
WRITTEN = f"linalg.fill ins(%z : f32) outs(%r : {KIND})"
READ = f"memref.copy %r, %o : {KIND} to {KIND}"


def _run(text: str, k: int, *, c: bool = False) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    s, t, o = np.arange(4, dtype=np.float32), np.arange(4, 8, dtype=np.float32), np.zeros(4, np.float32)
    hotdesk.compile(text, entry="main")(s, t, 9.0, k, c, o)
    return s, t, o


@pytest.mark.parametrize("k", [0, 3])
def test_a_result_that_is_an_argument_is_its_memory(k: int) -> None:
    s, t, _ = _run(_program(ARGUMENT, WRITTEN), k)
    np.testing.assert_array_equal(s, [0, 1, 2, 3])
    np.testing.assert_array_equal(t, [9, 9, 9, 9])


@pytest.mark.parametrize("k", [0, 3])
def test_new_memory_is_written_alone(k: int) -> None:
    s, t, o = _run(_program(OWN, f"{READ}\n{WRITTEN}"), k)
    np.testing.assert_array_equal(np.stack([s, t, o]), [[0, 1, 2, 3], [4, 5, 6, 7], [4, 5, 6, 7]])


@pytest.mark.parametrize("c", [False, True])
def test_one_of_two_arguments_that_is_read_may_be_a_copy(*, c: bool) -> None:
    """Also of one that is written before the call, and of one while other memory is written."""
    before = f"linalg.add ins(%s, %t : {KIND}, {KIND}) outs(%s : {KIND})"
    s, t, o = _run(_program(CHOICE, READ, before), 2, c=c)
    np.testing.assert_array_equal(s, [4, 6, 8, 10])
    np.testing.assert_array_equal(o, s if c else t)


@pytest.mark.parametrize(
    ("use", "writer"),
    [
        (WRITTEN, "linalg.fill"),
        (CHECKED, "linalg.generic"),
        (ATOMIC, "memref.atomic_rmw"),
        (VECTOR, "vector.store"),
        (f"memref.copy %o, %s : {KIND} to {KIND}\n{READ}", "memref.copy"),
        (f"scf.if %c {{\n linalg.fill ins(%z : f32) outs(%t : {KIND})\n}}\n{READ}", "linalg.fill"),
    ],
)
def test_one_of_two_arguments_that_is_written_is_refused(use: str, writer: str) -> None:
    told = f"result 0 of @f, which is called and not inlined.*the caller's, and {writer}, which may write it"
    with pytest.raises(UnsupportedOpError, match=told):
        hotdesk.compile(_program(CHOICE, use), entry="main")


def test_a_part_of_an_argument_is_not_that_argument() -> None:
    wide, part = "memref<8xf32>", "memref<8xf32, strided<[1], offset: ?>>"
    text = f"""
      func.func private @f(%k: index, %a: {part}) -> {part} {{
        %c0 = arith.constant 0 : index
        %c1 = arith.constant 1 : index
        %e = arith.cmpi eq, %k, %c0 : index
        %x = scf.if %e -> ({part}) {{
          %v = memref.reinterpret_cast %a to offset: [%c1], sizes: [8], strides: [1] : {part} to {part}
          scf.yield %v : {part}
        }} else {{
          %k1 = arith.subi %k, %c1 : index
          %r = func.call @f(%k1, %a) : (index, {part}) -> {part}
          scf.yield %r : {part}
        }}
        return %x : {part}
      }}
      func.func @main(%s: {wide}, %z: f32, %k: index) {{
        %all = memref.cast %s : {wide} to {part}
        %r = func.call @f(%k, %all) : (index, {part}) -> {part}
        memref.store %z, %r[%k] : {part}
        return
      }}"""
    with pytest.raises(UnsupportedOpError, match="result 0 of @f"):
        hotdesk.compile(text, entry="main")


def test_arguments_that_branches_exchange_are_several() -> None:
    """A function of blocks, called in a loop: it is not inlined there."""
    text = f"""
      func.func private @g(%k: index, %a: {KIND}, %b: {KIND}) -> {KIND} {{
        %c0 = arith.constant 0 : index
        %c1 = arith.constant 1 : index
        cf.br ^head(%c0, %a, %b : index, {KIND}, {KIND})
      ^head(%i: index, %u: {KIND}, %v: {KIND}):
        %more = arith.cmpi ult, %i, %k : index
        %j = arith.addi %i, %c1 : index
        cf.cond_br %more, ^head(%j, %v, %u : index, {KIND}, {KIND}), ^end
      ^end:
        return %u : {KIND}
      }}
      func.func @main(%s: {KIND}, %t: {KIND}, %z: f32, %k: index, %o: {KIND}) {{
        %c0 = arith.constant 0 : index
        %c1 = arith.constant 1 : index
        scf.for %i = %c0 to %k step %c1 {{
          %r = func.call @g(%i, %s, %t) : (index, {KIND}, {KIND}) -> {KIND}
          linalg.add ins(%r, %o : {KIND}, {KIND}) outs(%WRITTEN : {KIND})
        }}
        return
      }}"""
    with pytest.raises(UnsupportedOpError, match="result 0 of @g"):
        hotdesk.compile(text.replace("%WRITTEN", "%r"), entry="main")
    s, t, o = np.ones(4, np.float32), np.full(4, 10, np.float32), np.zeros(4, np.float32)
    hotdesk.compile(text.replace("%WRITTEN", "%o"), entry="main")(s, t, 0.0, 3, o)
    np.testing.assert_array_equal(o, [12, 12, 12, 12])
