"""Frames: values whose dims correspond, so that parts of them can be compared."""

from __future__ import annotations

from collections.abc import Iterator

from hotdesk.analysis.tensors.program import NOT_A_TENSOR, TensorProgram


def frames_of(function: TensorProgram) -> list[int]:
    """Classes of values whose dims correspond: an op's destination and result, what is cast, and what is passed on."""
    parent = list(range(len(function.values)))

    def find(value: int) -> int:
        while parent[value] != value:
            parent[value] = parent[parent[value]]
            value = parent[value]
        return value

    for a, b in _corresponding(function):
        if NOT_A_TENSOR not in (a, b):
            parent[find(b)] = find(a)
    return [find(value) for value in range(len(parent))]


def _corresponding(function: TensorProgram) -> Iterator[tuple[int, int]]:
    for op in function.ops:
        pairs = (*op.facts.ties, *op.facts.choices, *(op.facts.views if op.name == "tensor.cast" else ()))
        yield from ((op.operands[operand], op.results[result]) for operand, result in pairs)
    yield from ((edge.source, edge.target) for edge in (*function.flows, *function.shown))
