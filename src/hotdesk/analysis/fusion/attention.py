"""Attention in the operations it comes as: a product of queries and keys, what is done to the scores, a softmax, a product.

    %s = hotdesk.contract %q, %k; …elementwise…; %m = maximum of a row; %e = exp(%x - %m); %t = sum of %e over a row
    %p = %e / %t; %r = hotdesk.contract %p, %v

Rules:

1. The softmax is along the last dimension of its tensor, which the second product sums over; all of it is f32
   (`beyond-the-kernel`).
2. What it is a softmax of follows from the scores of one product by elementwise arithmetic and elementary functions, of them,
   constants, tensors that are broadcast to them and the numbers of the query and the key (`beyond-the-kernel`).
3. The scores, what follows from them and the weights are wanted by nothing else (`multiple-readers`).

A row all of whose scores are -∞ may be guarded: the maximum replaced by 0 where it is -∞, and the sum by 1 where it is 0. So may
any row whose weights are NaN, which it is as a whole, as its sum is: the weights replaced by 0 where they are NaN. A softmax
is known by the payloads of its ops: `arith.subf`, `math.exp`, `arith.divf`, and `arith.select` where something is replaced;
16-bit floats come of `arith.truncf`.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from math import inf
from typing import Any, TypeAlias, cast

from hotdesk._bindings import ir
from hotdesk.explain import Reason
from hotdesk.graphs import reached
from hotdesk.ir.dialect import ZeroRows
from hotdesk.ir.op_maps import OpSet
from hotdesk.ir.types import element_of, is_tensor, shape_of
from hotdesk.ir.walking import constant_of, constant_op, defining_op, dialect_of, flag_of, groups_of, made_by, users
from hotdesk.models.generics import GENERIC, Generic, loops_read, read_generic
from hotdesk.models.hotdesk import CONTRACT
from hotdesk.models.linalg import FILL
from hotdesk.models.tensor import COLLAPSE, EXPAND, RESHAPES

Formula: TypeAlias = tuple[Any, ...]
"""What a payload computes: `(op, formula, …)`, `("in", operand)` or `("constant", number)`."""

_WIDENING = ("arith.extf",)
_IN_SCORES = frozenset(("linalg.index", "linalg.yield", "math.absi"))
"""What scores are made with besides `arith`."""
_FUNCTIONS = frozenset(
    f"math.{name}"
    for name in (
        *("absf", "ceil", "copysign", "cos", "erf", "exp", "exp2", "expm1", "floor", "log", "log10", "log1p", "log2"),
        *("powf", "roundeven", "rsqrt", "sin", "sqrt", "tanh"),
    )
)
"""Functions of f32 that scores are made with: a hyperbolic tangent caps them softly."""
_EQUAL = 1
"""The number of `arith.cmpf`'s predicate `oeq`."""
_UNORDERED = (13, 14)
"""Those of `une` and `uno`, which hold for a number and itself where it is NaN."""
_IN, _FIRST, _SECOND = "in", ("in", 0), ("in", 1)


@dataclass(frozen=True, slots=True)
class Softmax:
    """A softmax along the last dimension of `logits`; `zero_rows` are the rows that are guarded; `ops` compute it."""

    logits: ir.Value
    weights: ir.Value
    zero_rows: ZeroRows
    ops: tuple[ir.Operation, ...]


@dataclass(frozen=True, slots=True)
class Attention:
    """Attention: `weighing` is the product of weights (its operand `weights`) and values, `scoring` that of queries and keys.

    `scores` is the tensor of the softmax's shape that holds the scores.
    """

    weighing: ir.Operation
    weights: int
    softmax: Softmax
    scoring: ir.Operation
    scores: ir.Value


def find_attention(weighing: ir.Operation) -> Attention | None:
    """The attention whose last product is this `hotdesk.contract`; None if it is none by the rules above."""
    if not overwrites(weighing) or element_of(weighing.results[0].type) != "f32":
        return None
    for number in (0, 1):
        weights = without_collapse(weighing.operands[number])
        softmax = find_softmax(weights)
        if softmax is None:
            continue
        path = _path(softmax.logits, {})
        scoring = None if path is None else defining_op(without_expansion(path[-1]))
        if path is None or scoring is None:
            continue
        inside = [*softmax.ops, *(op for op in map(defining_op, path) if op is not None)]
        inside += [op for op in (scoring, defining_op(weighing.operands[number])) if op is not None]
        if _used_inside(inside, weighing):
            return Attention(weighing, number, softmax, scoring, path[-1])
    return None


