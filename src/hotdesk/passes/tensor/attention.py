"""Attention as one op, `hotdesk.attention`, whose kernel never has all scores in memory.

    %s = hotdesk.contract %q, %k, … {"bmd,bnd->bmn"}
    %x = linalg.generic ins(%s, %mask) …                 ->   %r = hotdesk.attention %q, %k, %v, %mask, %e {
    …the softmax of %x…                                         "bmd,bnd,bne,mn->bme", zero_rows = "never"} ({^bb0(%s, %m, …): …})
    %r = hotdesk.contract %p, %v, %e {"bmn,bne->bme"}

Legal iff rules 1 to 3 of `analysis.fusion.attention` hold. What is done to the scores goes into the op's region, and so does a
multiplication of queries or keys by a constant (`arith.mulf`); masks computed from smaller tensors are computed there too.
Transposes and repeated heads of queries, keys and values, and a transpose of the result, become letters of the equation. Queries,
keys and values that were all widened from 16-bit floats are read as they were before; where the result is only rounded to these,
the op does that.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import prod
from typing import Any, ClassVar, TypeAlias, cast

import sympy

from hotdesk._bindings import ir
from hotdesk.analysis.fusion.attention import (
    Attention,
    elementwise,
    find_attention,
    formula,
    is_whole,
    kept_scores,
)
from hotdesk.elements import HALVES, summed_in
from hotdesk.explain import Decision, Outcome, Reason, Source
from hotdesk.ir.building import collapsed, create, dim, expanded
from hotdesk.ir.dialect import MOST_EXTRAS
from hotdesk.ir.locations import origin
from hotdesk.ir.types import element_bytes, element_of, shape_of, tensor_with
from hotdesk.ir.walking import (
    all_functions,
    defining_op,
    groups_of,
    int_array,
    made_by,
    top_level_ops,
    users,
)
from hotdesk.models.hotdesk import CONTRACT, letters_of
from hotdesk.models.linalg import TRANSPOSE
from hotdesk.models.tensor import COLLAPSE, EXPAND
from hotdesk.passes.base import Pass
from hotdesk.passes.properties import LETTERS_FIT, Property
from hotdesk.passes.tensor.attention_scores import KEY, QUERY, UNIT, LetteredOperand, ScorePayload
from hotdesk.passes.tensor.contractions import source_letters
from hotdesk.passes.tensor.dead_code import EraseDead
from hotdesk.passes.tensor.rounded_products import rounding_of
from hotdesk.program.symbolic import SymbolicSizes
from hotdesk.sizes.expressions import expand
from hotdesk.sizes.size import Size

_BATCH = "bhgijklopqrst"
_SUMMED, _COLUMN = "d", "e"
_OWN = (QUERY + _SUMMED, KEY + _SUMMED, KEY + _COLUMN)
"""The letters that queries, keys and values cannot do without."""
MOST_COLUMNS = 256
"""Of a result whose rows are summed in memory of the kernel's own, since they are 16-bit floats in the end."""


@dataclass(frozen=True, slots=True)
class RecognizeAttention(Pass):
    """Rewrites a softmax of a product, multiplied by another tensor, into `hotdesk.attention` (see the module docstring)."""

    name: ClassVar[str] = "hotdesk-recognize-attention"
    reasons: ClassVar[tuple[Reason, ...]] = (
        Reason.BLOCK_BY_BLOCK,
        Reason.MULTIPLE_READERS,
        Reason.BEYOND_THE_KERNEL,
    )

    def ensures(self) -> tuple[Property, ...]:
        return (LETTERS_FIT,)

    def run(self, module: ir.Module) -> tuple[Decision, ...]:
        decisions: list[Decision] = []
        for function in all_functions(module):
            sizes = SymbolicSizes(function)
            kept: list[tuple[ir.Operation, Reason]] = []
            for op in (each for each in top_level_ops(function) if each.name == CONTRACT):
                found = find_attention(op)
                if found is not None:
                    decisions += _rewrite(found, sizes)
                elif (why := kept_scores(op)) is not None:
                    kept.append((why[1], why[0]))
            decisions += [_decision(op, sizes, Outcome.NOT_FUSED, reason) for op, reason in kept]
        if any(decision.outcome is Outcome.FUSED for decision in decisions):
            EraseDead().run(module)
        return tuple(decisions)


