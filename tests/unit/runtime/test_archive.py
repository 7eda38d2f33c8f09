"""Records come back from bytes as they were, or the bytes are refused."""

from __future__ import annotations

import json
import struct
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
import sympy

from hotdesk.explain import Decision, Outcome, Source
from hotdesk.explain.reason import Reason
from hotdesk.frontends.torch.calling import ResultNumber, ResultSlot
from hotdesk.passes.lower.calls import Pointer
from hotdesk.runtime.archive import ArchiveError, NotArchivable, packed, unpacked

N, M = sympy.Symbol("n"), sympy.Symbol("m")
_sympy: Any = sympy

VALUES: list[Any] = [
    *(None, True, 0, -(2**70), 0.1, -0.0, float("inf"), "", 'a "line"\n\udc80', b"", b"\0\xff" * 100),
    *((), (1, (2, [3, "x"])), [], {}, {"a": 1, 2: (3,)}, {None: {}}),
    *(Outcome.IN_PLACE, next(iter(Reason)), Source("linalg.matmul", "model.py:3"), Pointer(3, 4 * N + 8)),
    *(N, 4 * N * M - 2, _sympy.floor(N / 2), _sympy.Mod(N + 1, 3), _sympy.Max(N, M, 7), _sympy.Rational(-1, 3) * N**2),
    *(_sympy.Eq(_sympy.Mod(N, 8), 0), N <= M, _sympy.Ne(N, 2), _sympy.And(N > 1, M < 4), _sympy.true, _sympy.oo),
    _sympy.Symbol("k", integer=True, positive=True) + 1,
    (ResultSlot(3), ResultNumber(N + 1, int), 3),
    Decision("%x", Outcome.COPIED, next(iter(Reason)), (Source("a"), Source("b")), 4 * N, read=Source("c"), hint="h"),
]


@pytest.mark.parametrize("value", VALUES, ids=repr)
def test_a_value_comes_back(value: Any) -> None:
    found = unpacked(packed(value))
    assert found == value
    assert type(found) is type(value)
    assert repr(found) == repr(value)


def test_slots_are_told_from_numbers() -> None:
    slot, number = unpacked(packed((ResultSlot(3), 3)))
    assert (type(slot), type(number)) == (ResultSlot, int)


@pytest.mark.parametrize("dtype", ["f4", "f8", "i8", "u1", "?", "f2"])
def test_arrays_come_back(dtype: str) -> None:
    array = np.arange(6).reshape(2, 3).astype(dtype)
    for each in (array, array.T, array[:0], np.asarray(array[0, 0])):
        found = unpacked(packed({"a": each}))["a"]
        assert (found.dtype, found.shape) == (each.dtype, each.shape)
        assert np.array_equal(found, each)
        found += found.dtype.type(1)  # memory of its own


def test_a_record_in_two_places_is_one() -> None:
    source = Source("op", "file.py:1")
    first, second = unpacked(packed((source, (source,))))
    assert first is second[0]


@dataclass(frozen=True)
class _Foreign:
    x: int = 0


@pytest.mark.parametrize(
    "value", [_Foreign(), object(), print, {1}, 1j, np.float32(1), _sympy.Function("f")(N), _sympy.pi]
)
def test_what_has_no_form_is_refused(value: Any) -> None:
    with pytest.raises(NotArchivable):
        packed((1, value))


def _archive(*text: Any) -> bytes:
    data = json.dumps(text).encode()
    return struct.pack("<2sQ", b"HD", len(data)) + data


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"HD",
        b"XX" + packed(1)[2:],
        packed(b"abcdef")[:-1],
        packed((1, 2))[:-1],
        _archive([["os", "system"]], [], [[0, "true"]], ["o", 0]),
        _archive([["hotdesk.runtime.cache", "os"]], [], [[0, 1]], ["o", 0]),
        _archive([["hotdesk.runtime.cache", "Cache", "folder"]], [], [[0, "x"]], ["o", 0]),
        _archive([["hotdesk.explain.decision", "Source", "op"]], [], [[0, "x"]], ["o", 0]),
        _archive([["hotdesk.explain.decision", "Outcome"]], [], [[0, "NONE"]], ["o", 0]),
        _archive([], [["Lambda", 0]], [], ["s", 0]),
        _archive([], [["symbol", "n", {"size": 1}]], [], ["s", 3]),
        _archive([], [], [], ["b", 0, 8]),
        _archive([], [], [], ["q"]),
    ],
    ids=str,
)
def test_other_bytes_are_refused(data: bytes) -> None:
    with pytest.raises(ArchiveError):
        unpacked(data)
