"""Sums over many rows, made in blocks: as exact as PyTorch's, and the same however many threads there are."""

# Lambdas are not annotated here.
# pyright: reportUnknownLambdaType=false, reportUnknownArgumentType=false, reportUnknownMemberType=false

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch

import hotdesk
from tests.e2e.checking import Call

SUMS: dict[str, tuple[Callable[[torch.Tensor], torch.Tensor], tuple[int, ...]]] = {
    "rows": (lambda x: x.sum(0), (1 << 20, 3)),
    "one column": (lambda x: x.sum(0), (1 << 20, 1)),
    "rows of a prime number": (lambda x: x.mean(0), (1048573, 2)),
    "in the middle": (lambda x: x.sum(1), (2, 500_000, 2)),
    "squares": (lambda x: (x * x).sum(0), (1 << 20, 3)),
    "kept": (lambda x: x.sum(0, keepdim=True), (1 << 20, 3)),
}


@pytest.mark.parametrize("name", SUMS)
def test_no_digits_are_lost(name: str) -> None:
    function, shape = SUMS[name]
    x = torch.full(shape, 0.1)  # row by row, sums of a million are off by a percent
    found = hotdesk.compile(Call(function), (x,))(x)
    exact = function(x.double())
    assert ((found - exact).abs() / exact.abs()).max() < 3e-6


OPEN: dict[str, tuple[Callable[[torch.Tensor], torch.Tensor], tuple[int, ...], tuple[int, ...]]] = {
    "rows": (lambda x: x.sum(0), (1 << 20, 2), (0,)),
    "rows behind whole runs": (lambda x: x.sum(0), ((1 << 20) + 1000, 2), (0,)),
    "few rows": (lambda x: x.sum(0), (5, 2), (0,)),
    "rows and columns": (lambda x: x.sum((0, 1)), (512, 2050, 2), (0, 1)),
    "in the middle": (lambda x: x.sum(1), (3, 1 << 20, 5), (1,)),
    "products": (lambda x: (x[:, :, None] * x[:, None]).sum(0), (1 << 20, 2), (0,)),
    "images": (lambda x: x.sum((0, 2, 3)), (1024, 2, 64, 64), (0, 2, 3)),
    "images of known sizes": (lambda x: x.sum((0, 2, 3)), (1024, 2, 64, 64), ()),
    "two loops of known sizes": (lambda x: x.sum((0, 1)), (2048, 2048, 1), ()),
    "three loops of known sizes": (lambda x: x.sum((0, 1, 2)), (500, 500, 10, 2), ()),
}


@pytest.mark.parametrize("name", OPEN)
def test_no_digits_are_lost_where_sizes_are_open_or_loops_are_many(name: str) -> None:
    function, shape, dims = OPEN[name]
    example = torch.ones([7 if i in dims else size for i, size in enumerate(shape)])
    auto = dict.fromkeys(dims, torch.export.Dim.AUTO)
    program = hotdesk.compile(Call(function), (example,), dynamic_shapes=((auto,),) if dims else None)
    x = torch.full(shape, 0.1)
    exact = function(x.double())
    assert ((program(x) - exact).abs() / exact.abs()).max() < (
        2e-4 if dims else 3e-6
    )  # row by row at least 3e-3, and 1e-3


def test_ones_add_up_to_their_number() -> None:
    auto = {0: torch.export.Dim.AUTO}
    program = hotdesk.compile(Call(lambda x: x.sum(0)), (torch.ones(7, 2),), dynamic_shapes=((auto,),))
    assert program(torch.ones(1 << 25, 2)).tolist() == [1 << 25] * 2


def test_rows_of_an_open_number_take_a_thousandth_of_their_memory() -> None:
    rows = torch.export.Dim("rows")
    program = hotdesk.compile(Call(lambda x: x.sum(0)), (torch.rand(7, 3),), dynamic_shapes=(({0: rows},),))
    for count in (2, 1023, 1024, 100_000):
        x = torch.rand(count, 3, generator=torch.Generator().manual_seed(0))
        assert torch.allclose(program(x), x.sum(0), rtol=1e-5)
        assert program.memory(x).arena <= x.nbytes // 1024 + 64


def test_in_f64_and_with_what_is_left() -> None:
    x = torch.randn(5003, 3, dtype=torch.float64, generator=torch.Generator().manual_seed(0))
    assert torch.allclose(hotdesk.compile(Call(lambda x: x.sum(0)), (x,))(x), x.sum(0), rtol=1e-13)


def test_blocks_are_small_where_sizes_are_open() -> None:
    x = torch.rand(8192, 640, generator=torch.Generator().manual_seed(0))
    columns = torch.export.Dim("columns", min=2, max=4096)
    program = hotdesk.compile(Call(lambda x: x.sum(0)), (x,), dynamic_shapes=(({1: columns},),))
    assert torch.allclose(program(x), x.sum(0), rtol=1e-5)
    assert program.memory(x).arena <= x.nbytes // 64


def test_products_that_are_never_there_as_a_whole_take_no_block() -> None:
    generator = torch.Generator().manual_seed(0)
    a, b = torch.rand(64, 2048, generator=generator), torch.rand(2048, 256, generator=generator)
    rows, columns = (torch.export.Dim(name, min=2, max=4096) for name in ("rows", "columns"))

    def distances(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
        return (a[:, :, None] - b).abs().sum(1)

    program = hotdesk.compile(Call(distances), (a, b), dynamic_shapes=(({0: rows}, {1: columns}),))
    assert torch.allclose(program(a, b), distances(a, b), rtol=1e-4)
    assert program.memory(a, b).arena == 0  # the sums are added up in the result


def test_threads_change_no_bit() -> None:
    x = torch.randn(1 << 20, 4, generator=torch.Generator().manual_seed(0))
    program = hotdesk.compile(Call(lambda x: x.sum(0)), (x,))
    threads = hotdesk.get_num_threads()
    try:
        found: list[torch.Tensor] = []
        for count in (1, 2):
            hotdesk.set_num_threads(count)
            found.append(program(x))
    finally:
        hotdesk.set_num_threads(threads)
    assert torch.equal(*found)


def test_a_budget_has_no_room_for_large_blocks() -> None:
    x = torch.full((1_000_000, 4), 0.1)
    assert hotdesk.compile(Call(lambda x: x.sum(0)), (x,)).memory(x).arena > 4096
    program = hotdesk.compile(Call(lambda x: x.sum(0)), (x,), budget="4 KiB")
    assert program.memory(x).peak <= 4096
    torch.testing.assert_close(program(x), x.sum(0), rtol=1e-2, atol=0.0)  # row by row, digits are lost
