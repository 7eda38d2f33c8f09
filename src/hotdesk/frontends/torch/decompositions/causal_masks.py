"""Masks of `nn.TransformerEncoder` and `nn.TransformerDecoder`, which look for the causal one by its values to leave it out.

No trace knows these values. A mask that the caller says nothing of is taken as it is, which gives the same numbers.
"""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from typing import Any
from unittest import mock

from torch import Tensor
from torch._subclasses import FakeTensor
from torch.nn.modules import transformer

_LOOKS = "_detect_is_causal_mask"
_looks: Any = getattr(transformer, _LOOKS)


def is_causal_mask(mask: Tensor | None, is_causal: bool | None = None, size: int | None = None) -> bool:
    """Whether a mask is the causal one of `size` positions: what the caller says, and False of unknown values."""
    is_unknown = is_causal is None and isinstance(mask, FakeTensor)
    return False if is_unknown else _looks(mask, is_causal, size)


@contextmanager
def masks_taken_as_they_are() -> Generator[None]:
    """Has these layers ask `is_causal_mask`."""
    with mock.patch.object(transformer, _LOOKS, is_causal_mask):
        yield
