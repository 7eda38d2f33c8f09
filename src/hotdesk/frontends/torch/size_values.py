"""Values of sizes that vary, made in front of an op, and the checks of them.

A size is computed from those of arguments, and from those that ops have found when the program runs. What PyTorch demands of it
is checked once all of that is known, in front of whatever uses it.
"""

# SymPy is annotated in part only.
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false
# pyright: reportUnnecessaryIsInstance=false

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, cast

import sympy

from hotdesk._bindings import ir
from hotdesk.frontends.torch.symbolic_numbers import plain
from hotdesk.ir.building import compared, constant, create, dim, index_cast, index_constant
from hotdesk.ir.divisions import BY_ZERO, demanded, may_fail
from hotdesk.ir.locations import CHECKED_OP
from hotdesk.ir.op_maps import OpMap
from hotdesk.ir.size_ops import relation_value, size_value
from hotdesk.ir.walking import constant_of, defining_op, top_level_ops
from hotdesk.program.symbolic import SymbolicSizes
from hotdesk.sizes.proofs import SizeProver
from hotdesk.sizes.size import spelled

_algebra: Any = sympy  # SymPy's functions are not annotated


@dataclass(frozen=True, slots=True)
class Check:
    """A relation between sizes and numbers that PyTorch demands, its line and message, and how users are told of it."""

    relation: Any
    line: str
    message: str = ""
    told: str = ""


def location_of(line: str, before: ir.Operation) -> ir.Location:
    """A line `file:number` as a location; that of an op where there is none."""
    file, _, number = line.rpartition(":")
    return ir.Location.file(file, int(number), 0) if file else before.location


def made_check(truth: ir.Value, told: str, op: str, line: str, before: ir.Operation) -> ir.Operation:
    """Makes a check of a truth, for an op at a line; `told` is what users are told that it expects."""
    attributes: dict[str, ir.Attribute] = {"msg": ir.StringAttr.get(told), CHECKED_OP: ir.StringAttr.get(op)}
    made = create("cf.assert", [truth], [], attributes, before=before)
    cast(Any, made).location = location_of(line, before)
    return made


def check_divisions(function: ir.Operation) -> OpMap[list[ir.Operation]]:
    """Makes the checks of the divisions of integers outside of control flow, each in front of its division; gives them by that.

    What holds for all sizes has none.
    """
    known, made = SymbolicSizes(function), OpMap[list[ir.Operation]]()
    for op in filter(may_fail, top_level_ops(function)):
        is_told = SizeProver(may_be_negative=known.may_be_negative).decided(_algebra.Ne(known.value(op.operands[1]), 0))
        name = "operator.mod" if "rem" in op.name else "operator.floordiv"
        needed = [(holds, told) for holds, told in demanded(op, op) if not (is_told and told is BY_ZERO)]
        made[op] = [made_check(holds, told, name, "", op) for holds, told in needed]
    return made


