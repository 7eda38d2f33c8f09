"""Names of a package that are imported when they are first used: who loads a program needs few of them."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from typing import Any


def lazy_names(
    package: str, modules: Mapping[str, Sequence[str]]
) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """The `__getattr__` and the `__dir__` of a package, given its modules with the names that come from each."""
    places = {name: f"{package}.{module}" for module, names in modules.items() for name in names}

    def found(name: str) -> Any:
        if name not in places:
            raise AttributeError(f"module '{package}' has no attribute '{name}'", name=name)
        return vars(sys.modules[package]).setdefault(name, getattr(import_module(places[name]), name))

    return found, lambda: sorted({*vars(sys.modules[package]), *places})
