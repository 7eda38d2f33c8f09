"""Contractions of every structure against einsum in f64."""

from __future__ import annotations

import itertools

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from hotdesk.kernels.text import View
from hotdesk.passes.lower.contraction import ContractionSpec, contraction
from tests.unit.passes.lower.running import Kernel, Placed, assert_close, place, unread, values, view_of


def check(
    a: Placed, b: Placed, dims: str, sizes: dict[str, int], element: str, *, accumulate: bool, dynamic: bool, order: str
) -> str:
    """Runs `dims` (such as 'mk,kn->mn'), c laid out with its dimensions in `order`; returns the kernel's text."""
    inputs, c_dims = dims.split("->")
    a_dims, b_dims = inputs.split(",")
    generator = torch.Generator().manual_seed(1)
    shape = [sizes[dim] for dim in c_dims]
    before = values(shape, element, generator) if accumulate else unread(shape, element)
    c = place(before, laid_out(c_dims, order, sizes))
    views = [view_of(each.tensor, dynamic=dynamic) for each in (a, b, c)]
    spec = ContractionSpec(
        *views, tuple(a_dims), tuple(b_dims), tuple(c_dims), accumulate=accumulate, noalias=(True, True, True)
    )
    text = contraction(spec)
    assert text == contraction(spec)
    Kernel(text, views)(a.tensor, b.tensor, c.tensor)
    wide = torch.float64 if c.tensor.is_floating_point() else torch.int64
    exact = torch.einsum(dims, a.tensor.to(wide), b.tensor.to(wide))
    if accumulate:
        exact = exact + before.to(wide)
    assert_close(c.tensor, exact)
    c.check_guards()
    a.check_untouched()
    b.check_untouched()
    return text.text


def laid_out(dims: str, order: str, sizes: dict[str, int], gap: int = 0) -> tuple[int, ...]:
    """Strides of `dims` when memory holds them in `order`, the last together, with a gap after each row of it."""
    strides: dict[str, int] = {}
    step = 1
    for dim in reversed(order):
        strides[dim] = step
        step = step * sizes[dim] + gap
    return tuple(strides[dim] for dim in dims)


def operand(dims: str, order: str, sizes: dict[str, int], element: str, seed: int, gap: int = 0) -> Placed:
    generator = torch.Generator().manual_seed(seed)
    return place(values([sizes[dim] for dim in dims], element, generator), laid_out(dims, order, sizes, gap))


def run(
    dims: str, sizes: dict[str, int], element: str = "f32", *, accumulate: bool = False, dynamic: bool = False
) -> str:
    inputs, c_dims = dims.split("->")
    a_dims, b_dims = inputs.split(",")
    a, b = operand(a_dims, a_dims, sizes, element, 2), operand(b_dims, b_dims, sizes, element, 3)
    return check(a, b, dims, sizes, element, accumulate=accumulate, dynamic=dynamic, order=c_dims)


SIZES = {"m": 12, "n": 17, "k": 23, "b": 3, "h": 2, "p": 5, "q": 4}
STRUCTURES = [
    "mk,kn->mn",
    "km,kn->mn",
    "mk,nk->mn",
    "km,nk->nm",
    "bmk,bkn->bmn",
    "bmhk,bnhk->bhmn",  # attention scores
    "bhmn,bnhk->bmhk",  # attention values
    "bmk,kn->bmn",
    "mpk,kpn->mn",  # two summed dimensions that do not merge
    "mk,k->m",
    "k,kn->n",
    "bmk,bk->bm",
    "k,k->",
    "bk,bk->b",
    "m,n->mn",
    "b,bm->bm",
    "m,m->m",
    "mkp,kn->mn",  # a sum of a alone
    "mk,kn->mnq",  # c broadcast
    "mk,kn->qmn",
    "bhmk,kqnp->mhqbnp",
]


@pytest.mark.parametrize("accumulate", [False, True])
@pytest.mark.parametrize("dynamic", [False, True])
@pytest.mark.parametrize("element", ["f32", "bf16"])
@pytest.mark.parametrize("dims", STRUCTURES)
def test_structures(dims: str, element: str, dynamic: bool, accumulate: bool) -> None:
    if "q" in dims.split("->")[1] and "q" not in dims.split("->")[0]:
        return broadcast(dims, element, dynamic=dynamic, accumulate=accumulate)
    run(dims, SIZES, element, accumulate=accumulate, dynamic=dynamic)
    return None


