"""What nobody wrote, in the sources and destinations of Hotdesk's ops: told, or carried to the elements computed from it."""

from __future__ import annotations

import numpy as np
import pytest
from torch_mlir import ir

from hotdesk.checker import CheckReport, FaultKind, Settings, check_module
from hotdesk.ir.context import make_context

_CONTRACT = ("4x3", "3x2", "4x2", 'contract"(%a, %b, %r) {equation = "mk,kn->mn", accumulate = ')
_CONVOLUTION = (
    *("1x1x5", "1x1x2", "1x1x4"),
    (
        'conv"(%a, %b, %r) {strides = array<i64: 1>, dilations = array<i64: 1>, pad_low = array<i64: 0>, '
        "pad_high = array<i64: 0>, input_dilations = array<i64: 1>, groups = 1, accumulate = "
    ),
)
_POOLING = (
    *("1x1x5", "1", "1x1x4"),
    (
        'pool"(%a, %r) {window = array<i64: 2>, strides = array<i64: 1>, dilations = array<i64: 1>, pad_low = array<i64: 0>, '
        "pad_high = array<i64: 0>, kind = KIND, accumulate = "
    ),
)


def _text(op: tuple[str, str, str, str], left_out: str, position: str, accumulate: bool) -> str:
    """The op on copies of its arguments, one element of one of which nobody has written."""
    *shapes, call = op
    types = dict(zip("abr", (f"memref<{shape}xf32>" for shape in shapes), strict=True))
    lines = ["%zero = arith.constant 0.0 : f32", "%one = arith.constant 1.0 : f32"]
    lines += (f"%i{i} = arith.constant {i} : index" for i in range(5))
    for name, kind in types.items():
        lines.append(f"%{name} = memref.alloc() : {kind}")
        if name != left_out:
            lines.append(f"linalg.fill ins(%one : f32) outs(%{name} : {kind})")
            continue
        sizes = [int(size) for size in shapes["abr".index(name)].split("x")]
        for point in np.ndindex(*sizes):
            if str(point) != position:
                at = ", ".join(f"%i{i}" for i in point)
                lines.append(f"memref.store %one, %{name}[{at}] : {kind}")
    used = [types[name] for name in "abr" if f"%{name}" in call]
    lines.append(f'"hotdesk.{call}{str(accumulate).lower()}}} : ({", ".join(used)}) -> ()')
    lines += ("memref.dealloc %a : " + types["a"], "memref.dealloc %b : " + types["b"])
    body = "\n".join(lines)
    return f"func.func @main() -> {types['r']} {{\n{body}\nreturn %r : {types['r']}\n}}"


def _checked(text: str, undefined: str) -> CheckReport:
    with make_context(), ir.Location.unknown():
        return check_module(ir.Module.parse(text), "main", [], settings=Settings(undefined=undefined))


_CASES = [
    (_CONTRACT, "a", "(2, 1)", False, [[1, 1], [1, 1], [0, 0], [1, 1]]),
    (_CONTRACT, "b", "(2, 1)", False, [[1, 0]] * 4),
    (_CONTRACT, "r", "(3, 0)", True, [[1, 1], [1, 1], [1, 1], [0, 1]]),
    (_CONVOLUTION, "a", "(0, 0, 1)", False, [[[0, 0, 1, 1]]]),
    (_CONVOLUTION, "b", "(0, 0, 1)", False, [[[0, 0, 0, 0]]]),
    (_CONVOLUTION, "r", "(0, 0, 3)", True, [[[1, 1, 1, 0]]]),
    ((*_POOLING[:3], _POOLING[3].replace("KIND", '"max"')), "a", "(0, 0, 4)", False, [[[1, 1, 1, 0]]]),
    ((*_POOLING[:3], _POOLING[3].replace("KIND", '"sum"')), "a", "(0, 0, 2)", True, [[[1, 0, 0, 1]]]),
]


@pytest.mark.parametrize(("op", "left_out", "position", "accumulate", "defined"), _CASES)
def test_carried(
    op: tuple[str, str, str, str], left_out: str, position: str, accumulate: bool, defined: list[object]
) -> None:
    report = _checked(_text(op, left_out, position, accumulate), "carry")
    assert report.clean, str(report)
    np.testing.assert_array_equal(report.results[0].written, np.array(defined, bool))
    whole = _checked(_text(op, "", "", accumulate), "refuse")
    assert whole.clean, str(whole)
    known = np.array(defined, bool)
    np.testing.assert_array_equal(report.results[0].values[known], whole.results[0].values[known])


@pytest.mark.parametrize(("op", "left_out", "position", "accumulate", "defined"), _CASES)
def test_told(
    op: tuple[str, str, str, str], left_out: str, position: str, accumulate: bool, defined: list[object]
) -> None:
    report = _checked(_text(op, left_out, position, accumulate), "refuse")
    assert [fault.kind for fault in report.faults] == [FaultKind.UNWRITTEN]
    assert report.results[0].written.all()


def test_overwritten() -> None:
    """An op that does not accumulate reads nothing of its destination."""
    report = _checked(_text(_CONTRACT, "r", "(3, 0)", False), "refuse")
    assert report.clean, str(report)
    assert report.results[0].written.all()
