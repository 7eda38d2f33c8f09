"""From MLIR locations to the line a user wrote."""

from __future__ import annotations

import re
import sys
from collections.abc import Generator
from contextlib import contextmanager

from hotdesk._bindings import ir
from hotdesk.errors import HotdeskError

CHECKED_OP = "hotdesk.checked_op"  # on a `cf.assert`: the name of the op that it was made for
_FRAME = re.compile(r'"((?!<module )[^"]+)":(\d+):(\d+)')
_MODULE = re.compile(r'"<module ([^">]+)>":')
_LIBRARY = re.compile(r"[\\/]torch[\\/]")


@contextmanager
def placed(location: ir.Location) -> Generator[None]:
    """Gives errors from inside the `with` that name no place this one."""
    try:
        yield
    except HotdeskError as error:
        where = python_line(location)
        if error.where is not None or not where:
            raise
        raise type(error)(error.what, expected=error.expected, got=error.got, where=where, hint=error.hint) from error


def python_line(location: object) -> str:
    """`file:line` of the innermost frame outside PyTorch in a location (its text will do), or "" when there is none.

    For IR that was written as text it is `file:line:column`, and the file is `-` where the text came from no file. Call sites
    are printed from the callee outwards, so the first frame that is not PyTorch's own is the line that called it.
    """
    frames = _FRAME.findall(str(location))
    for frame in frames:
        if not _LIBRARY.search(frame[0]):
            return _line(*frame)
    return _line(*frames[0]) if frames else ""


def origin(location: object) -> tuple[str, str]:
    """The Python line and the submodule of a location, as `python_line` and `module_path` give them."""
    text = str(location)
    return python_line(text), module_path(text)


def module_frame(path: str) -> str:
    """A frame of a stack of PyTorch's that says in which submodule of a model an op is; `module_path` finds it again."""
    return f'  File "<module {path}>", line 1, in forward\n'


def module_path(location: object) -> str:
    """The submodule of the model that an op comes from, such as `encoder.layer.3.attention`; "" if it is not known."""
    found = _MODULE.search(str(location))
    return sys.intern(found[1]) if found is not None else ""


def _line(file: str, line: str, column: str) -> str:
    """One text for all ops of a line: records of a program that has been compiled keep them by the thousand."""
    return sys.intern(f"{file}:{line}" if file.endswith(".py") else f"{file}:{line}:{column}")
