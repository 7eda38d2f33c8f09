"""MLIR's passes, and its parser, in a process of their own: one may die or never end, and Python stands still while one runs.

The process is started when a compilation begins, serves one after the other, and ends by itself when nobody has asked for a
while. A pass that dies, or takes more than `LIMIT` seconds of processor time, takes only that process with it; so does Ctrl-C,
which the process that compiles sees at once because it merely waits. Where no process can be had, as in an application that
Python is built into, passes run in this one.
"""

from __future__ import annotations

import atexit
import io
import os
import pickle
import signal
import sys
import tempfile
from collections.abc import Sequence
from contextlib import suppress
from typing import Any, cast

from hotdesk._bindings import ir
from hotdesk.errors import PassError
from hotdesk.ir.context import make_context, run_mlir_passes
from hotdesk.python.child_process import ends_unless_asked, start_python

LIMIT = 120
"""Seconds of processor time; a BERT takes 0.2."""
LIMIT_OF_A_TRIAL = 10
"""Seconds for the beginning of a graph that does not lower."""
_START = "import hotdesk.frontends.lowering_process as p; p.serve()"


class LoweringFailed(Exception):
    """A pass refused the module. `diagnostics` are MLIR's."""

    def __init__(self, diagnostics: str) -> None:
        super().__init__(diagnostics)
        self.diagnostics = diagnostics


class LoweringDied(Exception):
    """A pass took its process down, or did not end. `how` says it in words."""

    def __init__(self, how: str) -> None:
        super().__init__(how)
        self.how = how


def prepare() -> None:
    """Starts a process unless one waits already, so that it is ready when the model has been exported."""
    if not _waiting:
        with suppress(OSError):
            _waiting.append(_LoweringProcess())


def lowered(
    module: ir.Module,
    pipelines: Sequence[str],
    limit: int = LIMIT,
    *,
    stablehlo: bool = False,
    context: ir.Context | None = None,
) -> ir.Module:
    """The module after the pipelines, in a context of its own or a given one.

    Args:
        limit: seconds of processor time.
        stablehlo: whether the result may have ops of StableHLO.

    Raises:
        LoweringFailed: a pass refused the module, or wrote one that is none.
        LoweringDied: a pass took its process down or reached the limit.
    """
    text = io.BytesIO()
    module.operation.write_bytecode(text)
    answer = _asked(tuple(pipelines), text.getvalue(), limit)
    if not isinstance(answer, bytes):
        raise LoweringFailed(answer)
    try:
        return ir.Module.parse(answer, context or make_context(stablehlo=stablehlo))
    except ir.MLIRError as error:  # passes write types that no parser takes, such as sizes below 0
        raise LoweringFailed(str(error)) from error


def try_parsing(content: str | bytes) -> None:
    """Has MLIR parse text or bytecode there: its parsers die of some.

    Raises:
        LoweringDied: it took its process down or reached the limit.
    """
    _asked(None, content, LIMIT)


def _asked(pipelines: Sequence[str] | None, content: str | bytes, limit: int) -> Any:
    """The answer of a process, a new one if that which waited has ended."""
    answer = None
    while answer is None:
        try:
            process = _waiting.pop() if _waiting else _LoweringProcess()
        except OSError:
            return _answer(pipelines, content)
        answer = process.ask((pipelines, content, limit))
    return answer


class _LoweringProcess:
    """One process, which is asked by one thread at a time."""

    def __init__(self) -> None:
        self._noise = tempfile.TemporaryFile()  # noqa: SIM115  (it lives as long as the process)
        self._child = start_python(_START, stderr=self._noise)

    def ask(self, request: tuple[Any, ...]) -> Any:
        """The answer; None if the process had ended because nobody asked. It waits for the next one afterwards."""
        assert self._child.stdin is not None
        assert self._child.stdout is not None
        try:
            pickle.dump(request, self._child.stdin)
            self._child.stdin.flush()
            answer = pickle.load(self._child.stdout)
        except (EOFError, BrokenPipeError, pickle.UnpicklingError):
            return self._died()
        except BaseException:
            self.end()
            raise
        _waiting.append(self)
        return answer

    def _died(self) -> None:
        code = self._child.wait()
        self._noise.seek(0)
        said = [line for line in self._noise.read().decode(errors="replace").splitlines() if line.strip()]
        self.end()
        if code == -getattr(signal, "SIGALRM", 0):
            return
        if code == -getattr(signal, "SIGPROF", 0):
            raise LoweringDied("it does not end")
        error = next((line for line in said if "ERROR" in line or "Assertion" in line), "")
        name = signal.Signals(-code).name if code < 0 else f"exit code {code}"
        raise LoweringDied(f"it ends with {name}" + f" ({error.strip()})" * bool(error))

    def end(self) -> None:
        self._child.kill()
        self._child.wait()
        for file in (self._child.stdin, self._child.stdout, self._noise):
            try:
                if file is not None:
                    file.close()
            except BrokenPipeError:
                pass


_waiting: list[_LoweringProcess] = []
"""Processes that wait to be asked."""


def _end_all() -> None:
    while _waiting:
        _waiting.pop().end()


atexit.register(_end_all)
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_waiting.clear)  # they answer the parent


# What runs in the process.


def serve() -> None:
    """Answers requests from standard input on what was standard output, until the input ends."""
    requests, answers = sys.stdin.buffer, os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    while True:
        ends_unless_asked(waits=True)
        try:
            pipelines, text, limit = pickle.load(requests)
        except EOFError:
            return
        ends_unless_asked(waits=False)
        _processor_time(limit)
        answer = _answer(pipelines, text)
        _processor_time(0)
        pickle.dump(answer, answers)
        answers.flush()


def _processor_time(seconds: int) -> None:
    """The process ends after so many seconds of processor time, whatever it does then; 0: it does not."""
    if hasattr(signal, "ITIMER_PROF"):
        signal.setitimer(signal.ITIMER_PROF, seconds)


def _answer(pipelines: Sequence[str] | None, content: bytes | str) -> bytes | str:
    """The module after the pipelines, or what MLIR says against it; nothing where it is only parsed."""
    try:
        module = ir.Module.parse(cast(Any, content), make_context(stablehlo=True))
        for pipeline in pipelines or ():
            run_mlir_passes(module, pipeline)
    except ir.MLIRError as error:
        return str(error)
    except PassError as error:
        return str(error.got)
    if pipelines is None:
        return b""
    written = io.BytesIO()
    module.operation.write_bytecode(written)
    return written.getvalue()
