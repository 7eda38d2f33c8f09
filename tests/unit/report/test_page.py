"""The page and the charts: everything is inside, what they show is what the record says, and nothing in names becomes markup."""

from __future__ import annotations

import json
import re
import sys
from html.parser import HTMLParser

import pytest
import torch

import hotdesk
from hotdesk.errors import MissingExtraError
from hotdesk.explain import Decision, Outcome, Reason, Source
from hotdesk.report import BufferLine, Document, Memory
from hotdesk.report.charts import MOST_BLOCKS, chart, drawn
from hotdesk.report.document import Series, document
from hotdesk.report.page import page, png, svg, tree
from hotdesk.report.profile import Profile, Roof

EVIL = "</script><b>&\u2028"


def many(count: int) -> Document:
    """A program of some points, each with a buffer that lives for two of them."""
    points = [Source("linalg.exp", f"model.py:{i % 50}", f"layers.{i % 12}.mlp") for i in range(count)]
    lines = [
        BufferLine(
            "linalg.exp",
            64 * (1 + i % 7),
            points[i].location,
            i,
            min(i + 2, count),
            "arena",
            448 * (i % 2),
            points[i].module,
        )
        for i in range(count)
    ]
    decisions = [Decision(f"b{i}", Outcome.ALLOCATED, Reason.WORKSPACE, (points[i],), 64) for i in range(count)]
    memory = Memory(896, 896, 896, sum(line.bytes for line in lines), 0, 0, 0, 0, count)
    return document("many", (), memory, lines, points, decisions)


