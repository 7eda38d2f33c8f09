"""The cache on disk: entries come back as they were or not at all, whatever happens to the folder."""

from __future__ import annotations

import errno
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from hotdesk.runtime import cache as module
from hotdesk.runtime.cache import FORMAT, Cache, key_of, the_cache

KEY = key_of("an entry")


@pytest.fixture
def cache(tmp_path: Path) -> Cache:
    return Cache(tmp_path / "cache")


def _file(cache: Cache, key: str = KEY) -> Path:
    return cache.folder / FORMAT / key[:2] / key


def _all_files(cache: Cache) -> list[Path]:
    return [path for path in cache.folder.rglob("*") if path.is_file()]


@pytest.mark.parametrize("data", [b"", b"x", os.urandom(100_000)])
def test_an_entry_comes_back(cache: Cache, data: bytes) -> None:
    assert cache.read(KEY) is None
    cache.write(KEY, data)
    assert cache.read(KEY) == data
    assert Cache(cache.folder).read(KEY) == data
    assert cache.read(key_of("another")) is None
    assert len(_all_files(cache)) == 1


def test_a_key_depends_on_each_part_and_on_where_it_ends() -> None:
    keys = [key_of("ab", "c"), key_of("a", "bc"), key_of("abc"), key_of("c", "ab"), key_of("ab", b"d")]
    assert len(set(keys)) == len(keys)
    assert key_of("ab", "c") == key_of(b"ab", "c")


DAMAGE: dict[str, Callable[[bytes], bytes]] = {
    "empty": lambda _: b"",
    "without a head": lambda whole: whole[:20],
    "cut off": lambda whole: whole[:-1],
    "longer": lambda whole: whole + b"\0",
    "another magic": lambda whole: b"hotdesk0" + whole[8:],
    "another length": lambda whole: whole[:8] + b"\xff" * 8 + whole[16:],
    "another checksum": lambda whole: whole[:16] + bytes(32) + whole[48:],
    "a flipped bit": lambda whole: whole[:-3] + bytes([whole[-3] ^ 1]) + whole[-2:],
}


@pytest.mark.parametrize("damage", DAMAGE)
def test_a_damaged_entry_is_none_and_goes(cache: Cache, damage: str) -> None:
    cache.write(KEY, b"machine code")
    path = _file(cache)
    path.write_bytes(DAMAGE[damage](path.read_bytes()))
    assert cache.read(KEY) is None
    assert not path.exists()
    cache.write(KEY, b"machine code")
    assert cache.read(KEY) == b"machine code"


@pytest.mark.parametrize("mode", [0o620, 0o602])
def test_what_others_may_write_is_not_used(cache: Cache, mode: int) -> None:
    cache.write(KEY, b"machine code")
    _file(cache).chmod(mode)
    assert cache.read(KEY) is None


def test_an_entry_under_the_name_of_another_is_none(cache: Cache) -> None:
    cache.write(KEY, b"machine code")
    other = key_of("another")
    _file(cache, other).parent.mkdir(exist_ok=True)
    _file(cache).rename(_file(cache, other))
    assert cache.read(other) is None


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="a system without pipes by name")
def test_nobody_waits_for_a_pipe(cache: Cache) -> None:
    _file(cache).parent.mkdir(parents=True)
    os.mkfifo(_file(cache))
    assert cache.read(KEY) is None


def test_the_folder_may_go_while_entries_are_counted(cache: Cache, monkeypatch: pytest.MonkeyPatch) -> None:
    real = os.scandir

    def scandir(path: Any) -> Any:
        if not isinstance(path, int) and Path(path).parent.name == FORMAT:
            monkeypatch.undo()
            shutil.rmtree(cache.folder)
        return real(path)

    cache.write(KEY, b"machine code")
    monkeypatch.setattr(os, "scandir", scandir)
    assert cache.bytes == 0
    assert not cache.folder.exists()


def test_what_programs_share_depends_on_all_the_code_that_generates_it() -> None:
    loaded = subprocess.run([sys.executable, "-c", GENERATE], check=True, capture_output=True, text=True).stdout.split()
    assert "hotdesk.kernels.product" in loaded
    outside = [name for name in loaded if not name.startswith(("hotdesk.kernels", "hotdesk.ir"))]
    assert outside == [
        "hotdesk",
        "hotdesk._bindings",
        "hotdesk.elements",
        "hotdesk.errors",
        "hotdesk.graphs",
        "hotdesk.python",
        "hotdesk.python.lazy_names",
        "hotdesk.python.record",
    ]  # `errors`, `lazy_names` and `record` make no code


