"""Ops of a dialect that MLIR does not know, described by a user: analysed, bufferized and run."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import replace
from importlib.metadata import EntryPoint
from typing import Any

import numpy as np
import pytest
from torch_mlir import ir

from examples import own_op
from hotdesk.analysis.in_place.inplace import analyse_in_place
from hotdesk.analysis.memrefs.buffer_reading import read_buffers
from hotdesk.analysis.tensors.reading import read_function
from hotdesk.errors import PassError
from hotdesk.explain import Outcome, Reason
from hotdesk.ir.context import make_context
from hotdesk.ir.walking import defined_functions, nested_ops
from hotdesk.models import RESULTS, Facts, Flow, MemoryEffects, OpModel, model_of, register, registry
from hotdesk.models.memory_effects import effects_of
from hotdesk.program.records import ENTRY, EXIT
from hotdesk.program.symbolic import SymbolicSizes
from hotdesk.sizes.size import is_opaque
from tests.running import Executable

T = "tensor<8xf32>"
M = "memref<8xf32>"


def run(module: ir.Module, *inputs: Any) -> np.ndarray:
    with module.context, ir.Location.unknown():
        return Executable(module)(inputs, [(8,)]).results[0]


@pytest.mark.parametrize("condition", [False, True])
def test_an_op_and_a_region_op_are_bufferized_in_place_and_run(condition: bool) -> None:
    module, decisions = own_op.bufferized()
    text = str(module)
    assert "toy." not in text
    assert "tensor<" not in text
    assert "memref.alloc" not in text
    assert [d.outcome for d in decisions if d.subject == "result of toy.accumulate"] == [Outcome.IN_PLACE] * 2
    x, total = np.arange(8, dtype=np.float32), np.full(8, 100, np.float32)
    assert np.array_equal(run(module, np.bool_(condition), x, total), total + x * (1 + condition))


@pytest.mark.parametrize("condition", [False, True])
def test_what_one_region_overwrites_and_is_read_afterwards_is_copied(condition: bool) -> None:
    text = own_op.PROGRAM.replace(
        '"toy.accumulate"(%x, %twice)', '"toy.accumulate"(%sum, %twice)'
    )  # %sum is read behind the region op
    module, decisions = own_op.bufferized(text)
    copied = [d for d in decisions if d.outcome is Outcome.COPIED and d.subject == "result of toy.accumulate"]
    assert [d.reason for d in copied] == [Reason.READ_LATER]
    assert copied[0].read is not None
    assert copied[0].read.op == "toy.accumulate"
    x, total = np.arange(8, dtype=np.float32), np.full(8, 100, np.float32)
    assert np.array_equal(run(module, np.bool_(condition), x, total), total + total + x * condition)


def test_a_region_that_runs_again_reads_again() -> None:
    """`toy.repeat` runs its region over and over: what it reads from outside must outlive each iteration."""
    flow = Flow(entries=((0, 0, 0),), exits=((0, 0, 0, 0), (0, 0, RESULTS, 0)), follows=frozenset({(0, 0)}))
    register("toy.repeat", OpModel(own_op.nothing, None, flow=lambda op: flow))
    for name, model in own_op.MODELS.items():
        register(name, model)

    def decisions(into: str) -> list[bool]:
        context = make_context()
        context.allow_unregistered_dialects = True
        module = ir.Module.parse(
            f"""
            func.func @main(%x: {T} {{hotdesk.donated}}, %y: {T} {{hotdesk.donated}}) -> {T} {{
              %r = "toy.repeat"(%y) ({{
              ^bb0(%acc: {T}):
                %1 = "toy.accumulate"(%acc, {into}) : ({T}, {T}) -> {T}
                "toy.yield"(%1) : ({T}) -> ()
              }}) : ({T}) -> {T}
              return %r : {T}
            }}""",
            context,
        )
        found = analyse_in_place(read_function(defined_functions(module)[0]))
        return [decision.in_place for decision in found.decisions]

    assert decisions("%acc") == [True]
    assert decisions("%x") == [False]


@pytest.mark.parametrize(("yielded", "result", "stays"), [("%acc", "n", True), ("%y", "m", False)])
def test_sizes_follow_the_flow(yielded: str, result: str, stays: bool) -> None:
    """`toy.repeat` gives what its region yields in the end, and the next iteration as well; the first one gets `%x`."""
    flow = Flow(entries=((0, 0, 0),), exits=((0, 0, 0, 0), (0, 0, RESULTS, 0)), follows=frozenset({(0, 0)}))
    register("toy.repeat", OpModel(own_op.nothing, None, flow=lambda op: flow))
    context = make_context()
    context.allow_unregistered_dialects = True
    kind = "tensor<?xf32>"
    module = ir.Module.parse(
        f"""
        func.func @main(%x: {kind} {{hotdesk.shape = ["n"]}}, %y: {kind} {{hotdesk.shape = ["m"]}}) -> {kind} {{
          %r = "toy.repeat"(%x) ({{
          ^bb0(%acc: {kind}):
            "toy.yield"({yielded}) : ({kind}) -> ()
          }}) : ({kind}) -> {kind}
          return %r : {kind}
        }}""",
        context,
    )
    function = defined_functions(module)[0]
    repeat = function.regions[0].blocks[0].operations[0].operation
    sizes = SymbolicSizes(function)
    (inside,) = sizes.shape(repeat.regions[0].blocks[0].arguments[0])
    assert [str(size) for size in sizes.shape(repeat.results[0])] == [result]
    assert is_opaque(inside) is not stays


@pytest.mark.parametrize(("flow", "in_place"), [(Flow(skips=((0, 0),)), False), (Flow(runs=True), True)])
def test_what_a_result_is_when_no_region_runs_is_read_with_it(flow: Flow, in_place: bool) -> None:
    """`%m` is what `%x` was, unless a region runs: `toy.accumulate` writes over `%x`, and `%m` is read behind it."""
    register("toy.maybe", OpModel(own_op.nothing, None, flow=lambda op: replace(flow, exits=((0, 0, RESULTS, 0),))))
    for name, model in own_op.MODELS.items():
        register(name, model)
    context = make_context()
    context.allow_unregistered_dialects = True
    module = ir.Module.parse(
        f"""
        func.func @main(%x: {T} {{hotdesk.donated}}, %y: {T}) -> ({T}, {T}) {{
          %m = "toy.maybe"(%x) ({{
            "toy.yield"(%y) : ({T}) -> ()
          }}) : ({T}) -> {T}
          %1 = "toy.accumulate"(%y, %x) : ({T}, {T}) -> {T}
          return %m, %1 : {T}, {T}
        }}""",
        context,
    )
    found = analyse_in_place(read_function(defined_functions(module)[0]))
    assert [decision.in_place for decision in found.decisions] == [in_place]


@pytest.mark.parametrize("runs", [False, True])
def test_what_goes_past_a_loop(runs: bool) -> None:
    """Of a loop that says that it runs, a result is what an iteration yields: what went in may be overwritten behind it."""
    around = ((0, 0, 0, 0), (0, 0, RESULTS, 0))
    skips = () if runs else ((0, 0),)
    flow = Flow(entries=((0, 0, 0),), exits=around, skips=skips, runs=runs, follows=frozenset({(0, 0)}))
    assert flow.carried == ((0, 0),)
    register("toy.repeat", OpModel(own_op.nothing, None, flow=lambda op: flow))
    context = make_context()
    context.allow_unregistered_dialects = True
    module = ir.Module.parse(
        f"""
        func.func @main(%x: {M}, %y: {M}) -> {M} {{
          %r = "toy.repeat"(%x) ({{
          ^bb0(%acc: {M}):
            "toy.yield"(%y) : ({M}) -> ()
          }}) : ({M}) -> {M}
          return %r : {M}
        }}""",
        context,
    )
    (op,) = [op for op in read_buffers(defined_functions(module)[0]).ops if op.name == "toy.repeat"]
    assert any((edge.start, edge.end) == (ENTRY, EXIT) for edge in op.edges) is not runs


def test_effects_of_an_op_on_memrefs() -> None:
    stated = MemoryEffects(reads=frozenset({0}), writes=frozenset({1}))
    register("toy.copy", OpModel(own_op.nothing, effects=lambda op: stated))
    context = make_context()
    context.allow_unregistered_dialects = True
    module = ir.Module.parse(
        "func.func @f(%x: memref<4xf32>, %y: memref<4xf32>) {\n"
        ' "toy.copy"(%x, %y) : (memref<4xf32>, memref<4xf32>) -> ()\n'
        ' "toy.unknown"(%x, %y) : (memref<4xf32>, memref<4xf32>) -> ()\n return\n}',
        context,
    )
    copy, unknown = [op for op in nested_ops(module.operation) if op.name.startswith("toy.")]
    found = effects_of(copy)
    assert found is not None
    assert (found.reads, found.writes) == ((copy.operands[0],), (copy.operands[1],))
    assert effects_of(unknown) is None


# Entry points

SLEEP = {"toy.sleep": OpModel(lambda op: Facts())}


def sleepers() -> dict[str, OpModel]:
    return SLEEP


NOT_MODELS = {"toy.sleep": "zzz"}
KNOWN = dict.fromkeys(("linalg.exp", "linalg.*", "tensor.insert", "math.exp"), SLEEP["toy.sleep"])


def ends() -> None:
    sys.exit(3)


@pytest.fixture
def points(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[EntryPoint]]:
    """Entry points that are installed as long as the test runs."""
    found: list[EntryPoint] = []
    monkeypatch.setattr(registry, "entry_points", lambda group: [p for p in found if p.group == group])
    registry._built_in.cache_clear()
    registry._MODELS.clear()
    yield found
    registry._built_in.cache_clear()


@pytest.mark.parametrize("attribute", ["SLEEP", "sleepers"])
def test_models_of_another_package(points: list[EntryPoint], attribute: str) -> None:
    points.append(EntryPoint("toy", f"{__name__}:{attribute}", registry.GROUP))
    assert model_of("toy.sleep") is not None
    assert model_of("toy.wake") is None
    assert model_of("linalg.generic") is not None


def test_models_of_another_package_do_not_replace_those_of_hotdesk(points: list[EntryPoint]) -> None:
    own = {name: model_of(name) for name in KNOWN}
    registry._built_in.cache_clear()
    registry._MODELS.clear()
    points.append(EntryPoint("toy", f"{__name__}:KNOWN", registry.GROUP))
    assert all(model_of(name) is model for name, model in own.items())


def test_what_an_entry_point_raises_or_ends_with_is_told_with_its_package(points: list[EntryPoint]) -> None:
    points.append(EntryPoint("toy", f"{__name__}:ends", registry.GROUP))
    with pytest.raises(PassError, match=r"entry point 'toy' of .*got SystemExit: 3"):
        model_of("toy.sleep")


@pytest.mark.parametrize(
    ("value", "got"),
    [
        (f"{__name__}:NOT_MODELS", "got str by 'toy.sleep'"),
        (f"{__name__}:T", "got str"),
        (f"{__name__}:no_such_name", "got AttributeError"),
        ("no_such_package:MODELS", "got ModuleNotFoundError"),
    ],
)
def test_an_entry_point_without_models_is_named(points: list[EntryPoint], value: str, got: str) -> None:
    points.append(EntryPoint("toy", value, registry.GROUP))
    with pytest.raises(PassError, match=f"entry point 'toy' of {registry.GROUP}: expected models by name at .*{got}"):
        model_of("toy.sleep")
