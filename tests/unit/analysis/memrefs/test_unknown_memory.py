"""Memory that ops pass on of which nothing is known, that is reduced or stored, and blocks that nothing reaches."""

from __future__ import annotations

import numpy as np
import pytest

from hotdesk.errors import BufferizationError
from tests.running.buffer_passes import MOVING
from tests.unit.passes.buffers.checking import FREE, checked, freed_alike, through

M = "memref<4xf32>"
HEAD = "%c0 = arith.constant 0 : index\n%c1 = arith.constant 1 : index\n%c4 = arith.constant 4 : index"
A = f"%a = memref.alloc() : {M}\nmemref.copy %x, %a : {M} to {M}"
B = f"%b = memref.alloc() : {M}\nmemref.copy %x, %b : {M} to {M}\nmemref.copy %b, %out : {M} to {M}"
PASSES = MOVING
FREES = (FREE, f"{FREE}{{placement=end-of-block}}", f"{FREE}{{mode=copies}}")


def main(body: str) -> str:
    return f"func.func @main(%x: {M}, %p: i1, %out: {M} {{bufferize.result = 0 : i64}}) {{\n{HEAD}\n{body}\n}}"


def copied(memref: str, to: str = "%out") -> str:
    return f"memref.copy {memref}, {to} : {M} to {M}"


def order(text: str, *marks: str) -> list[int]:
    """Where lines are that begin with these marks, each after the one before it."""
    found: list[int] = []
    for mark in marks:
        found.append(text.index(mark, found[-1] if found else 0))
    return found


HANDED_OUT = main(f"""{A}
%r = "custom.region"() ({{ "custom.yield"(%a) : ({M}) -> () }}) : () -> {M}
{B}
{copied("%r")}
return""")
VIEW_HANDED_OUT = main(f"""{A}
%r = "custom.region"() ({{
  cf.br ^next(%a : {M})
^next(%z: {M}):
  "custom.yield"(%z) : ({M}) -> ()
}}) : () -> {M}
{copied("%r")}
return""")
TO_ANOTHER_REGION = main(f"""{A}
"custom.two"() ({{ "custom.yield"(%a) : ({M}) -> () }}, {{
^bb0(%q: {M}):
  %r = "custom.region"() ({{ "custom.yield"(%q) : ({M}) -> () }}) : () -> {M}
  {copied("%r")}
  "custom.yield"() : () -> ()
}}) : () -> ()
return""")


@pytest.mark.parametrize("mode", FREES)
@pytest.mark.parametrize("text", [HANDED_OUT, VIEW_HANDED_OUT, TO_ANOTHER_REGION])
def test_what_an_unknown_op_hands_out_of_a_region_is_freed_behind_its_last_use(text: str, mode: str) -> None:
    order(through(text, mode), '"custom.yield"(', "memref.copy", "memref.dealloc %alloc :", "return")


BRANCHED = main(f"""{A}
"custom.br"(%a)[^one, ^two] : ({M}) -> ()
^one(%u: {M}):
  {copied("%u")}
  return
^two(%v: {M}):
  return""")


@pytest.mark.parametrize("mode", FREES)
def test_what_an_unknown_branch_passes_on_is_freed_behind_its_last_use(mode: str) -> None:
    text = through(BRANCHED, mode)
    order(
        text, "^bb1(", "memref.copy", "memref.dealloc %alloc :", "return", "^bb2(", "memref.dealloc %alloc :", "return"
    )


def test_no_other_buffer_is_put_where_an_unknown_branch_passes_memory_on() -> None:
    text = main(f"""{A}
"custom.br"(%a)[^one] : ({M}) -> ()
^one(%u: {M}):
  {B}
  {copied("%u")}
  return""")
    for one in ("hotdesk-share-buffers", "hotdesk-merge-allocations"):
        assert through(text, one).count(f"memref.alloc() : {M}") >= 1
    order(through(text, "hotdesk-promote-buffers-to-stack"), f"memref.alloc() : {M}", '"custom.br"')


AROUND_A_LOOP = main(f"""cf.br ^loop(%x : {M})
^loop(%u: {M}):
  {copied("%u")}
  {A}
  "custom.br"(%a)[^loop, ^end] : ({M}) -> ()
^end(%v: {M}):
  return""")
OUT_OF_A_REGION = main(f"""%r = "custom.region"() ({{
  {A}
  "custom.yield"(%a) : ({M}) -> ()
}}) : () -> {M}
{copied("%r")}
return""")
REDUCED_NEW = main(f"""%r = scf.parallel (%i) = (%c0) to (%c4) step (%c1) init (%x) -> {M} {{
  scf.reduce(%x : {M}) {{
  ^bb0(%l: {M}, %q: {M}):
    {A}
    scf.reduce.return %a : {M}
  }}
}}
{copied("%r")}
return""")


