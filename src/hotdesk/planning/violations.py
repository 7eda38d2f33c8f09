"""What a check of a plan finds."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from hotdesk.planning.buffers import BufferId

ViolationCode = Literal[
    "missing",
    "duplicate",
    "unknown",
    "order",
    "pool",
    "negative",
    "misaligned",
    "pinned",
    "capacity",
    "window",
    "tied",
    "overlap",
    "arena",
    "cost",
]


@dataclass(frozen=True, slots=True)
class Violation:
    """A rule, by its code, the buffers that break it and a sentence for people."""

    code: ViolationCode
    buffer_ids: tuple[BufferId, ...]
    message: str
