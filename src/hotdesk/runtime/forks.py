"""Locks in the child of a fork: a thread of the parent may have held one, and is not there to release it."""

from __future__ import annotations

import os
from typing import Protocol
from weakref import WeakSet


class Forking(Protocol):
    """What has locks."""

    def forked(self) -> None:
        """In the child of a fork: makes its locks anew."""
        ...


_all: WeakSet[Forking] = WeakSet()


def tell_of_forks(owner: Forking) -> None:
    """Has `owner` told in the child of every fork, for as long as it lives."""
    _all.add(owner)


def _forked() -> None:
    for owner in list(_all):
        owner.forked()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forked)
