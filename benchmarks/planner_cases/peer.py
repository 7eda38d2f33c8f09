"""The planner in torch-mlir's wheel on a problem of ours, as a function of allocations, uses and deallocations."""

from __future__ import annotations

import re
import time

from hotdesk._bindings import PassManager, ir
from hotdesk.planning import Problem

PASS = "static-memory-planner-analysis{algorithm=best-fit}"
MOST = 5_000
"""Buffers up to which the pass is asked: the text, and what the pass does with it, grow faster than the problem."""


def best_fit(problem: Problem) -> tuple[int, float]:
    """The arena in bytes, and processor seconds of the pass without parsing and printing.

    Buffers of no size are left out. Raises ValueError where the pass leaves something else than one arena.
    """
    with ir.Context(), ir.Location.unknown():
        module = ir.Module.parse(_text(problem))
        manager = PassManager.parse(f"builtin.module(func.func({PASS}))")
        started = time.process_time()
        manager.run(module.operation)
        seconds = time.process_time() - started
        arenas = re.findall(r"memref\.alloc\(\).*: memref<(\d+)xi8>", str(module))
    if len(arenas) != 1 or not arenas:
        raise ValueError(f"expected one arena, got {len(arenas)} allocations")
    return int(arenas[0]), seconds


def _text(problem: Problem) -> str:
    """Each buffer is allocated and written at its first step, and freed after its last."""
    events = [(b.upper, 0, i) for i, b in enumerate(problem.buffers) if b.size]
    events += [(b.lower, 1, i) for i, b in enumerate(problem.buffers) if b.size]
    lines = ["func.func @main() {", "%zero = arith.constant 0 : i8", "%first = arith.constant 0 : index"]
    for _, starts, i in sorted(events):
        kind = f"memref<{problem.buffers[i].footprint}xi8>"
        if starts:
            lines.append(f"%b{i} = memref.alloc() : {kind}")
            lines.append(f"memref.store %zero, %b{i}[%first] : {kind}")
        else:
            lines.append(f"memref.dealloc %b{i} : {kind}")
    return "\n".join([*lines, "return", "}"])
