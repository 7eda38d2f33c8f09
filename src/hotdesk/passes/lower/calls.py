"""What a lowered function is: kernel calls on pointers into buffers, as plain records."""

from __future__ import annotations

from dataclasses import dataclass

from hotdesk.explain import Source
from hotdesk.passes.lower.work import Work
from hotdesk.sizes.size import Size


@dataclass(frozen=True, slots=True)
class Base:
    """A buffer as the runtime sees it: an entry of the pointer table. Holds no IR, so a program outlives its modules.

    Attributes:
        kind: `alloc`, `argument` or `global`.
        lower, upper: the live range, half-open in op numbers; equal when nothing touches the buffer.
        bytes: the size; an expression when it is dynamic.
        shape, element: of the memref, such as (1, 64) and `f32`; none of one that is not planned.
    """

    kind: str
    lower: int
    upper: int
    bytes: Size
    shape: tuple[Size, ...] = ()
    element: str = ""


@dataclass(frozen=True, slots=True)
class Pointer:
    """The address a kernel gets: entry `base` of the pointer table, plus `offset` bytes."""

    base: int
    offset: Size


@dataclass(frozen=True, slots=True)
class KernelCall:
    """A call of kernel `kernel`: pointers, then sizes and strides that are not compiled in, then pointers again.

    `point` is the number of its op, as live ranges count.
    """

    kernel: str
    pointers: tuple[Pointer, ...]
    scalars: tuple[Size, ...]
    last_pointers: tuple[Pointer, ...]
    source: Source
    work: Work
    point: int


@dataclass(frozen=True, slots=True)
class Assertion:
    """A run-time check: `code` is what a kernel stores in the status word when it fails."""

    code: int
    message: str
    source: Source