def broadcast(dims: str, element: str, *, dynamic: bool, accumulate: bool) -> None:
    """einsum has no dimension of the result alone: give it to b, with stride 0."""
    inputs, c_dims = dims.split("->")
    a_dims, b_dims = inputs.split(",")
    a, b = operand(a_dims, a_dims, SIZES, element, 2), operand(b_dims, b_dims, SIZES, element, 3)
    expanded = b.tensor.expand(SIZES["q"], *b.tensor.shape)
    wide = Placed(b.storage, b.before, expanded)
    check(
        a, wide, f"{a_dims},q{b_dims}->{c_dims}", SIZES, element, accumulate=accumulate, dynamic=dynamic, order=c_dims
    )


@pytest.mark.parametrize("element", ["f64", "f16", "i8", "i32", "i64", "i1"])
@pytest.mark.parametrize("dims", ["mk,kn->mn", "mk,nk->mn", "bmk,bkn->bmn", "mk,k->m", "k,k->", "m,n->mn"])
def test_element_types(dims: str, element: str) -> None:
    run(dims, SIZES, element)
    run(dims, SIZES, element, accumulate=True, dynamic=True)


@pytest.mark.parametrize("orders", list(itertools.product(("mk", "km"), ("kn", "nk"), ("mn", "nm"))))
@pytest.mark.parametrize("gap", [0, 3])
def test_every_layout_of_a_product_is_one_call(orders: tuple[str, str, str], gap: int) -> None:
    sizes = {"m": 12, "n": 17, "k": 23}
    a = operand("mk", orders[0], sizes, "f32", 1, gap)
    b = operand("kn", orders[1], sizes, "f32", 2, gap)
    text = check(a, b, "mk,kn->mn", sizes, "f32", accumulate=False, dynamic=False, order=orders[2])
    assert text.count("call @hotdesk_product_f32") == 1
    assert "scf" not in text


def test_elements_that_lie_apart_are_no_obstacle() -> None:
    sizes = {"m": 12, "n": 17, "k": 23}
    a = place(torch.randn(12, 23), (46, 2))
    b = operand("kn", "kn", sizes, "f32", 2)
    text = check(a, b, "mk,kn->mn", sizes, "f32", accumulate=True, dynamic=False, order="mn")
    assert text.count("call @hotdesk_product_f32") == 1


@pytest.mark.parametrize("dims", ["bmk,kn->bmn", "mbk,kn->bmn", "bmhk,hkn->bmn"])
def test_dimensions_that_lie_together_merge(dims: str) -> None:
    text = run(dims, SIZES)
    assert "scf.for" not in text
    one = "arith.constant 1 : i64" in text.split("call")[0] and f"arith.constant {SIZES['b']} : i64" not in text
    assert one is (dims != "mbk,kn->bmn"), "what does not merge is a batch"


@pytest.mark.parametrize("zero", ["m", "n", "k", "b", "h"])
@pytest.mark.parametrize("dynamic", [False, True])
@pytest.mark.parametrize("accumulate", [False, True])
@pytest.mark.parametrize("dims", ["bmk,bkn->bmn", "mk,kn->mn", "mk,k->m", "k,kn->n", "mhk,khn->mn"])
def test_zero_sizes(dims: str, zero: str, dynamic: bool, accumulate: bool) -> None:
    run(dims, SIZES | {zero: 0}, accumulate=accumulate, dynamic=dynamic)


@pytest.mark.parametrize("one", ["m", "n", "k"])
@pytest.mark.parametrize("dynamic", [False, True])
def test_size_one(one: str, dynamic: bool) -> None:
    """The stride of a dimension of size 1 means nothing, and need not be a legal leading dimension."""
    sizes = {"m": 12, "n": 17, "k": 23, one: 1}
    for order_a, order_b in itertools.product(("mk", "km"), ("kn", "nk")):
        a, b = operand("mk", order_a, sizes, "f32", 1), operand("kn", order_b, sizes, "f32", 2)
        check(a, b, "mk,kn->mn", sizes, "f32", accumulate=False, dynamic=dynamic, order="mn")


def test_rows_may_overlap() -> None:
    """A sliding window steps by less than a row."""
    sizes = {"m": 40, "n": 17, "k": 23}
    signal = place(torch.randn(62))
    windows = Placed(
        signal.storage, signal.before, signal.tensor.as_strided((40, 23), (1, 1), signal.tensor.storage_offset())
    )
    b = operand("kn", "kn", sizes, "f32", 2)
    for dynamic in (False, True):
        check(windows, b, "mk,kn->mn", sizes, "f32", accumulate=False, dynamic=dynamic, order="mn")


