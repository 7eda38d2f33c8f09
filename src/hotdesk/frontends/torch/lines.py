"""Which line of the user's is behind an error or a node: the innermost one that is neither PyTorch's nor ours."""

from __future__ import annotations

import contextlib
import os
import re
import threading
from collections.abc import Callable, Generator, Iterator, Mapping
from pathlib import Path
from typing import Any, TypeAlias, cast

import torch

from hotdesk.ir.locations import module_frame

_LIBRARIES = tuple(str(folder) + os.sep for folder in (Path(torch.__file__).parent, Path(__file__).parents[2]))


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


def place_like(made: torch.fx.Node, like: torch.fx.Node) -> None:
    """Gives a node the line and the submodule of another."""
    made.meta.update({key: like.meta[key] for key in ("stack_trace", "nn_module_stack") if key in like.meta})


Traces: TypeAlias = "dict[str, Mapping[int, str]]"
"""The stack of the user's behind each line of the code that PyTorch generates for graphs, by file and line."""

_recording: list[Traces] = []
_lock = threading.Lock()


@contextlib.contextmanager
def generated_code() -> Generator[Traces]:
    """What the lines of code that PyTorch generates in the meantime come from.

    Functions that are given to ops with subgraphs are traced twice, the second time as generated code that runs.
    """
    traces: Traces = {}
    with _lock:
        _recording.append(traces)
        if len(_recording) == 1:
            cast(Any, torch.fx.GraphModule).recompile = _recorded
    try:
        yield traces
    finally:
        with _lock:
            _recording.remove(traces)
            if not _recording:
                cast(Any, torch.fx.GraphModule).recompile = _recompile


_recompile: Callable[[torch.fx.GraphModule], Any] = torch.fx.GraphModule.recompile


def _recorded(module: torch.fx.GraphModule) -> Any:
    made = _recompile(module)
    code: Any = cast(Any, type(module).forward).__code__
    stacks = [node.meta.get("stack_trace") or "" for node in module.graph.nodes]
    lines: Mapping[int, int | None] = getattr(made, "_lineno_map", None) or {}
    found = {code.co_firstlineno + line: stacks[number] for line, number in lines.items() if number is not None}
    for traces in _recording:
        traces[code.co_filename] = found
    return made


def name_users_lines(graphs: Iterator[torch.fx.Graph], traces: Traces) -> None:
    """Puts the user's lines into stacks of nodes in the place of lines of generated code."""

    def users(frame: re.Match[str]) -> str:
        found = traces.get(frame[1], {}).get(int(frame[2]))
        return _FRAME.sub(users, found).rstrip() + "\n" if found else frame[0]

    for node in (node for graph in graphs for node in graph.nodes):
        if "<eval_with_key>" in (node.meta.get("stack_trace") or ""):
            node.meta["stack_trace"] = _FRAME.sub(users, node.meta["stack_trace"])


def name_places(graph: torch.fx.Graph) -> None:
    """Leaves of each node's stack what locations of ops tell: the submodule that it belongs to, and the user's line.

    A step of training has stacks of a hundred frames, of which the location of every op would be made. Where no frame is the
    user's, the innermost stays.
    """
    for node in graph.nodes:
        path = submodule(node.meta.get("nn_module_stack") or {})
        frames = re.findall(r'File "([^"]+)", line (\d+)', node.meta.get("stack_trace") or "")
        inner = [frame for frame in frames if is_users(frame[0])] or frames
        if path or inner:
            line = "".join(f'  File "{file}", line {number}, in forward\n' for file, number in inner[-1:])
            node.meta["stack_trace"] = (module_frame(path) if path else "") + line


def submodule(stack: Mapping[str, Any]) -> str:
    """The path of the innermost module of a stack that PyTorch has recorded, as in `model.get_submodule`."""
    path = str(list(stack.values())[-1][0]) if stack else ""
    return re.sub(r"[\"<>\n]", "", _ROOT.sub("", path))


_ROOT = re.compile(r"L\['self'\]\.?")
_FRAME = re.compile(r' *File "(<eval_with_key>[^"]*)", line (\d+),[^\n]*\n?(?: {3,}(?!File)[^\n]*(?:\n|$))?')
