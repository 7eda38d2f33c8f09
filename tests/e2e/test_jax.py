"""Functions of JAX, lowered to StableHLO, beside JAX itself: a perceptron, a convolutional net, attention, loops and branches."""

# JAX is annotated in part only.
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false
# pyright: reportUnknownParameterType=false, reportUnknownLambdaType=false

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


def gradient_of_rows(table: Any, places: Any) -> Any:
    return jax.grad(lambda w: (jax.numpy.asarray(w)[places] ** 2).sum())(table)


def pooled(x: Any, by: str, window: int, stride: int, padding: str) -> Any:
    begin, combine = {"max": (-jax.numpy.inf, jax.lax.max), "min": (jax.numpy.inf, jax.lax.min)}[by]
    return jax.lax.reduce_window(x, begin, combine, (1, window, window, 1), (1, stride, stride, 1), padding)


def gradient_of_pooling(*how: Any) -> Callable[[Any], Any]:
    def weighed(x: Any) -> Any:
        found = pooled(x, *how)
        return (found * jax.numpy.arange(found.size, dtype=np.float32).reshape(found.shape)).sum()

    return jax.grad(weighed)


def net(parameters: Any, image: Any) -> Any:
    kernel, head = parameters
    x = jax.lax.conv_general_dilated(image, kernel, (1, 1), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC"))
    x = pooled(jax.nn.relu(x), "max", 3, 2, "SAME")
    return -jax.nn.log_softmax(x.mean((1, 2)) @ head)[:, 1].mean()


def loss(logits: Any, labels: Any) -> Any:
    chosen = jax.numpy.take_along_axis(jax.nn.log_softmax(logits), labels[:, None], 1)
    return -chosen.mean()


def applied(function: Callable[[Any], Any]) -> Callable[..., Any]:
    return lambda x, places: jax.numpy.asarray(x).at[places].apply(function)


def pairs(a: Any, b: Any) -> Any:
    return a[0] * b[0], b[0] * a[1] + b[1]


def written_at(how: str) -> Callable[..., Any]:
    return lambda x, places, rows: getattr(jax.numpy.asarray(x).at[places], how)(rows)


PLACES = np.array([0, 3, 0, 9, -1], np.int32)
"""With one twice, one that is outside, and one from the end."""
SPECIAL = np.array([3, np.nan, -1, np.inf, -0.0, 0.0, -np.inf, 2, -1], np.float32)
KEY = np.array([0, 7], np.uint32)
SORTS_AND_SCATTERS: dict[str, tuple[Callable[..., Any], tuple[Any, ...]]] = {
    "sort": (jax.numpy.sort, (floats(41),)),
    "sort of columns": (lambda x: jax.numpy.sort(x, axis=0), (floats(6, 5),)),
    "sort downwards": (lambda x: jax.numpy.sort(x, descending=True), (SPECIAL,)),
    "sort of infinities, zeros and what is no number": (jax.numpy.argsort, (SPECIAL,)),
    "sort of bytes": (jax.numpy.sort, (np.array([3, 250, 0, 127, 128], np.uint8),)),
    "sort of equal integers": (jax.numpy.argsort, (np.array([3, 1, 3, 1, 2, 2, 3], np.int32),)),
    "sort by two keys": (lambda a, b: jax.numpy.lexsort((b, a)), (np.array([1, 0, 1, 0, 1], np.int32), floats(5))),
    "top_k": (lambda x: jax.lax.top_k(x, 3), (floats(6, 5),)),
    "approx_max_k": (lambda x: jax.lax.approx_max_k(x, 3), (floats(6, 9),)),
    "approx_min_k of columns": (lambda x: jax.lax.approx_min_k(x, 2, reduction_dimension=0), (floats(6, 5),)),
    "approx_max_k of parts": (lambda x: jax.lax.approx_max_k(x, 3, aggregate_to_topk=False), (floats(2, 300),)),
    "gradient of approx_max_k": (jax.grad(lambda x: (jax.lax.approx_max_k(x, 3)[0] ** 2).sum()), (floats(6, 9),)),
    "median": (jax.numpy.median, (floats(17),)),
    "gradient of sort": (jax.grad(lambda x: (jax.numpy.sort(x) * jax.numpy.arange(9.0)).sum()), (floats(9),)),
    "distinct": (lambda x: jax.numpy.unique(x, size=4), (np.array([1, 1, 2, 5, 2], np.int32),)),
    **{
        how: (written_at(how), (floats(6, 5), PLACES, floats(5, 5, seed=1)))
        for how in ("set", "add", "multiply", "max", "min")
    },
    "function of rows": (applied(jax.numpy.sin), (floats(6, 5), PLACES)),
    "function of elements, one twice": (applied(lambda v: v * 2 + 1), (np.arange(6, dtype=np.int32), PLACES)),
    "choice by a function": (applied(lambda v: jax.numpy.where(v > 0, v, jax.numpy.exp(v))), (floats(6, 5), PLACES)),
    "function of bytes": (applied(lambda v: v // 2), (np.arange(6, dtype=np.uint8) + 200, PLACES)),
    "function of truths": (applied(jax.numpy.logical_not), (np.array([1, 0, 1, 0, 1, 1], bool), PLACES)),
    "function in each row": (jax.vmap(lambda row, i: row.at[i].apply(jax.numpy.cos)), (floats(5, 6), PLACES)),
    "columns": (lambda x, i, y: jax.numpy.asarray(x).at[:, i].add(y), (floats(4, 6), PLACES, floats(4, 5, seed=1))),
    "elements": (lambda x, i, y: jax.numpy.asarray(x).at[i, i - 1].add(y), (floats(6, 5), PLACES, floats(5, seed=1))),
    "a slice": (lambda x: jax.numpy.asarray(x).at[1:3, 2:].set(7.0), (floats(6, 5),)),
    "unsigned": (written_at("max"), (np.arange(6, dtype=np.uint8) + 125, PLACES, np.array([200] * 5, np.uint8))),
    "one in each row": (jax.vmap(lambda row, i: row.at[i].set(9.0)), (floats(5, 6), PLACES)),
    "segment_sum": (lambda x, i: jax.ops.segment_sum(x, i, num_segments=3), (floats(5, 2), PLACES)),
    "gradient of rows": (gradient_of_rows, (floats(10, 4), np.array([[1, 2], [9, 1]], np.int32))),
    "cross entropy": (jax.value_and_grad(loss), (floats(4, 5), np.array([1, 2, 0, 4], np.int32))),
    "associative_scan": (lambda a: jax.lax.associative_scan(jax.numpy.add, a), (floats(8, 3),)),
    "associative_scan of pairs": (lambda a, b: jax.lax.associative_scan(pairs, (a, b)), (floats(7), floats(7, seed=1))),
    "gradient of cumprod": (jax.grad(lambda x: (jax.numpy.cumprod(x, 1) ** 2).sum()), (floats(6, 5),)),
    "checkpoint": (jax.grad(jax.checkpoint(lambda x: jax.numpy.sin(jax.numpy.sin(x)).sum())), (floats(6),)),
    **{
        f"gradient of {by} of {window}, {stride} apart, {padding}": (
            gradient_of_pooling(by, window, stride, padding),
            (values,),
        )
        for by, window, stride, padding, values in (
            ("max", 2, 2, "VALID", np.maximum(floats(2, 6, 6, 3), 0)),
            ("max", 3, 2, "SAME", np.maximum(floats(2, 7, 7, 3), 0)),
            ("max", 3, 2, "SAME", np.where(floats(2, 8, 8, 3) > 0.7, np.nan, floats(2, 8, 8, 3, seed=1))),
            ("max", 3, 1, "SAME", np.where(floats(1, 5, 5, 2) > -1, -np.inf, floats(1, 5, 5, 2, seed=1))),
            ("min", 3, 2, "VALID", np.round(floats(2, 8, 7, 3))),
            ("min", 2, 3, "SAME", np.round(floats(2, 8, 7, 3))),
        )
    },
    "gradient of a net that pools": (
        jax.value_and_grad(net),
        ((floats(3, 3, 3, 8), floats(8, 5, seed=2)), floats(2, 9, 9, 3, seed=3)),
    ),
    "padded one after the other": (
        lambda a, b, w: (jax.numpy.pad(a, (0, 4)) @ w, jax.numpy.pad(b, (0, 19)) @ w),
        (floats(20), floats(5), floats(24, 7)),
    ),
    "no elements": (lambda x: (x * 2, x.sum(0)), (floats(0, 3),)),
    "erf_inv": (jax.scipy.special.erfinv, (np.linspace(-1, 1, 21, dtype=np.float32),)),
    "lgamma": (jax.scipy.special.gammaln, (np.linspace(-4.7, 9, 31, dtype=np.float32),)),
    "digamma": (jax.scipy.special.digamma, (np.linspace(0.3, 9, 31, dtype=np.float32),)),
    "random normal": (lambda key: jax.random.normal(jax.random.wrap_key_data(key), (5,)), (KEY,)),
    "random permutation": (lambda key: jax.random.permutation(jax.random.wrap_key_data(key), 9), (KEY,)),
}


@pytest.mark.parametrize("name", SORTS_AND_SCATTERS)
def test_sorts_and_scatters(name: str) -> None:
    function, arguments = SORTS_AND_SCATTERS[name]
    got: Any = hotdesk.compile(jax.jit(function).lower(*arguments))(*jax.tree.leaves(arguments))
    expected = jax.jit(function)(*arguments)
    for one, other in zip(jax.tree.leaves(got), jax.tree.leaves(expected), strict=True):
        assert np.asarray(one).dtype == np.asarray(other).dtype
        np.testing.assert_allclose(one, np.asarray(other), rtol=1e-5, atol=2e-6)


SQUARE = floats(2, 4, 4) @ np.swapaxes(floats(2, 4, 4), 1, 2) + np.eye(4, dtype=np.float32)
BOTH = np.stack([np.eye(2, dtype=np.float32), np.array([[1, 2], [2, 1]], np.float32)])
"""Two matrices, of which the second one has a negative eigenvalue."""


def composed(x: Any) -> Any:
    u, s, v = jax.numpy.linalg.svd(x, full_matrices=False)
    return (u * s[..., None, :]) @ v, s


def kalman(covariance: Any, seen: Any) -> Any:
    noise = jax.numpy.eye(seen.shape[0], dtype=np.float32)

    def step(p: Any, _: Any) -> Any:
        gain = jax.numpy.linalg.solve(seen @ p @ seen.T + noise, seen @ p).T
        return p - gain @ seen @ p + 0.1, gain

    return jax.lax.scan(step, covariance, length=3)


LIBRARIES: dict[str, tuple[Callable[..., Any], tuple[Any, ...]]] = {
    "inv": (jax.numpy.linalg.inv, (SQUARE,)),
    "cholesky": (jax.numpy.linalg.cholesky, (BOTH,)),
    "gradients of solve": (
        jax.grad(lambda a, b: (jax.numpy.linalg.solve(a, b) ** 2).sum(), (0, 1)),
        (SQUARE[0], floats(4, 2)),
    ),
    "qr of complex numbers": (lambda x: jax.numpy.linalg.qr(x)[1], ((floats(5, 3) + 1j * floats(5, 3, seed=1)),)),
    "svd": (composed, (floats(2, 3, 5),)),
    "eigh": (lambda x: jax.numpy.abs(jax.numpy.linalg.eigh(x)[1]), (SQUARE,)),
    "slogdet of no inverse": (jax.numpy.linalg.slogdet, (np.zeros((3, 3), np.float32),)),
    "eigvals": (lambda x: jax.numpy.sort(jax.numpy.abs(jax.numpy.linalg.eigvals(x))), (floats(4, 4),)),
    "gradient of rfft": (jax.grad(lambda x: (jax.numpy.abs(jax.numpy.fft.rfft(x)) ** 3).sum()), (floats(3, 7),)),
    "fft and back": (lambda x: jax.numpy.fft.irfft2(jax.numpy.fft.rfft2(x) * 2, s=(5, 6)), (floats(2, 5, 6),)),
    "in a loop": (kalman, (SQUARE[0], floats(2, 4))),
}


@pytest.mark.parametrize("name", LIBRARIES)
def test_calls_of_libraries(name: str) -> None:
    function, arguments = LIBRARIES[name]
    program = hotdesk.compile(jax.jit(function).lower(*arguments))
    assert program.foreign
    got: Any = program(*arguments)
    expected = jax.jit(function)(*arguments)
    for one, other in zip(jax.tree.leaves(got), jax.tree.leaves(expected), strict=True):
        assert np.asarray(one).dtype == np.asarray(other).dtype
        np.testing.assert_allclose(one, np.asarray(other), rtol=1e-4, atol=1e-4)


def test_a_scatter_writes_in_place() -> None:
    table = floats(512, 64)
    function = written_at("add")
    program = hotdesk.compile(jax.jit(function).lower(table, PLACES, floats(5, 64)))
    assert program.memory(table, PLACES, floats(5, 64)).arena < table.nbytes // 16


def test_a_gradient_of_pooling_pads_nothing() -> None:
    x, function = floats(4, 32, 32, 16), gradient_of_pooling("max", 3, 2, "SAME")
    program = hotdesk.compile(jax.jit(function).lower(x))
    assert program.memory(x).arena <= x.nbytes // 2


def test_a_function_of_rows_writes_in_place() -> None:
    table, function = floats(512, 64), applied(jax.numpy.sin)
    program = hotdesk.compile(jax.jit(function).lower(table, PLACES))
    assert program.memory(table, PLACES).arena < table.nbytes // 16


WITHOUT_SIGN: dict[str, Callable[[Any], Any]] = {
    "as floats": lambda x: x.astype(np.float32),
    "quotients": lambda x: x // 3,
    "remainders": lambda x: x % 7,
    "comparisons": lambda x: x > 8,
    "greatest": lambda x: x.max(),
    "place of the greatest": jax.numpy.argmax,
    "wider": lambda x: x.astype(np.uint32),
    "shifted": lambda x: x >> 1,
}


@pytest.mark.parametrize("dtype", [np.uint8, np.uint16, np.uint32])
@pytest.mark.parametrize("name", WITHOUT_SIGN)
def test_integers_without_a_sign(name: str, dtype: type[np.generic]) -> None:
    x, function = np.array([255, 5, 249, 44]).astype(np.int8).astype(dtype), WITHOUT_SIGN[name]
    got: Any = hotdesk.compile(jax.jit(function).lower(x))(x)
    expected = np.asarray(function(jax.numpy.asarray(x)))
    assert np.asarray(got).dtype == expected.dtype
    np.testing.assert_array_equal(got, expected)
    inside: Any = hotdesk.compile(
        jax.jit(lambda a: function(a.astype(dtype)).astype(np.float32)).lower(x.astype(np.int32))
    )
    np.testing.assert_array_equal(inside(x.astype(np.int32)), expected.astype(np.float32))


def test_an_op_without_a_lowering_is_named() -> None:
    with pytest.raises(UnsupportedOpError, match="HD102"):
        hotdesk.compile(jax.jit(jax.numpy.fft.rfft).lower(floats(8)), options=hotdesk.Options(foreign=False))
    with pytest.raises(UnsupportedOpError, match="custom_call of @lapack_sgehrd"):
        hotdesk.compile(jax.jit(jax.scipy.linalg.hessenberg).lower(floats(3, 3)))


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
