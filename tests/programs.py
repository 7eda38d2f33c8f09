"""Random tensor programs as MLIR text, with what is needed to run them.

A program is a few arguments and then ops on tensors drawn from those made so far: so slices are sliced again, values are used
after something was written over a copy of them, and inits are shared. Sizes are 0 to 5, or expressions over the symbols `s0` and
`s1`, valid for every value from `LEAST_SYMBOL` on. Numbers are small integers, in floats too, and each value has a bound:
sums of floats are exact in any order, so results can be compared exactly.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import numpy as np
import sympy
from hypothesis import strategies as st

from tests.drawing import Writing
from tests.reference import DTYPES, Array

Size: TypeAlias = Any
"""An int or an expression over symbols."""

LEAST_SYMBOL, GREATEST_SYMBOL = 3, 6
_SYMBOLS = (sympy.Symbol("s0"), sympy.Symbol("s1"))
_LARGEST_FLOAT = 2**22  # integers up to here are exact in f32, whatever is added last
_MOST_ELEMENTS = 400
_ELEMENTS = ("f32", "f32", "f32", "i32", "i64", "f64")


def least(size: Size) -> int:
    """The size where it is smallest."""
    return int(sympy.sympify(size).subs(dict.fromkeys(_SYMBOLS, LEAST_SYMBOL)))


def most(sizes: Sequence[Size]) -> int:
    """How many elements a tensor has where it has most."""
    total = sympy.Mul(*sizes) if sizes else sympy.Integer(1)
    return int(total.subs(dict.fromkeys(_SYMBOLS, GREATEST_SYMBOL)))


@dataclass(frozen=True)
class Tensor:
    """A value: `static` says of each size whether its type shows it; `bound` is no less than any of its numbers."""

    name: str
    sizes: tuple[Size, ...]
    static: tuple[bool, ...]
    element: str
    bound: int

    @property
    def rank(self) -> int:
        return len(self.sizes)

    @property
    def type(self) -> str:
        return tensor_type(self.sizes, self.static, self.element)


def tensor_type(sizes: Sequence[Size], static: Sequence[bool], element: str) -> str:
    return (
        "tensor<" + "".join(f"{s if shown else '?'}x" for s, shown in zip(sizes, static, strict=True)) + f"{element}>"
    )


@dataclass(frozen=True)
class Argument:
    tensor: Tensor
    attributes: str


@dataclass(frozen=True)
class Program:
    """MLIR text and the arguments of its `@main`."""

    text: str
    arguments: tuple[Argument, ...]
    special: bool

    def inputs(self, symbols: Sequence[int], seed: int) -> list[Array]:
        """Arguments for values of the symbols; with infinities and NaN if the program is `special`."""
        generator = np.random.default_rng(seed)
        known = dict(zip(_SYMBOLS, symbols, strict=True))
        arrays: list[Array] = []
        for argument in self.arguments:
            tensor = argument.tensor
            shape = [int(sympy.sympify(size).subs(known)) for size in tensor.sizes]
            array = np.asarray(generator.integers(-3, 4, shape)).astype(DTYPES[tensor.element])
            if self.special and array.dtype.kind == "f":
                strange = generator.random(shape) < 0.2
                array = np.where(strange, generator.choice([np.nan, np.inf, -np.inf], shape), array).astype(array.dtype)
            arrays.append(array)
        return arrays

    @property
    def symbolic(self) -> bool:
        return "hotdesk.shape" in self.text


@st.composite
def programs(draw: Callable[..., Any]) -> Program:
    builder = _Builder(draw)
    builder.arguments_()
    for _ in range(builder.between(1, 9)):
        builder.step()
    return builder.finish()


@dataclass
class _Builder(Writing):
    tensors: list[Tensor] = field(default_factory=list)
    arguments: list[Argument] = field(default_factory=list)
    scalars: list[tuple[str, str, int]] = field(default_factory=list)
    symbols: dict[Any, tuple[str, int]] = field(default_factory=dict)
    special: bool = False

    # Drawing

    def some(self, fits: Callable[[Tensor], bool] = lambda _: True) -> Tensor | None:
        """A tensor of those that fit, a late one rather than an early one."""
        return self.late([t for t in self.tensors if fits(t)])

    # Writing

    def add(
        self, text: str, sizes: Sequence[Size], static: Sequence[bool], element: str, bound: int, name: str = ""
    ) -> Tensor:
        tensor = Tensor(name or self.line(text), tuple(sizes), tuple(static), element, bound)
        self.tensors.append(tensor)
        return tensor

    def index(self, size: Size) -> str:
        """An index value of a size, or of any expression."""
        size = sympy.sympify(size)
        if size.is_Integer:
            return self.line(f"arith.constant {size} : index")
        if size.is_Symbol:
            name, position = self.symbols[size]
            tensor = next(a.tensor for a in self.arguments if a.tensor.name == name)
            return self.line(f"tensor.dim {name}, {self.index(position)} : {tensor.type}")
        if isinstance(size, sympy.floor):
            dividend, divisor = sympy.fraction(sympy.together(size.args[0]))
            return self.line(f"arith.floordivsi {self.index(dividend)}, {self.index(divisor)} : index")
        name = "arith.addi" if size.is_Add else "arith.muli"
        parts = [size.base] * int(size.exp) if size.is_Pow else size.args
        result = self.index(parts[0])
        for argument in parts[1:]:
            result = self.line(f"{name} {result}, {self.index(argument)} : index")
        return result

    def constant(self, element: str, value: Any) -> str:
        text = value if isinstance(value, str) else f"{float(value)}" if element.startswith("f") else f"{int(value)}"
        if element == "i1":
            return self.line(f"arith.constant {str(value > 0).lower()}")
        return self.line(f"arith.constant {text} : {element}")

    def dense(self, sizes: Sequence[int], element: str) -> Tensor:
        numbers = [self.between(-3, 3) for _ in range(int(np.prod(sizes, dtype=int)))]
        shown = np.array([f"{n}.0" if element.startswith("f") else f"{n}" for n in numbers], object).reshape(
            tuple(sizes)
        )
        text = str(shown.tolist()).replace("'", "")
        if not numbers:
            text = ""
        if element == "i1":
            text = text.replace("-", "")
        return self.add(
            f"arith.constant dense<{text}> : {tensor_type(sizes, [True] * len(sizes), element)}",
            sizes, [True] * len(sizes), element, 3,
        )  # fmt: skip

    def empty(self, sizes: Sequence[Size], element: str, static: Sequence[bool] | None = None) -> Tensor:
        static = static or [isinstance(s, int) and not self.chance(10) for s in sizes]
        operands = ", ".join(self.index(s) for s, shown in zip(sizes, static, strict=True) if not shown)
        return self.add(
            f"tensor.empty({operands}) : {tensor_type(sizes, static, element)}", sizes, static, element, 1000
        )

    def filled(self, sizes: Sequence[Size], element: str, value: float | str | None = None, bound: int = 3) -> Tensor:
        init = self.empty(sizes, element)
        if value is None and self.scalars and self.chance(30):
            name, scalar_element, bound = self.pick(self.scalars)
            if scalar_element == element:
                return self.fill(init, name, bound)
        return self.fill(init, self.constant(element, self.between(-3, 3) if value is None else value), 3)

    def fill(self, init: Tensor, scalar: str, bound: int) -> Tensor:
        text = f"linalg.fill ins({scalar} : {init.element}) outs({init.name} : {init.type}) -> {init.type}"
        return self.add(text, init.sizes, init.static, init.element, bound)

    def init(
        self, sizes: Sequence[Size], element: str, static: Sequence[bool] | None = None, *, read: bool = False
    ) -> Tensor:
        """Something to write a result into: undefined, a fill, or a tensor that is there. `static` is what its type shows."""

        def fits(t: Tensor) -> bool:
            return t.sizes == tuple(sizes) and t.element == element and (static is None or t.static == tuple(static))

        same = self.some(fits)
        if same is not None and self.chance(50):
            return same
        if static is None and (read or self.chance(25)):
            return self.filled(sizes, element)
        return self.empty(sizes, element, static)

    def fits(self, bound: int, element: str) -> bool:
        return element.startswith("i") or bound <= _LARGEST_FLOAT

    # Steps

    def arguments_(self) -> None:
        self.special = self.chance(15)
        self.tensors.append(self.argument(0, dynamic=self.chance(60)))
        for number in range(1, self.between(1, 4)):
            self.tensors.append(self.argument(number, dynamic=self.chance(50)))

    def argument(self, number: int, dynamic: bool) -> Tensor:
        sizes: list[Size] = [self.pick((0, 1, 2, 3, 3, 4, 5)) for _ in range(self.pick((0, 1, 2, 2, 3, 3)))]
        kind = "input" if dynamic else self.pick(("input", "weight", "weight", "prepared"))
        attributes = [f'hotdesk.kind = "{kind}"']
        if dynamic:
            sizes = [self.pick(_SYMBOLS) if self.chance(50) else size for size in sizes]
        if number and self.tensors and self.chance(60):
            like = self.pick(self.tensors).sizes
            if dynamic or all(isinstance(size, int) for size in like):
                sizes = list(like)
        static = [isinstance(size, int) for size in sizes]
        if not all(static):
            attributes.append(f"hotdesk.shape = [{_quoted(sizes)}]")
        if kind == "input" and self.chance(30):
            attributes.append("hotdesk.donated")
        tensor = Tensor(f"%a{number}", tuple(sizes), tuple(static), self.pick(_ELEMENTS), 3)
        for position, size in enumerate(sizes):
            if not isinstance(size, int):
                self.symbols.setdefault(size, (tensor.name, position))
        self.arguments.append(Argument(tensor, "{" + ", ".join(attributes) + "}"))
        return tensor

    def step(self) -> None:
        steps = (
            self.elementwise, self.elementwise, self.elementwise, self.converted, self.reduced, self.contracted,
            self.contracted, self.transposed, self.sliced, self.sliced, self.inserted, self.inserted, self.expanded,
            self.collapsed, self.overwritten, self.overwritten, self.overwritten, self.outlived, self.cast, self.concatenated, self.padded, self.windowed, self.windowed, self.extracted, self.made,
        )  # fmt: skip
        self.pick(steps)()

    def overwritten(self) -> None:
        """A view of a tensor, then something written over the tensor, then a use of the view."""
        tensor = self.some(lambda t: t.rank > 0 and t.element != "i1" and most(t.sizes) <= 100)
        if tensor is None:
            return
        self.tensors.append(tensor)  # the last one, which steps prefer
        self.pick((self.sliced, self.sliced, self.collapsed, self.expanded, self.cast))()
        taken = self.tensors[-1]
        if self.chance(70):
            self.combined(
                self.some(lambda t: t.element == tensor.element and bool(self.places(t, tensor.sizes))), tensor
            )
        else:
            self.tensors.append(tensor)
            self.inserted()
        self.tensors.append(taken)
        self.elementwise()

    def outlived(self) -> None:
        """An element of a tensor that dies or is overwritten before the element is used."""
        tensor = self.some(
            lambda t: t.rank > 0 and t.element != "i1" and 0 < most(t.sizes) <= 100 and min(map(least, t.sizes)) > 0
        )
        if tensor is None:
            return
        place = ", ".join(f"d{i}" for i in range(tensor.rank))
        made = self.combined(tensor, self.empty(tensor.sizes, tensor.element), reads=False)
        scalar = self.extract(made)
        if self.chance(50):
            after = self.combined(tensor, made)
        else:
            after = self.combined(tensor, self.empty(tensor.sizes, tensor.element), reads=False)

        def body(ins: list[str], _: list[str]) -> list[tuple[str, int]]:
            return [self.combine([(ins[0], after.bound), (scalar, made.bound)], tensor.element)]

        out = self.empty(tensor.sizes, tensor.element)
        self.generic([(after, place)], [(out, place)], tensor.sizes, ["parallel"] * tensor.rank, body)

    def combined(self, source: Tensor | None, into: Tensor, *, reads: bool = True) -> Tensor:
        """An elementwise op of `source` with what it overwrites, or with itself."""
        assert source is not None
        place = ", ".join(f"d{i}" for i in range(into.rank))

        def body(ins: list[str], old: list[str]) -> list[tuple[str, int]]:
            other = (old[0], into.bound) if reads else (ins[0], source.bound)
            return [self.combine([(ins[0], source.bound), other], into.element)]

        inputs = [(source, self.pick(self.places(source, into.sizes)))]
        self.generic(inputs, [(into, place)], into.sizes, ["parallel"] * into.rank, body)
        return self.tensors[-1]

    def made(self) -> None:
        sizes = [self.between(0, 4) for _ in range(self.between(0, 3))]
        if self.chance(50):
            self.dense(sizes, self.pick(_ELEMENTS))
        else:
            self.filled(sizes, self.pick(_ELEMENTS))

    def extracted(self) -> None:
        tensor = self.some(lambda t: all(least(s) > 0 for s in t.sizes) and t.element != "i1")
        if tensor is not None:
            self.scalars.append((self.extract(tensor), tensor.element, tensor.bound))

    def extract(self, tensor: Tensor) -> str:
        where = ", ".join(self.index(self.between(0, least(s) - 1)) for s in tensor.sizes)
        return self.line(f"tensor.extract {tensor.name}[{where}] : {tensor.type}")

    # linalg

    def places(self, tensor: Tensor, domain: Sequence[Size]) -> list[str]:
        """The index maps with which a tensor can be read over a domain."""
        found: list[str] = []
        for positions in itertools.permutations(range(len(domain)), tensor.rank):
            if all(tensor.sizes[i] == domain[p] for i, p in enumerate(positions)):
                found.append(", ".join(f"d{p}" for p in positions))
        if tensor.rank and all(least(s) > 0 for s in tensor.sizes):
            found.append(", ".join("0" for _ in tensor.sizes))
        return found

    def generic(
        self, inputs: Sequence[tuple[Tensor, str]], outs: Sequence[tuple[Tensor, str]], domain: Sequence[Size],
        kinds: Sequence[str], body: Callable[[list[str], list[str]], list[tuple[str, int]]],
    ) -> None:  # fmt: skip
        dims = ", ".join(f"d{i}" for i in range(len(domain)))
        maps = ", ".join(f"affine_map<({dims}) -> ({place})>" for _, place in (*inputs, *outs))
        arguments = [self.fresh() for _ in (*inputs, *outs)]
        outer, self.lines = self.lines, []
        results = body(arguments[: len(inputs)], arguments[len(inputs) :])
        inner, self.lines = self.lines, outer
        yielded = [tensor.element for tensor, _ in outs]
        inner.append(f"linalg.yield {', '.join(n for n, _ in results)} : {', '.join(yielded)}")
        operands = [
            f"{', '.join(t.name for t, _ in part)} : {', '.join(t.type for t, _ in part)}" for part in (inputs, outs)
        ]
        signature = ", ".join(f"{a} : {t.element}" for a, (t, _) in zip(arguments, (*inputs, *outs), strict=True))
        ins = f"ins({operands[0]}) " if inputs else ""
        types = ", ".join(t.type for t, _ in outs)
        name = self.fresh()
        self.lines.append(
            f"{name}{f':{len(outs)}' if len(outs) > 1 else ''} = linalg.generic {{indexing_maps = [{maps}], iterator_types = "
            f"[{_quoted(kinds)}]}} {ins}outs({operands[1]}) {{\n^bb0({signature}):\n    "
            + "\n    ".join(inner) + f"\n}} -> {types if len(outs) == 1 else f'({types})'}"
        )  # fmt: skip
        for number, ((out, _), (_, bound)) in enumerate(zip(outs, results, strict=True)):
            self.add("", out.sizes, out.static, out.element, bound, f"{name}#{number}" if len(outs) > 1 else name)

    def combine(self, terms: list[tuple[str, int]], element: str) -> tuple[str, int]:
        """One scalar from several, and its bound."""
        name, bound = terms[0]
        suffix, kinds = ("f", ("add", "sub", "mul", "maximum", "minimum"))
        if element.startswith("i"):
            suffix, kinds = ("i", ("add", "sub", "mul", "maxs", "mins"))
        for other, other_bound in terms[1:]:
            kind = self.pick(kinds)
            larger = bound * other_bound if kind == "mul" else bound + other_bound
            if not self.fits(larger, element):
                kind, larger = kinds[3], max(bound, other_bound)
            name, bound = self.line(f"arith.{kind}{suffix} {name}, {other} : {element}"), larger
        return name, bound

    def elementwise(self) -> None:
        first = self.some(lambda t: t.element != "i1" and most(t.sizes) <= _MOST_ELEMENTS)
        if first is None:
            return
        element, domain = first.element, list(first.sizes)
        if self.chance(25):
            domain.insert(self.between(0, len(domain)), self.pick((0, 1, 2, 3)))
        if len(domain) > 4 or most(domain) > _MOST_ELEMENTS:
            return
        inputs = [(first, self.pick(self.places(first, domain)))]
        for _ in range(self.between(0, 2)):
            other = self.some(lambda t: t.element == element and bool(self.places(t, domain)))
            assert other is not None
            inputs.append((other, self.pick(self.places(other, domain))))
        if self.chance(10):
            inputs = []
        outs = self.outs(domain, element)
        read = [self.chance(25) for _ in outs]
        inside = self.some(lambda t: t.element == element and all(least(s) > 0 for s in t.sizes))
        captured = [s for s in self.scalars if s[1] == element]

        def body(ins: list[str], accumulators: list[str]) -> list[tuple[str, int]]:
            results: list[tuple[str, int]] = []
            for (out, _), accumulator, reads in zip(outs, accumulators, read, strict=True):
                terms = [(name, tensor.bound) for name, (tensor, _) in zip(ins, inputs, strict=True)]
                if reads:
                    terms.append((accumulator, out.bound))
                if inside is not None and self.chance(12):
                    terms.append((self.extract(inside), inside.bound))
                if captured and self.chance(50):
                    name, _, bound = captured[-1] if self.chance(60) else self.pick(captured)
                    terms.append((name, bound))
                if domain and self.chance(12):
                    terms.append((self.position(self.between(0, len(domain) - 1), element), 50))
                results.append(self.combine(terms or [(self.constant(element, 2), 2)], element))
            return results

        self.generic(inputs, outs, domain, ["parallel"] * len(domain), body)

    def position(self, dim: int, element: str) -> str:
        number = self.line(f"linalg.index {dim} : index")
        if element == "i32" or element == "i64":
            return self.line(f"arith.index_cast {number} : index to {element}")
        integer = self.line(f"arith.index_cast {number} : index to i64")
        return self.line(f"arith.sitofp {integer} : i64 to {element}")

    def outs(self, domain: Sequence[Size], element: str) -> list[tuple[Tensor, str]]:
        outs: list[tuple[Tensor, str]] = []
        for _ in range(2 if self.chance(20) else 1):
            order = list(range(len(domain)))
            if self.chance(20):
                order = self.draw(st.permutations(order))
            outs.append((self.init([domain[i] for i in order], element), ", ".join(f"d{i}" for i in order)))
        return outs

    def converted(self) -> None:
        tensor = self.some()
        assert tensor is not None
        source = tensor.element
        conversions = {
            "f32": (("f64", "extf"), ("i1", "cmp")),
            "f64": (("f32", "truncf"), ("i1", "cmp")),
            "i32": (("i64", "extsi"), ("f32", "sitofp"), ("i1", "cmp")),
            "i64": (("i32", "trunci"), ("i1", "cmp")),
            "i1": (("i32", "extui"), ("i64", "extsi"), ("f32", "select")),
        }
        target, name = self.pick(conversions[source])
        if name == "sitofp" and tensor.bound > _LARGEST_FLOAT:
            return
        place = ", ".join(f"d{i}" for i in range(tensor.rank))

        def body(ins: list[str], _: list[str]) -> list[tuple[str, int]]:
            if name == "cmp":
                how = "cmpf ogt" if source.startswith("f") else "cmpi sgt"
                return [(self.line(f"arith.{how}, {ins[0]}, {self.constant(source, 0)} : {source}"), 1)]
            if name == "select":
                one, two = self.constant(target, 1), self.constant(target, -2)
                return [(self.line(f"arith.select {ins[0]}, {one}, {two} : {target}"), 2)]
            return [(self.line(f"arith.{name} {ins[0]} : {source} to {target}"), max(1, tensor.bound))]

        out = self.init(tensor.sizes, target)
        self.generic([(tensor, place)], [(out, place)], tensor.sizes, ["parallel"] * tensor.rank, body)

    def reduced(self) -> None:
        tensor = self.some(lambda t: t.rank > 0 and t.element != "i1")
        if tensor is None:
            return
        kept = [i for i in range(tensor.rank) if self.chance(50)]
        init = self.init([tensor.sizes[i] for i in kept], tensor.element, read=True)
        summed = not self.chance(40)
        bound = init.bound + (tensor.bound * most(tensor.sizes) if summed else tensor.bound)
        if not self.fits(bound, tensor.element):
            return
        floats = tensor.element.startswith("f")
        op = ("arith.addf" if floats else "arith.addi") if summed else ("arith.maximumf" if floats else "arith.maxsi")

        def body(ins: list[str], accumulators: list[str]) -> list[tuple[str, int]]:
            return [(self.line(f"{op} {ins[0]}, {accumulators[0]} : {tensor.element}"), bound)]

        places = [", ".join(f"d{i}" for i in range(tensor.rank)), ", ".join(f"d{i}" for i in kept)]
        kinds = ["parallel" if i in kept else "reduction" for i in range(tensor.rank)]
        self.generic([(tensor, places[0])], [(init, places[1])], tensor.sizes, kinds, body)

    def transposed(self) -> Tensor | None:
        tensor = self.some(lambda t: t.rank > 0)
        return None if tensor is None else self.transpose(tensor, self.draw(st.permutations(list(range(tensor.rank)))))

    def transpose(self, tensor: Tensor, order: Sequence[int]) -> Tensor:
        init = self.init([tensor.sizes[i] for i in order], tensor.element, [tensor.static[i] for i in order])
        text = f"linalg.transpose ins({tensor.name} : {tensor.type}) outs({init.name} : {init.type}) permutation = {list(order)}"
        return self.add(text, init.sizes, init.static, tensor.element, tensor.bound)

    def broadcast(self, tensor: Tensor, position: int, size: Size) -> Tensor:
        sizes = [*tensor.sizes[:position], size, *tensor.sizes[position:]]
        static = [*tensor.static[:position], isinstance(size, int), *tensor.static[position:]]
        init = self.init(sizes, tensor.element, static)
        text = f"linalg.broadcast ins({tensor.name} : {tensor.type}) outs({init.name} : {init.type}) dimensions = [{position}]"
        return self.add(text, init.sizes, init.static, tensor.element, tensor.bound)

    def contracted(self) -> None:
        tensor = self.some(lambda t: 1 <= t.rank <= 3 and t.element != "i1")
        if tensor is None:
            return
        if tensor.rank == 1 and self.chance(50):
            tensor = self.broadcast(tensor, self.between(0, 1), self.pick((1, 2, 3)))
        element, summed = tensor.element, tensor.sizes[-1]
        name = {1: ("dot", "vecmat"), 2: ("matmul", "matmul", "matvec"), 3: ("batch_matmul",)}[tensor.rank]
        kind = self.pick(name)
        free = [] if kind in ("dot", "matvec") else [None]
        leading = [tensor.sizes[0]] if kind == "batch_matmul" else []
        wanted = [*leading, summed, *free]
        right = self.operand(wanted, element)
        if right is None:
            return
        result = [*tensor.sizes[:-1], *(right.sizes[-1:] if free else [])]
        init = self.filled(result, element, 0) if self.chance(60) else self.init(result, element, read=True)
        bound = init.bound + tensor.bound * right.bound * max(1, most([summed]))
        if not self.fits(bound, element) or most([*result, summed]) > 4 * _MOST_ELEMENTS:
            return
        types = f"{tensor.type}, {right.type}"
        text = (
            f"linalg.{kind} ins({tensor.name}, {right.name} : {types}) outs({init.name} : {init.type}) -> {init.type}"
        )
        self.add(text, init.sizes, init.static, element, bound)

    def operand(self, wanted: Sequence[Size | None], element: str) -> Tensor | None:
        """A tensor of these sizes (None: any): one that is there, transposed or broadcast if need be, or a constant."""

        def matches(sizes: Sequence[Size]) -> bool:
            return len(sizes) == len(wanted) and all(w is None or s == w for s, w in zip(sizes, wanted, strict=True))

        found = self.some(lambda t: t.element == element and matches(t.sizes))
        if found is not None and self.chance(70):
            return found
        if len(wanted) == 2:
            turned = self.some(lambda t: t.element == element and matches(t.sizes[::-1]))
            if turned is not None and self.chance(70):
                return self.transpose(turned, (1, 0))
        if len(wanted) == 2 and wanted[1] is None and self.chance(40):
            row = self.some(lambda t: t.element == element and t.rank == 1)
            if row is not None:
                return self.broadcast(row, 0, wanted[0])
        if all(isinstance(w, int) or w is None for w in wanted):
            return self.dense([self.between(0, 3) if w is None else w for w in wanted], element)
        return self.filled([2 if w is None else w for w in wanted], element) if self.chance(50) else found

    # Windows

    def windowed(self) -> None:
        tensor = self.some(lambda t: t.rank == 3 and t.element in ("f32", "i32", "i64"))
        if self.special or tensor is None or most(tensor.sizes) > 150:
            return
        convolution = self.chance(50) and isinstance(tensor.sizes[1], int)
        kind = "conv" if convolution else self.pick(("max", "sum"))
        neutral = "0" if kind != "max" else str(-(2 ** (int(tensor.element[1:]) - 1)))
        if tensor.element == "f32":
            neutral = "0.0" if kind != "max" else "0xFF800000"
        if self.chance(60):
            value = neutral if self.chance(75) else ("1.0" if tensor.element == "f32" else "1")
            tensor = self.pad(tensor, (0, 0, self.between(0, 2)), (0, 0, self.between(0, 2)), value)
        window, stride, dilation = self.between(1, 3), self.pick((1, 1, 2, 3)), self.pick((1, 1, 2))
        reach = (window - 1) * dilation + 1
        if least(tensor.sizes[2]) < reach:
            return
        width = _quotient(tensor.sizes[2] - reach, stride) + 1
        attributes = f"{{strides = dense<{stride}> : tensor<1xi64>, dilations = dense<{dilation}> : tensor<1xi64>}}"
        channels = tensor.sizes[1]
        if convolution:
            filters = self.between(1, 2)
            other = self.dense([filters, channels, window], tensor.element)
            sizes, name = [tensor.sizes[0], filters, width], "conv_1d_ncw_fcw"
            bound = tensor.bound * 3 * channels * window
        else:
            other = self.empty([window], tensor.element)
            if not all(other.static):
                return
            sizes, name = [tensor.sizes[0], channels, width], f"pooling_ncw_{kind}"
            bound = tensor.bound * (window if kind == "sum" else 1)
        start = (
            self.filled(sizes, tensor.element, neutral)
            if self.chance(70)
            else self.init(sizes, tensor.element, read=True)
        )
        if not self.fits(bound + start.bound, tensor.element):
            return
        text = (
            f"linalg.{name} {attributes} ins({tensor.name}, {other.name} : {tensor.type}, {other.type}) "
            f"outs({start.name} : {start.type}) -> {start.type}"
        )
        self.add(text, sizes, start.static, tensor.element, bound + start.bound)

    # tensor

    def padded(self) -> None:
        tensor = self.some(lambda t: t.rank > 0 and t.element != "i1" and most(t.sizes) <= 100)
        if tensor is not None:
            low, high = ([self.between(0, 2) for _ in tensor.sizes] for _ in range(2))
            self.pad(tensor, low, high, "1.0" if tensor.element.startswith("f") else "1")

    def pad(self, tensor: Tensor, low: Sequence[int], high: Sequence[int], value: str) -> Tensor:
        scalar = self.constant(tensor.element, value)
        sizes = [a + s + b for a, s, b in zip(low, tensor.sizes, high, strict=True)]
        result = tensor_type(sizes, tensor.static, tensor.element)
        indices = ", ".join(f"{self.fresh()} : index" for _ in sizes)
        text = f"tensor.pad {tensor.name} low{list(low)} high{list(high)} {{\n^bb0({indices}):\n    tensor.yield {scalar} : {tensor.element}\n}}"
        return self.add(f"{text} : {tensor.type} to {result}", sizes, tensor.static, tensor.element, tensor.bound)

    def sliced(self) -> None:
        tensor = self.some(lambda t: t.rank > 0 and all(least(s) > 0 for s in t.sizes))
        if tensor is None:
            return
        entries: list[tuple[str, str, int]] = []
        sizes: list[Size] = []
        static: list[bool] = []
        for size in tensor.sizes:
            offset, count, stride = self.range(size)
            shown = isinstance(count, int) and not self.chance(10)
            start = str(offset) if isinstance(offset, int) and not self.chance(20) else self.index(offset)
            entries.append((start, str(count) if shown else self.index(count), stride))
            sizes.append(count)
            static.append(shown)
        dropped = [i for i, s in enumerate(sizes) if s == 1 and static[i] and self.chance(40)]
        kept = [i for i in range(tensor.rank) if i not in dropped]
        sizes, static = [sizes[i] for i in kept], [static[i] for i in kept]
        result = tensor_type(sizes, static, tensor.element)
        text = f"tensor.extract_slice {tensor.name}{_ranges(entries)} : {tensor.type} to {result}"
        self.add(text, sizes, static, tensor.element, tensor.bound)

    def range(self, size: Size) -> tuple[Size, Size, int]:
        """An offset, a number of elements and a stride inside a size."""
        smallest, stride = least(size), self.pick((1, 1, 1, 2))
        offset: Size = self.between(0, min(2, smallest - 1))
        left = smallest - offset
        if isinstance(size, int) or self.chance(30):
            count = self.between(0, -(-left // stride))
            if not isinstance(size, int) and count and stride == 1 and self.chance(30):
                return sympy.expand(size - count), count, 1  # the last ones
            return offset, count, stride
        if stride == 1:
            return offset, _int(size - offset - self.between(0, left)), 1
        return offset, _int(_quotient(size - offset - 1, stride) + 1), stride

    def inserted(self) -> None:
        source = self.some(lambda t: 0 < t.rank <= 3 and most(t.sizes) <= 150)
        if source is None:
            return
        position = self.between(0, source.rank) if self.chance(25) and source.rank < 3 else None
        shape = list(source.sizes)
        if position is not None:
            shape.insert(position, 1)
        into = self.some(lambda t: t.element == source.element and _holds(t.sizes, shape))
        if into is None or self.chance(40):
            sizes = [s + self.between(0 if least(s) else 1, 2) for s in shape]
            into = self.init(sizes, source.element)
        entries: list[tuple[str, str, int]] = []
        shown = list(source.static)
        if position is not None:
            shown.insert(position, True)
        for size, whole, is_shown in zip(shape, into.sizes, shown, strict=True):
            spare = int(whole - size)
            stride = 2 if isinstance(size, int) and 0 < size <= spare + 1 and self.chance(20) else 1
            spare -= (size - 1) * (stride - 1) if stride > 1 else 0
            offset = self.between(0, spare if least(size) else spare - 1)
            start = self.index(offset) if self.chance(15) else str(offset)
            entries.append((start, str(size) if is_shown else self.index(size), stride))
        text = f"tensor.insert_slice {source.name} into {into.name}{_ranges(entries)} : {source.type} into {into.type}"
        self.add(text, into.sizes, into.static, into.element, max(source.bound, into.bound))

    def expanded(self) -> None:
        tensor = self.some(lambda t: t.rank < 3)
        if tensor is None:
            return
        groups: list[list[int]] = []
        sizes: list[Size] = []
        static: list[bool] = []
        chosen = self.between(0, tensor.rank - 1) if tensor.rank else -1
        for i, (size, shown) in enumerate(zip(tensor.sizes, tensor.static, strict=True)):
            parts = [(size, shown)]
            if i == chosen:
                factor = self.pick([f for f in (1, 1, 2, 3) if isinstance(size, int) and size % f == 0] or [1])
                parts = [(size // factor if factor > 1 else size, shown), (factor, True)]
                parts = parts[::-1] if self.chance(50) else parts
            groups.append(list(range(len(sizes), len(sizes) + len(parts))))
            sizes += [s for s, _ in parts]
            static += [s for _, s in parts]
        if tensor.rank == 0:
            sizes, static = [1] * self.between(1, 2), [True] * 2
            static = static[: len(sizes)]
        shape = ", ".join(str(s) if shown else self.index(s) for s, shown in zip(sizes, static, strict=True))
        result = tensor_type(sizes, static, tensor.element)
        text = f"tensor.expand_shape {tensor.name} {groups} output_shape [{shape}] : {tensor.type} into {result}"
        self.add(text, sizes, static, tensor.element, tensor.bound)

    def collapsed(self) -> None:
        tensor = self.some(lambda t: t.rank > 1 or (t.rank == 1 and t.sizes == (1,) and t.static[0]))
        if tensor is None:
            return
        cut = [self.chance(40) for _ in tensor.sizes[1:]]
        groups: list[list[int]] = [[0]]
        for i, is_cut in enumerate(cut, 1):
            groups = [*groups, [i]] if is_cut else [*groups[:-1], [*groups[-1], i]]
        if all(s == 1 for s in tensor.sizes) and all(tensor.static) and self.chance(70):
            groups = []
        if len(groups) == tensor.rank:
            return
        sizes = [_int(sympy.Mul(*(tensor.sizes[i] for i in group))) for group in groups]
        static = [all(tensor.static[i] for i in group) for group in groups]
        result = tensor_type(sizes, static, tensor.element)
        text = f"tensor.collapse_shape {tensor.name} {groups} : {tensor.type} into {result}"
        self.add(text, sizes, static, tensor.element, tensor.bound)

    def cast(self) -> None:
        tensor = self.some(lambda t: any(isinstance(s, int) for s in t.sizes))
        if tensor is None:
            return
        static = tuple(isinstance(s, int) and self.chance(50) for s in tensor.sizes)
        if static == tensor.static:
            return
        result = tensor_type(tensor.sizes, static, tensor.element)
        self.add(
            f"tensor.cast {tensor.name} : {tensor.type} to {result}", tensor.sizes, static, tensor.element, tensor.bound
        )

    def concatenated(self) -> None:
        first = self.some(lambda t: t.rank > 0 and most(t.sizes) <= 100)
        if first is None:
            return
        axis = self.between(0, first.rank - 1)

        def joins(t: Tensor) -> bool:
            same = t.element == first.element and t.rank == first.rank and most(t.sizes) <= 100
            return same and all(a == b for i, (a, b) in enumerate(zip(t.sizes, first.sizes, strict=True)) if i != axis)

        parts = [first]
        for _ in range(self.between(0, 2)):
            other = self.some(joins)
            assert other is not None
            parts.append(other)
        parts = self.draw(st.permutations(parts))
        sizes, static = list(first.sizes), [any(t.static[i] for t in parts) for i in range(first.rank)]
        sizes[axis] = _int(sum(t.sizes[axis] for t in parts))
        static[axis] = all(t.static[axis] for t in parts)
        types = ", ".join(t.type for t in parts)
        result = tensor_type(sizes, static, first.element)
        text = f"tensor.concat dim({axis}) {', '.join(t.name for t in parts)} : ({types}) -> {result}"
        self.add(text, sizes, static, first.element, max(t.bound for t in parts))

    # The end

    def unused(self) -> list[Tensor]:
        """The last tensors that nothing uses, which are returned so that nothing is dead."""
        used = set(re.findall(r"%\w+(?:#\d+)?", " ".join(line.split(" = ", 1)[1] for line in self.lines)))
        made = [t for t in self.tensors[len(self.arguments) :] if t.name not in used]
        return self.draw(st.permutations(made[-4:] or self.tensors[-1:]))

    def finish(self) -> Program:
        results = self.unused()
        for _ in range(self.between(0, 2)):
            results.append(self.pick(self.tensors))
        names, types = ", ".join(t.name for t in results), ", ".join(t.type for t in results)
        signature = ", ".join(f"{a.tensor.name}: {a.tensor.type} {a.attributes}" for a in self.arguments)
        body = "\n  ".join(line.replace("\n", "\n  ") for line in self.lines)
        text = f"func.func @main({signature}) -> ({types}) {{\n  {body}\n  return {names} : {types}\n}}\n"
        return Program(text, tuple(self.arguments), self.special)


def _quotient(size: Size, divisor: int) -> Size:
    return _int(sympy.floor(sympy.sympify(size) / divisor))


def _int(size: Size) -> Size:
    size = sympy.expand(size)
    return int(size) if size.is_Integer else size


def _holds(sizes: Sequence[Size], part: Sequence[Size]) -> bool:
    """Whether a tensor has room for a part everywhere; MLIR wants the part to begin inside, even if it has no elements."""
    if len(sizes) != len(part) or any(least(size) == 0 for size in sizes):
        return False
    spare = [sympy.expand(whole - size) for whole, size in zip(sizes, part, strict=True)]
    return all(s.is_Integer and s >= 0 for s in spare)


def _quoted(words: Sequence[Any]) -> str:
    return ", ".join(f'"{word}"' for word in words)


def _ranges(entries: Sequence[tuple[str, str, int]]) -> str:
    return "".join("[" + ", ".join(str(entry[i]) for entry in entries) + "]" for i in range(3))
