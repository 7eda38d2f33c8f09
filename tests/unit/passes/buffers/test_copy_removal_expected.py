"""Copies that a reader of the program expects to go, each beside one that looks alike and has to stay; all are run."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from hotdesk.analysis.copying.removal import CopyRemovals
from hotdesk.explain import Outcome, Reason
from hotdesk.ir.context import make_context
from hotdesk.passes.buffers import copy_removal
from hotdesk.passes.buffers.copy_removal import CopyRemoval
from tests.unit.parsing import parse
from tests.unit.passes.buffers.running import same

M = "memref<8xf32>"
FIRST, LAST = "memref<4xf32, strided<[1]>>", "memref<4xf32, strided<[1], offset: 4>>"


def copy(source: str, target: str) -> str:
    return f"memref.copy {source}, {target} : {M} to {M}\n"


def exp(source: str, target: str) -> str:
    return f"linalg.exp ins({source} : {M}) outs({target} : {M})\n"


def fill(target: str) -> str:
    return f"linalg.fill ins(%z : f32) outs({target} : {M})\n"


def part(memref: str, offset: int = 4) -> str:
    return f"{memref}{offset} = memref.subview {memref}[{offset}] [4] [1] : {M} to {LAST if offset else FIRST}\n"


def loop(*body: str) -> str:
    return f"scf.for %i = %c0 to %n step %c1 {{\n{''.join(body)}}}\n"


def branch(*body: str) -> str:
    return f"scf.if %p {{\n{''.join(body)}}}\n"


A, B = f"%a = memref.alloc() : {M}\n", f"%b = memref.alloc() : {M}\n"
FREE_A, FREE_B = f"memref.dealloc %a : {M}\n", f"memref.dealloc %b : {M}\n"
STACK = f"%a = memref.alloca() : {M}\n"
FILL_PART = f"linalg.fill ins(%z : f32) outs({{}} : {LAST})\n"
ONE = "memref.store %z, %a[%c0] : memref<{}xf32>\n%e = memref.load %a[%c0] : memref<{}xf32>\n"
STORED = f"memref.store %e, %y[%c0] : {M}\n"
OVERLAP = (
    f"%v = memref.subview %y[0] [4] [1] : {M} to {FIRST}\n%w = memref.subview %y[2] [4] [1] : {M} to "
    "memref<4xf32, strided<[1], offset: 2>>\n"
    + 2
    * f"memref.copy %v, %w : {FIRST} to memref<4xf32, strided<[1], offset: 2>>\n"
)

GO: dict[str, tuple[str, int]] = {
    "a chain": (A + copy("%x", "%a") + B + copy("%a", "%b") + exp("%b", "%y") + FREE_A + FREE_B, 0),
    "there and back": (A + copy("%y", "%a") + copy("%a", "%y") + exp("%a", "%y") + FREE_A, 0),
    "twice": (A + copy("%x", "%a") + exp("%a", "%y") + copy("%x", "%a") + exp("%a", "%y") + FREE_A, 0),
    "to itself through views": (
        (f"%v = memref.subview %y[4] [4] [1] : {M} to {LAST}\n"
        f"%w = memref.subview %y[%c4] [4] [1] : {M} to memref<4xf32, strided<[1], offset: ?>>\n"
        f"memref.copy %v, %w : {LAST} to memref<4xf32, strided<[1], offset: ?>>\n"),
        0,
    ),
    "overwritten before it is read": (A + copy("%x", "%a") + fill("%a") + exp("%a", "%y") + FREE_A, 0),
    "its only element is stored": (
        "%a = memref.alloc() : memref<1xf32>\n%v = memref.subview %x[0] [1] [1] : memref<8xf32> to memref<1xf32, strided<[1]>>\n"
        "memref.copy %v, %a : memref<1xf32, strided<[1]>> to memref<1xf32>\n"
        + ONE.format(1, 1) + STORED + "memref.dealloc %a : memref<1xf32>\n",
        0,
    ),
    "to the stack": (STACK + copy("%x", "%a") + exp("%a", "%y"), 0),
    "in a loop, allocated in front of it": (A + loop(copy("%x", "%a"), exp("%a", "%y")) + FREE_A, 0),
    "in a branch, allocated in front of it": (A + branch(copy("%x", "%a"), exp("%a", "%y")) + FREE_A, 0),
    "of dynamic size": (
        (f"%d = memref.cast %x : {M} to memref<?xf32>\n%s = memref.dim %d, %c0 : memref<?xf32>\n"
        "%a = memref.alloc(%s) : memref<?xf32>\nlinalg.copy ins(%d : memref<?xf32>) outs(%a : memref<?xf32>)\n"
        f"%o = memref.cast %y : {M} to memref<?xf32>\nlinalg.exp ins(%a : memref<?xf32>) outs(%o : memref<?xf32>)\n"
        "memref.dealloc %a : memref<?xf32>\n"),
        0,
    ),
}  # fmt: skip
STAY: dict[str, tuple[str, int]] = {
    "twice, the source is written in between": (
        A + copy("%y", "%a") + exp("%a", "%y") + copy("%y", "%a") + exp("%a", "%y") + FREE_A, 2,
    ),
    "twice, a part of the target is written in between": (
        A + part("%a") + copy("%x", "%a") + FILL_PART.format("%a4") + exp("%a", "%y") + copy("%x", "%a") + exp("%a", "%y")
        + copy("%a", "%y") + FREE_A,
        3,
    ),
    "twice, the source is written in a branch in between": (
        A + copy("%y", "%a") + branch(fill("%y")) + copy("%a", "%y") + FREE_A, 2,
    ),
    "twice, onto a part of itself": (OVERLAP, 2),
    "one of two elements is stored": (
        "%a = memref.alloc() : memref<2xf32>\n%v = memref.subview %x[0] [2] [1] : memref<8xf32> to memref<2xf32, strided<[1]>>\n"
        "memref.copy %v, %a : memref<2xf32, strided<[1]>> to memref<2xf32>\n"
        + ONE.format(2, 2) + "%f = memref.load %a[%c1] : memref<2xf32>\n"
        + STORED + f"memref.store %f, %y[%c1] : {M}\n" + "memref.dealloc %a : memref<2xf32>\n",
        1,
    ),
    "to the stack, the source is written later": (STACK + copy("%y", "%a") + fill("%y") + exp("%a", "%y"), 1),
    "in a loop, read in the next iteration before": (
        A + fill("%a") + loop(exp("%a", "%y"), copy("%y", "%a")) + FREE_A, 1,
    ),
    "in a branch, read behind it": (A + fill("%a") + branch(copy("%x", "%a")) + exp("%a", "%y") + FREE_A, 1),
    "in a loop, read behind it": (A + fill("%a") + loop(copy("%x", "%a")) + exp("%a", "%y") + FREE_A, 1),
    "in a loop, the source is written while it is read": (
        A + fill("%y") + loop(copy("%y", "%a"), fill("%y"), exp("%a", "%y")) + FREE_A, 1,
    ),
}  # fmt: skip


def main(body: str) -> str:
    """`@main` of what it reads and writes; the result has contents from the start."""
    return f"""func.func @main(%n: index, %p: i1, %x: {M}, %y: {M} {{bufferize.result = 0 : i64}}) {{
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c4 = arith.constant 4 : index
      %z = arith.constant 0.5 : f32
      memref.store %z, %y[%c0] : {M}
      linalg.exp ins(%x : {M}) outs(%y : {M})
      {body}
      return
    }}"""


@pytest.mark.parametrize(("name", "goes"), [*((n, True) for n in GO), *((n, False) for n in STAY)])
def test_copies_that_are_expected_to_go(name: str, goes: bool) -> None:
    body, left = (GO if goes else STAY)[name]
    inputs: Any = [3, np.bool_(True), np.linspace(-1, 1, 8, dtype=np.float32)]
    changed, _ = same(main(body), [CopyRemoval(arguments_overlap=False)], inputs, [(8,)])
    assert changed.count("memref.copy") + changed.count("linalg.copy") == left, changed


def test_copies_of_what_is_there_go_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    rounds: list[int] = []

    class Counted(CopyRemovals):
        def __init__(self, *arguments: Any) -> None:
            rounds.append(0)
            super().__init__(*arguments)

    monkeypatch.setattr(copy_removal, "CopyRemovals", Counted)
    body = A + fill("%a") + 32 * (copy("%x", "%a") + exp("%a", "%y")) + fill("%a") + exp("%a", "%y") + FREE_A
    module = parse(main(body))
    decisions = CopyRemoval(arguments_overlap=False).run(module)
    assert [d.reason for d in decisions].count(Reason.ALREADY_THERE) == 31
    assert len(rounds) <= 3


@pytest.mark.parametrize("kind", ["memref<0xf32>", "memref<4x0x?xf32>"])
def test_what_has_no_elements_is_not_copied(kind: str) -> None:
    with make_context():
        module = parse(f"func.func @f(%x: {kind}, %y: {kind}) {{\nmemref.copy %x, %y : {kind} to {kind}\nreturn\n}}")
        decisions = CopyRemoval().run(module)
    assert [(d.outcome, d.reason) for d in decisions] == [(Outcome.REMOVED, Reason.NOTHING_COPIED)]
    assert "memref.copy" not in str(module)


@pytest.mark.parametrize("overlap", [False, True])
def test_arguments_that_may_be_one_are_copied_again(overlap: bool) -> None:
    """%y may be a part of %x only if they may overlap at all; then a second copy is left alone."""
    lines = (
        f"memref.copy %x, %y : {M} to {M}\nlinalg.exp ins(%y : {M}) outs(%o : {M})\nmemref.copy %x, %y : {M} to {M}\n"
    )
    module = parse(f"func.func @f(%x: {M}, %y: {M}, %o: {M}) {{\n{lines}return\n}}")
    reasons = [d.reason for d in CopyRemoval(arguments_overlap=overlap).run(module)]
    assert (Reason.ALREADY_THERE in reasons) is not overlap