class _Elements(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.ids: set[str] = set()
        self.links: list[str] = []
        self.tags: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        found = dict(attrs)
        self.tags.append(tag)
        self.ids |= {found["id"] or ""} if "id" in found else set()
        self.links += [value for name in ("src", "href") if (value := found.get(name))]


@pytest.fixture(scope="module")
def made() -> Document:
    return many(40).with_series([Series("eager", "PyTorch", (0.0, 0.5, 1.0), (0, 4096, 0))])


def test_the_page_asks_for_nothing_from_elsewhere(made: Document) -> None:
    elements = _Elements()
    elements.feed(page(made, "a model"))
    assert elements.links == ["data:,"]
    assert elements.ids >= {"chart", "peak", "buffers", "decisions", "buffers-search", "decisions-filter", "data"}
    assert "kernels" not in elements.ids


def test_the_page_has_the_data(made: Document) -> None:
    found = re.search(r'<script id="data" type="application/json">(.*?)</script>', page(made), re.DOTALL)
    assert found is not None
    data = json.loads(found[1])
    assert len(data["decisions"]) == len(made.decisions)
    assert [row[0] for row in data["buffers"]] == [each.name for each in made.buffers]
    assert data["chart"] == json.loads(json.dumps(chart(made)))


def test_names_are_no_markup() -> None:
    points = [Source(EVIL, EVIL, "a")]
    lines = [BufferLine(EVIL, 64, EVIL, 0, 1, "arena", 0, "a")]
    made = document(EVIL, (), Memory(64, 64, 64, 64, 0, 0, 0, 0, 1), lines, points, ())
    elements = _Elements()
    elements.feed(page(made, EVIL))
    assert elements.tags.count("b") == 7  # those of the seven figures
    assert elements.tags.count("script") == 3


def test_the_same_record_gives_the_same_page(made: Document) -> None:
    assert page(made) == page(made)


def test_charts_hold_each_buffer_and_the_lines(made: Document) -> None:
    spec = chart(made)
    lines, arena = spec["vconcat"]
    rows = lines["layer"][0]["data"]["values"] if "data" in lines["layer"][0] else lines["data"]["values"]
    assert {row["series"] for row in rows} == {"in use", "arena", "bound", "no reuse", "eager"}
    assert max(row["held"] for row in rows if row["series"] == "eager") == 4096
    assert len(arena["data"]["values"]) == 40
    block = arena["data"]["values"][2]
    assert (block["name"], block["why not earlier"]) == ("b2", "b0 is in use up to point 1")


def test_what_results_lend_is_drawn_above_the_arena() -> None:
    lines = [
        BufferLine("linalg.exp", 64, "m.py:1", 0, 1, "arena", 0, ""),
        BufferLine("linalg.log", 32, "m.py:2", 0, 1, "lent by result 0", 16, ""),
        BufferLine("linalg.abs", 96, "m.py:3", 1, 2, "result 0", 0, ""),
    ]
    points = [Source("linalg.exp", "m.py:1", ""), Source("linalg.log", "m.py:2", "")]
    arena = chart(document("m", (), Memory(64, 160, 64, 192, 0, 0, 0, 96, 3), lines, points, ()))["vconcat"][-1]
    assert arena["title"] == "arena, and above it result 0: 3 buffers"
    blocks, line, text = arena["layer"]
    places = {row["name"]: (row["bottom"], row["top"], row["lies in"]) for row in blocks["data"]["values"]}
    assert places == {
        "b0": (0, 64, "arena at offset 0"),
        "b1": (80, 112, "lent by result 0 at offset 16"),
        "b2": (64, 160, "result 0 at offset 0"),
    }
    assert [each["data"]["values"] for each in (line, text)] == [[{"at": 64.0, "lane": "result 0"}]] * 2


def test_ticks_are_program_points_and_the_peak_can_be_read_over_lines(made: Document) -> None:
    spec = chart(made)
    layers = spec["vconcat"][0]["layer"]
    axes = [each["encoding"]["x"]["axis"] for each in (layers[0], spec["vconcat"][-1])]
    assert axes == [{"tickMinStep": 1}] * 2
    behind, text = (each["mark"] for each in layers[-2:])
    assert behind["stroke"] == {"expr": "back"}
    assert "stroke" not in text


def test_the_smallest_of_very_many_are_folded_and_it_is_said() -> None:
    made = many(MOST_BLOCKS + 500)
    shown, folded = drawn(made)
    assert (len(shown), len(folded)) == (MOST_BLOCKS, 500)
    assert max(each.bytes for each in folded) <= min(each.bytes for each in shown)
    assert "the 500 smallest, of at most" in chart(made)["vconcat"][1]["title"]
    assert "500 small buffers are folded" in page(made)


def test_the_tree_adds_up(made: Document) -> None:
    root = tree(made)
    (layers,) = root.children
    assert (layers.path, layers.bytes, layers.buffers) == ("layers", root.bytes, 40)
    assert root.bytes == sum(each.bytes for each in made.buffers)
    assert sum(each.bytes for each in layers.children) == layers.bytes
    assert {each.children[0].path for each in layers.children} == {f"layers.{i}.mlp" for i in range(12)}
    assert root.seconds == 0


def test_the_tree_has_the_time(made: Document) -> None:
    timed = made.with_profile(
        Profile("many", (), 7, Roof(1, {"f32": 1e9}, 1e9), (), ((0, 1e-3), (1, 2e-3), (12, 4e-3)))
    )
    (layers,) = tree(timed).children
    assert layers.seconds == pytest.approx(7e-3)
    assert {each.name: each.seconds for each in layers.children if each.seconds} == pytest.approx(
        {"0": 5e-3, "1": 2e-3}
    )
    lines, bars, arena = chart(timed)["vconcat"]
    assert [row["taken"] for row in bars["data"]["values"]] == pytest.approx([1, 2, 4])
    assert [(row["point"], row["submodule"]) for row in bars["data"]["values"]][2] == (12, "layers.0.mlp")
    assert "By submodule: bytes and time" in page(timed)
    assert "7.000 ms" in page(timed)
    assert len(chart(made)["vconcat"]) == 2
    del lines, arena


def test_the_time_of_very_many_points_is_added_up() -> None:
    made = many(5000)
    profile = Profile("many", (), 7, Roof(1, {"f32": 1e9}, 1e9), (), tuple((i, 1e-6) for i in range(5000)))
    rows = chart(made.with_profile(profile))["vconcat"][1]["data"]["values"]
    assert len(rows) <= 2000
    assert sum(row["taken"] for row in rows) == pytest.approx(5)


def test_pictures(made: Document) -> None:
    assert svg(made).startswith("<svg")
    assert png(made).startswith(b"\x89PNG")


def test_a_program_without_buffers() -> None:
    empty = document("empty", (), Memory(0, 0, 0, 0, 0, 0, 0, 0, 0), (), (), ())
    assert "empty" in page(empty)
    assert svg(empty).startswith("<svg")


def test_without_the_extra(made: Document, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "altair", None)
    with pytest.raises(MissingExtraError, match=re.escape("pip install 'hotdesk[report]'")):
        svg(made)


def test_a_notebook_shows_the_charts() -> None:
    x = torch.randn(4, 8)
    program = hotdesk.compile(torch.nn.Sequential(torch.nn.Linear(8, 8), torch.nn.ReLU()).eval(), (x,))
    shown = program._repr_mimebundle_()
    assert shown["image/svg+xml"].startswith("<svg")
    assert shown["text/plain"] == repr(program)


def test_a_notebook_shows_the_charts_of_the_sizes_used_last() -> None:
    batch = torch.export.Dim("batch", max=64)
    x = torch.randn(4, 8)
    program = hotdesk.compile(torch.nn.Linear(8, 8).eval(), (x,), dynamic_shapes={"input": {0: batch}})
    assert program._repr_mimebundle_() == {"text/plain": repr(program)}
    program(x)
    before = program._repr_mimebundle_()["image/svg+xml"]
    program(torch.randn(32, 8))
    assert before.startswith("<svg")
    assert program._repr_mimebundle_()["image/svg+xml"] != before
