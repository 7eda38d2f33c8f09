"""From a module in the LLVM dialect to callable entry functions.

Where the system lets us load object files (`objects.py`), LLVM's engine makes one and goes, with all that it holds; the file is
kept on disk (`cache.py`), so that the next process that wants the same code need not make it. Elsewhere the engine stays.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Mapping, Sequence

from hotdesk._bindings import ExecutionEngine, ir, make_engine, object_file, packed_entry
from hotdesk.errors import LoweringError
from hotdesk.interruptible import interruptible
from hotdesk.ir.linking import defined_names
from hotdesk.runtime.cache import Cache, key_of, the_cache
from hotdesk.runtime.code.objects import ObjectCode, ObjectError, c_function, is_loadable

_ENTRY = ctypes.CFUNCTYPE(None, ctypes.c_void_p)
_PACKED = (
    "_mlir_"  # the engine makes, for each function, one of this name that takes an array of addresses of arguments
)


class CompiledCode:
    """Compiled code. Keep it as long as its entry functions are called."""

    def __init__(
        self,
        module: ir.Module | Callable[[], ir.Module],
        entries: Sequence[str],
        functions: Mapping[str, int] | None = None,
        *,
        level: int = 3,
        source: str | None = None,
    ) -> None:
        """Compiles a module, or takes its code from the cache; Ctrl-C is not kept waiting by LLVM.

        `functions` are addresses of those that it declares and others define; `level` is LLVM's of optimisation. `source` is all
        that a module depends on that has yet to be made; without it the module itself says so.
        """
        self.object, self._engine, self.kept_as = _code(module, functions or {}, level, source)
        self.called: tuple[object, ...] = ()  # functions of Python's that the code calls, kept as long
        self._entries = {name: self._function(name) for name in entries}

    @classmethod
    def kept(cls, key: str, entries: Sequence[str], functions: Mapping[str, int]) -> CompiledCode | None:
        """The code that is in the cache as `key`, what `kept_as` of another machine was; None if it is not there any more."""
        cache = the_cache() if is_loadable() else None
        try:
            code = None if cache is None else _kept(cache, key, _finder(functions))
        except OSError:
            return None
        if code is None:
            return None
        machine = cls.__new__(cls)
        machine.object, machine._engine, machine.kept_as = code, None, key
        machine._entries = {name: machine._function(name) for name in entries}
        return machine

    def entry(self, name: str) -> Callable[[int], None]:
        """A function of the address of packed arguments: an array with the address of each argument."""
        return self._entries[name]

    def call(self, name: str, *arguments: int) -> None:
        """Calls a function of pointers and `i64`s that is none of the entry functions."""
        values = (ctypes.c_int64 * len(arguments))(*arguments)
        addresses = [ctypes.addressof(values) + 8 * i for i in range(len(arguments))]
        packed = (ctypes.c_void_p * len(arguments))(*addresses)
        self._function(name)(ctypes.addressof(packed))

    def _function(self, name: str) -> Callable[[int], None]:
        if self.object is not None:
            address = self.object.address(_PACKED + name)
        else:
            address = packed_entry(self._engine, name) if self._engine is not None else None
        if not address:
            raise LoweringError(f"entry function `{name}` is missing from the compiled module")
        return _ENTRY(address)


def code_file(
    module: ir.Module | Callable[[], ir.Module],
    functions: Mapping[str, int] | None = None,
    *,
    level: int = 3,
    source: str | None = None,
) -> bytes:
    """The object file of a module, as `CompiledCode` would load it, from the cache where it is there.

    Raises LoweringError where the system does not let LLVM's engine show what it has made.
    """
    cached = the_cache() if is_loadable() else None
    if cached is not None:
        text = source if source is not None else str(module() if callable(module) else module)
        data = cached.read(key_of("code", str(level), text))
        if data is not None:
            return data
    made = module() if callable(module) else module
    _, data = interruptible(lambda: _compiled(made, functions or {}, level), "hotdesk-llvm")
    if data is None:
        raise LoweringError("machine code as a file", expected="Linux on x86-64, with /proc", got="another system")
    return data


def _code(
    module: ir.Module | Callable[[], ir.Module], functions: Mapping[str, int], level: int, source: str | None
) -> tuple[ObjectCode | None, ExecutionEngine | None, str | None]:
    """The code of a module as an object in memory, or where that cannot be, as an engine; and its key in the cache, if it is
    there."""
    kept_on_disk, key = the_cache() if is_loadable() else None, ""
    find = _finder(functions)
    if kept_on_disk is not None:
        text = source if source is not None else str(module() if callable(module) else module)
        key = key_of("code", str(level), text)
        try:
            found = _kept(kept_on_disk, key, find)
        except OSError:  # the system does not let us: the engine may have ways of its own
            kept_on_disk = None
        else:
            if found is not None:
                return found, None, key
    made = module() if callable(module) else module
    engine, data = interruptible(lambda: _compiled(made, functions, level), "hotdesk-llvm")
    if data is None:
        return None, engine, None
    try:
        loaded = ObjectCode(data, find)
    except (ObjectError, OSError):  # code as no test has seen it, or not allowed: the engine has linked it already
        return None, engine, None
    if kept_on_disk is not None:
        kept_on_disk.write(key, data)
    return loaded, None, key or None


def _finder(functions: Mapping[str, int]) -> Callable[[str], int | None]:
    """Where functions are that code declares and does not define."""
    return lambda name: functions.get(name) or c_function(name)


def _kept(cache: Cache, key: str, find: Callable[[str], int | None]) -> ObjectCode | None:
    """The code of an entry; one that cannot be loaded goes. Raises OSError where the system loads none."""
    data = cache.read(key)
    if data is None:
        return None
    try:
        return ObjectCode(data, find)
    except ObjectError:
        cache.drop(key)
        return None


def _compiled(module: ir.Module, functions: Mapping[str, int], level: int) -> tuple[ExecutionEngine, bytes | None]:
    """An engine that has compiled a module, and the object file if that can be loaded."""
    engine = make_engine(module, level)
    for name, address in functions.items():
        engine.raw_register_runtime(name, ctypes.c_void_p(address))
    for name in defined_names(module)[:1]:
        packed_entry(engine, name)  # to ask for a function is what makes it compile
    if not is_loadable():
        return engine, None
    try:
        return engine, object_file(engine)
    except OSError:  # without /proc, or memory for another copy
        return engine, None