def _decision(op: ir.Operation, sizes: SymbolicSizes, outcome: Outcome, reason: Reason) -> Decision:
    source = Source(op.name, *origin(op.location))
    return Decision("attention scores", outcome, reason, (source,), sizes.bytes(op.results[0]))


def _rewrite(found: Attention, sizes: SymbolicSizes) -> list[Decision]:
    weighing, softmax = found.weighing, found.softmax
    spelled = _spelled(found, sizes)
    payload = None if spelled is None else ScorePayload.of(softmax.logits, found.scores, spelled.scores)
    if spelled is None or payload is None:
        return []
    if len(payload.extras) > MOST_EXTRAS:
        return []
    products = [spelled.q, spelled.k, spelled.v]
    ways = (_read(products, payload, found, spelled, sizes, narrow=narrow) for narrow in (True, False))
    read = next((way for way in ways if way is not None), None)
    if read is None:
        return []
    factor, operands, target = read
    letters = "".join(target.groups)
    present = [1] * len(operands) + [0] * (MOST_EXTRAS - len(payload.extras)) + [1]
    attributes: dict[str, ir.Attribute] = {
        "operandSegmentSizes": ir.DenseI32ArrayAttr.get(present),
        "equation": ir.StringAttr.get(",".join(each.letters for each in operands) + "->" + letters),
        "zero_rows": ir.StringAttr.get(softmax.zero_rows.value),
    }
    shape = [_size(letter, operands, weighing) for letter in letters]
    dynamic = [size for size in shape if not isinstance(size, int)]
    static = [size if isinstance(size, int) else None for size in shape]
    kind = tensor_with(static, target.value.type)
    init = create("tensor.empty", dynamic, [kind], before=weighing).results[0]
    new = create(
        "hotdesk.attention", [*(o.value for o in operands), init], [kind], attributes, regions=1, before=weighing
    )
    payload.build(new, factor)
    target.value.replace_all_uses_with(_collapsed(new.results[0], target, weighing))
    total: Any = element_bytes("f32")
    for size in sizes.shape(softmax.weights):
        total = total * size
    source = Source(new.name, *origin(weighing.location))
    return [Decision("attention scores", Outcome.FUSED, Reason.BLOCK_BY_BLOCK, (source,), total)]


_Read: TypeAlias = tuple[float, list[LetteredOperand], "_Target"]
"""What queries are multiplied by, the op's operands without its destination, and what its result takes the place of."""


def _read(
    products: Sequence[LetteredOperand],
    payload: ScorePayload,
    found: Attention,
    spelled: _Spelled,
    sizes: SymbolicSizes,
    *,
    narrow: bool,
) -> _Read | None:
    """The operands of the op as they are when transposes and repetitions are letters; None where that does not go.

    With `narrow` queries, keys and values as they were before they were widened, if all were and rows of the result are short.
    """
    factor, sources = _factored(products, narrow)
    if any(set(operand.letters) - {*spelled.scores, _SUMMED, _COLUMN} for operand in sources):
        return None
    element = element_of(sources[0].value.type)
    if narrow and element not in HALVES:
        return None
    target = _target(found.weighing.results[0], spelled, sizes, element)
    operands, target = _without_repeats([*sources, *payload.extras], target, found.weighing, sizes)
    if narrow:
        operands[:3] = [_unwidened(each) or each for each in operands[:3]]
        columns = _size(_COLUMN, operands, found.weighing)
        if not isinstance(columns, int) or columns > MOST_COLUMNS:
            return None
    same = all(element_of(each.value.type) == element for each in operands[:3])
    return (factor, operands, target) if same else None


# Letters


@dataclass(slots=True)
class _Spelled:
    """Queries, keys and values with the letters of the scores' dimensions; `result` are those of each of the result's.

    `sizes` are those of the letters of the scores.
    """

    scores: str
    sizes: Mapping[str, Size]
    q: LetteredOperand
    k: LetteredOperand
    v: LetteredOperand
    result: tuple[str, ...]


