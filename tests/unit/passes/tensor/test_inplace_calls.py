"""In-place calls: what overwrites what, why not, and the same numbers before and after."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
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


def add(result: str, a: str, b: str, init: str = "%e") -> str:
    return f"{result} = linalg.map {{ arith.addf }} ins({a}, {b} : {T}, {T}) outs({init} : {T})"


def neg(result: str, source: str, init: str = "%e") -> str:
    return f"{result} = linalg.map {{ arith.negf }} ins({source} : {T}) outs({init} : {T})"


def call(result: str, callee: str, *arguments: str, results: int = 1) -> str:
    kinds = ", ".join([T] * len(arguments))
    returned = T if results == 1 else f"({', '.join([T] * results)})"
    return f"{result} = func.call @{callee}({', '.join(arguments)}) : ({kinds}) -> {returned}"


def program(name: str, arguments: str, *lines: str, private: bool = False) -> str:
    """A function; the last line is what it returns, all of it of type `T`."""
    returned = lines[-1].split(", ")
    kinds = ", ".join([T] * len(returned))
    body = "\n".join(f"  {line}" for line in (EMPTY, *lines[:-1]))
    head = f"func.func {'private ' if private else ''}@{name}({arguments}) -> ({kinds})"
    return f"{head} {{\n{body}\n  return {', '.join(returned)} : {kinds}\n}}\n"


X, XY = f"%x: {T}", f"%x: {T}, %y: {T}"
GIVEN = f"%x: {T} {{hotdesk.donated}}"
F = program("f", X, neg("%r", "%x"), "%r")
"""It can overwrite its argument."""
KEEPS = program("keeps", X, neg("%a", "%x"), add("%r", "%a", "%x"), "%r, %x")
"""It returns its argument, so that the other result must lie elsewhere."""


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


# S4.1 Straight lines of ops


S4_1 = program("main", X, add("%y1", "%x", "%x"), add("%y2", "%y1", "%x"), "%y2")


def test_s4_1_the_second_of_two_ops_overwrites_the_first() -> None:
    after, decisions = used(S4_1)
    assert decisions == [("linalg.map", "not-writable-input"), ("linalg.map", "dies-here")]
    assert "outs(%mapped :" in after
    before, now = same(S4_1)
    assert (before.allocations.count, now.allocations.count) == (1, 1)  # the two share a destination anyhow


def test_s4_1_an_argument_that_is_given_away_is_overwritten_too() -> None:
    text = program("main", GIVEN, add("%y1", "%x", "%x"), add("%y2", "%y1", "%y1"), "%y2")
    assert [reason for _, reason in used(text)[1]] == ["dies-here", "dies-here"]
    same(text)


LARGER = f"""func.func @main(%x: tensor<16xf32> {{hotdesk.donated}}, %y: tensor<8xi32> {{hotdesk.donated}}) -> {T} {{
  {EMPTY}
  %r = linalg.generic {{indexing_maps = [affine_map<(i) -> (i * 2)>, affine_map<(i) -> (i)>, affine_map<(i) -> (i)>],
                        iterator_types = ["parallel"]}} ins(%x, %y : tensor<16xf32>, tensor<8xi32>) outs(%e : {T}) {{
  ^bb0(%a: f32, %b: i32, %o: f32):
    %c = arith.sitofp %b : i32 to f32
    %t = arith.addf %a, %c : f32
    linalg.yield %t : f32
  }} -> {T}
  return %r : {T}
}}"""


def test_s4_1_sizes_and_element_types_must_fit() -> None:
    assert used(LARGER)[1] == [("linalg.generic", "different-element-type")]
    smaller = f"""func.func @main(%x: tensor<f32> {{hotdesk.donated}}) -> {T} {{
      {EMPTY}
      %r = linalg.broadcast ins(%x : tensor<f32>) outs(%e : {T}) dimensions = [0]
      return %r : {T}
    }}"""
    assert used(smaller)[1] == [("linalg.broadcast", "no-dead-operand-of-same-size")]
    same(smaller)


@pytest.mark.parametrize("size", [0, 1])
def test_s4_1_no_elements_and_no_dimensions(size: int) -> None:
    kind = "tensor<0xf32>" if size == 0 else "tensor<f32>"
    text = S4_1.replace(T, kind)
    assert [reason for _, reason in used(text)[1]] == ["not-writable-input", "dies-here"]
    same(text)


def test_s4_1_sizes_that_are_known_when_it_runs() -> None:
    text = f"""// given: 5
    func.func @main(%x: tensor<?xf32>) -> tensor<?xf32> {{
      %c0 = arith.constant 0 : index
      %n = tensor.dim %x, %c0 : tensor<?xf32>
      %e = tensor.empty(%n) : tensor<?xf32>
      %a = {elementwise("arith.addf", ["%x", "%x"], "%e", "?")}
      %r = {elementwise("arith.mulf", ["%a", "%x"], "%e", "?")}
      return %r : tensor<?xf32>
    }}"""
    assert [reason for _, reason in used(text)[1]] == ["not-writable-input", "dies-here"]
    same(text)


def test_s4_1_the_reader_that_forbids_it_is_named() -> None:
    text = program("main", X, neg("%a", "%x"), neg("%b", "%a"), add("%r", "%b", "%a"), "%r")
    module = parse(text)
    with entered(module.operation):
        _, refused, _ = UseInPlaceCalls().run(module)
    assert (str(refused.outcome), str(refused.reason), refused.bytes) == ("allocated", "read-later", 32)
    assert [source.op for source in refused.because] == ["linalg.map", "linalg.map"]
    assert [source.location.split(":")[1] for source in refused.because] == ["4", "5"]


# S4.2 Calls of functions


def test_s4_2_a_variant_is_made_once_and_shared() -> None:
    text = program("main", X, call("%a", "f", "%x"), call("%b", "f", "%a"), call("%c", "f", "%b"), "%c") + F
    after, decisions = used(text)
    assert decisions[:3] == [
        ("func.call", "not-writable-input"),
        ("func.call", "dies-here"),
        ("func.call", "dies-here"),
    ]
    assert (after.count("call @f("), after.count("call @f_inplace_0("), after.count("@f_inplace_0(%")) == (1, 2, 3)
    assert "func.func private @f_inplace_0(%arg0: tensor<8xf32> {hotdesk.donated})" in after
    same(text)


def test_s4_2_a_call_whose_argument_is_read_later_keeps_the_function() -> None:
    text = program("main", X, neg("%a", "%x"), call("%b", "f", "%a"), add("%r", "%a", "%b"), "%r") + F
    after, decisions = used(text)
    assert ("func.call", "read-later") in decisions
    assert "_inplace" not in after
    same(text)


def test_s4_2_no_variant_of_what_cannot_use_it() -> None:
    """A product is not computed where its operand lies; and what returns an argument as it came needs no memory for that."""
    text = (
        program("main", X, neg("%a", "%x"), call("%b", "turned", "%a"), "%b")
        + f"""func.func @turned(%x: {T}) -> {T} {{
          {EMPTY}
          %r = linalg.generic {{indexing_maps = [affine_map<(i) -> (7 - i)>, affine_map<(i) -> (i)>],
                                iterator_types = ["parallel"]}} ins(%x : {T}) outs(%e : {T}) {{
          ^bb0(%a: f32, %o: f32):
            linalg.yield %a : f32
          }} -> {T}
          return %r : {T}
        }}"""
    )
    after, decisions = used(text)
    assert ("func.call", "callee-keeps-argument") in decisions
    assert "_inplace" not in after
    same(text)


def test_s4_2_each_set_of_arguments_has_its_variant() -> None:
    two = program("two", XY, add("%r", "%x", "%y"), neg("%s", "%y"), "%r, %s")
    text = (
        program(
            "main",
            X,
            neg("%a", "%x"),
            call("%b:2", "two", "%a", "%x", results=2),
            call("%c:2", "two", "%x", "%b#0", results=2),
            call("%d:2", "two", "%c#0", "%c#1", results=2),
            add("%s", "%d#0", "%d#1"),
            add("%r", "%s", "%b#1"),
            "%r",
        )
        + two
    )
    after, _ = used(text)
    for variant in ("@two_inplace_0(%", "@two_inplace_1(%", "@two_inplace_0_1(%"):
        assert after.count(variant) == 2
    before, now = same(text)
    assert now.allocations.bytes < before.allocations.bytes


def test_s4_2_the_same_memory_twice_is_not_given_away() -> None:
    text = program("main", X, neg("%a", "%x"), call("%b", "sum", "%a", "%a"), "%b") + program(
        "sum", XY, add("%r", "%x", "%y"), "%r"
    )
    assert ("func.call", "read-by-same-op") in used(text)[1]
    same(text)


def test_s4_2_variants_call_variants() -> None:
    text = (
        program("main", X, neg("%a", "%x"), call("%b", "outer", "%a"), "%b")
        + program("outer", X, call("%a", "f", "%x"), call("%b", "f", "%a"), "%b")
        + F
    )
    after, _ = used(text)
    assert after.count("call @f_inplace_0(") == 3  # twice in @outer_inplace_0, once in @outer
    assert after.count("call @f(") == 1
    before, now = same(text)
    assert now.allocations.bytes <= before.allocations.bytes


UNKNOWN = {
    "no-body": (f"func.func private @g({T}) -> {T}", "g"),
    "recursive-call": (
        program("g", X, call("%a", "h", "%x"), "%a") + program("h", X, call("%a", "g", "%x"), "%a"),
        "g",
    ),
}


@pytest.mark.parametrize("reason", UNKNOWN)
def test_s4_2_functions_that_cannot_be_looked_at(reason: str) -> None:
    functions, name = UNKNOWN[reason]
    after, decisions = used(program("main", X, neg("%a", "%x"), call("%b", name, "%a"), "%b") + functions)
    assert decisions[1] == ("func.call", reason)
    assert "_inplace" not in after


def test_s4_2_a_name_that_is_taken() -> None:
    text = program("main", X, neg("%a", "%x"), call("%b", "f", "%a"), "%b") + F + F.replace("@f", "@f_inplace_0")
    assert "call @f_inplace_0_1(" in used(text)[0]
    same(text)


def test_s4_2_a_function_that_is_given_its_argument_already() -> None:
    text = program("main", X, neg("%a", "%x"), call("%b", "f", "%a"), "%b") + F.replace(X, GIVEN)
    after, decisions = used(text)
    assert decisions[1] == ("func.call", "dies-here")
    assert "_inplace" not in after
    same(text)


def test_s4_2_a_function_with_blocks() -> None:
    blocks = f"""func.func @either(%b: i1, %x: {T}) -> {T} {{
      {EMPTY}
      cf.cond_br %b, ^one, ^two
    ^one:
      {neg("%r", "%x")}
      return %r : {T}
    ^two:
      return %x : {T}
    }}
    """
    line = f"%b = func.call @either(%c, %a) : (i1, {T}) -> {T}"
    text = program("main", X, "%c = arith.constant true", neg("%a", "%x"), line, "%b") + blocks
    after, decisions = used(text)
    assert decisions[1] == ("func.call", "dies-here")
    assert "call @either_inplace_1(" in after


def test_s4_2_calls_deep_within_calls() -> None:
    chain = [program(f"f{i}", X, call("%r", f"f{i + 1}", "%x"), "%r") for i in range(200)]
    text = program("main", X, neg("%a", "%x"), call("%b", "f0", "%a"), "%b") + "".join(chain) + F.replace("@f", "@f200")
    decisions = used(text)[1]
    assert decisions[1][1] == "callee-keeps-argument"
    assert decisions[-1][1] == "not-writable-input"


# S4.4 Views, several results, captured values


def test_s4_4_a_view_that_is_read_later() -> None:
    view = f"%v = tensor.extract_slice %a[2] [4] [1] : {T} to tensor<4xf32>"
    insert = f"%r = tensor.insert_slice %v into %b[0] [4] [1] : tensor<4xf32> into {T}"
    text = program("main", X, neg("%a", "%x"), view, neg("%b", "%a"), insert, "%r")
    assert used(text)[1][1] == ("linalg.map", "read-later")
    same(text)
    moved = program("main", X, neg("%a", "%x"), call("%b", "f", "%a"), view, insert, "%r") + F
    assert used(moved)[1][1] == ("func.call", "read-later")
    same(moved)


def test_s4_4_the_last_use_may_be_through_a_view() -> None:
    views = (
        f"%v = tensor.expand_shape %a [[0, 1]] output_shape [2, 4] : {T} into tensor<2x4xf32>",
        f"%w = tensor.collapse_shape %v [[0, 1]] : tensor<2x4xf32> into {T}",
    )
    text = program("main", X, neg("%a", "%x"), *views, call("%b", "f", "%w"), "%b") + F
    assert used(text)[1][1] == ("func.call", "dies-here")
    same(text)


def test_s4_4_a_part_of_a_buffer_is_not_given_away() -> None:
    text = f"""func.func @main(%x: tensor<16xf32> {{hotdesk.donated}}) -> {T} {{
      %v = tensor.extract_slice %x[2] [8] [1] : tensor<16xf32> to {T}
      {call("%b", "f", "%v")}
      return %b : {T}
    }}
    {F}"""
    assert used(text)[1][0] == ("func.call", "partial-view")
    same(text)


def test_s4_4_one_operand_serves_one_of_two_results() -> None:
    text = (
        program("main", X, neg("%a", "%x"), call("%b:2", "keeps", "%a", results=2), add("%r", "%b#0", "%b#1"), "%r")
        + KEEPS
    )
    after, decisions = used(text)
    assert decisions[1:3] == [
        ("result 0 of func.call", "callee-keeps-argument"),
        ("result 1 of func.call", "dies-here"),
    ]
    assert "call @keeps_inplace_0(" in after
    same(text)


CAPTURED = {
    "a branch": f"""%s = scf.if %c -> ({T}) {{
        {neg("%p", "%a", "%x")}
        scf.yield %p : {T}
      }} else {{
        scf.yield %x : {T}
      }}""",
    "a loop": f"""%s = scf.for %i = %c0 to %c2 step %c1 iter_args(%p = %x) -> ({T}) {{
        {add("%q", "%p", "%a", "%p")}
        scf.yield %q : {T}
      }}""",
    "a payload": f"""%s = linalg.generic {{indexing_maps = [affine_map<(i) -> (i)>], iterator_types = ["parallel"]}}
        outs(%x : {T}) {{
      ^bb0(%o: f32):
        %i = linalg.index 0 : index
        %p = tensor.extract %a[%i] : {T}
        linalg.yield %p : f32
      }} -> {T}""",
}
CONSTANTS = (
    "%c0 = arith.constant 0 : index",
    "%c1 = arith.constant 1 : index",
    "%c2 = arith.constant 2 : index",
    "%c = arith.constant true",
)


@pytest.mark.parametrize("name", CAPTURED)
def test_s4_4_values_that_regions_capture(name: str) -> None:
    text = program(
        "main", X, *CONSTANTS, neg("%a", "%x"), call("%b", "f", "%a"), CAPTURED[name], add("%r", "%b", "%s"), "%r"
    )
    assert used(text + F)[1][1] == ("func.call", "read-later")
    same(text + F)


def test_s4_4_a_call_in_a_loop_does_not_overwrite_what_the_next_iteration_reads() -> None:
    loop = f"""%s = scf.for %i = %c0 to %c2 step %c1 iter_args(%p = %x) -> ({T}) {{
      {call("%b", "f", "%a")}
      {call("%d", "f", "%b")}
      scf.yield %d : {T}
    }}"""
    text = program("main", X, *CONSTANTS, neg("%a", "%x"), loop, "%s") + F
    decisions = used(text)[1]
    assert [reason for subject, reason in decisions if subject == "func.call"] == ["read-later", "dies-here"]
    same(text)


# S4.5 Common subexpressions, fusion


def test_s4_5_common_subexpressions_go_first() -> None:
    """Of two equal ops one is left, and the readers of both decide what may be overwritten."""
    lines = (neg("%a", "%x"), neg("%b", "%x"), neg("%c", "%a"), add("%r", "%c", "%b"), "%r")
    text = program("main", X, *lines)
    after, decisions = used(text)
    assert after.count("arith.negf") == 2
    assert decisions[1] == ("linalg.map", "read-later")
    same(text)
    module = parse(text)
    assert run(module, UseInPlaceCalls(cse=False)).count("arith.negf") == 3


def test_s4_5_fused_ops_overwrite_what_they_read_last() -> None:
    lines = [f"%a = {elementwise('arith.addf', ['%x', '%x'], '%e')}", f"%f = func.call @f(%a) : ({T}) -> {T}"]
    lines += [
        f"%b = {elementwise('arith.mulf', ['%f', '%x'], '%e')}",
        f"%c = {elementwise('arith.subf', ['%b', '%f'], '%e')}",
    ]
    text = program("main", X, *lines, "%c") + F
    after, decisions = used(text, FuseElementwise())
    assert after.count("linalg.generic") == 2
    assert [reason for _, reason in decisions[:3]] == ["not-writable-input", "dies-here", "dies-here"]
    same(text, FuseElementwise())


@pytest.mark.parametrize("seed", range(16))
@pytest.mark.parametrize("fused", [True, False])
def test_s4_5_any_program(seed: int, fused: bool) -> None:
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
def test_s4_5_fusion_afterwards_changes_no_value(seed: int) -> None:
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


def test_numbers_of_the_example() -> None:
    x = np.arange(8, dtype=np.float32)
    (result,) = check(used(S4_1)[0], [x], OURS).results
    np.testing.assert_array_equal(result, 3 * x)
