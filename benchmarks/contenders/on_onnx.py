"""Contenders that read the model's ONNX file: Hotdesk, onnxruntime with and without its arena, and OpenVINO."""

# onnxruntime and what a program returns are annotated in part only.
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false

from __future__ import annotations

from abc import abstractmethod
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from benchmarks.material import ONNX, REHEARSAL, read_facts, read_inputs

from .contender import Contender


class _OnnxContender(Contender):
    """The weights come with the file, when that is read to prepare."""

    def load(self) -> int:
        facts = read_facts(self.material)
        if facts.onnx_error:
            raise RuntimeError(facts.onnx_error)
        self.values = [self.value(array) for array in read_inputs(self.material)]
        return facts.weights

    @abstractmethod
    def value(self, array: np.ndarray) -> Any:
        """An input as the library takes it, made once."""


class HotdeskOnnx(_OnnxContender):
    """Hotdesk without PyTorch: its own front end for ONNX, on arrays."""

    name = "hotdesk-onnx"

    def rehearse(self) -> None:
        import hotdesk

        hotdesk.set_num_threads(self.threads)
        program = hotdesk.compile(str(self.material / REHEARSAL))
        program(np.zeros((2, 2), np.float32))

    def value(self, array: np.ndarray) -> Any:
        return array

    def prepare(self) -> None:
        import hotdesk

        self.program = hotdesk.compile(str(self.material / ONNX))

    def run(self) -> Any:
        return self.program(*self.values)

    def arrays(self, results: Any) -> list[np.ndarray]:
        return list(results) if isinstance(results, tuple) else [results]


class _OnnxRuntime(_OnnxContender):
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

    def value(self, array: np.ndarray) -> Any:
        import onnxruntime

        return onnxruntime.OrtValue.ortvalue_from_numpy(array)

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


class OpenVino(_OnnxContender):
    """In float32, as the others compute: on processors with bf16 products its default rounds operands to 16 bits."""

    name = "openvino"

    def _request(self, path: Path) -> Any:
        import openvino

        settings = {
            "INFERENCE_NUM_THREADS": self.threads,
            "INFERENCE_PRECISION_HINT": "f32",
            "PERFORMANCE_HINT": "LATENCY",
        }
        return openvino.Core().compile_model(path, "CPU", settings).create_infer_request()

    def rehearse(self) -> None:
        self._request(self.material / REHEARSAL)

    def value(self, array: np.ndarray) -> Any:
        import openvino

        return openvino.Tensor(np.ascontiguousarray(array), shared_memory=True)

    def prepare(self) -> None:
        self.request = self._request(self.material / ONNX)

    def run(self) -> Any:
        return self.request.infer(self.values, share_inputs=True, share_outputs=True)

    def arrays(self, results: Any) -> list[np.ndarray]:
        return [results[index] for index in range(len(results))]
