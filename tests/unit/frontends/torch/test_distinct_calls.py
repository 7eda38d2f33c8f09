"""Distinct calls are decomposed once, to the graph that PyTorch makes of the whole program."""

# pyright: reportUnknownLambdaType=false, reportUnknownArgumentType=false, reportUnknownMemberType=false
# pyright: reportUnknownVariableType=false

from __future__ import annotations

from typing import Any, cast

import pytest
import torch

import hotdesk
from hotdesk.frontends.torch import distinct_calls
from hotdesk.frontends.torch.call_tracing import trace_call
from hotdesk.frontends.torch.decompositions.table import decomposition_table
from hotdesk.frontends.torch.training import trace_step
from tests.e2e.checking import Call


def exported(model: Any, *values: torch.Tensor, dynamic: Any = None) -> Any:
    module = model if isinstance(model, torch.nn.Module) else Call(model)
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
    traced: list[str] = []
    program = exported(layers(), torch.ones(2, 4, 8, 8))

    def counted(call: Any, op: Any, table: Any, mode: Any) -> Any:
        traced.append(str(op.overloadpacket).removeprefix("aten."))
        return trace_call(call, op, table, mode)

    def refused(*_: Any) -> Any:
        pytest.fail("a call was left to PyTorch")

    monkeypatch.setattr(distinct_calls, "trace_call", counted)
    monkeypatch.setattr(torch.export.ExportedProgram, "run_decompositions", refused)
    assert decomposed(program) is not None
    assert traced == ["conv2d", "batch_norm", "relu", "sigmoid", "linear", "gelu"]


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
    y = x.mul_(2) + 1
    x.add_(y)
    return x * 3


def _of_an_input_with_views(x: torch.Tensor) -> torch.Tensor:
    before = x[1:] * 10
    x.add_(1)
    return before + x[1:]


def _of_an_input_whose_view_is_read(x: torch.Tensor) -> torch.Tensor:
    seen = x[1:]
    x.add_(1)
    return seen * 10


def _of_an_input_that_is_returned(x: torch.Tensor) -> torch.Tensor:
    return x.add_(1)


def _of_a_part_of_an_input(x: torch.Tensor) -> torch.Tensor:
    x[0].add_(1)
    return x * 2


def _by_another_tensor(x: torch.Tensor) -> torch.Tensor:
    y = x.sin()
    x.copy_(y)
    y.add_(1)
    return x * y


def _by_what_is_returned(x: torch.Tensor) -> torch.Tensor:
    y = x.sin()
    x.copy_(y)
    return y


def _taken_then_changed(x: torch.Tensor) -> torch.Tensor:
    values, places = torch.max(x, 1)
    values.mul_(2)
    return values + places


def _behind_dropouts(x: torch.Tensor) -> torch.Tensor:
    y = torch.nn.functional.dropout(x + 1, 0.5, training=False, inplace=True)
    return torch.nn.functional.alpha_dropout(y.mul_(2), 0.5, training=False, inplace=True).add_(y)


def _statistics(x: torch.Tensor) -> torch.Tensor:
    mean, variance = torch.zeros(2), torch.ones(2)
    y = torch.nn.functional.batch_norm(x, mean, variance, training=True)
    return y + mean * variance


@pytest.mark.parametrize(
    ("function", "may"),
    [
        (_old_name, True),
        (_of_a_view, False),
        (_with_a_view, False),
        (_with_a_view_after, True),
        (_of_an_input, True),
        (_of_an_input_with_views, True),
        (_of_an_input_whose_view_is_read, False),
        (_of_an_input_that_is_returned, False),
        (_of_a_part_of_an_input, False),
        (_by_another_tensor, True),
        (_by_what_is_returned, False),
        (_taken_then_changed, True),
        (_statistics, True),
        (_behind_dropouts, False),  # in place, until they are passed through
    ],
)
def test_what_changes_memory_returns_new_contents_where_nothing_else_sees_it(function: Any, may: bool) -> None:
    values = torch.arange(6.0).reshape(3, 2)
    assert (decomposed(exported(function, values.clone())) is not None) == may
    changed, ours = values.clone(), values.clone()
    expected = function(changed)
    found = hotdesk.compile(Call(function), (values.clone(),))(ours)
    torch.testing.assert_close(found, expected, rtol=1e-6, atol=1e-6)
    torch.testing.assert_close(ours, changed, rtol=1e-6, atol=1e-6)


def _promoted(x: torch.Tensor, wide: torch.Tensor) -> tuple[torch.Tensor, ...]:
    changed = x * 1
    return changed + wide, changed.add_(wide)


def _compared(x: torch.Tensor, other: torch.Tensor) -> tuple[torch.Tensor, ...]:
    changed = x * 1
    return changed > other, changed.gt_(other)


