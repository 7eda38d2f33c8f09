"""Records are named tuples in all that is used of them, and refuse what these refuse."""

from __future__ import annotations

import copy
import pickle
from typing import TYPE_CHECKING, Any, NamedTuple

import pytest

from hotdesk.python.record import Record


class Point(Record):
    """A place."""

    x: int
    y: int = 2
    name: str = ""

    @property
    def sum(self) -> int:
        return self.x + self.y


class NamedPoint(NamedTuple):
    x: int
    y: int = 2
    name: str = ""


def test_a_record_is_what_a_named_tuple_is() -> None:
    given: list[tuple[Any, Any]] = [((1,), {}), ((1, 5), {"name": "a"}), ((), {"x": 3}), ((1, 2, "b"), {})]
    for args, named in given:
        record, other = Point(*args, **named), NamedPoint(*args, **named)
        assert record == other
        assert hash(record) == hash(other)
        assert repr(record) == repr(other).replace("NamedPoint", "Point")
        assert (record.x, record.y, record.name) == other
        assert record._asdict() == other._asdict()
        assert record._replace(y=7) == other._replace(y=7)
        assert type(record._replace(y=7)) is Point
        assert pickle.loads(pickle.dumps(record)) == copy.deepcopy(record) == record
    assert Point._fields == NamedPoint._fields
    assert Point._make([1, 2, "c"]) == (1, 2, "c")
    assert Point(1).sum == 3
    match Point(1, 4):
        case Point(x, y):
            assert (x, y) == (1, 4)


@pytest.mark.parametrize(
    ("args", "named"),
    [((), {}), ((1, 2, "", 4), {}), ((1,), {"x": 1}), ((1,), {"z": 1}), ((1, 2, ""), {"z": 1})],
)
def test_values_that_are_missing_or_too_many_are_refused(args: tuple[Any, ...], named: dict[str, Any]) -> None:
    for kind in (Point, NamedPoint):
        made: Any = kind
        with pytest.raises(TypeError):
            made(*args, **named)


def test_records_are_frozen() -> None:
    point: Any = Point(1)
    for name in ("x", "other"):
        with pytest.raises(AttributeError):
            setattr(point, name, 2)
    assert not hasattr(point, "__dict__")


if not TYPE_CHECKING:

    def test_fields_without_a_default_come_first_and_are_not_inherited() -> None:
        with pytest.raises(TypeError, match="without a default"):

            class Wrong(Record):
                x: int = 1
                y: int

        with pytest.raises(TypeError, match="fields of its own"):

            class Sub(Point):
                z: int
