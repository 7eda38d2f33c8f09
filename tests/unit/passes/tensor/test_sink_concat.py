"""Readers of a concatenation, part by part: the same numbers, nothing copied, and options that bound it."""

from __future__ import annotations

import numpy as np
import pytest

from hotdesk.ir.context import entered
from hotdesk.passes.tensor.sink_concat import SinkConcat
from hotdesk.passes.textual import parse_pipeline
from tests import reference
from tests.running import Subject, check
from tests.unit.parsing import elementwise, function, parse

NUMBERS = np.random.default_rng(5)
TYPE = "tensor<8xf32>"


def _program(body: str, results: str = TYPE) -> str:
    return f"""
      func.func @main(%a: tensor<3xf32>, %b: tensor<5xf32>, %x: {TYPE}) -> {results} {{
        %e = tensor.empty() : {TYPE}
        %c = tensor.concat dim(0) %a, %b : (tensor<3xf32>, tensor<5xf32>) -> {TYPE}
        {body}
      }}"""


ADDED = elementwise("arith.addf", ["%c", "%x"], "%e", sizes="8")
NEGATED = elementwise("arith.negf", ["%c"], "%e", sizes="8")
CASES = {
    "one reader": (_program(f"%r = {ADDED}\n return %r : {TYPE}"), 1, 0),
    "two readers, read by one": (
        _program(
            f"%r = {ADDED}\n %s = {NEGATED}\n"
            f"%t = {elementwise('arith.mulf', ['%r', '%s'], '%e', sizes='8')}\n return %t : {TYPE}"
        ),
        2,
        0,
    ),
    "read and returned": (_program(f"%r = {ADDED}\n return %r, %c : {TYPE}, {TYPE}", f"({TYPE}, {TYPE})"), 0, 2),
    "both parts over one another": (
        _program(
            f"%d = tensor.concat dim(0) %b, %a : (tensor<5xf32>, tensor<3xf32>) -> {TYPE}\n"
            f"%r = {elementwise('arith.subf', ['%c', '%d'], '%e', sizes='8')}\n return %r : {TYPE}"
        ),
        2,
        0,
    ),
    "one part twice": (
        _program(
            f"%r = {ADDED}\n"
            f"%d = tensor.concat dim(0) %r, %r : ({TYPE}, {TYPE}) -> tensor<16xf32>\n return %d : tensor<16xf32>",
            "tensor<16xf32>",
        ),
        1,
        4,
    ),
    "a slice within one operand": (
        _program(
            "%v = tensor.extract_slice %c[4] [2] [2] : tensor<8xf32> to tensor<2xf32>\n"
            "%w = tensor.empty() : tensor<2xf32>\n"
            f"%r = {elementwise('arith.negf', ['%v'], '%w', sizes='2')}\n return %r : tensor<2xf32>",
            "tensor<2xf32>",
        ),
        0,
        0,
    ),
}
PIPELINE = (
    "hotdesk-sink-concat,hotdesk-decompose-concat-and-pad,hotdesk-eliminate-empty-tensors,hotdesk-one-shot-bufferize"
)


def _inputs() -> tuple[reference.Array, ...]:
    return tuple(NUMBERS.standard_normal(size, dtype=np.float32) for size in (3, 5, 8))


@pytest.mark.parametrize("name", CASES)
def test_the_same_before_and_after(name: str) -> None:
    text, moved, _ = CASES[name]
    inputs = _inputs()
    module = parse(text)
    with module.context:
        before = reference.expected(function(module), inputs)
    with entered(module.operation):
        decisions = SinkConcat().run(module)
    assert [str(d.reason) for d in decisions].count("read-in-parts") == moved
    assert module.operation.verify()
    with module.context:
        after = reference.expected(function(module), inputs)
    for a, b in zip(before, after, strict=True):
        assert np.array_equal(a.values, b.values)


@pytest.mark.parametrize("name", CASES)
def test_only_what_is_read_otherwise_is_copied(name: str) -> None:
    text, _, copies = CASES[name]
    module = parse(text)
    with module.context:
        passes = parse_pipeline(f"builtin.module({PIPELINE})")
    decisions = passes.run(module)
    assert [str(d.outcome) for d in decisions].count("copied") == copies


def test_runs_on_buffers() -> None:
    for text, _, _ in CASES.values():
        check(text, _inputs(), Subject("in parts", f"builtin.module({PIPELINE})"))
