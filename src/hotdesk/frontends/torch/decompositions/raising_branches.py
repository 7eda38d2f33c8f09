"""Branches on a tensor one way of which raises: `assert x.all()`, `if (x < 0).any(): raise ValueError(...)`.

Values are not known while a model is exported: the other way is taken, and each call of the program checks that it is right.

It is taken iff

1. the tensor has one element, whose value is not known, and the branch itself asks for its truth;
2. one way leads to `raise` without branching again, and the other does not;
3. no `try` or `with` of the same function is around that `raise`, which might go on after it.
"""

from __future__ import annotations

import dis
import linecache
import sys
from types import CodeType, FrameType
from typing import Any

import torch
from torch._subclasses import FakeTensor

from hotdesk.frontends.torch.decompositions.asserted import demand

_BLOCKS = ("SETUP_FINALLY", "SETUP_WITH", "SETUP_ASYNC_WITH")
_JUMPS = frozenset({*dis.hasjrel, *dis.hasjabs})


_torch: Any = torch


def _truth(asked: Any) -> Any:
    """The way that does not raise, which the graph asserts; NotImplemented where there is no such branch."""
    if not isinstance(asked, FakeTensor) or asked.constant is not None or asked.numel() != 1:
        return NotImplemented
    frame = _asking(sys._getframe(1))  # pyright: ignore[reportPrivateUsage]
    way = _staying(frame.f_code, frame.f_lasti)
    if way is None:
        return NotImplemented
    line = linecache.getline(frame.f_code.co_filename, frame.f_lineno).strip()
    holds = asked != 0 if way else asked == 0
    demand(holds, f"`{line}` raises" if line else "a branch raises")
    return way


def _asking(frame: FrameType) -> FrameType:
    """The frame that a call of a function of PyTorch came from, below those of modes that pass it on."""
    while frame.f_code.co_name == "__torch_function__" and frame.f_back is not None:
        frame = frame.f_back
    return frame


def _staying(code: CodeType, at: int) -> bool | None:
    """The truth for which the branch at an offset does not raise, if it raises for the other."""
    instructions = list(dis.get_instructions(code))
    places = {each.offset: place for place, each in enumerate(instructions)}
    place = places[at]
    if instructions[place].opname == "TO_BOOL":
        place += 1
    branch = instructions[place]
    if "POP_JUMP" not in branch.opname or not branch.opname.endswith(("_IF_TRUE", "_IF_FALSE")):
        return None
    jumping = _raises(code, instructions[places[branch.argval] :])
    if jumping == _raises(code, instructions[place + 1 :]):
        return None
    return branch.opname.endswith("_IF_TRUE") != jumping


def _raises(code: CodeType, instructions: list[dis.Instruction]) -> bool:
    """Whether instructions lead to `raise` alone, with nothing of the function around it."""
    for each in instructions:
        if each.opname == "RAISE_VARARGS":
            return not _is_guarded(code, each.offset)
        if each.opcode in _JUMPS or each.opname.startswith("RETURN"):
            return False
    return False


def _is_guarded(code: CodeType, at: int) -> bool:
    if sys.version_info < (3, 11):
        return any(each.opname in _BLOCKS for each in dis.get_instructions(code))
    entries: Any = vars(dis.Bytecode(code))["exception_entries"]
    return any(entry.start <= at < entry.end for entry in entries)


BRANCHES = {_torch.Tensor.__bool__: _truth}
