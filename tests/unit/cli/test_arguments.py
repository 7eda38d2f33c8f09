"""The command line as mlir-opt reads it: dashes, switches with values, flags of passes."""

from __future__ import annotations

import pytest

from hotdesk.cli.arguments import PassFlag, parse_arguments
from hotdesk.cli.running import table
from hotdesk.errors import OptionError


def test_passes_are_flags_with_options_in_their_order() -> None:
    options = parse_arguments(
        ["in.mlir", "--cse", "--canonicalize=max-iterations=3 top-down=false", "--hotdesk-split-prepare"]
    )
    expected = (
        PassFlag("cse"),
        PassFlag("canonicalize", "max-iterations=3 top-down=false"),
        PassFlag("hotdesk-split-prepare"),
    )
    assert options.passes == expected
    assert options.file == "in.mlir"


def test_one_dash_is_as_good_as_two() -> None:
    options = parse_arguments(["-cse", "-split-input-file", "-mlir-print-ir-after=cse", "-", "-oout.mlir"])
    assert options.passes == (PassFlag("cse"),)
    assert (options.split, options.dumps.after, options.file, options.output) == ("// -----", ("cse",), "-", "out.mlir")


def test_options_that_may_stand_alone_do_not_take_the_file_for_their_value() -> None:
    options = parse_arguments(["--split-input-file", "--verify-diagnostics", "--mlir-timing", "in.mlir"])
    assert (options.split, options.verify_diagnostics, options.timing, options.file) == (
        "// -----",
        "all",
        True,
        "in.mlir",
    )


@pytest.mark.parametrize(
    ("text", "value"), [("", True), ("=1", True), ("=true", True), ("=0", False), ("=false", False)]
)
def test_switches_take_a_value(text: str, value: bool) -> None:
    assert parse_arguments([f"--mlir-timing{text}"]).timing is value
    assert parse_arguments([f"--verify-each{text}"]).verify_each is value


def test_marks_and_categories() -> None:
    options = parse_arguments(
        ["--split-input-file=// ==", "--remarks-filter-analyse=share", "--remarks-filter-passed", "x.*"]
    )
    assert options.split == "// =="
    assert options.remarks.analysis is not None
    assert options.remarks.passed is not None
    assert (options.remarks.analysis.pattern, options.remarks.passed.pattern) == ("share", "x.*")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--hotdesk-shared-buffers"], "did you mean '--hotdesk-share-buffers'?"),
        (["--canonicalise"], "unknown argument '--canonicalise'"),
        (["--verify-each=perhaps"], "expected true or false, got 'perhaps'"),
        (["--verify-diagnostics=some"], "invalid choice"),
        (["--mlir-elide-elementsattrs-if-larger=-1"], "expected a number, got '-1'"),
        (["--remark-format=bitstream"], "invalid choice"),
        (["--remarks-filter=("], "expected a regular expression, got '('"),
        (["--mlir-print-ir-before=nopass"], "argument --mlir-print-ir-before: no pass has the name 'nopass'"),
        (["--mlir-print-ir-after=cse,hotdesk-shared-buffers"], "did you mean 'hotdesk-share-buffers'?"),
        (["a.mlir", "b.mlir"], "one input file expected, got also 'b.mlir'"),
    ],
)
def test_what_makes_no_sense(arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as caught:
        parse_arguments(arguments)
    assert caught.value.code == 2
    assert message in capsys.readouterr().err


def test_flags_of_passes_and_a_pipeline() -> None:
    with pytest.raises(OptionError, match="got both"):
        parse_arguments(["--cse", "--pass-pipeline=builtin.module(cse)"])


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


@pytest.mark.parametrize("argument", ["-hotdesk-shar", "--hotdesk-shar", "-hotdesk"])
def test_an_unknown_argument_is_no_short_option_with_a_value(argument: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        parse_arguments([argument])
    assert ended.value.code == 2
    assert f"unknown argument '{argument}'" in capsys.readouterr().err
