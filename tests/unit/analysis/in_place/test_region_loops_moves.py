"""Moves of pointers around a loop: an argument gets what another had, which gets new memory. Nothing is copied or lost."""

from __future__ import annotations

import numpy as np
import pytest

from tests.running import MLIR_AT_CALLERS, OURS, Run, Subject, assert_no_more, check

T = "tensor<4xf32>"
FREED = Subject("freed", "builtin.module(hotdesk-one-shot-bufferize,hotdesk-buffer-deallocation)", frees=True)
RETURNED = Subject(
    "returned", "builtin.module(hotdesk-one-shot-bufferize{results=returned},hotdesk-buffer-deallocation)", frees=True
)
STAYING = Subject("staying", "builtin.module(hotdesk-one-shot-bufferize{allow-return-allocs-from-loops=false})")


def _made(*sources: str, name: str = "%v") -> str:
    """New memory: elements are written in another order than they are read."""
    turned = ", ".join(["affine_map<(d0) -> (3 - d0)>"] * len(sources))
    arguments = ", ".join(f"%p{i}: f32" for i in range(len(sources)))
    sums = "\n".join(f"%s{i + 1} = arith.addf %s{i}, %p{i} : f32" for i in range(len(sources)))
    return f"""{name} = linalg.generic {{
          indexing_maps = [{turned}, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]
        }} ins({", ".join(sources)} : {", ".join([T] * len(sources))}) outs(%e : {T}) {{
        ^bb0({arguments}, %o: f32):
          %s0 = arith.constant 1.0 : f32
          {sums}
          linalg.yield %s{len(sources)} : f32
        }} -> {T}"""


def _loop(body: str, *, given: str = "%a, %b, %c", behind: str = "", returned: str = "%r#0, %r#1, %r#2") -> str:
    entering = ", ".join(f"{name} = {value}" for name, value in zip(("%x", "%y", "%z"), given.split(", "), strict=True))
    return f"""func.func @main(%a: {T}, %b: {T}, %c: {T}, %n: index) -> ({T}, {T}, {T}) {{
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c2 = arith.constant 2 : index
      %k = arith.constant 3.0 : f32
      %e = tensor.empty() : {T}
      %r:3 = scf.for %i = %c0 to %n step %c1 iter_args({entering}) -> ({T}, {T}, {T}) {{
        {body}
      }}
      {behind}
      return {returned} : {T}, {T}, {T}
    }}"""


