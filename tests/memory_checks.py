"""Programs that tests compile run once under the memory checker, whatever the test asks of them.

`--check-memory=small`, the default, takes models compiled by `hotdesk.compile` whose arrays are small; `all` takes every model,
each program of `tests.harness.Compiled` and each module of `tests.running.Executable`; `none` takes nothing. A program is checked
with the arguments that it was compiled for, when its test is done, so that the test does not notice. A program in MLIR is
compiled for no arguments in particular: where it has inputs, its test checks it.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import pytest

import hotdesk
from hotdesk.frontends.mlir.reading import is_given
from hotdesk.frontends.onnx.reading import is_onnx

SMALL_BYTES = 4 << 20
"""What weights, arena, arguments and results of a program may take together to be checked with every run of the tests."""

OPTION = "--check-memory"
_pending: list[tuple[hotdesk.Program, tuple[Any, ...], dict[str, Any]]] = []


def add_option(parser: pytest.Parser) -> None:
    text = "which compiled programs run under the memory checker (small)"
    parser.addoption(OPTION, choices=("small", "all", "none"), default="small", help=text)


def install(mode: str) -> None:
    """Sees to it that programs are checked from now on."""
    if mode == "none":
        return
    hotdesk.compile = _noted(hotdesk.compile)
    if mode == "all":
        from tests.running import checked

        checked.install()


def mode_of(config: pytest.Config) -> str:
    """What was asked for."""
    return str(config.getoption(OPTION))


def is_all(config: pytest.Config) -> bool:
    """Whether each program is to run under the checker; not while a part of the tests is picked by name."""
    return mode_of(config) == "all" and not config.getoption("keyword")


def _noted(compile_model: Callable[..., hotdesk.Program]) -> Callable[..., hotdesk.Program]:
    """Compiles, and keeps the program and its arguments until its test is done."""

    @functools.wraps(compile_model)
    def compiled(model: Any, args: tuple[Any, ...] = (), kwargs: Any = None, **options: Any) -> hotdesk.Program:
        program = compile_model(model, args, kwargs, **options)
        if not args and not kwargs and hasattr(model, "example_inputs"):
            args, kwargs = model.example_inputs
        if not ((is_onnx(model) or is_given(model)) and program.inputs):
            _pending.append((program, args, dict(kwargs or {})))
        return program

    return compiled


def check_pending(mode: str) -> None:
    """Checks what the last test compiled. Fails if a program does anything wrong with memory."""
    taken = _pending[:]
    _pending.clear()
    for program, args, kwargs in taken:
        if mode != "all" and _bytes(program, args, kwargs) > SMALL_BYTES:
            continue
        report = program.check(*args, **kwargs)
        assert report.clean, f"under the memory checker: {report}"
        assert not report.stopped


def forget_pending() -> None:
    """What the last test compiled is not checked any more."""
    _pending.clear()


def _bytes(program: hotdesk.Program, args: tuple[Any, ...], kwargs: dict[str, Any]) -> int:
    memory = program.memory(*args, **kwargs)
    return memory.weights + memory.arena + memory.inputs + memory.outputs
