"""Tensors as addresses."""

from __future__ import annotations

import subprocess
import sys
from itertools import product
from typing import Any

import ml_dtypes
import numpy as np
import pytest
import torch
from torch._subclasses import FakeTensorMode

from hotdesk.errors import ArgumentTypeError, DeviceError, DtypeError, LayoutError, OutOfMemoryError
from hotdesk.runtime.arguments import tensors
from hotdesk.runtime.arguments.tensors import contiguous, describe, empty, glance, overlap, share_elements, written

PAIRS = [
    (torch.float16, np.float16, "f16"),
    (torch.bfloat16, ml_dtypes.bfloat16, "bf16"),
    (torch.float32, np.float32, "f32"),
    (torch.float64, np.float64, "f64"),
    (torch.bool, np.bool_, "i1"),
    (torch.int8, np.int8, "i8"),
    (torch.int16, np.int16, "i16"),
    (torch.int32, np.int32, "i32"),
    (torch.int64, np.int64, "i64"),
    (torch.uint8, np.uint8, "u8"),
    (torch.uint16, np.uint16, "u16"),
    (torch.uint32, np.uint32, "u32"),
    (torch.uint64, np.uint64, "u64"),
    (torch.complex64, np.complex64, "c64"),
    (torch.complex128, np.complex128, "c128"),
]


@pytest.mark.parametrize(("torch_dtype", "numpy_dtype", "name"), PAIRS, ids=[name for _, _, name in PAIRS])
def test_element_types_match_between_kinds(torch_dtype: torch.dtype, numpy_dtype: type, name: str) -> None:
    first, second = describe(torch.zeros(2, 3, dtype=torch_dtype)), describe(np.zeros((2, 3), numpy_dtype))
    assert first.dtype == second.dtype == name
    assert (first.itemsize, first.shape, first.strides) == (second.itemsize, (2, 3), (3, 1))
    assert first.bytes == second.bytes == 6 * np.dtype(numpy_dtype).itemsize
    assert describe(empty("torch", name, (2, 3))).dtype == describe(empty("numpy", name, (2, 3))).dtype == name


def test_long_long_is_i64() -> None:
    assert describe(np.zeros(2, "q")).dtype == describe(np.zeros(2, "l")).dtype == "i64"


def test_describes_a_torch_view() -> None:
    base = torch.zeros(4, 6)
    view = describe(base[1:, ::2])
    assert view.pointer == base.data_ptr() + 24
    assert (view.shape, view.strides, view.kind, view.device) == ((3, 3), (6, 2), "torch", "cpu")
    assert not view.contiguous
    assert view.extent == (view.pointer, view.pointer + 4 * (2 * 6 + 2 * 2 + 1))


def test_describes_a_reversed_numpy_view() -> None:
    base = np.zeros((4, 6), np.float32)
    view = describe(base[::-1])
    start = base.ctypes.data
    assert view.pointer == start + 3 * 24
    assert view.strides == (-6, 1)
    assert view.extent == (start, start + 96)
    assert not view.contiguous


@pytest.mark.parametrize(
    "value",
    [
        torch.arange(12.0).reshape(3, 4).T,
        torch.arange(3.0).expand(4, 3),
        torch.tensor([1 + 2j, 3 - 1j]).conj(),
        torch.tensor([1 + 2j, 3 - 1j]).conj().imag,
        torch.arange(3.0, requires_grad=True).expand(2, 3),
        np.arange(12.0).reshape(3, 4).T,
        np.arange(12.0)[::-2],
        np.frombuffer(bytes(range(33)), np.uint8)[1:].view(np.float64),
    ],
    ids=["transposed", "expanded", "conjugate", "negative", "grad", "numpy-transposed", "numpy-reversed", "unaligned"],
)
def test_contiguous_copies_what_does_not_lie_as_it_reads(value: torch.Tensor | np.ndarray) -> None:
    view = describe(value)
    assert not view.contiguous
    assert glance(value) is None
    copy = contiguous(view)
    assert copy.contiguous
    assert copy.pointer % copy.itemsize == 0
    assert (copy.shape, copy.dtype, copy.kind) == (view.shape, view.dtype, view.kind)
    plain = value.detach().resolve_conj().resolve_neg().numpy() if isinstance(value, torch.Tensor) else value
    assert np.array_equal(np.asarray(copy.owner), plain, equal_nan=True)


