"""Values that are one of several tensors, for a condition: on each path no more is copied or allocated than by MLIR's."""

from __future__ import annotations

import pytest

from tests.running import Subject
from tests.unit.passes.bufferize.upstream_programs import T, binary, branches, fill, loop, main, run, run_peer, square

OURS = (
    Subject(
        "results are arguments", "builtin.module(hotdesk-one-shot-bufferize,hotdesk-buffer-deallocation)", frees=True
    ),
    Subject(
        "results are returned",
        "builtin.module(hotdesk-one-shot-bufferize{results=returned},hotdesk-buffer-deallocation)",
        frees=True,
    ),
)
_EMPTY = f"%e = tensor.empty() : {T}\n"
_NEW = f"%n = {square('%x', '%e')}"
_CONSTANT = f"%k = arith.constant dense<[1., 2., 3., 4., 5., 6., 7., 8.]> : {T}\n"
_INNER = branches("%q", ("%x",), ("%n", _NEW)).replace("%b", "%d")
_SWITCH = f"""%i = arith.index_castui %b : i1 to index
%r = scf.index_switch %i -> {T}
case 0 {{
scf.yield %x : {T}
}}
default {{
{_NEW}
scf.yield %n : {T}
}}"""
_BLOCKS = f"""cf.cond_br %b, ^one, ^two
^one:
cf.br ^join(%x : {T})
^two:
{_NEW}
cf.br ^join(%n : {T})
^join(%r: {T}):"""
_TWO = f"""%p:2 = scf.if %b -> ({T}, {T}) {{
{_NEW}
scf.yield %x, %n : {T}, {T}
}} else {{
{_NEW.replace("%n", "%m")}
scf.yield %m, %x : {T}, {T}
}}"""
_COPIED = {
    "a branch passes on an argument": (branches("%r", ("%x",), ("%n", _NEW)), (0, 1)),
    "a branch passes on a constant": (_CONSTANT + branches("%r", ("%k",), ("%n", _NEW)), (0, 1)),
    "both pass on what was there": (f"{_NEW}\n{branches('%r', ('%x',), ('%n',))}", (0, 1)),
    "a branch in a branch": (f"%d = arith.xori %b, %b : i1\n{branches('%r', ('%x',), ('%q', _INNER))}", (0, 1)),
    "a switch": (_SWITCH, (1, 0)),
    "one of two is selected": (f"{_NEW}\n%r = arith.select %b, %x, %n : {T}", (0, 1)),
    "the other one is selected": (f"{_NEW}\n%r = arith.select %b, %n, %x : {T}", (1, 0)),
    "blocks": (_BLOCKS, (0, 1)),
    "a block with two ways to another": (
        f"{_NEW}\ncf.cond_br %b, ^join(%x : {T}), ^join(%n : {T})\n^join(%r: {T}):",
        (0, 1),
    ),
    "what a loop yields": (
        f"{fill('%f')}\n{loop('%r', '%f', '%q', branches('%q', ('%p',), ('%m', '%m = ' + square('%p', '%p'))))}",
        (0, 0),
    ),
    "it is written": (
        f"{branches('%q', ('%x',), ('%n', _NEW))}\n%r = {square('%q', '%q')}",
        (0, 0),
    ),
}
"""What returns `%r`, and how often it copies if `%b` is false and if it is true."""


def _dynamic(text: str) -> str:
    """The same program, its tensors of the size of `%x`."""
    sized = "%d = tensor.dim %x, %c0 : tensor<?xf32>\n%e = tensor.empty(%d)"
    return text.replace(_EMPTY, _EMPTY.replace("%e = tensor.empty()", sized)).replace(T, "tensor<?xf32>")


@pytest.mark.parametrize("taken", [0, 1])
@pytest.mark.parametrize("name", _COPIED)
def test_copies_on_each_path(name: str, taken: int) -> None:
    body, copies = _COPIED[name]
    text = main(f"%x: {T}, %b: i1", _EMPTY + body, [("%r", T)], given=str(taken))
    theirs = run_peer(text)
    for subject in OURS:
        ours = run(text, subject)
        assert ours.copies.count == copies[taken]
        assert ours.copies.count <= theirs.copies.count
        assert ours.copies.bytes <= theirs.copies.bytes


@pytest.mark.parametrize("taken", [0, 1])
@pytest.mark.parametrize(
    "name", ["a branch passes on an argument", "one of two is selected", "blocks", "it is written"]
)
def test_copies_on_each_path_of_a_dynamic_size(name: str, taken: int) -> None:
    body, copies = _COPIED[name]
    text = _dynamic(main(f"%x: {T}, %b: i1", _EMPTY + body, [("%r", T)], given=f"8, {taken}"))
    theirs = run_peer(text)
    for subject in OURS:
        ours = run(text, subject)
        assert ours.copies.count == copies[taken]
        assert ours.copies.bytes <= theirs.copies.bytes


