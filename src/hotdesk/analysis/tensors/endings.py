"""Which values a function returns in the end, as they are or after more was written over them."""

from __future__ import annotations

from hotdesk.analysis.tensors.extents import WHOLE
from hotdesk.analysis.tensors.program import NOT_A_TENSOR, FunctionRecord
from hotdesk.analysis.tensors.readers import Readers


def returned_groups(function: FunctionRecord, readers: Readers, *, overwritten: bool) -> frozenset[int]:
    """The contents groups that control flow, choices and views lead, all of them, to a result of the function.

    With `overwritten` also those that such a result may be written over, by ops that are tied to them.
    """
    sources: dict[int, list[int]] = {}
    for edge in function.flows:
        sources.setdefault(edge.target, []).append(edge.source)
    for op in function.ops:
        for operand, result in (*op.facts.choices, *(op.facts.ties if overwritten else ())):
            sources.setdefault(op.results[result], []).append(op.operands[operand])
    found: set[int] = set()
    ends = [value for op in function.ops if op.name == "func.return" for value in op.operands]
    waiting = [value for value in ends if value != NOT_A_TENSOR]
    while waiting:
        value = waiting.pop()
        group = readers.root[value]
        if readers.extent[value] is WHOLE and group not in found:
            found.add(group)
            waiting.extend(sources.get(group, ()))
    return frozenset(found)
