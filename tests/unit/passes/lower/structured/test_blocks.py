"""Loops over transposed operands in blocks: which are, and that they compute the same."""

# PyTorch is annotated in part only.
# pyright: reportUnknownLambdaType=false, reportUnknownMemberType=false, reportUnknownArgumentType=false

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
from torch import Tensor, nn

import hotdesk
from tests.e2e.checking import Call, close, random
from tests.unit.passes.lower.structured.loop_kernels import kernel


def _made(x: str, y: str, body: str = "%t = arith.addf %a, %a : f32", by: str = "(j, i)") -> str:
    """The kernel of an op that computes `y` from the elements of `x`, its dims exchanged."""
    text = f"""linalg.generic {{
      indexing_maps = [affine_map<(i, j) -> {by}>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]
    }} ins(%x : {x}) outs(%y : {y}) {{
    ^bb0(%a: f32, %b: f32):
      {body}
      linalg.yield %t : f32
    }}"""
    return kernel(f"%x: {x}, %y: {y}", text)[1]


def test_long_loops_over_what_lies_transposed_go_in_blocks() -> None:
    assert _made("memref<64x96xf32>", "memref<96x64xf32>").count("memref.subview") == 2
    assert _made("memref<?x?xf32>", "memref<?x?xf32>").count("memref.subview") == 4  # and what whole blocks leave


def test_blocks_have_a_known_length_and_what_they_leave_comes_last() -> None:
    """Loops over the result of 100 columns: 12 blocks of 8, and 4; so too where nobody knows how many there are."""
    made = _made("memref<100x96xf32>", "memref<96x100xf32>")
    assert "to memref<32x8xf32, strided<[100, 1], offset: ?>>" in made
    assert "to memref<32x4xf32, strided<[100, 1], offset: ?>>" in made
    assert "to memref<32x?xf32" not in made
    unknown = _made("memref<?x96xf32>", "memref<96x?xf32>")
    assert "to memref<?x8xf32, strided<[?, 1], offset: ?>>" in unknown
    assert "to memref<?x?xf32, strided<[?, 1], offset: ?>>" in unknown


def test_others_are_left() -> None:
    place = "%i = linalg.index 0 : index\n%k = arith.index_cast %i : index to i64\n%t = arith.sitofp %k : i64 to f32"
    assert "memref.subview" not in _made("memref<8x96xf32>", "memref<96x8xf32>")
    assert "memref.subview" not in _made("memref<64x96xf32>", "memref<96x64xf32>", place)
    assert "memref.subview" not in _made("memref<96xf32>", "memref<96x64xf32>", by="(i)")  # read again for each column
    lies_alike = "memref<64x96xf32, strided<[1, 64]>>"
    assert "memref.subview" not in _made(lies_alike, "memref<96x64xf32>")


_OPS: dict[str, tuple[Callable[..., Tensor], tuple[int, ...]]] = {
    "turned": (lambda x: x.t().contiguous(), (71, 133)),
    "added to what is turned": (lambda x: x + x.t(), (96, 96)),
    "rows behind one another": (lambda x: x.permute(0, 2, 3, 1).contiguous(), (2, 37, 5, 9)),
    "an image for each of several": (lambda x: x.permute(3, 1, 0, 2).contiguous(), (3, 2, 33, 65)),
    "columns that are no whole blocks": (lambda x: x.t().contiguous(), (100, 64)),
    "images, shared by rows": (lambda x: torch.tanh(x.permute(0, 2, 3, 1).contiguous()), (1, 644, 14, 14)),
    "worth two threads": (lambda x: x.transpose(1, 2).contiguous(), (3, 300, 333)),
}


@pytest.mark.parametrize("name", _OPS)
def test_the_same_is_computed(name: str) -> None:
    op, sizes = _OPS[name]
    x = random(*sizes)
    tolerance = 1e-6 if "images, shared" in name else 0.0
    close(hotdesk.compile(Call(op), (x,))(x), op(x), rtol=tolerance, atol=tolerance)


class _Turned(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        return x.t() * 2


def test_sizes_that_only_a_call_knows() -> None:
    rows, columns = torch.export.Dim("rows", min=2, max=200), torch.export.Dim("columns", min=2, max=200)
    turn = _Turned()
    program = hotdesk.compile(turn, (random(70, 80),), dynamic_shapes=({0: rows, 1: columns},))
    for sizes in ((70, 80), (3, 199), (128, 32), (33, 65)):
        close(program(random(*sizes)), turn(random(*sizes)), rtol=0, atol=0)
