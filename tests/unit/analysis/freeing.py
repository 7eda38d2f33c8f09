"""Checks that buffers are freed as they must be, by walking a function once. Nothing of Hotdesk is used."""

from __future__ import annotations

from torch_mlir import ir

_VIEWS = ("subview", "expand_shape", "collapse_shape", "cast", "reinterpret_cast", "view")


def check_freeing(function: ir.Operation) -> None:
    """Fails unless every allocation is freed exactly once or returned, after the last op that uses any alias of it, and
    nothing else is freed. A scalar that was loaded from a buffer keeps it in use: it may be loaded again by what uses it."""
    base: dict[ir.Value, frozenset[ir.Value]] = {a: frozenset([a]) for a in function.regions[0].blocks[0].arguments}
    allocated: set[ir.Value] = set()
    freed: set[ir.Value] = set()
    for op in (each.operation for each in function.regions[0].blocks[0].operations):
        dialect, _, name = op.name.partition(".")
        touched = frozenset(b for value in _used(op) for b in base.get(value, ()))
        if op.name == "memref.dealloc":
            (only,) = touched
            assert only in allocated, f"{op} frees what was not allocated here"
            assert only not in freed, f"{op} frees twice"
            freed.add(only)
            continue
        assert not (touched & freed) or (dialect == "memref" and name in (*_VIEWS, "dim")), f"{op} uses what was freed"
        if op.name == "func.return":
            returned = touched & allocated
            assert allocated - freed == returned, f"{len(allocated - freed - returned)} allocations are never freed"
            assert not returned & freed
        for result in op.results:
            base[result] = touched
            if op.name == "memref.alloc":
                base[result] = frozenset([result])
                allocated.add(result)


def _used(op: ir.Operation) -> list[ir.Value]:
    found = list(op.operands)
    for region in op.regions:
        for block in region.blocks:
            for nested in block.operations:
                found += _used(nested.operation)
    return found
