"""What attention does to its scores, as the region of `hotdesk.attention`: from the products to the logits of the softmax.

The elementwise ops between the two are cloned for one element, whose place (`linalg.index`) is an argument of the region. Tensors
that they read besides, such as masks, become operands of the op; those of a query and a key that are computed from smaller
tensors are computed in the region, too.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, cast

from hotdesk._bindings import ir
from hotdesk.analysis.fusion.attention import elementwise, is_arithmetic, uniform, unit_dims
from hotdesk.ir.types import element_of, shape_of
from hotdesk.ir.walking import defining_op, integer_of
from hotdesk.models.generics import GENERIC, NUMBER, Generic, index_ops, loops_read
from hotdesk.models.tensor import EXPAND, RESHAPES

QUERY, KEY, UNIT = "m", "n", "1"
"""The letters of the dims of queries and keys in equations, and of dims of size 1."""
_EXTRAS = ("f32", "f16", "bf16", "i1", "i32", "i64")
"""Element types of what the scores may be computed with."""


@dataclass(frozen=True, slots=True)
class LetteredOperand:
    """A tensor with a letter for each of its dimensions."""

    value: ir.Value
    letters: str


class ScorePayload:
    """What makes the logits of the scores, as a region in the making; `extras` are the tensors that it reads besides."""

    def __init__(self, logits: ir.Value, scores: ir.Value, letters: str) -> None:
        self._logits, self._scores, self._letters = logits, scores, letters
        self.extras: list[LetteredOperand] = []
        self._known: dict[tuple[ir.Value, str], ir.Value | None] = {}
        self._block: ir.Block | None = None

    @classmethod
    def of(cls, logits: ir.Value, scores: ir.Value, letters: str) -> ScorePayload | None:
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
        self.extras.append(LetteredOperand(value, letters))
        return True

    def _inlined(self, value: ir.Value, letters: str) -> list[tuple[ir.Value, str]] | None:
        """The tensors that a value is computed from in the region, with their letters; None if it is read from memory."""
        if uniform(value) is not None:
            return []
        if not (QUERY in letters and KEY in letters) and not _is_of_places(value):  # small enough to be computed once
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
            loops = loops_read(generic.maps[number])
            if loops is None:
                return None
            if generic.reads(number):
                found.append((generic.op.operands[number], "".join(UNIT if i is None else letters[i] for i in loops)))
        return found

    @staticmethod
    def _knows_places(generic: Generic, letters: str) -> bool:
        """Whether a payload asks only for the numbers of queries and keys."""
        return all(letters[loop] in (QUERY, KEY, UNIT) for _, loop in index_ops(generic.op))

    @staticmethod
    def _through_view(view: ir.Operation, letters: str) -> str | None:
        """The letters of the operand of a view that adds or drops dimensions of size 1."""
        groups = unit_dims(view)
        if groups is None:
            return None
        source = shape_of(view.operands[0].type)
        if view.name == EXPAND:
            kept = [[letters[i] for i in group if letters[i] != UNIT] for group in groups]
            return None if any(len(each) > 1 for each in kept) else "".join(each[0] if each else UNIT for each in kept)
        spelled = [UNIT] * len(source)
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
        self._places = {QUERY: query, KEY: key}
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
        if op.name != GENERIC:
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
            if each.name == NUMBER:
                place = letters[integer_of(each, "dim")]
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


def _emit(name: str, operands: list[ir.Value], kind: ir.Type) -> ir.Value:
    return ir.Operation.create(name, results=[kind], operands=operands).results[0]


def _number(kind: ir.Type, number: float) -> ir.Value:
    value = (
        ir.FloatAttr.get(kind, number) if str(kind).startswith(("f", "bf")) else ir.IntegerAttr.get(kind, int(number))
    )
    return ir.Operation.create("arith.constant", results=[kind], attributes={"value": value}).results[0]