@pytest.mark.parametrize(
    "value", [torch.zeros(2, 3), torch.nn.Parameter(torch.zeros(2)), np.zeros((2, 3)), np.zeros(())]
)
def test_contiguous_keeps_what_lies_as_it_reads(value: torch.Tensor | np.ndarray) -> None:
    view = describe(value)
    assert contiguous(view) is view
    found = glance(value)
    assert found is not None
    assert found[1] == view.pointer == tensors.address(value)


def test_sizes_of_one_do_not_matter_for_contiguity() -> None:
    assert describe(torch.zeros(4, 1, 3).transpose(0, 1)).contiguous
    assert describe(np.zeros((4, 1, 3)).transpose(1, 0, 2)).contiguous


def test_zero_size_has_an_empty_extent() -> None:
    for value in (torch.zeros(0, 3), np.zeros((0, 3), np.float32)):
        view = describe(value)
        assert view.contiguous
        assert (view.bytes, view.extent) == (0, (view.pointer, view.pointer))


def test_writable() -> None:
    frozen = np.zeros(3)
    frozen.flags.writeable = False
    assert not describe(frozen).writable
    assert not describe(torch.zeros(1).expand(3)).writable
    assert describe(np.zeros(3)).writable
    assert describe(torch.zeros(3)).writable


def test_memory_map_is_plain(tmp_path) -> None:
    mapped = np.memmap(tmp_path / "weights", np.float32, "w+", shape=(4,))
    assert describe(mapped).dtype == "f32"


class Tagged(torch.Tensor):
    """A subclass, which may mean anything by its memory."""


def _emptied() -> torch.Tensor:
    tensor = torch.zeros(3)
    tensor.untyped_storage().resize_(0)
    return tensor


def _fake() -> torch.Tensor:
    with FakeTensorMode():
        return torch.zeros(3)


@pytest.mark.filterwarnings("ignore:Sparse")
@pytest.mark.parametrize(
    ("make", "error", "match"),
    [
        (lambda: 3, ArgumentTypeError, "got int 3.*0-d tensor"),
        (lambda: True, ArgumentTypeError, "got bool True.*0-d tensor"),
        (lambda: np.float32(3), ArgumentTypeError, "got float32 3.0.*0-d tensor"),
        (lambda: [1.0], ArgumentTypeError, "got list"),
        (lambda: None, ArgumentTypeError, "got NoneType"),
        (lambda: np.ma.masked_array([1.0]), ArgumentTypeError, "MaskedArray"),
        (lambda: torch.zeros(3).as_subclass(Tagged), ArgumentTypeError, "Tagged"),
        (_fake, ArgumentTypeError, "FakeTensor"),
        (_emptied, ArgumentTypeError, "memory of its own"),
        (lambda: torch.zeros(3, device="meta"), DeviceError, "expected device cpu, got meta"),
        (lambda: torch.zeros(3, 3).to_sparse(), LayoutError, "sparse_coo"),
        (lambda: torch.zeros(3, 3).to_sparse_csr(), LayoutError, "sparse_csr"),
        (lambda: torch.zeros(3).to_mkldnn(), LayoutError, "mkldnn"),
        (lambda: torch.nested.nested_tensor([torch.zeros(3), torch.zeros(2)]), LayoutError, "nested"),
        (lambda: torch.zeros(3, dtype=torch.float8_e4m3fn), DtypeError, "float8"),
        (lambda: np.zeros(3, ">f4"), DtypeError, "newbyteorder"),
        (lambda: np.array(["a"]), DtypeError, "<U1"),
        (lambda: np.array([None]), DtypeError, "object"),
    ],
)
@pytest.mark.filterwarnings("ignore:.*nested tensors is in prototype stage")
def test_what_cannot_be_read_as_it_lies_is_refused(make, error: type[Exception], match: str) -> None:
    value = make()
    assert glance(value) is None or error is DtypeError
    with pytest.raises(error, match=f"argument 'x'.*{match}"):
        describe(value, "argument 'x'")


