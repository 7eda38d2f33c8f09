"""How long a saved program takes until it is ready: `import hotdesk` and `hotdesk.load`, each time in a process of its own.

    python benchmarks/loading.py [--model resnet50] [--processes 21]

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
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
