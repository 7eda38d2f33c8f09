"""One entry function, and the frames it runs in: tables of pointers and numbers, and the status word."""

from __future__ import annotations

import ctypes
import mmap
import os
import struct
import sys
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Protocol, cast

import numpy as np

from hotdesk.errors import ExecutionError, OptionError, OutOfMemoryError
from hotdesk.kernels.region import REGION
from hotdesk.planning.problem.numbers import ALIGNMENT
from hotdesk.python.record import Record
from hotdesk.runtime.arguments.tensors import address_of
from hotdesk.runtime.code import foreign
from hotdesk.runtime.lowered import EntryFunction
from hotdesk.runtime.plans.layout import Layout

if TYPE_CHECKING:
    import numpy.typing as npt

    from hotdesk.passes.lower.calls import Assertion
    from hotdesk.planning.problem.plan import Plan
    from hotdesk.runtime.code.objects import ObjectCode


_POINTER = struct.calcsize("N")


class Evaluates(Protocol):
    """Sizes computed for values of the symbols."""

    def at(self, symbols: Mapping[str, int]) -> Sequence[int]: ...


class Plans(Protocol):
    """Places for the buffers of a function: `runtime.plans.planner.Planner` says what each part is."""

    made: int

    def prepare(self) -> object: ...
    def plan(self, sizes: Sequence[int]) -> Plan: ...
    @property
    def serves_all_sizes(self) -> bool: ...


class EntryCode(Protocol):
    """The machine code that an entry function is in."""

    @property
    def object(self) -> ObjectCode | None: ...
    def entry(self, name: str) -> Callable[[int], None]: ...


class Profiled(Record):
    """An entry function that takes the time around each of its `calls`, or, with control flow, adds it up and `counts` them.

    `code` is kept as long as it is called.
    """

    entry: Callable[[int], None]
    calls: int
    counts: bool
    code: object


class Function:
    """One entry function: plans its buffers and makes frames to run it in."""

    __slots__ = (
        *("_assertions", "_code", "_made_profiled", "_numbers", "_profiled", "_regions", "_sizes"),
        *("entry", "lowered", "planner"),
    )

    def __init__(
        self,
        lowered: EntryFunction,
        code: EntryCode,
        assertions: Sequence[Assertion],
        planner: Plans,
        sizes: Evaluates,
        numbers: Evaluates,
        profiled: Callable[[], Profiled] | None = None,
    ) -> None:
        """`sizes` are those of the buffers by place, `numbers` the number table; `profiled` compiles the entry for a profile."""
        self.lowered = lowered
        self.planner = planner
        self.entry = code.entry(lowered.entry)
        self._code = code
        self._regions: list[DynamicRegion] = []
        self._assertions = {a.code: a for a in assertions}
        self._sizes = sizes
        self._numbers = numbers
        self._profiled = profiled
        self._made_profiled: Profiled | None = None

    def region(self) -> DynamicRegion:
        """A second region for a frame."""
        made = DynamicRegion()
        self._regions.append(made)
        return made

    @property
    def grown(self) -> int:
        """The most bytes that a run has taken from a second region."""
        return max((region.highest for region in self._regions), default=0)

    def frame(self) -> Frame:
        """What one run at a time needs; any number of them may run at once."""
        return Frame(self)

    @property
    def constant_bytes(self) -> int:
        return sum(int(data.nbytes) for data in self.lowered.constants.values())

    @property
    def code_bytes(self) -> int:
        """The memory of its module's machine code; 0 where LLVM's engine keeps it."""
        code = self._code.object
        return 0 if code is None else code.bytes

    def sizes(self, symbols: Mapping[str, int]) -> tuple[int, ...]:
        """The bytes of each buffer, by place in the pointer table."""
        return tuple(self._sizes.at(symbols))

    def layout(self, symbols: Mapping[str, int]) -> Layout:
        """Plans the buffers for one value of the symbols."""
        sizes = self.sizes(symbols)
        made = self.planner.plan(sizes)
        numbers = np.array(self._numbers.at(symbols) or [0], np.int64)
        return Layout(
            made,
            tuple((cast(int, p.buffer_id), p.offset) for p in made.placements if p.pool is None),
            tuple((cast(int, p.buffer_id), cast(int, p.pool), p.offset) for p in made.placements if p.pool is not None),
            numbers,
            sizes,
        )

    @property
    def profiled(self) -> Profiled:
        """The entry function with the time taken around each call. It is compiled here; the kernels are those of the program."""
        if self._profiled is None:
            raise OptionError("profile", expected="a program that `hotdesk.compile` made", got="one from a file")
        if self._made_profiled is None:
            self._made_profiled = self._profiled()
        return self._made_profiled

    def failure(self, code: int) -> ExecutionError:
        """What an assertion of the program says that has failed with this status."""
        failed = self._assertions[code]
        restored = "; what it changes in place is as before it, unless the program was compiled with `roll_back=False`"
        changed = restored if self.lowered.state else ""
        op = f"`{failed.source.op}`"
        return ExecutionError(
            f"a check of {op} failed",
            expected=failed.message.removeprefix(f"{op}: "),
            got="values that do not fulfil it",
            where=failed.source.location,
            hint=f"The results of this call are not valid{changed}.",
        )


