"""What is left to run time is never more than with MLIR's ownership-based deallocation, on any program that there is.

MLIR's is asked in a process of its own, on the same module; both are tidied afterwards.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from torch_mlir import ir

from hotdesk.errors import BufferizationError
from hotdesk.ir.context import entered, make_context, run_mlir_passes
from hotdesk.passes.buffers.deallocate import DeallocateAfterLastUse
from tests.running import MLIR_UNFREED, OURS
from tests.running.apart import run_apart
from tests.running.examples import EXAMPLES, one_of_each_kind
from tests.running.executable import main_of
from tests.running.ownership import runtime_checks
from tests.running.subjects import mark_arguments
from tests.unit.passes.buffers.deallocation_programs import PROGRAMS

_FILES = Path(__file__).parents[3] / "filecheck" / "buffers"
_FREED = "builtin.module(buffer-deallocation-pipeline,convert-bufferization-to-memref,canonicalize,cse)"
_BUFFERIZED = MLIR_UNFREED.pipeline.removesuffix(")") + ",canonicalize,cse)"
_OURS = OURS.pipeline.removesuffix(")") + ",canonicalize,cse)"
_TEXTS = {
    f"{path.stem} {number}": text
    for path in sorted(_FILES.glob("*.mlir"))
    for number, text in enumerate(re.split(r"^// -----.*$", path.read_text(encoding="utf-8"), flags=re.MULTILINE))
    if ".dealloc" not in re.sub("//.*", "", text)
    and path.stem != "buffer-deallocation-outlived"  # none of which it takes
}
_ABOUT_OWNERS = "buffer-deallocation"
"""How files are named in which buffers change hands; in those of the other passes on buffers this is the exception."""


_REFUSED = ("merge-allocations-reasons 2", "promote-buffers-to-stack-reasons 0")
"""Programs in which memory goes where nobody tells its owner: ours refuses them."""


def checks(text: str) -> tuple[int, int | None]:
    """What ours and MLIR's deallocation leave to run time; None where that does not take a program."""
    context = make_context()
    context.allow_unregistered_dialects = True
    with context, ir.Location.unknown():
        module = ir.Module.parse(text)
        took, theirs = run_apart(str(module), _FREED)
        with entered(module.operation):
            DeallocateAfterLastUse().run(module)
            run_mlir_passes(module, "canonicalize,cse")
        return runtime_checks(module), runtime_checks(ir.Module.parse(theirs)) if took else None


def bufferized(text: str, pipeline: str) -> str | None:
    with make_context(), ir.Location.unknown():
        module = ir.Module.parse(text)
        mark_arguments(main_of(module))
        took, made = run_apart(str(module), pipeline)
    return made if took else None


@pytest.mark.parametrize(
    "name",
    [
        *PROGRAMS,
        *(pytest.param(n, marks=[] if n.startswith(_ABOUT_OWNERS) else [pytest.mark.slow]) for n in _TEXTS),
    ],
)
def test_never_more_than_mlir(name: str) -> None:
    if name in _REFUSED:
        with pytest.raises(BufferizationError, match="an allocation whose owner cannot be told"):
            checks(_TEXTS[name])
        return
    ours, theirs = checks(PROGRAMS.get(name) or _TEXTS[name])
    if theirs is None:
        pytest.skip("MLIR's deallocation does not take it")
    assert ours <= theirs


@pytest.mark.parametrize("name", one_of_each_kind())
def test_never_more_than_mlir_on_what_it_bufferizes(name: str) -> None:
    made = bufferized(EXAMPLES[name].read_text(encoding="utf-8"), _BUFFERIZED)
    if made is None:
        pytest.skip("MLIR's bufferization does not take it")
    ours, theirs = checks(made)
    if theirs is None:
        pytest.skip("MLIR's deallocation does not take it")
    assert ours <= theirs


@pytest.mark.parametrize("name", ["swap", "while", "view carried"])
def test_nothing_is_asked_where_mlir_asks(name: str) -> None:
    ours, theirs = checks(PROGRAMS[name])
    assert ours == 0
    assert theirs


@pytest.mark.parametrize("name", ["loop_swap", "while_swap", "loop_rotation", "loop_fresh_yield"])
def test_loops_of_our_bufferization_ask_nothing(name: str) -> None:
    made = bufferized(EXAMPLES[name].read_text(encoding="utf-8"), _OURS)
    assert made is not None
    ours, theirs = checks(made)
    assert ours == 0
    assert theirs is not None
