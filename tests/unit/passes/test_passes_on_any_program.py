"""Every pass on every program of the tests and the docs: it may refuse one, but neither raises anything else nor breaks it."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

import pytest
from torch_mlir import ir

from hotdesk.errors import HotdeskError, InvalidIRError
from hotdesk.ir.context import entered, make_context
from hotdesk.passes.registry import BUILT_IN, load

ROOT = Path(__file__).parents[3]
FOLDERS = ("tests/filecheck", "tests/data", "docs")
LONGEST = 4000
"""Characters of a program; longer ones are made of the same ops."""


@cache
def _context() -> ir.Context:
    context = make_context()
    context.allow_unregistered_dialects = True
    return context


@cache
def _programs() -> tuple[str, ...]:
    texts: dict[str, None] = {}
    for path in sorted(path for folder in FOLDERS for path in (ROOT / folder).rglob("*.mlir")):
        for piece in re.split(r"^// -----.*$", path.read_text(encoding="utf-8"), flags=re.MULTILINE):
            if len(piece) <= LONGEST and _parsed(piece) is not None:
                texts[re.sub(r"^ *//.*\n", "", piece, flags=re.MULTILINE)] = None
    return tuple(texts)


def _parsed(text: str) -> ir.Module | None:
    try:
        return ir.Module.parse(text, _context())
    except ir.MLIRError:
        return None


@pytest.mark.parametrize("name", BUILT_IN)
def test_a_pass_refuses_or_keeps_a_program_whole(name: str) -> None:
    assert len(_programs()) > 600
    one, broken = load(name)(), dict[str, str]()
    for text in _programs():
        module = _parsed(text)
        assert module is not None
        try:
            with entered(module.operation):
                one.apply(module)
        except InvalidIRError as error:
            broken[text] = str(error)
        except HotdeskError:
            pass
        except Exception as error:
            broken[text] = repr(error)
    assert not broken, "\n\n".join(f"{error}\n{text}" for text, error in broken.items())[:4000]
