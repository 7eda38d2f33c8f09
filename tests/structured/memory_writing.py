"""Writing programs on memrefs: memrefs in scope, lines, drawing among them."""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

KNOWN = (0, 1, 2, 4, 8)
NEGATIVE = -4
HIDDEN = ", ".join(["%c0: i1", "%c1: i1", *(f"%k{n}: index" for n in KNOWN), "%less: index"])
HIDDEN_TYPES = ", ".join(["i1", "i1", *["index"] * len(KNOWN), "index"])
HIDDEN_NAMES = ", ".join(["%c0", "%c1", *(f"%k{n}" for n in KNOWN), "%less"])
_SHAPES = ((8,), (8,), (2, 4), (2, 4), (4,), (4, 4), (4, 2), (0,), ())
_ELEMENTS = ("i32", "i32", "f32", "i64")


@dataclass(frozen=True, eq=False)
class Memref:
    """A memref in scope.

    Attributes:
        name: in the text.
        sizes: those that it has.
        shown: of each size, whether the type shows it.
        element: the element type.
        bases: numbers of the buffers of which it may be one.
        cells: the place of each element in its buffer; None if it is the whole of one.
        layout: strides and offset that the type shows, None for those that it hides; None for rows without gaps.
        owned: the number of the buffer if this is the allocation itself.
    """

    name: str
    sizes: tuple[int, ...]
    shown: tuple[bool, ...]
    element: str
    bases: frozenset[int]
    cells: Any = None
    layout: tuple[tuple[int | None, ...], int | None] | None = None
    owned: int | None = None

    @property
    def type(self) -> str:
        sizes = "".join(f"{n if shown else '?'}x" for n, shown in zip(self.sizes, self.shown, strict=True))
        if self.layout is None:
            return f"memref<{sizes}{self.element}>"
        strides = ", ".join("?" if n is None else str(n) for n in self.layout[0])
        offset = "" if self.layout[1] == 0 else f", offset: {'?' if self.layout[1] is None else self.layout[1]}"
        return f"memref<{sizes}{self.element}, strided<[{strides}]{offset}>>"

    @property
    def strides(self) -> tuple[tuple[int | None, ...], int | None]:
        if self.layout is not None:
            return self.layout
        found: list[int | None] = []
        for axis in range(len(self.sizes)):
            behind = range(axis + 1, len(self.sizes))
            found.append(int(np.prod([self.sizes[i] for i in behind])) if all(self.shown[i] for i in behind) else None)
        return tuple(found), 0

    @property
    def places(self) -> Any:
        whole: Any = np.arange(int(np.prod(self.sizes)))
        return whole.reshape(self.sizes) if self.cells is None else self.cells

    def fits(self, other: Memref) -> bool:
        """Whether an elementwise op may read the one and write the other."""
        if self.sizes != other.sizes or self.element != other.element:
            return False
        return not self.bases & other.bases or np.array_equal(self.places, other.places) or self.apart(other)

    def apart(self, other: Memref) -> bool:
        return not self.bases & other.bases or not np.intersect1d(self.places, other.places).size


