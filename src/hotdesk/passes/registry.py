"""Passes by their command-line names. A name leads to `module:Class`; only loading a pass imports it.

Other packages add theirs with an entry point of the group `hotdesk.passes`, in their `pyproject.toml`:

    [project.entry-points."hotdesk.passes"]
    my-pass = "my_package.my_module:MyPass"
"""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from functools import cache
from importlib import import_module
from importlib.metadata import entry_points
from typing import cast

from hotdesk.errors import OptionError, PassError
from hotdesk.passes.base import Pass

GROUP = "hotdesk.passes"
BUILT_IN: Mapping[str, str] = {
    "hotdesk-snapshot-tensors": "hotdesk.passes.tensor.snapshots:SnapshotTensors",
    "hotdesk-normalize-named-ops": "hotdesk.passes.tensor.named_ops:NormalizeNamedOps",
    "hotdesk-erase-dead": "hotdesk.passes.tensor.dead_code:EraseDead",
    "hotdesk-reshapes-as-views": "hotdesk.passes.tensor.reshapes:ReshapesAsViews",
    "hotdesk-drop-identity-broadcasts": "hotdesk.passes.tensor.identity_broadcasts:DropIdentityBroadcasts",
    "hotdesk-recognize-attention": "hotdesk.passes.tensor.attention:RecognizeAttention",
    "hotdesk-fold-rearranged-operands": "hotdesk.passes.tensor.rearranged_operands:FoldRearrangedOperands",
    "hotdesk-compute-positions": "hotdesk.passes.tensor.positions:ComputePositions",
    "hotdesk-guard-indices": "hotdesk.passes.tensor.guard_indices:GuardIndices",
    "hotdesk-guard-divisions": "hotdesk.passes.tensor.guard_divisions:GuardDivisions",
    "hotdesk-widen-in-readers": "hotdesk.passes.tensor.widenings:WidenInReaders",
    "hotdesk-hoist-invariants": "hotdesk.passes.tensor.hoist_invariants:HoistInvariants",
    "hotdesk-sink-concat": "hotdesk.passes.tensor.sink_concat:SinkConcat",
    "hotdesk-decompose-concat-and-pad": "hotdesk.passes.tensor.decompose:DecomposeConcatAndPad",
    "hotdesk-check-before-loops": "hotdesk.passes.tensor.checks_before_loops:CheckBeforeLoops",
    "hotdesk-copy-results-early": "hotdesk.passes.tensor.results_early:CopyResultsEarly",
    "hotdesk-eliminate-empty-tensors": "hotdesk.passes.tensor.eliminate_empty:EliminateEmptyTensors",
    "hotdesk-fuse-elementwise": "hotdesk.passes.tensor.fuse_elementwise:FuseElementwise",
    "hotdesk-split-prepare": "hotdesk.passes.tensor.prepare:SplitPrepare",
    "hotdesk-sum-in-blocks": "hotdesk.passes.tensor.block_sums:SumInBlocks",
    "hotdesk-rematerialize-cheap-ops": "hotdesk.passes.tensor.rematerialize:RematerializeCheapOps",
    "hotdesk-reorder-for-peak": "hotdesk.passes.tensor.reorder:ReorderForPeak",
    "hotdesk-split-rows": "hotdesk.passes.tensor.split_rows:SplitRows",
    "hotdesk-compute-late": "hotdesk.passes.tensor.compute_late:ComputeLate",
    "hotdesk-recompute-across": "hotdesk.passes.tensor.recompute_across:RecomputeAcross",
    "hotdesk-recompute-to-fit": "hotdesk.passes.tensor.recompute_to_fit:RecomputeToFit",
    "hotdesk-accumulate-in-place": "hotdesk.passes.tensor.accumulate:AccumulateInPlace",
    "hotdesk-combine-in-rows": "hotdesk.passes.tensor.combine_in_rows:CombineInRows",
    "hotdesk-choose-destinations": "hotdesk.passes.tensor.destinations:ChooseDestinations",
    "hotdesk-use-inplace-calls": "hotdesk.passes.tensor.inplace_calls:UseInPlaceCalls",
    "hotdesk-empty-tensor-to-alloc-tensor": "hotdesk.passes.tensor.alloc_tensors:EmptyTensorToAllocTensor",
    "hotdesk-annotate-in-place": "hotdesk.passes.bufferize.annotate:AnnotateInPlace",
    "hotdesk-one-shot-bufferize": "hotdesk.passes.bufferize.one_shot:OneShotBufferize",
    "hotdesk-decompose-types": "hotdesk.passes.bufferize.decompose_types:DecomposeTypes",
    "hotdesk-tensor-bufferize": "hotdesk.passes.bufferize.tensor_partial:TensorBufferize",
    "hotdesk-linalg-bufferize": "hotdesk.passes.bufferize.linalg_partial:LinalgBufferize",
    "hotdesk-arith-bufferize": "hotdesk.passes.bufferize.arith_partial:ArithBufferize",
    "hotdesk-scf-bufferize": "hotdesk.passes.bufferize.scf_partial:ScfBufferize",
    "hotdesk-func-bufferize": "hotdesk.passes.bufferize.func_partial:FuncBufferize",
    "hotdesk-finalizing-bufferize": "hotdesk.passes.bufferize.finalizing:FinalizingBufferize",
    "hotdesk-drop-equivalent-buffer-results": "hotdesk.passes.bufferize.equivalent_results:DropEquivalentBufferResults",
    "hotdesk-buffer-results-to-out-params": "hotdesk.passes.bufferize.out_params:BufferResultsToOutParams",
    "hotdesk-allocate-workspaces": "hotdesk.passes.buffers.workspaces:AllocateWorkspaces",
    "hotdesk-fuse-buffers": "hotdesk.passes.buffers.fuse_buffers:FuseBuffers",
    "hotdesk-buffer-hoisting": "hotdesk.passes.buffers.hoist:BufferHoisting",
    "hotdesk-buffer-loop-hoisting": "hotdesk.passes.buffers.loop_hoist:BufferLoopHoisting",
    "hotdesk-promote-buffers-to-stack": "hotdesk.passes.buffers.promote:PromoteBuffersToStack",
    "hotdesk-copy-removal": "hotdesk.passes.buffers.copy_removal:CopyRemoval",
    "hotdesk-displace-buffers": "hotdesk.passes.buffers.displace:DisplaceBuffers",
    "hotdesk-reuse-arguments": "hotdesk.passes.buffers.reuse_arguments:ReuseArguments",
    "hotdesk-share-buffers": "hotdesk.passes.buffers.share:ShareBuffers",
    "hotdesk-merge-allocations": "hotdesk.passes.buffers.merge:MergeAllocations",
    "hotdesk-privatize-buffers": "hotdesk.passes.buffers.privatize:PrivatizeBuffers",
    "hotdesk-buffer-deallocation": "hotdesk.passes.buffers.deallocate:DeallocateAfterLastUse",
    "hotdesk-move-checks-first": "hotdesk.passes.buffers.checks_first:MoveChecksFirst",
    "hotdesk-roll-back-writes": "hotdesk.passes.buffers.roll_back:RollBackWrites",
    "hotdesk-buffer-pipeline": "hotdesk.passes.buffers.pipeline:BufferPipeline",
}


