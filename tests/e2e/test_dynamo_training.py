"""`torch.compile(model, backend="hotdesk")` with gradients."""

# pyright: basic

from __future__ import annotations

import copy
import inspect
import re
import warnings
from collections.abc import Callable, Sequence
from functools import partial
from importlib.util import find_spec, module_from_spec
from typing import Any

import pytest
import torch
import torch.utils.checkpoint
from torch import nn

import hotdesk
from hotdesk.torch_compile.backend import backend
from hotdesk.torch_compile.counts import COUNTED
from tests.e2e.test_dynamo import Attention, convolutions, mlp

pytestmark = pytest.mark.usefixtures("fresh_dynamo")


def normed() -> nn.Module:
    return nn.Sequential(nn.Linear(4, 8), nn.LayerNorm(8), nn.GELU(), nn.Linear(8, 8), nn.SiLU(), nn.Softmax(-1))


def encoder() -> nn.Module:
    return nn.TransformerEncoderLayer(16, 2, 32, dropout=0.0, batch_first=True)


MODELS: dict[str, tuple[Callable[[], nn.Module], Sequence[int]]] = {
    "mlp": (mlp, (3, 4)),
    "norms": (normed, (3, 4)),
    "convolutions": (lambda: convolutions().train(), (2, 3, 8, 8)),
    "attention": (Attention, (2, 7, 16)),
    "encoder": (encoder, (2, 7, 16)),
}


def assert_same_gradients(compiled: Callable[..., Any], model: nn.Module, like: nn.Module, x: torch.Tensor) -> None:
    """The gradients of `compiled`, which runs `model`, are those of `like` in eager PyTorch."""
    arguments = [x.clone().requires_grad_() for _ in range(2)]
    found, expected = compiled(arguments[0]), like(arguments[1])
    torch.testing.assert_close(found, expected, atol=1e-5, rtol=1e-5)
    for each in (found, expected):
        each.square().mean().backward()
    pairs = zip([*model.parameters(), arguments[0]], [*like.parameters(), arguments[1]], strict=True)
    for a, b in pairs:
        assert b.grad is not None
        torch.testing.assert_close(a.grad, b.grad, atol=1e-5, rtol=1e-4)


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("dynamic", [False, pytest.param(True, marks=pytest.mark.slow)])
def test_gradients(name: str, dynamic: bool) -> None:
    make, sizes = MODELS[name]
    model = make()
    like = copy.deepcopy(model)
    compiled = torch.compile(model, backend=backend, dynamic=dynamic, fullgraph=True)
    for batch in (2, 5) if dynamic else (2,):
        assert_same_gradients(compiled, model, like, torch.randn(batch, *sizes[1:]))
    report = hotdesk.dynamo_report()
    assert [graph.kind for graph in report.compiled] == ["forward", "backward"]
    assert all(graph.peak and graph.guards for graph in report.compiled)


def test_steps_of_an_optimizer() -> None:
    model = convolutions().train()
    like = copy.deepcopy(model)
    compiled = torch.compile(model, backend=backend)
    optimizers = [torch.optim.SGD(each.parameters(), lr=0.1, momentum=0.9) for each in (model, like)]
    losses: list[list[float]] = [[], []]
    for _ in range(4):
        x = torch.randn(2, 3, 8, 8)
        for called, optimizer, seen in zip((compiled, like), optimizers, losses, strict=True):
            optimizer.zero_grad()
            loss = called(x).square().mean()
            loss.backward()
            optimizer.step()
            seen.append(loss.item())
    assert losses[0] == pytest.approx(losses[1], rel=1e-3)
    assert losses[0][0] != losses[0][-1]
    model.eval()
    like.eval()
    with torch.no_grad():
        torch.testing.assert_close(compiled(x), like(x), atol=1e-3, rtol=1e-3)


