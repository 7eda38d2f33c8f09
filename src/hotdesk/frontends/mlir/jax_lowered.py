"""The StableHLO of what `jax.jit(f).lower(x)` gives, without the dialects that the wheel does not have.

    chlo.erf %x      ->   math.erf %x
    chlo.lgamma %x   ->   what JAX's own MLIR makes of it in StableHLO

1. Squares are products, and functions that MLIR's dialect `math` has are its own, for which there are kernels.
2. All other ops of CHLO become StableHLO by the pass that JAX's library has for that: JAX is there, as it has
   lowered the function.
3. Rules for sharding, of the dialect `sdy`, are left out.
"""

from __future__ import annotations

import re
from contextlib import suppress
from functools import partial
from importlib import import_module
from typing import Any, cast

_FUNCTIONS = "acosh?|asinh?|atanh?|cosh|erfc?|sinh"
_CHLO = re.compile(rf"chlo\.(square|{_FUNCTIONS}) (%[\w#.]+) : (tensor<[^>]*>) -> tensor<[^>]*>")
_LEGALIZED = "builtin.module(func.func(chlo-legalize-to-stablehlo))"


def is_lowered_by_jax(model: object) -> bool:
    """Whether a model is what `jax.jit(f).lower(x)` gives; JAX is not imported."""
    return type(model).__name__ == "Lowered" and type(model).__module__.partition(".")[0] == "jax"


def text_of(lowered: Any) -> str:
    """The module as text; an op of CHLO that JAX's library does not legalize stays in it."""
    text = _CHLO.sub(_without_chlo, cast(str, lowered.as_text()))
    if "chlo." not in text and "#sdy." not in text:
        return text
    with suppress(Exception):  # of a JAX that is made otherwise
        return _legalized(text, lowered.compiler_ir("stablehlo").context)
    return text


def _without_chlo(found: re.Match[str]) -> str:
    """A function as that of the dialect `math`, and a square as a product."""
    name, operand, kind = found.groups()
    return (
        f"stablehlo.multiply {operand}, {operand} : {kind}" if name == "square" else f"math.{name} {operand} : {kind}"
    )


def _legalized(text: str, context: Any) -> str:
    ir, passes = import_module("jaxlib.mlir.ir"), import_module("jaxlib.mlir.passmanager")
    import_module("jaxlib.mlir.dialects.stablehlo").register_stablehlo_passes()
    with context:
        module = ir.Module.parse(text)
        module.operation.walk(partial(_without_shardings, ir.WalkResult.ADVANCE))
        passes.PassManager.parse(_LEGALIZED).run(module.operation)
    return str(module)


def _without_shardings(go_on: Any, op: Any) -> Any:
    for name in [each if isinstance(each, str) else each.name for each in op.attributes]:
        if name.startswith("sdy."):
            del op.attributes[name]
    return go_on
