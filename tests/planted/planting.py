"""Faults as values, and the programs on memrefs that show them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest

from hotdesk.checker import FaultKind

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
