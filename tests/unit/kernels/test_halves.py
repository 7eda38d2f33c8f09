"""Products of 16-bit floats against those in f64: layouts, sizes, batches, threads, rounding, what lies around the operands."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from itertools import product

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from hotdesk.kernels.blocks import sweep_name
from hotdesk.kernels.library import half_module, pairs_module
from hotdesk.kernels.machine import AVX2, AVX512, AVX512_BF16, GENERIC, NEON, host
from hotdesk.kernels.shared import shared_name
from hotdesk.runtime.code.products import CommonCode, common_code
from hotdesk.runtime.code.threads import ThreadPool
from tests.unit.kernels.protected import Protected

TYPES = {"f16": torch.float16, "bf16": torch.bfloat16}
MACHINES = {"host": host(), "AVX-512": AVX512, "AVX2": AVX2, "NEON": NEON, "generic": GENERIC}
if host().tiles:
    MACHINES["pairs"] = replace(host(), tiles=False)
PANELS = "pairs" if host().tiles else "host"
"""The machine as this one is, but for tiles, which make panels needless."""

LAYOUTS = ("rows", "columns", "apart", "gap")
SIZES = [
    (1, 1, 1),
    (6, 16, 8),
    (7, 17, 9),
    (13, 33, 30),
    (40, 5, 70),
    (5, 40, 70),
    (3, 30, 70),
    (30, 3, 70),
    (1, 50, 70),
    (20, 49, 150),
    (49, 20, 1500),
    (10, 35, 400),
    (300, 66, 700),
    (50, 1, 70),
    (1, 1100, 9),
    (2065, 1, 17),
    (1, 15, 8),
    (2, 2, 5),
    (100, 100, 150),
    (0, 3, 4),
    (3, 0, 4),
    (3, 4, 0),
    (0, 0, 0),
]


@cache
def pool() -> ThreadPool:
    return ThreadPool()


@cache
def compiled(machine: str, element: str, result: str = "", *, pooled: bool = True) -> CommonCode:
    """The products of the type, and what they call."""
    code = common_code(
        shared_name(element, result), MACHINES[machine], lambda name: module(machine, name, pooled=pooled)
    )
    if pooled:
        pool().serve(code.machine, 1)
    return code


@cache
def module(machine: str, name: str, *, pooled: bool) -> CommonCode:
    code = common_code(name, MACHINES[machine])
    if pooled:
        pool().serve(code.machine, 1)
    return code


def call(products: CommonCode, a: torch.Tensor, b: torch.Tensor, c: torch.Tensor, *, add: bool) -> None:
    numbers = [c.shape[0], c.shape[1], c.shape[2], a.shape[2]]
    for each in (a, b, c):
        numbers += [each.data_ptr(), *each.stride()]
    ctypes.CFUNCTYPE(None, *[ctypes.c_int64] * 17)(products.address)(*numbers, int(add))


def laid_out(
    shape: tuple[int, int, int], layout: str, dtype: torch.dtype, seed: int
) -> tuple[torch.Tensor, torch.Tensor]:
    """-1, 0 and 1, of which sums are exact, as a view of memory, and the memory."""
    n, rows, columns = shape
    wide = {
        "rows": (n, rows, columns),
        "columns": (n, columns, rows),
        "apart": (n, 2 * rows + 1, 3 * columns + 1),
        "gap": (n, rows, columns + 5),
    }[layout]
    memory = torch.randint(-1, 2, wide, generator=torch.Generator().manual_seed(seed)).to(dtype)
    if layout == "columns":
        return memory.transpose(1, 2), memory
    if layout == "apart":
        return memory[:, : 2 * rows : 2, : 3 * columns : 3], memory
    return memory[:, :, :columns], memory


def check(
    products: CommonCode,
    sizes: Sequence[int],
    layouts: Sequence[str],
    dtype: torch.dtype,
    batch: int,
    add: bool,
    result: torch.dtype | None = None,
) -> None:
    m, n, k = sizes
    (a, _), (b, _) = laid_out((batch, m, k), layouts[0], dtype, 1), laid_out((batch, k, n), layouts[1], dtype, 2)
    c, memory = laid_out((batch, m, n), layouts[2], result or dtype, 3)
    want = a.double() @ b.double() + (c.double() if add else 0)
    expected = memory.clone()
    expected.as_strided(c.shape, c.stride()).copy_(want)
    if not add:
        c.fill_(torch.nan)
    call(products, a, b, c, add=add)
    torch.testing.assert_close(memory, expected, rtol=0, atol=0)


@pytest.mark.parametrize(("machine", "element"), [*product(["host"], TYPES), *product(list(MACHINES)[1:], ["bf16"])])
def test_every_layout(machine: str, element: str) -> None:
    products = compiled(machine, element)
    turned = zip(LAYOUTS, LAYOUTS[1:] + LAYOUTS[:1], LAYOUTS[3:] + LAYOUTS[:3], strict=True)
    layouts = product(LAYOUTS[:3], repeat=3) if machine == "host" else turned
    for sizes, each, add in product(SIZES, list(layouts), (False, True)):
        check(products, sizes, each, TYPES[element], 1, add)


@pytest.mark.parametrize("pooled", [True, False])
def test_several_blocks(pooled: bool) -> None:
    products = compiled("host", "bf16", pooled=pooled)
    for layouts in product(("rows", "columns"), repeat=3):
        check(products, (211, 50, 130), layouts, torch.bfloat16, 1, True)
        check(products, (17, 400, 200), layouts, torch.bfloat16, 2, False)
    for layouts, add in product((("rows", "columns", "rows"), ("gap", "rows", "columns")), (False, True)):
        check(products, (600, 50, 1300), layouts, torch.bfloat16, 1, add)
        check(products, (50, 1700, 1300), layouts, torch.bfloat16, 1, add)


@pytest.mark.parametrize("element", TYPES)
def test_results_of_f32(element: str) -> None:
    products = compiled("host", element, "f32")
    for sizes, layouts, add in product(
        [*SIZES, (211, 50, 1300), (2, 300, 700)], product(LAYOUTS[:3], repeat=2), (False, True)
    ):
        check(products, sizes, (*layouts, "rows"), TYPES[element], 2, add, torch.float32)
        check(products, sizes, (*layouts, "columns"), TYPES[element], 1, add, torch.float32)
    pool().serve(products.machine, 2)
    check(products, (300, 257, 200), ("rows", "columns", "rows"), TYPES[element], 1, True, torch.float32)
    pool().serve(products.machine, 1)


@pytest.mark.parametrize(
    ("machine", "element"), [("AVX2", "bf16"), ("AVX2", "f16"), ("generic", "bf16"), ("NEON", "bf16")]
)
def test_results_of_f32_on_other_machines(machine: str, element: str) -> None:
    products = compiled(machine, element, "f32")
    for sizes, layouts in product(
        [*SIZES, (40, 30, 300)], (("rows", "columns"), ("rows", "rows"), ("columns", "rows"))
    ):
        check(products, sizes, (*layouts, "rows"), TYPES[element], 1, True, torch.float32)


@pytest.mark.parametrize("pooled", [True, False])
def test_several_blocks_of_panels(pooled: bool) -> None:
    """Of columns, rows and k; with rows of either operand converted, and without scratch memory."""
    products = compiled(PANELS, "bf16", "f32", pooled=pooled)
    for sizes, layouts in product(
        ((60, 1700, 1300), (16, 900, 1100), (900, 20, 63)), (("rows", "columns"), ("gap", "rows"))
    ):
        for result in ("rows", "columns"):
            check(products, sizes, (*layouts, result), torch.bfloat16, 1, False, torch.float32)


@pytest.mark.parametrize("element", TYPES)
def test_numbers_of_every_size_become_f32(element: str) -> None:
    """Of each of 16 bits, in the operand that is packed, and in the one that is converted: exactly.

    The instruction that sums pairs takes numbers smaller than normal ones for 0.
    """
    dtype, products = TYPES[element], compiled("host", element, "f32")
    every = torch.arange(1 << 16, dtype=torch.int32).to(torch.int16).view(dtype)
    every = torch.where(every.isfinite(), every, torch.ones((), dtype=dtype)).view(1, 1 << 10, 1 << 6)
    want = every.float()
    if host().sums_pairs(element):
        want[want.abs() < torch.finfo(dtype).smallest_normal] = 0
    one = torch.eye(1 << 6, dtype=dtype)[None]
    for layout in (one, one.transpose(1, 2)):
        c = torch.empty(1, 1 << 10, 1 << 6)
        call(products, every, layout, c, add=False)
        assert torch.equal(c, want)
        turned = torch.empty(1, 1 << 6, 1 << 10)
        call(products, layout, every.transpose(1, 2), turned, add=False)
        assert torch.equal(turned, want.transpose(1, 2))


@pytest.mark.parametrize("threads", [1, 2, 5])
def test_threads(threads: int) -> None:
    products = compiled("host", "f16")
    pool().serve(products.machine, threads)
    for sizes, batch in (((300, 257, 200), 1), ((1, 40000, 200), 1), ((40, 700, 180), 7)):
        check(products, sizes, ("rows", "columns", "rows"), torch.float16, batch, True)
    pool().serve(products.machine, 1)


@pytest.mark.parametrize("element", TYPES)
def test_sums_are_rounded_once(element: str) -> None:
    """Within the rounding of a result and the error of sums in f32, over several blocks of k."""
    dtype, products = TYPES[element], compiled("host", element)
    drawn = torch.Generator().manual_seed(0)
    for m, n, k in ((50, 70, 3000), (2, 70, 3000), (70, 1, 3000)):
        a, b = (
            torch.randn(1, m, k, generator=drawn).to(dtype),
            torch.randn(1, n, k, generator=drawn).to(dtype).transpose(1, 2),
        )
        c = torch.empty(1, m, n, dtype=dtype)
        call(products, a, b, c, add=False)
        want, sizes = a.double() @ b.double(), a.double().abs() @ b.double().abs()
        bound = want.abs() * torch.finfo(dtype).eps / 2 + sizes * 1e-6
        assert bool(((c.double() - want).abs() <= bound * 1.01).all())


def test_long_sums_do_not_stop() -> None:
    a, b, c = (torch.ones(shape, dtype=torch.bfloat16) for shape in ((1, 20, 4096), (1, 4096, 20), (1, 20, 20)))
    call(compiled("host", "bf16"), a, b, c, add=False)
    assert bool((c == 4096).all())


@pytest.mark.parametrize("element", TYPES)
def test_infinities_and_what_is_no_number(element: str) -> None:
    """Beyond the largest is infinity; NaN stays NaN; numbers smaller than normal ones count, except where pairs are summed."""
    dtype = TYPES[element]
    a, b, c = (torch.ones(shape, dtype=dtype) for shape in ((1, 9, 40), (1, 40, 9), (1, 9, 9)))
    a[0, 0, 0], a[0, 1, 0], a[0, 2, 3] = torch.inf, torch.finfo(dtype).max, torch.nan
    b[0, 0, 1] = 2
    a[0, 3], a[0, 4, 0] = torch.finfo(dtype).smallest_normal / 4, -torch.inf
    call(compiled("host", element), a, b, c, add=False)
    if host().sums_pairs(element):
        a[0, 3] = 0
    torch.testing.assert_close(
        c, (a.float() @ b.float()).to(dtype), rtol=torch.finfo(dtype).eps, atol=0, equal_nan=True
    )


@pytest.mark.parametrize(("element", "result"), product(TYPES, ("", "f32")))
@pytest.mark.parametrize("behind", [True, False])
def test_nothing_is_touched_beyond_the_operands(behind: bool, element: str, result: str) -> None:
    products = compiled("host", element, result)

    def placed(rows: int, columns: int, turned: bool, dtype: torch.dtype) -> torch.Tensor:
        memory = Protected(rows * columns, np.float32 if dtype == torch.float32 else np.uint16, behind=behind)
        flat = torch.as_tensor(memory.array).view(dtype)
        flat.copy_(torch.arange(rows * columns) % 3 - 1)
        return (flat.view(columns, rows).T if turned else flat.view(rows, columns))[None]

    kept = TYPES[element], TYPES[element], torch.float32 if result else TYPES[element]
    for (m, n, k), turned in product([size for size in SIZES if all(size)], product((False, True), repeat=3)):
        a, b, c = (placed(*each) for each in zip((m, k, m), (k, n, n), turned, kept, strict=True))
        want = a.double() @ b.double() + c.double()
        call(products, a, b, c, add=True)
        torch.testing.assert_close(c, want.to(c.dtype), rtol=0, atol=0)


@pytest.mark.parametrize("result", ["bf16", "f32"])
def test_pairs_are_summed_where_the_machine_does_that(result: str) -> None:
    """Whatever this machine is: its products call what pairs are summed by, and that is no product in f32."""
    halves = str(half_module(AVX512_BF16, "bf16", result).operation)
    assert sweep_name("bf16") in halves
    assert sweep_name("f32") not in halves
    sums = str(pairs_module(AVX512_BF16, "bf16").operation)
    assert AVX512_BF16.bf16_dot in sums
    assert "llvm.intr.fma" not in sums
    assert sweep_name("bf16") not in str(half_module(AVX512, "bf16", result).operation)
    assert sweep_name("bf16") not in str(half_module(AVX512_BF16, "f16", "f16").operation)


@settings(max_examples=100, deadline=None, derandomize=True)
@given(
    st.tuples(*[st.integers(0, 70)] * 3),
    st.tuples(*[st.sampled_from(LAYOUTS)] * 3),
    st.integers(0, 3),
    st.booleans(),
    st.sampled_from(list(TYPES)),
)
def test_any_product(sizes: Sequence[int], layouts: Sequence[str], batch: int, add: bool, element: str) -> None:
    check(compiled("host", element), sizes, layouts, TYPES[element], batch, add)
