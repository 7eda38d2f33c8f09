"""A file of named sections: a head, a table of where each section lies with its checksum, and the sections.

    "HOTDESK\\n" · version (u32) · sections (u32) · bytes of the file (u64) · CRC-32 of head and table (u32)
    each section: name (16 bytes, zeros behind) · offset (u64) · bytes (u64) · CRC-32 (u32)
    the sections, in the order of the table, each at a multiple of 64, what is mapped at a multiple of 4096

Numbers are little-endian. Checksums tell damage, not who wrote the file: what wants to deceive can compute them too, so readers
check all that follows from the contents as well.
"""

from __future__ import annotations

import os
import stat
import struct
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, cast
from zlib import crc32

from hotdesk.errors import ArtifactError, ArtifactVersionError
from hotdesk.planning.problem.numbers import ALIGNMENT
from hotdesk.python.record import Record

MAGIC = b"HOTDESK\n"
VERSION = 4
PAGE = 4096
_HEAD = struct.Struct("<8sIIQ")
_CHECKSUM = struct.Struct("<I")
_ENTRY = struct.Struct("<16sQQI")
_MOST_SECTIONS = 256
_CHUNK = 1 << 20


class Section(Record):
    """Where a section lies in the file, in bytes."""

    name: str
    offset: int
    bytes: int
    checksum: int


