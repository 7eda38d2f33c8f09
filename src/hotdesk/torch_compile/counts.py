"""What `torch.compile` had compiled, counted for `hotdesk.dynamo_report()`. Nothing here imports torch before it is used."""

# PyTorch is annotated in part only.
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false

from __future__ import annotations

import sys
from collections import Counter
from dataclasses import dataclass
from threading import Lock
from typing import TYPE_CHECKING, Any, cast
from weakref import ref

from hotdesk.report.dynamo import DynamoReport, GraphReport

if TYPE_CHECKING:
    from hotdesk.runtime.program import Program


class FallbackWarning(UserWarning):
    """A graph was refused and runs in eager PyTorch."""


@dataclass(frozen=True, slots=True)
class CountedGraph:
    """A graph that was compiled or, if `refused` says why, was not. Its program lives as long as somebody can call it."""

    compile_id: str
    kind: str
    line: str
    program: ref[Program] | None
    refused: str | None = None

    def report(self, guards: int, recompiled: str | None) -> GraphReport:
        program = self.program() if self.program is not None else None
        memory = max(program.planned, key=lambda each: each.peak, default=None) if program is not None else None
        return GraphReport(
            self.compile_id,
            self.kind,
            self.line,
            guards,
            recompiled,
            self.refused,
            memory.arena if memory is not None else None,
            memory.peak if memory is not None else None,
        )


class Counted:
    """What was compiled since the process started or `torch._dynamo.reset()` was called."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._graphs: list[CountedGraph] = []
        self._told: set[str] = set()
        self._metrics: dict[str, tuple[int, str | None]] = {}
        self._breaks_before: Counter[str] = Counter()

    @property
    def graphs(self) -> tuple[CountedGraph, ...]:
        with self._lock:
            return tuple(self._graphs)

    def reset(self) -> None:
        with self._lock:
            self._graphs.clear()
            self._told.clear()
            self._metrics.clear()
            self._breaks_before = _graph_breaks()

    def note(self, graph: CountedGraph) -> None:
        with self._lock:
            self._graphs.append(graph)
            self._read_metrics()

    def is_news(self, message: str) -> bool:
        with self._lock:
            is_news = message not in self._told
            self._told.add(message)
            return is_news

    def report(self) -> DynamoReport:
        with self._lock:
            if self._graphs:
                self._read_metrics()
            graphs = [graph.report(*self._metrics.get(graph.compile_id, (0, None))) for graph in self._graphs]
            breaks = _graph_breaks() - self._breaks_before
        return DynamoReport(tuple(graphs), {reason.splitlines()[0]: count for reason, count in breaks.items()})

    def _read_metrics(self) -> None:
        """PyTorch keeps those of the last compilations only."""
        from torch._dynamo.utils import get_compilation_metrics

        for each in cast("list[Any]", get_compilation_metrics()):
            if each.guard_count is not None:  # a backward graph has the number of its forward graph, and none
                self._metrics[str(each.compile_id)] = (each.guard_count, each.recompile_reason)


def _graph_breaks() -> Counter[str]:
    if "torch._dynamo" not in sys.modules:
        return Counter()
    from torch._dynamo.utils import counters

    return Counter(counters["graph_break"])


COUNTED = Counted()


def dynamo_report() -> DynamoReport:
    """What `torch.compile(..., backend="hotdesk")` compiled since the process started or `torch._dynamo.reset()` was called.

    Graph breaks are counted by Dynamo, for all backends together.
    """
    return COUNTED.report()
