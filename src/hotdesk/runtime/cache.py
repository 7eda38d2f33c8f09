"""What compiling has made, kept on disk for other processes: bytes by a key of everything that they depend on.

    $HOTDESK_CACHE_DIR, else $XDG_CACHE_HOME/hotdesk, else ~/.cache/hotdesk
      v1/ab/ab3f…     magic · length · SHA-256 of the key and the bytes · the bytes

1. An entry is written to a file beside it and then renamed, so that readers and other writers see all of it or nothing.
2. A full disk, a folder that cannot be written, or no folder at all: nothing is kept, and nothing fails.
3. What is read is not believed: a wrong length or checksum, another entry under this name, or a file of another user's or that
   others may write, is no entry. One that is damaged goes.
4. Together entries have at most $HOTDESK_CACHE_SIZE bytes (1 GiB); those used longest ago go first.

`HOTDESK_CACHE=0` turns it off. See docs/cache.md.
"""

from __future__ import annotations

import os
import platform
import stat
import struct
import tempfile
import time
from collections.abc import Iterator
from contextlib import suppress
from functools import cache
from hashlib import sha256
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from hotdesk.planning.problem.numbers import parse_bytes

FORMAT = "v1"
_MAGIC = b"hotdesk1"
_HEAD = struct.Struct("<8sQ32s")
_SIZE = 1 << 30
_FILLED_TO = 0.8  # of the limit, when entries have to go
_READ = os.O_RDONLY | getattr(os, "O_BINARY", 0) | getattr(os, "O_NONBLOCK", 0)
"""How a file is opened: nobody is waited for, should it be a pipe."""
_RECENT = 3600
"""Seconds: an entry's last use is noted as exactly as this, and a file half written is somebody's for so long."""


def key_of(*parts: str | bytes) -> str:
    """The name of an entry that depends on these parts, on the versions of the libraries, and on the processor."""
    digest = sha256()
    for part in (FORMAT, *_surroundings(), *parts):
        encoded = part.encode() if isinstance(part, str) else part
        digest.update(len(encoded).to_bytes(8, "little"))
        digest.update(encoded)
    return digest.hexdigest()


@cache
def _surroundings() -> tuple[str, ...]:
    versions: list[str] = []
    for package in ("hotdesk", "torch-mlir"):
        try:
            versions.append(version(package))
        except PackageNotFoundError:
            versions.append("")
    return (*versions, platform.system(), platform.machine(), _processor())


def _processor() -> str:
    """The processor and its features, as code generation may use any of them."""
    try:
        first = Path("/proc/cpuinfo").read_text(encoding="utf-8").partition("\n\n")[0]
    except OSError:
        return platform.processor()
    told = ("vendor_id", "cpu family", "model", "model name", "stepping", "flags", "Features", "CPU part")
    return "\n".join(line for line in first.splitlines() if line.partition("\t")[0].partition(":")[0].strip() in told)


