"""What a program on memrefs asks at run time to know what to free."""

from __future__ import annotations

from typing import Any

from torch_mlir import ir

_GIVEN = "test.given"
_FREEING = frozenset({"memref.dealloc", "memref.cast", "memref.reinterpret_cast", "scf.yield"})
_COPYING = frozenset({"memref.alloc", "memref.copy", "memref.cast", "memref.dim", "arith.constant", "scf.yield"})


def runtime_checks(module: ir.Module) -> int:
    """How many ops of a module ask who owns something:

    1. conditions in which there is nothing but deallocations;
    2. conditions that give a memref, or a copy of it;
    3. comparisons of an address;
    4. calls of the function in which MLIR compares many.

    Ops that were marked as given do not count.
    """
    found = 0

    def visit(view: Any) -> ir.WalkResult:
        nonlocal found
        found += _asks(view.operation)
        return ir.WalkResult.ADVANCE

    module.operation.walk(visit)
    return found


def helper_comparisons(module: ir.Module) -> int:
    """How many comparisons calls of MLIR's `@dealloc_helper` make beside the one that each call counts as: of each memref with
    those that are kept, and with those in front of it."""
    found = 0

    def visit(view: Any) -> ir.WalkResult:
        nonlocal found
        op = view.operation
        if op.name == "func.call" and op.attributes["callee"].value.startswith("dealloc_helper"):
            freed, kept = (value.owner.operation.operands[0].type.shape[0] for value in list(op.operands)[:2])
            found += max(freed * kept + freed * (freed - 1) // 2 - 1, 0)
        return ir.WalkResult.ADVANCE

    module.operation.walk(visit)
    return found


def mark_given(module: ir.Module) -> None:
    """Marks the conditions that a program has of its own."""

    def visit(view: Any) -> ir.WalkResult:
        if view.operation.name == "scf.if":
            view.operation.attributes[_GIVEN] = ir.UnitAttr.get(module.context)
        return ir.WalkResult.ADVANCE

    module.operation.walk(visit)


def _asks(op: Any) -> bool:
    if _GIVEN in op.attributes:
        return False
    if op.name == "scf.if":
        ways = [[each.operation.name for each in block.operations] for region in op.regions for block in region.blocks]
        return _only_copies(ways) if len(op.results) else _only_frees(ways)
    if op.name == "arith.cmpi":
        return any(_made_by(value, "memref.extract_aligned_pointer_as_index") for value in op.operands)
    return op.name == "func.call" and op.attributes["callee"].value.startswith("dealloc_helper")


def _only_frees(ways: list[list[str]]) -> bool:
    names = {name for way in ways for name in way}
    return "memref.dealloc" in names and names <= _FREEING


def _only_copies(ways: list[list[str]]) -> bool:
    (short, long) = sorted(ways, key=len)
    return short == ["scf.yield"] and "memref.copy" in long and set(long) <= _COPYING


def _made_by(value: Any, name: str) -> bool:
    return not isinstance(value.owner, ir.Block) and value.owner.operation.name == name