@pytest.mark.parametrize("function", [_promoted, _compared])
def test_what_is_changed_keeps_its_type_beside_an_equal_call_that_makes_another(function: Any) -> None:
    values = torch.arange(4.0), torch.full((4,), 1.5, dtype=torch.float64)
    found = hotdesk.compile(Call(function), values)(*values)
    torch.testing.assert_close(found, function(*values))  # their types too


def _without_aliases(program: Any) -> Any:
    """The program, other names and copies of tensors left out: PyTorch makes those of changed ones late."""
    for node in list(program.graph.nodes):
        if node.target in (torch.ops.aten.alias.default, torch.ops.aten.copy.default):
            node.replace_all_uses_with(node.args[-1])
            program.graph.erase_node(node)
    return program


def _step(optimizer: Any, options: dict[str, Any]) -> Any:
    """A step of training of a net with batch norms, exported."""
    model = torch.nn.Sequential(
        *(torch.nn.Conv2d(3, 3, 3), torch.nn.BatchNorm2d(3), torch.nn.ReLU(inplace=True)),
        *(torch.nn.Conv2d(3, 3, 3), torch.nn.BatchNorm2d(3), torch.nn.ReLU()),
        *(torch.nn.Flatten(), torch.nn.Linear(48, 5), torch.nn.LayerNorm(5)),
    )
    made, example = optimizer(model.parameters(), **options), (torch.randn(2, 3, 8, 8), torch.tensor([1, 4]))
    rates = [torch.tensor(group["lr"], dtype=torch.float64) for group in made.param_groups]
    step = trace_step(model, torch.nn.CrossEntropyLoss(), made, example, rates)
    with torch.no_grad():
        return torch.export.export(step.model, (rates, *example))


@pytest.mark.parametrize(
    ("optimizer", "options"),
    [
        (torch.optim.SGD, {"lr": 0.1, "momentum": 0.9, "nesterov": True, "weight_decay": 0.1}),
        (torch.optim.AdamW, {"lr": 0.1, "amsgrad": True}),
        (torch.optim.RMSprop, {"lr": 0.1, "centered": True}),
        (torch.optim.Rprop, {"lr": 0.1}),
    ],
)
def test_a_step_of_training_is_the_one_that_pytorch_makes_of_the_whole(optimizer: Any, options: dict[str, Any]) -> None:
    program = _step(optimizer, options)
    found = decomposed(program)
    assert found is not None
    with torch.no_grad():
        whole = program.run_decompositions(decomposition_table(exported=True))
    assert [(spec.kind, spec.target) for spec in found.graph_signature.output_specs] == [
        (spec.kind, spec.target) for spec in whole.graph_signature.output_specs
    ]
    assert told(_without_aliases(found)) == told(_without_aliases(whole))


def test_tied_arguments_that_change_are_left_to_pytorch() -> None:
    class Tied(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            held = torch.ones(4)
            self.register_buffer("first", held[:2])
            self.register_buffer("second", held[2:])

        def forward(self, x: torch.Tensor) -> Any:
            cast(Any, self.first).add_(1)
            return x + cast(Any, self.second)

    assert decomposed(exported(Tied(), torch.ones(2))) is None


def _read_between(x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    y = x + 1
    before = y * 10
    y.mul_(2)
    return before, y * 10


def test_what_is_read_before_a_change_has_the_old_contents() -> None:
    values = torch.arange(4.0)
    assert decomposed(exported(_read_between, values)) is not None
    for found, expected in zip(
        hotdesk.compile(Call(_read_between), (values,))(values), _read_between(values), strict=True
    ):
        torch.testing.assert_close(found, expected, rtol=0, atol=0)


@pytest.mark.parametrize(
    "function",
    [
        lambda x: torch.as_strided(x + 1, (2, 2), (1, 2)),
        lambda x: torch.cond(x.sum() > 0, lambda y: y + 1, lambda y: y - 1, (x,)),
    ],
    ids=["strides of its own", "control flow"],
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


def test_an_op_that_makes_a_list_besides_is_decomposed_by_pytorch() -> None:
    x = torch.randn(5, 2)
    function = lambda x: torch.histogramdd(x, [3, 4])  # noqa: E731
    program = exported(function, x)
    assert any(isinstance(each, list) for node in program.graph.nodes for each in _values(node))
    assert decomposed(program) is None
    histogram, edges = hotdesk.compile(Call(function), (x,))(x)
    wanted, wanted_edges = function(x)
    torch.testing.assert_close((histogram, list(edges)), (wanted, list(wanted_edges)))


def _values(node: torch.fx.Node) -> list[Any]:
    value = node.meta.get("val")
    return list(value) if isinstance(value, (tuple, list)) else [value]
