"""`torch.compile(model, backend="hotdesk")` without gradients."""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable, Generator, Sequence
from importlib.metadata import EntryPoint
from pathlib import Path
from typing import Any

import pytest
import tomllib
import torch
from torch import nn
from torch.nn.attention.flex_attention import create_block_mask, flex_attention
from torch.utils import _pytree as pytree

import hotdesk
from hotdesk.torch_compile.backend import MODES, backend

ROOT = Path(__file__).parents[2]


@pytest.fixture(autouse=True)
def without_gradients(fresh_dynamo: None) -> Generator[None]:
    with torch.no_grad():
        yield


def assert_same(found: Any, expected: Any, tolerance: float = 1e-5) -> None:
    """Equal numbers, and tensors that lie in the same way."""
    assert pytree.tree_structure(found) == pytree.tree_structure(expected)
    for a, b in zip(pytree.tree_leaves(found), pytree.tree_leaves(expected), strict=True):
        torch.testing.assert_close(a, b, atol=tolerance, rtol=tolerance)
        if isinstance(b, torch.Tensor):
            assert a.stride() == b.stride()


class Attention(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.project = nn.Linear(16, 48)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        q, k, v = self.project(x).reshape(x.shape[0], x.shape[1], 3, 2, 8).permute(2, 0, 3, 1, 4)
        mixed = nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True)
        return mixed.transpose(1, 2).reshape(x.shape)


def mlp() -> nn.Module:
    return nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 2)).eval()


def convolutions() -> nn.Sequential:
    layers = nn.Conv2d(3, 8, 3), nn.BatchNorm2d(8), nn.ReLU(), nn.MaxPool2d(2), nn.Flatten(), nn.Linear(72, 5)
    return nn.Sequential(*layers).eval()


MODELS: dict[str, tuple[Callable[[], nn.Module], Sequence[int]]] = {
    "mlp": (mlp, (3, 4)),
    "convolutions": (convolutions, (2, 3, 8, 8)),
    "attention": (Attention, (2, 7, 16)),
}


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("dynamic", [False, True])
def test_models(name: str, dynamic: bool) -> None:
    make, sizes = MODELS[name]
    model = make()
    compiled = torch.compile(model, backend="hotdesk", dynamic=dynamic, fullgraph=True)
    for batch in (2, 5) if dynamic else (2,):
        x = torch.randn(batch, *sizes[1:])
        assert_same(compiled(x), model(x))
    report = hotdesk.dynamo_report()
    assert [graph.kind for graph in report.graphs] == ["inference"]
    assert report.graphs[0].peak
    assert report.graphs[0].guards > 0


def test_name_is_an_entry_point() -> None:
    group = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["entry-points"]["torch_dynamo_backends"]
    assert {name: EntryPoint(name, value, "").load() for name, value in group.items()} == {"hotdesk": backend}


def test_graph_breaks() -> None:
    def broken(x: torch.Tensor) -> torch.Tensor:
        y = torch.relu(x)
        torch._dynamo.graph_break()
        return y * 2

    x = torch.randn(5)
    assert_same(torch.compile(broken, backend="hotdesk")(x), broken(x))
    report = hotdesk.dynamo_report()
    assert len(report.compiled) == 2
    assert sum(report.graph_breaks.values()) == 1
    assert "graph_break" in next(iter(report.graph_breaks))
    assert "2 graphs compiled, 0 in eager PyTorch, 1 graph breaks, 0 recompilations" in str(report)


def drawing(x: torch.Tensor) -> torch.Tensor:
    noise = torch.rand(x.shape[0]) + torch.randn(x.shape[0])
    return x + noise * torch.randint(0, 5, (x.shape[0],)) + torch.bernoulli(torch.full_like(x, 0.5))


@pytest.mark.parametrize("dynamic", [False, True])
def test_random_numbers_follow_from_pytorchs_seed(dynamic: bool) -> None:
    """Each call draws others, unless PyTorch's generator begins again."""
    compiled = torch.compile(drawing, backend="hotdesk", dynamic=dynamic, fullgraph=True)
    torch.manual_seed(2)
    first, second = compiled(torch.zeros(32)), compiled(torch.zeros(32))
    torch.manual_seed(2)
    assert_same([compiled(torch.zeros(32)), compiled(torch.zeros(32))], [first, second])
    assert (first != second).float().mean() > 0.5
    if dynamic:
        assert compiled(torch.zeros(40)).shape == (40,)
    assert len(hotdesk.dynamo_report().graphs) == 1


