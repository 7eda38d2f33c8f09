"""Machine code that all programs of a process have in common: products and convolutions, and the sharing of work among threads.

Its text depends on the machine and the element type alone, so that a process compiles it once, whatever number of programs and
shapes it has.
"""

from __future__ import annotations

from hotdesk._bindings import ir
from hotdesk.elements import summed_in
from hotdesk.ir.context import make_context, run_mlir_passes
from hotdesk.ir.linking import define
from hotdesk.kernels.blocks import SWEEP_ARGUMENTS, kinds, sweep_name
from hotdesk.kernels.convolution import convolution_functions
from hotdesk.kernels.halves import pair_functions
from hotdesk.kernels.machine import Machine
from hotdesk.kernels.shared import batch_functions, half_batch_functions, sharing_function, told
from hotdesk.kernels.shared_convolution import sharing_convolution, sharing_winograd
from hotdesk.kernels.sharing import SHARING
from hotdesk.kernels.winograd import winograd_functions

PASSES = (
    "expand-strided-metadata",
    "convert-scf-to-cf",
    "convert-vector-to-llvm",
    "convert-math-to-llvm",
    "convert-arith-to-llvm",
    "convert-index-to-llvm",
    "finalize-memref-to-llvm",
    "convert-func-to-llvm{use-bare-ptr-memref-call-conv=1}",
    "convert-cf-to-llvm",
    "canonicalize{region-simplify=disabled}",
    "cse",
    "reconcile-unrealized-casts",
)
"""MLIR's passes from functions of vectors to the LLVM dialect."""


def product_module(machine: Machine, element: str) -> ir.Module:
    """A module in the LLVM dialect that defines the products of a type for a machine, and what shares them out."""
    return _module(batch_functions(machine, element), sharing_function(machine, element))


def half_module(machine: Machine, element: str, result: str) -> ir.Module:
    """The same for a type of 16 bits; it calls `product_name` of f32, and `sweep_name` of that or of pairs."""
    return _module(half_batch_functions(machine, element, result), sharing_function(machine, element, result))


def pairs_module(machine: Machine, element: str) -> ir.Module:
    """The same for `sweep_name` of pairs of 16-bit floats, which their products call."""
    return _module(pair_functions(machine, element), told(sweep_name(element), SWEEP_ARGUMENTS, summed_in(element)))


def convolution_module(machine: Machine, image: str, result: str) -> ir.Module:
    """The same for convolutions of a type with a result of one; it calls `sweep_name` of their sums' type, which the module of
    products defines."""
    return _module(convolution_functions(machine, image, result), sharing_convolution(machine, image, result))


def winograd_module(machine: Machine, image: str, result: str) -> ir.Module:
    """The same for convolutions by Winograd's filtering; it calls `sweep_name` too."""
    element = summed_in(image)
    sweep = f"func.func private @{sweep_name(element)}({', '.join(kinds(SWEEP_ARGUMENTS, element))})\n"
    return _module(sweep + winograd_functions(machine, image, result), sharing_winograd(machine, image, result))


def _module(vectors: str, sharing: str) -> ir.Module:
    """Functions of vectors, lowered, and those in the LLVM dialect that share out what they compute."""
    with make_context(), ir.Location.unknown():
        module = ir.Module.parse(vectors)
        run_mlir_passes(module, ",".join(PASSES), verify_each=False)
        define(module, SHARING + sharing)
    return module
