"""Which indices are known not to be negative."""

from __future__ import annotations

import pytest
from torch_mlir import ir

from hotdesk.analysis.allocations.hoisting import is_not_negative
from hotdesk.ir.context import make_context
from hotdesk.ir.walking import entry_block, main_function


def _is_known(body: str) -> bool:
    text = f"func.func @main(%m: memref<?xf32>, %n: index) -> index {{ %c0 = arith.constant 0 : index\n{body}\n }}"
    module = ir.Module.parse(text, make_context())
    last = list(entry_block(main_function(module)).operations)[-1]
    return is_not_negative(last.operands[0])


@pytest.mark.parametrize(
    ("body", "known"),
    [
        ("return %n : index", False),
        ("return %c0 : index", True),
        ("%a = arith.constant -1 : index  return %a : index", False),
        ("%a = memref.dim %m, %c0 : memref<?xf32>  return %a : index", True),
        ("%a = arith.maxsi %n, %c0 : index  return %a : index", True),
        ("%a = arith.minsi %n, %c0 : index  return %a : index", False),
        ("%a = memref.dim %m, %c0 : memref<?xf32>  %b = arith.muli %a, %a : index  return %b : index", True),
        ("%a = memref.dim %m, %c0 : memref<?xf32>  %b = arith.addi %a, %n : index  return %b : index", False),
        ("%a = memref.dim %m, %c0 : memref<?xf32>  %b = arith.subi %a, %a : index  return %b : index", False),
    ],
)
def test_is_not_negative(body: str, known: bool) -> None:
    assert _is_known(body) is known


@pytest.mark.parametrize(
    ("first", "known"), [("memref.dim %m, %c0 : memref<?xf32>", True), ("arith.subi %c0, %n : index", False)]
)
def test_each_op_of_a_long_sum_is_looked_at_once(first: str, known: bool) -> None:
    sums = "\n".join(f"%v{i + 1} = arith.addi %v{i}, %v{i} : index" for i in range(5000))
    assert _is_known(f"%v0 = {first}\n{sums}\nreturn %v5000 : index") is known
