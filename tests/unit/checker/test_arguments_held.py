"""Results that lie in the memory of an argument, among those that are returned and those in arguments of their own."""

from __future__ import annotations

import numpy as np
import pytest
from torch_mlir import ir

from hotdesk.checker import CheckReport, check_module
from hotdesk.errors import ShapeError
from hotdesk.ir.context import make_context

_TEXT = """
func.func @main(%x: memref<6xf32> {hotdesk.donated, hotdesk.holds = array<i64: 1>}, %y: memref<f32> {hotdesk.holds = [3]},
                %out: memref<2xf32> {bufferize.result = 2 : i64}) -> (index, memref<f32>) {
  %two = arith.constant 2.0 : f32
  %seven = arith.constant 7 : index
  linalg.fill ins(%two : f32) outs(%x : memref<6xf32>)
  linalg.fill ins(%two : f32) outs(%out : memref<2xf32>)
  %r = memref.alloc() : memref<f32>
  linalg.fill ins(%two : f32) outs(%r : memref<f32>)
  return %seven, %r : index, memref<f32>
}
"""


def _checked(shapes: dict[int, tuple[int, ...]]) -> CheckReport:
    x, y = np.arange(6, dtype=np.float32), np.float32(5).reshape(())
    with make_context(), ir.Location.unknown():
        return check_module(ir.Module.parse(_TEXT), "main", [x, np.array(y)], result_shapes=shapes, read_only=True)


@pytest.mark.parametrize(("shapes", "held"), [({}, (6,)), ({1: (2, 3)}, (2, 3))])
def test_in_order(shapes: dict[int, tuple[int, ...]], held: tuple[int, ...]) -> None:
    """Sizes of a result in an argument are what they are said to be, else the argument's."""
    report = _checked(shapes)
    assert report.clean, str(report)
    values = [result.values for result in report.results]
    wanted = [np.int64(7), np.full(held, 2.0), np.full(2, 2.0), np.float32(5), np.float32(2)]
    assert len(values) == len(wanted)
    for value, want in zip(values, wanted, strict=True):
        np.testing.assert_array_equal(value, want)
        assert value.shape == np.shape(want)


def test_other_number_of_elements() -> None:
    with pytest.raises(
        ShapeError, match="result 1: expected the sizes of 6 elements, those of argument 0, got \\(2, 2\\)"
    ):
        _checked({1: (2, 2)})
