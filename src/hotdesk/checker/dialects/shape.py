"""`shape`: assumptions."""

from __future__ import annotations

import numpy as np

from hotdesk.checker.dialects.scf import execute
from hotdesk.checker.interpreter import Frame, Implementation, OpReader, Step, Terminator, leave
from hotdesk.checker.report import FaultKind


def _witness(reader: OpReader) -> Step:
    """That an assumption holds. The region of one that does not has no meaning."""
    interpreter, at, (result,) = reader.interpreter, reader.at, reader.results
    holds = bool(reader.attribute("passing").value)

    def step(frame: Frame) -> None:
        if not holds:
            interpreter.findings.stop(FaultKind.ASSERTION, at, "an assumption does not hold")
        frame[result] = np.bool_(True)

    return step


OPS: dict[str, Implementation] = {"shape.assuming": execute, "shape.const_witness": _witness}
TERMINATORS: dict[str, Terminator] = {"shape.assuming_yield": leave}
