"""What two memrefs have in common when control flow, selects and calls have passed them on."""

from __future__ import annotations

import pytest
from torch_mlir import ir

from hotdesk.analysis.memrefs.aliasing import Alias, Aliases
from hotdesk.ir.context import make_context
from hotdesk.ir.walking import nested_ops
from tests.unit.parsing import function, parse

MUST, MAY, NO, DISJOINT = Alias.MUST, Alias.MAY, Alias.NO, Alias.DISJOINT
M = "memref<8xf32>"
HEAD = """
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %a = memref.alloc() : memref<8xf32>
  %b = memref.alloc() : memref<8xf32>
  %s = memref.alloca() : memref<8xf32>
"""


def relation(body: str, overlap: bool = True) -> Alias:
    """The relation of the source and the target of the copy."""
    arguments = f"%x: {M}, %y: {M}, %n: index, %p: i1"
    text = f"func.func private @callee({M}) -> {M}\nfunc.func @main({arguments}) {{\n{HEAD}{body}\n}}"
    context = make_context()
    context.allow_unregistered_dialects = True
    module = ir.Module.parse(text, context)
    (op,) = (op for op in nested_ops(function(module)) if op.name == "memref.copy")
    return Aliases(function(module), overlap).relation(op.operands[0], op.operands[1])


def compare(a: str, b: str) -> str:
    return f"memref.copy {a}, {b} : {M} to {M}"


def loop(yielded: str, inits: tuple[str, str] = ("%a", "%b"), inside: str = "") -> str:
    return f"""
  %r:2 = scf.for %i = %c0 to %n step %c1 iter_args(%u = {inits[0]}, %v = {inits[1]}) -> ({M}, {M}) {{
    {inside}
    scf.yield {yielded} : {M}, {M}
  }}
"""


def chosen(then: str, other: str) -> str:
    return f"%r = scf.if %p -> ({M}) {{ scf.yield {then} : {M} }} else {{ scf.yield {other} : {M} }}\n"


@pytest.mark.parametrize(
    ("body", "a", "b", "expected"),
    [
        (loop("%u, %v"), "%r#0", "%r#1", NO),
        (loop("%v, %u"), "%r#0", "%r#1", MAY),
        (loop("%u, %v"), "%r#0", "%a", MAY),
        (loop("%u, %v"), "%r#0", "%b", NO),
        (loop("%u, %v"), "%r#0", "%s", NO),
        (loop("%b, %v"), "%r#0", "%a", MAY),
        (loop("%b, %v").replace("to %n", "to %c4"), "%r#0", "%a", NO),
        (loop("%b, %v").replace("to %n", "to %c0"), "%r#0", "%a", MAY),
        (loop("%v, %u").replace("to %n", "to %c4"), "%r#0", "%a", MAY),
        (loop("%u, %v", ("%x", "%b")), "%r#0", "%y", MAY),
        (loop("%u, %v", ("%x", "%b")), "%r#1", "%y", NO),
        (loop("%u, %v"), "%r#0", "%r#0", MUST),
        (chosen("%a", "%b"), "%r", "%a", MAY),
        (chosen("%a", "%b"), "%r", "%x", NO),
        (chosen("%a", "%x"), "%r", "%y", MAY),
        (chosen("%a", "%a"), "%r", "%b", NO),
        (f"%r = arith.select %p, %a, %s : {M}\n", "%r", "%s", MAY),
        (f"%r = arith.select %p, %a, %s : {M}\n", "%r", "%b", NO),
    ],
)
def test_what_is_passed_on(body: str, a: str, b: str, expected: Alias) -> None:
    assert relation(f"{body}{compare(a, b)}\nreturn") is expected
    assert relation(f"{body}{compare(b, a)}\nreturn") is expected


def test_arguments_that_never_overlap() -> None:
    body = f"{loop('%u, %v', ('%x', '%y'))}{compare('%r#0', '%r#1')}\nreturn"
    assert relation(body) is MAY
    assert relation(body, overlap=False) is NO


def test_inside_a_loop() -> None:
    assert relation(f"{loop('%v, %u', inside=compare('%u', '%v'))} return") is MAY
    assert relation(f"{loop('%u, %v', inside=compare('%u', '%v'))} return") is NO
    fresh = f"%w = memref.alloc() : {M}\n{compare('%u', '%w')}"
    assert relation(f"{loop('%w, %v', inside=fresh)} return") is MAY, (
        "the last iteration's is another one, by the same op"
    )
    assert relation(f"{loop('%u, %v', inside=fresh)} return") is NO