def pass_names() -> tuple[str, ...]:
    """The names of all passes: Hotdesk's in the order of the pipeline, then those of other packages by name."""
    return tuple(_targets())


def load(name: str) -> type[Pass]:
    """Imports the pass of that name.

    Raises:
        OptionError: there is no such pass.
        PassError: its entry point does not lead to a pass.
    """
    target = target_of(name)
    module, _, attribute = target.partition(":")
    try:
        found: object = getattr(import_module(module), attribute)
    except (ImportError, AttributeError) as error:
        raise PassError(f"pass '{name}'", expected=f"a class at {target}", got=str(error)) from error
    if not (isinstance(found, type) and issubclass(found, Pass)):
        raise PassError(f"pass '{name}'", expected=f"a subclass of Pass at {target}", got=str(cast(object, found)))
    return found


def target_of(name: str) -> str:
    """Where the pass of that name is, as `module:Class`.

    Raises:
        OptionError: there is no such pass.
    """
    target = _targets().get(name)
    if target is None:
        raise OptionError(f"pass '{name}'", expected="the name of a pass", got="no such pass", hint=_hint(name))
    return target


@cache
def _targets() -> Mapping[str, str]:
    others = {point.name: point.value for point in entry_points(group=GROUP)}
    return {**BUILT_IN, **{name: others[name] for name in sorted(others) if name not in BUILT_IN}}


def _hint(name: str) -> str:
    close = difflib.get_close_matches(name, pass_names(), n=3, cutoff=0.5)
    return f"Did you mean {' or '.join(close)}?" if close else "`hotdesk-opt --list-passes` lists the names."
