"""A child that fails becomes a message; contenders that work are measured."""

from __future__ import annotations

import gc
import io
import json
import os
import sys
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest

from benchmarks.contenders import Contender
from benchmarks.measure import Child, ChildError, start
from benchmarks.run import main
from benchmarks.worker import serve_latency


@contextmanager
def child(code: str, log: Path) -> Generator[Child, None, None]:
    process = start([sys.executable, "-c", code], dict(os.environ), log)
    try:
        yield process
    finally:
        process.stop()


@pytest.mark.parametrize(
    ("code", "message"),
    [
        ("import os; os.kill(os.getpid(), 11)", "killed by SIGSEGV"),
        ("raise SystemExit(3)", "ended with code 3 and no answer"),
        ('print(\'{"error": "ValueError: two\\\\nlines"}\')', "ValueError: two lines"),
    ],
)
def test_a_child_that_fails_is_an_error(code: str, message: str, tmp_path: Path) -> None:
    with child(code, tmp_path / "log") as process, pytest.raises(ChildError, match=f"^{message}$"):
        process.answer()


def test_asking_a_dead_child_is_an_error(tmp_path: Path) -> None:
    with child("print('{}', flush=True); raise SystemExit(4)", tmp_path / "log") as process:
        assert process.answer() == {}
        with pytest.raises(ChildError, match="code 4"):
            process.ask("1")


class _Littering(Contender):
    """Each call leaves garbage that only a collection finds; the events are its ends, and the answers."""

    name = "littering"

    def __init__(self) -> None:
        super().__init__("none", Path(), 1)
        self.events: list[str] = []

    def rehearse(self) -> None:
        """Nothing to do."""

    def load(self) -> int:
        return 0

    def prepare(self) -> None:
        """Nothing to do."""

    def run(self) -> None:
        litter = _Cycle(self.events)
        litter.itself = litter

    def arrays(self, results: object) -> list[np.ndarray]:
        del results
        return []


class _Cycle:
    def __init__(self, events: list[str]) -> None:
        self.itself: object = None
        self._events = events

    def __del__(self) -> None:
        self._events.append("freed")


class _Answers(io.StringIO):
    def __init__(self, events: list[str]) -> None:
        super().__init__()
        self._events = events

    def flush(self) -> None:
        super().flush()
        self._events.append("answered")


def test_garbage_is_collected_before_the_next_contender_begins(monkeypatch: pytest.MonkeyPatch) -> None:
    contender = _Littering()
    answers = _Answers(contender.events)
    monkeypatch.setattr(sys, "stdin", io.StringIO("3\n1\n"))
    monkeypatch.setattr(gc, "freeze", lambda: contender.events.append("frozen"))  # one process runs many tests
    gc.collect()
    try:
        serve_latency(contender, answers)
    finally:
        gc.enable()
    after_ready = contender.events[contender.events.index("answered") + 1 :]
    assert after_ready == ["freed"] * 2 + ["frozen"] + ["freed"] * 3 + ["answered", "freed", "answered"]
    assert [len(json.loads(line).get("seconds", [])) for line in answers.getvalue().splitlines()] == [0, 3, 1]


@pytest.mark.slow
def test_a_model_is_measured(tmp_path: Path) -> None:
    contenders = "eager,inductor,onnxruntime,onnxruntime-noarena"
    assert main(["--models", "mlp", "--contenders", contenders, "--quick", "--output", str(tmp_path)]) == 0
    rows = {row["contender"]: row for row in json.loads((tmp_path / "results.json").read_text())["rows"]}
    assert list(rows) == contenders.split(",")
    for row in rows.values():
        assert row["memory"]["close"]
        assert row["latency"]["calls"] >= 5
    hidden = 32 * 512 * 4
    # `gelu(layer(x))` holds x, what the layer gave and what gelu gives.
    assert 3 * hidden <= rows["eager"]["memory"]["transient"] <= 3 * hidden + 50_000
    assert rows["onnxruntime"]["memory"]["retained"] > rows["onnxruntime-noarena"]["memory"]["retained"]
