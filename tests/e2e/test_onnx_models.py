"""The ten example models as `torch.onnx` exports them: weights beside the file, mapped, and results as eager PyTorch's."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

import hotdesk
from examples.models import MODELS


@pytest.mark.slow
@pytest.mark.parametrize("name", MODELS)
def test_agrees_with_pytorch(name: str, tmp_path: Path) -> None:
    spec = MODELS[name]
    model, inputs = spec.build(), spec.inputs()
    exported = torch.onnx.export(model, inputs, dynamo=True, dynamic_shapes=spec.dynamic_shapes, verbose=False)
    assert exported is not None
    exported.save(tmp_path / "model.onnx", external_data=True)
    del exported
    program = hotdesk.compile(str(tmp_path / "model.onnx"))
    assert not program.foreign
    found: Any = program(*(each.numpy() for each in inputs))
    with torch.inference_mode():
        expected = model(*inputs).numpy()
    np.testing.assert_allclose(found, expected, rtol=spec.rtol, atol=spec.atol)
