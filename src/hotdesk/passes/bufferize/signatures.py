"""The check shared by passes that change signatures: nothing but calls names such a function."""

from __future__ import annotations

from collections.abc import Iterable

from hotdesk._bindings import ir
from hotdesk.errors import BufferizationError
from hotdesk.ir.functions import find_uses
from hotdesk.ir.locations import python_line


def require_calls_alone(module: ir.Module, changing: Iterable[str]) -> None:
    """Raises `BufferizationError` where another op than `func.call` names a function whose signature is to change."""
    uses = find_uses(module)
    for name in changing:
        for other in uses[name].others if name in uses else ():
            raise BufferizationError(
                f"function @{name}", expected="calls of it alone", got=f"`{other.name}`",
                where=python_line(other.location) or None,
            )  # fmt: skip
