"""Live ranges, alias sets and candidates as plain values, keyed by names."""

from __future__ import annotations

import pytest

from hotdesk.analysis.in_place.plain_values import Candidates, alias_sets, in_place_candidates, live_ranges
from hotdesk.errors import InvalidIRError
from hotdesk.ir.walking import main_function
from tests.unit.parsing import parse

T, HALF = "tensor<8xf32>", "tensor<4xf32>"


def named(*lines: str, arguments: str = f'%x: {T} loc("x")', extra: str = "") -> object:
    """The function `@main`; each line `%y = …` gives its value the name `y`."""
    body = "\n".join(_with_name(line) for line in lines)
    module = parse(f"func.func @main({arguments}) {{\n{body}\nreturn\n}}\n{extra}")
    return main_function(module)


def _with_name(line: str) -> str:
    name, equals, _ = line.partition(" = ")
    return f'{line} loc("{name[1:]}")' if equals and "\n" not in line and ":" not in name else line


def neg(result: str, source: str, init: str = "%e", kind: str = T) -> str:
    return f"{result} = linalg.map {{ arith.negf }} ins({source} : {kind}) outs({init} : {kind})"


def add(result: str, a: str, b: str) -> str:
    return f"{result} = linalg.map {{ arith.addf }} ins({a}, {b} : {T}, {T}) outs(%e : {T})"


EMPTY = f"%e = tensor.empty() : {T}"


def test_live_ranges() -> None:
    function = named(EMPTY, neg("%y", "%x"), neg("%z", "%y"), add("%p", "%x", "%z"), add("%n", "%p", "%p"))
    assert live_ranges(function) == {"%x": (0, 3), "%e": (0, 4), "%y": (1, 2), "%z": (2, 3), "%p": (3, 4), "%n": (4, 4)}


def test_values_without_names_are_called_as_they_are_printed() -> None:
    module = parse(f"func.func @main(%x: {T}, %i: index) -> ({T}, {T}) {{\nreturn %x, %x : {T}, {T}\n}}")
    assert live_ranges(main_function(module)) == {"%arg0": (0, 0)}
    twice = named(neg("%y", "%x", "%x"), neg("%y", "%x", "%x").replace("%y", "%y2"))
    assert live_ranges(twice).keys() == {"%x", "%y", "%y2"}
    same = named(f'%a = linalg.map {{ arith.negf }} ins(%x : {T}) outs(%x : {T}) loc("x")\n')
    assert live_ranges(same).keys() == {"%arg0", "%mapped"}


def test_what_a_loop_uses_is_live_until_it_ends() -> None:
    function = named(
        EMPTY,
        "%c0 = arith.constant 0 : index",
        "%c2 = arith.constant 2 : index",
        neg("%y", "%x"),
        f"""scf.for %i = %c0 to %c2 step %c2 {{
          %a = linalg.map {{ arith.negf }} ins(%y : {T}) outs(%e : {T}) loc("a")
          %b = linalg.map {{ arith.negf }} ins(%a : {T}) outs(%e : {T}) loc("b")
        }}""",
    )
    ranges = live_ranges(function)
    # 4 is the loop, 5 and 6 are the ops in it, 7 is its terminator
    assert ranges == {"%x": (0, 3), "%e": (0, 7), "%y": (3, 7), "%a": (5, 6), "%b": (6, 6)}


def test_blocks_that_come_round() -> None:
    text = f"""func.func @main(%x: {T} loc("x"), %b: i1) -> {T} {{
      %e = tensor.empty() : {T} loc("e")
      %y = linalg.map {{ arith.negf }} ins(%x : {T}) outs(%e : {T}) loc("y")
      cf.br ^head
    ^head:
      %z = linalg.map {{ arith.negf }} ins(%y : {T}) outs(%e : {T}) loc("z")
      cf.br ^body
    ^body:
      %p = linalg.map {{ arith.negf }} ins(%z : {T}) outs(%e : {T}) loc("p")
      cf.cond_br %b, ^head, ^end
    ^end:
      return %z : {T}
    }}"""
    ranges = live_ranges(main_function(parse(text)))
    # what the entry makes is in use while the blocks come round; each round makes its own %z
    assert ranges == {"%x": (0, 1), "%e": (0, 6), "%y": (1, 6), "%z": (3, 7), "%p": (5, 5)}


def test_alias_sets() -> None:
    function = named(
        f"%v = tensor.extract_slice %x[2] [4] [1] : {T} to {HALF}",
        f"%w = tensor.expand_shape %v [[0, 1]] output_shape [2, 2] : {HALF} into tensor<2x2xf32>",
        EMPTY,
        neg("%y", "%x"),
        "%c = arith.constant true",
        f"%s = arith.select %c, %x, %y : {T}",
        f"%i = tensor.insert_slice %v into %y[0] [4] [1] : {HALF} into {T}",
    )
    sets = alias_sets(function)
    assert sets == {
        "%x": {"%x"},
        "%v": {"%x"},
        "%w": {"%x"},
        "%e": {"%e"},
        "%y": {"%y"},
        "%s": {"%x", "%y"},
        "%i": {"%i"},
    }


