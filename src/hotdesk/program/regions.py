"""How control goes through the regions of an op, as a graph: from `ENTRY` to regions, between them, and to `EXIT`.

A model says so by a `Flow`. Of an op with regions and without one it is assumed that they run in any order and any number of
times, or not at all. What a model leaves open is assumed too: that nothing runs where it says of no result what it is then. No
way leads past an op of which it says that a region certainly runs.
"""

from __future__ import annotations

from collections.abc import Sequence

from hotdesk.models.facts import RESULTS, Flow
from hotdesk.program.records import ENTRY, EXIT, RegionEdge


def region_edges(flow: Flow | None, filled: Sequence[bool]) -> tuple[RegionEdge, ...]:
    """The graph of an op of whose regions those have blocks that are `filled`."""
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
    if _may_skip(flow, len(regions) < len(filled), initial):
        edges.append(RegionEdge(ENTRY, EXIT, flow.skips))
    pairs = [*sorted(flow.follows), *((r, EXIT) for r in leaving)]
    edges += (RegionEdge(a, b, tuple(exits.get((a, b), ()))) for a, b in pairs)
    return tuple(edges)


def _may_skip(flow: Flow, has_empty: bool, initial: list[int]) -> bool:
    """Whether it may be that no region runs."""
    if flow.runs:
        return False
    if flow.skips or has_empty:
        return True
    gives_results = any(target == RESULTS for _, _, target, _ in flow.exits)
    return not gives_results and len(initial) == 1
