"""Random programs on memrefs: views, copies, control flow, calls, and memory that is freed or left to be freed.

Every size, index and position is known while a program is written, though its text may not show it. A linalg op never reads a
part of what it writes unless it reads just that, element by element. Arguments of a function may be the same memory. What is read
may be memory that nobody wrote; where a program goes depends on arguments alone.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from tests.reference import DTYPES
from tests.structured.memory_control import blocks, steps
from tests.structured.memory_writing import HIDDEN, KNOWN, NEGATIVE, Memref, Writer, joined


@dataclass(frozen=True)
class MemoryProgram:
    """MLIR text whose `@main` takes two conditions, some numbers and memory; its results are memory of the caller's."""

    text: str
    arguments: tuple[Memref, ...]

    def inputs(self, seed: int) -> list[Any]:
        generator = np.random.default_rng(seed)
        chosen = [np.bool_(generator.integers(2)) for _ in range(2)]
        memory = [np.asarray(generator.integers(-9, 10, m.sizes)).astype(DTYPES[m.element]) for m in self.arguments]
        return [*chosen, *(np.int64(n) for n in (*KNOWN, NEGATIVE)), *memory]


def memory_program(random: Any, *, frees: bool) -> MemoryProgram:
    """A program; if `frees`, it frees what it allocates, otherwise it frees nothing."""
    w = Writer(random, frees)
    texts = [_callee(w) for _ in range(w.pick((0, 0, 1, 2)))]
    given = tuple(parameter(w, f"%x{i}", sizes, e) for i, (sizes, e) in enumerate((((8,), "i32"), ((2, 4), "f32"))))
    made = tuple(
        parameter(w, f"%o{i}", sizes, e) for i, (sizes, e) in enumerate((((8,), "i32"), ((2, 4), "f32"), ((8,), "i32")))
    )
    for memref in made:
        w.lines.append(
            f"linalg.fill ins({w.scalar(memref.element)} : {memref.element}) outs({memref.name} : {memref.type})"
        )
    steps(w, w.random.randrange(4, 14))
    if w.chance(15):
        w = blocks(w)
    w.finish(())
    arguments = [f"{m.name}: {m.type} {{hotdesk.donated}}" for m in given]
    arguments += [f"{m.name}: {m.type} {{bufferize.result = {i}}}" for i, m in enumerate(made)]
    text = f"func.func @main({HIDDEN}, {', '.join(arguments)}) {{\n{joined([*w.lines, 'return'])}\n}}\n"
    return MemoryProgram("".join([*texts, text]), given)


def parameter(w: Writer, name: str, sizes: tuple[int, ...], element: str) -> Memref:
    memref = Memref(name, sizes, (True,) * len(sizes), element, frozenset({w.number()}))
    w.memrefs.append(memref)
    return memref


def _callee(outer: Writer) -> str:
    """A function whose arguments may be the same memory; it may return an allocation."""
    w = Writer(outer.random, outer.frees, outer.counter, outer.callees)
    shared = frozenset({w.number()})
    kinds = [w.pick((((8,), "i32"), ((8,), "i32"), ((2, 4), "f32"))) for _ in range(w.pick((1, 2, 3)))]
    given = [replace(parameter(w, f"%p{w.number()}", *kind), bases=shared) for kind in kinds]
    w.memrefs = list(given)
    steps(w, w.random.randrange(1, 6))
    owned = w.some(lambda m: m.owned is not None and m.layout is None) if w.chance(40) else None
    w.finish((), [owned] if owned is not None else [])
    name = f"@f{w.number()}"
    end = "return" if owned is None else f"return {owned.name} : {owned.type}"
    results = "" if owned is None else f" -> {owned.type}"
    arguments = ", ".join([HIDDEN, *(f"{m.name}: {m.type}" for m in given)])
    outer.callees.append((name, tuple(given), owned))
    return f"func.func private {name}({arguments}){results} {{\n{joined([*w.lines, end])}\n}}\n"