def test_alias_sets_across_control_flow() -> None:
    function = named(
        "%c0 = arith.constant 0 : index",
        EMPTY,
        f"""%r = scf.for %i = %c0 to %c0 step %c0 iter_args(%p = %x) -> ({T}) {{
          scf.yield %e : {T}
        }} loc("r")""",
    )
    sets = alias_sets(function)
    assert sets["%r"] == {"%x", "%e"}
    assert sets["%arg2"] == {"%x", "%e"}  # what an iteration gets


def test_candidates() -> None:
    given = f'%x: {T} {{hotdesk.donated}} loc("x"), %i: tensor<8xi32> {{hotdesk.donated}} loc("i"), %k: {T} loc("k")'
    maps = ", ".join(["affine_map<(d) -> (d)>"] * 5)
    generic = f"""%r = linalg.generic {{indexing_maps = [{maps}], iterator_types = ["parallel"]}}
      ins(%x, %i, %k, %y : {T}, tensor<8xi32>, {T}, {T}) outs(%e : {T}) {{
      ^bb0(%a: f32, %b: i32, %c: f32, %d: f32, %o: f32):
        linalg.yield %a : f32
    }} -> {T} loc("r")"""
    function = named(EMPTY, neg("%y", "%k"), generic, neg("%z", "%y"), arguments=given)
    assert in_place_candidates(function) == {
        "%y": Candidates((), ()),
        "%r": Candidates(("%x",), ("%x", "%i")),  # %k is the caller's, %y is read later, %i has another element type
        "%z": Candidates(("%y",), ("%y",)),
    }


def test_candidates_that_are_larger() -> None:
    function = named(
        "%e = tensor.empty() : tensor<4xf32>",
        f"""%r = linalg.generic {{indexing_maps = [affine_map<(d) -> (d * 2)>, affine_map<(d) -> (d)>],
          iterator_types = ["parallel"]}} ins(%x : {T}) outs(%e : tensor<4xf32>) {{
          ^bb0(%a: f32, %o: f32):
            linalg.yield %a : f32
        }} -> tensor<4xf32> loc("r")""",
        arguments=f'%x: {T} {{hotdesk.donated}} loc("x")',
    )
    assert in_place_candidates(function) == {"%r": Candidates((), ("%x",))}


def test_candidates_of_symbolic_sizes() -> None:
    """`s0 × 8` bytes are enough for `s0 × 4`, not the other way round, and `s1` may be anything."""
    kinds = {"%a": ("?x2", "s0", "2"), "%b": ("?", "s0"), "%c": ("?", "s1")}
    arguments = ", ".join(
        f"{name}: tensor<{kind}xf32> {{hotdesk.donated, hotdesk.shape = [{', '.join(f'{chr(34)}{s}{chr(34)}' for s in shape)}]}}"
        f' loc("{name[1:]}")'
        for name, (kind, *shape) in kinds.items()
    )
    maps = "[affine_map<(d) -> (d, 0)>, affine_map<(d) -> (d)>, affine_map<(d) -> (d)>]"
    function = named(
        "%c0 = arith.constant 0 : index",
        "%n = tensor.dim %b, %c0 : tensor<?xf32>",
        "%e = tensor.empty(%n) : tensor<?xf32>",
        f"""%r = linalg.generic {{indexing_maps = {maps}, iterator_types = ["parallel"]}}
          ins(%a, %b : tensor<?x2xf32>, tensor<?xf32>) outs(%e : tensor<?xf32>) {{
          ^bb0(%p: f32, %q: f32, %o: f32):
            linalg.yield %p : f32
        }} -> tensor<?xf32> loc("r")""",
        """%s = linalg.map { arith.negf } ins(%c : tensor<?xf32>) outs(%e : tensor<?xf32>)\n""",
        arguments=arguments,
    )
    found = in_place_candidates(function)
    assert found["%r"] == Candidates(("%b",), ("%a", "%b"))
    assert found["%mapped"] == Candidates((), ())


def test_candidates_of_calls_with_several_results() -> None:
    function = named(
        EMPTY,
        neg("%y", "%x"),
        f"%r:2 = func.call @f(%y, %x) : ({T}, {T}) -> ({T}, {T})",
        extra=f"func.func private @f({T}, {T}) -> ({T}, {T})",
    )
    found = in_place_candidates(function)
    assert found["%1#0"] == found["%1#1"] == Candidates(("%y",), ("%y",))


def test_a_function_without_tensors() -> None:
    function = named(arguments="%i: index")
    assert (live_ranges(function), alias_sets(function), in_place_candidates(function)) == ({}, {}, {})


def test_a_module_stands_for_its_only_function() -> None:
    function = named(EMPTY, neg("%y", "%x"))
    module = parse(f"func.func @main(%x: {T}) {{ return }}")
    assert live_ranges(module) == live_ranges(module.operation) == {"%arg0": (0, 0)}
    assert live_ranges(function) == {"%x": (0, 1), "%e": (0, 1), "%y": (1, 1)}


def test_what_is_no_function_is_refused() -> None:
    two = parse("func.func private @f()\nfunc.func private @g()")
    for analysis in (live_ranges, alias_sets, in_place_candidates):
        with pytest.raises(InvalidIRError, match="expected a func.func, or a module with one, got a module with 2"):
            analysis(two)
        with pytest.raises(InvalidIRError, match="got str"):
            analysis("func.func")  # pyright: ignore[reportArgumentType]
