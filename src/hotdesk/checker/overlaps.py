"""Whether two views share elements, told exactly: by their addresses. Buffers at one place of an arena share them."""

from __future__ import annotations

from typing import Any

import numpy as np

from hotdesk.checker.arenas import grounded
from hotdesk.checker.buffers import MemRef
from hotdesk.checker.values import Array, xp

_MOST = 1 << 25  # elements; of more, views whose extents meet count as sharing


def meet(a: MemRef, b: MemRef) -> bool:
    """Whether there is a byte between the first and the last one of both."""
    return _meet(grounded(a), grounded(b))


def overlapping(a: MemRef, b: MemRef) -> bool:
    """Whether two views that are not the same share a byte."""
    a, b = grounded(a), grounded(b)
    return _meet(a, b) and not _is_same(a, b) and _share(a, b)


def sharing(a: MemRef, b: MemRef) -> bool:
    """Whether two views share a byte, be they the same or not."""
    a, b = grounded(a), grounded(b)
    return _meet(a, b) and (_is_same(a, b) or _share(a, b))


def may_move(a: MemRef, b: MemRef) -> bool:
    """Whether elements can go from one view to the other one by one, and none is overwritten before it is read: the views share
    no byte, or all elements go by one distance and lie in the order of their indices, in both views."""
    expected = 0
    for size, step, other in reversed(list(zip(a.sizes, a.strides, b.strides, strict=True))):
        if size != 1 and (step != other or step <= expected):
            return not sharing(a, b)
        expected += step * (size - 1)
    return True


def _meet(a: MemRef, b: MemRef) -> bool:
    if a.buffer is not b.buffer:
        return False
    (low, high), (start, end) = a.extent, b.extent
    return max(low, start) < min(high, end)


def _is_same(a: MemRef, b: MemRef) -> bool:
    """Whether two views have the same elements in the same order."""
    steps_a = [stride for size, stride in zip(a.sizes, a.strides, strict=True) if size != 1]
    steps_b = [stride for size, stride in zip(b.sizes, b.strides, strict=True) if size != 1]
    same = a.first_byte == b.first_byte and a.dtype.itemsize == b.dtype.itemsize and steps_a == steps_b
    return same and a.sizes == b.sizes


def _share(a: MemRef, b: MemRef) -> bool:
    if a.elements + b.elements > _MOST:
        return True
    return bool(np.isin(_bytes(a), _bytes(b)).any())


def _bytes(view: MemRef) -> Array:
    """The address of every byte, in no order."""
    return xp.unique(addresses(view).reshape(-1, 1) + np.arange(view.dtype.itemsize))


def addresses(view: MemRef) -> Array:
    """The byte in the buffer where each element begins, in the shape of the view."""
    result: Any = np.array(view.first_byte, np.int64)
    for number, (size, stride) in enumerate(zip(view.sizes, view.strides, strict=True)):
        steps: Any = np.arange(size, dtype=np.int64) * (stride * view.dtype.itemsize)
        result = result + steps.reshape([size if i == number else 1 for i in range(len(view.sizes))])
    return np.broadcast_to(result, view.sizes)


def disturbed(reads: MemRef, writes: MemRef) -> bool:
    """Whether an op that reads one view and writes the other, point by point of the same domain, reads at one point what it
    writes at another. Both views have the sizes of the domain."""
    reads, writes = grounded(reads), grounded(writes)
    if not _meet(reads, writes):
        return False
    item = reads.dtype.itemsize
    if reads.elements > _MOST or item != writes.dtype.itemsize or (reads.first_byte - writes.first_byte) % item:
        return True
    read, written = addresses(reads).reshape(-1), addresses(writes).reshape(-1)
    order = np.argsort(written, kind="stable")
    ordered = written[order]
    first = xp.searchsorted(ordered, read, "left")
    last = xp.searchsorted(ordered, read, "right")
    found = first < last
    own = order[first[found]] == np.arange(len(read))[found]
    return not bool(np.all(own & (last[found] == first[found] + 1)))
