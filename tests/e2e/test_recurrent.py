"""Recurrent layers: loops over one step's kernels, equal to eager PyTorch, as small for a thousand steps as for a few."""

# PyTorch is annotated in part only.
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false
# pyright: reportArgumentType=false, reportCallIssue=false

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch import nn
from torch.export import Dim
from torch.utils import _pytree as pytree

import hotdesk
from tests.e2e.checking import random

LAYERS: dict[str, tuple[type[nn.RNNBase], dict[str, Any]]] = {
    "lstm": (nn.LSTM, {}),
    "lstm both ways": (nn.LSTM, {"num_layers": 2, "bidirectional": True, "batch_first": True}),
    "lstm that projects": (nn.LSTM, {"num_layers": 2, "bidirectional": True, "proj_size": 3}),
    "lstm that projects, without biases": (nn.LSTM, {"proj_size": 3, "bias": False}),
    "lstm with dropout": (nn.LSTM, {"num_layers": 2, "dropout": 0.5}),
    "lstm of doubles": (nn.LSTM, {"dtype": torch.float64}),
    "gru": (nn.GRU, {"bias": False}),
    "gru both ways": (nn.GRU, {"num_layers": 2, "bidirectional": True, "batch_first": True}),
    "rnn": (nn.RNN, {"bidirectional": True}),
    "rnn of relu": (nn.RNN, {"num_layers": 2, "nonlinearity": "relu", "batch_first": True}),
}


def made(name: str) -> nn.RNNBase:
    kind, options = LAYERS[name]
    torch.manual_seed(0)
    return kind(5, 6, **options).eval().requires_grad_(False)


def begin(layer: nn.RNNBase, batch: int) -> Any:
    """A state to begin with, none of whose elements is zero."""
    count = layer.num_layers * (2 if layer.bidirectional else 1)
    hidden = random(count, batch, layer.proj_size or 6).to(layer.weight_hh_l0.dtype)
    return (hidden, random(count, batch, 6).to(hidden.dtype)) if isinstance(layer, nn.LSTM) else hidden


def close(found: Any, expected: Any) -> None:
    for each, other in zip(pytree.tree_leaves(found), pytree.tree_leaves(expected), strict=True):
        torch.testing.assert_close(each, other, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("name", LAYERS)
def test_as_in_eager(name: str) -> None:
    layer = made(name)
    x = random(3, 7, 5).to(layer.weight_hh_l0.dtype)
    state = begin(layer, 3 if layer.batch_first else 7)
    program = hotdesk.compile(layer, (x, state), options=hotdesk.Options(foreign=False))
    for each in (x, -x):
        close(program(each, state), layer(each, state))
    assert not program.check(x, state).faults
    memory = program.memory(x, state)
    assert memory.arena == memory.lower_bound


@pytest.mark.parametrize("name", ["lstm both ways", "gru"])
def test_any_number_of_steps_is_one_loop(name: str) -> None:
    layer = made(name)
    few, many = (random(8, steps, 5) if layer.batch_first else random(steps, 8, 5) for steps in (8, 80))
    programs = [hotdesk.compile(layer, (x,)) for x in (few, many)]
    assert len(programs[0].decisions()) == len(programs[1].decisions())
    close(programs[1](many), layer(many))


def test_a_plan_for_the_sizes_of_a_call_has_its_bound_raised() -> None:
    """Plans on a call have a bound that counts what results could lend byte by byte; `memory` tells what whole buffers need."""
    program = hotdesk.compile(
        made("gru both ways"), (random(6, 6, 5),), dynamic_shapes=({1: Dim("steps", min=1, max=512)},)
    )
    memory = program.memory(random(6, 1, 5))
    assert memory.certificate is not None
    assert memory.arena == memory.lower_bound == memory.certificate.bytes == 1472


@pytest.mark.parametrize("name", ["lstm", "gru both ways", "rnn"])
def test_sequences_whose_length_varies(name: str) -> None:
    layer = made(name)
    dim = 1 if layer.batch_first else 0
    program = hotdesk.compile(layer, (random(6, 6, 5),), dynamic_shapes=({dim: Dim("steps", min=1, max=512)},))
    for steps in (6, 2, 1, 500):
        x = random(6, steps, 5) if layer.batch_first else random(steps, 6, 5)
        close(program(x), layer(x))


def test_one_step_is_no_loop() -> None:
    layer = made("lstm both ways")
    x = random(4, 1, 5)
    program = hotdesk.compile(layer, (x,))
    close(program(x), layer(x))


def test_an_exported_program() -> None:
    layer = made("lstm")
    exported = torch.export.export(layer, (random(40, 2, 5),))
    program = hotdesk.compile(exported)
    x = random(40, 2, 5)
    close(program(x), layer(x))
    assert len(program.decisions()) == len(hotdesk.compile(layer, (random(8, 2, 5),)).decisions())


def test_dropout_between_layers_in_training() -> None:
    """The first layer's results are dropped or scaled: with weights of one behind it, what comes out says which."""
    layer = nn.LSTM(5, 6, num_layers=2, dropout=0.5).requires_grad_(False).train()
    x = random(40, 3, 5)
    program = hotdesk.compile(layer, (x,), seed=4, options=hotdesk.Options(foreign=False))
    drawn = [program(x)[0] for _ in range(2)]
    assert not torch.equal(*drawn)
    assert len(program.decisions()) < 60  # and not one for each step
    program.seed(4)
    assert torch.equal(program(x)[0], drawn[0])
    first = nn.LSTM(5, 6).requires_grad_(False)
    second = nn.LSTM(6, 6).requires_grad_(False)
    for name, value in layer.named_parameters():
        target = first if "_l0" in name else second
        getattr(target, name.replace("_l1", "_l0")).copy_(value)
    rate = hotdesk.compile(nn.Dropout(0.5).train(), (random(40, 3, 6),), seed=4)
    close(drawn[0], second(rate(first(x)[0]))[0])
