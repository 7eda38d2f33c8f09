"""The examples of docs/seeds as programs: what they compute, and why the others are refused."""

# NumPy is annotated in part only.
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false
# pyright: reportUnknownLambdaType=false

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import hotdesk
from hotdesk.cli.inputs import random_arguments
from hotdesk.errors import HotdeskError
from hotdesk.sizes.size import symbols_of

FOLDER = Path(__file__).parents[2] / "docs" / "seeds"


def _by_two(x: Any) -> Any:
    return (x + x) ** 2


COMPUTED: dict[str, Callable[..., Any]] = {
    "s1-1-tensors": lambda x1, x2: np.tanh(np.tanh(x2) + x1),
    "s1-1-tensors-kept": lambda x1, x2: np.tanh(np.tanh(x2) + x1),
    "s2-1-partial": lambda c, x: x + 1 if c else x,
    "s2-2-call": lambda x: x,
    "s2-2-exp": np.exp,
    "s2-2-return": lambda x, flag: (x, flag),
    "s2-2-summary": lambda x, flag: (x, flag),
    "s2-2-unpacked": lambda c, z: (np.full(10, z, np.float32), np.full(5, z, np.float32)),
    "s3-1-sqrt-add": lambda x, y: np.sqrt(x) + y,
    "s3-1-later-allocation": lambda x, y: (np.sqrt(x) + y).T,
    "s4-1-add-multiply": lambda x: (x + x) * x,
    "s4-2-calls": lambda x: x**4,
    "s4-4-larger": lambda x: 2 * np.exp(x[:16]).astype(np.int32),
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
ENTRIES = {"s2-2-call": "caller", "s2-2-summary": "caller", "s2-2-unpacked": "func_on_tensors"}
"""The function that is called, where a file has several."""
REFUSED = {
    "s1-1-memrefs": "call of @fill: expected a function with a body",
    "s1-6-symbols": "call of @use: expected a function with a body",
    "s2-2-hooks": "unregistered dialect",
    "s2-5-custom-br": "unregistered dialect",
    "s2-5-custom-br-one-way": "unregistered dialect",
    "s2-6-region-if": "unregistered dialect",
    "s2-6-region-if-div": "unregistered dialect",
    "s2-11-reserve": "unregistered dialect",
}
"""Why programs are not compiled: they call what others define, or have ops or types of others."""


def _arguments(program: hotdesk.Program) -> tuple[Any, ...]:
    """Random arguments, none negative, so that they have roots; sizes that vary are 5."""
    sizes = len({name for spec in program.inputs for size in spec.shape for name in symbols_of(size)})
    arguments = random_arguments(program.inputs, [5] * sizes, 0)
    return tuple(np.abs(value) if value.dtype.kind == "f" else value for value in arguments)


@pytest.mark.parametrize("name", COMPUTED)
def test_what_it_computes(name: str) -> None:
    program = hotdesk.compile(FOLDER / f"{name}.mlir", entry=ENTRIES.get(name))
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


DECLARED = re.compile(r"func\.func private @(fill|use)\((memref<[^>]*>)\)\n")
COUNTED = """memref.global "private" @count : memref<f32> = dense<0.0>
func.func private @counted() -> f32 {
  %one = arith.constant 1.0 : f32
  %g = memref.get_global @count : memref<f32>
  %v = memref.load %g[] : memref<f32>
  %w = arith.addf %v, %one : f32
  memref.store %w, %g[] : memref<f32>
  return %w : f32
}
"""
"""How often functions that the examples declare alone were called."""


def _defined(name: str) -> str:
    """An example whose declared functions have bodies: they fill memory with how many of them have been called."""
    text = (FOLDER / f"{name}.mlir").read_text(encoding="utf-8")
    body = r"""func.func private @\1(%x: \2) {
  %v = call @counted() : () -> f32
  linalg.fill ins(%v : f32) outs(%x : \2)
  return
}
"""
    return COUNTED + DECLARED.sub(body, text)


@pytest.mark.parametrize(
    ("name", "arguments", "calls", "written"),
    [
        ("s1-1-memrefs", (), 3, {}),
        ("s1-2-later-reader", (), 3, {}),
        ("s1-3-sharing", (), 3, {}),
        ("s1-6-symbols", (1.0, np.ones((2, 100), np.float32), np.ones((3, 100), np.float32)), 3, {}),
        ("s2-3-mixed-allocation", (True,), 2, {}),
        ("s2-4-cond-branch", (True, np.zeros(2, np.float32), np.ones(2, np.float32)), 0, {2: 0.0}),
        ("s2-4-cond-branch", (False, np.zeros(2, np.float32), np.zeros(2, np.float32)), 1, {2: 1.0}),
        ("s2-4-cond-branch-dynamic-type", (False, np.zeros(3, np.float32), np.zeros(3, np.float32), 3), 1, {2: 1.0}),
        ("s2-5-branch", (True,), 1, {}),
        ("s2-5-branch", (False,), 2, {}),
        (
            "s2-5-cond-branch-dynamic-type-nested",
            (False, np.zeros(3, np.float32), np.zeros(3, np.float32), 3),
            1,
            {2: 1.0},
        ),
        ("s2-8-loop-nested-if", (0, 9, 2, np.full(2, 4, np.float32), np.zeros(2, np.float32)), 0, {4: 4.0}),
        ("s2-10-loop", (0, 9, 2), 5, {}),
    ],
)
def test_examples_that_call_what_they_declare(
    name: str, arguments: tuple[Any, ...], calls: int, written: dict[int, float]
) -> None:
    """With bodies for that: how often it is called, which a function behind it returns, and what is left in arguments."""
    text = _defined(name)
    entry, formals = re.findall(r"^func\.func @(\w+)\((.*)\)", text, re.MULTILINE)[0]
    named = re.sub(r" \{.*?\}", "", formals)
    operands = ", ".join(re.findall(r"%\w+", named))
    types = ", ".join(re.findall(r": ([^,]+<[^>]*>|\w+)", named))
    text += f"""
func.func @watched({formals}) -> f32 {{
  call @{entry}({operands}) : ({types}) -> ()
  %g = memref.get_global @count : memref<f32>
  %v = memref.load %g[] : memref<f32>
  return %v : f32
}}"""
    given = tuple(np.array(each) if isinstance(each, np.ndarray) else each for each in arguments)
    program = hotdesk.compile(text, entry="watched")
    assert program(*given) == calls
    for number, (before, after) in enumerate(zip(arguments, given, strict=True)):
        np.testing.assert_array_equal(after, np.full_like(before, written.get(number, before)))
    assert program.check(*given).clean


def test_a_branch_in_memory_that_is_returned() -> None:
    program = hotdesk.compile(_defined("s2-7-nested-region"))
    assert [program(*sizes).shape for sizes in ((2, 2), (2, 3))] == [(2, 2), (2, 2)]


def test_views_of_one_memory_whose_end_nobody_has_written() -> None:
    x, other = np.arange(5, dtype=np.float32), np.zeros(5, np.float32)
    hotdesk.compile(FOLDER / "s5-2-alias-example.mlir")(x, other)
    np.testing.assert_array_equal(other[:3], 2 * x[2:])


def test_promoted_memory_is_filled() -> None:
    out = np.zeros(2, np.float32)
    found = hotdesk.compile(FOLDER / "s2-10-stack.mlir")(3, 1.5, out)
    assert (found.tolist(), out.tolist()) == ([1.5, 1.5], [1.5, 1.5])


def test_every_example_is_here() -> None:
    declared = {path.stem for path in FOLDER.glob("*.mlir") if DECLARED.search(path.read_text(encoding="utf-8"))}
    others = {"s1-5-demo", "s5-2-alias-example", "s2-9-dynamic-allocation", "s2-10-stack"}
    tested = {*COMPUTED, *WRITTEN, *REFUSED, *declared, *others}
    assert {path.stem for path in FOLDER.glob("*.mlir")} - tested == set()


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
