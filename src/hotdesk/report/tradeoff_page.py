"""A trade-off as a chart, a page and a picture: bytes against milliseconds, and bytes against work done twice.

The line joins the points that nothing beats. Colours and shapes are ones that people with any colour vision tell apart.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from hotdesk.report.text import unit_of
from hotdesk.report.tradeoff import COLUMNS, TIME, WORK, Tradeoff, TradeoffPoint, cells, title_of
from hotdesk.report.vega import altair, png_of, rendered, svg_of

_LETTER, _LINE = 6, 12
"""Pixels that a letter and a line of a label take."""
_WIDTH, _HEIGHT = 400, 320
_KINDS = {"hotdesk": ("#0072B2", "circle"), "beside": ("#E69F00", "square")}


def tradeoff_page(made: Tradeoff, title: str = "") -> str:
    """The page, which needs no network. Raises MissingExtraError."""
    rows = [cells(made, point) for point in made.points]
    columns = COLUMNS
    if any(point.note for point in made.points):
        rows = [(*row, point.note) for row, point in zip(rows, made.points, strict=True)]
        columns = (*COLUMNS, "note")
    values = {"title": title or title_of(made), "made": made, "columns": columns, "rows": rows}
    return rendered("tradeoff.html.j2", values, {"chart": tradeoff_chart(made)})


def tradeoff_svg(made: Tradeoff) -> str:
    """The charts as a picture. Raises MissingExtraError."""
    return svg_of(tradeoff_chart(made))


def tradeoff_png(made: Tradeoff) -> bytes:
    """The charts as a picture, two pixels a point. Raises MissingExtraError."""
    return png_of(tradeoff_chart(made))


def tradeoff_chart(made: Tradeoff) -> dict[str, Any]:
    """Both charts beside each other, in Vega-Lite with all data inside; that of time only if it was measured."""
    alt = altair()
    ours = [point for point in made.points if point.is_ours]
    timed = [point for point in made.points if point.seconds is not None]
    charts = [_chart(alt, made, ours, WORK)]
    if timed:
        charts.insert(0, _chart(alt, made, timed, TIME))
    return alt.hconcat(*charts, spacing=24).configure_view(strokeOpacity=0.2).configure_axis(gridOpacity=0.25).to_dict()


def _chart(alt: Any, made: Tradeoff, points: Sequence[TradeoffPoint], against: str) -> Any:
    held = unit_of(max((point.peak or 0 for point in points), default=0))
    again = unit_of(max((point.again or 0 for point in points), default=0) or held[1])
    label = "milliseconds a call" if against == TIME else f"written twice, {again[0]}"
    rows = [_row(made, point, against, held[1], again[1]) for point in points if point.peak is not None]
    middle = sum(_domain(rows)) / 2
    top = 1.1 * max((row["held"] for row in rows), default=0) or 1  # room for the name of the highest point
    rows = _labelled([{**row, "right": row["cost"] > middle} for row in rows], top)
    base = alt.Chart(alt.Data(values=rows)).encode(
        x=alt.X("cost:Q", title=label, scale=alt.Scale(domain=_domain(rows), nice=True)),
        y=alt.Y("held:Q", title=f"peak, {held[0]}", scale=alt.Scale(domain=[0, top]), axis=alt.Axis(minExtent=40)),
    )
    domain, marks = list(_KINDS), list(_KINDS.values())
    dots = base.mark_point(filled=True, size=90).encode(
        color=alt.Color("kind:N", title=None, scale=alt.Scale(domain=domain, range=[m[0] for m in marks])),
        shape=alt.Shape("kind:N", title=None, scale=alt.Scale(domain=domain, range=[m[1] for m in marks])),
        opacity=alt.condition("datum.unbeaten", alt.value(1), alt.value(0.4)),
        tooltip=[f"{each}:N" for each in ("name", "how", "peak", "ms", "written twice", "operations")],
    )
    front = base.transform_filter("datum.unbeaten").mark_line(color="#D55E00", strokeDash=[4, 2], interpolate="linear")
    names = [  # on the side where there is room
        base.transform_filter(f"datum.right == {str(right).lower()}")
        .mark_text(align="right" if right else "left", dx=-8 if right else 8, dy=-6, fontSize=10)
        .encode(text="label:N")
        for right in sorted({row["right"] for row in rows})
    ]
    return alt.layer(front, *names, dots).properties(width=_WIDTH, height=_HEIGHT, title=f"bytes against {label}")


def _domain(rows: Sequence[dict[str, Any]]) -> list[float]:
    """The ends of the axis of costs: from nothing, with some room behind the largest."""
    return [0, 1.05 * max((row["cost"] for row in rows), default=0) or 1]


def _labelled(rows: Sequence[dict[str, Any]], top: float) -> list[dict[str, Any]]:
    """The rows with labels: names that do not lie on one another, those of unbeaten points first; hovering tells the others."""
    least, most = _domain(rows)
    width = most - least
    placed: list[tuple[float, float, float]] = []
    labels: dict[int, str] = {}
    for i in sorted(range(len(rows)), key=lambda i: not rows[i]["unbeaten"]):
        row = rows[i]
        x, y, long = (row["cost"] - least) / width * _WIDTH, row["held"] / top * _HEIGHT, _LETTER * len(row["name"])
        left = x - long if row["right"] else x
        if all(abs(y - other) >= _LINE or left >= end or left + long <= begin for begin, end, other in placed):
            placed.append((left, left + long, y))
            labels[i] = row["name"]
    return [{**row, "label": labels.get(i, "")} for i, row in enumerate(rows)]


def _row(made: Tradeoff, point: TradeoffPoint, against: str, held: int, again: int) -> dict[str, Any]:
    """The row of a point, with bytes in units of so many."""
    cost = (point.seconds or 0.0) * 1e3 if against == TIME else (point.again or 0) / again
    told = dict(zip(COLUMNS, cells(made, point), strict=True))
    return {
        **told,
        "name": point.name,
        "kind": "hotdesk" if point.is_ours else "beside",
        "cost": cost,
        "held": (point.peak or 0) / held,
        "unbeaten": against in made.unbeaten(point),
    }