class Normed(nn.Module):
    """Its gradient has no lowering: that of an average over neighbouring channels."""

    def __init__(self) -> None:
        super().__init__()
        self.layer = nn.Conv2d(2, 3, 1)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return nn.functional.local_response_norm(self.layer(x), 2)


@pytest.mark.parametrize("dynamic", [False, True])
def test_refused_backward_runs_in_eager_pytorch(dynamic: bool) -> None:
    model = Normed()
    like = copy.deepcopy(model)
    compiled = torch.compile(model, backend=backend, dynamic=dynamic, options={"foreign": False})
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        for _ in range(2):
            assert_same_gradients(compiled, model, like, torch.randn(2, 2, 6, 6))
    (told,) = [each for each in caught if each.category is hotdesk.FallbackWarning]
    assert re.search(r"aten.avg_pool3d_backward.*HD102", str(told.message))
    assert [graph.kind for graph in hotdesk.dynamo_report().compiled] == ["forward"]
    assert [graph.kind for graph in hotdesk.dynamo_report().fallbacks] == ["backward"]


def test_without_fallback_backward_raises() -> None:
    compiled = torch.compile(Normed(), backend=backend, options={"fallback": False, "foreign": False})
    result = compiled(torch.randn(2, 2, 6, 6))
    with pytest.raises(hotdesk.HotdeskError, match="avg_pool3d_backward"):
        result.sum().backward()


def blocks(x: torch.Tensor) -> torch.Tensor:
    return torch.sin(nn.functional.dropout(torch.sin(x), 0.25))


def checkpointed(x: torch.Tensor) -> torch.Tensor:
    return torch.utils.checkpoint.checkpoint(blocks, x, use_reentrant=False)


@pytest.mark.parametrize("function", [blocks, checkpointed])
def test_gradients_pass_where_dropout_let_values_through(function: Callable[..., torch.Tensor]) -> None:
    """What the forward graph dropped is what the backward graph drops, also where it makes the rest again."""
    x = torch.randn(64, 16, requires_grad=True)
    compiled = torch.compile(function, backend=backend)
    torch.manual_seed(3)
    result = compiled(x)
    dropped = result == 0
    assert 0.2 < dropped.float().mean() < 0.3
    inner = torch.where(dropped, 0.0, torch.sin(x) / 0.75)
    torch.testing.assert_close(result, torch.sin(inner))
    result.sum().backward()
    expected = torch.where(dropped, 0.0, torch.cos(inner) * torch.cos(x) / 0.75)
    torch.testing.assert_close(x.grad, expected)
    assert not hotdesk.dynamo_report().fallbacks
    torch.manual_seed(3)
    assert torch.equal(compiled(x), result)
    assert not torch.equal(compiled(x), result)


def test_dropout_in_a_model_trains() -> None:
    model = nn.Sequential(nn.Linear(4, 64), nn.Dropout(0.5), nn.Linear(64, 2))
    compiled, x = torch.compile(model, backend=backend), torch.randn(3, 4)
    results = [compiled(x) for _ in range(2)]
    assert not torch.equal(*results)
    results[0].square().sum().backward()
    assert all(each.grad is not None and each.grad.isfinite().all() for each in model.parameters())
    model.eval()
    assert torch.equal(compiled(x), compiled(x))


def test_saved_activations_are_donated() -> None:
    """What the forward graph made for the backward graph is overwritten there; autograd refuses to go back a second time."""
    model = nn.Sequential(*(layer for _ in range(4) for layer in (nn.Linear(64, 64), nn.GELU())))
    like = copy.deepcopy(model)
    compiled = torch.compile(model, backend=backend)
    assert_same_gradients(compiled, model, like, torch.randn(512, 64))
    (program,) = [each.program() for each in COUNTED.graphs if each.kind == "backward" and each.program is not None]
    assert program is not None
    donated = [spec for spec in program.inputs if spec.donated]
    assert donated
    assert program.planned[0].arena == 0  # all gradients but results lie in saved activations
    with pytest.raises(RuntimeError, match="retain_graph=False"):
        compiled(torch.randn(512, 64, requires_grad=True)).sum().backward(retain_graph=True)


