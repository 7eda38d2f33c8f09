"""Micro-kernels: what tiles ask for ahead, and how those on an edge are stored, by the machine."""

from __future__ import annotations

import re
from dataclasses import replace

from hotdesk.kernels.machine import AVX2, AVX512
from hotdesk.kernels.micro import scatter_function
from hotdesk.kernels.product import product_functions


def test_what_is_far_is_asked_for_only_where_it_stays_far() -> None:
    """But for rows that are copied: each vector of two, and the last element, in tiles of one to six rows."""
    asked = "llvm.intr.prefetch"
    assert product_functions(AVX2, "f32").count(asked) > 3 * 6
    assert product_functions(replace(AVX2, far_prefetch=False), "f32").count(asked) == 3 * 6


def test_tiles_store_no_lanes_one_by_one_where_masks_are_slow() -> None:
    """Of a tile on an edge, or of one that is transposed: some stores of a whole vector, its half, a quarter and an eighth."""
    text = scatter_function(AVX2, "f32")
    assert "vector.maskedstore" in scatter_function(AVX512, "f32")
    assert "vector.maskedstore" not in text
    for lanes in (8, 4, 2, 1):
        assert re.search(rf"vector.store .* : memref<\?xf32>, vector<{lanes}xf32>", text)
