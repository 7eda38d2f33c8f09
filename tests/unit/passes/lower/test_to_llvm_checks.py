"""Structured ops of which checks alone are left, as nobody reads what they compute."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import hotdesk

CHECKED = """
func.func @f(%x: tensor<17xf32>, %i: tensor<i32>) -> tensor<f32> {
  %e = tensor.empty() : tensor<f32>
  %r = linalg.generic {indexing_maps = [affine_map<() -> ()>], iterator_types = []} outs(%e : tensor<f32>) {
  ^bb0(%o: f32):
    %a = tensor.extract %i[] : tensor<i32>
    %b = arith.index_cast %a : i32 to index
    %v = tensor.extract %x[%b] : tensor<17xf32>
    linalg.yield %v : f32
  } -> tensor<f32>
  %s = linalg.generic {indexing_maps = [affine_map<() -> ()>, affine_map<() -> ()>], iterator_types = []}
      ins(%r : tensor<f32>) outs(%e : tensor<f32>) {
  ^bb0(%q: f32, %o: f32):
    %z = arith.constant 2.0 : f32
    linalg.yield %z : f32
  } -> tensor<f32>
  return %s : tensor<f32>
}
"""


def test_a_check_whose_result_nobody_reads_is_made() -> None:
    program: Any = hotdesk.compile(CHECKED)
    assert program(np.ones(17, np.float32), np.asarray(3, np.int32)) == 2
    with pytest.raises(hotdesk.HotdeskError, match="HD401"):
        program(np.ones(17, np.float32), np.asarray(17, np.int32))
