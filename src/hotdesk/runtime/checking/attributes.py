"""Numbers out of attributes, and operands in the groups that an attribute counts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

from hotdesk._bindings import ir


def integers(attribute: Any) -> tuple[int, ...]:
    """The integers of an array attribute of any kind."""
    if isinstance(attribute, ir.DenseIntElementsAttr):
        return tuple(int(cast(Any, attribute)[i]) for i in range(len(attribute)))
    return tuple(int(getattr(item, "value", item)) for item in attribute)


def split(slots: Sequence[int], counts: Sequence[int]) -> tuple[tuple[int, ...], ...]:
    """Slots in groups of these lengths."""
    found: list[tuple[int, ...]] = []
    start = 0
    for count in counts:
        found.append(tuple(slots[start : start + count]))
        start += count
    return tuple(found)
