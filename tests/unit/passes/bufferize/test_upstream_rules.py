"""Programs for each rule by which MLIR decides in place: Hotdesk copies no more bytes, takes no more memory, and is right.

The rules, in short: R1-R9 facts of ops, aliases and definitions; R12-R15 the decision; R20-R27 order; R28-R31 parts; R33 and R34
definitions and threads; R35-R40 what follows a decision. The others choose an order, or are MLIR's own checks.
"""

from __future__ import annotations

import pytest

from tests.running import Subject, assert_no_more
from tests.unit.passes.bufferize.upstream_programs import H, T, binary, fill, main, run, run_peer, square

OURS = Subject("Hotdesk's", "builtin.module(hotdesk-eliminate-empty-tensors,hotdesk-one-shot-bufferize)")
DISPLACING = Subject("Hotdesk's", "builtin.module(hotdesk-choose-destinations,hotdesk-one-shot-bufferize)")
"""For empty tensors that several ops share: MLIR's take one buffer for all, where ours choose what dies."""
MAP = "affine_map<(d0) -> (d0)>"
ONE = "tensor<1xf32>"
D = "{hotdesk.donated}"
TO_ITSELF = f"func.func private @g(%x: {T}) -> {T} {{ %r = {square('%x', '%x')} return %r : {T} }}"
READS = (
    f"func.func private @g(%x: {T}) -> {T} {{ %e = tensor.empty() : {T} %r = {square('%x', '%e')} return %r : {T} }}"
)
SAME = f"func.func private @g(%x: {T}) -> {T} {{ return %x : {T} }}"
RULES = {
    "R1 an op in destination-passing style": main(
        f"%x: {T} {D}, %y: {T}", f"%r = {binary('addf', '%x', '%y', '%x')}", [("%r", T)]
    ),
    "R2 an op that nobody knows, on scalars": main(
        f"%x: {T}",
        f"""{fill("%f")}
        %s = tensor.extract %f[%c1] : {T}
        %t = math.floor %s : f32
        %e = tensor.empty() : {T}
        %r = linalg.fill ins(%t : f32) outs(%e : {T}) -> {T}""",
        [("%r", T)],
    ),
    "R3 an operand that the payload does not use": main(
        f"%x: {T}, %y: {T}",
        f"""{fill("%f")}
        %g = linalg.generic {{indexing_maps = [{MAP}, {MAP}], iterator_types = ["parallel"]}}
          ins(%x : {T}) outs(%f : {T}) {{
        ^bb0(%a: f32, %o: f32):
          %s = arith.addf %a, %a : f32
          linalg.yield %s : f32
        }} -> {T}
        %r = {binary("mulf", "%f", "%y", "%y")}""",
        [("%g", T), ("%r", T)],
    ),
    "R4 a region that writes": main(
        "%b: i1",
        f"""{fill("%f")}
        %r = scf.if %b -> ({T}) {{
          %g = {square("%f", "%f")}
          scf.yield %g : {T}
        }} else {{
          scf.yield %f : {T}
        }}""",
        [("%r", T)],
        given="1",
    ),
    "R5 a destination that is overwritten entirely": main(
        f"%x: {T}, %y: {T}",
        f"""{fill("%f")}
        %i = tensor.insert_slice %x into %f[0] [8] [1] : {T} into {T}
        %r = {binary("addf", "%i", "%f", "%i")}""",
        [("%r", T)],
    ),
    "R6 a view that nobody reads": main(
        "",
        f"""{fill("%f")}
        %v = tensor.extract_slice %f[0] [4] [1] : {T} to {H}
        %r = {square("%f", "%f")}""",
        [("%r", T)],
    ),
    "R7 one value, by a cast": main(
        f"%x: {T} {D}",
        f"""%d = tensor.cast %x : {T} to tensor<?xf32>
        %a = tensor.extract_slice %d[1] [4] [1] : tensor<?xf32> to {H}
        %w = linalg.fill ins(%one : f32) outs(%a : {H}) -> {H}
        %s = tensor.cast %d : tensor<?xf32> to {T}
        %r = tensor.insert_slice %w into %s[1] [4] [1] : {H} into {T}""",
        [("%r", T)],
    ),
    "R8 a definition behind views": main(
        f"%x: {T}",
        f"""{fill("%f")}
        %v = tensor.expand_shape %f [[0, 1]] output_shape [2, 4] : {T} into tensor<2x4xf32>
        %g = {square("%v", "%v", "tensor<2x4xf32>")}
        %w = tensor.collapse_shape %g [[0, 1]] : tensor<2x4xf32> into {T}
        %r = {binary("addf", "%w", "%x", "%w")}""",
        [("%r", T)],
    ),
    "R9 contents that are not defined": main(
        f"%x: {T}",
        f"""%e = tensor.empty() : {T}
        %a = {square("%x", "%e")}
        %b = {binary("addf", "%a", "%x", "%e")}
        %r = {binary("mulf", "%b", "%x", "%b")}""",
        [("%r", T)],
    ),
    "R11 what a loop yields": main(
        "",
        f"""{fill("%f")}
        %r = scf.for %i = %c0 to %c6 step %c1 iter_args(%p = %f) -> ({T}) {{
          %s = {binary("addf", "%p", "%p", "%p")}
          scf.yield %s : {T}
        }}""",
        [("%r", T)],
    ),
    "R12 two writes of which one can be in place": main(
        f"%x: {T}",
        f"""{fill("%f")}
        %a = {square("%f", "%f")}
        %b = {binary("addf", "%f", "%x", "%f")}""",
        [("%a", T), ("%b", T)],
    ),
    "R13 memory that may not be written": main(
        f"%x: {T}",
        f"""%k = arith.constant dense<[1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0]> : {T}
        %a = {binary("addf", "%k", "%x", "%k")}
        %b = {binary("addf", "%x", "%a", "%x")}""",
        [("%b", T)],
    ),
    "R14 a read by an alias": main(
        f"%x: {T} {D}",
        f"""%v = tensor.extract_slice %x[0] [4] [1] : {T} to {H}
        %e = tensor.empty() : {H}
        %a = {square("%v", "%e", H)}
        %r = {square("%x", "%x")}""",
        [("%r", T), ("%a", H)],
    ),
    "R15 a read after a write": main(
        "",
        f"""{fill("%f")}
        %a = {square("%f", "%f")}
        %r = {binary("addf", "%a", "%f", "%a")}""",
        [("%r", T)],
    ),
    "R20 later ops first": main(
        f"%x: {T}",
        f"""{fill("%f")}
        %a = {square("%f", "%f")}
        %b = {binary("addf", "%f", "%x", "%f")}
        %c = {binary("mulf", "%b", "%x", "%b")}""",
        [("%a", T), ("%c", T)],
    ),
    "R23 a read before the write": main(
        f"%x: {T}",
        f"""{fill("%f")}
        %e = tensor.empty() : {T}
        %a = {binary("addf", "%f", "%x", "%e")}
        %r = {square("%f", "%f")}""",
        [("%a", T), ("%r", T)],
    ),
    "R24 a read in a loop, a write behind it": main(
        f"%x: {T}",
        f"""{fill("%f")}
        %r = scf.for %i = %c0 to %c6 step %c1 iter_args(%p = %x) -> ({T}) {{
          %a = {binary("addf", "%f", "%p", "%p")}
          scf.yield %a : {T}
        }}
        %s = {square("%f", "%f")}""",
        [("%r", T), ("%s", T)],
    ),
    "R24 a read and a write in a loop": main(
        f"%x: {T}",
        f"""{fill("%f")}
        %r = scf.for %i = %c0 to %c6 step %c1 iter_args(%p = %x) -> ({T}) {{
          %b = {binary("subf", "%f", "%p", "%p")}
          %a = {binary("addf", "%f", "%b", "%f")}
          scf.yield %a : {T}
        }}""",
        [("%r", T)],
    ),
    "R25 blocks": main(
        "%n: index",
        f"""{fill("%f")}
        %b = arith.cmpi eq, %n, %c0 : index
        cf.cond_br %b, ^left, ^right(%f : {T})
      ^left:
        %a = {square("%f", "%f")}
        cf.br ^right(%a : {T})
      ^right(%r: {T}):""",
        [("%r", T)],
        given="0",
    ),
    "R26 branches of which one runs": main(
        "%b: i1",
        f"""{fill("%f")}
        %r = scf.if %b -> ({T}) {{
          %g = {square("%f", "%f")}
          scf.yield %g : {T}
        }} else {{
          %h = {binary("addf", "%f", "%f", "%f")}
          scf.yield %h : {T}
        }}""",
        [("%r", T)],
        given="0",
    ),
    "R27 element by element": main(f"%x: {T}", f"{fill('%f')}\n%r = {binary('addf', '%f', '%x', '%f')}", [("%r", T)]),
    "R28 only the other part is read": main(
        f"%x: {T} {D}",
        f"""%a = tensor.extract_slice %x[2] [4] [1] : {T} to {H}
        %b = linalg.fill ins(%one : f32) outs(%a : {H}) -> {H}
        %r = tensor.insert_slice %b into %x[2] [4] [1] : {H} into {T}""",
        [("%r", T)],
    ),
    "R29 a part is inserted where it was": main(
        f"%x: {T} {D}",
        f"""%a = tensor.extract_slice %x[2] [4] [1] : {T} to {H}
        %r = tensor.insert_slice %a into %x[2] [4] [1] : {H} into {T}""",
        [("%r", T)],
    ),
    "R30 a part is read behind its insertion": main(
        f"%x: {T} {D}",
        f"""%a = tensor.extract_slice %x[2] [4] [1] : {T} to {H}
        %b = linalg.fill ins(%one : f32) outs(%a : {H}) -> {H}
        %r = tensor.insert_slice %b into %x[2] [4] [1] : {H} into {T}
        %e = tensor.empty() : {H}
        %s = {square("%b", "%e", H)}""",
        [("%r", T), ("%s", H)],
    ),
    "R31 a part at a place that is not known": main(
        f"%x: {T} {D}, %n: index",
        f"""%a = tensor.extract_slice %x[%n] [4] [1] : {T} to {H}
        %v = linalg.fill ins(%one : f32) outs(%a : {H}) -> {H}
        %r = tensor.insert_slice %v into %x[%n] [4] [1] : {H} into {T}""",
        [("%r", T)],
        given="3",
    ),
    "R33 a definition behind the write": main(
        f"%x: {T}",
        f"""{fill("%f")}
        %a = {square("%f", "%f")}
        %b = linalg.fill ins(%zero : f32) outs(%a : {T}) -> {T}
        %r = {binary("addf", "%b", "%x", "%b")}""",
        [("%r", T)],
    ),
    "R34 threads that write their parts": main(
        "",
        f"""{fill("%f")}
        %r = scf.forall (%i) in (8) shared_outs(%p = %f) -> ({T}) {{
          %a = tensor.extract_slice %p[%i] [1] [1] : {T} to {ONE}
          %b = {square("%a", "%a", ONE)}
          scf.forall.in_parallel {{
            tensor.parallel_insert_slice %b into %p[%i] [1] [1] : {ONE} into {T}
          }}
        }}""",
        [("%r", T)],
    ),
    "R34 threads that write what is outside": main(
        "",
        f"""{fill("%f")}
        {fill("%g", "%zero", ONE)}
        %r = scf.forall (%i) in (8) shared_outs(%p = %f) -> ({T}) {{
          %b = {square("%g", "%g", ONE)}
          scf.forall.in_parallel {{
            tensor.parallel_insert_slice %b into %p[%i] [1] [1] : {ONE} into {T}
          }}
        }}""",
        [("%r", T)],
    ),
    "R35 one of two values": main(
        f"%x: {T}, %b: i1",
        f"""{fill("%f")}
        {fill("%g", "%zero")}
        %s = arith.select %b, %f, %g : {T}
        %e = tensor.empty() : {T}
        %r = {binary("addf", "%s", "%x", "%e")}""",
        [("%r", T)],
        given="1",
    ),
    "R35 one value both ways": main(
        f"%x: {T}, %b: i1",
        f"""{fill("%f")}
        %s = arith.select %b, %f, %f : {T}
        %r = {binary("addf", "%s", "%x", "%s")}""",
        [("%r", T)],
        given="1",
    ),
    "R36 a loop yields what is outside": main(
        f"%x: {T}",
        f"""{fill("%f")}
        %r = scf.for %i = %c0 to %c6 step %c1 iter_args(%p = %f) -> ({T}) {{
          %a = {square("%p", "%p")}
          scf.yield %x : {T}
        }}""",
        [("%r", T)],
    ),
    "R36 a loop with a condition": main(
        f"%x: {T}",
        f"""{fill("%f")}
        %r:2 = scf.while (%i = %c0, %p = %f) : (index, {T}) -> (index, {T}) {{
          %c = arith.cmpi slt, %i, %c6 : index
          scf.condition(%c) %i, %p : index, {T}
        }} do {{
        ^bb0(%i: index, %p: {T}):
          %j = arith.addi %i, %c1 : index
          %s = {binary("addf", "%p", "%x", "%p")}
          scf.yield %j, %s : index, {T}
        }}""",
        [("%r#1", T)],
    ),
    "R37 a part is copied instead of all": main(
        f"%x: {T}",
        f"""{fill("%f")}
        %a = tensor.extract_slice %f[0] [4] [1] : {T} to {H}
        %b = {square("%a", "%a", H)}
        %r = {binary("addf", "%f", "%x", "%f")}""",
        [("%r", T), ("%b", H)],
    ),
    "R37 what is overwritten is not copied": main(
        f"%x: {T}",
        f"""{fill("%f")}
        %a = linalg.fill ins(%zero : f32) outs(%f : {T}) -> {T}
        %r = {binary("addf", "%f", "%x", "%f")}""",
        [("%r", T), ("%a", T)],
    ),
    "R38 a callee that reads": main(
        "",
        f"{fill('%f')}\n%a = func.call @g(%f) : ({T}) -> {T}\n%r = {binary('addf', '%f', '%a', '%f')}",
        [("%r", T)],
        READS,
    ),
    "R38 a callee that writes": main(
        "",
        f"{fill('%f')}\n%a = func.call @g(%f) : ({T}) -> {T}\n%r = {binary('addf', '%a', '%a', '%a')}",
        [("%r", T)],
        TO_ITSELF,
    ),
    "R38 a callee that writes what is read on": main(
        "",
        f"{fill('%f')}\n%a = func.call @g(%f) : ({T}) -> {T}\n%r = {binary('addf', '%f', '%a', '%f')}",
        [("%r", T)],
        TO_ITSELF,
    ),
    "R39 where memory is allocated": main(
        "%b: i1",
        f"""{fill("%f")}
        %r = scf.if %b -> ({T}) {{
          %e = tensor.empty() : {T}
          %a = {square("%f", "%e")}
          %c = {binary("addf", "%f", "%a", "%a")}
          scf.yield %c : {T}
        }} else {{
          scf.yield %f : {T}
        }}""",
        [("%r", T)],
        given="1",
    ),
    "R40 a result that is an argument": main(
        f"%x: {T}",
        f"""%a = func.call @g(%x) : ({T}) -> {T}
        %e = tensor.empty() : {T}
        %r = {square("%a", "%e")}""",
        [("%r", T)],
        SAME,
    ),
}


@pytest.mark.parametrize("name", RULES)
def test_takes_no_more_than_mlir(name: str) -> None:
    ours = DISPLACING if name.startswith("R9 ") else OURS
    assert_no_more(run(RULES[name], ours), run_peer(RULES[name]))
