"""Code that all programs of this process call, products and convolutions: compiled for an element type when first called for."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache

from hotdesk._bindings import ir
from hotdesk.ir.linking import declared_names
from hotdesk.kernels.blocks import sweep_name
from hotdesk.kernels.halves import HALVES
from hotdesk.kernels.jobs import telling_name
from hotdesk.kernels.library import convolution_module, half_module, product_module, winograd_module
from hotdesk.kernels.machine import Machine, host
from hotdesk.kernels.parts import PARTS, PARTS_FUNCTIONS, parts_module
from hotdesk.kernels.product import product_name
from hotdesk.kernels.shared import ELEMENTS, shared_name
from hotdesk.kernels.shared_convolution import shared_convolution_name, shared_winograd_name
from hotdesk.runtime.cache import generators
from hotdesk.runtime.code.foreign import ForeignCall, address_of, entered
from hotdesk.runtime.code.jit import CompiledCode, code_file
from hotdesk.runtime.code.threads import serve

_LEVEL = 2  # of optimisation: the code is as fast as at 3, and made in two thirds of the time


class CommonCode:
    """A compiled module whose function `name`, at `address`, programs call; `machine` is lent the threads it works with.

    The module is made only if its code is not kept on disk. `functions` are the addresses of those that it calls.
    """

    def __init__(
        self,
        module: Callable[[Machine, str], ir.Module],
        processor: Machine,
        element: str,
        name: str,
        functions: Mapping[str, int] | None = None,
    ) -> None:
        source = f"{generators()} {processor} {name}"
        self.machine = CompiledCode(lambda: module(processor, element), [], functions, level=_LEVEL, source=source)
        self.address = self.address_of(name)

    def address_of(self, function: str) -> int:
        """The address of a function that the module tells."""
        address = ctypes.c_int64()
        self.machine.call(telling_name(function), ctypes.addressof(address))
        return address.value


def compile_products(processor: Machine, element: str) -> CommonCode:
    """The products of an element type, for a processor."""
    return CommonCode(product_module, processor, element, shared_name(element))


def compile_convolutions(processor: Machine, element: str, products: CommonCode) -> CommonCode:
    """The convolutions of an element type, which call its products: keep these as long."""
    name = shared_convolution_name(element)
    return CommonCode(convolution_module, processor, element, name, _sweep(element, products))


def compile_winograd(processor: Machine, element: str, products: CommonCode) -> CommonCode:
    """The same for convolutions by Winograd's filtering."""
    return CommonCode(winograd_module, processor, element, shared_winograd_name(element), _sweep(element, products))


def compile_halves(processor: Machine, element: str, result: str, products: CommonCode) -> CommonCode:
    """The products of an element type of 16 bits, which call those of f32: keep these as long. `result` is the result's type."""
    functions = {product_name("f32"): products.address_of(product_name("f32"))}
    name = shared_name(element, result)
    return CommonCode(lambda machine, kind: half_module(machine, kind, result), processor, element, name, functions)


def _sweep(element: str, products: CommonCode) -> dict[str, int]:
    return {sweep_name(element): products.address_of(sweep_name(element))}


@dataclass(frozen=True, slots=True)
class CommonModule:
    """A module that programs share, not yet compiled: `source` says all that it depends on, `calls` are functions of others."""

    make: Callable[[], ir.Module]
    source: str
    calls: tuple[str, ...] = ()

    def code_file(self) -> bytes:
        """Its object file for this processor."""
        functions = {name: _products(name.rpartition("_")[2]).address_of(name) for name in self.calls}
        return code_file(self.make, functions, level=_LEVEL, source=self.source)


def common_modules(names: Sequence[str], processor: Machine) -> list[CommonModule]:
    """The modules that define these functions for a processor, each once, and in front of those that call it."""
    found: dict[str, CommonModule] = {}

    def add(module: Callable[[Machine, str], ir.Module], element: str, name: str, calls: tuple[str, ...] = ()) -> None:
        make: Callable[[], ir.Module] = lambda: module(processor, element)  # noqa: E731
        found.setdefault(name, CommonModule(make, f"{generators()} {processor} {name}", calls))

    for name in sorted(names):
        if name in PARTS_FUNCTIONS:
            add(parts_module, "", PARTS)
            continue
        element = next(each for each in ELEMENTS if name.endswith(f"_{each}"))
        add(product_module, element, shared_name(element))
        if name == shared_convolution_name(element):
            add(convolution_module, element, name, (sweep_name(element),))
        if name == shared_winograd_name(element):
            add(winograd_module, element, name, (sweep_name(element),))
    return list(found.values())


def linked(module: ir.Module, entries: Sequence[str], calls: Sequence[ForeignCall] = ()) -> CompiledCode:
    """The machine code of a module in the LLVM dialect, with the products, convolutions and foreign functions that it calls."""
    functions = {call.symbol: entered(call) for call in calls}
    symbols = {symbol: address_of(function) for symbol, function in functions.items()}
    machine = CompiledCode(module, entries, symbols | addresses(common_functions(module)))
    machine.called = tuple(functions.values())
    return machine


def common_functions(module: ir.Module) -> tuple[str, ...]:
    """The products and convolutions that the kernels of a module call."""
    return tuple(name for name in declared_names(module) if name in _COMMON)


def linked_again(key: str, entries: Sequence[str], common: Sequence[str]) -> CompiledCode | None:
    """The same machine code from the cache, where it is `key`; None if it is not there any more."""
    return CompiledCode.kept(key, entries, addresses(common))


def address(name: str) -> int:
    """The address of a function that kernels may call."""
    return _COMMON[name]()


def addresses(names: Sequence[str]) -> dict[str, int]:
    """Where these functions are, compiled for this process."""
    return {name: address(name) for name in names}


@cache
def _parts() -> CommonCode:
    return _kept(CommonCode(parts_module, host(), "", PARTS))


@cache
def _products(element: str) -> CommonCode:
    return _kept(compile_products(host(), element))


@cache
def _halves(element: str, result: str) -> CommonCode:
    return _kept(compile_halves(host(), element, result, _products("f32")))


@cache
def _convolutions(element: str) -> CommonCode:
    return _kept(compile_convolutions(host(), element, _products(element)))


@cache
def _winograd(element: str) -> CommonCode:
    return _kept(compile_winograd(host(), element, _products(element)))


def _kept(code: CommonCode) -> CommonCode:
    """The code, with the threads of this process."""
    serve(code.machine)
    ctypes.pythonapi.Py_IncRef(ctypes.py_object(code))  # programs call it until the process ends
    return code


def _by_name() -> dict[str, Callable[[], int]]:
    found: dict[str, Callable[[], int]] = {
        name: lambda name=name: _parts().address_of(name) for name in PARTS_FUNCTIONS
    }
    for element in ELEMENTS:
        found[shared_name(element)] = lambda element=element: _products(element).address
        found[shared_convolution_name(element)] = lambda element=element: _convolutions(element).address
        found[shared_winograd_name(element)] = lambda element=element: _winograd(element).address
    for element, result in [(half, each) for half in HALVES for each in (half, "f32")]:
        found[shared_name(element, result)] = lambda element=element, result=result: _halves(element, result).address
    return found


_COMMON = _by_name()
"""The functions that kernels may call, and what finds their addresses."""