class Container:
    """An open file whose head and table are right: every section lies within it and meets no other."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        """Opens a file.

        Raises:
            ArtifactError: it is no file that can be read, none of Hotdesk's, cut off, or its table is damaged.
            ArtifactVersionError: another version of the format.
        """
        if not isinstance(cast(object, path), (str, os.PathLike)):
            raise ArtifactError(
                "the file of a saved program", expected="a name or a `pathlib.Path`", got=type(path).__name__
            )
        self.name = os.fspath(path)
        try:
            # not waited for, should it be a pipe
            self.descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_BINARY", 0) | getattr(os, "O_NONBLOCK", 0))
        except (OSError, ValueError) as error:
            from hotdesk.file_errors import found_instead

            reason = found_instead(self.name, error) if isinstance(error, OSError) else str(error)
            raise ArtifactError(f"the file '{self.name}'", expected="one that can be read", got=reason) from error
        try:
            status = os.fstat(self.descriptor)
            if not stat.S_ISREG(status.st_mode):
                raise self.fault("a file", "a folder" if stat.S_ISDIR(status.st_mode) else "none: a device or a pipe")
            self.bytes = status.st_size
            self.sections = {each.name: each for each in self._table()}
        except BaseException:
            os.close(self.descriptor)
            raise

    def __enter__(self) -> Container:
        return self

    def __exit__(self, *_: object) -> None:
        os.close(self.descriptor)

    def fault(self, expected: str, got: str) -> ArtifactError:
        """The error that says what is wrong with the file."""
        hint = "Save the program again, or fetch the file again."
        return ArtifactError(f"the file '{self.name}'", expected=expected, got=got, hint=hint)

    def section(self, name: str) -> Section:
        """Where a section lies. Raises ArtifactError if there is none."""
        found = self.sections.get(name)
        if found is None:
            raise self.fault(f"a section '{name}'", "none of that name")
        return found

    def read(self, name: str) -> bytes:
        """The bytes of a section, whose checksum is right. Raises ArtifactError."""
        section = self.section(name)
        data = self._read(section.offset, section.bytes, f"section '{name}'")
        if crc32(data) != section.checksum:
            raise self.fault(f"section '{name}' with the checksum {section.checksum:08x}", f"{crc32(data):08x}")
        return data

    def verify(self, name: str) -> None:
        """Compares the checksum of a section that is mapped and not read. Raises ArtifactError."""
        section, found, done = self.section(name), 0, 0
        while done < section.bytes:
            count = min(_CHUNK, section.bytes - done)
            found = crc32(self._read(section.offset + done, count, f"section '{name}'"), found)
            done += count
        if found != section.checksum:
            raise self.fault(f"section '{name}' with the checksum {section.checksum:08x}", f"{found:08x}")

    def _read(self, offset: int, count: int, what: str) -> bytes:
        data = bytearray()
        while len(data) < count:
            try:
                more = os.pread(self.descriptor, count - len(data), offset + len(data))
            except OSError as error:
                raise self.fault(f"{count:,} bytes of {what}", str(error.strerror)) from error
            if not more:
                raise self.fault(f"{count:,} bytes of {what}", f"{len(data):,}, where the file ends")
            data += more
        return bytes(data)

    def _table(self) -> Iterable[Section]:
        if self.bytes < _HEAD.size + _CHECKSUM.size:
            raise self.fault("a program that `Program.save` has written", f"{self.bytes} bytes")
        head = self._read(0, _HEAD.size, "the head")
        magic, version, count, size = _HEAD.unpack(head)
        if magic != MAGIC:
            raise self.fault("a program that `Program.save` has written", "another kind of file")
        if version != VERSION:
            hint = "Save the program again with this version of Hotdesk, or load it with the one that saved it."
            what = f"the format of '{self.name}'"
            raise ArtifactVersionError(what, expected=f"version {VERSION}", got=f"version {version}", hint=hint)
        if count > _MOST_SECTIONS:
            raise self.fault(f"at most {_MOST_SECTIONS} sections", f"{count:,}")
        table = self._read(_HEAD.size, count * _ENTRY.size + _CHECKSUM.size, "the table of sections")
        (wanted,) = _CHECKSUM.unpack_from(table, count * _ENTRY.size)
        found = crc32(table[: count * _ENTRY.size], crc32(head))
        if found != wanted:
            raise self.fault(f"a table of sections with the checksum {wanted:08x}", f"{found:08x}")
        if size != self.bytes:
            raise self.fault(f"{size:,} bytes", f"{self.bytes:,}")
        return self._placed([_ENTRY.unpack_from(table, i * _ENTRY.size) for i in range(count)])

    def _placed(self, entries: Sequence[tuple[bytes, int, int, int]]) -> list[Section]:
        found: list[Section] = []
        end = _HEAD.size + len(entries) * _ENTRY.size + _CHECKSUM.size
        for raw, offset, count, checksum in entries:
            name = raw.rstrip(b"\0").decode("ascii", "replace")
            if offset < end or offset % ALIGNMENT or offset + count > self.bytes:
                raise self.fault(
                    f"section '{name}' behind the others and within the file", f"{count:,} bytes at {offset:,}"
                )
            if any(each.name == name for each in found):
                raise self.fault("each section once", f"'{name}' twice")
            end = offset + count
            found.append(Section(name, offset, count, checksum))
        return found


def write(path: str | os.PathLike[str], sections: Mapping[str, Sequence[Any]], aligned: Iterable[str] = ()) -> None:
    """Writes a file of sections, each given in pieces; those `aligned` begin on a page.

    It is written beside its place and then renamed: readers see all of it or what was there before. Raises OSError.
    """
    offset = _HEAD.size + len(sections) * _ENTRY.size + _CHECKSUM.size
    entries: list[tuple[bytes, int, int, int]] = []
    pages = frozenset(aligned)
    for name, pieces in sections.items():
        offset = _up(offset, PAGE if name in pages else ALIGNMENT)
        checksum = count = 0
        for piece in pieces:
            checksum = crc32(piece, checksum)
            count += memoryview(piece).nbytes
        entries.append((name.encode("ascii"), offset, count, checksum))
        offset += count
    head = _HEAD.pack(MAGIC, VERSION, len(entries), offset)
    table = b"".join(_ENTRY.pack(*entry) for entry in entries)
    import tempfile  # which reading does without

    target: str = os.fspath(path)
    folder, name = os.path.split(target)
    descriptor, temporary = tempfile.mkstemp(dir=folder or os.curdir, prefix=f".{name}.")
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(head + table + _CHECKSUM.pack(crc32(table, crc32(head))))
            for (_, start, _, _), pieces in zip(entries, sections.values(), strict=True):
                file.write(bytes(start - file.tell()))
                for piece in pieces:
                    file.write(piece)
        os.chmod(temporary, 0o666 & ~_umask())
        os.replace(temporary, target)
    except BaseException:
        os.unlink(temporary)
        raise


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask


def _up(number: int, alignment: int) -> int:
    return -(-number // alignment) * alignment
