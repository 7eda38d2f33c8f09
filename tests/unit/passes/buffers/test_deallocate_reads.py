"""Ops that show memory and read other memory besides: the sizes that `memref.reshape` is given are in use until then."""

from __future__ import annotations

import pytest

from tests.unit.passes.buffers.checking import FREE, freed_alike

_SIZES = """%c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %sizes = memref.alloc() : memref<2xindex>
  memref.store %c2, %sizes[%c0] : memref<2xindex>
  memref.store %c2, %sizes[%c1] : memref<2xindex>"""
_MODES = (FREE, f"{FREE}{{mode=copies}}", f"{FREE}{{placement=end-of-block}}")


@pytest.mark.parametrize("one", _MODES)
def test_sizes_are_read_by_what_shows_memory_in_them(one: str) -> None:
    text = f"""func.func @main(%x: memref<4xf32>) -> f32 {{
  {_SIZES}
  %seen = memref.reshape %x(%sizes) : (memref<4xf32>, memref<2xindex>) -> memref<2x2xf32>
  %f = memref.load %seen[%c0, %c1] : memref<2x2xf32>
  return %f : f32
}}"""
    lines = freed_alike(text, one).splitlines()
    reshape, free = (next(i for i, line in enumerate(lines) if name in line) for name in ("reshape", "dealloc"))
    assert free > reshape
    assert free == reshape + 1 or "end-of-block" in one


@pytest.mark.parametrize("one", _MODES)
def test_a_view_of_the_sizes_themselves(one: str) -> None:
    text = f"""func.func @main() -> index {{
  {_SIZES}
  %some = memref.subview %sizes[0] [1] [1] : memref<2xindex> to memref<1xindex, strided<[1]>>
  %plain = memref.cast %some : memref<1xindex, strided<[1]>> to memref<1xindex>
  %seen = memref.reshape %sizes(%plain) : (memref<2xindex>, memref<1xindex>) -> memref<?xindex>
  %f = memref.load %seen[%c1] : memref<?xindex>
  return %f : index
}}"""
    assert freed_alike(text, one).count("dealloc") == 1


@pytest.mark.parametrize("one", _MODES)
def test_what_shows_unused_memory_goes_and_the_sizes_are_freed(one: str) -> None:
    text = f"""func.func @main() -> index {{
  {_SIZES}
  %unused = memref.alloc() : memref<4xf32>
  %seen = memref.reshape %unused(%sizes) : (memref<4xf32>, memref<2xindex>) -> memref<2x2xf32>
  memref.dealloc %seen : memref<2x2xf32>
  return %c1 : index
}}"""
    changed = freed_alike(text, one)
    assert "reshape" not in changed
    assert changed.count("memref.alloc()") == changed.count("memref.dealloc") == 1
