"""Products of matrices against NumPy: machines, sizes, strides, batches, threads, and what lies around the operands."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hotdesk.kernels.blocks import block_elements, deepest, whole_elements
from hotdesk.kernels.jobs import MOST_THREADS
from hotdesk.kernels.machine import AVX2, AVX512, GENERIC, NEON, Machine, host, of_features
from hotdesk.kernels.micro import Tile
from hotdesk.kernels.shared import shared_name
from hotdesk.kernels.sharing import ASLEEP_AT
from hotdesk.runtime.code.products import CommonCode, common_code
from hotdesk.runtime.code.threads import ThreadPool
from tests.unit.kernels.protected import Protected

Array = Any
TYPES: dict[str, Any] = {"f32": np.float32, "f64": np.float64}
SMALL = replace(host(), l1_bytes=4096, l2_bytes=32768)
"""Caches so small that a few hundred rows and steps of k are several blocks of several depths."""
MACHINES = {
    "host": host(),
    "small caches": SMALL,
    "AVX-512": AVX512,
    "NEON": NEON,
    "generic": GENERIC,
}
LAYOUTS = ("rows", "columns", "apart", "gap")


@cache
def compiled(machine: Machine, element: str) -> CommonCode:
    products = common_code(shared_name(element), machine)
    pool().serve(products.machine, 1)
    return products


@cache
def without_a_pool(machine: Machine, element: str) -> CommonCode:
    """The same without the pool, and so without scratch memory."""
    return common_code(shared_name(element), machine)


@cache
def pool() -> ThreadPool:
    return ThreadPool()


def call(products: CommonCode, a: Array, b: Array, c: Array, *, add: bool) -> None:
    """c (+)= a b for arrays of rank 3, whose first dimension is the batch; a batch of one stands for any."""
    numbers = [c.shape[0], c.shape[1], c.shape[2], a.shape[2]]
    for array in (a, b, c):
        numbers += [array.ctypes.data, *(stride // array.itemsize for stride in array.strides)]
    function = ctypes.CFUNCTYPE(None, *[ctypes.c_int64] * 17)(products.address)
    function(*numbers, int(add))


def laid_out(shape: tuple[int, int, int], layout: str, dtype: Any, values: np.random.Generator) -> Array:
    """Small whole numbers, whose products are exact, in memory that is larger unless the layout is one without gaps."""
    n, rows, columns = shape
    wide = {
        "rows": (n, rows, columns),
        "columns": (n, columns, rows),
        "apart": (n, 2 * rows + 1, 3 * columns + 1),
        "gap": (n, rows, columns + 5),
    }[layout]
    array: Array = values.integers(-3, 4, wide).astype(dtype)
    if layout == "columns":
        return array.transpose(0, 2, 1)
    if layout == "apart":
        return array[:, : 2 * rows : 2, : 3 * columns : 3]
    return array[:, :, :columns]


def whole(array: Array) -> Array:
    """The memory that an array is a view of."""
    while array.base is not None:
        array = array.base
    return array


def check(
    products: CommonCode, sizes: Sequence[int], layouts: Sequence[str], dtype: Any, *, batch: int = 1, add: bool = False
) -> None:
    m, n, k = sizes
    values = np.random.default_rng(1)
    a = laid_out((batch, m, k), layouts[0], dtype, values)
    b = laid_out((batch, k, n), layouts[1], dtype, values)
    c = laid_out((batch, m, n), layouts[2], dtype, values)
    want = (a @ b + c).astype(dtype) if add else a @ b
    expected = whole(c).copy()
    inside = np.lib.stride_tricks.as_strided(expected.view(), c.shape, c.strides)
    inside[...] = want
    if not add:
        c[...] = np.nan
    call(products, a, b, c, add=add)
    np.testing.assert_array_equal(whole(c), expected)


SIZES = [
    *((1, 1, 1), (6, 16, 8), (7, 17, 9), (13, 33, 30), (40, 5, 70), (5, 40, 70), (3, 30, 70), (30, 3, 70), (1, 50, 70)),
    *((50, 1, 70), (2, 2, 5), (100, 100, 150), (25, 40, 21), (10, 97, 19), (0, 3, 4), (3, 0, 4), (3, 4, 0), (0, 0, 0)),
]


@pytest.mark.parametrize(
    ("machine", "element"), [(machine, "f32") for machine in MACHINES] + [("host", "f64"), ("AVX-512", "f64")]
)
def test_every_layout(machine: str, element: str) -> None:
    """All of them on this machine; on others, each layout of each operand."""
    products = compiled(MACHINES[machine], element)
    turned = [LAYOUTS[i:] + LAYOUTS[:i] for i in (0, 1, 3)]
    layouts = product(LAYOUTS, repeat=3) if machine == "host" and element == "f32" else zip(*turned, strict=True)
    for sizes, each, add in product(SIZES, list(layouts), (False, True)):
        check(products, sizes, each, TYPES[element], add=add)


@pytest.mark.parametrize("machine", ["host", "small caches", "AVX-512", "NEON", "generic"])
def test_columns_left_over_of_a_panel(machine: str) -> None:
    """One to four of them, behind whole panels and half ones, in several blocks; as rows, too."""
    products = compiled(MACHINES[machine], "f32")
    for columns, k, add in product((17, 33, 49, 50, 52, 69, 97), (96, 300), (False, True)):
        for layout in ("rows", "columns"):
            check(products, (61, columns, k), ("rows", layout, "rows"), np.float32, add=add)
            check(products, (columns, 61, k), (layout, "columns", "columns"), np.float32, add=add)
    check(without_a_pool(MACHINES[machine], "f32"), (61, 49, 300), ("rows", "rows", "rows"), np.float32)


@pytest.mark.parametrize("machine", MACHINES)
def test_panels_that_are_not_packed(machine: str) -> None:
    """Whole ones of rows that lie together, and what is left beside them, for few rows of a and some more of few steps."""
    products = compiled(MACHINES[machine], "f32")
    for (m, k), columns, add in product(((24, 150), (72, 64)), (48, 96, 100, 112), (False, True)):
        for layout in ("rows", "gap"):
            check(products, (m, columns, k), ("rows", layout, "rows"), np.float32, add=add)
            check(products, (columns, m, k), ("columns", "columns", "columns"), np.float32, add=add)


COPIED = [(40, 200, 256), (37, 96, 270), (41, 145, 257), (60, 97, 300), (70, 208, 263), (130, 112, 800)]
"""Sizes with rows of b that tiles copy for the next panel while they sum one: edges of all three, several blocks, few columns."""


@pytest.mark.parametrize("machine", MACHINES)
def test_panels_that_are_copied_meanwhile(machine: str) -> None:
    products = compiled(MACHINES[machine], "f32")
    for sizes, layout, add in product(COPIED, ("rows", "gap"), (False, True)):
        m, n, k = sizes
        check(products, sizes, (layout, layout, "rows"), np.float32, add=add)
        check(products, sizes, ("rows", layout, "columns"), np.float32, add=add)
        check(products, (n, m, k), ("columns", "columns", "columns"), np.float32, add=add)
        check(without_a_pool(MACHINES[machine], "f32"), sizes, ("rows", layout, "rows"), np.float32, add=add)


def test_two_panels_are_held_while_one_is_copied() -> None:
    """Not the four that a weight by rows of 150 columns has."""
    products, own = common_code(shared_name("f32"), AVX512), ThreadPool()
    own.serve(products.machine, 1)
    try:
        check(products, (64, 150, 768), ("rows", "rows", "rows"), np.float32)
        assert 2 * 768 * 48 * 4 <= own.scratch_bytes < 3 * 768 * 48 * 4
    finally:
        pool().serve(products.machine, 1)


def test_blocks_are_shallower_where_nothing_is_asked_for_ahead() -> None:
    """Panels beside 128 rows of 768 are copied, 384 steps at a time, as whole rows take three quarters of the cache; those beside
    197 rows of 1,536 are packed in two blocks of 768 steps, each 48 columns wide, not 32.
    """
    products, own = common_code(shared_name("f32"), replace(AVX2, far_prefetch=False)), ThreadPool()
    own.serve(products.machine, 1)
    try:
        for sizes, layout, add in product((COPIED[-1], (128, 150, 768)), ("rows", "gap"), (False, True)):
            check(products, sizes, (layout, layout, "rows"), np.float32, add=add)
        assert 2 * 400 * 16 * 4 <= own.scratch_bytes < 3 * 384 * 16 * 4
        check(products, (197, 96, 1536), ("rows", "rows", "rows"), np.float32)
        assert 48 * 768 * 4 <= own.scratch_bytes < 64 * 768 * 4
    finally:
        pool().serve(products.machine, 1)


def test_blocks_are_several() -> None:
    """What the small caches are for."""
    assert deepest(SMALL) < 250
    assert block_elements(SMALL, "f32") < 150 * 250
    products = compiled(SMALL, "f32")
    for layouts, add in product(product(LAYOUTS[:3], repeat=3), (False, True)):
        check(products, (311, 50, 257), layouts, np.float32, add=add)
        check(products, (17, 200, 257), layouts, np.float32, add=add)


@pytest.mark.parametrize("machine", MACHINES)
@pytest.mark.parametrize("element", TYPES)
def test_a_block_has_room_for_two_panels(machine: str, element: str) -> None:
    """Tiles of the second ask for what is packed next; without one, weights would be waited for."""
    kind = MACHINES[machine]
    assert block_elements(kind, element) >= 2 * deepest(kind) * Tile.of(kind).columns(kind, element)
    assert whole_elements(kind, element) >= block_elements(kind, element)


def test_few_rows_of_activations_are_one_block() -> None:
    """128 rows of 768 elements are packed once, and weights that come from memory are read once, with 1 MiB of second cache."""
    assert whole_elements(AVX512, "f32") >= 128 * 768


def test_rows_that_share_a_set_of_the_cache() -> None:
    """Rows, or columns, a multiple of 4 KiB apart."""
    for m, n, k in ((29, 40, 1024), (40, 2048, 35), (1024, 37, 40)):
        for layouts in product(("rows", "columns"), repeat=3):
            check(compiled(host(), "f32"), (m, n, k), layouts, np.float32)


@pytest.mark.parametrize("machine", ["host", "small caches"])
def test_few_rows_beside_a_weight_of_several_blocks(machine: str) -> None:
    """As a convolution of one tap has on a small image, either way round: up to 64 pixels b is packed a few panels at a time."""
    products = compiled(MACHINES[machine], "f32")
    for rows, layout, add in product((49, 64, 65), ("rows", "columns"), (False, True)):
        check(products, (rows, 231, 160), (layout, "columns", "columns"), np.float32, add=add)
        check(products, (231, rows, 160), ("rows", layout, "rows"), np.float32, add=add)


@pytest.mark.parametrize("element", TYPES)
def test_without_scratch_memory_blocks_are_smaller(element: str) -> None:
    for sizes in ((70, 90, 300), (311, 50, 257), (1, 1, 1), (13, 33, 65)):
        for layouts, add in product(product(LAYOUTS[:3], repeat=2), (False, True)):
            check(without_a_pool(host(), element), sizes, (*layouts, "rows"), TYPES[element], add=add)


def test_small_products_pack_on_the_stack() -> None:
    """A batch of 32 beside small weights takes no scratch memory; beside larger ones it takes no more than its own columns."""
    products, own = common_code(shared_name("f32"), replace(AVX512, l1_bytes=48 << 10)), ThreadPool()
    own.serve(products.machine, 1)
    try:
        for out, deep in ((100, 224), (256, 784), (10, 512)):
            for add in (False, True):
                check(products, (32, out, deep), ("rows", "columns", "rows"), np.float32, add=add)
        assert own.scratch_bytes == 0
        check(products, (32, 700, 640), ("rows", "columns", "rows"), np.float32)
        assert 32 * 640 * 4 <= own.scratch_bytes < 33 * 640 * 4
    finally:
        pool().serve(products.machine, 1)


def test_what_is_beyond_the_operands_does_not_reach_the_result() -> None:
    """Neither an edge's unused lanes nor what is asked for ahead: NaNs all around, infinities inside where they belong."""
    products = compiled(host(), "f32")
    for (m, n, k), turned in product([(13, 33, 30), (29, 5, 70), (100, 100, 150)], product((False, True), repeat=2)):
        a: Array = np.full(2 * (m * k + 9), np.nan, np.float32)
        b: Array = np.full(2 * (k * n + 9), np.nan, np.float32)
        left = a[4 : 4 + m * k].reshape((k, m) if turned[0] else (m, k))
        right = b[4 : 4 + k * n].reshape((n, k) if turned[1] else (k, n))
        left[...], right[...] = 1, 2
        left, right = (x.T if turn else x for x, turn in zip((left, right), turned, strict=True))
        left[0, 0], right[0, 1] = np.inf, -np.inf
        c = np.full((1, m, n), np.nan, np.float32)
        call(products, left[None], right[None], c, add=False)
        with np.errstate(invalid="ignore"):
            np.testing.assert_array_equal(c[0], left @ right)


