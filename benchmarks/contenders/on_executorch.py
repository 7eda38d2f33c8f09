"""ExecuTorch with its XNNPACK delegate, on a program that a process of its own exports."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.material import read_facts, read_inputs, read_module

from .contender import Contender

PROGRAM = "model.pte"


class Xnnpack(Contender):
    """The weights come with the file, when it is loaded and packed."""

    name = "xnnpack"

    def rehearse(self) -> None:
        import torch

        torch.set_num_threads(self.threads)
        from executorch.extension.pybindings import portable_lib

        portable_lib._unsafe_reset_threadpool(self.threads)  # the only way to say it from Python

    def load(self) -> int:
        import torch

        if not (self.material / PROGRAM).exists():
            subprocess.run([sys.executable, "-m", __name__, str(self.material)], check=True)
        self.inputs = [torch.from_numpy(array) for array in read_inputs(self.material)]
        return read_facts(self.material).weights

    def prepare(self) -> None:
        from executorch.runtime import Runtime

        self.program = Runtime.get().load_program(self.material / PROGRAM)
        self.method = self.program.load_method("forward")

    def run(self) -> Any:
        return self.method.execute(self.inputs)

    def arrays(self, results: Any) -> list[np.ndarray]:
        return [value.numpy() for value in results]


def export(material: Path) -> None:
    """Writes the program of the model that lies in `material`; what XNNPACK does not take runs in ExecuTorch's own kernels."""
    import torch
    from executorch.backends.xnnpack.partition.xnnpack_partitioner import XnnpackPartitioner
    from executorch.exir import to_edge_transform_and_lower

    inputs = tuple(torch.from_numpy(array) for array in read_inputs(material))
    exported = torch.export.export(read_module(material), inputs)
    lowered = to_edge_transform_and_lower(exported, partitioner=[XnnpackPartitioner()]).to_executorch()
    (material / PROGRAM).write_bytes(lowered.buffer)


if __name__ == "__main__":
    export(Path(sys.argv[1]))
