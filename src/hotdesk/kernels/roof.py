"""Code that does nothing but fused multiply-adds on registers, as fast as the machine can: what kernels are measured against."""

from __future__ import annotations

from hotdesk._bindings import ir
from hotdesk.elements import HALVES, summed_in
from hotdesk.ir.context import make_context, run_mlir_passes
from hotdesk.kernels.library import PASSES
from hotdesk.kernels.machine import Machine
from hotdesk.kernels.shared import ELEMENTS
from hotdesk.kernels.vectors import VectorBuilder

_SUMS = 12  # in flight at once: more than a processor's units times the steps that each takes


def roof_name(element: str) -> str:
    return f"hotdesk_roof_{element}"


def roof_types(machine: Machine) -> tuple[str, ...]:
    """The element types whose products a machine has instructions for."""
    return (*ELEMENTS, *(half for half in HALVES if machine.sums_pairs(half)))


def operations_per_step(machine: Machine, element: str) -> int:
    return 2 * _SUMS * machine.lanes(element)


def roof_elements(machine: Machine, element: str) -> int:
    """How many elements the function stores at its end."""
    return _SUMS * machine.lanes(element)


def roof_module(machine: Machine) -> ir.Module:
    """A module in the LLVM dialect with a function of (steps, address of the result) for each of `roof_types`."""
    with make_context(), ir.Location.unknown():
        module = ir.Module.parse("\n".join(_function(machine, element) for element in roof_types(machine)))
        run_mlir_passes(module, ",".join(PASSES), verify_each=False)
    return module


def _function(machine: Machine, element: str) -> str:
    f = VectorBuilder(machine, summed_in(element))
    n, to = f.number("n"), f.pointer("to")
    factor = f.constant("dense<0.999>", f.vector)

    def step(_: object, sums: list[str]) -> list[str]:
        if element in HALVES:
            return [f.add_pairs(factor, factor, value) for value in sums]
        return [f.multiply_add(value, factor, factor) for value in sums]

    for i, value in enumerate(f.carry(0, n, 1, [f.zeros()] * _SUMS, step)):
        f.store_vector(value, to, i * f.lanes)
    return f.function(roof_name(element))
