"""`analysis-heuristic=largest-first`: of writes that exclude each other, the one whose copy costs less is copied."""

from __future__ import annotations

from dataclasses import dataclass

import pytest

from hotdesk.analysis.in_place.orders import HEURISTICS
from tests.running import Subject, check, wanted
from tests.running.examples import inputs_of

X = "tensor<16xf32>"


@dataclass(frozen=True)
class Case:
    """A program on a donated %x, and the bytes that are copied by `largest-first` and by `bottom-up`."""

    body: str
    results: tuple[str, ...]
    least: int
    bottom_up: int

    @property
    def text(self) -> str:
        kinds = ", ".join(["f32"] * len(self.results))
        return f"""func.func @main(%x: {X} {{hotdesk.donated}}, %given: tensor<f32>) -> ({kinds}) {{
            %c0 = arith.constant 0 : index
            %c1 = arith.constant 1 : index
            %c3 = arith.constant 3 : index
            %v = tensor.extract %given[] : tensor<f32>
            {self.body}
            return {", ".join(self.results)} : {kinds}
        }}"""


def _part(name: str, at: int, size: int) -> str:
    return f"%{name} = tensor.extract_slice %x[{at}] [{size}] [1] : {X} to tensor<{size}xf32>\n"


def _element(name: str, of: str, size: int) -> str:
    return f"%{name} = tensor.extract %{of}[%c1] : tensor<{size}xf32>\n"


def _insert(name: str, into: str, size: int) -> str:
    return f"%{name} = tensor.insert %v into %{into}[%c0] : tensor<{size}xf32>\n"


def _fill(name: str, over: str, size: int) -> str:
    kind = f"tensor<{size}xf32>"
    return f"%{name} = linalg.fill ins(%v : f32) outs(%{over} : {kind}) -> {kind}\n"


CASES = {
    "a part is read, the whole is overwritten unread": Case(
        _part("s", 0, 2) + _insert("y", "s", 2) + _fill("z", "x", 16) + _element("a", "y", 2) + _element("b", "z", 16),
        ("%a", "%b"),
        0,
        8,
    ),
    "the whole is read, a part is overwritten unread": Case(
        _part("s", 0, 2) + _insert("y", "x", 16) + _fill("z", "s", 2) + _element("a", "y", 16) + _element("b", "z", 2),
        ("%a", "%b"),
        0,
        64,
    ),
    "two parts against the whole": Case(
        _part("s", 0, 6)
        + _part("t", 10, 6)
        + _insert("y", "s", 6)
        + _insert("w", "t", 6)
        + _fill("z", "x", 16)
        + _element("a", "y", 6)
        + _element("b", "z", 16)
        + _element("c", "w", 6),
        ("%a", "%b", "%c"),
        0,
        48,
    ),
    "parts that overlap, one of them read": Case(
        _part("s", 0, 6)
        + _part("m", 4, 8)
        + _part("t", 10, 6)
        + _insert("y", "m", 8)
        + _fill("z", "s", 6)
        + _fill("w", "t", 6)
        + _element("a", "y", 8)
        + _element("b", "z", 6)
        + _element("c", "w", 6),
        ("%a", "%b", "%c"),
        0,
        32,
    ),
}


def _copied(case: Case, heuristic: str) -> int:
    inputs = inputs_of(case.text)
    subject = Subject(heuristic, f"builtin.module(hotdesk-one-shot-bufferize{{analysis-heuristic={heuristic}}})")
    return check(case.text, inputs, subject, wanted(case.text, inputs)).copies.bytes


@pytest.mark.parametrize("name", CASES)
def test_the_cheapest_is_copied(name: str) -> None:
    case = CASES[name]
    copied = {heuristic: _copied(case, heuristic) for heuristic in HEURISTICS}
    assert copied["largest-first"] == min(copied.values()) == case.least
    assert copied["bottom-up"] == case.bottom_up