def test_disjoint_parts_of_what_is_passed_on() -> None:
    views = """
  %f = memref.subview %r[0] [4] [1] : memref<8xf32> to memref<4xf32, strided<[1]>>
  %g = memref.subview %r[4] [4] [1] : memref<8xf32> to memref<4xf32, strided<[1], offset: 4>>
  memref.copy %f, %g : memref<4xf32, strided<[1]>> to memref<4xf32, strided<[1], offset: 4>>
  return"""
    assert relation(chosen("%a", "%b") + views) is DISJOINT


@pytest.mark.parametrize(
    ("before", "a", "expected"),
    [
        ("", "%a", NO),
        ('%k = "custom.keep"(%a) : (memref<8xf32>) -> !custom.handle\n', "%a", MAY),
        ('%k = "custom.keep"(%a) : (memref<8xf32>) -> !custom.handle\n', "%b", NO),
        ('%k = "custom.sum"(%a) : (memref<8xf32>) -> f32\n', "%a", NO),
        ('"custom.show"(%a) : (memref<8xf32>) -> ()\n', "%a", NO),
        (f"{chosen('%a', '%b')}func.call @callee(%r) : ({M}) -> {M}\n", "%b", MAY),
        ("", "%x", MAY),
    ],
)
def test_calls_return_what_has_escaped(before: str, a: str, expected: Alias) -> None:
    body = f"{before}%q = func.call @callee(%s) : ({M}) -> {M}\n"
    assert relation(f"{body}{compare('%q', a)}\nreturn") is expected


def test_an_unknown_op_may_show_its_operand() -> None:
    body = f'%q = "custom.show"(%a) : ({M}) -> {M}\n'
    assert relation(f"{body}{compare('%q', '%a')}\nreturn") is MAY
    assert relation(f"{body}{compare('%q', '%b')}\nreturn") is NO
    regions = f'%q = "custom.region"(%b) ({{ "custom.yield"(%a) : ({M}) -> () }}) : ({M}) -> {M}\n'
    assert relation(f"{regions}{compare('%q', '%a')}\nreturn") is MAY


def test_what_is_reallocated_may_stay() -> None:
    body = "%q = memref.realloc %a : memref<8xf32> to memref<8xf32>\n"
    assert relation(f"{body}{compare('%q', '%a')}\nreturn") is MAY
    assert relation(f"{body}{compare('%q', '%b')}\nreturn") is NO


REGIONS = {
    "while": """
  %r = scf.while (%u = %a) : (memref<8xf32>) -> memref<8xf32> {
    scf.condition(%p) %u : memref<8xf32>
  } do {
  ^bb0(%v: memref<8xf32>):
    scf.yield %x : memref<8xf32>
  }""",
    "execute_region": """
  %r = scf.execute_region -> memref<8xf32> {
    cf.cond_br %p, ^one, ^two
  ^one:
    scf.yield %a : memref<8xf32>
  ^two:
    scf.yield %x : memref<8xf32>
  }""",
    "index_switch": """
  %r = scf.index_switch %n -> memref<8xf32>
  case 1 { scf.yield %a : memref<8xf32> }
  default { scf.yield %x : memref<8xf32> }""",
}


@pytest.mark.parametrize("name", REGIONS)
@pytest.mark.parametrize(("second", "expected"), [("%a", MAY), ("%x", MAY), ("%b", NO), ("%s", NO)])
def test_results_of_regions(name: str, second: str, expected: Alias) -> None:
    assert relation(f"{REGIONS[name]}\n{compare('%r', second)}\nreturn") is expected


@pytest.mark.parametrize(("second", "expected"), [("%a", MAY), ("%b", NO)])
def test_block_arguments(second: str, expected: Alias) -> None:
    body = f"""
  cf.cond_br %p, ^one, ^two
^two:
  cf.br ^join(%x : {M})
^one:
  cf.br ^join(%a : {M})
^join(%m: {M}):
  {compare("%m", second)}
  return"""
    assert relation(body) is expected


def test_blocks_in_any_order() -> None:
    body = f"""
  cf.br ^define
^use:
  %v = memref.cast %w : {M} to memref<?xf32>
  %z = memref.cast %v : memref<?xf32> to {M}
  {compare("%z", "%w")}
  return
^define:
  %w = memref.alloc() : {M}
  cf.br ^use"""
    assert relation(body) is MUST


def test_origins() -> None:
    text = f"func.func @main(%x: {M}, %n: index, %p: i1) {{\n{HEAD}{chosen('%a', '%x')}{compare('%r', '%r')}\nreturn }}"
    module = parse(text)
    (op,) = (op for op in nested_ops(function(module)) if op.name == "memref.copy")
    allocs = [o.results[0] for o in nested_ops(function(module)) if o.name == "memref.alloc"]
    argument = function(module).regions[0].blocks[0].arguments[0]
    assert set(Aliases(function(module)).origins(op.operands[0])) == {allocs[0], argument}
