"""Contexts with every dialect Hotdesk meets, and running MLIR's own passes."""

from __future__ import annotations

import io
import re
from collections.abc import Generator
from contextlib import contextmanager

from hotdesk._bindings import PassManager, ir, irdl, register_stablehlo, register_torch
from hotdesk.errors import InvalidIRError, PassError
from hotdesk.ir.dialect import DIALECT


def make_context(*, stablehlo: bool = False) -> ir.Context:
    """A context with upstream MLIR, torch-mlir, its `tm_tensor` and the `hotdesk` dialect; with StableHLO if asked for."""
    context = ir.Context()
    register_torch(context)
    if stablehlo:
        register_stablehlo(context)
    with context, ir.Location.unknown():
        irdl.load_dialects(ir.Module.parse(DIALECT))
        # No binding registers `tm_tensor`; a pass that makes its ops loads it (0.5 ms, where the context takes 30).
        PassManager.parse("builtin.module(func.func(convert-torch-to-tmtensor))").run(ir.Module.create().operation)
    return context


def is_known_dialect(name: str, context: ir.Context) -> bool:
    """Whether a context has a dialect of that name, or takes ops of any."""
    try:
        return bool(context.dialects[name])
    except IndexError:
        return bool(name) and context.allow_unregistered_dialects


def bytecode(module: ir.Module) -> bytes:
    """The module as MLIR bytecode, locations included."""
    written = io.BytesIO()
    module.operation.write_bytecode(written)
    return written.getvalue()


def of_bytecode(code: bytes) -> ir.Module:
    """A module from its bytecode, in a context of its own."""
    return ir.Module.parse(code, make_context())


@contextmanager
def entered(operation: ir.Operation) -> Generator[None]:
    """Makes the operation's context current, with an unknown default location."""
    with operation.context, ir.Location.unknown():
        yield


_WRONG_PATTERNS = ("FoldInsertPadIntoFill", "ForOpTensorCastFolder")
_CANONICALIZE = re.compile(r"\bcanonicalize\{(?![^{}]*disable-patterns)")
_NAMES = [f'{{anonymous}}::{each},"(anonymous namespace)::{each}"' for each in _WRONG_PATTERNS]  # by GCC, by Clang
_DISABLED = f"disable-patterns={','.join(_NAMES)}"


def _parsed(pipeline: str) -> PassManager:
    """The passes of a pipeline, but for patterns of MLIR's canonicalization that change values.

    One folds padding into `tensor.insert_slice` and takes the slice's strides for 1, as a transposed convolution's are not. The
    other has a loop carry the sizes that a tensor has before it, as one that grows there has not.
    """
    manager = PassManager.parse(f"builtin.module({pipeline})")
    spelled, count = _CANONICALIZE.subn(f"canonicalize{{{_DISABLED} ", str(manager))
    return PassManager.parse(spelled) if count else manager


def run_mlir_passes(module: ir.Module, pipeline: str, *, verify_each: bool = True) -> None:
    """Runs a textual MLIR pipeline (without the `builtin.module(…)` around it) on a module.

    The module is verified after each pass, or else, in half of the time, after the last one only.

    Raises:
        PassError: when a pass fails; carries MLIR's diagnostics.
    """
    with entered(module.operation):
        try:
            passes = _parsed(pipeline)
            passes.enable_verifier(verify_each)
            passes.run(module.operation)
            if not verify_each:
                module.operation.verify()
        except ir.MLIRError as error:
            raise PassError(f"MLIR pipeline `{pipeline}` failed", got=str(error)) from error


def verify(module: ir.Module, after: str) -> None:
    """Raises InvalidIRError when the module does not verify after the stage or pass of that name."""
    try:
        module.operation.verify()
    except ir.MLIRError as error:
        raise InvalidIRError(f"the module does not verify after {after}", got=str(error)) from error