def _spelled(found: Attention, known: SymbolicSizes) -> _Spelled | None:
    """The operands with letters; None where the products are not those of attention."""
    weighing, scoring, rank = found.weighing, found.scoring, len(shape_of(found.scores.type))
    *inputs, of_result = letters_of(weighing)
    of_weights, of_values = inputs[found.weights], inputs[1 - found.weights]
    dims = dict(zip(of_weights, _groups(weighing.operands[found.weights], "tensor.collapse_shape"), strict=True))
    keys = [c for c in of_weights if c in of_values and c not in of_result]
    columns = [c for c in of_values if c in of_result and c not in of_weights]
    queries = [c for c in of_weights if c in of_result and c not in of_values]
    if (
        (len(keys), len(columns), len(queries)) != (1, 1, 1)
        or len(dims[queries[0]]) != 1
        or dims[keys[0]] != (rank - 1,)
    ):
        return None
    (query,), batch = dims[queries[0]], iter(_BATCH)
    scores = "".join(QUERY if i == query else KEY if i == rank - 1 else next(batch) for i in range(rank))
    weighed = {c: "".join(scores[i] for i in group) for c, group in dims.items()} | {columns[0]: _COLUMN}
    if set(of_result) != set(weighed) - {keys[0]} or not set(of_values) <= set(weighed):
        return None
    left, right, of_scores = letters_of(scoring)
    groups = _groups(found.scores, "tensor.expand_shape")
    scored = {c: "".join(scores[i] for i in group) for c, group in zip(of_scores, groups, strict=True)}
    summed = (set(left) & set(right)) - set(of_scores)
    if len(summed) != 1 or set(left) | set(right) != {*of_scores, *summed}:
        return None
    scored[min(summed)] = _SUMMED
    sides = [[scored[c] for c in letters] for letters in (left, right)]
    of_q = 0 if QUERY in sides[0] else 1
    of_k = 1 - of_q
    if QUERY not in sides[of_q] or QUERY in sides[of_k] or KEY not in sides[of_k] or KEY in sides[of_q]:
        return None
    q = _expanded(scoring.operands[of_q], sides[of_q], found, scores, known)
    k = _expanded(scoring.operands[of_k], sides[of_k], found, scores, known)
    v = _expanded(weighing.operands[1 - found.weights], [weighed[c] for c in of_values], found, scores, known)
    if q is None or k is None or v is None:
        return None
    sizes = dict(zip(scores, known.shape(found.scores), strict=True))
    return _Spelled(scores, sizes, q, k, v, tuple(weighed[c] for c in of_result))


def _groups(value: ir.Value, view: str) -> list[tuple[int, ...]]:
    """How the dimensions of the larger shape are grouped by the view of that name that makes a value; else each is a group."""
    op = made_by(value, view)
    if op is None:
        return [(i,) for i in range(len(shape_of(value.type)))]
    return groups_of(op)


def _expanded(
    value: ir.Value, groups: list[str], found: Attention, scores: str, known: SymbolicSizes
) -> LetteredOperand | None:
    """A tensor with a dimension for each letter of the groups; None where its shape is not known."""
    letters = "".join(groups)
    if len(letters) == len(groups):
        return LetteredOperand(value, letters)
    source = _partly_collapsed(
        value, groups, dict(zip(scores, known.shape(found.scores), strict=True)), known, found.weighing
    )
    if source is not None:
        return LetteredOperand(source, letters)
    extents = dict(zip(scores, shape_of(found.scores.type), strict=True))
    sizes = extents | {g: size for g, size in zip(groups, shape_of(value.type), strict=True) if len(g) == 1}
    if any(sizes[c] is None for c in letters):
        return None
    return LetteredOperand(
        expanded(value, map(len, groups), [cast(int, sizes[c]) for c in letters], found.weighing), letters
    )


def _partly_collapsed(
    value: ir.Value, groups: Sequence[str], sizes: Mapping[str, Size], known: SymbolicSizes, before: ir.Operation
) -> ir.Value | None:
    """What a collapsed tensor was before, but with a dimension for each letter; None where that is not certain."""
    view = made_by(value, COLLAPSE)
    if view is None:
        return None
    extents = known.shape(view.operands[0])
    merged: list[list[int]] = []
    for dims, group in zip(_groups(value, "tensor.collapse_shape"), groups, strict=True):
        rest = list(dims)
        for letter in group[:-1]:
            taken = [rest.pop(0)] if rest else []
            while rest and _extent(extents, taken) != sizes.get(letter):
                taken.append(rest.pop(0))
            if _extent(extents, taken) != sizes.get(letter):
                return None
            merged.append(taken)
        if not rest or (len(group) > 1 and _extent(extents, rest) != sizes.get(group[-1])):
            return None
        merged.append(rest)
    if all(len(dims) == 1 for dims in merged):
        return view.operands[0]
    return collapsed(view.operands[0], [len(dims) for dims in merged], before)