@dataclass
class Writer:
    """One function that is being written; `frees` is whether it frees what it allocates."""

    random: Any
    frees: bool
    counter: list[int] = field(default_factory=lambda: [0])
    callees: list[tuple[str, tuple[Memref, ...], Memref | None]] = field(default_factory=list[Any])
    lines: list[str] = field(default_factory=list[str])
    memrefs: list[Memref] = field(default_factory=list[Memref])
    scalars: dict[str, list[str]] = field(default_factory=lambda: {e: [] for e in ("i32", "f32", "i64")})
    indices: list[tuple[str, int]] = field(default_factory=list[tuple[str, int]])
    """Names with the largest number that they may be."""
    depth: int = 0

    # Drawing and writing

    def chance(self, percent: int) -> bool:
        return self.random.randrange(100) < percent

    def pick(self, choices: Sequence[Any]) -> Any:
        return choices[self.random.randrange(len(choices))]

    def number(self) -> int:
        self.counter[0] += 1
        return self.counter[0]

    def line(self, text: str) -> str:
        name = f"%v{self.number()}"
        self.lines.append(f"{name} = {text}")
        return name

    def some(self, fits: Callable[[Memref], bool] = lambda _: True) -> Memref | None:
        found = [m for m in self.memrefs if fits(m)]
        if not found:
            return None
        return self.pick(found[-3:]) if self.chance(50) else self.pick(found)

    def index(self, value: int) -> str:
        if self.chance(40) and value in KNOWN:
            return f"%k{value}"
        if self.chance(15):
            return self.line(f"arith.addi %less, {self.index(value - NEGATIVE)} : index")
        return self.line(f"arith.constant {value} : index")

    def scalar(self, element: str) -> str:
        if self.scalars[element] and self.chance(50):
            return self.pick(self.scalars[element])
        value = self.random.randrange(-9, 10)
        return self.line(f"arith.constant {value if element[0] == 'i' else float(value)} : {element}")

    def condition(self) -> str:
        if self.indices and self.chance(50):
            return self.line(f"arith.cmpi eq, {self.pick(self.indices)[0]}, %k{self.pick((0, 1, 2))} : index")
        return self.pick(("%c0", "%c1"))

    @contextmanager
    def region(self) -> Generator[list[str]]:
        outer = self.lines, self.memrefs, self.scalars, self.indices
        self.lines, self.memrefs, self.indices = [], list(self.memrefs), list(self.indices)
        self.scalars = {element: list(names) for element, names in self.scalars.items()}
        self.depth += 1
        yield self.lines
        self.depth -= 1
        self.lines, self.memrefs, self.scalars, self.indices = outer

    # Memory

    def allocate(self, like: Memref | None = None) -> Memref:
        sizes = self.pick(_SHAPES) if like is None else like.sizes
        element = self.pick(_ELEMENTS) if like is None else like.element
        shown = tuple(not self.chance(20) for _ in sizes) if like is None else like.shown
        number = self.number()
        memref = Memref(f"%m{number}", sizes, shown, element, frozenset({number}), owned=number)
        dynamic = ", ".join(self.size(n) for n, known in zip(sizes, shown, strict=True) if not known)
        on_stack = self.chance(10) and not self.depth
        memref = replace(memref, owned=None) if on_stack else memref
        aligned = " {alignment = 64 : i64}" if self.chance(10) else ""
        self.lines.append(
            f"{memref.name} = memref.{'alloca' if on_stack else 'alloc'}({dynamic}){aligned} : {memref.type}"
        )
        self.memrefs.append(memref)
        return memref

    def size(self, value: int) -> str:
        shown = [(m, i) for m in self.memrefs for i, n in enumerate(m.sizes) if n == value]
        if shown and self.chance(40):
            memref, axis = self.pick(shown)
            position = self.line(f"arith.constant {axis} : index")
            return self.line(f"memref.dim {memref.name}, {position} : {memref.type}")
        return self.index(value)

    def wrote(self, element: str, sizes: Sequence[int], like: Memref) -> Memref | None:
        """Something to write what is computed from `like` into."""
        if self.chance(60):
            return self.some(lambda m: m.element == element and m.sizes == tuple(sizes) and like.fits(m))
        return self.allocate(Memref("", tuple(sizes), tuple(not self.chance(10) for _ in sizes), element, frozenset()))

    def free(self, memref: Memref) -> None:
        """Frees an allocation, which is out of scope from there on with all that may be a part of it."""
        self.lines.append(f"memref.dealloc {memref.name} : {memref.type}")
        self.memrefs = [m for m in self.memrefs if not m.bases & memref.bases]

    def finish(self, before: Sequence[Memref], kept: Sequence[Memref] = ()) -> None:
        """Frees what a region has allocated and does not hand out."""
        outside = {m.name for m in before} | {m.name for m in kept}
        if self.frees:
            made = [m for m in self.memrefs if m.owned is not None and m.name not in outside]
            for memref in self.random.sample(made, len(made)):
                self.free(memref)


def is_whole(memref: Memref) -> bool:
    return memref.layout is None and memref.cells is None


def joined(lines: Sequence[str]) -> str:
    return "\n".join(line if line.startswith("^") else "  " + line.replace("\n", "\n  ") for line in lines)
