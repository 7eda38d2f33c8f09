"""From a module in the LLVM dialect to callable entry functions.

Where the system lets us load object files (`objects.py`), LLVM's engine makes one and goes, with all that it holds; the file is
kept on disk (`cache.py`), so that the next process that wants the same code need not make it. Elsewhere the engine stays.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import suppress
from typing import cast

from hotdesk._bindings import ExecutionEngine, ir, make_engine, object_file, packed_entry
from hotdesk.errors import LoweringError
from hotdesk.ir.linking import defined_names
from hotdesk.ir.locations import python_line
from hotdesk.ir.walking import nested_ops
from hotdesk.python.interruptible import interruptible
from hotdesk.runtime.cache import Cache, key_of, the_cache
from hotdesk.runtime.code.objects import ENTRY, PACKED, ObjectCode, ObjectError, c_function, is_loadable

_KIND = "position-independent code"


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
        cache: Cache | None = None,
    ) -> None:
        """Compiles a module, or takes its code from the cache; Ctrl-C is not kept waiting by LLVM.

        `functions` are addresses of those that it declares and others define, asked for when the module has been compiled;
        `level` is LLVM's of optimisation. `source` is all that a module depends on that has yet to be made; without it the module
        itself says so. `cache` is the one to look into; by default that which the environment asks for.
        """
        functions = functions or {}
        self.object, self.kept_as = _loaded(module, functions, level, source, cache or the_cache())
        made = module() if self.object is None and callable(module) else module
        self._engine = None if self.object is not None else _engine(cast("ir.Module", made), functions, level)
        self.called: tuple[object, ...] = ()  # functions of Python's that the code calls, kept as long
        self._entries = {name: ENTRY(self.packed(name)) for name in entries}

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
        machine._entries = {name: ENTRY(machine.packed(name)) for name in entries}
        return machine

    def entry(self, name: str) -> Callable[[int], None]:
        """A function of the address of packed arguments: an array with the address of each argument."""
        return self._entries[name]

    def call(self, name: str, *arguments: int) -> None:
        """Calls a function of pointers and `i64`s that is none of the entry functions."""
        values = (ctypes.c_int64 * len(arguments))(*arguments)
        addresses = [ctypes.addressof(values) + 8 * i for i in range(len(arguments))]
        packed = (ctypes.c_void_p * len(arguments))(*addresses)
        ENTRY(self.packed(name))(ctypes.addressof(packed))

    def packed(self, name: str) -> int:
        """The address of the function that takes an array with the address of each argument."""
        if self.object is not None:
            address = self.object.address(PACKED + name)
        else:
            address = packed_entry(self._engine, name) if self._engine is not None else None
        if not address:
            raise LoweringError(f"entry function `{name}` is missing from the compiled module")
        return address


def code_file(
    module: ir.Module | Callable[[], ir.Module],
    functions: Collection[str] = (),
    *,
    level: int = 3,
    source: str | None = None,
) -> bytes:
    """The object file of a module, as `CompiledCode` would load it, which calls these functions; from the cache if it is there,
    and else kept there.

    Raises LoweringError where the system does not let LLVM's engine show what it has made.
    """
    cache = the_cache() if is_loadable() else None
    key = "" if cache is None else _key(module, level, source)
    data = None if cache is None else cache.read(key)
    if data is None and is_loadable():
        with suppress(OSError):
            data = _object_file(module() if callable(module) else module, functions, level)
    if data is None:
        raise LoweringError("machine code as a file", expected="Linux on x86-64, with /proc", got="another system")
    if cache is not None:
        cache.write(key, data)
    return data


def is_kept(source: str, level: int) -> bool:
    """Whether the cache has the code of a module that depends on `source`."""
    cache = the_cache() if is_loadable() else None
    return cache is not None and cache.has(key_of(_KIND, str(level), source))


def _key(module: ir.Module | Callable[[], ir.Module], level: int, source: str | None) -> str:
    """What the code of a module is in the cache as."""
    text = source if source is not None else str(module() if callable(module) else module)
    return key_of(_KIND, str(level), text)


def _loaded(
    module: ir.Module | Callable[[], ir.Module],
    functions: Mapping[str, int],
    level: int,
    source: str | None,
    cache: Cache | None,
) -> tuple[ObjectCode | None, str | None]:
    """The code of a module as an object in memory, and its key in the cache if it is there. None where that cannot be: code as no
    test has seen it, or a system that does not let us."""
    if not is_loadable():
        return None, None
    key = "" if cache is None else _key(module, level, source)
    find = _finder(functions)
    try:
        found = None if cache is None else _kept(cache, key, find)
        if found is not None:
            return found, key
        data = _object_file(module() if callable(module) else module, functions, level)
        loaded = ObjectCode(data, find)
    except (ObjectError, OSError):
        return None, None
    if cache is not None:
        cache.write(key, data)
    return loaded, key or None


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


def _object_file(module: ir.Module, functions: Collection[str], level: int) -> bytes:
    """The object file of a module that calls these functions, wherever they are; OSError if the system does not show it."""
    nowhere = c_function("abort")  # the engine links what it compiles, and what it has linked is never run
    engine = _engine(module, dict.fromkeys(functions, nowhere or 0), level)
    return object_file(engine)


def _not_translated(module: ir.Module) -> LoweringError:
    """What LLVM has refused: an op that no pass has lowered, as far as there is one."""
    plain = ("llvm.", "builtin.module")
    left = next((op for op in nested_ops(module.operation) if not op.name.startswith(plain)), None)
    if left is None:
        return LoweringError("LLVM does not take the program")
    return LoweringError(
        "an op has no machine code",
        expected="what MLIR lowers to LLVM",
        got=left.name,
        where=python_line(left.location),
    )


def _engine(module: ir.Module, functions: Mapping[str, int], level: int) -> ExecutionEngine:
    """An engine that has compiled a module."""

    def compiled() -> ExecutionEngine:
        try:
            engine = make_engine(module, level)
        except RuntimeError as error:
            raise _not_translated(module) from error
        for name, address in functions.items():
            engine.raw_register_runtime(name, ctypes.c_void_p(address))
        for name in defined_names(module)[:1]:
            packed_entry(engine, name)  # to ask for a function is what makes it compile
        return engine

    return interruptible(compiled, "hotdesk-llvm")
