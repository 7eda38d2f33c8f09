"""Torch and NumPy tensors as addresses.

torch is never imported here unless a torch tensor has come in or is asked for. A tensor whose memory does not hold its
values as they are (sparse, masked, traced, on another device) is refused with an error that says what to do.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Hashable, Sequence
from functools import cache, lru_cache, partial
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, cast

import numpy as np

from hotdesk.elements import NUMPY_NAMES
from hotdesk.errors import ArgumentTypeError, DeviceError, DtypeError, LayoutError, OutOfMemoryError
from hotdesk.runtime.interface import spell

if TYPE_CHECKING:
    from typing import TypeAlias

    import torch

    Kind: TypeAlias = Literal["torch", "numpy"]
    Array: TypeAlias = np.ndarray[Any, np.dtype[Any]]

_NUMPY_NAMES = {
    **NUMPY_NAMES,
    "u8": "uint8",
    "u16": "uint16",
    "u32": "uint32",
    "u64": "uint64",
    "c64": "complex64",
    "c128": "complex128",
}
_FROM_NUMPY = {np.dtype(name): dtype for dtype, name in _NUMPY_NAMES.items()}
EXTENSIONS = {
    "bf16": "bfloat16",
    "f8E4M3FN": "float8_e4m3fn",
    "f8E4M3FNUZ": "float8_e4m3fnuz",
    "f8E5M2": "float8_e5m2",
    "f8E5M2FNUZ": "float8_e5m2fnuz",
    "f8E8M0FNU": "float8_e8m0fnu",
    "f4E2M1FN": "float4_e2m1fn",
    "u4": "uint4",
    "i4": "int4",
    "u2": "uint2",
    "i2": "int2",
}
"""Element types that NumPy has from the package ml_dtypes, a byte for each element."""
_FROM_EXTENSIONS = {name: dtype for dtype, name in EXTENSIONS.items()}
_TORCH_NAMES = {**_NUMPY_NAMES, "bf16": "bfloat16"}
_FROM_TORCH = {f"torch.{name}": dtype for dtype, name in _TORCH_NAMES.items()}


class TensorView(NamedTuple):
    """Where a tensor lies and what it holds.

    `strides` count elements. `contiguous` means that the values lie from `pointer` on, last dimension fastest, without
    gaps, aligned to `itemsize`, and stand for themselves. `extent` is the addresses from the first byte of any element
    up to the byte past the last one of all.
    """

    pointer: int
    dtype: str
    itemsize: int
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    device: str
    kind: Kind
    contiguous: bool
    writable: bool
    extent: tuple[int, int]
    owner: object

    @property
    def bytes(self) -> int:
        return math.prod(self.shape) * self.itemsize


def is_torch(value: object) -> bool:
    """Whether `value` is a torch tensor of any kind, found out without importing torch."""
    torch = sys.modules.get("torch")
    return torch is not None and isinstance(value, torch.Tensor)


def describe(value: object, what: str = "argument") -> TensorView:
    """Where `value` lies. `what` names it in errors.

    Raises ArgumentTypeError if it is no plain tensor, DeviceError if not on the CPU, LayoutError if sparse, DtypeError
    if its elements have no counterpart.
    """
    if is_torch(value):
        return _describe_torch(cast("torch.Tensor", value), what)
    if isinstance(value, np.ndarray):
        return _describe_numpy(cast("Array", value), what)
    name = type(value).__name__
    if isinstance(value, (bool, int, float, complex, np.generic)):
        hint = "Pass a number as a 0-d tensor: torch.tensor(value) or numpy.asarray(value), with its dtype."
        raise ArgumentTypeError(what, expected="a tensor", got=f"{name} {value}", hint=hint)
    hint = "Convert it with torch.as_tensor(value) or numpy.asarray(value)."
    raise ArgumentTypeError(what, expected="a torch.Tensor or a numpy.ndarray", got=name, hint=hint)


def glance(value: object) -> tuple[Hashable, int] | None:
    """A key of type and sizes, and the address, of a tensor that can be used as it lies; None if `describe` must say."""
    kind = type(value)
    if kind is np.ndarray:
        array = cast("Array", value)
        flags = array.flags
        if not (flags.c_contiguous and flags.aligned):
            return None
        pointer = array.__array_interface__["data"][0]
        return None if pointer & LOW_BITS and pointer % array.itemsize else ((array.dtype, array.shape), pointer)
    if kind not in (_torch_types or _find_torch()):
        return None
    tensor: torch.Tensor = value  # pyright: ignore[reportAssignmentType]
    try:
        if not tensor.is_cpu or not tensor.is_contiguous() or tensor.is_neg():
            return None
        dtype, pointer = tensor.dtype, tensor.data_ptr()
        if not pointer or (pointer & LOW_BITS and pointer % tensor.itemsize) or (dtype.is_complex and tensor.is_conj()):
            return None
        return (dtype, tensor.shape), pointer
    except RuntimeError:  # another layout, or a wrapper that stands for a tensor: no address, sizes or strides
        return None


LOW_BITS = 15
"""Bits of an address of which none is set where any element may lie."""

_torch_types: tuple[type, ...] = ()


def _find_torch() -> tuple[type, ...]:
    """The classes of plain torch tensors, once torch has been imported by whoever made one."""
    global _torch_types
    torch = sys.modules.get("torch")
    if torch is not None and hasattr(torch, "nn"):
        _torch_types = (torch.Tensor, torch.nn.Parameter)
    return _torch_types


def is_plain_torch(value: object) -> bool:
    """Whether `value` is a torch tensor of a class that a call takes."""
    return type(value) in (_torch_types or _find_torch())


def contiguous(view: TensorView) -> TensorView:
    """`view` if it is contiguous, otherwise a copy that is."""
    return view if view.contiguous else copied(view)


def copied(view: TensorView) -> TensorView:
    """A contiguous copy in new memory."""
    copy = empty(view.kind, view.dtype, view.shape)
    if view.kind == "numpy":
        cast("Array", copy)[...] = cast("Array", view.owner)
    else:
        cast("torch.Tensor", copy).copy_(cast("torch.Tensor", view.owner).detach())
    return describe(copy)


def overwrite(view: TensorView, new: TensorView) -> None:
    """Writes the elements of a tensor, of the same kind and sizes, over those of another."""
    if view.kind == "numpy":
        cast("Array", view.owner)[...] = cast("Array", new.owner)
    else:
        cast("torch.Tensor", view.owner).detach().copy_(cast("torch.Tensor", new.owner))


def empty(kind: Kind, dtype: str, shape: Sequence[int]) -> object:
    """A new contiguous tensor on the CPU with values not set.

    Raises DtypeError if `kind` has no such elements, OutOfMemoryError if the system has no memory for them, ArgumentTypeError
    where torch makes tensors without memory, as under FakeTensorMode and in functionalize.
    """
    return maker(kind, dtype)(tuple(shape))[0]


def maker(kind: Kind, dtype: str) -> Callable[[tuple[int, ...]], tuple[Any, int]]:
    """What makes new contiguous tensors of an element type, given their sizes, and their addresses; as `empty` does."""
    if kind == "torch":
        return _torch_maker(dtype)
    new = partial(np.empty, dtype=_numpy_dtype(dtype))

    def make(shape: tuple[int, ...]) -> tuple[Any, int]:
        try:
            made = new(shape)
        except (MemoryError, ValueError) as error:
            raise _no_memory(dtype, shape) from error
        return made, made.__array_interface__["data"][0]

    return make


def _torch_maker(dtype: str) -> Callable[[tuple[int, ...]], tuple[Any, int]]:
    import torch

    found, plain = getattr(torch, _TORCH_NAMES.get(dtype, ""), None), torch.Tensor
    if found is None:
        raise DtypeError("a result", expected="an element type torch has", got=dtype)
    new, device = torch.empty_strided, torch.device("cpu")  # takes 0.6 of the time of torch.empty

    def make(shape: tuple[int, ...]) -> tuple[Any, int]:
        try:
            made = new(shape, _contiguous_strides(shape), dtype=found, device=device)
        except (MemoryError, RuntimeError, ValueError, OverflowError) as error:
            raise _no_memory(dtype, shape) from error
        try:
            if type(made) is plain:
                pointer = made.data_ptr()
                if pointer or 0 in shape:
                    return made, pointer
        except RuntimeError:  # a wrapper that stands for a tensor
            pass
        got = "one without" if type(made) is plain else type(made).__name__
        hint = "Call the program outside torch.func transforms, fake tensors and tracing, or pass out=."
        raise ArgumentTypeError("a result", expected="a new tensor with memory of its own", got=got, hint=hint)

    return make


def _no_memory(dtype: str, shape: tuple[int, ...]) -> OutOfMemoryError:
    return OutOfMemoryError("a tensor", expected=spell(dtype, shape), got="no memory from the system")


@lru_cache(maxsize=256)
def _contiguous_strides(shape: tuple[int, ...]) -> tuple[int, ...]:
    """Those that PyTorch gives a new tensor: a dimension of no element counts as one of one. OverflowError beyond 64 bits."""
    strides = [1]
    for size in reversed(shape[1:]):
        strides.append(strides[-1] * max(1, size))
        if strides[-1] >> 63:
            raise OverflowError("strides of more than 64 bits")
    return tuple(reversed(strides)) if shape else ()


def seen_as(value: object, kind: Kind, dtype: str, shape: Sequence[int]) -> object:
    """The memory of a contiguous tensor as one of another kind and shape, with elements of the same type."""
    given: Any = value
    if kind == "numpy":
        return given.reshape(tuple(shape))
    import torch

    if not is_torch(value):
        given = cast(Any, torch).from_numpy(given.reshape(-1).view(np.uint8))
    return given.detach().view(getattr(torch, _TORCH_NAMES[dtype])).view(tuple(shape))


def address_of(array: Array) -> int:
    """Where the first element of an array lies."""
    return int(array.__array_interface__["data"][0])


def address(value: object) -> int:
    """Where the first element of a tensor lies that `describe` has accepted or `empty` has made."""
    if isinstance(value, np.ndarray):
        return address_of(cast("Array", value))
    return cast("torch.Tensor", value).data_ptr()


def is_writable(value: object, key: Any, dtype: str, shape: tuple[int, ...]) -> bool:
    """Whether results of a type and sizes may be written to a tensor that `glance` has given this key."""
    if key[1] != shape or _name_of(key[0]) != dtype:
        return False
    given: Any = value
    return given.flags.writeable if type(value) is np.ndarray else not given.requires_grad


@cache
def _name_of(dtype: object) -> str | None:
    """The name of an element type of torch or NumPy."""
    if isinstance(dtype, np.dtype):
        kind = cast("np.dtype[Any]", dtype)
        return _FROM_NUMPY.get(kind) or _FROM_EXTENSIONS.get(str(kind))
    return _FROM_TORCH.get(str(dtype))


def written(value: object) -> None:
    """Tell autograd, where `value` is a torch tensor, that its values have changed behind its back."""
    tensor: Any = value
    if (type(value) in _torch_types or is_torch(value)) and not tensor.is_inference():
        _increment_version()(tensor)


@cache
def _increment_version() -> Callable[[Any], None]:
    """PyTorch's function that tells autograd: looked up once, as a short call notices."""
    return sys.modules["torch"].autograd.graph.increment_version


