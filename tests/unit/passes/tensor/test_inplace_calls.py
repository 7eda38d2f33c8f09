"""In-place calls of any program: the same numbers before and after, in no more memory; and how the work grows."""

from __future__ import annotations

import random
from typing import Any

import pytest

from hotdesk.errors import HotdeskError
from hotdesk.explain import Decision
from hotdesk.ir.context import entered
from hotdesk.passes.base import Pass
from hotdesk.passes.tensor.fuse_elementwise import FuseElementwise
from hotdesk.passes.tensor.inplace_calls import UseInPlaceCalls
from tests.running import OURS, Run, check, wanted
from tests.running.examples import inputs_of
from tests.unit.parsing import elementwise, parse, run

T = "tensor<8xf32>"
EMPTY = f"%e = tensor.empty() : {T}"


def neg(result: str, source: str, init: str = "%e") -> str:
    return f"{result} = linalg.map {{ arith.negf }} ins({source} : {T}) outs({init} : {T})"


def call(result: str, callee: str, *arguments: str, results: int = 1) -> str:
    kinds = ", ".join([T] * len(arguments))
    returned = T if results == 1 else f"({', '.join([T] * results)})"
    return f"{result} = func.call @{callee}({', '.join(arguments)}) : ({kinds}) -> {returned}"


def program(name: str, arguments: str, *lines: str) -> str:
    """A function; the last line is what it returns, all of it of type `T`."""
    returned = lines[-1].split(", ")
    kinds = ", ".join([T] * len(returned))
    body = "\n".join(f"  {line}" for line in (EMPTY, *lines[:-1]))
    head = f"func.func @{name}({arguments}) -> ({kinds})"
    return f"{head} {{\n{body}\n  return {', '.join(returned)} : {kinds}\n}}\n"


X, XY = f"%x: {T}", f"%x: {T}, %y: {T}"
F = program("f", X, neg("%r", "%x"), "%r")
"""It can overwrite its argument."""


def used(text: str, *passes: Pass) -> tuple[str, list[tuple[str, str]]]:
    """The text after the pass, and each decision's subject and reason."""
    module = parse(text)
    with entered(module.operation):
        for one in passes:
            one.run(module)
        decisions = UseInPlaceCalls().run(module)
        module.operation.verify()
    return str(module), [(_short(d), str(d.reason)) for d in decisions]


def _short(decision: Decision) -> str:
    return decision.subject.removeprefix("result of ")


def same(text: str, *passes: Pass) -> tuple[Run, Run]:
    """Bufferized and run before and after; both give what the reference gives."""
    inputs: list[Any] = inputs_of(text)
    expected = wanted(text, inputs)
    after, _ = used(text, *passes)
    return check(text, inputs, OURS, expected), check(after, inputs, OURS, expected)


def test_calls_deep_within_calls() -> None:
    chain = [program(f"f{i}", X, call("%r", f"f{i + 1}", "%x"), "%r") for i in range(200)]
    text = program("main", X, neg("%a", "%x"), call("%b", "f0", "%a"), "%b") + "".join(chain) + F.replace("@f", "@f200")
    decisions = used(text)[1]
    assert decisions[1][1] == "callee-keeps-argument"
    assert decisions[-1][1] == "not-writable-input"


@pytest.mark.parametrize("seed", range(16))
@pytest.mark.parametrize("fused", [True, False])
def test_any_program(seed: int, fused: bool) -> None:
    """Random ops, views and calls; no fused group reads what it overwrites."""
    draw = random.Random(seed)
    values, lines = ["%x", "%y"], []
    for number in range(12):
        name, picked = f"%v{number}", [draw.choice(values[-4:]) for _ in range(2)]
        kind = draw.choice(["op", "op", "op", "f", "two", "view"])
        if kind == "op":
            lines.append(f"{name} = {elementwise('arith.subf', picked, '%e')}")
        elif kind == "f":
            lines.append(call(name, "f", picked[0]))
        elif kind == "two":
            lines.append(call(f"{name}:2", "two", *picked, results=2))
            values.append(f"{name}#1")
            name = f"{name}#0"
        else:
            part = f"%p{number} = tensor.extract_slice {picked[0]}[1] [4] [1] : {T} to tensor<4xf32>"
            lines += [
                part,
                f"{name} = tensor.insert_slice %p{number} into {picked[1]}[3] [4] [1] : tensor<4xf32> into {T}",
            ]
        values.append(name)
    given = draw.choice(["", " {hotdesk.donated}"])
    f = program("f", X, f"%r = {elementwise('arith.addf', ['%x', '%x'], '%e')}", "%r")
    two = program("two", XY, f"%r = {elementwise('arith.addf', ['%x', '%y'], '%e')}", call("%s", "f", "%y"), "%r, %s")
    text = program("main", f"%x: {T}{given}, %y: {T}", *lines, ", ".join(values[-2:])) + f + two
    before, now = same(text, *([FuseElementwise()] if fused else []))
    assert now.allocations.bytes <= before.allocations.bytes


@pytest.mark.parametrize("seed", range(4))
def test_fusion_afterwards_changes_no_value(seed: int) -> None:
    draw = random.Random(seed)
    values, lines = ["%x", "%y"], []
    for number in range(8):
        picked = [draw.choice(values[-3:]) for _ in range(2)]
        lines.append(f"%v{number} = {elementwise('arith.subf', picked, '%e')}")
        values.append(f"%v{number}")
    text = program("main", XY, *lines, "%v7")
    inputs: list[Any] = inputs_of(text)
    module = parse(text)
    after = run(module, UseInPlaceCalls(), FuseElementwise())
    check(after, inputs, OURS, wanted(text, inputs))


def test_an_op_without_a_model_is_named() -> None:
    module = parse("func.func @main(%x: tensor<*xf32>) -> tensor<*xf32> {\n  return %x : tensor<*xf32>\n}")
    assert "tensor<*xf32>" in run(module, UseInPlaceCalls())
    text = f"""func.func @main(%x: {T}) -> {T} {{
      %r = tosa.abs %x : ({T}) -> {T}
      return %r : {T}
    }}"""
    with pytest.raises(HotdeskError, match=r"tosa\.abs"):
        run(parse(text), UseInPlaceCalls())


def test_nothing_to_do() -> None:
    text = "func.func @main() {\n  return\n}\nfunc.func private @g()"
    assert used(text)[1] == []
    assert used("")[1] == []


def test_shared_analysis_is_near_linear() -> None:
    """A variant of a function is looked at once, however many calls it has."""
    lines = [call(f"%v{i}", "f", f"%v{i - 1}" if i else "%x") for i in range(300)]
    text = program("main", X, *lines, "%v299") + F
    after, decisions = used(text)
    assert after.count("@f_inplace_0(") == 300
    assert sum(reason == "dies-here" for subject, reason in decisions if subject == "func.call") == 299