def test_one_kernel_serves_every_size() -> None:
    view = View("f32", (None, None), (None, 1))
    kernel = Kernel(
        contraction(
            ContractionSpec(view, view, view, ("m", "k"), ("k", "n"), ("m", "n"), accumulate=False, noalias=(True,) * 3)
        ),
        [view] * 3,
    )
    for m, n, k in [
        (1, 1, 1),
        (5, 7, 3),
        (64, 64, 64),
        (1, 100, 40),
        (100, 1, 40),
        (0, 3, 4),
        (3, 4, 0),
        (33, 65, 129),
    ]:
        a, b, c = place(torch.randn(m, k)), place(torch.randn(k, n)), place(torch.full((m, n), float("nan")))
        kernel(a.tensor, b.tensor, c.tensor)
        assert_close(c.tensor, a.tensor.double() @ b.tensor.double())
        c.check_guards()


@pytest.mark.parametrize(
    ("a", "b", "c"), [("i8", "i8", "i32"), ("f16", "f16", "f32"), ("bf16", "f32", "f32"), ("f32", "f64", "f16")]
)
def test_mixed_element_types(a: str, b: str, c: str) -> None:
    generator = torch.Generator().manual_seed(5)
    left, right = place(values((9, 11), a, generator)), place(values((11, 13), b, generator))
    result = place(unread((9, 13), c))
    views = [view_of(each.tensor) for each in (left, right, result)]
    spec = ContractionSpec(*views, ("m", "k"), ("k", "n"), ("m", "n"), accumulate=False, noalias=(False,) * 3)
    Kernel(contraction(spec), views)(left.tensor, right.tensor, result.tensor)
    wide = torch.float64 if result.tensor.is_floating_point() else torch.int64
    assert_close(result.tensor, left.tensor.to(wide) @ right.tensor.to(wide))
    result.check_guards()


def test_sixteen_bits_round_once() -> None:
    """A sum kept in bf16 would stop at 256."""
    a, b = place(torch.ones(2, 1000, dtype=torch.bfloat16)), place(torch.ones(1000, 9, dtype=torch.bfloat16))
    c = place(unread((2, 9), "bf16"))
    views = [view_of(each.tensor) for each in (a, b, c)]
    spec = ContractionSpec(*views, ("m", "k"), ("k", "n"), ("m", "n"), accumulate=False, noalias=(True,) * 3)
    Kernel(contraction(spec), views)(a.tensor, b.tensor, c.tensor)
    assert bool((c.tensor == 1000).all())


def test_what_does_not_go_together_is_refused() -> None:
    square = View("f32", (4, 4), (4, 1))
    names = (("m", "k"), ("k", "n"), ("m", "n"))
    with pytest.raises(ValueError, match="expected k to have size 4, got 5"):
        ContractionSpec(square, View("f32", (5, 4), (4, 1)), square, *names, accumulate=False, noalias=(True,) * 3)
    with pytest.raises(ValueError, match="expected 2 different names"):
        ContractionSpec(square, square, square, ("m", "m"), *names[1:], accumulate=False, noalias=(True,) * 3)
    mixed = ContractionSpec(square, View("i8", (4, 4), (4, 1)), square, *names, accumulate=False, noalias=(True,) * 3)
    with pytest.raises(ValueError, match="all floats or all integers"):
        contraction(mixed)


@st.composite
def problems(draw: st.DrawFn) -> tuple[str, dict[str, int], tuple[str, str, str]]:
    """Any contraction of up to six dimensions, each operand laid out in any order."""
    names = "bcmnkl"[: draw(st.integers(1, 6))]
    sizes = {name: draw(st.sampled_from([0, 1, 2, 3, 8, 17])) for name in names}
    places = {name: draw(st.sampled_from(["ac", "bc", "ab", "abc", "a", "b"])) for name in names}
    dims = ["".join(draw(st.permutations([n for n in names if x in places[n]]))) for x in "abc"]
    orders = ["".join(draw(st.permutations(list(each)))) for each in dims]
    return f"{dims[0]},{dims[1]}->{dims[2]}", sizes, (orders[0], orders[1], orders[2])


@settings(max_examples=60, deadline=None, derandomize=True)
@given(problems(), st.sampled_from(["f32", "f64", "bf16", "i32"]), st.booleans(), st.booleans(), st.integers(0, 2))
def test_any_contraction(
    problem: tuple[str, dict[str, int], tuple[str, str, str]], element: str, accumulate: bool, dynamic: bool, gap: int
) -> None:
    dims, sizes, orders = problem
    a_dims, b_dims = dims.split("->")[0].split(",")
    a = operand(a_dims, orders[0], sizes, element, 1, gap)
    b = operand(b_dims, orders[1], sizes, element, 2, gap)
    check(a, b, dims, sizes, element, accumulate=accumulate, dynamic=dynamic, order=orders[2])
