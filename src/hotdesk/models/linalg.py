"""Every linalg op through one model: destination-passing style, and what is read follows from the payload and the maps.

Named ops have payloads and maps as `linalg.generic` has, so nothing is said of them by name. The few ops that have none are
listed with what they do to their init; one that is not known here is taken to read it.
"""

from __future__ import annotations

from typing import Any, cast

from hotdesk._bindings import indexing_maps, ir
from hotdesk.errors import BufferizationError
from hotdesk.ir.locations import python_line
from hotdesk.ir.walking import constant_of, defining_op, segment_sizes
from hotdesk.models.facts import Facts
from hotdesk.models.model import OpModel
from hotdesk.models.rewrites import bufferize_destination_style

FILL, BROADCAST, TRANSPOSE = "linalg.fill", "linalg.broadcast", "linalg.transpose"
_OVERWRITTEN_INIT = {"linalg.softmax": 1, "linalg.pack": 1, "linalg.unpack": 1}
"""Ops without a payload that write every element of their init and read none, and which operand it is."""


def facts(op: ir.Operation) -> Facts:
    if op.name in _OVERWRITTEN_INIT:
        return _init_facts(op, _OVERWRITTEN_INIT[op.name])
    maps = indexing_maps(op)
    return _opaque_facts(op) if maps is None else _payload_facts(op, maps)


def _init_facts(op: ir.Operation, init: int) -> Facts:
    others = frozenset(number for number in range(len(op.operands)) if number != init)
    ties = ((init, 0),) if len(op.results) else ()
    return Facts(reads=others, ties=ties, overwrites=frozenset(operand for operand, _ in ties))


def _opaque_facts(op: ir.Operation) -> Facts:
    """The last operands are inits; everything is read."""
    results = len(op.results)
    first = len(op.operands) - results
    return Facts(reads=frozenset(range(len(op.operands))), ties=tuple((first + i, i) for i in range(results)))


def inputs_of(op: ir.Operation) -> int:
    """How many operands of a linalg op, on tensors or memrefs, are in front of its inits."""
    if "operandSegmentSizes" in op.attributes:
        return segment_sizes(op)[0]
    if len(op.results):
        return len(op.operands) - len(op.results)
    return len(op.operands) // 2 if op.name == "linalg.reduce" else len(op.operands) - 1


def fill_value(value: ir.Value) -> float | None:
    """The number every element of a tensor has when it is a fill or a splat constant, else None. Integers stay exact."""
    op = defining_op(value)
    if op is None:
        return None
    if op.name == "linalg.fill":
        return constant_of(op.operands[0])
    if op.name == "arith.constant":
        attribute = op.attributes["value"]
        if isinstance(attribute, ir.DenseElementsAttr) and attribute.is_splat:
            splat = cast(Any, attribute.get_splat_value())
            return None if isinstance(splat, ir.ArrayAttr) else splat.value  # a complex number is an array of two
        return None
    if op.name == "linalg.generic" and segment_sizes(op)[0] == 0:
        body = [o.operation for o in op.regions[0].blocks[0].operations]
        if len(body) == 1:
            return constant_of(body[0].operands[0])
    return None


def extends_unsigned(op: ir.Operation) -> bool:
    """Whether an op widens its inputs as unsigned integers."""
    return "unsigned" in str(op.attributes["cast"]) if "cast" in op.attributes else False


def _payload_facts(op: ir.Operation, maps: list[ir.AffineMap]) -> Facts:
    """Whatever is read or written by the payload's maps; an op on memrefs has no ties, and writes its inits all the same."""
    inputs = inputs_of(op)
    arguments = enumerate(op.regions[0].blocks[0].arguments)
    reads = frozenset(number for number, argument in arguments if next(iter(argument.uses), None) is not None)
    ties = tuple((inputs + i, i) for i in range(len(op.results)))
    written = maps[inputs:]
    if not all(cast(Any, each).is_permutation for each in written) or not _is_parallel(op):
        kept = {inputs + i for i, each in enumerate(written) if not cast(Any, each).is_projected_permutation}
        return Facts(reads=reads | kept, ties=ties)  # elements that no iteration writes stay as they were
    elementwise = frozenset(i for i in range(inputs) if all(maps[i] == each for each in written))
    overwrites = frozenset(operand for operand, _ in ties)
    return Facts(reads=reads, ties=ties, overwrites=overwrites, elementwise=elementwise)


def _is_parallel(op: ir.Operation) -> bool:
    """Whether an op whose results have a dim for each of its loops has parallel loops only; named ops then always have."""
    if "iterator_types" not in op.attributes:
        return True
    kinds = str(op.attributes["iterator_types"])
    return "reduction" not in kinds and "window" not in kinds


def _refuse_winograd(op: ir.Operation) -> None:
    raise BufferizationError(
        f"op `{op.name}` has no form on memrefs",
        expected="the transform as products of matrices",
        got=op.name,
        where=python_line(op.location),
        hint="decompose it first: `transform.structured.decompose_winograd_op`",
    )


_WINOGRAD = OpModel(facts, expand=_refuse_winograd)
MODELS = {
    "linalg.*": OpModel(facts, bufferize_destination_style),
    **{f"linalg.winograd_{part}_transform": _WINOGRAD for part in ("filter", "input", "output")},
}
