"""Random tensor programs with control flow: `@main`, the functions that it calls, and its arguments."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from hypothesis import strategies as st

from tests.reference import DTYPES
from tests.structured.building import Builder, Function, Tensor
from tests.structured.control import BLOCKS, CONTROL, named, step, typed
from tests.structured.steps import indented
from tests.structured.tiles import tile

_HIDDEN = "%k0: index, %k1: index, %k2: index"
_HIDDEN_TYPES = "index, index, index"
_MOST_FUNCTIONS = 2


@dataclass(frozen=True)
class Program:
    """MLIR text, and the tensors that its `@main` takes, in front of 0, 1 and 2."""

    text: str
    arguments: tuple[Tensor, ...]

    def inputs(self, seed: int) -> list[Any]:
        generator = np.random.default_rng(seed)
        tensors = [np.asarray(generator.integers(-3, 4, t.sizes)).astype(DTYPES[t.element]) for t in self.arguments]
        return [*tensors, *(np.int64(n) for n in range(3))]


@st.composite
def structured_programs(draw: Callable[..., Any]) -> Program:
    b = Builder(draw)
    inputs = [b.described(b.shape(), b.element(), dynamic=25) for _ in range(b.between(1, 3))]
    inputs = [b.keep(f"%a{i}", t) for i, t in enumerate(inputs)]
    attributes = [_attributes(t, donated=b.chance(30)) for t in inputs]
    body(b, b.between(2, 8))
    returned = _unused(b)[-3:] + [b.pick(b.tensors) for _ in range(b.between(0, 2))]
    returned = returned or [b.pick(b.tensors)]
    b.lines.append(f"return {named(returned)} : {typed(returned)}")
    signature = ", ".join(f"{t.name}: {t.type}{given}" for t, given in zip(inputs, attributes, strict=True))
    b.texts.append(f"func.func @main({signature}, {_HIDDEN}) -> ({typed(returned)}) {{\n{_written(b.lines)}\n}}\n")
    return Program("".join(b.texts), tuple(inputs))


def body(b: Builder, count: int) -> None:
    """The lines of a function but the last."""
    for _ in range(count):
        b.pick(BLOCKS)(b) if b.chance(10) else step(b)


def call(b: Builder) -> None:
    """A call of a function that was there, or of a new one; one tensor may be two of its arguments."""
    fitting = [f for f in b.functions if all(b.same(p, defined=p.defined) for p in f.parameters)]
    if fitting and b.chance(60):
        function = b.pick(fitting)
    elif len(b.functions) < _MOST_FUNCTIONS and b.depth < 2:
        likes = [t for t in (b.some() for _ in range(b.between(1, 3))) if t is not None]
        function = _recursive(b, likes) if b.chance(20) else _function(b, likes)
    else:
        return
    given = [b.same(p, defined=p.defined) for p in function.parameters]
    passed = [t for t in given if t is not None]
    name = b.fresh()
    counter = b.index(b.between(0, 2)) if function.counts else ""
    names = ", ".join(["%k0", "%k1", "%k2", *([counter] if counter else []), *(t.name for t in passed)])
    types = ", ".join([_HIDDEN_TYPES, *(["index"] if counter else []), *(t.type for t in passed)])
    text = f"func.call {function.name}({names}) : ({types}) -> ({typed(function.results)})"
    b.lines.append(f"{name}:{len(function.results)} = {text}")
    for number, like in enumerate(function.results):
        b.keep(f"{name}#{number}", like)


def _inner(b: Builder, likes: Sequence[Tensor]) -> tuple[Builder, tuple[Tensor, ...]]:
    """A builder for a function with parameters of these types."""
    inner = Builder(b.draw, names=b.names, functions=b.functions, texts=b.texts, shapes=b.shapes, depth=b.depth + 1)
    return inner, tuple(inner.keep(inner.fresh(), like) for like in likes)


def _function(b: Builder, likes: Sequence[Tensor]) -> Function:
    inner, parameters = _inner(b, likes)
    body(inner, b.between(0, 3))
    returned = [inner.pick(inner.tensors) for _ in range(b.between(1, 2))]
    inner.lines.append(f"return {named(returned)} : {typed(returned)}")
    return _added(b, inner, Function(f"@f{b.fresh()[2:]}", parameters, tuple(returned)))


def _recursive(b: Builder, likes: Sequence[Tensor]) -> Function:
    """A function that calls itself as often as its first argument says, and works in front of that call and behind."""
    inner, parameters = _inner(b, likes)
    name = f"@f{b.fresh()[2:]}"
    result = replace(parameters[0], defined=False)
    ended = inner.line("arith.cmpi eq, %n, %k0 : index")
    with inner.region() as again:
        step(inner)
        passed = [inner.same(p, defined=p.defined) or p for p in parameters]
        fewer = inner.line("arith.subi %n, %k1 : index")
        signature = f"({_HIDDEN_TYPES}, index, {typed(parameters)}) -> {result.type}"
        inner.add(f"func.call {name}(%k0, %k1, %k2, {fewer}, {named(passed)}) : {signature}", result)
        step(inner)
        end = inner.same(result) or result
        again.append(f"scf.yield {end.name} : {end.type}")
    first = f"  scf.yield {parameters[0].name} : {result.type}"
    text = f"scf.if {ended} -> ({result.type}) {{\n{first}\n}} else {{\n{indented(again)}\n}}"
    returned = inner.add(text, result)
    inner.lines.append(f"return {returned.name} : {returned.type}")
    return _added(b, inner, Function(name, parameters, (returned,), counts=True))


def _added(b: Builder, inner: Builder, function: Function) -> Function:
    parameters = ", ".join(f"{p.name}: {p.type}" for p in function.parameters)
    counter = "%n: index, " if function.counts else ""
    head = f"func.func private {function.name}({_HIDDEN}, {counter}{parameters}) -> ({typed(function.results)})"
    b.texts.append(f"{head} {{\n{_written(inner.lines)}\n}}\n")
    b.functions.append(function)
    return function


CONTROL.extend([call, call, tile, tile])


def _attributes(tensor: Tensor, *, donated: bool) -> str:
    entries = ["hotdesk.donated"] if donated else []
    if not all(tensor.static):
        shown = zip(tensor.sizes, tensor.static, strict=True)
        sizes = ", ".join(f'"{s}"' if static else f'"s{tensor.name[2:]}_{i}"' for i, (s, static) in enumerate(shown))
        entries.append(f"hotdesk.shape = [{sizes}]")
    return f" {{{', '.join(entries)}}}" if entries else ""


def _unused(b: Builder) -> list[Tensor]:
    """Tensors of the function that nothing uses, which are returned so that nothing is dead."""
    used = set(re.findall(r"%\w+(?:#\d+)?", " ".join(line.split(" = ", 1)[-1] for line in b.lines)))
    return [t for t in b.tensors if t.name not in used and not t.name.startswith("%a")]


def _written(lines: Sequence[str]) -> str:
    """Lines of a function, labels outdented."""
    return "\n".join(line if line.startswith("^") else indented([line]) for line in lines)
