"""The counter and the simulation count exactly; what Hotdesk copies on two models is known."""

from __future__ import annotations

from typing import Any

import pytest

from benchmarks.bufferization.bars import bars, growth
from benchmarks.bufferization.cases import Program, annotate, encoder, gpt2
from benchmarks.bufferization.count import Counts, count
from benchmarks.bufferization.generated import computed_insert_chain, shared_empty, straight_line
from benchmarks.bufferization.page import Page, cells
from benchmarks.bufferization.runs import Row, measure
from benchmarks.bufferization.simulate import peak_of
from benchmarks.bufferization.worker import parse_module, run
from hotdesk.pipeline import Log, bufferize, optimize_tensors

SAME, SWAPPED, ROWS = "(d0, d1) -> (d0, d1)", "(d0, d1) -> (d1, d0)", "(d0, d1) -> (d0)"


def generic(maps: tuple[str, str], source: str, target: str, body: str = "linalg.yield %a : f32") -> str:
    kinds = {"%x": "memref<4x4xf32>", "%y": "memref<4x4xf32>", "%r": "memref<4xf32>"}
    return (
        f"linalg.generic {{indexing_maps = [affine_map<{maps[0]}>, affine_map<{maps[1]}>], "
        f'iterator_types = ["parallel", "parallel"]}} ins({source} : {kinds[source]}) outs({target} : {kinds[target]}) {{\n'
        f"^bb0(%a: f32, %b: f32):\n{body}\n}}"
    )


def counted(*lines: str) -> Counts:
    arguments = "%x: memref<4x4xf32>, %y: memref<4x4xf32>, %r: memref<4xf32>, %c: f32"
    return count(parse_module(f"func.func @main({arguments}) {{\n" + "\n".join(lines) + "\nreturn\n}"))


@pytest.mark.parametrize(
    ("op", "copies"),
    [
        ("memref.copy %x, %y : memref<4x4xf32> to memref<4x4xf32>", 1),
        ("linalg.copy ins(%x : memref<4x4xf32>) outs(%y : memref<4x4xf32>)", 1),
        ("linalg.transpose ins(%x : memref<4x4xf32>) outs(%y : memref<4x4xf32>) permutation = [0, 1]", 1),
        ("linalg.transpose ins(%x : memref<4x4xf32>) outs(%y : memref<4x4xf32>) permutation = [1, 0]", 0),
        (generic((SAME, SAME), "%x", "%y"), 1),
        (generic((SWAPPED, SWAPPED), "%x", "%y"), 1),
        (generic((SWAPPED, SAME), "%x", "%y"), 0),
        (generic((ROWS, SAME), "%r", "%y"), 0),
        (generic((SAME, SAME), "%x", "%y", "linalg.yield %b : f32"), 0),
        (generic((SAME, SAME), "%x", "%y", "linalg.yield %c : f32"), 0),
        (generic((SAME, SAME), "%x", "%y", "%n = arith.negf %a : f32\nlinalg.yield %n : f32"), 0),
    ],
)
def test_only_plain_copies_count(op: str, copies: int) -> None:
    assert counted(op) == Counts(copies, 64 * copies, 0, 0)


def test_a_copy_into_a_part_counts_the_part_and_a_clone_allocates_too() -> None:
    found = counted(
        "%s = memref.subview %x[1, 0] [2, 4] [1, 1] : memref<4x4xf32> to memref<2x4xf32, strided<[4, 1], offset: 4>>",
        "%t = memref.subview %y[1, 0] [2, 4] [1, 1] : memref<4x4xf32> to memref<2x4xf32, strided<[4, 1], offset: 4>>",
        "memref.copy %s, %t : memref<2x4xf32, strided<[4, 1], offset: 4>> to memref<2x4xf32, strided<[4, 1], offset: 4>>",
        "%k = bufferization.clone %x : memref<4x4xf32> to memref<4x4xf32>",
        "%l = memref.alloc() : memref<4xi1>",
    )
    assert found == Counts(copies=2, copied=32 + 64, allocations=2, allocated=64 + 4)


DYNAMIC = """
func.func @main(%x: memref<?x4xf32> {hotdesk.shape = ["n", "4"]}) {
  %c0 = arith.constant 0 : index
  %n = memref.dim %x, %c0 : memref<?x4xf32>
  %a = memref.alloc(%n) : memref<?x4xf32>
  memref.copy %x, %a : memref<?x4xf32> to memref<?x4xf32>
  memref.dealloc %a : memref<?x4xf32>
  return
}"""


def test_dynamic_sizes_take_the_values_of_their_symbols() -> None:
    module = parse_module(DYNAMIC)
    assert (count(module, {"n": 3}), peak_of(module, {"n": 3})) == (Counts(1, 48, 1, 48), 48)
    with pytest.raises(ValueError, match="follows from"):
        count(module)


def peak(body: str, arguments: str = "") -> int:
    return peak_of(parse_module(f"func.func @main({arguments}) {{\n{body}\nreturn\n}}"))


def alloc(name: str, count: int) -> str:
    return f"%{name} = memref.alloc() : memref<{count}xi8>"


def free(name: str, count: int) -> str:
    return f"memref.dealloc %{name} : memref<{count}xi8>"


def test_the_peak_follows_program_order() -> None:
    body = [alloc("a", 10), alloc("b", 5), free("a", 10), alloc("c", 7), free("b", 5), alloc("d", 6), free("c", 7)]
    assert peak("\n".join(body)) == 15


