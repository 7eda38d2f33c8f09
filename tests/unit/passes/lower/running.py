"""Compiles kernels and runs them on tensors that lie between guards."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch_mlir import ir

from hotdesk.kernels.parts import share_parts
from hotdesk.kernels.text import KernelText, View
from hotdesk.passes.lower.library import define_support
from hotdesk.passes.lower.to_llvm import kernels_to_llvm
from hotdesk.runtime.code.products import linked

DTYPES = {
    "f32": torch.float32,
    "f64": torch.float64,
    "f16": torch.float16,
    "bf16": torch.bfloat16,
    "i1": torch.bool,
    "i8": torch.int8,
    "i32": torch.int32,
    "i64": torch.int64,
}
_ELEMENTS = {dtype: element for element, dtype in DTYPES.items()}
_GUARD = 64  # elements before and after


class Kernel:
    """A compiled kernel, called with the tensors of its operands."""

    def __init__(self, kernel: KernelText, views: Sequence[View]) -> None:
        with ir.Context(), ir.Location.unknown():
            module = ir.Module.parse("\n".join((*kernel.declarations, kernel.text)))
            module.operation.verify()
            kernels_to_llvm(module)
            share_parts(module)
            define_support(module)
            self._machine = linked(module, ["KERNEL"])
        self._entry = self._machine.entry("KERNEL")
        self._views = views

    def __call__(self, *operands: torch.Tensor, workspace: torch.Tensor | None = None) -> None:
        self.prepare(*operands, workspace=workspace)()

    def prepare(self, *operands: torch.Tensor, workspace: torch.Tensor | None = None) -> _Call:
        arguments: list[ctypes.c_void_p | ctypes.c_int64] = [ctypes.c_void_p(each.data_ptr()) for each in operands]
        for view, operand in zip(self._views, operands, strict=True):
            known = (*view.sizes, *view.strides)
            for number, actual in zip(known, (*operand.shape, *operand.stride()), strict=True):
                if number is None:
                    arguments.append(ctypes.c_int64(actual))
        if workspace is not None:
            arguments.append(ctypes.c_void_p(workspace.data_ptr()))
        return _Call(self, arguments)


class _Call:
    def __init__(self, kernel: Kernel, arguments: list[ctypes.c_void_p | ctypes.c_int64]) -> None:
        self._entry = kernel._entry
        self._kept = (kernel, arguments)
        self._packed = (ctypes.c_void_p * len(arguments))(*(ctypes.addressof(each) for each in arguments))

    def __call__(self) -> None:
        self._entry(ctypes.addressof(self._packed))


@dataclass(frozen=True, slots=True)
class Placed:
    """A tensor inside a larger storage whose other elements must stay as they are."""

    storage: torch.Tensor
    before: torch.Tensor
    tensor: torch.Tensor

    def check_guards(self) -> None:
        """Fails if anything but the tensor itself was written."""
        expected = self.before.clone()
        inside = torch.as_strided(expected, self.tensor.shape, self.tensor.stride(), self.tensor.storage_offset())
        inside.copy_(self.tensor)
        assert torch.equal(expected.view(torch.uint8), self.storage.view(torch.uint8)), "written outside the operand"

    def check_untouched(self) -> None:
        """Fails if anything was written."""
        assert torch.equal(self.before.view(torch.uint8), self.storage.view(torch.uint8)), "an input was written"


def place(values: torch.Tensor, strides: Sequence[int] | None = None) -> Placed:
    """`values` in a storage of its own, with these strides (nonnegative), between guards."""
    strides = tuple(strides) if strides is not None else contiguous(values.shape)
    extent = (
        1 + sum((size - 1) * stride for size, stride in zip(values.shape, strides, strict=True))
        if values.numel()
        else 0
    )
    storage = torch.empty(extent + 2 * _GUARD, dtype=values.dtype)
    storage.view(torch.uint8).copy_(
        torch.arange(storage.nbytes) % 2 if values.dtype == torch.bool else torch.full((storage.nbytes,), 0x5A)
    )
    tensor = torch.as_strided(storage, values.shape, strides, _GUARD)
    tensor.copy_(values)
    return Placed(storage, storage.clone(), tensor)


def contiguous(sizes: Sequence[int]) -> tuple[int, ...]:
    strides: list[int] = []
    step = 1
    for size in reversed(sizes):
        strides.append(step)
        step *= size
    return tuple(reversed(strides))


def view_of(tensor: torch.Tensor, *, dynamic: bool | Sequence[bool] = False) -> View:
    """The view of a tensor; `dynamic` hides all numbers, or those of these dimensions with the strides left of them."""
    hidden = [dynamic] * tensor.dim() if isinstance(dynamic, bool) else list(dynamic)
    sizes = tuple(None if hide else size for hide, size in zip(hidden, tensor.shape, strict=True))
    strides = [
        None if any(hidden[i + 1 :]) or (dynamic is True and stride != 1) else stride
        for i, stride in enumerate(tensor.stride())
    ]
    return View(_ELEMENTS[tensor.dtype], sizes, tuple(strides))


def values(sizes: Sequence[int], element: str, generator: torch.Generator) -> torch.Tensor:
    """Random values that sum without overflow in their type, except for integers, which wrap."""
    dtype = DTYPES[element]
    if dtype.is_floating_point:
        return torch.randn(tuple(sizes), generator=generator, dtype=torch.float64).to(dtype)
    if dtype == torch.bool:
        return torch.rand(tuple(sizes), generator=generator) < 0.3
    return torch.randint(-100, 100, tuple(sizes), generator=generator).to(dtype)


def unread(sizes: Sequence[int], element: str) -> torch.Tensor:
    """What a result holds before it is overwritten: values that show if they were read."""
    dtype = DTYPES[element]
    return torch.full(tuple(sizes), float("nan") if dtype.is_floating_point else 1, dtype=dtype)


def assert_close(actual: torch.Tensor, exact: torch.Tensor) -> None:
    """Compares with a result computed in f64 or i64, to the precision of the actual type."""
    if not actual.dtype.is_floating_point:
        expected = exact != 0 if actual.dtype == torch.bool else exact.to(actual.dtype)
        assert torch.equal(actual, expected)
        return
    digits = {torch.float64: 1e-11, torch.float32: 2e-5, torch.float16: 1.1e-3, torch.bfloat16: 8e-3}[actual.dtype]
    torch.testing.assert_close(actual.to(torch.float64), exact, rtol=digits, atol=10 * digits)
