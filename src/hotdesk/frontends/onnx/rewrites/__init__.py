"""Nodes of ONNX written with others that torch-mlir lowers: a file for each family of ops, on `graph.py`."""

from __future__ import annotations

from hotdesk.frontends.onnx.rewrites import (
    arithmetic,
    boxes,
    control,
    domains,
    interpolation,
    narrow,
    quantized,
    recurrent,
    reductions,
    shapes,
    spectral,
    windows,
)
from hotdesk.frontends.onnx.rewrites.graph import Graph, Items, NotRewritten, Rewrites, first_reader, result_names

_FAMILIES = (
    *(arithmetic, boxes, control, domains, interpolation, narrow, quantized),
    *(recurrent, reductions, shapes, spectral, windows),
)
REWRITES: Rewrites = {op: rewrite for family in _FAMILIES for op, rewrite in family.REWRITES.items()}
__all__ = ["REWRITES", "Graph", "Items", "NotRewritten", "first_reader", "result_names"]
