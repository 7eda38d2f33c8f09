"""Running sums and products against PyTorch's in f64, or in integers that wrap around; running extremes against PyTorch's own."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

import pytest
import torch

from hotdesk._bindings import ir
from hotdesk.ir.context import make_context
from hotdesk.ir.walking import nested_ops
from hotdesk.kernels.text import View
from hotdesk.passes.lower.scans import ScanKind, ScanSpec, scan, scan_kind
from tests.unit.passes.lower.running import Kernel, Placed, assert_close, contiguous, place, unread, values, view_of

SHAPES = [
    *(((3, 5, 37), dimension, kind) for dimension in range(3) for kind in ("sum", "product")),
    *(((2, 400, 64), dimension, "sum") for dimension in (1, 2)),  # worth two threads
    *(((1, 1, 1), 1, "sum"), ((0, 2, 3), 1, "sum"), ((3, 0, 5), 1, "product")),
]


@pytest.mark.parametrize(("dynamic", "gap"), [(False, 0), (True, 3)])
@pytest.mark.parametrize(("sizes", "dimension", "kind"), SHAPES)
def test_every_dimension(
    sizes: tuple[int, ...], dimension: int, gap: int, dynamic: bool, kind: Literal["sum", "product"]
) -> None:
    generator = torch.Generator().manual_seed(3)
    apart = (*contiguous((*sizes[:-1], sizes[-1] + gap))[:-1], 1)
    x = place(values(sizes, "f32", generator), apart)
    y = place(unread(sizes, "f32"), apart)
    rest = (*sizes[:dimension], *sizes[dimension + 1 :])
    last = place(unread(rest, "f32"))
    _run([view_of(each.tensor, dynamic=dynamic) for each in (x, y, last)], x, y, last, dimension, kind)
    x.check_untouched()


@pytest.mark.parametrize("element", ["f64", "i64", "i32", "i8"])
@pytest.mark.parametrize("dimension", [0, 1])
def test_every_type(element: str, dimension: int) -> None:
    x = place(values((5, 37), element, torch.Generator().manual_seed(2)))
    y, last = place(unread((5, 37), element)), place(unread(((37, 5)[dimension],), element))
    for kind in ("sum", "product"):
        _run([view_of(each.tensor) for each in (x, y, last)], x, y, last, dimension, kind)


def test_columns_apart() -> None:
    x = place(values((6, 40), "f32", torch.Generator().manual_seed(1)), (80, 2))
    y, last = place(unread((6, 40), "f32")), place(unread((40,), "f32"))
    _run([view_of(each.tensor) for each in (x, y, last)], x, y, last, 0, "sum")


def test_in_place() -> None:
    x = place(values((6, 40), "f32", torch.Generator().manual_seed(1)))
    last = place(unread((40,), "f32"))
    views = (view_of(x.tensor), view_of(x.tensor), view_of(last.tensor))
    exact = x.tensor.double().cumsum(0)
    Kernel(scan(ScanSpec(*views, 0, "sum", (False, False, True))), views)(x.tensor, x.tensor, last.tensor)
    assert_close(x.tensor, exact)


_EXTREMES: dict[ScanKind, Callable[..., tuple[torch.Tensor, torch.Tensor]]] = {"max": torch.cummax, "min": torch.cummin}


@pytest.mark.parametrize("element", ["f32", "f64", "i32", "i64"])
@pytest.mark.parametrize("dimension", [0, 1, 2])
def test_extremes(element: str, dimension: int) -> None:
    """Of few numbers: zeros of both signs, infinities and what is no number among them."""
    generator = torch.Generator().manual_seed(4)
    numbers = torch.tensor([0.0, -0.0, 1.0, -3.0, float("inf"), -float("inf"), float("nan")])
    drawn = torch.randint(len(numbers), (5, 7, 37), generator=generator)
    drawn = torch.where(torch.rand(drawn.shape, generator=generator) < 0.9, drawn % 4, drawn)
    for kind, running in _EXTREMES.items():
        x = place(values((5, 7, 37), element, generator))
        x.tensor.copy_(numbers[drawn] if element.startswith("f") else drawn)
        y, last = place(unread((5, 7, 37), element)), place(unread(x.tensor.select(dimension, 0).shape, element))
        views = [view_of(each.tensor) for each in (x, y, last)]
        _scanned(views, x, y, last, dimension, kind)
        expected = running(x.tensor, dimension)[0]
        assert torch.equal(y.tensor.isnan(), expected.isnan())
        assert torch.equal(y.tensor.nan_to_num(), expected.nan_to_num())
        assert torch.equal(y.tensor.signbit() & ~expected.isnan(), expected.signbit() & ~expected.isnan())
        assert torch.equal(last.tensor.nan_to_num(), y.tensor.select(dimension, -1).nan_to_num())


@pytest.mark.parametrize(("kind", "running"), [("umax", torch.cummax), ("umin", torch.cummin)])
def test_extremes_without_signs(kind: ScanKind, running: Callable[..., tuple[torch.Tensor, torch.Tensor]]) -> None:
    for dimension in range(2):
        x = place(values((5, 37), "i8", torch.Generator().manual_seed(2)))
        x.tensor.copy_(torch.arange(5 * 37).mul(89).to(torch.int8).reshape(5, 37))
        y, last = place(unread((5, 37), "i8")), place(unread(((37, 5)[dimension],), "i8"))
        _scanned([view_of(each.tensor) for each in (x, y, last)], x, y, last, dimension, kind)
        assert torch.equal(y.tensor.view(torch.uint8), running(x.tensor.view(torch.uint8), dimension)[0])


def _scanned(views: list[View], x: Placed, y: Placed, last: Placed, dimension: int, kind: ScanKind) -> None:
    spec = ScanSpec(views[0], views[1], views[2], dimension, kind, (True,) * 3)
    Kernel(scan(spec), views)(x.tensor, y.tensor, last.tensor)
    y.check_guards()
    last.check_guards()


def _run(
    views: list[View], x: Placed, y: Placed, last: Placed, dimension: int, kind: Literal["sum", "product"]
) -> None:
    _scanned(views, x, y, last, dimension, kind)
    wide = x.tensor.to(torch.float64 if x.tensor.dtype.is_floating_point else torch.int64)
    exact = (torch.cumsum if kind == "sum" else torch.cumprod)(wide, dimension)
    assert_close(y.tensor, exact)
    if x.tensor.size(dimension):
        assert torch.equal(last.tensor, y.tensor.select(dimension, -1))


def taken(how: str, none: str = "une", of: str = "%b, %a", chosen: str = "%b, %a") -> str:
    """A payload that keeps the second where that compares so with the first, or is no number."""
    return f"""%later = arith.cmpf {how}, {of} : ELEMENT
        %none = arith.cmpf {none}, %b, %b : ELEMENT
        %takes = arith.ori %later, %none : i1
        %r = arith.select %takes, {chosen} : ELEMENT"""


@pytest.mark.parametrize(
    ("payload", "element", "inclusive", "kind"),
    [
        ("%r = arith.addf %a, %b : f32", "f32", "true", "sum"),
        ("%r = arith.mulf %b, %a : f32", "f32", "true", "product"),
        ("%r = arith.addf %a, %b : f32", "f32", "false", None),
        ("%r = arith.addf %a, %b : f64", "f64", "true", "sum"),
        ("%r = arith.addf %a, %b : bf16", "bf16", "true", None),
        ("%r = arith.addf %a, %a : f32", "f32", "true", None),
        ("%r = arith.maximumf %a, %b : f32", "f32", "true", None),
        ("%r = arith.addi %a, %b : i64", "i64", "true", "sum"),
        ("%r = arith.muli %b, %a : i8", "i8", "true", "product"),
        ("%r = arith.maxsi %a, %b : i64", "i64", "true", "max"),
        ("%r = arith.minui %b, %a : i8", "i8", "true", "umin"),
        ("%r = arith.maxsi %a, %a : i64", "i64", "true", None),
        (taken("oge"), "f32", "true", "max"),
        (taken("ole"), "f64", "true", "min"),
        (taken("oge"), "bf16", "true", None),
        (taken("ogt"), "f32", "true", None),  # the first of equal ones
        (taken("oge", none="uno"), "f32", "true", None),
        (taken("oge", of="%b, %a", chosen="%a, %b"), "f32", "true", None),  # takes the old one again
        (taken("oge", of="%a, %b"), "f32", "true", None),
    ],
)
def test_which_scans_have_a_kernel(payload: str, element: str, inclusive: str, kind: str | None) -> None:
    text = f"""
    func.func @main(%x: memref<4x{element}>, %y: memref<4x{element}>, %last: memref<{element}>) {{
      tm_tensor.scan dimension(0) inclusive({inclusive}) ins(%x : memref<4x{element}>)
          outs(%y, %last : memref<4x{element}>, memref<{element}>) {{
      ^bb0(%a: {element}, %b: {element}):
        {payload.replace("ELEMENT", element)}
        tm_tensor.yield %r : {element}
      }}
      return
    }}"""
    module = ir.Module.parse(text, make_context())
    (op,) = [each for each in nested_ops(module.operation) if each.name == "tm_tensor.scan"]
    assert scan_kind(op) == kind
