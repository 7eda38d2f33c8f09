"""Where the weights of a saved program lie: mapped from its own file or from a safetensors file, or tensors of the caller's.

What is mapped is shared by all processes that map the same file, and is in memory once it has been read. A file that another
process cuts off while it is mapped cannot be read any more, and the system ends the process that tries: replace such a file by
renaming.
"""

from __future__ import annotations

import json
import math
import mmap
import os
import stat
import struct
from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias, cast

import numpy as np

from hotdesk.artifacts.container import Container
from hotdesk.artifacts.records import ProgramRecord, WeightRecord
from hotdesk.errors import WeightsError
from hotdesk.python.record import Record
from hotdesk.runtime.arguments.tensors import EXTENSIONS, contiguous, describe
from hotdesk.runtime.shared import aligned

if TYPE_CHECKING:
    import numpy.typing as npt

ITEM_BYTES: Mapping[str, int] = {
    **dict.fromkeys(EXTENSIONS, 1),
    **dict.fromkeys(("i1", "i8", "u8"), 1),
    **dict.fromkeys(("f16", "bf16", "i16", "u16"), 2),
    **dict.fromkeys(("f32", "i32", "u32"), 4),
    **dict.fromkeys(("f64", "i64", "u64", "c64"), 8),
    "c128": 16,
}
_SAFETENSORS = {
    "F64": "f64",
    "F32": "f32",
    "F16": "f16",
    "BF16": "bf16",
    "BOOL": "i1",
    "C64": "c64",
    **{f"{sign}{bits}": f"{sign.lower()}{bits}" for sign in "IU" for bits in (8, 16, 32, 64)},
}
_LONGEST_HEADER = 100 << 20
_MOST_DIMS = 64
"""Of a tensor in a safetensors file, so that a product of its sizes is soon there; NumPy has as many."""
Bytes: TypeAlias = "npt.NDArray[np.uint8]"


def mapped(descriptor: int, offset: int, count: int) -> Bytes:
    """Bytes of an open file, in memory that cannot be written. `offset` is of a page. Raises OSError."""
    if not count:
        return np.empty(0, np.uint8)
    return np.frombuffer(mmap.mmap(descriptor, count, offset=offset, access=mmap.ACCESS_READ), np.uint8)


class Stored(Record):
    """A tensor in a safetensors file: its type and sizes, and where it lies in the file."""

    dtype: str
    shape: tuple[int, ...]
    offset: int
    bytes: int


