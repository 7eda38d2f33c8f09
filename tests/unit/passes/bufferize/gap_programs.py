"""Programs for what MLIR's bufferization lacks or does badly, by letter, with what Hotdesk and MLIR take."""

from __future__ import annotations

from dataclasses import dataclass

from tests.unit.passes.bufferize.upstream_programs import PAIR, H, M, T, binary, fill, main, square

D = "{hotdesk.donated}"


@dataclass(frozen=True)
class Gap:
    """A program, and how often Hotdesk and MLIR copy and allocate in it; memory of the caller's for results counts too."""

    text: str
    copies: tuple[int, int]
    allocations: tuple[int, int]


def _products(init: str) -> str:
    product = f"linalg.matmul ins(%a, {{}} : {M}, {M}) outs(%f : {M}) -> {M}"
    body = f"{init}\n%r = {product.format('%b')}\n%s = {product.format('%c')}"
    return main(f"%a: {M}, %b: {M}, %c: {M}", body, [("%r", M), ("%s", M)])


GAPS = {
    "c: two products of one fill": Gap(_products(fill("%f", "%zero", M)), (0, 1), (2, 2)),
    "c: two products of one constant": Gap(_products(f"%f = arith.constant dense<0.0> : {M}"), (0, 2), (2, 2)),
    "d: an elementwise op on what dies": Gap(
        main(
            f"%x: {T}",
            f"""%e = tensor.empty() : {T}
            %y = {square("%x", "%e")}
            %d = tensor.empty() : {T}
            %z = {binary("addf", "%y", "%x", "%d")}
            %g = tensor.empty() : {T}
            %w = {binary("subf", "%z", "%x", "%g")}""",
            [("%w", T)],
        ),
        (0, 0),
        (1, 3),
    ),
    "e: a loop that swaps": Gap(
        main(
            "",
            f"""{fill("%f")}
            {fill("%g", "%zero")}
            %r:2 = scf.for %i = %c0 to %c6 step %c1 iter_args(%p = %f, %q = %g) -> ({T}, {T}) {{
              %s = {binary("addf", "%p", "%q", "%p")}
              scf.yield %q, %s : {T}, {T}
            }}""",
            [("%r#0", T), ("%r#1", T)],
        ),
        (2, 12),  # of the two results, which are in the two buffers the one way or the other
        (4, 14),
    ),
    "e: a while loop that swaps": Gap(
        main(
            "",
            f"""{fill("%f")}
            {fill("%g", "%zero")}
            %r:3 = scf.while (%i = %c0, %p = %f, %q = %g) : (index, {T}, {T}) -> (index, {T}, {T}) {{
              %c = arith.cmpi slt, %i, %c6 : index
              scf.condition(%c) %i, %q, %p : index, {T}, {T}
            }} do {{
            ^bb0(%i: index, %p: {T}, %q: {T}):
              %j = arith.addi %i, %c1 : index
              %s = {binary("addf", "%p", "%q", "%p")}
              scf.yield %j, %s, %q : index, {T}, {T}
            }}""",
            [("%r#1", T), ("%r#2", T)],
        ),
        (2, 14),
        (4, 16),
    ),
    "e: a loop that yields what it makes": Gap(
        main(
            f"%x: {T}",
            f"""%r = scf.for %i = %c0 to %c6 step %c1 iter_args(%p = %x) -> ({T}) {{
              %e = tensor.empty() : {T}
              %s = {binary("addf", "%p", "%x", "%e")}
              scf.yield %s : {T}
            }}""",
            [("%r", T)],
        ),
        (1, 1),
        (1, 7),
    ),
    "f: parts with nothing in common": Gap(
        main(
            f"%x: {T} {D}",
            f"""%a = tensor.extract_slice %x[0] [4] [1] : {T} to {H}
            %b = tensor.extract_slice %x[4] [4] [1] : {T} to {H}
            %v = linalg.fill ins(%one : f32) outs(%a : {H}) -> {H}
            %w = {binary("addf", "%v", "%b", "%v", H)}
            %r = tensor.insert_slice %w into %x[0] [4] [1] : {H} into {T}""",
            [("%r", T)],
        ),
        (1, 2),  # an argument is never a result: one copy
        (1, 2),
    ),
    "f: a part of a part": Gap(
        main(
            f"%x: {T} {D}",
            f"""%a = tensor.extract_slice %x[2] [4] [1] : {T} to {H}
            %b = tensor.extract_slice %a[1] [2] [1] : {H} to {PAIR}
            %w = linalg.fill ins(%one : f32) outs(%b : {PAIR}) -> {PAIR}
            %r = tensor.insert_slice %w into %x[3] [2] [1] : {PAIR} into {T}""",
            [("%r", T)],
        ),
        (1, 2),
        (1, 2),
    ),
    "f: a part that is everything": Gap(
        main(
            f"%x: {T}, %y: {T}",
            f"""{fill("%f")}
            %i = tensor.insert_slice %x into %f[0] [8] [1] : {T} into {T}
            %r = {binary("addf", "%i", "%y", "%f")}""",
            [("%r", T)],
        ),
        (0, 1),
        (1, 1),
    ),
    "f: a cast in between": Gap(
        main(
            f"%x: {T} {D}",
            f"""%d = tensor.cast %x : {T} to tensor<?xf32>
            %a = tensor.extract_slice %d[1] [4] [1] : tensor<?xf32> to {H}
            %w = linalg.fill ins(%one : f32) outs(%a : {H}) -> {H}
            %s = tensor.cast %d : tensor<?xf32> to {T}
            %r = tensor.insert_slice %w into %s[1] [4] [1] : {H} into {T}""",
            [("%r", T)],
        ),
        (1, 2),
        (1, 2),
    ),
    "f: pairs in another order": Gap(
        main(
            f"%x: {T} {D}",
            f"""%a = tensor.extract_slice %x[0] [4] [1] : {T} to {H}
            %b = tensor.extract_slice %x[4] [4] [1] : {T} to {H}
            %v = linalg.fill ins(%one : f32) outs(%a : {H}) -> {H}
            %w = linalg.fill ins(%zero : f32) outs(%b : {H}) -> {H}
            %s = tensor.insert_slice %w into %x[4] [4] [1] : {H} into {T}
            %r = tensor.insert_slice %v into %s[0] [4] [1] : {H} into {T}""",
            [("%r", T)],
        ),
        (1, 2),
        (1, 2),
    ),
    "g: padding": Gap(
        main(
            f"%x: {H}",
            f"""%e = tensor.empty() : {H}
            %y = {square("%x", "%e", H)}
            %r = tensor.pad %y low[1] high[3] {{
            ^bb0(%i: index):
              tensor.yield %zero : f32
            }} : {H} to {T}""",
            [("%r", T)],
        ),
        (0, 1),
        (1, 2),
    ),
    "g: concatenation": Gap(
        main(
            f"%x: {H}, %y: {H}",
            f"""%e = tensor.empty() : {H}
            %a = {square("%x", "%e", H)}
            %d = tensor.empty() : {H}
            %b = {square("%y", "%d", H)}
            %r = tensor.concat dim(0) %a, %b : ({H}, {H}) -> {T}""",
            [("%r", T)],
        ),
        (0, 2),
        (1, 3),
    ),
    "h: an argument that is returned": Gap(
        main(
            f"%x: {T}",
            f"""%e = tensor.empty() : {T}
            %y = {square("%x", "%e")}
            %z = func.call @same(%y) : ({T}) -> {T}
            %r = {binary("addf", "%z", "%x", "%z")}""",
            [("%r", T)],
            f"func.func private @same(%x: {T}) -> {T} {{ return %x : {T} }}",
        ),
        (0, 1),
        (1, 2),
    ),
    "l: a callee writes its argument": Gap(
        main(
            f"%x: {T}",
            f"""{fill("%f")}
            %a = func.call @square(%f) : ({T}) -> {T}
            %r = {binary("addf", "%a", "%x", "%a")}""",
            [("%r", T)],
            f"func.func private @square(%x: {T}) -> {T} {{ %r = {square('%x', '%x')} return %r : {T} }}",
        ),
        (0, 1),
        (1, 2),
    ),
}