def test_a_recompilation_with_gradients_is_one() -> None:
    compiled = torch.compile(mlp(), backend="hotdesk", dynamic=False)
    for batch in (2, 3):
        compiled(torch.randn(batch, 4)).sum().backward()
    report = hotdesk.dynamo_report()
    assert [graph.kind for graph in report.graphs] == ["forward", "backward"] * 2
    assert [graph.compile_id for graph in report.recompilations] == ["0/1"]
    assert str(report).count("recompiled:") == 1


def test_nothing_is_donated_where_graphs_are_retained() -> None:
    model = normed()
    like = copy.deepcopy(model)
    x = torch.randn(3, 4)
    compiled = torch.compile(model, backend=backend)
    for called in (compiled, like):
        loss = called(x).square().sum()
        loss.backward(retain_graph=True)
        loss.backward()
    for a, b in zip(model.parameters(), like.parameters(), strict=True):
        torch.testing.assert_close(a.grad, b.grad, atol=1e-5, rtol=1e-4)


def test_gradients_are_accumulated_in_place() -> None:
    model = mlp().train()
    like = copy.deepcopy(model)
    compiled = torch.compile(model, backend=backend)
    batches = [torch.randn(3, 4) for _ in range(3)]
    places: list[list[int]] = []
    for x in batches:
        for called in (compiled, like):
            called(x).square().mean().backward()
        places.append([each.grad.data_ptr() for each in model.parameters() if each.grad is not None])
    assert places[0] == places[1] == places[2]
    for a, b in zip(model.parameters(), like.parameters(), strict=True):
        torch.testing.assert_close(a.grad, b.grad, atol=1e-6, rtol=1e-5)


class Overlapping(nn.Module):
    """Two parameters in one memory of 24 numbers."""

    def __init__(self, place: Callable[[torch.Tensor], tuple[torch.Tensor, torch.Tensor]]) -> None:
        super().__init__()
        self.first, self.second = map(nn.Parameter, place(torch.arange(24.0).sin()))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return (x @ self.first.mT).tanh().sum() + (x @ self.second.mT).square().sum()


@pytest.mark.parametrize(
    "place",
    [
        lambda whole: (whole[:16].view(4, 4), whole[:16].view(4, 4).mT),
        lambda whole: (whole[:16].view(4, 4), whole[4:20].view(4, 4)),
        lambda whole: (whole.view(6, 4)[::2], whole.view(6, 4)[1::2]),
    ],
    ids=["transposed", "shifted", "rows by turns"],
)
def test_parameters_that_share_memory(place: Callable[[torch.Tensor], tuple[torch.Tensor, torch.Tensor]]) -> None:
    model, like = Overlapping(place), Overlapping(place)
    made = [torch.optim.SGD(each.parameters(), lr=1e-2, momentum=0.9, foreach=False) for each in (model, like)]
    compiled, step = (torch.compile(each, backend="hotdesk") for each in (model, made[0].step))
    for _ in range(3):
        x = torch.randn(3, 4)
        for called, optimizer, update in ((compiled, made[0], step), (like, made[1], made[1].step)):
            optimizer.zero_grad()
            called(x).backward()
            update()
        torch.testing.assert_close(dict(model.named_parameters()), dict(like.named_parameters()), atol=1e-5, rtol=1e-5)
    assert not hotdesk.dynamo_report().fallbacks


OPTIMIZERS: dict[str, Callable[..., torch.optim.Optimizer]] = {
    "sgd": lambda p, **how: torch.optim.SGD(p, lr=0.1, momentum=0.9, nesterov=True, weight_decay=1e-2, **how),
    "adam": lambda p, **how: torch.optim.Adam(p, lr=1e-2, weight_decay=1e-2, amsgrad=True, **how),
    "adamw": lambda p, **how: torch.optim.AdamW(p, lr=1e-2, **how),
}


