"""Reproducers: written, read, and kept only when something failed."""

from __future__ import annotations

from pathlib import Path

import pytest

from hotdesk.cli.reproducer import Reproducer, kept_on_failure, read_reproducer
from hotdesk.cli.timing import table
from hotdesk.errors import OptionError


@pytest.mark.parametrize("found", [Reproducer('builtin.module(a{b="c d"})'), Reproducer("builtin.module()", False)])
def test_what_is_written_is_read(found: Reproducer) -> None:
    assert read_reproducer(found.text("module {\n}\n")) == found


def test_a_comment_does_as_well_and_commented_sections_do_not_count() -> None:
    assert read_reproducer("// configuration: --pass-pipeline='builtin.module(cse)'\n") == Reproducer(
        "builtin.module(cse)"
    )
    with pytest.raises(OptionError, match="got none"):
        read_reproducer('// {-# mlir_reproducer: { pipeline: "x" } #-}')


def test_a_file_is_left_by_failures_alone(tmp_path: Path) -> None:
    file = tmp_path / "kept.mlir"
    with kept_on_failure(file, "text"):
        assert file.read_text() == "text"
    assert not file.exists()
    with pytest.raises(ValueError, match="failed"), kept_on_failure(file, "text"):
        raise ValueError("failed")
    with kept_on_failure(file, "other"):
        pass
    assert file.read_text() == "text"


def test_a_table_of_times() -> None:
    lines = table([("Parser", 0.5), ("cse", 0.25)], 1.0).split("\n")
    assert lines[3] == "  Total Execution Time: 1.0000 seconds"
    assert lines[6:] == [
        "    0.5000 ( 50.0%)  Parser",
        "    0.2500 ( 25.0%)  cse",
        "    0.2500 ( 25.0%)  Rest",
        "    1.0000 (100.0%)  Total",
        "",
    ]
