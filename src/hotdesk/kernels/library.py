"""Machine code that all programs of a process have in common: products, and the sharing of work among threads.

Its text depends on the machine and the element type alone, so that a process compiles it once, whatever number of programs and
shapes it has.
"""

from __future__ import annotations

from hotdesk._bindings import ir
from hotdesk.ir.context import make_context, run_mlir_passes
from hotdesk.ir.linking import define
from hotdesk.kernels.machine import Machine
from hotdesk.kernels.shared import ELEMENTS, batch_functions, shared_name, sharing_function
from hotdesk.kernels.sharing import SHARING

SHARED = {shared_name(element): element for element in ELEMENTS}
"""The functions that kernels may call, with their element type."""

PASSES = (
    "canonicalize",
    "cse",
    "expand-strided-metadata",
    "convert-scf-to-cf",
    "convert-vector-to-llvm",
    "convert-math-to-llvm",
    "convert-arith-to-llvm",
    "convert-index-to-llvm",
    "finalize-memref-to-llvm",
    "convert-func-to-llvm{use-bare-ptr-memref-call-conv=1}",
    "convert-cf-to-llvm",
    "canonicalize",
    "cse",
    "reconcile-unrealized-casts",
)
"""MLIR's passes from functions of vectors to the LLVM dialect."""


def product_module(machine: Machine, element: str) -> ir.Module:
    """A module in the LLVM dialect that defines the products of a type for a machine, and what shares them out."""
    with make_context(), ir.Location.unknown():
        module = ir.Module.parse(batch_functions(machine, element))
        run_mlir_passes(module, ",".join(PASSES))
        define(module, SHARING + sharing_function(machine, element))
    return module