def overlap(first: tuple[int, int], second: tuple[int, int]) -> int:
    """How many bytes two extents have in common. An empty extent has none in common with any."""
    return max(0, min(first[1], second[1]) - max(first[0], second[0]))


_WORK: Any = 100_000
"""Of the search for an element that two tensors have in common, in steps of NumPy's, whose types admit 0 and -1 alone."""


class _Room:
    """The memory of a tensor, as NumPy takes it."""

    def __init__(self, view: TensorView) -> None:
        self.__array_interface__: Any = {
            "version": 3,
            "data": (view.pointer, True),
            "typestr": f"|V{view.itemsize}",
            "shape": view.shape,
            "strides": tuple(stride * view.itemsize for stride in view.strides),
        }


def share_elements(first: TensorView, second: TensorView) -> bool:
    """Whether two tensors have a byte in common, which one in gaps of the other has not. True where that takes long."""
    if not overlap(first.extent, second.extent):
        return False
    try:
        return np.shares_memory(np.asarray(_Room(first)), np.asarray(_Room(second)), max_work=_WORK)
    except np.exceptions.TooHardError:
        return True


def _describe_torch(tensor: torch.Tensor, what: str) -> TensorView:
    import torch

    if type(tensor) not in (torch.Tensor, torch.nn.Parameter):
        hint = "Unwrap it, with tensor.as_subclass(torch.Tensor) if its memory holds its values."
        raise ArgumentTypeError(what, expected="a plain torch.Tensor", got=type(tensor).__name__, hint=hint)
    if tensor.layout is not torch.strided:
        raise LayoutError(what, expected="a strided tensor", got=str(tensor.layout), hint="Pass x.to_dense().")
    if tensor.is_nested:
        hint = "Pass torch.nested.to_padded_tensor(x, 0.0)."
        raise LayoutError(what, expected="a strided tensor", got="a nested tensor", hint=hint)
    device = str(tensor.device)
    if tensor.device.type != "cpu":
        hint = "A meta tensor has no values." if device == "meta" else "Move it with .cpu()."
        raise DeviceError(what, expected="device cpu", got=device, hint=hint)
    dtype = _name_of(tensor.dtype)
    if dtype is None:
        raise DtypeError(what, expected=f"one of {', '.join(_TORCH_NAMES)}", got=str(tensor.dtype))
    shape, strides, itemsize = tuple(tensor.shape), tuple(tensor.stride()), tensor.itemsize
    pointer = _address(tensor, what)
    return TensorView(
        pointer=pointer,
        dtype=dtype,
        itemsize=itemsize,
        shape=shape,
        strides=strides,
        device=device,
        kind="torch",
        contiguous=(tensor.is_contiguous() and pointer % itemsize == 0 and not (tensor.is_conj() or tensor.is_neg())),
        writable=not _repeats(shape, strides),
        extent=_extent(pointer, itemsize, shape, tuple(stride * itemsize for stride in strides)),
        owner=tensor,
    )


