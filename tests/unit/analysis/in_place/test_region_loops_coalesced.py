"""What a loop passes on to several arguments, and what goes into loops that run: no more is copied or taken than by MLIR's."""

from __future__ import annotations

import numpy as np
import pytest

from tests.running import MLIR_AT_CALLERS, OURS, Run, Subject, assert_no_more, check
from tests.running.examples import EXAMPLES, inputs_of

T = "tensor<4xf32>"
FREED = Subject("freed", "builtin.module(hotdesk-one-shot-bufferize,hotdesk-buffer-deallocation)", frees=True)
RETURNED = Subject(
    "returned", "builtin.module(hotdesk-one-shot-bufferize{results=returned},hotdesk-buffer-deallocation)", frees=True
)
STAYING = Subject("staying", "builtin.module(hotdesk-one-shot-bufferize{allow-return-allocs-from-loops=false})")
_MADE = f"%v = linalg.sub ins(%x, %y : {T}, {T}) outs(%e : {T}) -> {T}"
_TURNED = f"""%v = linalg.generic {{
    indexing_maps = [affine_map<(d0) -> (3 - d0)>, affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>],
    iterator_types = ["parallel"]
  }} ins(%x, %y : {T}, {T}) outs(%e : {T}) {{
  ^bb0(%p: f32, %q: f32, %o: f32):
    %s = arith.subf %p, %q : f32
    linalg.yield %s : f32
  }} -> {T}"""
_PUT = "tensor.insert %k into"


def _loop(made: str, *, last: str = "%n", behind: str = "", returned: str = "%r#0, %r#1") -> str:
    return f"""func.func @main(%a: {T}, %b: {T}, %n: index) -> ({T}, {T}) {{
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c3 = arith.constant 3 : index
      %k = arith.constant 7.0 : f32
      %e = tensor.empty() : {T}
      %r:2 = scf.for %i = %c0 to {last} step %c1 iter_args(%x = %a, %y = %b) -> ({T}, {T}) {{
        {made}
      }}
      {behind}
      return {returned} : {T}, {T}
    }}"""


def _inputs(times: int) -> list[object]:
    return [np.arange(4, dtype=np.float32), np.arange(4, dtype=np.float32) ** 2, np.int64(times)]


def _runs(text: str, inputs: list[object]) -> tuple[Run, Run]:
    """Ours and MLIR's, each with the reference's values; so have ours where results are returned, and where memory stays."""
    for subject in (FREED, RETURNED, STAYING):
        check(text, inputs, subject)
    return check(text, inputs, OURS), check(text, inputs, MLIR_AT_CALLERS)


@pytest.mark.parametrize("times", [0, 1, 3])
@pytest.mark.parametrize("made", [_MADE, _TURNED], ids=["step by step", "turned"])
def test_one_buffer_for_two(made: str, times: int) -> None:
    ours, theirs = _runs(_loop(f"{made}\nscf.yield %v, %v : {T}, {T}"), _inputs(times))
    assert ours.copies.count == 2  # the results
    assert_no_more(ours, theirs)


WRITTEN = {
    "the first result": _loop(
        f"{_TURNED}\nscf.yield %v, %v : {T}, {T}", behind=f"%t = {_PUT} %r#0[%c1] : {T}", returned="%t, %r#1"
    ),
    "the second result": _loop(
        f"{_TURNED}\nscf.yield %v, %v : {T}, {T}", behind=f"%t = {_PUT} %r#1[%c1] : {T}", returned="%r#0, %t"
    ),
    "an argument while the other one is wanted": _loop(
        f"%x1 = {_PUT} %x[%c1] : {T}\n{_TURNED.replace('%x', '%x1')}\nscf.yield %v, %v : {T}, {T}"
    ),
    "an argument, and one is not passed on": _loop(
        f"%x1 = {_PUT} %x[%c1] : {T}\n{_TURNED.replace('%x', '%x1')}\nscf.yield %v, %y : {T}, {T}"
    ),
    "what is passed on, by itself": _loop(f"%v = {_PUT} %x[%i] : {T}\nscf.yield %v, %v : {T}, {T}", last="%c3"),
}
"""Memory of one argument, or result, is written: values stay as they are."""


@pytest.mark.parametrize("times", [0, 1, 3])
@pytest.mark.parametrize("name", WRITTEN)
def test_what_is_written_is_nobody_elses(name: str, times: int) -> None:
    for subject in (OURS, FREED, RETURNED, STAYING):
        check(WRITTEN[name], _inputs(times), subject)


