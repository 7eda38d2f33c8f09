"""The live ranges of the example models' buffers, as the compiler hands them to the planner.

`python benchmarks/planner_cases/live_ranges.py` takes the models through the pipeline up to kernel calls, with fusion of
elementwise operations and without, and writes `models.json` beside this file; nothing runs. The benchmark reads that file, for
capturing and lowering take minutes. Names of models as arguments leave the others as they are stored.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any
from unittest.mock import patch

if __package__ in (None, ""):
    sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from hotdesk import pipeline
from hotdesk.passes.base import Pass
from hotdesk.passes.textual import MLIRPasses
from hotdesk.pipeline import Stage
from hotdesk.planning import Buffer, Pool, Problem

STORED = Path(__file__).with_name("models.json")
_UNFUSED = MLIRPasses("func.func(linalg-generalize-named-ops),canonicalize,cse")


def stored() -> Iterator[tuple[str, Problem]]:
    """The problems in `models.json`, by `model, fused` or `model, unfused`; none where there is no such file."""
    if not STORED.exists():
        return
    for name, kept in json.loads(STORED.read_text()).items():
        buffers = tuple(Buffer(i, *row) for i, row in enumerate(kept["buffers"]))
        pools = tuple(Pool(f"result {i}", size, ((0, end),)) for i, (size, end) in enumerate(kept["pools"]))
        yield name, Problem(buffers, pools)


def main(names: Sequence[str]) -> int:
    """Takes the models called `names`, or all, and keeps what is stored of the others."""
    from examples.models import MODELS

    found: dict[str, Any] = json.loads(STORED.read_text()) if STORED.exists() else {}
    for name in names or tuple(MODELS):
        for variant in ("fused", "unfused"):
            problem = _lowered_problem(MODELS[name], variant == "fused")
            rows = [[b.lower, b.upper, b.size, b.alignment] for b in problem.buffers]
            lent = [[pool.capacity, pool.free[0][1]] for pool in problem.pools]
            found[f"{name}, {variant}"] = {"buffers": rows, "pools": lent}
            print(f"{name}, {variant}: {len(rows)} buffers, {len(lent)} pools", flush=True)
        entries = [f"{json.dumps(key)}: {json.dumps(kept, separators=(',', ':'))}" for key, kept in found.items()]
        STORED.write_text("{\n" + ",\n".join(entries) + "\n}\n")
    return 0


class _LoweredError(Exception):
    """What ends a compilation where its buffers are known: nothing has to be turned into machine code."""


def _without_fusion(stage: Stage) -> Stage:
    def other(each: Pass) -> Pass:
        return _UNFUSED if isinstance(each, MLIRPasses) and "linalg-fuse-elementwise-ops" in each.pipeline else each

    return replace(stage, passes=tuple(map(other, stage.passes)))


def _lowered_problem(spec: Any, fused: bool) -> Problem:
    import hotdesk
    from hotdesk.compiling import building
    from hotdesk.runtime.plans.problems import problem_of
    from hotdesk.sizes.expressions import Evaluator

    lowered: list[Any] = []

    def stop(*given: Any, **named: Any) -> None:
        lowered.append(pipeline.lower(*given, **named).main)
        raise _LoweredError

    stages = pipeline.TENSORS if fused else tuple(map(_without_fusion, pipeline.TENSORS))
    with patch.object(pipeline, "TENSORS", stages), patch.object(building, "lower", stop), suppress(_LoweredError):
        hotdesk.compile(spec.build(), spec.inputs(), dynamic_shapes=spec.dynamic_shapes)
    (main,) = lowered
    expressions = [buffer.bytes for buffer in main.buffers]
    symbols: set[str] = {str(s) for e in expressions for s in getattr(e, "free_symbols", ())}
    values = {symbol: int(spec.batch) for symbol in symbols}
    return problem_of(main, tuple(Evaluator(expressions).at(values)))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
