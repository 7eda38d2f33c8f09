"""Programs in MLIR brought to the dialects that are compiled: calls inlined, TOSA, StableHLO and shapes lowered by MLIR's passes.

What is left then is looked at: an op that nobody defines, a value without rank and a function without a body are errors here.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

from hotdesk._bindings import ir
from hotdesk.errors import UnsupportedOpError
from hotdesk.frontends.lowering_process import LoweringDied, LoweringFailed, lowered
from hotdesk.frontends.mlir.decompositions import take_apart
from hotdesk.frontends.mlir.library_calls import call_libraries
from hotdesk.frontends.mlir.stablehlo_flow import lower_control_flow
from hotdesk.frontends.mlir.stablehlo_ops import write_without
from hotdesk.frontends.mlir.written_in_part import partly_written
from hotdesk.ir.context import entered, run_mlir_passes
from hotdesk.ir.functions import called_name, named_functions
from hotdesk.ir.locations import python_line
from hotdesk.ir.types import is_any_tensor, is_strided
from hotdesk.ir.walking import dialect_of, globals_of, is_declaration, nested_ops, text_of
from hotdesk.models.dialects import SCALAR_DIALECTS
from hotdesk.models.memref import STORE
from hotdesk.models.new_memory import GLOBAL, REALLOC
from hotdesk.runtime.code.foreign import ForeignCall

_LOWERINGS: Mapping[str, tuple[str, ...]] = {
    "stablehlo": (  # signs go last: which of two integers is greater depends on them
        "stablehlo-legalize-to-linalg,stablehlo-convert-to-signless,reconcile-unrealized-casts",
    ),
    "tosa": (
        "func.func(tosa-to-scf)",  # first: what lowers the ops inside does not know how branches end
        "func.func(tosa-optional-decompositions,canonicalize,tosa-infer-shapes,tosa-make-broadcastable,tosa-to-linalg-named)",
        "func.func(canonicalize,tosa-layerwise-constant-fold,tosa-make-broadcastable)",
        "func.func(tosa-to-linalg,tosa-to-arith{include-apply-rescale=true},tosa-to-tensor),canonicalize",
    ),
    "shape": (
        "func.func(shape-to-shape-lowering,convert-shape-constraints),convert-shape-to-std",
        "canonicalize",  # takes what a constraint held together out of its region
    ),
}
"""The wheel's own lowerings, by the dialect that they remove."""
_FOREIGN = (
    "stablehlo",
    "chlo",
    "vhlo",
    "tosa",
    "shape",
    "torch",
    "torch_c",
    "gpu",
    "spirv",
    "async",
    "omp",
    "mpi",
    "acc",
    "llvm",
)
"""Dialects of which no op is compiled."""
_PRINT = "vector.print"
"""It calls functions that none of the process are."""


def lower(module: ir.Module, *, foreign: bool = True) -> tuple[ir.Module, tuple[ForeignCall, ...]]:
    """The module without ops of dialects that have a lowering of their own, in a context that may be another, and what it calls.

    Args:
        foreign: whether it may call libraries for ops that have none.

    Raises:
        UnsupportedOpError: an op has none, or the pass that should lower it refuses it or dies of it.
    """
    calls = tuple[ForeignCall, ...]()
    for dialect, pipelines in _LOWERINGS.items():
        found = next((op for op in _ops(module) if dialect_of(op.name) == dialect), None)
        if found is None:
            continue
        place = python_line(found.location) or None
        if dialect == "stablehlo":
            inline_calls(module)  # those of regions too, which are taken apart
            with entered(module.operation):
                calls = call_libraries(module, allowed=foreign)
                write_without(module)
            run_mlir_passes(module, "symbol-dce")  # functions that nobody names any more
        try:
            module = lowered(module, pipelines, stablehlo=dialect == "stablehlo")
        except LoweringFailed as error:
            raise _unlowered(dialect, error.diagnostics.strip().partition("\n note")[0], place) from error
        except LoweringDied as error:
            raise _unlowered(dialect, error.how, place) from error
        if dialect == "stablehlo":
            with entered(module.operation):
                lower_control_flow(module)
    take_apart(module)
    if any(op.name == REALLOC for op in _ops(module)):
        run_mlir_passes(module, "expand-realloc")
    return module, calls


def arithmetic_as_loops(module: ir.Module) -> None:
    """Makes `linalg` ops of arithmetic on tensors: of these is known what they demand of sizes, and each number is looked at."""
    if any(_is_arithmetic_on_tensors(op) for op in _ops(module)):
        run_mlir_passes(module, "func.func(convert-elementwise-to-linalg)")


