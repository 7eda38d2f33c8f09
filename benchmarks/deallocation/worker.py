"""The child process: each line on standard input is a request, each answer a line of JSON.

{"start": how, "text": …}                                          ->  {"text": a module on memrefs}
{"side": name, "text": …, "figures": "order" | "run" | "", "symbols": {…}, "sizes": […], "compared": bool}
                                                                   ->  {"seconds": …, "wall": …, "figures": …}

A request that the passes refuse is answered with {"error": "HD302 …"}.
"""

from __future__ import annotations

import gc
import json
import sys
import time
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from benchmarks.bufferization.simulate import activations_of, peak_of
from benchmarks.bufferization.worker import parse_module
from benchmarks.deallocation.checks import asked, copies, deallocations, mark_given
from benchmarks.deallocation.rows import Figures
from benchmarks.deallocation.running import Ran, run_program, same_results
from benchmarks.deallocation.sides import SIDES
from benchmarks.deallocation.starts import started
from hotdesk._bindings import ir
from hotdesk.errors import HotdeskError
from hotdesk.passes.textual import parse_pipeline


def free(side: str, text: str) -> tuple[ir.Module, float, float]:
    """One run of a side: the module it leaves, seconds of processor time, and seconds on the wall."""
    module = parse_module(text)
    mark_given(module)
    pipeline = parse_pipeline(f"builtin.module({SIDES[side]})")
    wall, processor = time.perf_counter(), time.process_time()
    pipeline.run(module)
    return module, time.process_time() - processor, time.perf_counter() - wall


def figures_by_order(module: ir.Module, symbols: dict[str, int]) -> Figures:
    """Figures of a program that is not run: its ops are followed in program order, and it comes by each check once."""
    found = asked(module)
    return Figures(
        peak=peak_of(module, symbols),
        activations=activations_of(module, symbols),
        deallocations=deallocations(module),
        conditions=found.conditions,
        comparisons=found.comparisons,
        copies=copies(module),
        executed=found.all,
        copied=copies(module),
    )


def figures_by_running(module: ir.Module, sizes: Sequence[int], unfreed: str | None) -> Figures:
    """Figures of a program that is run, and compared with what it did when nothing was freed, if that is given."""
    found, freed, copied = asked(module), deallocations(module), copies(module)
    ran = run_program(module, sizes)
    return Figures(
        peak=ran.peak,
        activations=ran.peak,
        deallocations=freed,
        conditions=found.conditions,
        comparisons=found.comparisons,
        copies=copied,
        executed=ran.checks,
        copied=ran.copies,
        allocations=ran.allocations,
        faults=ran.faults,
        differs=unfreed is not None and not ran.faults and not same_results(ran, _run_unfreed(unfreed, tuple(sizes))),
    )


_last: dict[tuple[str, tuple[int, ...]], Ran] = {}


def _run_unfreed(text: str, sizes: tuple[int, ...]) -> Ran:
    if (text, sizes) not in _last:
        _last.clear()
        module = parse_module(text)
        mark_given(module)
        _last[text, sizes] = run_program(module, sizes, freed=False)
    return _last[text, sizes]


def _answer(request: dict[str, Any]) -> dict[str, Any]:
    text = request["text"]
    try:
        if "start" in request:
            return {"text": started(request["start"], text)}
        gc.collect()
        module, seconds, wall = free(request["side"], text)
        answer: dict[str, Any] = {"seconds": seconds, "wall": wall}
        if request["figures"] == "run":
            answer["figures"] = asdict(
                figures_by_running(module, request["sizes"], text if request["compared"] else None)
            )
        elif request["figures"] == "order":
            answer["figures"] = asdict(figures_by_order(module, request["symbols"]))
    except (HotdeskError, ValueError) as error:
        return {"error": " ".join(str(error).split())}
    return answer


def main() -> int:
    gc.freeze()  # what is loaded by now stays, and need not be looked through before each run
    for line in sys.stdin:
        print(json.dumps(_answer(json.loads(line))), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
