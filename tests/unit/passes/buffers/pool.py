"""Programs that allocate by ops of an unregistered dialect, `pool.reserve` and `pool.release`, before and after passes."""

from __future__ import annotations

import re
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import replace

import numpy as np
from torch_mlir import ir

from hotdesk.explain import Outcome, Reason
from hotdesk.ir.context import entered, make_context
from hotdesk.models import Facts, MemoryEffects, NewMemory, OpModel, register, registry
from hotdesk.passes.textual import parse_pipeline
from tests.guarded import POISONS
from tests.running import Executable

HOIST, LOOP_HOIST = "hotdesk-buffer-hoisting", "hotdesk-buffer-loop-hoisting"
STACK, SHARE = "hotdesk-promote-buffers-to-stack", "hotdesk-share-buffers"
MERGE, COPIES, FREE = (
    "hotdesk-merge-allocations",
    "hotdesk-copy-removal{arguments-overlap=false}",
    "hotdesk-buffer-deallocation",
)
ALL = NewMemory(movable=True, ordinary=True)
MADE = MemoryEffects(allocates=frozenset({0}), freed_by="pool.release")


@contextmanager
def registered() -> Generator[None]:
    """Models of `pool.release`, and of `pool.reserve` with nothing said of its memory, as long as the `with` lasts."""
    registry.model_of("")
    before = dict(registry._MODELS)
    register("pool.release", OpModel(lambda _: Facts(), effects=lambda _: MemoryEffects(frees=frozenset({0}))))
    say(None)
    try:
        yield
    finally:
        registry._MODELS.clear()
        registry._MODELS.update(before)


def say(memory: NewMemory | None, effects: MemoryEffects = MADE) -> None:
    """States what holds of the memory of `pool.reserve`."""
    register("pool.reserve", OpModel(lambda _: Facts(), effects=lambda _: replace(effects, memory=memory)))


def program(body: str) -> str:
    """`@main` of an index, a condition, and what it reads and writes. In it `reserve(n)` and `release(a)` stand for the ops."""

    def reserve(found: re.Match[str]) -> str:
        sizes = found[1]
        return f'"pool.reserve"({sizes}) : ({"index" if sizes else ""}) -> memref<{found[2]}>'

    body = re.sub(r"reserve\((.*?)\) : memref<(.*?)>", reserve, body)
    body = re.sub(r"release\((.*?)\) : memref<(.*?)>", r'"pool.release"(\1) : (memref<\2>) -> ()', body)
    return f"""func.func @main(%n: index, %p: i1, %x: memref<8xf32>, %out: memref<8xf32> {{bufferize.result = 0 : i64}}) {{
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %one = arith.constant 1.0 : f32
      {body}
      return
    }}"""


def rewritten(text: str, *passes: str) -> tuple[str, str, list[tuple[Outcome, Reason]]]:
    """The text before and after passes, and the last one's decisions."""
    context = make_context()
    context.allow_unregistered_dialects = True
    module = ir.Module.parse(text, context)
    before = str(module)
    with entered(module.operation):
        decisions = parse_pipeline(f"builtin.module({','.join(passes)})").run(module)
        assert module.operation.verify()
    return before, str(module), [(each.outcome, each.reason) for each in decisions]


def after(body: str, *passes: str) -> tuple[str, list[tuple[Outcome, Reason]]]:
    """The text after passes, and the decisions. What it computes stays the same, and what frees frees all."""
    before, text, decisions = rewritten(program(body), *passes)
    if text != before:
        wanted, _ = runs(before, POISONS[0])
        result, leaks = runs(text, POISONS[1])
        np.testing.assert_array_equal(result, wanted)
        assert leaks == 0 or not re.search("release|dealloc", text)
    return text, decisions


def runs(text: str, poison: int) -> tuple[np.ndarray, int]:
    """The result and the leaks of a program in which `memref.alloc` and `memref.dealloc` take the place of the pool."""
    text = re.sub(r'"pool\.reserve"\((.*?)\) : \(.*?\) -> (memref<.*?>)$', r"memref.alloc(\1) : \2", text, flags=re.M)
    text = re.sub(r'"pool\.release"\((.*?)\) : \((.*?)\) -> \(\)', r"memref.dealloc \1 : \2", text)
    assert "pool" not in text
    x = np.arange(8, dtype=np.float32)
    with make_context(), ir.Location.unknown():
        run = Executable(ir.Module.parse(text))((3, np.bool_(True), x), [(8,)], poison)
    return run.results[0], run.leaks


def count(text: str) -> dict[str, int]:
    """How often each op that makes or frees memory stands in a text."""
    found = re.findall(r"pool\.\w+|memref\.(?:alloca?|dealloc)\b", text)
    return {name: found.count(name) for name in sorted(set(found))}


FILL = "linalg.add ins(%x, {0} : memref<8xf32>, memref<8xf32>) outs({1} : memref<8xf32>)\n"
IN_LOOP = f"""
scf.for %i = %c0 to %n step %c1 {{
  %a = reserve() : memref<8xf32>
  {FILL.format("%x", "%a")}
  {FILL.format("%a", "%out")}
  release(%a) : memref<8xf32>
}}"""
TWICE = f"""
%a = reserve() : memref<8xf32>
{FILL.format("%x", "%a")}
{FILL.format("%a", "%out")}
release(%a) : memref<8xf32>
%b = reserve() : memref<8xf32>
{FILL.format("%out", "%b")}
{FILL.format("%b", "%out")}
release(%b) : memref<8xf32>"""
_PARTS = "\n".join(
    f"""%{name} = reserve(%n) : memref<?xf32>
    linalg.fill ins(%one : f32) outs(%{name} : memref<?xf32>)
    memref.copy %{name}, %part : memref<?xf32> to memref<?xf32, strided<[1]>>
    release(%{name}) : memref<?xf32>"""
    for name in "ab"
)
SIZED = f"""memref.copy %x, %out : memref<8xf32> to memref<8xf32>
%part = memref.subview %out[0] [%n] [1] : memref<8xf32> to memref<?xf32, strided<[1]>>
{_PARTS}"""
BRANCH = f"""
%r = scf.if %p -> memref<8xf32> {{
  %a = reserve() : memref<8xf32>
  {FILL.format("%x", "%a")}
  scf.yield %a : memref<8xf32>
}} else {{
  scf.yield %x : memref<8xf32>
}}
{FILL.format("%r", "%out")}"""
