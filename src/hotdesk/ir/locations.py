"""From MLIR locations to the Python line a user wrote."""

from __future__ import annotations

import re

_FRAME = re.compile(r'"([^"]+)":(\d+):\d+')
_LIBRARY = re.compile(r"[\\/]torch[\\/]")


def python_line(location: object) -> str:
    """`file:line` of the innermost frame outside PyTorch in a location (its text will do), or "" when there is none.

    Call sites are printed from the callee outwards, so the first frame that is not PyTorch's own is the line that called it.
    """
    frames = _FRAME.findall(str(location))
    for file, line in frames:
        if not _LIBRARY.search(file):
            return f"{file}:{line}"
    return f"{frames[0][0]}:{frames[0][1]}" if frames else ""
