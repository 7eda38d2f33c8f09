"""Walks over operations."""

from __future__ import annotations

import pytest
from torch_mlir import ir

from hotdesk.ir.context import make_context
from hotdesk.ir.functions import called_name
from hotdesk.ir.walking import function_around, functions_of, globals_of, module_around, nested_ops, symbol_name, walk

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


def test_functions_globals_and_what_is_around_an_op() -> None:
    text = """
    memref.global "private" constant @g : memref<2xf32> = dense<1.0>
    func.func private @h()
    func.func @f() { scf.execute_region { func.call @h() : () -> () scf.yield } return }
    """
    module = ir.Module.parse(text, make_context())
    assert [symbol_name(function) for function in functions_of(module)] == ["h", "f"]
    assert functions_of(module.operation) == functions_of(module)
    assert list(globals_of(module)) == ["g"]
    call = next(op for op in nested_ops(module.operation) if op.name == "func.call")
    assert (called_name(call), called_name(functions_of(module)[1])) == ("h", None)
    assert function_around(call) == functions_of(module)[1]
    assert module_around(call) == module_around(module.operation) == module.operation
