"""Running sums and products against PyTorch's in f64, or in integers that wrap around."""

from __future__ import annotations

from typing import Literal

import pytest
import torch

from hotdesk._bindings import ir
from hotdesk.ir.context import make_context
from hotdesk.ir.walking import nested_ops
from hotdesk.kernels.text import View
from hotdesk.passes.lower.scans import ScanSpec, scan, scan_kind
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


def _run(
    views: list[View], x: Placed, y: Placed, last: Placed, dimension: int, kind: Literal["sum", "product"]
) -> None:
    Kernel(scan(ScanSpec(views[0], views[1], views[2], dimension, kind, (True,) * 3)), views)(
        x.tensor, y.tensor, last.tensor
    )
    wide = x.tensor.to(torch.float64 if x.tensor.dtype.is_floating_point else torch.int64)
    exact = (torch.cumsum if kind == "sum" else torch.cumprod)(wide, dimension)
    assert_close(y.tensor, exact)
    if x.tensor.size(dimension):
        assert torch.equal(last.tensor, y.tensor.select(dimension, -1))
    y.check_guards()
    last.check_guards()


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
        ("%r = arith.maxsi %a, %b : i64", "i64", "true", None),
    ],
)
def test_which_scans_have_a_kernel(payload: str, element: str, inclusive: str, kind: str | None) -> None:
    text = f"""
    func.func @main(%x: memref<4x{element}>, %y: memref<4x{element}>, %last: memref<{element}>) {{
      tm_tensor.scan dimension(0) inclusive({inclusive}) ins(%x : memref<4x{element}>)
          outs(%y, %last : memref<4x{element}>, memref<{element}>) {{
      ^bb0(%a: {element}, %b: {element}):
        {payload}
        tm_tensor.yield %r : {element}
      }}
      return
    }}"""
    module = ir.Module.parse(text, make_context())
    (op,) = [each for each in nested_ops(module.operation) if each.name == "tm_tensor.scan"]
    assert scan_kind(op) == kind
