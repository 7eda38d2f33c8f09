"""`hotdesk check`: what it prints of faults, and of programs that it cannot run."""

from __future__ import annotations

from pathlib import Path

import pytest

from hotdesk.cli.check import main
from hotdesk.cli.exits import UsageError

RACE = """func.func @main() {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %z = arith.constant 0.0 : f32
  %a = memref.alloc() : memref<8xf32>
  scf.parallel (%i) = (%c0) to (%c8) step (%c1) {
    memref.store %z, %a[%c0] : memref<8xf32>
  }
  memref.dealloc %a : memref<8xf32>
  return
}
"""
STACK = """func.func @main(%x: memref<4xf32>) -> memref<4xf32> {
  %q = memref.alloca() : memref<4xf32>
  memref.copy %x, %q : memref<4xf32> to memref<4xf32>
  return %q : memref<4xf32>
}
"""
CALLED = (
    STACK.replace("@main", "private @made")
    + """
func.func @main(%x: memref<4xf32>) {
  %c0 = arith.constant 0 : index
  %q = call @made(%x) : (memref<4xf32>) -> memref<4xf32>
  %v = memref.load %q[%c0] : memref<4xf32>
  return
}
"""
)
SIGNED = """func.func @main(%n: index, %b: i8, %x: memref<?xf32>) {
  %c0 = arith.constant 0 : index
  %below = arith.cmpi slt, %n, %c0 : index
  cf.assert %below, "not below 0"
  return
}
"""


def run(text: str, folder: Path, *options: str) -> tuple[int, str]:
    """The exit code, and the name of the file."""
    file = folder / "in.mlir"
    file.write_text(text, encoding="utf-8")
    return main([str(file), *options]), str(file)


def test_a_race_names_the_loop_by_its_place_in_the_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, file = run(RACE, tmp_path)
    said = capsys.readouterr().err
    assert code == 1
    assert (
        f"{file}:8:5: error: race: writes bytes of memref<8xf32> that another iteration of scf.parallel writes" in said
    )
    assert f"{file}:7:3: note: iterations of scf.parallel may run at one time\n  scf.parallel" in said
    assert " -:" not in said


