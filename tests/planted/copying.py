"""Faults of copy removal, and of the fusion of loops over memory."""

from __future__ import annotations

from hotdesk.analysis.copying.context import CopyContext, CopyEffects
from hotdesk.analysis.copying.copies import MemoryClasses
from hotdesk.analysis.fusion.buffer_fusion import BufferFusions
from hotdesk.checker import FaultKind
from tests.planted.planting import ALLOC, COPY, WRONG_RESULTS, Case, always, both, program, unary

COPIES = {
    "the target is written and the source read on": Case(
        always(CopyEffects, "may_write", False),
        WRONG_RESULTS,
        program(
            f"%s {ALLOC}", unary("exp", "%x", "%s"), f"%t {ALLOC}", COPY.format("%s", "%t"),
            "memref.store %one, %t[%c0] : M", "linalg.add ins(%s, %t : M, M) outs(%y : M)",
        ),
    ),
    "the target is read between": Case(
        always(CopyEffects, "is_apart", True),
        WRONG_RESULTS,
        program(
            "linalg.fill ins(%one : f32) outs(%y : M)", f"%s {ALLOC}", unary("exp", "%x", "%s"),
            "%v = memref.load %y[%c0] : M", "memref.store %v, %s[%c1] : M", COPY.format("%s", "%y"),
        ),
    ),
    "what overwrites the target reads it too": Case(
        always(CopyEffects, "overwrites", True),
        FaultKind.UNWRITTEN,
        program(
            f"%t {ALLOC}", COPY.format("%x", "%t"), "linalg.add ins(%x, %t : M, M) outs(%t : M)", unary("abs", "%t", "%y"),
        ),
    ),
    "a use of the source after the copy is lost": Case(
        always(MemoryClasses, "next_touching", None),
        WRONG_RESULTS,
        program(
            f"%s {ALLOC}", unary("exp", "%x", "%s"), f"%t {ALLOC}", COPY.format("%s", "%t"),
            "memref.store %one, %t[%c0] : M", "linalg.add ins(%t, %s : M, M) outs(%y : M)",
        ),
    ),
    "the source is freed while it serves": Case(
        both(always(MemoryClasses, "freeing", []), always(CopyContext, "freed_here", None)),
        FaultKind.USE_AFTER_FREE,
        program(
            f"%s {ALLOC}", unary("exp", "%x", "%s"), f"%t {ALLOC}", COPY.format("%s", "%t"),
            "%v = memref.load %s[%c0] : M", "memref.dealloc %s : M", "memref.store %v, %y[%c1] : M",
            unary("abs", "%t", "%y"), "memref.dealloc %t : M",
        ),
    ),
    "the target is not read where it is written": Case(
        always(CopyEffects, "reads_where_it_writes", True),
        FaultKind.OVERLAP,
        program(
            unary("exp", "%x", "%y"), "%s = memref.alloc() : M",
            "linalg.transpose ins(%y : M) outs(%s : M) permutation = [1, 0]", COPY.format("%s", "%y"),
            kind="memref<3x3xf32>",
        ),
    ),
}  # fmt: skip


def generic(source: str, target: str, body: str) -> str:
    maps = "affine_map<(i) -> (i)>, affine_map<(i) -> (i)>"
    return (
        f'linalg.generic {{indexing_maps = [{maps}], iterator_types = ["parallel"]}} ins({source} : M) outs({target} : M) '
        f"{{ ^bb0(%i: f32, %o: f32): %u = {body} : f32 linalg.yield %u : f32 }}"
    )


FUSION = {
    "the source is written between": Case(
        always(BufferFusions, "_between", None),
        WRONG_RESULTS,
        program(
            f"%s {ALLOC}", f"%t {ALLOC}", COPY.format("%x", "%s"), generic("%s", "%t", "math.exp %i"),
            "memref.store %one, %s[%c0] : M", generic("%t", "%y", "math.absf %i"),
            "memref.dealloc %s : M", "memref.dealloc %t : M",
        ),
    ),
}  # fmt: skip
