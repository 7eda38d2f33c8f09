"""From a module in the LLVM dialect to callable entry functions."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Mapping, Sequence

from hotdesk._bindings import ExecutionEngine, ir
from hotdesk.errors import LoweringError

_ENTRY = ctypes.CFUNCTYPE(None, ctypes.c_void_p)


class Machine:
    """Compiled code. Keep it as long as its entry functions are called."""

    def __init__(
        self, module: ir.Module, entries: Sequence[str], functions: Mapping[str, int] | None = None, *, level: int = 3
    ) -> None:
        """Compiles a module; the engine compiles lazily, so asking for the entry functions is what does the work.

        `functions` are addresses of those that it declares and others define; `level` is LLVM's of optimisation.
        """
        with module.context:
            self._engine = ExecutionEngine(module, opt_level=level)
        for name, address in (functions or {}).items():
            self._engine.raw_register_runtime(name, ctypes.c_void_p(address))
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
