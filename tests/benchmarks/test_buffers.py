"""Checks and peaks are counted exactly; what freeing takes in the loop programs, beside MLIR's, is known."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from benchmarks.bufferization.cases import encoder_case
from benchmarks.bufferization.simulate import activations_of, peak_of
from benchmarks.bufferization.worker import parse_module
from benchmarks.deallocation.bars import bars, theirs
from benchmarks.deallocation.checks import Asked, asked, copies, deallocations, mark_given
from benchmarks.deallocation.loops import chain, loops
from benchmarks.deallocation.page import COLUMNS, Page
from benchmarks.deallocation.programs import programs
from benchmarks.deallocation.rows import Bench, Figures, Program, Row
from benchmarks.deallocation.running import run_program
from benchmarks.deallocation.sides import ALONE, BEST, OURS, SIDES
from benchmarks.deallocation.starts import started
from benchmarks.deallocation.worker import figures_by_order, figures_by_running, free

M = "memref<16xf32>"
A = f"%a = memref.alloc() : {M}\nmemref.copy %x, %a : {M} to {M}"
OUT = f"memref.copy %a, %out : {M} to {M}"
FREE = f"memref.dealloc %a : {M}"
FREE_IF = f"scf.if %p {{\n{FREE}\n}}"
WORK_IF = f"scf.if %p {{\n{FREE}\nlinalg.exp ins(%x : {M}) outs(%out : {M})\n}}"
COMPARE = f"""%i = memref.extract_aligned_pointer_as_index %x : {M} -> index
%j = memref.extract_aligned_pointer_as_index %out : {M} -> index
%same = arith.cmpi eq, %i, %j : index"""
OWNED = f"""%r = scf.if %p -> {M} {{
scf.yield %a : {M}
}} else {{
%k = bufferization.clone %a : {M} to {M}
scf.yield %k : {M}
}}"""


def main(*lines: str) -> Any:
    signature = f"%n: index, %p: i1, %x: {M}, %out: {M}"
    return parse_module(f"func.func @main({signature}) {{\n" + "\n".join(lines) + "\nreturn\n}")


@pytest.mark.parametrize(
    ("line", "found"),
    [(FREE_IF, Asked(1, 0)), (OWNED, Asked(1, 0)), (WORK_IF, Asked(0, 0)), (COMPARE, Asked(0, 1)), (OUT, Asked(0, 0))],
)
def test_what_is_asked(line: str, found: Asked) -> None:
    assert asked(main(A, line)) == found


def test_conditions_of_the_program_are_none_of_freeing() -> None:
    module = main(A, FREE_IF)
    mark_given(module)
    assert asked(module) == Asked(0, 0)
    assert (deallocations(module), copies(module)) == (1, 1)


def test_a_run_counts_checks_each_time() -> None:
    loop = "%c0 = arith.constant 0 : index\n%c1 = arith.constant 1 : index\nscf.for %k = %c0 to %n step %c1 {"
    ran = run_program(
        main(
            loop,
            A,
            COMPARE,
            FREE_IF.replace("%p", "%other").replace(
                "scf.if", "%true = arith.constant true\n%other = arith.ori %p, %true : i1\nscf.if"
            ),
            "}",
        ),
        (3,),
    )
    assert (ran.checks, ran.allocations, ran.peak, ran.faults) == (6, 3, 64, ())


@pytest.mark.parametrize(
    ("lines", "fault"), [((A,), "never freed"), ((A, FREE, FREE), "freed before"), ((A, FREE, OUT), "use after free")]
)
def test_a_run_finds_faults(lines: tuple[str, ...], fault: str) -> None:
    (found,) = run_program(main(*lines)).faults
    assert fault in found


def test_lists_of_addresses_are_no_buffers() -> None:
    lists = "%l = memref.alloc() : memref<9xindex>\n%f = memref.alloc() : memref<9xi1>"
    freed = "memref.dealloc %l : memref<9xindex>\nmemref.dealloc %f : memref<9xi1>"
    ran = run_program(main(lists, A, freed, FREE))
    assert (ran.peak, ran.allocations) == (64, 1)


def test_activations_leave_out_what_is_prepared() -> None:
    arguments = '%w: memref<100xi8> {hotdesk.kind = "prepared"}'
    body = "%a = memref.alloc() : memref<10xi8>\nmemref.dealloc %a : memref<10xi8>\nreturn"
    module = parse_module(f"func.func @main({arguments}) {{\n{body}\n}}")
    assert (peak_of(module), activations_of(module)) == (110, 10)


def figures(text: str, side: str, rounds: int = 7) -> Figures:
    module, _, _ = free(side, text)
    return figures_by_running(module, (rounds,), text)


FACTS = {
    # peak, checks in the text and checks in a run, with MLIR's liveness pass and with Hotdesk's deallocation
    "swap of two buffers": ((128, 8, 87), (128, 0, 0)),
    "swap with an argument": ((64, 7, 83), (64, 0, 0)),
    "swap, one new": ((320, 8, 31), (192, 0, 0)),
    "new each time, from an allocation": ((192, 4, 10), (128, 0, 0)),
    "new each time, passed on twice": ((192, 4, 10), (128, 0, 0)),
    "new sometimes, from an argument": ((128, 5, 29), (128, 2, 5)),
    "new by a call": ((192, 5, 17), (128, 0, 0)),
}


@pytest.mark.parametrize("name", FACTS)
def test_loops_beside_mlir(name: str) -> None:
    found = tuple(figures(loops()[name], side) for side in ("mlir, liveness", ALONE))
    assert tuple((each.peak, each.checks, each.executed) for each in found) == FACTS[name]


COPYING = """func.func @main(%n: index) -> memref<4xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c9 = arith.constant 9 : index
  %a = memref.alloc() : memref<4xf32>
  %b = memref.alloc() : memref<4xf32>
  scf.for %i = %c0 to %n step %c1 {
    memref.copy %a, %b : memref<4xf32> to memref<4xf32>
  }
  %c = arith.cmpi sgt, %n, %c9 : index
  scf.if %c {
    memref.copy %b, %a : memref<4xf32> to memref<4xf32>
  }
  return %b : memref<4xf32>
}"""


@pytest.mark.parametrize(("rounds", "copied"), [(0, 0), (7, 7), (10, 11)])
def test_copies_are_counted_where_a_run_makes_them(rounds: int, copied: int) -> None:
    found = figures(COPYING, ALONE, rounds)
    assert (found.copies, found.copied) == (2, copied)


@pytest.mark.parametrize("side", [BEST, *(pytest.param(side, marks=pytest.mark.slow) for side in OURS if side != BEST)])
def test_loops_are_freed_on_every_path(side: str) -> None:
    for text in loops().values():
        for rounds in (0, 3):
            found = figures(text, side, rounds)
            assert (found.faults, found.differs) == ((), False)


def test_swap_needs_no_check_and_two_deallocations() -> None:
    found = figures(loops()["swap of two buffers"], ALONE)
    assert (found.deallocations, found.checks, found.executed) == (2, 0, 0)
    assert figures(loops()["swap of two buffers"], "mlir").deallocations == 16


def test_exclusive_branches_share() -> None:
    text = loops()["temporaries in branches"]
    mlir, alone, best = (figures(text, side) for side in ("mlir, all", ALONE, BEST))
    assert (mlir.peak, alone.peak, best.peak) == (128, 128, 0)  # at best they are computed where they are copied to
    assert (best.faults, best.differs) == ((), False)


def test_a_chain_needs_two_buffers_or_one() -> None:
    peaks = {
        side: figures_by_order(free(side, chain(20))[0], {}).peak for side in ("mlir", "mlir, liveness", ALONE, BEST)
    }
    assert peaks == {"mlir": 20 * 64, "mlir, liveness": 128, ALONE: 128, BEST: 128}


def test_ops_of_hotdesk_are_called() -> None:
    kind = "tensor<8x8xf32>"
    text = f"""func.func @main(%x: {kind} {{hotdesk.kind = "input"}}, %y: {kind} {{hotdesk.kind = "input"}}) -> {kind} {{
      %zero = arith.constant 0.0 : f32
      %e = tensor.empty() : {kind}
      %f = linalg.fill ins(%zero : f32) outs(%e : {kind}) -> {kind}
      %p = linalg.matmul ins(%x, %y : {kind}, {kind}) outs(%f : {kind}) -> {kind}
      %q = linalg.matmul ins(%p, %y : {kind}, {kind}) outs(%f : {kind}) -> {kind}
      return %q : {kind}
    }}"""
    made = started("own", text)
    assert "hotdesk.contract" not in made
    peaks = {side: figures_by_order(free(side, made)[0], {}).peak for side in ("mlir, liveness", ALONE)}
    assert peaks == {"mlir, liveness": 512, ALONE: 512}


def test_a_child_measures_and_says_what_is_refused(tmp_path: Any) -> None:
    bench = Bench(tmp_path, 60)
    try:
        rows = bench.measure(
            Program("net", "loops", loops()["swap by branches"], ("given",), ("mlir", ALONE), sizes=(3,))
        )
    finally:
        bench.stop()
    assert "structured control-flow" in rows[0].note
    assert rows[1].figures == figures(loops()["swap by branches"], ALONE, 3)
    assert len(rows[1].seconds) == len(rows[1].walls) == 3


def test_random_programs_and_many_rounds() -> None:
    drawn = list(programs(("random",)))
    assert len({program.text for program in drawn}) == len(drawn) > 20
    assert {program.sizes[-3:] for program in drawn if program.sizes} == {(0, 1, 2)}
    found = {program.group: program.sizes for program in programs(("loops", "endurance"), "swap of two")}
    assert found == {"loops": (7,), "endurance": (100_000,)}


PLAIN = Figures(peak=100, activations=100, deallocations=1, conditions=1, comparisons=1, copies=1, executed=5)


def rows_of(program: str, **ours: Any) -> list[Row]:
    made = [Row(program, "loops", side, PLAIN, (0.5,), (0.6,)) for side in SIDES]
    changed = replace(PLAIN, **ours)
    return [replace(row, figures=changed) if row.side in (ALONE, BEST) else row for row in made]


def test_bars_are_judged_by_the_rows() -> None:
    rows = [
        *rows_of("net", peak=101, conditions=2),
        *rows_of("swap of two buffers", conditions=0, comparisons=0, executed=0),
        Row("4,000 allocations", "allocations", ALONE, PLAIN, (1.2, 0.9, 0.8)),
        Row("resnet50, Hotdesk's buffers", "models", ALONE, replace(PLAIN, activations=8 << 20)),
        Row("demo, MLIR's buffers", "models", BEST, replace(PLAIN, conditions=0, comparisons=0, executed=0)),
    ]
    found = {bar.text.partition(" (")[0]: bar for bar in bars(rows)}
    assert found["hotdesk: never more peak bytes than MLIR's best"].found == ("net: 101 against 100 (mlir)",)
    assert found["hotdesk: never more checks in the text than MLIR's best"].met is False
    assert found["hotdesk: never more checks in a run than MLIR's best"].met
    assert found["a loop that swaps two buffers frees without any check"].met
    assert len(found["models are freed without any check"].found) == 1
    assert found["4,000 allocations are freed in less than 1 s of processor time"].met
    assert found["resnet50, as the compiler bufferizes it: at most 7.9 MiB of activations"].met is False
    assert found["gpt2, 64 tokens, as the compiler bufferizes it: at most 12.5 MiB of activations"].met is None


def test_mlir_is_judged_by_the_side_that_holds_least_without_a_fault() -> None:
    rows = [
        Row("net", "loops", "mlir", PLAIN),
        Row("net", "loops", "mlir, all", replace(PLAIN, peak=90, faults=("leak",))),
        Row("net", "loops", "mlir, stack", replace(PLAIN, peak=95, executed=9)),
        Row("net", "loops", "mlir, hoisted", replace(PLAIN, peak=95)),
    ]
    best = theirs(rows, "net", "loops")
    assert best is not None
    assert best.side == "mlir, hoisted"


def test_the_page_has_a_line_for_each_program() -> None:
    around = {"date": "", "machine": "", "load": 0.0, "versions": dict.fromkeys(("python", "torch-mlir", "torch"), "")}
    refused = Row("net", "loops", "mlir", note='MLIR pipeline `x` failed: error: "-":1:1: only loops note: y')
    page = Page(around, "", (*rows_of("swap of two buffers"), refused)).render()
    (line,) = (line for line in page.splitlines() if line.startswith("| swap of two"))
    assert line.count("|") == len(COLUMNS) + 1
    assert "- only loops: net (mlir)" in page


@pytest.mark.parametrize("name", ["demo", "mlp"])
def test_models_are_freed_without_any_check(name: str) -> None:
    for program in programs(("models",), name):
        made = started(program.starts[0], program.text)
        mlirs, *ours = (figures_by_order(free(side, made)[0], {**program.symbols}) for side in ("mlir", ALONE, BEST))
        assert [(each.checks, each.executed) for each in ours] == [(0, 0), (0, 0)]
        assert all(each.deallocations <= mlirs.deallocations for each in ours)


@pytest.mark.slow
def test_activations_of_an_encoder() -> None:
    made = {program.variant: program for program in encoder_case().programs()}
    own = figures_by_order(free(ALONE, started("own", made["unfused"].text))[0], {})
    other, ours = (
        figures_by_order(free(side, started("model", made["fused"].text))[0], {}) for side in ("mlir, liveness", ALONE)
    )
    assert (own.activations, own.copies) == (917_504, 0)
    assert (other.peak, ours.peak) == (6_558_208, 6_558_208)
