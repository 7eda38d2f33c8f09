"""Entry functions: calls on addresses from a table, numbers from another."""

from __future__ import annotations

import re

import sympy

from hotdesk.explain import Source
from hotdesk.passes.lower.calls import KernelCall, Pointer
from hotdesk.passes.lower.entry import NumberTable, addresses_text, entry_text, kernels_of
from hotdesk.passes.lower.work import Work
from hotdesk.sizes.size import Size
from tests.unit.parsing import parse

N, M = sympy.symbols("n m")


def call(kernel: str, *pointers: Pointer, scalars: tuple[Size, ...] = (), last: tuple[Pointer, ...] = ()) -> KernelCall:
    return KernelCall(kernel, pointers, scalars, last, Source("op"), Work((), 0, 0, 0), 0)


def text(*calls: KernelCall, numbers: NumberTable | None = None) -> str:
    made = entry_text("main", calls, numbers or NumberTable())
    parse(made).operation.verify()
    return made


def test_a_program_without_calls() -> None:
    assert text() == "llvm.func @main(%pointers: !llvm.ptr, %numbers: !llvm.ptr) {\n    llvm.return\n}"


def test_bases_are_loaded_once_and_kernels_declared_once() -> None:
    made = text(call("k", Pointer(0, 0), Pointer(2, 0)), call("k", Pointer(2, 0), Pointer(0, 0)))
    assert made.count("llvm.func @k(!llvm.ptr, !llvm.ptr)") == 1
    assert made.count("llvm.load") == 2
    assert "%pointers[0]" in made
    assert "%pointers[2]" in made
    assert made.count("llvm.call @k(") == 2


def test_nothing_is_called_behind_a_check_that_fails() -> None:
    calls = [call("a", last=(Pointer(1, 0),)), call("b", Pointer(0, 0)), call("c", last=(Pointer(1, 0),))]
    made = entry_text("main", calls, NumberTable(), status=1)
    parse(made).operation.verify()
    steps = [line.split("(")[0] for line in made.splitlines() if re.search("call|cond_br|return|failed:", line)]
    assert [step.split("llvm.")[-1].split(" %")[0].strip() for step in steps] == [
        "call @a",
        "cond_br",
        "call @b",
        "call @c",
        "return",
        "^failed:",
        "return",
    ]


def test_calls_stay_in_order() -> None:
    made = text(call("b", Pointer(0, 0)), call("a", Pointer(0, 0)), call("b", Pointer(0, 0)))
    order = [line.split("@")[1][0] for line in made.splitlines() if "llvm.call" in line]
    assert order == ["b", "a", "b"]


def test_offsets_are_bytes() -> None:
    made = text(call("k", Pointer(0, 4096), Pointer(0, 0)))
    assert "llvm.mlir.constant(4096 : i64)" in made
    assert made.count("llvm.getelementptr %v") == 1
    assert "-> !llvm.ptr, i8" in made


def test_constants_are_made_once() -> None:
    made = text(call("k", Pointer(0, 64), scalars=(64, 7)), call("k", Pointer(1, 64), scalars=(7, 64)))
    assert made.count("llvm.mlir.constant(64 : i64)") == 1
    assert made.count("llvm.mlir.constant(7 : i64)") == 1


def test_symbolic_numbers_come_from_the_table() -> None:
    numbers = NumberTable()
    made = text(call("k", Pointer(0, 4 * N), scalars=(N, M, N)), numbers=numbers)
    assert numbers.sizes == [4 * N, N, M]
    assert made.count("llvm.getelementptr %numbers") == 3


def test_pointers_scalars_and_last_pointers_in_this_order() -> None:
    made = text(call("k", Pointer(0, 0), scalars=(3,), last=(Pointer(1, 0),)))
    assert "llvm.func @k(!llvm.ptr, i64, !llvm.ptr)" in made
    assert ": (!llvm.ptr, i64, !llvm.ptr) -> ()" in made


def test_the_same_calls_give_the_same_text() -> None:
    calls = (call("k", Pointer(0, 4 * N), scalars=(N, 2)), call("l", Pointer(3, 8)))
    assert text(*calls) == text(*calls)


def test_equal_sizes_share_a_number() -> None:
    numbers = NumberTable()
    assert [numbers.index(size) for size in (N, M, N, N + M, M + N)] == [0, 1, 0, 2, 2]


def test_the_time_is_taken_before_the_first_call_and_after_each() -> None:
    made = entry_text("main", [call("k", Pointer(0, 0)), call("j", Pointer(0, 0))], NumberTable(), clock=1)
    parse(made).operation.verify()
    taken = re.findall(r"(?<=stamps\[)\d+|llvm.call @\w+", made)
    stamp = "llvm.call @clock_gettime"
    assert taken == ["0", stamp, "llvm.call @k", "16", stamp, "llvm.call @j", "32", stamp]


def test_addresses_are_those_of_each_kernel_once() -> None:
    calls = [call("b"), call("a"), call("b")]
    assert kernels_of(calls) == ("b", "a")
    made = addresses_text("tell", ("b", "a"))
    parse("llvm.func @a() llvm.func @b() " + made).operation.verify()
    assert re.findall(r"addressof @(\w+)", made) == ["b", "a"]
    assert re.findall(r"%to\[(\d)\]", made) == ["0", "1"]