class SizeValues:
    """Index values for expressions over the sizes of arguments, made in front of an op.

    Sizes that are known only when the program runs become known by `defined` and `told`; what is demanded of them is checked
    then. `asserts` are the checks that were made, `asserts_of_arguments` those among them that nothing has to run for, `checked`
    those that go in front of an op, by that op.
    """

    def __init__(
        self,
        arguments: Sequence[Any],
        values: Sequence[ir.Value],
        before: ir.Operation,
        checks: Sequence[Check] = (),
        *,
        spell: Callable[[Any], str] = spelled,
    ) -> None:
        """`spell` says how sizes are told in refusals."""
        self._before = before
        self._spell = spell
        self._known: dict[Any, ir.Value] = {}
        self._sources: dict[Any, tuple[ir.Value, int]] = {}
        self._numbers: dict[Any, ir.Value] = {}
        self._pending = list(checks)
        self._given: set[Any] = set()
        self.asserts: list[ir.Operation] = []
        self.asserts_of_arguments: list[ir.Operation] = []
        self.checked = OpMap[list[ir.Operation]]()
        for given, value in zip(arguments, values, strict=True):
            if not isinstance(given, tuple):
                self._numbers.setdefault(given, value)
                continue
            self._note(value, cast("tuple[Any, ...]", given))
        self._given.update(self._sources)
        self._arguments = frozenset({*self._sources, *self._numbers})

    def _note(self, value: ir.Value, shape: Sequence[Any]) -> None:
        for position, size in enumerate(shape):
            if isinstance(size, sympy.Symbol):
                self._sources.setdefault(size, (value, position))

    def is_new(self, size: Any) -> bool:
        """Whether a size is a symbol of which nobody has told what it is."""
        places = (self._known, self._sources, self._numbers)
        return isinstance(size, sympy.Symbol) and not any(size in each for each in places)

    def defined(self, symbol: Any, found: ir.Value, most: ir.Value | None = None) -> ir.Value:
        """The value of a symbol that an op has found, once what is demanded of it is checked: never more than its limits.

        Args:
            most: a limit that it never exceeds, if there is one.
        """
        self._known[symbol] = found
        ready = [check for check in self._pending if self._are_known(check.relation)]
        self._pending = [check for check in self._pending if check not in ready]
        asserts = [self._assert(check) for check in ready]
        relations = [check.relation for check in ready]
        equal = self._equal(symbol, relations)
        checked = self._limited(found, most, symbol, relations) if equal is None else self.of(equal)
        if asserts and (equal is not None or checked is found):  # an op of its own, that the checks go in front of
            found, checked = checked, self._made_of("arith.addi", [checked, index_constant(0, self._before)])
        if asserts:
            first = defining_op(checked)
            while first is not None and first.operands[0] != found:
                first = defining_op(first.operands[0])
            self.checked[cast(ir.Operation, first)] = asserts
        self._known[symbol] = checked
        return checked

    def _limited(self, found: ir.Value, most: ir.Value | None, symbol: Any, relations: Sequence[Any]) -> ir.Value:
        """The value of a symbol within the limits that relations set."""
        limits = [self.of(limit) for limit in (_limit(relation, symbol) for relation in relations) if limit is not None]
        least = max(
            (int(each) for each in (_least(relation, symbol) for relation in relations) if each is not None), default=-1
        )
        limited = found
        for limit in limits if most is None else [most, *limits]:
            limited = self._made_of("arith.minsi", [limited, limit])
        if limited is not found and least >= 0:
            limited = self._made_of("arith.maxsi", [limited, index_constant(least, self._before)])
        return limited

    def demanded(self, symbol: Any) -> Any:
        """What a symbol that an op is about to find has to be, if a check says it: an expression of sizes of arguments."""
        return self._equal(symbol, [check.relation for check in self._pending])

    def larger(self, value: ir.Value, size: Any) -> ir.Value:
        """The larger one of a value and an expression."""
        return self._made_of("arith.maxsi", [value, self.of(size)])

    def _equal(self, symbol: Any, relations: Sequence[Any]) -> Any:
        found = (_equal(relation, symbol) for relation in relations)
        return next((each for each in found if each is not None and each.free_symbols <= self._given), None)

    def told(self, value: ir.Value, shape: Sequence[Any], number: Any) -> ir.Value:
        """The result of an op that was cut out, with what it tells of sizes: a tensor of a shape, or the value of a number."""
        self._note(value, shape)
        if isinstance(number, sympy.Eq) and number.args[1] == 1 and self.is_new(number.args[0]):  # a truth, counted
            wide = create("arith.index_castui", [value], [ir.IndexType.get()], before=self._before).results[0]
            self.defined(number.args[0], wide)
        if number is None or not self.is_new(number):
            return value
        if not isinstance(value.type, ir.IntegerType) or value.type.width == 1:
            return value
        index = ir.IndexType.get()
        found = index_cast(value, index, self._before)
        return index_cast(self.defined(number, found), value.type, self._before)

    def check_the_rest(self) -> None:
        """Makes the checks that no size had to wait for. Raises UnsupportedOpError if one is of what nobody knows."""
        for check in self._pending:
            made = self._assert(check)
            if check.relation.free_symbols <= self._arguments:
                self.asserts_of_arguments.append(made)
        self._pending = []

    def _are_known(self, relation: Any) -> bool:
        return not any(self.is_new(symbol) for symbol in relation.free_symbols)

    def _assert(self, check: Check) -> ir.Operation:
        holds = relation_value(check.relation, self.of, self._before)
        made = made_check(holds, check.told, "torch._check", check.line, self._before)
        self.asserts.append(made)
        return made

    def _made_of(self, op: str, operands: Sequence[ir.Value]) -> ir.Value:
        return create(op, operands, [ir.IndexType.get()], before=self._before).results[0]

    def of(self, size: Any) -> ir.Value:
        """The value of an expression. Raises UnsupportedOpError if it is none of integers and sizes of arguments."""
        if size not in self._known:
            self._known[size] = self._made(size)
        return self._known[size]

    def _made(self, size: Any) -> ir.Value:
        if size in self._sources:
            value, position = self._sources[size]
            return dim(value, position, self._before)
        if size in self._numbers:
            return index_cast(self._numbers[size], ir.IndexType.get(), self._before)
        # PyTorch's symbols of sizes are known not to be negative; those of numbers that `item()` reads are not.
        return size_value(size, self.of, self._before, lambda symbol: not symbol.is_nonnegative, self._spell)

    def number(self, expression: Any, kind: ir.Type) -> ir.Value:
        """The value of one of PyTorch's expressions, as an integer or a float. Raises UnsupportedOpError as `of` does."""
        if isinstance(kind, ir.IntegerType):
            return index_cast(self.of(plain(expression)), kind, self._before)
        return self._float(expression)

    def _float(self, number: Any) -> ir.Value:
        """The value of an expression of floats. PyTorch computes those in 64 bits."""
        name = type(number).__name__
        if number.is_number:
            with self._before.context:
                return self._made_float("arith.constant", [], {"value": ir.FloatAttr.get_f64(float(number))})
        if name.startswith(_OPAQUE_FUNCTION):
            return self._made_float(f"math.{name.removeprefix(_OPAQUE_FUNCTION)}", [self._float(number.args[0])])
        if name in _OF_FLOATS:
            first, *rest = map(self._float, number.args)
            for each in rest:
                first = self._of_floats(_OF_FLOATS[name], first, each)
            return first
        whole = number.args[0] if name == "ToFloat" else number
        return self._made_float("arith.sitofp", [self.number(whole, ir.IntegerType.get_signless(64))])

    def _of_floats(self, op: str, first: ir.Value, second: ir.Value) -> ir.Value:
        """An op on two floats. Python has no quotients by 0, nor negative powers of it, where floats have infinity."""
        made, power = self._made_float(op, [first, second]), constant_of(second)
        if op == "arith.divf":
            self._check_not_zero(second, made, "no division of a number by zero", "operator.truediv")
        elif op == "math.powf" and power is not None and power < 0:
            self._check_not_zero(first, made, "no negative power of zero", "operator.pow")
        return made

    def _check_not_zero(self, number: ir.Value, made: ir.Value, told: str, op: str) -> None:
        """Checks that a float is not 0, in front of what is made of it."""
        holds = compared("une", number, constant(0.0, number.type, self._before), self._before)
        check = made_check(holds, told, op, "", self._before)
        self.asserts.append(check)
        self.checked[cast(ir.Operation, defining_op(made))] = [check]

    def _made_float(self, op: str, operands: Sequence[ir.Value], attributes: Any = None) -> ir.Value:
        return create(op, operands, [ir.F64Type.get()], attributes, before=self._before).results[0]


