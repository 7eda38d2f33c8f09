"""Deallocation of random programs in which buffers change hands: they compute what they did and leak nothing, and no more is left
to run time than by MLIR's `buffer-deallocation-pipeline`, which canonicalizes first: so both are given the program canonicalized.

What is counted is `tests.running.ownership`'s; a call of MLIR's `@dealloc_helper` counts as the comparisons that it makes.
"""

from __future__ import annotations

from random import Random

import pytest
from torch_mlir import ir

from hotdesk.ir.context import entered, make_context, run_mlir_passes
from hotdesk.passes.buffers.deallocate import DeallocateAfterLastUse
from tests.running.apart import run_apart
from tests.running.ownership import helper_comparisons, mark_given, runtime_checks
from tests.structured.ownership_transfers import transferring_program
from tests.unit.passes.buffers.test_deallocate import AT_END, COPIES, LENT, OWNERSHIP, check_runs

_FREED = "builtin.module(buffer-deallocation-pipeline,convert-bufferization-to-memref,canonicalize,cse)"
_TIDY = "canonicalize,cse"


def asked(text: str) -> tuple[int, int | None]:
    """What ours and MLIR's deallocation ask on a program; None where MLIR's does not take it."""
    with make_context(), ir.Location.unknown():
        module = ir.Module.parse(text)
        run_mlir_passes(module, f"{_TIDY},canonicalize")
        mark_given(module)
        took, theirs = run_apart(str(module), _FREED)
        with entered(module.operation):
            DeallocateAfterLastUse().run(module)
            module.operation.verify()
            run_mlir_passes(module, _TIDY)
        ours = runtime_checks(module)
        if not took:
            return ours, None
        freed = ir.Module.parse(theirs)
        return ours, runtime_checks(freed) + helper_comparisons(freed)


def check_never_more(seeds: range, *, blocks: bool) -> int:
    """Fails if ours asks more on any of these programs; how much less it asks on all of them."""
    less = 0
    for seed in seeds:
        ours, theirs = asked(transferring_program(Random(seed), blocks=blocks))
        if theirs is not None:
            assert ours <= theirs, f"seed {seed}: {ours} checks, MLIR's {theirs}"
            less += theirs - ours
    return less


def test_never_more_is_asked() -> None:
    assert check_never_more(range(16), blocks=False) > 0


@pytest.mark.slow
@pytest.mark.parametrize("blocks", [False, True])
def test_never_more_is_asked_on_many(blocks: bool) -> None:
    assert check_never_more(range(600), blocks=blocks) > 0


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("blocks", [False, True])
def test_runs(seed: int, blocks: bool) -> None:
    check_runs(transferring_program(Random(seed), blocks=blocks), OWNERSHIP)


@pytest.mark.slow
@pytest.mark.parametrize("one", [OWNERSHIP, AT_END, LENT], ids=["ownership", "end", "lent"])
@pytest.mark.parametrize("blocks", [False, True])
def test_many_run(blocks: bool, one: DeallocateAfterLastUse) -> None:
    for seed in range(200):
        check_runs(transferring_program(Random(seed), blocks=blocks), one)


@pytest.mark.slow
def test_copies_ask_nothing() -> None:
    for seed in range(200):
        with make_context(), ir.Location.unknown():
            module = ir.Module.parse(transferring_program(Random(seed)))
            mark_given(module)
            with entered(module.operation):
                COPIES.run(module)
                module.operation.verify()
            assert runtime_checks(module) == 0, seed
