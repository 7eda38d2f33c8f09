"""Machine code from object files: relocatable ELF for x86-64, placed in memory and linked.

LLVM writes such a file for a module: code, constants, variables, and places where addresses belong, each known by the name of a
symbol. Code and constants go to pages that may be read and executed, variables to pages that may be written. Unwind tables are
left out: nothing unwinds through kernels. A file is not believed: whatever it says lies within its bounds, or it is refused.

After the *System V Application Binary Interface* (ELF) and its supplement for AMD64.
"""

from __future__ import annotations

import ctypes
import mmap
import platform
import struct
import sys
from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import cache
from typing import NamedTuple

_HEADER = struct.Struct("<16sHHIQQQIHHHHHH")
_SECTION = struct.Struct("<IIQQQQIIQQ")
_SYMBOL = struct.Struct("<IBBHQQ")
_RELOCATION = struct.Struct("<QQq")
_MAGIC = b"\x7fELF\x02\x01\x01"  # 64 bits, little-endian, version 1
_RELOCATABLE, _X86_64 = 1, 62
_SYMBOLS, _RELOCATIONS, _NO_BITS, _UNWIND = 2, 4, 8, 0x70000001
_WRITE, _ALLOCATED, _THREAD_LOCAL = 1, 2, 0x400
_UNDEFINED, _ABSOLUTE = 0, 0xFFF1
_LOCAL = 0  # a symbol's binding
_ADDRESS_64 = 1  # R_X86_64_64
_MOST_BYTES = 1 << 30
_READ_AND_EXECUTE = 0x1 | 0x4  # PROT_READ | PROT_EXEC


class ObjectError(ValueError):
    """A file that is no object file, or one with what is not understood."""


def is_loadable() -> bool:
    """Whether this machine runs what `ObjectCode` loads."""
    return sys.platform == "linux" and platform.machine() == "x86_64" and sys.byteorder == "little"


@cache
def _libraries() -> tuple[ctypes.CDLL, ...]:
    """Where code finds the C library's functions: what the process has loaded, and the one with mathematics."""
    found = [ctypes.CDLL(None)]
    with suppress(OSError):
        found.append(ctypes.CDLL("libm.so.6"))
    return tuple(found)


def c_function(name: str) -> int | None:
    """The address of a function of the C library; None if it has none of that name."""
    for library in _libraries():
        try:
            return ctypes.cast(getattr(library, name), ctypes.c_void_p).value
        except AttributeError:
            continue
    return None


class _Section(NamedTuple):
    name: int
    kind: int
    flags: int
    offset: int
    size: int
    link: int
    info: int
    alignment: int

    @property
    def is_loaded(self) -> bool:
        return bool(self.flags & _ALLOCATED) and self.kind != _UNWIND and self.size > 0


class ObjectCode:
    """The code of an object file in memory. Keep it as long as its functions are called."""

    def __init__(self, data: bytes, find: Callable[[str], int | None]) -> None:
        """`find` gives the address of a symbol that the file wants and does not define.

        Raises ObjectError for a file that is not understood, or that wants a symbol nobody has.
        """
        try:
            sections = _sections(data)
            self._memory, places, writable = _place(data, sections)
            values = _symbols(data, sections, places, find)
            _relocate(data, sections, places, self._memory, [value for _, value in values])
        except (struct.error, UnicodeDecodeError, IndexError, OverflowError) as error:
            raise ObjectError(f"a damaged object file: {error}") from error
        self._symbols: Mapping[str, int] = {name: value for name, value in values if name}
        self._executable = range(_start(self._memory), _start(self._memory) + writable)
        self._protect(writable)

    def function(self, name: str) -> int | None:
        """Where a symbol lies that may be executed; None if the file has none of that name."""
        found = self._symbols.get(name)
        return found if found is not None and found in self._executable else None

    def address(self, name: str) -> int | None:
        """Where a symbol lies; None if the file does not have it."""
        return self._symbols.get(name)

    @property
    def bytes(self) -> int:
        """The memory it takes."""
        return len(self._memory)

    def _protect(self, writable: int) -> None:
        """Lets what lies before `writable` be executed, and not be written any more."""
        start = _start(self._memory)
        library = ctypes.CDLL(None, use_errno=True)
        if writable and library.mprotect(ctypes.c_void_p(start), ctypes.c_size_t(writable), _READ_AND_EXECUTE):
            raise OSError(ctypes.get_errno(), "memory cannot be made executable")


def _start(memory: mmap.mmap) -> int:
    return ctypes.addressof(ctypes.c_char.from_buffer(memory))


