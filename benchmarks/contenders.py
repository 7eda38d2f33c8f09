"""Those who run: Hotdesk, eager PyTorch, onnxruntime with and without its arena.

A contender lives in a process of its own. It imports its libraries in its methods, so none pays for another's.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from .material import ONNX, REHEARSAL, read_facts, read_inputs, read_module

if TYPE_CHECKING:
    from .interposer import Counters

REHEARSALS = 10
"""Calls before anything is measured: two threads that happen to meet in a BLAS make it take another buffer."""

SLOWEST = 5
"""Kernels of each model that the page names."""


class Contender(ABC):
    """One way to run one model. The worker calls `rehearse`, `load`, `prepare` once, in this order, then `run` often."""

    name: ClassVar[str]

    def __init__(self, model: str, material: Path, threads: int) -> None:
        self.model = model
        self.material = material
        self.threads = threads

    @abstractmethod
    def rehearse(self) -> None:
        """Imports the libraries and takes a one-layer model through a few calls: what follows is the model's own."""

    @abstractmethod
    def load(self) -> int:
        """Brings in inputs and weights. Returns the bytes of weights that come only with `prepare`."""

    @abstractmethod
    def prepare(self) -> None:
        """Compiles; afterwards the contender holds no copy of the weights that its runs do not need."""

    @abstractmethod
    def run(self) -> Any:
        """One call on the inputs."""

    @abstractmethod
    def arrays(self, results: Any) -> list[np.ndarray]:
        """The results of a call, in order."""

    def details(self) -> dict[str, Any]:
        """What the contender knows about its own memory and time."""
        return {}

    def steady_details(self, counters: Counters) -> dict[str, Any]:
        """What only this contender can be asked to do in a steady call, measured."""
        del counters
        return {}


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


class _OnnxRuntime(Contender):
    arena: ClassVar[bool]

    def _session(self, path: Path) -> Any:
        import onnxruntime

        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = self.threads
        options.inter_op_num_threads = 1
        options.enable_cpu_mem_arena = self.arena
        options.enable_mem_pattern = self.arena
        # Idle workers would spin into the turn of the next contender.
        options.add_session_config_entry("session.force_spinning_stop", "1")
        return onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])

    def rehearse(self) -> None:
        self._session(self.material / REHEARSAL)

    def load(self) -> int:
        import onnxruntime

        facts = read_facts(self.material)
        if facts.onnx_error:
            raise RuntimeError(facts.onnx_error)
        self.values = [onnxruntime.OrtValue.ortvalue_from_numpy(array) for array in read_inputs(self.material)]
        return facts.weights

    def prepare(self) -> None:
        self.session = self._session(self.material / ONNX)
        names = [argument.name for argument in self.session.get_inputs()]
        self.feed = dict(zip(names, self.values, strict=True))
        self.outputs = [argument.name for argument in self.session.get_outputs()]

    def run(self) -> Any:
        return self.session.run_with_ort_values(self.outputs, self.feed)

    def arrays(self, results: Any) -> list[np.ndarray]:
        return [value.numpy() for value in results]


class OnnxRuntimeArena(_OnnxRuntime):
    name = "onnxruntime"
    arena = True


class OnnxRuntimeNoArena(_OnnxRuntime):
    name = "onnxruntime-noarena"
    arena = False


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


CONTENDERS: dict[str, type[Contender]] = {
    contender.name: contender for contender in (Hotdesk, Eager, OnnxRuntimeArena, OnnxRuntimeNoArena)
}