def test_recompilations() -> None:
    model = mlp()
    compiled = torch.compile(model, backend="hotdesk", dynamic=False)
    for batch in (2, 3):
        x = torch.randn(batch, 4)
        assert_same(compiled(x), model(x))
    (again,) = hotdesk.dynamo_report().recompilations
    assert again.compile_id == "0/1"
    assert again.recompiled is not None
    assert "size mismatch" in again.recompiled


def noisy(x: torch.Tensor) -> torch.Tensor:
    return x + torch.poisson(torch.ones(3))


def test_refused_graphs_run_in_eager_pytorch_with_one_warning() -> None:
    compiled = torch.compile(noisy, backend="hotdesk", dynamic=False)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        torch.manual_seed(1)
        found = [compiled(torch.zeros(3)), compiled(torch.zeros(2, 3))]
    torch.manual_seed(1)
    assert_same(found, [noisy(torch.zeros(3)), noisy(torch.zeros(2, 3))])
    (told,) = [each for each in caught if each.category is hotdesk.FallbackWarning]
    assert re.search(r"aten.poisson.default` draws random numbers.*test_dynamo.py:\d+.*HD102", str(told.message))
    refused = hotdesk.dynamo_report().fallbacks
    assert len(refused) == 2
    assert all(each.refused is not None and "HD102" in each.refused for each in refused)


def test_without_fallback_calls_raise() -> None:
    compiled = torch.compile(noisy, backend="hotdesk", options={"fallback": False})
    for _ in range(2):
        with pytest.raises(hotdesk.HotdeskError, match="draws random numbers"):
            compiled(torch.zeros(3))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            {"ordr": "peak"},
            "options: expected some of order, budget, keep_ir, foreign, winograd, recompute, private_memory, prepare, roll_back",
        ),
        ({"order": "best"}, "option 'order': expected 'given' or 'peak', got 'best'"),
        ({"fallback": 1}, "option 'fallback': expected True or False, got 1"),
        ({"winograd": "no"}, "option 'winograd': expected True or False, got 'no'"),
        ({"recompute": 1}, "option 'recompute': expected True or False, got 1"),
        ({"roll_back": "no"}, "option 'roll_back': expected True or False, got 'no'"),
        ({"budget": "much"}, "option 'budget': expected bytes"),
    ],
)
def test_wrong_options(options: dict[str, Any], message: str) -> None:
    with pytest.raises(hotdesk.errors.OptionError, match=re.escape(message)):
        torch.compile(mlp(), backend="hotdesk", options=options)(torch.randn(3, 4))


@pytest.mark.parametrize("mode", MODES)
def test_modes(mode: str) -> None:
    model, x = mlp(), torch.randn(3, 4)
    assert_same(torch.compile(model, backend="hotdesk", mode=mode)(x), model(x))


def test_layouts_are_kept() -> None:
    model = convolutions()[:3]
    compiled = torch.compile(model, backend="hotdesk")
    for x in (
        torch.randn(2, 3, 8, 8).to(memory_format=torch.channels_last),
        torch.randn(2, 3, 8, 16)[..., ::2],
        torch.randn(2, 3, 1, 1).expand(2, 3, 8, 8),
        torch.randn(8, 8, 3, 2).permute(3, 2, 0, 1),
    ):
        torch._dynamo.reset()
        found, expected = compiled(x), model(x)
        torch.testing.assert_close(found, expected, atol=1e-5, rtol=1e-5)
    x = torch.randn(2, 3, 8, 8).to(memory_format=torch.channels_last)
    assert compiled(x).stride() == model(x).stride()


def test_autocast_and_inference_mode() -> None:
    model, x = convolutions(), torch.randn(2, 3, 8, 8)
    compiled = torch.compile(model, backend="hotdesk")
    with torch.autocast("cpu", torch.bfloat16):
        assert_same(compiled(x), model(x), 0.05)
        assert compiled(x).dtype == torch.bfloat16
    with torch.inference_mode():
        assert_same(compiled(x), model(x))


