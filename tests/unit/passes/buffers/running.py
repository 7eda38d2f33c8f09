"""Programs on memrefs before and after passes, in memory that shows mistakes: results must agree, and all must be freed alike."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from torch_mlir import ir

from hotdesk.ir.context import make_context
from hotdesk.passes.base import Pass
from tests.guarded import POISONS
from tests.running import Executable, Run
from tests.unit.passes.memory import text_after


def runs(text: str, inputs: Sequence[Any], shapes: Sequence[Sequence[int]]) -> list[Run]:
    """What `@main` makes of its arguments, once for each poison; results are arguments with `bufferize.result`, or returned."""
    with make_context(), ir.Location.unknown():
        executable = Executable(ir.Module.parse(text))
    return [executable(inputs, shapes, poison) for poison in POISONS]


def same(
    text: str, passes: Sequence[Pass], inputs: Sequence[Any], shapes: Sequence[Sequence[int]], *, leaks: int | None = 0
) -> tuple[str, Run]:
    """Fails if `@main` gives other results after passes, or if then so many allocations are never freed (None: any number).

    Returns the text after the passes, and what it took.
    """
    changed = text_after(text, *passes)
    wanted, got = runs(text, inputs, shapes)[0], runs(changed, inputs, shapes)
    for run in got:
        for number, (a, b) in enumerate(zip(wanted.results, run.results, strict=True)):
            np.testing.assert_array_equal(a, b, f"result {number}")
        assert leaks is None or run.leaks == leaks, f"{run.leaks} allocations are never freed"
    return changed, got[0]
