"""A call is traced to the graph that PyTorch's own tracing makes, or is left to PyTorch."""

# pyright: reportUnknownLambdaType=false, reportUnknownArgumentType=false, reportUnknownMemberType=false
# pyright: reportUnknownVariableType=false, reportUnknownParameterType=false

from __future__ import annotations

from collections.abc import Callable
from typing import Any, cast

import pytest
import torch
from torch.utils import _pytree as pytree

from hotdesk.frontends.torch import distinct_calls
from hotdesk.frontends.torch.call_tracing import TRACED, trace_call
from hotdesk.frontends.torch.decompositions.table import asked_before_autograd, decomposition_table
from tests.e2e.checking import Call


def _exported(model: torch.nn.Module, *values: torch.Tensor) -> Any:
    with torch.no_grad():
        return torch.export.export(model, values)


def _calls(program: Any) -> list[torch.fx.Node]:
    return [node for node in program.graph.nodes if node.op == "call_function"]


def _text(nodes: list[torch.fx.Node], arguments: list[torch.fx.Node]) -> list[str]:
    """Ops with the types and strides of what they make, arguments and results by number."""
    numbers = {node: f"argument {number}" for number, node in enumerate(arguments)}
    lines: list[str] = []
    for node in nodes:
        given = torch.fx.map_arg((node.args, node.kwargs), lambda each: numbers[each])
        values = [each for each in pytree.tree_leaves(node.meta["val"]) if isinstance(each, torch.Tensor)]
        kinds = [f"{tuple(value.shape)} {value.dtype} {value.stride()}" for value in values]
        lines.append(f"{node.target} {given} {' and '.join(kinds)}")
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
        found = trace_call(call, call.target, table, call.meta["val"].fake_mode)
    assert found is not None
    (made,), arguments = found.results, list(found.arguments)
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


def test_calls_of_other_kinds_are_left_to_pytorch() -> None:
    table = decomposition_table(exported=True)
    with torch.no_grad():
        program = torch.export.export(torch.nn.BatchNorm2d(4).train(), (torch.ones(2, 4, 8, 8),))
    random = _exported(Call(torch.bernoulli), torch.ones(3))
    empty = _exported(torch.nn.BatchNorm2d(4).eval(), torch.ones(2, 4, 0, 5))
    left = [
        call for each in (program, random, empty) for call in _calls(each) if call.target != torch.ops.aten.add_.Tensor
    ]
    assert {str(call.target) for call in left} == {"aten.batch_norm.default", "aten.bernoulli.default"}
    for call in left:
        with torch.no_grad():
            assert trace_call(call, call.target, table, call.meta["val"].fake_mode) is None


@pytest.mark.parametrize(
    "decomposition",
    [lambda x, *_, **__: x.mul_(2), lambda *_, **__: 3.0],
    ids=["in place", "to a number"],
)
def test_a_decomposition_of_another_kind_is_left_to_pytorch(decomposition: Any) -> None:
    program = _exported(torch.nn.ReLU(), torch.ones(3))
    (call,) = _calls(program)
    table = {torch.ops.aten.relu.default: decomposition}
    with torch.no_grad():
        assert trace_call(call, call.target, table, call.meta["val"].fake_mode) is None


F: Any = torch.nn.functional


def _elementwise(x: torch.Tensor, _rows: torch.Tensor) -> list[Any]:
    functions: list[Callable[..., Any]] = [
        torch.abs,
        torch.neg,
        torch.sgn,
        F.relu,
        F.relu6,
        torch.square,
        torch.logical_not,
        torch.zeros_like,
        torch.ones_like,
        torch.clone,
        lambda x: x.clamp(0, 2),
        lambda x: x.clamp_min(1),
        lambda x: F.hardtanh(x, -1, 1),
        lambda x: torch.full_like(x, 3),
        lambda x: x.masked_fill(x > 1, 2),
    ]
    two: list[Callable[..., Any]] = [
        torch.add,
        torch.mul,
        torch.maximum,
        torch.minimum,
        torch.eq,
        torch.ne,
        torch.lt,
        torch.le,
        torch.gt,
        torch.ge,
        torch.div,
        torch.floor_divide,
        torch.remainder,
        torch.sub,
        torch.logical_and,
    ]
    y = x.new_ones(6, 1) * 2
    made = (
        [each(x) for each in functions]
        + [each(x, y) for each in two]
        + [x + 1, x * 2.5, 2 - x, x > 1, x == 2, x**2, x / 3]
    )
    return [
        *made,
        torch.where(x > 1, x, y),
        torch.div(x, y, rounding_mode="floor"),
        x.new_zeros(3),
        x.new_full((2,), 1),
    ]


