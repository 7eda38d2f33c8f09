"""The main job: PyTorch models from one arena, beside PyTorch itself. Run by `make demo`."""

from __future__ import annotations

import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import torch

import hotdesk
from examples.models import MODELS, ModelSpec

ROUNDS = 9


def main() -> int:
    agree = [show(MODELS[name]) for name in ("demo", "resnet50")]
    return 0 if all(agree) else 1


def show(spec: ModelSpec) -> bool:
    """Compiles a model, runs it beside PyTorch and prints the report; returns whether the two agree."""
    model, inputs = spec.build(), spec.inputs()
    start = time.perf_counter()
    program = hotdesk.compile(model, inputs, dynamic_shapes=spec.dynamic_shapes)
    seconds = time.perf_counter() - start
    print(f"\n=== {spec.title}: compiled in {seconds:.1f} s ({stages(program)})\n")
    out = program(*inputs)
    with torch.inference_mode():
        expected = model(*inputs)
    agree = torch.allclose(out, expected, rtol=spec.rtol, atol=spec.atol)
    difference = (out - expected).abs().max().item()
    print(program.report(*inputs))
    eager, ours = interleaved(lambda: model(*inputs), lambda: program(*inputs, out=out))
    print(f"\nagrees with PyTorch: {'yes' if agree else 'NO'}, largest difference {difference:.1e}")
    print(f"median of {ROUNDS} calls: PyTorch {eager:.2f} ms, Hotdesk {ours:.2f} ms ({ours / eager:.2f} times)")
    return agree


def stages(program: hotdesk.Program) -> str:
    named = ("export", "decompose", "llvm")
    known = {name: program.timings.get(name, 0.0) for name in named}
    rest = sum(program.timings.values()) - sum(known.values())
    return ", ".join([*(f"{name} {value:.1f} s" for name, value in known.items()), f"Hotdesk itself {rest:.1f} s"])


def interleaved(first: Callable[[], object], second: Callable[[], object]) -> tuple[float, float]:
    """Median milliseconds of two calls, taken in turns."""
    times: tuple[list[float], list[float]] = ([], [])
    with torch.inference_mode():
        for _ in range(ROUNDS):
            for call, found in zip((first, second), times, strict=True):
                start = time.perf_counter()
                call()
                found.append((time.perf_counter() - start) * 1e3)
    return statistics.median(times[0]), statistics.median(times[1])


if __name__ == "__main__":
    sys.exit(main())