class Cache:
    """A folder of entries. Nothing that goes wrong with it is raised: what it does not have is made again."""

    def __init__(self, folder: Path, size: int = _SIZE) -> None:
        """At most about `size` bytes are kept in `folder`, which is made when something is."""
        self.folder = folder
        self.size = size
        self._written: int | None = None  # bytes since entries were counted

    def read(self, key: str) -> bytes | None:
        """The bytes of an entry; None if there are none that can be relied on."""
        path = self._path(key)
        try:
            with open(os.open(path, _READ), "rb") as file:
                status = os.fstat(file.fileno())
                if not _is_ours(status):
                    return None
                head, data = file.read(_HEAD.size), file.read()
        except OSError:
            return None
        if len(head) < _HEAD.size or _HEAD.unpack(head) != (_MAGIC, len(data), _checksum(key, data)):
            self.drop(key)
            return None
        if time.time() - status.st_mtime > _RECENT:
            with suppress(OSError):
                os.utime(path)
        return data

    def has(self, key: str) -> bool:
        """Whether there is an entry, which may turn out to be damaged when it is read."""
        return self._path(key).is_file()

    def write(self, key: str, data: bytes) -> None:
        """Keeps an entry, if it can."""
        path = self._path(key)
        if _HEAD.size + len(data) > self.size:
            return
        temporary = None
        try:
            path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            descriptor, temporary = tempfile.mkstemp(dir=path.parent, prefix=".")
            with os.fdopen(descriptor, "wb") as file:
                file.write(_HEAD.pack(_MAGIC, len(data), _checksum(key, data)))
                file.write(data)
            os.replace(temporary, path)
        except OSError:
            if temporary is not None:
                with suppress(OSError):
                    os.unlink(temporary)
            return
        self._written = None if self._written is None else self._written + len(data)
        if self._written is None or self._written > self.size // 16:
            self._written = 0
            self._trim()

    def drop(self, key: str) -> None:
        """Forgets an entry."""
        with suppress(OSError):
            self._path(key).unlink()

    @property
    def bytes(self) -> int:
        """Of all entries together."""
        return sum(status.st_size for _, status in self._files())

    def _path(self, key: str) -> Path:
        return self.folder / FORMAT / key[:2] / key

    def _files(self) -> Iterator[tuple[Path, os.stat_result]]:
        for folder, _, names in os.walk(self.folder / FORMAT):  # which passes over what goes meanwhile
            for name in names:
                path = Path(folder, name)
                with suppress(OSError):
                    status = path.lstat()
                    if stat.S_ISREG(status.st_mode):
                        yield path, status

    def _trim(self) -> None:
        """Lets go of entries, those used longest ago first, while there are too many; and of files that nobody finished."""
        now, entries, total = time.time(), list[tuple[float, int, Path]](), 0
        for path, status in self._files():
            if path.name.startswith("."):
                if now - status.st_mtime > _RECENT:
                    with suppress(OSError):
                        path.unlink()
                continue
            entries.append((status.st_mtime, status.st_size, path))
            total += status.st_size
        if total <= self.size:
            return
        for _, count, path in sorted(entries)[:-1]:  # what was kept last stays
            if total <= self.size * _FILLED_TO:
                return
            with suppress(OSError):
                path.unlink()
                total -= count


def _checksum(key: str, data: bytes) -> bytes:
    """Of an entry: its bytes, and the name under which they were kept."""
    digest = sha256(key.encode())
    digest.update(data)
    return digest.digest()


def _is_ours(status: os.stat_result) -> bool:
    """Whether a file is this user's, and nobody else may write it."""
    mine = not hasattr(os, "getuid") or status.st_uid == os.getuid()
    return mine and stat.S_ISREG(status.st_mode) and not status.st_mode & (stat.S_IWGRP | stat.S_IWOTH)


def the_cache() -> Cache | None:
    """The cache that the environment asks for; None if it is turned off or there is no place for it."""
    if os.environ.get("HOTDESK_CACHE", "1") in ("0", "off", "no", "false"):
        return None
    folder = os.environ.get("HOTDESK_CACHE_DIR") or _default()
    return None if folder is None else _cache_in(folder, _limit())


@cache
def _cache_in(folder: str, size: int) -> Cache:
    return Cache(Path(folder), size)


@cache
def generators() -> str:
    """A digest of the code that writes what all programs share: what is made from it is another when it changes."""
    digest = sha256()
    package = Path(__file__).parents[1]
    for path in (
        *(package / name for name in ("_bindings.py", "elements.py", "graphs.py")),
        *sorted((package / "ir").glob("*.py")),
        *sorted((package / "kernels").glob("*.py")),
    ):
        digest.update(path.read_bytes())
    return digest.hexdigest()


def keeps_programs() -> bool:
    """Whether the environment asks for whole programs to be kept, too: `HOTDESK_CACHE=code` is for those who change passes."""
    return os.environ.get("HOTDESK_CACHE", "1") != "code"


@cache
def sources() -> str:
    """A digest of all of Hotdesk's code: a program is another when any of it changes."""
    digest = sha256()
    package = Path(__file__).parents[1]
    for path in sorted(package.rglob("*.py")):
        digest.update(f"{path.relative_to(package)} ".encode())
        digest.update(sha256(path.read_bytes()).digest())
    return digest.hexdigest()


def _default() -> str | None:
    base = os.environ.get("XDG_CACHE_HOME", "")
    home = os.path.expanduser("~")
    if os.path.isabs(base):
        return os.path.join(base, "hotdesk")
    return os.path.join(home, ".cache", "hotdesk") if os.path.isabs(home) else None


def _limit() -> int:
    try:
        return parse_bytes(os.environ.get("HOTDESK_CACHE_SIZE", "") or _SIZE)
    except ValueError:
        return _SIZE
