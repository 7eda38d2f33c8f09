"""Work that Ctrl-C interrupts gives its result, its error, or way to the interrupt."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator

import pytest

from hotdesk.python.interruptible import interruptible


@pytest.fixture
def ctrl_c() -> Iterator[None]:
    """Python's own handler, which what runs in the background has not."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


def test_results_and_errors() -> None:
    def failing() -> None:
        raise LookupError("lost")

    assert interruptible(threading.current_thread, "worker").name == "worker"
    with pytest.raises(LookupError, match="lost"):
        interruptible(failing, "worker")


def test_elsewhere_than_in_the_main_thread_work_stays_where_it_is() -> None:
    found: list[str] = []
    thread = threading.Thread(target=lambda: found.append(interruptible(threading.current_thread, "worker").name))
    thread.start()
    thread.join()
    assert found == [thread.name]


@pytest.mark.usefixtures("ctrl_c")
def test_interrupted_work_goes_on_where_nothing_stops_it() -> None:
    go, done = threading.Event(), threading.Event()

    def work() -> None:
        signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGINT)
        assert go.wait(60)
        done.set()

    with pytest.raises(KeyboardInterrupt):
        interruptible(work, "worker")
    assert not done.is_set()
    go.set()
    assert done.wait(60)


@pytest.mark.usefixtures("ctrl_c")
def test_interrupted_work_is_stopped() -> None:
    stopped = threading.Event()

    def work() -> None:
        signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGINT)
        assert stopped.wait(60)

    with pytest.raises(KeyboardInterrupt):
        interruptible(work, "worker", stopped.set)
    assert stopped.is_set()
