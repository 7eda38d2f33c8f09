"""What the passes make of programs in `tests/filecheck` runs as the programs themselves do.

Each program on memrefs is run under the memory checker, before and after each pipeline of its file, with several sizes and all
settings of its flags: the arguments hold the same in the end, the same is returned, and no fault comes in. After deallocation
nothing leaks, and whoever calls owns what is returned. Programs on tensors mean the same to the reference before and after.
"""

from __future__ import annotations

import numpy as np
import pytest
from torch_mlir import ir

from hotdesk.checker import CheckReport
from hotdesk.errors import ExecutionError
from hotdesk.passes.textual import parse_pipeline
from tests.guarded import POISONS
from tests.harness import assert_same
from tests.running.filecheck import DIRECTORY, Piece, draws, functions, meant, outcome, parsed, pieces, runnable

FILES = {path.stem: path for path in sorted((DIRECTORY / "buffers").glob("*.mlir"))}
NOT_RUN = (
    *(
        f"buffer-deallocation-{of}"
        for of in ("refused", "asynchronous", "pointers", "transfers", "reasons", "shown", "unknown")
    ),
    *("buffer-hoisting-reasons", "copy-removal-reasons", "displace-buffers-reasons", "merge-allocations-reasons"),
    *("promote-buffers-to-stack-reasons", "reuse-arguments-reasons", "privatize-buffers-reasons"),
    *("own-allocations", "unsized-elements"),
)
"""Programs that the pass does not take; the checker takes no pointers, no unknown ops, and no ops that run on beside the program,
as some of those do that show reasons; one of these takes more memory than there is."""
FREES = "hotdesk-buffer-deallocation"
TENSORS = {
    path.stem: path
    for name in ("compute-late", "fuse-elementwise*", "use-inplace-calls*")
    for path in sorted((DIRECTORY / "tensor").glob(f"{name}.mlir"))
}
UNRANKED, ENDLESS, ON_DEVICE = ("dynamic", "unranked"), ("unknown", "itself"), ("device",)
ON_MEMORY = ("on_memory", "behind_a_store")
OPAQUE = ("crossed", "loop_that_calls", "behind_unknown")
UNDEFINED = ("beyond_rank",)
"""Functions that cannot be run: the checker and the reference know no values without a rank, and no device; some call themselves
and never come back; of those on tensors, some are on memory or call what has no body; and one is undefined for all arguments."""


def _same(before: CheckReport, after: CheckReport) -> None:
    assert len(before.results) == len(after.results)
    for number, (a, b) in enumerate(zip(before.results, after.results, strict=True)):
        assert b.written[a.written].all(), f"result {number} is not written where it was"
        np.testing.assert_array_equal(a.values[a.written], b.values[a.written], f"result {number}")


def _check(piece: Piece, name: str, pipeline: str, before: ir.Module, after: ir.Module) -> int:
    """How many runs were compared."""
    compared = 0
    frees = FREES in pipeline
    for number, values in enumerate(draws(piece.text, before, name)):
        poison = POISONS[number % 2]
        try:
            was = outcome(before, name, values, deallocated=not frees, poison=poison)
        except ExecutionError:  # a loop that its flag keeps running
            continue
        if was.stopped:
            continue
        compared += 1
        known = {fault.kind for fault in was.faults}
        now = outcome(after, name, values, deallocated=frees or "memref.dealloc" in piece.text, poison=poison)
        new = [fault for fault in now.faults if fault.kind not in known]
        assert not new, f"@{name}, {pipeline}\n{now}\n{after}"
        _same(was, now)
    return compared


@pytest.mark.parametrize("file", [name for name in FILES if name not in NOT_RUN])
def test_the_same_before_and_after(file: str) -> None:
    for piece in pieces(FILES[file]):
        before = parsed(runnable(piece.text))
        for pipeline in piece.pipelines:
            module = parsed(piece.text)
            parse_pipeline(pipeline).run(module)
            after = parsed(runnable(str(module)))
            for name in functions(before):
                if name not in (*UNRANKED, *ON_DEVICE, *UNDEFINED):
                    assert _check(piece, name, pipeline, before, after), f"@{name} was never run"


@pytest.mark.parametrize("file", TENSORS)
def test_tensors_mean_the_same_before_and_after(file: str) -> None:
    for piece in pieces(TENSORS[file]):
        before = parsed(piece.text)
        for pipeline in (each for each in piece.pipelines if "bufferize" not in each):
            module = parsed(piece.text)
            parse_pipeline(pipeline).run(module)
            for name in functions(before):
                if name in (*UNRANKED, *ENDLESS, *ON_MEMORY, *OPAQUE):
                    continue
                for values in draws(piece.text, before, name):
                    wanted, got = meant(before, name, values), meant(module, name, values)
                    assert len(wanted) == len(got)
                    for number, (a, b) in enumerate(zip(wanted, got, strict=True)):
                        assert b.defined[a.defined].all(), f"@{name}: result {number} is not defined where it was"
                        assert_same(b.values, a, f"@{name}: result {number}")
