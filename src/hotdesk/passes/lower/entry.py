"""The entry function: nothing but kernel calls on pointers from a table.

    llvm.func @main(%pointers: !llvm.ptr, %numbers: !llvm.ptr) {
      %b0 = load %pointers[0]; …; call @kernel_3(%b0 + 4096, %b7, %numbers[2]); … }

The pointer table holds the address of every base (arguments, results, buffers of the arena, constants, the status word), the
number table what depends on symbolic sizes. Both are filled outside; so one compilation serves every shape and every plan.
Behind a call that may fail the function returns if it has: nothing is written after a failed check. What was written before is
rolled back on the way, by calls that copy what was kept.
"""

from __future__ import annotations

from collections.abc import Sequence

from hotdesk.passes.lower.calls import KernelCall, Pointer
from hotdesk.sizes.size import Size

KERNELS = "hotdesk_kernels"
"""The function of a program that tells the addresses of its kernels."""


class NumberTable:
    """Gives each distinct symbolic size a place in the number table."""

    def __init__(self) -> None:
        self.sizes: list[Size] = []
        self._index: dict[Size, int] = {}

    def index(self, size: Size) -> int:
        if size not in self._index:
            self._index[size] = len(self.sizes)
            self.sizes.append(size)
        return self._index[size]


def entry_text(
    name: str,
    calls: Sequence[KernelCall],
    numbers: NumberTable,
    *,
    status: int | None = None,
    clock: int | None = None,
    undo: Sequence[KernelCall] = (),
) -> str:
    """The module text: a declaration of each kernel called, and the entry function `name`.

    `status` is the place of the status word in the table, which calls that fail do not leave at 0; without it all calls are made.
    `undo` are calls that are made where one fails that comes behind all of them, as their points say.
    Given a `clock`, a number that C's `clock_gettime` knows, the function takes an array as third argument, and stores there what
    the clock shows before the first call and after each, 16 bytes each time.
    """
    lines: list[str] = []
    signatures: dict[str, str] = {}
    emitter = _Emitter(lines, numbers)
    if clock is not None:
        emitter.head.append(f"%clock = llvm.mlir.constant({clock} : i32) : i32")
        emitter.stamp(0)
    kept = max((call.point for call in undo), default=-1)
    for number, call in enumerate(calls, 1):
        signatures[call.kernel] = emitter.call(call)
        if clock is not None:
            emitter.stamp(number)
        undone = bool(undo) and call.point > kept
        last = number == len(calls) and not undone
        if status is not None and not last and any(each.base == status for each in call.last_pointers):
            emitter.leave_if_failed(status, "undo" if undone else "failed")
    emitter.end(undo, signatures)
    declarations = [f"llvm.func @{kernel}({types})" for kernel, types in signatures.items()]
    if clock is not None:
        declarations.append("llvm.func @clock_gettime(i32, !llvm.ptr) -> i32")
    arguments = ("pointers", "numbers") if clock is None else ("pointers", "numbers", "stamps")
    declared = ", ".join(f"%{argument}: !llvm.ptr" for argument in arguments)
    body = "\n    ".join([*emitter.head, *lines])
    return "\n".join([*declarations, f"llvm.func @{name}({declared}) {{\n    {body}\n}}"])


def kernels_of(calls: Sequence[KernelCall]) -> tuple[str, ...]:
    """The kernels that are called, each once, in order of their first call."""
    return tuple(dict.fromkeys(call.kernel for call in calls))


def addresses_text(name: str, kernels: Sequence[str]) -> str:
    """A function `name` that stores the addresses of kernels of its module in the array that it is given."""
    lines = [f"llvm.func @{name}(%to: !llvm.ptr) {{"]
    for number, kernel in enumerate(kernels):
        lines.append(f"  %k{number} = llvm.mlir.addressof @{kernel} : !llvm.ptr")
        lines.append(f"  %a{number} = llvm.getelementptr %to[{number}] : (!llvm.ptr) -> !llvm.ptr, !llvm.ptr")
        lines.append(f"  llvm.store %k{number}, %a{number} : !llvm.ptr, !llvm.ptr")
    return "\n".join([*lines, "  llvm.return", "}"])


