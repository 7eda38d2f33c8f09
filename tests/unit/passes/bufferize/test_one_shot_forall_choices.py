"""What one of several slices of a parallel loop's results is, and is inserted behind another insertion, is read before that."""

from __future__ import annotations

import numpy as np
import pytest

from tests.running import OURS, check

CHOICES = {
    "select": "%s = arith.select %c, %q, %p : tensor<1xi32>",
    "if": "%s = scf.if %c -> tensor<1xi32> { scf.yield %q : tensor<1xi32> } else { scf.yield %p : tensor<1xi32> }",
    "both ways": "%s = scf.if %c -> tensor<1xi32> { scf.yield %p : tensor<1xi32> } else { scf.yield %p : tensor<1xi32> }",
    "loop": """%l = arith.constant 1 : index
    %s = scf.for %j = %i to %k step %l iter_args(%t = %p) -> tensor<1xi32> { scf.yield %t : tensor<1xi32> }""",
}
INSERTIONS = (
    "tensor.parallel_insert_slice %q into %x[%i][1][1] : tensor<1xi32> into tensor<4xi32>",
    "tensor.parallel_insert_slice %s into %y[%i][1][1] : tensor<1xi32> into tensor<4xi32>",
)


@pytest.mark.parametrize("donated", ["{hotdesk.donated}", ""])
@pytest.mark.parametrize("insertions", [INSERTIONS, INSERTIONS[::-1]], ids=["late", "early"])
@pytest.mark.parametrize("choice", CHOICES)
def test_a_chosen_slice(choice: str, insertions: tuple[str, str], donated: str) -> None:
    text = f"""
func.func @main(%a: tensor<4xi32> {donated}, %b: tensor<4xi32> {donated}, %k: index) -> (tensor<4xi32>, tensor<4xi32>) {{
  %r:2 = scf.forall (%i) in (4) shared_outs(%x = %a, %y = %b) -> (tensor<4xi32>, tensor<4xi32>) {{
    %p = tensor.extract_slice %x[%i][1][1] : tensor<4xi32> to tensor<1xi32>
    %q = tensor.extract_slice %y[%i][1][1] : tensor<4xi32> to tensor<1xi32>
    %c = arith.cmpi sge, %i, %k : index
    {CHOICES[choice]}
    scf.forall.in_parallel {{
      {insertions[0]}
      {insertions[1]}
    }}
  }}
  return %r#0, %r#1 : tensor<4xi32>, tensor<4xi32>
}}"""
    first, second = np.arange(4, dtype=np.int32), np.arange(10, 14, dtype=np.int32)
    for k in (0, 2, 4):
        run = check(text, [first, second, np.int64(k)], OURS)
        chosen = np.arange(4) >= k
        np.testing.assert_array_equal(run.results[0], second)
        np.testing.assert_array_equal(
            run.results[1], np.where(chosen, second, first) if choice in ("select", "if") else first
        )