def kept_scores(weighing: ir.Operation) -> tuple[Reason, ir.Operation] | None:
    """Why the scores of an attention that is none by the rules stay in memory, and the op that makes the weights.

    None of a product that multiplies no softmax of another product's result.
    """
    for weights in map(without_collapse, weighing.operands[:2] if overwrites(weighing) else ()):
        softmax = find_softmax(weights, element_of(weights.type)) if is_tensor(weights.type) else None
        if softmax is None or not _follows_from_product(softmax.logits):
            continue
        fits = element_of(weights.type) == "f32" and _path(softmax.logits, {}) is not None
        return Reason.MULTIPLE_READERS if fits else Reason.BEYOND_THE_KERNEL, softmax.ops[0]
    return None


def _follows_from_product(value: ir.Value) -> bool:
    """Whether a tensor is made element by element, in any way, of tensors of its shape of which one is a product."""

    def inputs(each: ir.Value) -> list[ir.Value]:
        source = made_by(without_expansion(each), GENERIC)
        operands = () if source is None else source.operands
        return [operand for operand in operands if shape_of(operand.type) == shape_of(value.type)]

    makers = (defining_op(without_expansion(each)) for each in reached([value], inputs))
    return any(maker is not None and overwrites(maker) for maker in makers)


def overwrites(op: ir.Operation) -> bool:
    """Whether it is a `hotdesk.contract` on tensors that reads no init."""
    return op.name == CONTRACT and len(op.results) == 1 and not flag_of(op, "accumulate")


def without_collapse(value: ir.Value) -> ir.Value:
    op = made_by(value, COLLAPSE)
    return value if op is None else op.operands[0]


def without_expansion(value: ir.Value) -> ir.Value:
    op = made_by(value, EXPAND)
    return value if op is None else op.operands[0]


def _used_inside(ops: Iterable[ir.Operation], last: ir.Operation) -> bool:
    known = OpSet((*ops, last))
    return all(user in known for op in known if op != last for result in op.results for user in users(result))


# The softmax


def find_softmax(weights: ir.Value, element: str = "f32") -> Softmax | None:
    """The softmax of such elements that makes a tensor; None if it is none along the last dimension."""
    given, (weights, of_weights) = weights, _numbers_only(weights)
    divide = elementwise(weights)
    if divide is None or formula(divide.op) != ("arith.divf", _FIRST, _SECOND):
        return None
    powers, total = divide.op.operands[0], divide.op.operands[1]
    power = elementwise(powers)
    if power is None or formula(power.op) != ("math.exp", _FIRST):
        return None
    difference = elementwise(power.op.operands[0])
    if difference is None or formula(difference.op) != ("arith.subf", _FIRST, _SECOND):
        return None
    logits, peak = difference.op.operands[0], difference.op.operands[1]
    whole = all(is_whole(each, 0) for each in (divide, power, difference))
    if not (whole and _is_row(divide) and _is_row(difference)) or element_of(logits.type) != element:
        return None
    peak, of_peak = _unguarded(peak, 0.0, -inf)
    total, of_total = _unguarded(total, 1.0, 0.0)
    largest = _row_reduction(peak, "arith.maximumf", -inf, logits)
    summed = _row_reduction(total, "arith.addf", 0.0, powers)
    if largest is None or summed is None or bool(of_peak) != bool(of_total):
        return None
    ops = (*of_weights, divide.op, power.op, difference.op, *of_peak, *of_total, *largest, *summed)
    zeros = ZeroRows.UNDEFINED if of_weights else ZeroRows.MASKED if of_peak else ZeroRows.NEVER
    return Softmax(logits, given, zeros, ops)


