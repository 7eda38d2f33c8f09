"""`ub`: values that are not defined."""

from __future__ import annotations

import numpy as np

from hotdesk.checker.interpreter import Frame, Implementation, OpReader, Step
from hotdesk.checker.values import Unwritten, dtype_of


def _poison(reader: OpReader) -> Step:
    value = Unwritten(dtype_of(reader.result_type()).type(0), np.True_, reader.at, None)
    (result,) = reader.results

    def step(frame: Frame) -> None:
        frame[result] = value

    return step


OPS: dict[str, Implementation] = {"ub.poison": _poison}
