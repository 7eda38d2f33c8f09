"""Machine code from object files: relocatable ELF for x86-64, linked to an image that runs wherever it lies.

LLVM writes such a file for a module: code, constants, variables, and places where addresses belong, each known by the name of a
symbol. Code and constants come first in the image and have no address in them, so the pages of a file that has them are mapped as
they are, and processes share them. Behind them, on pages that may be written, are variables and the table of addresses that code
reads (the global offset table). Unwind tables are left out: nothing unwinds through kernels. A file is not believed: whatever it
says lies within its bounds, or it is refused.

After the *System V Application Binary Interface* (ELF) and its supplement for AMD64.
"""

from __future__ import annotations

import ctypes
import mmap
import platform
import struct
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import cache
from typing import cast

from hotdesk.python.record import Record

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
_ADDRESS_64, _FROM_HERE_64, _FROM_TABLE_64, _ENTRY_64, _TABLE_FROM_HERE_64 = 1, 24, 25, 27, 29
"""R_X86_64_64, _PC64, _GOTOFF64, _GOT64, _GOTPC64: what the large code model has, where code may lie anywhere."""
_WORD = struct.Struct("<Q")
_WRAP = (1 << 64) - 1
_MOST_BYTES = 1 << 30
_READ_AND_EXECUTE = 0x1 | 0x4  # PROT_READ | PROT_EXEC

PACKED = "_mlir_"
"""Of each function that is called by name there is another with this in front, which takes an array of addresses of arguments."""

ENTRY = ctypes.CFUNCTYPE(None, ctypes.c_void_p)
"""The type of those, as Python calls them."""


class ObjectError(ValueError):
    """A file that is no object file, or one with what is not understood."""


def is_loadable() -> bool:
    """Whether this machine runs what `ObjectCode` loads."""
    return sys.platform == "linux" and platform.machine() == "x86_64" and sys.byteorder == "little"


@cache
def c_library() -> ctypes.CDLL:
    """The C library, as the process has it; each such object is kilobytes, so there is one. Index it: it keeps its attributes."""
    return ctypes.CDLL(None, use_errno=True)


@cache
def _mathematics() -> ctypes.CDLL:
    """The C library's functions of mathematics."""
    return ctypes.CDLL("libm.so.6")


def c_function(name: str) -> int | None:
    """The address of a function of the C library; None if it has none of that name."""
    for library in (c_library, _mathematics):  # most processes have loaded the second with the first
        with suppress(AttributeError, OSError):
            return ctypes.cast(library()[name], ctypes.c_void_p).value
    return None


class _Section(Record):
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


class Links(Record):
    """Where addresses belong in an image, and where its symbols are: offsets, in bytes.

    Attributes:
        writable: where the pages begin that may be written; what is before has no addresses.
        relative: words that hold an offset in the image: its address is added.
        named: words with the name of a symbol of others, whose address is added.
        symbols: what others may call or read, by name.
    """

    writable: int
    relative: Sequence[int]
    named: Sequence[tuple[int, str]]
    symbols: Mapping[str, int]


class Image(Record):
    """A linked object file: the bytes of its pages, and what is left to do once it has an address."""

    contents: bytearray
    links: Links


