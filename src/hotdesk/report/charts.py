"""The charts of a report, in Vega-Lite by Altair: bytes against program point, the time of each, and the arena as rectangles.

Colours are of the Okabe-Ito palette, which people with any kind of colour vision tell apart; lines differ by dashes too.
"""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Sequence
from itertools import accumulate
from typing import Any

from hotdesk.report.document import BufferEntry, Document
from hotdesk.report.text import place, unit_of
from hotdesk.report.vega import altair

PALETTE = ("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00", "#F0E442")
OTHER = "#999999"
MOST_BLOCKS = 3000
"""How many buffers are drawn; the smallest of more are folded."""
BACK = "back"
"""The parameter that is the colour behind the charts."""
_MOST_SAMPLES = 2000
_WIDTH = 900
_LINES = {
    "in use": ("#0072B2", [1, 0]),
    "arena": ("#E69F00", [8, 3]),
    "bound": ("#009E73", [2, 3]),
    "no reuse": ("#7A7A7A", [10, 3, 2, 3]),
}
"""The colour and the dashes of the lines that are always there."""
_BESIDE = ("#CC79A7", "#56B4E9", "#D55E00")
"""The colours of lines of other allocators, the first of which is far from that of what is in use."""


def chart(made: Document) -> dict[str, Any]:
    """The charts above each other, as a specification of Vega-Lite with all data inside; time, if measured, in the middle."""
    alt = altair()
    zoom = alt.selection_interval(name="zoom", bind="scales", encodings=["x"])
    with warnings.catch_warnings():  # one selection in both charts is meant: they zoom together
        warnings.filterwarnings("ignore", "Automatically deduplicated selection parameter")
        parts = [_bytes(alt, made, zoom), *_time(alt, made, zoom), _arena(alt, made, zoom)]
        whole = alt.vconcat(*parts, spacing=12).add_params(alt.param(name=BACK, value="#ffffff"))
    whole = whole.resolve_scale(x="shared", color="independent", strokeDash="independent").configure_view(
        strokeOpacity=0.2
    )
    return whole.configure_axis(grid=True, gridOpacity=0.25).to_dict()


def drawn(made: Document) -> tuple[tuple[BufferEntry, ...], tuple[BufferEntry, ...]]:
    """The buffers that are drawn, in the arena, in results and in what is lent, and those that are folded because they are the
    smallest of very many."""
    placed = [each for each in made.buffers if each.bytes and each.lower < each.upper]
    largest = sorted(placed, key=lambda each: (-each.bytes * (each.upper - each.lower), each.id))
    return tuple(sorted(largest[:MOST_BLOCKS], key=lambda each: each.id)), tuple(largest[MOST_BLOCKS:])


def _bytes(alt: Any, made: Document, zoom: Any) -> Any:
    """Lines of bytes in use, of other allocators, and of what does not change over the program."""
    end, (name, unit) = max(len(made.points), 1), unit_of(made.memory.peak)
    rows = [
        {
            "series": "in use",
            "point": i,
            "held": each.bytes / unit,
            "bytes": f"{each.bytes:,}",
            "op": each.op,
            "line": place(each.line),
        }
        for i, each in _thinned([(i, each) for i, each in enumerate(made.points)])
    ]
    for title, value in (
        ("arena", made.memory.arena),
        ("bound", made.memory.lower_bound),
        ("no reuse", made.memory.no_reuse),
    ):
        rows += [{"series": title, "point": at, "held": value / unit, "bytes": f"{value:,}"} for at in (0, end)]
    for series in made.series:
        samples = _thinned(list(zip(series.at, series.bytes, strict=True)))
        rows += [
            {"series": series.name, "point": at * end, "held": held / unit, "bytes": f"{held:,}"}
            for at, held in samples
        ]
    names = ["in use", "arena", "bound", "no reuse", *(series.name for series in made.series)]
    looks = [*_LINES.values(), *((_BESIDE[i % len(_BESIDE)], [4, 2]) for i in range(len(made.series)))]
    shown = alt.param(
        name="no_reuse",
        value=made.memory.no_reuse <= 3 * max(made.memory.peak, 1),
        bind=alt.binding_checkbox(name="no reuse "),
    )
    base = alt.Chart(alt.Data(values=rows)).transform_filter("no_reuse || datum.series != 'no reuse'")
    lines = base.mark_line(interpolate="step-after", clip=True).encode(
        x=_points(alt, "point:Q", None, end),
        y=alt.Y("held:Q", title=name),
        color=alt.Color("series:N", title="bytes", scale=alt.Scale(domain=names, range=[color for color, _ in looks])),
        strokeDash=alt.StrokeDash(
            "series:N", title="bytes", scale=alt.Scale(domain=names, range=[dash for _, dash in looks])
        ),
        tooltip=["series:N", "point:Q", "bytes:N", "op:N", "line:N"],
    )
    layers = [lines.add_params(shown, zoom)]
    if made.points:
        layers += _peak(alt, made)
    return alt.layer(*layers).properties(width=_WIDTH, height=240, title="bytes against program point")