@pytest.mark.parametrize(
    ("text", "end"),
    [(STACK, "1:1: note: {} func.func"), (CALLED, "9:8: note: {} func.call")],
    ids=["returned", "called"],
)
def test_stack_memory_says_when_it_was_left(
    text: str, end: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code, file = run(text, tmp_path)
    said = capsys.readouterr().err
    assert code == 1
    assert f"{file}:{end.format('on the stack until the end of')}\n" in said
    assert "freed by" not in said


@pytest.mark.parametrize("kind", ["memref<*xf32>", "vector<4xf32>", "complex<f32>"])
def test_an_argument_that_nobody_can_give_is_bad_input(
    kind: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code, file = run(f"func.func @main(%x: {kind}) {{\n  return\n}}\n", tmp_path)
    said = capsys.readouterr().err
    assert code == 1
    assert said.startswith(
        f"{file}:1:1: error: argument 0 of @main: expected a memref with a rank, or a number, got {kind}"
    )
    assert "[HD303]" in said


@pytest.mark.parametrize(
    ("memref", "said"),
    [
        ("memref<2xmemref<4xf32>>", "the memory checker: expected one of f16"),
        ("memref<4xi4>", "the memory checker: expected one of f16"),
        (
            "memref<4611686018427387904xf32>",
            "expected as many bytes as this machine has, got 18,446,744,073,709,551,616 bytes",
        ),
    ],
)
def test_memory_that_cannot_be_had_is_bad_input(
    memref: str, said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code, file = run(f"func.func @main() {{\n  %x = memref.alloc() : {memref}\n  return\n}}\n", tmp_path)
    shown = capsys.readouterr().err
    assert code == 1
    assert shown.startswith(f"{file}:2:8: error: ")
    assert said in shown


def test_scalars_may_be_negative(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(SIGNED, tmp_path, "--sizes=-3,-128,0")[0] == 0
    assert run(SIGNED, tmp_path, "--sizes=3")[0] == 1
    assert "failed assertion" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("sizes", "said"),
    [
        ("-3,0,-1", "argument 2: expected sizes of memref<?xf32>, 0 or more, got -1. [HD205]"),
        ("-3,200", "argument 1: expected a number of type i8, -128 to 127, got 200. [HD203]"),
    ],
)
def test_what_is_no_size_and_no_number_of_the_type_is_refused(
    sizes: str, said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(SIGNED, tmp_path, f"--sizes={sizes}")[0] == 1
    assert said in capsys.readouterr().err


def test_sizes_that_are_no_numbers_are_a_usage_error(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        run(SIGNED, tmp_path, "--sizes=3,abc")
    assert ended.value.code == 2
    said = capsys.readouterr().err
    assert "argument --sizes: expected whole numbers with commas between them, got '3,abc'" in said


UNCALLED = "func.func private @other() {\n  return\n}\n"


@pytest.mark.parametrize(
    ("text", "options"),
    [
        (SIGNED.replace("@main", "@f"), []),
        (SIGNED.replace("@main", "@f") + UNCALLED, []),
        (SIGNED + UNCALLED.replace("private ", ""), []),
        (SIGNED.replace("@main", "@f") + UNCALLED.replace("private ", ""), ["--function=f"]),
    ],
    ids=["the only one", "the only one that is not private", "main", "named"],
)
def test_which_function_is_called(text: str, options: list[str], tmp_path: Path) -> None:
    assert run(text, tmp_path, "--sizes=-3", *options)[0] == 0
    assert run(text, tmp_path, "--sizes=3", *options)[0] == 1


def test_one_of_several_functions_has_to_be_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = (SIGNED + UNCALLED.replace("private ", "")).replace("@main", "@f")
    assert run(text, tmp_path)[0] == 1
    assert "the function to check: expected one of f, other, got none" in capsys.readouterr().err
    assert run(text, tmp_path, "--function=g")[0] == 1
    assert "function 'g': expected one of f, other, got no such function" in capsys.readouterr().err


STATED = """func.func @main(%x: memref<?xf32> {hotdesk.shape = ["n"]}, %s: memref<?xf32> {hotdesk.shape = ["2*n + 1"]},
                %y: memref<?xf32> {hotdesk.shape = ["k"]}, %z: memref<?x?xf32> {hotdesk.shape = ["n", "k"]})
    attributes {hotdesk.bounds = {k = [6, 9]}} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  EXPECTED
  return
}
"""


@pytest.mark.parametrize(
    ("options", "sizes"),
    [([], (4, 9, 6, 4, 6)), (["--sizes=5"], (5, 11, 6, 5, 6)), (["--sizes=5,8"], (5, 11, 8, 5, 8))],
)
def test_sizes_follow_from_those_that_arguments_state(
    options: list[str], sizes: tuple[int, ...], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    dims = [("x", "memref<?xf32>", 0), ("s", "memref<?xf32>", 0), ("y", "memref<?xf32>", 0)]
    dims += [("z", "memref<?x?xf32>", 0), ("z", "memref<?x?xf32>", 1)]
    checks = [
        f"  %d{i} = memref.dim %{name}, %c{dim} : {kind}\n  %w{i} = arith.constant {size} : index\n"
        f'  %e{i} = arith.cmpi eq, %d{i}, %w{i} : index\n  cf.assert %e{i}, "size {i}"'
        for i, ((name, kind, dim), size) in enumerate(zip(dims, sizes, strict=True))
    ]
    text = STATED.replace("  EXPECTED", "\n".join(checks))
    assert run(text, tmp_path, *options)[0] == 0, capsys.readouterr().err


def test_a_size_that_follows_may_not_be_negative(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = 'func.func @main(%n: index, %x: memref<?xf32> {hotdesk.shape = ["%arg0 - 8"]}) {\n  return\n}\n'
    assert run(text, tmp_path)[0] == 1
    assert "argument 1: expected sizes of memref<?xf32>, 0 or more, got -4" in capsys.readouterr().err
    assert run(text, tmp_path, "--sizes=8")[0] == 0


def test_a_program_on_tensors_is_compiled_first(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = """func.func @twice(%x: tensor<?xf32>) -> tensor<?xf32> {
  %0 = arith.addf %x, %x : tensor<?xf32>
  return %0 : tensor<?xf32>
}
"""
    for sizes in ("x[0]=5", "5"):
        assert run(text, tmp_path, "--sizes", sizes, "--function", "twice")[0] == 0
        assert "no faults" in capsys.readouterr().out
    for given, told in (
        (["--sizes", "5,3"], "option '--sizes': expected 1 number (x[0]), got 2. Write --sizes x[0]=5."),
        (["--sizes", "y=5"], "Write --sizes x[0]=5."),
        (["--no-leaks"], "option '--no-leaks': expected a program on memrefs"),
    ):
        with pytest.raises(UsageError) as caught:
            run(text, tmp_path, *given)
        assert told in str(caught.value)


def test_numbers_alone_are_the_sizes_of_tensors_as_the_arguments_have_them(tmp_path: Path) -> None:
    text = """func.func @main(%x: tensor<?x2xf32>, %k: index, %a: tensor<?x?xf32>) -> index {
  %c1 = arith.constant 1 : index
  %n = tensor.dim %a, %c1 : tensor<?x?xf32>
  %0 = arith.addi %n, %k : index
  return %0 : index
}
"""
    assert run(text, tmp_path, "--sizes", "5,1,3,4")[0] == 0
    with pytest.raises(UsageError, match=r"expected 4 numbers \(x\[0\], k, a\[0\], a\[1\]\), got 3"):
        run(text, tmp_path, "--sizes", "5,1,3")


@pytest.mark.parametrize("option", [["--dim", "n=3"], ["--sizes", "n=3"], ["--budget", "1kB"]])
def test_options_of_models_are_refused_for_memrefs(option: list[str], tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=f"option '{option[0]}': expected"):
        run(STACK, tmp_path, *option)


@pytest.mark.parametrize("name", ["program.hotdesk", "report.json"])
def test_what_holds_no_ir_is_refused(name: str) -> None:
    with pytest.raises(UsageError, match=f"expected MLIR, or a model that is to be compiled, got {name}"):
        main([name])