class _Emitter:
    def __init__(self, lines: list[str], numbers: NumberTable) -> None:
        self.head: list[str] = []
        self._lines = lines
        self._numbers = numbers
        self._bases: dict[int, str] = {}
        self._constants: dict[int, str] = {}
        self._loaded: dict[int, str] = {}
        self._count = 0
        self._ways_out: set[str] = set()

    def call(self, call: KernelCall) -> str:
        """Calls a kernel. Returns the types of its operands."""
        operands = [self.address(p) for p in call.pointers]
        operands += [self.number(s) for s in call.scalars]
        operands += [self.address(p) for p in call.last_pointers]
        pointers, last = (["!llvm.ptr"] * len(each) for each in (call.pointers, call.last_pointers))
        types = ", ".join([*pointers, *(["i64"] * len(call.scalars)), *last])
        self._lines.append(f"llvm.call @{call.kernel}({', '.join(operands)}) : ({types}) -> ()")
        return types

    def end(self, undo: Sequence[KernelCall], signatures: dict[str, str]) -> None:
        """The last lines: where calls end that succeed, and where those do that fail, if any may."""
        self._lines.append("llvm.return")
        if "undo" in self._ways_out:
            self._lines.append("^undo:")
            for call in undo:
                signatures[call.kernel] = self.call(call)
            self._lines.append("llvm.return")
        if "failed" in self._ways_out:
            self._lines += ["^failed:", "llvm.return"]

    def _fresh(self) -> str:
        self._count += 1
        return f"%v{self._count}"

    def stamp(self, number: int) -> None:
        """Stores the time in a place of the array."""
        place = self._fresh()
        self._lines.append(f"{place} = llvm.getelementptr %stamps[{16 * number}] : (!llvm.ptr) -> !llvm.ptr, i8")
        self._lines.append(f"{self._fresh()} = llvm.call @clock_gettime(%clock, {place}) : (i32, !llvm.ptr) -> i32")

    def leave_if_failed(self, status: int, way_out: str) -> None:
        """Goes to a way out if the status word is no longer 0."""
        if not self._ways_out:
            self.head.append("%fine = llvm.mlir.constant(0 : i32) : i32")
        self._ways_out.add(way_out)
        code, fails = self._fresh(), self._fresh()
        self._lines += [
            f"{code} = llvm.load {self._base(status)} : !llvm.ptr -> i32",
            f'{fails} = llvm.icmp "ne" {code}, %fine : i32',
            f"llvm.cond_br {fails}, ^{way_out}, ^behind{code[1:]}",
            f"^behind{code[1:]}:",
        ]

    def address(self, pointer: Pointer) -> str:
        base = self._base(pointer.base)
        if pointer.offset == 0:
            return base
        offset = self.number(pointer.offset)
        name = self._fresh()
        self._lines.append(f"{name} = llvm.getelementptr {base}[{offset}] : (!llvm.ptr, i64) -> !llvm.ptr, i8")
        return name

    def number(self, size: Size) -> str:
        if isinstance(size, int):
            if size not in self._constants:
                self._constants[size] = self._fresh()
                self.head.append(f"{self._constants[size]} = llvm.mlir.constant({size} : i64) : i64")
            return self._constants[size]
        index = self._numbers.index(size)
        if index not in self._loaded:
            self._loaded[index] = self._load("%numbers", index, "i64")
        return self._loaded[index]

    def _base(self, index: int) -> str:
        if index not in self._bases:
            self._bases[index] = self._load("%pointers", index, "!llvm.ptr")
        return self._bases[index]

    def _load(self, table: str, index: int, kind: str) -> str:
        address, name = self._fresh(), self._fresh()
        self.head.append(f"{address} = llvm.getelementptr {table}[{index}] : (!llvm.ptr) -> !llvm.ptr, {kind}")
        self.head.append(f"{name} = llvm.load {address} : !llvm.ptr -> {kind}")
        return name
