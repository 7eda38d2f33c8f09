"""Innermost loops that are cut where an index into memory bends, so that what is read in each part lies together.

    for %j = 0 to 9 {                      for %j = 0 to 3 { %y[%j] = %x[3 - %j] }
      %y[%j] = %x[abs(%j - 3)]      ->     for %j = 3 to 9 { %y[%j] = %x[%j - 3] }
    }

Padding that reflects or repeats reads a row of its operand from one end to the other, but for its edges. Where an index is chosen
in each iteration, vectors take an address for each of their elements; in a part of the loop there is nothing to choose. An index
bends at an absolute value, the smaller or larger of two numbers (`math.absi`, `arith.minsi`, `arith.maxsi`), or one of two that
a comparison chooses (`arith.select` of an `arith.cmpi`).

A loop is cut iff

1. its bounds are known, its step is 1, it carries no values, and has no loop or branch in it; what is the same in all iterations
   goes in front of it;
2. all choices that an index into memory depends on are by sums, differences and multiples of the loop's number and constants,
   small enough to wrap around nowhere, and choose among such;
3. no choice is by a number that goes up or down by more than 1 with the loop, and there are few choices in a short body.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from typing import NamedTuple

from hotdesk._bindings import ir
from hotdesk.graphs import reached
from hotdesk.ir.arithmetic import ABSOLUTE, ADD, COMPARE, GREATEST, INDEX_CAST, LEAST, MULTIPLY, SUBTRACT
from hotdesk.ir.building import PREDICATES, constant, create
from hotdesk.ir.context import entered
from hotdesk.ir.loops import for_bounds
from hotdesk.ir.walking import constant_of, defining_op, integer_of, nested_ops
from hotdesk.models.control_flow import CHOICE
from hotdesk.models.memref import LOAD, STORE
from hotdesk.models.scf import FOR

_MOST_CHOICES = 12
_LONGEST = 96
"""Operations of a body that may be there once for each part."""
_MOST_FORMS = 16
_SMALL = 1 << 40
_CHOICES = (ABSOLUTE, LEAST, GREATEST, CHOICE)
_LESS, _NOT_GREATER, _GREATER, _NOT_LESS = (PREDICATES.index(how) for how in ("slt", "sle", "sgt", "sge"))


def split_loops(module: ir.Module) -> None:
    """Cuts the loops of a module's functions."""
    with entered(module.operation):
        for loop in [op for op in nested_ops(module.operation) if op.name == FOR and _is_plain(op)]:
            _hoist(loop)
            if _fits(loop):
                _cut(loop)


class _LinearForm(NamedTuple):
    """A number as a multiple of that of the loop, and a constant."""

    slope: int
    constant: int

    def plus(self, other: _LinearForm, times: int = 1) -> _LinearForm:
        return _LinearForm(self.slope + times * other.slope, self.constant + times * other.constant)


_ZERO = _LinearForm(0, 0)


class _ChoiceBySign(NamedTuple):
    """What an op chooses by, `first` where that is not negative and else `other`, each a value or the negative of one."""

    by: tuple[tuple[ir.Value, int], ...]  # values and how often they count
    less: int  # a constant that counts against
    first: tuple[ir.Value, int]
    other: tuple[ir.Value, int]


def _body(loop: ir.Operation) -> list[ir.Operation]:
    return [each.operation for each in loop.regions[0].blocks[0].operations]


def _is_plain(loop: ir.Operation) -> bool:
    """Rule 1, of a loop that has choices at all."""
    body, bounds = _body(loop), for_bounds(loop)
    if len(loop.operands) > 3 or {each.name for each in body}.isdisjoint(_CHOICES):
        return False
    known = isinstance(bounds.lower, int) and isinstance(bounds.upper, int) and bounds.step == 1
    return known and len(body) <= _LONGEST and not any(len(each.regions) for each in body)


def _hoist(loop: ir.Operation) -> None:
    """Puts arithmetic on integers that is the same in all iterations in front of a loop."""
    block = loop.regions[0].blocks[0]
    number = block.arguments[0]
    for op in _body(loop):
        if op.name not in (*_CHOICES, COMPARE, ADD, SUBTRACT, MULTIPLY, INDEX_CAST) or isinstance(
            op.results[0].type, ir.FloatType
        ):
            continue
        makers = [defining_op(value) for value in op.operands]
        if number not in op.operands and all(maker is None or maker.block != block for maker in makers):
            op.move_before(loop)


def _choices(loop: ir.Operation) -> list[ir.Operation]:
    """The choices in a loop that indices into memory depend on, in order."""
    block, body = loop.regions[0].blocks[0], _body(loop)

    def operands(value: ir.Value) -> Sequence[ir.Value]:
        maker = defining_op(value)
        return list(maker.operands) if maker is not None and maker.block == block and maker.name != LOAD else ()

    needed = {*reached([index for op in body for index in _indices(op)], operands)}
    return [op for op in body if op.name in _CHOICES and op.results[0] in needed]


def _indices(op: ir.Operation) -> list[ir.Value]:
    return list(op.operands)[{LOAD: 1, STORE: 2}[op.name] :] if op.name in (LOAD, STORE) else []


