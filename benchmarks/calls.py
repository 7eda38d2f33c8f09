"""What a call costs beyond its kernels: programs that do next to nothing, called with one to eight inputs.

    python benchmarks/calls.py [--inputs 1 4 8]

Processor time of this thread, the least over many short batches, since other processes on the machine disturb it; beside it that
of allocating a result with PyTorch, of which each call without `out=` takes one.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import torch

import hotdesk

BATCHES, CALLS = 200, 200


class Sum(torch.nn.Module):
    def forward(self, *values: torch.Tensor) -> torch.Tensor:
        return sum(values[1:], values[0] + 1)


def microseconds(*runs: Callable[[], object]) -> list[float]:
    """Of one call of each; their batches take turns."""
    best = [float("inf")] * len(runs)
    for _ in range(BATCHES):
        for number, run in enumerate(runs):
            start = time.thread_time()
            for _ in range(CALLS):
                run()
            best[number] = min(best[number], time.thread_time() - start)
    return [least / CALLS * 1e6 for least in best]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--inputs", type=int, nargs="*", default=[1, 4, 8])
    options = parser.parse_args()
    print(f"torch.empty: {microseconds(lambda: torch.empty((8,), dtype=torch.float32, device='cpu'))[0]:.2f} us")
    for count in options.inputs:
        inputs, out = tuple(torch.ones(8) for _ in range(count)), torch.empty(8)
        program = hotdesk.compile(Sum().eval(), inputs)
        kernels = program.profile(*inputs).seconds * 1e6
        plain, given = microseconds(
            lambda program=program, inputs=inputs: program(*inputs),
            lambda program=program, inputs=inputs, out=out: program(*inputs, out=out),
        )
        print(f"{count} inputs: {plain:.2f} us, out= {given:.2f} us, of which kernels {kernels:.2f} us")
    return 0


if __name__ == "__main__":
    sys.exit(main())
