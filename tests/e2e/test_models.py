"""The ten example models: results, the size of the arena, the report, and that no weight is copied.

Each model is compiled once; the result of PyTorch is computed in float64, so that rounding of the reference does not count.
"""

from __future__ import annotations

import copy
import gc
from collections.abc import Generator
from dataclasses import dataclass

import pytest
import torch
from torch import nn

import hotdesk
from examples.models import MODELS, ModelSpec
from hotdesk.frontends.captured import Weight
from hotdesk.frontends.torch.export import capture
from tests.e2e.checking import close

BATCHES = (1, 2, 7, 64)


@dataclass(frozen=True, slots=True)
class Compiled:
    """A model, its inputs, its program and the result of a call."""

    spec: ModelSpec
    model: nn.Module
    inputs: tuple[torch.Tensor, ...]
    program: hotdesk.Program
    result: torch.Tensor


@pytest.fixture(scope="module", params=MODELS)
def compiled(request: pytest.FixtureRequest) -> Generator[Compiled]:
    spec = MODELS[request.param]
    model, inputs = spec.build(), spec.inputs()
    program = hotdesk.compile(model, inputs, dynamic_shapes=spec.dynamic_shapes)
    yield Compiled(spec, model, inputs, program, program(*inputs))
    del model, program
    gc.collect()


def _doubled(model: nn.Module, inputs: tuple[torch.Tensor, ...]) -> torch.Tensor:
    """The model's result computed in float64."""
    wide = tuple(given.double() if given.is_floating_point() else given for given in inputs)
    with torch.no_grad():
        return copy.deepcopy(model).double()(*wide)


def test_agrees_with_float64(compiled: Compiled) -> None:
    expected = _doubled(compiled.model, compiled.inputs)
    torch.testing.assert_close(compiled.result.double(), expected, rtol=compiled.spec.rtol, atol=compiled.spec.atol)


def test_a_second_call_gives_the_same(compiled: Compiled) -> None:
    out = torch.full_like(compiled.result, torch.nan)
    compiled.program(*compiled.inputs, out=out)
    torch.testing.assert_close(out, compiled.result, rtol=0, atol=0)


def test_arena_is_close_to_the_lower_bound(compiled: Compiled) -> None:
    memory = compiled.program.memory(*compiled.inputs)
    assert memory.lower_bound <= memory.arena <= 1.05 * memory.lower_bound
    assert memory.arena <= memory.no_reuse


def test_report(compiled: Compiled) -> None:
    lines = compiled.program.report(*compiled.inputs).splitlines()
    assert len(lines) <= 20
    assert any(line.startswith("arena") for line in lines)


def test_sizes(compiled: Compiled) -> None:
    memory = compiled.program.memory(*compiled.inputs)
    tensors = [*compiled.model.parameters(), *compiled.model.buffers()]
    held = {tensor.data_ptr(): tensor.nbytes for tensor in tensors}
    assert memory.weights <= sum(held.values()) + 4096  # and constants that the model makes in its code
    assert memory.prepared <= PREPARED.get(compiled.spec.name, 0.02) * memory.weights + 4096
    assert memory.inputs == sum(given.nbytes for given in compiled.inputs)
    assert memory.outputs == compiled.result.nbytes


PREPARED = {"unet": 0.1, "whisper_tiny_encoder": 0.1}
"""What `@prepare` may make, as a part of the weights."""


@pytest.mark.parametrize("name", ["demo", "resnet50"])
def test_weights_stay_where_they_are(name: str) -> None:
    spec = MODELS[name]
    model = spec.build()
    captured = capture(model, spec.inputs(), dynamic_shapes=spec.dynamic_shapes)
    held = {**dict(model.named_parameters()), **dict(model.named_buffers())}
    weights = [argument for argument in captured.arguments if isinstance(argument, Weight)]
    assert weights
    for weight in weights:
        assert weight.tensor.data_ptr() == held[weight.spec.name].data_ptr()


def test_demo_with_every_batch() -> None:
    spec = MODELS["demo"]
    model = spec.build()
    options = hotdesk.Options(keep_ir=True)
    program = hotdesk.compile(model, spec.inputs(), dynamic_shapes=spec.dynamic_shapes, options=options)
    for batch in BATCHES:
        inputs = spec.inputs(batch)
        close(program(*inputs), model(*inputs), spec.rtol, spec.atol)
        memory = program.memory(*inputs)
        assert (memory.arena, memory.outputs) == (0, batch * 100 * 4)
    main = program.ir("llvm").partition("@hotdesk_main")[2].partition("llvm.return")[0]
    assert 1 <= main.count("llvm.call") <= 2
