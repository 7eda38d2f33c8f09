"""Numbers of a problem: which are accepted, and how those that are not are shown.

Steps and bytes are integers. Anything that Python takes for one is accepted, such as a NumPy integer, and kept as an `int`,
which never overflows. What plans are made from are columns, 64 bits wide, so steps have a limit there.
"""

from __future__ import annotations

from operator import index

LARGEST_STEP = 1 << 60
"""Steps of live ranges lie closer to 0 than this: differences and sums of two fit a signed 64-bit integer."""

LAST_MOMENT = (1 << 63) - 1
"""Memory may be free from as far below 0, and up to here."""

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
