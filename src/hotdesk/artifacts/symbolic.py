"""SymPy's expressions of sizes as formulas of a file."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

import sympy

from hotdesk.artifacts.records import Ref
from hotdesk.errors import NotSavableError
from hotdesk.sizes.expressions import Quotient, divided, with_quotients
from hotdesk.sizes.size import spelled

_algebra: Any = sympy
_OPERATIONS: Mapping[Any, str] = {
    _algebra.Add: "+",
    _algebra.Mul: "*",
    _algebra.Max: "max",
    _algebra.Min: "min",
    _algebra.Mod: "%",
    _algebra.Pow: "**",
    Quotient: "//",
    _algebra.And: "&",
    _algebra.Or: "|",
    _algebra.Not: "!",
}
_RELATIONS: Mapping[Any, tuple[str, bool]] = {
    _algebra.Equality: ("==", False),
    _algebra.Unequality: ("!=", False),
    _algebra.StrictLessThan: ("<", False),
    _algebra.LessThan: ("<=", False),
    _algebra.StrictGreaterThan: ("<", True),
    _algebra.GreaterThan: ("<=", True),
}


class FormulaWriter:
    """Writes a table of formulas; each expression is in it once."""

    def __init__(self) -> None:
        self.nodes: list[tuple[Any, ...]] = []
        self._known: dict[tuple[Any, ...], int] = {}

    def size(self, size: Any) -> int | Ref:
        """A size as a record has it. Raises NotSavableError."""
        if isinstance(size, int):
            return size
        return Ref(self._written(divided(size)), spelled(size))

    def relation(self, relation: Any) -> Ref:
        """A relation as a record has it. Raises NotSavableError."""
        return Ref(self._written(with_quotients(relation)), spelled(relation))

    def _written(self, expression: Any) -> int:
        if expression.is_Symbol:
            return self._node("s", expression.name)
        if expression.is_Integer or expression in (_algebra.true, _algebra.false):
            return self._node("n", int(bool(expression)) if not expression.is_Integer else int(expression))
        if type(expression) in _RELATIONS:
            return self._compared(expression)
        if isinstance(expression, _algebra.Piecewise):
            return self._chosen(expression)
        operation = _OPERATIONS.get(type(expression))
        if operation is None or (operation == "**" and not (expression.exp.is_Integer and expression.exp > 0)):
            raise NotSavableError(
                "a size of the program", expected="sums, products and quotients of sizes", got=spelled(expression)
            )
        return self._node(operation, *[self._written(each) for each in expression.args])

    def _compared(self, relation: Any) -> int:
        """Both sides times their denominators, which are numbers: what is compared are integers."""
        operation, swapped = _RELATIONS[type(relation)]
        sides = [_algebra.fraction(_algebra.together(side)) for side in (relation.lhs, relation.rhs)]
        if not all(denominator.is_Integer and denominator > 0 for _, denominator in sides):
            raise NotSavableError("a check of sizes", expected="a relation of whole sizes", got=spelled(relation))
        (left, left_by), (right, right_by) = sides
        numbers = [self._written(_algebra.expand(left * right_by)), self._written(_algebra.expand(right * left_by))]
        return self._node(operation, *(reversed(numbers) if swapped else numbers))

    def _chosen(self, expression: Any) -> int:
        """A chain of choices, from the last one on; what none of them is for has no value."""
        found = self._node("//", self._node("n", 1), self._node("n", 0))
        for value, condition in reversed(cast("tuple[Any, ...]", expression.args)):
            found = self._node("?", self._written(condition), self._written(divided(value)), found)
        return found

    def _node(self, *node: Any) -> int:
        if node not in self._known:
            self._known[node] = len(self.nodes)
            self.nodes.append(node)
        return self._known[node]
