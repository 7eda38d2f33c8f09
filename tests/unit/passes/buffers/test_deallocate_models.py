"""Ops that only a user knows take part in deallocation: regions by their flow, allocations by their effects.

What comes out also runs under the memory checker, which is told here what these ops mean.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from torch_mlir import ir

from hotdesk.checker import CheckReport, check, check_module
from hotdesk.checker.buffers import MemRef
from hotdesk.checker.dialects import DIALECTS
from hotdesk.checker.interpreter import Dialects, Frame, OpReader, Step, leave
from hotdesk.ir.context import entered, make_context
from hotdesk.models.facts import RESULTS, Facts, Flow, MemoryEffects
from hotdesk.models.model import OpModel
from hotdesk.models.registry import register
from hotdesk.passes.buffers.deallocate import DeallocateAfterLastUse

M = "memref<?x?xf32>"


def region_if_flow(op: ir.Operation) -> Flow:
    """Either `then` or `else` runs, with the operands; `join` gets what it yields, and yields the results."""
    operands, results = range(len(op.operands)), range(len(op.results))
    return Flow(
        entries=tuple((i, region, i) for region in (0, 1) for i in operands),
        exits=(
            *((region, i, 2, i) for region in (0, 1) for i in operands),
            *((2, i, RESULTS, i) for i in results),
        ),
        follows=frozenset({(0, 2), (1, 2)}),
    )


@pytest.fixture(autouse=True)
def models() -> None:
    register("custom.region_if", OpModel(lambda op: Facts(), flow=region_if_flow))
    register("custom.region_if_yield", OpModel(lambda op: Facts()))
    reserves = MemoryEffects(allocates=frozenset({0}))
    register("custom.reserve", OpModel(lambda op: Facts(), effects=lambda op: reserves))
    gives_back = MemoryEffects(frees=frozenset({0}))
    register("custom.give_back", OpModel(lambda op: Facts(), effects=lambda op: gives_back))


TAKEN = 0
"""Which of its first two regions `custom.region_if` runs."""


def _region_if(reader: OpReader) -> Step:
    ways, join = reader.regions()[:2], reader.regions()[2]

    def step(frame: Frame) -> None:
        given = ways[TAKEN].run(frame, [frame[slot] for slot in reader.operands])
        for slot, value in zip(reader.results, join.run(frame, given), strict=True):
            frame[slot] = value

    return step


def _reserve(reader: OpReader) -> Step:
    def step(frame: Frame) -> None:
        buffer = reader.interpreter.memory.allocate(16, "heap", "reserved", reader.at, 16)
        frame[reader.results[0]] = MemRef.of(buffer, [4], np.dtype(np.float32))

    return step


def _use(reader: OpReader) -> Step:
    def step(frame: Frame) -> None:
        view = frame[reader.operands[0]]
        assert isinstance(view, MemRef)
        reader.interpreter.memory.read(view, reader.at)

    return step


def _nothing(reader: OpReader) -> Step:
    return lambda frame: None


OPS: dict[str, Callable[[OpReader], Step]] = {
    "custom.region_if": _region_if,
    "custom.reserve": _reserve,
    "custom.use": _use,
    "custom.other": _nothing,
}


@pytest.fixture
def known(monkeypatch: pytest.MonkeyPatch) -> None:
    """The checker knows the ops of this file."""
    known = Dialects({**DIALECTS.ops, **OPS}, {**DIALECTS.terminators, "custom.region_if_yield": leave})
    monkeypatch.setattr(check, "DIALECTS", known)


def after(text: str, one: DeallocateAfterLastUse | None = None) -> list[str]:
    """The lines of the first function after deallocation, without what stands around them."""
    context = make_context()
    context.allow_unregistered_dialects = True
    module = ir.Module.parse(text, context)
    with entered(module.operation):
        (one or DeallocateAfterLastUse()).run(module)
        module.operation.verify()
    return [line.strip() for line in str(module).splitlines()]


def run(text: str, arguments: list[object]) -> CheckReport:
    context = make_context()
    context.allow_unregistered_dialects = True
    with context, ir.Location.unknown():
        return check_module(ir.Module.parse(text), "f", arguments)


def region_if(other: str, behind: str = "") -> str:
    return f"""func.func @f(%m : index, %n : index, %x: {M}) -> {M} {{
  %0 = memref.alloc(%m, %m) : {M}
  %one = arith.constant 1.0 : f32
  linalg.fill ins(%one : f32) outs(%0 : {M})
  %1 = "custom.region_if"(%0) ({{
  ^bb0(%then : {M}):
    "custom.region_if_yield"(%then) : ({M}) -> ()
  }}, {{
  ^bb0(%else : {M}):
    {other}
  }}, {{
  ^bb0(%join : {M}):
    "custom.region_if_yield"(%join) : ({M}) -> ()
  }}) : ({M}) -> {M}
  {behind}
  return %1 : {M}
}}"""


SAME = f'"custom.region_if_yield"(%else) : ({M}) -> ()'
NEW = f"""%2 = memref.alloc(%m, %n) : {M}
    %two = arith.constant 2.0 : f32
    linalg.fill ins(%two : f32) outs(%2 : {M})
    "custom.region_if_yield"(%2) : ({M}) -> ()"""
USED = f'"custom.use"(%0) : ({M}) -> ()'


def test_inner_region_control_flow() -> None:
    lines = after(region_if(SAME))
    assert not [line for line in lines if "dealloc" in line or "copy" in line]
    assert f"return %0 : {M}" in lines


def test_inner_region_control_flow_div() -> None:
    lines = after(region_if(NEW))
    assert not [line for line in lines if "copy" in line or "i1" in line]
    (freed,) = [i for i, line in enumerate(lines) if "dealloc" in line]
    assert lines[freed] == f"memref.dealloc %alloc : {M}"
    assert "memref.alloc(" in lines[freed + 1]  # in the branch that does not pass it on, before it allocates
    assert f"return %0 : {M}" in lines


def test_used_behind() -> None:
    """The first buffer is still wanted: the branch that passes it on keeps it, and a flag says so."""
    lines = after(region_if(NEW, USED))
    assert [line for line in lines if "(memref<?x?xf32>, i1) -> ()" in line and "yield" in line]
    assert [line for line in lines if '"custom.region_if"' in line]


def test_by_copies() -> None:
    lines = after(region_if(NEW), DeallocateAfterLastUse(mode="copies"))
    assert sum("memref.copy" in line for line in lines) == 3
    assert sum("memref.dealloc" in line for line in lines) == 4
    assert "i1" not in " ".join(lines)


@pytest.mark.usefixtures("known")
@pytest.mark.parametrize("mode", ["ownership", "copies"])
@pytest.mark.parametrize("way", [0, 1])
@pytest.mark.parametrize(("other", "behind", "made"), [(SAME, "", 1), (NEW, "", 2), (NEW, USED, 2)])
def test_regions_run(
    other: str, behind: str, made: float, way: int, mode: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """On each way all but what is returned is freed, once, and what is returned is what the way made."""
    monkeypatch.setitem(globals(), "TAKEN", way)
    text = "\n".join(after(region_if(other, behind), DeallocateAfterLastUse(mode=mode)))
    report = run(text, [np.int64(2), np.int64(2), np.zeros((2, 2), np.float32)])
    assert report.clean, str(report)
    np.testing.assert_array_equal(report.results[0].values, np.full((2, 2), made if way else 1, np.float32))


RESERVED = """func.func @f() {
  %0 = "custom.reserve"() : () -> memref<4xf32>
  "custom.use"(%0) : (memref<4xf32>) -> ()
  "custom.other"() : () -> ()
  "custom.give_back"(%0) : (memref<4xf32>) -> ()
  return
}"""


def test_allocation_by_its_effects() -> None:
    lines = after(RESERVED)
    used = lines.index('"custom.use"(%0) : (memref<4xf32>) -> ()')
    assert lines[used + 1 : used + 4] == [
        "memref.dealloc %0 : memref<4xf32>",
        '"custom.other"() : () -> ()',
        "return",
    ]


@pytest.mark.usefixtures("known")
@pytest.mark.parametrize("mode", ["ownership", "copies"])
def test_what_it_allocated_is_freed_once(mode: str) -> None:
    report = run("\n".join(after(RESERVED, DeallocateAfterLastUse(mode=mode))), [])
    assert report.clean, str(report)
    assert report.traffic.allocations == 1


def test_an_op_without_a_model_allocates_nothing() -> None:
    lines = after("""func.func @f() {
  %0 = "custom.unknown"() : () -> memref<4xf32>
  "custom.use"(%0) : (memref<4xf32>) -> ()
  return
}""")
    assert not [line for line in lines if "dealloc" in line]
