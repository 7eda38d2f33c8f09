"""The command line of the planner, on files."""

import io
import re
from pathlib import Path

import pytest

from hotdesk.cli.main import main
from hotdesk.planning import check, plan, read_csv

DATA = Path(__file__).parents[2] / "data" / "planning"
PRODUCTS = """func.func @main(%x: tensor<4x4xf32>, %y: tensor<4x64xf32>, %z: tensor<64x4xf32>) -> tensor<4x4xf32> {
  %zero = arith.constant 0.0 : f32
  %0 = tensor.empty() : tensor<4x64xf32>
  %1 = linalg.fill ins(%zero : f32) outs(%0 : tensor<4x64xf32>) -> tensor<4x64xf32>
  %2 = linalg.matmul ins(%x, %y : tensor<4x4xf32>, tensor<4x64xf32>) outs(%1 : tensor<4x64xf32>) -> tensor<4x64xf32>
  %3 = tensor.empty() : tensor<4x4xf32>
  %4 = linalg.fill ins(%zero : f32) outs(%3 : tensor<4x4xf32>) -> tensor<4x4xf32>
  %5 = linalg.matmul ins(%2, %z : tensor<4x64xf32>, tensor<64x4xf32>) outs(%4 : tensor<4x4xf32>) -> tensor<4x4xf32>
  return %5 : tensor<4x4xf32>
}
"""
CHAIN = "id,lower,upper,size\na,0,2,100\nb,1,3,100\nc,2,4,100\n"


@pytest.fixture
def chain(tmp_path: Path) -> str:
    path = tmp_path / "chain.csv"
    path.write_text(CHAIN)
    return str(path)


def test_offsets_go_to_stdout_and_the_certificate_to_stderr(chain: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["plan", chain]) == 0
    out, err = capsys.readouterr()
    assert out == "id,lower,upper,size,offset\na,0,2,100,0\nb,1,3,100,100\nc,2,4,100,0\n"
    assert err.startswith(
        "arena 200 bytes, optimal; bound 200 bytes (live, 2 buffers at step 1: a 100, b 100); "
        "without reuse 300 bytes; skyline/pressure, "
    )


