"""The examples of docs/seeds as programs: what they compute, and why the others are refused."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import hotdesk
from hotdesk.cli.inputs import random_arguments
from hotdesk.errors import HotdeskError

FOLDER = Path(__file__).parents[2] / "docs" / "seeds"


def _by_two(x: Any) -> Any:
    return (x + x) ** 2


COMPUTED: dict[str, Callable[..., Any]] = {
    "s1-1-tensors": lambda x1, x2: np.tanh(np.tanh(x2) + x1),
    "s1-1-tensors-kept": lambda x1, x2: np.tanh(np.tanh(x2) + x1),
    "s2-2-exp": np.exp,
    "s2-2-return": lambda x, flag: (x, flag),
    "s3-1-later-allocation": lambda x, y: (np.sqrt(x) + y).T,
    "s4-1-add-multiply": lambda x: (x + x) * x,
    "s4-2-calls": lambda x: x**4,
    "s5-1-tensors": _by_two,
    "s5-4-example": lambda x: x + x,
}
"""What functions return, by the names of the files."""
WRITTEN: dict[str, Callable[..., dict[int, Any]]] = {
    "s1-4-arena": lambda x, y, o1, o2: {2: np.tanh(x) + np.exp(x), 3: np.tanh(y).reshape(16, 16).T},
    "s1-4-sizes": lambda x, v, o1, o2: {2: np.tanh(x).T, 3: np.tanh(v).T},
    "s2-9-reuse-target": lambda x, result: {1: np.exp(x)},
    "s5-2-apart": lambda x, base: {1: np.concatenate([x + x, _by_two(x)])},
    "s5-2-fusion-risk": lambda x, a, b: {1: x + x, 2: _by_two(x)},
    "s5-2-read-write-conflict": lambda base, other: {
        0: np.concatenate([np.full(5, 42, np.float32), base[5:]]),
        1: np.concatenate([np.full(2, 42, np.float32), base[5:8]]),
    },
    "s5-3-output-alias": lambda x, y: {1: (x + y) ** 2},
    "s5-4-memrefs": lambda x: {},
}
"""What functions leave in their arguments, by number; the others stay as they are."""
REFUSED = {
    "s1-1-memrefs": "call of @fill: expected a function with a body",
    "s1-6-symbols": "call of @use: expected a function with a body",
    "s2-2-hooks": "unregistered dialect",
    "s2-2-summary": "got tuple<tensor<5xf32>, i1>",
    "s2-5-custom-br": "unregistered dialect",
    "s2-6-region-if": "unregistered dialect",
}
"""Why programs are not compiled: they call what others define, or have ops or types of others."""


def _arguments(program: hotdesk.Program) -> tuple[Any, ...]:
    """Random arguments, none negative, so that they have roots."""
    arguments = random_arguments(program.inputs, {}, 0)
    return tuple(np.abs(value) if value.dtype.kind == "f" else value for value in arguments)


@pytest.mark.parametrize("name", COMPUTED)
def test_what_it_computes(name: str) -> None:
    program = hotdesk.compile(FOLDER / f"{name}.mlir")
    arguments = _arguments(program)
    wanted = COMPUTED[name](*arguments)
    wanted = wanted if isinstance(wanted, tuple) else (wanted,)
    assert program.check(*arguments).clean
    found = program(*arguments)
    for result, want in zip(found if isinstance(found, tuple) else (found,), wanted, strict=True):
        np.testing.assert_allclose(result, want, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("name", WRITTEN)
def test_what_it_leaves_in_its_arguments(name: str) -> None:
    program = hotdesk.compile(FOLDER / f"{name}.mlir")
    arguments = _arguments(program)
    wanted = dict(enumerate(map(np.array, arguments))) | WRITTEN[name](*arguments)
    assert program.check(*arguments).clean
    assert program(*arguments) is None
    for number, argument in enumerate(arguments):
        np.testing.assert_allclose(argument, wanted[number], rtol=1e-5, atol=1e-6)


def test_sizes_that_are_arguments() -> None:
    program = hotdesk.compile(FOLDER / "s2-9-dynamic-allocation.mlir")
    assert [program(*sizes).shape for sizes in ((3, 4), (0, 2), (5, 1))] == [(3, 4), (0, 2), (5, 1)]


def test_the_demo_model() -> None:
    """A linear layer with weights of 0.5 and 0.25, a normalization that takes 0 away and divides by 1.00000501, and ReLU."""
    program = hotdesk.compile(FOLDER / "s1-5-demo.mlir")
    x = np.random.default_rng(0).standard_normal((3, 224), dtype=np.float32)
    linear = np.repeat(x.sum(axis=1, keepdims=True) * 0.5 + 0.25, 100, axis=1)
    np.testing.assert_allclose(program(x), np.maximum(linear / 1.00000501, 0), rtol=1e-5, atol=1e-4)
    assert program.check(x).clean


@pytest.mark.parametrize("name", REFUSED)
def test_why_it_is_refused(name: str) -> None:
    entry = {"s2-2-summary": "caller"}.get(name)
    with pytest.raises(HotdeskError) as error:
        hotdesk.compile(FOLDER / f"{name}.mlir", entry=entry)
    assert REFUSED[name] in str(error.value)
    assert f"{name}.mlir:" in str(error.value.where)
