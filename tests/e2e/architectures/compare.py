"""One architecture compiled and compared with eager PyTorch: `python -m tests.e2e.architectures.compare NAME`.

It fails unless two calls give eager's numbers. For a model that torch.export is said to refuse, it fails unless torch.export
does, for the reason that is given, and `hotdesk.compile` refuses it too.
"""

from __future__ import annotations

import sys

import pytest
import torch

import hotdesk
from hotdesk.errors import DataDependentShapeError, ExportError
from tests.e2e.architectures.architecture import Architecture
from tests.e2e.architectures.listed import ARCHITECTURES
from tests.e2e.checking import close


def compare(architecture: Architecture) -> None:
    """Raises AssertionError for other numbers than eager's, and whatever `hotdesk.compile` raises."""
    model = architecture.made()
    with torch.no_grad():
        expected = model(**architecture.given())
    program = hotdesk.compile(model, (), architecture.given())
    for _ in range(2):
        close(program(**architecture.given()), expected)


def refuse(architecture: Architecture, reason: str) -> None:
    """Raises AssertionError unless torch.export refuses the model with this reason, and `hotdesk.compile` says so."""
    model = architecture.made()
    with torch.no_grad(), pytest.raises(Exception, match=reason):
        torch.export.export(model, (), architecture.given(), strict=False)
    with pytest.raises((ExportError, DataDependentShapeError)) as refusal:
        hotdesk.compile(model, (), architecture.given())
    said_in_own_words = refusal.errisinstance(DataDependentShapeError)
    assert said_in_own_words == ("data-dependent" in reason)
    assert said_in_own_words or reason in str(refusal.value)


if __name__ == "__main__":
    chosen = ARCHITECTURES[sys.argv[1]]
    if chosen.unexported is None:
        compare(chosen)
    else:
        refuse(chosen, chosen.unexported)
