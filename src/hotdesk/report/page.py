"""A report as one page of HTML that needs no network, and its charts as pictures.

The page is made from `page.html.j2`; Vega's JavaScript and all data are inside.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from hotdesk.report.charts import chart, drawn
from hotdesk.report.document import Document
from hotdesk.report.text import place
from hotdesk.report.vega import png_of, rendered, svg_of

_LARGEST = 12
_KERNELS = 20


def page(made: Document, title: str = "") -> str:
    """The page, the same for the same record. Raises MissingExtraError."""
    values = {
        "title": title or made.name,
        "made": made,
        "point": made.points[made.peak_point] if made.points else None,
        "largest": made.at_peak[:_LARGEST],
        "rest": made.at_peak[_LARGEST:],
        "tree": tree(made),
        "folded": drawn(made)[1],
        "kernels": _kernels(made),
    }
    data = {"chart": chart(made), "decisions": _decisions(made), "buffers": _buffers(made)}
    return rendered("page.html.j2", values, data)


def svg(made: Document) -> str:
    """The charts as a picture. Raises MissingExtraError."""
    return svg_of(chart(made))


def png(made: Document) -> bytes:
    """The charts as a picture, two pixels a point. Raises MissingExtraError."""
    return png_of(chart(made))


def _decisions(made: Document) -> list[list[Any]]:
    return [
        [each.outcome, each.subject, each.bytes, each.reason, each.text, each.remedy, each.module, place(each.line)]
        for each in made.decisions
    ]


def _buffers(made: Document) -> list[list[Any]]:
    return [
        [
            each.name,
            each.title.partition(" ")[2],
            each.bytes,
            each.op,
            each.where,
            each.lower,
            each.upper,
            each.module,
            place(each.line),
        ]
        for each in made.buffers
    ]


def _kernels(made: Document) -> list[dict[str, Any]]:
    if made.profile is None:
        return []
    total = made.profile["seconds"] or 1.0
    return [{**each, "part": each["seconds"] / total} for each in made.profile["kernels"][:_KERNELS]]


@dataclass(slots=True)
class Branch:
    """A submodule in the tree: its name, and what it holds with all below.

    Attributes:
        name, path: the last part of its path, and all of it.
        bytes, buffers: of all buffers together, over the whole program.
        largest: the bytes of the largest one.
        seconds: that its kernels take; 0 where that was not measured.
    """

    name: str
    path: str
    bytes: int = 0
    buffers: int = 0
    largest: int = 0
    seconds: float = 0.0
    below: dict[str, Branch] = field(default_factory=dict[str, "Branch"])

    @property
    def children(self) -> list[Branch]:
        """Those below it, the one with most bytes first, of equals the one with most time."""
        return sorted(self.below.values(), key=lambda each: (-each.bytes, -each.seconds, each.name))


def tree(made: Document) -> Branch:
    """The submodules of a model by their paths, with the bytes of their buffers, and the time of their kernels if it is known."""
    root = Branch("", "")
    paths: dict[str, list[Branch]] = {}
    for each in made.buffers:
        for branch in _path(root, each.module, paths):
            branch.bytes += each.bytes
            branch.buffers += 1
            branch.largest = max(branch.largest, each.bytes)
    for point in made.points:
        if point.seconds:
            for branch in _path(root, point.module, paths):
                branch.seconds += point.seconds
    return root


def _path(root: Branch, module: str, known: dict[str, list[Branch]]) -> list[Branch]:
    """The branches from the root to a submodule, both included."""
    if module not in known:
        branch, found = root, [root]
        parts = module.split(".") if module else []
        for depth, part in enumerate(parts, 1):
            branch = branch.below.setdefault(part, Branch(part, ".".join(parts[:depth])))
            found.append(branch)
        known[module] = found
    return known[module]
