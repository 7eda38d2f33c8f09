"""Convolutions and poolings by their defining sums, for `linalg` and for `hotdesk`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from tests.reference.values import Array, points


def convolution(
    x: Array, w: Array, init: Array, strides: Sequence[int], dilations: Sequence[int], groups: int
) -> Array:
    """`init` plus a convolution of an input that is padded already: `[N, G·C, …] * [G·F, C, …]`."""
    result = init.copy()
    channels, filters = w.shape[1], w.shape[0] // groups if groups else 0
    for n, f, *out in points(result.shape):
        for c, *tap in points(w.shape[1:]):
            place = [o * s + t * d for o, s, t, d in zip(out, strides, tap, dilations, strict=True)]
            channel = f // filters * channels + c
            result[(n, f, *out)] += x[(n, channel, *place)] * w[(f, c, *tap)].astype(result.dtype)
    return result


def least(dtype: np.dtype[Any]) -> Any:
    return -np.inf if dtype.kind == "f" else np.iinfo(dtype).min


def pooling(
    x: Array, init: Array, window: Sequence[int], strides: Sequence[int], dilations: Sequence[int], kind: str
) -> Array:
    """`init` and, for each place of a window, the sum or the greatest of what it covers."""
    result = init.copy()
    leading = x.ndim - len(window)
    for point in points(result.shape):
        for tap in points(window):
            place = [o * s + t * d for o, s, t, d in zip(point[leading:], strides, tap, dilations, strict=True)]
            value = x[(*point[:leading], *place)]
            here = result[point]
            result[point] = here + value if kind == "sum" else np.maximum(here, value)
    return result
