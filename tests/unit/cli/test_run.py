"""`hotdesk run`: what it prints and saves for programs in MLIR and PyTorch models, and what it refuses."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from hotdesk.cli.main import main

TENSORS = """func.func @scaled(%x: tensor<?x3xf32>, %y: tensor<?xf32> {hotdesk.shape = ["n"]}, %k: index, %a: f32)
    -> (tensor<?x3xf32>, tensor<?xf32>, f32) {
  %0 = linalg.exp ins(%x : tensor<?x3xf32>) outs(%x : tensor<?x3xf32>) -> tensor<?x3xf32>
  %1 = tensor.extract_slice %y[0] [%k] [1] : tensor<?xf32> to tensor<?xf32>
  %2 = arith.addf %a, %a : f32
  return %0, %1, %2 : tensor<?x3xf32>, tensor<?xf32>, f32
}
func.func @other(%x: memref<2xi32>) {
  linalg.add ins(%x, %x : memref<2xi32>, memref<2xi32>) outs(%x : memref<2xi32>)
  return
}
"""
MODEL = """
import torch
def build():
    return torch.nn.Linear(2, 3, bias=False).eval(), (torch.ones(4, 2),)
"""


@pytest.fixture
def program(tmp_path: Path) -> str:
    path = tmp_path / "program.mlir"
    path.write_text(TENSORS)
    return str(path)


def test_random_inputs(program: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    saved = tmp_path / "out.npz"
    command = [
        "run",
        program,
        "--entry",
        "scaled",
        "--random-inputs",
        "--sizes",
        "x[0]=2,n=5,k=4",
        "--save",
        str(saved),
    ]
    assert main(command) == 0
    printed = capsys.readouterr().out
    assert printed.startswith("result 0: float32[2, 3]\n[[")
    assert "result 1: float32[4]\n" in printed
    assert "result 2 = " in printed
    assert "scaled (%k = 4, dim 0 of %x = 2, n = 5)" in printed
    found = np.load(saved)
    assert [found[name].shape for name in ("result_0", "result_1", "result_2")] == [(2, 3), (4,), ()]
    generator = np.random.default_rng(0)
    x = generator.standard_normal((2, 3)).astype(np.float32)
    y = generator.standard_normal(5).astype(np.float32)
    np.testing.assert_allclose(found["result_0"], np.exp(x), rtol=1e-6)
    np.testing.assert_array_equal(found["result_1"], y[:4])
    assert main([*command, "--seed", "1"]) == 0
    assert capsys.readouterr().out != printed


def test_inputs_from_files(program: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "x.npy"
    np.save(file, np.array([3, -4], np.int32))
    assert main(["run", program, "--entry", "other", "--inputs", str(file)]) == 0
    assert capsys.readouterr().out.startswith("%x: int32[2]\n[ 6 -8]\n\nother\n")
    np.save(tmp_path / "y.npy", np.zeros(3, np.float32))
    np.save(tmp_path / "x.npy", np.zeros((1, 3), np.float32))
    files = [str(tmp_path / f"{name}.npy") for name in "xy"]
    assert main(["run", program, "--entry", "scaled", "--inputs", *files, "2", "-0.5"]) == 0
    assert "result 2 = -1.0" in capsys.readouterr().out


def test_a_pytorch_model(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "a_linear_model.py"
    path.write_text(MODEL)
    assert main(["run", str(path), "--save", str(tmp_path / "out.npz")]) == 0
    assert capsys.readouterr().out.startswith("result 0: float32[4, 3]\n")
    assert np.load(tmp_path / "out.npz")["result_0"].shape == (4, 3)
    assert main(["run", f"{path}:build", "--sizes", "n=3"]) == 2
    assert "option '--sizes': expected a program in MLIR" in capsys.readouterr().err


@pytest.mark.parametrize("sizes", ["%k=4,dim 0 of %x=2,n=5", "k=4, x[0]=2, %n=5"])
def test_sizes_are_called_as_reports_call_them(program: str, sizes: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", program, "--entry", "scaled", "--sizes", sizes]) == 0
    assert "scaled (%k = 4, dim 0 of %x = 2, n = 5)" in capsys.readouterr().out


def test_a_profile_of_a_program_in_mlir(program: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["profile", program, "--entry", "other", "--random-inputs"]) == 0
    assert "program.mlir:9:3" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "option 'entry': expected one of @scaled, @other"),
        (["--entry", "other"], "arguments: expected --inputs for %x: i32[2], or --random-inputs, got none"),
        (["--entry", "other", "--sizes", "n=3"], "option '--sizes': expected none: all sizes are fixed, got also n"),
        (["--entry", "scaled", "--random-inputs"], "got no x[0], n, k. Write --sizes x[0]=5,n=5,k=5."),
        (["--entry", "scaled", "--sizes", "m=3"], "got no x[0], n, k, also m. Write --sizes x[0]=5,n=5,k=5."),
        (["--entry", "other", "--inputs", "missing.npy"], "missing.npy: expected a file, got none of that name"),
        (
            ["--entry", "other", "--inputs", "word"],
            "option '--inputs': expected files .npy, numbers, true or false, got 'word'",
        ),
        (["--entry", "other", "--inputs", "1", "2"], "arguments: expected 1 (x), got 2"),
        (["--entry", "other", "--inputs", "1", "--random-inputs"], "got both"),
    ],
)
def test_what_it_refuses(program: str, arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]) -> None:
    is_failure = "missing.npy" in arguments or arguments[-2:] == ["1", "2"]
    assert main(["run", program, *arguments]) == (1 if is_failure else 2)
    assert message in capsys.readouterr().err


def test_results_that_cannot_be_saved_are_told_before_it_runs(program: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", program, "--entry", "other", "--random-inputs", "--save", "no-such/x.npz"]) == 1
    assert capsys.readouterr() == ("", "error: no-such/x.npz: expected a file, got no folder 'no-such'\n")


def test_a_command_line_without_sense(program: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["run", program, "--sizes", "n=x"])
    assert "expected sizes such as n=5,x[0]=3, got 'n=x'" in capsys.readouterr().err
