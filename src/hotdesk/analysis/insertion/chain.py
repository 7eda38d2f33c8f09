"""Chains: the ops that make a value from a `tensor.empty`, up to the one that inserts it somewhere else."""

from __future__ import annotations

from dataclasses import dataclass

from hotdesk._bindings import ir


@dataclass(frozen=True, slots=True)
class Chain:
    """A chain that may write where its value is inserted.

    Attributes:
        insertion: the op at its end.
        links: the ops from the one that has the `tensor.empty` as an operand to the one that makes the inserted value.
        operand: the number of that operand.
        moves: whether the links have to move down in front of the insertion first.
    """

    insertion: ir.Operation
    links: tuple[ir.Operation, ...]
    operand: int
    moves: bool
