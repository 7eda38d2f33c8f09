"""When memory of the caller's is free, and what bufferization writes of results that lie in donated arguments."""

from __future__ import annotations

from dataclasses import dataclass

from torch_mlir import ir

from hotdesk.analysis.allocations.lending import callers_memory, windows
from hotdesk.analysis.memrefs.buffers import find_buffers
from hotdesk.ir.context import entered, make_context
from hotdesk.ir.walking import main_function
from hotdesk.passes.bufferize.one_shot import OneShotBufferize
from hotdesk.planning import Buffer, Placement, Plan, Pool, Problem, check, lower_bound, plan


@dataclass(frozen=True)
class Live:
    lower: int
    upper: int


def test_windows() -> None:
    uses = [Live(0, 3), Live(0, 0), Live(2, 9), Live(4, 9), Live(0, 9)]
    assert windows(uses, results=[3, 2], donated=[0, 1, 2], end=9) == {3: ((0, 4),), 0: ((3, 9),), 1: ((0, 9),)}
    assert windows(uses, results=[4], donated=[4], end=9) == {}
    assert windows([Live(0, 9)], results=[], donated=[0], end=9) == {}
    assert windows([Live(0, 9)], results=[0], donated=[], end=9) == {}


_RESULTS = """
#id = affine_map<(i) -> (i)>
func.func @main(%a: tensor<8xf32> {hotdesk.donated}, %b: tensor<8xf32>, %c: tensor<8xf32> {hotdesk.donated})
    -> (tensor<8xf32>, tensor<8xf32>, tensor<8xf32>) {
  %r = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]}
    ins(%b : tensor<8xf32>) outs(%a : tensor<8xf32>) {
  ^bb0(%x: f32, %y: f32):
    %s = arith.addf %x, %y : f32
    linalg.yield %s : f32
  } -> tensor<8xf32>
  return %b, %r, %r : tensor<8xf32>, tensor<8xf32>, tensor<8xf32>
}
"""


def test_results_in_donated_arguments() -> None:
    """The first of two results that are the same, and none that is not donated."""
    with make_context(), ir.Location.unknown():
        module = ir.Module.parse(_RESULTS)
    with entered(module.operation):
        OneShotBufferize(results_in_donated=True).run(module)
        main = main_function(module)
        text = str(main)
        assert "hotdesk.holds = array<i64: 1>" in text or "hotdesk.holds = [1]" in text
        given = callers_memory(main)
        places = {buffer.base: place for place, buffer in enumerate(find_buffers(main))}
        assert [places[a] for a in given.results] == [3, 0, 4]
        assert [places[a] for a in given.donated] == [0, 2]
        buffers = find_buffers(main)
        free = windows(buffers, [3, 0, 4], [0, 2], 9)
    assert set(free) == {2, *(place for place in (3, 4) if buffers[place].lower)}
    assert free[2] == ((0, 9),)


def test_without_the_option_results_are_copied_out() -> None:
    with make_context(), ir.Location.unknown():
        module = ir.Module.parse(_RESULTS)
    with entered(module.operation):
        OneShotBufferize().run(module)
        text = str(main_function(module))
    assert "hotdesk.holds" not in text
    assert text.count("bufferize.result") == 3


def test_a_plan_in_a_donated_input_before_its_last_read_is_a_violation() -> None:
    problem = Problem((Buffer(0, 2, 4, 64), Buffer(1, 3, 6, 64)), (Pool("x", 128, ((3, 8),)),))
    made = plan(problem)
    assert (made.arena, lower_bound(problem).bytes) == (64, 64)
    assert [p.pool for p in made.placements] == [None, "x"]
    assert not check(problem, made)
    early = Plan((Placement(0, "x", 0), Placement(1, "x", 64)), 0, made.bound, "by hand", made.no_reuse)
    assert [(fault.code, fault.buffer_ids) for fault in check(problem, early)] == [("window", (0,))]
