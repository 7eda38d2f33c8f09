"""Element types of ONNX, by its numbers: those that programs have, and narrow ones, which are kept as codes of eight bits."""

from __future__ import annotations

from collections.abc import Mapping

F32, U8, I8, U16, I16, I32, I64 = 1, 2, 3, 4, 5, 6, 7
BOOL, F16, F64, U32, U64, BF16 = 9, 10, 11, 12, 13, 16
F8E4M3FN, F8E4M3FNUZ, F8E5M2, F8E5M2FNUZ, U4, I4, F4E2M1FN, F8E8M0FNU, U2, I2 = range(17, 27)

PLAIN: Mapping[int, tuple[str, str]] = {
    F32: ("f32", "<f4"),
    U8: ("u8", "<u1"),
    I8: ("i8", "<i1"),
    U16: ("u16", "<u2"),
    I16: ("i16", "<i2"),
    I32: ("i32", "<i4"),
    I64: ("i64", "<i8"),
    BOOL: ("i1", "?"),
    F16: ("f16", "<f2"),
    F64: ("f64", "<f8"),
    U32: ("u32", "<u4"),
    U64: ("u64", "<u8"),
    BF16: ("bf16", "<u2"),
}
"""Element types that programs have: the name, and NumPy's type of the same bytes."""
NARROW: Mapping[int, str] = {
    F8E4M3FN: "f8E4M3FN",
    F8E4M3FNUZ: "f8E4M3FNUZ",
    F8E5M2: "f8E5M2",
    F8E5M2FNUZ: "f8E5M2FNUZ",
    U4: "u4",
    I4: "i4",
    F4E2M1FN: "f4E2M1FN",
    F8E8M0FNU: "f8E8M0FNU",
    U2: "u2",
    I2: "i2",
}
"""Element types whose values lie in memory as codes of a byte each; programs compute with what the codes stand for."""
HALVES = (F16, BF16)
FLOATS = (F32, F64, *HALVES)
SIGNED = (I8, I16, I32, I64)
"""Integers with a sign that take whole bytes."""


def is_narrow(element: int) -> bool:
    return element in NARROW


def name_of(element: int) -> str:
    """The name of an element type, as arguments and results have it."""
    return NARROW.get(element) or PLAIN[element][0]
