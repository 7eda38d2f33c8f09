"""The `tensor` dialect: slices, reshapes and casts are views, insertions write a part of their destination."""

from __future__ import annotations

from hotdesk.models import (
    tensor_computed,
    tensor_elements,
    tensor_indexed,
    tensor_parts,
    tensor_reshapes,
    tensor_slices,
)

MODELS = {
    **tensor_slices.MODELS,
    **tensor_reshapes.MODELS,
    **tensor_elements.MODELS,
    **tensor_parts.MODELS,
    **tensor_computed.MODELS,
    **tensor_indexed.MODELS,
}
