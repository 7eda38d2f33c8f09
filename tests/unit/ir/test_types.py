"""Bytes of an element."""

from __future__ import annotations

import pytest

from hotdesk.errors import BufferizationError
from hotdesk.ir.types import element_bytes


@pytest.mark.parametrize(
    ("element", "size"),
    [
        *(
            ("f64", 8),
            ("f32", 4),
            ("f16", 2),
            ("bf16", 2),
            ("tf32", 4),
            ("f8E4M3FN", 1),
            ("f8E5M2", 1),
            ("f4E2M1FN", 1),
        ),
        *(("i1", 1), ("i4", 1), ("i8", 1), ("ui8", 1), ("si32", 4), ("i48", 6), ("i64", 8), ("index", 8)),
        *(("complex<f32>", 8), ("complex<f64>", 16)),
    ],
)
def test_bytes(element: str, size: int) -> None:
    assert element_bytes(element) == size


@pytest.mark.parametrize("element", ["vector<4xf32>", "!torch.int", "none", "tensor<2xf32>"])
def test_what_is_no_number(element: str) -> None:
    with pytest.raises(BufferizationError, match="element type: expected an integer"):
        element_bytes(element)
