"""Nothing that a program or a refusal says of sizes has the names that PyTorch, SymPy or the compiler gives them."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any, cast

import pytest
import torch
from torch import nn
from torch.export import Dim

import hotdesk
from hotdesk import Options
from hotdesk.errors import HotdeskError
from tests.e2e.checking import Call, ConvNet, random

BATCH, ROWS, LENGTH = Dim("batch", min=2, max=64), Dim("rows", min=3, max=64), Dim("length", min=2, max=32)
INTERNAL = re.compile(r"\b[su]\d+\b|opaque\d|Piecewise|\b(?:Max|Min|Mod|FloorDiv|ceiling|CeilToInt)\(|\bEq\(|\bNe\(")
"""Symbols of PyTorch's (`s77`, `u0`), placeholders of ours, and functions as SymPy spells them."""

Model = tuple[Callable[..., Any] | nn.Module, tuple[torch.Tensor, ...], Any]

MODELS: dict[str, Model] = {
    "rows": (lambda x: torch.tanh(x).sum(0), (random(4, 8),), ({0: BATCH},)),
    "two": (lambda x, y: torch.cat([x, y]) @ y.T, (random(4, 8), random(5, 8)), ({0: BATCH}, {0: LENGTH})),
    "product": (lambda x: (x @ x.T).softmax(-1) @ x, (random(4, 8),), ({0: BATCH},)),
    "flattened": (lambda x: x.reshape(-1, 8) + x.flatten(0, 1), (random(4, 6, 8),), ({0: BATCH, 1: LENGTH},)),
    "sliced": (lambda x: x[1:].exp() * x[:-1], (random(4, 8),), ({0: ROWS},)),
    "strided": (lambda x: x[::2].exp(), (random(4, 8),), ({0: ROWS},)),
    "pooled": (ConvNet(), (random(2, 3, 16, 16),), ({0: BATCH},)),
    "unnamed": (lambda x: x.cumsum(0) + x.mean(), (random(4, 8),), ({0: Dim.DYNAMIC},)),
    "images": (
        lambda x: nn.functional.max_pool2d(x, 2).flatten(1).sum(1),
        (random(2, 3, 8, 8),),
        ({0: BATCH, 2: 2 * cast(Any, Dim("half", min=2, max=16))},),
    ),
}


def _compiled(name: str, **options: Any) -> tuple[hotdesk.Program, tuple[torch.Tensor, ...]]:
    function, args, shapes = MODELS[name]
    model = function if isinstance(function, nn.Module) else Call(function)
    shapes = (shapes,) if isinstance(model, Call) else shapes
    return hotdesk.compile(model.eval(), args, dynamic_shapes=shapes, **options), args


def _said(program: hotdesk.Program, args: tuple[torch.Tensor, ...]) -> Iterator[str]:
    """What a program says of itself and of arguments that do not fit."""
    decisions = program.decisions(*args)
    yield str(program)
    yield from map(str, (*program.inputs, *program.results, *decisions))
    for decision in decisions:
        yield f"{decision.size} {decision.hint}"
    yield from (program.report(*args), str(program.summary(*args)))
    yield str(program.memory(*args))
    wrong = [
        tuple(torch.randn(*[size + 100 for size in arg.shape]) for arg in args),
        tuple(arg[:1] for arg in args),
        tuple(arg.double() for arg in args),
        tuple(arg.unsqueeze(0) for arg in args),
        (*args, args[0]),
    ]
    for given in wrong:
        with pytest.raises(HotdeskError) as caught:
            program(*given)
        yield str(caught.value)
    with pytest.raises(HotdeskError) as caught:
        program.memory({"nonsense": (1, 2)})
    yield str(caught.value)


@pytest.mark.parametrize("name", MODELS)
def test_programs(name: str) -> None:
    for text in _said(*_compiled(name)):
        found = INTERNAL.search(text)
        assert found is None, f"`{found[0]}` in: {text[max(0, found.start() - 200) : found.end() + 100]}"


REFUSED: dict[str, Model] = {
    "an op without a lowering": (lambda x: torch.linalg.svd(x).S, (random(4, 8),), ({0: BATCH},)),
    "a place of data": (lambda x: x.narrow(0, x.sum().to(torch.int64), 2), (random(4, 8),), ({0: BATCH},)),
    "a choice by data": (lambda x: x.exp() if x.sum() > 0 else x, (random(4, 8),), ({0: BATCH},)),
    "a size that is fixed": (lambda x: x + torch.ones(4, 8), (random(4, 8),), ({0: BATCH},)),
    "two sizes that are one": (lambda x, y: x + y, (random(4, 8), random(4, 8)), ({0: BATCH}, {0: LENGTH})),
    "a size that divides": (lambda x: x.reshape(2, -1), (random(4, 7),), ({0: BATCH},)),
    "a branch": (lambda x: x.exp() if x.shape[0] > 3 else x, (random(4, 8),), ({0: BATCH},)),
    "too small a budget": (lambda x: (x @ x.T).exp() @ x, (random(4, 8),), ({0: BATCH},)),
    "windows": (lambda x: nn.functional.adaptive_max_pool1d(x, 3), (random(2, 3, 8),), ({2: LENGTH},)),
}


@pytest.mark.parametrize("name", REFUSED)
def test_refusals(name: str) -> None:
    function, args, shapes = REFUSED[name]
    options: dict[str, Any] = {"budget": 16} if "budget" in name else {"options": Options(foreign=False)}
    with pytest.raises(HotdeskError) as caught:
        hotdesk.compile(Call(cast(Any, function)), args, dynamic_shapes=(shapes,), **options)
    text = str(caught.value)
    found = INTERNAL.search(text)
    assert found is None, f"`{found[0]}` in: {text}"