@pytest.mark.parametrize("threads", [1, 2, 5, MOST_THREADS + 3])
def test_threads(threads: int) -> None:
    products = compiled(host(), "f32")
    pool().serve(products.machine, threads)
    shapes = [(300, 257, 200), (257, 300, 200), (1, 40000, 300), (40000, 1, 300), (17, 1700, 300), (2, 3, 4)]
    for sizes, layouts in product(shapes, [("rows",) * 3, ("columns",) * 3, ("apart", "rows", "gap")]):
        check(products, sizes, layouts, np.float32, add=True)
    for batch, sizes in product((2, 7, 12), [(60, 70, 300), (1, 300, 3000)]):
        check(products, sizes, ("rows", "columns", "rows"), np.float32, batch=batch)
    pool().serve(products.machine, 1)


@pytest.mark.parametrize(("sizes", "shared"), [((32, 100, 224), True), ((96, 96, 96), True), ((64, 64, 64), False)])
def test_products_of_some_microseconds_are_shared(sizes: Sequence[int], shared: bool) -> None:
    products = compiled(host(), "f32")
    pool().serve(products.machine, 2)
    offers = ctypes.c_int64.from_address(pool().address + ASLEEP_AT - 16)
    before = offers.value
    check(products, sizes, ("rows", "columns", "rows"), np.float32)
    pool().serve(products.machine, 1)
    assert offers.value == before + shared


