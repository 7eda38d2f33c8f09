"""Passes on buffers treat the functions of nested modules like those of the outermost one."""

from __future__ import annotations

import pytest

from tests.unit.passes.buffers.checking import FREE, through

M = "memref<4xf32>"
BODY = f"""func.func @f(%x: {M}, %y: {M}, %n: index) {{
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    scf.for %i = %c0 to %n step %c1 {{
      %a = memref.alloc() : {M}
      linalg.exp ins(%x : {M}) outs(%a : {M})
      %s = memref.load %a[%c0] : {M}
      memref.store %s, %x[%c1] : {M}
    }}
    %b = memref.alloc() : {M}
    linalg.exp ins(%x : {M}) outs(%b : {M})
    memref.copy %b, %y : {M} to {M}
    %c = memref.alloc() : {M}
    linalg.exp ins(%y : {M}) outs(%c : {M})
    memref.copy %c, %x : {M} to {M}
    return
  }}
  func.func private @g(%x: {M}) -> {M} {{
    return %x : {M}
  }}
  func.func @h(%x: {M}) -> f32 {{
    %c0 = arith.constant 0 : index
    %r = call @g(%x) : ({M}) -> {M}
    %s = memref.load %r[%c0] : {M}
    return %s : f32
  }}
  func.func private @k(%x: {M}) -> f32 {{
    %c0 = arith.constant 0 : index
    %a = memref.alloc() : {M}
    linalg.exp ins(%x : {M}) outs(%a : {M})
    %s = memref.load %a[%c0] : {M}
    return %s : f32
  }}
  func.func @l(%x: {M}) -> f32 {{
    %s = call @k(%x) : ({M}) -> f32
    return %s : f32
  }}"""
PASSES = (
    FREE,
    f"{FREE}{{private-function-dynamic-ownership=true}}",
    f"{FREE}{{mode=copies}}",
    "hotdesk-buffer-loop-hoisting",
    "hotdesk-promote-buffers-to-stack",
    "hotdesk-copy-removal",
    "hotdesk-share-buffers",
    "hotdesk-merge-allocations",
    "hotdesk-merge-allocations{arena=argument}",
)


def lines(text: str) -> list[str]:
    return [line.strip() for line in text.splitlines()]


@pytest.mark.parametrize("one", PASSES)
@pytest.mark.parametrize(
    ("modules", "around"),
    [
        (
            f"module @one {{ {BODY} }}\nmodule {{ module @two {{ {BODY} }} }}",
            "module @one { } module { module @two { } }",
        ),
        (f"{BODY}\nmodule @one {{ {BODY} }}", "module @one { }"),
    ],
    ids=["beside", "inside"],
)
def test_as_in_a_module_alone(modules: str, around: str, one: str) -> None:
    """Functions of one name in two modules too."""
    alone = through(BODY, one)
    assert alone != through(BODY, "canonicalize{max-iterations=0}")
    body = "\n".join(lines(alone)[1:-1])
    nested = "\n".join(lines(through(modules, one)))
    assert nested.count(body) == 2
    rest = nested.replace(body, "").split()
    assert " ".join(rest) == f"module {{ {around} }}"
