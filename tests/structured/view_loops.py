"""Random programs of loops over views of memory: elementwise ops, generic and named, over slices of a few buffers that overlap in
part, transposed and cast. An op reads what it overwrites only where it writes it; some allocations nobody reads in the end."""

from __future__ import annotations

from random import Random
from typing import NamedTuple

WHOLE = "memref<4x4xf32>"
ARGUMENTS = 3
_BINARY = ("linalg.add", "linalg.sub", "linalg.mul", "linalg.max")
_UNARY = ("linalg.negf", "linalg.abs", "linalg.square")


class _View(NamedTuple):
    name: str
    type: str
    base: str
    cells: tuple[tuple[int, ...], ...]  # where its elements are in the base


def views_program(random: Random) -> str:
    """`@main` of `ARGUMENTS` buffers of 4 × 4 floats, which it returns."""
    return _Loops(random).program()


class _Loops:
    def __init__(self, random: Random) -> None:
        self._random = random
        self._count = 0
        self._lines: list[str] = []
        self._views: list[_View] = []
        self._bases: list[str] = []

    def program(self) -> str:
        cells = tuple(tuple(range(4 * row, 4 * row + 4)) for row in range(4))
        apart = self._random.random() < 0.8
        names = [f"%x{i}" for i in range(ARGUMENTS)]
        for name in names:
            self._views.append(_View(name, WHOLE, name, cells))
        for _ in range(self._random.randint(1, 3)):
            name = self._define(f"memref.alloc() : {WHOLE}")
            self._views.append(_View(name, WHOLE, name, cells))
            self._bases.append(name)
            if self._random.random() < 0.1:
                self._lines.append(f"linalg.fill ins(%k : f32) outs({name} : {WHOLE})")
        for _ in range(self._random.randint(1, 4)):
            self._view()
        last: _View | None = None
        for _ in range(self._random.randint(2, 7)):
            if self._random.random() < 0.2:
                self._view()
            elif self._random.random() < 0.08:
                self._copied()
            elif self._random.random() < 0.12:
                last = self._chain()
            else:
                last = self._loop(last) or last
        self._lines.extend(f"memref.dealloc {name} : {WHOLE}" for name in self._bases if self._random.random() < 0.5)
        given = ", ".join(f"{name}: {WHOLE}{' {llvm.noalias}' if apart else ''}" for name in names)
        kinds = ", ".join([WHOLE] * ARGUMENTS)
        body = "\n".join(self._lines)
        return f"""func.func @main({given}) -> ({kinds}) {{
%k = arith.constant 3.0 : f32
{body}
return {", ".join(names)} : {kinds}
}}"""

    def _define(self, text: str) -> str:
        self._count += 1
        self._lines.append(f"%v{self._count} = {text}")
        return f"%v{self._count}"

    def _view(self) -> None:
        own = [each for each in self._views if each.base in self._bases]
        source = self._random.choice(own if self._random.random() < 0.7 else self._views)
        kind = self._random.random()
        if kind < 0.2:
            turned = tuple(zip(*source.cells, strict=True))
            type_ = _type(turned)
            name = self._define(f"memref.transpose {source.name} (i, j) -> (j, i) : {source.type} to {type_}")
            self._views.append(_View(name, type_, source.base, turned))
            return
        rows, columns = len(source.cells), len(source.cells[0])
        height, width = self._random.choice((2, 2, rows)), self._random.choice((2, 2, columns))
        row, column = self._random.randint(0, rows - height), self._random.randint(0, columns - width)
        cells = tuple(cells[column : column + width] for cells in source.cells[row : row + height])
        type_ = _type(cells)
        name = self._define(
            f"memref.subview {source.name}[{row}, {column}] [{height}, {width}] [1, 1] : {source.type} to {type_}"
        )
        self._views.append(_View(name, type_, source.base, cells))

    def _chain(self) -> _View:
        """Loops from one view of a buffer to the next, of which nobody else knows, and into another one."""
        known, bases = list(self._views), list(self._bases)
        name = self._define(f"memref.alloc() : {WHOLE}")
        self._bases = [name]
        self._views = [_View(name, WHOLE, name, tuple(tuple(range(4 * row, 4 * row + 4)) for row in range(4)))]
        for _ in range(3):
            self._view()
        views, self._views, self._bases = self._views[1:], known, bases
        last = self._random.choice(known)
        fitting = [each for each in (*views, *views, last) if _sizes(each) == _sizes(views[0])]
        source = next((each for each in known if _sizes(each) == _sizes(views[0])), fitting[0])
        for target in (*fitting[:3], source):
            if source.base != target.base or source.cells == target.cells or _are_apart(source, target):
                write = self._named if self._random.random() < 0.4 else self._generic
                self._lines.append(write([source], target))
                source = target
        return source

    def _copied(self) -> None:
        target = self._random.choice(self._views)
        sources = [each for each in self._views if _sizes(each) == _sizes(target) and _are_apart(each, target)]
        if sources:
            source = self._random.choice(sources)
            self._lines.append(f"memref.copy {source.name}, {target.name} : {source.type} to {target.type}")

    def _loop(self, last: _View | None) -> _View | None:
        """An op over views of one size, often the last one written; it overwrites one of them or another."""
        first = last if last is not None and self._random.random() < 0.7 else self._random.choice(self._views)
        alike = [each for each in dict.fromkeys((*self._views, first)) if _sizes(each) == _sizes(first)]
        inputs = [first, *([self._random.choice(alike)] if self._random.random() < 0.5 else [])]
        targets = [
            each
            for each in alike
            if all((each.cells == i.cells and each.base == i.base) or _are_apart(each, i) for i in inputs)
        ]
        if not targets:
            return None
        beside = [each for each in targets if each.base == first.base != each.name and first.base in self._bases]
        target = self._random.choice(beside if beside and self._random.random() < 0.5 else targets)
        self._lines.append(
            self._named(inputs, target) if self._random.random() < 0.5 else self._generic(inputs, target)
        )
        return target

    def _named(self, inputs: list[_View], target: _View) -> str:
        names, types = ", ".join(each.name for each in inputs), ", ".join(each.type for each in inputs)
        operands = f"ins({names} : {types}) outs({target.name} : {target.type})"
        kind = self._random.random()
        if kind < 0.25:
            payload = "arith.addf" if len(inputs) == 2 else "math.absf"
            return f"linalg.map {{ {payload} }} {operands}"
        if kind < 0.4:
            word = "add" if len(inputs) == 2 else "negf"
            return f"linalg.elementwise kind=#linalg.elementwise_kind<{word}> {operands}"
        if kind < 0.5 and len(inputs) == 1 and inputs[0].base != target.base:
            return f"linalg.copy {operands}"
        return f"{self._random.choice(_BINARY if len(inputs) == 2 else _UNARY)} {operands}"

    def _generic(self, inputs: list[_View], target: _View) -> str:
        square = len(target.cells) == len(target.cells[0])
        maps = ["affine_map<(i, j) -> (i, j)>"] * (len(inputs) + 1)
        for number, each in enumerate(inputs):
            if square and _are_apart(each, target) and self._random.random() < 0.15:
                maps[number] = "affine_map<(i, j) -> (j, i)>"
        names, types = ", ".join(each.name for each in inputs), ", ".join(each.type for each in inputs)
        arguments = ", ".join([*(f"%p{i}: f32" for i in range(len(inputs))), "%o: f32"])
        accumulates = self._random.random() < 0.2
        terms = [f"%p{i}" for i in range(len(inputs))] + (["%o"] if accumulates else [])
        op = self._random.choice(("arith.addf", "arith.subf", "arith.mulf"))
        lines = [f"%s{i} = {op} {'%k' if i == 0 else f'%s{i - 1}'}, {term} : f32" for i, term in enumerate(terms)]
        body = "\n".join(lines)
        return f"""linalg.generic {{indexing_maps = [{", ".join(maps)}], iterator_types = ["parallel", "parallel"]}}
  ins({names} : {types}) outs({target.name} : {target.type}) {{
^bb0({arguments}):
{body}
linalg.yield %s{len(terms) - 1} : f32
}}"""


def _sizes(view: _View) -> tuple[int, int]:
    return len(view.cells), len(view.cells[0])


def _are_apart(a: _View, b: _View) -> bool:
    """Whether two views have no element in common, if arguments are apart."""
    return a.base != b.base or not {c for row in a.cells for c in row} & {c for row in b.cells for c in row}


def _type(cells: tuple[tuple[int, ...], ...]) -> str:
    """The type of a view with these elements of a buffer of 4 × 4; a dimension of one element never comes up."""
    begin, down, right = cells[0][0], cells[1][0] - cells[0][0], cells[0][1] - cells[0][0]
    offset = f", offset: {begin}" if begin else ""
    return f"memref<{len(cells)}x{len(cells[0])}xf32, strided<[{down}, {right}]{offset}>>"
