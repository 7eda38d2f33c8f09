"""Sizes for which alone `torch.export` has captured a model, as `Dim.AUTO` allows: a call with others is refused."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch

import hotdesk
from hotdesk.errors import ExportError, ShapeError, UnsupportedOpError

AUTO: Any = torch.export.Dim.AUTO


class _Joined(torch.nn.Module):
    """Of an image whose convolution has one row in the example, stored channels last."""

    def __init__(self) -> None:
        super().__init__()
        self.convolution = torch.nn.Conv2d(3, 4, (2, 1), stride=2)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y = self.convolution(x)
        return torch.cat([y, y * 2], -1)


@pytest.mark.parametrize("exported", [False, True])
def test_other_sizes_are_refused(exported: bool) -> None:
    model = _Joined()
    example = torch.randn(2, 3, 2, 6).to(memory_format=torch.channels_last)
    shapes = ({2: AUTO, 3: AUTO},)
    capture = torch.export.export(model, (example,), dynamic_shapes=shapes)
    others = torch.randn(2, 3, 8, 4)
    with pytest.raises(AssertionError, match="Guard failed"):
        capture.module()(others)
    program = hotdesk.compile(capture if exported else model, (example,), dynamic_shapes=None if exported else shapes)
    with torch.no_grad():
        for given in (example, torch.randn(2, 3, 2, 9)):
            torch.testing.assert_close(program(given), model(given), rtol=1e-5, atol=1e-5)
    with pytest.raises(ShapeError, match="assumed when the model was captured"):
        program(others)


def test_strides_of_an_example_are_of_no_matter() -> None:
    model = torch.nn.Conv2d(3, 4, 3, padding=1)
    example = torch.randn(4, 3, 7, 3)[:2, :, :5, ::2]
    program = hotdesk.compile(model, (example,), dynamic_shapes=({0: AUTO},))
    with torch.no_grad():
        for given in (example, torch.randn(5, 3, 5, 2)):
            torch.testing.assert_close(program(given), model(given), rtol=1e-5, atol=1e-5)


class _OfOneSize(torch.nn.Module):
    """Normalizes dims whose sizes the model says; a mean divides by how many elements they have."""

    def forward(self, x: torch.Tensor, weight: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        return torch.native_layer_norm(x, [1, 2, 3], weight, None, 0.5)


def test_sizes_that_turn_out_to_be_one() -> None:
    example = (torch.randn(1, 2, 3), torch.randn(1, 2, 3))
    program = hotdesk.compile(_OfOneSize(), example, dynamic_shapes=({0: AUTO, 1: AUTO, 2: AUTO},) * 2)
    for found, expected in zip(program(*example), _OfOneSize()(*example), strict=True):
        torch.testing.assert_close(found, expected)
    with pytest.raises(ShapeError, match="dimension 1: expected 2, got 4"):
        program(torch.randn(1, 4, 3), torch.randn(1, 4, 3))


_SCATTERED: dict[str, tuple[Any, tuple[int, ...], tuple[int, ...]]] = {
    "slice": (lambda x, y: torch.slice_scatter(x, y, 0, 4, 20, 2), (20, 3), (8, 3)),
    "slice to the end": (lambda x, y: x.slice_scatter(y, start=-4), (20, 3), (4, 3)),
    "row": (lambda x, y: x.select_scatter(y, -2, 1), (20, 3), (3,)),
    "diagonal": (lambda x, y: torch.diagonal_scatter(x, y, 1), (5, 6), (5,)),
}


@pytest.mark.parametrize("way", ["model", "exported", "file"])
@pytest.mark.parametrize("name", _SCATTERED)
def test_what_is_written_has_the_shape_of_its_place(name: str, way: str, tmp_path: Path) -> None:
    """PyTorch asks for that in its kernels alone: a program that did not wrote beyond its memory."""
    function, tensor, source = _SCATTERED[name]

    class Scatter(torch.nn.Module):
        def forward(self, x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
            return function(x, y)

    args = torch.randn(tensor), torch.randn(source)
    shapes = tuple(dict.fromkeys(range(each.dim()), AUTO) for each in args)
    if way == "model":
        program = hotdesk.compile(Scatter(), args, dynamic_shapes=shapes)
    else:
        exported = torch.export.export(Scatter(), args, dynamic_shapes=shapes)
        if way == "file":
            torch.export.save(exported, tmp_path / "scatter.pt2")
            exported = torch.export.load(tmp_path / "scatter.pt2")
        program = hotdesk.compile(exported)
    assert program(*args).equal(function(*args))
    longer = args[0], torch.randn([size + 1000 for size in source])
    shorter = args[0], torch.randn([size - 1 for size in source])
    smaller = torch.randn([1] * len(tensor)), args[1]
    for given in (longer, shorter, smaller):
        with pytest.raises((RuntimeError, IndexError)):
            function(*given)
        with pytest.raises(ShapeError):
            program(*given)


_INDEXED: dict[str, tuple[Any, tuple[int, ...], tuple[int, ...]]] = {
    "rows": (lambda x, i, y: x.index_put((i,), y), (8, 4), (5, 4)),
    "columns": (lambda x, i, y: torch.ops.aten.index_put(x, [None, i], y), (4, 8), (4, 5)),
    "apart": (lambda x, i, y: torch.ops.aten.index_put(x, [i, None, i], y), (6, 3, 7), (5, 3)),
    "added": (lambda x, i, y: x.index_add(0, i, y), (8, 4), (5, 4)),
    "added columns": (lambda x, i, y: x.index_add(-1, i, y), (4, 8), (4, 5)),
}


@pytest.mark.parametrize("name", _INDEXED)
def test_what_is_written_where_indices_say_has_their_shape(name: str) -> None:
    function, tensor, source = _INDEXED[name]

    class Indexed(torch.nn.Module):
        def forward(self, x: torch.Tensor, i: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
            return function(x, i, y)

    args = torch.randn(tensor), torch.arange(5) % 3, torch.randn(source)
    shapes = tuple(dict.fromkeys(range(each.dim()), AUTO) for each in args)
    program = hotdesk.compile(torch.export.export(Indexed(), args, dynamic_shapes=shapes))
    torch.testing.assert_close(program(*args), function(*args))
    for dim in range(len(source)):
        given = args[0], args[1], torch.randn([size + 1000 * (place == dim) for place, size in enumerate(source)])
        with pytest.raises((RuntimeError, IndexError)):
            function(*given)
        with pytest.raises(ShapeError):
            program(*given)
    longer = args[0], torch.arange(4000) % 3, args[2]
    with pytest.raises((RuntimeError, IndexError)):
        function(*longer)
    with pytest.raises(ShapeError):
        program(*longer)


def test_one_row_of_values_goes_to_all_places() -> None:
    class Row(torch.nn.Module):
        def forward(self, x: torch.Tensor, i: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
            return x.index_put((i,), y)

    args = torch.randn(8, 4), torch.arange(5) % 3, torch.randn(4)
    program = hotdesk.compile(Row(), args, dynamic_shapes=({0: AUTO, 1: AUTO}, {0: AUTO}, {0: AUTO}))
    for places in (args[1], torch.arange(7)):
        assert program(args[0], places, args[2]).equal(Row()(args[0], places, args[2]))


class _Slice(torch.nn.Module):
    def forward(self, x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        return x.slice_scatter(y, 0, 0, 3)


def test_a_source_whose_size_is_known_to_be_another() -> None:
    exported = torch.export.export(_Slice(), (torch.randn(10, 2), torch.randn(4, 2)))
    with pytest.raises(ExportError, match="dim 0 of the source of `slice_scatter` has another size .*: 4, not 3"):
        hotdesk.compile(exported)


def test_a_source_of_a_size_that_was_declared_to_vary() -> None:
    class Row(torch.nn.Module):
        def forward(self, x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
            return x.select_scatter(y, 1, 0)

    rows, others = (torch.export.Dim(name, min=2, max=50) for name in ("rows", "others"))
    args = torch.randn(10, 2), torch.randn(10)
    program = hotdesk.compile(torch.export.export(Row(), args, dynamic_shapes=({0: rows}, {0: rows})))
    assert program(*args).equal(Row()(*args))
    with pytest.raises(ShapeError):
        program(args[0], torch.randn(11))
    with pytest.raises(UnsupportedOpError, match="some sizes only"):
        hotdesk.compile(torch.export.export(Row(), args, dynamic_shapes=({0: rows}, {0: others})))


@pytest.mark.parametrize("auto", [0, 1])
def test_a_size_that_was_declared_and_one_that_may_follow_it(auto: int) -> None:
    """The declared one keeps its name and its limits; each call checks that the other has its value."""

    class Row(torch.nn.Module):
        def forward(self, x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
            return x.select_scatter(y, 1, 0)

    declared: list[Any] = [torch.export.Dim("rows", min=2, max=50)] * 2
    declared[auto] = AUTO
    args = torch.randn(10, 2), torch.randn(10)
    program = hotdesk.compile(torch.export.export(Row(), args, dynamic_shapes=tuple({0: each} for each in declared)))
    for rows in (2, 10, 50):
        given = torch.randn(rows, 2), torch.randn(rows)
        assert program(*given).equal(Row()(*given))
    for rows, others, message in ((10, 11, "expected rows = 10"), (51, 51, "expected 2 <= rows <= 50")):
        with pytest.raises(ShapeError, match=message):
            program(torch.randn(rows, 2), torch.randn(others))