@pytest.mark.parametrize("name", OPTIMIZERS)
@pytest.mark.parametrize(
    "how", [{"foreach": False}, {"foreach": True}, {"fused": True}], ids=["each", "foreach", "fused"]
)
def test_optimizers_update_in_place(name: str, how: dict[str, bool]) -> None:
    """No graph falls back; parameters and moments stay where they are, and a step keeps nothing of their size beside them."""
    model = nn.Sequential(nn.Linear(64, 64), nn.Linear(64, 64))
    like = copy.deepcopy(model)
    made = [OPTIMIZERS[name](each.parameters(), **how) for each in (model, like)]
    step = torch.compile(made[0].step, backend=backend)
    places: list[list[int]] = []
    for _ in range(4):
        for a, b in zip(model.parameters(), like.parameters(), strict=True):
            a.grad = torch.randn_like(a)
            b.grad = a.grad.clone()
        step()
        made[1].step()
        state = list(made[0].state_dict()["state"].values())
        moments = [each for entry in state for each in entry.values() if isinstance(each, torch.Tensor)]
        places.append([each.data_ptr() for each in (*model.parameters(), *moments)])
    for a, b in zip(model.parameters(), like.parameters(), strict=True):
        torch.testing.assert_close(a, b, atol=1e-6, rtol=1e-5)
    found, expected = (each.state_dict()["state"] for each in made)
    torch.testing.assert_close(found, expected, atol=1e-6, rtol=1e-5)
    assert places[1] == places[2] == places[3]
    report = hotdesk.dynamo_report()
    assert report.compiled
    assert not any("disable" in reason for reason in report.graph_breaks)
    last = report.compiled[-1]
    assert last.peak is not None
    assert last.peak <= 64 * 64 * 4 + 256


@pytest.mark.parametrize("name", OPTIMIZERS)
def test_fused_kernels_of_other_backends_are_left_alone(name: str) -> None:
    """Eager PyTorch and other backends call them, and PyTorch's own functions are where they were."""
    model = nn.Linear(4, 4)
    optimizer = OPTIMIZERS[name](model.parameters(), fused=True)
    model(torch.randn(2, 4)).square().mean().backward()
    with torch.profiler.profile() as profile:
        optimizer.step()
        torch.compile(optimizer.step, backend="eager")()
    called = [each.count for each in profile.key_averages() if each.key.startswith("aten::_fused_")]
    assert sum(called) >= 2
    assert not hotdesk.dynamo_report().compiled
    module = inspect.getmodule(torch.optim.SGD if name == "sgd" else torch.optim.Adam)
    fused: Any = getattr(module, "_fused_sgd" if name == "sgd" else "_fused_adam")
    assert inspect.getmodule(inspect.unwrap(fused)) is module


@pytest.mark.parametrize("kind", ["again", "partial"])
def test_fused_updates_of_a_backend_that_is_loaded_again_or_wrapped(kind: str) -> None:
    """What Dynamo is told is told it once in a process, and holds for each."""
    COUNTED.reset()
    if kind == "again":
        spec = find_spec("hotdesk.torch_compile.backend")
        assert spec is not None
        assert spec.loader is not None
        second = module_from_spec(spec)  # beside the first, which other tests go on using
        spec.loader.exec_module(second)
        ours = second.backend
        assert ours is not backend
    else:
        ours = partial(backend, mode="default")
    model = nn.Linear(4, 4)
    before = model.weight.detach().clone()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.5, fused=True)
    for parameter in model.parameters():
        parameter.grad = torch.ones_like(parameter)
    torch.compile(optimizer.step, backend=ours)()
    torch.testing.assert_close(model.weight, before - 0.5)
    report = hotdesk.dynamo_report()
    assert report.compiled
    assert not any("disable" in reason or "fused" in reason for reason in report.graph_breaks)


