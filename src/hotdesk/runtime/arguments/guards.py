"""A guard on the tensors of a call: whether they are like those of the last calls, all of them compared by PyTorch at once.

What it compares is the class, dispatch keys (device, layout, conjugate and negative views, transforms), element type, sizes and
strides of each, and that none comes twice. A call whose tensors pass takes a third of the time of a look at each.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Hashable, Sequence
from typing import Any, Generic, TypeVar

from hotdesk.runtime.arguments.tensors import LOW_BITS, glance, is_plain_torch

S = TypeVar("S")

_CALLS = 16
"""So many calls in a row with equal tensors make what compares them: making it takes ten times as long as using it."""


class TensorGuard(Generic[S]):
    """What is known of tensors like those of the last calls: an object of class `S`. Threads may share it."""

    __slots__ = ("_calls", "_known", "_last")

    def __init__(self) -> None:
        self._known: tuple[Callable[..., bool], S] | None = None
        self._last: S | None = None
        self._calls = 0

    def seen(self, tensors: Sequence[Any]) -> tuple[S, list[int]] | None:
        """What is known of these tensors, and their addresses; None if nothing is, or not all may be used as they lie."""
        known = self._known
        if known is None:
            return None
        addresses: list[int] = []
        try:
            if not known[0](*tensors):
                return None
            for tensor in tensors:
                pointer = tensor.data_ptr()
                if not pointer or (pointer & LOW_BITS and pointer % tensor.itemsize):
                    return None
                addresses.append(pointer)
        except (TypeError, RuntimeError):  # another number of tensors, or one without memory
            return None
        return known[1], addresses

    def learn(self, tensors: Sequence[object], keys: Sequence[Hashable], found: S) -> None:
        """Tells what was found out of tensors that `seen` did not know. `keys` are those that `glance` has given them."""
        known = self._known
        if known is not None and known[1] is not found:
            self._known = None  # others: comparing them in vain would take time at each call
        if found is not self._last:
            self._last, self._calls = found, 0
        self._calls += 1
        if self._calls < _CALLS:
            return
        self._calls = 0
        compare = _comparison(tensors)
        looks = map(glance, tensors)  # again: another thread may have changed one meanwhile
        if compare is not None and all(
            look is not None and look[0] == key for look, key in zip(looks, keys, strict=True)
        ):
            self._known = compare, found


_TRIED = ("2.13",)
"""The versions of PyTorch whose comparison is known: it is private, and one that is called otherwise may end the process."""


def _comparison(tensors: Sequence[object]) -> Callable[..., bool] | None:
    """What says whether other tensors are like these; None if they are not PyTorch's, or of a version that was not tried."""
    if not tensors or not all(map(is_plain_torch, tensors)):
        return None
    torch: Any = sys.modules["torch"]
    if ".".join(torch.__version__.split(".")[:2]) not in _TRIED:
        return None
    try:
        return torch._C._dynamo.guards.TensorGuards(*tensors, dynamic_dims_sizes=None, dynamic_dims_strides=None).check
    except (AttributeError, TypeError, RuntimeError):  # none of PyTorch's promises
        return None