def test_two_sizes_are_copied_behind() -> None:
    made = f"%e = tensor.empty(%s) : {T}\n%n = linalg.fill ins(%one : f32) outs(%e : {T}) -> {T}"
    text = main(f"%x: {T}, %b: i1, %s: index", branches("%r", ("%x",), ("%n", made)), [("%r", T)])
    for given in ("8, 0, 4", "8, 1, 4"):
        assert run(f"// given: {given}\n{text.replace(T, 'tensor<?xf32>')}", OURS[0]).copies.count == 1


@pytest.mark.parametrize("kind", [T, "tensor<?xf32>"])
@pytest.mark.parametrize("flag", [0, 1, -1, 3])
def test_a_switch_copies_on_its_cases_alone(flag: int, kind: str) -> None:
    cases = f"[default: ^join(%n : {T}), 1: ^join(%x : {T}), -1: ^join(%x : {T})]"
    body = f"{_EMPTY}{_NEW}\ncf.switch %f : i32, {cases}\n^join(%r: {T}):"
    text = main(f"%x: {T}, %f: i32", body, [("%r", T)], given=str(flag))
    text = text if kind == T else _dynamic(text).replace("// given: ", "// given: 8, ")
    for subject in OURS:
        ours = run(text, subject)
        assert ours.copies.count == (1 if flag in (1, -1) else 0)
        assert ours.allocations.count == 1


@pytest.mark.parametrize("behind", [f"%w = {square('%r', '%g')}", f"%w = {square('%r', '%r')}"])
@pytest.mark.parametrize("taken", [0, 1])
def test_what_is_used_behind_alone_takes_memory_on_its_path(behind: str, taken: int) -> None:
    body = f"{_EMPTY}%g = tensor.empty() : {T}\n{branches('%r', ('%x',), ('%n', _NEW))}\n{behind}"
    text = main(f"%x: {T}, %b: i1", body, [("%w", T)], given=str(taken))
    theirs = run_peer(text)
    for subject in OURS:
        ours = run(text, subject)
        assert ours.copies.count == 0
        assert ours.allocations.bytes <= theirs.allocations.bytes


@pytest.mark.parametrize("taken", [0, 1])
def test_two_results_of_one_branch(taken: int) -> None:
    text = main(f"%x: {T}, %b: i1", _EMPTY + _TWO, [("%p#0", T), ("%p#1", T)], given=str(taken))
    theirs = run_peer(text)
    for subject in OURS:
        assert run(text, subject).copies.count == theirs.copies.count == 1


def test_a_call_that_returns_memory_of_its_own_is_not_the_memory_beside_it() -> None:
    callee = f"func.func private @g(%x: {T}) -> {T} {{\n{_EMPTY}{_NEW}\nreturn %n : {T}\n}}"
    called = branches("%r", ("%z", f"%z = func.call @g(%x) : ({T}) -> {T}"), ("%m", f"%m = {square('%x', '%e')}"))
    for taken in ("0", "1"):
        text = main(f"%x: {T}, %b: i1", _EMPTY + called, [("%r", T)], callee, given=taken)
        for subject in OURS:
            run(text, subject)


@pytest.mark.parametrize("written", ["%e", "%a#0"])
def test_a_private_function_returns_a_tensor_once(written: str) -> None:
    twice = f"func.func private @f(%x: {T}) -> ({T}, {T}) {{\n{_EMPTY}{_NEW}\nreturn %n, %n : {T}, {T}\n}}"
    again = f"func.func private @g(%x: {T}) -> ({T}, {T}) {{\n%n:2 = func.call @f(%x) : ({T}) -> ({T}, {T})\n"
    again += f"return %n#1, %n#0 : {T}, {T}\n}}"
    used = f"%a:2 = func.call @g(%x) : ({T}) -> ({T}, {T})\n%w = {square('%a#0', written)}\n"
    used += f"%r = {binary('addf', '%w', '%a#1', '%w')}"
    text = main(f"%x: {T}", _EMPTY + used, [("%r", T)], f"{twice}\n{again}")
    for subject in OURS:
        assert run(text, subject).copies.count == 0
    if written == "%e":
        assert run_peer(text).copies.count == 0
    else:
        with pytest.raises(AssertionError, match="is wrong"):  # MLIR's writes one of them over the other
            run_peer(text)
