"""Models under the memory checker: no fault in any family, and the results that there should be.

The example models themselves are slow tests; small ones of the same families run with every run of the tests.
"""

from __future__ import annotations

import pytest

from examples.models import MODELS
from hotdesk.compiling.compile import compile as compile_model
from tests.e2e.checking import agree, check_memory
from tests.e2e.small_models import SMALL_MODELS


@pytest.mark.parametrize("name", SMALL_MODELS)
def test_small_models(name: str) -> None:
    spec = SMALL_MODELS[name]
    agree(spec.build(), spec.inputs(), rtol=spec.rtol, atol=spec.atol)


@pytest.mark.slow
@pytest.mark.parametrize("name", MODELS)
def test_example_models(name: str) -> None:
    """Machine code is compared with eager in `test_models.py`."""
    spec = MODELS[name]
    model, inputs = spec.build(), spec.inputs()
    program = compile_model(model, inputs, dynamic_shapes=spec.dynamic_shapes)
    check_memory(program, program(*inputs), inputs, rtol=spec.rtol, atol=spec.atol)


def test_each_family_has_a_small_model() -> None:
    """The demo and the perceptron are small as they are; MobileNetV2 has as many layers however narrow they are."""
    assert SMALL_MODELS.keys() == MODELS.keys() - {"demo", "mlp", "mobilenetv2"}
