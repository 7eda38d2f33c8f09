"""`hotdesk report`, `explain`, `diff`, `plan` and `check` on models, limits for CI, and what every verb has."""

from __future__ import annotations

import io
import json
import os
import pty
import re
import shlex
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jsonschema
import pytest

import hotdesk
from hotdesk.cli.main import VERBS, main
from hotdesk.errors import HotdeskError
from hotdesk.report import Document

ROOT = Path(__file__).parents[3]
SCHEMA = json.loads((ROOT / "docs" / "schema" / "report-1.json").read_text(encoding="utf-8"))
MODEL = """
import torch

class Block(torch.nn.Module):
    def __init__(self, width):
        super().__init__()
        self.up = torch.nn.Linear(16, width)
        self.down = torch.nn.Linear(width, 16)

    def forward(self, x):
        return self.down(torch.nn.functional.gelu(self.up(x)))

class Net(torch.nn.Module):
    example_inputs = (torch.ones(8, 16),)

    def __init__(self, width):
        super().__init__()
        self.block = Block(width)

    def forward(self, x):
        return self.block(x)

def build():
    return Net(64).eval(), (torch.ones(8, 16),), {}

def wide():
    return Net(128).eval(), (torch.ones(8, 16),)

net = Net(64).eval()
bare = torch.nn.Linear(2, 2)
"""
IN_MLIR = """func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = linalg.exp ins(%x : tensor<4xf32>) outs(%x : tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
"""

DOUBLE_FREE = """func.func @main() {
  %a = memref.alloc() : memref<4xf32>
  memref.dealloc %a : memref<4xf32>
  memref.dealloc %a : memref<4xf32>
  return
}
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A folder with a model and the reports of two builds of it."""
    folder = tmp_path_factory.mktemp("desk")
    (folder / "desk_model.py").write_text(MODEL)
    (folder / "program.mlir").write_text(IN_MLIR)
    before = os.getcwd()
    os.chdir(folder)
    try:
        assert main(["report", "desk_model.py:build", "--json", "main.json"]) == 0
        assert main(["report", "desk_model.py:wide", "--json", "wide.json"]) == 0
        yield folder
    finally:
        os.chdir(before)


@pytest.fixture(autouse=True)
def inside(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder)


