"""Tensors that are computed for each position, and those whose bits are another type's."""

from __future__ import annotations

from typing import Any, cast

from hotdesk._bindings import ir
from hotdesk.ir.building import create, empty_of
from hotdesk.models.facts import Facts, no_facts
from hotdesk.models.model import OpModel
from hotdesk.models.payloads import computed, computed_in_loops, inlined, makes_tensors, structured


def _expand_generate(op: ir.Operation) -> list[ir.Value]:
    """A payload that computes each element; loops if the computation makes tensors."""
    block = op.regions[0].blocks[0]
    make = computed_in_loops if makes_tensors(op) else computed
    return [make(op.results[0].type, list(op.operands), lambda positions, end: inlined(block, positions, end)[0], op)]


def _bitcast_facts(op: ir.Operation) -> Facts:
    return Facts(reads=frozenset({0}))


def _expand_bitcast(op: ir.Operation) -> list[ir.Value]:
    """The bits of each element, copied: memory has one element type."""
    source, kind = op.operands[0], op.results[0].type
    generic, end = structured([source], [empty_of(kind, source, op)], op)
    scalar: ir.Value = generic.regions[0].blocks[0].arguments[0]
    end.operands[0] = _same_bits(scalar, cast(Any, kind).element_type, end)
    return [generic.results[0]]


def _same_bits(scalar: ir.Value, kind: ir.Type, before: ir.Operation) -> ir.Value:
    """A scalar as another type of its width; `arith` knows integers without a sign only."""
    scalar = _signless(scalar, _without_sign(scalar.type), before)
    if scalar.type != _without_sign(kind):
        scalar = create("arith.bitcast", [scalar], [_without_sign(kind)], before=before).results[0]
    return _signless(scalar, kind, before)


def _signless(scalar: ir.Value, kind: ir.Type, before: ir.Operation) -> ir.Value:
    if scalar.type == kind:
        return scalar
    return create("builtin.unrealized_conversion_cast", [scalar], [kind], before=before).results[0]


def _without_sign(kind: ir.Type) -> ir.Type:
    return ir.IntegerType.get_signless(kind.width) if isinstance(kind, ir.IntegerType) else kind


MODELS = {
    "tensor.generate": OpModel(no_facts, expand=_expand_generate),
    "tensor.bitcast": OpModel(_bitcast_facts, expand=_expand_bitcast),
}
