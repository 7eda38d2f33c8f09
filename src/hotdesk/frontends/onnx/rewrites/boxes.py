"""NonMaxSuppression of many batches and classes, each by itself, and of boxes above a score.

A box is only suppressed by one of a higher score, so boxes below the threshold change nothing of what is found above it: they
are the last ones found, and taken away from the result.
"""

from __future__ import annotations

from typing import Any

from hotdesk.frontends.onnx.rewrites.nodes import OnnxNode, OnnxTensor, Rewrites


def _suppressed(op: OnnxNode) -> Any:
    boxes, scores, threshold = op.x, op.tensor(1), op.optional(4)
    batches, classes, _ = scores.sizes
    if threshold is None and batches == classes == 1:
        return NotImplemented
    found = [_of_class(op, boxes, scores, batch, each) for batch in range(batches) for each in range(classes)]
    return op.graph.concat(found, 0)


def _of_class(op: OnnxNode, boxes: OnnxTensor, scores: OnnxTensor, batch: int, number: int) -> OnnxTensor:
    """Rows of a batch, a class and the place of a box."""
    own = scores.slice(0, batch, batch + 1).slice(1, number, number + 1)
    rows: OnnxTensor = op.like(boxes.slice(0, batch, batch + 1), own, op.optional(2), op.optional(3))
    threshold = op.optional(4)
    if threshold is not None:
        chosen = own.reshape(-1).gather(rows.gather(2, 1)) > threshold.reshape()
        rows = rows.gather(op.graph.op("NonZero", chosen).squeeze(0))
    place: Any = [[batch, number, 0]]
    return rows + place if batch or number else rows


REWRITES: Rewrites = {"NonMaxSuppression": _suppressed}
