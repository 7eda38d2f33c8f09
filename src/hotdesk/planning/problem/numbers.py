"""The integers of a problem: which are accepted, how those that are not are shown, and amounts of memory as people write them.

Steps and bytes are integers. Anything that Python takes for one is accepted, such as a NumPy integer, and kept as an `int`,
which never overflows. What plans are made from are columns, 64 bits wide, so steps have a limit there.
"""

from __future__ import annotations

import re
from operator import index

ALIGNMENT = 64
"""Bytes: arenas lie at multiples of it, buffers in them that ask for nothing else, and in files constants and weights."""

LARGEST_STEP = 1 << 60
"""Steps of live ranges lie closer to 0 than this: differences and sums of two fit a signed 64-bit integer."""

LAST_MOMENT = (1 << 63) - 1
"""Memory may be free from as far below 0, and up to here."""

LARGEST_TOTAL = 1 << 60
"""Footprints, together, stay below this many bytes: offsets fit a signed 64-bit integer with room for rounding."""

_SHOWN = 60
_LONGEST = 200


def whole(owner: str, what: str, value: object) -> int:
    """`value` as an int. Raises ValueError, which names the owner and what of it this is, for anything but an integer."""
    try:
        return int(index(value))  # pyright: ignore[reportArgumentType]
    except TypeError:
        raise ValueError(f"{owner}: expected an integer for {what}, got {shown(value)}") from None


def shown(value: object) -> str:
    """A value in a message, cut off where it would be longer than a line."""
    if isinstance(value, int) and value.bit_length() > _LONGEST:
        return f"an integer of {value.bit_length():,} bits"
    text = value if isinstance(value, str) else repr(value)
    if len(text) <= _SHOWN:
        return repr(value)
    begin = text[:_SHOWN]
    return f"{begin!r}... ({len(text):,} characters)" if isinstance(value, str) else f"{begin}..."


_PREFIXES = ("k", "m", "g", "t")
_UNITS = {
    "": 1,
    "b": 1,
    **{f"{prefix}b": 1000**power for power, prefix in enumerate(_PREFIXES, 1)},
    **{f"{prefix}ib": 1024**power for power, prefix in enumerate(_PREFIXES, 1)},
}
_AMOUNT = r"\s*(\d+(?:\.\d+)?|\.\d+)\s*([a-zA-Z]*)\s*"


def parse_bytes(given: int | str) -> int:
    """Bytes, as a number or in a unit: `4096`, `"24 MiB"` (24 × 1024²), `"1.5GB"` (1.5 × 1000³). Fractions of a byte are cut off.

    Raises ValueError for anything else.
    """
    if isinstance(given, int) and not isinstance(given, bool) and given >= 0:
        return given
    match = re.fullmatch(_AMOUNT, given) if isinstance(given, str) else None
    if match is None or match[2].lower() not in _UNITS:
        raise ValueError(f"expected bytes such as 4096, '24 MiB' or '1.5GB', got {given!r}")
    whole, _, fraction = match[1].partition(".")
    unit = _UNITS[match[2].lower()]
    return int(whole or 0) * unit + int(fraction or 0) * unit // 10 ** len(fraction)