class ObjectCode:
    """The code of an object file in memory. Keep it as long as its functions are called."""

    __slots__ = ("_executable", "_memory", "_symbols")

    def __init__(self, data: bytes, find: Callable[[str], int | None]) -> None:
        """`find` gives the address of a symbol that the file wants and does not define.

        Raises ObjectError for a file that is not understood, or that wants a symbol nobody has.
        """
        contents, links = linked(data)
        self._settle(_copied(contents), links, find)

    @classmethod
    def mapped(
        cls, descriptor: int, offset: int, count: int, links: Links, find: Callable[[str], int | None]
    ) -> ObjectCode:
        """An image that lies in an open file, `count` bytes from a page on: code that runs from the pages of the file.

        Where the system does not run code of this file, it is copied. Raises ObjectError for links out of its bounds.
        """
        if not count:
            raise ObjectError("no code")
        code = cls.__new__(cls)
        private = {"flags": mmap.MAP_PRIVATE, "prot": mmap.PROT_READ | mmap.PROT_WRITE, "offset": offset}
        memory = mmap.mmap(descriptor, count, **private)
        try:
            code._settle(memory, links, find)
        except PermissionError:
            code._settle(_copied(memory), links, find)
        return code

    def _settle(self, memory: mmap.mmap, links: Links, find: Callable[[str], int | None]) -> None:
        """Writes the addresses of what lies in memory, and lets its code be executed."""
        self._memory = memory
        start, size = _start(memory), len(memory)
        self._executable = range(start, start + links.writable)
        if not 0 <= links.writable <= size or links.writable % mmap.PAGESIZE:
            raise ObjectError(f"code that ends at {links.writable}, of {size} bytes")
        if not all(0 <= offset <= size for offset in links.symbols.values()):
            raise ObjectError("a symbol outside of the code")
        self._symbols = {name: start + offset for name, offset in links.symbols.items()}
        self.protect(links.writable)
        for offset in links.relative:
            self._add(offset, start, links.writable)
        for offset, name in links.named:
            address = find(name)
            if address is None:
                raise ObjectError(f"nobody defines `{name}`")
            self._add(offset, address, links.writable)

    def _add(self, offset: int, address: int, writable: int) -> None:
        if not writable <= offset <= len(self._memory) - _WORD.size:
            raise ObjectError(f"an address at {offset}, where none belongs")
        (word,) = _WORD.unpack_from(self._memory, offset)
        _WORD.pack_into(self._memory, offset, (word + address) & _WRAP)

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

    def protect(self, writable: int) -> None:
        """Lets what lies before `writable` be executed, and not be written any more."""
        start = _start(self._memory)
        protect = c_library()["mprotect"]
        if writable and protect(ctypes.c_void_p(start), ctypes.c_size_t(writable), _READ_AND_EXECUTE):
            raise OSError(ctypes.get_errno(), "memory cannot be made executable")