_OF_FLOATS = {
    "Add": "arith.addf",
    "Mul": "arith.mulf",
    "Pow": "math.powf",
    "FloatPow": "math.powf",
    **dict.fromkeys(("FloatTrueDiv", "IntTrueDiv"), "arith.divf"),
}
_OPAQUE_FUNCTION = "OpaqueUnaryFn_"
"""How PyTorch calls functions of one float."""


def _limit(relation: Any, symbol: Any) -> Any:
    """What a relation says that a symbol never exceeds; None if it does not."""
    if isinstance(relation, sympy.Ge | sympy.Gt):
        relation = relation.reversed
    if not isinstance(relation, sympy.Le | sympy.Lt) or relation.args[0] != symbol:
        return None
    limit: Any = relation.args[1]
    return None if symbol in limit.free_symbols else limit - 1 if isinstance(relation, sympy.Lt) else limit


def _equal(relation: Any, symbol: Any) -> Any:
    """What a relation says that a symbol is equal to; None if it does not."""
    if not isinstance(relation, sympy.Eq) or relation.args[0] != symbol:
        return None
    other: Any = relation.args[1]
    return None if symbol in other.free_symbols else other


def _least(relation: Any, symbol: Any) -> Any:
    """The number that a relation says a symbol is at least; None if it does not."""
    if isinstance(relation, sympy.Le | sympy.Lt):
        relation = relation.reversed
    if not isinstance(relation, sympy.Ge | sympy.Gt) or relation.args[0] != symbol:
        return None
    limit: Any = relation.args[1]
    if not limit.is_Integer:
        return None
    return limit + 1 if isinstance(relation, sympy.Gt) else limit