def test_the_same_numbers_each_time() -> None:
    products = compiled(host(), "f32")
    pool().serve(products.machine, 2)
    values = np.random.default_rng(1)
    a, b = (values.standard_normal((1, 300, 300)).astype(np.float32) for _ in range(2))
    results = [np.empty((1, 300, 300), np.float32) for _ in range(20)]
    for c in results:
        call(products, a, b, c, add=False)
    pool().serve(products.machine, 1)
    for c in results[1:]:
        np.testing.assert_array_equal(c, results[0])


def test_an_operand_may_be_broadcast() -> None:
    products = compiled(host(), "f32")
    values = np.random.default_rng(1)
    a = np.broadcast_to(values.integers(-3, 4, (1, 9, 20)).astype(np.float32), (4, 9, 20))
    b = np.broadcast_to(values.integers(-3, 4, (4, 20, 1)).astype(np.float32), (4, 20, 33))
    c = np.empty((4, 9, 33), np.float32)
    call(products, a, b, c, add=False)
    np.testing.assert_array_equal(c, a @ b)


@pytest.mark.parametrize("behind", [True, False])
@pytest.mark.parametrize("element", TYPES)
def test_nothing_is_touched_beyond_the_operands(element: str, behind: bool) -> None:
    products, dtype = compiled(host(), element), TYPES[element]

    def placed(rows: int, columns: int, turned: bool) -> Array:
        memory = Protected(rows * columns, dtype, behind=behind)
        whole: Array = memory.array
        whole[:] = np.arange(rows * columns) % 5 - 2
        return (whole.reshape(columns, rows).T if turned else whole.reshape(rows, columns))[None]

    sizes = [*SIZES, *COPIED]
    for (m, n, k), turned, add in product(sizes, product((False, True), repeat=3), (False, True)):
        a, b, c = placed(m, k, turned[0]), placed(k, n, turned[1]), placed(m, n, turned[2])
        want = a @ b + c if add else a @ b
        call(products, a, b, c, add=add)
        np.testing.assert_array_equal(c, want)


