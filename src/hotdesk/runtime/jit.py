"""From a module in the LLVM dialect to callable entry functions."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Mapping, Sequence

from hotdesk._bindings import ExecutionEngine, ir, make_engine, packed_entry
from hotdesk.errors import LoweringError
from hotdesk.runtime.interruptible import interruptible

_ENTRY = ctypes.CFUNCTYPE(None, ctypes.c_void_p)


class Machine:
    """Compiled code. Keep it as long as its entry functions are called."""

    def __init__(
        self, module: ir.Module, entries: Sequence[str], functions: Mapping[str, int] | None = None, *, level: int = 3
    ) -> None:
        """Compiles a module; Ctrl-C is not kept waiting by LLVM.

        `functions` are addresses of those that it declares and others define; `level` is LLVM's of optimisation.
        """
        self._engine, addresses = interruptible(lambda: _compiled(module, entries, functions or {}, level))
        self._entries = {name: _function(name, address) for name, address in addresses.items()}

    def entry(self, name: str) -> Callable[[int], None]:
        """A function of the address of packed arguments: an array with the address of each argument."""
        return self._entries[name]

    def call(self, name: str, *arguments: int) -> None:
        """Calls a function of pointers and `i64`s that is none of the entry functions."""
        values = (ctypes.c_int64 * len(arguments))(*arguments)
        addresses = [ctypes.addressof(values) + 8 * i for i in range(len(arguments))]
        packed = (ctypes.c_void_p * len(arguments))(*addresses)
        address = interruptible(lambda: packed_entry(self._engine, name))
        _function(name, address)(ctypes.addressof(packed))


def _compiled(
    module: ir.Module, entries: Sequence[str], functions: Mapping[str, int], level: int
) -> tuple[ExecutionEngine, dict[str, int | None]]:
    """An engine and the addresses of entry functions; to ask for these is what makes it compile."""
    engine = make_engine(module, level)
    for name, address in functions.items():
        engine.raw_register_runtime(name, ctypes.c_void_p(address))
    return engine, {name: packed_entry(engine, name) for name in entries}


def _function(name: str, address: int | None) -> Callable[[int], None]:
    if not address:
        raise LoweringError(f"entry function `{name}` is missing from the compiled module")
    return _ENTRY(address)
