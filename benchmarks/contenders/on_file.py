"""The contender that loads a saved program: neither PyTorch nor MLIR is in its process."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import numpy as np

from benchmarks.material import read_inputs

from .contender import Contender

SAVED = "model.hotdesk"

SAVE = """
import sys
from pathlib import Path

import hotdesk
from benchmarks.material import read_module
from examples.models import MODELS

spec = MODELS[sys.argv[1]]
program = hotdesk.compile(read_module(Path(sys.argv[2])), spec.inputs(), dynamic_shapes=spec.dynamic_shapes)
program.save(sys.argv[3])
"""


class HotdeskLoaded(Contender):
    """Hotdesk from a file that another process has written. The weights are mapped from it."""

    name = "hotdesk-loaded"

    def rehearse(self) -> None:
        import hotdesk

        hotdesk.set_num_threads(self.threads)

    def load(self) -> int:
        self.saved = self.material / f"{self.model}-{SAVED}"
        if not self.saved.exists():
            command = [sys.executable, "-c", SAVE, self.model, str(self.material), str(self.saved)]
            subprocess.run(command, check=True, stdout=sys.stderr)
        self.values = read_inputs(self.material)
        return 0

    def prepare(self) -> None:
        import hotdesk

        self.program = hotdesk.load(self.saved)

    def run(self) -> Any:
        return self.program(*self.values)

    def arrays(self, results: Any) -> list[np.ndarray]:
        return list(results) if isinstance(results, tuple) else [results]

    def details(self) -> dict[str, Any]:
        return {"arena": self.program.memory(*self.values).arena}