@settings(max_examples=150, deadline=None, derandomize=True)
@given(
    st.tuples(*[st.integers(0, 70)] * 3),
    st.tuples(*[st.sampled_from(LAYOUTS)] * 3),
    st.integers(0, 3),
    st.booleans(),
    st.sampled_from(["host", "small caches"]),
)
def test_any_product(sizes: Sequence[int], layouts: Sequence[str], batch: int, add: bool, machine: str) -> None:
    check(compiled(MACHINES[machine], "f32"), sizes, layouts, np.float32, batch=batch, add=add)


def test_sums_are_as_exact_as_they_can_be() -> None:
    """On real numbers: within what an order of additions may change."""
    values = np.random.default_rng(1)
    a, b = values.standard_normal((1, 50, 1000)), values.standard_normal((1, 1000, 70))
    for element, digits in (("f32", 3e-7), ("f64", 6e-16)):
        left, right = a.astype(TYPES[element]), b.astype(TYPES[element])
        c = np.empty((1, 50, 70), TYPES[element])
        call(compiled(host(), element), left, right, c, add=False)
        exact = left.astype(np.longdouble) @ right.astype(np.longdouble)
        bound = np.abs(left).astype(np.longdouble) @ np.abs(right).astype(np.longdouble)
        assert float((np.abs(c - exact) / bound).max()) < digits * 4


def test_machines() -> None:
    def kind(architecture: str, *features: str) -> Machine:
        return of_features(dict.fromkeys(features, True), architecture)

    assert kind("x86_64", "AVX512F", "AVX2", "FMA3") == AVX512
    assert kind("x86_64", "AVX2", "FMA3") == AVX2
    assert kind("x86_64", "AVX2") == GENERIC
    assert kind("arm64") == NEON
    assert kind("riscv64") == GENERIC
    assert host().lanes("f32") == 2 * host().lanes("f64")
