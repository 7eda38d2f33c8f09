"""Freed after the last use, no program needs more memory at once than with MLIR's deallocation and its liveness pass."""

from __future__ import annotations

from typing import Any

import pytest
from torch_mlir import ir

from hotdesk.ir.context import entered, make_context
from hotdesk.passes.buffers.deallocate import DeallocateAfterLastUse
from tests.running import MLIR_UNFREED, Executable, wanted
from tests.running.apart import run_apart
from tests.running.examples import EXAMPLES, inputs_of, one_of_each_kind
from tests.running.executable import main_of
from tests.running.instruments import ALLOCATED
from tests.running.subjects import mark_arguments

_FIRST = MLIR_UNFREED.pipeline.removesuffix(")") + ",canonicalize,cse"
_THEIRS = (
    f"{_FIRST},buffer-deallocation-pipeline,func.func(optimize-allocation-liveness),convert-bufferization-to-memref)"
)


MLIR_IS_WRONG = ("results_shared", "switch_result_written")
"""Examples in which MLIR's returns one allocation as two results, which their caller would free twice, or writes an argument."""


class Measured(Executable):
    """Counts the bytes of tensors that are allocated at once."""

    def __init__(self, module: ir.Module) -> None:
        super().__init__(module)
        self._next = 0
        self._sizes: dict[int, int] = {}
        self.peak = 0

    def _note(self, what: int, size: int) -> None:
        super()._note(what, size)
        if what == ALLOCATED:
            self._next = size

    def _allocate(self, size: int) -> int:
        address = super()._allocate(size)
        self._sizes[address], self._next = self._next, 0
        self.peak = max(self.peak, sum(self._sizes.values()))
        return address

    def _free(self, address: int) -> None:
        super()._free(address)
        self._sizes.pop(address, None)


def peak(module: ir.Module, inputs: list[Any], shapes: list[Any]) -> int:
    measured = Measured(module)
    measured(inputs, shapes)
    return measured.peak


@pytest.mark.parametrize("name", one_of_each_kind(name for name in EXAMPLES if name not in MLIR_IS_WRONG))
def test_peak(name: str) -> None:
    text = EXAMPLES[name].read_text(encoding="utf-8")
    with make_context(), ir.Location.unknown():
        read_only = ir.Module.parse(text)
        mark_arguments(main_of(read_only))
        source = str(read_only)
        took, plain = run_apart(source, f"{_FIRST})")
        freed, theirs = run_apart(source, _THEIRS)
        if not (took and freed):
            pytest.skip("MLIR's deallocation does not take it")
        module = ir.Module.parse(plain)
        with entered(module.operation):
            DeallocateAfterLastUse().run(module)
        inputs, shapes = inputs_of(text), [each.values.shape for each in wanted(text, inputs_of(text))]
        ours, others = (peak(each, inputs, shapes) for each in (module, ir.Module.parse(theirs)))
        assert ours <= others
