"""Nodes of ONNX written with others that torch-mlir lowers: a file for each family of ops.

Read `nodes.py` (what a rewrite works on), then `graph.py` (how a graph is written anew, with `folding.py` for constants), then
any family: `arithmetic.py`, `reductions.py`, `shapes.py` (moves of elements), `windows.py`, `interpolation.py`, `spectral.py`,
`recurrent.py`, `control.py`, `narrow.py` and `quantized.py` (types of few bits), `boxes.py`, `trees`, and `domains.py` for ops
outside of the main domain.
"""

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
    trees,
    windows,
)
from hotdesk.frontends.onnx.rewrites.graph import Graph, first_reader, result_names
from hotdesk.frontends.onnx.rewrites.nodes import Items, NotRewritten, Rewrites

_FAMILIES = (
    *(arithmetic, boxes, control, domains, interpolation, narrow, quantized),
    *(recurrent, reductions, shapes, spectral, trees, windows),
)
REWRITES: Rewrites = {op: rewrite for family in _FAMILIES for op, rewrite in family.REWRITES.items()}
__all__ = ["REWRITES", "Graph", "Items", "NotRewritten", "first_reader", "result_names"]