def _points(alt: Any, column: str, title: str | None, end: int) -> Any:
    """The axis of program points, which are whole numbers."""
    return alt.X(column, title=title, scale=alt.Scale(domain=[0, end], nice=False), axis=alt.Axis(tickMinStep=1))


def _peak(alt: Any, made: Document) -> list[Any]:
    """The peak: a point on the line, with its bytes beside it."""
    point, (_, unit) = made.points[made.peak_point], unit_of(made.memory.peak)
    row = {
        "point": made.peak_point,
        "held": point.bytes / unit,
        "text": f"peak {point.bytes:,}",
        "op": point.op,
        "line": place(point.line),
    }
    base = alt.Chart(alt.Data(values=[row])).encode(x="point:Q", y="held:Q", tooltip=["text:N", "op:N", "line:N"])
    right = made.peak_point > len(made.points) / 2
    at: dict[str, Any] = {"align": "right" if right else "left", "dx": -9 if right else 9, "dy": -9, "clip": False}
    back = alt.ExprRef(BACK)
    around, text = (  # twice, so that it can be read where lines run behind it
        base.mark_text(**at, fontWeight="bold", color=color, **more).encode(text="text:N")
        for color, more in ((back, {"stroke": back, "strokeWidth": 4, "opacity": 0.85}), ("#D55E00", {}))
    )
    return [base.mark_point(filled=True, size=90, color="#D55E00", shape="diamond"), around, text]


