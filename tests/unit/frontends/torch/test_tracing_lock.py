"""No two threads trace at once, whichever way models come: what one takes out of PyTorch's tables another would put back."""

from __future__ import annotations

import threading
from collections.abc import Callable, Generator
from typing import Any

import pytest
import torch
from torch import Tensor, nn

import hotdesk
from hotdesk.torch_compile.backend import backend

_TURNS = 3.0
"""Seconds that a thread is given to do what it should not."""


@pytest.fixture(autouse=True)
def fresh() -> Generator[None]:
    torch._dynamo.reset()
    yield
    torch._dynamo.reset()


class Told(nn.Module):
    """Says that it is traced."""

    def __init__(self, event: threading.Event) -> None:
        super().__init__()
        self.layer = nn.Linear(3, 2)
        self.event = event

    def forward(self, x: Tensor) -> Tensor:
        self.event.set()
        return self.layer(x)


def exported(model: nn.Module, x: Tensor) -> Any:
    return hotdesk.compile(model, (x,))(x)


def stepped(model: nn.Module, x: Tensor) -> Any:
    return hotdesk.compile_step(
        model, nn.MSELoss(), torch.optim.SGD(model.parameters(), lr=0.1), (x, torch.zeros(2, 2))
    )


@pytest.mark.parametrize("way", [exported, stepped])
def test_nothing_is_traced_while_dynamo_compiles(way: Callable[[nn.Module, Tensor], Any]) -> None:
    way(Told(threading.Event()), torch.randn(2, 3))  # so that the next time it would be traced soon
    torch._dynamo.reset()
    traced = threading.Event()
    other = threading.Thread(target=way, args=(Told(traced), torch.randn(2, 3)), daemon=True)
    early: list[bool] = []

    def waiting(graph: torch.fx.GraphModule, inputs: Any) -> Any:
        other.start()
        early.append(traced.wait(_TURNS))
        return backend(graph, inputs)

    x = torch.randn(4)
    torch.testing.assert_close(torch.compile(torch.sin, backend=waiting)(x), x.sin())
    other.join(60)
    assert early == [False]
    assert traced.is_set()
    assert not other.is_alive()


def test_threads_leave_the_kernels_of_pytorch_as_they_were() -> None:
    """Some compile by `torch.compile`, others by `hotdesk.compile`, models whose ops are taken from PyTorch's tables."""

    def kernels() -> dict[Any, Any]:
        packets = [getattr(torch.ops.aten, name) for name in dir(torch.ops.aten)]
        ops = [getattr(each, name) for each in packets if hasattr(each, "overloads") for name in each.overloads()]
        return {op: dict(op.py_kernels) for op in ops}

    def model(number: int) -> nn.Module:
        return nn.Sequential(nn.Linear(4, 4 + number), nn.ReLU(), nn.Linear(4 + number, 2)).eval()

    x = torch.randn(3, 4)
    failed: list[BaseException] = []

    def run(number: int) -> None:
        made = model(number)
        try:
            with torch.no_grad():
                found = torch.compile(made, backend=backend)(x) if number % 2 else hotdesk.compile(made, (x,))(x)
                torch.testing.assert_close(found, made(x))
        except BaseException as error:
            failed.append(error)

    run(0)
    run(1)  # what is registered once
    before = kernels()
    threads = [threading.Thread(target=run, args=(number,)) for number in range(2, 6)]
    for each in threads:
        each.start()
    for each in threads:
        each.join(120)
    assert not failed
    assert kernels() == before