SHIFTED = f"{_made('%x', '%y', '%z')}\nscf.yield %y, %z, %v : {T}, {T}, {T}"
PUT = "tensor.insert %k into"
HANDED_DOWN = {
    "the last states": _loop(SHIFTED),
    "the last states, of which the function makes one": _loop(SHIFTED, given="%a, %b, %m").replace(
        "%r:3", f"{_made('%a', name='%m')}\n%r:3"
    ),
    "another way round": _loop(f"{_made('%x', '%y', '%z')}\nscf.yield %v, %x, %y : {T}, {T}, {T}"),
    "what is written first": _loop(
        f"%w = {PUT} %y[%c1] : {T}\n{_made('%x', '%w', '%z')}\nscf.yield %w, %z, %v : {T}, {T}, {T}"
    ),
    "all that came in at once": _loop(SHIFTED, given="%a, %a, %a"),
    "two of the same": _loop(f"{_made('%x', '%z')}\nscf.yield %y, %v, %v : {T}, {T}, {T}"),
}
"""In an iteration nothing is copied."""
COPIES = {"what is written first": 5, "two of the same": 4}
"""With the results, what is copied because it goes into memory that is written."""
KEPT = {
    "one for two": _loop(f"{_made('%x', '%y', '%z')}\nscf.yield %z, %z, %v : {T}, {T}, {T}"),
    "the one that is written": _loop(
        f"""{_made("%x", "%y", "%z")}
        %w = {PUT} %x[%c1] : {T}
        {_made("%w", "%v", name="%u")}
        scf.yield %y, %z, %u : {T}, {T}, {T}"""
    ),
    "written in each iteration": _loop(
        f"{_made('%x', '%y', '%z')}\n%w = {PUT} %x[%i] : {T}\nscf.yield %y, %v, %w : {T}, {T}, {T}"
    ),
    "written behind": _loop(
        SHIFTED, behind=f"%t = {PUT} %r#0[%c1] : {T}\n{_made('%b', '%t', name='%u')}", returned="%u, %r#1, %c"
    ),
    "written behind, in turn": _loop(
        SHIFTED,
        behind=f"%t = {PUT} %r#1[%c1] : {T}\n%u = {PUT} %r#2[%c0] : {T}\n%w = {PUT} %r#0[%c2] : {T}",
        returned="%t, %u, %w",
    ),
    "kept at times": _loop(
        f"""{_made("%x", "%y", "%z")}
        %d = arith.cmpi eq, %i, %c1 : index
        %w = arith.select %d, %z, %v : {T}
        scf.yield %y, %z, %w : {T}, {T}, {T}"""
    ),
    "in a loop inside": _loop(
        f"""%q:2 = scf.for %j = %c0 to %c2 step %c1 iter_args(%s = %x, %t = %y) -> ({T}, {T}) {{
          {_made("%s", "%t", "%z")}
          scf.yield %t, %v : {T}, {T}
        }}
        scf.yield %q#1, %z, %q#0 : {T}, {T}, {T}"""
    ),
    "what a loop inside swapped with memory from before": _loop(
        f"""%q:2 = scf.for %j = %c0 to %c1 step %c1 iter_args(%s = %z, %t = %a) -> ({T}, {T}) {{
          scf.yield %t, %s : {T}, {T}
        }}
        %w = {PUT} %x[%c1] : {T}
        scf.yield %y, %q#0, %w : {T}, {T}, {T}"""
    ),
    "from a loop inside that may keep it": _loop(
        f"""%q:2 = scf.for %j = %c0 to %i step %c1 iter_args(%s = %y, %t = %y) -> ({T}, {T}) {{
          {_made("%s", "%t", name="%u")}
          scf.yield %u, %u : {T}, {T}
        }}
        {_made("%q#0", "%x")}
        scf.yield %q#1, %q#1, %v : {T}, {T}, {T}"""
    ),
    "from a loop inside, written there": _loop(
        f"""%q:2 = scf.for %j = %c0 to %c2 step %c1 iter_args(%s = %z, %t = %y) -> ({T}, {T}) {{
          {_made("%s", "%t", name="%u")}
          scf.yield %u, %u : {T}, {T}
        }}
        %w = {PUT} %q#0[%c1] : {T}
        {_made("%q#1", "%x")}
        scf.yield %q#1, %w, %v : {T}, {T}, {T}"""
    ),
}
"""Memory is written that is somebody else's later: values stay as they are."""


def _inputs(times: int) -> list[object]:
    return [*(np.arange(4, dtype=np.float32) ** power for power in (1, 2, 3)), np.int64(times)]


def _runs(text: str, inputs: list[object]) -> tuple[Run, Run]:
    """Ours and MLIR's, each with the reference's values; so have ours where results are returned, and where memory stays."""
    for subject in (FREED, RETURNED, STAYING):
        check(text, inputs, subject)
    return check(text, inputs, OURS), check(text, inputs, MLIR_AT_CALLERS)


@pytest.mark.parametrize("times", [0, 1, 2, 4])
@pytest.mark.parametrize("name", HANDED_DOWN)
def test_nothing_is_copied_in_an_iteration(name: str, times: int) -> None:
    ours, theirs = _runs(HANDED_DOWN[name], _inputs(times))
    assert ours.copies.count == COPIES.get(name, 3)  # however often the loop goes round
    assert_no_more(ours, theirs)


@pytest.mark.parametrize("times", [0, 1, 2, 4])
@pytest.mark.parametrize("name", KEPT)
def test_what_is_written_is_nobody_elses(name: str, times: int) -> None:
    _runs(KEPT[name], _inputs(times))
