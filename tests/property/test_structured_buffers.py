"""Random programs with control flow, bufferized and through passes on buffers: the reference's results, no fault in memory.

Machine code runs in guarded, poisoned memory and has to free all of it. The checker interprets the IR; it shares no code with the
passes, nor with the reference.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, note, seed, settings
from hypothesis import strategies as st
from torch_mlir import ir

from hotdesk.checker import Settings, check_module
from hotdesk.errors import HotdeskError
from hotdesk.ir.context import make_context
from hotdesk.passes.textual import parse_pipeline
from tests.harness import assert_same
from tests.running import RefusedError, Subject, check, wanted
from tests.running.examples import EXAMPLES, inputs_of
from tests.structured import Program, structured_programs

_BUFFERIZE, _FREE = "hotdesk-one-shot-bufferize", "hotdesk-buffer-deallocation"
_PASSES = (
    "hotdesk-buffer-loop-hoisting",
    "hotdesk-promote-buffers-to-stack",
    "hotdesk-copy-removal",
    "hotdesk-displace-buffers",
    "hotdesk-share-buffers",
    "hotdesk-merge-allocations",
)
_BEFORE = ("hotdesk-buffer-hoisting", *_PASSES, ",".join(("hotdesk-buffer-hoisting", *_PASSES)))
_AFTER = (*_PASSES, ",".join(_PASSES), "hotdesk-merge-allocations{arena=allocate alignment=16 strategy=no-reuse}")
_QUIET = [HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.large_base_example]


@dataclass(frozen=True)
class Way:
    """A pipeline, and how its programs are run: `accepts` fails at a mistake and says whether the pipeline took the program."""

    accepts: Callable[[str, Sequence[Any]], bool]
    few: int
    """Random programs in the fast tests; others come with `slow`."""
    many: int


def _by_machine(pipeline: str, text: str, inputs: Sequence[Any]) -> bool:
    """Each pass in front of deallocation and behind it; nothing leaks."""
    try:
        check(text, inputs, Subject(pipeline, pipeline, frees=True, may_refuse=True))
    except RefusedError:
        return False
    return True


def _by_checker(pipeline: str, expecting: Settings, text: str, inputs: Sequence[Any]) -> bool:
    """Some programs compute with undefined memory; before deallocation nothing is to be freed."""
    expected = wanted(text, inputs)
    with make_context(), ir.Location.unknown():
        module = ir.Module.parse(text)
        try:
            parse_pipeline(pipeline).run(module)
        except HotdeskError:
            return False
        shapes = {number: want.values.shape for number, want in enumerate(expected)}
        report = check_module(module, "main", inputs, result_shapes=shapes, read_only=True, settings=expecting)
    assert report.clean, str(report)
    assert len(report.results) == len(expected)
    for number, (result, want) in enumerate(zip(report.results, expected, strict=True)):
        assert np.all(result.written[want.defined]), f"result {number} is not written where it is defined"
        assert_same(result.values, want, f"result {number}")
    return True


def _machine_way(steps: str) -> Way:
    return Way(partial(_by_machine, f"builtin.module({steps})"), few=8, many=500)


def _checker_way(steps: str, *, frees: bool) -> Way:
    expecting = Settings(deallocated=frees, undefined="carry")
    return Way(partial(_by_checker, f"builtin.module({steps})", expecting), few=40, many=1000)


WAYS = {
    "bufferized, checked": _checker_way(_BUFFERIZE, frees=False),
    "freed, checked": _checker_way(f"{_BUFFERIZE},{_FREE}", frees=True),
    **{f"{steps} in front": _machine_way(f"{_BUFFERIZE},{steps},{_FREE}") for steps in _BEFORE},
    **{f"{steps} behind": _machine_way(f"{_BUFFERIZE},{_FREE},{steps}") for steps in _AFTER},
}
_EACH = pytest.mark.parametrize("name", WAYS)


@_EACH
def test_examples(name: str) -> None:
    """A third of the examples by each way in turn, all by those that the checker looks at."""
    place = list(WAYS).index(name)
    paths = list(EXAMPLES.values())
    texts = [path.read_text(encoding="utf-8") for path in (paths if place < 2 else paths[place % 3 :: 3])]
    taken = [WAYS[name].accepts(text, inputs_of(text)) for text in texts]
    assert sum(taken) > len(taken) * (3 if place < 2 else 2) // 4


@_EACH
def test_results(name: str) -> None:
    @settings(max_examples=WAYS[name].few, derandomize=True, deadline=None, database=None, suppress_health_check=_QUIET)
    @given(structured_programs(), st.integers(0, 9))
    def each(program: Program, number: int) -> None:
        note(program.text)
        WAYS[name].accepts(program.text, program.inputs(number))

    each()


@pytest.mark.slow
@_EACH
def test_results_of_many_programs(name: str) -> None:
    @seed(20262)
    @settings(max_examples=WAYS[name].many, deadline=None, database=None, suppress_health_check=_QUIET)
    @given(structured_programs(), st.integers(0, 9))
    def each(program: Program, number: int) -> None:
        note(program.text)
        WAYS[name].accepts(program.text, program.inputs(number))

    each()
