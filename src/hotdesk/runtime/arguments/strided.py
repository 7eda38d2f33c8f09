"""Arrays for arguments whose layout the program states or leaves open: the memory they show, and their sizes and strides.

func @main(%x: memref<?xf32, strided<[?], offset: ?>>), called with a[::2]
->
the memory from the first element of a up to the last one that is shown, its size, 2
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, cast

import numpy as np

from hotdesk.errors import LayoutError, RankError, ShapeError
from hotdesk.runtime.arguments.tensors import TensorView, copied, describe, empty, overwrite
from hotdesk.runtime.interface import TensorSpec
from hotdesk.sizes.size import Size


@dataclass(frozen=True, slots=True)
class StridedArgument:
    """An argument with a layout of its own.

    Attributes:
        position: which argument it is.
        name: as the text has it.
        shape, strides: the numbers of its type, in elements; None where a call says it.
        written: whether the program may write it.
        told: its type.
        sizes: as a call is checked for them.
    """

    position: int
    name: str
    shape: tuple[int | None, ...]
    strides: tuple[int | None, ...]
    written: bool
    told: str
    sizes: tuple[Size, ...]

    @property
    def open(self) -> int:
        """How many of its sizes and strides a call says."""
        return (*self.shape, *self.strides).count(None)

    def parts(self, value: object) -> tuple[object, list[object]]:
        """The memory that an array shows, as an array of one dimension, and arrays that are as long as its open numbers say.

        One whose layout is not that of the program, or has steps backwards, is copied, which a program that writes it refuses.

        Raises:
            ArgumentTypeError, DeviceError, DtypeError: it is no plain tensor.
            RankError, ShapeError: it has other sizes.
            LayoutError: the program writes it, and its memory cannot be used as it is.
        """
        view = describe(value, self._what)
        self._check_sizes(view)
        strides = self._fitting(view)
        if self.written and (strides is None or not view.writable):
            got = "read-only or repeated elements" if strides is not None else f"strides {view.strides}, in elements"
            raise LayoutError(f"written {self._what}", expected=f"writable memory for {self.told}", got=got)
        if strides is None:
            strides = self._of_copy(view.shape)
            memory = _laid_out(view, strides)
        else:
            memory = _seen(view, (_reach(view.shape, strides),), (1,))
        numbers = [size for size, known in zip(view.shape, self.shape, strict=True) if known is None]
        numbers += [stride for stride, known in zip(strides, self.strides, strict=True) if known is None]
        return memory, [np.empty((number, 0), np.int8) for number in numbers]

    @property
    def _what(self) -> str:
        return f"argument '{self.name}'"

    def _check_sizes(self, view: TensorView) -> None:
        if len(view.shape) != len(self.shape):
            raise RankError(self._what, expected=f"{len(self.shape)} dimensions, {self.told}", got=str(len(view.shape)))
        for dimension, (size, known) in enumerate(zip(view.shape, self.shape, strict=True)):
            if known is not None and size != known:
                raise ShapeError(f"{self._what}, dimension {dimension}", expected=str(known), got=str(size))

    def _fitting(self, view: TensorView) -> tuple[int, ...] | None:
        """The strides in which the program may use an array where it lies; None if there are none."""
        owner: Any = view.owner
        if view.kind == "numpy":
            is_plain = all(step % view.itemsize == 0 for step in owner.strides)
        else:
            is_plain = not (owner.is_conj() or owner.is_neg())
        if not is_plain or view.pointer % view.itemsize:
            return None
        found: list[int] = []
        for size, stride, known in zip(view.shape, view.strides, self.strides, strict=True):
            if size <= 1:  # no step is taken
                found.append(max(stride, 0) if known is None else known)
            elif stride < 0 or known not in (None, stride):
                return None
            else:
                found.append(stride)
        return tuple(found)

    def _of_copy(self, shape: tuple[int, ...]) -> tuple[int, ...]:
        """Strides of new memory: what the program leaves open follows one behind the other, the last dimension first."""
        found = [0 if known is None else known for known in self.strides]
        reach = _reach(shape, found)
        for dimension in reversed(range(len(shape))):
            if self.strides[dimension] is None:
                found[dimension] = max(reach, 1)
                reach = _reach(shape, found)
        return tuple(found)


def as_memory(specs: Sequence[TensorSpec], arguments: Sequence[StridedArgument]) -> tuple[TensorSpec, ...]:
    """The inputs of a program of which some are the memory of arguments."""
    told = {each.position: each.told for each in arguments}
    return tuple(replace(spec, strided=told.get(position, "")) for position, spec in enumerate(specs))


def as_called(specs: Sequence[TensorSpec], arguments: Sequence[StridedArgument]) -> tuple[TensorSpec, ...]:
    """What a call takes for these inputs."""
    sizes = {each.position: each.sizes for each in arguments}
    given = specs[: len(specs) - sum(each.open for each in arguments)]
    return tuple(replace(spec, shape=sizes.get(position, spec.shape)) for position, spec in enumerate(given))


def _reach(shape: Sequence[int], strides: Sequence[int]) -> int:
    """Elements from the first one up to the last."""
    return 0 if 0 in shape else 1 + sum((size - 1) * stride for size, stride in zip(shape, strides, strict=True))


def _laid_out(view: TensorView, strides: tuple[int, ...]) -> object:
    """New memory with the elements of an array in other strides."""
    memory = describe(empty(view.kind, view.dtype, (_reach(view.shape, strides),)))
    overwrite(describe(_seen(memory, view.shape, strides)), copied(view))
    return memory.owner


def _seen(view: TensorView, shape: tuple[int, ...], strides: tuple[int, ...]) -> object:
    """The memory of an array from its first element on in other sizes and strides, these in elements."""
    owner: Any = view.owner
    if view.kind == "numpy":
        plain: Any = np.asarray(owner)
        steps = tuple(stride * view.itemsize for stride in strides)
        return cast(Any, np.lib.stride_tricks).as_strided(plain, shape, steps)
    return owner.as_strided(shape, strides)
