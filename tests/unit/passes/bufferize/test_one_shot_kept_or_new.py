"""What a loop passes on is now the memory that it had, now new memory, for a condition: it is not copied, and nothing is lost."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import numpy as np
import pytest
from torch_mlir import ir

from hotdesk.ir.context import entered
from hotdesk.passes.bufferize.one_shot import OneShotBufferize
from tests.running import MLIR_AT_CALLERS, OURS, Executable, Run, Subject, agree, assert_no_more, compiled, wanted
from tests.unit.parsing import ops, parse

T = "tensor<4xf32>"
FREED = Subject("freed", "builtin.module(hotdesk-one-shot-bufferize,hotdesk-buffer-deallocation)", frees=True)
RETURNED = Subject(
    "returned", "builtin.module(hotdesk-one-shot-bufferize{results=returned},hotdesk-buffer-deallocation)", frees=True
)
STAYING = Subject("staying", "builtin.module(hotdesk-one-shot-bufferize{allow-return-allocs-from-loops=false})")


@lru_cache(maxsize=8)
def _compiled(text: str, subject: Subject) -> Executable:
    """A program that runs on several inputs, one test after the other."""
    return compiled(text, subject)


def _check(text: str, inputs: Sequence[Any], subject: Subject) -> Run:
    return agree(_compiled(text, subject), inputs, wanted(text, inputs), frees=subject.frees)


def _turned(source: str, name: str = "%v") -> str:
    """New memory: elements are written in another order than they are read."""
    return f"""{name} = linalg.generic {{
          indexing_maps = [affine_map<(d0) -> (3 - d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]
        }} ins({source} : {T}) outs(%e : {T}) {{
        ^bb0(%p: f32, %o: f32):
          %s = arith.mulf %p, %k : f32
          linalg.yield %s : f32
        }} -> {T}"""


def _kept_or(made: str, kept: str = "%x", name: str = "%w", new: str = "%v") -> str:
    return f"""{name} = scf.if %c -> {T} {{
          scf.yield {kept} : {T}
        }} else {{
          {made}
          scf.yield {new} : {T}
        }}"""


def _loop(body: str, *, behind: str = "", returned: str = "%r#0, %r#1") -> str:
    """The choice is another one in each iteration."""
    return f"""func.func @main(%a: {T} {{hotdesk.donated}}, %b: {T}, %n: index, %f: index) -> ({T}, {T}) {{
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c2 = arith.constant 2 : index
      %k = arith.constant 3.0 : f32
      %e = tensor.empty() : {T}
      %r:2 = scf.for %i = %c0 to %n step %c1 iter_args(%x = %a, %y = %b) -> ({T}, {T}) {{
        %m = arith.addi %i, %f : index
        %d = arith.remui %m, %c2 : index
        %c = arith.cmpi eq, %d, %c0 : index
        {body}
      }}
      {behind}
      return {returned} : {T}, {T}
    }}"""


PASSED = {
    "by a branch": f"{_kept_or(_turned('%x'))}\nscf.yield %w, %y : {T}, {T}",
    "by a selection": f"{_turned('%x')}\n%w = arith.select %c, %x, %v : {T}\nscf.yield %w, %y : {T}, {T}",
    "for both": f"{_kept_or(_turned('%x'))}\n{_kept_or(_turned('%y'), '%y', '%z')}\nscf.yield %w, %z : {T}, {T}",
    "of two new ones": f"""{_kept_or(_turned("%y"))}
        %q = arith.cmpi eq, %i, %c1 : index
        {_turned("%x", "%u")}
        %z = arith.select %q, %w, %u : {T}
        scf.yield %z, %y : {T}, {T}""",
}
"""Nothing is copied in an iteration."""
WRITTEN = {
    "what is chosen": _loop(
        f"{_kept_or(_turned('%x'))}\n%z = tensor.insert %k into %w[%d] : {T}\nscf.yield %z, %y : {T}, {T}"
    ),
    "what is kept": _loop(
        f"%x1 = tensor.insert %k into %x[%d] : {T}\n{_kept_or(_turned('%x1'), '%x1')}\nscf.yield %w, %y : {T}, {T}"
    ),
    "what is kept, which the other one becomes": _loop(
        f"{_kept_or(_turned('%x'))}\n{_kept_or(_turned('%x'), '%x', '%z')}\nscf.yield %w, %z : {T}, {T}"
    ),
    "one tensor for both": _loop(f"{_kept_or(_turned('%x'))}\nscf.yield %w, %w : {T}, {T}"),
    "in turn": _loop(f"{_kept_or(_turned('%x'), '%y')}\nscf.yield %w, %x : {T}, {T}"),
    "both, and one is made anew": _loop(
        f"""{_kept_or(_turned("%x"))}
        %z = tensor.insert %k into %y[%d] : {T}
        {_kept_or(_turned("%z", "%u"), "%z", "%t", "%u")}
        scf.yield %w, %t : {T}, {T}"""
    ),
    "what came out, while what went in is wanted": _loop(
        f"{_kept_or(_turned('%x'))}\nscf.yield %w, %y : {T}, {T}",
        behind=f"%t = tensor.insert %k into %r#0[%c1] : {T}",
        returned="%t, %a",
    ),
    "what goes in, twice": _loop(
        f"{_kept_or(_turned('%x'))}\n%z = tensor.insert %k into %w[%d] : {T}\nscf.yield %z, %y : {T}, {T}"
    ).replace("%y = %b", "%y = %a"),
    "what is copied beside one that lies there": _loop(
        f"""%w = scf.if %c -> {T} {{
          scf.yield %y : {T}
        }} else {{
          %s = tensor.extract_slice %y[0] [2] [1] : {T} to tensor<2xf32>
          %u = tensor.insert_slice %s into %x[0] [2] [1] : tensor<2xf32> into {T}
          scf.yield %u : {T}
        }}
        scf.yield %w, %b : {T}, {T}"""
    ).replace("%y = %b", "%y = %a"),
    "what a loop inside keeps or makes": _loop(
        f"""%q = scf.for %j = %c0 to %c2 step %c1 iter_args(%u = %x) -> {T} {{
          %w = scf.if %c -> {T} {{
            scf.yield %u : {T}
          }} else {{
            {_turned("%u")}
            scf.yield %v : {T}
          }}
          scf.yield %w : {T}
        }}
        {_turned("%q", "%t")}
        %z = arith.select %c, %q, %t : {T}
        scf.yield %z, %y : {T}, {T}"""
    ),
}
"""Memory is written that is one of several: values stay as they are."""


def _inputs(times: int, first: int) -> list[object]:
    return [np.arange(4, dtype=np.float32), np.arange(4, dtype=np.float32) ** 2, np.int64(times), np.int64(first)]


@pytest.mark.parametrize(("times", "first"), [(0, 0), (1, 0), (1, 1), (4, 0), (5, 1)])
@pytest.mark.parametrize("name", PASSED)
def test_nothing_is_copied_in_an_iteration(name: str, times: int, first: int) -> None:
    text, inputs = _loop(PASSED[name]), _inputs(times, first)
    for subject in (FREED, RETURNED, STAYING):
        _check(text, inputs, subject)
    ours = _check(text, inputs, OURS)
    assert ours.copies.count <= 3  # the results, and what goes in
    assert_no_more(ours, _check(text, inputs, MLIR_AT_CALLERS))


@pytest.mark.parametrize(("times", "first"), [(0, 0), (1, 0), (1, 1), (4, 0), (5, 1)])
@pytest.mark.parametrize("name", WRITTEN)
def test_what_is_written_is_nobody_elses(name: str, times: int, first: int) -> None:
    for subject in (OURS, FREED, RETURNED, STAYING):
        _check(WRITTEN[name], _inputs(times, first), subject)


def _while(body: str) -> str:
    """A loop with a condition in front, whose first argument is passed on twice."""
    return f"""func.func @main(%a: {T} {{hotdesk.donated}}, %b: {T}, %n: index, %f: index) -> ({T}, {T}) {{
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c2 = arith.constant 2 : index
      %k = arith.constant 3.0 : f32
      %e = tensor.empty() : {T}
      %r:3 = scf.while (%x = %a, %y = %b, %i = %c0) : ({T}, {T}, index) -> ({T}, {T}, index) {{
        %more = arith.cmpi slt, %i, %n : index
        scf.condition(%more) %x, %x, %i : {T}, {T}, index
      }} do {{
      ^bb0(%x: {T}, %y: {T}, %i: index):
        %j = arith.addi %i, %c1 : index
        %m = arith.addi %i, %f : index
        %d = arith.remui %m, %c2 : index
        %c = arith.cmpi eq, %d, %c0 : index
        {body}
      }}
      return %r#0, %r#1 : {T}, {T}
    }}
    func.func private @new(%x: {T}) -> {T} {{
      %e = tensor.empty() : {T}
      %k = arith.constant 3.0 : f32
      {_turned("%x")}
      return %v : {T}
    }}
    func.func private @fresh(%x: {T}) -> {T} {{
      %e = tensor.empty() : {T}
      %k = arith.constant 3.0 : f32
      %v = linalg.fill ins(%k : f32) outs(%e : {T}) -> {T}
      return %v : {T}
    }}"""


CALLED = f"%v = func.call @new(%x) : ({T}) -> {T}"
WHILE = {
    "what a branch keeps or a call returns": f"{_kept_or(CALLED, '%y')}\nscf.yield %w, %w, %j : {T}, {T}, index",
    "what a branch keeps, or a call returns that reads nothing": (
        f"{_kept_or(CALLED.replace('@new', '@fresh'), '%y')}\nscf.yield %w, %w, %j : {T}, {T}, index"
    ),
    "what a call returns": f"{CALLED}\nscf.yield %v, %y, %j : {T}, {T}, index",
    "what a branch keeps or makes": f"{_kept_or(_turned('%x'), '%y')}\nscf.yield %w, %w, %j : {T}, {T}, index",
}
"""What the next iteration gets."""


@pytest.mark.parametrize(("times", "first"), [(0, 0), (1, 0), (1, 1), (4, 0), (5, 1)])
@pytest.mark.parametrize("name", WHILE)
def test_what_a_while_loop_hands_on_is_nobody_elses(name: str, times: int, first: int) -> None:
    for subject in (OURS, FREED, RETURNED, STAYING):
        _check(_while(WHILE[name]), _inputs(times, first), subject)


@pytest.mark.parametrize("results", ["out-params", "returned"])
@pytest.mark.parametrize("name", WHILE)
def test_where_it_must_not_a_while_loop_yields_no_memory_of_an_iteration(name: str, results: str) -> None:
    """What the next iteration gets is there before the loop: an argument, or memory that is made in front of it."""
    module = parse(_while(WHILE[name]))
    with entered(module.operation):
        OneShotBufferize(results=results, allow_return_allocs_from_loops=False).run(module)
        (loop,) = ops(module, "scf.while")
        body = loop.regions[1].blocks[0]
        there = [value for value in (*loop.operands, *body.arguments) if "memref" in str(value.type)]
        yielded = [value for value in list(body.operations)[-1].operands if "memref" in str(value.type)]
        assert len(yielded) == 2
        assert all(source in there for value in yielded for source in _sources(value))


def _sources(value: ir.Value) -> list[ir.Value]:
    """The memrefs that a value is one of: those that the branches yield which it comes from."""
    if isinstance(value.owner, ir.Block) or value.owner.name != "scf.if":
        return [value]
    number = [result == value for result in value.owner.results].index(True)
    ends = [list(region.blocks[0].operations)[-1] for region in value.owner.regions]
    return [source for end in ends for source in _sources(end.operands[number])]
