"""LLVM in a process of its own: code that programs share is compiled there while this process reads a model.

Products and convolutions depend on the processor alone, and take LLVM some seconds before they are in the cache. So a process is
started when a compilation begins; it compiles the modules that it is asked for, one after the other, and writes them to the
cache, or where that is turned off to one of its own in a temporary folder. Whoever needs a module waits for it, and compiles it
where the process has failed.
"""

from __future__ import annotations

import atexit
import os
import subprocess
import sys
import threading
from collections.abc import Callable, Iterable
from contextlib import suppress
from pathlib import Path
from shutil import rmtree
from tempfile import mkdtemp

from hotdesk.python.child_process import ends_unless_asked, start_python
from hotdesk.runtime.cache import Cache, the_cache


class CompilingProcess:
    """A process that runs `start`, Python that ends by calling `serve_names`, and compiles what it is asked for by name.

    `cache` is where it leaves what it has compiled. Raises OSError where no such process can be had.
    """

    def __init__(self, start: str) -> None:
        for each in [each for each in running if not each.is_running]:
            each.end()
        kept = the_cache()
        self._folder = mkdtemp(prefix="hotdesk-") if kept is None else None  # not one that a forked process cleans up
        self.cache = kept or Cache(Path(self._folder or ""))
        self._asked: set[str] = set()
        self._done: set[str] = set()
        self._reading = threading.Lock()
        try:
            folder = {"HOTDESK_CACHE": "code", "HOTDESK_CACHE_DIR": str(self.cache.folder)}
            self._child = start_python(start, stderr=subprocess.DEVNULL, env={**os.environ, **folder}, text=True)
        except BaseException:
            self._remove_folder()
            raise
        running.append(self)

    @property
    def is_running(self) -> bool:
        return self._child.poll() is None

    @property
    def is_listening(self) -> bool:
        """Whether it may be asked for more."""
        assert self._child.stdin is not None
        return self.is_running and not self._child.stdin.closed

    def ask(self, names: Iterable[str]) -> None:
        """Has these compiled, behind those that were asked for before."""
        assert self._child.stdin is not None
        with suppress(OSError, ValueError):  # it has ended, or will ask no more
            for name in names:
                if name not in self._asked:
                    self._child.stdin.write(f"{name}\n")
                    self._asked.add(name)
            self._child.stdin.flush()

    def wait(self, name: str) -> bool:
        """Whether it has compiled this, for which it is waited; not if it was not asked to. Ctrl-C ends it."""
        try:
            with self._reading:
                while name in self._asked and name not in self._done:
                    self._read_answer()
        except BaseException:  # an answer may be lost
            self.end()
            raise
        return name in self._asked

    def _read_answer(self) -> None:
        assert self._child.stdout is not None
        line = "" if self._child.stdout.closed else self._child.stdout.readline()
        if not line:  # it has ended
            self._child.wait()
            self._asked &= self._done
        self._done.add(line.strip())

    def finish(self) -> None:
        """Lets it end: at once if nobody would find what it makes, otherwise when it has compiled what it was asked for."""
        assert self._child.stdin is not None
        if self._folder is not None:
            self.end()
        else:
            with suppress(OSError):
                self._child.stdin.close()

    def end(self) -> None:
        """Ends it."""
        self._child.kill()
        self._child.wait()
        with self._reading:  # nobody waits in vain any more
            for file in (self._child.stdin, self._child.stdout):
                if file is not None:
                    with suppress(OSError):
                        file.close()
        self._remove_folder()
        with suppress(ValueError):
            running.remove(self)

    def _remove_folder(self) -> None:
        if self._folder is not None:
            rmtree(self._folder, ignore_errors=True)


running: list[CompilingProcess] = []
"""Processes that have not been ended. The last one is asked, if it still listens."""


def _end_all() -> None:
    while running:
        running[-1].end()


atexit.register(_end_all)
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=running.clear)  # they answer the parent


# What runs in the process.


def serve_names(compile: Callable[[str], object]) -> None:
    """Compiles what standard input names, a line each, and says so on standard output, until the input ends."""
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    while True:
        ends_unless_asked(waits=True)
        name = sys.stdin.readline().strip()
        ends_unless_asked(waits=False)
        if not name:
            return
        compile(name)
        print(name, file=answers, flush=True)