def _is_arithmetic_on_tensors(op: ir.Operation) -> bool:
    """Whether an op computes tensors of others, element by element."""
    return dialect_of(op.name) in SCALAR_DIALECTS and any(is_any_tensor(operand.type) for operand in op.operands)


def inline_calls(module: ir.Module) -> None:
    """Puts the bodies of functions where they are called, as far as MLIR does; functions that nobody calls go."""
    run_mlir_passes(module, "inline{default-pipeline=},func.func(canonicalize),symbol-dce")


def refuse_what_is_not_compiled(module: ir.Module, *, keeps_globals: bool = False) -> None:
    """Raises UnsupportedOpError for the first op or value that nothing behind the front end can take.

    `keeps_globals`: the front end makes memory of the program of global tensors that are stored.
    """
    functions = named_functions(module)
    globals_ = globals_of(module)
    ops = _ops(module)
    ops.sort(key=lambda op: "called_computations" not in op.attributes)  # before what they call
    for op in ops:
        where = python_line(op.location)
        name = called_name(op)
        if name is not None and is_declaration(functions[name]):
            raise UnsupportedOpError(
                f"call of @{name}", expected="a function with a body", got="a declaration", where=where
            )
        if op.name == GLOBAL:
            _refuse_unknown(op, globals_)
        if dialect_of(op.name) == "linalg" and any(inner.name == STORE for inner in nested_ops(op)):
            expected = "an op that yields what it computes"
            raise UnsupportedOpError(
                f"a store inside of `{op.name}`", expected=expected, got="memref.store", where=where
            )
        if op.name == "ml_program.global_store" and not keeps_globals:
            got, hint = "state", "Pass it as an argument, which the program may write."
            what = f"global {op.attributes['global']}"
            raise UnsupportedOpError(what, expected="a constant with a value", got=got, where=where, hint=hint)
        _refuse_gaps(op)
        if dialect_of(op.name) in _FOREIGN or op.name == _PRINT:
            expected = "ops that have a lowering to linalg, or are compiled themselves"
            called = f" of @{text_of(op, 'call_target_name')}" if "call_target_name" in op.attributes else ""
            got = f"{op.name}{called}"
            raise UnsupportedOpError(f"op `{op.name}` has no lowering", expected=expected, got=got, where=where)
        for kind in (*(value.type for value in op.results), *_argument_types(op)):
            if isinstance(kind, ir.MemRefType) and not is_strided(kind):
                expected = "a layout of strides, such as memref<4x4xf32, strided<[1, 4]>>"
                raise UnsupportedOpError(f"a memref of `{op.name}`", expected=expected, got=str(kind), where=where)
            if isinstance(kind, ir.MemRefType) and cast(Any, kind).memory_space is not None:
                expected = "the default memory space, or one that is a number"
                raise UnsupportedOpError(f"a memref of `{op.name}`", expected=expected, got=str(kind), where=where)
            if isinstance(kind, (ir.UnrankedTensorType, ir.UnrankedMemRefType)):
                raise UnsupportedOpError(
                    f"a value without rank, of `{op.name}`",
                    expected="tensors and memrefs of a known rank",
                    got=str(kind),
                    where=where,
                    hint="Give each dimension, as in tensor<?x?xf32>; `?` is any size.",
                )


def _refuse_gaps(op: ir.Operation) -> None:
    """Raises UnsupportedOpError where a result keeps elements of its init: MLIR's fusion forgets them."""
    found = partly_written(op)
    if found is not None:
        raise UnsupportedOpError(
            "a result of `linalg.generic`",
            expected="an output map of plain dimensions, such as (d0, d1) -> (d1, d0)",
            got=str(found),
            where=python_line(op.location),
            hint="Compute a tensor of the elements that are written, and insert it with `tensor.insert_slice`.",
        )


def _refuse_unknown(op: ir.Operation, globals_: Mapping[str, ir.Operation]) -> None:
    """Raises UnsupportedOpError for a constant global of which nobody says what it holds."""
    name = text_of(op, "name")
    told = globals_[name].attributes
    if "constant" in told and ("initial_value" not in told or isinstance(told["initial_value"], ir.UnitAttr)):
        where = python_line(op.location) or None
        raise UnsupportedOpError(f"global @{name}", expected="a constant with a value", got="none", where=where)


def _unlowered(dialect: str, got: str, where: str | None) -> UnsupportedOpError:
    return UnsupportedOpError(
        f"lowering of `{dialect}`", expected="ops that MLIR lowers to linalg", got=got, where=where
    )


def _argument_types(op: ir.Operation) -> list[ir.Type]:
    return [a.type for region in op.regions for block in region.blocks for a in block.arguments]


def _ops(module: ir.Module) -> list[ir.Operation]:
    return list(nested_ops(module.operation))