def _fits(loop: ir.Operation) -> bool:
    """Rules 2 and 3."""
    choices = _choices(loop)
    for op in choices:
        choice = _choice(op)
        by = None if choice is None else _chosen_by(choice, loop)
        if by is None or any(abs(each.slope) > 1 for each in by) or _forms(op.results[0], loop) is None:
            return False
    return 0 < len(choices) <= _MOST_CHOICES


def _choice(op: ir.Operation) -> _ChoiceBySign | None:
    """What an op chooses, and by what; None if no sign tells."""
    operands = list(op.operands)
    if op.name == ABSOLUTE:
        (x,) = operands
        return _ChoiceBySign(((x, 1),), 0, (x, 1), (x, -1))
    if op.name in (LEAST, GREATEST):
        a, b = operands
        sign = 1 if op.name == GREATEST else -1
        return _ChoiceBySign(((a, sign), (b, -sign)), 0, (a, 1), (b, 1))
    condition, first, other = operands
    maker = defining_op(condition)
    how = None if maker is None or maker.name != COMPARE else integer_of(maker, "predicate")
    if maker is None or how not in (_LESS, _NOT_GREATER, _GREATER, _NOT_LESS):
        return None
    a, b = maker.operands
    sign = 1 if how in (_GREATER, _NOT_LESS) else -1
    return _ChoiceBySign(((a, sign), (b, -sign)), int(how in (_LESS, _GREATER)), (first, 1), (other, 1))


def _chosen_by(choice: _ChoiceBySign, loop: ir.Operation) -> list[_LinearForm] | None:
    """All that what it chooses by may be."""
    found = [_LinearForm(0, -choice.less)]
    for value, times in choice.by:
        forms = _forms(value, loop)
        if forms is None or len(found) * len(forms) > _MOST_FORMS:
            return None
        found = [*dict.fromkeys(a.plus(b, times) for a, b in product(found, forms))]
    return found


def _forms(value: ir.Value, loop: ir.Operation) -> list[_LinearForm] | None:
    """All that an integer may be, by rule 2; None if it may be something else."""
    known, maker = constant_of(value), defining_op(value)
    if isinstance(known, int):
        return [_LinearForm(0, known)] if abs(known) < _SMALL else None
    if value == loop.regions[0].blocks[0].arguments[0]:
        return [_LinearForm(1, 0)]
    if maker is None or maker.block != loop.regions[0].blocks[0] or str(value.type) not in ("index", "i64"):
        return None
    found: list[_LinearForm] | None = None
    if maker.name == INDEX_CAST:
        found = _forms(maker.operands[0], loop)
    elif maker.name in _CHOICES:
        choice = _choice(maker)
        sides = [] if choice is None else [(_forms(side, loop), sign) for side, sign in (choice.first, choice.other)]
        found = [_ZERO.plus(each, sign) for forms, sign in sides for each in forms or ()]
        found = None if any(forms is None for forms, _ in sides) else found
    elif maker.name in (ADD, SUBTRACT, MULTIPLY):
        left, right = (_forms(each, loop) for each in maker.operands)
        found = [] if left is None or right is None else _combined(maker.name, left, right)
    if not found or len(found) > _MOST_FORMS or any(max(map(abs, each)) >= _SMALL for each in found):
        return None
    return [*dict.fromkeys(found)]


def _combined(name: str, left: list[_LinearForm], right: list[_LinearForm]) -> list[_LinearForm]:
    """The sums, differences or products; none where neither factor is a constant."""
    if name != MULTIPLY:
        return [a.plus(b, 1 if name == ADD else -1) for a, b in product(left, right)]
    if any(each.slope for each in right):
        left, right = right, left
    return [] if any(each.slope for each in right) else [_ZERO.plus(a, b.constant) for a, b in product(left, right)]


def _cut(loop: ir.Operation) -> None:
    """Cuts a loop where its first choice changes, and each part where the next ones do."""
    choices = _choices(loop)
    if not choices:
        return
    place, choice = _body(loop).index(choices[0]), _choice(choices[0])
    assert choice is not None
    forms = _chosen_by(choice, loop)
    assert forms is not None
    ((slope, rest),) = forms  # nothing in front of it is left to choose
    if slope == 0:
        parts = [(loop, rest >= 0)]
    else:  # not negative from -rest on, or up to rest
        low, high = _parts_at(-rest if slope > 0 else rest + 1, loop)
        parts = [(low, slope < 0), (high, slope > 0)]
    for part, is_first in parts:
        if part is not None:
            _choose(_body(part)[place], is_first)
            _cut(part)


def _parts_at(number: int, loop: ir.Operation) -> tuple[ir.Operation | None, ir.Operation | None]:
    """The loop up to a number and from there on; None of these where it has no iteration."""
    lower, upper = for_bounds(loop).lower, for_bounds(loop).upper
    assert isinstance(lower, int)
    assert isinstance(upper, int)
    if number <= lower:
        return None, loop
    if number >= upper:
        return loop, None
    middle = constant(number, loop.operands[0].type, loop)
    low = loop.clone(ir.InsertionPoint(loop)).operation
    low.operands[1] = middle
    loop.operands[0] = middle
    return low, loop


def _choose(op: ir.Operation, is_first: bool) -> None:
    choice = _choice(op)
    assert choice is not None
    value, sign = choice.first if is_first else choice.other
    if sign < 0:
        value = create(SUBTRACT, [constant(0, value.type, op), value], [value.type], before=op).results[0]
    op.results[0].replace_all_uses_with(value)
    op.erase()
