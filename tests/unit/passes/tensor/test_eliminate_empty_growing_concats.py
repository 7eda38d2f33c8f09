"""Concatenations that lie in later ones: no copies, no more memory, the same values; and those that must not."""

from __future__ import annotations

import pytest

from hotdesk.ir.context import entered
from hotdesk.passes.textual import parse_pipeline
from tests.running import Subject, check
from tests.running.examples import inputs_of
from tests.running.peaks import peak_of
from tests.unit.parsing import parse

_PASSES = (
    "hotdesk-decompose-concat-and-pad,hotdesk-rematerialize-cheap-ops,hotdesk-eliminate-empty-tensors,"
    "hotdesk-choose-destinations,hotdesk-one-shot-bufferize,hotdesk-buffer-deallocation"
)
PREPARED = Subject("prepared", f"builtin.module({_PASSES})", frees=True)


def _type(rows: int, batch: int = 1) -> str:
    return f"tensor<{batch}x{rows}x3xf32>"


def _sum(name: str, source: str, rows: int, batch: int = 1) -> str:
    """Lines that make `name`, of one row: the sum of the rows of a source, so that it is read whole."""
    one, kind = _type(1, batch), _type(rows, batch)
    maps = "affine_map<(b, r, c) -> (b, r, c)>, affine_map<(b, r, c) -> (b, 0, c)>"
    return f"""{name}_empty = tensor.empty() : {one}
  {name}_zero = linalg.fill ins(%zero : f32) outs({name}_empty : {one}) -> {one}
  {name} = linalg.generic {{indexing_maps = [{maps}], iterator_types = ["parallel", "reduction", "parallel"]}}
    ins({source} : {kind}) outs({name}_zero : {one}) {{
  ^bb0(%v: f32, %o: f32):
    %t = arith.addf %v, %o : f32
    linalg.yield %t : f32
  }} -> {one}"""


def _concat(name: str, parts: list[tuple[str, int]], batch: int = 1) -> str:
    kinds = ", ".join(_type(rows, batch) for _, rows in parts)
    names = ", ".join(part for part, _ in parts)
    return f"{name} = tensor.concat dim(1) {names} : ({kinds}) -> {_type(sum(rows for _, rows in parts), batch)}"


def _program(*lines: str, returned: str, rows: int, batch: int = 1, more: str = "") -> str:
    kind = _type(2, batch)
    kinds = f"{_type(rows, batch)}{more and ', ' + more}"
    body = "\n  ".join(lines)
    return f"""func.func @main(%x: {kind}) -> ({kinds}) {{
  %zero = arith.constant 0.0 : f32
  %a_empty = tensor.empty() : {kind}
  %a = linalg.square ins(%x : {kind}) outs(%a_empty : {kind}) -> {kind}
  {body}
  return {returned} : {kinds}
}}"""


def _chain(batch: int = 1) -> tuple[str, ...]:
    return (
        _sum("%b", "%a", 2, batch),
        _concat("%c", [("%a", 2), ("%b", 1)], batch),
        _sum("%d", "%c", 3, batch),
        _concat("%e", [("%c", 3), ("%d", 1)], batch),
        _sum("%f", "%e", 4, batch),
        _concat("%g", [("%e", 4), ("%f", 1)], batch),
    )


_LISTED = (
    _sum("%b", "%a", 2),
    _concat("%c", [("%a", 2), ("%b", 1)]),
    _sum("%d", "%c", 3),
    _concat("%e", [("%a", 2), ("%b", 1), ("%d", 1)]),
    _sum("%f", "%e", 4),
    _concat("%g", [("%a", 2), ("%b", 1), ("%d", 1), ("%f", 1)]),
)
_IN_FRONT = (
    _sum("%b", "%a", 2),
    _concat("%c", [("%b", 1), ("%a", 2)]),
    _sum("%d", "%c", 3),
    _concat("%e", [("%d", 1), ("%c", 3)]),
    _sum("%f", "%e", 4),
    _concat("%g", [("%f", 1), ("%e", 4)]),
)
_READ_AGAIN = (*_chain(), _sum("%h", "%c", 3), _sum("%i", "%g", 5), _concat("%j", [("%h", 1), ("%i", 1)]))
GROWING = {
    "each the first part of the next": (_program(*_chain(), returned="%g", rows=5), 1),
    "each with what begins the next": (_program(*_LISTED, returned="%g", rows=5), 1),
    "each behind what is new": (_program(*_IN_FRONT, returned="%g", rows=5), 1),
    "one that is read when it is part of another": (_program(*_READ_AGAIN, returned="%j", rows=2), 1),
    "one that is returned": (_program(*_chain(), returned="%g, %e", rows=5, more=_type(4)), 2),
    "parts that are not contiguous": (_program(*_chain(2), returned="%g", rows=5, batch=2), 3),
    "one twice in another": (
        _program(
            _sum("%b", "%a", 2),
            _concat("%c", [("%a", 2), ("%b", 1)]),
            _sum("%d", "%c", 3),
            _concat("%e", [("%c", 3), ("%d", 1), ("%c", 3)]),
            returned="%e",
            rows=7,
        ),
        2,
    ),
}
"""Programs, and the copies that a run makes: of `%a` in each of them, which is read before it is put together with anything."""


@pytest.mark.parametrize("name", GROWING)
def test_copies(name: str) -> None:
    text, copies = GROWING[name]
    assert check(text, inputs_of(text), PREPARED).copies.count == copies


def _peak(text: str, passes: str) -> int:
    module = parse(text)
    with entered(module.operation):
        parse_pipeline(f"builtin.module({passes})").run(module)
    return peak_of(str(module))


@pytest.mark.parametrize("name", GROWING)
def test_the_peak_does_not_rise(name: str) -> None:
    """Compared with the concatenations taken apart by the model, each in memory of its own."""
    text, _ = GROWING[name]
    assert _peak(text, _PASSES) <= _peak(text, _PASSES.partition(",")[2])


def test_memory_for_all_is_not_held_beside_what_is_large_in_the_beginning() -> None:
    """While the first concatenation is there, so is a large tensor; the last one's memory would come on top of it."""
    wide = _type(40)
    text = _program(
        _sum("%b", "%a", 2),
        _concat("%c", [("%a", 2), ("%b", 1)]),
        f"%w_empty = tensor.empty() : {wide}",
        f"%w = linalg.fill ins(%zero : f32) outs(%w_empty : {wide}) -> {wide}",
        _sum("%d", "%w", 40),
        _sum("%h", "%c", 3),
        f"%k_empty = tensor.empty() : {_type(30)}",
        f"%k = linalg.fill ins(%zero : f32) outs(%k_empty : {_type(30)}) -> {_type(30)}",
        _concat("%e", [("%c", 3), ("%d", 1), ("%h", 1), ("%k", 30)]),
        _sum("%f", "%e", 35),
        returned="%f",
        rows=1,
    )
    check(text, inputs_of(text), PREPARED)
    module = parse(text)
    with entered(module.operation):
        parse_pipeline("builtin.module(hotdesk-decompose-concat-and-pad)").run(module)
    assert "tensor.extract_slice" not in str(module)
    assert _peak(text, _PASSES) <= _peak(text, _PASSES.partition(",")[2])
