"""What tests of models have in common."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from hotdesk.models import model_of, registry


@pytest.fixture(autouse=True)
def registered() -> Iterator[None]:
    """What a test registers is gone after it."""
    model_of("")
    before = dict(registry._MODELS)
    yield
    registry._MODELS.clear()
    registry._MODELS.update(before)