def _time(alt: Any, made: Document, zoom: Any) -> list[Any]:
    """The milliseconds of each point as a bar, in stretches where there are very many; nothing where none was measured."""
    if not any(each.seconds for each in made.points):
        return []
    end = len(made.points)
    step = -(-end // _MOST_SAMPLES)
    rows: list[dict[str, Any]] = []
    for start in range(0, end, step):
        part = made.points[start : start + step]
        slowest = max(part, key=lambda each: each.seconds or 0.0)
        taken = 1e3 * sum(each.seconds or 0.0 for each in part)
        told = {"ms": f"{taken:.4f}", "op": slowest.op, "submodule": slowest.module, "line": place(slowest.line)}
        rows += [{"from": start, "to": start + len(part), "taken": taken, "point": start, **told}] if taken else []
    bars = alt.Chart(alt.Data(values=rows)).mark_rect(clip=True, color="#D55E00", stroke="#ffffff", strokeWidth=0.2)
    bars = bars.encode(
        x=_points(alt, "from:Q", None, end),
        x2="to:Q",
        y=alt.Y("taken:Q", title="ms"),
        y2=alt.datum(0),
        tooltip=[alt.Tooltip(f"{name}:N") for name in ("point", "ms", "op", "submodule", "line")],
    )
    return [bars.add_params(zoom).properties(width=_WIDTH, height=100, title="time of each program point")]


def _arena(alt: Any, made: Document, zoom: Any) -> Any:
    """The arena: a rectangle for each buffer, as wide as it is in use and as high as it has bytes.

    Above the arena come the results, and the inputs, that hold buffers or lend memory to them.
    """
    (shown, folded), (name, unit) = drawn(made), unit_of(made.memory.peak)
    counts = Counter(each.op for each in shown)
    ops = [name for name, _ in sorted(counts.items(), key=lambda item: (-item[1], item[0]))][: len(PALETTE)]
    lanes = _lanes(made, shown)
    rows = [_block(made, each, each.op if each.op in ops else "others", lanes[_lane(each)], unit) for each in shown]
    others = ["others"] if len(counts) > len(ops) else []
    domain, colors = [*ops, *others], [*PALETTE[: len(ops)], *([OTHER] if others else [])]
    end = max(len(made.points), 1)
    count = len(shown) + len(folded)
    above = [lane for lane in lanes if lane != "arena"]
    title = f"arena{', and above it ' * bool(above)}{', '.join(above)}: {count:,} buffer{'s' * (count != 1)}"
    if folded:
        title += f", the {len(folded):,} smallest, of at most {max(each.bytes for each in folded):,} bytes, folded"
    picked = alt.param(name="picked", value="")
    blocks = alt.Chart(alt.Data(values=rows)).mark_rect(clip=True, strokeWidth=0.5)
    blocks = blocks.encode(
        x=_points(alt, "from:Q", "program point", end),
        x2="to:Q",
        y=alt.Y("bottom:Q", title=f"offset, {name}"),
        y2="top:Q",
        color=alt.Color("kind:N", title="written by", scale=alt.Scale(domain=domain, range=colors), sort=domain),
        stroke=alt.condition("datum.name == picked", alt.value("#D55E00"), alt.value("#ffffff")),
        opacity=alt.condition("picked == '' || datum.name == picked", alt.value(0.9), alt.value(0.35)),
        tooltip=[alt.Tooltip(f"{told}:N") for told in _HOVER],
    )
    blocks = blocks.add_params(picked, zoom)
    if above:
        ends = alt.Chart(alt.Data(values=[{"at": lanes[lane] / unit, "lane": lane} for lane in above]))
        line = ends.mark_rule(color="#D55E00", strokeDash=[4, 3]).encode(y="at:Q")
        text = {"align": "left", "baseline": "bottom", "dx": 4, "dy": -2, "color": "#D55E00", "fontSize": 10}
        blocks = alt.layer(blocks, line, line.mark_text(**text).encode(x=alt.value(0), text="lane:N"))
    return blocks.properties(width=_WIDTH, height=300, title=title)


def _lane(buffer: BufferEntry) -> str:
    """The memory that a buffer lies in: the arena, a result, or an input."""
    return buffer.where.removeprefix("lent by ")


def _lanes(made: Document, shown: Sequence[BufferEntry]) -> dict[str, int]:
    """Where each memory begins as they are drawn, one on the other, in bytes: the arena at 0."""
    heights = {"arena": made.memory.arena}
    for each in sorted(shown, key=_lane):
        heights[_lane(each)] = max(heights.get(_lane(each), 0), each.offset + each.bytes)
    return dict(zip(heights, accumulate(heights.values(), initial=0), strict=False))


_HOVER = ("name", "type", "bytes", "op", "submodule", "line", "lies in", "in use", "after", "before", "why not earlier")


def _block(made: Document, buffer: BufferEntry, kind: str, start: int, unit: int) -> dict[str, Any]:
    latest = max((made.buffers[i] for i in buffer.before), key=lambda each: (each.upper, each.id), default=None)
    why = "nobody had the place" if latest is None else f"{latest.name} is in use up to point {latest.upper - 1}"
    return {
        "from": buffer.lower,
        "to": buffer.upper,
        "bottom": (start + buffer.offset) / unit,
        "top": (start + buffer.offset + buffer.bytes) / unit,
        "kind": kind,
        "name": buffer.name,
        "type": f"{buffer.type}[{', '.join(map(str, buffer.shape))}]",
        "bytes": f"{buffer.bytes:,}",
        "op": buffer.op,
        "submodule": buffer.module,
        "line": place(buffer.line),
        "lies in": f"{buffer.where} at offset {buffer.offset:,}",
        "in use": f"points {buffer.lower} to {buffer.upper - 1}",
        "after": _names(made, buffer.before),
        "before": _names(made, buffer.after),
        "why not earlier": why,
    }


def _names(made: Document, ids: Sequence[int]) -> str:
    names = ", ".join(made.buffers[i].title for i in ids[:3])
    return f"{names} and {len(ids) - 3} more" if len(ids) > 3 else names or "nobody"


def _thinned(samples: Sequence[tuple[Any, Any]]) -> list[tuple[Any, Any]]:
    """At most some thousand samples: of each stretch of many the highest, so that no peak is lost."""
    step = -(-len(samples) // _MOST_SAMPLES) if samples else 1
    if step <= 1:
        return list(samples)
    parts = [samples[i : i + step] for i in range(0, len(samples), step)]
    return [max(part, key=lambda each: getattr(each[1], "bytes", each[1])) for part in parts]
