"""The programs of `tests/filecheck`: their text, the passes that their RUN lines put them through, and runs of them."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from torch_mlir import ir

from hotdesk.checker import CheckReport, Settings, interpreter_for, run
from hotdesk.checker.arguments import empty, passed
from hotdesk.checker.buffers import MemRef
from hotdesk.checker.parameters import Parameter, parameters
from hotdesk.checker.values import dtype_of
from hotdesk.cli.arguments import ALIASES
from hotdesk.ir.context import entered, make_context
from hotdesk.ir.walking import defined_functions, symbol_name
from tests.reference import Expected, expected

DIRECTORY = Path(__file__).parent.parent / "filecheck"
SIZES = (1, 4, 8)
"""What dynamic sizes and scalar integers are, all of them alike; `%lb` is 0 and `%step` is 1."""
_STEPS = 2000
_RUN = re.compile(r"^// RUN: %hotdesk-opt %s (.*?) *(?:2>&1 )?\| FileCheck", re.MULTILINE)
_WHOLE = re.compile(r"--pass-pipeline='builtin\.module\((.*)\)'")
_STEP = re.compile(r"--([a-z][\w-]*)(?:=\"([^\"]*)\")?(?=\s|$)")
_MANNERS = (
    "allow-unregistered-dialect",
    "split-input-file",
    "print-decisions",
    "remarks-filter",
    "remarks-filter-missed",
)
_MARKER = re.compile(r'^ *"\w+"\(\) : \(\) -> \(\)(?: loc\(.*\))?\n', re.MULTILINE)
_DECLARED = re.compile(r"func\.func private @(\w+)\((.*?)\)(?: -> (\S+))?(?= loc\(|$)", re.MULTILINE)
_FIXED = {"lb": 0, "step": 1}


@dataclass(frozen=True)
class Piece:
    """One piece of a file, and each pipeline that the file sends it through."""

    text: str
    pipelines: tuple[str, ...]


def pieces(path: Path) -> Iterator[Piece]:
    text = path.read_text(encoding="utf-8")
    pipelines = tuple(_pipeline(flags) for flags in _RUN.findall(text))
    for piece in re.split(r"^// -----.*$", text, flags=re.MULTILINE):
        yield Piece(re.sub(r"^ *//.*\n", "", piece, flags=re.MULTILINE), pipelines)


def _pipeline(flags: str) -> str:
    whole = _WHOLE.search(flags)
    if whole is not None:
        return f"builtin.module({whole[1]})"
    steps = [(ALIASES.get(name, name), options) for name, options in _STEP.findall(flags) if name not in _MANNERS]
    return f"builtin.module({','.join(f'{name}{{{options}}}' if options else name for name, options in steps)})"


@cache
def _context() -> ir.Context:
    context = make_context()
    context.allow_unregistered_dialects = True
    return context


def parsed(text: str) -> ir.Module:
    with ir.Location.unknown(_context()):
        return ir.Module.parse(text, _context())


def runnable(text: str) -> str:
    """A program without ops that only mark a place, and with a body for each function that it declares: that returns copies of
    its argument, or zero."""
    return _DECLARED.sub(_defined, _MARKER.sub("", text))


def _defined(declaration: re.Match[str]) -> str:
    name, kinds, result = declaration[1], [kind for kind in declaration[2].split(", ") if kind], declaration[3]
    arguments = ", ".join(f"%a{i}: {kind}" for i, kind in enumerate(kinds))
    head = f"func.func private @{name}({arguments})"
    if result is None:
        return f"{head} {{ return }}"
    if result.startswith("memref"):
        body = f"%r = memref.alloc() : {result}\nmemref.copy %a0, %r : {kinds[0]} to {result}"
    else:
        body = f"%r = arith.constant 0.0 : {result}"
    return f"{head} -> {result} {{\n{body}\nreturn %r : {result}\n}}"


def functions(module: ir.Module) -> list[str]:
    """The public functions that a program defines."""
    found = defined_functions(module)
    return [symbol_name(op) for op in found if "sym_visibility" not in op.attributes]


def _function(module: ir.Module, name: str) -> ir.Operation:
    return next(op for op in defined_functions(module) if symbol_name(op) == name)


def _is_declared(function: ir.Operation, size: int) -> bool:
    """Whether a size is in every range that a function states for its symbols."""
    if "hotdesk.bounds" not in function.attributes:
        return True
    stated: Any = function.attributes["hotdesk.bounds"]
    ranges: list[list[int]] = [[int(end.value) for end in each.attr] for each in stated]
    return all(low <= size and all(size <= high for high in rest) for low, *rest in ranges)


def draws(text: str, module: ir.Module, function: str) -> Iterator[list[Any]]:
    """Arguments for a function of a module with this text: each size with each setting of the flags."""
    header = re.search(
        rf"func\.func @{function}\((.*?)\)(?: ->[^\n]*|\s+attributes[^\n]*)? \{{$", text, re.MULTILINE | re.DOTALL
    )
    assert header is not None
    names = re.findall(r"%(\w+): ", header[1])
    op = _function(module, function)
    with module.context:
        found = parameters(op, False)
        kinds = [(p.is_memref, dtype_of(p.type), p.shape if p.is_memref else ()) for p in found]
    flags = [i for i, (is_memref, dtype, _) in enumerate(kinds) if not is_memref and dtype.kind == "b"]
    sizes = [size for size in SIZES if _is_declared(op, size)]
    for size, setting in itertools.product(sizes, itertools.product((False, True), repeat=len(flags))):
        generator = np.random.default_rng(size)
        values: list[Any] = []
        for i, (name, (is_memref, dtype, shape)) in enumerate(zip(names, kinds, strict=True)):
            if i in flags:
                values.append(np.bool_(setting[flags.index(i)]))
            elif is_memref:
                drawn = generator.integers(0, 3, tuple(size if n is None else n for n in shape))
                values.append(np.asarray(drawn).astype(dtype))
            else:
                values.append(dtype.type(_FIXED.get(name, size)))
        yield values


def meant(module: ir.Module, function: str, values: Sequence[Any]) -> list[Expected]:
    """What a function on tensors returns."""
    with module.context:
        return expected(_function(module, function), values)


def outcome(module: ir.Module, function: str, values: Sequence[Any], *, deallocated: bool, poison: int) -> CheckReport:
    """A run under the memory checker. Its results are what the memrefs that were passed then hold, and what was returned."""
    settings = Settings(undefined="carry", deallocated=deallocated, steps=_STEPS, poison=poison)
    with entered(module.operation):
        interpreter, entry = interpreter_for(module, function, settings)
        found = parameters(entry, False)
        given = passed(interpreter, entry, found, empty(_plain(found), values, {}))
        views = [view for view, p in zip(given, found, strict=True) if isinstance(view, MemRef) and not p.arena]
        return run(interpreter, function, given, dict(enumerate(views)))


def _plain(found: Sequence[Parameter]) -> list[Parameter]:
    """The parameters, of which none is the memory of a result: all start with what was drawn."""
    return [replace(p, result=None) for p in found]
