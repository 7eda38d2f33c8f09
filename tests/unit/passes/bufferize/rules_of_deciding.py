"""Programs for the rules R1 to R27 by which MLIR decides in place: facts of ops, the decision, and what order rules out."""

from __future__ import annotations

from tests.unit.passes.bufferize.upstream_programs import H, T, binary, branches, fill, loop, main, square

_MAP = "affine_map<(d0) -> (d0)>"
_D = "{hotdesk.donated}"
RULES = {
    "R1 an op in destination-passing style": main(
        f"%x: {T} {_D}, %y: {T}", f"%r = {binary('addf', '%x', '%y', '%x')}", [("%r", T)]
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
        %g = linalg.generic {{indexing_maps = [{_MAP}, {_MAP}], iterator_types = ["parallel"]}}
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
        {branches("%r", ["%g", f"%g = {square('%f', '%f')}"], ["%f"])}""",
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
        f"%x: {T} {_D}",
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
    "R10 an operand that MLIR wants in place": main(
        f"%x: {T}",
        f"""{fill("%f")}
        %m = bufferization.materialize_in_destination %x in %f : ({T}, {T}) -> {T}
        %r = {binary("addf", "%m", "%f", "%m")}""",
        [("%r", T)],
    ),
    "R11 what a loop yields": main(
        "",
        f"""{fill("%f")}
        {loop("%r", "%f", "%s", f"%s = {binary('addf', '%p', '%p', '%p')}")}""",
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
        f"%x: {T} {_D}",
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
    "R21 earlier ops first": main(
        f"%x: {T}",
        f"""{fill("%f")}
        %a = {square("%f", "%f")}
        %b = {binary("addf", "%f", "%x", "%f")}
        %c = {square("%a", "%a")}""",
        [("%b", T), ("%c", T)],
    ),
    "R22 what a region hands out first": main(
        f"%x: {T}",
        f"""{fill("%f")}
        {loop("%r", "%f", "%b", f"%a = {binary('addf', '%p', '%x', '%p')}", f"%b = {binary('mulf', '%p', '%a', '%p')}")}""",
        [("%r", T)],
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
        {loop("%r", "%x", "%a", f"%a = {binary('addf', '%f', '%p', '%p')}")}
        %s = {square("%f", "%f")}""",
        [("%r", T), ("%s", T)],
    ),
    "R24 a read and a write in a loop": main(
        f"%x: {T}",
        f"""{fill("%f")}
        {loop("%r", "%x", "%a", f"%b = {binary('subf', '%f', '%p', '%p')}", f"%a = {binary('addf', '%f', '%b', '%f')}")}""",
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
        {branches("%r", ["%g", f"%g = {square('%f', '%f')}"], ["%h", f"%h = {binary('addf', '%f', '%f', '%f')}"])}""",
        [("%r", T)],
        given="0",
    ),
    "R27 element by element": main(f"%x: {T}", f"{fill('%f')}\n%r = {binary('addf', '%f', '%x', '%f')}", [("%r", T)]),
}
"""By number and what is tried."""
