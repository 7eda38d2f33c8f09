"""What every refusal is held to, and where in a model it comes from."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable
from typing import Any

import torch
from torch import nn

from hotdesk.errors import HotdeskError


def well_formed(error: HotdeskError) -> None:
    assert re.fullmatch(r"HD\d{3}", error.code)
    assert str(error).endswith(f"[{error.code}]")
    assert error.what
    assert error.expected is not None or error.got is not None


def line_of(function: Callable[..., Any]) -> str:
    """`file:line` of the line of `function` marked with `# here`."""
    lines, first = inspect.getsourcelines(function)
    return f"{inspect.getsourcefile(function)}:{first + next(i for i, line in enumerate(lines) if '# here' in line)}"


class Scaled(nn.Module):
    def forward(self, x: torch.Tensor, n: Any = 2) -> torch.Tensor:
        return x * n
