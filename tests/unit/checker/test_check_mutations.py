"""Right programs into which a fault is planted: the checker notices each one that the program comes to."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from torch_mlir import ir

from hotdesk.checker import CheckReport, FaultKind, check_module
from hotdesk.ir.context import make_context
from hotdesk.ir.walking import defining_op, nested_ops, users
from hotdesk.models.memory_effects import copy_of
from hotdesk.passes.textual import parse_pipeline
from tests.running import wanted
from tests.running.examples import EXAMPLES, inputs_of

_RIGHT = Path(__file__).parents[2] / "data" / "checker" / "right"
HAND_WRITTEN = {path.stem: path.read_text(encoding="utf-8") for path in sorted(_RIGHT.glob("*.mlir"))}
OURS = (
    "branches_loop", "branches_swap_entered_with_one_that_stays", "call_goes_round_blocks", "call_grows", "if_reshapes_fresh",
    "loop_grows", "loop_reads_old_value", "loop_rotation", "loop_swap_and_write", "insert_of_slice_chain",
    "nested_read_after_inner", "while_swaps_forward",
)  # fmt: skip
"""Examples that are bufferized and deallocated by Hotdesk."""


def _hand_written(name: str) -> tuple[ir.Module, Callable[[ir.Module], CheckReport]]:
    text = HAND_WRITTEN[name]
    given = re.search(r"^// sizes: (.*)$", text, re.MULTILINE)
    sizes = [] if given is None else [int(number) for number in given[1].split(",")]
    return ir.Module.parse(text), lambda module: check_module(module, sizes=sizes)


def _ours(name: str) -> tuple[ir.Module, Callable[[ir.Module], CheckReport]]:
    text = EXAMPLES[name].read_text(encoding="utf-8")
    inputs = inputs_of(text)
    shapes = {number: want.values.shape for number, want in enumerate(wanted(text, inputs))}
    module = ir.Module.parse(text)
    parse_pipeline("builtin.module(hotdesk-one-shot-bufferize,hotdesk-buffer-deallocation)").run(module)
    return module, lambda made: check_module(made, "main", inputs, result_shapes=shapes, read_only=True)


def _deallocations(module: ir.Module) -> list[ir.Operation]:
    return [op for op in nested_ops(module.operation) if op.name == "memref.dealloc"]


def _drop(op: ir.Operation) -> None:
    op.erase()


def _twice(op: ir.Operation) -> None:
    _clone(op, op)


def _early(op: ir.Operation) -> None:
    """Frees right where the buffer comes from, if it is an allocation that something beside it uses; else frees twice."""
    owner = defining_op(op.operands[0])
    if owner is None or not any(_uses(user, owner) for user in users(owner.results[0])):
        return _twice(op)
    ops = [each.operation for each in owner.block.operations]
    _clone(op, ops[ops.index(owner) + 1])
    return op.erase()


def _uses(user: ir.Operation, owner: ir.Operation) -> bool:
    reads_or_writes = user.name.startswith("linalg.") or user.name in ("memref.copy", "memref.load", "memref.store")
    return owner.name == "memref.alloc" and user.block == owner.block and reads_or_writes


def _fail_there(op: ir.Operation) -> None:
    """Ends the program there, to find out whether it comes there at all."""
    with ir.InsertionPoint(op), op.location:
        kind = ir.IntegerType.get_signless(1)
        false = ir.Operation.create("arith.constant", results=[kind], attributes={"value": ir.IntegerAttr.get(kind, 0)})
        ir.Operation.create("cf.assert", operands=[false.results[0]], attributes={"msg": ir.StringAttr.get("there")})


def _clone(op: ir.Operation, before: ir.Operation) -> None:
    with ir.InsertionPoint(before), op.location:
        ir.Operation.create("memref.dealloc", operands=[op.operands[0]])


_MUTATIONS = {
    _drop: (FaultKind.LEAK,),
    _twice: (FaultKind.DOUBLE_FREE,),
    _early: (FaultKind.USE_AFTER_FREE, FaultKind.DOUBLE_FREE),
}


def _mutated(
    make: Callable[[str], tuple[ir.Module, Callable[[ir.Module], CheckReport]]],
    name: str,
    number: int,
    mutate: Callable[[ir.Operation], None],
) -> CheckReport:
    with make_context(), ir.Location.unknown():
        module, check = make(name)
        mutate(_deallocations(module)[number])
        module.operation.verify()
        return check(module)


def _count(make: Callable[[str], tuple[ir.Module, Callable[[ir.Module], CheckReport]]], name: str) -> int:
    with make_context(), ir.Location.unknown():
        module, check = make(name)
        report = check(module)
        assert report.clean, str(report)
        return len(_deallocations(module))


def _plant(make: Any, name: str) -> int:
    """Plants every fault in every deallocation that runs; how many."""
    planted = 0
    for number in range(_count(make, name)):
        there = _mutated(make, name, number, _fail_there)
        if FaultKind.ASSERTION not in {fault.kind for fault in there.faults}:
            continue
        for mutate, kinds in _MUTATIONS.items():
            report = _mutated(make, name, number, mutate)
            found = {fault.kind for fault in report.faults}
            assert found & set(kinds), f"{mutate.__name__} of deallocation {number}: {report}"
            planted += 1
    return planted


@pytest.mark.parametrize("name", [name for name, text in HAND_WRITTEN.items() if "memref.dealloc" in text])
def test_faults_planted_in_programs_by_hand(name: str) -> None:
    planted = _plant(_hand_written, name)
    assert planted or name == "branches_own_or_borrow"  # which frees or not, by a truth value that is drawn


@pytest.mark.parametrize("name", OURS)
def test_faults_planted_in_what_hotdesk_frees(name: str) -> None:
    _plant(_ours, name)


def test_hotdesk_frees_something_in_each_of_them() -> None:
    with make_context(), ir.Location.unknown():
        counts = {name: len(_deallocations(_ours(name)[0])) for name in OURS}
    assert all(counts.values()), counts


@pytest.mark.parametrize("name", OURS)
def test_a_copy_that_is_dropped_is_noticed(name: str) -> None:
    """By a fault, or by the results."""
    _drop_copies(name)


def test_copies_are_dropped_in_most_of_them() -> None:
    assert sum(_drop_copies(name) > 0 for name in OURS) >= len(OURS) // 2


def _drop_copies(name: str) -> int:
    """Drops every copy that runs, each by itself; how many."""
    with make_context(), ir.Location.unknown():
        module, check = _ours(name)
        right = check(module)
        dropped = 0
        for number in range(len(_copies(module))):
            stopped, check_stopped = _ours(name)
            _fail_there(_copies(stopped)[number])
            if FaultKind.ASSERTION not in {fault.kind for fault in check_stopped(stopped).faults}:
                continue
            other, check_other = _ours(name)
            _copies(other)[number].erase()
            report = check_other(other)
            same = [
                a.values.tobytes() == b.values.tobytes() for a, b in zip(right.results, report.results, strict=False)
            ]
            assert report.faults or not all(same), f"copy {number}"
            dropped += 1
        return dropped


def _copies(module: ir.Module) -> list[ir.Operation]:
    return [op for op in nested_ops(module.operation) if copy_of(op) is not None]