def _numbers_only(value: ir.Value) -> tuple[ir.Value, tuple[ir.Operation, ...]]:
    """What a value is before zeros took the place of what is NaN in it, and the ops that put them there, if any do."""
    choice = elementwise(value)
    match None if choice is None else formula(choice.op):
        case ("arith.select", ("in", int(test)), ("constant", 0.0), ("in", int(other))) if choice is not None:
            condition, chosen = choice.op.operands[test], choice.op.operands[other]
        case _:
            return value, ()
    compare = elementwise(condition)
    if compare is None or compare.op.operands[0] != chosen or not all(is_whole(choice, i) for i in (test, other)):
        return value, ()
    same = {("in", i) for i in range(compare.inputs) if compare.op.operands[i] == chosen and is_whole(compare, i)}
    found = formula(compare.op)
    if found is None or found[0] not in [f"arith.cmpf {each}" for each in _UNORDERED] or not set(found[1:]) <= same:
        return value, ()
    return chosen, (choice.op, compare.op)


def _unguarded(value: ir.Value, instead: float, where: float) -> tuple[ir.Value, tuple[ir.Operation, ...]]:
    """What a value is where that is not `where`, and the ops that put `instead` in its place there, if any do."""
    choice = elementwise(value)
    if choice is None:
        return value, ()
    found = formula(choice.op)
    match found:
        case ("arith.select", ("in", int(test)), ("constant", number), ("in", int(other))) if number == instead:
            condition, chosen = choice.op.operands[test], choice.op.operands[other]
        case _:
            return value, ()
    compare = elementwise(condition)
    if compare is None or formula(compare.op) != (f"arith.cmpf {_EQUAL}", _FIRST, ("constant", where)):
        return value, ()
    return (chosen, (choice.op, compare.op)) if compare.op.operands[0] == chosen else (value, ())


def _row_reduction(value: ir.Value, combine: str, start: float, source: ir.Value) -> tuple[ir.Operation, ...] | None:
    """The ops that reduce the rows of `source`, from `start` on, to a value, if they do that."""
    reduced = without_expansion(value)
    generic = read_generic(defining_op(reduced))
    if generic is None or reduced != generic.op.results[0] or generic.inputs != 1 or generic.op.operands[0] != source:
        return None
    rank = len(generic.parallel)
    if list(generic.parallel) != [True] * (rank - 1) + [False] or not is_whole(generic, 0) or not _is_row(generic):
        return None
    if formula(generic.op) not in ((combine, _FIRST, _SECOND), (combine, _SECOND, _FIRST)):
        return None
    if _filled(generic.op.operands[1]) != start:
        return None
    view = defining_op(value)
    return (generic.op,) if view is generic.op or view is None or value == reduced else (generic.op, view)


def _filled(value: ir.Value) -> float | None:
    """The number that a tensor is filled with, if that is known."""
    op = made_by(value, FILL)
    return uniform(value) if op is None else constant_of(op.operands[0])


# Payloads


def elementwise(value: ir.Value) -> Generic | None:
    """The op that makes a tensor element by element, in its own order of loops."""
    generic = read_generic(defining_op(value)) if is_tensor(value.type) else None
    if generic is None or generic.op.name != GENERIC or not all(generic.parallel) or len(generic.op.results) != 1:
        return None
    return generic if loops_read(generic.maps[generic.inputs]) == tuple(range(len(generic.parallel))) else None


def is_whole(generic: Generic, operand: int) -> bool:
    """Whether an operand is read element by element as the loops run, none twice."""
    return _is_read(generic, operand, len(generic.parallel))


def _is_row(generic: Generic) -> bool:
    """Whether the second operand has one element for all of the innermost loop."""
    loops = loops_read(generic.maps[1])
    rank = len(generic.parallel)
    if loops is not None and len(loops) == rank and loops[-1] is not None:
        return False
    return _is_read(generic, 1, rank - 1)


def _is_read(generic: Generic, operand: int, count: int) -> bool:
    loops, sizes = loops_read(generic.maps[operand]), shape_of(generic.op.operands[operand].type)
    if loops is None or len(loops) < count:
        return False
    found = zip(range(count), loops, sizes, strict=False)
    return all(loop == i or (loop is None and size == 1 and _runs_once(generic, i)) for i, loop, size in found)


