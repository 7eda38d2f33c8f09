"""What a model assigns to its buffers is their contents in the next call, in any module, as in eager PyTorch."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import nn

import hotdesk
from hotdesk.errors import ExportError
from tests.e2e.checking import close, random


class Model(nn.Module):
    def __init__(self, function: Callable[[Any, torch.Tensor], Any]) -> None:
        super().__init__()
        self.function = function
        for name, value in zip("abc", (1.0, 2.0, 3.0), strict=True):
            self.register_buffer(name, torch.full((3,), value) + torch.arange(3))
        self.weight = nn.Parameter(torch.ones(3))

    def forward(self, x: torch.Tensor) -> Any:
        return self.function(self, x)


def _counted(self: Any, x: torch.Tensor) -> Any:
    self.a = self.a + 1
    return x * self.a


def _turned(self: Any, x: torch.Tensor) -> Any:
    self.a, self.b, self.c = self.b, self.c, self.a
    return x + self.a


def _argument(self: Any, x: torch.Tensor) -> Any:
    self.a, old = x, self.a
    return x + old


def _old_kept(self: Any, x: torch.Tensor) -> Any:
    old, self.a = self.a, self.a + x
    return old * 1, self.a


def _views(self: Any, x: torch.Tensor) -> Any:
    self.a, self.b, self.c = self.b.flip(0), self.c[:], self.c + x
    return self.a - self.b


def _in_place_too(self: Any, x: torch.Tensor) -> Any:
    self.a = self.a + x
    self.a.mul_(2)
    self.b.add_(self.a)
    self.b = self.b * 2
    return self.a + self.b


def _number(self: Any, x: torch.Tensor) -> Any:
    y, self.a = x + self.a, torch.tensor([1.0, 2.0, 4.0])
    return y


def _numbers_added_to(self: Any, x: torch.Tensor) -> Any:
    total = torch.tensor([1.0, 2.0, 4.0])
    total.add_(x)
    self.a = total
    return total + x


def _of_another_type(self: Any, x: torch.Tensor) -> Any:
    self.a = (x > 0).to(torch.int64)
    return self.a * x


def _parameter(self: Any, x: torch.Tensor) -> Any:
    self.weight = nn.Parameter(self.weight * 2)
    return x + self.weight


def _kept_for_who_looks(self: Any, x: torch.Tensor) -> Any:
    self.last = x * 2
    return self.last + self.a


FUNCTIONS = (
    _counted,
    _turned,
    _argument,
    _old_kept,
    _views,
    _in_place_too,
    _number,
    _numbers_added_to,
    _of_another_type,
    _parameter,
)


@pytest.mark.parametrize("function", [*FUNCTIONS, _kept_for_who_looks])
@pytest.mark.parametrize("depth", [0, 2])
def test_as_in_eager(function: Callable[[Any, torch.Tensor], Any], depth: int) -> None:
    model: nn.Module = Model(function)
    for _ in range(depth):
        model = nn.Sequential(model)
    eager = copy.deepcopy(model)
    forward, hooks = model.forward, len(model._forward_hooks) + len(model._forward_pre_hooks)
    program = hotdesk.compile(model, (random(3),))
    assert model.forward == forward
    assert len(model._forward_hooks) + len(model._forward_pre_hooks) == hooks
    for seed in range(3):
        x = random(3, seed=seed)
        with torch.no_grad():
            close(program(x), eager(x))
    kept, wanted = model.state_dict(), eager.state_dict()
    for name, tensor in kept.items():
        close(tensor, wanted[name].to(tensor.dtype))


def test_a_module_that_runs_twice() -> None:
    class Twice(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.inner = Model(_counted)

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return self.inner(x) - self.inner(x.sin())

    model = Twice()
    eager = copy.deepcopy(model)
    program = hotdesk.compile(model, (random(3),))
    for seed in range(3):
        close(program(random(3, seed=seed)), eager(random(3, seed=seed)))
    close(model.inner.a, eager.inner.a)


def test_other_sizes_are_refused() -> None:
    def longer(self: Any, x: torch.Tensor) -> Any:
        self.a = torch.cat([self.a, x])
        return self.a.sum()

    model = Model(longer)
    with pytest.raises(ExportError, match=r"assigns `0\.a`: expected the sizes that it has: \(3,\), got \(6,\)"):
        hotdesk.compile(nn.Sequential(model), (random(3),))
    assert not model._forward_hooks
    assert model.a.shape == (3,)


def _plain_assigned(self: Any, x: torch.Tensor) -> Any:
    self.plain = self.plain + x
    return self.plain * 2


def _plain_changed(self: Any, x: torch.Tensor) -> Any:
    self.plain[1:].add_(x[1:])
    return self.plain * 2


@pytest.mark.parametrize(("function", "verb"), [(_plain_assigned, "assigns"), (_plain_changed, "changes")])
def test_an_attribute_that_is_no_buffer_is_refused(function: Callable[[Any, torch.Tensor], Any], verb: str) -> None:
    model = Model(function)
    model.plain = torch.ones(3)  # type: ignore[assignment]
    with pytest.raises(ExportError, match=rf"{verb} `0\.plain`: expected a buffer"):
        hotdesk.compile(nn.Sequential(model), (random(3),))


def _mean_and_count(self: Any, x: torch.Tensor) -> Any:
    self.a, self.b = self.a + 1, 0.5 * self.b + x.detach().mean(0)
    return x * self.a + self.b


@pytest.mark.parametrize("function", [_mean_and_count, _turned])
def test_steps_of_training(function: Callable[[Any, torch.Tensor], Any]) -> None:
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(3, 3), Model(function), nn.Linear(3, 1))
    eager = copy.deepcopy(model)
    optimizers = [torch.optim.SGD([*each[0].parameters(), *each[2].parameters()], lr=0.1) for each in (model, eager)]
    x, y = random(4, 3), torch.ones(4, 1)
    step = hotdesk.compile_step(model, nn.functional.mse_loss, optimizers[0], (x, y))
    for _ in range(3):
        optimizers[1].zero_grad()
        loss = nn.functional.mse_loss(eager(x), y)
        loss.backward()
        optimizers[1].step()
        close(step(x, y), loss.detach())
        for name, tensor in model.state_dict().items():
            close(tensor, eager.state_dict()[name])


def test_a_parameter_that_is_trained_is_not_assigned() -> None:
    model = nn.Sequential(nn.Linear(3, 3), Model(_parameter))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    with pytest.raises(ExportError, match=r"assigns `1\.weight`"):
        hotdesk.compile_step(model, nn.functional.mse_loss, optimizer, (random(4, 3), random(4, 3)))