def _address(tensor: torch.Tensor, what: str) -> int:
    """The address of `tensor`, which one that only stands for a tensor (in vmap, in functionalize) does not have."""
    try:
        pointer = tensor.data_ptr()
    except RuntimeError:
        pointer = 0
    if pointer == 0 and tensor.numel():
        hint = "Call the program outside torch.func transforms and tracing."
        raise ArgumentTypeError(what, expected="a tensor with memory of its own", got="one without", hint=hint)
    return pointer


def _describe_numpy(array: Array, what: str) -> TensorView:
    if type(array) not in (np.ndarray, np.memmap):
        hint = "Convert it with numpy.asarray(value), after filling in what is masked."
        raise ArgumentTypeError(what, expected="a plain numpy.ndarray", got=type(array).__name__, hint=hint)
    dtype = _name_of(array.dtype)
    if dtype is None:
        swapped = not array.dtype.isnative
        hint = "Convert it with x.astype(x.dtype.newbyteorder('='))." if swapped else None
        expected = f"one of {', '.join(_NUMPY_NAMES)}, in the byte order of the machine"
        raise DtypeError(what, expected=expected, got=f"numpy {array.dtype}", hint=hint)
    pointer, itemsize = address_of(array), array.itemsize
    return TensorView(
        pointer=pointer,
        dtype=dtype,
        itemsize=itemsize,
        shape=array.shape,
        strides=tuple(stride // itemsize for stride in array.strides),
        device="cpu",
        kind="numpy",
        contiguous=array.flags.c_contiguous and array.flags.aligned and pointer % itemsize == 0,
        writable=array.flags.writeable and not _repeats(array.shape, array.strides),
        extent=_extent(pointer, itemsize, array.shape, array.strides),
        owner=array,
    )


def _numpy_dtype(dtype: str) -> np.dtype[Any]:
    if dtype in _NUMPY_NAMES:
        return np.dtype(_NUMPY_NAMES[dtype])
    if dtype not in EXTENSIONS:
        raise DtypeError("a result", expected="an element type NumPy has", got=dtype)
    try:
        import ml_dtypes
    except ImportError as error:
        hint = "Install it with: pip install ml_dtypes"
        raise DtypeError("a NumPy result", expected=f"the package 'ml_dtypes' for {dtype}", hint=hint) from error
    return np.dtype(getattr(ml_dtypes, EXTENSIONS[dtype]))


def _repeats(shape: tuple[int, ...], strides: tuple[int, ...]) -> bool:
    """Whether one element stands for several, as in a broadcast view."""
    return 0 in strides and 0 not in shape and any(s == 0 and dim > 1 for dim, s in zip(shape, strides, strict=True))


def _extent(pointer: int, itemsize: int, shape: tuple[int, ...], steps: tuple[int, ...]) -> tuple[int, int]:
    """`steps` are strides in bytes, which NumPy allows to be negative."""
    if 0 in shape:
        return pointer, pointer
    lower, upper = pointer, pointer + itemsize
    for dim, step in zip(shape, steps, strict=True):
        if step < 0:
            lower += (dim - 1) * step
        else:
            upper += (dim - 1) * step
    return lower, upper
