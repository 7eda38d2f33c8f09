"""What a pass is: a frozen record of options with a name, that changes a module and returns what it decided."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import ClassVar

from hotdesk._bindings import ir
from hotdesk.explain import Decision


class Pass(ABC):
    """A transformation of a module. Subclasses are frozen dataclasses whose fields are the options.

    Attributes:
        name: the command-line name.
    """

    name: ClassVar[str]

    @abstractmethod
    def run(self, module: ir.Module) -> tuple[Decision, ...]:
        """Changes `module` in place and returns the decisions taken, in program order."""