GENERATE = """
import sys
from hotdesk.kernels.library import convolution_module, product_module
from hotdesk.kernels.machine import host
from hotdesk.kernels.parts import parts_module
for module in (parts_module(host()), product_module(host(), "f32"), convolution_module(host(), "f32", "f32")):
    assert module
print(*sorted(name for name in sys.modules if name.partition(".")[0] == "hotdesk"))
"""


@pytest.mark.parametrize("source", ["_bindings.py", "elements.py", "graphs.py", "ir/linking.py", "kernels/product.py"])
def test_the_code_that_generates_is_told_by_its_digest(
    source: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    package = Path(module.__file__).parents[1]
    for part in ("ir", "kernels"):
        shutil.copytree(package / part, tmp_path / part)
    for name in ("_bindings.py", "elements.py", "graphs.py"):
        shutil.copy(package / name, tmp_path)
    (tmp_path / "runtime").mkdir()
    monkeypatch.setattr(module, "__file__", str(tmp_path / "runtime" / "cache.py"))
    generate = module.generators.__wrapped__
    before = generate()
    with (tmp_path / source).open("a") as file:
        file.write("# changed")
    assert generate() != before


def test_a_full_disk_keeps_nothing_and_fails_nobody(cache: Cache, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: Any) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(module.os, "replace", full)
    cache.write(KEY, b"machine code")
    assert cache.read(KEY) is None
    assert _all_files(cache) == []


def test_a_folder_that_cannot_be(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    cache = Cache(tmp_path / "file" / "cache")
    cache.write(KEY, b"machine code")
    assert cache.read(KEY) is None


def test_those_used_longest_ago_go_first(tmp_path: Path) -> None:
    keys = [key_of(str(number)) for number in range(8)]
    for age, key in enumerate(keys):
        Cache(tmp_path).write(key, bytes(1000))
        os.utime(_file(Cache(tmp_path), key), (1e9 + age, 1e9 + age))
    small = Cache(tmp_path, 5000)
    assert small.read(keys[0]) is not None  # which notes its use
    small.write(key_of("last"), bytes(1000))
    assert small.bytes <= 5000
    assert small.read(keys[0]) is not None
    assert small.read(key_of("last")) is not None
    assert [key for key in keys[1:] if small.read(key) is not None] == keys[-1:]


def test_what_is_larger_than_the_cache_is_not_kept(tmp_path: Path) -> None:
    Cache(tmp_path, 1000).write(KEY, bytes(1000))
    assert not any(tmp_path.rglob("*"))


def test_what_somebody_left_half_written_goes_after_an_hour(cache: Cache) -> None:
    cache.write(KEY, b"machine code")
    old, new = (_file(cache).with_name(name) for name in (".old", ".new"))
    for path in (old, new):
        path.write_bytes(b"half")
    os.utime(old, (1e9, 1e9))
    Cache(cache.folder).write(key_of("another"), b"")
    assert not old.exists()
    assert new.exists()


WRITER = """
import sys
from pathlib import Path
from hotdesk.runtime.cache import Cache, key_of
cache, key, data = Cache(Path(sys.argv[1])), key_of("shared"), bytes(range(256)) * 400
for _ in range(100):
    cache.write(key, data)
    found = cache.read(key)
    assert found == data, found
"""


def test_processes_that_write_one_entry_at_once(tmp_path: Path) -> None:
    writers = [subprocess.Popen([sys.executable, "-c", WRITER, str(tmp_path)]) for _ in range(3)]
    assert [writer.wait() for writer in writers] == [0, 0, 0]
    assert len([path for path in tmp_path.rglob("*") if path.is_file()]) == 1


def test_the_environment_says_where(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in ("HOTDESK_CACHE", "HOTDESK_CACHE_DIR", "HOTDESK_CACHE_SIZE", "XDG_CACHE_HOME"):
        monkeypatch.delenv(name, raising=False)

    def asked() -> tuple[Path, int] | None:
        found = the_cache()
        return None if found is None else (found.folder, found.size)

    monkeypatch.setenv("HOME", str(tmp_path))
    assert asked() == (tmp_path / ".cache" / "hotdesk", 1 << 30)
    monkeypatch.setenv("XDG_CACHE_HOME", "not/absolute")
    assert asked() == (tmp_path / ".cache" / "hotdesk", 1 << 30)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "xdg"))
    assert asked() == (tmp_path / "xdg" / "hotdesk", 1 << 30)
    monkeypatch.setenv("HOTDESK_CACHE_DIR", str(tmp_path / "own"))
    monkeypatch.setenv("HOTDESK_CACHE_SIZE", "10 MiB")
    assert asked() == (tmp_path / "own", 10 << 20)
    monkeypatch.setenv("HOTDESK_CACHE_SIZE", "much")
    assert asked() == (tmp_path / "own", 1 << 30)
    monkeypatch.setenv("HOTDESK_CACHE", "0")
    assert asked() is None
