"""What one-shot bufferization refuses. What it does, and what it leaves alone, is in tests/filecheck/bufferize."""

from __future__ import annotations

import pytest

from hotdesk.errors import BufferizationError
from hotdesk.passes.bufferize.one_shot import OneShotBufferize
from tests.unit.parsing import parse, run


def test_a_function_that_never_returns_is_named() -> None:
    text = "func.func @f(%x: tensor<8xf32>) -> tensor<8xf32> {\n  cf.br ^a\n^a:\n  cf.br ^a\n}"
    with pytest.raises(BufferizationError, match="function: expected an op that returns, got none") as caught:
        run(parse(text), OneShotBufferize())
    assert caught.value.where == "-:2:3"
