"""The pipeline: the same text every time, a check after each stage, and what the log keeps."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

import pytest
from torch_mlir import ir

from hotdesk import pipeline
from hotdesk.errors import InvalidIRError
from hotdesk.explain import Decision, Outcome, Reason
from hotdesk.passes.base import Pass
from hotdesk.passes.tensor.eliminate_empty import EliminateEmptyTensors
from hotdesk.passes.tensor.reorder import ReorderForPeak
from hotdesk.passes.textual import parse_pipeline
from hotdesk.pipeline import COMBINED, MEMORY, TENSORS, Log, bufferize, compiler, lower, optimize_tensors, remainder
from tests.unit.parsing import parse

PROGRAM = """
  #id = affine_map<(i, j) -> (i, j)>
  #row = affine_map<(i, j) -> (j)>
  func.func @main(%x: tensor<?x6xf32> {hotdesk.kind = "input", hotdesk.shape = ["s0", "6"]},
                  %w: tensor<4x6xf32> {hotdesk.kind = "weight"}, %b: tensor<4xf32> {hotdesk.kind = "weight"})
      -> (tensor<?x8xf32>, tensor<?x4xf32>) {
    %c0 = arith.constant 0 : index
    %zero = arith.constant 0.0 : f32
    %n = tensor.dim %x, %c0 : tensor<?x6xf32>
    %t = tensor.empty() : tensor<6x4xf32>
    %wt = linalg.transpose ins(%w : tensor<4x6xf32>) outs(%t : tensor<6x4xf32>) permutation = [1, 0]
    %e = tensor.empty(%n) : tensor<?x4xf32>
    %f = linalg.fill ins(%zero : f32) outs(%e : tensor<?x4xf32>) -> tensor<?x4xf32>
    %y = linalg.matmul ins(%x, %wt : tensor<?x6xf32>, tensor<6x4xf32>) outs(%f : tensor<?x4xf32>) -> tensor<?x4xf32>
    %d = tensor.empty() : tensor<4xf32>
    %s = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
        ins(%b : tensor<4xf32>) outs(%d : tensor<4xf32>) {
    ^bb0(%p: f32, %o: f32):
      %q = math.rsqrt %p : f32
      linalg.yield %q : f32
    } -> tensor<4xf32>
    %z = linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel"]}
        ins(%y, %s : tensor<?x4xf32>, tensor<4xf32>) outs(%e : tensor<?x4xf32>) {
    ^bb0(%p: f32, %r: f32, %o: f32):
      %q = arith.mulf %p, %r : f32
      linalg.yield %q : f32
    } -> tensor<?x4xf32>
    %c = tensor.concat dim(1) %z, %y : (tensor<?x4xf32>, tensor<?x4xf32>) -> tensor<?x8xf32>
    return %c, %z : tensor<?x8xf32>, tensor<?x4xf32>
  }"""


def compiled() -> Log:
    module = parse(PROGRAM)
    log = Log(keep_ir=True)
    optimize_tensors(module, log)
    bufferize(module, log)
    lowered = lower(module, log)
    log.ir["entry"] = lowered.main.text
    return log


def test_two_compilations_give_the_same_text_byte_for_byte() -> None:
    first, second = compiled(), compiled()
    assert first.ir == second.ir
    assert list(first.ir) == list(second.ir)
    assert first.decisions == second.decisions


def test_the_log_keeps_the_ir_after_each_pass_in_order() -> None:
    log = compiled()
    assert list(log.ir) == [
        "hotdesk-normalize-named-ops",
        "hotdesk-reshapes-as-views",
        "hotdesk-drop-identity-broadcasts",
        "hotdesk-recognize-attention",
        "hotdesk-fold-rearranged-operands",
        "hotdesk-guard-indices",
        "hotdesk-compute-positions",
        "hotdesk-guard-divisions",
        "hotdesk-decompose-concat-and-pad",
        "hotdesk-split-prepare",
        "hotdesk-widen-in-readers",
        "hotdesk-sink-concat",
        "hotdesk-widen-in-readers#2",
        "hotdesk-hoist-invariants",
        "hotdesk-decompose-concat-and-pad#2",
        "fuse",
        "hotdesk-check-before-loops",
        "hotdesk-copy-results-early",
        "hotdesk-sum-in-blocks",
        "hotdesk-rematerialize-cheap-ops",
        "hotdesk-eliminate-empty-tensors",
        "hotdesk-combine-in-rows",
        "hotdesk-choose-destinations",
        "hotdesk-one-shot-bufferize",
        "hotdesk-allocate-workspaces",
        "hotdesk-buffer-deallocation",
        "hotdesk-move-checks-first",
        "hotdesk-roll-back-writes",
        "kernels",
        "llvm",
        "entry",
    ]
    assert "hotdesk.contract" in log.ir["hotdesk-normalize-named-ops"]
    assert "func.func @prepare" in log.ir["hotdesk-split-prepare"]
    assert "tensor<" not in log.ir["hotdesk-one-shot-bufferize"]
    assert "memref.dealloc" in log.ir["hotdesk-buffer-deallocation"]


def test_the_log_keeps_seconds_and_decisions() -> None:
    log = compiled()
    assert list(log.timings) == [
        *("normalize", "prepare", "fuse", "destinations", "bufferize", "buffers", "kernels", "to-llvm")
    ]
    assert all(seconds >= 0 for seconds in log.timings.values())
    assert (Outcome.PREPARED, Reason.WEIGHT_ONLY) in {(d.outcome, d.reason) for d in log.decisions}


def test_ir_is_kept_only_when_asked_for() -> None:
    log = Log()
    optimize_tensors(parse(PROGRAM), log)
    assert log.ir == {}


def test_a_stage_that_runs_twice_adds_up() -> None:
    log = Log()
    for _ in range(2):
        with log.stage("work"):
            pass
    before = log.timings["work"]
    with pytest.raises(ValueError, match="mine"), log.stage("work"):
        raise ValueError("mine")
    assert log.timings["work"] > before


def test_stages_are_in_order() -> None:
    assert [stage.name for stage in TENSORS] == ["normalize", "prepare", "fuse", "destinations"]
    assert [stage.name for stage in MEMORY] == ["bufferize", "buffers"]


TEXT = (
    "builtin.module(canonicalize,cse,hotdesk-normalize-named-ops,hotdesk-erase-dead,hotdesk-reshapes-as-views,"
    "hotdesk-drop-identity-broadcasts,canonicalize,cse,hotdesk-recognize-attention,hotdesk-fold-rearranged-operands,"
    "hotdesk-guard-indices,hotdesk-compute-positions,hotdesk-guard-divisions,hotdesk-decompose-concat-and-pad{concat=false},canonicalize,cse,"
    "hotdesk-split-prepare,"
    "hotdesk-erase-dead,hotdesk-widen-in-readers,func.func(linalg-generalize-named-ops),func.func(linalg-fuse-elementwise-ops),canonicalize,cse,"
    "hotdesk-sink-concat,hotdesk-widen-in-readers,func.func(linalg-generalize-named-ops),func.func(linalg-fuse-elementwise-ops),canonicalize,cse,"
    "hotdesk-hoist-invariants,"
    "hotdesk-decompose-concat-and-pad,hotdesk-erase-dead,hotdesk-check-before-loops,hotdesk-copy-results-early,hotdesk-sum-in-blocks,hotdesk-rematerialize-cheap-ops,"
    "hotdesk-eliminate-empty-tensors,"
    "hotdesk-combine-in-rows,hotdesk-choose-destinations{reload-scalars=true results-in-donated=true overlapping-moves=true},"
    "hotdesk-one-shot-bufferize{results-in-donated=true allow-return-allocs-from-loops=false reload-scalars=true "
    "overlapping-moves=true},"
    "hotdesk-allocate-workspaces,hotdesk-buffer-deallocation{reload-scalars=true},"
    "hotdesk-move-checks-first,hotdesk-roll-back-writes)"
)


def test_the_pipeline_is_a_text_that_runs_to_the_same_ir() -> None:
    assert str(compiler()) == TEXT
    assert parse_pipeline(TEXT) == compiler()
    log = compiled()
    assert log.pipeline == compiler()
    module = parse(PROGRAM)
    decisions = parse_pipeline(TEXT).run(module)
    assert str(module) == log.ir["hotdesk-roll-back-writes"]
    assert list(decisions) == log.decisions


def test_changes_go_in_front_of_what_is_combined_in_rows() -> None:
    changes = (ReorderForPeak(), EliminateEmptyTensors())
    passes = compiler(changes).passes
    at = passes.index(COMBINED)
    assert passes[at - 2 : at] == changes
    assert (*passes[: at - 2], *passes[at:]) == compiler().passes
    assert remainder(changes).passes == passes[at - 2 :]


@dataclass(frozen=True, slots=True)
class Breaking(Pass):
    """Gives a function a type that its body contradicts."""

    name: ClassVar[str] = "breaking"

    def run(self, module: ir.Module) -> tuple[Decision, ...]:
        main = module.body.operations[0].operation
        main.attributes["function_type"] = ir.TypeAttr.get(ir.FunctionType.get([], []))
        return ()


@pytest.mark.parametrize(("stages", "number"), [("TENSORS", 0), ("TENSORS", 1), ("TENSORS", 3), ("MEMORY", 1)])
def test_a_module_that_does_not_verify_ends_the_stage(
    stages: str, number: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    module = parse(PROGRAM)
    if stages == "MEMORY":
        optimize_tensors(module, Log())
    known = getattr(pipeline, stages)
    broken = replace(known[number], passes=(*known[number].passes[:1], Breaking(), *known[number].passes[1:]))
    monkeypatch.setattr(pipeline, stages, (*known[:number], broken, *known[number + 1 :]))
    run = bufferize if stages == "MEMORY" else optimize_tensors
    with pytest.raises(InvalidIRError, match="the module does not verify after breaking"):
        run(module, Log())
