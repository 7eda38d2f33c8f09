"""Ops that compute a size, folded to a number by MLIR itself."""

from __future__ import annotations

from typing import Any, cast

import pytest
import sympy

from hotdesk._bindings import PassManager, ir
from hotdesk.errors import UnsupportedOpError
from hotdesk.ir.building import index_constant
from hotdesk.ir.context import make_context
from hotdesk.ir.size_ops import relation_value, size_value
from hotdesk.ir.walking import main_function, top_level_ops
from hotdesk.sizes.writing import unnamed

N, K = sympy.Symbol("n"), unnamed(1, "k")  # of what only the run knows, nobody knows the sign
VALUES = {N: 7, K: -3}
_sympy: Any = sympy


@pytest.mark.parametrize(
    "size",
    [
        sympy.Integer(5),
        4 * N**2 + K,
        sympy.floor(N / 2),
        sympy.floor(K / 2),
        _sympy.Mod(N, 3),
        _sympy.Mod(K, 5),
        sympy.Max(N, K),
        sympy.Min(N, 2),
        sympy.Piecewise((N, sympy.Gt(K, 0)), (K, True)),
        sympy.Piecewise((N, sympy.Or(sympy.Gt(K, 0), sympy.Ne(N, 1))), (K, True)),
    ],
    ids=str,
)
def test_the_ops_have_the_value_of_the_expression(size: sympy.Expr) -> None:
    with make_context(), ir.Location.unknown():
        module = ir.Module.parse("func.func @main() -> index { %c = arith.constant 0 : index return %c : index }")
        end = top_level_ops(main_function(module))[-1]

        def of(part: Any) -> ir.Value:
            return index_constant(VALUES[part], end) if part in VALUES else size_value(part, of, end)

        end.operands[0] = of(size)
        PassManager.parse("builtin.module(canonicalize)").run(module.operation)
        kept = top_level_ops(main_function(module))[0]
        assert cast(Any, kept.attributes["value"]).value == int(cast(Any, size).subs(VALUES))


def test_other_forms_are_refused_by_name() -> None:
    with make_context(), ir.Location.unknown():
        module = ir.Module.parse("func.func @main() { return }")
        end = top_level_ops(main_function(module))[-1]
        with pytest.raises(UnsupportedOpError, match=r"abs\(n\)"):
            size_value(sympy.Abs(N), lambda part: index_constant(1, end), end)
        with pytest.raises(UnsupportedOpError, match="comparisons of sizes"):
            relation_value(sympy.Not(sympy.Symbol("b")), lambda part: index_constant(1, end), end)
