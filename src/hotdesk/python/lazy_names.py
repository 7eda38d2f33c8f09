"""Names of a package that are imported when they are first used: who loads a program needs few of them."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from typing import Any


def lazy_names(
    package: str, modules: Mapping[str, Sequence[str]], *, submodules: bool = False
) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """The `__getattr__` and the `__dir__` of a package, given its modules with the names that come from each.

    With `submodules` the names of its modules are found too. Ctrl-C waits for the end of an import (`whole_imports`).
    """
    places = {name: f"{package}.{module}" for module, names in modules.items() for name in names}

    def found(name: str) -> Any:
        if name in places:
            from hotdesk.python.whole_imports import whole_imports

            with whole_imports():
                return vars(sys.modules[package]).setdefault(name, getattr(import_module(places[name]), name))
        module = f"{package}.{name}"
        try:
            if submodules:
                return import_module(module)
        except ModuleNotFoundError as error:
            if error.name != module:
                raise
        raise AttributeError(f"module '{package}' has no attribute '{name}'", name=name)

    return found, lambda: sorted({*vars(sys.modules[package]), *places})
