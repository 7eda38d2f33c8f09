"""Sorted lines against PyTorch's stable sort: dimensions, element types, ties, places that do not increase, lines apart."""

from __future__ import annotations

import pytest
import torch

from hotdesk._bindings import ir
from hotdesk.ir.context import make_context
from hotdesk.ir.walking import nested_ops
from hotdesk.passes.lower.sorting import SortSpec, sort, sort_order
from tests.unit.passes.lower.running import DTYPES, Kernel, contiguous, place, view_of

SHAPES = [
    *(((3, 40, 37), dimension) for dimension in range(3)),
    *(((300,), 0), ((1000, 3), 0), ((2, 16), 1), ((2, 17), 1), ((5, 2), 1), ((5, 1), 1), ((5, 0), 1), ((0, 20), 1)),
    ((64, 200), 1),  # worth two threads
]


def run(
    values: torch.Tensor,
    places: torch.Tensor,
    dimension: int,
    *,
    largest: bool,
    swapped: bool,
    free: bool,
    first: int | None = None,
) -> None:
    """Sorts what lies between guards, rows apart, and holds it against a stable sort."""
    wanted, order = torch.sort(values, dim=dimension, descending=largest, stable=True)
    apart = (*contiguous((*values.shape[:-1], values.shape[-1] + 3))[:-1], 1)
    both = place(values, apart), place(places)
    views = [view_of(each.tensor, dynamic=free) for each in both]
    kind = "o" if values.is_floating_point() else "s"
    comparison = f"{kind}{'ge' if largest is not swapped else 'le'}"
    kernel = Kernel(sort(SortSpec(views[0], views[1], dimension, comparison, swapped, (True, True), first)), views)
    kernel(*(each.tensor for each in both))
    count = min(values.shape[dimension], values.shape[dimension] if first is None else first)
    sorted_values, sorted_places = (each.tensor for each in both)
    assert torch.equal(sorted_values.narrow(dimension, 0, count), wanted.narrow(dimension, 0, count))
    assert torch.equal(
        sorted_places.narrow(dimension, 0, count), places.gather(dimension, order).narrow(dimension, 0, count)
    )
    if first is not None:  # the others are there, too, each with its place
        assert torch.equal(sorted_places.sort(dimension)[0], places)
        assert torch.equal(sorted_values, values.gather(dimension, sorted_places))
    for each in both:
        each.check_guards()


def numbered(values: torch.Tensor, dimension: int) -> torch.Tensor:
    ones = torch.ones(values.shape, dtype=torch.int64)
    return ones.cumsum(dimension) - 1


@pytest.mark.parametrize("free", [False, True])
@pytest.mark.parametrize(("sizes", "dimension"), SHAPES)
def test_every_dimension(sizes: tuple[int, ...], dimension: int, free: bool) -> None:
    """Also of values that are often equal, and of lines that are in order, forwards or backwards."""
    random = torch.randn(sizes, generator=torch.Generator().manual_seed(1))
    for values in (random, (random * 2).round(), random.sort(dimension)[0], random.sort(dimension, True)[0]):
        for largest in (False, True):
            run(values, numbered(values, dimension), dimension, largest=largest, swapped=False, free=free)


@pytest.mark.parametrize(
    ("sizes", "dimension"), [((3, 40, 37), 1), ((300,), 0), ((2, 17), 1), ((5, 0), 1), ((64, 200), 1)]
)
def test_the_first_elements_alone(sizes: tuple[int, ...], dimension: int) -> None:
    values = (torch.randn(sizes, generator=torch.Generator().manual_seed(3)) * 3).round()
    for first in (0, 1, 7, 17, 500):
        for largest in (False, True):
            run(values, numbered(values, dimension), dimension, largest=largest, swapped=False, free=True, first=first)


@pytest.mark.parametrize("element", ["f64", "f16", "i8", "i32", "i64"])
def test_element_types(element: str) -> None:
    values = (torch.randn(4, 90, generator=torch.Generator().manual_seed(2)) * 9).round().to(DTYPES[element])
    for largest in (False, True):
        run(values, numbered(values, 1).int(), 1, largest=largest, swapped=largest, free=False)


def test_places_that_do_not_increase_stay_with_their_values() -> None:
    values = (torch.randn(3, 70, generator=torch.Generator().manual_seed(3)) * 2).round()
    for places in (numbered(values, 1).flip(1), torch.zeros_like(values).long(), numbered(values, 1) % 50):
        run(values, places, 1, largest=False, swapped=False, free=False)


def test_the_largest_lines_take_few_steps() -> None:
    """A number of steps that grew by the square would take minutes."""
    values = torch.randn(1 << 18, generator=torch.Generator().manual_seed(4))
    run(values, numbered(values, 0), 0, largest=True, swapped=False, free=False)


@pytest.mark.parametrize(
    ("compared", "order"),
    [
        ("arith.cmpf ole, %a, %b : f32", ("ole", False)),
        ("arith.cmpf oge, %a, %b : f32", ("oge", False)),
        ("arith.cmpf uge, %b, %a : f32", ("uge", True)),
        ("arith.cmpf olt, %a, %b : f32", None),  # by which equal values have no order
        ("arith.cmpi sle, %c, %d : i64", None),  # by places
    ],
)
def test_what_is_a_sort_of_values(compared: str, order: tuple[str, bool] | None) -> None:
    text = f"""
    func.func @main(%x: memref<5x40xf32>, %i: memref<5x40xi64>) {{
      tm_tensor.sort dimension(1) outs(%x, %i : memref<5x40xf32>, memref<5x40xi64>) {{
      ^bb0(%a: f32, %b: f32, %c: i64, %d: i64):
        %0 = {compared}
        tm_tensor.yield %0 : i1
      }}
      return
    }}"""
    with make_context(), ir.Location.unknown():
        module = ir.Module.parse(text)
        (op,) = (op for op in nested_ops(module.operation) if op.name == "tm_tensor.sort")
        assert sort_order(op) == order