def _floats(x: torch.Tensor, _rows: torch.Tensor) -> list[Any]:
    functions: list[Callable[..., Any]] = [
        torch.exp,
        torch.log,
        torch.sqrt,
        torch.rsqrt,
        torch.reciprocal,
        torch.sin,
        torch.cos,
        torch.tanh,
        torch.sigmoid,
        torch.erf,
        F.gelu,
        F.silu,
        F.hardswish,
        F.hardsigmoid,
        F.leaky_relu,
        F.elu,
        F.softplus,
        F.mish,
        lambda x: F.gelu(x, approximate="tanh"),
        lambda x: torch.pow(x, 0.5),
        lambda x: x**x,
        lambda x: 2**x,
        lambda x: x.softmax(-1),
        lambda x: x.softmax(1, torch.float32),
        lambda x: F.log_softmax(x, 0),
        lambda x: x.mean(),
        lambda x: x.mean((1, 2), keepdim=True),
        lambda x: x.var(1),
        lambda x: x.var((0, 1), correction=0),
        lambda x: F.layer_norm(x, x.shape[2:]),
        lambda x: F.layer_norm(x, x.shape[1:], x[0], x[1]),
        lambda x: F.group_norm(x, 2),
        lambda x: F.rms_norm(x, x.shape[3:]),
        lambda x: F.dropout(x, 0.1),
        lambda x: F.dropout(x, 0.1, training=False),
        lambda x: F.dropout(x.mT, 0.1, training=False),
        lambda x: F.avg_pool2d(x, 2),
        lambda x: F.avg_pool2d(x, 3, 2, 1, count_include_pad=False),
        lambda x: F.max_pool2d(x, 2),
        lambda x: F.max_pool2d(x, 3, 2, 1),
        lambda x: F.adaptive_avg_pool2d(x, 1),
        lambda x: F.adaptive_avg_pool2d(x, (3, 5)),
        lambda x: F.interpolate(x, scale_factor=2.0),
        lambda x: F.interpolate(x, (9, 9), mode="bilinear"),
        lambda x: F.pad(x[0], (1, 2), mode="reflect"),
        lambda x: F.pad(x, (1, 0, 2, 1), mode="replicate"),
    ]
    return [each(x) for each in functions]


def _products(x: torch.Tensor, _rows: torch.Tensor) -> list[Any]:
    m, bias = x[0, 0], x[0, 0, 0]
    q = x.reshape(2, 4, 6, 8)
    attention: Any = F.scaled_dot_product_attention
    weights = [x.new_ones(4, 2, *[3] * rank) for rank in (1, 2, 3)]
    return [
        F.linear(x, m),
        F.linear(x, m, bias[:6]),
        F.linear(bias, m),
        F.linear(m, m[:1], bias[:1]),
        torch.addmm(bias, m, x.new_ones(8, 8)),
        torch.addmm(bias[:1], m, m.mT, beta=2, alpha=3),
        m @ m.mT,
        m @ bias,
        bias @ bias,
        torch.mm(m, m.mT),
        torch.bmm(x[0], x[0].mT),
        torch.baddbmm(x[0], x[0], x.new_ones(4, 8, 8)),
        x @ x.mT,
        x @ m.mT,
        torch.outer(bias, bias),
        torch.einsum("bchw,bdhw->bcd", x, x),
        torch.einsum("ij,jk->ik", m, m.mT),
        attention(q, q, q),
        attention(q, q, q, is_causal=True),
        attention(q, q, q, m[:, :6]),
        attention(q, q, q, m[:, :6] > 0),
        attention(q, q[:, :2], q[:, :2], enable_gqa=True),
        attention(x[0], x[0], x[0], scale=0.5),
        F.conv2d(x, weights[1][:, :2].repeat(1, 2, 1, 1)),
        F.conv2d(x, weights[1], bias[:4], 2, 1, 1, 2),
        F.conv2d(x[0], weights[1][:, :1], padding="same", groups=4),
        F.conv1d(x[:, :2, 0], weights[0], padding=1),
        F.conv3d(x.reshape(1, 2, 4, 6, 8), weights[2]),
        F.conv_transpose2d(x, weights[1], bias[:2], 2, 1),
        F.conv_transpose1d(x[:, :, 0], weights[0], stride=2),
        F.conv_transpose2d(x, weights[1], padding=1, groups=2),
    ]