def test_one_of_two_is_handed_on_and_one_is_copied() -> None:
    ours = check(WRITTEN["the first result"], _inputs(3), OURS)
    assert ours.copies.count <= 2 + 3 + 1  # what goes in, one in each iteration, and a result


@pytest.mark.parametrize("name", ["loop_grows_entered_with_argument_or_copy", "if_reshapes_dynamic"])
def test_examples(name: str) -> None:
    text = EXAMPLES[name].read_text(encoding="utf-8")
    assert_no_more(*_runs(text, inputs_of(text)))


RUNNING = {
    "overwritten unread": (f"%v = linalg.fill ins(%k : f32) outs(%x : {T}) -> {T}\nscf.yield %v, %y : {T}, {T}", 1),
    "passed on": (
        f"""%u = linalg.exp ins(%y : {T}) outs(%e : {T}) -> {T}
        %v = linalg.sub ins(%u, %y : {T}, {T}) outs(%e : {T}) -> {T}
        scf.yield %v, %y : {T}, {T}""",
        1,
    ),
}
"""Loops that run three times and do not read %a, with what is copied: %b."""


TURNS = {
    "written in turn": _loop(
        f"%v = linalg.fill ins(%k : f32) outs(%x : {T}) -> {T}\nscf.yield %y, %v : {T}, {T}",
        last="%c3",
        returned="%r#1, %r#1",
    ),
    "written behind": _loop(
        f"scf.yield %y, %x : {T}, {T}",
        last="%c3",
        behind=_TURNED.replace("%x, %y", "%b, %a").replace("outs(%e", "outs(%r#1"),
        returned="%v, %v",
    ),
}
"""Loops that run three times and read nothing, in which arguments change places."""


@pytest.mark.parametrize("name", TURNS)
def test_memory_that_changes_places_and_is_written_is_nobody_elses(name: str) -> None:
    _runs(TURNS[name], _inputs(0))


@pytest.mark.parametrize("name", RUNNING)
def test_what_goes_in_unread_is_not_copied(name: str) -> None:
    made, copies = RUNNING[name]
    ours, theirs = _runs(_loop(made, last="%c3"), _inputs(0))
    assert ours.copies.count == copies
    assert_no_more(ours, theirs)


@pytest.mark.parametrize("times", [0, 2])
@pytest.mark.parametrize("name", RUNNING)
def test_loops_that_may_not_run_hand_out_what_went_in(name: str, times: int) -> None:
    _runs(_loop(RUNNING[name][0]), _inputs(times))


def test_a_part_that_goes_in_unread_is_not_copied() -> None:
    part = "tensor<2xf32>"
    text = f"""func.func @main(%a: {T}, %b: {T}, %n: index) -> {part} {{
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c3 = arith.constant 3 : index
      %p = tensor.extract_slice %a[1] [2] [1] : {T} to {part}
      %r = scf.for %i = %c0 to %c3 step %c1 iter_args(%x = %p) -> {part} {{
        %q = tensor.extract_slice %b[%n] [2] [1] : {T} to {part}
        %e = tensor.empty() : {part}
        %v = linalg.exp ins(%q : {part}) outs(%e : {part}) -> {part}
        scf.yield %v : {part}
      }}
      return %r : {part}
    }}"""
    ours, theirs = _runs(text, _inputs(1))
    assert_no_more(ours, theirs)


def test_an_inner_loop_hands_its_memory_on() -> None:
    text = f"""func.func @main(%a: {T}, %b: {T}, %n: index) -> {T} {{
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c3 = arith.constant 3 : index
      %r = scf.for %i = %c0 to %n step %c1 iter_args(%x = %a) -> {T} {{
        %q = scf.for %j = %c0 to %c3 step %c1 iter_args(%y = %b) -> {T} {{
          %e = tensor.empty() : {T}
          %v = linalg.sub ins(%a, %b : {T}, {T}) outs(%e : {T}) -> {T}
          %w = {_TURNED.replace("%v = ", "").replace("%x, %y", "%x, %v")}
          scf.yield %w : {T}
        }}
        scf.yield %q : {T}
      }}
      return %r : {T}
    }}"""
    ours, theirs = _runs(text, _inputs(2))
    assert ours.copies.count == 1
    assert_no_more(ours, theirs)
