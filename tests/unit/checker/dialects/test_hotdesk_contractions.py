"""`hotdesk.contract` under the memory checker computes what its equation says."""

from __future__ import annotations

import numpy as np
import pytest
from torch_mlir import ir

from hotdesk.checker import check_module
from hotdesk.ir.context import make_context
from tests.reference import Array

SIZES = {"b": 2, "k": 3, "m": 4, "n": 5}


def _memref(letters: str) -> str:
    return f"memref<{''.join(f'{SIZES[letter]}x' for letter in letters)}f32>"


@pytest.mark.parametrize("accumulates", [False, True])
@pytest.mark.parametrize(
    "equation", ["mk,kn->mn", "bmk,bkn->bmn", "k,kn->mn", "k,nk->bmn", "m,m->n", "k,kn->nm", "mk,k->m"]
)
def test_equations(equation: str, accumulates: bool) -> None:
    """A letter may be the result's alone: of a product with rows that are all the same, one row is left."""
    a, b, result = equation.replace("->", ",").split(",")
    types = ", ".join(map(_memref, (a, b, result)))
    flag = str(accumulates).lower()
    text = f"""
func.func @main(%x: {_memref(a)}, %y: {_memref(b)}, %z: {_memref(result)}) -> {_memref(result)} {{
  "hotdesk.contract"(%x, %y, %z) {{equation = "{equation}", accumulate = {flag}}} : ({types}) -> ()
  %r = memref.alloc() : {_memref(result)}
  memref.copy %z, %r : {_memref(result)} to {_memref(result)}
  return %r : {_memref(result)}
}}"""
    generator = np.random.default_rng(1)
    x, y, z = (
        generator.integers(-4, 4, [SIZES[letter] for letter in letters]).astype(np.float32)
        for letters in (a, b, result)
    )
    with make_context(), ir.Location.unknown():
        report = check_module(ir.Module.parse(text), "main", [x, y, z])
    assert report.clean, str(report)
    summed = "".join(dict.fromkeys(a + b + result))
    everywhere = [
        np.broadcast_to(_along(array, letters, summed), [SIZES[c] for c in summed])
        for array, letters in ((x, a), (y, b))
    ]
    missing = tuple(i for i, letter in enumerate(summed) if letter not in result)
    product = (everywhere[0] * everywhere[1]).sum(axis=missing)
    kept = [letter for letter in summed if letter in result]
    wanted = product.transpose([kept.index(letter) for letter in result]) + (z if accumulates else 0)
    np.testing.assert_array_equal(report.results[0].values, wanted)


def _along(array: Array, letters: str, loops: str) -> Array:
    """An array with one dimension for each loop, of size 1 where it does not depend on that."""
    ordered = array.transpose([letters.index(letter) for letter in loops if letter in letters])
    return ordered.reshape([SIZES[letter] if letter in letters else 1 for letter in loops])
