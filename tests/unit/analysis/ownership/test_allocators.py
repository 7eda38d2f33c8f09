"""Memory of an allocator of one's own: a pair of ops of an unregistered dialect, known by a model each."""

from __future__ import annotations

import re

import pytest
from torch_mlir import ir

from hotdesk.errors import BufferizationError
from hotdesk.ir.context import make_context
from hotdesk.models import Facts, MemoryEffects, OpModel, register
from hotdesk.passes.textual import parse_pipeline

FREE = "hotdesk-buffer-deallocation"
RESERVE = '"pool.reserve"() : () -> memref<8xf32>'
COPY = "memref.copy {}, {} : memref<8xf32> to memref<8xf32>"


@pytest.fixture(autouse=True)
def pool() -> None:
    """`pool.reserve` makes memory that `pool.release` frees."""
    reserve = MemoryEffects(allocates=frozenset({0}), freed_by="pool.release")
    register("pool.reserve", OpModel(lambda _: Facts(), effects=lambda _: reserve))
    register("pool.release", OpModel(lambda _: Facts(), effects=lambda _: MemoryEffects(frees=frozenset({0}))))


def after(pipeline: str, *lines: str, result: str = "") -> list[str]:
    """The names of the ops of a function after passes, in order, with the frees' operands."""
    arrow = " -> memref<8xf32>" if result else ""
    arguments = "%n: index, %p: i1, %x: memref<8xf32>, %out: memref<8xf32>"
    head = "%c0 = arith.constant 0 : index\n%c1 = arith.constant 1 : index"
    end = f"return {result} : memref<8xf32>" if result else "return"
    context = make_context()
    context.allow_unregistered_dialects = True
    with context, ir.Location.unknown():
        body = "\n".join([head, *lines, end])
        module = ir.Module.parse(f"func.func @main({arguments}){arrow} {{\n{body}\n}}")
        parse_pipeline(f"builtin.module({pipeline})").run(module)
        assert module.operation.verify()
        return re.findall(r"\b(?:pool|memref|scf)\.\w+", str(module))


def test_is_freed_by_its_own_op() -> None:
    lines = (f"%a = {RESERVE}", COPY.format("%x", "%a"), COPY.format("%a", "%out"), COPY.format("%x", "%out"))
    wanted = ["pool.reserve", "memref.copy", "memref.copy", "pool.release", "memref.copy"]
    assert after(FREE, *lines) == wanted
    assert after(f"{FREE},{FREE}", *lines) == wanted


LOOP = (
    "%r = scf.for %i = %c0 to %n step %c1 iter_args(%u = {}) -> memref<8xf32> {{",
    f"%b = {RESERVE}",
    COPY.format("%u", "%b").replace("{", "{{"),
    "scf.yield %b : memref<8xf32>",
    "}}",
)


@pytest.mark.parametrize(("first", "conditions"), [("%a", 0), ("%x", 2)])
def test_goes_round_a_loop(first: str, conditions: int) -> None:
    loop = "\n".join(LOOP).format(first)
    found = after(FREE, f"%a = {RESERVE}", COPY.format("%x", "%a"), loop, COPY.format("%r", "%out"))
    assert "memref.dealloc" not in found
    assert found.count("scf.if") == conditions
    assert found.count("pool.release") == (2 if first == "%a" else 3)


def test_one_of_memref_alloc_outlives_the_loop_that_makes_others() -> None:
    loop = "\n".join(LOOP).format("%a").replace(RESERVE, "memref.alloc() : memref<8xf32>")
    found = after(FREE, f"%a = {RESERVE}", COPY.format("%x", "%a"), loop, COPY.format("%r", "%out"))
    assert found.count("pool.release") == 1
    assert found.index("pool.release") > found.index("scf.yield")
    assert found.count("memref.dealloc") == found.count("scf.if") == 2


@pytest.mark.parametrize("mode", ["ownership", "copies"])
def test_is_copied_where_it_is_returned(mode: str) -> None:
    found = after(f"{FREE}{{mode={mode}}}", f"%a = {RESERVE}", COPY.format("%x", "%a"), result="%a")
    assert found == ["pool.reserve", "memref.copy", "memref.alloc", "memref.copy", "pool.release"]


def test_two_allocators_in_one_value_are_refused() -> None:
    branch = f"""%r = scf.if %p -> memref<8xf32> {{
      %a = {RESERVE}
      scf.yield %a : memref<8xf32>
    }} else {{
      %b = memref.alloc() : memref<8xf32>
      scf.yield %b : memref<8xf32>
    }}"""
    with pytest.raises(BufferizationError, match=r"memory that one op frees.*`pool\.release`"):
        after(FREE, branch, COPY.format("%r", "%out"))


SHORT = (
    f"%a = {RESERVE}", COPY.format("%x", "%a"), COPY.format("%a", "%out"), '"pool.release"(%a) : (memref<8xf32>) -> ()',
    "%b = memref.alloc() : memref<8xf32>", COPY.format("%x", "%b"), COPY.format("%b", "%out"),
    "memref.dealloc %b : memref<8xf32>",
)  # fmt: skip


@pytest.mark.parametrize(
    "one", ["share-buffers", "merge-allocations", "promote-buffers-to-stack", "buffer-hoisting", "buffer-loop-hoisting"]
)
def test_takes_over_no_memory_of_another_allocator(one: str) -> None:
    found = after(f"hotdesk-{one}", *SHORT)
    assert [name for name in found if name.startswith("pool")] == ["pool.reserve", "pool.release"]
    assert "memref.alloc" in str(found)


def test_is_not_returned_in_the_place_of_its_copy() -> None:
    lines = (
        f"%a = {RESERVE}", COPY.format("%x", "%a"), "%t = memref.alloc() : memref<8xf32>", COPY.format("%a", "%t"),
        '"pool.release"(%a) : (memref<8xf32>) -> ()',
    )  # fmt: skip
    found = after("hotdesk-copy-removal", *lines, result="%t")
    assert found.count("pool.reserve") == found.count("pool.release")
    assert "memref.alloc" in found
