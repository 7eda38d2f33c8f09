"""Small models compiled and compared with eager PyTorch, and the small nets that several of these tests run."""

# pyright: reportUnknownMemberType=false

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import torch
from torch import nn
from torch.utils import _pytree as pytree

import hotdesk
from hotdesk.compiling.compile import compile as compile_model

RTOL, ATOL = 1e-4, 1e-5


class Call(nn.Module):
    """A function as a model."""

    def __init__(self, function: Callable[..., Any]) -> None:
        super().__init__()
        self.function = function

    def forward(self, *args: Any) -> Any:
        return self.function(*args)


class ConvNet(nn.Module):
    """Convolution, batch norm, a depthwise convolution, pooling, a classifier."""

    def __init__(self) -> None:
        super().__init__()
        self.features = nn.Sequential(
            nn.Conv2d(3, 8, 3, padding=1, bias=False),
            nn.BatchNorm2d(8),
            nn.ReLU(),
            nn.MaxPool2d(2),
            nn.Conv2d(8, 8, 3, stride=2, padding=1, groups=8),
            nn.SiLU(),
            nn.Conv2d(8, 16, 1),
            nn.Hardswish(),
            nn.AdaptiveAvgPool2d(1),
        )
        self.classifier = nn.Linear(16, 10)

    def forward(self, image: torch.Tensor) -> torch.Tensor:
        return self.classifier(self.features(image).flatten(1))


class Transformer(nn.Module):
    """Embeddings, two pre-norm blocks with causal attention, logits over the tied embedding."""

    def __init__(self, width: int = 32, heads: int = 4, vocabulary: int = 50, length: int = 64) -> None:
        super().__init__()
        self.tokens, self.positions = nn.Embedding(vocabulary, width), nn.Embedding(length, width)
        self.blocks = nn.ModuleList(_Block(width, heads) for _ in range(2))
        self.norm = nn.LayerNorm(width)

    def forward(self, ids: torch.Tensor) -> torch.Tensor:
        x = self.tokens(ids) + self.positions(torch.arange(ids.shape[1]))
        for block in self.blocks:
            x = block(x)
        return self.norm(x) @ self.tokens.weight.T


class _Block(nn.Module):
    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.heads = heads
        self.before, self.after = nn.LayerNorm(width), nn.LayerNorm(width)
        self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.mlp = nn.Sequential(nn.Linear(width, 2 * width), nn.GELU(), nn.Linear(2 * width, width))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        batch, length, width = x.shape
        parts = self.qkv(self.before(x)).view(batch, length, 3, self.heads, width // self.heads)
        query, key, value = parts.permute(2, 0, 3, 1, 4).unbind(0)
        mixed = nn.functional.scaled_dot_product_attention(query, key, value, is_causal=True)
        x = x + self.out(mixed.transpose(1, 2).reshape(batch, length, width))
        return x + self.mlp(self.after(x))


def seeded(factory: Callable[[], nn.Module], dtype: torch.dtype = torch.float32) -> nn.Module:
    """A model in eval mode whose weights, running statistics included, follow from a fixed seed."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        model = factory()
        for name, buffer in model.named_buffers():
            if name.endswith("running_mean"):
                buffer.normal_(0, 0.5)
            elif name.endswith("running_var"):
                buffer.uniform_(0.5, 2)
    return model.eval().requires_grad_(False).to(dtype)


def random(*shape: int, seed: int = 1, dtype: torch.dtype = torch.float32) -> torch.Tensor:
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed)).to(dtype)


def integers(below: int, *shape: int, seed: int = 2, dtype: torch.dtype = torch.int64) -> torch.Tensor:
    return torch.randint(below, shape, generator=torch.Generator().manual_seed(seed)).to(dtype)


def close(actual: Any, expected: Any, rtol: float = RTOL, atol: float = ATOL) -> None:
    """Asserts the same structure, and the same numbers within tolerances; element types must agree."""
    found, structure = pytree.tree_flatten(actual)
    wanted, wanted_structure = pytree.tree_flatten_with_path(expected)
    assert structure == wanted_structure
    for one, (path, other) in zip(found, wanted, strict=True):
        where = pytree.keystr(path)
        if isinstance(other, torch.Tensor):
            exact: dict[str, Any] = {"rtol": rtol, "atol": atol, "equal_nan": True}
            torch.testing.assert_close(one, other.detach(), **exact, msg=lambda text, where=where: f"{where}: {text}")
        else:
            assert (type(one), one) == (type(other), other), where


def agree(
    model: nn.Module | Callable[..., Any],
    args: tuple[Any, ...] = (),
    kwargs: Mapping[str, Any] | None = None,
    *,
    dynamic_shapes: Any = None,
    rtol: float = RTOL,
    atol: float = ATOL,
) -> hotdesk.Program:
    """Compiles, runs twice and compares with eager; arguments and weights must be as they were. Returns the program."""
    module = model.eval() if isinstance(model, nn.Module) else Call(model)
    named = dict(kwargs or {})
    tensors = [leaf for leaf in pytree.tree_leaves((args, named)) if isinstance(leaf, torch.Tensor)]
    owned = [*tensors, *module.parameters(), *module.buffers()]
    before = [tensor.detach().clone() for tensor in owned]
    with torch.no_grad():
        expected = module(*args, **named)
    program = compile_model(module, args, named, dynamic_shapes=dynamic_shapes)
    for _ in range(2):
        close(program(*args, **named), expected, rtol, atol)
    for tensor, copy in zip(owned, before, strict=True):
        torch.testing.assert_close(tensor.detach(), copy, rtol=0, atol=0, equal_nan=True)
    check_memory(program, expected, args, named, rtol, atol)
    return program


def check_memory(
    program: hotdesk.Program,
    expected: Any,
    args: tuple[Any, ...],
    kwargs: Mapping[str, Any] | None = None,
    rtol: float = RTOL,
    atol: float = ATOL,
) -> None:
    """Runs a program under the memory checker: no fault, and the results of eager."""
    report = program.check(*args, **(kwargs or {}))
    assert report.clean, str(report)
    assert not report.stopped
    wanted = [leaf for leaf in pytree.tree_leaves(expected) if isinstance(leaf, torch.Tensor)]
    assert len(report.results) == len(wanted)
    for number, (result, want) in enumerate(zip(report.results, wanted, strict=True)):
        assert np.all(result.written), f"result {number} has elements that nobody wrote"
        found = _tensor(result.values, want.dtype)
        torch.testing.assert_close(found, want.detach(), rtol=rtol, atol=atol, equal_nan=True)


def _tensor(values: Any, dtype: torch.dtype) -> torch.Tensor:
    """An array of the checker's; NumPy has no `bfloat16`."""
    plain = values.astype(np.float32) if dtype == torch.bfloat16 else np.array(values, order="C")
    return torch.from_numpy(plain).to(dtype)
