"""Programs of `tests/data/reported` that once crashed, were refused or copied too much, by the names of their files."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

from hotdesk.cli import check as check_command
from hotdesk.cli import opt
from hotdesk.models import Facts, OpModel, register
from tests.running import Subject, check

_FOLDER = Path(__file__).parents[1] / "data" / "reported"
_COPY = r"memref\.copy|linalg\.yield %in"
_FUSED = Subject("fused", "builtin.module(hotdesk-fuse-buffers)")
_SHORT = Subject("copies removed", "builtin.module(hotdesk-copy-removal)")


def _text(name: str) -> str:
    return (_FOLDER / f"{name}.mlir").read_text(encoding="utf-8")


def _opt(capsys: pytest.CaptureFixture[str], name: str, *options: str) -> tuple[str, str]:
    """What a pass makes of a program, and what it says to that."""
    assert opt.main([str(_FOLDER / f"{name}.mlir"), *options]) == 0
    said = capsys.readouterr()
    return said.out, said.err


def _checked(path: Path, capsys: pytest.CaptureFixture[str], *options: str) -> str:
    assert check_command.main([str(path), *options]) == 0
    return "".join(capsys.readouterr())


def test_call_results_yielded(capsys: pytest.CaptureFixture[str]) -> None:
    """Arguments are copied, which the callees may write; results of calls are not, in the branches or behind them."""
    made, _ = _opt(capsys, "call_results_yielded", "--hotdesk-one-shot-bufferize")
    assert len(re.findall(_COPY, made)) == 2
    assert made.index("func.call @h") > made.rindex("linalg.yield")
    assert re.search(r"scf\.yield %\d+ : memref<4xf32>\n\s+}\n\s+return %0 : memref<4xf32>", made)


def test_check_index_cast(capsys: pytest.CaptureFixture[str]) -> None:
    assert "no faults (0 allocations" in _checked(_FOLDER / "check_index_cast.mlir", capsys)


def test_check_unranked_clone(capsys: pytest.CaptureFixture[str]) -> None:
    assert "no faults (2 allocations, 32 bytes" in _checked(_FOLDER / "check_unranked_clone.mlir", capsys)


def test_check_unranked_clone_that_leaks(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    text = _text("check_unranked_clone").replace("memref.dealloc %c : memref<*xf32>", "")
    (tmp_path / "leaks.mlir").write_text(text, encoding="utf-8")
    assert check_command.main([str(tmp_path / "leaks.mlir")]) == 1
    assert "never freed" in capsys.readouterr().err


def test_copy_removal_other_blocks(capsys: pytest.CaptureFixture[str]) -> None:
    made, _ = _opt(capsys, "copy_removal_other_blocks", "--hotdesk-copy-removal")
    assert re.findall(r"memref\.copy (.*) :", made) == ["%arg0, %arg1"]  # what @xto is there for
    assert made.count("memref.dealloc") == 1  # where a branch does not hand the memory on
    x, out = np.arange(8, dtype=np.float32), np.zeros(8, dtype=np.float32)
    chain = _text("copy_removal_other_blocks").partition("func.func @xto")[2]
    chain = chain.replace(
        "%o: memref<8xf32>", "%o: memref<8xf32> {hotdesk.donated}"
    )  # written by the program as it stands
    check(f"func.func @main{chain}", [x, out], _SHORT)


def test_dealloc_dim_beyond_rank(capsys: pytest.CaptureFixture[str]) -> None:
    made, _ = _opt(capsys, "dealloc_dim_beyond_rank", "--hotdesk-buffer-deallocation")
    assert made.count("memref.dealloc %alloc") == 1


def test_displacement_memrefs(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    """By itself the pass writes each result over the operand that dies; with the others the last one is the caller's."""
    made, _ = _opt(capsys, "displacement_memrefs", "--hotdesk-buffer-pipeline")
    assert made.count("memref.alloc()") == 1
    alone, said = _opt(capsys, "displacement_memrefs", "--hotdesk-displace-buffers", "--print-decisions")
    assert alone.count("memref.alloc()") == 1
    assert said.count("in place: dies-here, 40000 bytes") == 3
    (tmp_path / "made.mlir").write_text(made, encoding="utf-8")
    assert "1 allocations, 40000 bytes, at most 40000 at once" in _checked(tmp_path / "made.mlir", capsys)


