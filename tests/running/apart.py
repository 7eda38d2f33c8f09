"""Pipelines in a process of their own, for passes that end the process on some programs, as MLIR's do."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from typing import Any

from torch_mlir import ir

from hotdesk.errors import HotdeskError
from hotdesk.ir.context import make_context
from hotdesk.passes.textual import parse_pipeline

_SECONDS = 60


class _Worker:
    """One process, started when it is first needed and again when it has ended."""

    def __init__(self) -> None:
        self._process: Any = None

    def __call__(self, text: str, pipeline: str) -> tuple[bool, str]:
        if self._process is None or self._process.poll() is not None:
            command = [sys.executable, "-c", "from tests.running.apart import serve; serve()"]
            self._process = subprocess.Popen(
                command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                text=True,
                env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
            )
        print(json.dumps([text, pipeline]), file=self._process.stdin, flush=True)
        answer = self._process.stdout.readline()
        if not answer:
            self._process = None
            return False, "the process ended"
        took, made = json.loads(answer)
        return took, made


def serve() -> None:
    """Runs pipelines on modules until there are no more: JSON lines in, JSON lines out."""
    for line in sys.stdin:
        signal.alarm(_SECONDS)
        print(json.dumps(_run(*json.loads(line))), flush=True)
        signal.alarm(0)


def _run(text: str, pipeline: str) -> tuple[bool, str]:
    with make_context(), ir.Location.unknown():
        module = ir.Module.parse(text)
    try:
        parse_pipeline(pipeline).run(module)
    except HotdeskError as error:
        return False, str(error)
    return True, str(module)


run_apart = _Worker()
"""Whether a pipeline took a module, given as text, and the module that it made, or why not."""
