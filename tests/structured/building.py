"""Writing programs: names, lines, the values in scope, and drawing among them.

Every size and every index is known while the program is written, though its text may not show it: `%k0`, `%k1` and `%k2` are
arguments that hold 0, 1 and 2. A tensor is `defined` unless an element of it may depend on contents that nobody wrote; what
decides where a program goes is computed from defined tensors alone.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

from tests.drawing import Writing

MOST_ELEMENTS = 48


@dataclass(frozen=True)
class Tensor:
    """A value; `static` says of each size whether its type shows it."""

    name: str
    sizes: tuple[int, ...]
    static: tuple[bool, ...]
    element: str
    defined: bool

    @property
    def rank(self) -> int:
        return len(self.sizes)

    @property
    def type(self) -> str:
        shown = "".join(f"{s if static else '?'}x" for s, static in zip(self.sizes, self.static, strict=True))
        return f"tensor<{shown}{self.element}>"

    def like(self, other: Tensor) -> bool:
        """Whether both have one type and one shape."""
        return self.type == other.type and self.sizes == other.sizes


@dataclass(frozen=True)
class Index:
    """An index between two numbers, both of which it may be."""

    name: str
    low: int
    high: int


@dataclass(frozen=True)
class Function:
    """A private function; it takes `%k0`, `%k1` and `%k2` first, and if it `counts`, how often it is to call itself."""

    name: str
    parameters: tuple[Tensor, ...]
    results: tuple[Tensor, ...]
    counts: bool = False


@dataclass
class Builder(Writing):
    """One function that is being written. `functions` and `texts` are the whole program's."""

    functions: list[Function] = field(default_factory=list[Function])
    texts: list[str] = field(default_factory=list[str])
    shapes: list[tuple[int, ...]] = field(default_factory=list[tuple[int, ...]])
    tensors: list[Tensor] = field(default_factory=list[Tensor])
    scalars: list[str] = field(default_factory=list[str])
    """Defined values of type `i32`."""
    indices: list[Index] = field(default_factory=list[Index])
    depth: int = 0
    """How many regions the next line lies in; functions called count."""

    # Drawing

    def some(self, fits: Callable[[Tensor], bool] = lambda _: True) -> Tensor | None:
        """A tensor in scope of those that fit, a late one rather than an early one."""
        return self.late([t for t in self.tensors if fits(t)])

    def same(self, tensor: Tensor, *, defined: bool = False) -> Tensor | None:
        """A tensor in scope of the type and shape of another one."""
        return self.some(lambda t: t.like(tensor) and (t.defined or not defined))

    # Writing

    def add(self, text: str, like: Tensor) -> Tensor:
        """A line whose result is a tensor; `like` says all of it but the name."""
        return self.keep(self.line(text), like)

    def keep(self, name: str, like: Tensor) -> Tensor:
        tensor = Tensor(name, like.sizes, like.static, like.element, like.defined)
        self.tensors.append(tensor)
        return tensor

    @contextmanager
    def region(self) -> Generator[list[str]]:
        """Lines of a region, and what is made in it, which is out of scope behind it."""
        outer, counts = self.lines, (len(self.tensors), len(self.scalars), len(self.indices))
        self.lines = []
        self.depth += 1
        yield self.lines
        self.lines = outer
        self.depth -= 1
        for values, count in zip((self.tensors, self.scalars, self.indices), counts, strict=True):
            del values[count:]

    # Indices and conditions

    def constant(self, value: int) -> str:
        return self.line(f"arith.constant {value} : index")

    def index(self, value: int) -> str:
        """An index value, which the text may hide."""
        if self.chance(50):
            return self.constant(value)
        if value <= 2:
            return f"%k{value}"
        return self.line(f"arith.addi {self.index(value - 2)}, %k2 : index")

    def condition(self) -> str:
        """An `i1`: of an index in scope, of the contents of a tensor, or one that the text hides."""
        kind = self.pick(("eq", "slt", "sge"))
        if self.scalars and self.chance(40):
            zero = self.line(f"arith.constant {self.between(-3, 3)} : i32")
            return self.line(f"arith.cmpi {kind}, {self.pick(self.scalars)}, {zero} : i32")
        left = self.pick([i.name for i in self.indices] or ["%k0", "%k1"])
        return self.line(f"arith.cmpi {kind}, {left}, %k{self.between(0, 2)} : index")

    # Tensors to begin with

    def shape(self) -> tuple[int, ...]:
        """Sizes: most often those that other tensors have."""
        if self.shapes and self.chance(75):
            return self.pick(self.shapes)
        sizes = tuple(self.pick((2, 4, 1, 2, 3, 4, 6, 4, 2, 3, 0)) for _ in range(self.pick((0, 1, 1, 2, 2, 3))))
        if math.prod(sizes) > MOST_ELEMENTS:
            return (4,)
        self.shapes.append(sizes)
        return sizes

    def described(self, sizes: Sequence[int], element: str, *, dynamic: int = 15) -> Tensor:
        """A type: each size is dynamic with a chance of so many percent."""
        return Tensor("", tuple(sizes), tuple(not self.chance(dynamic) for _ in sizes), element, True)

    def element(self) -> str:
        return self.pick(("i32", "i32", "i32", "f32"))

    def empty(self, like: Tensor) -> Tensor:
        operands = ", ".join(self.index(s) for s, shown in zip(like.sizes, like.static, strict=True) if not shown)
        op = "bufferization.alloc_tensor" if self.chance(10) else "tensor.empty"
        return self.add(f"{op}({operands}) : {like.type}", Tensor("", like.sizes, like.static, like.element, False))

    def filled(self, like: Tensor, into: Tensor | None = None) -> Tensor:
        into = self.empty(like) if into is None else into
        scalar = self.scalar(like.element)
        text = f"linalg.fill ins({scalar} : {into.element}) outs({into.name} : {into.type}) -> {into.type}"
        return self.add(text, Tensor("", into.sizes, into.static, into.element, True))

    def scalar(self, element: str) -> str:
        if element == "i32" and self.scalars and self.chance(60):
            return self.pick(self.scalars)
        number = self.between(-9, 9)
        return self.line(f"arith.constant {number if element == 'i32' else float(number)} : {element}")

    def dense(self, like: Tensor) -> Tensor:
        """A constant; all its sizes are static."""
        whole = Tensor("", like.sizes, (True,) * like.rank, like.element, True)
        number = self.between(-5, 5)
        text = f"{number if like.element == 'i32' else float(number)}"
        if like.rank == 1 and like.sizes[0]:
            numbers = [number + i if like.element == "i32" else float(number + i) for i in range(like.sizes[0])]
            text = str(numbers)
        return self.add(f"arith.constant dense<{text}> : {whole.type}", whole)

    def fresh_tensor(self, like: Tensor) -> Tensor:
        """A new tensor of a type: filled, a constant, or undefined."""
        kind = self.between(0, 9)
        if kind < 3 and all(like.static):
            return self.dense(like)
        return self.filled(like) if like.defined or kind < 7 else self.empty(like)

    def init(self, like: Tensor) -> Tensor:
        """Something to write a result into: a tensor in scope, or a new one without contents."""
        same = self.same(like)
        if same is not None and self.chance(60):
            return same
        return self.empty(like) if self.chance(80) else self.filled(like)
