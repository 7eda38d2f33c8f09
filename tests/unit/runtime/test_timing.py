"""Contenders take turns, and each is timed."""

from __future__ import annotations

import gc

from hotdesk.runtime.timing import in_turns


def nothing() -> None:
    pass


def test_each_is_called_as_often_as_is_counted() -> None:
    calls: list[str] = []
    found = in_turns({"a": lambda: calls.append("a"), "b": lambda: calls.append("b")}, 0.0)
    for name, time in found.items():
        assert 0 < time.best <= time.median
        assert 5 <= time.calls < calls.count(name)


class Ring:
    """Garbage that reference counts do not free."""

    def __init__(self, gone: list[int]) -> None:
        self.ring, self.gone = self, gone

    def __del__(self) -> None:
        self.gone.append(1)


def test_garbage_of_calls_goes_and_the_rest_of_the_process_is_not_looked_through() -> None:
    gone, collected = list[int](), list[int]()

    def note(phase: str, told: dict[str, int]) -> None:
        collected.extend([told["generation"]] if phase == "start" else [])

    was = gc.isenabled()
    gc.disable()
    gc.callbacks.append(note)
    try:
        in_turns({"a": lambda: Ring(gone)}, 0.0)
    finally:
        gc.callbacks.remove(note)
        if was:
            gc.enable()
    assert len(gone) > 5
    assert len(collected) >= 5
    assert 2 not in collected  # the generation of what has been there for long
