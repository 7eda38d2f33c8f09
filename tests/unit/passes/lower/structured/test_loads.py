"""Loads at places that loops run through: which become operands, and that they compute the same."""

# PyTorch is annotated in part only.
# pyright: reportUnknownLambdaType=false, reportUnknownMemberType=false, reportUnknownArgumentType=false

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
from torch import Tensor

import hotdesk
from tests.e2e.checking import Call, close, random
from tests.unit.passes.lower.structured.loop_kernels import kernel

_X, _Y = "memref<64x96xf32>", "memref<96x64xf32>"


def _made(places: str, payload: str = "", x: str = _X, y: str = _Y, result: str = "%y", more: str = "") -> str:
    """The kernel of an op that writes what it loads from `x` at `places`; `%i` and `%j` are those of its loops."""
    text = f"""%last = arith.constant 63 : index
    {more}
    linalg.generic {{
      indexing_maps = [affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]
    }} outs({result} : {y}) {{
    ^bb0(%b: f32):
      %i = linalg.index 0 : index
      %j = linalg.index 1 : index
      {payload}
      %t = memref.load %x[{places}] : {x}
      linalg.yield %t : f32
    }}"""
    return kernel(f"%x: {x}, %y: {y}", text)[1]


_BACKWARDS = "%k = arith.subi %last, %j : index"


def test_what_is_loaded_across_the_result_is_seen_as_it_is_read() -> None:
    made = _made("%k, %i", _BACKWARDS)
    assert "memref.load" not in made
    assert "linalg.index" not in made
    assert "strides: [-96, 1]" in made
    assert made.count("memref.subview") == 2  # in blocks
    assert "memref.load" not in _made("%j, %i")


def test_what_is_added_to_places_says_where_the_first_is() -> None:
    further = f"{_BACKWARDS}\n%m = arith.addi %i, %one : index"
    made = _made("%k, %m", further, x="memref<64x97xf32>", more="%one = arith.constant 1 : index")
    assert "memref.load" not in made
    assert "strides: [-97, 1]" in made


@pytest.mark.parametrize(
    ("places", "payload", "sizes"),
    [
        ("%i, %j", "", ("memref<96x64xf32>", _Y)),  # lies as the result does
        ("%k, %k", _BACKWARDS, (_X, _Y)),  # one loop is two places
        ("%k, %i", "%two = arith.constant 2 : index\n%k = arith.muli %j, %two : index", ("memref<128x96xf32>", _Y)),
        ("%j, %i", "", ("memref<?x?xf32, strided<[?, 1]>>", _Y)),  # steps that only a call knows
        ("%j, %i", "", ("memref<40x40xf32>", "memref<40x40xf32>")),  # stays in the cache
    ],
)  # fmt: skip
def test_others_are_left(places: str, payload: str, sizes: tuple[str, str]) -> None:
    made = _made(places, payload, *sizes)
    assert "memref.load" in made or "memref.subview" not in made


def test_places_that_are_computed_with_are_left() -> None:
    asked = "%n = arith.index_cast %i : index to i64\n%f = arith.sitofp %n : i64 to f32"
    assert "memref.load" in _made("%j, %i", asked)


def test_memory_that_is_written_is_loaded_from_in_order() -> None:
    square = "memref<96x96xf32>"
    assert "memref.load" not in _made("%j, %i", "", square, square)
    assert "memref.load" in _made("%j, %i", "", square, square, result="%x")


_OPS: dict[str, tuple[Callable[[Tensor], Tensor], tuple[int, ...]]] = {
    "a quarter": (lambda x: torch.rot90(x, 1, (0, 1)), (71, 133)),
    "three quarters": (lambda x: torch.rot90(x, 3, (0, 1)), (133, 71)),
    "images": (lambda x: torch.rot90(x, 1, (2, 3)), (2, 3, 75, 67)),
    "worth two threads": (lambda x: x.t().flip(1), (300, 333)),
    "small images": (lambda x: torch.rot90(x, 1, (1, 2)), (2, 33, 40)),
    "no rows": (lambda x: torch.rot90(x, 1, (0, 1)), (0, 40)),
}


@pytest.mark.parametrize("name", _OPS)
def test_the_same_is_computed(name: str) -> None:
    op, sizes = _OPS[name]
    x = random(*sizes)
    close(hotdesk.compile(Call(op), (x,))(x), op(x), rtol=0.0, atol=0.0)
