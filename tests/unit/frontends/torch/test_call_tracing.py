"""A call is traced to the graph that PyTorch's own tracing makes, or is left to PyTorch."""

# pyright: reportUnknownLambdaType=false, reportUnknownArgumentType=false, reportUnknownMemberType=false
# pyright: reportUnknownVariableType=false, reportUnknownParameterType=false

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch._subclasses import FakeTensorMode

from hotdesk.frontends.torch.call_tracing import trace_call
from hotdesk.frontends.torch.decompositions.table import decomposition_table


def _exported(model: torch.nn.Module, x: torch.Tensor) -> Any:
    with torch.no_grad():
        return torch.export.export(model, (x,))


def _calls(program: Any) -> list[torch.fx.Node]:
    return [node for node in program.graph.nodes if node.op == "call_function"]


def _text(nodes: list[torch.fx.Node], arguments: list[torch.fx.Node]) -> list[str]:
    """Ops with the types and strides of what they make, arguments and results by number."""
    numbers = {node: f"argument {number}" for number, node in enumerate(arguments)}
    lines: list[str] = []
    for node in nodes:
        given = torch.fx.map_arg((node.args, node.kwargs), lambda each: numbers[each])
        value = node.meta["val"]
        lines.append(f"{node.target} {given} {tuple(value.shape)} {value.dtype} {value.stride()}")
        numbers[node] = f"%{len(lines)}"
    return lines


@pytest.mark.parametrize(
    ("norm", "shape"),
    [
        (torch.nn.BatchNorm2d(4), (2, 4, 3, 5)),
        (torch.nn.BatchNorm2d(4, affine=False), (2, 4, 3, 5)),
        (torch.nn.BatchNorm1d(4), (3, 4)),
        (torch.nn.BatchNorm3d(4, eps=0.5), (1, 4, 2, 1, 3)),
        (torch.nn.BatchNorm2d(4).half(), (2, 4, 3, 5)),
        (torch.nn.BatchNorm2d(4).bfloat16(), (2, 4, 3, 5)),
        (torch.nn.BatchNorm2d(4).double(), (2, 4, 3, 5)),
    ],
    ids=["2-d", "without weights", "of rows", "3-d", "f16", "bf16", "f64"],
)
def test_a_batch_norm_is_traced_as_pytorch_does(norm: torch.nn.Module, shape: tuple[int, ...]) -> None:
    dtype = next(iter(norm.buffers())).dtype
    program = _exported(norm.eval(), torch.ones(shape, dtype=dtype))
    table = decomposition_table(exported=True)
    (call,) = _calls(program)
    with torch.no_grad():
        whole = program.run_decompositions(table)
        found = trace_call(call, table, call.meta["val"].fake_mode)
    assert found is not None
    arguments, made = found
    placeholders = {node.name: node for node in whole.graph.nodes if node.op == "placeholder"}
    inputs = [placeholders[each.name] for each in call.all_input_nodes]
    assert _text(_needed(made), arguments) == _text(_calls(whole), inputs)


def _needed(made: torch.fx.Node) -> list[torch.fx.Node]:
    """The ops that a result needs, in order."""
    found, waiting = set[torch.fx.Node](), [made]
    while waiting:
        node = waiting.pop()
        if node.op == "call_function" and node not in found:
            found.add(node)
            waiting.extend(node.all_input_nodes)
    return [node for node in made.graph.nodes if node in found]


def test_other_calls_are_left_to_pytorch() -> None:
    table = decomposition_table(exported=True)
    model = torch.nn.Sequential(torch.nn.Conv2d(4, 4, 3), torch.nn.BatchNorm2d(4))
    with torch.no_grad():
        program = torch.export.export(model.train(), (torch.ones(2, 4, 8, 8),))
    empty = _exported(torch.nn.BatchNorm2d(4).eval(), torch.ones(2, 4, 0, 5))
    calls = [*_calls(program), *_calls(empty)]
    assert len(calls) > 2
    for call in calls:
        assert trace_call(call, table, FakeTensorMode()) is None


@pytest.mark.parametrize(
    "decomposition",
    [lambda x, *_: (x.mul_(2),), lambda x, *_: (torch.frexp(x)[0],)],
    ids=["in place", "several results"],
)
def test_a_decomposition_of_another_kind_is_left_to_pytorch(decomposition: Any) -> None:
    program = _exported(torch.nn.BatchNorm2d(4).eval(), torch.ones(2, 4, 3, 5))
    (call,) = _calls(program)
    table = {torch.ops.aten._native_batch_norm_legit_no_training.default: decomposition}
    with torch.no_grad():
        assert trace_call(call, table, call.meta["val"].fake_mode) is None
