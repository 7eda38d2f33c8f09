"""Fusion over memory looks at each op a bounded number of times, and still finds what is a few writers away."""

from __future__ import annotations

import pytest

from hotdesk.analysis.fusion.buffer_fusion import BufferFusions
from hotdesk.explain import Outcome
from hotdesk.ir.context import entered
from hotdesk.passes.buffers.fuse_buffers import FuseBuffers
from tests.unit.parsing import parse

M = "memref<8xf32>"
TRAITS = '{indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]}'


def step(source: str, target: str, op: str = "math.exp") -> str:
    return (
        f"linalg.generic {TRAITS} ins({source} : {M}) outs({target} : {M}) "
        f"{{ ^bb0(%u: f32, %v: f32): %e = {op} %u : f32 linalg.yield %e : f32 }}"
    )


def chain(count: int) -> str:
    """Steps that come in pairs: each second one reads what the one before it wrote, and writes the result."""
    lines = [f"func.func @f(%x: {M}, %o: {M} {{llvm.noalias}}) {{"]
    for i in range(count):
        lines += [
            f"%t{i} = memref.alloc() : {M}",
            step("%x", f"%t{i}"),
            step(f"%t{i}", "%o"),
            f"memref.dealloc %t{i} : {M}",
        ]
    return "\n".join([*lines, "return }"])


def test_pairs_looked_at_grow_with_the_program(monkeypatch: pytest.MonkeyPatch) -> None:
    looked = 0
    find = BufferFusions._find  # pyright: ignore[reportPrivateUsage]

    def counted(*arguments: object) -> object:
        nonlocal looked
        looked += 1
        return find(*arguments)  # pyright: ignore[reportArgumentType]

    monkeypatch.setattr(BufferFusions, "_find", counted)
    counts: list[int] = []
    for size in (20, 80):
        looked = 0
        module = parse(chain(size))
        with entered(module.operation):
            decisions = FuseBuffers().run(module)
        assert sum(decision.outcome is Outcome.FUSED for decision in decisions) >= size
        counts.append(looked)
    assert counts[1] <= 5 * counts[0]


def test_a_producer_behind_many_others_is_found() -> None:
    allocs = [f"%t{i} = memref.alloc() : {M}" for i in range(40)]
    writers = [step("%x", f"%t{i}") for i in range(40)]
    text = "\n".join(
        [f"func.func @f(%x: {M}, %o: {M} {{llvm.noalias}}) {{", *allocs, *writers, step("%t0", "%o"), "return }"]
    )
    module = parse(text)
    with entered(module.operation):
        decisions = FuseBuffers().run(module)
    assert [decision.outcome for decision in decisions] == [Outcome.FUSED]
