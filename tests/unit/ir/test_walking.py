"""Walks over operations."""

from __future__ import annotations

import pytest
from torch_mlir import ir

from hotdesk.ir.context import make_context
from hotdesk.ir.walking import nested_ops, walk

TEXT = "func.func @f() { return }"


def test_parents_come_first() -> None:
    module = ir.Module.parse(TEXT, make_context())
    assert [op.name for op in nested_ops(module.operation)] == ["func.func", "func.return"]


def test_an_interrupt_in_a_callback_stays_one() -> None:
    def visit(_: ir.Operation) -> ir.WalkResult:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        walk(ir.Module.parse(TEXT, make_context()).operation, visit)


def test_errors_of_a_callback_are_those_of_the_bindings() -> None:
    def visit(_: ir.Operation) -> ir.WalkResult:
        raise ValueError("here")

    with pytest.raises(RuntimeError, match="here"):
        walk(ir.Module.parse(TEXT, make_context()).operation, visit)
