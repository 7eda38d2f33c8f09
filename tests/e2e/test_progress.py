"""A compilation says what it does on a terminal, and nothing into a pipe."""

from __future__ import annotations

import os
import pty
import subprocess
import sys
from pathlib import Path

PROGRAM = """
import torch, hotdesk
hotdesk.compile(torch.nn.Linear(4, 4).eval(), (torch.ones(2, 4),))
"""
ROOT = Path(__file__).resolve().parents[2]


def test_a_pipe_gets_nothing() -> None:
    done = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True, cwd=ROOT, check=True)
    assert (done.stdout, done.stderr) == ("", "")


def test_a_terminal_gets_a_line_for_each_stage(tmp_path: Path) -> None:
    reading, writing = pty.openpty()
    environment = {**os.environ, "HOTDESK_CACHE": "1", "HOTDESK_CACHE_DIR": str(tmp_path)}  # where nothing is kept yet
    with subprocess.Popen([sys.executable, "-c", PROGRAM], stderr=writing, cwd=ROOT, env=environment) as child:
        os.close(writing)
        text = _read_all(reading)
        assert child.wait() == 0
    lines = [line for line in text.replace("\r", "").splitlines() if line]
    assert [line.split()[1] for line in lines] == [
        *(
            "capture",
            "look-up",
            "capture",
            "normalize",
            "prepare",
            "fuse",
            "destinations",
            "bufferize",
            "buffers",
            "kernels",
            "to-llvm",
            "llvm",
            "keep",
            "plan",
        )
    ]
    assert all(line.startswith("hotdesk: ") and line.endswith(" s") for line in lines)


def _read_all(descriptor: int) -> str:
    """All that is written to a pseudo-terminal, whose end is an error on Linux."""
    chunks: list[bytes] = []
    while True:
        try:
            chunk = os.read(descriptor, 4096)
        except OSError:
            break
        if not chunk:
            break
        chunks.append(chunk)
    os.close(descriptor)
    return b"".join(chunks).decode()
