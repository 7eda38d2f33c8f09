"""Lines of a kernel in the making: numbered values, constants, and arithmetic on indices and conditions that folds.

An index in the making is a Python int while it is known and the name of an SSA value once it is not, so that one generator
writes static and dynamic kernels; so is a condition, with a bool.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

Index: TypeAlias = int | str
"""A number, or the name of an SSA value of type `index`."""

Condition: TypeAlias = bool | str
"""A truth, or the name of an SSA value of type `i1`."""


class Values:
    """Collects lines and the values they define: constants at the head of the function, everything else in order.

    Names are numbered in order, so the same calls give the same text.
    """

    __slots__ = ("_body", "_constants", "_count", "_depth", "_head")

    def __init__(self) -> None:
        self._head: list[str] = []
        self._body: list[str] = []
        self._constants: dict[tuple[str, str], str] = {}
        self._count = 0
        self._depth: int = 1

    def _name(self) -> str:
        self._count += 1
        return f"%v{self._count}"

    def line(self, text: str) -> None:
        self._body.append("  " * self._depth + text)

    def value(self, text: str) -> str:
        """A new value, the result of the operation `text`."""
        name = self._name()
        self.line(f"{name} = {text}")
        return name

    def several(self, text: str, count: int) -> list[str]:
        """New values, the results of the operation `text`, of which there are so many."""
        name = self._name()
        self.line(f"{name}:{count} = {text}")
        return [f"{name}#{i}" for i in range(count)]

    def constant(self, literal: str, kind: str) -> str:
        key = (literal, kind)
        if key not in self._constants:
            name = self._constants[key] = self._name()
            typed = "" if kind == "i1" else f" : {kind}"  # true and false carry their type
            self._head.append(f"{name} = arith.constant {literal}{typed}")
        return self._constants[key]

    def index(self, value: Index) -> str:
        return value if isinstance(value, str) else self.constant(str(value), "index")

    # Index arithmetic

    def _arith(self, name: str, a: Index, b: Index) -> str:
        return self.value(f"arith.{name} {self.index(a)}, {self.index(b)} : index")

    def add(self, *terms: Index) -> Index:
        total: Index = sum(term for term in terms if isinstance(term, int))
        for term in terms:
            if isinstance(term, str):
                total = term if total == 0 else self._arith("addi", total, term)
        return total

    def sub(self, a: Index, b: Index) -> Index:
        if isinstance(b, int):
            return self.add(a, -b)
        return self._arith("subi", a, b)

    def mul(self, a: Index, b: Index) -> Index:
        if isinstance(a, int) and isinstance(b, int):
            return a * b
        if a == 0 or b == 0:
            return 0
        if a == 1:
            return b
        return a if b == 1 else self._arith("muli", a, b)

    def floordiv(self, a: Index, b: Index) -> Index:
        if isinstance(a, int) and isinstance(b, int):
            return a // b
        return a if b == 1 else self._arith("floordivsi", a, b)

    def ceildiv(self, a: Index, b: Index) -> Index:
        if isinstance(a, int) and isinstance(b, int):
            return -(-a // b)
        return a if b == 1 else self._arith("ceildivsi", a, b)

    def even(self, size: Index, most: Index) -> Index:
        """The length, at least 1, of as few parts of much the same length as there can be, none longer than `most`."""
        return self.maximum(1, self.ceildiv(size, self.maximum(1, self.ceildiv(size, most))))

    def mod(self, a: Index, b: int) -> Index:
        """The remainder that has the sign of `b`, which is positive."""
        if isinstance(a, int):
            return a % b
        return 0 if b == 1 else self.sub(a, self.mul(self.floordiv(a, b), b))

    def minimum(self, a: Index, b: Index) -> Index:
        if isinstance(a, int) and isinstance(b, int):
            return min(a, b)
        return a if a == b else self._arith("minsi", a, b)

    def maximum(self, a: Index, b: Index) -> Index:
        if isinstance(a, int) and isinstance(b, int):
            return max(a, b)
        return a if a == b else self._arith("maxsi", a, b)

    def dot(self, positions: Sequence[Index], strides: Sequence[Index]) -> Index:
        """The element offset of a position."""
        return self.add(*(self.mul(p, s) for p, s in zip(positions, strides, strict=True)))

    # Conditions

    def at_least(self, a: Index, b: Index) -> Condition:
        if isinstance(a, int) and isinstance(b, int):
            return a >= b
        return self.value(f"arith.cmpi sge, {self.index(a)}, {self.index(b)} : index")

    def equal(self, a: Index, b: Index) -> Condition:
        if a == b or (isinstance(a, int) and isinstance(b, int)):
            return a == b
        return self.value(f"arith.cmpi eq, {self.index(a)}, {self.index(b)} : index")

    def negation(self, condition: Condition) -> Condition:
        """Whether it does not hold."""
        if isinstance(condition, bool):
            return not condition
        return self.value(f"arith.xori {condition}, {self.constant('true', 'i1')} : i1")

    def both(self, a: Condition, b: Condition) -> Condition:
        if isinstance(a, bool):
            return b if a else False
        if isinstance(b, bool):
            return a if b else False
        return self.value(f"arith.andi {a}, {b} : i1")

    def either(self, a: Condition, b: Condition) -> Condition:
        if isinstance(a, bool):
            return True if a else b
        if isinstance(b, bool):
            return True if b else a
        return self.value(f"arith.ori {a}, {b} : i1")

    def select(self, condition: Condition, yes: Index, no: Index) -> Index:
        if isinstance(condition, bool):
            return yes if condition else no
        return self.value(f"arith.select {condition}, {self.index(yes)}, {self.index(no)} : index")