def _extent(sizes: Sequence[Size], dims: Sequence[int]) -> Size | None:
    """The number of elements of merged dimensions; None of none."""
    return expand(prod((sizes[dim] for dim in dims), start=sympy.Integer(1))) if dims else None


def _factored(operands: Sequence[LetteredOperand], narrow: bool) -> tuple[float, list[LetteredOperand]]:
    """Queries, keys and values before transposes and repetitions; and the number that scores are multiplied by in their place.

    With `narrow` before they were widened, too.
    """
    found = list(operands)
    for i in range(len(found)):
        found[i] = _folded(found[i], _kept(found, i))
    factor = 1.0
    for i in (0, 1):
        number, found[i] = _unscaled(found[i])
        factor *= number
        found[i] = _folded(found[i], _kept(found, i))
    for i, operand in enumerate(found if narrow else ()):
        before = _unwidened(operand)
        if before is not None:
            found[i] = before
            found[i] = _folded(before, _kept(found, i))
    return factor, found


def _unwidened(operand: LetteredOperand) -> LetteredOperand | None:
    """The 16-bit floats that an operand has in 32 bits."""
    generic = elementwise(operand.value)
    if generic is None or formula(generic.op) != ("in", 0) or not is_whole(generic, 0):
        return None
    source = generic.op.operands[0]
    wide, narrow = element_of(operand.value.type), element_of(source.type)
    if narrow not in HALVES or wide != summed_in(narrow) or len(shape_of(source.type)) != len(operand.letters):
        return None
    return LetteredOperand(source, operand.letters)


def _kept(operands: Sequence[LetteredOperand], number: int) -> set[str]:
    """The letters that an operand may not lose: those of its product, and those that no other has."""
    others = {letter for i, operand in enumerate(operands) if i != number for letter in operand.letters}
    return {*_OWN[number]} | (set(operands[number].letters) - others)


def _folded(operand: LetteredOperand, kept: set[str]) -> LetteredOperand:
    """The operand before transposes and repetitions of it that lose none of the letters `kept`."""
    producer = defining_op(operand.value)
    while producer is not None:
        letters = source_letters(producer, operand.letters)
        if letters is None or not kept <= set(letters):
            break
        operand = LetteredOperand(producer.operands[0], letters)
        producer = defining_op(operand.value)
    return operand


def _unscaled(operand: LetteredOperand) -> tuple[float, LetteredOperand]:
    """A number and the operand that it is multiplied by, where one is."""
    generic = elementwise(operand.value)
    found = None if generic is None else formula(generic.op)
    if generic is None or found is None or found[0] != "arith.mulf" or ("in", 0) not in found[1:]:
        return 1.0, operand
    other = found[2] if found[1] == ("in", 0) else found[1]
    if (
        other[0] != "constant"
        or not is_whole(generic, 0)
        or len(shape_of(generic.op.operands[0].type)) != len(operand.letters)
    ):
        return 1.0, operand
    return other[1], LetteredOperand(generic.op.operands[0], operand.letters)


def _size(letter: str, operands: Sequence[LetteredOperand], before: ir.Operation) -> int | ir.Value:
    """The size of the dimension of a letter."""
    holders = [(o.value, o.letters.index(letter)) for o in operands if letter in o.letters]
    for value, place in holders:
        known = shape_of(value.type)[place]
        if known is not None:
            return known
    return dim(*holders[0], before)


# The result


@dataclass(frozen=True, slots=True)
class _Target:
    """What the result takes the place of, with the letters that each of its dimensions stands for."""

    value: ir.Value
    groups: tuple[str, ...]


def _target(value: ir.Value, spelled: _Spelled, sizes: SymbolicSizes, element: str) -> _Target:
    """A transpose of the product, if nothing else wants that, else the product; rounded to `element` if nothing wants it wide."""
    best = _rounded(_Target(value, spelled.result), element)
    seen, reader = best, _only_user(best.value)
    if reader is not None and reader.name == EXPAND and _undoes(reader, spelled, sizes):
        expanded = _Target(reader.results[0], tuple("".join(best.groups)))
        seen = _rounded(expanded, element)
        best = seen if seen is not expanded else best
        reader = _only_user(seen.value)
    if (
        reader is None
        or reader.name != TRANSPOSE
        or reader.operands[0] != seen.value
        or any(len(g) > 1 for g in seen.groups)
    ):
        return best
    order = int_array(reader.attributes["permutation"])
    return _rounded(_Target(reader.results[0], tuple(seen.groups[i] for i in order)), element)


