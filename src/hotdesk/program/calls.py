"""Functions of a module, callees before their callers, and what each may assume about the arguments it is called with."""

from __future__ import annotations

from dataclasses import dataclass

from hotdesk._bindings import ir
from hotdesk.graphs import strong_components
from hotdesk.ir.functions import is_private, references
from hotdesk.ir.walking import defined_functions, symbol_name


@dataclass(frozen=True, slots=True)
class Callable:
    """A function with a body.

    Attributes:
        called: whether an op of the module calls it.
        recursive: whether it may call itself, directly or through others.
        followed: whether all who call it are known: it is private and only called, so that it may overwrite its arguments, and
            its callers copy what they still want.
    """

    function: ir.Operation
    called: bool
    recursive: bool
    followed: bool

    @property
    def owned(self) -> bool:
        """Whether all who call it are known and come after it."""
        return self.followed and not self.recursive


def bottom_up(module: ir.Module) -> list[Callable]:
    """The functions of a module that have bodies, each after those it calls, otherwise in order."""
    return [each for group in groups(module) for each in group]


def groups(module: ir.Module) -> list[tuple[Callable, ...]]:
    """The functions of a module that have bodies: those that call each other together, each group after those it calls."""
    functions = {symbol_name(function): function for function in defined_functions(module)}
    calls: dict[str, dict[str, None]] = {name: {} for name in functions}
    called, named = set[str](), set[str]()
    for each in references(module):
        if each.calls and each.name in functions:
            calls[symbol_name(each.within)][each.name] = None
        (called if each.calls else named).add(each.name)
    found: list[tuple[Callable, ...]] = []
    for component in strong_components(calls):
        recursive = len(component) > 1 or component[0] in calls[component[0]]
        followed = {name: is_private(functions[name]) and name in called and name not in named for name in component}
        found.append(tuple(Callable(functions[name], name in called, recursive, followed[name]) for name in component))
    return found
