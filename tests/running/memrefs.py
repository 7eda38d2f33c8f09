"""Memref descriptors as C has them, from types and back to arrays."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from torch_mlir import ir
from torch_mlir.runtime import make_nd_memref_descriptor, make_zero_d_memref_descriptor

from tests.reference import DTYPES, Array


@dataclass(frozen=True)
class Kind:
    """The type of a function's argument or result: a memref of a rank, or a scalar (`rank` is None)."""

    rank: int | None
    dtype: np.dtype[Any]

    @property
    def structure(self) -> Any:
        """The type that C gives it."""
        element: Any = np.ctypeslib.as_ctypes_type(self.dtype)
        if self.rank is None:
            return element
        return make_nd_memref_descriptor(self.rank, element) if self.rank else make_zero_d_memref_descriptor(element)


def kind_of(mlir_type: Any) -> Kind:
    if isinstance(mlir_type, ir.MemRefType):
        return Kind(int(mlir_type.rank), DTYPES[str(mlir_type.element_type)])
    return Kind(None, DTYPES[str(mlir_type)])


def described(kind: Kind, address: int, shape: Sequence[int]) -> Any:
    """A descriptor of contiguous memory."""
    assert kind.rank == len(shape), f"{shape} is no shape of rank {kind.rank}"
    memref = kind.structure()
    memref.allocated = address
    memref.aligned = ctypes.cast(ctypes.c_void_p(address), type(memref.aligned))
    memref.offset = 0
    if shape:
        memref.shape = tuple(shape)
        memref.strides = tuple(int(np.prod(shape[i + 1 :], dtype=np.int64)) for i in range(len(shape)))
    return memref


def array_of(kind: Kind, value: Any) -> Array:
    """What a result holds now: a copy of a memref's elements, or a scalar."""
    if kind.rank is None:
        return np.array(value, kind.dtype)
    shape = tuple(value.shape) if kind.rank else ()
    strides = tuple(value.strides) if kind.rank else ()
    if 0 in shape:
        return np.empty(shape, kind.dtype)
    size = kind.dtype.itemsize
    start = (ctypes.cast(value.aligned, ctypes.c_void_p).value or 0) + value.offset * size
    reach = 1 + sum((n - 1) * step for n, step in zip(shape, strides, strict=True))
    held: Any = (ctypes.c_uint8 * (reach * size)).from_address(start)
    memory: Any = np.frombuffer(held, kind.dtype)
    return np.lib.stride_tricks.as_strided(memory, shape, [step * size for step in strides]).copy()
