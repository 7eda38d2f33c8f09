"""Messages and lines of `torch._check`, kept from when a model is traced to when a call fails the check.

PyTorch puts off a check of numbers from data until the program runs, and writes a file and a line of its own code in place of
the message. Here each check that is put off keeps its message and the user's line, in PyTorch's own record of it. No message is
kept that cannot be said before the numbers are known.
"""

# PyTorch is annotated in part only.
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any
from unittest import mock

import sympy
import torch
from torch.fx.experimental.symbolic_shapes import canonicalize_bool_expr

from hotdesk.frontends.torch.cutting import settled
from hotdesk.frontends.torch.lines import is_users

_torch: Any = torch


class _KeptMessage(str):
    """The message of a check, with its line: what PyTorch's record of the check holds instead of text of its own."""

    line: str = ""


@dataclass(frozen=True, slots=True)
class CheckMessages:
    """What checks say, and their lines, `file:number`; each may be empty.

    Attributes:
        of_relations: by `check_key` of what is checked.
        of_nodes: by the name of the node that finds a number which is checked to equal another. PyTorch writes that other for
            it everywhere, and the next trace has a new symbol for it.
    """

    of_relations: Mapping[str, tuple[str, str]]
    of_nodes: Mapping[str, tuple[str, str]]


@contextmanager
def check_messages_kept() -> Generator[None]:
    """While it lasts, checks that are put off keep their messages and lines."""
    original: Callable[..., None] = _torch._check_with

    def check(error: type[Exception], condition: Any, message: Callable[[], object] | None) -> None:
        environment = getattr(getattr(condition, "node", None), "shape_env", None)
        if environment is None:
            original(error, condition, message)
            return
        before = {symbol: len(checks) for symbol, checks in environment.deferred_runtime_asserts.items()}
        original(error, condition, message)
        for symbol, checks in environment.deferred_runtime_asserts.items():
            if len(checks) > before.get(symbol, 0):
                kept = _KeptMessage(_said(environment, condition, message))
                kept.line = _line()
                checks[-1] = replace(checks[-1], msg=kept)

    with mock.patch.object(torch, "_check_with", check):
        yield


def _said(environment: Any, condition: Any, message: Callable[[], object] | None) -> str:
    """The text of a message; empty for one that reads, or tells, numbers which are not known yet and not in the condition."""
    if message is None:
        return ""
    try:
        with environment.suppress_guards():
            text = str(message())
    except Exception:  # the user's, of any kind
        return ""
    others = set(map(str, environment.var_to_range)) - set(map(str, condition.node.expr.free_symbols))
    return "" if others.intersection(re.findall(r"\w+", text)) else text


def _line() -> str:
    """The user's line that is running."""
    frame = sys._getframe()  # pyright: ignore[reportPrivateUsage]
    while frame is not None and not is_users(frame.f_code.co_filename):
        frame = frame.f_back
    return "" if frame is None else f"{frame.f_code.co_filename}:{frame.f_lineno}"


def check_messages(environment: Any, graph: torch.fx.Graph) -> CheckMessages:
    """Those of the checks that were put off. `graph` is that of the program before it is taken apart; `environment` is None where
    no size varies."""
    if environment is None:
        return CheckMessages({}, {})
    kept = (each for some in environment.deferred_runtime_asserts.values() for each in some)
    relations = {
        check_key(relation): (str(each.msg), each.msg.line)
        for each in kept
        if isinstance(each.msg, _KeptMessage)
        for relation in (each.expr, environment.replace(each.expr))
        if relation is not sympy.true
    }
    nodes: dict[str, tuple[str, str]] = {}
    for node in graph.nodes:
        for symbol, value in settled(node).items():
            key = check_key(sympy.Eq(symbol, value, evaluate=False))
            if key in relations:
                nodes[node.name] = relations[key]
    return CheckMessages(relations, nodes)


def check_key(relation: Any) -> str:
    """The same for relations that PyTorch writes in several ways."""
    return str(canonicalize_bool_expr(relation))