@pytest.mark.parametrize("mode", ["ownership", "copies"])
@pytest.mark.parametrize("is_known", [False, True])
def test_divergent_ownership(mode: str, is_known: bool, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    """A terminator that nobody knows hands on one buffer or the other: both are freed behind the last use of either."""
    text = """func.func @main(%c: i1, %r: memref<2xf32>, %f: f32) {
      %0 = memref.alloc() : memref<2xf32>
      %1 = memref.alloc() : memref<2xf32>
      linalg.fill ins(%f : f32) outs(%0 : memref<2xf32>)
      linalg.fill ins(%f : f32) outs(%1 : memref<2xf32>)
      cf.cond_br %c, ^bb1, ^bb2
    ^bb1:
      "custom.br"(%0)[^bb3] : (memref<2xf32>) -> ()
    ^bb2:
      "custom.br"(%1)[^bb3] : (memref<2xf32>) -> ()
    ^bb3(%2: memref<2xf32>):
      memref.copy %2, %r : memref<2xf32> to memref<2xf32>
      return
    }"""
    file = tmp_path / "divergent_ownership.mlir"
    file.write_text(text, encoding="utf-8")
    if is_known:  # which is forgotten behind the test
        register(
            "custom.br",
            OpModel(lambda op: Facts(), branches=lambda op: tuple((i, 0, i) for i in range(len(op.operands)))),
        )
    options = ["--allow-unregistered-dialect", f"--hotdesk-buffer-deallocation=mode={mode}"]
    assert opt.main([str(file), *options]) == 0
    made = capsys.readouterr().out
    assert re.findall(r"memref\.dealloc (%\w+)", made) == ["%alloc", "%alloc_0"]
    assert made.index("memref.copy") < made.index("memref.dealloc")


def test_fuse_buffers_crash(capsys: pytest.CaptureFixture[str]) -> None:
    """Two parts of one buffer go away together."""
    made, _ = _opt(capsys, "fuse_buffers_crash", "--hotdesk-fuse-buffers")
    assert (made.count("linalg.generic"), made.count("memref.alloc")) == (1, 1)
    check(_text("fuse_buffers_crash").replace("@f", "@main"), [np.arange(3, dtype=np.float32)], _FUSED)


def test_global_name(capsys: pytest.CaptureFixture[str]) -> None:
    made, _ = _opt(capsys, "global_name", "--hotdesk-one-shot-bufferize")
    assert "memref.global" in made
    assert "memref.get_global @gg : memref<i64>" in made
    assert "ml_program" not in made


@pytest.mark.parametrize(
    ("passes", "category"),
    [
        (("--hotdesk-copy-removal",), "copy"),
        (("--hotdesk-share-buffers",), "share"),
        (("--hotdesk-buffer-hoisting", "--hotdesk-promote-buffers-to-stack"), "place"),
    ],
)
def test_remark_categories(passes: tuple[str, ...], category: str, capsys: pytest.CaptureFixture[str]) -> None:
    """Refusals are in the category of their pass, and no other filter lets them through."""
    _, said = _opt(capsys, "remark_categories", *passes, "--remarks-filter=.*")
    found = re.findall(r"Category:([\w-]+)", said)
    assert found
    assert set(found) == {category}
    for asked in ("copy", "share", "place", "bufferize"):
        _, said = _opt(capsys, "remark_categories", *passes, f"--remarks-filter={asked}")
        assert said.count("Category:") == (len(found) if asked == category else 0)


def test_to_buffer_static_offset(capsys: pytest.CaptureFixture[str]) -> None:
    made, said = _opt(capsys, "to_buffer_static_offset", "--hotdesk-one-shot-bufferize", "--print-decisions")
    assert "offset: [3]" in made
    assert "copied: different-layout, 4*(dim 0 of %m) bytes" in said


@pytest.mark.parametrize("name", ["", ' {hotdesk.shape = ["batch"]}'])
@pytest.mark.parametrize("results", ["out-params", "returned"])
def test_unannotated_sizes(name: str, results: str, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    """Sizes of results follow from those of arguments, with names and without."""
    text = _text("unannotated_sizes").replace("%x: tensor<?xf32>", f"%x: tensor<?xf32>{name}")
    (tmp_path / "in.mlir").write_text(text, encoding="utf-8")
    assert opt.main([str(tmp_path / "in.mlir"), f"--hotdesk-one-shot-bufferize=results={results}"]) == 0
    made = capsys.readouterr().out
    assert "opaque" not in made
    (tmp_path / "made.mlir").write_text(made, encoding="utf-8")
    taken = 20 if results == "returned" else 0
    assert f"no faults ({taken // 20} allocations, {taken} bytes" in _checked(
        tmp_path / "made.mlir", capsys, "--sizes", "5"
    )
