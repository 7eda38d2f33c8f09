"""The frames of a program: what each of the calls that run at once has of its own, kept for the next ones, and bounded in number.

A frame is made when a call finds none free, so a program that one thread calls has one arena. Once there are as many as are
allowed, a call waits for another to end.
"""

from __future__ import annotations

from collections.abc import Callable
from threading import Condition, Lock
from typing import Generic, TypeVar

from hotdesk.runtime.forks import tell_of_forks

T = TypeVar("T")


class Frames(Generic[T]):
    """At most `most` frames, which `make` makes. Taking a free one and giving it back takes no lock."""

    __slots__ = ("__weakref__", "_changed", "_free", "_lock", "_made", "_make", "_most", "_waiting")

    def __init__(self, make: Callable[[], T], most: int) -> None:
        self._make = make
        self._most = most
        self._free: list[T] = []
        self._made = 0
        self._waiting = 0
        self._lock = Lock()
        self._changed: Condition | None = None  # made by the first that waits
        tell_of_forks(self)

    @property
    def made(self) -> int:
        """How many frames there are."""
        return self._made

    def take(self) -> T:
        """A frame that nobody else has, the one given back last if there is any."""
        try:
            return self._free.pop()
        except IndexError:
            return self._make_or_wait()

    def give(self, frame: T) -> None:
        """Gives back a frame that was taken."""
        self._free.append(frame)
        if self._waiting:  # whoever waits has said so before it looked for a free one the last time
            with self._lock:
                self._notify()

    def _notify(self) -> None:
        """Wakes one that waits; the lock is held."""
        if self._changed is not None:
            self._changed.notify()

    def _make_or_wait(self) -> T:
        with self._lock:
            self._waiting += 1
            try:
                while True:
                    try:
                        return self._free.pop()
                    except IndexError:
                        if self._made < self._most:
                            self._made += 1
                            break
                    if self._changed is None:
                        self._changed = Condition(self._lock)
                    self._changed.wait()
            finally:
                self._waiting -= 1
        try:
            return self._make()
        except BaseException:
            with self._lock:
                self._made -= 1
                self._notify()
            raise

    def forked(self) -> None:
        """In the child of a fork: threads that had frames are gone, and what they had is lost."""
        self._lock, self._changed = Lock(), None
        self._made, self._waiting = len(self._free), 0
