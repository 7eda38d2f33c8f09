"""What only a run can see to be wrong, at the Python line that does it; the program can be used again."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
from torch import nn
from torch._higher_order_ops import while_loop

import hotdesk
from hotdesk.errors import (
    ExecutionError,
)
from tests.e2e.checking import Call, close, integers, random, seeded
from tests.e2e.refusing import line_of, well_formed


class Lookup(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.table = nn.Embedding(10, 4)

    def forward(self, ids: torch.Tensor) -> torch.Tensor:
        return self.table(ids).tanh()  # here


def _gathered(x: torch.Tensor, index: torch.Tensor) -> torch.Tensor:
    return x.gather(0, index)


def _indexed(x: torch.Tensor, index: torch.Tensor) -> torch.Tensor:
    return x[index]


def _scattered(x: torch.Tensor, index: torch.Tensor) -> torch.Tensor:
    return x.scatter(0, index, 1.0)


@pytest.mark.parametrize("bad", [10, 11, 1 << 40, -1, -(1 << 62)])
def test_an_index_out_of_range(bad: int) -> None:
    model = seeded(Lookup)
    lookup = hotdesk.compile(model, (integers(10, 3),))
    ids = integers(10, 3)
    close(lookup(ids), model(ids))
    with pytest.raises(ExecutionError) as caught:
        lookup(torch.tensor([0, bad, 1]))
    well_formed(caught.value)
    assert caught.value.where == line_of(Lookup.forward)
    close(lookup(ids), model(ids))


@pytest.mark.parametrize("place", [0, 2500, 4095])
def test_one_index_out_of_range_among_many(place: int) -> None:
    """Threads share the rows."""
    model, ids = seeded(lambda: nn.Embedding(10, 128)), integers(10, 4096)
    lookup = hotdesk.compile(model, (ids,))
    for bad in (10, -1):
        wrong = ids.clone()
        wrong[place] = bad
        with pytest.raises(ExecutionError):
            lookup(wrong)
    close(lookup(ids), model(ids))


def test_rows_of_a_table_that_may_have_none() -> None:
    rows, count = torch.export.Dim("rows", min=0, max=64), torch.export.Dim("count", min=0, max=64)
    program = hotdesk.compile(_indexed, (random(5, 3), integers(5, 4)), dynamic_shapes=({0: rows}, {0: count}))
    x, index = random(7, 3), integers(7, 9)
    close(program(x, index), x[index])
    close(program(random(0, 3), integers(5, 0)), random(0, 3))
    with pytest.raises(ExecutionError):
        program(random(0, 3), index)


def _floor(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    return x // y


def _rest(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    return x % y


def _truncated(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    return torch.div(x, y, rounding_mode="trunc")


def _rest_of_number(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    return x + 5 % y


@pytest.mark.parametrize("dtype", [torch.int64, torch.int32, torch.int8, torch.uint8])
@pytest.mark.parametrize("model", [_floor, _rest, _truncated, torch.fmod, _rest_of_number])
def test_an_integer_by_zero(model: Callable[..., torch.Tensor], dtype: torch.dtype) -> None:
    x, y = torch.tensor([40, 7, 9], dtype=dtype), torch.tensor([3, 2, 4], dtype=dtype)
    dividing = hotdesk.compile(Call(model), (x, y))
    with pytest.raises(
        ExecutionError, match="a check of `linalg.generic` failed: expected no division of an integer by zero"
    ) as caught:
        dividing(x, torch.tensor([3, 0, 4], dtype=dtype))
    well_formed(caught.value)
    close(dividing(x, y), model(x, y))


@pytest.mark.parametrize("model", [_gathered, _indexed, _scattered])
def test_other_indices_out_of_range(model: Callable[..., torch.Tensor]) -> None:
    x, index = random(5), torch.tensor([0, 4, 2])
    indexing = hotdesk.compile(Call(model), (x, index))
    for bad in (5, 1 << 50, -6, -(1 << 50)):
        with pytest.raises(ExecutionError) as caught:
            indexing(x, torch.tensor([0, bad, 1]))
        well_formed(caught.value)
    close(indexing(x, index), model(x, index))


def _written(place: Callable[[torch.Tensor], object], value: float = 7.0) -> Callable[..., torch.Tensor]:
    def write(x: torch.Tensor, index: torch.Tensor) -> torch.Tensor:
        x = x.clone()
        x[place(index)] = value  # type: ignore[index]
        return x

    return write


def _raised(x: torch.Tensor, index: torch.Tensor) -> torch.Tensor:
    x = x.clone()
    x[index] += 1
    return x


FROM_THE_END: dict[str, Callable[..., torch.Tensor]] = {
    "rows": _written(lambda i: i),
    "by 32-bit integers": _written(lambda i: i.int()),
    "elements": _written(lambda i: (i, 1)),
    "columns": _written(lambda i: (slice(None), i)),
    "a grid": _written(lambda i: (i[:, None], i)),
    "planes": _written(lambda i: (i, slice(None), i)),
    "read and written": _raised,
    "added up": lambda x, i: x.index_put((i, i), torch.ones(()), accumulate=True),
    "put": lambda x, i: x.put(i, torch.full((3,), 7.0)),
    "filled": lambda x, i: x.index_fill(-1, i, 7.0),
}


@pytest.mark.parametrize("name", FROM_THE_END)
def test_places_of_stores_are_counted_from_the_end(name: str) -> None:
    model, x = FROM_THE_END[name], random(5, 5, 5)
    storing = hotdesk.compile(Call(model), (x, torch.tensor([0, 4, 2])))
    for index in (torch.tensor([0, -1, 2]), torch.tensor([-5, 3, -2])):
        close(storing(x, index), model(x, index))
    with pytest.raises(ExecutionError):
        storing(x, torch.tensor([0, -126, 1]))


FROM_THE_FRONT: dict[str, Callable[..., torch.Tensor]] = {
    "rows": lambda x, i: x.index_copy(0, i, x[:3]),
    "columns": lambda x, i: x.index_copy(1, i, x[:, :3]),
    "the last dim": lambda x, i: x.index_copy(-1, i, x[..., :3]),
    "added up": lambda x, i: x.index_add(0, i, x[:3], alpha=2),
    "added up in columns": lambda x, i: x.index_add(1, i, x[:, :3]),
    "added up as truths": lambda x, i: (x > 0).index_add(0, i, x[:3] > 0),
    "reduced": lambda x, i: x.index_reduce(0, i, x[:3], "amax"),
    "scattered": lambda x, i: x.scatter(0, i[:, None, None].expand(3, 5, 5), x[:3]),
    "gathered": lambda x, i: x.gather(0, i[:, None, None].expand(3, 5, 5)),
    "selected": lambda x, i: x.index_select(1, i),
    "planes": lambda x, i: torch.nn.functional.max_unpool1d(x[:2, :2, :3], i.expand(2, 2, 3), 2, padding=0)[..., :5],
}


@pytest.mark.parametrize("name", FROM_THE_FRONT)
def test_places_that_are_counted_from_the_front_alone(name: str) -> None:
    model, x, index = FROM_THE_FRONT[name], random(5, 5, 5), torch.tensor([0, 4, 2])
    indexing = hotdesk.compile(Call(model), (x, index))
    close(indexing(x, index), model(x, index))
    for bad in (-1, -5, 1 << 40) if name == "planes" else (-1, -5, 5):
        bad_index = torch.tensor([0, bad, 1])
        with pytest.raises((IndexError, RuntimeError)):
            model(x, bad_index)
        with pytest.raises(ExecutionError):
            indexing(x, bad_index)


def test_places_in_another_plane() -> None:
    def unpooled(x: torch.Tensor, index: torch.Tensor) -> torch.Tensor:
        return torch.nn.functional.max_unpool2d(x, index, 2)

    x, index = random(1, 2, 2, 2), torch.tensor([0, 2, 8, 10]).reshape(1, 1, 2, 2).expand(1, 2, 2, 2)
    unpooling = hotdesk.compile(Call(unpooled), (x, index))
    close(unpooling(x, index), unpooled(x, index))
    with pytest.raises(ExecutionError):
        unpooling(x, index + 6)


def _row(x: torch.Tensor, index: torch.Tensor) -> torch.Tensor:
    return x[index.item()] + 1  # type: ignore[index]


def _row_of_a_loop(x: torch.Tensor, index: torch.Tensor) -> torch.Tensor:
    first = (torch.tensor(0), torch.zeros(3))
    return while_loop(lambda k, _: k <= index, lambda k, row: (k + 1, row + x[k.item()]), first)[1]  # type: ignore[index]


@pytest.mark.parametrize("model", [_row, _row_of_a_loop])
def test_a_row_at_a_place_that_only_a_run_knows(model: Callable[..., torch.Tensor]) -> None:
    x = random(5, 3)
    indexing = hotdesk.compile(Call(model), (x, torch.tensor(2)))
    for index in (torch.tensor(0), torch.tensor(4), torch.tensor(-3)):
        close(indexing(x, index), model(x, index))
    for bad in (5, 1 << 40, -6) if model is _row else (5, 99):
        with pytest.raises(ExecutionError):
            indexing(x, torch.tensor(bad))


def test_places_counted_from_the_end_of_a_size_that_varies() -> None:
    model, rows = FROM_THE_END["rows"], torch.export.Dim("rows", min=2, max=9)
    index = torch.tensor([0, -1, -2])
    storing = hotdesk.compile(Call(model), (random(5, 3), index), dynamic_shapes=(({0: rows}, None),))
    for x in (random(2, 3), random(9, 3)):
        close(storing(x, index), model(x, index))
