"""Calls whose element types eager PyTorch has no kernel for are refused, and no others."""

# pyright: reportUnknownLambdaType=false, reportUnknownArgumentType=false, reportUnknownMemberType=false

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch import Tensor
from torch.nn import functional
from torch.utils._python_dispatch import TorchDispatchMode

import hotdesk
from hotdesk.errors import ExportError
from hotdesk.frontends.torch.functions import as_module
from hotdesk.frontends.torch.refused_types import refuse_types_without_kernel

_OF_FLOATS: dict[str, Any] = {
    "softmax": lambda x: x.softmax(-1),
    "log_softmax": lambda x: functional.log_softmax(x, 0),
    "std": lambda x: x.std(),
    "mean": lambda x: x.mean(),
    "norm": lambda x: torch.linalg.vector_norm(x),
    "gelu": lambda x: functional.gelu(x),
    "hypot": lambda x: torch.hypot(x, x),
    "lerp": lambda x: x.lerp(x, 0.5),
    "mish": lambda x: functional.mish(x),
    "resized": lambda x: functional.interpolate(x[None], scale_factor=2.0, mode="linear"),
    "margins": lambda x: functional.multi_margin_loss(x, torch.zeros(2, dtype=torch.int64)),
    "margins of labels": lambda x: functional.multilabel_margin_loss(x[:, :1], torch.zeros(2, 1, dtype=torch.int64)),
    "quotient added": lambda x: torch.addcdiv(x, x, x),
    "segments": lambda x: torch.segment_reduce(x, "sum", lengths=torch.tensor([2])),
}
_OF_NUMBERS: dict[str, Any] = {
    "matrix product": lambda x: x @ x.mT,
    "absolute": lambda x: x.abs(),
    "relu": lambda x: functional.relu(x),
    "largest": lambda x: x.topk(1),
    "difference": lambda x: x.tanh() - x,
}
_TAKEN: dict[str, Any] = {
    "root": lambda x: x.sqrt(),
    "rows": lambda x: functional.embedding(x.long(), torch.rand(3, 2)),
    "sum": lambda x: x.sum(0),
    "quotient": lambda x: x.int() // torch.full_like(x, 2) + x.int() % torch.ones_like(x.int()),
    "classes": lambda x: functional.cross_entropy(torch.rand(2, 3), x[:, 0].long()),
    "kinds": lambda x: functional.one_hot(x.long(), 3),
    "draws": lambda x: torch.bernoulli(x.float()),
    "choice": lambda x: torch.rand(2, 3)[x.bool()],
}


def _graph(model: Any, x: Tensor) -> torch.fx.Graph:
    return torch.export.export(as_module(model), (x,), strict=False).graph


def _raises(model: Any, x: Tensor) -> bool:
    try:
        model(x)
    except (RuntimeError, NotImplementedError):
        return True
    return False


@pytest.mark.parametrize("dtype", [torch.uint8, torch.bool])
def test_a_large_result_of_little(dtype: torch.dtype) -> None:
    x, window = torch.ones(1, 1, 2, 2, 2, dtype=dtype), torch.ones(1, 1, 4, 5, 6, dtype=dtype)
    graph = _graph(lambda x: functional.conv_transpose3d(x, window, dilation=8), x)
    with pytest.raises(ExportError, match=r"PyTorch refuses op `aten\.conv_transpose3d"):
        refuse_types_without_kernel(graph)


@pytest.mark.parametrize("dtype", [torch.int64, torch.uint8, torch.bool])
@pytest.mark.parametrize("name", _OF_FLOATS | _OF_NUMBERS | _TAKEN)
def test_refused_is_what_eager_refuses(name: str, dtype: torch.dtype) -> None:
    model, x = (_OF_FLOATS | _OF_NUMBERS | _TAKEN)[name], torch.tensor([[0, 1, 1], [1, 0, 1]], dtype=dtype)
    expected = _raises(model, x)
    assert expected == (name in _OF_FLOATS or (name in _OF_NUMBERS and dtype == torch.bool))
    try:
        graph = _graph(model, x)
    except Exception:
        assert expected  # torch.export looks at some types itself
        return
    if expected:
        with pytest.raises(ExportError, match=r"PyTorch refuses op `aten\."):
            refuse_types_without_kernel(graph)
    else:
        refuse_types_without_kernel(graph)


def test_sizes_that_vary_and_large_ones_are_asked_with_small_tensors() -> None:
    rows = torch.export.Dim("rows")
    large = torch.zeros(5000, 7, dtype=torch.int64)
    for dynamic in (None, {"x": {0: rows}}):
        exported = torch.export.export(_Softmax(), (large,), dynamic_shapes=dynamic, strict=False)
        with pytest.raises(ExportError, match="softmax_lastdim_kernel_impl"):
            refuse_types_without_kernel(exported.graph)


def test_no_number_is_drawn_to_ask() -> None:
    graph = _graph(lambda x: torch.randint_like(x, 5) + x, torch.zeros(3, dtype=torch.int64))
    before = torch.random.get_rng_state()
    refuse_types_without_kernel(graph)
    assert torch.equal(torch.random.get_rng_state(), before)


def test_branches_are_looked_at() -> None:
    def model(x: Tensor) -> Any:
        return torch.cond(x.sum() > 0, lambda x: x.softmax(0).float(), lambda x: x.exp(), (x,))

    with pytest.raises(ExportError, match="softmax"):
        refuse_types_without_kernel(_graph(model, torch.ones(3, dtype=torch.int64)))


def test_compile_tells_the_line() -> None:
    with pytest.raises(ExportError, match=r"test_refused_types\.py:\d+.*x\.float\(\)"):
        hotdesk.compile(_Softmax(), (torch.ones(3, dtype=torch.int64),))


class _Softmax(torch.nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        return x.softmax(-1)


class _Called(TorchDispatchMode):
    """Keeps which ops are called."""

    def __init__(self) -> None:
        super().__init__()
        self.ops = list[Any]()

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        self.ops.append(func)
        return func(*args, **(kwargs or {}))


def test_gradients_are_not_made_with_places_of_ones() -> None:
    """They write there, also where an image of one pixel has no such place."""
    op = torch.ops.aten.max_pool2d_with_indices_backward.default

    def gradient(x: Tensor) -> Tensor:
        places = torch.zeros(x.shape, dtype=torch.int64)
        return op(x, x, [1, 1], [1, 1], [0, 0], [1, 1], False, places) + places.abs()

    graph = _graph(gradient, torch.rand(3, 8, 1, 1))
    assert op in {node.target for node in graph.nodes}
    with _Called() as called:
        refuse_types_without_kernel(graph)
    assert torch.ops.aten.abs.default in called.ops
    assert op not in called.ops


def test_places_that_are_not_there_are_not_asked_for() -> None:
    """Not every kernel looks for that: the first place comes first, and serves."""
    graph = _graph(lambda x: functional.embedding(x, torch.rand(1, 4)), torch.zeros(3, dtype=torch.int64))
    with _Called() as called:
        refuse_types_without_kernel(graph)
    assert called.ops.count(torch.ops.aten.embedding.default) == 1
