"""Ops that only a user knows take part in deallocation: regions by their flow, allocations by their effects."""

from __future__ import annotations

import pytest
from torch_mlir import ir

from hotdesk.ir.context import entered, make_context
from hotdesk.models import registry
from hotdesk.models.effects import MemoryEffects
from hotdesk.models.facts import Facts
from hotdesk.models.flow import RESULTS, Flow
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
def models(monkeypatch: pytest.MonkeyPatch) -> None:
    registry.model_of("scf.for")  # so that the built-in models are there
    monkeypatch.setattr(registry, "_MODELS", dict(registry._MODELS))
    register("custom.region_if", OpModel(lambda op: Facts(), flow=region_if_flow))
    register("custom.region_if_yield", OpModel(lambda op: Facts()))
    reserves = MemoryEffects(allocates=frozenset({0}))
    register("custom.reserve", OpModel(lambda op: Facts(), effects=lambda op: reserves))
    gives_back = MemoryEffects(frees=frozenset({0}))
    register("custom.give_back", OpModel(lambda op: Facts(), effects=lambda op: gives_back))


def after(text: str, one: DeallocateAfterLastUse | None = None) -> list[str]:
    """The lines of the first function after deallocation, without what stands around them."""
    context = make_context()
    context.allow_unregistered_dialects = True
    module = ir.Module.parse(text, context)
    with entered(module.operation):
        (one or DeallocateAfterLastUse()).run(module)
        module.operation.verify()
    return [line.strip() for line in str(module).splitlines()]


def region_if(other: str, behind: str = "") -> str:
    return f"""func.func @f(%m : index, %n : index, %x: {M}) -> {M} {{
  %0 = memref.alloc(%m, %m) : {M}
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


NEW = f'%2 = memref.alloc(%m, %n) : {M}\n"custom.region_if_yield"(%2) : ({M}) -> ()'


def test_s2_6_inner_region_control_flow() -> None:
    lines = after(region_if(f'"custom.region_if_yield"(%else) : ({M}) -> ()'))
    assert not [line for line in lines if "dealloc" in line or "copy" in line]
    assert f"return %0 : {M}" in lines


def test_s2_6_inner_region_control_flow_div() -> None:
    lines = after(region_if(NEW))
    assert not [line for line in lines if "copy" in line or "i1" in line]
    (freed,) = [i for i, line in enumerate(lines) if "dealloc" in line]
    assert lines[freed] == f"memref.dealloc %alloc : {M}"
    assert "memref.alloc(" in lines[freed + 1]  # in the branch that does not pass it on, before it allocates
    assert f"return %0 : {M}" in lines


def test_s2_6_used_behind() -> None:
    """The first buffer is still wanted: the branch that passes it on keeps it, and a flag says so."""
    lines = after(region_if(NEW, f'"custom.use"(%0) : ({M}) -> ()'))
    assert [line for line in lines if "(memref<?x?xf32>, i1) -> ()" in line and "yield" in line]
    assert [line for line in lines if '"custom.region_if"' in line]


def test_s2_6_by_copies() -> None:
    lines = after(region_if(NEW), DeallocateAfterLastUse(mode="copies"))
    assert sum("memref.copy" in line for line in lines) == 3
    assert sum("memref.dealloc" in line for line in lines) == 4
    assert "i1" not in " ".join(lines)


def test_s2_11_allocation_by_its_effects() -> None:
    lines = after("""func.func @f() {
  %0 = "custom.reserve"() : () -> memref<4xf32>
  "custom.use"(%0) : (memref<4xf32>) -> ()
  "custom.other"() : () -> ()
  "custom.give_back"(%0) : (memref<4xf32>) -> ()
  return
}""")
    used = lines.index('"custom.use"(%0) : (memref<4xf32>) -> ()')
    assert lines[used + 1 : used + 4] == [
        "memref.dealloc %0 : memref<4xf32>",
        '"custom.other"() : () -> ()',
        "return",
    ]


def test_s2_11_an_op_without_a_model_allocates_nothing() -> None:
    lines = after("""func.func @f() {
  %0 = "custom.unknown"() : () -> memref<4xf32>
  "custom.use"(%0) : (memref<4xf32>) -> ()
  return
}""")
    assert not [line for line in lines if "dealloc" in line]
