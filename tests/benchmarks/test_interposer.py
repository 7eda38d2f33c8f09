"""The interposer counts exactly: in a C program that allocates known blocks, and in Python processes like the benchmarks'."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from benchmarks import interposer
from benchmarks.interposer import Counters, InterposerError

HERE = Path(__file__).parent
ROOT = HERE.parents[1]


def run(*command: str | Path) -> str:
    """Standard output of `command` run under the interposer."""
    environment = {**os.environ, **interposer.preloaded(), "PYTHONPATH": str(ROOT)}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False, timeout=120)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_every_function_counts_exactly(tmp_path: Path) -> None:
    # -fno-builtin: a compiler that knows malloc may leave an unused pair of malloc and free out.
    program = interposer.compile_c(HERE / "blocks.c", tmp_path / "blocks", "-fno-builtin", "-pthread", "-ldl")
    run(program, __file__)


PYTHON_BLOCKS = """
import ctypes, mmap
from benchmarks.interposer import Counters

libc = ctypes.CDLL(None)
libc.malloc.restype, libc.malloc.argtypes = ctypes.c_void_p, (ctypes.c_size_t,)
libc.free.restype, libc.free.argtypes = None, (ctypes.c_void_p,)
libc.malloc_usable_size.restype, libc.malloc_usable_size.argtypes = ctypes.c_size_t, (ctypes.c_void_p,)
counters = Counters(large_size=1 << 20)


def blocks():
    kept, dropped = libc.malloc(30 << 20), libc.malloc(20 << 20)
    sizes.extend(map(libc.malloc_usable_size, (kept, dropped)))
    libc.free(dropped)


sizes = []
reading = counters.during(blocks)
assert (reading.large_allocations, reading.largest) == (2, sizes[0]), reading
assert 0 <= reading.held - sizes[0] < 1 << 20, reading
assert 0 <= reading.peak - sum(sizes) < 1 << 20, reading

mapped = counters.during(lambda: mmap.mmap(-1, 64 << 20))
assert (mapped.large_allocations, mapped.largest) == (1, 64 << 20), mapped

quiet = counters.during(lambda: None)
assert (quiet.large_allocations, quiet.largest < 1024, quiet.held < 1024) == (0, True, True), quiet
"""


def test_counters_read_what_a_call_allocates() -> None:
    run(sys.executable, "-c", PYTHON_BLOCKS)


def test_a_grandchild_is_counted_by_itself() -> None:
    inner = "from benchmarks.interposer import Counters; print(Counters().current() < 100_000_000)"
    outer = f"import subprocess, sys; block = bytearray(200_000_000); subprocess.run([sys.executable, '-c', {inner!r}])"
    assert run(sys.executable, "-c", outer).strip() == "True"


def test_counters_need_the_interposer() -> None:
    with pytest.raises(InterposerError, match="LD_PRELOAD"):
        Counters()


def test_an_existing_preload_is_kept() -> None:
    assert interposer.preloaded({"LD_PRELOAD": "/lib/other.so"})["LD_PRELOAD"] == f"{interposer.build()}:/lib/other.so"


def test_a_failing_compilation_says_why(tmp_path: Path) -> None:
    source = tmp_path / "wrong.c"
    source.write_text("int main(void) { return nothing; }\n")
    with pytest.raises(InterposerError, match="nothing"):
        interposer.compile_c(source, tmp_path / "wrong")