def _copied(contents: bytearray | mmap.mmap) -> mmap.mmap:
    """Memory of this process's own: after a fork, parent and child each have variables of their own."""
    memory = mmap.mmap(-1, max(len(contents), 1), flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    memory[: len(contents)] = contents[:]
    return memory


def linked(data: bytes) -> Image:
    """The image of an object file. Raises ObjectError for one that is not understood."""
    try:
        return _Linking(data).image()
    except (struct.error, UnicodeDecodeError, IndexError, OverflowError) as error:
        raise ObjectError(f"a damaged object file: {error}") from error


class _Symbol(Record):
    """A symbol: its offset in the image, or the name by which others know it, or neither."""

    offset: int | None
    name: str
    is_told: bool


class _Linking:
    """An object file whose sections get places in an image, and then have written to them what places follow."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        self._sections = _sections(data)
        self._relative: list[int] = []
        self._named: list[tuple[int, str]] = []
        self._entries: dict[int, int] = {}
        self._places, self._writable, end = self._placed()
        self._table = _up(end, _WORD.size)
        self._symbols = self._found_symbols()
        relocations = list(self._relocations())
        for _, symbol, kind, _ in relocations:
            if kind == _ENTRY_64:
                self._entries.setdefault(symbol, self._table + _WORD.size * len(self._entries))
        self._contents = bytearray(self._table + _WORD.size * len(self._entries))
        for number, place in self._places.items():
            section = self._sections[number]
            if section.kind != _NO_BITS:
                self._contents[place : place + section.size] = data[section.offset : section.offset + section.size]
        for symbol, place in self._entries.items():
            self._address(place, self._symbols[symbol], 0)
        for each in relocations:
            self._relocate(*each)

    def image(self) -> Image:
        told = {each.name: each.offset for each in self._symbols if each.is_told and each.offset is not None}
        return Image(self._contents, Links(self._writable, self._relative, self._named, told))

    def _placed(self) -> tuple[dict[int, int], int, int]:
        """The offset of each section in the image, by number; where those begin that are written, and where the last one ends."""
        with_addresses = {
            table.info
            for table in self._sections
            if table.kind == _RELOCATIONS
            and any(info & 0xFFFFFFFF == _ADDRESS_64 for _, info, _ in self._entries_of(table))
        }
        offsets: dict[int, int] = {}
        end = writable = 0
        for is_written in (False, True):
            end = writable = _up(end, mmap.PAGESIZE)
            for number, section in enumerate(self._sections):
                written = bool(section.flags & _WRITE) or number in with_addresses
                if section.is_loaded and written == is_written:
                    offsets[number] = end = _up(end, section.alignment)
                    end += section.size
        if end > _MOST_BYTES:
            raise ObjectError(f"{end:,} bytes of code")
        return offsets, writable, end

    def _entries_of(self, table: _Section) -> list[tuple[int, int, int]]:
        """The relocations of a table: offset, symbol and kind, addend."""
        ends = range(table.offset, table.offset + table.size, _RELOCATION.size)
        return [_RELOCATION.unpack_from(self._data, at) for at in ends]

    def _relocations(self) -> Iterator[tuple[int, int, int, int]]:
        """Offset in the image, symbol by number, kind and addend of each, in sections that are loaded."""
        for table in self._sections:
            if table.kind != _RELOCATIONS or table.info not in self._places:
                continue
            place, size = self._places[table.info], self._sections[table.info].size
            for offset, info, addend in self._entries_of(table):
                symbol, kind = info >> 32, info & 0xFFFFFFFF
                if offset + 8 > size or symbol >= len(self._symbols):
                    raise ObjectError(f"relocation {kind} of symbol {symbol} at {offset} is not understood")
                yield place + offset, symbol, kind, addend

    def _relocate(self, at: int, number: int, kind: int, addend: int) -> None:
        """Writes what belongs at a place, by the formulas of the supplement."""
        symbol = self._symbols[number]
        if kind == _ADDRESS_64:
            self._address(at, symbol, addend)
            return
        if kind == _ENTRY_64:
            value = self._entries[number] - self._table
        elif kind == _TABLE_FROM_HERE_64:
            value = self._table - at
        elif kind == _FROM_HERE_64 and symbol.offset is not None:
            value = symbol.offset - at
        elif kind == _FROM_TABLE_64 and symbol.offset is not None:
            value = symbol.offset - self._table
        else:
            raise ObjectError(f"relocation {kind} of symbol {number} at {at} is not understood")
        _WORD.pack_into(self._contents, at, (value + addend) & _WRAP)

    def _address(self, at: int, symbol: _Symbol, addend: int) -> None:
        """Notes that an address belongs at a place."""
        if symbol.offset is not None:
            self._relative.append(at)
        elif symbol.name:
            self._named.append((at, symbol.name))
        else:
            raise ObjectError(f"an address of nothing at {at}")
        _WORD.pack_into(self._contents, at, ((symbol.offset or 0) + addend) & _WRAP)

    def _found_symbols(self) -> list[_Symbol]:
        """The symbols, in the order of the table."""
        found: list[_Symbol] = []
        for table in self._sections:
            if table.kind != _SYMBOLS:
                continue
            names = self._sections[table.link]
            for at in range(table.offset, table.offset + table.size, _SYMBOL.size):
                name_at, info, _, section, value, _ = _SYMBOL.unpack_from(self._data, at)
                name = _text(self._data, names, name_at)
                if section in self._places:
                    if cast(int, value) > self._sections[cast(int, section)].size:
                        raise ObjectError(f"symbol `{name}` lies outside its section")
                    is_told = bool(name) and info >> 4 != _LOCAL
                    found.append(_Symbol(self._places[section] + value, name, is_told))
                elif section == _UNDEFINED:
                    found.append(_Symbol(None, name, is_told=False))
                elif section == _ABSOLUTE or section < len(self._sections):
                    found.append(_Symbol(None, "", is_told=False))
                else:
                    raise ObjectError(f"symbol `{name}` is not understood")
        return found


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


def _up(number: int, alignment: int) -> int:
    return -(-number // alignment) * alignment


def _text(data: bytes, names: _Section, at: int) -> str:
    end = data.find(b"\0", names.offset + at, names.offset + names.size)
    if end < 0:
        raise ObjectError("a name that does not end")
    return data[names.offset + at : end].decode()
