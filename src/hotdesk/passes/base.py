"""What a pass is: a frozen record of options with a name, that changes a module and returns what it decided.

`hotdesk-opt --help` and the pass's page in docs/passes are made from what the pass says of itself:

1. the docstring of its module: what it does, in one sentence; IR before and after; the numbered conditions under which it is
   legal, or the analysis that numbers them, as in "Legal iff rules 1 to 5 of `analysis.fusion.elementwise` hold.";
2. the docstring of its class, with each field under `Options:`, one entry a field;
3. `reasons`: the reason codes of its decisions;
4. `requires` and `ensures`: what holds of the module before and after, which `apply` checks. A pass that improves what it can
   ensures nothing, since a program that it leaves as it is is right: its `reasons` say what it did, and what it left;
5. docs/passes/before/NAME.mlir: the program whose IR the page shows before and after.

`make pages` writes the pages again.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, ClassVar

if TYPE_CHECKING:
    from collections.abc import Iterable

    from hotdesk._bindings import ir
    from hotdesk.explain import Decision, Reason
    from hotdesk.passes.properties import Property


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

    def expanded(self) -> tuple[Pass, ...]:
        """The passes that run, one by one: this one, or those that it is made of, whose pages have the conditions."""
        return (self,)

    def requires(self) -> tuple[Property, ...]:
        """What has to hold of the module, with these options."""
        return ()

    def ensures(self) -> tuple[Property, ...]:
        """What holds of the module afterwards, with these options."""
        return ()

    def apply(self, module: ir.Module, *, verified: bool = True) -> tuple[Decision, ...]:
        """Runs, and checks what the pass requires, that the module verifies, and what the pass ensures.

        Must be called inside the module's context.

        Raises:
            PassError: the pass requires what does not hold, or does not keep what it ensures; names an op.
            InvalidIRError: the module does not verify any more.
        """
        from hotdesk.ir.context import verify  # to list passes takes no MLIR

        _check(module, self.requires(), f"pass '{self.name}'", "a module in which ")
        decisions = self.run(module)
        if verified:
            verify(module, self.name)
        _check(module, self.ensures(), f"the module after pass '{self.name}'", "that ")
        return decisions


class FunctionPass(Pass):
    """A pass that changes functions one by one: those of a module, and of modules nested in it."""

    @abstractmethod
    def run_on(self, function: ir.Operation) -> Iterable[Decision]:
        """Changes a function with a body in place, and gives the decisions taken, in program order."""

    def run(self, module: ir.Module) -> tuple[Decision, ...]:
        from hotdesk.ir.walking import all_functions  # to list passes takes no MLIR

        return tuple(decision for function in all_functions(module) for decision in self.run_on(function))


class StraightPass(FunctionPass):
    """A pass that changes functions one by one: those of a module that have one block."""

    def run(self, module: ir.Module) -> tuple[Decision, ...]:
        from hotdesk.ir.walking import straight_functions

        return tuple(decision for function in straight_functions(module) for decision in self.run_on(function))


def _check(module: ir.Module, properties: tuple[Property, ...], what: str, expected: str) -> None:
    for each in properties:
        op = each.broken_by(module)
        if op is not None:
            from hotdesk.errors import PassError
            from hotdesk.ir.locations import python_line

            where = python_line(op.location)
            raise PassError(what, expected=f"{expected}{each.says}", got=f"`{op.name}`", where=where)
