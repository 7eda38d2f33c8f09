"""Attention as one op, `hotdesk.attention`, whose kernel never has all scores in memory.

    %s = hotdesk.contract %q, %k, … {"bmd,bnd->bmn"}
    %x = linalg.generic ins(%s, %mask) …                 ->   %r = hotdesk.attention %q, %k, %v, %mask, %e {
    …the softmax of %x…                                         "bmd,bnd,bne,mn->bme", zero_rows = false} ({^bb0(%s, %m, …): …})
    %r = hotdesk.contract %p, %v, %e {"bmn,bne->bme"}

Legal iff rules 1 to 3 of `analysis.fusion.attention` hold. What is done to the scores goes into the op's region, and so does a
multiplication of the queries by a constant; masks that are computed from smaller tensors are computed there too. Transposes and
repeated heads of queries, keys and values, and a transpose of the result, become letters of the equation.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import prod
from typing import Any, ClassVar, cast

import sympy

from hotdesk._bindings import ir
from hotdesk.analysis.fusion.attention import (
    Attention,
    elementwise,
    find_attention,
    formula,
    is_arithmetic,
    is_whole,
    loops_read,
    uniform,
    unit_dims,
)
from hotdesk.explain import Decision, Outcome, Reason, Source
from hotdesk.ir.building import create, dim, integers
from hotdesk.ir.dialect import MOST_EXTRAS
from hotdesk.ir.locations import origin
from hotdesk.ir.types import element_bytes, element_of, shape_of, static_entries, tensor_with
from hotdesk.ir.walking import (
    all_functions,
    defining_op,
    groups_of,
    int_array,
    integer_of,
    made_by,
    top_level_ops,
    users,
)
from hotdesk.models.generics import Generic, index_ops
from hotdesk.models.hotdesk import letters_of
from hotdesk.models.tensor import RESHAPES
from hotdesk.passes.base import Pass
from hotdesk.passes.tensor.contractions import source_letters
from hotdesk.passes.tensor.dead_code import EraseDead
from hotdesk.program.symbolic import SymbolicSizes
from hotdesk.sizes.expressions import expand
from hotdesk.sizes.size import Size

_BATCH = "bhgijklopqrst"
_QUERY, _KEY, _SUMMED, _COLUMN, _UNIT = "m", "n", "d", "e", "1"
_OWN = (_QUERY + _SUMMED, _KEY + _SUMMED, _KEY + _COLUMN)
"""The letters that queries, keys and values cannot do without."""
_EXTRAS = ("f32", "f16", "bf16", "i1", "i32", "i64")
"""Element types of what the scores may be computed with."""


@dataclass(frozen=True, slots=True)
class RecognizeAttention(Pass):
    """Rewrites a softmax of a product, multiplied by another tensor, into `hotdesk.attention` (see the module docstring)."""

    name: ClassVar[str] = "hotdesk-recognize-attention"
    reasons: ClassVar[tuple[Reason, ...]] = (Reason.BLOCK_BY_BLOCK,)

    def run(self, module: ir.Module) -> tuple[Decision, ...]:
        decisions: list[Decision] = []
        for function in all_functions(module):
            sizes = SymbolicSizes(function)
            for op in top_level_ops(function):
                found = find_attention(op) if op.name == "hotdesk.contract" else None
                if found is not None:
                    decisions += _rewrite(found, sizes)
        if decisions:
            EraseDead().run(module)
        return tuple(decisions)


def _rewrite(found: Attention, sizes: SymbolicSizes) -> list[Decision]:
    weighing, softmax = found.weighing, found.softmax
    spelled = _spelled(found, sizes)
    payload = None if spelled is None else _Payload.of(softmax.logits, found.scores, spelled.scores)
    if spelled is None or payload is None:
        return []
    if len(payload.extras) > MOST_EXTRAS:
        return []
    factor, products = _factored([spelled.q, spelled.k, spelled.v])
    if any(set(operand.letters) - {*spelled.scores, _SUMMED, _COLUMN} for operand in products):
        return []
    target = _target(weighing.results[0], spelled, sizes)
    operands, target = _without_repeats([*products, *payload.extras], target, weighing, sizes)
    letters = "".join(target.groups)
    present = [1] * len(operands) + [0] * (MOST_EXTRAS - len(payload.extras)) + [1]
    attributes: dict[str, ir.Attribute] = {
        "operandSegmentSizes": ir.DenseI32ArrayAttr.get(present),
        "equation": ir.StringAttr.get(",".join(each.letters for each in operands) + "->" + letters),
        "zero_rows": ir.BoolAttr.get(softmax.guarded),
    }
    shape = [_size(letter, operands, weighing) for letter in letters]
    dynamic = [size for size in shape if not isinstance(size, int)]
    kind = tensor_with([size if isinstance(size, int) else None for size in shape], weighing.results[0].type)
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


# Letters


@dataclass(frozen=True, slots=True)
class _LetteredOperand:
    """A tensor with a letter for each of its dimensions."""

    value: ir.Value
    letters: str


@dataclass(slots=True)
class _Spelled:
    """Queries, keys and values with the letters of the scores' dimensions; `result` are those of each of the result's.

    `sizes` are those of the letters of the scores.
    """

    scores: str
    sizes: Mapping[str, Size]
    q: _LetteredOperand
    k: _LetteredOperand
    v: _LetteredOperand
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
    scores = "".join(_QUERY if i == query else _KEY if i == rank - 1 else next(batch) for i in range(rank))
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
    of_q = 0 if _QUERY in sides[0] else 1
    of_k = 1 - of_q
    if _QUERY not in sides[of_q] or _QUERY in sides[of_k] or _KEY not in sides[of_k] or _KEY in sides[of_q]:
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
) -> _LetteredOperand | None:
    """A tensor with a dimension for each letter of the groups; None where its shape is not known."""
    letters = "".join(groups)
    if len(letters) == len(groups):
        return _LetteredOperand(value, letters)
    source = _partly_collapsed(
        value, groups, dict(zip(scores, known.shape(found.scores), strict=True)), known, found.weighing
    )
    if source is not None:
        return _LetteredOperand(source, letters)
    extents = dict(zip(scores, shape_of(found.scores.type), strict=True))
    sizes = extents | {g: size for g, size in zip(groups, shape_of(value.type), strict=True) if len(g) == 1}
    if any(sizes[c] is None for c in letters):
        return None
    return _LetteredOperand(_expansion(value, groups, [cast(int, sizes[c]) for c in letters], found.weighing), letters)


def _partly_collapsed(
    value: ir.Value, groups: Sequence[str], sizes: Mapping[str, Size], known: SymbolicSizes, before: ir.Operation
) -> ir.Value | None:
    """What a collapsed tensor was before, but with a dimension for each letter; None where that is not certain."""
    view = made_by(value, "tensor.collapse_shape")
    if view is None:
        return None
    shape, extents = shape_of(view.operands[0].type), known.shape(view.operands[0])
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
    kind = tensor_with([_product(shape, dims) for dims in merged], value.type)
    attributes = {"reassociation": _reassociation(["x" * len(dims) for dims in merged])}
    return create("tensor.collapse_shape", [view.operands[0]], [kind], attributes, before=before).results[0]


def _extent(sizes: Sequence[Size], dims: Sequence[int]) -> Size | None:
    """The number of elements of merged dimensions; None of none."""
    return expand(prod((sizes[dim] for dim in dims), start=sympy.Integer(1))) if dims else None


def _product(shape: Sequence[int | None], dims: Sequence[int]) -> int | None:
    """The number of elements of merged dimensions; None if it is not known."""
    sizes = [shape[dim] for dim in dims]
    known = [size for size in sizes if size is not None]
    return prod(known) if len(known) == len(sizes) else None


def _expansion(
    value: ir.Value, groups: Sequence[str], sizes: Sequence[int | ir.Value], before: ir.Operation
) -> ir.Value:
    static = [size if isinstance(size, int) else None for size in sizes]
    dynamic = [size for size in sizes if not isinstance(size, int)]
    attributes = {"reassociation": _reassociation(groups), "static_output_shape": integers(static_entries(static))}
    kind = tensor_with(static, value.type)
    return create("tensor.expand_shape", [value, *dynamic], [kind], attributes, before=before).results[0]


def _reassociation(groups: Sequence[str]) -> ir.Attribute:
    i64, place, found = ir.IntegerType.get_signless(64), 0, list[ir.Attribute]()
    for group in groups:
        found.append(ir.ArrayAttr.get([ir.IntegerAttr.get(i64, place + i) for i in range(len(group))]))
        place += len(group)
    return ir.ArrayAttr.get(found)


def _factored(operands: Sequence[_LetteredOperand]) -> tuple[float, list[_LetteredOperand]]:
    """Queries, keys and values before transposes and repetitions of them; and the number that the queries were multiplied by."""
    found = list(operands)
    for i in range(len(found)):
        found[i] = _folded(found[i], _kept(found, i))
    factor, found[0] = _unscaled(found[0])
    found[0] = _folded(found[0], _kept(found, 0))
    return factor, found


def _kept(operands: Sequence[_LetteredOperand], number: int) -> set[str]:
    """The letters that an operand may not lose: those of its product, and those that no other has."""
    others = {letter for i, operand in enumerate(operands) if i != number for letter in operand.letters}
    return {*_OWN[number]} | (set(operands[number].letters) - others)


def _folded(operand: _LetteredOperand, kept: set[str]) -> _LetteredOperand:
    """The operand before transposes and repetitions of it that lose none of the letters `kept`."""
    producer = defining_op(operand.value)
    while producer is not None:
        letters = source_letters(producer, operand.letters)
        if letters is None or not kept <= set(letters):
            break
        operand = _LetteredOperand(producer.operands[0], letters)
        producer = defining_op(operand.value)
    return operand


def _unscaled(operand: _LetteredOperand) -> tuple[float, _LetteredOperand]:
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
    return other[1], _LetteredOperand(generic.op.operands[0], operand.letters)


def _size(letter: str, operands: Sequence[_LetteredOperand], before: ir.Operation) -> int | ir.Value:
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


def _target(value: ir.Value, spelled: _Spelled, sizes: SymbolicSizes) -> _Target:
    """A transpose of the product, if nothing else wants that, else the product."""
    groups = spelled.result
    seen, letters = value, groups
    reader = _only_user(seen)
    if reader is not None and reader.name == "tensor.expand_shape" and _undoes(reader, spelled, sizes):
        seen, letters = reader.results[0], tuple("".join(groups))
        reader = _only_user(seen)
    if (
        reader is None
        or reader.name != "linalg.transpose"
        or reader.operands[0] != seen
        or any(len(g) > 1 for g in letters)
    ):
        return _Target(value, groups)
    order = int_array(reader.attributes["permutation"])
    return _Target(reader.results[0], tuple(letters[i] for i in order))


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
    attributes = {"reassociation": _reassociation(target.groups)}
    return create("tensor.collapse_shape", [value], [target.value.type], attributes, before=before).results[0]


# Repeated heads


def _without_repeats(
    operands: list[_LetteredOperand], target: _Target, before: ir.Operation, known: SymbolicSizes
) -> tuple[list[_LetteredOperand], _Target]:
    """Keys and values before their heads were repeated: the letter of the heads becomes two, of which they lack one."""
    for number in (1, 2):
        repeat = _repeat(operands[number])
        if repeat is None:
            continue
        letter, sizes, source, letters = repeat
        free = next(c for c in _BATCH if not any(c in o.letters for o in operands))
        pair = letter + free
        if any(c == _UNIT for c in letters):
            continue
        split: list[_LetteredOperand] = []
        for i, operand in enumerate(operands):
            if i == number:
                split.append(_LetteredOperand(source, operand.letters.replace(letter, pair)))
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
    operand: _LetteredOperand,
    letter: str,
    pair: str,
    sizes: tuple[int, int],
    before: ir.Operation,
    symbolic: SymbolicSizes,
) -> _LetteredOperand:
    """The operand with two dimensions, of these sizes, in the place of one."""
    letters = operand.letters.replace(letter, pair)
    groups = [pair if c == letter else c for c in operand.letters]
    known = dict(zip(pair, sizes, strict=True))
    source = _partly_collapsed(operand.value, groups, known, symbolic, before)
    if source is not None:
        return _LetteredOperand(source, letters)
    extents = [known[c] if c in known else _size(c, [operand], before) for c in letters]
    return _LetteredOperand(_expansion(operand.value, groups, extents, before), letters)


def _repeat(operand: _LetteredOperand) -> tuple[str, tuple[int, int], ir.Value, str] | None:
    """The letter of the heads of a tensor that was repeated for groups of them, how many there are, and how many in a group."""
    view = made_by(operand.value, "tensor.collapse_shape")
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
        or letter in (_QUERY, _KEY, _SUMMED, _COLUMN)
    ):
        return None
    return letter, (sizes[0], sizes[1]), source, letters


# What is done to the scores


class _Payload:
    """What makes the logits of the scores, as a region in the making; `extras` are the tensors that it reads besides."""

    def __init__(self, logits: ir.Value, scores: ir.Value, letters: str) -> None:
        self._logits, self._scores, self._letters = logits, scores, letters
        self.extras: list[_LetteredOperand] = []
        self._known: dict[tuple[ir.Value, str], ir.Value | None] = {}
        self._block: ir.Block | None = None

    @classmethod
    def of(cls, logits: ir.Value, scores: ir.Value, letters: str) -> _Payload | None:
        """The payload; None if it reads what it cannot, such as the number of a batch."""
        payload = cls(logits, scores, letters)
        return payload if payload._gather(logits, letters) else None

    def _gather(self, value: ir.Value, letters: str) -> bool:
        """Notes the extras that a value is made of."""
        if value == self._scores or (value, letters) in self._known:
            return True
        inputs = self._inlined(value, letters)
        if inputs is not None:
            self._known[value, letters] = None
            return all(self._gather(*each) for each in inputs)
        if element_of(value.type) not in _EXTRAS:
            return False
        self._known[value, letters] = None
        self.extras.append(_LetteredOperand(value, letters))
        return True

    def _inlined(self, value: ir.Value, letters: str) -> list[tuple[ir.Value, str]] | None:
        """The tensors that a value is computed from in the region, with their letters; None if it is read from memory."""
        if uniform(value) is not None:
            return []
        if not (_QUERY in letters and _KEY in letters) and not _is_of_places(value):  # small enough to be computed once
            return None
        op = defining_op(value)
        if op is not None and op.name in RESHAPES:
            seen = self._through_view(op, letters)
            return None if seen is None else [(op.operands[0], seen)]
        generic = elementwise(value)
        if generic is None or not is_arithmetic(generic) or not self._knows_places(generic, letters):
            return None
        found: list[tuple[ir.Value, str]] = []
        for number in range(generic.inputs):
            loops = loops_read(generic, number)
            if loops is None:
                return None
            if generic.reads(number):
                found.append((generic.op.operands[number], "".join(_UNIT if i is None else letters[i] for i in loops)))
        return found

    @staticmethod
    def _knows_places(generic: Generic, letters: str) -> bool:
        """Whether a payload asks only for the numbers of queries and keys."""
        return all(letters[loop] in (_QUERY, _KEY, _UNIT) for _, loop in index_ops(generic.op))

    @staticmethod
    def _through_view(view: ir.Operation, letters: str) -> str | None:
        """The letters of the operand of a view that adds or drops dimensions of size 1."""
        groups = unit_dims(view)
        if groups is None:
            return None
        source = shape_of(view.operands[0].type)
        if view.name == "tensor.expand_shape":
            kept = [[letters[i] for i in group if letters[i] != _UNIT] for group in groups]
            return None if any(len(each) > 1 for each in kept) else "".join(each[0] if each else _UNIT for each in kept)
        spelled = [_UNIT] * len(source)
        for letter, group in zip(letters, groups, strict=True):
            spelled[next((i for i in group if source[i] != 1), group[0])] = letter
        return "".join(spelled)

    def build(self, op: ir.Operation, factor: float) -> None:
        """Fills the region of an op whose extras are `extras`."""
        f32, index = ir.F32Type.get(), ir.IndexType.get()
        kinds = [f32, *(cast(Any, extra.value.type).element_type for extra in self.extras), index, index]
        block = op.regions[0].blocks.append(*kinds, arg_locs=[op.location] * len(kinds))
        score, *extras, query, key = block.arguments
        self._known = {(extra.value, extra.letters): x for extra, x in zip(self.extras, extras, strict=True)}
        self._places = {_QUERY: query, _KEY: key}
        with ir.InsertionPoint(block), op.location:
            if factor != 1.0:
                score = _emit("arith.mulf", [score, _number(f32, factor)], f32)
            self._known[self._scores, self._letters] = score
            ir.Operation.create("tm_tensor.yield", operands=[self._emitted(self._logits, self._letters)])

    def _emitted(self, value: ir.Value, letters: str) -> ir.Value:
        """The element of a tensor, computed where the block ends."""
        if value == self._scores:
            return cast(ir.Value, self._known[value, self._letters])
        found = self._known.get((value, letters))
        if found is None:
            found = self._known[value, letters] = self._computed(value, letters)
        return found

    def _computed(self, value: ir.Value, letters: str) -> ir.Value:
        known = uniform(value)
        if known is not None:
            return _number(cast(Any, value.type).element_type, known)
        inputs = [self._emitted(*each) for each in self._inlined(value, letters) or ()]
        op = cast(ir.Operation, defining_op(value))
        if op.name != "linalg.generic":
            return inputs[0]
        generic = cast(Generic, elementwise(value))
        block = op.regions[0].blocks[0]
        read = [block.arguments[i] for i in range(generic.inputs) if generic.reads(i)]
        mapping: dict[ir.Value, ir.Value] = dict(zip(read, inputs, strict=True))
        operations = [each.operation for each in block.operations]
        for each in operations[:-1]:
            for operand in each.operands:
                if operand not in mapping:
                    mapping[operand] = cast(ir.Operation, defining_op(operand)).clone().results[0]
            if each.name == "linalg.index":
                place = letters[_dim(each)]
                mapping[each.results[0]] = (
                    self._places[place] if place in self._places else _number(ir.IndexType.get(), 0)
                )
                continue
            clone = each.clone()
            for i, operand in enumerate(each.operands):
                clone.operands[i] = mapping[operand]
            mapping[each.results[0]] = clone.results[0]
        result = operations[-1].operands[0]
        if result not in mapping:
            mapping[result] = cast(ir.Operation, defining_op(result)).clone().results[0]
        return mapping[result]


def _is_of_places(value: ir.Value) -> bool:
    """Whether a tensor, seen with more or fewer dimensions of size 1, depends on the places of its elements alone."""
    view = defining_op(value)
    while view is not None and unit_dims(view) is not None:
        value = view.operands[0]
        view = defining_op(value)
    generic = elementwise(value)
    return generic is not None and generic.inputs == 0


def _dim(op: ir.Operation) -> int:
    return integer_of(op, "dim")


def _emit(name: str, operands: list[ir.Value], kind: ir.Type) -> ir.Value:
    return ir.Operation.create(name, results=[kind], operands=operands).results[0]


def _number(kind: ir.Type, number: float) -> ir.Value:
    value = (
        ir.FloatAttr.get(kind, number) if str(kind).startswith(("f", "bf")) else ir.IntegerAttr.get(kind, int(number))
    )
    return ir.Operation.create("arith.constant", results=[kind], attributes={"value": value}).results[0]
