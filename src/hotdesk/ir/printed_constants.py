"""Dense constants of complex numbers and of bf16, of which the bindings tell nothing but how MLIR prints them."""

from __future__ import annotations

import re
from typing import Any

import numpy as np


def complex_numbers(text: str, dtype: np.dtype[Any]) -> Any:
    """The numbers of a dense attribute in a row, one if all are equal: it prints pairs, or bytes if there are many."""
    whole = re.match(r'dense<"0x([0-9A-F]*)">', text)
    if whole is not None:
        return np.frombuffer(bytes.fromhex(whole[1]), dtype)
    half = np.dtype(f"f{dtype.itemsize // 2}")
    bits = np.dtype(f"u{half.itemsize}")
    parts = re.findall(r"[(,]\s*([^\s(),\[\]]+)\s*(?=[,)])", text)
    numbers = [bits.type(int(n, 16)).view(half) if n.startswith("0x") else half.type(n) for n in parts]
    row: Any = np.array(numbers, half)
    return row.view(dtype)


def bf16_bits(text: str) -> Any:
    """The bits of the numbers of a dense attribute of bf16 in a row, as u16: it prints numbers, or bytes if there are many."""
    whole = re.match(r'dense<"0x([0-9A-F]*)">', text)
    if whole is not None:
        return np.frombuffer(bytes.fromhex(whole[1]), np.dtype("<u2")).astype(np.uint16)
    inside = text[len("dense<") : text.rindex("> :")]
    return np.array([_bf16(number) for number in re.findall(r"[^\s,\[\]]+", inside)], np.uint16)


def _bf16(number: str) -> int:
    """The bits of one number: those that are printed, or of the bf16 nearest to it."""
    if number.startswith("0x"):
        return int(number, 16)
    single: Any = np.float32(number)
    bits = int(single.view(np.uint32))
    return (bits + 0x7FFF + ((bits >> 16) & 1)) >> 16
