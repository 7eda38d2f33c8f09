"""Amounts of memory as people write them."""

from __future__ import annotations

import re

_PREFIXES = ("k", "m", "g", "t")
_UNITS = {
    "": 1,
    "b": 1,
    **{f"{prefix}b": 1000**power for power, prefix in enumerate(_PREFIXES, 1)},
    **{f"{prefix}ib": 1024**power for power, prefix in enumerate(_PREFIXES, 1)},
}
_AMOUNT = re.compile(r"\s*(\d+(?:\.\d+)?|\.\d+)\s*([a-zA-Z]*)\s*")


def parse_bytes(given: int | str) -> int:
    """Bytes, as a number or in a unit: `4096`, `"24 MiB"` (24 × 1024²), `"1.5GB"` (1.5 × 1000³). Fractions of a byte are cut off.

    Raises ValueError for anything else.
    """
    if isinstance(given, int) and not isinstance(given, bool) and given >= 0:
        return given
    match = _AMOUNT.fullmatch(given) if isinstance(given, str) else None
    if match is None or match[2].lower() not in _UNITS:
        raise ValueError(f"expected bytes such as 4096, '24 MiB' or '1.5GB', got {given!r}")
    whole, _, fraction = match[1].partition(".")
    unit = _UNITS[match[2].lower()]
    return int(whole or 0) * unit + int(fraction or 0) * unit // 10 ** len(fraction)
