from collections.abc import Callable
from typing import Any

from torch._ops import OperatorBase

def get_decomposition_table() -> dict[OperatorBase, Callable[..., Any]]: ...
