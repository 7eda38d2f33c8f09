"""How control goes through the regions of an op, as a graph: from `ENTRY` to regions, between them, and to `EXIT`.

An op with a model says so by its `Flow`. Of any other op with regions it is assumed that they run in any order and any number
of times, or not at all. What a model leaves open is assumed too: that nothing runs where it says of no result what it is then.
No way leads past an op of which it says that a region certainly runs.
"""

from __future__ import annotations

from collections.abc import Sequence

from hotdesk._bindings import ir
from hotdesk.ir.types import is_buffer
from hotdesk.models.facts import RESULTS, Flow
from hotdesk.models.registry import model_of
from hotdesk.program.records import ENTRY, EXIT, RegionEdge

_ONCE = ("scf.execute_region", "shape.assuming", "memref.alloca_scope")
_PASSES_NOTHING = ("scf.forall", "scf.parallel")
_REDUCING = ("scf.parallel", "scf.reduce")


def flow_of(op: ir.Operation) -> Flow | None:
    """How values pass through the regions of an op, or None if that is not known: memrefs that are reduced are not followed."""
    if op.name in _REDUCING and any(is_buffer(value.type) for value in (*op.operands, *op.results)):
        return None
    model = model_of(op.name)
    if model is not None and model.flow is not None:
        return model.flow(op)
    if op.name in _PASSES_NOTHING:
        return Flow(follows=frozenset({(0, 0)}))
    if op.name == "memref.alloca_scope":
        return Flow(exits=tuple((0, i, RESULTS, i) for i in range(len(op.results))))
    return None


def region_edges(name: str, flow: Flow | None, filled: Sequence[bool]) -> tuple[RegionEdge, ...]:
    """The graph of an op of that name, of whose regions those have blocks that are `filled`."""
    regions = [number for number, has_blocks in enumerate(filled) if has_blocks]
    if flow is None:
        pairs = [(ENTRY, EXIT), *((ENTRY, r) for r in regions), *((r, EXIT) for r in regions)]
        return tuple(RegionEdge(a, b) for a, b in (*pairs, *((a, b) for a in regions for b in regions)))
    entries: dict[int, list[tuple[int, int]]] = {}
    for operand, region, argument in flow.entries:
        entries.setdefault(region, []).append((operand, argument))
    exits: dict[tuple[int, int], list[tuple[int, int]]] = {}
    for region, operand, target, to in flow.exits:
        exits.setdefault((region, target), []).append((operand, to))
    followed = {second for first, second in flow.follows if first != second}
    initial = [r for r in regions if r in entries or r not in followed]
    leaving = sorted(region for region, target in exits if target == RESULTS) or regions
    edges = [RegionEdge(ENTRY, r, tuple(entries.get(r, ()))) for r in initial]
    if _may_skip(name, flow, len(regions) < len(filled), initial):
        edges.append(RegionEdge(ENTRY, EXIT, flow.skips))
    pairs = [*sorted(flow.follows), *((r, EXIT) for r in leaving)]
    edges += (RegionEdge(a, b, tuple(exits.get((a, b), ()))) for a, b in pairs)
    return tuple(edges)


def _may_skip(name: str, flow: Flow, has_empty: bool, initial: list[int]) -> bool:
    """Whether it may be that no region runs."""
    if flow.runs:
        return False
    if flow.skips or has_empty:
        return True
    gives_results = any(target == RESULTS for _, _, target, _ in flow.exits)
    return not gives_results and len(initial) == 1 and name not in _ONCE
