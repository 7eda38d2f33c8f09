"""An executable written in NumPy that reads and writes raw addresses, as a compiled one does."""

from __future__ import annotations

import ctypes
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import cast

import ml_dtypes
import numpy as np

from hotdesk.explain import Decision, Outcome, Reason
from hotdesk.report import BufferLine, Certificate, Memory, WorstCase
from hotdesk.report.profile import KernelTimes
from hotdesk.runtime.interface import Binding, Details, TensorSpec
from hotdesk.runtime.plans.layout import Layout
from hotdesk.sizes.size import evaluate

DTYPES = {
    "f32": np.dtype(np.float32),
    "f64": np.dtype(np.float64),
    "i64": np.dtype(np.int64),
    "i1": np.dtype(np.bool_),
    "c64": np.dtype(np.complex64),
    "bf16": np.dtype(ml_dtypes.bfloat16),
}


def at(address: int, dtype: str, shape: Sequence[int]) -> np.ndarray:
    """The memory at `address` as an array, nothing copied."""
    count = math.prod(shape) * DTYPES[dtype].itemsize
    raw = (ctypes.c_uint8 * count).from_address(address) if count else bytearray()
    return np.frombuffer(raw, np.uint8).view(DTYPES[dtype]).reshape(shape)


@dataclass
class Fake:
    """Runs `compute` on the inputs; `bound` and `runs` record what was asked of it."""

    inputs: tuple[TensorSpec, ...]
    results: tuple[TensorSpec, ...]
    compute: Callable[..., tuple[np.ndarray, ...]]
    constraints: Mapping[str, tuple[int, int | None]] = field(default_factory=dict)
    held: Mapping[int, int] = field(default_factory=dict)
    bound: list[dict[str, int]] = field(default_factory=list)
    runs: list[tuple[list[int], list[int]]] = field(default_factory=list)

    def bind(self, symbols: Mapping[str, int]) -> Binding:
        self.bound.append(dict(symbols))
        shapes = tuple(tuple(evaluate(dim, symbols) for dim in spec.shape) for spec in self.results)
        sizes = [
            math.prod(shape) * DTYPES[spec.dtype].itemsize for spec, shape in zip(self.results, shapes, strict=True)
        ]
        inputs = sum(
            math.prod(evaluate(dim, symbols) for dim in spec.shape) * DTYPES[spec.dtype].itemsize
            for spec in self.inputs
        )
        memory = Memory(64, 64 + sum(sizes), 64, 128 + sum(sizes), 0, 0, inputs, sum(sizes), 1)
        return Binding(dict(symbols), shapes, memory, cast(Layout, SimpleNamespace(bytes=1000)))

    def details(self, binding: Binding) -> Details:
        lines = (BufferLine("tmp", 64, "model.py:3", 0, 1, "arena"),)
        size = math.prod(self.inputs[0].shape) * 4 if self.inputs else 0
        decisions = (Decision("tmp", Outcome.ALLOCATED, Reason.NO_DEAD_OPERAND_OF_SAME_SIZE, (), size),)
        return Details(lines, decisions, lines)

    def certificate(self, binding: Binding) -> Certificate | None:
        return None

    @property
    def arenas(self) -> int:
        return 0

    @property
    def grown(self) -> int:
        return 0

    @property
    def code_bytes(self) -> int:
        return 0

    @property
    def plans(self) -> tuple[int, bool]:
        return len(self.bound), False

    def worst(self, ranges: Mapping[str, tuple[int, int]]) -> WorstCase:
        """That of the upper corner."""
        memory = self.bind({name: high for name, (_, high) in ranges.items()}).memory
        return WorstCase(memory, tuple(ranges.items()), frozenset({"peak"}))

    def run(self, binding: Binding, inputs: Sequence[int], results: Sequence[int]) -> None:
        self.runs.append((list(inputs), list(results)))
        read = [
            at(address, spec.dtype, [evaluate(dim, binding.symbols) for dim in spec.shape])
            for address, spec in zip(inputs, self.inputs, strict=True)
        ]
        values = self.compute(*read)
        for address, spec, shape, value in zip(results, self.results, binding.result_shapes, values, strict=True):
            at(address, spec.dtype, shape)[...] = value

    def profile(self, binding: Binding, inputs: Sequence[int], results: Sequence[int], runs: int) -> KernelTimes:
        for _ in range(1 + runs):
            self.run(binding, inputs, results)
        return KernelTimes((), ())
