"""Draws who lies where in a program's arena and when: `python docs/pictures/arena.py`.

Writes `resnet50-arena.svg` beside this file. Needs the `dev` extra.
"""

from __future__ import annotations

import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parents[1]))

import altair as alt

import hotdesk
from examples.models import MODELS

MIB = 1024 * 1024


def main() -> None:
    spec = MODELS["resnet50"]
    inputs = spec.inputs()
    program = hotdesk.compile(spec.build(), inputs)
    memory = program.memory(*inputs)
    rows = [
        {
            "from": line.lower,
            "to": line.upper,
            "bottom": line.offset / MIB,
            "top": (line.offset + line.bytes) / MIB,
            "op": line.name,
            "size": f"{line.bytes:,} bytes",
        }
        for line in program.buffers(*inputs)
        if line.where == "arena"
    ]
    boxes = (
        alt.Chart(alt.Data(values=rows))
        .mark_rect(stroke="white", strokeWidth=0.4)
        .encode(
            x=alt.X("from:Q", title="step of the program", scale=alt.Scale(nice=False)),
            x2="to:Q",
            y=alt.Y("bottom:Q", title="offset in the arena, MiB"),
            y2="top:Q",
            color=alt.Color("op:N", title="written by", scale=alt.Scale(scheme="tableau10")),
        )
    )
    bound = (
        alt.Chart(alt.Data(values=[{"y": memory.lower_bound / MIB}]))
        .mark_rule(strokeDash=[5, 4], color="black")
        .encode(y="y:Q")
    )
    title = alt.TitleParams(
        f"ResNet-50: {len(rows)} buffers in {memory.arena / MIB:.2f} MiB",
        subtitle=f"dashed: no arena can be smaller; without reuse {memory.no_reuse / MIB:.2f} MiB",
    )
    chart = (boxes + bound).properties(width=760, height=260, title=title)
    chart.save(str(HERE / "resnet50-arena.svg"))


if __name__ == "__main__":
    main()
