"""Functions that call themselves: what they may assume of each other, and that they copy no more than MLIR's."""

from __future__ import annotations

from dataclasses import dataclass

import pytest

from tests.running import Subject, assert_no_more
from tests.unit.passes.bufferize.upstream_programs import T, binary, fill, main, run, run_peer, square

ALONE = Subject("Hotdesk's", "builtin.module(hotdesk-one-shot-bufferize)")
OTHERS = (
    Subject("bottom up", "builtin.module(hotdesk-one-shot-bufferize{analysis-heuristic=bottom-up})"),
    Subject("destinations first", "builtin.module(hotdesk-choose-destinations,hotdesk-one-shot-bufferize)"),
)
_COUNTER = """%c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %done = arith.cmpi eq, %n, %c0 : index
  %m = arith.subi %n, %c1 : index"""


@dataclass(frozen=True)
class Recursion:
    """A program, and how often it copies and allocates at the most; what is allocated for results counts too."""

    text: str
    copies: int
    allocations: int


def _again(name: str, base: str, step: str, result: str, *, arguments: str = f"%x: {T}", kind: str = T) -> str:
    """A function that returns `base` when its counter is 0, and else `result`, which `step` computes."""
    return f"""func.func private @{name}({arguments}, %n: index) -> {kind} {{
  {_COUNTER}
  %r = scf.if %done -> ({kind}) {{
    scf.yield {base} : {kind}
  }} else {{
    {step}
    scf.yield {result} : {kind}
  }}
  return %r : {kind}
}}
"""


def _call(name: str, made: str, given: str, kind: str = T, counter: str = "%m") -> str:
    return f"{made} = func.call @{name}({given}, {counter}) : ({kind}, index) -> {kind}"


_DOUBLE = f"%y = {binary('addf', '%x', '%x', '%x')}"
_STEP = f"{_DOUBLE}\n{_call('f', '%z', '%y')}"
_START = f"{fill('%f')}\n{_call('f', '%a', '%f', counter='%c6')}"
_DYNAMIC = "tensor<?xf32>"
RECURSIONS = {
    "it works on its argument": Recursion(main("", _START, [("%a", T)], _again("f", "%x", _STEP, "%z")), 0, 1),
    "it works behind the call": Recursion(
        main("", _START, [("%a", T)], _again("f", "%x", f"{_call('f', '%z', '%x')}\n%w = {square('%z', '%z')}", "%w")),
        0,
        1,
    ),
    "two call each other": Recursion(
        main(
            "",
            _START,
            [("%a", T)],
            _again("f", "%x", f"{_DOUBLE}\n{_call('g', '%z', '%y')}", "%z")
            + _again("g", "%x", f"%y = {square('%x', '%x')}\n{_call('f', '%z', '%y')}", "%z"),
        ),
        0,
        1,
    ),
    "the caller still wants what it gave": Recursion(
        main(
            "",
            f"{_START}\n%e = tensor.empty() : {T}\n%b = {binary('addf', '%a', '%f', '%e')}",
            [("%b", T)],
            _again("f", "%x", _STEP, "%z"),
        ),
        1,
        3,
    ),
    "it still wants what it gave": Recursion(
        main("", _START, [("%a", T)], _again("f", "%x", f"{_STEP}\n%w = {binary('addf', '%z', '%x', '%z')}", "%w")),
        1,
        8,
    ),
    "it only reads": Recursion(
        main(
            "",
            f"{_START}\n%b = {binary('addf', '%a', '%f', '%f')}",
            [("%b", T)],
            _again("f", "%k", _call("f", "%z", "%x"), "%z").replace(
                "%r = scf.if", f"%e = tensor.empty() : {T}\n  %k = {square('%x', '%e')}\n  %r = scf.if"
            ),
        ),
        0,
        2,
    ),
    "the arguments change places": Recursion(
        main(
            "",
            f"""{fill("%f")}
            {fill("%g", "%zero")}
            %a:2 = func.call @f(%f, %g, %c6) : ({T}, {T}, index) -> ({T}, {T})""",
            [("%a#0", T), ("%a#1", T)],
            f"""func.func private @f(%x: {T}, %y: {T}, %n: index) -> ({T}, {T}) {{
              {_COUNTER}
              %r:2 = scf.if %done -> ({T}, {T}) {{
                scf.yield %x, %y : {T}, {T}
              }} else {{
                %w = {binary("addf", "%x", "%y", "%x")}
                %z:2 = func.call @f(%y, %w, %m) : ({T}, {T}, index) -> ({T}, {T})
                scf.yield %z#0, %z#1 : {T}, {T}
              }}
              return %r#0, %r#1 : {T}, {T}
            }}""",
        ),
        2,
        4,
    ),
    "both results are one argument": Recursion(
        main(
            "",
            f"""{fill("%f")}
            %a:2 = func.call @f(%f, %c6) : ({T}, index) -> ({T}, {T})
            %b = {binary("addf", "%a#0", "%a#1", "%a#0")}""",
            [("%b", T)],
            f"""func.func private @f(%x: {T}, %n: index) -> ({T}, {T}) {{
              {_COUNTER}
              %r:2 = scf.if %done -> ({T}, {T}) {{
                scf.yield %x, %x : {T}, {T}
              }} else {{
                {_DOUBLE}
                %z:2 = func.call @f(%y, %m) : ({T}, index) -> ({T}, {T})
                scf.yield %z#0, %z#0 : {T}, {T}
              }}
              return %r#0, %r#1 : {T}, {T}
            }}""",
        ),
        7,
        8,
    ),
    "of a size that is not known": Recursion(
        main(
            f"%x: {_DYNAMIC}",
            f"""%e = tensor.empty(%c6) : {_DYNAMIC}
            %f = linalg.fill ins(%one : f32) outs(%e : {_DYNAMIC}) -> {_DYNAMIC}
            {_call("f", "%a", "%f", _DYNAMIC, "%c6")}""",
            [("%a", _DYNAMIC)],
            _again(
                "f",
                "%x",
                f"%y = {binary('addf', '%x', '%x', '%x', _DYNAMIC)}\n{_call('f', '%z', '%y', _DYNAMIC)}",
                "%z",
                arguments=f"%x: {_DYNAMIC}",
                kind=_DYNAMIC,
            ),
            given="8",
        ),
        0,
        1,
    ),
    "what it returns is new": Recursion(
        main(
            "",
            f"{_START}\n%b = {square('%a', '%a')}",
            [("%b", T)],
            _again("f", "%e", f"{_call('f', '%z', '%x')}\n%w = {binary('addf', '%z', '%x', '%z')}", "%w").replace(
                "%r = scf.if",
                f"%i = tensor.empty() : {T}\n  %e = linalg.map {{ arith.negf }} ins(%x : {T}) outs(%i : {T})\n"
                "  %r = scf.if",
            ),
        ),
        0,
        2,
    ),
}


@pytest.mark.parametrize("name", RECURSIONS)
def test_copies(name: str) -> None:
    wanted = RECURSIONS[name]
    ours, theirs = run(wanted.text, ALONE), run_peer(wanted.text)
    assert (ours.copies.count, ours.allocations.count) == (wanted.copies, wanted.allocations)
    assert ours.copies.count <= theirs.copies.count
    assert_no_more(ours, theirs)


@pytest.mark.parametrize("subject", OTHERS, ids=lambda each: each.name)
@pytest.mark.parametrize("name", RECURSIONS)
def test_copies_no_more_otherwise(name: str, subject: Subject) -> None:
    assert_no_more(run(RECURSIONS[name].text, subject), run(RECURSIONS[name].text, ALONE))
