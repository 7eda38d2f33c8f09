"""Dialects by what their ops do: computing numbers, and writing tensors into destinations."""

from __future__ import annotations

SCALAR_DIALECTS = frozenset(("arith", "complex", "index", "math"))
"""Numbers of numbers, element by element where these are tensors; no memory is touched."""

DESTINATION_DIALECTS = frozenset(("hotdesk", "linalg", "tensor", "tm_tensor"))
"""Tensors of tensors, some in destination-passing style; nothing else is done."""