class Frame:
    """The tables that one run at a time reads: addresses of all buffers, symbolic sizes, and the status word it writes."""

    __slots__ = (
        *("_entry", "_function", "_number_address", "_packed_address", "_region", "_set_results"),
        *("_stamp_address", "_status", "_table", "_table_address"),
    )

    def __init__(self, function: Function) -> None:
        lowered = function.lowered
        self._function = function
        self._entry = function.entry
        self._status = ctypes.c_int32()
        # an array of ctypes would have a class of its own, of kilobytes
        words = np.zeros(len(lowered.buffers) + 5, np.uintp)
        self._table = memoryview(cast(Any, words))
        for place, data in lowered.constants.items():
            self._table[place] = address_of(data)
        self._table[len(lowered.buffers)] = ctypes.addressof(self._status)
        self._region = function.region() if any(buffer.kind == "heap" for buffer in lowered.buffers) else None
        if self._region is not None:
            self._table[len(lowered.buffers) + 1] = self._region.words
        self._table_address = ctypes.c_void_p(address_of(words))
        self._number_address = ctypes.c_void_p()
        self._stamp_address = ctypes.c_void_p()
        packed = len(lowered.buffers) + 2
        for i, each in enumerate((self._table_address, self._number_address, self._stamp_address)):
            self._table[packed + i] = ctypes.addressof(each)
        self._packed_address = address_of(words) + packed * _POINTER
        self._set_results = self.writer(lowered.result_places)

    def set_arena(self, layout: Layout, arena: int) -> None:
        for place, offset in layout.in_arena:
            self._table[place] = arena + offset
        self._number_address.value = address_of(layout.numbers)

    def set_pointers(self, places: Sequence[int], addresses: Sequence[int]) -> None:
        table = self._table
        for place, address in zip(places, addresses, strict=True):
            table[place] = address

    def writer(self, places: Sequence[int]) -> Callable[[Sequence[int]], None]:
        """What sets the pointers at these places, as `set_pointers` does; at places in a row all at once."""
        first = places[0] if places else 0
        if tuple(places) != tuple(range(first, first + len(places))):
            return lambda addresses: self.set_pointers(places, addresses)
        pack, table, offset = struct.Struct(f"{len(places)}N").pack_into, self._table, first * _POINTER
        return lambda addresses: pack(table, offset, *addresses)

    def run(self, layout: Layout, results: Sequence[int]) -> None:
        """Runs with the pointers set; raises ExecutionError when an assertion of the program fails.

        `results` has an address for each result; one that lies in a donated input has that of the input.
        """
        self._run(self._entry, layout, results)

    def profile(self, layout: Layout, results: Sequence[int]) -> list[tuple[float, int]]:
        """Runs like `run`, and returns the seconds that each kernel call took, and how often it was made."""
        profiled = self._function.profiled
        stamps = np.zeros((profiled.calls + 1, 2), dtype=np.int64)
        self._stamp_address.value = stamps.ctypes.data
        self._run(profiled.entry, layout, results)
        if profiled.counts:
            return [(int(taken) / 1e9, int(count)) for taken, count in stamps[1:]]
        nanoseconds: npt.NDArray[np.int64] = stamps[:, 0] * 1_000_000_000 + stamps[:, 1]
        return [(taken, 1) for taken in cast("list[float]", (np.diff(nanoseconds) / 1e9).tolist())]

    def _run(self, entry: Callable[[int], None], layout: Layout, results: Sequence[int]) -> None:
        self._set_results(results)
        for place, lender, offset in layout.lent:
            self._table[place] = self._table[lender] + offset
        status = self._status
        status.value = 0
        if self._region is not None:
            self._region.clear()
        entry(self._packed_address)
        code = status.value
        if code:
            raise foreign.raised(ctypes.addressof(status)) if code == foreign.FAILED else self._function.failure(code)


_LEAST = 64 << 20
_NORESERVE = getattr(mmap, "MAP_NORESERVE", 0x4000 if sys.platform == "linux" else 0)
"""Without it the system counts the addresses as memory, and of a process with two regions makes no fork. Python 3.13 names it."""


class DynamicRegion:
    """As many addresses as the machine has memory. Pages are the system's until they are first written, and are kept then."""

    def __init__(self) -> None:
        self._memory = _reserved()
        self._words = (ctypes.c_int64 * len(REGION))()
        start = ctypes.addressof(ctypes.c_char.from_buffer(self._memory))
        begin = -(-start // ALIGNMENT) * ALIGNMENT
        self._words[REGION.index("address")] = begin
        self._words[REGION.index("limit")] = len(self._memory) - (begin - start)

    @property
    def words(self) -> int:
        """The address of the words that describe it."""
        return ctypes.addressof(self._words)

    @property
    def highest(self) -> int:
        """The most bytes that a call has taken."""
        return int(self._words[REGION.index("highest")])

    def clear(self) -> None:
        """Gives back all that a call has taken."""
        self._words[REGION.index("top")] = 0


def _reserved() -> mmap.mmap:
    size = _physical_memory()
    flags = getattr(mmap, "MAP_PRIVATE", 0) | getattr(mmap, "MAP_ANONYMOUS", 0) | _NORESERVE
    while True:
        try:
            return mmap.mmap(-1, size, flags=flags) if flags else mmap.mmap(-1, size)
        except (OSError, ValueError) as error:
            if size <= _LEAST:
                raise OutOfMemoryError(
                    "the region for what is known only when the program runs",
                    expected=f"{size:,} bytes of addresses",
                    got="none from the system",
                ) from error
            size //= 2


def _physical_memory() -> int:
    try:
        return max(_LEAST, os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE"))
    except (AttributeError, ValueError, OSError):
        return _LEAST * 16
