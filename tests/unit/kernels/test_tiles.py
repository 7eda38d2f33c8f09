"""Products by tiles of a matrix unit: what is generated for them, and what only they can get wrong."""

from __future__ import annotations

from dataclasses import replace

import pytest
import torch

from hotdesk.kernels import machine
from hotdesk.kernels.blocks import sweep_name
from hotdesk.kernels.library import half_module
from hotdesk.kernels.machine import AVX512_BF16, AVX512_TILES, host
from hotdesk.kernels.shared import shared_name
from hotdesk.kernels.tiles import SLAB, TILE_DEEP
from hotdesk.runtime.code.products import use_tiles
from tests.unit.kernels.test_halves import call, check, compiled, pool

has_tiles = pytest.mark.skipif(
    not host().tiles, reason="this processor has no AMX, or the system does not let us use it"
)


@pytest.mark.parametrize("result", ["bf16", "f32"])
def test_tiles_are_multiplied_where_the_machine_does_that(result: str) -> None:
    """Whatever this machine is: slabs and panels of one or two tiles, in a loop and once behind it; nothing else sums."""
    made = str(half_module(AVX512_TILES, "bf16", result).operation)
    tiles = [high * wide for high in (1, 2) for wide in (1, 2)]
    assert made.count('"llvm.x86.tdpbf16ps"') == 2 * sum(tiles)
    assert made.count('"llvm.x86.ldtilecfg"') == made.count('"llvm.x86.tilerelease"') == 1
    assert sweep_name("bf16") not in made
    assert sweep_name("f32") not in made
    for other, element in ((AVX512_BF16, "bf16"), (AVX512_TILES, "f16")):
        assert "tdpbf16ps" not in str(half_module(other, element, element).operation)


def test_the_system_may_refuse_tiles(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(machine, "_flags", lambda: machine.TILE_FLAGS)
    monkeypatch.setattr(machine, "_features", lambda: {"AVX512F": True, "AVX512BF16": True})
    for answer in (True, False):
        monkeypatch.setattr(machine, "may_use_tiles", lambda answer=answer: answer)
        found = host.__wrapped__()
        assert found.tiles == answer
        assert replace(found, tiles=False, l1_bytes=AVX512_BF16.l1_bytes, l2_bytes=AVX512_BF16.l2_bytes) == AVX512_BF16
    monkeypatch.setattr(machine, "_flags", lambda: frozenset({"amx_tile"}))
    monkeypatch.setattr(machine, "may_use_tiles", lambda: pytest.fail("nobody is asked for what there is not"))
    assert not host.__wrapped__().tiles


def test_code_says_whether_it_uses_tiles() -> None:
    names = [shared_name(element) for element in ("f32", "f16", "bf16")]
    assert use_tiles(names, AVX512_TILES)
    assert not use_tiles(names[:2], AVX512_TILES)
    assert not use_tiles(names, AVX512_BF16)


@has_tiles
def test_what_lies_behind_rows_does_not_count() -> None:
    """NaN between rows and columns of the operands, for every number of steps left over from whole tiles."""
    products = compiled("host", "bf16")
    memory = torch.full((3, SLAB + 7, 3 * TILE_DEEP), torch.nan, dtype=torch.bfloat16)
    for k in (1, 2, 31, 32, 33, 63, 65):
        a, b = memory[:1, :, :k], memory[1:2, :, :k].transpose(1, 2)
        a.copy_(torch.arange(a.numel()).view_as(a) % 3 - 1)
        b.copy_(torch.arange(b.numel()).view_as(b) % 5 - 2)
        for left in (a, a.transpose(1, 2).contiguous().transpose(1, 2)):
            c = torch.empty(1, SLAB + 7, SLAB + 7, dtype=torch.bfloat16)
            call(products, left, b, c, add=False)
            assert torch.equal(c, (a.float() @ b.float()).bfloat16())


@has_tiles
@pytest.mark.parametrize("pooled", [True, False])
def test_long_sums_are_cut(pooled: bool) -> None:
    """Slabs wait in f32 while the next steps of k are packed; with and without scratch memory."""
    products = compiled("host", "bf16", pooled=pooled)
    for sizes, layouts in (((70, 40, 8250), ("rows", "columns")), ((20, 17, 16390), ("columns", "rows"))):
        check(products, sizes, (*layouts, "rows"), torch.bfloat16, 1, True)


@has_tiles
def test_threads_have_tiles_of_their_own() -> None:
    products = compiled("host", "bf16")
    drawn = torch.Generator().manual_seed(0)
    a, b = torch.randn(1, 130, 300, generator=drawn).bfloat16(), torch.randn(1, 300, 515, generator=drawn).bfloat16()
    found = torch.empty(8, 1, 130, 515, dtype=torch.bfloat16)
    pool().serve(products.machine, 3)
    for c in found:
        call(products, a, b, c, add=False)
    pool().serve(products.machine, 1)
    assert all(torch.equal(c, found[0]) for c in found)
    want, sizes = a.double() @ b.double(), a.double().abs() @ b.double().abs()
    assert bool(((found[0].double() - want).abs() <= want.abs() * 2**-8 * 1.01 + sizes * 1e-6).all())
