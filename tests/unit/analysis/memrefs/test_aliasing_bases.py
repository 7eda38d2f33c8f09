"""Whether two buffers may be the same memory: allocations, the stack, globals, arguments."""

from __future__ import annotations

import pytest

from hotdesk.analysis.memrefs.aliasing import Alias
from tests.unit.analysis.aliases import MAY, MUST, NO, relation, uses


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("%a = memref.alloc() : memref<4xf32>\n%b = memref.alloc() : memref<4xf32>", NO),
        ("%a = memref.alloca() : memref<4xf32>\n%b = memref.cast %x : memref<4xf32> to memref<4xf32>", NO),
        ("%a = memref.get_global @c : memref<4xf32>\n%b = memref.get_global @d : memref<4xf32>", NO),
        ("%a = memref.get_global @c : memref<4xf32>\n%b = memref.get_global @c : memref<4xf32>", MUST),
        ("%a = memref.get_global @c : memref<4xf32>\n%b = memref.cast %x : memref<4xf32> to memref<4xf32>", MAY),
        ("%a = memref.alloc() : memref<4xf32>\n%b = arith.select %p, %a, %x : memref<4xf32>", MAY),
        (
            "%a = memref.cast %x : memref<4xf32> to memref<4xf32>\n%b = memref.cast %y : memref<4xf32> to memref<4xf32>",
            MAY,
        ),
        (
            "%a = memref.cast %x : memref<4xf32> to memref<4xf32>\n%b = memref.cast %z : memref<4xf32> to memref<4xf32>",
            NO,
        ),
        ("%a = memref.get_global @c : memref<4xf32>\n%b = memref.cast %z : memref<4xf32> to memref<4xf32>", NO),
    ],
)
def test_bases(body: str, expected: Alias) -> None:
    globals_ = "".join(f'memref.global "private" @{n} : memref<4xf32> = dense<0.0>\n' for n in "cd")
    arguments = "%x: memref<4xf32>, %y: memref<4xf32>, %z: memref<4xf32> {llvm.noalias}, %p: i1"
    assert relation(f"{body}\n{uses('memref<4xf32>', 'memref<4xf32>')}", arguments, globals_) is expected


def test_arguments_that_never_overlap() -> None:
    casts = "\n".join(f"%{a} = memref.cast %{x} : memref<f32> to memref<f32>" for a, x in ("ax", "by"))
    body = f"{casts}\n{uses('memref<f32>', 'memref<f32>')}"
    arguments = "%x: memref<f32>, %y: memref<f32>"
    assert relation(body, arguments) is MAY
    assert relation(body, arguments, overlap=False) is NO
