"""Errors of an export name the result that is no tensor, where there is one."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch import nn

from hotdesk.errors import ExportError
from hotdesk.frontends.torch.constants import other_results_told


class _Returning(nn.Module):
    def __init__(self, value: Any) -> None:
        super().__init__()
        self.value = value

    def forward(self, x: torch.Tensor) -> Any:
        return x, self.value


def _fails_behind(model: nn.Module) -> None:
    with other_results_told(model):
        model(torch.ones(1))
        raise KeyError("of the export")


def test_an_error_names_the_result_that_is_no_tensor() -> None:
    with pytest.raises(ExportError, match=r"returns at `\[1\]`"):
        _fails_behind(_Returning(torch.float32))


def test_other_errors_stay_as_they_are() -> None:
    with pytest.raises(KeyError) as caught:
        _fails_behind(_Returning(1))
    assert caught.value.__cause__ is None