def test_json_keeps_to_the_schema(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["report", "desk_model.py:net", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    jsonschema.validate(found, SCHEMA)
    assert {each["module"] for each in found["buffers"]} == {"block.up", "block.down"}
    assert found == json.loads(Path("main.json").read_text())


def test_a_profile_in_the_json(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["report", "program.mlir", "--profile", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    jsonschema.validate(found, SCHEMA)
    assert found["profile"]["kernels"]


def test_text_in_a_pipe_is_that_of_the_program(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["report", "desk_model.py:build"]) == 0
    of_model = capsys.readouterr().out
    assert main(["report", "main.json"]) == 0
    assert capsys.readouterr().out == of_model
    assert of_model.startswith("main\npeak       2.50 KiB (2,560): arena and outputs\n")


def test_mlir_from_stdin(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO(IN_MLIR))
    assert main(["report", "-", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["memory"]["peak"] == 16


def test_a_saved_program(capsys: pytest.CaptureFixture[str]) -> None:
    hotdesk.compile("program.mlir").save("program.hotdesk")
    assert main(["report", "program.hotdesk"]) == 0
    assert capsys.readouterr().out.startswith("main\npeak       16 bytes: arena and outputs\n")
    assert main(["explain", "program.hotdesk", "--value", "b0"]) == 0
    assert "result 0" in capsys.readouterr().out
    assert main(["report", "program.hotdesk", "--order", "peak"]) == 2
    assert "which is compiled already" in capsys.readouterr().err


def test_a_page_and_pictures() -> None:
    assert main(["report", "main.json", "--html", "report.html", "--svg", "report.svg", "--png", "report.png"]) == 0
    assert "<title>main.json: memory</title>" in Path("report.html").read_text(encoding="utf-8")
    assert Path("report.svg").read_text(encoding="utf-8").startswith("<svg")
    assert Path("report.png").read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["--html", "no-such/page.html"], "error: no-such/page.html: expected a file, got no folder 'no-such'"),
        (["--json", "."], "error: .: expected a file, got a folder"),
        (
            ["--max-growth", "1%", "--against", "mian.json"],
            "error: mian.json: expected a file, got none of that name; there is 'main.json'",
        ),
        (["--trace", "no-such.json"], "error: no-such.json: expected a file, got none of that name"),
    ],
)
def test_files_that_cannot_be_are_told_before_anything_is_compiled(
    arguments: list[str], told: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("hotdesk.cli.report.reported", lambda _: pytest.fail("compiled"))
    assert main(["report", "desk_model.py:build", *arguments]) == 1
    assert capsys.readouterr().err.startswith(told)


def test_a_page_without_the_extra_is_told_before_anything_is_compiled(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("hotdesk.cli.report.reported", lambda _: pytest.fail("compiled"))
    monkeypatch.setattr("hotdesk.report.vega.find_spec", lambda _: None)
    assert main(["report", "desk_model.py:build", "--html", "page.html"]) == 1
    assert "pip install 'hotdesk[report]'" in capsys.readouterr().err


def test_a_trace_beside_it(capsys: pytest.CaptureFixture[str]) -> None:
    trace = str(ROOT / "tests" / "data" / "traces" / "profiler.json")
    assert main(["report", "main.json", "--trace", trace, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    jsonschema.validate(found, SCHEMA)
    (series,) = found["series"]
    assert (series["name"], series["source"], series["peak"]) == ("PyTorch's profiler", trace, 65536)
    assert series["at"] == [0, 0.2, 0.4, 0.6, 0.8, 1]
    assert series["bytes"] == [32768, 65536, 32768, 40960, 8192, 0]


def test_a_page_measures_time_and_eager_pytorch(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["report", "desk_model.py:build", "--html", "page.html", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    jsonschema.validate(found, SCHEMA)
    (series,) = found["series"]
    assert (series["name"], series["source"]) == ("eager PyTorch", "measured by PyTorch's profiler")
    assert series["peak"] >= 2 * 2048  # what the first layer makes, and GELU of it
    assert sum(each["seconds"] or 0 for each in found["points"]) > 0
    assert main(["report", "desk_model.py:build", "--eager", "--profile"]) == 0
    assert re.search(
        r"\ntime       [\d.]+ ms in \d+ calls of \d+ kernels\nbeside     .*: eager PyTorch, ", capsys.readouterr().out
    )
    text = Path("page.html").read_text(encoding="utf-8")
    assert "By submodule: bytes and time" in text
    assert "eager PyTorch, measured by" in text
    assert main(["report", "desk_model.py:build", "--html", "page.html", "--no-eager", "--no-profile", "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == json.loads(Path("main.json").read_text())


@pytest.mark.parametrize(("limit", "code"), [("1MB", 0), ("1kB", 1)])
def test_a_limit_to_the_peak(limit: str, code: int, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["report", "main.json", "--max-peak", limit]) == code
    told = capsys.readouterr().err
    assert ("Largest there: 2.00 KiB (2,048) b0 f32[8, 64] by hotdesk.contract in block.up" in told) == bool(code)
    assert ("[HD602]" in told) == bool(code)


@pytest.mark.parametrize(("percent", "code"), [("1%", 1), ("79.9", 1), ("80", 0)])
def test_a_limit_to_growth(percent: str, code: int, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["report", "wide.json", "--max-growth", percent, "--against", "main.json"]) == code
    told = capsys.readouterr().err
    assert ("New at the peak: 4.00 KiB (4,096) b0 f32[8, 128] by hotdesk.contract in block.up" in told) == bool(code)


def test_growth_needs_a_report(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["report", "main.json", "--max-growth", "1%"]) == 2
    assert "expected both --max-growth and --against" in capsys.readouterr().err


@pytest.mark.parametrize(
    "arguments", [["--max-peak", "much"], ["--max-growth", "-1%", "--against", "x"], ["--nothing"]]
)
def test_a_wrong_command_line_is_exit_code_2(arguments: list[str]) -> None:
    with pytest.raises(SystemExit) as caught:
        main(["report", "main.json", *arguments])
    assert caught.value.code == 2


@pytest.mark.parametrize(
    ("arguments", "code", "told"),
    [
        (["main.json", "--order", "peak"], 2, "option '--order': expected a model, got main.json"),
        (["main.json", "--profile"], 2, "option '--profile': expected a model"),
        (["program.mlir", "--eager"], 2, "option '--eager': expected a PyTorch model, got program.mlir"),
        (["desk_model.py:bare"], 1, "Linear 'bare', neither a function nor a module with example_inputs"),
        (["program.mlir", "--sizes", "n=3"], 2, "expected none: all sizes are fixed"),
    ],
)
def test_what_report_refuses(arguments: list[str], code: int, told: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["report", *arguments]) == code
    assert told in capsys.readouterr().err


def test_explain_the_peak(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explain", "main.json", "--peak"]) == 0
    told = capsys.readouterr().out
    assert "2.50 KiB (2,560) are in use at point" in told
    assert "No plan for this order of operations has an arena smaller than these 2.00 KiB (2,048)" in told
    assert "b0 f32[8, 64]: 2.00 KiB (2,048) by hotdesk.contract" in told
    assert "to free it" in told
    assert main(["explain", "main.json"]) == 0
    assert capsys.readouterr().out == told


@pytest.mark.parametrize(
    ("asked", "told"),
    [
        (["--value", "b0"], "allocated: No operand that dies here has as many bytes as the result."),
        (["--value", "b1"], "from point"),
        (["--module", "block"], "block: "),
        (["--module", "block.up"], "1 buffer of 2.00 KiB (2,048), at most"),
        (["--at", "desk_model.py:11"], "desk_model.py:11: "),
    ],
)
def test_explain(asked: list[str], told: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explain", "main.json", *asked]) == 0
    assert told in capsys.readouterr().out


@pytest.mark.parametrize(
    ("asked", "told"),
    [
        (["--value", "b9"], "buffer: expected b0 to b1, got b9"),
        (["--module", "blok"], "Near ones: block"),
        (["--module", "encoder.layer"], "Outermost ones: block."),
        (["--at", "desk_model.py:1"], "Nearest: "),
    ],
)
def test_what_explain_does_not_know(asked: list[str], told: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explain", "main.json", *asked]) == 1
    assert told in capsys.readouterr().err


def test_diff_of_reports(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["diff", "main.json", "wide.json"]) == 0
    told = capsys.readouterr().out
    assert told.startswith("main.json → wide.json\npeak       2.50 KiB (2,560) → 4.50 KiB (4,608)  +2,048 (+80.0 %)")
    assert "new        4.00 KiB (4,096)  b0 f32[8, 128]  hotdesk.contract in block.up" in told
    assert "gone       2.00 KiB (2,048)  b0 f32[8, 64]" in told


def test_diff_for_github(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["diff", "main.json", "wide.json", "--markdown"]) == 0
    told = capsys.readouterr().out
    assert told.startswith("### Memory: peak 4.50 KiB (4,608), +2,048 bytes (+80.0 %)\n")
    assert "| peak | 2,560 | 4,608 | +2,048 (+80.0 %) |" in told
    assert told.count("<details>") == told.count("</details>") == 2


def test_diff_of_what_is_equal(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["diff", "main.json", "main.json"]) == 0
    assert capsys.readouterr().out == "main.json → main.json\nthe same memory\n"


def test_diff_of_options(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["diff", "program.mlir", "--order-of-second", "peak", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["before"], found["after"]) == ("program.mlir", "program.mlir order=peak")
    assert found["figures"][0] == {"name": "peak", "before": 16, "after": 16}


def test_diff_needs_two(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["diff", "main.json"]) == 2
    assert "got one model" in capsys.readouterr().err


def test_plan_of_a_model(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["plan", "main.json"]) == 0
    found = Document.from_json(Path("main.json").read_text()).buffers[0]
    assert capsys.readouterr().out == f"id,lower,upper,size,offset\nb0,{found.lower},{found.upper},2048,0\n"


def test_check_of_a_model(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", "desk_model.py:net"]) == 0
    assert "no faults" in capsys.readouterr().out


def test_list_passes(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["list-passes", "one-shot"]) == 0
    assert capsys.readouterr().out.startswith("hotdesk-one-shot-bufferize  Tensors become buffers")
    assert main(["list-passes", "no-such"]) == 1
    assert "expected one that some pass has" in capsys.readouterr().err


def test_doctor(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["doctor", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["compiles"] is True
    assert found["packages"]["torch-mlir"] is not None
    assert main(["doctor"]) == 0
    assert "\ncompiles    yes\n" in capsys.readouterr().out


@pytest.mark.parametrize("verb", VERBS)
def test_help_has_two_examples_that_parse(verb: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as caught:
        main([verb, "--help"])
    assert caught.value.code == 0
    told = capsys.readouterr().out
    examples = told.partition("examples:\n")[2].split("\n\n")[0].splitlines()
    assert len(examples) >= 2
    for example in examples:
        program, named, *arguments = shlex.split(example)
        assert (program, named) == ("hotdesk", verb)
        VERBS[verb].parser().parse_args(arguments)


@pytest.mark.parametrize(
    ("line", "code"),
    [
        ("check program.mlir --random-values", 2),
        ("check desk_model.py:net --sizes 3", 2),
        ("check desk_model.py:net --no-leaks", 2),
        ("check desk_model.py:net --quiet", 0),
        ("check program.mlir", 0),
        ("check double_free.mlir", 1),
        ("check no-such.mlir", 1),
        ("check broken.mlir", 1),
        ("diff main.json wide.json", 0),
        ("diff main.json no-such.json", 1),
        ("diff", 2),
        ("diff main.json", 2),
        ("diff - -", 2),
        ("diff main.json wide.json --order peak", 2),
        ("diff program.mlir main.json --budget-of-second 1kB", 2),
        ("doctor", 0),
        ("doctor --nothing", 2),
        ("explain main.json", 0),
        ("explain main.json --value b9", 1),
        ("explain main.json --peak --value b9", 2),
        ("explain main.json --function main", 2),
        ("explain main.json --entry main", 2),
        ("explain program.mlir --order peak", 2),
        ("explain program.mlir --pass-pipeline nothing", 2),
        ("explain program.mlir --at program.mlir:x", 2),
        ("explain program.mlir --at program.mlir:99", 1),
        ("export-c no-such.mlir -o out", 1),
        ("export-c program.mlir -o exported", 0),
        ("export-c program.mlir -o out --name a-b", 2),
        ("export-c program.mlir -o out --sizes n=3", 2),
        ("export-c desk_model.py:net -o out --entry main", 2),
        ("export-c program.mlir", 2),
        ("list-passes", 0),
        ("list-passes no-such", 1),
        ("list-passes a b", 2),
        ("plan main.json", 0),
        ("plan main.json --capacity 1kB", 1),
        ("plan main.json --capacity much", 2),
        ("plan main.json --alignment 3", 2),
        ("plan main.json --alignment 64", 2),
        ("plan program.mlir --pin", 2),
        ("plan no-such.csv", 1),
        ("plan program.mlir --dim n=3", 2),
        ("plan program.mlir --order peak", 0),
        ("plan trace main.json", 1),
        ("plan trace", 2),
        ("profile program.mlir --random-inputs --top 1", 0),
        ("profile no-such.mlir", 1),
        ("profile program.mlir --top -1", 2),
        ("profile program.mlir", 2),
        ("profile desk_model.py:net --entry main", 2),
        ("report main.json", 0),
        ("report main.json --max-peak 1kB", 1),
        ("report main.json --max-growth 1%", 2),
        ("report main.json --eager", 2),
        ("report program.mlir --budget much", 2),
        ("report program.mlir --budget 1", 1),
        ("report", 2),
        ("run program.mlir --random-inputs", 0),
        ("run program.mlir", 2),
        ("run program.mlir --entry nothing --random-inputs", 2),
        ("run program.mlir --inputs word", 2),
        ("run program.mlir --inputs 1 --random-inputs", 2),
        ("run program.mlir --inputs no-such.npy", 1),
        ("run desk_model.py:net --sizes n=3", 2),
        ("run no-such.py", 1),
        ("run main.json", 1),
        ("run program.mlir --dim n=3 --random-inputs", 2),
        ("run program.mlir --dim n=", 2),
        ("run program.mlir --seed x", 2),
        ("tradeoff program.mlir --seconds 0", 0),
        ("tradeoff no-such.mlir", 1),
        ("tradeoff desk_model.py:net --entry main", 2),
        ("tradeoff program.hotdesk", 2),
        ("tradeoff program.mlir --most -1", 2),
        ("no-such-verb", 2),
        ("", 2),
    ],
)
def test_exit_codes(line: str, code: int) -> None:
    """0; 1 where something was found or failed; 2 for a wrong command line."""
    Path("broken.mlir").write_text("func.func @main(")
    Path("double_free.mlir").write_text(DOUBLE_FREE)
    try:
        found: object = main(shlex.split(line))
    except SystemExit as ended:
        found = ended.code
    assert found == code


def test_every_verb_has_all_exit_codes(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever verbs there are: an option that none has is 2, and an error on the way 1."""
    cases: list[Any] = next(mark.args[1] for mark in test_exit_codes.pytestmark if mark.name == "parametrize")
    told = {(line.split(" ")[0], code) for line, code in cases}
    assert {verb for verb, code in told if code == 0} == {verb for verb, code in told if code == 2} - {
        "no-such-verb",
        "",
    }
    for verb in VERBS:
        with pytest.raises(SystemExit) as ended:
            main([verb, "--no-such-option"])
        assert ended.value.code == 2

        def fails(arguments: object) -> int:
            raise HotdeskError("it failed")

        monkeypatch.setattr(f"{VERBS[verb].entry.replace(':', '.')}", fails)
        assert main([verb]) == 1


def test_tables_on_a_terminal_and_none_in_colour_if_not_wanted() -> None:
    for wanted in (False, True):
        environment = {**os.environ, "PYTHONPATH": str(ROOT / "src"), "TERM": "xterm-256color", "COLUMNS": "100"}
        environment.update({} if wanted else {"NO_COLOR": "1"})
        reading, writing = pty.openpty()
        command = [sys.executable, "-m", "hotdesk.cli.main", "report", "main.json"]
        with subprocess.Popen(command, stdout=writing, env=environment) as child:
            os.close(writing)
            text = _read_all(reading)
            assert child.wait() == 0
        assert "in use at point" in text
        assert "█" in text
        assert ("\x1b[36m" in text) == wanted


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("plan hard.csv --time-limit 0.5 --strategy exact", ["plan: ", "bytes, at least"]),
        ("report desk_model.py:build --budget 1700", ["stage: ", "search: ", "ways tried"]),
    ],
)
def test_a_bar_on_a_terminal(line: str, told: list[str]) -> None:
    """Over stages and searches; what goes to stdout stays apart."""
    rows = [f"b{i},{(i * 7) % 40},{(i * 7) % 40 + 3 + (i * 5) % 17},{64 * (1 + (i * 13) % 29)}" for i in range(120)]
    Path("hard.csv").write_text("\n".join(["id,lower,upper,size", *rows]))
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "src"), "TERM": "xterm-256color", "COLUMNS": "160"}
    environment["HOTDESK_CACHE"] = "0"
    reading, writing = pty.openpty()
    command = [sys.executable, "-m", "hotdesk.cli.main", *shlex.split(line)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=writing, env=environment) as child:
        os.close(writing)
        text = _read_all(reading)
        assert child.stdout is not None
        out = child.stdout.read().decode()
        assert child.wait() == 0, text
    assert [each for each in told if each not in text] == []
    assert "hotdesk: " not in text
    assert "stage: " not in out
    assert out


def _read_all(reading: int) -> str:
    parts: list[bytes] = []
    while True:
        try:
            part = os.read(reading, 1 << 16)
        except OSError:
            part = b""
        if not part:
            return b"".join(parts).decode()
        parts.append(part)


@pytest.mark.parametrize(
    ("line", "completions"),
    [("hotdesk re", {"report"}), ("hotdesk report --max-", {"--max-growth", "--max-peak"})],
)
def test_completion(line: str, completions: set[str], tmp_path: Path) -> None:
    answer = tmp_path / "answer"
    environment = {
        **os.environ,
        "PYTHONPATH": str(ROOT / "src"),
        "_ARGCOMPLETE": "1",
        "_ARGCOMPLETE_STDOUT_FILENAME": str(answer),
        "COMP_LINE": line,
        "COMP_POINT": str(len(line)),
        "_ARGCOMPLETE_SUPPRESS_SPACE": "1",
    }
    subprocess.run([sys.executable, "-m", "hotdesk.cli.main"], env=environment, check=True)
    assert {each.strip() for each in answer.read_text().split("\x0b")} == completions


def test_ctrl_c_is_a_line(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    def interrupted(*_: object) -> int:
        raise KeyboardInterrupt

    monkeypatch.setattr("hotdesk.cli.doctor.main", interrupted)
    assert main(["doctor"]) == 130
    assert capsys.readouterr().err == "hotdesk doctor: interrupted\n"


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_ctrl_c_that_python_drops(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    class Dropping:
        def __del__(self) -> None:
            signal.raise_signal(signal.SIGINT)

    def interrupted(*_: object) -> int:
        Dropping()
        return 0

    monkeypatch.setattr("hotdesk.cli.doctor.main", interrupted)
    before = signal.signal(signal.SIGINT, signal.default_int_handler)  # what runs in the background ignores it
    try:
        assert main(["doctor"]) == 130
        assert capsys.readouterr().err.endswith("hotdesk doctor: interrupted\n")
        assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    finally:
        signal.signal(signal.SIGINT, before)


def test_ctrl_c_while_the_process_ends() -> None:
    """What is printed is whole, and the exit code says that Ctrl-C was pressed."""
    code = """
import atexit, os, signal, sys
from hotdesk.cli.main import main
atexit.register(lambda: signal.raise_signal(signal.SIGINT))
sys.argv = ["hotdesk", "list-passes", "one-shot"]
sys.exit(main())
"""
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "src")}
    done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (-signal.SIGINT, "")
    assert done.stdout.startswith("hotdesk-one-shot-bufferize")