@pytest.mark.parametrize("mode", FREES)
@pytest.mark.parametrize(
    ("text", "end"),
    [(AROUND_A_LOOP, "custom.br"), (OUT_OF_A_REGION, "custom.yield"), (REDUCED_NEW, "scf.reduce.return")],
)
def test_what_leaves_the_scope_of_its_owner_by_an_unknown_op_is_refused(text: str, end: str, mode: str) -> None:
    with pytest.raises(BufferizationError, match=f"memory that `{end}` passes on: expected an op whose flow a model"):
        through(text, mode)


def reduced(init: str, value: str, result: str) -> str:
    return main(f"""{A}
{copied("%x", "%out")}
%r = scf.parallel (%i) = (%c0) to (%c4) step (%c1) init ({init}) -> {M} {{
  scf.reduce({value} : {M}) {{
  ^bb0(%l: {M}, %q: {M}):
    scf.reduce.return {result} : {M}
  }}
}}
%b = memref.alloc() : {M}
%f = arith.constant 7.0 : f32
linalg.fill ins(%f : f32) outs(%b : {M})
{copied("%b")}
{copied("%r")}
return""")


REDUCED = [reduced("%a", "%x", "%l"), reduced("%x", "%a", "%q"), reduced("%a", "%a", "%l"), reduced("%x", "%x", "%a")]


@pytest.mark.parametrize("text", REDUCED)
def test_a_memref_that_is_reduced_lives_as_long_as_the_result(text: str) -> None:
    for mode in FREES:
        freed_alike(text, mode)
    wanted = checked(text, freed=False).results[0].values
    for one in PASSES:
        np.testing.assert_array_equal(checked(through(text, one), freed=False).results[0].values, wanted)
        freed_alike(text, one, FREE)
        freed_alike(text, FREE, one)


H = f"memref<2x{M}>"
STORES = {
    "affine.store": f"affine.store %a, %h[0] : {H}",
    "linalg.generic": f"""linalg.generic {{indexing_maps = [affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]}}
  outs(%h : {H}) {{ ^bb0(%e: {M}): linalg.yield %a : {M} }}""",
    "linalg.generic that chooses": f"""linalg.generic
  {{indexing_maps = [affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]}} outs(%h : {H}) {{ ^bb0(%e: {M}):
    %s = arith.select %p, %a, %x : {M}
    linalg.yield %s : {M} }}""",
}


@pytest.mark.parametrize("store", STORES)
def test_memory_that_is_stored_in_other_memory_stays(store: str) -> None:
    text = f"""func.func @main(%x: {M}, %p: i1, %h: {H}, %out: {M}) {{
  {A}
  {STORES[store]}
  {B}
  %l = affine.load %h[0] : {H}
  {copied("%l")}
  return
}}"""
    for mode in FREES:
        assert through(text, mode).count("memref.dealloc") == 1  # that of %b
    for one in ("hotdesk-share-buffers", "hotdesk-merge-allocations", "hotdesk-promote-buffers-to-stack"):
        order(through(text, one), f"memref.alloc() : {M}", "memref.copy", store.split()[0])


UNREACHABLE = main(f"""%r = scf.execute_region -> {M} {{
  cf.cond_br %p, ^one, ^two
^one:
  {A}
  scf.yield %a : {M}
^two:
  llvm.unreachable
}}
{copied("%r")}
return""")
STOPS = main(f"""{A}
%r = scf.execute_region -> {M} {{
  cf.cond_br %p, ^one, ^two
^one:
  scf.yield %a : {M}
^two:
  "custom.stop"() : () -> ()
}}
{copied("%r")}
return""")


@pytest.mark.parametrize("text", [UNREACHABLE, STOPS])
def test_a_region_may_end_in_nowhere(text: str) -> None:
    for mode in FREES:
        order(through(text, mode), "memref.alloc()", "scf.yield", "memref.copy", "memref.dealloc", "return")
    for one in PASSES:
        through(text, one)


NEVER_REACHED = main(f"""{A}
cf.br ^end(%a : {M})
^never(%z: {M}):
  %b = memref.alloc() : {M}
  {copied("%z", "%b")}
  cf.br ^end(%b : {M})
^end(%u: {M}):
  {copied("%u")}
  %c = memref.alloc() : {M}
  {copied("%out", "%c")}
  scf.if %p {{
    %d = memref.alloc() : {M}
    {copied("%c", "%d")}
    {copied("%d")}
  }}
  return""")


@pytest.mark.parametrize("one", PASSES)
def test_blocks_that_nothing_reaches_are_left_alone(one: str) -> None:
    freed_alike(NEVER_REACHED, one, FREE)
    freed_alike(NEVER_REACHED, FREE, one)