def _rounded(target: _Target, element: str) -> _Target:
    """The target rounded to 16 bits, if nothing else wants it."""
    rounding = rounding_of(target.value, element) if element in HALVES else None
    return target if rounding is None else _Target(rounding.results[0], target.groups)


def _undoes(view: ir.Operation, spelled: _Spelled, sizes: SymbolicSizes) -> bool:
    """Whether an expansion of the product gives each letter a dimension, of its size."""
    groups, shape = _groups(view.results[0], "tensor.expand_shape"), sizes.shape(view.results[0])
    if list(map(len, groups)) != list(map(len, spelled.result)):
        return False
    split = [pair for pair in zip(groups, spelled.result, strict=True) if len(pair[0]) > 1]
    return [shape[i] for dims, _ in split for i in dims] == [
        spelled.sizes.get(c) for _, letters in split for c in letters
    ]


def _only_user(value: ir.Value) -> ir.Operation | None:
    found = users(value)
    return found[0] if len(found) == 1 else None


def _collapsed(value: ir.Value, target: _Target, before: ir.Operation) -> ir.Value:
    if all(len(group) == 1 for group in target.groups):
        return value
    return collapsed(value, [len(group) for group in target.groups], before)


# Repeated heads


def _without_repeats(
    operands: list[LetteredOperand], target: _Target, before: ir.Operation, known: SymbolicSizes
) -> tuple[list[LetteredOperand], _Target]:
    """Keys and values before their heads were repeated: the letter of the heads becomes two, of which they lack one."""
    for number in (1, 2):
        repeat = _repeat(operands[number])
        if repeat is None:
            continue
        letter, sizes, source, letters = repeat
        free = next(c for c in _BATCH if not any(c in o.letters for o in operands))
        pair = letter + free
        if any(c == UNIT for c in letters):
            continue
        split: list[LetteredOperand] = []
        for i, operand in enumerate(operands):
            if i == number:
                split.append(LetteredOperand(source, operand.letters.replace(letter, pair)))
            elif letter in operand.letters:
                split.append(_split(operand, letter, pair, sizes, before, known))
            else:
                split.append(operand)
        products = split[:3]
        for i in range(len(products)):
            products[i] = _folded(products[i], _kept(products, i))
        operands = [*products, *(_folded(extra, set()) for extra in split[3:])]
        target = _Target(target.value, tuple(group.replace(letter, pair) for group in target.groups))
    return operands, target


def _split(
    operand: LetteredOperand,
    letter: str,
    pair: str,
    sizes: tuple[int, int],
    before: ir.Operation,
    symbolic: SymbolicSizes,
) -> LetteredOperand:
    """The operand with two dimensions, of these sizes, in the place of one."""
    letters = operand.letters.replace(letter, pair)
    groups = [pair if c == letter else c for c in operand.letters]
    known = dict(zip(pair, sizes, strict=True))
    source = _partly_collapsed(operand.value, groups, known, symbolic, before)
    if source is not None:
        return LetteredOperand(source, letters)
    extents = [known[c] if c in known else _size(c, [operand], before) for c in letters]
    return LetteredOperand(expanded(operand.value, map(len, groups), extents, before), letters)


def _repeat(operand: LetteredOperand) -> tuple[str, tuple[int, int], ir.Value, str] | None:
    """The letter of the heads of a tensor that was repeated for groups of them, how many there are, and how many in a group."""
    view = made_by(operand.value, COLLAPSE)
    if view is None:
        return None
    groups = _groups(operand.value, "tensor.collapse_shape")
    merged = [(i, group) for i, group in enumerate(groups) if len(group) > 1]
    source = view.operands[0]
    if len(merged) != 1 or len(merged[0][1]) != 2:
        return None
    (place, (outer, inner)), shape = merged[0], shape_of(source.type)
    letter, sizes = operand.letters[place], (shape[outer], shape[inner])
    spelled = operand.letters[:place] + letter + "?" + operand.letters[place + 1 :]
    producer = defining_op(source)
    letters = None if producer is None else source_letters(producer, spelled)
    if (
        letters is None
        or "?" in letters
        or sizes[0] is None
        or sizes[1] is None
        or letter in (QUERY, KEY, _SUMMED, _COLUMN)
    ):
        return None
    return letter, (sizes[0], sizes[1]), source, letters
