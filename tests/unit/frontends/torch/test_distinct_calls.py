"""Distinct calls are decomposed once, to the graph that PyTorch makes of the whole program."""

# pyright: reportUnknownLambdaType=false, reportUnknownArgumentType=false, reportUnknownMemberType=false
# pyright: reportUnknownVariableType=false

from __future__ import annotations

from collections.abc import Callable
from typing import Any, cast

import pytest
import torch

import hotdesk
from hotdesk.frontends.torch import distinct_calls
from hotdesk.frontends.torch.decompositions.table import decomposition_table


class Function(torch.nn.Module):
    def __init__(self, function: Callable[..., Any]) -> None:
        super().__init__()
        self.function = function

    def forward(self, *values: torch.Tensor) -> Any:
        return self.function(*values)


def exported(model: Any, *values: torch.Tensor, dynamic: Any = None) -> Any:
    module = model if isinstance(model, torch.nn.Module) else Function(model)
    with torch.no_grad():
        return torch.export.export(module.eval(), values, dynamic_shapes=dynamic)


def decomposed(program: Any) -> Any:
    with torch.no_grad():
        return distinct_calls.decomposed(program, decomposition_table(exported=True))


def told(program: Any) -> list[str]:
    """The nodes of a graph, by number, with the types of what they make and the lines they come from."""
    numbers: dict[torch.fx.Node, str] = {}
    lines: list[str] = []
    for node in program.graph.nodes:
        given: Any = torch.fx.map_arg((node.args, node.kwargs), lambda each: numbers[each])
        value = node.meta.get("val")
        kind = (tuple(value.shape), value.dtype, value.stride()) if isinstance(value, torch.Tensor) else None
        target = "" if node.op == "output" else str(node.target)
        lines.append(
            f"{node.op} {target} {given} {kind} {node.meta.get('stack_trace')} {node.meta.get('nn_module_stack')}"
        )
        numbers[node] = f"%{len(numbers)}"
    return lines


def layers() -> torch.nn.Module:
    def block() -> list[torch.nn.Module]:
        return [torch.nn.Conv2d(4, 4, 3, padding=1), torch.nn.BatchNorm2d(4), torch.nn.ReLU(inplace=True)]

    return torch.nn.Sequential(*block(), *block(), *block(), torch.nn.Sigmoid(), torch.nn.Linear(8, 8), torch.nn.GELU())


def parts(x: torch.Tensor) -> torch.Tensor:
    first, second = torch.split(torch.nn.functional.softmax(x, -1), 4, -1)
    least, place = torch.min(first * second, 0)
    return torch.cat([least, place + torch.arange(4)])


@pytest.mark.parametrize(
    ("model", "shape"),
    [
        (layers(), (2, 4, 8, 8)),
        (parts, (3, 8)),
        (lambda x: (x + 1).add_(x).relu_().mul_(2).sum(0), (3, 4)),
        (lambda x: (x * x, torch.dropout(x, 0.5, False), 3), (5,)),
    ],
    ids=["layers", "parts", "in place", "squares"],
)
def test_the_graph_is_the_one_that_pytorch_makes_of_the_whole_program(model: Any, shape: tuple[int, ...]) -> None:
    program = exported(model, torch.ones(shape))
    before = told(program)
    found = decomposed(program)
    assert found is not None
    with torch.no_grad():
        whole = program.run_decompositions(decomposition_table(exported=True))
    assert told(found) == told(whole)
    assert told(program) == before


def test_equal_calls_are_decomposed_once(monkeypatch: pytest.MonkeyPatch) -> None:
    taken: list[int] = []
    program = exported(layers(), torch.ones(2, 4, 8, 8))
    decompose = torch.export.ExportedProgram.run_decompositions

    def counted(self: Any, table: Any) -> Any:
        taken.append(sum(node.op == "call_function" for node in self.graph.nodes))
        return cast(Any, decompose)(self, table)

    monkeypatch.setattr(torch.export.ExportedProgram, "run_decompositions", counted)
    assert decomposed(program) is not None
    assert taken == [6]  # convolution, batch norm, relu, sigmoid, linear, gelu


def _old_name(x: torch.Tensor) -> torch.Tensor:
    y = x + 1
    z = y.mul_(2)
    z.add_(3)
    return y * z


def _of_a_view(x: torch.Tensor) -> torch.Tensor:
    y = x + 1
    y[0].mul_(2)
    return y


def _with_a_view(x: torch.Tensor) -> torch.Tensor:
    y = x + 1
    seen = y[1:]
    y.mul_(2)
    return seen


def _with_a_view_after(x: torch.Tensor) -> torch.Tensor:
    y = x + 1
    y.mul_(2).add_(1)
    return y[1:] + y.flatten(0)[0]


def _of_an_input(x: torch.Tensor) -> torch.Tensor:
    return x.mul_(2) + 1


@pytest.mark.parametrize(
    ("function", "may"),
    [(_old_name, True), (_of_a_view, False), (_with_a_view, False), (_with_a_view_after, True), (_of_an_input, False)],
)
def test_what_changes_memory_returns_new_contents_where_nothing_else_sees_it(function: Any, may: bool) -> None:
    values = torch.arange(6.0).reshape(3, 2)
    assert (decomposed(exported(function, values.clone())) is not None) == may
    expected = function(values.clone())
    found = hotdesk.compile(Function(function), (values.clone(),))(values.clone())
    torch.testing.assert_close(found, expected, rtol=0, atol=0)


def _read_between(x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    y = x + 1
    before = y * 10
    y.mul_(2)
    return before, y * 10


def test_what_is_read_before_a_change_has_the_old_contents() -> None:
    values = torch.arange(4.0)
    assert decomposed(exported(_read_between, values)) is not None
    for found, expected in zip(
        hotdesk.compile(Function(_read_between), (values,))(values), _read_between(values), strict=True
    ):
        torch.testing.assert_close(found, expected, rtol=0, atol=0)


@pytest.mark.parametrize(
    "function",
    [
        lambda x: torch.nn.functional.batch_norm(x, torch.zeros(4), torch.ones(4), training=True),
        lambda x: torch.as_strided(x + 1, (2, 2), (1, 2)),
        lambda x: torch.cond(x.sum() > 0, lambda y: y + 1, lambda y: y - 1, (x,)),
    ],
    ids=["statistics that change", "strides of its own", "control flow"],
)
def test_other_programs_are_left_to_pytorch(function: Any) -> None:
    assert decomposed(exported(function, torch.ones(4, 4))) is None


def _sums_so_far(x: torch.Tensor) -> Any:
    from torch._higher_order_ops.associative_scan import associative_scan

    return associative_scan(lambda a, b: a + b, x, 0, combine_mode="generic")


def test_tensors_without_memory_are_left_to_pytorch() -> None:
    assert decomposed(exported(_sums_so_far, torch.ones(4, 2))) is None


def test_open_sizes_are_left_to_pytorch() -> None:
    program = exported(torch.nn.Linear(4, 4), torch.ones(3, 4), dynamic=({0: torch.export.Dim("batch")},))
    assert decomposed(program) is None


def test_checks_of_what_is_known_are_left_out() -> None:
    program = exported(lambda x: x.to(torch.float64) * 2, torch.ones(3))
    assert "_assert_tensor_metadata" in str(program.graph)
    assert "_assert_tensor_metadata" not in str(decomposed(program).graph)
