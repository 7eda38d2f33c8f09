"""Layouts of what control flow passes on: as precise as MLIR's, and the programs compute what they did."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from torch_mlir import ir
from torch_mlir.passmanager import PassManager

from hotdesk.ir.context import make_context
from hotdesk.ir.walking import main_function, nested_ops
from hotdesk.passes.textual import parse_pipeline
from tests.running import OURS, check
from tests.running.examples import EXAMPLES, inputs_of

FILE = Path(__file__).parents[3] / "filecheck" / "bufferize" / "one-shot-passed-layouts.mlir"
PROGRAMS = {
    re.findall(r"func\.func @(\w+)", piece)[0]: "// given: 1\n" + re.sub(r"func\.func @\w+", "func.func @main", piece)
    for piece in FILE.read_text(encoding="utf-8").split("// -----\n")
}
TILES = {name: EXAMPLES[name].read_text(encoding="utf-8") for name in ("loop_over_a_tile", "tiles_of_tiles")}
_THEIRS = (
    "func.func(convert-elementwise-to-linalg),one-shot-bufferize{bufferize-function-boundaries "
    "function-boundary-type-conversion=identity-layout-map allow-return-allocs-from-loops}"
)
_MAP = "hotdesk-one-shot-bufferize{function-boundary-type-conversion=fully-dynamic-layout-map}"


def _types_of_loops(module: ir.Module) -> list[str]:
    loops = [op for op in nested_ops(main_function(module)) if op.name in ("scf.for", "scf.while")]
    return [str(result.type) for loop in loops for result in loop.results]


@pytest.mark.parametrize("name", PROGRAMS)
def test_computes_the_same(name: str) -> None:
    check(PROGRAMS[name], inputs_of(PROGRAMS[name]), OURS)


@pytest.mark.parametrize("name", ["column", "rows", "reshaped", *TILES])
def test_loops_are_of_the_types_that_mlir_gives_them(name: str) -> None:
    with make_context(), ir.Location.unknown():
        module, other = (ir.Module.parse({**PROGRAMS, **TILES}[name]) for _ in range(2))
        parse_pipeline(OURS.pipeline).run(module)
        PassManager.parse(f"builtin.module({_THEIRS})").run(other.operation)
        types = _types_of_loops(module)
        assert any("strided" in each for each in types)
        assert types == _types_of_loops(other)


@pytest.mark.parametrize("name", ["column", "rows", "reshaped"])
def test_what_comes_in_any_layout_stays_in_any(name: str) -> None:
    with make_context(), ir.Location.unknown():
        module = ir.Module.parse(PROGRAMS[name])
        parse_pipeline(f"builtin.module({_MAP})").run(module)
        assert module.operation.verify()
        assert all("?], offset: ?" in each for each in _types_of_loops(module) if "memref" in each)
