"""Random programs of blocks that share memory: the same results, no fault in memory, and no higher a peak on the worst path."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product

import numpy as np
import pytest
from torch_mlir import ir

from hotdesk.analysis.allocations import ranges
from hotdesk.analysis.allocations.ranges import LiveRange
from hotdesk.analysis.allocations.uses import Allocations
from hotdesk.checker import Settings, check_module
from hotdesk.ir.context import make_context
from hotdesk.passes.textual import parse_pipeline
from hotdesk.program.dominance import Dominance
from tests.running.peaks import peak_of
from tests.structured.blocks import FLAGS, program_of_blocks

_FREE, _SHARE = "hotdesk-buffer-deallocation", "hotdesk-share-buffers"
WAYS = {"in front": f"{_SHARE},{_FREE}", "behind": f"{_FREE},{_SHARE}", "both": f"{_SHARE},{_FREE},{_SHARE}"}
ALL_FLAGS = tuple(product((False, True), repeat=FLAGS))


def after(text: str, steps: str) -> str:
    with make_context(), ir.Location.unknown():
        module = ir.Module.parse(text)
        parse_pipeline(f"builtin.module({steps})").run(module)
        return str(module)


def result(text: str, flags: Sequence[bool], times: int) -> np.ndarray:
    """What `@main` writes, if the checker finds no fault."""
    values = np.linspace(-1, 1, 8, dtype=np.float32)
    with make_context(), ir.Location.unknown():
        module = ir.Module.parse(text)
        inputs = [*map(np.bool_, flags), np.int64(times), values]
        report = check_module(module, "main", inputs, result_shapes={0: (8,)}, settings=Settings(deallocated=True))
        assert report.clean, f"{report}\n{text}"
        return np.asarray(report.results[0].values)


def compare(seed: int, ways: Sequence[str]) -> int:
    """How many allocations fewer there are in the program of a seed by all of these ways together."""
    return compare_text(program_of_blocks(seed), seed, ways)


def compare_text(text: str, seed: int, ways: Sequence[str]) -> int:
    """The same of a program; the seed chooses the conditions."""
    freed = after(text, _FREE)
    flags, times = ALL_FLAGS[seed % len(ALL_FLAGS)], seed % 3
    wanted, peak, saved = result(freed, flags, times), peak_of(freed), 0
    for way in ways:
        shared = after(text, WAYS[way])
        np.testing.assert_array_equal(result(shared, flags, times), wanted, shared)
        assert peak_of(shared) <= peak, shared
        saved += freed.count("memref.alloc(") - shared.count("memref.alloc(")
    return saved


def test_programs_of_blocks() -> None:
    ways = list(WAYS)
    assert sum(compare(seed, [ways[seed % len(ways)]]) for seed in range(15)) > 15


@pytest.mark.slow
@pytest.mark.parametrize("way", WAYS)
def test_many_programs_of_blocks(way: str) -> None:
    assert sum(compare(seed, [way]) for seed in range(1000, 1200)) > 200


def _always(dominance: Dominance, block: int, other: int) -> bool:
    return True


def _one_block(allocations: Allocations, block: int) -> LiveRange:
    """The live range of what is used in several blocks, as if it were one."""
    record = allocations.program.blocks[block]
    return LiveRange(block, record.first, record.end)


USED_BEHIND = """
func.func @main(%p: i1, %q: i1, %r: i1, %n: index, %x: memref<8xf32>, %out: memref<8xf32> {bufferize.result = 0}) {
  %a = memref.alloc() : memref<8xf32>
  memref.copy %x, %a : memref<8xf32> to memref<8xf32>
  memref.copy %x, %out : memref<8xf32> to memref<8xf32>
  cf.cond_br %p, ^then, ^join
^then:
  %b = memref.alloc() : memref<8xf32>
  linalg.map { math.exp } ins(%x : memref<8xf32>) outs(%b : memref<8xf32>)
  memref.copy %b, %out : memref<8xf32> to memref<8xf32>
  cf.br ^join
^join:
  linalg.map { arith.addf } ins(%out, %a : memref<8xf32>, memref<8xf32>) outs(%out : memref<8xf32>)
  return
}"""
TAKEN = len(ALL_FLAGS) - 1


def test_used_behind() -> None:
    assert compare_text(USED_BEHIND, TAKEN, list(WAYS)) == 0


def test_fault_in_live_ranges_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ranges, "_whole_region", _one_block)
    with pytest.raises(AssertionError):
        compare_text(USED_BEHIND, TAKEN, ["in front"])


def test_fault_in_freeing_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Memory is freed in a block that control need not come to."""
    monkeypatch.setattr(Dominance, "comes_once", _always)
    with pytest.raises((AssertionError, ir.MLIRError)):
        _ = [compare(seed, ["behind"]) for seed in range(8)]