@pytest.mark.parametrize("name", OPTIMIZERS)
def test_what_a_gradient_scaler_found_goes_to_the_fused_kernel(name: str) -> None:
    model = nn.Linear(4, 4)
    like = copy.deepcopy(model)
    made = [OPTIMIZERS[name](each.parameters(), fused=True) for each in (model, like)]
    for scaled, each in zip(made, (model, like), strict=True):
        for parameter in each.parameters():
            parameter.grad = torch.ones_like(parameter)
        scaled.grad_scale, scaled.found_inf = torch.tensor(4.0), torch.tensor(0.0)  # pyright: ignore[reportAttributeAccessIssue]
    torch.compile(made[0].step, backend=backend)()
    made[1].step()
    for a, b in zip(model.parameters(), like.parameters(), strict=True):
        torch.testing.assert_close(a, b)


@pytest.mark.parametrize("stride", [1, 2, (2, 3)])
@pytest.mark.parametrize("outs", [8, 16])
def test_gradients_of_a_filter_for_each_channel(stride: Any, outs: int) -> None:
    model = nn.Conv2d(8, outs, (3, 2), stride=stride, padding=1, dilation=(1, 2), groups=8)
    like = copy.deepcopy(model)
    compiled = torch.compile(model, backend=backend, options={"fallback": False})
    assert_same_gradients(compiled, model, like, torch.randn(2, 8, 10, 11))


@pytest.mark.parametrize("how", [{}, {"dim": 1}, {"dim": -1}])
def test_gradients_of_normed_weights(how: dict[str, Any]) -> None:
    model = nn.utils.parametrizations.weight_norm(nn.Conv1d(4, 6, 3), **how)
    like = copy.deepcopy(model)
    compiled = torch.compile(model, backend=backend, options={"fallback": False, "foreign": False})
    assert_same_gradients(compiled, model, like, torch.randn(2, 4, 9))


def test_gradients_of_complex_numbers() -> None:
    """What the forward graph keeps for the backward graph is complex, too."""

    def spectrum(x: torch.Tensor) -> torch.Tensor:
        return torch.fft.rfft(x.sin()).abs().square()

    x, like = (torch.linspace(-1, 1, 24).reshape(3, 8).requires_grad_() for _ in range(2))
    torch.compile(spectrum, backend=backend)(x).sum().backward()
    spectrum(like).sum().backward()
    torch.testing.assert_close(x.grad, like.grad, atol=1e-5, rtol=1e-4)


@pytest.mark.parametrize("training", [True, False])
def test_gradients_of_a_slope_that_is_drawn(training: bool) -> None:
    """Of a mean slope in eval mode, which is no number that has been drawn."""
    x = torch.linspace(-2, 2, 64).requires_grad_()
    y = torch.compile(nn.RReLU().train(training), backend=backend, options={"fallback": False})(x)
    y.sum().backward()
    assert x.grad is not None
    torch.testing.assert_close(x.grad, y.detach() / x.detach())
    slopes = x.grad[x.detach() < 0]
    assert ((slopes >= 1 / 8) & (slopes <= 1 / 3)).all()
    assert len(slopes.unique()) > 1 if training else torch.equal(slopes, torch.full_like(slopes, 11 / 48))


@pytest.mark.parametrize("name", ["inv", "solve", "cholesky"])
def test_gradients_of_checked_matrices(name: str) -> None:
    """PyTorch checks what its kernels found of the values: calls of them do so."""

    def function(x: torch.Tensor) -> torch.Tensor:
        square = x @ x.mT + torch.eye(4)
        return torch.linalg.solve(square, x) if name == "solve" else getattr(torch.linalg, name)(square)

    torch.manual_seed(0)
    x = torch.randn(2, 4, 4, requires_grad=True)
    like = x.detach().clone().requires_grad_()
    compiled = torch.compile(function, backend=backend, options={"fallback": False})
    made, expected = compiled(x), function(like)
    torch.testing.assert_close(made, expected)
    made.square().sum().backward()
    expected.square().sum().backward()
    torch.testing.assert_close(x.grad, like.grad, atol=1e-4, rtol=1e-4)


