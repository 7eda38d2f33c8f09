"""One allocation interposer for every contender and for the tests: built on first use, preloaded, read through `ctypes`.

    environment = {**os.environ, **preloaded()}        # parent: start the child with this
    counters = Counters()                              # child
    reading = counters.during(lambda: program(*inputs))
    assert reading.large_allocations == 0

What is counted, and how, stands at the head of `interposer.c`. Linux with glibc, 64 bits. All sizes are bytes.
"""

from __future__ import annotations

import ctypes
import hashlib
import importlib.util
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

SOURCE = Path(__file__).with_name("interposer.c")
CACHE = Path(__file__).resolve().parents[2] / "build" / "interposer"
FLAGS = ("-std=c11", "-O2", "-Wall", "-Wextra", "-fPIC", "-fvisibility=hidden", "-fno-builtin", "-pthread")


class InterposerError(RuntimeError):
    """The interposer cannot be built here, or this process runs without it."""


@dataclass(frozen=True, slots=True)
class Reading:
    """What one stretch of a process allocated. `peak` and `held` are above the level at its start; both count bytes."""

    peak: int
    held: int
    allocations: int
    large_allocations: int
    largest: int


class Counters:
    """The counters of this process. Raises `InterposerError` when the interposer is not preloaded."""

    def __init__(self, large_size: int = 1024) -> None:
        """`large_size`: from this size on an allocation is a large one."""
        process = ctypes.CDLL(None)
        if not hasattr(process, "interposer_current"):
            raise InterposerError("expected the interposer in LD_PRELOAD, got a process started without it")
        self._process = process
        for name in ("current", "peak", "allocations", "large_allocations", "largest", "lost_mappings"):
            function = getattr(process, f"interposer_{name}")
            function.restype, function.argtypes = ctypes.c_int64, ()
        process.interposer_set_large_size.argtypes = (ctypes.c_int64,)
        process.interposer_set_large_size(large_size)

    def current(self) -> int:
        """Bytes held now."""
        if self._process.interposer_lost_mappings():
            raise InterposerError("expected a mapping to fit the interposer's table, got more mappings than it holds")
        return self._process.interposer_current()

    def reset(self) -> None:
        """Sets the peak to the present level, and the tallies of allocations to zero."""
        self._process.interposer_reset()

    def since_reset(self, level: int) -> Reading:
        """The tallies since the last reset; peak and held bytes are given above `level`."""
        process = self._process
        return Reading(
            peak=process.interposer_peak() - level,
            allocations=process.interposer_allocations(),
            large_allocations=process.interposer_large_allocations(),
            largest=process.interposer_largest(),
            held=self.current() - level,
        )

    def during(self, call: Callable[[], object]) -> Reading:
        """Calls `call` and reads what it did; its result still lives when `held` is read, and is dropped afterwards."""
        level = self.current()
        self.reset()
        result = call()
        reading = self.since_reset(level)
        del result
        return reading


def compilers() -> list[list[str]]:
    """The C compilers found, first choice first: `$CC`, `cc`, and the one in the `ziglang` wheel."""
    names = [os.environ["CC"]] if "CC" in os.environ else []
    found = [[path] for path in map(shutil.which, [*names, "cc"]) if path]
    if importlib.util.find_spec("ziglang"):
        found.append([sys.executable, "-m", "ziglang", "cc"])
    return found


def compile_c(source: Path, target: Path, *flags: str) -> Path:
    """Compiles `source` to `target` unless it is there already; several processes may do so at once."""
    if target.exists():
        return target
    if not (commands := compilers()):
        raise InterposerError("expected a C compiler, got neither `cc` nor the `ziglang` package")
    target.parent.mkdir(parents=True, exist_ok=True)
    partial = target.with_name(f"{target.name}.{os.getpid()}")
    command = [*commands[0], *flags, "-o", str(partial), str(source)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise InterposerError(f"{' '.join(command)} failed:\n{done.stderr}")
    partial.replace(target)
    return target


def build() -> Path:
    """The compiled interposer; its name carries a hash of source and flags, so a change of either builds anew."""
    if not sys.platform.startswith("linux"):
        raise InterposerError(f"expected Linux with glibc, got {sys.platform}")
    digest = hashlib.sha256(SOURCE.read_bytes() + " ".join(FLAGS).encode()).hexdigest()[:16]
    return compile_c(SOURCE, CACHE / f"interposer-{digest}.so", *FLAGS, "-shared")


def preloaded(environment: Mapping[str, str] = os.environ) -> dict[str, str]:
    """The variable that preloads the interposer, before whatever `environment` preloads already."""
    return {"LD_PRELOAD": ":".join(filter(None, (str(build()), environment.get("LD_PRELOAD"))))}
