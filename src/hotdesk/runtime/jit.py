"""From a module in the LLVM dialect to callable entry functions."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path

import scipy_openblas32

from hotdesk._bindings import ExecutionEngine, ir
from hotdesk.errors import LoweringError

SMALL_PRODUCTS = 1 << 24
"""Multiplications that take one thread about as long as two would be kept apart from their work."""

_ENTRY = ctypes.CFUNCTYPE(None, ctypes.c_void_p)


def blas_library() -> str:
    """Path of the shared library with the `scipy_cblas_*` functions."""
    folder = Path(scipy_openblas32.get_lib_dir())
    found = sorted(
        path for path in folder.iterdir() if path.name.startswith("libscipy_openblas") and path.suffix != ".a"
    )
    if not found:
        raise LoweringError("no BLAS library", expected="libscipy_openblas in scipy-openblas32", got=str(folder))
    return str(found[0])


@cache
def _blas() -> tuple[ctypes.CDLL, int]:
    """The BLAS and the number of threads it starts with (`OPENBLAS_NUM_THREADS` sets it)."""
    library = ctypes.CDLL(blas_library())
    library.scipy_openblas_get_num_threads.restype = ctypes.c_int
    return library, int(library.scipy_openblas_get_num_threads())


def use_blas_threads(products: int) -> None:
    """Has the BLAS run a program's products on all threads, or on one where none is worth a second.

    A threaded product makes a job table on the heap and waits for the other threads: too much for small ones.
    """
    library, threads = _blas()
    library.scipy_openblas_set_num_threads(1 if products <= SMALL_PRODUCTS else threads)


class Machine:
    """Compiled code. Keep it as long as its entry functions are called."""

    def __init__(self, module: ir.Module, entries: Sequence[str]) -> None:
        """Compiles a module; the engine compiles lazily, so asking for the entry functions is what does the work."""
        with module.context:
            self._engine = ExecutionEngine(module, opt_level=3, shared_libs=[blas_library()])
        self._entries = {name: self._lookup(name) for name in entries}

    def entry(self, name: str) -> Callable[[int], None]:
        """A function of the address of packed arguments: pointers to the pointer table's and the number table's address."""
        return self._entries[name]

    def _lookup(self, name: str) -> Callable[[int], None]:
        address = self._engine.raw_lookup(name)
        if not address:
            raise LoweringError(f"entry function `{name}` is missing from the compiled module")
        return _ENTRY(address)
