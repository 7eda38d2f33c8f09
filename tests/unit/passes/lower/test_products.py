"""Products shared out among threads: the same numbers as on one, whatever the sizes, and threads only where they pay."""

from __future__ import annotations

import re
from ctypes import addressof, c_double, c_float, c_int32, c_int64, c_void_p
from itertools import product
from typing import Any

import numpy as np
import pytest

from hotdesk.passes.lower.library import declared_names, define
from hotdesk.passes.lower.products import MOST_THREADS, products_text
from hotdesk.passes.lower.sharing import SHARING
from hotdesk.runtime.jit import Machine
from hotdesk.runtime.threads import ThreadPool
from tests.unit.parsing import parse

ROW_MAJOR, PLAIN, TRANSPOSED = 101, 111, 112
KINDS: dict[str, Any] = {"s": (c_float, np.float32), "d": (c_double, np.float64)}
THREADS = (1, 2, 5, MOST_THREADS + 3)
SHAPES = [(300, 257, 200), (257, 300, 200), (1, 40000, 300), (40000, 1, 300), (17, 1700, 300), (2, 3, 4)]


class Shared:
    """The products, compiled, as functions of arrays."""

    def __init__(self) -> None:
        names = [f"hotdesk_{letter}{name}" for letter in KINDS for name in ("gemm", "gemv")]
        self._machine = Machine(parse(SHARING + products_text(names)), names)
        self._pools = {threads: ThreadPool(threads) for threads in THREADS}

    def use(self, threads: int) -> None:
        self._pools[threads].serve(self._machine)

    def gemm(self, letter: str, flags: tuple[int, int], a: Any, b: Any, c: Any, beta: float) -> None:
        (m, n), k = c.shape, a.shape[0] if flags[0] == TRANSPOSED else a.shape[1]
        self._call(letter, "gemm", [ROW_MAJOR, *flags, m, n, k, 1.0, a, b, beta, c])

    def gemv(self, letter: str, flag: int, a: Any, x: Any, y: Any, beta: float) -> None:
        self._call(letter, "gemv", [ROW_MAJOR, flag, *a.shape, 1.0, a, x, beta, y])

    def _call(self, letter: str, name: str, arguments: list[Any]) -> None:
        """An array is passed as its address and its first stride, in elements."""
        packed: list[Any] = []
        for argument in arguments:
            if isinstance(argument, np.ndarray):
                packed += [c_int64(argument.ctypes.data), c_int32(argument.strides[0] // argument.itemsize)]
            else:
                packed.append(KINDS[letter][0](argument) if isinstance(argument, float) else c_int32(argument))
        addresses = (c_void_p * len(packed))(*map(addressof, packed))
        self._machine.entry(f"hotdesk_{letter}{name}")(addressof(addresses))


@pytest.fixture(scope="module")
def shared() -> Shared:
    return Shared()


def _drawn(shape: tuple[int, ...], dtype: Any, seed: int) -> Any:
    """Small integers inside a wider array: products are exact and rows do not touch."""
    wide = [*shape[:-1], shape[-1] + 3] if len(shape) > 1 else [shape[0] * 2]
    array = np.random.default_rng(seed).integers(-3, 4, wide).astype(dtype)
    return array[..., : shape[-1]] if len(shape) > 1 else array[::2]


@pytest.mark.parametrize("threads", THREADS)
@pytest.mark.parametrize("letter", KINDS)
def test_gemm(shared: Shared, letter: str, threads: int) -> None:
    shared.use(threads)
    dtype = KINDS[letter][1]
    for (m, n, k), flags, beta in product(SHAPES, product((PLAIN, TRANSPOSED), repeat=2), (0.0, 1.0)):
        a = _drawn((k, m) if flags[0] == TRANSPOSED else (m, k), dtype, 1)
        b = _drawn((n, k) if flags[1] == TRANSPOSED else (k, n), dtype, 2)
        c = _drawn((m, n), dtype, 3)
        around = c.base.copy()
        left, right = (x.T if flag == TRANSPOSED else x for x, flag in zip((a, b), flags, strict=True))
        want = left @ right + (beta * c if beta else 0)
        shared.gemm(letter, flags, a, b, c, beta)
        np.testing.assert_array_equal(c, want)
        np.testing.assert_array_equal(c.base[:, n:], around[:, n:])


@pytest.mark.parametrize("threads", THREADS[:3])
@pytest.mark.parametrize("letter", KINDS)
def test_gemv(shared: Shared, letter: str, threads: int) -> None:
    shared.use(threads)
    dtype = KINDS[letter][1]
    for (m, n), flag, beta in product([(3000, 3001), (40001, 222), (222, 40001), (2, 3)], (PLAIN, TRANSPOSED), (0, 1)):
        a = _drawn((m, n), dtype, 1)
        x, y = _drawn((m if flag == TRANSPOSED else n,), dtype, 2), _drawn((n if flag == TRANSPOSED else m,), dtype, 3)
        around = y.base[1::2].copy()
        want = (a.T if flag == TRANSPOSED else a) @ x + beta * y
        shared.gemv(letter, flag, a, x, y, float(beta))
        np.testing.assert_array_equal(y, want)
        np.testing.assert_array_equal(y.base[1::2], around)


def test_nothing_is_defined_that_nobody_calls() -> None:
    defined = re.findall(r"llvm\.func @(\w+)", products_text(["malloc", "hotdesk_sgemm"]))
    assert defined == ["scipy_cblas_sgemm", "hotdesk_sgemm"]


def test_a_definition_takes_the_place_of_a_declaration() -> None:
    module = parse("llvm.func @k(!llvm.ptr)\nllvm.func @l(%p: !llvm.ptr) {\n llvm.return\n}")
    define(module, "llvm.func @k(%p: !llvm.ptr) {\n llvm.return\n}\nllvm.func @l(!llvm.ptr)")
    assert declared_names(module) == ()
    assert len(list(module.body.operations)) == 2
