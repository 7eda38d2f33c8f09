"""Code that all programs of this process call, products and convolutions: compiled for an element type when first called for."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from itertools import product

from hotdesk._bindings import ir
from hotdesk.elements import HALVES, summed_in
from hotdesk.ir.linking import declared_names
from hotdesk.kernels.blocks import sweep_name
from hotdesk.kernels.jobs import address_name
from hotdesk.kernels.library import convolution_module, half_module, pairs_module, product_module, winograd_module
from hotdesk.kernels.machine import Machine, host
from hotdesk.kernels.parts import PARTS, PARTS_FUNCTIONS, parts_module
from hotdesk.kernels.product import product_name
from hotdesk.kernels.shared import ELEMENTS, shared_name
from hotdesk.kernels.shared_convolution import shared_convolution_name, shared_winograd_name
from hotdesk.runtime.cache import Cache, generators
from hotdesk.runtime.code.compiling_process import CompilingProcess, running, serve_names
from hotdesk.runtime.code.foreign import ForeignCall, address_of, entered
from hotdesk.runtime.code.jit import CompiledCode, code_file, is_kept
from hotdesk.runtime.code.objects import is_loadable
from hotdesk.runtime.code.threads import serve

PRODUCTS = (shared_name("f32"), PARTS)
"""Functions that nearly all programs call."""
CONVOLUTIONS = (shared_convolution_name("f32"), shared_winograd_name("f32"))
"""Functions that programs with convolutions call."""
_LEVEL = 2  # of optimisation: the code is as fast as at 3, and made in two thirds of the time
_START = "import hotdesk.runtime.code.products as products; products.serve_modules()"


@dataclass(frozen=True, slots=True)
class Common:
    """A module that programs share.

    Attributes:
        name: of its function that programs call; of the first, if there are several.
        make: makes it for a processor.
        calls: the functions that it calls, by the names of the modules they are in.
        half: the element type of products of 16-bit floats: they call nothing where the processor multiplies tiles of it, and
            `sweep_name` of it, too, where that sums pairs.
    """

    name: str
    make: Callable[[Machine], ir.Module]
    calls: Mapping[str, tuple[str, ...]] = field(default_factory=dict[str, tuple[str, ...]])
    half: str = ""

    def called(self, processor: Machine) -> Mapping[str, tuple[str, ...]]:
        """The functions that it calls on a processor, by the names of the modules they are in."""
        if self.multiplies_tiles(processor):
            return {}
        if not self.half or not processor.sums_pairs(self.half):
            return self.calls
        return {**self.calls, sweep_name(self.half): (sweep_name(self.half),)}

    def multiplies_tiles(self, processor: Machine) -> bool:
        """Whether its products are those of tiles on a processor."""
        return bool(self.half) and processor.multiplies_tiles(self.half)

    def source(self, processor: Machine) -> str:
        """All that the module depends on."""
        return f"{generators()} {processor} {self.name}"


def _defined() -> dict[str, Common]:
    """The module of each function that kernels may call."""
    found: dict[str, Common] = {}

    def add(
        name: str,
        make: Callable[..., ir.Module],
        *types: str,
        calls: tuple[str, tuple[str, ...]] | None = None,
        half: str = "",
    ) -> None:
        found[name] = Common(name, lambda processor: make(processor, *types), dict([calls] if calls else ()), half)

    add(PARTS, parts_module)
    found |= dict.fromkeys(PARTS_FUNCTIONS, found[PARTS])
    for element in ELEMENTS:
        add(shared_name(element), product_module, element)
    add(sweep_name("bf16"), pairs_module, "bf16")
    for half, result in product(HALVES, ("", "f32")):
        calls = shared_name("f32"), (product_name("f32"), sweep_name("f32"))
        add(shared_name(half, result), half_module, half, result or half, calls=calls, half=half)
    for image, result in (*((each, each) for each in (*ELEMENTS, *HALVES)), *((half, "f32") for half in HALVES)):
        calls = shared_name(summed_in(image)), (sweep_name(summed_in(image)),)
        add(shared_convolution_name(image, result), convolution_module, image, result, calls=calls)
        add(shared_winograd_name(image, result), winograd_module, image, result, calls=calls)
    return found


_COMMON = _defined()


class CommonCode:
    """A compiled module that programs share; `machine` is lent the threads it works with, `address` is that of its function.

    The module is made only if its code is not kept on disk. `modules` finds the code of those that it calls: keep it as long.
    """

    def __init__(
        self, common: Common, processor: Machine, modules: Callable[[str], CommonCode], cache: Cache | None = None
    ) -> None:
        called = {modules(name): functions for name, functions in common.called(processor).items()}
        addresses = {
            function: code.address_of(function) for code, functions in called.items() for function in functions
        }
        make, source = (lambda: common.make(processor)), common.source(processor)
        self.called = tuple(called)
        self.machine = CompiledCode(make, [], addresses, level=_LEVEL, source=source, cache=cache)
        self.address = self.address_of(common.name)

    def address_of(self, function: str) -> int:
        """The address of a function that the module tells."""
        address = ctypes.c_int64()
        self.machine.call(address_name(function), ctypes.addressof(address))
        return address.value


def common_code(function: str, processor: Machine, modules: Callable[[str], CommonCode] | None = None) -> CommonCode:
    """The code that a function is in, for a processor; `modules` finds that of the modules it calls, or else it is made."""
    return CommonCode(_COMMON[function], processor, modules or (lambda name: common_code(name, processor)))


@dataclass(frozen=True, slots=True)
class CommonModule:
    """A module that programs share, for a processor, not yet compiled."""

    common: Common
    processor: Machine

    def make(self) -> ir.Module:
        return self.common.make(self.processor)

    def code_file(self) -> bytes:
        """Its object file for this processor."""
        called = [name for names in self.common.called(self.processor).values() for name in names]
        return code_file(self.make, called, level=_LEVEL, source=self.common.source(self.processor))


def common_modules(names: Sequence[str], processor: Machine) -> list[CommonModule]:
    """The modules that define these functions for a processor, each once, and in front of those that call it."""
    found: dict[str, CommonModule] = {}
    for name in sorted(names):
        common = _COMMON[name]
        for each in (*(_COMMON[module] for module in common.called(processor)), common):
            found.setdefault(each.name, CommonModule(each, processor))
    return list(found.values())


def use_tiles(names: Sequence[str], processor: Machine) -> bool:
    """Whether any of these functions multiplies tiles on a processor."""
    return any(_COMMON[name].multiplies_tiles(processor) for name in names)


def linked(module: ir.Module, entries: Sequence[str], calls: Sequence[ForeignCall] = ()) -> CompiledCode:
    """The machine code of a module in the LLVM dialect, with the products, convolutions and foreign functions that it calls."""
    functions = {call.symbol: entered(call) for call in calls}
    symbols = {symbol: address_of(function) for symbol, function in functions.items()}
    common = common_functions(module)
    with _compiling(common):
        machine = CompiledCode(module, entries, _Addresses(common, symbols))
    machine.called = tuple(functions.values())
    return machine


class _Addresses(Mapping[str, int]):
    """Where functions are: common ones are compiled, or waited for, when they are asked for."""

    def __init__(self, common: Sequence[str], others: Mapping[str, int]) -> None:
        self._common = dict.fromkeys(common)
        self._others = others

    def __getitem__(self, name: str) -> int:
        return address(name) if name in self._common else self._others[name]

    def __iter__(self) -> Iterator[str]:
        yield from self._common
        yield from self._others

    def __len__(self) -> int:
        return len(self._common) + len(self._others)


def common_functions(module: ir.Module) -> tuple[str, ...]:
    """The products and convolutions that the kernels of a module call."""
    return tuple(name for name in declared_names(module) if name in _COMMON)


def linked_again(key: str, entries: Sequence[str], common: Sequence[str]) -> CompiledCode | None:
    """The same machine code from the cache, where it is `key`; None if it is not there any more."""
    return CompiledCode.kept(key, entries, addresses(common))


def address(name: str) -> int:
    """The address of a function that kernels may call."""
    return _code(_COMMON[name].name).address_of(name)


def addresses(names: Sequence[str]) -> dict[str, int]:
    """Where these functions are, compiled for this process."""
    return {name: address(name) for name in names}


_codes: dict[str, CommonCode] = {}


def _code(name: str) -> CommonCode:
    """The code of a module for this process, by its name, with the threads of the process."""
    if name not in _codes:
        common = _COMMON[name]
        for module in common.called(host()):
            _code(module)
        process = next((each for each in reversed(running) if each.wait(name)), None)
        code = CommonCode(common, host(), _code, None if process is None else process.cache)
        serve(code.machine)
        ctypes.pythonapi.Py_IncRef(ctypes.py_object(code))  # programs call it until the process ends
        _codes.setdefault(name, code)
    return _codes[name]


def compile_ahead(functions: Sequence[str]) -> None:
    """Has the modules of functions compiled by a process of its own, in this order, while this one goes on.

    Those that are neither loaded nor in the cache. What no such process compiles is compiled when it is called.
    """
    wanted = [
        name
        for name in _modules_of(functions)
        if name not in _codes and not is_kept(_COMMON[name].source(host()), _LEVEL)
    ]
    if not wanted or not is_loadable():
        return
    if not is_compiling():
        with suppress(OSError):
            CompilingProcess(_START)
    _ask(wanted)


def _modules_of(functions: Sequence[str]) -> list[str]:
    """The modules of functions, each once, and behind those that it calls."""
    found: dict[str, None] = {}
    for common in (_COMMON[function] for function in functions):
        found |= dict.fromkeys((*common.called(host()), common.name))
    return list(found)


def is_compiling() -> bool:
    """Whether a process compiles ahead, and may be asked for more."""
    return bool(running) and running[-1].is_listening


def _ask(names: Sequence[str]) -> None:
    if is_compiling():
        running[-1].ask(names)


@contextmanager
def _compiling(functions: Sequence[str]) -> Generator[None]:
    """While this process compiles a program, another may compile what that calls; then it may end."""
    _ask([name for name in _modules_of(functions) if name not in _codes])
    try:
        yield
    finally:
        for process in list(running):
            process.finish()


def serve_modules() -> None:
    """Compiles what `compile_ahead` asks for; this is what its process does."""
    serve_names(lambda name: CommonModule(_COMMON[name], host()).code_file())
