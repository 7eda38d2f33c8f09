"""Which line of the user's is behind an error or a node: the innermost one that is neither PyTorch's nor ours."""

from __future__ import annotations

import contextlib
import os
import re
from pathlib import Path

import torch

_LIBRARIES = tuple(str(folder) + os.sep for folder in (Path(torch.__file__).parent, Path(__file__).parents[1]))


def is_users(file: str) -> bool:
    """Whether a frame's file is neither PyTorch's, ours, nor one that only wraps calls of theirs."""
    return not file.startswith(("<", *_LIBRARIES)) and file != contextlib.__file__


def user_line(error: BaseException) -> str | None:
    """The innermost line of the traceback that is neither PyTorch's nor ours."""
    line: str | None = None
    traceback = error.__traceback__
    while traceback is not None:
        file = traceback.tb_frame.f_code.co_filename
        if is_users(file):
            line = f"{file}:{traceback.tb_lineno}"
        traceback = traceback.tb_next
    return line


def noted_line(message: str) -> str | None:
    """The innermost line of the user's in a stack that PyTorch wrote into its message."""
    frames = [frame for frame in re.findall(r'File "([^"]+)", line (\d+)', message) if is_users(frame[0])]
    return f"{frames[-1][0]}:{frames[-1][1]}" if frames else None


def node_line(node: torch.fx.Node) -> str:
    """The user's line that a node was traced from; empty if it is not known."""
    frames = re.findall(r'File "([^"]+)", line (\d+)', node.meta.get("stack_trace") or "")
    ours = [frame for frame in frames if is_users(frame[0])]
    return f"{ours[-1][0]}:{ours[-1][1]}" if ours else ""
