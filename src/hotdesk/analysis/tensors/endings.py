"""Which values a function returns in the end, as they are or after more was written over them."""

from __future__ import annotations

from collections.abc import Iterable

from hotdesk.analysis.tensors.extents import WHOLE
from hotdesk.analysis.tensors.program import NOT_A_TENSOR, TensorProgram
from hotdesk.analysis.tensors.readers import Readers
from hotdesk.program.graphs import reached


def returned_groups(function: TensorProgram, readers: Readers, *, overwritten: bool) -> frozenset[int]:
    """The contents groups that control flow, choices and views lead, all of them, to a result of the function.

    With `overwritten` also those that such a result may be written over, by ops that are tied to them.
    """
    sources: dict[int, list[int]] = {}
    for edge in function.flows:
        sources.setdefault(edge.target, []).append(edge.source)
    for op in function.ops:
        for operand, result in (*op.facts.choices, *(op.facts.ties if overwritten else ())):
            sources.setdefault(op.results[result], []).append(op.operands[operand])
    ends = [value for op in function.returns for value in op.operands]

    def groups(values: Iterable[int]) -> Iterable[int]:
        return (readers.root[value] for value in values if value != NOT_A_TENSOR and readers.extent[value] is WHOLE)

    return frozenset(reached(groups(ends), lambda group: groups(sources.get(group, ()))))
