"""Contenders that run a PyTorch module on PyTorch's tensors: Hotdesk, eager PyTorch, and `torch.compile` with inductor."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from benchmarks.material import read_module

from .contender import Contender

if TYPE_CHECKING:
    from benchmarks.interposer import Counters

REHEARSALS = 10
"""Calls before anything is measured: two threads that happen to meet in a BLAS make it take another buffer."""

SLOWEST = 5
"""Kernels of each model that the page names."""


class _TorchContender(Contender):
    """The weights are a torch module's."""

    def rehearse(self) -> None:
        import torch

        import examples.models

        del examples.models
        torch.set_num_threads(self.threads)

    def load(self) -> int:
        from examples.models import MODELS

        self.spec = MODELS[self.model]
        self.module: Any = read_module(self.material)
        self.inputs = self.spec.inputs()
        return 0

    def arrays(self, results: Any) -> list[np.ndarray]:
        return [tensor.numpy() for tensor in _tensors(results)]


class Eager(_TorchContender):
    name = "eager"

    def rehearse(self) -> None:
        super().rehearse()
        import torch

        layer, rows = _one_layer()
        with torch.inference_mode():
            for _ in range(REHEARSALS):
                layer(rows)

    def prepare(self) -> None:
        """Nothing to do: eager PyTorch compiles nothing."""

    def run(self) -> Any:
        import torch

        with torch.inference_mode():
            return self.module(*self.inputs)


class Hotdesk(_TorchContender):
    name = "hotdesk"
    memory_fields = (
        *("arena", "peak", "lower_bound", "no_reuse", "weights", "prepared", "inputs", "outputs"),
        "allocations",
    )

    def rehearse(self) -> None:
        super().rehearse()
        import torch

        import hotdesk

        layer, rows = _one_layer()
        with torch.inference_mode():
            program = hotdesk.compile(layer, (rows,))
            for _ in range(REHEARSALS):
                program(rows)

    def prepare(self) -> None:
        import hotdesk

        self.program: Any = hotdesk.compile(self.module, self.inputs, dynamic_shapes=self.spec.dynamic_shapes)
        self.module = None

    def run(self) -> Any:
        return self.program(*self.inputs)

    def details(self) -> dict[str, Any]:
        record = self.program.memory(*self.inputs)
        timings: Mapping[str, float] = getattr(self.program, "timings", None) or {}
        return {
            "memory": {field: int(getattr(record, field)) for field in self.memory_fields},
            "code": self.program.code_bytes,
            "timings": {stage: float(seconds) for stage, seconds in timings.items()},
            "slowest": [_brief(kernel) for kernel in self.program.profile(*self.inputs).kernels[:SLOWEST]],
        }

    def steady_details(self, counters: Counters) -> dict[str, Any]:
        """A call that is given the tensors for its results."""
        import torch

        places = tuple(torch.empty_like(tensor) for tensor in _tensors(self.run()))
        out = places[0] if len(places) == 1 else places
        self.program(*self.inputs, out=out)
        reading = counters.during(lambda: self.program(*self.inputs, out=out))
        return {"out_peak": reading.peak, "out_allocations": reading.large_allocations}


class Inductor(Eager):
    """`torch.compile` as it comes, whose generated C++ is kept beside the model: each child would compile it again."""

    name = "inductor"

    def prepare(self) -> None:
        import os

        import torch

        os.environ["TORCHINDUCTOR_CACHE_DIR"] = str(self.material / "inductor")
        with torch.inference_mode():
            self.module = torch.compile(self.module, dynamic=False)
            self.module(*self.inputs)


def _brief(kernel: Any) -> dict[str, Any]:
    """A kernel of a profile, as the page shows it."""
    seconds = max(kernel.seconds, 1e-9)
    return {
        "kernel": f"{kernel.op} {kernel.operands}",
        "calls": kernel.calls,
        "seconds": kernel.seconds,
        "gflops": kernel.operations / seconds / 1e9,
        "gbytes": kernel.moved / seconds / 1e9,
        "share": kernel.share,
        "line": kernel.locations[0] if kernel.locations else "",
    }


def _one_layer() -> tuple[Any, Any]:
    """A layer and its input, large enough that a threaded BLAS starts its threads and makes its buffers."""
    import torch

    layer = torch.nn.Sequential(torch.nn.Linear(512, 512), torch.nn.ReLU()).eval().requires_grad_(False)
    return layer, torch.zeros(128, 512)


def _tensors(results: Any) -> list[Any]:
    import torch
    from torch.utils import _pytree as pytree

    return [leaf for leaf in pytree.tree_leaves(results) if isinstance(leaf, torch.Tensor)]
