"""Results whose sizes only the run knows: machine code calls back with each, and it is copied for the caller.

In the program a number stands for such a result. The copies wait, in the thread that made the call, until the program has run.
"""

from __future__ import annotations

import ctypes
import threading
from collections.abc import Callable, Collection, Sequence
from typing import TYPE_CHECKING, Any

from hotdesk.python.record import Record
from hotdesk.runtime.arguments.tensors import address, empty
from hotdesk.runtime.code.foreign import ForeignCall, Lying, memory_at

if TYPE_CHECKING:
    from hotdesk.runtime.arguments.tensors import Kind

RESULT = "hotdesk.result"
"""What such a call stands for, in place of an op."""


class _Delivered(threading.local):
    """What this thread's last call has copied, by the number that stands for each, and whose tensors its caller wants."""

    def __init__(self) -> None:
        self.kind: Kind = "numpy"
        self.tensors: dict[int, object] = {}


_DELIVERED = _Delivered()


class Delivery(Record):
    """Copies a tensor for the caller, who is given its number in its place; the elements are of a type such as `f32`."""

    number: int
    dtype: str

    def __call__(self, inputs: Sequence[Lying], numbers: Sequence[int], results: Sequence[Lying]) -> None:
        (tensor,), (stand_in,) = inputs, results
        made: Any = empty(_DELIVERED.kind, self.dtype, tensor.sizes)
        if 0 not in tensor.sizes:
            item = int(made.itemsize)
            whole = memory_at(address(made), tensor.sizes, None, f"|V{item}")
            steps = [stride * item for stride in tensor.strides]
            whole[...] = memory_at(tensor.address, tensor.sizes, steps, f"|V{item}")
        deliver(self.number, made, stand_in)


def delivering(
    symbol: str,
    rank: int,
    location: str,
    runs: Callable[[Sequence[Lying], Sequence[int], Sequence[Lying]], None],
) -> ForeignCall:
    """The call, by that name, of a `Delivery` or of what else delivers a tensor of this rank."""
    return ForeignCall(symbol, RESULT, location, (rank,), 0, (0,), 8, runs, is_op=False, keeps=True)


def deliver(number: int, tensor: object, stand_in: Lying) -> None:
    """Keeps a tensor for the caller, and writes the number that stands for it."""
    _DELIVERED.tensors[number] = tensor
    ctypes.c_int64.from_address(stand_in.address).value = number


def expect(kind: Kind) -> None:
    """Before a call: whose tensors its caller wants. What a call that failed has left goes."""
    _DELIVERED.kind, _DELIVERED.tensors = kind, {}


def handed_on(results: Sequence[Any], counted: Collection[int]) -> list[object]:
    """Results of a program, with what this thread's last call has delivered for the numbers that the `counted` ones are."""
    made, _DELIVERED.tensors = _DELIVERED.tensors, {}
    return [made[int(result)] if number in counted else result for number, result in enumerate(results)]
