"""Random programs on memrefs in which buffers change hands: branches, loops, calls and returns pass on what is new, what is old,
and what is somebody else's.

All memrefs are `memref<4xf32>`. `@main` takes a number of rounds, a condition and three memrefs; what it uses it copies into the
last. Memory that is returned is copied out by whoever called. Nothing is freed.
"""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

MEMREF = "memref<4xf32>"
_ARGUMENTS = f"%n: index, %p: i1, %x: {MEMREF}, %y: {MEMREF}"
_HEAD = ("%c0 = arith.constant 0 : index", "%c1 = arith.constant 1 : index", "%c2 = arith.constant 2 : index")
_DEEPEST = 3


def transferring_program(random: Any, *, blocks: bool = False) -> str:
    """A program; with `blocks`, some functions have blocks that branch to one another."""
    callees = [_callee(random, number, blocks) for number in range(random.randrange(3))]
    w = _Writer(random, "%out", [name for name, _ in callees])
    _body(w, blocks)
    _use(w)
    lines = "\n".join([*_HEAD, *w.lines, "return"])
    out = f"%out: {MEMREF} {{bufferize.result = 0 : i64}}"
    return "".join(text for _, text in callees) + f"func.func @main({_ARGUMENTS}, {out}) {{\n{lines}\n}}\n"


@dataclass
class _Writer:
    """A function that is being written: `into` is what may be written, `callees` what it may call."""

    random: Any
    into: str
    callees: list[str]
    lines: list[str] = field(default_factory=list[str])
    memrefs: list[str] = field(default_factory=lambda: ["%x", "%y"])
    conditions: list[str] = field(default_factory=lambda: ["%p"])
    depth: int = 0
    count: list[int] = field(default_factory=lambda: [0])

    def name(self) -> str:
        self.count[0] += 1
        return f"%v{self.count[0]}"

    def line(self, text: str) -> str:
        name = self.name()
        self.lines.append(f"{name} = {text}")
        return name

    def memref(self) -> str:
        recent = self.memrefs[-3:] if self.random.randrange(2) else self.memrefs
        return recent[int(self.random.randrange(len(recent)))]

    def condition(self) -> str:
        if self.random.randrange(3) == 0:
            return self.line(f"arith.cmpi eq, %n, %c{self.random.randrange(3)} : index")
        return self.conditions[int(self.random.randrange(len(self.conditions)))]

    def new(self) -> str:
        name = self.line(f"memref.alloc() : {MEMREF}")
        self.lines.append(_copied(self.memref(), name))
        self.memrefs.append(name)
        return name

    @contextmanager
    def region(self, *given: str) -> Generator[list[str]]:
        outer = self.lines, self.memrefs, self.conditions
        self.lines, self.memrefs, self.conditions = [], [*self.memrefs, *given], list(self.conditions)
        self.depth += 1
        yield self.lines
        self.depth -= 1
        self.lines, self.memrefs, self.conditions = outer


def _copied(source: str, target: str) -> str:
    return f"memref.copy {source}, {target} : {MEMREF} to {MEMREF}"


def _types(count: int) -> str:
    return ", ".join([MEMREF] * count)


def _body(w: _Writer, blocks: bool) -> None:
    _steps(w, w.random.randrange(2, 6))
    if blocks and w.random.randrange(3):
        (_diamond if w.random.randrange(2) else _round)(w)
        _steps(w, w.random.randrange(3))


def _steps(w: _Writer, count: int) -> None:
    for _ in range(count):
        steps = _STEPS if w.depth < _DEEPEST else _PLAIN
        steps[w.random.randrange(len(steps))](w)


def _new(w: _Writer) -> None:
    w.new()


def _use(w: _Writer) -> None:
    w.lines.append(_copied(w.memref(), w.into))


def _select(w: _Writer) -> None:
    w.memrefs.append(w.line(f"arith.select {w.condition()}, {w.memref()}, {w.memref()} : {MEMREF}"))


def _view(w: _Writer) -> None:
    part = "strided<[1]>"
    shown = w.line(f"memref.cast {w.memref()} : {MEMREF} to memref<4xf32, {part}>")
    w.memrefs.append(w.line(f"memref.cast {shown} : memref<4xf32, {part}> to {MEMREF}"))


def _way(w: _Writer, count: int, *given: str) -> str:
    """A region that yields `count` memrefs."""
    with w.region(*given) as lines:
        _steps(w, w.random.randrange(3))
        yielded = [w.memref() for _ in range(count)]
        lines.append(f"scf.yield {', '.join(yielded)} : {_types(count)}" if count else "scf.yield")
    return "\n".join(lines)


def _results(w: _Writer, count: int, text: str) -> None:
    if not count:
        w.lines.append(text)
        return
    name = w.name()
    w.lines.append(f"{name}:{count} = {text}")
    w.memrefs += [f"{name}#{i}" for i in range(count)]


