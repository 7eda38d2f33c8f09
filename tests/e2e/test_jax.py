"""Functions of JAX, lowered to StableHLO, beside JAX itself: a perceptron, a convolutional net, a block of attention."""

# JAX is annotated in part only.
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false
# pyright: reportUnknownParameterType=false

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import numpy as np
import pytest

import hotdesk
from hotdesk.errors import UnsupportedOpError


def floats(*sizes: int, seed: int = 0) -> Any:
    return np.random.default_rng(seed).standard_normal(sizes).astype(np.float32)


def perceptron(x: Any, first: Any, second: Any) -> Any:
    return jax.nn.gelu(x @ first) @ second


def convolutions(x: Any, kernel: Any, head: Any) -> Any:
    x = jax.lax.conv_general_dilated(x, kernel, (1, 1), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC"))
    x = jax.nn.relu(x)
    x = jax.lax.reduce_window(x, -jax.numpy.inf, jax.lax.max, (1, 2, 2, 1), (1, 2, 2, 1), "VALID")
    return jax.nn.log_softmax(x.mean((1, 2)) @ head)


def block(x: Any, weights: Any, scale: Any) -> Any:
    normal = (x - x.mean(-1, keepdims=True)) / jax.numpy.sqrt(x.var(-1, keepdims=True) + 1e-5) * scale
    q, k, v = (part.reshape(*x.shape[:2], 4, -1) for part in jax.numpy.split(normal @ weights, 3, axis=-1))
    scores = jax.numpy.einsum("bqhd,bkhd->bhqk", q, k) / q.shape[-1] ** 0.5
    return x + jax.numpy.einsum("bhqk,bkhd->bqhd", jax.nn.softmax(scores), v).reshape(x.shape)


@pytest.mark.parametrize(
    ("function", "arguments"),
    [
        (perceptron, (floats(3, 8), floats(8, 32, seed=1), floats(32, 4, seed=2))),
        (convolutions, (floats(2, 8, 8, 3), floats(3, 3, 3, 8, seed=1), floats(8, 5, seed=2))),
        (block, (floats(2, 5, 16), floats(16, 48, seed=1), floats(16, seed=2))),
    ],
)
def test_as_jax(function: Callable[..., Any], arguments: tuple[Any, ...]) -> None:
    program = hotdesk.compile(jax.jit(function).lower(*arguments))
    got: Any = program(*arguments)
    np.testing.assert_allclose(got, np.asarray(function(*arguments)), rtol=1e-4, atol=1e-5)


def test_an_op_without_a_lowering_is_named() -> None:
    with pytest.raises(UnsupportedOpError, match="HD102"):
        hotdesk.compile(jax.jit(jax.numpy.fft.fft).lower(floats(8)))