def _sections(data: bytes) -> list[_Section]:
    ident, kind, machine, *rest = _HEADER.unpack_from(data)
    table, entry, count = rest[3], rest[8], rest[9]
    if not ident.startswith(_MAGIC) or kind != _RELOCATABLE or machine != _X86_64 or entry != _SECTION.size:
        raise ObjectError("no relocatable object file for x86-64")
    found: list[_Section] = []
    for number in range(count):
        name, kind, flags, _, offset, size, link, info, alignment, _ = _SECTION.unpack_from(
            data, table + number * entry
        )
        section = _Section(name, kind, flags, offset, size, link, info, max(1, alignment))
        outside = kind != _NO_BITS and offset + size > len(data)
        if outside or size > _MOST_BYTES or alignment > mmap.PAGESIZE or (flags & _THREAD_LOCAL and size):
            raise ObjectError(f"section {number} is not understood")
        found.append(section)
    # Each could be the whole file: together they are read in time that grows with the file's size.
    if sum(each.size for each in found if each.kind in (_SYMBOLS, _RELOCATIONS)) > len(data):
        raise ObjectError("tables of symbols and relocations that are larger than the file")
    return found


def _place(data: bytes, sections: list[_Section]) -> tuple[mmap.mmap, dict[int, int], int]:
    """New memory with the contents of the sections, the address of each by number, and where those begin that may be written."""
    offsets: dict[int, int] = {}
    end = writable = 0
    for wanted in (0, _WRITE):
        end = writable = _up(end, mmap.PAGESIZE)
        for number, section in enumerate(sections):
            if section.is_loaded and section.flags & _WRITE == wanted:
                offsets[number] = end = _up(end, section.alignment)
                end += section.size
    if end > _MOST_BYTES:
        raise ObjectError(f"{end:,} bytes of code")
    # private: after a fork, parent and child each have variables of their own
    memory = mmap.mmap(-1, max(end, 1), flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    for number, offset in offsets.items():
        section = sections[number]
        if section.kind != _NO_BITS:
            memory[offset : offset + section.size] = data[section.offset : section.offset + section.size]
    start = _start(memory)
    return memory, {number: start + offset for number, offset in offsets.items()}, writable


def _up(number: int, alignment: int) -> int:
    return -(-number // alignment) * alignment


def _symbols(
    data: bytes, sections: list[_Section], places: dict[int, int], find: Callable[[str], int | None]
) -> list[tuple[str, int]]:
    """Name and address of each symbol, in the order of the table; those of sections that are not loaded are 0.

    Local symbols, which are found by their numbers alone, have no name.
    """
    found: list[tuple[str, int]] = []
    for table in sections:
        if table.kind != _SYMBOLS:
            continue
        names = sections[table.link]
        for at in range(table.offset, table.offset + table.size, _SYMBOL.size):
            name_at, info, _, section, value, _ = _SYMBOL.unpack_from(data, at)
            name = _text(data, names, name_at)
            if section == _UNDEFINED and name:
                address = find(name)
                if address is None:
                    raise ObjectError(f"nobody defines `{name}`")
                found.append(("", address))
            elif section in places:
                if value > sections[section].size:
                    raise ObjectError(f"symbol `{name}` lies outside its section")
                found.append(("" if info >> 4 == _LOCAL else name, places[section] + value))
            elif section in (_UNDEFINED, _ABSOLUTE) or section < len(sections):
                found.append(("", 0))
            else:
                raise ObjectError(f"symbol `{name}` is not understood")
    return found


def _text(data: bytes, names: _Section, at: int) -> str:
    end = data.find(b"\0", names.offset + at, names.offset + names.size)
    if end < 0:
        raise ObjectError("a name that does not end")
    return data[names.offset + at : end].decode()


def _relocate(
    data: bytes, sections: list[_Section], places: dict[int, int], memory: mmap.mmap, values: list[int]
) -> None:
    """Writes addresses where they belong."""
    start = _start(memory)
    for table in sections:
        if table.kind != _RELOCATIONS or table.info not in places:
            continue
        base, size = places[table.info] - start, sections[table.info].size
        for at in range(table.offset, table.offset + table.size, _RELOCATION.size):
            offset, info, addend = _RELOCATION.unpack_from(data, at)
            symbol, kind = info >> 32, info & 0xFFFFFFFF
            if kind != _ADDRESS_64 or offset + 8 > size or symbol >= len(values) or not values[symbol]:
                raise ObjectError(f"relocation {kind} of symbol {symbol} at {offset} is not understood")
            struct.pack_into("<Q", memory, base + offset, (values[symbol] + addend) & 0xFFFFFFFFFFFFFFFF)
