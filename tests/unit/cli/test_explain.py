"""`hotdesk explain`: values and lines that are asked for, and what is said when nothing was decided about them."""

from __future__ import annotations

from pathlib import Path

import pytest

from hotdesk.cli.main import main
from hotdesk.cli.written import definitions, without_locations
from hotdesk.explain.answers import Spot

TEXT = """\
func.func @main(%x: tensor<8xf32> {hotdesk.donated}, %c: f32, %n: index) -> (tensor<8xf32>, tensor<4xf32>) {
  %v = tensor.extract_slice %x[0] [4] [1] : tensor<8xf32> to tensor<4xf32>
  %1 = tensor.insert %c into %x[%n] : tensor<8xf32>
  %e = tensor.empty() : tensor<4xf32>
  %2 = linalg.exp ins(%v : tensor<4xf32>) outs(%e : tensor<4xf32>) -> tensor<4xf32>
  return %1, %2 : tensor<8xf32>, tensor<4xf32>
}
func.func @other(%a: f32) -> tensor<f32> {
  %1 = tensor.from_elements %a : tensor<f32>
  return %1 : tensor<f32>
}
"""
ANSWER = """\
{file}:3:8: 32 bytes are copied for the result of `tensor.insert`.
The operand's old value is read after this operation: `linalg.exp` ({file}:5:8) reads what argument 0 ({file}:1:17) holds, \
and `tensor.insert` ({file}:3:8) would overwrite it. [read-later]
Move `linalg.exp` ({file}:5:8) before `tensor.insert` ({file}:3:8).

  1 | func.func @main(%x: tensor<8xf32> {{hotdesk.donated}}, %c: f32, %n: index) -> (tensor<8xf32>, tensor<4xf32>) {{
    |                 ^ definition: argument 0
  2 |   %v = tensor.extract_slice %x[0] [4] [1] : tensor<8xf32> to tensor<4xf32>
    |        ^ alias: tensor.extract_slice
> 3 |   %1 = tensor.insert %c into %x[%n] : tensor<8xf32>
    |        ^ write: tensor.insert
  5 |   %2 = linalg.exp ins(%v : tensor<4xf32>) outs(%e : tensor<4xf32>) -> tensor<4xf32>
    |        ^ read: linalg.exp
"""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "in.mlir"
    path.write_text(TEXT)
    return path


