"""From MLIR locations to the line a user wrote, and to the part of the model that it is in.

"<module encoder.layer.3>":1:1, "model.py":12:4     ->   model.py:12                        in encoder.layer.3
"<node /encoder/layer.3/MatMul>":1:1                ->   node /encoder/layer.3/MatMul       in encoder.layer.3
"jit(f)/encoder/dot_general"("model.py":12:4)       ->   model.py:12                        in encoder
"""

from __future__ import annotations

import re
import sys
from collections.abc import Generator
from contextlib import contextmanager
from functools import lru_cache

from hotdesk._bindings import ir
from hotdesk.errors import HotdeskError
from hotdesk.explain.source import Source

CHECKED_OP = "hotdesk.checked_op"  # on a `cf.assert`: the name of the op that it was made for
FILE_LINE_COLUMN = re.compile(r'"((?:[^"\\]|\\.)*)":(\d+):(\d+)')
"""A place in a file, as MLIR prints it in a location."""
_FRAME = re.compile(r'"((?!<(?:module|node) )[^"]+)":(\d+):(\d+)')
_MODULE = re.compile(r'"<module ([^">]+)>":')
_NODE = re.compile(r'"<node ([^">]+)>":')
_NAMED = re.compile(r'(?<!<)"([^"<>]+)"(?!:)')
_UNNAMED = re.compile(r"[\"<>\s\x00-\x1f]")
_COMPILED = re.compile(r"p?jit\(.*\)")
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

    Of an ONNX model it is `node` and the name of the node. For IR that was written as text it is `file:line:column`, and the
    file is `-` where the text came from no file. Call sites
    are printed from the callee outwards, so the first frame that is not PyTorch's own is the line that called it.
    """
    return _line_in(str(location))


@lru_cache(maxsize=256)
def _line_in(text: str) -> str:
    frames = _FRAME.findall(text)
    for frame in frames:
        if not _LIBRARY.search(frame[0]):
            return _line(*frame)
    if frames:
        return _line(*frames[0])
    node = _NODE.search(text)
    return sys.intern(f"node {node[1]}") if node is not None else ""


def source_of(op: ir.Operation) -> Source:
    """An op as decisions name it, by its Python line."""
    return Source(op.name, python_line(op.location))


def source_in_model(op: ir.Operation) -> Source:
    """An op as decisions name it, by its Python line and the submodule that it is in."""
    return Source(op.name, *origin(op.location))


def origin(location: object) -> tuple[str, str]:
    """The Python line and the submodule of a location, as `python_line` and `module_path` give them."""
    text = str(location)
    return python_line(text), module_path(text)


def module_frame(path: str) -> str:
    """A frame of a stack of PyTorch's that says in which submodule of a model an op is; `module_path` finds it again."""
    return f'  File "<module {path}>", line 1, in forward\n'


def of_node(name: str, module: str, context: ir.Context) -> ir.Location:
    """A location with the name of a node of ONNX, and its submodule, as `python_line` and `module_path` find them again."""
    found = [("module", module), ("node", name)]
    frames = [ir.Location.file(f"<{kind} {_UNNAMED.sub('_', text)}>", 1, 1, context) for kind, text in found if text]
    return ir.Location.fused(frames, context=context) if frames else ir.Location.unknown(context)


def module_path(location: object) -> str:
    """The submodule of the model that an op comes from, such as `encoder.layer.3.attention`; "" if it is not known.

    PyTorch's and ONNX's say it; else it is in the name that the location has, if it has one.
    """
    return _module_in(str(location))


@lru_cache(maxsize=256)
def _module_in(text: str) -> str:
    found = _MODULE.search(text)
    if found is not None:
        return sys.intern(found[1])
    named = _NAMED.search(text)
    return sys.intern(scope(named[1])) if named is not None else ""


def scope(name: str) -> str:
    """The submodule that the name of an op or node tells: `/encoder/encoder.0/fc/MatMul` is in `encoder.0.fc`.

    The last part of a path is the op itself, parts that repeat the one before them go on from it, and `jit(…)` in front, as JAX
    writes it, is none. A name with dots, and without slashes, is that of a submodule itself; any other tells none.
    """
    *parts, last = [part for part in name.split("/") if part] or [""]
    if "/" not in name:
        return _UNNAMED.sub("_", last) if "." in last else ""
    while parts and _COMPILED.fullmatch(parts[0]):
        parts.pop(0)
    made: list[str] = []
    for part in parts:
        if made and part.startswith(f"{made[-1]}."):
            made.pop()
        made.append(part)
    return _UNNAMED.sub("_", ".".join(made))


def _line(file: str, line: str, column: str) -> str:
    """One text for all ops of a line: records of a program that has been compiled keep them by the thousand."""
    return sys.intern(f"{file}:{line}" if file.endswith(".py") else f"{file}:{line}:{column}")
