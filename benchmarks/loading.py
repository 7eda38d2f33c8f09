"""How long a saved program takes until it is ready, `import hotdesk` and `hotdesk.load`, and what its process holds then.

    python benchmarks/loading.py [--model resnet50] [--processes 21]

Each time in a process of its own. What it holds are pages of its own (Linux: `Anonymous` in smaps_rollup) above a process that
has imported NumPy, after a first call whose results are gone: the arena, scratch memory of threads, and the rest, which is
modules, code and what a file says of the program.

Processes have imported NumPy, and neither PyTorch nor MLIR; the file is in the system's page cache. They find the byte code of
modules, as pip writes it where it installs and Python does unless PYTHONDONTWRITEBYTECODE is set: without, each module's text is
compiled first, which takes longer than all else.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import hotdesk
from examples.models import MODELS

READY = """
import sys, time
import numpy
start = time.perf_counter()
import hotdesk
hotdesk.load(sys.argv[1])
print((time.perf_counter() - start) * 1e3, *{"torch", "torch_mlir", "sympy", "onnx"} & set(sys.modules))
"""


HELD = """
import ctypes, sys
import numpy

def own():
    with open("/proc/self/smaps_rollup") as file:
        return 1024 * next(int(line.split()[1]) for line in file if line.startswith("Anonymous:"))

inputs = list(numpy.load(sys.argv[2]).values())
own()
before = own()
import hotdesk
program = hotdesk.load(sys.argv[1])
program(*inputs)
ctypes.CDLL(None).malloc_trim(0)  # results, of which the C library keeps the pages
print(own() - before, program.memory(*inputs).arena, hotdesk.scratch_bytes())
"""


def milliseconds(path: Path, processes: int, environment: dict[str, str]) -> list[float]:
    """Of fresh processes, after one that is not counted: it may have to write byte code."""
    command = [sys.executable, "-c", READY, str(path)]
    runs = [
        subprocess.run(command, env=environment, check=True, capture_output=True, text=True).stdout.split()
        for _ in range(processes + 1)
    ]
    assert all(len(run) == 1 for run in runs), f"{runs[0][1:]} were imported"
    return [float(run[0]) for run in runs[1:]]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", choices=sorted(MODELS), default="resnet50")
    parser.add_argument("--processes", type=int, default=21)
    options = parser.parse_args()
    spec = MODELS[options.model]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "program.hotdesk")
        hotdesk.compile(spec.factory().eval(), spec.inputs()).save(path)
        environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
        environment["PYTHONPYCACHEPREFIX"] = str(Path(folder, "byte_code"))
        times = milliseconds(path, options.processes, environment)
        print(f"ready in {statistics.median(times):.1f} ms ({min(times):.1f} to {max(times):.1f})")
        np.savez(Path(folder, "inputs.npz"), *[each.numpy() for each in spec.inputs()])
        command = [sys.executable, "-c", HELD, str(path), str(Path(folder, "inputs.npz"))]
        told = subprocess.run(command, env=environment, check=True, capture_output=True, text=True).stdout
        held, arena, scratch = (int(each) / 1e6 for each in told.split())
        rest = held - arena - scratch
        print(f"holds {held:.2f} MB: arena {arena:.2f}, scratch memory {scratch:.2f}, rest {rest:.2f}")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