def explained(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    code = main(["explain", *arguments])
    output = capsys.readouterr()
    return code, output.out, output.err


@pytest.mark.parametrize("asked", [("--value", "%v"), ("--at", "{file}:2"), ("--at", "2")])
def test_a_copy_in_words_and_lines(file: Path, capsys: pytest.CaptureFixture[str], asked: tuple[str, str]) -> None:
    """%v has no decision of its own, but a part in one."""
    assert explained(capsys, str(file), *(each.format(file=file) for each in asked)) == (
        0,
        ANSWER.format(file=file),
        "",
    )


def test_a_name_in_several_functions(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    _, both, _ = explained(capsys, str(file), "--value", "1")
    _, one, _ = explained(capsys, str(file), "--value", "%1", "--function", "other")
    assert [line.partition(": ")[0] for line in both.splitlines() if line.startswith(str(file))] == [
        f"{file}:3:8",
        f"{file}:3:8",
        f"{file}:9:8",
    ]
    assert one.startswith(f"{file}:9:8: ")
    assert one in both


def test_without_a_question_every_copy_and_allocation(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = explained(capsys, str(file))
    assert code == 0
    assert ANSWER.format(file=file).strip() in out


def test_a_pipeline_of_ones_own(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = explained(
        capsys, str(file), "--value", "%1", "--pass-pipeline=builtin.module(cse,hotdesk-tensor-bufferize)"
    )
    assert code == 0
    assert "[not-analysed]" in out


def test_a_line_of_the_python_file_that_the_ir_came_from(
    file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    model = tmp_path / "model.py"
    model.write_text("def f(x, c, n):\n    y = x.index_put(n, c)\n    return y, x[:4].exp()\n")
    lines = [str(line) for line in TEXT.splitlines()]
    lines[2] += f' loc("{model}":2:4)'
    lines[4] += f' loc("{model}":3:14)'
    file.write_text("\n".join(lines))
    code, out, _ = explained(capsys, str(file), "--at", "model.py:2", "--function", "main")
    assert code == 0
    told, _, shown = out.partition("\n\n")
    assert told.startswith(f"{model}:2: 32 bytes are copied for the result of `tensor.insert`.\n")
    assert f"`linalg.exp` ({model}:3) reads what argument 0 ({file}:1:17) holds" in told
    lines = shown.splitlines()
    start = lines.index(f"  {model}")
    assert lines[start : start + 5] == [
        f"  {model}",
        "> 2 |     y = x.index_put(n, c)",
        "    | ^ write: tensor.insert",
        "  3 |     return y, x[:4].exp()",
        "    | ^ read: linalg.exp",
    ]


LOCATED = """\
#here = loc("model.py":12:4)
func.func @main(%x: tensor<8xf32> loc("model.py":3:1), %c: f32 loc(unknown), %n: index) -> (tensor<8xf32>, tensor<8xf32>) {
  %5 = tensor.insert %c into %x[%n] : tensor<8xf32> loc(#here)
  %e = tensor.empty() : tensor<8xf32> loc(fused["model.py":14:2, "other.py":3:1])
  %6 = linalg.exp ins(%x : tensor<8xf32>) outs(%e : tensor<8xf32>) -> tensor<8xf32> loc(callsite("a)" at "called.py":7:9))
  return %5, %6 : tensor<8xf32>, tensor<8xf32> loc("model.py":13:4)
}
"""


@pytest.mark.parametrize(
    ("asked", "about"),
    [
        (("--value", "%5"), "model.py:12: 32 bytes are copied for the result of `tensor.insert`."),
        (("--at", "model.py:12"), "model.py:12: 32 bytes are copied for the result of `tensor.insert`."),
        (("--at", "{file}:3"), "model.py:12: 32 bytes are copied for the result of `tensor.insert`."),
        (("--at", "{file}:3:8"), "model.py:12: 32 bytes are copied for the result of `tensor.insert`."),
        (("--value", "%6"), "called.py:7: Result 1 (32 bytes) lies in the caller's memory."),
        (("--at", "called.py:7"), "called.py:7: Result 1 (32 bytes) lies in the caller's memory."),
        (("--at", "other.py:3"), "called.py:7: Result 1 (32 bytes) lies in the caller's memory."),
        (("--at", "other.py:3:1"), "called.py:7: Result 1 (32 bytes) lies in the caller's memory."),
    ],
)
def test_ir_with_locations_of_its_own(
    file: Path, capsys: pytest.CaptureFixture[str], asked: tuple[str, str], about: str
) -> None:
    file.write_text(LOCATED)
    code, out, err = explained(capsys, str(file), *(each.format(file=file) for each in asked))
    assert (code, err) == (0, "")
    assert about in out.splitlines()
    assert out.count(about.partition(": ")[0] + ": ") == out.count("[")


def test_locations_are_blanked_where_they_stand() -> None:
    kept = '// loc(x)\n@loc() "loc(" memref.alloc() #a.loc(1)'
    one, two = 'loc("x)":1:2)', 'loc (fused["a", callsite("b" at unknown)])'
    text = f"#l = {one}\na {one} b\n{kept} {two[:10]}\n{two[10:]}"
    bare = f"{' ' * 18}\na {' ' * 13} b\n{kept} {' ' * 10}\n{' ' * (len(two) - 10)}"
    assert without_locations(text) == bare


PASSED = """\
func.func @main(%x: tensor<8xf32>, %n: index) -> tensor<4xf32> {
  %v = tensor.extract_slice %x[0] [4] [1] : tensor<8xf32> to tensor<4xf32>
  %e = tensor.empty() : tensor<4xf32>
  %k = tensor.cast %v : tensor<4xf32> to tensor<?xf32>
  %l = tensor.cast %k : tensor<?xf32> to tensor<4xf32>
  %2 = linalg.exp ins(%l : tensor<4xf32>) outs(%e : tensor<4xf32>) -> tensor<4xf32>
  return %2 : tensor<4xf32>
}
"""


@pytest.mark.parametrize("name", ["%x", "%v", "%e", "%k"])
def test_a_value_without_a_decision_is_followed_to_those_who_get_it(
    file: Path, capsys: pytest.CaptureFixture[str], name: str
) -> None:
    file.write_text(PASSED)
    code, out, err = explained(capsys, str(file), "--value", name)
    assert (code, err) == (0, "")
    assert out.startswith(
        f"Nothing was decided about {name} itself, but about what gets it:\n\n"
        f"{file}:6:8: Result 0 (16 bytes) lies in the caller's memory.\n"
    )


REFUSED = {
    "a name that is not there": (
        ["--value", "%vv"],
        "{file}: error: option '--value': expected a name that {file} defines, got %vv. Near ones: %v",
    ),
    "a name of another function": (
        ["--value", "%v", "--function", "other"],
        "{file}: error: option '--value': expected a name that {file} defines in @other, got %v. Near ones: %v",
    ),
    "a line behind the last": (
        ["--at", "{file}:12"],
        "{file}: error: option '--at': expected a line of {file}, which has 11, got 12",
    ),
    "a file of nobody": (
        ["--at", "model.py:7"],
        "{file}: error: option '--at': expected a file that locations in {file} name, got model.py",
    ),
    "a file of nobody with a line that the text has": (
        ["--at", "nonexist.py:5"],
        "{file}: error: option '--at': expected a file that locations in {file} name, got nonexist.py",
    ),
    "a result that an op does not have": (
        ["--value", "%1#1"],
        "{file}: error: option '--value': expected a name that {file} defines, got %1#1. Near ones: %1, ",
    ),
    "no line": (["--at", "model.py:x"], "{file}: error: option '--at': expected FILE:LINE or FILE:LINE:COLUMN, got "),
    "no pass": (["--pass-pipeline=builtin.module(hotdesk-nothing)"], "{file}: error: pass 'hotdesk-nothing': expected"),
}


@pytest.mark.parametrize("asked", [("--value", "%c"), ("--at", "{file}:7")])
def test_where_nothing_was_decided_the_nearest_are_named(
    file: Path, capsys: pytest.CaptureFixture[str], asked: tuple[str, str]
) -> None:
    option, what = (each.format(file=file) for each in asked)
    code, out, err = explained(capsys, str(file), option, what)
    assert (code, err) == (0, "")
    assert out.startswith(f"Nothing was decided about {what}. Nearest: ")


def test_where_nothing_is_copied(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file.write_text("func.func @main(%c: f32) -> f32 {\n  return %c : f32\n}\n")
    assert explained(capsys, str(file)) == (0, "Nothing is copied, and nothing gets memory of its own.\n", "")
    told = "Nothing was decided about %c. The pipeline decided nothing.\n"
    assert explained(capsys, str(file), "--value", "%c") == (0, told, "")


def test_a_file_that_is_not_named_is_refused_with_those_that_are(
    file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file.write_text(LOCATED)
    code, out, err = explained(capsys, str(file), "--at", "nonexist.py:3")
    assert (code, out) == (1, "")
    assert "got nonexist.py. They name called.py, model.py, other.py." in err


def test_a_value_alone_on_its_line_and_its_neighbour(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """An argument that a line begins with is found, and not taken for another one."""
    lines = [
        "func.func @main(%x1: tensor<8xf32> {hotdesk.donated},",
        "                %x4: tensor<8xf32>, %c: f32, %n: index)",
    ]
    body = [
        "    -> tensor<8xf32> {",
        "  %r = tensor.insert %c into %x4[%n] : tensor<8xf32>",
        "  return %r : tensor<8xf32>",
        "}",
    ]
    file.write_text("\n".join([*lines, *body]))
    assert [spot for spot, _ in definitions([*lines, *body], "%x4", "in")] == [Spot("in", 2, 17)]
    _, out, _ = explained(capsys, str(file), "--value", "%x4")
    assert out.startswith(f"{file}:4:8: 32 bytes are copied for the result of `tensor.insert`.\n")
    _, out, _ = explained(capsys, str(file), "--value", "%x1")
    assert out.startswith("Nothing was decided about %x1. Nearest: ")


@pytest.mark.parametrize("name", REFUSED)
def test_what_cannot_be_answered(file: Path, capsys: pytest.CaptureFixture[str], name: str) -> None:
    arguments, error = REFUSED[name]
    code, out, err = explained(capsys, str(file), *(each.format(file=file) for each in arguments))
    assert (code, out) == (2 if name in ("no line", "no pass") else 1, "")
    assert err.startswith(error.format(file=file))


@pytest.mark.parametrize(
    "asked", ["in.mlir:3:8", "./in.mlir:3", "{directory}/in.mlir:3", "{directory}/../{name}/in.mlir:3"]
)
@pytest.mark.parametrize("given", ["in.mlir", "./in.mlir", "{directory}/in.mlir"])
def test_the_file_may_be_named_in_any_way(
    file: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], given: str, asked: str
) -> None:
    monkeypatch.chdir(file.parent)
    paths = {"directory": file.parent, "name": file.parent.name}
    code, out, _ = explained(capsys, given.format(**paths), "--at", asked.format(**paths))
    assert code == 0
    assert "32 bytes are copied for the result of `tensor.insert`." in out.splitlines()[0]


def test_another_file_of_the_name_is_not_the_file(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert explained(capsys, str(file), "--at", f"{file.parent}/other/in.mlir:3")[0] == 1


@pytest.mark.parametrize("asked", ["model.py:12", "./model.py:12", "{directory}/model.py:12"])
def test_a_python_file_may_be_named_in_any_way(
    file: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], asked: str
) -> None:
    monkeypatch.chdir(file.parent)
    file.write_text(LOCATED)
    code, out, _ = explained(capsys, str(file), "--at", asked.format(directory=file.parent))
    assert code == 0
    assert out.startswith("model.py:12: 32 bytes are copied")


def test_text_that_is_no_ir(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file.write_text("func.func @f() {\n  return %x : f32\n}")
    code, out, err = explained(capsys, str(file))
    assert (code, out) == (1, "")
    assert err.startswith(f"{file}:2:10: error: the input: expected a module, got use of undeclared SSA value name")


def test_an_op_without_a_model(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file.write_text('func.func @f(%x: tensor<f32>) {\n  %1 = "toy.op"(%x) : (tensor<f32>) -> tensor<f32>\n  return\n}')
    code, _, err = explained(capsys, str(file), "--allow-unregistered-dialect")
    assert code == 1
    assert err.startswith(f"{file}:2:8: error: op `toy.op` has tensors but no model")


def test_names_in_text() -> None:
    lines = [
        "func.func @f(%x: f32, %long-name.1: f32) {",
        "  %a, %b:2 = scf.for %i = %c0 to %n step %c1 iter_args(%p = %x) -> (f32) { // %x: f32",
        "^bb1(%q : f32):",
    ]

    def found(name: str) -> list[tuple[int, int]]:
        return [(spot.line, spot.column) for spot, _ in definitions(lines, name, "in.mlir")]

    assert found("%x") == [(1, 14)]
    assert found("long-name.1") == [(1, 23)]
    assert found("%b#1") == found("%a") == found("%a#0") == [(2, 14)]
    assert found("%b#2") == found("%a#1") == found("%q#0") == []
    assert found("%p") == [(2, 0)]
    assert found("%q") == [(3, 6)]
    assert found("%c0") == []
