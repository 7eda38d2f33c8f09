"""Sizes where control flow comes together: what stays the same round loops and in branches, and what does not."""

from __future__ import annotations

import pytest
import sympy

from hotdesk.ir.walking import nested_ops, top_level_ops
from hotdesk.program.joins import settled
from hotdesk.program.symbolic import SymbolicSizes
from hotdesk.sizes.size import Size, is_opaque
from tests.unit.parsing import function, parse

T = "tensor<?xf32>"
N, M = sympy.symbols("n m")
HEAD = f"""func.func @f(%x: {T} {{hotdesk.shape = ["n"]}}, %y: {T} {{hotdesk.shape = ["m"]}}, %k: index, %c: i1) {{
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index"""
UNARY = f"ins(%a : {T}) outs(%a : {T}) -> {T}"


def _sizes(body: str) -> tuple[SymbolicSizes, dict[str, list[Size]]]:
    """For each op that has regions, the sizes of the tensors among its arguments and results, in order."""
    found = function(parse(f"{HEAD}\n{body}\nreturn\n}}"))
    sizes = SymbolicSizes(found)
    told: dict[str, list[Size]] = {}
    for op in nested_ops(found):
        if op.name.startswith("scf.") and len(op.regions):
            arguments = [a for region in op.regions for block in region.blocks for a in block.arguments]
            values = [v for v in (*arguments, *op.results) if str(v.type) == T]
            told.setdefault(op.name, []).extend(sizes.shape(v)[0] for v in values)
    return sizes, told


def _in_loop(inits: str, body: str, yielded: str) -> list[Size]:
    names = [f"%{'abd'[i]} = {init}" for i, init in enumerate(inits.split(", "))]
    types = ", ".join([T] * len(names))
    results = f"({types})"
    return _sizes(f"""%r:{len(names)} = scf.for %i = %c0 to %k step %c1 iter_args({", ".join(names)}) -> {results} {{
      {body}
      scf.yield {yielded} : {types}
    }}""")[1]["scf.for"]


@pytest.mark.parametrize(
    ("inits", "body", "yielded", "expected"),
    [
        ("%x", f"%v = linalg.exp {UNARY}", "%v", [N, N]),
        ("%x", f"%n = tensor.dim %x, %c0 : {T}\n%v = tensor.empty(%n) : {T}", "%v", [N, N]),
        ("%x", f"%n = tensor.dim %a, %c0 : {T}\n%v = tensor.empty(%n) : {T}", "%v", [N, N]),
        ("%x, %x", "", "%b, %a", [N, N, N, N]),
        ("%x, %y", "", "%a, %b", [N, M, N, M]),
        ("%x, %y, %x", "", "%d, %b, %a", [N, M, N, N, M, N]),
    ],
    ids=["written over", "as another", "as itself", "change places", "two sizes", "some change places"],
)
def test_what_stays(inits: str, body: str, yielded: str, expected: list[Size]) -> None:
    assert _in_loop(inits, body, yielded) == expected


@pytest.mark.parametrize(
    ("inits", "body", "yielded"),
    [
        ("%x", "", "%y"),
        ("%x", f"%v = tensor.empty(%i) : {T}", "%v"),
        ("%x", f"%n = tensor.dim %a, %c0 : {T}\n%m = arith.addi %n, %c1 : index\n%v = tensor.empty(%m) : {T}", "%v"),
        ("%x, %y", "", "%b, %a"),
        ("%x, %x", "", "%b, %y"),
    ],
    ids=["another", "the iteration's", "one more", "two change places", "one after the other"],
)
def test_what_changes(inits: str, body: str, yielded: str) -> None:
    found = _in_loop(inits, body, yielded)
    assert all(is_opaque(size) for size in found)
    count = len(found) // 2
    assert not set(found[:count]) & set(found[count:])  # at the end it is not what it was in the last iteration


def test_one_that_stays_beside_one_that_changes() -> None:
    first, second, *results = _in_loop("%x, %x", "", "%a, %y")
    assert (first, results[0]) == (N, N)
    assert is_opaque(second)
    assert is_opaque(results[1])


def test_a_loop_in_a_loop_whose_sizes_depend_on_each_other() -> None:
    _, told = _sizes(f"""%r:2 = scf.for %i = %c0 to %k step %c1 iter_args(%a = %x, %b = %x) -> ({T}, {T}) {{
      %q = scf.for %j = %c0 to %k step %c1 iter_args(%d = %a) -> {T} {{
        scf.yield %b : {T}
      }}
      scf.yield %q, %a : {T}, {T}
    }}""")
    assert told["scf.for"] == [N] * 6


