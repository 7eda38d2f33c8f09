"""Faults planted in the passes on buffers and in bufferization: a rule is not kept, and the checker notices what comes of it.

Each case is a program on which the pass is right, and which shows the fault: the checker tells of one, or the results differ from
those of the program as it was.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pytest
from torch_mlir import ir

from hotdesk.analysis import allocation_ranges, hoisting, merging, sharing
from hotdesk.analysis.allocation_ranges import LiveRange
from hotdesk.analysis.allocation_uses import Allocations
from hotdesk.analysis.buffer_fusion import BufferFusions
from hotdesk.analysis.copies import Memory
from hotdesk.analysis.copy_effects import CopyEffects
from hotdesk.analysis.hoisting import Hoisting, Move
from hotdesk.analysis.ownership import Ownership
from hotdesk.analysis.ownership_candidates import EXTERNAL
from hotdesk.analysis.promotion import Promotion, Promotions
from hotdesk.analysis.readers import Readers
from hotdesk.analysis.releases import Releases
from hotdesk.analysis.sharing import Sharing
from hotdesk.ir.context import make_context
from hotdesk.passes.buffers import deallocate, merge, settle_ownership, share
from hotdesk.passes.textual import parse_pipeline
from hotdesk.planning.symbolic_offsets import Extent
from hotdesk.runtime.checker import CheckReport, FaultKind, Settings, check_module
from tests.running import wanted
from tests.running.examples import EXAMPLES, inputs_of
from tests.unit.analysis.test_mutations import CASES as IN_PLACE

Patch = Callable[[pytest.MonkeyPatch], None]
WRONG_RESULTS = "wrong results"


@dataclass(frozen=True)
class Case:
    """A fault, a program that shows it, and how: a kind of fault or `WRONG_RESULTS`."""

    fault: Patch
    shown: FaultKind | str
    text: str
    sizes: tuple[int, ...] = ()


def always(owner: Any, name: str, answer: Any) -> Patch:
    """A question that is always answered in one way."""
    return lambda patch: patch.setattr(owner, name, lambda *_: answer)


def changed(owner: Any, name: str, change: Callable[..., Any]) -> Patch:
    """A function whose result is `change(result, *arguments)`."""

    def apply(patch: pytest.MonkeyPatch) -> None:
        right = getattr(owner, name)
        patch.setattr(owner, name, lambda *given, **options: change(right(*given, **options), *given))

    return apply


def both(*faults: Patch) -> Patch:
    def apply(patch: pytest.MonkeyPatch) -> None:
        for fault in faults:
            fault(patch)

    return apply


def program(
    *lines: str, arguments: str = "%x: M, %y: M {bufferize.result = 0 : i64}", kind: str = "memref<4xf32>"
) -> str:
    """`@main` on memrefs; `M` stands for a type, and `%c0` to `%c4` for indices."""
    numbers = [f"%c{n} = arith.constant {n} : index" for n in range(5)]
    body = "\n".join(f"  {line}" for line in (*numbers, "%one = arith.constant 1.0 : f32", *lines))
    return f"func.func @main({arguments}) {{\n{body}\n  return\n}}".replace("M", kind)


def unary(name: str, source: str, target: str) -> str:
    return f"linalg.{name} ins({source} : M) outs({target} : M)"


ALLOC = "= memref.alloc() : M"
TEMPORARIES = (
    f"%a {ALLOC}", unary("exp", "%x", "%a"),
    f"%b {ALLOC}", unary("log", "%a", "%b"),
    f"%c {ALLOC}", unary("exp", "%b", "%c"),
    f"%d {ALLOC}", unary("abs", "%c", "%d"),
    "linalg.add ins(%c, %d : M, M) outs(%y : M)",
)  # fmt: skip
FREED = tuple(f"memref.dealloc {name} : M" for name in ("%a", "%b", "%c", "%d"))
FREED_EARLY = (*TEMPORARIES[:4], FREED[0], *TEMPORARIES[4:6], FREED[1], *TEMPORARIES[6:], FREED[2], FREED[3])
THROUGH_A_VIEW = (
    f"%a {ALLOC}", unary("exp", "%x", "%a"),
    "%v = memref.subview %a[0] [2] [1] : M to memref<2xf32, strided<[1]>>",
    f"%b {ALLOC}", unary("log", "%x", "%b"), unary("abs", "%b", "%y"),
    "%t = memref.subview %y[2] [2] [1] : M to memref<2xf32, strided<[1], offset: 2>>",
    "memref.copy %v, %t : memref<2xf32, strided<[1]>> to memref<2xf32, strided<[1], offset: 2>>",
)  # fmt: skip
FRESH_EACH_TIME = (
    f"%a {ALLOC}", unary("exp", "%x", "%a"),
    "%r = scf.for %i = %c0 to %c3 step %c1 iter_args(%p = %a) -> (M) {",
    f"  %n {ALLOC}", "  linalg.fill ins(%one : f32) outs(%n : M)",
    "  linalg.add ins(%p, %n : M, M) outs(%n : M)", "  linalg.add ins(%n, %p : M, M) outs(%n : M)",
    "  scf.yield %n : M", "}",
    unary("abs", "%r", "%y"),
)  # fmt: skip
EITHER = (
    f"%a {ALLOC}", unary("exp", "%x", "%a"),
    "%v = memref.load %x[%c0] : M", "%q = arith.cmpf ogt, %v, %one : f32",
    "%r = scf.if %q -> (M) {",
    f"  %n {ALLOC}", f"  {unary('log', '%x', '%n')}", "  scf.yield %n : M",
    "} else {", "  scf.yield %x : M", "}",
    "linalg.add ins(%r, %a : M, M) outs(%y : M)",
)  # fmt: skip
TURN = "linalg.transpose ins({} : M) outs({} : M) permutation = [1, 0]"
TURNED = (
    f"%a {ALLOC}", unary("exp", "%x", "%a"), f"%b {ALLOC}", TURN.format("%a", "%b"), "memref.dealloc %a : M",
    f"%c {ALLOC}", unary("log", "%b", "%c"), TURN.format("%c", "%y"),
    "memref.dealloc %b : M", "memref.dealloc %c : M",
)  # fmt: skip
SQUARE = "memref<3x3xf32>"
IN_LOOP = (
    "scf.for %i = %c0 to %c4 step %c1 {",
    "  %v = memref.load %x[%i] : M", f"  %t {ALLOC}", "  linalg.fill ins(%v : f32) outs(%t : M)",
    "  %w = memref.load %t[%c1] : M", "  memref.store %w, %y[%i] : M",
    "  memref.dealloc %t : M", "}",
)  # fmt: skip
IN_THREADS = (
    "scf.forall (%i) in (4) {", *IN_LOOP[1:],
)  # fmt: skip
COPY = "memref.copy {}, {} : M to M"


# Deallocation


def _last_use_lost(read: Any, *_: Any) -> Any:
    return replace(read, users=tuple(users[:-1] if len(users) > 1 else users for users in read.users))


def _views_apart(read: Any, *_: Any) -> Any:
    return replace(read, buffers=tuple(replace(buffer, sources=()) for buffer in read.buffers))


def _nobody_elses(found: Any, *_: Any) -> Any:
    return [frozenset(each - {EXTERNAL}) for each in found]


def _kept_by_all(found: Any, *_: Any) -> Any:
    return found if isinstance(found, range) else ()


DEALLOCATION = {
    "a buffer is freed one op early": Case(
        changed(settle_ownership, "read_buffers", _last_use_lost), FaultKind.USE_AFTER_FREE, program(*TEMPORARIES)
    ),
    "a view is no alias": Case(
        changed(settle_ownership, "read_buffers", _views_apart), FaultKind.USE_AFTER_FREE, program(*THROUGH_A_VIEW)
    ),
    "nothing is freed": Case(changed(Releases, "find", _kept_by_all), FaultKind.LEAK, program(*TEMPORARIES)),
    "deallocations that are there stay": Case(
        always(deallocate, "_drop", None), FaultKind.DOUBLE_FREE, program(*FREED_EARLY)
    ),
    "a branch owns what is an argument": Case(
        changed(Ownership, "_candidates", _nobody_elses), FaultKind.INVALID_FREE, program(*EITHER), (2,)
    ),
}


# Hoisting


def _frees_left(found: Any, *_: Any) -> Any:
    return replace(found, frees=(), after=None) if isinstance(found, Move) else found


NEGATIVE = """
func.func @main(%n: index, %y: memref<4xf32> {bufferize.result = 0 : i64}) {
  %one = arith.constant 1.0 : f32
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : index
  %m = arith.subi %n, %c2 : index
  linalg.fill ins(%one : f32) outs(%y : memref<4xf32>)
  %some = arith.cmpi sgt, %m, %c0 : index
  cf.cond_br %some, ^bb1, ^bb2
^bb1:
  %a = memref.alloc(%m) : memref<?xf32>
  linalg.fill ins(%one : f32) outs(%a : memref<?xf32>)
  cf.br ^bb3(%a : memref<?xf32>)
^bb2:
  %b = memref.cast %y : memref<4xf32> to memref<?xf32>
  cf.br ^bb3(%b : memref<?xf32>)
^bb3(%r: memref<?xf32>):
  %v = memref.load %r[%c0] : memref<?xf32>
  memref.store %v, %y[%c0] : memref<4xf32>
  return
}
"""
HOISTING = {
    "an allocation leaves a loop that hands it on": Case(
        always(Hoisting, "_forbidden", None), WRONG_RESULTS, program(*FRESH_EACH_TIME)
    ),
    "a size that nobody asked for is negative": Case(
        always(hoisting, "is_not_negative", True), FaultKind.SHAPE, NEGATIVE, (1,)
    ),
}
LOOP_HOISTING = {
    "an allocation leaves a loop that hands it on": Case(
        always(Hoisting, "_keeps", None), WRONG_RESULTS, program(*FRESH_EACH_TIME)
    ),
    "threads share an allocation": Case(always(Hoisting, "_keeps", None), FaultKind.RACE, program(*IN_THREADS)),
    "deallocations stay in the loop": Case(
        changed(Hoisting, "_move", _frees_left), FaultKind.USE_AFTER_FREE, program(*IN_LOOP)
    ),
}


# Promotion


def _frees_stay(found: Any, *_: Any) -> Any:
    return replace(found, frees=()) if isinstance(found, Promotion) else found


PROMOTION = {
    "stack memory leaves its scope": Case(
        always(Promotions, "_left", (None, 0)), FaultKind.USE_AFTER_FREE, program(*FRESH_EACH_TIME)
    ),
    "stack memory is freed": Case(
        changed(Promotions, "find", _frees_stay), FaultKind.INVALID_FREE, program(*FREED_EARLY)
    ),
}


# Copies


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
        always(Memory, "next_touching", None),
        WRONG_RESULTS,
        program(
            f"%s {ALLOC}", unary("exp", "%x", "%s"), f"%t {ALLOC}", COPY.format("%s", "%t"),
            "memref.store %one, %t[%c0] : M", "linalg.add ins(%t, %s : M, M) outs(%y : M)",
        ),
    ),
    "the source is freed while it serves": Case(
        always(Memory, "freeing", []),
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


# Sharing


def _shorter(found: Any, *_: Any) -> Any:
    return replace(found, upper=found.upper - 1) if isinstance(found, LiveRange) else found


def _smaller_ones_too(found: Any, asked: Sharing, *_: Any) -> Any:
    return [number for _, _, number in asked._free]


def _freed_by_the_first(desks: Any, *_: Any) -> Any:
    return [replace(desk, last=desk.users[0].frees[-1]) if len(desk.users) > 1 else desk for desk in desks]


class _FreedByTheFirst(Sharing):
    def __init__(self, function: ir.Operation) -> None:
        super().__init__(function)
        self.desks = _freed_by_the_first(self.desks)


ALIGNED = (
    "%a = memref.alloc() : M", unary("exp", "%x", "%a"), unary("abs", "%a", "%y"), "memref.dealloc %a : M",
    "%b = memref.alloc() {alignment = 256 : i64} : M", "%p = memref.assume_alignment %b, 256 : M",
    unary("log", "%x", "%p"), unary("abs", "%p", "%y"), "memref.dealloc %b : M",
)  # fmt: skip
SMALL_THEN_LARGE = (
    "%a = memref.alloc() : memref<2xf32>", "linalg.fill ins(%one : f32) outs(%a : memref<2xf32>)",
    "%v = memref.load %a[%c0] : memref<2xf32>", "memref.dealloc %a : memref<2xf32>",
    "%b = memref.alloc() : M", "linalg.fill ins(%v : f32) outs(%b : M)", unary("abs", "%b", "%y"), "memref.dealloc %b : M",
)  # fmt: skip
BEFORE_THREADS = (
    f"%a {ALLOC}", unary("exp", "%x", "%a"), unary("abs", "%a", "%y"), "memref.dealloc %a : M", *IN_THREADS,
)  # fmt: skip
SHARING = {
    "live ranges end one op early": Case(
        changed(sharing, "live_range", _shorter), FaultKind.OVERLAP, program(*TURNED, kind=SQUARE)
    ),
    "a desk is too small": Case(
        changed(Sharing, "_candidates", _smaller_ones_too), FaultKind.OUT_OF_BOUNDS, program(*SMALL_THEN_LARGE)
    ),
    "threads share a desk": Case(always(sharing, "runs_in_parallel", False), FaultKind.RACE, program(*BEFORE_THREADS)),
    "the first user frees": Case(
        lambda patch: patch.setattr(share, "Sharing", _FreedByTheFirst), FaultKind.USE_AFTER_FREE, program(*FREED_EARLY)
    ),
    "a stricter alignment is forgotten": Case(always(share, "alignment_of", 1), FaultKind.ALIGNMENT, program(*ALIGNED)),
}


# Merging


def _all_at_zero(found: Any, *_: Any) -> Any:
    return replace(found, placements=tuple(replace(each, offset=0) for each in found.placements))


def _too_small(found: Any, *_: Any) -> Any:
    return replace(found, bytes=Extent(16))


def _merged_frees_stay(found: Any, *_: Any) -> Any:
    return replace(found, merged=tuple(replace(each, frees=()) for each in found.merged))


MERGING = {
    "live ranges end one op early": Case(
        changed(merging, "live_range", _shorter), FaultKind.OVERLAP, program(*TURNED, kind=SQUARE)
    ),
    "every buffer lies at the beginning": Case(
        changed(merging, "plan", _all_at_zero), FaultKind.OVERLAP, program(*FREED_EARLY)
    ),
    "the arena is too small": Case(
        changed(merge, "plan_arena", _too_small), FaultKind.OUT_OF_BOUNDS, program(*FREED_EARLY)
    ),
    "buffers in the arena are freed": Case(
        changed(merge, "plan_arena", _merged_frees_stay), FaultKind.DOUBLE_FREE, program(*FREED_EARLY)
    ),
    "threads share the arena": Case(
        both(always(merging, "runs_in_parallel", False), always(allocation_ranges, "runs_in_parallel", False)),
        FaultKind.RACE,
        program(*IN_THREADS),
    ),
    "a stricter alignment is forgotten": Case(
        always(merging, "alignment_of", 1),
        FaultKind.ALIGNMENT,
        program(
            f"%z {ALLOC}", unary("exp", "%x", "%z"), *ALIGNED,
            "linalg.add ins(%z, %y : M, M) outs(%y : M)", "memref.dealloc %z : M",
        ),
    ),
    "what a loop hands on is merged": Case(
        both(
            always(Allocations, "comes_around", False),
            always(allocation_ranges, "is_loop", False),
        ),
        FaultKind.OVERLAP,
        program(*FRESH_EACH_TIME),
    ),
}  # fmt: skip


# Fusion of loops over memory


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
            f"%s {ALLOC}", f"%t {ALLOC}", unary("exp", "%x", "%s"), generic("%s", "%t", "math.exp %i"),
            "memref.store %one, %s[%c0] : M", generic("%t", "%y", "math.absf %i"),
            "memref.dealloc %s : M", "memref.dealloc %t : M",
        ),
    ),
}  # fmt: skip

PASSES = {
    "hotdesk-buffer-deallocation": DEALLOCATION,
    "hotdesk-buffer-hoisting": HOISTING,
    "hotdesk-buffer-loop-hoisting": LOOP_HOISTING,
    "hotdesk-promote-buffers-to-stack": PROMOTION,
    "hotdesk-copy-removal": COPIES,
    "hotdesk-share-buffers": SHARING,
    "hotdesk-merge-allocations": MERGING,
    "hotdesk-fuse-buffers": FUSION,
}
CASES = [
    pytest.param(name, case, id=f"{name.removeprefix('hotdesk-')}: {fault}")
    for name, cases in PASSES.items()
    for fault, case in cases.items()
]


def _checked(text: str, pipeline: str, sizes: tuple[int, ...], settings: Settings) -> CheckReport:
    with make_context(), ir.Location.unknown():
        module = ir.Module.parse(text)
        parse_pipeline(f"builtin.module({pipeline})").run(module)
        assert module.operation.verify()
        return check_module(module, sizes=sizes, settings=settings)


def _settings(name: str, case: Case) -> Settings:
    frees = name == "hotdesk-buffer-deallocation" or "memref.dealloc" in case.text
    return Settings(deallocated=frees, arenas=name == "hotdesk-merge-allocations")


def _shown(report: CheckReport, before: CheckReport) -> set[FaultKind | str]:
    kinds: set[FaultKind | str] = {fault.kind for fault in report.faults}
    same = [a.values.tobytes() == b.values.tobytes() for a, b in zip(before.results, report.results, strict=False)]
    return kinds if all(same) else {*kinds, WRONG_RESULTS}


@pytest.mark.parametrize(("name", "case"), CASES)
def test_fault_in_a_pass_on_buffers_is_noticed(name: str, case: Case, monkeypatch: pytest.MonkeyPatch) -> None:
    before = _checked(case.text, "", case.sizes, replace(_settings(name, case), deallocated=False))
    assert before.clean, str(before)
    right = _checked(case.text, name, case.sizes, _settings(name, case))
    assert right.clean, str(right)
    assert _shown(right, before) == set()
    case.fault(monkeypatch)
    report = _checked(case.text, name, case.sizes, _settings(name, case))
    assert case.shown in _shown(report, before), str(report)


INSERTED_BEFORE = EXAMPLES["forall_swaps"].read_text(encoding="utf-8")
ELSEWHERE = (
    "reads of scalars are not seen",  # where a kernel loads a scalar again
    "buffers are given away one op early",
    "live ranges end with the last direct use",
)
"""Faults of the plan, and of deallocation, which has cases of its own."""
BUFFERIZATION: dict[str, tuple[Patch, str, tuple[Any, ...]]] = {
    **{
        name: (case.fault, case.text, case.inputs)
        for name, case in IN_PLACE.items()
        if case.pipeline == "buffers alone" and name not in ELSEWHERE
    },
    "a part that was inserted is read as if it were not": (
        always(Readers, "_changes", False),
        INSERTED_BEFORE,
        tuple(inputs_of(INSERTED_BEFORE)),
    ),
}


def _freed(text: str, inputs: tuple[Any, ...]) -> tuple[CheckReport, bool]:
    """The report on a program that Hotdesk has bufferized and deallocated, and whether its results are those of the reference."""
    expected = wanted(text, inputs)
    with make_context(), ir.Location.unknown():
        module = ir.Module.parse(text)
        parse_pipeline("builtin.module(hotdesk-one-shot-bufferize,hotdesk-buffer-deallocation)").run(module)
        report = check_module(module, "main", inputs)
    pairs = zip(report.results, expected, strict=False)
    return report, all(np.allclose(got.values, want.values, equal_nan=True) for got, want in pairs)


@pytest.mark.parametrize("name", BUFFERIZATION)
def test_fault_in_bufferization_is_noticed(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    fault, text, inputs = BUFFERIZATION[name]
    report, is_right = _freed(text, inputs)
    assert report.clean, str(report)
    assert is_right
    fault(monkeypatch)
    report, is_right = _freed(text, inputs)
    assert report.faults or not is_right
