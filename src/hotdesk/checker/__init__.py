"""The memory checker: an interpreter of programs on memrefs in which every byte knows who allocated, freed and wrote it.

    report = check_module(module, "main", [x, y])

Read `check` first, then `report` (what is told) and `interpreter` (how a function is made ready and run); `dialects` has a file
for each dialect. What a program runs on: `buffers` (allocations, and memrefs as views of them), `memory` (allocating, freeing,
reading, writing), `arenas` (buffers that take turns), `races`, `overlaps`, `values`. What it is called with: `parameters`,
`arguments`. What attributes say is in `attributes`; `findings` collects faults.
Structured ops become `linalg.generic` (`expansions`) and run by whole arrays (`iteration`, `reductions`).

docs/checker.md lists what is told, and what is not.
"""

from hotdesk.checker.check import check_module, interpreter_for, run
from hotdesk.checker.interpreter import Settings
from hotdesk.checker.report import BufferRecord, CheckReport, Fault, FaultKind, Result, Traffic

__all__ = [
    "BufferRecord",
    "CheckReport",
    "Fault",
    "FaultKind",
    "Result",
    "Settings",
    "Traffic",
    "check_module",
    "interpreter_for",
    "run",
]
