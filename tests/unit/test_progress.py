"""What is told of long work: to who hears it, in its thread, as long as it hears."""

from __future__ import annotations

import threading

import torch

import hotdesk
from hotdesk.progress import heard, is_heard, tell


def test_who_hears() -> None:
    told: list[tuple[str, float]] = []
    tell("nobody")
    with heard(lambda text, part: told.append((text, part))):
        assert is_heard()
        tell("a", 0.5)
        with heard(lambda text, part: told.append((f"inner {text}", part))):
            tell("b")
        thread = threading.Thread(target=lambda: tell("of another thread"))
        thread.start()
        thread.join()
        tell("c")
    assert not is_heard()
    assert told == [("a", 0.5), ("inner b", -1.0), ("c", -1.0)]


def test_a_compilation_tells_its_stages_and_its_search() -> None:
    told: list[tuple[str, float]] = []
    model = torch.nn.Sequential(torch.nn.Linear(16, 64), torch.nn.GELU(), torch.nn.Linear(64, 16)).eval()
    with heard(lambda text, part: told.append((text, part))):
        hotdesk.compile(model, (torch.ones(8, 16),), budget=1700)
    stages = [(text, part) for text, part in told if text.startswith("stage: ")]
    assert ("stage: capture", 0.0) in stages
    assert stages[-1][0] == "stage: plan"
    assert all(0 <= part < 1 for _, part in stages)
    assert any(text.startswith("search: 2 ways tried, ") and text.endswith("1,700 wanted") for text, _ in told)
