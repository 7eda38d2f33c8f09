"""Runs functions on memrefs, lowered by MLIR alone, on arrays: what a pass on buffers must not change."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from typing import Any

import numpy as np
from torch_mlir import ir
from torch_mlir.execution_engine import ExecutionEngine

from hotdesk.ir.context import entered, make_context, run_mlir_passes
from hotdesk.passes.base import Pass

_LOWERING = (
    "func.func(convert-linalg-to-loops),convert-scf-to-cf,expand-strided-metadata,lower-affine,"
    "convert-math-to-llvm,convert-math-to-libm,convert-arith-to-llvm,finalize-memref-to-llvm,convert-func-to-llvm,"
    "convert-cf-to-llvm,reconcile-unrealized-casts"
)


def text_after(text: str, *passes: Pass) -> str:
    """The text of a module after passes, which verifies."""
    module = ir.Module.parse(text, make_context())
    with entered(module.operation):
        for one in passes:
            one.run(module)
        module.operation.verify()
        return str(module)


def call(text: str, *arguments: Any, function: str = "main") -> None:
    """Calls a function without results; arrays are passed as memrefs, with their strides, and may be written."""
    module = ir.Module.parse(text, make_context())
    with entered(module.operation):
        entry = next(
            op.operation for op in module.body.operations if f'"{function}"' in str(op.operation.attributes["sym_name"])
        )
        entry.attributes["llvm.emit_c_interface"] = ir.UnitAttr.get()
        run_mlir_passes(module, _LOWERING)
        engine = ExecutionEngine(module, opt_level=0)
    held = [_passed(argument) for argument in arguments]
    packed = (ctypes.c_void_p * len(held))(*(ctypes.addressof(each[0]) for each in held))
    ctypes.CFUNCTYPE(None, ctypes.c_void_p)(engine.raw_lookup(f"_mlir_ciface_{function}"))(ctypes.addressof(packed))


def same_after(text: str, passes: Sequence[Pass], *arguments: Any) -> str:
    """Fails if `@main` leaves other arrays after passes than before them; returns the text after the passes.

    Arrays that share memory share it in both runs, so arguments may overlap.
    """
    after = text_after(text, *passes)
    left = [_copied(arguments), _copied(arguments)]
    for program, given in zip((text, after), left, strict=True):
        call(program, *given)
    for number, (a, b) in enumerate(zip(*left, strict=True)):
        np.testing.assert_array_equal(a, b, f"argument {number}")
    return after


def _copied(arguments: Sequence[Any]) -> list[Any]:
    """Copies of arrays; views of one array stay views of one array."""
    bases: dict[int, Any] = {}
    copies: list[Any] = []
    for argument in arguments:
        if not isinstance(argument, np.ndarray):
            copies.append(argument)
            continue
        base = argument
        while isinstance(base.base, np.ndarray):
            base = base.base
        copy = bases.setdefault(id(base), base.copy())
        offset = argument.__array_interface__["data"][0] - base.__array_interface__["data"][0]
        copies.append(np.ndarray(argument.shape, argument.dtype, copy, offset, argument.strides))
    return copies


def _passed(argument: Any) -> tuple[Any, ...]:
    """What an argument is passed as, first, and what it points to."""
    if not isinstance(argument, np.ndarray):
        return (ctypes.c_int64(argument),)
    rank = argument.ndim
    fields = [argument.ctypes.data, argument.ctypes.data, 0, *argument.shape]
    fields += [stride // argument.itemsize for stride in argument.strides]
    descriptor = (ctypes.c_int64 * (3 + 2 * rank))(*fields)
    return ctypes.c_void_p(ctypes.addressof(descriptor)), descriptor
