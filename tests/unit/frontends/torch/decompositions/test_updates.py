"""Updates by fused optimizers, taken apart, are what PyTorch's kernels compute."""

from __future__ import annotations

from typing import Any

import pytest
import torch

from hotdesk.frontends.torch.decompositions.updates import UPDATES

aten: Any = torch.ops.aten
SHAPES = ((3, 5), (7,), ())


def tensors(seed: int) -> list[torch.Tensor]:
    generator = torch.Generator().manual_seed(seed)
    return [torch.randn(shape, generator=generator) for shape in SHAPES]


@pytest.mark.parametrize("name", ["_fused_adam", "_fused_adamw"])
@pytest.mark.parametrize("amsgrad", [False, True])
@pytest.mark.parametrize(("maximize", "weight_decay"), [(False, 0.0), (True, 0.1)])
def test_adam(name: str, amsgrad: bool, maximize: bool, weight_decay: float) -> None:
    squares = [each.abs() for each in tensors(3)]
    given = (tensors(0), tensors(1), tensors(2), squares, [each * 0.5 for each in squares] if amsgrad else [])
    steps = [torch.tensor(4.0) for _ in SHAPES]
    settings = {"beta1": 0.9, "beta2": 0.99, "weight_decay": weight_decay, "eps": 1e-8}
    flags = {"amsgrad": amsgrad, "maximize": maximize}
    for overload, lr in (("default", 0.1), ("tensor_lr", torch.tensor(0.1))):
        op = getattr(getattr(aten, name), overload)
        expected = op(*given, steps, lr=lr, **settings, **flags)
        torch.testing.assert_close(UPDATES[op](*given, steps, lr=lr, **settings, **flags), expected, rtol=2e-5, atol=1e-6)


@pytest.mark.parametrize("first", [False, True])
@pytest.mark.parametrize(("momentum", "nesterov", "weight_decay"), [(0.0, False, 0.1), (0.9, False, 0.0), (0.9, True, 0.1)])
def test_sgd(first: bool, momentum: float, nesterov: bool, weight_decay: float) -> None:
    settings = {"weight_decay": weight_decay, "momentum": momentum, "dampening": 0.0, "nesterov": nesterov}
    flags = {"maximize": nesterov, "is_first_step": first}
    momenta = tensors(2) if momentum else []
    for overload, lr in (("default", 0.1), ("tensor_lr", torch.tensor(0.1))):
        op = getattr(aten._fused_sgd, overload)
        expected = op(tensors(0), tensors(1), momenta, lr=lr, **settings, **flags)
        found = UPDATES[op](tensors(0), tensors(1), momenta, lr=lr, **settings, **flags)
        torch.testing.assert_close(found, expected, rtol=1e-5, atol=1e-6)


def test_scaled_gradients_and_narrow_parameters_are_left() -> None:
    settings = {"weight_decay": 0.0, "momentum": 0.0, "dampening": 0.0, "nesterov": False, "lr": 0.1}
    flags = {"maximize": False, "is_first_step": False}
    update = UPDATES[aten._fused_sgd.default]
    scale = torch.ones(())
    assert update(tensors(0), tensors(1), [], **settings, **flags, grad_scale=scale, found_inf=scale) is NotImplemented
    narrow = [each.bfloat16() for each in tensors(0)]
    assert update(narrow, narrow, [], **settings, **flags) is NotImplemented
