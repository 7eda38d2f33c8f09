"""Loops that keep, make anew, overwrite and pass on their arguments: values stay as they are, and nothing leaks."""

from __future__ import annotations

from collections.abc import Callable
from random import Random

import numpy as np
import pytest
from torch_mlir import ir

from hotdesk.ir.context import make_context
from hotdesk.passes.textual import parse_pipeline
from tests.running import Subject, check
from tests.running.yielded import new_memory
from tests.structured.donated import donated_program
from tests.structured.states import states_program

_FREES = "hotdesk-buffer-deallocation"


def _subject(name: str, options: str = "") -> Subject:
    return Subject(name, f"builtin.module(hotdesk-one-shot-bufferize{{{options}}},{_FREES})", frees=True)


USUAL = _subject("usual")
SUBJECTS = (
    USUAL,
    _subject("returned", "results=returned"),
    _subject("staying", "allow-return-allocs-from-loops=false"),
    _subject("bottom-up", "analysis-heuristic=bottom-up"),
    _subject("terminators", "analysis-heuristic=bottom-up-from-terminators"),
    _subject("largest first", "analysis-heuristic=largest-first"),
    _subject("drawn", "analysis-heuristic=fuzzer analysis-fuzzer-seed=7"),
)


def _check(seed: int, subject: Subject) -> None:
    text = states_program(Random(seed))
    random = Random(seed)
    given = [np.arange(1, 5, dtype=np.int32), np.arange(11, 15, dtype=np.int32)]
    check(text, [*given, np.int64(random.randrange(4)), np.int64(random.randrange(2))], subject)


@pytest.mark.parametrize("seed", range(40))
def test_programs(seed: int) -> None:
    _check(seed, SUBJECTS[seed % len(SUBJECTS)])


@pytest.mark.parametrize("program", [states_program, donated_program])
@pytest.mark.parametrize("results", ["out-params", "returned"])
def test_no_iteration_yields_memory_that_it_made(program: Callable[[Random], str], results: str) -> None:
    """Unless it may: by default it does."""
    options = f"results={results} allow-return-allocs-from-loops"
    strict, usual = (
        parse_pipeline(f"builtin.module(hotdesk-one-shot-bufferize{{{options}={allowed}}})")
        for allowed in ("false", "true")
    )
    yielding = 0
    for seed in range(60):
        with make_context(), ir.Location.unknown():
            module, other = (ir.Module.parse(program(Random(seed))) for _ in range(2))
            strict.run(module)
            usual.run(other)
            assert new_memory(module) == [], seed
            yielding += bool(new_memory(other))
    assert yielding > 5


@pytest.mark.slow
@pytest.mark.parametrize("subject", SUBJECTS, ids=lambda subject: subject.name)
def test_many_programs(subject: Subject) -> None:
    for seed in range(400):
        _check(seed, subject)
