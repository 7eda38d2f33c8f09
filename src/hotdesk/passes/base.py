"""What a pass is: a frozen record of options with a name, that changes a module and returns what it decided.

`hotdesk-opt --help` and the pass's page in docs/passes are made from what the pass says of itself:

1. the docstring of its module: what it does, in one sentence; IR before and after; the numbered conditions under which it is
   legal, or the analysis that numbers them, as in "Legal iff rules 1 to 5 of `analysis.fusion.elementwise` hold.";
2. the docstring of its class, with each field under `Options:`, one entry a field;
3. `reasons`: the reason codes of its decisions;
4. docs/passes/before/NAME.mlir: the program whose IR the page shows before and after.

`make pages` writes the pages again.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, ClassVar

if TYPE_CHECKING:
    from hotdesk._bindings import ir
    from hotdesk.explain import Decision, Reason


class Pass(ABC):
    """A transformation of a module. Subclasses are frozen dataclasses whose fields are the options.

    Attributes:
        name: the command-line name.
        reasons: the codes that its decisions have.
    """

    name: ClassVar[str]
    reasons: ClassVar[tuple[Reason, ...]] = ()

    @abstractmethod
    def run(self, module: ir.Module) -> tuple[Decision, ...]:
        """Changes `module` in place and returns the decisions taken, in program order."""
