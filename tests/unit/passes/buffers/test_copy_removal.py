"""Copy removal ends: run again it changes nothing, and rows of copies go in few rounds."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from hotdesk.analysis.copying.removal import CopyRemovals
from hotdesk.explain import Reason
from hotdesk.passes.buffers import copy_removal
from hotdesk.passes.buffers.copy_removal import CopyRemoval
from tests.running.filecheck import DIRECTORY, pieces
from tests.unit.parsing import parse
from tests.unit.passes.buffers.running import same
from tests.unit.passes.memory import text_after

M = "memref<8xf32>"
EXP = f"linalg.exp ins({{}} : {M}) outs({{}} : {M})"
COPY = f"memref.copy {{}}, {{}} : {M} to {M}"


@pytest.mark.parametrize("piece", [*pieces(DIRECTORY / "buffers" / "copy-removal-views.mlir")], ids=lambda _: "")
def test_twice_changes_nothing_more(piece: Any) -> None:
    once = text_after(piece.text, CopyRemoval())
    assert text_after(once, CopyRemoval()) == once


@pytest.fixture
def rounds(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """One entry for each time that copies are looked for."""
    found: list[int] = []

    class Counted(CopyRemovals):
        def __init__(self, *arguments: Any) -> None:
            found.append(len(found))
            super().__init__(*arguments)

    monkeypatch.setattr(copy_removal, "CopyRemovals", Counted)
    return found


def program(*lines: str) -> str:
    body = "\n  ".join(lines)
    return f"""func.func @main(%x: {M}, %y: {M} {{bufferize.result = 0 : i64}}) {{
  %a = memref.alloc() : {M}
  {body}
  memref.dealloc %a : {M}
  return
}}"""


def test_a_row_of_copies_that_are_overwritten_goes_at_once(rounds: list[int]) -> None:
    text = program(EXP.format("%x", "%a"), *(COPY.format(("%x", "%a")[i % 2], "%y") for i in range(64)))
    changed, _ = same(text, [CopyRemoval()], [np.arange(8, dtype=np.float32)], [(8,)])
    assert "memref.copy" not in changed  # %a becomes %y
    assert len(rounds) <= 4


def test_copies_of_what_is_there_go_at_once(rounds: list[int]) -> None:
    filled = f"%z = arith.constant 0.5 : f32\n  linalg.fill ins(%z : f32) outs(%a : {M})"
    again = (COPY.format("%x", "%a"), EXP.format("%a", "%y"))
    text = program(filled, *(32 * again), filled.partition("\n  ")[2], EXP.format("%a", "%y"))
    decisions = CopyRemoval(arguments_overlap=False).run(parse(text))
    assert [d.reason for d in decisions].count(Reason.ALREADY_THERE) == 31
    assert len(rounds) <= 3
