"""Contractions, convolutions, poolings and attention of the `hotdesk` dialect: one destination, read only to accumulate."""

from __future__ import annotations

from typing import Any, cast

from hotdesk._bindings import ir
from hotdesk.models.facts import Facts
from hotdesk.models.model import Buffers, OpModel
from hotdesk.models.structured import bufferize_destination_style

_INIT = {"hotdesk.contract": 2, "hotdesk.conv": 2, "hotdesk.pool": 1}


def facts(op: ir.Operation) -> Facts:
    init = _INIT.get(op.name, len(op.operands) - 1)
    reads = set(range(init))
    if "accumulate" in op.attributes and bool(cast(Any, op.attributes["accumulate"]).value):
        reads.add(init)
    if not op.results:
        return Facts(reads=frozenset(reads))  # the destination is a memref
    return Facts(reads=frozenset(reads), ties=((init, 0),), overwrites=frozenset({init}))


def _bufferize(op: ir.Operation, buffers: Buffers) -> None:
    bufferize_destination_style(op, buffers)


MODELS = {name: OpModel(facts, _bufferize) for name in (*_INIT, "hotdesk.attention")}
