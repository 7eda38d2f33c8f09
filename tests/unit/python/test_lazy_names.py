"""Names that are imported when they are first used are found, listed, and refused as those of any module are."""

from __future__ import annotations

import subprocess
import sys
from importlib import import_module

import pytest


@pytest.mark.parametrize("package", ["hotdesk", "hotdesk.explain", "hotdesk.planning", "hotdesk.report"])
def test_every_public_name_is_listed_before_it_is_used(package: str) -> None:
    code = f"import {package} as p; print(sorted(set(p.__all__) - set(dir(p))), set(p.__all__) <= set(vars(p)))"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout == "[] False\n"
    assert [
        name for name in import_module(package).__all__ if getattr(import_module(package), name, None) is None
    ] == []


def test_other_names_are_refused() -> None:
    with pytest.raises(AttributeError, match="module 'hotdesk.report' has no attribute 'Reports'"):
        _ = import_module("hotdesk.report").Reports


def test_modules_of_hotdesk_are_found_and_other_names_refused() -> None:
    code = "import hotdesk; print(hotdesk.frontends.__name__); hotdesk.nothing"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert run.stdout == "hotdesk.frontends\n"
    assert run.stderr.endswith("AttributeError: module 'hotdesk' has no attribute 'nothing'\n")
