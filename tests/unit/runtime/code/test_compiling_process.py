"""The process that compiles what programs share: it leaves code in the cache, may die, and may be interrupted."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
import threading
from collections.abc import Generator
from pathlib import Path

import pytest

from hotdesk.kernels.machine import host
from hotdesk.kernels.parts import PARTS
from hotdesk.runtime.cache import Cache
from hotdesk.runtime.code import compiling_process, products
from hotdesk.runtime.code.compiling_process import CompilingProcess
from hotdesk.runtime.code.objects import is_loadable

pytestmark = pytest.mark.skipif(not is_loadable(), reason="code is loaded from object files on Linux for x86-64 alone")
_ECHO = "import hotdesk.runtime.code.compiling_process as p; p.serve_names(lambda name: name)"
_DEADLY = (
    "import os, hotdesk.runtime.code.compiling_process as p; p.serve_names(lambda name: name == 'b' and os._exit(1))"
)


@pytest.fixture(autouse=True)
def others_left_alone(monkeypatch: pytest.MonkeyPatch) -> Generator[None]:
    """Processes of a test are its own, and none is left."""
    monkeypatch.setattr(compiling_process, "running", [])
    monkeypatch.setattr(products, "running", compiling_process.running)
    monkeypatch.setattr(products, "_codes", {})
    yield
    while compiling_process.running:
        compiling_process.running[-1].end()


def entries(folder: Path) -> list[Path]:
    return [path for path in folder.rglob("*") if path.is_file()]


def test_it_compiles_into_the_cache_in_order(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOTDESK_CACHE", "1")
    monkeypatch.setenv("HOTDESK_CACHE_DIR", str(tmp_path))
    products.compile_ahead([PARTS])
    (process,) = compiling_process.running
    assert process.wait(PARTS)
    (kept,) = entries(tmp_path)
    before = kept.read_bytes()
    assert products.address(PARTS)
    assert kept.read_bytes() == before
    assert len(entries(tmp_path)) <= 2  # that of the threads beside it
    monkeypatch.setattr(products, "_codes", {})
    products.compile_ahead([PARTS])  # it is kept: nobody is asked for more
    assert compiling_process.running == [process]


def test_without_a_cache_it_has_a_folder_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOTDESK_CACHE", "0")
    products.compile_ahead([PARTS])
    (process,) = compiling_process.running
    assert process.wait(PARTS)
    folder = process.cache.folder
    assert len(entries(folder)) == 1
    assert products.address(PARTS)
    process.finish()
    assert not folder.exists()
    assert not process.is_running
    assert compiling_process.running == []


def test_code_is_the_same_as_compiled_here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOTDESK_CACHE", "0")
    here = next(each for each in products.common_modules([PARTS], host())).code_file()
    products.compile_ahead([PARTS])
    (process,) = compiling_process.running
    assert process.wait(PARTS)
    (kept,) = entries(process.cache.folder)
    assert Cache(process.cache.folder).read(kept.name) == here


def test_what_it_was_not_asked_for_is_not_waited_for() -> None:
    process = CompilingProcess(_ECHO)
    process.ask(["a"])
    assert not process.wait("b")
    assert process.wait("a")


def test_several_threads_wait() -> None:
    process = CompilingProcess(_ECHO)
    names = [f"name{number}" for number in range(64)]
    process.ask(names)
    answers: dict[str, bool] = {}

    def wait(name: str) -> None:
        answers[name] = process.wait(name)

    threads = [threading.Thread(target=wait, args=(name,)) for name in reversed(names)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert answers == dict.fromkeys(names, True)


def test_one_that_dies_has_compiled_what_it_told(monkeypatch: pytest.MonkeyPatch) -> None:
    process = CompilingProcess(_DEADLY)
    process.ask(["a", "b", "c"])
    assert process.wait("a")
    assert not process.wait("b")
    assert not process.wait("c")
    assert not process.is_listening
    process.ask(["d"])  # nobody listens, and nothing happens
    assert CompilingProcess(_ECHO) in compiling_process.running
    assert process not in compiling_process.running


def test_code_is_compiled_here_where_the_process_dies(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOTDESK_CACHE", "0")
    monkeypatch.setattr(products, "_START", "raise SystemExit(1)")
    products.compile_ahead([PARTS])
    assert products.address(PARTS)


def test_code_is_compiled_here_where_no_process_can_be_had(monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(*_args: object, **_options: object) -> None:
        raise BlockingIOError(11, "Resource temporarily unavailable")

    monkeypatch.setenv("HOTDESK_CACHE", "0")
    monkeypatch.setattr(subprocess, "Popen", refused)
    products.compile_ahead([PARTS])
    assert compiling_process.running == []
    assert products.address(PARTS)


def test_interrupt_ends_the_wait_and_the_process() -> None:
    process = CompilingProcess("import time; time.sleep(600)")
    process.ask(["a"])
    timer = threading.Timer(0.5, os.kill, (os.getpid(), signal.SIGINT))
    usual = signal.signal(signal.SIGINT, signal.default_int_handler)  # a background job of a shell begins without
    try:
        timer.start()
        with pytest.raises(KeyboardInterrupt):
            process.wait("a")
    finally:
        signal.signal(signal.SIGINT, usual)
    assert not process.is_running
    assert not process.wait("a")


def test_it_ends_with_the_process_that_asked() -> None:
    code = (
        "import hotdesk.runtime.code.compiling_process as p;"
        f"c = p.CompilingProcess({_ECHO!r}); c.ask(['a']); c.wait('a'); print(c._child.pid)"
    )
    environment = {**os.environ, "HOTDESK_CACHE": "0"}
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, env=environment)
    with pytest.raises(ProcessLookupError):
        os.kill(int(done.stdout), 0)


def test_a_forked_process_asks_nobody(monkeypatch: pytest.MonkeyPatch) -> None:
    code = (
        "import os, hotdesk.runtime.code.compiling_process as p;"
        f"c = p.CompilingProcess({_ECHO!r}); c.ask(['a']);"
        "pid = os.fork();"
        "pid or os._exit(len(p.running));"
        "print(os.waitpid(pid, 0)[1], c.wait('a'))"
    )
    environment = {**os.environ, "HOTDESK_CACHE": "0"}
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, env=environment)
    assert done.stdout.split() == ["0", "True"]


@pytest.mark.parametrize("executable", [None, "", "/nowhere/python"])
def test_where_no_python_can_be_started_no_folder_is_left(
    executable: str | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOTDESK_CACHE", "0")
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.setattr(sys, "executable", executable)
    products.compile_ahead([PARTS])
    assert compiling_process.running == []
    assert list(tmp_path.iterdir()) == []
