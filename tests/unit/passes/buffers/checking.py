"""Programs before and after a pass under the memory checker."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from torch_mlir import ir

from hotdesk.checker import CheckReport, Settings, check_module
from hotdesk.ir.context import make_context
from hotdesk.passes.textual import parse_pipeline

FREE = "hotdesk-buffer-deallocation"


def through(text: str, *passes: str) -> str:
    """A program after passes, which verifies; it may have ops of dialects that are not registered."""
    context = make_context()
    context.allow_unregistered_dialects = True
    with context, ir.Location.unknown():
        module = ir.Module.parse(text)
        parse_pipeline(f"builtin.module({','.join(passes)})").run(module)
        module.operation.verify()
        return str(module)


def checked(text: str, *, freed: bool, sizes: Sequence[int] = ()) -> CheckReport:
    """What the checker tells of `@main`; fails if there is a fault."""
    with make_context(), ir.Location.unknown():
        report = check_module(ir.Module.parse(text), "main", sizes=list(sizes), settings=Settings(deallocated=freed))
    assert report.clean, str(report)
    return report


def freed_alike(text: str, *passes: str, sizes: Sequence[int] = ()) -> str:
    """A program after passes; fails unless it then frees all that it allocates, uses nothing freed, and computes the same."""
    before, changed = checked(text, freed=False, sizes=sizes), through(text, *passes)
    after = checked(changed, freed=True, sizes=sizes)
    for wanted, got in zip(before.results, after.results, strict=True):
        np.testing.assert_array_equal(wanted.values, got.values)
    return changed
