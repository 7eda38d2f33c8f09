"""Frames: one for each call that runs at once, bounded in number, kept, and not lost."""

from __future__ import annotations

import os
import threading
from itertools import count

import pytest

from hotdesk.runtime.frames import Frames


def _numbered(most: int) -> Frames[int]:
    numbers = count()
    return Frames(lambda: next(numbers), most)


def test_one_caller_has_one_frame() -> None:
    frames = _numbered(4)
    for _ in range(10):
        taken = frames.take()
        assert taken == 0
        frames.give(taken)
    assert frames.made == 1


def test_the_one_given_back_last_is_taken_first() -> None:
    frames = _numbered(4)
    first, second = frames.take(), frames.take()
    frames.give(first)
    frames.give(second)
    assert frames.take() == second
    assert frames.made == 2


def test_who_finds_none_waits_for_one() -> None:
    frames, got = _numbered(1), list[int]()
    taken = frames.take()
    waiting = threading.Thread(target=lambda: got.append(frames.take()))
    waiting.start()
    waiting.join(0.05)
    assert not got
    frames.give(taken)
    waiting.join(60)
    assert got == [0]


def test_many_callers_share_few_frames_and_nobody_has_anothers() -> None:
    frames, held, wrong = _numbered(3), set[int](), list[int]()

    def work() -> None:
        for _ in range(2000):
            taken = frames.take()
            if taken in held:
                wrong.append(taken)
            held.add(taken)
            held.remove(taken)
            frames.give(taken)

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert not any(thread.is_alive() for thread in threads)
    assert not wrong
    assert frames.made <= 3


def test_a_frame_that_cannot_be_made_is_not_counted() -> None:
    fails = [True]

    def make() -> int:
        if fails.pop():
            raise MemoryError
        return 7

    frames = Frames(make, 1)
    with pytest.raises(MemoryError):
        frames.take()
    fails.append(False)
    assert frames.take() == 7


@pytest.mark.skipif(not hasattr(os, "fork"), reason="a system without fork")
@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
def test_a_child_does_not_wait_for_what_threads_of_its_parent_had() -> None:
    frames = _numbered(1)
    taken = frames.take()
    child = os.fork()
    if not child:
        os._exit(0 if frames.take() == 1 else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    frames.give(taken)