@pytest.mark.parametrize("transform", [torch.func.vmap, lambda f: torch.func.grad(lambda x: f(x).sum())])
def test_stand_ins_of_transforms_are_refused(transform) -> None:
    def look(value: torch.Tensor) -> torch.Tensor:
        assert glance(value) is None
        with pytest.raises(ArgumentTypeError, match=r"torch\.func"):
            describe(value)
        return value

    transform(look)(torch.zeros(3))


def test_functionalized_tensors_are_refused() -> None:
    def look(value: torch.Tensor) -> torch.Tensor:
        assert glance(value) is None
        with pytest.raises(ArgumentTypeError, match="tracing"):
            describe(value)
        return value

    torch.func.functionalize(look)(torch.zeros(3))


def test_empty_without_ml_dtypes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ml_dtypes", None)
    with pytest.raises(DtypeError, match="pip install ml_dtypes"):
        empty("numpy", "bf16", (2,))


@pytest.mark.parametrize("kind", ["torch", "numpy"])
def test_empty_of_an_unknown_type(kind) -> None:
    with pytest.raises(DtypeError, match="f7"):
        empty(kind, "f7", (2,))


def test_empty_is_on_the_cpu_whatever_the_default() -> None:
    with torch.device("meta"):
        assert describe(empty("torch", "f32", (2,))).device == "cpu"


@pytest.mark.parametrize("kind", ["torch", "numpy"])
def test_new_tensors_have_the_usual_strides(kind) -> None:
    for rank in range(5):
        for shape in product((0, 1, 2, 3), repeat=rank):
            view, usual = describe(empty(kind, "f32", shape)), torch.empty(shape)
            assert view.shape == shape
            assert view.contiguous
            assert kind == "numpy" or view.strides == usual.stride()


@pytest.mark.parametrize("shape", [(2**40, 2**40), (4, 2**62, 4), (2**62,)])
def test_more_than_there_is_memory_for(shape: tuple[int, ...]) -> None:
    with pytest.raises(OutOfMemoryError, match="no memory from the system"):
        empty("torch", "f32", shape)


def test_overlap_counts_shared_bytes() -> None:
    assert overlap((0, 8), (4, 12)) == 4
    assert overlap((0, 8), (8, 12)) == 0
    assert overlap((0, 8), (2, 4)) == 2
    assert overlap((4, 4), (0, 8)) == 0


def test_written_is_seen_by_autograd() -> None:
    tensor = torch.zeros(3)
    written(tensor)
    assert tensor._version == 1
    with torch.inference_mode():
        written(torch.zeros(3))
    written(np.zeros(3))


def test_numpy_alone_does_not_import_torch() -> None:
    code = (
        "import sys, numpy, hotdesk.runtime.program, hotdesk.runtime.arguments.tensors as t;"
        "t.contiguous(t.describe(numpy.zeros((2, 3)).T)); t.empty('numpy', 'f32', (2,)); t.glance(numpy.zeros(2));"
        "sys.exit('torch' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


@pytest.mark.parametrize(
    ("first", "second", "share"),
    [
        (np.s_[::2], np.s_[1::2], False),
        (np.s_[::2], np.s_[4::3], True),
        (np.s_[:4], np.s_[4:], False),
        (np.s_[:, ::3], np.s_[:, 1::3], False),
        (np.s_[:, ::3], np.s_[2:3], True),
        (np.s_[::-2], np.s_[::2], False),
        (np.s_[3:3], np.s_[:], False),
    ],
)
def test_what_lies_in_the_gaps_of_another_shares_nothing(first: Any, second: Any, share: bool) -> None:
    whole = np.zeros((8, 6), np.float32)
    views = [describe(whole[each]) for each in (first, second)]
    assert share_elements(*views) == share
    assert share_elements(*reversed(views)) == share


def test_what_takes_too_long_to_tell_may_share_elements() -> None:
    whole = np.zeros(1 << 20, np.int8)
    strides = [(997, 991, 983, 977, 971, 967, 953), (947, 941, 937, 929, 919, 911, 907)]
    views = [describe(np.lib.stride_tricks.as_strided(whole[n:], (100,) * 7, each)) for n, each in enumerate(strides)]
    assert share_elements(*views)
