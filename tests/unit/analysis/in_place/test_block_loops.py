"""Loops of blocks, and loops around loops, whose tensors change places: what is copied, and whose memory goes where."""

from __future__ import annotations

import re

import numpy as np
import pytest

from hotdesk.ir.context import entered
from hotdesk.passes.textual import parse_pipeline
from tests.running import OURS, Subject, check
from tests.running.examples import inputs_of
from tests.unit.parsing import parse
from tests.unit.passes.bufferize.upstream_programs import T, binary, fill, main, square

FREED = Subject("freed", "builtin.module(hotdesk-one-shot-bufferize,hotdesk-buffer-deallocation)", frees=True)
_NEW = "%v_empty = tensor.empty() : " + T
_WRITTEN = f"%v = tensor.insert %one into %p[%i] : {T}"
_SUM = f"{_NEW}\n%v = {binary('addf', '%p', '%q', '%v_empty')}"
_SQUARE = f"{_NEW}\n%v = {square('%q', '%v_empty')}"


def _loop(body: str, first: str, second: str, inits: str = "%f, %g", returned: str = "%p, %q") -> str:
    """A loop of blocks that runs six times; `%p` and `%q` become `first` and `second`."""
    lines = f"""{fill("%f")}
  {fill("%g", "%zero")}
  cf.br ^head(%c0, {inits} : index, {T}, {T})
^head(%i: index, %p: {T}, %q: {T}):
  %more = arith.cmpi slt, %i, %c6 : index
  cf.cond_br %more, ^body, ^end
^body:
  {body}
  %j = arith.addi %i, %c1 : index
  cf.br ^head(%j, {first}, {second} : index, {T}, {T})
^end:
"""
    return main(f"%x: {T}, %y: {T}", lines, [(name, T) for name in returned.split(", ")])


LIES_ELSEWHERE = """func.func @main(%x: tensor<4xi32> {hotdesk.donated}, %n: index) -> tensor<4xi32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  cf.br ^head(%c0, %x : index, tensor<4xi32>)
^head(%i: index, %p: tensor<4xi32>):
  %more = arith.cmpi slt, %i, %n : index
  cf.cond_br %more, ^body, ^end
^body:
  %first = arith.cmpi eq, %i, %c1 : index
  cf.cond_br %first, ^one, ^two
^one:
  cf.br ^join(%x : tensor<4xi32>)
^two:
  cf.br ^join(%p : tensor<4xi32>)
^join(%q: tensor<4xi32>):
  cf.br ^head(%c1, %q : index, tensor<4xi32>)
^end:
  %s = tensor.extract_slice %x[0] [2] [1] : tensor<4xi32> to tensor<2xi32>
  %k = arith.constant 52 : i32
  %t = tensor.insert %k into %s[%c1] : tensor<2xi32>
  %r = tensor.insert_slice %t into %p[0] [2] [1] : tensor<2xi32> into tensor<4xi32>
  return %r : tensor<4xi32>
}"""
"""What is inserted lies where the destination lay when the loop began; in an iteration that is copied to new memory."""


@pytest.mark.parametrize("times", [0, 1])
def test_what_a_branch_brings_in_other_memory_is_inserted(times: int) -> None:
    for subject in (OURS, FREED):
        check(LIES_ELSEWHERE, [np.arange(4, dtype=np.int32), np.int64(times)], subject)


LOOPS = {
    "two that change places": (_loop("", "%q", "%p"), 2, 4),
    "two that change places, one of them written": (_loop(_WRITTEN, "%q", "%v"), 2, 4),
    "one that is made anew": (_loop(_SUM, "%q", "%v"), 2, 10),
    "one that is made anew, from what the other one was": (_loop(_SQUARE, "%q", "%v"), 2, 10),
    "one new tensor twice": (_loop(_SQUARE, "%v", "%v"), 1, 3),
    "arguments that nobody writes": (_loop("", "%q", "%p", "%x, %y"), 2, 4),
    "an argument among those that are written": (_loop(_WRITTEN, "%q", "%v", "%x, %g"), 3, 5),
    "an argument that is only left": (_loop(_SUM, "%q", "%v", "%x, %y"), 2, 10),
    "one tensor that is both": (_loop(_WRITTEN, "%q", "%v", "%f, %f"), 3, 5),
    "what was there before": (_loop("", "%x", "%q"), 1, 3),
    "what is wanted behind the loop": (_loop(_WRITTEN, "%q", "%v", returned="%p, %q, %f"), 3, 5),
}
"""Programs with the copies and allocations that a run takes, the results' memory among them."""


@pytest.mark.parametrize("name", LOOPS)
def test_copies_and_allocations(name: str) -> None:
    text, copies, allocations = LOOPS[name]
    for subject in (OURS, FREED):
        run = check(text, inputs_of(text), subject)
        assert (run.copies.count, run.allocations.count) == (copies, allocations), subject.name


def test_memrefs_change_places() -> None:
    module = parse(LOOPS["two that change places"][0])
    with entered(module.operation):
        parse_pipeline(OURS.pipeline).run(module)
    text = str(module)
    head = re.search(r"\^bb1\(%\w+: index, (%\w+): memref<8xf32>, (%\w+): memref<8xf32>\)", text)
    assert head is not None
    assert re.search(rf"cf\.br \^bb1\(%\w+, {head[2]}, {head[1]} : index", text)


_INNER_WHILE = f"""%r:3 = scf.while (%h = %c0, %h0 = %p, %h1 = %q) : (index, {T}, {T}) -> (index, {T}, {T}) {{
  %more = arith.cmpi slt, %h, %c1 : index
  scf.condition(%more) %h, %h0, %h1 : index, {T}, {T}
}} do {{
^bb0(%k: index, %a: {T}, %b: {T}):
  %w = tensor.insert %five into %b[%i] : {T}
  %j = arith.addi %k, %c1 : index
  scf.yield %j, %w, %a : index, {T}, {T}
}}"""
_INNER_FOR = f"""%r:3 = scf.for %k = %c0 to %c1 step %c1 iter_args(%h = %c0, %a = %p, %b = %q) -> (index, {T}, {T}) {{
  %w = tensor.insert %five into %b[%i] : {T}
  scf.yield %h, %w, %a : index, {T}, {T}
}}"""


@pytest.mark.parametrize("inner", [_INNER_WHILE, _INNER_FOR], ids=["while", "for"])
def test_what_enters_an_outer_loop_may_become_any_of_those_that_change_places_inside(inner: str) -> None:
    body = f"""{fill("%f")}
  {fill("%g", "%zero")}
  %five = arith.constant 5.0 : f32
  %s:2 = scf.for %i = %c0 to %c6 step %c1 iter_args(%p = %f, %q = %g) -> ({T}, {T}) {{
    {inner}
    scf.yield %r#1, %r#2 : {T}, {T}
  }}
  %z_empty = tensor.empty() : {T}
  %z = {binary("addf", "%f", "%s#0", "%z_empty")}"""
    text = main("", body, [("%z", T), ("%s#1", T)])
    run = check(text, [], OURS)
    assert run.copies.count == 2  # of %f in front of the outer loop, and of a result
    check(text, [], FREED)