def _runs_once(generic: Generic, loop: int) -> bool:
    """Whether a loop has one iteration, as a dimension that it runs over says."""
    for operand, value in enumerate(generic.op.operands):
        loops = loops_read(generic.maps[operand])
        if loops is not None and loop in loops:
            return shape_of(value.type)[loops.index(loop)] == 1
    return False


def formula(op: ir.Operation) -> Formula | None:
    """What the payload of a `linalg.generic` yields first; None if it is more than arithmetic on elements."""
    block = op.regions[0].blocks[0]
    numbers: dict[ir.Value, int] = {argument: number for number, argument in enumerate(block.arguments)}
    last = list(block.operations)[-1].operation

    def read(value: ir.Value) -> Formula | None:
        if value in numbers:
            known = uniform(op.operands[numbers[value]])
            return (_IN, numbers[value]) if known is None else ("constant", known)
        number = constant_of(value)
        if number is not None:
            return "constant", number
        made = defining_op(value)
        if made is None or dialect_of(made.name) not in ("arith", "math"):
            return None
        parts = [read(each) for each in made.operands]
        if any(part is None for part in parts):
            return None
        if made.name in _WIDENING or (
            made.name == "arith.truncf" and parts[0] is not None and parts[0][0] == "constant"
        ):
            return parts[0]
        name = (
            f"{made.name} {cast(Any, made.attributes['predicate']).value}"
            if "predicate" in made.attributes
            else made.name
        )
        return name, *parts

    return read(last.operands[0]) if len(last.operands) else None


def uniform(value: ir.Value) -> float | None:
    """The number that every element of a constant tensor is; None for any other."""
    op = constant_op(value)
    if op is None or not is_tensor(value.type):
        return None
    attribute = op.attributes["value"]
    if isinstance(attribute, ir.DenseElementsAttr) and attribute.is_splat:
        return cast(Any, attribute.get_splat_value()).value
    return None


# From the logits to the scores


def _path(value: ir.Value, known: dict[ir.Value, list[ir.Value] | None]) -> list[ir.Value] | None:
    """The values from the logits back to the scores; None where rule 2 does not hold."""
    if value not in known:
        known[value] = None
        known[value] = _path_from(value, known)
    return known[value]


def _path_from(value: ir.Value, known: dict[ir.Value, list[ir.Value] | None]) -> list[ir.Value] | None:
    source = defining_op(without_expansion(value))
    if source is not None and overwrites(source) and element_of(value.type) == "f32":
        return [value]
    generic = elementwise(value)
    if generic is None or not is_arithmetic(generic):
        return None
    for number in range(generic.inputs):
        operand = generic.op.operands[number]
        if shape_of(operand.type) == shape_of(value.type) and is_whole(generic, number):
            rest = _path(operand, known)
            if rest is not None:
                return [value, *rest]
    return None


def is_arithmetic(generic: Generic) -> bool:
    """Whether a payload is arithmetic on elements of its inputs, constants and the numbers of loops."""
    if any(generic.reads(operand) for operand in generic.outputs):
        return False
    block = generic.op.regions[0].blocks[0]
    inside = {result for op in block.operations for result in op.operation.results} | set(block.arguments)
    for each in block.operations:
        op = each.operation
        if op.name in _FUNCTIONS:
            if str(op.results[0].type) != "f32":
                return False
        elif op.name not in _IN_SCORES and not op.name.startswith("arith."):
            return False
        if any(v not in inside and constant_of(v) is None for v in op.operands):
            return False
    return True


def unit_dims(view: ir.Operation) -> tuple[tuple[int, ...], ...] | None:
    """How a view that only adds or drops dimensions of size 1 groups dimensions of the larger shape; None for any other view."""
    if view.name not in RESHAPES:
        return None
    larger = shape_of((view.results[0] if view.name == EXPAND else view.operands[0]).type)
    groups = tuple(groups_of(view))
    plain = all(sum(larger[i] != 1 for i in group) <= 1 for group in groups)
    return groups if plain else None
