"""What proves the lower bound of a plan, with the operations that it is about."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class CertifiedBuffer:
    """A buffer that a bound is about: `footprint` is its size in bytes, rounded up to its alignment.

    `name` and `location` are of the operation that uses it first.
    """

    name: str
    bytes: int
    footprint: int
    location: str


@dataclass(frozen=True, slots=True)
class Certificate:
    """Why no plan has an arena of fewer than `bytes` bytes.

    Attributes:
        bytes: the bound.
        proof: "live": `buffers` are all in use at one operation, and the caller's memory can hold no more than `lent` bytes of
            them. "lent": at some operation the arena has to hold that much, whichever of `buffers` lie there all their lives.
            Else the search that looked at every placement of `buffers` and found none smaller: "dive" or "cp-sat".
        step: the number of that operation; of a search, of the first one that uses a buffer.
        op, location: its name, and its line in Python.
        buffers: the largest first.
        lent: of a proof of the kind "live", the footprints of `buffers` less `lent` are the bound; else 0.
    """

    bytes: int
    proof: str
    step: int
    op: str
    location: str
    buffers: tuple[CertifiedBuffer, ...]
    lent: int = 0

    @property
    def together(self) -> int:
        """The footprints of all buffers."""
        return sum(buffer.footprint for buffer in self.buffers)
