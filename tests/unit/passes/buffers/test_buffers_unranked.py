"""Memrefs without a rank: no pass counts on their sizes, and what they may be is kept."""

from __future__ import annotations

import pytest

from hotdesk.errors import BufferizationError
from hotdesk.passes.textual import parse_pipeline
from tests.unit.parsing import parse
from tests.unit.passes.buffers.checking import FREE, freed_alike, through

_TEXT = """
func.func @main(%u: memref<*xf32>, %o: memref<?xf32>, %b: i1) {
  %c0 = arith.constant 0 : index
  %m = memref.cast %u : memref<*xf32> to memref<?xf32>
  %d = memref.dim %m, %c0 : memref<?xf32>
  %a = memref.alloc(%d) : memref<?xf32>
  memref.copy %m, %a : memref<?xf32> to memref<?xf32>
  %v = memref.cast %a : memref<?xf32> to memref<*xf32>
  %w = scf.if %b -> memref<*xf32> { scf.yield %v : memref<*xf32> } else { scf.yield %u : memref<*xf32> }
  %x = memref.cast %w : memref<*xf32> to memref<?xf32>
  %e = memref.alloc(%d) : memref<?xf32>
  memref.copy %x, %e : memref<?xf32> to memref<?xf32>
  memref.copy %e, %o : memref<?xf32> to memref<?xf32>
  return
}
"""
_PASSES = (
    "buffer-hoisting", "buffer-loop-hoisting", "promote-buffers-to-stack", "copy-removal", "share-buffers",
    "merge-allocations", "fuse-buffers", "buffer-deallocation", "reorder-for-peak", "split-rows", "one-shot-bufferize",
)  # fmt: skip


@pytest.mark.parametrize("name", _PASSES)
def test_a_pass_takes_them(name: str) -> None:
    module = parse(_TEXT)
    parse_pipeline(f"builtin.module(hotdesk-{name})").run(module)
    text = str(module)
    assert text.count("memref.copy") == 3
    assert text.count("memref<*xf32>") == _TEXT.count("memref<*xf32>")


def test_what_one_may_be_is_freed_behind_its_last_use() -> None:
    module = parse(_TEXT)
    parse_pipeline("builtin.module(hotdesk-copy-removal,hotdesk-share-buffers,hotdesk-buffer-deallocation)").run(module)
    lines = [line.strip() for line in str(module).splitlines()]
    read = next(i for i, line in enumerate(lines) if line.startswith("memref.copy %cast_1"))
    freed = [i for i, line in enumerate(lines) if line.startswith("memref.dealloc")]
    assert len(freed) == 2
    assert min(freed) > read


@pytest.mark.parametrize("name", ["choose-destinations", "use-inplace-calls", "annotate-in-place"])
def test_tensors_without_a_rank_are_refused(name: str) -> None:
    cast = "%u = tensor.cast %x : tensor<4xf32> to tensor<*xf32>\n%y = tensor.cast %u : tensor<*xf32> to tensor<?xf32>"
    module = parse(f"func.func @main(%x: tensor<4xf32>) -> tensor<?xf32> {{\n{cast}\nreturn %y : tensor<?xf32>\n}}")
    with pytest.raises(
        BufferizationError, match=r"a tensor without a rank: expected ranked tensors, got tensor<\*xf32>"
    ):
        parse_pipeline(f"builtin.module(hotdesk-{name})").run(module)


@pytest.mark.parametrize("name", ["reorder-for-peak", "split-rows"])
def test_sizes_of_tensors_without_a_rank_are_not_known(name: str) -> None:
    cast = "%u = tensor.cast %x : tensor<4xf32> to tensor<*xf32>\n%y = tensor.cast %u : tensor<*xf32> to tensor<?xf32>"
    module = parse(f"func.func @main(%x: tensor<4xf32>) -> tensor<?xf32> {{\n{cast}\nreturn %y : tensor<?xf32>\n}}")
    before = str(module)
    parse_pipeline(f"builtin.module(hotdesk-{name})").run(module)
    assert str(module) == before


M = "memref<4xf32>"


def test_what_a_function_passes_on_is_copied_by_its_caller_under_a_flag_or_refused() -> None:
    text = f"""func.func private @same(%u: memref<*xf32>) -> memref<*xf32> {{
  return %u : memref<*xf32>
}}
func.func @main(%x: {M}) -> f32 {{
  %c0 = arith.constant 0 : index
  %a = memref.alloc() : {M}
  memref.copy %x, %a : {M} to {M}
  %u = memref.cast %a : {M} to memref<*xf32>
  %v = call @same(%u) : (memref<*xf32>) -> memref<*xf32>
  %w = memref.cast %v : memref<*xf32> to {M}
  %f = memref.load %w[%c0] : {M}
  return %f : f32
}}"""
    assert "memref.copy %arg0, %alloc" in freed_alike(text, f"{FREE}{{private-function-dynamic-ownership=true}}")
    with pytest.raises(
        BufferizationError, match="`func.return` passes on: expected memory that this function owns, or"
    ):
        through(text, FREE)
