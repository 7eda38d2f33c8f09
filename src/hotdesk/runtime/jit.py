"""From a module in the LLVM dialect to callable entry functions."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Sequence
from pathlib import Path

import scipy_openblas32

from hotdesk._bindings import ExecutionEngine, ir
from hotdesk.errors import LoweringError

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


class Machine:
    """Compiled code. Keep it as long as its entry functions are called."""

    def __init__(self, module: ir.Module, entries: Sequence[str]) -> None:
        """Compiles a module; the engine compiles lazily, so asking for the entry functions is what does the work."""
        with module.context:
            self._engine = ExecutionEngine(module, opt_level=3, shared_libs=[blas_library()])
        self._entries = {name: self._lookup(name) for name in entries}

    def entry(self, name: str) -> Callable[[int], None]:
        """A function of the address of packed arguments: an array with the address of each argument."""
        return self._entries[name]

    def call(self, name: str, *arguments: int) -> None:
        """Calls a function of pointers and `i64`s that is none of the entry functions."""
        values = (ctypes.c_int64 * len(arguments))(*arguments)
        addresses = [ctypes.addressof(values) + 8 * i for i in range(len(arguments))]
        packed = (ctypes.c_void_p * len(arguments))(*addresses)
        self._lookup(name)(ctypes.addressof(packed))

    def _lookup(self, name: str) -> Callable[[int], None]:
        address = self._engine.raw_lookup(name)
        if not address:
            raise LoweringError(f"entry function `{name}` is missing from the compiled module")
        return _ENTRY(address)
