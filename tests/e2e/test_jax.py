"""Functions of JAX, lowered to StableHLO, beside JAX itself: a perceptron, a convolutional net, attention, loops and branches."""

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


def exact_gelu(x: Any) -> Any:
    return jax.nn.gelu(x, approximate=False)


FUNCTIONS: dict[str, Callable[[Any], Any]] = {
    "gelu": exact_gelu,
    "gelu's gradient": jax.grad(lambda x: exact_gelu(x).sum()),
    "erf": jax.scipy.special.erf,
    "erf of halves": lambda x: jax.scipy.special.erf(x.astype(np.float16)).astype(np.float32),
    "erf of a number": lambda x: jax.scipy.special.erf(x[3]) * x,
    "erfc": jax.scipy.special.erfc,
    "arccos": lambda x: jax.numpy.arccos(x / 7),
    "arccosh": lambda x: jax.numpy.arccosh(x + 8),
    "arcsin": lambda x: jax.numpy.arcsin(x / 7),
    "arcsinh": jax.numpy.arcsinh,
    "arctan": jax.numpy.arctan,
    "arctanh": lambda x: jax.numpy.arctanh(x / 7),
    "cosh": jax.numpy.cosh,
    "sinh": jax.numpy.sinh,
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_functions_of_chlo(name: str) -> None:
    function, x = FUNCTIONS[name], np.linspace(-6, 6, 49, dtype=np.float32)
    got: Any = hotdesk.compile(jax.jit(function).lower(x))(x)
    np.testing.assert_allclose(got, np.asarray(function(x)), rtol=2e-6, atol=1e-7)


def test_an_op_without_a_lowering_is_named() -> None:
    with pytest.raises(UnsupportedOpError, match="HD102"):
        hotdesk.compile(jax.jit(jax.numpy.fft.fft).lower(floats(8)))


def number(value: float, kind: type[np.generic] = np.int32) -> Any:
    return np.asarray(value, kind)


def steps(x: Any, count: Any) -> Any:
    """A loop that runs as often as it is told, with a branch in it and a loop in that."""

    def shrunk(a: Any, times: Any) -> Any:
        return jax.lax.fori_loop(0, times, lambda _, b: b * 0.9, a)

    return jax.lax.fori_loop(
        0, count, lambda i, a: jax.lax.cond(i % 2 == 0, jax.numpy.sin, lambda b: shrunk(b, i), a), x
    )


def scanned(x: Any) -> Any:
    def step(carried: Any, row: Any) -> Any:
        carried = carried * 0.5 + row
        return carried, (carried, jax.numpy.exp(row))

    return jax.lax.scan(step, jax.numpy.zeros(4, np.float32), x)


def grown(x: Any) -> Any:
    return jax.lax.while_loop(lambda s: s[1].sum() < 100.0, lambda s: (s[0] + 1, s[1] * 2), (0, jax.numpy.abs(x)))


def chosen(x: Any, which: Any) -> Any:
    return jax.lax.switch(which, [jax.numpy.sin, jax.numpy.cos, lambda v: v * 2], x)


def branched(x: Any, which: Any) -> Any:
    return jax.lax.cond(which > 0, lambda a: (jax.numpy.exp(a), a[0]), lambda a: (jax.numpy.tanh(a), a[1]), x)


def written(x: Any, count: Any) -> Any:
    return jax.lax.fori_loop(0, count, lambda i, c: jax.lax.dynamic_update_slice(c, c[:1] * 0.5, (i, 0)), x)


@pytest.mark.parametrize(
    ("function", "given"),
    [
        (steps, (0, 1, 6)),
        (scanned, ()),
        (grown, ()),
        (jax.grad(lambda x: scanned(jax.numpy.tanh(x))[1][1].sum()), ()),
        (chosen, (-1, 0, 1, 2, 7)),
        (branched, (-1, 1)),
        (written, (0, 5)),
    ],
)
def test_loops_and_branches(function: Callable[..., Any], given: tuple[int, ...]) -> None:
    x = floats(5, 4)
    calls: list[Any] = [(x, number(each)) for each in given] or [(x,)]
    program = hotdesk.compile(jax.jit(function).lower(*calls[0]))
    for call in calls:
        got: Any = program(*call)
        for one, other in zip(jax.tree.leaves(got), jax.tree.leaves(function(*call)), strict=True):
            np.testing.assert_allclose(one, np.asarray(other), rtol=1e-4, atol=1e-5)
        memory = program.memory(*call)
        assert memory.arena == memory.lower_bound
        assert not program.check(*call).faults


def test_a_loop_carries_in_place() -> None:
    x = floats(256, 64)
    program = hotdesk.compile(jax.jit(written).lower(x, number(1)))
    assert program.memory(x, number(200)).arena < x.nbytes // 16
