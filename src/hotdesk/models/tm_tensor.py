"""torch-mlir's `tm_tensor` ops: scan, scatter, sort, attention and topk, all in destination-passing style."""

from __future__ import annotations

from hotdesk._bindings import ir
from hotdesk.ir.walking import segment_sizes
from hotdesk.models.facts import Facts
from hotdesk.models.model import OpModel
from hotdesk.models.rewrites import bufferize_destination_style


def facts(op: ir.Operation) -> Facts:
    inputs, outputs = segment_sizes(op)
    return Facts(
        reads=frozenset(range(inputs + outputs)),
        ties=tuple((inputs + i, i) for i in range(outputs)),
    )


MODELS = {"tm_tensor.*": OpModel(facts, bufferize_destination_style)}
