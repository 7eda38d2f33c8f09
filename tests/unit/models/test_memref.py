"""Ops on memrefs that touch no memory."""

from __future__ import annotations

from hotdesk.models.memref import QUIET, asks_for_size


def test_sizes_of_tensors_and_memrefs_are_asked_for() -> None:
    assert all(map(asks_for_size, ("memref.dim", "memref.rank", "tensor.dim", "tensor.rank")))
    assert not any(map(asks_for_size, ("memref.load", "vector.dim", "dim", "tensor.empty")))
    assert {"memref.dim", "memref.rank"} < QUIET
