"""Searches in ascending op numbers: whether an op is among them, and which lie between two."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from typing import Any

from hotdesk.program.records import FunctionIR, Op


def contains(ops: Sequence[int], op: int) -> bool:
    """Whether an op is among ops in order."""
    at = bisect_left(ops, op)
    return at < len(ops) and ops[at] == op


def between(ops: Sequence[int], first: int, end: int) -> Sequence[int]:
    """Those of ops in order that are numbered from `first` up to, but not, `end`."""
    return ops[bisect_left(ops, first) : bisect_left(ops, end)]


def span(program: FunctionIR[Op, Any], op: Op, region: int) -> range:
    """The numbers of the ops in a region."""
    blocks = op.regions[region]
    return range(program.blocks[blocks[0]].first, program.blocks[blocks[-1]].end)
