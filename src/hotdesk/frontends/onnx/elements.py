"""Element types of ONNX, by its numbers: those that programs have, and narrow ones, which are kept as codes of eight bits."""

from __future__ import annotations

from collections.abc import Mapping

PLAIN: Mapping[int, tuple[str, str]] = {
    1: ("f32", "<f4"),
    2: ("u8", "<u1"),
    3: ("i8", "<i1"),
    4: ("u16", "<u2"),
    5: ("i16", "<i2"),
    6: ("i32", "<i4"),
    7: ("i64", "<i8"),
    9: ("i1", "?"),
    10: ("f16", "<f2"),
    11: ("f64", "<f8"),
    12: ("u32", "<u4"),
    13: ("u64", "<u8"),
    16: ("bf16", "<u2"),
}
"""Element types that programs have: the name, and NumPy's type of the same bytes."""
NARROW: Mapping[int, str] = {
    17: "f8E4M3FN",
    18: "f8E4M3FNUZ",
    19: "f8E5M2",
    20: "f8E5M2FNUZ",
    21: "u4",
    22: "i4",
    23: "f4E2M1FN",
    24: "f8E8M0FNU",
    25: "u2",
    26: "i2",
}
"""Element types whose values lie in memory as codes of a byte each; programs compute with what the codes stand for."""
FLOATS = (1, 10, 11, 16)


def is_narrow(element: int) -> bool:
    return element in NARROW


def name_of(element: int) -> str:
    """The name of an element type, as arguments and results have it."""
    return NARROW.get(element) or PLAIN[element][0]
