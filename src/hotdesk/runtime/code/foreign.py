"""Functions of a front end that a program calls: kernels of PyTorch or SciPy, called by machine code on views of the arena.

A call passes the address of each tensor, the numbers that go with the op, and the sizes and strides of each tensor. The status
word comes last: a call that raises leaves its error here, under the address of that word, and sets it; those behind it return at
once, and `Frame.run` raises the error when the program has come to its end.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias, cast

import numpy as np

from hotdesk.errors import ExecutionError, HotdeskError
from hotdesk.python.record import Record
from hotdesk.sizes.size import Size

Array: TypeAlias = "np.ndarray[Any, np.dtype[Any]]"
FAILED = -1
"""What the status word is once a foreign call has raised."""

_RAISED: dict[int, BaseException] = {}
"""Errors of foreign calls, by the address of the status word of their run."""


class Lying(Record):
    """A tensor in memory: sizes and strides count elements."""

    address: int
    sizes: tuple[int, ...]
    strides: tuple[int, ...]


Runs: TypeAlias = Callable[[Sequence[Lying], Sequence[int], Sequence[Lying]], None]
"""Computes: given inputs, numbers, and the memory of the results."""


class ForeignCall(Record):
    """One op that is called and not compiled.

    Attributes:
        symbol: the name that machine code calls it by.
        op, location: its name and its line in Python.
        inputs, results: the rank of each.
        numbers: how many numbers go with it.
        bytes: of its results.
        runs: what computes it.
        is_op: whether it stands for an op of the model; else it belongs to another call, or returns a result.
        keeps: whether it keeps something beside its results, for another or for the caller: it runs in each call of the program.
    """

    symbol: str
    op: str
    location: str
    inputs: tuple[int, ...]
    numbers: int
    results: tuple[int, ...]
    bytes: Size
    runs: Runs
    is_op: bool = True
    keeps: bool = False


def entered(call: ForeignCall) -> object:
    """A C function that calls it: keep it as long as machine code may. `ctypes` takes Python's lock at each call."""
    ranks = (*call.inputs, *call.results)
    pointers, inputs = len(ranks), len(call.inputs)
    wide = call.numbers + 2 * sum(ranks)
    kind = ctypes.CFUNCTYPE(None, *[ctypes.c_void_p] * pointers, *[ctypes.c_int64] * wide, ctypes.c_void_p)

    def run(*values: int | None) -> None:
        status = ctypes.c_int32.from_address(values[-1] or 0)
        if status.value:
            return
        try:
            rest = [int(value or 0) for value in values[pointers:-1]]
            numbers, rest = rest[: call.numbers], rest[call.numbers :]
            tensors: list[Lying] = []
            for address, rank in zip(values, ranks, strict=False):
                sizes, strides, rest = rest[:rank], rest[rank : 2 * rank], rest[2 * rank :]
                tensors.append(Lying(address or 0, tuple(sizes), tuple(strides)))
            call.runs(tensors[:inputs], numbers, tensors[inputs:])
        except BaseException as error:  # goes on where the program was called
            _RAISED[ctypes.addressof(status)] = _told(call, error)
            status.value = FAILED

    return kind(run)


def on_arrays(call: ForeignCall) -> Callable[[Sequence[Array], Sequence[int], Sequence[Array]], None]:
    """The same on arrays whose elements lie row by row. What it raises is what a call of the program does."""

    def run(inputs: Sequence[Array], numbers: Sequence[int], results: Sequence[Array]) -> None:
        try:
            call.runs([*map(_lying, inputs)], numbers, [*map(_lying, results)])
        except Exception as error:
            raise _told(call, error) from error

    return run


class _Memory:
    """Memory that others keep, as NumPy takes it."""

    def __init__(self, interface: Mapping[str, object]) -> None:
        self.__array_interface__ = dict(interface)


def memory_at(pointer: int, sizes: Sequence[int], steps: Sequence[int] | None, kind: str) -> Any:
    """Memory as an array, not copied, of elements of a kind as NumPy spells it; row by row without `steps`, which are bytes."""
    strides = None if steps is None else tuple(steps)
    found = {"version": 3, "data": (pointer, False), "shape": tuple(sizes), "strides": strides, "typestr": kind}
    return np.asarray(cast(Any, _Memory(found)))


def _lying(array: Array) -> Lying:
    return Lying(array.ctypes.data, array.shape, tuple(step // array.itemsize for step in array.strides))


def address_of(function: object) -> int:
    """The address of a C function that `entered` has made."""
    return ctypes.cast(function, ctypes.c_void_p).value or 0  # pyright: ignore[reportArgumentType]


def raised(status: int) -> BaseException:
    """The error of the run whose status word is at this address; it is told once."""
    return _RAISED.pop(status)


def _told(call: ForeignCall, error: BaseException) -> BaseException:
    if isinstance(error, HotdeskError) or not isinstance(error, Exception):
        return error  # or Ctrl-C
    made = ExecutionError(
        f"op `{call.op}` failed",
        expected="values that its kernel takes",
        got=f"{type(error).__name__}: {str(error).strip().splitlines()[0] if str(error).strip() else ''}",
        where=call.location,
        hint="The results of this call are not valid.",
    )
    made.__cause__ = error
    return made