class Safetensors:
    """A file of tensors, after https://huggingface.co/docs/safetensors: the length of a header, the header (JSON), the data."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        """Raises WeightsError for a file that cannot be read, or is none."""
        self.path = os.fspath(path)
        try:
            if "\0" in os.fsdecode(path):
                raise self._fault("one that can be read", "a name with a null byte")
            if not stat.S_ISREG(os.stat(path).st_mode):  # a pipe would be waited for
                raise self._fault("a regular file", "none")
            with open(path, "rb") as file:
                size = os.fstat(file.fileno()).st_size
                self.tensors = self._tensors(file.read(8), file, size)
                self.memory = mapped(file.fileno(), 0, size)
        except (OSError, UnicodeError) as error:
            raise self._fault("one that can be read", getattr(error, "strerror", None) or str(error)) from error

    def _tensors(self, head: bytes, file: Any, size: int) -> dict[str, Stored]:
        length = struct.unpack("<Q", head)[0] if len(head) == 8 else size
        if length > min(_LONGEST_HEADER, size - 8):
            raise self._fault("a safetensors file", "one whose header does not fit in it")
        try:
            entries = json.loads(file.read(length))
            found = {name: _stored(entry, 8 + length) for name, entry in entries.items() if name != "__metadata__"}
        except (ValueError, TypeError, LookupError, AttributeError, OverflowError, RecursionError) as error:
            raise self._fault("a safetensors file", f"a damaged header: {error}"[:120]) from error
        for name, each in found.items():
            is_known = each.dtype in ITEM_BYTES
            count = math.prod(each.shape) * ITEM_BYTES[each.dtype] if is_known else each.bytes
            if (
                min(each.shape, default=0) < 0
                or each.bytes != count
                or each.offset < 8 + length
                or each.offset + count > size
            ):
                raise self._fault(
                    "a safetensors file", f"tensor '{name}' outside of it, or of other bytes than its sizes"
                )
        return found

    def _fault(self, expected: str, got: str) -> WeightsError:
        return WeightsError(f"the file '{self.path}'", expected=expected, got=got)

    def pointer(self, stored: Stored) -> int:
        """The address of a tensor."""
        return self.memory.ctypes.data + stored.offset


def _stored(entry: Any, data: int) -> Stored:
    begin, end = map(int, entry["data_offsets"])
    if len(entry["shape"]) > _MOST_DIMS:
        raise ValueError(f"{len(entry['shape']):,} sizes of a tensor, {_MOST_DIMS} at most")
    shape = tuple(int(size) for size in entry["shape"])
    kind = str(entry["dtype"])
    return Stored(_SAFETENSORS.get(kind, kind), shape, data + begin, end - begin)


class Weights:
    """The addresses of a program's weights, by place, and what keeps their memory."""

    __slots__ = ("addresses", "inside", "keep", "tensors")

    def __init__(self, record: ProgramRecord, container: Container, given: object, *, verify: bool) -> None:
        """`given` are tensors by name, or the name of a safetensors file; None for what the program was saved with.

        Raises WeightsError where they are not those that the program was saved for, ArtifactError.
        """
        self.addresses: dict[int, int] = {}
        self.tensors: dict[int, Any] = {}
        self.keep: list[object] = []
        inside = self._section(container, "weights") if "weights" in container.sections else np.empty(0, np.uint8)
        if verify and "weights" in container.sections:
            container.verify("weights")
        self.inside = inside.ctypes.data
        has_state = any(each.changed and each.offset is not None for each in record.weights)
        state = container.read("state") if has_state else b""
        named, file = _given(record, container, given)
        missing: list[str] = []
        needed = {each.place for each in _needed(record)}
        for weight in record.weights:
            if weight.place not in needed:
                self.addresses[weight.place] = 0  # nothing reads it
            elif weight.offset is not None:
                self._place_inside(weight, state)
            elif weight.spec.name in named:
                self._place_given(weight, named[weight.spec.name])
            elif file is not None:
                self._place_stored(weight, file)
            else:
                missing.append(weight.spec.name)
        if missing:
            raise WeightsError(
                "the weights of the program",
                expected=f"`hotdesk.load(…, weights=…)` with {_listed(missing)}",
                got="none: it was saved without" if given is None else "others",
            )

    def _section(self, container: Container, name: str) -> Bytes:
        section = container.section(name)
        memory = mapped(container.descriptor, section.offset, section.bytes)
        self.keep.append(memory)
        return memory

    def _place_inside(self, weight: WeightRecord, state: bytes) -> None:
        assert weight.offset is not None
        if not weight.changed:
            self.addresses[weight.place] = self.inside + weight.offset
            return
        self._own(weight, np.frombuffer(state, np.uint8)[weight.offset : weight.offset + weight.bytes])

    def _place_given(self, weight: WeightRecord, tensor: object) -> None:
        view = describe(tensor, f"weight '{weight.spec.name}'")
        _match(weight, view.dtype, view.shape)
        held = contiguous(view)
        if weight.changed and held is not view:
            raise WeightsError(
                f"weight '{weight.spec.name}'", expected="a contiguous tensor, as calls change it", got="another"
            )
        self.addresses[weight.place] = held.pointer
        self.tensors[weight.place] = tensor
        self.keep.append(held.owner)

    def _place_stored(self, weight: WeightRecord, file: Safetensors) -> None:
        name = weight.stored or weight.spec.name
        stored = file.tensors.get(name)
        if stored is None:
            raise WeightsError(
                f"weight '{weight.spec.name}'", expected=f"'{name}' in '{file.path}'", got="no such tensor"
            )
        _match(weight, stored.dtype, stored.shape)
        address = file.pointer(stored)
        if weight.changed or address % ITEM_BYTES[stored.dtype]:
            self._own(weight, file.memory[stored.offset : stored.offset + stored.bytes])
            return
        self.addresses[weight.place] = address
        self.keep.append(file)

    def _own(self, weight: WeightRecord, contents: Bytes) -> None:
        """Memory of this process, which calls may change."""
        memory, address = aligned(weight.bytes)
        start = address - memory.ctypes.data
        own = memory[start : start + weight.bytes]
        own[:] = contents
        self.addresses[weight.place] = address
        self.tensors[weight.place] = own
        self.keep.append(memory)


def _match(weight: WeightRecord, dtype: str, shape: Sequence[int]) -> None:
    wanted = tuple(cast("tuple[int, ...]", weight.spec.shape))
    if (dtype, tuple(shape)) != (weight.spec.dtype, wanted):
        raise WeightsError(
            f"weight '{weight.spec.name}'",
            expected=f"{weight.spec.dtype}[{', '.join(map(str, wanted))}]",
            got=f"{dtype}[{', '.join(map(str, shape))}]",
        )


def _needed(record: ProgramRecord) -> list[WeightRecord]:
    """The weights that are read: by `@main`, or by `@prepare` where that runs at load."""
    prepares = any(each.offset is None for each in record.prepared)
    return [each for each in record.weights if prepares or each.read or each.changed]


def _given(
    record: ProgramRecord, container: Container, given: object
) -> tuple[Mapping[str, object], Safetensors | None]:
    """Tensors by name, and the file that has the others."""
    absent = {each.spec.name for each in _needed(record) if each.offset is None}
    if given is None:
        return {}, _referred(record, container, absent)
    if not absent:
        raise WeightsError("argument 'weights'", expected="none: the program has its own", got=type(given).__name__)
    if isinstance(given, (str, os.PathLike)):
        return {}, Safetensors(cast("str | os.PathLike[str]", given))
    if not isinstance(given, Mapping):
        expected = "tensors by name, or the name of a safetensors file"
        raise WeightsError("argument 'weights'", expected=expected, got=type(given).__name__)
    named = cast("Mapping[str, object]", given)
    return named, _referred(record, container, absent - named.keys())


def _referred(record: ProgramRecord, container: Container, wanted: Collection[str]) -> Safetensors | None:
    """The file that the program says has its weights, by its place from the program's own; None without one, or need of one."""
    if record.safetensors is None or not wanted:
        return None
    path = os.path.join(os.path.dirname(container.name), record.safetensors)
    if not os.path.exists(path):
        raise WeightsError(
            f"the weights {_listed(sorted(wanted))} of the program",
            expected=f"'{path}', which has them, where it was from the program's file",
            got="no such file",
            hint='Say where it is: `hotdesk.load(…, weights="…")`.',
        )
    return Safetensors(path)


def _listed(names: Sequence[str]) -> str:
    return ", ".join(names[:5]) + (" …" if names[5:] else "")