def _places(x: torch.Tensor, rows: torch.Tensor) -> list[Any]:
    return [
        x.view(8, 48),
        x.view(-1),
        x.reshape(8, -1),
        x.mT.reshape(8, -1),
        x.flatten(1),
        x.mT.flatten(2),
        x.unflatten(1, (2, 2)),
        x.unsqueeze(0),
        x[:, :1].squeeze(1),
        x[:, :1].squeeze(),
        x.squeeze((0, 1)),
        x.permute(3, 0, 2, 1),
        x.transpose(1, -1),
        x[0, 0].t(),
        x[:1].expand(3, -1, -1, -1),
        x[0].expand_as(x),
        x.select(1, -1),
        x[:, 1:, ::2],
        x[..., -3:],
        *x.split(2, 1),
        *x.split([1, 5], 2),
        *x.chunk(3, -1),
        torch.cat([x, x[:, :1]], 1),
        torch.stack([x, x], -1),
        x.contiguous(),
        x.mT.contiguous(),
        x.contiguous(memory_format=torch.channels_last),
        x.flip(1, 2),
        x.roll(1, 2),
        x.roll((1, 2), (0, 3)),
        x.repeat(2, 1, 1, 1, 1),
        F.pad(x, (1, 2)),
        F.pad(x, (-1, 2, 0, 1), value=1),
        F.pixel_shuffle(x, 2),
        x.tril(),
        x[0, 0].triu(1),
        torch.diff(x),
        torch.diff(x, 2, 1),
        x.cumsum(1),
        x.sum(),
        x.sum((1, 2)),
        x.sum(0, True),
        x.amax(1),
        x.amin((0, 2), True),
        x.argmax(),
        x.argmax(-1, True),
        x[rows],
        x[:, rows, 1],
        x[:, :, rows[:, None], rows],
        x[0].index_select(0, rows[0]),
        x[0, 0].gather(0, rows),
        F.embedding(rows, x[0, 0]),
        F.embedding(rows, x[0, 0], padding_idx=1),
        torch.arange(4),
        torch.arange(1, 7, 2, dtype=x.dtype),
        x.to(torch.float32),
        x.to(torch.float64),
        x.to(torch.int32),
        x.to("cpu", torch.float16),
        x.to(torch.ones(1, dtype=torch.bool)),
        torch.full((2, 3), 1.5),
        torch.ops.aten.alias(x),
        (x > 0) & (x < 2),
        x.to(torch.int32) & 3,
        x.to(torch.int32) | 1,
        torch.bitwise_and(x.to(torch.int32), 1),
        torch.bitwise_or(x.to(torch.int32), x[0].to(torch.int32)),
    ]


_KINDS = {
    "elementwise": (_elementwise, (torch.float32, torch.int64)),
    "floats": (_floats, (torch.float32, torch.bfloat16)),
    "products": (_products, (torch.float32, torch.float16)),
    "places": (_places, (torch.float32, torch.int64)),
}


@pytest.mark.parametrize(
    ("kind", "dtype"), [(kind, dtype) for kind, (_, dtypes) in _KINDS.items() for dtype in dtypes], ids=str
)
def test_traced_calls_become_what_pytorch_makes_of_them(
    kind: str, dtype: torch.dtype, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = _exported(Call(_KINDS[kind][0]), torch.ones(2, 4, 6, 8).to(dtype), torch.tensor([[0, 1], [1, 0]]))
    table = decomposition_table(exported=True)
    with torch.no_grad(), asked_before_autograd(tuple(table)):
        ours = distinct_calls.decomposed(program, table)
        with monkeypatch.context() as patch:
            patch.setattr(distinct_calls, "trace_call", lambda *_: None)
            pytorchs = distinct_calls.decomposed(program, table)
    assert ours is not None
    assert pytorchs is not None
    texts = [_text(_calls(each), each.graph.find_nodes(op="placeholder")) for each in (ours, pytorchs)]
    assert texts[0] == texts[1]


def test_each_op_that_is_traced_has_a_call_here() -> None:
    values = torch.ones(2, 4, 6, 8), torch.tensor([[0, 1], [1, 0]])
    called = {torch.ops.aten.batch_norm}
    for function, _ in _KINDS.values():
        called |= {
            cast(Any, node.target).overloadpacket
            for node in _calls(_exported(Call(function), *values))
            if hasattr(node.target, "overloadpacket")
        }
    assert TRACED - called == set()
