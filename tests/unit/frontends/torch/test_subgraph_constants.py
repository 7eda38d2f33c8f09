"""Tensors in branches and bodies are arguments, whatever their sizes, and however deep they are."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch._higher_order_ops import while_loop

import hotdesk
from hotdesk.frontends.torch.export import export
from hotdesk.frontends.torch.subgraph_constants import lifted
from tests.e2e.checking import Call, close, random
from tests.unit.frontends.torch.numbers_in_subgraphs import PAIR, both_ways, loop, mapped, scanned


def _loops(x: torch.Tensor) -> Any:
    def inner(x: torch.Tensor) -> torch.Tensor:
        return while_loop(lambda j, x: j < 2, lambda j, x: (j + 1, x.sin()), (torch.tensor(0), x))[1]

    return while_loop(lambda i, x: i < 3, lambda i, x: (i + 1, inner(x) + torch.tensor(PAIR)), (torch.tensor(0), x))


def _named_alike(x: torch.Tensor, held: torch.Tensor) -> Any:
    return torch.cond(x.sum() > 0, lambda x, h: x + torch.tensor(2.0) * h, lambda x, h: x - h, (x, held))


@pytest.mark.parametrize("function", [both_ways, loop, _loops, scanned, mapped])
def test_as_in_eager(function: Callable[[torch.Tensor], Any]) -> None:
    x = random(3, 2).abs()
    program = hotdesk.compile(Call(function), (x,))
    for given in (x, -x, x * torch.tensor(PAIR)):
        close(program(given), function(given))


def test_an_argument_of_the_same_name() -> None:
    x, held = random(3, 2).abs(), random(3, 2)
    program = hotdesk.compile(Call(_named_alike), (x, held))
    for given in (x, -x):
        close(program(given, held), _named_alike(given, held))


@pytest.mark.parametrize("kind", ["buffer", "not saved", "module"])
def test_the_model_has_something_of_the_same_name(kind: str) -> None:
    class Holding(torch.nn.Module):
        held: Any

        def __init__(self) -> None:
            super().__init__()
            if kind == "module":
                self.held = torch.nn.PReLU(2, 3.0)
            else:
                self.register_buffer("held", torch.tensor(PAIR), persistent=kind == "buffer")

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            y = torch.cond(x.sum() > 0, lambda x: x + torch.tensor([5.0, 7.0]), lambda x: x - 1, (x,))
            return self.held(y) if kind == "module" else y * self.held

    x = random(3, 2).abs()
    program = hotdesk.compile(Holding(), (x,))
    for given in (x, -x):
        close(program(given), Holding()(given).detach())


def test_the_program_is_left_as_it_is() -> None:
    x = random(3, 2)
    exported = export(Call(both_ways), (x,)).program
    code, constants = exported.graph_module.code, dict(exported.constants)
    made = lifted(exported)
    assert sorted(tuple(each.shape) for each in made.constants.values()) == [(), (2,)]
    assert (exported.graph_module.code, exported.constants) == (code, constants)
    assert lifted(made) is made