def test_a_view_frees_its_buffer_and_freeing_twice_is_an_error() -> None:
    view = "%v = memref.cast %a : memref<10xi8> to memref<?xi8>\nmemref.dealloc %v : memref<?xi8>"
    assert peak("\n".join((alloc("a", 10), view, alloc("b", 9)))) == 10
    with pytest.raises(ValueError, match="held"):
        peak("\n".join((alloc("a", 10), view, free("a", 10))))


def test_arguments_are_free_but_results_and_prepared_weights_count() -> None:
    arguments = (
        '%x: memref<100xi8>, %w: memref<4xi8> {hotdesk.kind = "prepared"}, %r: memref<8xi8> {bufferize.result}, %c: i8'
    )
    touch = "linalg.fill ins(%c : i8) outs(%r : memref<8xi8>)"
    scratch = f"{alloc('a', 10)}\n{free('a', 10)}"
    assert peak(f"{scratch}\n{touch}", arguments) == 4 + 10
    assert peak(f"{touch}\n{scratch}", arguments) == 4 + 8 + 10


def test_a_loop_runs_once_and_an_if_holds_its_hungrier_branch() -> None:
    index = "%i = arith.constant 0 : index\n"
    inside = f"scf.for %k = %i to %i step %i {{\n{alloc('b', 7)}\n{free('b', 7)}\n}}"
    assert peak(f"{index}{alloc('a', 10)}\n{inside}\n{free('a', 10)}") == 17
    branches = f"scf.if %c {{\n{alloc('b', 7)}\n{free('b', 7)}\n{free('a', 10)}\n}} else {{\n{alloc('d', 9)}\n}}"
    assert peak(f"{alloc('a', 10)}\n{branches}\n{alloc('e', 30)}", "%c: i1") == 9 + 30


def test_a_loop_carries_buffers() -> None:
    carried = (
        f"%i = arith.constant 0 : index\n{alloc('a', 10)}\n"
        "%r = scf.for %k = %i to %i step %i iter_args(%t = %a) -> (memref<10xi8>) {\n"
        f"{alloc('n', 10)}\n{free('t', 10)}\nscf.yield %n : memref<10xi8>\n}}\n{free('r', 10)}\n{alloc('z', 15)}"
    )
    assert peak(carried) == 20


def test_both_sides_run_on_generated_programs() -> None:
    for text in (shared_empty(5), straight_line(20), computed_insert_chain(3)):
        for side in ("mlir", "one-shot"):
            counts, held = run(side, text).measure({})
            assert counts.copies <= 3
            assert held > 0
    assert run("mlir", shared_empty(5)).measure({}) == (Counts(0, 0, 0, 0), 64 * 64 * 4)


def test_a_measurement_says_what_is_refused_and_what_takes_too_long(tmp_path: Any) -> None:
    kind = "tensor<2xf32>"
    refused = f"func.func @main(%x: {kind}) -> {kind} {{\n%r = tosa.abs %x : ({kind}) -> {kind}\nreturn %r : {kind}\n}}"
    (row,) = measure("net", Program("as it is", refused, ("one-shot",)), 60, tmp_path)
    assert (row.counts, row.note[:5]) == (None, "HD302")
    (row,) = measure("net", Program("as it is", shared_empty(2), ("mlir",)), 0.0, tmp_path)
    assert cells(row)[-1] == "> 0 s"


def row(case: str, side: str, copies: int, peak_bytes: int, seconds: float, variant: str = "as generated") -> Row:
    return Row(case, variant, side, Counts(copies, 4 * copies, 1, 8), peak_bytes, ({"one-shot-bufferize": seconds},))


def test_bars_are_judged_by_the_rows() -> None:
    rows = (
        row("net", "mlir", 2, 100, 0.5, "unfused"),
        row("net", "mlir", 1, 90, 0.5, "fused"),
        row("net", "one-shot", 1, 80, 0.5, "unfused"),
        row("net", "pipeline", 2, 80, 0.5, "unfused"),
        row("1,000 straight-line ops", "one-shot", 0, 8, 0.1),
        row("100,000 straight-line ops", "one-shot", 0, 8, 11.0),
        Row("1,000 elementwise ops, one shared tensor.empty", "as generated", "one-shot", note="HD302 no"),
    )
    found = {bar.text.partition(":")[0].partition(" (")[0]: bar for bar in bars(rows)}
    assert found["never more copies than MLIR's best"].found == ("net: 2 against 1",)
    assert found["never more peak bytes than MLIR's best"].met
    assert found["1,000 elementwise ops, one shared tensor.empty"].met is False
    assert found["GPT-2, 48 layers, unfused"].met is None
    assert growth(rows, "one-shot", "1,000 straight-line ops", "100,000 straight-line ops", 100) == pytest.approx(1.1)
    page = Page(
        {"date": "", "machine": "", "load": 0.0, "versions": dict.fromkeys(("python", "torch-mlir", "torch"), "")},
        "",
        9,
        (),
        rows,
    )
    assert "**not met**: never more copies" in page.render()


def copies_of(model: Any, *inputs: Any) -> Counts:
    """What Hotdesk's own pipeline leaves on a model."""
    from hotdesk.frontends.torch.export import capture

    captured = capture(model, inputs)
    annotate(captured)
    optimize_tensors(captured.module, Log())
    bufferize(captured.module, Log())
    return count(captured.module)


@pytest.mark.slow
def test_copies_on_an_encoder_and_on_gpt2() -> None:
    import torch

    assert copies_of(encoder(4, 256, 4, 1024), torch.zeros(2, 64, 256)).copies == 0
    assert copies_of(gpt2(2, 64, 2, 512), torch.zeros(1, 16, dtype=torch.int64)).copies == 0
