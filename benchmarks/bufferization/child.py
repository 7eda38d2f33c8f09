"""A process that answers lines with lines of JSON, and what it said last when it ends instead."""

from __future__ import annotations

import json
import os
import select
import subprocess
import sys
from pathlib import Path
from typing import Any

from benchmarks.measure import ROOT


class Child:
    """A module of this repository run as a process; what it says beside its answers goes to a log."""

    def __init__(self, module: str, arguments: tuple[str, ...], log: Path) -> None:
        places = os.pathsep.join(filter(None, (str(ROOT), os.environ.get("PYTHONPATH"))))
        self._log = log.open("w")
        self._process = subprocess.Popen(
            [sys.executable, "-m", module, *arguments],
            cwd=ROOT,
            env={**os.environ, "PYTHONPATH": places},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._log,
            text=True,
        )

    @property
    def ended(self) -> bool:
        return self._process.poll() is not None

    def ask(self, line: str, limit: float) -> dict[str, Any]:
        """Its answer, or {"error": why there is none}: after `limit` seconds it is killed."""
        assert self._process.stdin
        assert self._process.stdout
        try:
            self._process.stdin.write(f"{line}\n")
            self._process.stdin.flush()
        except BrokenPipeError:
            return {"error": self._ending()}
        if not select.select([self._process.stdout], [], [], limit)[0]:
            self._process.kill()
            self._process.wait()
            return {"error": f"> {limit:.0f} s"}
        answer = self._process.stdout.readline()
        return json.loads(answer) if answer else {"error": self._ending()}

    def stop(self) -> None:
        self._process.kill()
        self._process.communicate()
        self._log.close()

    def _ending(self) -> str:
        """The child's last words: what Python raised, or its code."""
        code = self._process.wait()
        said = Path(self._log.name).read_text(errors="replace").strip().splitlines()
        return f"ended with code {code}: {said[-1][:160] if said else 'nothing said'}"