def test_weights_that_change() -> None:
    model, x = convolutions(), torch.randn(2, 3, 8, 8)
    compiled = torch.compile(model, backend="hotdesk")
    assert_same(compiled(x), model(x))
    for parameter in model.parameters():
        parameter.mul_(1.5)
    model[1].running_mean.add_(1)
    assert_same(compiled(x), model(x))
    model.load_state_dict(convolutions().state_dict())
    assert_same(compiled(x), model(x))
    model[5].weight = nn.Parameter(torch.randn(5, 72))
    assert_same(compiled(x), model(x))
    model[5].bias.data = torch.randn(5)
    assert_same(compiled(x), model(x))
    model.to(torch.float64)
    assert_same(compiled(x.double()), model(x.double()))


def test_state_is_changed_in_place() -> None:
    model, same = convolutions().train(), convolutions().train()
    same.load_state_dict(model.state_dict())
    compiled = torch.compile(model, backend="hotdesk")
    for _ in range(2):
        x = torch.randn(2, 3, 8, 8)
        assert_same(compiled(x), same(x))
        assert_same(dict(model.named_buffers()), dict(same.named_buffers()))


def test_results_that_are_arguments_and_sizes() -> None:
    def several(x: torch.Tensor, n: int) -> tuple[Any, ...]:
        return x, x.shape[0] * 2, x[:2] + 1, x.T

    compiled = torch.compile(several, backend="hotdesk", dynamic=True)
    for rows in (3, 4):
        x = torch.randn(rows, 5)
        found = compiled(x, 7)
        assert_same(found, several(x, 7))
        assert found[0] is x
        assert found[3].data_ptr() == x.data_ptr()


def test_numbers_that_vary() -> None:
    def scaled(x: torch.Tensor, scale: float) -> torch.Tensor:
        return x * (2.0 / scale)

    compiled = torch.compile(scaled, backend="hotdesk", dynamic=True)
    for scale in (1.5, 2.5):
        x = torch.randn(3, 4)
        assert_same(compiled(x, scale), scaled(x, scale))
    assert len(hotdesk.dynamo_report().graphs) == 1