def test_while() -> None:
    _, told = _sizes(f"""%r:2 = scf.while (%a = %x, %b = %y) : ({T}, {T}) -> ({T}, {T}) {{
      %e = tensor.empty(%k) : {T}
      scf.condition(%c) %a, %e : {T}, {T}
    }} do {{
    ^bb0(%d: {T}, %g: {T}):
      scf.yield %d, %g : {T}, {T}
    }}""")
    before, other, after, given, result, last = told["scf.while"]
    assert before == after == result == N
    assert given == last != other  # the argument's %k is known outside
    assert is_opaque(other)


def test_a_size_that_is_made_inside_is_none_outside() -> None:
    inside = "%p = arith.muli %k, %k : index\n%q = tensor.generate %p { ^bb0(%z: index):\n"
    inside += f"%one = arith.constant 1.0 : f32\ntensor.yield %one : f32 }} : {T}"
    _, told = _sizes(f"""%r = scf.execute_region -> {T} {{
      %l = memref.alloc() : memref<index>
      %o = memref.load %l[] : memref<index>
      %e = tensor.empty(%o) : {T}
      scf.yield %e : {T}
    }}
    %s = scf.if %c -> {T} {{ {inside} scf.yield %q : {T} }} else {{ scf.yield %x : {T} }}
    %t = scf.if %c -> {T} {{ scf.yield %x : {T} }} else {{ scf.yield %x : {T} }}""")
    assert is_opaque(told["scf.execute_region"][0])
    other, same = told["scf.if"]
    assert is_opaque(other)
    assert same == N


def test_forall_and_select() -> None:
    found = function(
        parse(f"""{HEAD}
      %r = scf.forall (%i) in (%k) shared_outs(%a = %x) -> {T} {{
        %s = tensor.extract_slice %x[%i] [1] [1] : {T} to tensor<1xf32>
        scf.forall.in_parallel {{ tensor.parallel_insert_slice %s into %a[%i] [1] [1] : tensor<1xf32> into {T} }}
      }}
      %p = arith.select %c, %r, %x : {T}
      %q = arith.select %c, %r, %y : {T}
      return
    }}""")
    )
    sizes = SymbolicSizes(found)
    *_, loop, same, other, _ = top_level_ops(found)
    argument = loop.regions[0].blocks[0].arguments[1]
    assert [sizes.shape(v) for v in (argument, loop.results[0], same.results[0])] == [(N,)] * 3
    assert is_opaque(sizes.shape(other.results[0])[0])


def test_branches_between_blocks() -> None:
    module = parse(f"""{HEAD}
      cf.br ^head(%x, %x, %y : {T}, {T}, {T})
    ^head(%a: {T}, %b: {T}, %d: {T}):
      cf.cond_br %c, ^head(%b, %a, %a : {T}, {T}, {T}), ^end(%d, %a : {T}, {T})
    ^end(%e: {T}, %g: {T}):
      return
    }}""")
    found = function(module)
    sizes = SymbolicSizes(found)
    _, head, end = found.regions[0].blocks
    a, b, d = (sizes.shape(v)[0] for v in head.arguments)
    e, g = (sizes.shape(v)[0] for v in end.arguments)
    assert a == b == g == N
    assert is_opaque(d)
    assert e == d


def test_long_bodies_are_not_followed_by_recursion() -> None:
    steps = "\n".join(f"%v{i + 1} = tensor.cast %v{i} : {T} to {T}" for i in range(3000))
    body = f"%v0 = linalg.exp {UNARY}\n{steps}"
    assert _in_loop("%x", body, "%v3000") == [N, N]


A, B, C = sympy.symbols("a b c")


@pytest.mark.parametrize(
    ("equations", "expected"),
    [
        ({A: [N, A]}, {A: N}),
        ({A: [N, M]}, {}),
        ({A: [N, B], B: [N, A]}, {A: N, B: N}),
        ({A: [N, B], B: [M, A]}, {}),
        ({A: [N, B], B: [A, B]}, {A: N, B: N}),
        ({A: [N, M], B: [A, B]}, {B: A}),
        ({A: [N, B + 1], B: [N, A]}, {}),
        ({A: [4, 4], B: [A * 2, 8]}, {A: 4, B: 8}),
        ({A: [A]}, {}),
    ],
    ids=str,
)
def test_equations(equations: dict[sympy.Symbol, list[Size]], expected: dict[sympy.Symbol, Size]) -> None:
    assert settled(equations, lambda symbol, size: True) == expected


def test_a_chain_of_symbols_settles() -> None:
    chain = sympy.symbols("s0:400")
    equations = {symbol: [N, chain[i - 1]] for i, symbol in enumerate(chain)}
    assert settled(equations, lambda symbol, size: True) == dict.fromkeys(chain, N)
    assert settled({**equations, chain[0]: [M, chain[-1]]}, lambda symbol, size: True) == {}


def test_what_a_symbol_may_not_be() -> None:
    assert settled({A: [N, A], B: [N, B]}, lambda symbol, size: symbol != A) == {B: N}
