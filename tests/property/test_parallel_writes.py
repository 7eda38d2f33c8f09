"""What a parallel loop writes, by the text of what bufferization makes: memory of one execution, or a part that moves with it.

The memory checker, which sees what is touched instead, finds no race either.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, assume, given, settings
from torch_mlir import ir

from hotdesk.checker import FaultKind, Settings, check_module
from hotdesk.ir.context import make_context
from hotdesk.ir.walking import defining_op, nested_ops
from hotdesk.passes.textual import parse_pipeline
from tests.running import OURS, wanted
from tests.running.examples import EXAMPLES, inputs_of
from tests.structured import Program, structured_programs

_PARALLEL = ("scf.forall", "scf.parallel")
_QUIET = [HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.large_base_example, HealthCheck.filter_too_much]
_VIEWS = ("memref.subview", "memref.cast", "memref.expand_shape", "memref.collapse_shape", "memref.reinterpret_cast")

RACE = """
func.func @main(%a: memref<8xf32>) {
  %s = arith.constant 7.0 : f32
  %c0 = arith.constant 0 : index
  %b = memref.alloc() : memref<4xf32>
  scf.forall (%i) in (8) {
    memref.store %s, %b[%c0] : memref<4xf32>
  }
  return
}
"""


def _is_inside(value: Any, loop: Any) -> bool:
    owner = value.owner
    block = owner if isinstance(owner, ir.Block) else owner.operation.block
    while True:
        parent = block.owner.operation
        if parent == loop:
            return True
        if parent.name in ("func.func", "builtin.module"):
            return False
        block = parent.block


def _written(op: Any) -> list[Any]:
    if op.name in ("memref.store", "memref.copy"):
        return [op.operands[1]]
    if op.name.startswith("linalg.") and "operandSegmentSizes" in op.attributes:
        return list(op.operands)[sum(list(op.attributes["operandSegmentSizes"])[:-1]) :]
    return [op.operands[-1]] if op.name == "linalg.fill" else []


def _sources(value: Any) -> list[Any]:
    """The memrefs that a value may be."""
    op = defining_op(value)
    if op is None:
        parent = value.owner.owner.operation
        if parent.name == "scf.for":
            return [parent.operands[3 + value.arg_number - 1]]
        if parent.name == "scf.while":
            first = parent.regions[0].blocks[0]
            if value.owner == first:
                return [parent.operands[value.arg_number]]
            return [list(first.operations)[-1].operation.operands[1 + value.arg_number]]
        return []
    if op.name == "arith.select":
        return list(op.operands)[1:]
    if op.name in _VIEWS:
        return [op.operands[0]]
    if op.name == "scf.for":
        return [op.operands[3 + list(op.results).index(value)]]
    if op.name.startswith("scf."):
        number = list(op.results).index(value) + (op.name == "scf.while")
        ends = [list(block.operations)[-1].operation for region in op.regions for block in region.blocks]
        return [
            end.operands[number] for end in ends if end.name in ("scf.yield", "scf.condition") and not end.successors
        ]
    return []


def _is_own(value: Any, loop: Any, seen: frozenset[Any] = frozenset()) -> bool:
    if value in seen:
        return True
    op = defining_op(value)
    if op is not None and op.name == "memref.subview" and any(_is_inside(v, loop) for v in list(op.operands)[1:]):
        return True
    sources = _sources(value)
    if not sources:
        return _is_inside(value, loop)
    return all(_is_own(source, loop, seen | {value}) for source in sources)


def _is_one_thread(loop: Any) -> bool:
    """Whether numbers say that a loop has one iteration, which races with nobody."""
    if loop.name != "scf.forall":
        return False
    bounds = [list(loop.attributes[f"static{name}"]) for name in ("LowerBound", "UpperBound", "Step")]
    dynamic = ir.ShapedType.get_dynamic_stride_or_offset()
    known = all(dynamic not in part for part in bounds)
    return known and all(len(range(*bound)) == 1 for bound in zip(*bounds, strict=True))


def _races(module: Any) -> list[str]:
    found: list[str] = []
    for loop in nested_ops(module.operation):
        if loop.name in _PARALLEL and not _is_one_thread(loop):
            for op in nested_ops(loop):
                found.extend(str(op) for value in _written(op) if not _is_own(value, loop))
    return found


def _bufferized(text: str) -> Any:
    with make_context(), ir.Location.unknown():
        module = ir.Module.parse(text)
    parse_pipeline(OURS.pipeline).run(module)
    return module


def _check(text: str, inputs: list[Any]) -> None:
    """Fails if a parallel loop of the bufferized program writes what another iteration may write, by text or by run."""
    module = _bufferized(text)
    assert not _races(module), text
    shapes = {number: want.values.shape for number, want in enumerate(wanted(text, inputs))}
    carried = Settings(deallocated=False, undefined="carry")
    report = check_module(module, "main", inputs, result_shapes=shapes, read_only=True, settings=carried)
    assert report.clean, f"{report}\n{module}"


def test_a_race_is_seen() -> None:
    with make_context(), ir.Location.unknown():
        module = ir.Module.parse(RACE)
        assert len(_races(module)) == 1
        report = check_module(module, "main", [np.zeros(8, np.float32)], settings=Settings(deallocated=False))
    assert [fault.kind for fault in report.faults] == [FaultKind.RACE]


@pytest.mark.parametrize(
    "name", [name for name in EXAMPLES if "scf.forall" in EXAMPLES[name].read_text(encoding="utf-8")]
)
def test_examples_do_not_race(name: str) -> None:
    text = EXAMPLES[name].read_text(encoding="utf-8")
    _check(text, inputs_of(text))


@settings(max_examples=150, derandomize=True, deadline=None, database=None, suppress_health_check=_QUIET)
@given(structured_programs())
def test_programs_do_not_race(program: Program) -> None:
    assume("scf.forall" in program.text or "scf.parallel" in program.text)
    _check(program.text, program.inputs(0))
