"""The report on what `torch.compile` had compiled: graphs with their memory, graph breaks, recompilations and fallbacks."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class GraphReport:
    """One graph.

    Attributes:
        compile_id: Dynamo's number of the frame and of its compilation, as in `0/1`.
        kind: `inference`, `forward` or `backward`; `whole` for one that was refused before it was told apart.
        line: the user's line of its first op.
        guards: how many conditions Dynamo checks before each call.
        recompiled: which of Dynamo's guards failed, if the frame had been compiled before.
        refused: the error for which it runs in eager PyTorch, if it does.
        arena, peak: bytes, for the largest sizes called so far; None if it was refused or is gone.
    """

    compile_id: str
    kind: str
    line: str
    guards: int
    recompiled: str | None
    refused: str | None
    arena: int | None
    peak: int | None


@dataclass(frozen=True, slots=True)
class DynamoReport:
    """What was compiled. `graph_breaks` are Dynamo's reasons, with how often each came up."""

    graphs: tuple[GraphReport, ...]
    graph_breaks: Mapping[str, int]

    @property
    def compiled(self) -> tuple[GraphReport, ...]:
        return tuple(graph for graph in self.graphs if graph.refused is None)

    @property
    def recompilations(self) -> tuple[GraphReport, ...]:
        """The first graph of each compilation of a frame that had been compiled before."""
        first: dict[str, GraphReport] = {}
        for graph in self.graphs:
            if graph.recompiled is not None:
                first.setdefault(graph.compile_id, graph)
        return tuple(first.values())

    @property
    def fallbacks(self) -> tuple[GraphReport, ...]:
        """The graphs that run in eager PyTorch."""
        return tuple(graph for graph in self.graphs if graph.refused is not None)

    def __str__(self) -> str:
        counts = (
            f"{len(self.compiled)} graphs compiled, {len(self.fallbacks)} in eager PyTorch, "
            f"{sum(self.graph_breaks.values())} graph breaks, {len(self.recompilations)} recompilations"
        )
        lines, again = [counts], self.recompilations
        for graph in self.graphs:
            memory = "in eager PyTorch" if graph.refused is not None else "gone"
            if graph.arena is not None and graph.peak is not None:
                memory = f"arena {graph.arena:,}, peak {graph.peak:,} bytes"
            lines.append(f"{graph.compile_id:6} {graph.kind:9} {memory}, {graph.guards} guards  {graph.line}".rstrip())
            lines += [f"       recompiled: {graph.recompiled}"] * (graph in again)
            lines += [f"       refused: {graph.refused}"] * (graph.refused is not None)
        lines += [f"break  {count} × {reason}" for reason, count in self.graph_breaks.items()]
        return "\n".join(lines)