def test_what_the_certificate_names_adds_up(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Eight buffers of which six are named, two that share bytes, and a pool."""
    path = tmp_path / "named.csv"
    rows = [f"b{i},0,2,{100 + i},," for i in range(7)]
    path.write_text("\n".join(["id,lower,upper,size,host,at", *rows, "view,0,2,40,b6,0", ""]))
    assert main(["plan", str(path), "--pool", "beside=105"]) == 0
    named = (
        "b6 106, b5 105, b4 104, b3 103, b2 102, b1 101, 2 more 140, less 40 that ties share, less 105 that pools lend"
    )
    assert f"bound 616 bytes (live, 8 buffers at step 0: {named});" in capsys.readouterr().err
    assert 106 + 105 + 104 + 103 + 102 + 101 + 140 - 40 - 105 == 616


def test_stdin_is_csv_or_mlir(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO(CHAIN))
    assert main(["plan", "-"]) == 0
    assert capsys.readouterr().out.endswith("c,2,4,100,0\n")
    monkeypatch.setattr("sys.stdin", io.StringIO(PRODUCTS))
    assert main(["plan", "-"]) == 0
    out, err = capsys.readouterr()
    assert re.fullmatch(r"id,lower,upper,size,offset\nb0,\d+,\d+,1024,0\n", out)
    assert err.startswith("arena 1,024 bytes, optimal")


def test_nothing_to_plan_names_nothing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "empty.csv"
    path.write_text("id,lower,upper,size\na,0,1,0\n")
    assert main(["plan", str(path)]) == 0
    assert "bound 0 bytes (live, 0 buffers at step 0)" in capsys.readouterr().err


def test_what_is_printed_is_a_right_plan(capsys: pytest.CaptureFixture[str]) -> None:
    path = DATA / "resnet50.csv"
    assert main(["plan", str(path), "--strategy", "greedy/size"]) == 0
    problem, printed = read_csv(path.read_text()), capsys.readouterr().out
    assert check(problem, plan(read_csv(printed, pin=True))) == ()


@pytest.mark.parametrize(("capacity", "code"), [("200", 0), ("0.2kB", 0), ("1 KiB", 0), ("199", 1)])
def test_a_capacity_is_met_or_refused(chain: str, capacity: str, code: int, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["plan", chain, "--capacity", capacity]) == code
    refusal = "error: no plan fits 199 bytes: 200 bytes are needed by 2 buffers at step 1: a 100, b 100"
    assert (refusal in capsys.readouterr().err) == bool(code)


def test_a_capacity_that_may_be_within_reach_is_told_apart(capsys: pytest.CaptureFixture[str]) -> None:
    path = str(DATA / "A.1048576.csv")
    assert main(["plan", path, "--strategy", "greedy/start", "--capacity", "1MiB"]) == 1
    assert "no plan below 1,048,576 bytes was found; none is known to be impossible" in capsys.readouterr().err


@pytest.mark.parametrize("options", [[], ["--time-limit", "600"]])
def test_a_capacity_is_met_without_naming_a_strategy(options: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    """It ends when it fits, long before the time is up."""
    path = DATA / "H.1048576.csv"
    assert main(["plan", str(path), "--capacity", "1MiB", *options]) == 0
    problem, printed = read_csv(path.read_text()), capsys.readouterr().out
    assert check(problem, plan(read_csv(printed, pin=True))) == ()
    assert plan(read_csv(printed, pin=True)).arena == 1048576


def test_alignment_and_pins(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "pinned.csv"
    path.write_text("id,lower,upper,size,offset\na,0,2,100,128\nb,1,3,100,\n")
    assert main(["plan", str(path), "--alignment", "64", "--pin"]) == 0
    assert capsys.readouterr().out.splitlines()[1:] == ["a,0,2,100,128", "b,1,3,100,0"]


def test_a_time_limit_of_nothing_still_gives_a_plan(capsys: pytest.CaptureFixture[str]) -> None:
    path = DATA / "K.1048576.csv"
    assert main(["plan", str(path), "--strategy", "exact", "--time-limit", "0"]) == 0
    problem, (out, err) = read_csv(path.read_text()), capsys.readouterr()
    assert check(problem, plan(read_csv(out, pin=True))) == ()
    assert "skyline/pressure" in err


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--capacity", "many"], "expected bytes such as 4096, '24 MiB' or '1.5GB', got 'many'"),
        (["--capacity", "-1"], "expected"),
        (["--time-limit", "soon"], "expected a number of seconds, 0 or more, got 'soon'"),
        (["--time-limit", "nan"], "expected a number of seconds, 0 or more, got 'nan'"),
        (["--strategy", "magic"], "invalid choice: 'magic'"),
        (["--alignment", "3"], "expected a power of two, got '3'"),
    ],
)
def test_options_that_make_no_sense(
    chain: str, options: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as stopped:
        main(["plan", chain, *options])
    assert stopped.value.code == 2
    assert message in capsys.readouterr().err


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("id,size\n", "expected the header id,lower,upper,size"),
        ("id,lower,upper,size\na,0,x,5\n", "line 2: expected an integer for upper, got 'x'"),
        ("id,lower,upper,size\na,0,999999999999999999999999,5\n", "buffer 'a': expected steps between"),
        (
            "id,lower,upper,size\n" + "a" * 200_000 + ",0,3,5\n",
            "line 2: expected cells of up to 131,072 characters",
        ),
        ("id,lower,upper,size\na,3,3,5\n", "expected lower < upper, got [3, 3)"),
    ],
)
def test_files_that_make_no_sense(tmp_path: Path, text: str, message: str, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "bad.csv"
    path.write_text(text)
    assert main(["plan", str(path)]) == 1
    assert message in capsys.readouterr().err


def test_a_file_with_a_byte_order_mark(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "marked.csv"
    path.write_text(CHAIN, encoding="utf-8-sig")
    assert main(["plan", str(path)]) == 0
    assert capsys.readouterr().out.startswith("id,lower,upper,size,offset\na,0,2,100,0\n")


def test_a_file_that_is_not_there(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["plan", "/nowhere.csv"]) == 1
    assert capsys.readouterr().err == "error: /nowhere.csv: expected a file, got none of that name\n"


def test_pools_with_a_cost_take_what_does_not_fit(chain: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["plan", chain, "--pool", "slow=1KiB,3", "--capacity", "100"]) == 0
    out, err = capsys.readouterr()
    assert out.splitlines()[0] == "id,lower,upper,size,pool,offset"
    assert out.count("slow") == 1
    assert "cost 300, at least 300; " in err


def test_what_pools_with_a_cost_could_hold_is_not_called_impossible(
    chain: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["plan", chain, "--strategy", "no-reuse", "--pool", "slow=1KiB,3", "--capacity", "100"]) == 1
    err = capsys.readouterr().err
    assert "arena 300 bytes" in err
    assert "no plan below 100 bytes was found; none is known to be impossible" in err


@pytest.mark.parametrize("text", ["slow", "slow=", "=64", "slow=64,", "slow=64,x"])
def test_a_pool_that_cannot_be_read(chain: str, text: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["plan", chain, "--pool", text])
    assert "expected a pool such as sram=64KiB or psram=8MiB,3" in capsys.readouterr().err
