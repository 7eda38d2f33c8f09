"""Loops over donated arguments with calls inside: results are right, lie where it is said, and nothing leaks."""

from __future__ import annotations

from random import Random

import numpy as np
import pytest

from tests.running import Subject, check
from tests.structured.donated import donated_program


def _subject(name: str, options: str) -> Subject:
    one_shot = f"hotdesk-one-shot-bufferize{{results-in-donated {options}}}"
    return Subject(name, f"builtin.module({one_shot},hotdesk-buffer-deallocation)", frees=True)


SUBJECTS = (
    _subject("returned", "results=returned"),
    _subject("out-params", ""),
    _subject("returned, staying", "results=returned allow-return-allocs-from-loops=false"),
    _subject("staying", "allow-return-allocs-from-loops=false"),
    _subject("returned, bottom-up", "results=returned analysis-heuristic=bottom-up"),
    _subject("returned, drawn", "results=returned analysis-heuristic=fuzzer analysis-fuzzer-seed=7"),
)


def _check(seed: int, subject: Subject) -> None:
    text = donated_program(Random(seed))
    random = Random(seed)
    tensors = [np.arange(begin, begin + 4, dtype=np.int32) for begin in (1, 11, 21)]
    check(text, [*tensors, np.int64(random.randrange(4)), np.int64(random.randrange(2))], subject)


@pytest.mark.parametrize("seed", range(60))
def test_programs(seed: int) -> None:
    _check(seed, SUBJECTS[seed % len(SUBJECTS)])


@pytest.mark.slow
@pytest.mark.parametrize("subject", SUBJECTS, ids=lambda subject: subject.name)
def test_many_programs(subject: Subject) -> None:
    for seed in range(500):
        _check(seed, subject)