def test_a_matrix_that_has_no_inverse_is_refused() -> None:
    compiled = torch.compile(lambda x: torch.linalg.inv(x) + 1, backend=backend, options={"fallback": False})
    torch.testing.assert_close(compiled(torch.eye(3)), torch.eye(3) + 1)
    with pytest.raises(Exception, match="singular"):
        compiled(torch.zeros(3, 3))


@pytest.mark.parametrize("reduction", ["none", "sum"])
def test_losses_of_margins_end_at_the_first_label_that_is_none(reduction: str) -> None:
    loss = nn.MultiLabelMarginLoss(reduction=reduction)
    labels = torch.tensor([[3, 0, -1, 1], [1, -1, 0, 0], [0, 1, 2, 3]])
    of_eager, of_ours = (torch.arange(12.0).reshape(3, 4).sin().requires_grad_() for _ in range(2))
    expected, found = loss(of_eager, labels), torch.compile(loss, backend=backend, fullgraph=True)(of_ours, labels)
    torch.testing.assert_close(found, expected)
    for each in (expected, found):
        each.sum().backward()
    torch.testing.assert_close(of_ours.grad, of_eager.grad)


@pytest.mark.parametrize("padding", [None, 3])
@pytest.mark.parametrize("begins", [[0, 2, 2, 6], [0, 3, 5, 7]])
def test_gradients_of_largest_embeddings(padding: int | None, begins: list[int]) -> None:
    """They go to the first row that has the largest element of its bag; one bag is empty, and two rows are equal."""
    torch.manual_seed(0)
    model = nn.EmbeddingBag(10, 4, mode="max", padding_idx=padding)
    with torch.no_grad():
        model.weight[5] = model.weight[2]
    like = copy.deepcopy(model)
    given = torch.tensor([1, 2, 3, 5, 2, 3, 9, 0]), torch.tensor(begins)
    made = torch.compile(model, backend=backend, options={"fallback": False})(*given)
    expected = like(*given)
    torch.testing.assert_close(made, expected)
    made.square().sum().backward()
    expected.square().sum().backward()
    torch.testing.assert_close(model.weight.grad, like.weight.grad)


def counted(x: torch.Tensor, state: torch.Tensor) -> torch.Tensor:
    result = (x * state.sin()).sum()
    state.add_(1)
    return result


def seen_from_two_sides(x: torch.Tensor, state: torch.Tensor) -> torch.Tensor:
    result = (x @ state.sin()).sum() + (x @ state.t().cos()).square().sum()
    state.mul_(2)
    return result


@pytest.mark.parametrize("function", [counted, seen_from_two_sides])
def test_gradients_follow_from_what_state_was_before_it_changed(function: Callable[..., torch.Tensor]) -> None:
    compiled = torch.compile(function, backend=backend, fullgraph=True)
    x = torch.randn(3, 3, requires_grad=True)
    found = torch.randn(3, 3)
    for _ in range(2):
        expected = found.clone()
        (a,) = torch.autograd.grad(compiled(x, found), x)
        b = torch.func.grad(function)(x.detach(), expected)
        torch.testing.assert_close((a, found), (b, expected))


@pytest.mark.parametrize("make", [nn.SiLU, nn.Hardswish])
def test_activations_in_place_of_an_argument(make: Callable[..., nn.Module]) -> None:
    """AOTAutograd saves the argument for the backward graph, and writes over it behind the forward graph."""
    activation = make(inplace=True)
    x, y = (torch.linspace(-4, 4, 12).requires_grad_() for _ in range(2))
    argument = x.clone()
    result = torch.compile(activation, backend=backend)(argument)
    result.sum().backward()
    activation(y.clone()).sum().backward()
    torch.testing.assert_close(x.grad, y.grad)
    assert torch.equal(result, argument)
