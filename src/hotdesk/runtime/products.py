"""Products that all programs of this process call: compiled once for each element type, when a program first calls one."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from functools import cache

from hotdesk._bindings import ir
from hotdesk.ir.linking import declared_names
from hotdesk.kernels.library import SHARED, product_module
from hotdesk.kernels.machine import host
from hotdesk.kernels.shared import telling_name
from hotdesk.runtime.jit import Machine
from hotdesk.runtime.threads import serve

_LEVEL = 2  # of optimisation: the code is as fast as at 3, and made in two thirds of the time


class Products:
    """The products of an element type, compiled; `pool` is what they share their work with."""

    def __init__(self, module: ir.Module, element: str) -> None:
        self.machine = Machine(module, [], level=_LEVEL)
        address = ctypes.c_int64()
        self.machine.call(telling_name(element), ctypes.addressof(address))
        self.address = address.value


def linked(module: ir.Module, entries: Sequence[str]) -> Machine:
    """The machine code of a module in the LLVM dialect, with the products that its kernels call."""
    functions = {name: _products(SHARED[name]).address for name in declared_names(module) if name in SHARED}
    return Machine(module, entries, functions)


@cache
def _products(element: str) -> Products:
    products = Products(product_module(host(), element), element)
    serve(products.machine)
    ctypes.pythonapi.Py_IncRef(ctypes.py_object(products))  # programs call its code until the process ends
    return products
