"""Moves between parts of one buffer, in either direction, and layouts that have no kernel."""

from __future__ import annotations

import pytest
import torch

from hotdesk.kernels.text import View
from hotdesk.passes.lower.moves import MoveSpec, move
from tests.unit.passes.lower.running import DTYPES, Kernel, view_of

STARTS = [
    ((0, 1, 2), (2, 0, 5)),
    ((2, 0, 5), (0, 1, 2)),
    ((1, 1, 0), (1, 1, 3)),
    ((1, 1, 3), (1, 1, 0)),
    ((0, 0, 0), (0, 2, 0)),
]


@pytest.mark.parametrize("free", [False, True])
@pytest.mark.parametrize("element", ["f32", "i1", "bf16", "f64"])
def test_parts_that_overlap(element: str, free: bool) -> None:
    kernel: Kernel | None = None
    for source, target in STARTS:
        whole = (100 * torch.randn(5, 6, 90)).to(DTYPES[element])
        wanted = whole.clone()
        a, b = (_part(whole, starts) for starts in (source, target))
        _part(wanted, target).copy_(_part(whole, source).clone())
        views = [view_of(each, dynamic=free) for each in (a, b)]
        kernel = kernel or Kernel(move(MoveSpec(*views)), views)
        kernel(a, b)
        assert torch.equal(whole, wanted)


def _part(whole: torch.Tensor, starts: tuple[int, ...]) -> torch.Tensor:
    return whole[tuple(slice(start, start + size) for start, size in zip(starts, (3, 4, 83), strict=True))]


@pytest.mark.parametrize("strides", [(1, 6), (-8, 1), (8, -1), (8, 0), (6, 1)])
def test_strides_in_another_order_are_refused(strides: tuple[int, int]) -> None:
    view = View("f32", (5, 7), strides)
    with pytest.raises(ValueError, match="the greatest stride first"):
        move(MoveSpec(view, view))


def test_a_dim_of_one_element_has_no_order() -> None:
    view = View("f32", (5, 1, 7), (8, 1, 1))
    assert "scf.for" in move(MoveSpec(view, view)).text


@pytest.mark.parametrize("source", [View("f32", (5, 8), (8, 1)), View("f32", (7,), (1,)), View("i32", (5, 7), (8, 1))])
def test_other_sizes_and_elements_are_refused(source: View) -> None:
    target = View("f32", (5, 7), (8, 1))
    with pytest.raises(ValueError, match=r"expects a source of \(5, 7, 'f32'\), got"):
        move(MoveSpec(source, target))
