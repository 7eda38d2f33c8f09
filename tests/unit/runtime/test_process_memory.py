"""What was read and written while a model was traced is forgotten; what was there before, or nobody could read again, is not."""

from __future__ import annotations

import linecache
from pathlib import Path
from typing import Any, cast

import pytest
import torch
from torch.fx import graph_module

import hotdesk
from hotdesk.runtime.process_memory import sources_forgotten


@pytest.fixture
def file(tmp_path: Path) -> str:
    path = tmp_path / "lines.py"
    path.write_text("first = 1\nsecond = 2\n")
    return str(path)


def test_a_file_read_inside_is_forgotten_and_can_be_read_again(file: str) -> None:
    with sources_forgotten():
        assert linecache.getline(file, 2) == "second = 2\n"
        assert file in linecache.cache
    assert file not in linecache.cache
    assert linecache.getline(file, 1) == "first = 1\n"


def test_what_was_known_before_stays(file: str) -> None:
    linecache.getlines(file)
    with sources_forgotten():
        linecache.getlines(file)
    assert file in linecache.cache


def test_code_of_no_file_stays() -> None:
    try:
        with sources_forgotten():
            linecache.cache["<cell 1>"] = (10, None, ["cell = 1\n"], "<cell 1>")
        assert linecache.getline("<cell 1>", 1) == "cell = 1\n"
    finally:
        del linecache.cache["<cell 1>"]


def test_they_are_forgotten_when_something_fails(file: str) -> None:
    def fails() -> None:
        with sources_forgotten():
            linecache.getlines(file)
            raise ValueError("no model")

    with pytest.raises(ValueError, match="no model"):
        fails()
    assert file not in linecache.cache


def test_compiling_leaves_no_lines_behind() -> None:
    linecache.clearcache()
    hotdesk.compile(torch.nn.Sequential(torch.nn.Linear(4, 4), torch.nn.ReLU()).eval(), (torch.zeros(2, 4),))
    assert not [name for name in linecache.cache if Path(name).is_file()]


def test_code_that_pytorch_wrote_for_graphs_is_forgotten() -> None:
    written = cast("dict[str, str]", cast(Any, graph_module)._loader.eval_cache)
    before, listed = dict(written), set(linecache.cache)
    hotdesk.compile(torch.nn.Sequential(torch.nn.Linear(4, 4), torch.nn.ReLU()).eval(), (torch.zeros(2, 4),))
    assert written == before
    assert not [name for name in set(linecache.cache) - listed if name.startswith("<eval_with_key>")]


def test_code_of_graphs_that_were_there_before_stays() -> None:
    class Adds(torch.nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return x + 1

    traced = torch.fx.symbolic_trace(Adds())
    name = str(cast(Any, type(traced)).forward.__code__.co_filename)
    hotdesk.compile(traced, (torch.zeros(2),))
    assert "return" in "".join(linecache.getlines(name))
