"""Every option of `hotdesk.Options` takes the values that it names, and no other."""

import dataclasses
from typing import Any

import numpy as np
import pytest

import hotdesk
from hotdesk.errors import OptionError

BOOLS: tuple[list[Any], list[Any], str] = (
    [True, False],
    ["no", "yes", 0, 1, None, 1.0, [], np.True_],
    "True or False",
)
BYTES: tuple[list[Any], list[Any], str] = (
    [None, 0, 24 << 20, "24 MiB", "1.5GB"],
    [-1, 1.5, True, False, "much", "-1", "24 MB MB", "", [24], b"24", float("nan")],
    "bytes such as 25165824 or '24 MiB'",
)
FIELDS: dict[str, tuple[list[Any], list[Any], str]] = {
    "order": (["given", "peak"], ["best", "", None, 1, True, ["peak"], {}, np.zeros(2)], "'given' or 'peak'"),
    "budget": BYTES,
    "keep_ir": BOOLS,
    "foreign": BOOLS,
    "winograd": BOOLS,
    "recompute": BOOLS,
    "seed": (
        [0, -(2**63), 2**63 - 1],
        [2**63, -(2**63) - 1, 1.0, "1", None, True],
        "an integer from -2**63 to 2**63 - 1",
    ),
    "private_memory": BYTES,
    "prepare": BYTES,
    "roll_back": BOOLS,
}
"""What each field takes, what it does not, and what it says that it takes."""


def test_every_field_is_here() -> None:
    assert list(FIELDS) == [each.name for each in dataclasses.fields(hotdesk.Options)]


@pytest.mark.parametrize("name", FIELDS)
def test_values(name: str) -> None:
    taken, refused, expected = FIELDS[name]
    for value in taken:
        assert getattr(hotdesk.Options(**{name: value}), name) is value
    for value in refused:
        with pytest.raises(OptionError) as caught:
            hotdesk.Options(**{name: value})
        assert f"option '{name}': expected {expected}, got {value!r}" in str(caught.value)