def _if(w: _Writer) -> None:
    count, condition = w.random.randrange(3), w.condition()
    arrow = f" -> ({_types(count)})" if count else ""
    text = f"scf.if {condition}{arrow} {{\n{_way(w, count)}\n}}"
    if count or w.random.randrange(2):
        text += f" else {{\n{_way(w, count)}\n}}"
    _results(w, count, text)


def _switch(w: _Writer) -> None:
    count = w.random.randrange(1, 3)
    ways = [_way(w, count) for _ in range(w.random.randrange(2, 4))]
    cases = "\n".join(f"case {i} {{\n{way}\n}}" for i, way in enumerate(ways[1:]))
    _results(w, count, f"scf.index_switch %n -> {_types(count)}\n{cases}\ndefault {{\n{ways[0]}\n}}")


def _scope(w: _Writer) -> None:
    _results(w, 1, f"scf.execute_region -> {MEMREF} {{\n{_way(w, 1)}\n}}")


def _for(w: _Writer) -> None:
    count = w.random.randrange(3)
    inits, names, variable = [w.memref() for _ in range(count)], [w.name() for _ in range(count)], w.name()
    carried = ", ".join(f"{a} = {b}" for a, b in zip(names, inits, strict=True))
    head = f" iter_args({carried}) -> ({_types(count)})" if count else ""
    body = _way(w, count, *names)
    _results(w, count, f"scf.for {variable} = %c0 to %n step %c1{head} {{\n{body}\n}}")


def _while(w: _Writer) -> None:
    init, count, carried, passed, number = w.memref(), *(w.name() for _ in range(4))
    with w.region(carried) as first:
        _steps(w, w.random.randrange(2))
        more = w.line(f"arith.cmpi slt, {count}, %n : index")
        first.append(f"scf.condition({more}) {count}, {w.memref()} : index, {MEMREF}")
    with w.region(passed) as second:
        _steps(w, w.random.randrange(2))
        following = w.line(f"arith.addi {number}, %c1 : index")
        second.append(f"scf.yield {following}, {w.memref()} : index, {MEMREF}")
    name, pair = w.name(), f"(index, {MEMREF})"
    head = f"{name}:2 = scf.while ({count} = %c0, {carried} = {init}) : {pair} -> {pair} {{"
    w.lines.append("\n".join([head, *first, "} do {", f"^bb0({number}: index, {passed}: {MEMREF}):", *second, "}"]))
    w.memrefs.append(f"{name}#1")


def _call(w: _Writer) -> None:
    if not w.callees:
        return _new(w)
    callee = w.callees[int(w.random.randrange(len(w.callees)))]
    kind = f"(index, i1, {MEMREF}, {MEMREF}) -> {MEMREF}"
    w.memrefs.append(w.line(f"func.call {callee}(%n, {w.condition()}, {w.memref()}, {w.memref()}) : {kind}"))
    return None


def _diamond(w: _Writer) -> None:
    """A branch and where its ways meet."""
    n, ends = w.count[0], list[str]()
    w.lines.append(f"cf.cond_br {w.condition()}, ^left{n}, ^right{n}")
    for label in ("left", "right"):
        with w.region() as lines:
            _steps(w, w.random.randrange(3))
            ends = [f"^{label}{n}:", *lines, f"cf.br ^end{n}({w.memref()} : {MEMREF})"]
        w.lines += ends
    name = w.name()
    w.lines.append(f"^end{n}({name}: {MEMREF}):")
    w.memrefs.append(name)


def _round(w: _Writer) -> None:
    """A loop of blocks."""
    n, number, carried, left = w.count[0], *(w.name() for _ in range(3))
    w.lines.append(f"cf.br ^head{n}(%c0, {w.memref()} : index, {MEMREF})")
    w.lines.append(f"^head{n}({number}: index, {carried}: {MEMREF}):")
    more = w.line(f"arith.cmpi slt, {number}, %n : index")
    w.memrefs.append(carried)
    w.lines.append(f"cf.cond_br {more}, ^body{n}, ^end{n}({w.memref()} : {MEMREF})")
    with w.region() as lines:
        _steps(w, w.random.randrange(3))
        following = w.line(f"arith.addi {number}, %c1 : index")
        ends = [f"^body{n}:", *lines, f"cf.br ^head{n}({following}, {w.memref()} : index, {MEMREF})"]
    w.lines += [*ends, f"^end{n}({left}: {MEMREF}):"]
    w.memrefs.append(left)


def _callee(random: Any, number: int, blocks: bool) -> tuple[str, str]:
    """A function that returns a memref; what it uses it copies into memory of its own."""
    w = _Writer(random, "%into", [f"@f{i}" for i in range(number)])
    _body(w, blocks)
    result = w.memref()
    own = f"%into = memref.alloc() : {MEMREF}"
    lines = "\n".join([*_HEAD, own, _copied("%x", "%into"), *w.lines, f"return {result} : {MEMREF}"])
    return f"@f{number}", f"func.func private @f{number}({_ARGUMENTS}) -> {MEMREF} {{\n{lines}\n}}\n"


_PLAIN = (_new, _new, _use, _select, _view, _call)
_STEPS = (*_PLAIN, _if, _if, _if, _for, _for, _switch, _while, _scope)
