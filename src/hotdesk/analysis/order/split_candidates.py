"""Ways to do operations in parts around given values, each once: other values often lead to the same operations.

From each value, along each of its outer dimensions, twice: with neighbours that are as large joining in, and with those of a
quarter of its size as well. The former computes less twice where windows overlap, the latter leaves less in between.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from hotdesk.analysis.order.axes import cut_dims
from hotdesk.analysis.order.halos import bytes_again, largest_part, parts_of
from hotdesk.analysis.order.splitting import Split, find_split
from hotdesk.analysis.order.straight_line import StraightLine
from hotdesk.ir.types import is_tensor
from hotdesk.models.tensor_slices import INSERT_SLICE

_DIMS = 3
"""Dimensions of a value that are tried."""


@dataclass(frozen=True, slots=True)
class SplitCandidate:
    """Operations to do in parts: the number of one, the dimension of its result and, in bytes, what is large beside it.

    `outputs` are the bytes of what is put together.
    """

    number: int
    dim: int
    large: int
    split: Split
    outputs: int

    def bytes_again(self, parts: int) -> int:
        """What so many parts compute twice."""
        made = parts_of(self.split, parts)
        return 0 if made is None else bytes_again(self.split, made)

    def estimate(self, parts: int) -> int:
        """About what they need in so many parts: what is put together, and the largest part of a value twice."""
        made = parts_of(self.split, parts)
        if made is None:
            return sys.maxsize
        return self.outputs + 2 * max(largest_part(self.split, made, value) for value in self.split.inner)


def split_candidates(line: StraightLine, numbers: Iterable[int]) -> Iterator[SplitCandidate]:
    """What could be done in parts around the results of operations, given by number, and what they are inserted into."""
    known: set[tuple[int, ...]] = set()
    for number in dict.fromkeys(other for each in numbers for other in (each, _last_insertion(line, each))):
        for value in line.ops[number].results:
            if not is_tensor(value.type):
                continue
            size = line.bytes(value)
            for dim in cut_dims(value)[:_DIMS]:
                for large in (size, max(1, size // 4)):
                    split = find_split(line, value, dim, large)
                    if split is None or parts_of(split, 2) is None or split.units < 2:
                        continue
                    key = (*(op.number for op in split.ops), -1, *(axis.dim for op in split.ops for axis in op.results))
                    if key not in known:
                        known.add(key)
                        outputs = sum(line.bytes(each) for each in split.outputs)
                        yield SplitCandidate(number, dim, large, split, outputs)


def _last_insertion(line: StraightLine, number: int) -> int:
    """The last of the insertions, one into the result of the other, that what an operation makes goes into; itself if none."""
    last, at = number, number
    while at >= 0:
        last = at
        readers = (reader for value in line.ops[at].results for reader in line.readers.get(value, ()))
        at = next((reader for reader in readers if line.ops[reader].name == INSERT_SLICE), -1)
    return last