FUNCTIONS: dict[str, Callable[..., Any]] = {
    "grad": lambda x, w: torch.func.grad(lambda v: torch.nn.functional.linear(x, v).tanh().sum())(w),
    "vjp": lambda x, w: torch.func.vjp(lambda v: (x @ v).softmax(-1), w)[1](x @ w),
    "jvp": lambda x, w: torch.func.jvp(lambda v: (x @ v).softmax(-1), (w,), (w,)),
    "hessian": lambda x, w: torch.func.hessian(lambda v: (x @ v).softmax(-1).square().sum())(w),
    "grad under vmap": lambda x, w: torch.func.vmap(torch.func.grad(lambda row: (row @ w).sin().sum()))(x),
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_functions_that_take_gradients(name: str) -> None:
    """They see what composite ops are made of: of one that stayed whole, autograd would know no gradient."""
    f = FUNCTIONS[name]
    x, w = torch.randn(3, 4), torch.randn(4, 4)
    assert_same(torch.compile(f, backend="hotdesk", fullgraph=True)(x, w), f(x, w))


def _biased(score: Any, _batch: Any, _head: Any, query: Any, key: Any) -> Any:
    return score + (query - key) * 0.1


def test_flex_attention() -> None:
    mask = create_block_mask(lambda _batch, _head, query, key: query >= key, None, None, 128, 128, device="cpu")

    def attention(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor) -> Any:
        return flex_attention(q, k, v, score_mod=_biased, block_mask=mask, enable_gqa=True)

    given = torch.randn(1, 4, 128, 8), torch.randn(1, 2, 128, 8), torch.randn(1, 2, 128, 8)
    found = torch.compile(attention, backend=backend, options={"fallback": False})(*given)
    torch.testing.assert_close(found, attention(*given), atol=1e-5, rtol=1e-5)


def test_examples_of_the_page(capsys: pytest.CaptureFixture[str]) -> None:
    page = (ROOT / "docs" / "torch-compile.md").read_text()
    names: dict[str, Any] = {}
    for example in re.findall(r"```python\n(.*?)```", page, re.DOTALL):
        with torch.enable_grad():
            exec(example, names)
    printed = capsys.readouterr().out
    (shown,) = re.findall(r"```text\n(.*?)```", page, re.DOTALL)
    assert re.sub(r"\d+ guards", "guards", shown) in re.sub(r"\d+ guards", "guards", printed)
    assert "draws random numbers" in printed


def masks(kind: str) -> dict[str, torch.Tensor]:
    padding = torch.tensor([[False] * 5 + [True] * 2, [False] * 7])
    causal = torch.triu(torch.ones(7, 7, dtype=torch.bool), 1)
    return {
        "none": {},
        "padding": {"src_key_padding_mask": padding},
        "causal": {"src_mask": causal},
        "both": {"src_mask": causal, "src_key_padding_mask": padding},
        "whole row": {"src_key_padding_mask": padding | torch.tensor([[False], [True]])},
    }[kind]


@pytest.mark.parametrize("kind", ["none", "padding", "causal", "both", "whole row"])
@pytest.mark.parametrize("how", [{}, {"activation": "gelu", "norm_first": True}], ids=["relu", "gelu"])
def test_encoder_layers_in_eval_mode(kind: str, how: dict[str, Any]) -> None:
    """PyTorch calls them as one op."""
    layer, x = nn.TransformerEncoderLayer(16, 2, 32, batch_first=True, **how).eval(), torch.randn(2, 7, 16)
    found = torch.compile(layer, backend="hotdesk", options={"fallback": False, "foreign": False})(x, **masks(kind))
    torch.testing.assert_close(found, layer(x, **masks(kind)), atol=1e-5, rtol=1e-4, equal_nan=True)


@pytest.mark.parametrize("how", [{}, {"need_weights": False}, {"average_attn_weights": False}])
@pytest.mark.parametrize("across", [False, True])
def test_attention_modules_in_eval_mode(how: dict[str, bool], across: bool) -> None:
    layer, x = nn.MultiheadAttention(16, 2, batch_first=True).eval(), torch.randn(2, 7, 16)
    y = torch.randn(2, 5, 16) if across else x
    compiled = torch.compile(layer, backend="hotdesk", options={"fallback": False, "foreign": False})
    found, expected = compiled(x, y, y, **how), layer(x, y, y, **how)
    torch.testing.assert_close(found, expected, atol=1e-5, rtol=1e-4)


def turned(x: torch.Tensor) -> torch.Tensor:
    turns = torch.polar(torch.ones(4, 2), torch.arange(8.0).reshape(4, 2))
    return torch.view_as_real(torch.view_as_complex(x.reshape(3, 4, 2, 2)) * turns).flatten(2) + x.sin()


COMPLEX: dict[str, Callable[[torch.Tensor], Any]] = {
    "fourier": lambda x: torch.fft.ifft(torch.fft.fft(x) * 2).real + x.sin(),
    "returned": lambda x: (torch.fft.rfft(x), x + 1),
    "turned": turned,
}


@pytest.mark.parametrize("name", COMPLEX)
def test_complex_numbers_are_left_to_pytorchs_kernels(name: str) -> None:
    x = torch.randn(3, 4, 4)
    compiled = torch.compile(COMPLEX[name], backend="hotdesk", fullgraph=True)
    torch.testing.assert_close(compiled(x), COMPLEX[name](x))
    torch._dynamo.reset()
    alone = torch.compile(COMPLEX[name], backend="hotdesk", options={"fallback": False, "foreign": False})
    with pytest.raises(hotdesk.HotdeskError):
        alone(x)


def test_complex_arguments() -> None:
    def product(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        return (x * y.mT).abs() + 1

    x = torch.randn(3, 4, dtype=torch.complex64)
    for y in (torch.randn(4, 3, dtype=torch.complex64), torch.randn(3, 4, dtype=torch.complex64).mH):
        found = torch.compile(product, backend="hotdesk", fullgraph=True)(x, y)
        torch.testing.assert_close(found, product(x, y))


@pytest.mark.parametrize(
    ("counted", "counts"),
    [
        (lambda x, n: (x * n, x + n), (3, 5, 2, 6)),
        (lambda x, n: (torch.arange(n).sum(), x[:, :n] * n), (3, 2, 4)),
    ],
    ids=["values", "sizes"],
)
def test_counts_that_vary(counted: Callable[..., Any], counts: Sequence[int]) -> None:
    """Integers that are no size of a tensor."""
    compiled = torch.compile(counted, backend="hotdesk", dynamic=True)
    for n in counts:
        x = torch.randn(3, 7)
        assert_same(compiled(x, n), counted(x, n))
    assert len(hotdesk.dynamo_report().graphs) == 1
