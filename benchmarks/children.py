"""Child processes that go through named cases: one that dies or does not end costs the case at fault, and the next goes on.

A child reads names from standard input and writes two lines of JSON for each: `{"name": …}` before it begins, and
`{"name": …, "outcome": …}` when it is done.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]


def recorded(record: Path) -> dict[str, Any]:
    """By name, the outcome that was found last."""
    return {
        entry["name"]: entry["outcome"]
        for entry in _entries(record.read_text().splitlines() if record.exists() else ())
        if "outcome" in entry
    }


def go_through(command: Sequence[str], names: Sequence[str], record: Path, seconds: float) -> None:
    """Appends the outcomes of the cases to the record: the child's, `["crash", …]` or `["hang", …]`.

    Args:
        command: starts a child.
        seconds: of wall time without a line, after which a child counts as endless.
    """
    left = list(names)
    while left:
        with record.open("a+") as output, tempfile.TemporaryFile("w+") as noise, tempfile.TemporaryFile("w+") as given:
            given.write("\n".join(left))
            given.seek(0)
            since = output.seek(0, 2)
            child = subprocess.Popen(command, stdin=given, stdout=output, stderr=noise, cwd=ROOT)
            ended = _watched(child, output.fileno(), seconds)
            output.seek(since)
            entries = _entries(output.read().splitlines())
            done = {entry["name"] for entry in entries if "outcome" in entry}
            if ended != 0:
                fault = entries[-1]["name"] if entries else left[0]
                found = ("hang", "it does not end") if ended is None else ("crash", f"the process ends with {ended}")
                output.write("\n" + json.dumps({"name": fault, "outcome": found}) + "\n")
                done.add(fault)
        left = [name for name in left if name not in done]
        print(f"{len(left)} left", file=sys.stderr, flush=True)


def _entries(lines: Sequence[str]) -> list[Any]:
    return [json.loads(line) for line in lines if line.startswith("{") and line.endswith("}")]


def _watched(child: subprocess.Popen[Any], output: int, seconds: float) -> int | None:
    """The child's exit code; None if it wrote nothing for too long and was killed."""
    written, since = 0, time.monotonic()
    while child.poll() is None:
        time.sleep(0.2)
        size = os.fstat(output).st_size
        if size != written:
            written, since = size, time.monotonic()
        elif time.monotonic() - since > seconds:
            child.kill()
            child.wait()
            return None
    return child.returncode
