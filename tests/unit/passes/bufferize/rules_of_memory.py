"""Programs for the rules R28 to R40: parts, definitions and threads, and what follows a decision."""

from __future__ import annotations

from tests.unit.passes.bufferize.upstream_programs import H, T, binary, branches, fill, loop, main, square

_ONE = "tensor<1xf32>"
_D = "{hotdesk.donated}"
_TO_ITSELF = f"func.func private @g(%x: {T}) -> {T} {{ %r = {square('%x', '%x')} return %r : {T} }}"
_READS = (
    f"func.func private @g(%x: {T}) -> {T} {{ %e = tensor.empty() : {T} %r = {square('%x', '%e')} return %r : {T} }}"
)
_SAME = f"func.func private @g(%x: {T}) -> {T} {{ return %x : {T} }}"
_IN_A_BRANCH = branches(
    "%r",
    [
        "%c",
        f"%e = tensor.empty() : {T}",
        f"%a = {square('%f', '%e')}",
        f"%c = {binary('addf', '%f', '%a', '%a')}",
    ],
    ["%f"],
)
RULES = {
    "R28 only the other part is read": main(
        f"%x: {T} {_D}",
        f"""%a = tensor.extract_slice %x[2] [4] [1] : {T} to {H}
        %b = linalg.fill ins(%one : f32) outs(%a : {H}) -> {H}
        %r = tensor.insert_slice %b into %x[2] [4] [1] : {H} into {T}""",
        [("%r", T)],
    ),
    "R29 a part is inserted where it was": main(
        f"%x: {T} {_D}",
        f"""%a = tensor.extract_slice %x[2] [4] [1] : {T} to {H}
        %r = tensor.insert_slice %a into %x[2] [4] [1] : {H} into {T}""",
        [("%r", T)],
    ),
    "R30 a part is read behind its insertion": main(
        f"%x: {T} {_D}",
        f"""%a = tensor.extract_slice %x[2] [4] [1] : {T} to {H}
        %b = linalg.fill ins(%one : f32) outs(%a : {H}) -> {H}
        %r = tensor.insert_slice %b into %x[2] [4] [1] : {H} into {T}
        %e = tensor.empty() : {H}
        %s = {square("%b", "%e", H)}""",
        [("%r", T), ("%s", H)],
    ),
    "R31 a part at a place that is not known": main(
        f"%x: {T} {_D}, %n: index",
        f"""%a = tensor.extract_slice %x[%n] [4] [1] : {T} to {H}
        %v = linalg.fill ins(%one : f32) outs(%a : {H}) -> {H}
        %r = tensor.insert_slice %v into %x[%n] [4] [1] : {H} into {T}""",
        [("%r", T)],
        given="3",
    ),
    "R32 threads that read what they write a part of": main(
        f"%x: {T}",
        f"""{fill("%f")}
        %r = scf.forall (%i) in (8) shared_outs(%p = %f) -> ({T}) {{
          %a = tensor.extract_slice %p[%i] [1] [1] : {T} to {_ONE}
          %b = tensor.extract_slice %x[%i] [1] [1] : {T} to {_ONE}
          %c = {binary("addf", "%a", "%b", "%a", _ONE)}
          scf.forall.in_parallel {{
            tensor.parallel_insert_slice %c into %p[%i] [1] [1] : {_ONE} into {T}
          }}
        }}""",
        [("%r", T)],
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
          %a = tensor.extract_slice %p[%i] [1] [1] : {T} to {_ONE}
          %b = {square("%a", "%a", _ONE)}
          scf.forall.in_parallel {{
            tensor.parallel_insert_slice %b into %p[%i] [1] [1] : {_ONE} into {T}
          }}
        }}""",
        [("%r", T)],
    ),
    "R34 threads that write what is outside": main(
        "",
        f"""{fill("%f")}
        {fill("%g", "%zero", _ONE)}
        %r = scf.forall (%i) in (8) shared_outs(%p = %f) -> ({T}) {{
          %b = {square("%g", "%g", _ONE)}
          scf.forall.in_parallel {{
            tensor.parallel_insert_slice %b into %p[%i] [1] [1] : {_ONE} into {T}
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
        {loop("%r", "%f", "%x", f"%a = {square('%p', '%p')}")}""",
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
        _READS,
    ),
    "R38 a callee that writes": main(
        "",
        f"{fill('%f')}\n%a = func.call @g(%f) : ({T}) -> {T}\n%r = {binary('addf', '%a', '%a', '%a')}",
        [("%r", T)],
        _TO_ITSELF,
    ),
    "R38 a callee that writes what is read on": main(
        "",
        f"{fill('%f')}\n%a = func.call @g(%f) : ({T}) -> {T}\n%r = {binary('addf', '%f', '%a', '%f')}",
        [("%r", T)],
        _TO_ITSELF,
    ),
    "R39 where memory is allocated": main(
        "%b: i1",
        f"""{fill("%f")}
        {_IN_A_BRANCH}""",
        [("%r", T)],
        given="1",
    ),
    "R40 a result that is an argument": main(
        f"%x: {T}",
        f"""%a = func.call @g(%x) : ({T}) -> {T}
        %e = tensor.empty() : {T}
        %r = {square("%a", "%e")}""",
        [("%r", T)],
        _SAME,
    ),
}
"""By number and what is tried."""
