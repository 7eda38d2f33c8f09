"""Code that does nothing but fused multiply-adds on registers, as fast as the machine can: what kernels are measured against."""

from __future__ import annotations

from hotdesk._bindings import ir
from hotdesk.elements import HALVES, summed_in
from hotdesk.ir.context import make_context, run_mlir_passes
from hotdesk.kernels.library import PASSES
from hotdesk.kernels.machine import Machine
from hotdesk.kernels.shared import ELEMENTS
from hotdesk.kernels.tiles import CONFIGURE, LEFT, RIGHT, SLAB, SUMS, TILE_DEEP, TILE_ROWS, configure_function
from hotdesk.kernels.vectors import VectorBuilder

_SUMS = 12  # in flight at once: more than a processor's units times the steps that each takes


def roof_name(element: str) -> str:
    return f"hotdesk_roof_{element}"


def roof_types(machine: Machine) -> tuple[str, ...]:
    """The element types whose products a machine has instructions for."""
    return (*ELEMENTS, *(half for half in HALVES if machine.sums_pairs(half)))


def operations_per_step(machine: Machine, element: str) -> int:
    if machine.multiplies_tiles(element):
        return 2 * len(SUMS) * TILE_ROWS * TILE_ROWS * TILE_DEEP
    return 2 * _SUMS * machine.lanes(element)


def roof_elements(machine: Machine, element: str) -> int:
    """How many elements the function stores at its end."""
    if machine.multiplies_tiles(element):
        return len(SUMS) * TILE_ROWS * TILE_ROWS
    return _SUMS * machine.lanes(element)


def roof_module(machine: Machine) -> ir.Module:
    """A module in the LLVM dialect with a function of (steps, address of the result) for each of `roof_types`."""
    with make_context(), ir.Location.unknown():
        texts = [_function(machine, element) for element in roof_types(machine)]
        if any(machine.multiplies_tiles(element) for element in roof_types(machine)):
            texts.append(configure_function(machine))
        module = ir.Module.parse("\n".join(texts))
        run_mlir_passes(module, ",".join(PASSES), verify_each=False)
    return module


def _function(machine: Machine, element: str) -> str:
    if machine.multiplies_tiles(element):
        return _tiles_function(machine, element)
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


def _tiles_function(machine: Machine, element: str) -> str:
    """The same of tiles, which hold zeros."""
    f = VectorBuilder(machine, "f32")
    n, to = f.number("n"), f.pointer("to")
    f.call_local(CONFIGURE, [(SLAB, "index")])
    with f.loop(0, n):
        for tile in SUMS:
            f.multiply_tiles(tile, LEFT[0], RIGHT[0])
    for i, tile in enumerate(SUMS):
        f.store_tile(tile, f.place(to, i * TILE_ROWS * TILE_ROWS, 4), 4 * TILE_ROWS)
    f.release_tiles()
    return f.function(roof_name(element))
