"""What PyTorch raises while it captures a model names no symbol of its own in the error that users see."""

from __future__ import annotations

import pytest

from hotdesk.errors import DataDependentShapeError
from hotdesk.frontends.torch.refusals import refusal


@pytest.mark.parametrize("symbol", ["u0", "zuf0", "zu3", "uf12"])
def test_symbols_of_the_tracer_are_not_shown(symbol: str) -> None:
    raised = RuntimeError(f"Could not guard on data-dependent expression {symbol} (unhinted: {symbol}).")
    error = refusal(raised, "torch.export cannot capture the model", "")
    assert isinstance(error, DataDependentShapeError)
    assert symbol not in str(error)
