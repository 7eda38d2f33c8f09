"""Whatever hotdesk-opt is given, IR with mistakes and options that make no sense: a diagnostic, and never a traceback."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from hotdesk.cli.opt import main
from hotdesk.passes.registry import BUILT_IN

_TESTS = Path(__file__).parent.parent
_FOLDERS = ("data/structured", "filecheck/tensor", "filecheck/bufferize", "filecheck/buffers")
_FILES = [path for folder in _FOLDERS for path in sorted((_TESTS / folder).glob("*.mlir"))]
PROGRAMS = [part for path in _FILES for part in path.read_text(encoding="utf-8").split("// -----")]
OTHERWISE = (
    ("f32", "i32"),
    ("f32", "index"),
    ("f32", "complex<f32>"),
    ("4xf32", "4xvector<2xf32>"),
    ("tensor<4", "tensor<0"),
    ("tensor<4x", "tensor<?x"),
    ("tensor<4xf32>", "tensor<*xf32>"),
    ("memref<4xf32>", "memref<*xf32>"),
    ("linalg.", "other."),
    ("arith.add", "other.add"),
    ("tensor.empty", "other.empty"),
    ("memref.alloc", "other.alloc"),
    ("scf.for", "other.for"),
    ("func.func", "other.func"),
    ("return", "other.return"),
    ("private", "public"),
    ("{hotdesk.donated}", '{hotdesk.shape = ["?", 3]}'),
    ("{hotdesk.donated}", "{hotdesk.donated = 3, bufferization.access = 4}"),
)
OPTIONS = (
    *("{}", "{", "}", "{=}", "{a=b}", "{a={b}}", "{'\"}", "{\x00}", "{unknown-option=1}", "{analysis-heuristic=}"),
    *("{results=5}", "{max-alloc-size=-1}", "{buffer-alignment=64 buffer-alignment=3}", "{no-analysis-func-filter=}"),
)


def mangled(text: str, chance: random.Random) -> str:
    """A program with a mistake, or as it was."""
    lines = text.split("\n")
    match chance.randrange(6):
        case 0:
            return text[: chance.randrange(len(text))]
        case 1:
            del lines[chance.randrange(len(lines))]
            return "\n".join(lines)
        case 2:
            at = chance.randrange(len(text))
            return text[:at] + chance.choice('%@{}()<>x0\x00é"-') + text[at + 1 :]
        case 3:
            for old, new in chance.sample(OTHERWISE, 2):
                text = text.replace(old, new)
            return text
        case 4:
            a, b = chance.randrange(len(lines)), chance.randrange(len(lines))
            lines[a], lines[b] = lines[b], lines[a]
            return "\n".join(lines)
        case _:
            return text


def pipeline(chance: random.Random) -> str:
    """One or two passes, perhaps with options, and perhaps with a mistake."""
    steps = chance.choice(list(BUILT_IN)) + (chance.choice(OPTIONS) if chance.random() < 0.3 else "")
    if chance.random() < 0.3:
        steps += f",{chance.choice(list(BUILT_IN))}"
    wrong = (
        f"builtin.module(func.func({steps}))",
        f"builtin.module({steps}",
        f"{steps}))",
        f"builtin.module({steps},none)",
    )
    return f"builtin.module({steps})" if chance.random() < 0.8 else chance.choice(wrong)


def _check(seed: int, count: int, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    chance = random.Random(seed)
    file = folder / "given.mlir"
    for _ in range(count):
        text, steps = mangled(chance.choice(PROGRAMS), chance), pipeline(chance)
        file.write_text(text, encoding="utf-8")
        arguments = [str(file), f"--pass-pipeline={steps}"]
        code = main([*arguments, "--allow-unregistered-dialect"] if chance.random() < 0.5 else arguments)
        said = capsys.readouterr().err
        assert "internal error" not in said, f"{steps}\n{text}\n{said}"
        assert "Traceback" not in said, f"{steps}\n{text}\n{said}"
        assert code in (0, 1)
        assert code == 0 or "error" in said, f"{steps}\n{text}\nfails and does not say why"


@pytest.mark.parametrize("seed", range(3))
def test_a_diagnostic(seed: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    _check(seed, 50, tmp_path, capsys)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(100, 110))
def test_diagnostics(seed: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    _check(seed, 500, tmp_path, capsys)
