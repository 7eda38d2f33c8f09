"""Rule 1 of `named_ops`: named products become `hotdesk.contract`, rearranged operands letters of its equation."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

from hotdesk._bindings import ir
from hotdesk.explain import Decision, Outcome, Reason
from hotdesk.ir.building import create, replace
from hotdesk.ir.locations import source_of
from hotdesk.ir.walking import defining_op, int_array, segment_sizes
from hotdesk.models.generics import GENERIC
from hotdesk.models.linalg import BROADCAST, TRANSPOSE, extends_unsigned
from hotdesk.passes.tensor.fills import initial

EQUATIONS: Mapping[str, str] = {
    "linalg.matmul": "mk,kn->mn",
    "linalg.batch_matmul": "bmk,bkn->bmn",
    "linalg.matvec": "mk,k->m",
    "linalg.vecmat": "k,kn->n",
    "linalg.batch_matvec": "bmk,bk->bm",
    "linalg.batch_vecmat": "bk,bkn->bn",
    "linalg.dot": "k,k->",
}


def _has_default_maps(op: ir.Operation) -> bool:
    if "indexing_maps" not in op.attributes:
        return True
    left, right = EQUATIONS[op.name].split("->")
    for attribute, letters in zip(cast(Any, op.attributes["indexing_maps"]), [*left.split(","), right], strict=True):
        results = [str(e) for e in attribute.value.results]
        order = "bmnk" if "b" in EQUATIONS[op.name] else "mnk"
        order = "".join(c for c in order if c in left + right)
        if results != [f"d{order.index(letter)}" for letter in letters]:
            return False
    return True


def contract(op: ir.Operation) -> list[Decision]:
    if not _has_default_maps(op) or extends_unsigned(op):
        return []
    inputs, output = EQUATIONS[op.name].split("->")
    decisions: list[Decision] = []
    operands: list[ir.Value] = []
    letters: list[str] = []
    for value, names in zip(op.operands, inputs.split(","), strict=False):
        last_of = set(names) - set(output) - set(letters[0]) if letters else set[str]()
        value, names, folded = through_transposes(value, names, last_of)
        operands.append(value)
        letters.append(names)
        decisions.extend(folded)
    accumulate, init = initial(op, 0.0)
    attributes = {
        "equation": ir.StringAttr.get(f"{','.join(letters)}->{output}"),
        "accumulate": ir.BoolAttr.get(accumulate),
    }
    replace(op, create("hotdesk.contract", [*operands, init], [op.results[0].type], attributes, before=op))
    return decisions


def through_transposes(value: ir.Value, letters: str, keep: set[str]) -> tuple[ir.Value, str, list[Decision]]:
    """Follows an operand back through transposes and broadcasts that lose no letter of `keep`: its source, and its letters.

    A summed letter that no operand had any more would lose its size, and with it how often the product is added.
    """
    decisions: list[Decision] = []
    producer = defining_op(value)
    while producer is not None:
        found = source_letters(producer, letters)
        if found is None or not keep <= set(found):
            break
        letters, value = found, producer.operands[0]
        source = source_of(producer)
        decisions.append(Decision("rearranged operand", Outcome.FOLDED, Reason.VIEW_OF_OPERAND, (source,), 0))
        producer = defining_op(value)
    return value, letters, decisions


def source_letters(producer: ir.Operation, letters: str) -> str | None:
    """The letters of the input of an op that only rearranges or repeats it, or None if it does more."""
    if producer.name == TRANSPOSE:
        placed = dict(zip(int_array(producer.attributes["permutation"]), letters, strict=True))
        return "".join(placed[i] for i in range(len(letters)))
    if producer.name == BROADCAST:
        added = set(int_array(producer.attributes["dimensions"]))
        return "".join(letter for i, letter in enumerate(letters) if i not in added)
    if producer.name != GENERIC or segment_sizes(producer) != (1, 1):
        return None
    block = producer.regions[0].blocks[0]
    body = [op.operation for op in block.operations]
    source_map, result_map = (m.value for m in cast(Any, producer.attributes["indexing_maps"]))
    if len(body) != 1 or body[0].operands[0] != block.arguments[0] or not source_map.is_projected_permutation:
        return None
    positions = [int(str(result).removeprefix("d")) for result in source_map.results if str(result).startswith("d")]
    if result_map != ir.AffineMap.get_identity(len(letters)) or len(positions) != len(source_map.results):
        return None
    return "".join(letters[position] for position in positions)
