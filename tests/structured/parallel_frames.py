"""Random programs with parallel loops whose iterations allocate, and may reduce: on memrefs, of integers, of one or two dims."""

from __future__ import annotations

import random
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

_ELEMENTS = ("i8", "i32", "i64", "f32")
_INNER = 3


@dataclass(frozen=True, slots=True)
class ParallelProgram:
    """A program `main(out, n, m)`: `out` is a `memref<?x?xi64>` of the places that the loop writes, `n` and `m` its trips.

    What the loop reduces to, if it does, is added to each place of the first column behind it.
    """

    text: str
    trips: tuple[int, int]

    def inputs(self) -> tuple[npt.NDArray[np.int64], int, int]:
        return np.full(self.trips, -7, np.int64), *self.trips


@dataclass(slots=True)
class _Writer:
    random: random.Random
    lines: list[str] = field(default_factory=list[str])
    names: int = 0
    sums: list[str] = field(default_factory=list[str])

    def name(self) -> str:
        self.names += 1
        return f"%v{self.names}"

    def line(self, text: str) -> str:
        name = self.name()
        self.lines.append(f"{name} = {text}")
        return name


def parallel_program(chosen: random.Random) -> ParallelProgram:
    """A loop that allocates, in a loop of two rounds or not, with bounds that are numbers or arguments."""
    w = _Writer(chosen)
    trips = (chosen.choice((0, 1, 2, 3, 5, 7, 17, 70, 130)), chosen.choice((1, 1, 1, 2, 3)))
    ranked = trips[1] > 1 or chosen.random() < 0.3
    step, start = chosen.choice((1, 1, 3)), chosen.choice((0, 0, 2))
    is_open = chosen.random() < 0.4
    w.lines.append(f"%first = arith.constant {start} : index")
    w.lines.append(f"%step = arith.constant {step} : index")
    if is_open:
        scaled = w.line("arith.muli %n, %step : index")
        end = w.line(f"arith.addi {scaled}, %first : index")
    else:
        end = w.line(f"arith.constant {start + step * trips[0]} : index")
    second = "%m" if is_open else w.line(f"arith.constant {trips[1]} : index")
    rounds = chosen.random() < 0.3
    if rounds:
        w.lines.append("scf.for %round = %c0 to %c2 step %c1 {")
    _around(w)
    if chosen.random() < 0.5:
        bounds = (
            "(%i, %j) = (%first, %c0) to ({0}, {1}) step (%step, %c1)"
            if ranked
            else "(%i) = (%first) to ({0}) step (%step)"
        )
        reduces = chosen.random() < 0.5
        if reduces:
            w.lines += ["%seventy = arith.constant 70 : i64", "%trip = arith.constant -3 : i64"]
        results = "%all:2 = ", " init(%seventy, %trip) -> (i64, i64)"
        before, init = results if reduces else ("", "")
        w.lines.append(f"{before}scf.parallel {bounds.format(end, second)}{init} {{")
        last = "scf.reduce\n}"
    else:
        numbers = (str(start + step * trips[0]), str(trips[1])) if not is_open else (end, second)
        bounds = "(%i, %j) = ({2}, 0) to ({0}, {1}) step ({3}, 1)" if ranked else "(%i) = ({2}) to ({0}) step ({3})"
        w.lines.append(f"scf.forall {bounds.format(*numbers, start, step)} {{")
        last, reduces = "}", False
    if not ranked:
        w.lines.append("%j = arith.constant 0 : index")
    off = w.line("arith.subi %i, %first : index")
    row = w.line(f"arith.divsi {off}, %step : index")
    both = w.line(f"arith.muli {row}, %c5 : index")
    place = w.line(f"arith.addi {both}, %j : index")
    w.lines.append(f"%seed = arith.index_cast {place} : index to i64")
    w.sums = ["%seed"]
    for _ in range(chosen.randrange(1, 4)):
        chosen.choice(_STEPS)(w)
    total = w.sums[0]
    for each in w.sums[1:]:
        total = w.line(f"arith.addi {total}, {each} : i64")
    w.lines.append(f"memref.store {total}, %out[{row}, %j] : memref<?x?xi64>")
    if reduces:
        _reduced(w, total)
    else:
        w.lines.append(last)
    if rounds:
        w.lines.append("}")
    constants = "\n".join(f"%c{n} = arith.constant {n} : index" for n in (0, 1, 2, 3, 5))
    body = "\n".join(w.lines)
    text = f"func.func @main(%out: memref<?x?xi64>, %n: index, %m: index) {{\n{constants}\n{body}\nreturn\n}}"
    return ParallelProgram(text, trips if ranked else (trips[0], 1))


def _reduced(w: _Writer, value: str) -> None:
    """The end of a loop that reduces a value in two ways, and what it comes to added to what the loop wrote."""
    ops = [
        w.random.choice(("addi", "muli", "xori", "ori", "andi", "maxsi", "minsi", "maxui", "minui")) for _ in range(2)
    ]
    if w.random.random() < 0.2:
        ops[1] = "subi"  # of which the order counts
    w.lines.append(f"scf.reduce({value}, {value} : i64, i64) {{")
    for number, op in enumerate(ops):
        w.lines += ["^bb0(%left: i64, %right: i64):", f"%both = arith.{op} %left, %right : i64"]
        w.lines += ["scf.reduce.return %both : i64", "}, {" if number == 0 else "}"]
    w.lines += ["}", "scf.for %at = %c0 to %n step %c1 {"]
    old = w.line("memref.load %out[%at, %c0] : memref<?x?xi64>")
    more = w.line(f"arith.addi {old}, %all#0 : i64")
    most = w.line(f"arith.xori {more}, %all#1 : i64")
    w.lines += [f"memref.store {most}, %out[%at, %c0] : memref<?x?xi64>", "}"]


def _around(w: _Writer) -> None:
    """Memory in front of the loop that is dead by then, or none."""
    if w.random.random() < 0.5:
        size = w.random.choice((3, 900))
        made = w.line(f"memref.alloc() : memref<{size}xi64>")
        value = w.line("arith.constant 11 : i64")
        w.lines.append(f"linalg.fill ins({value} : i64) outs({made} : memref<{size}xi64>)")
        w.lines.append(f"memref.dealloc {made} : memref<{size}xi64>")


def _memory(w: _Writer, seed: str = "%seed", *, in_all: bool = False) -> tuple[str, str, list[str]]:
    """Allocates and fills: the name, the type, and the lines that free it; `in_all` where each iteration does."""
    element, size = w.random.choice(_ELEMENTS), w.random.choice((1, 3, 20, 64))
    how = w.random.randrange(0 if in_all else 1, 4)
    if how == 0:  # of a size that is known in front of the loop
        known = w.line("arith.addi %n, %c3 : index")
        kind, made = f"memref<?x{size}x{element}>", w.line(f"memref.alloc({known}) : memref<?x{size}x{element}>")
    elif how == 1:  # of a size that has a limit
        known = w.line("arith.minsi %i, %c3 : index")
        more = w.line(f"arith.addi {known}, %c1 : index")
        kind, made = f"memref<?x{size}x{element}>", w.line(f"memref.alloc({more}) : memref<?x{size}x{element}>")
    else:
        kind, made = f"memref<3x{size}x{element}>", w.line(f"memref.alloc() : memref<3x{size}x{element}>")
    small = w.line(f"arith.andi {seed}, %seed : i64")
    value = small
    if element == "f32":
        value = w.line(f"arith.sitofp {small} : i64 to f32")
    elif element != "i64":
        value = w.line(f"arith.trunci {small} : i64 to {element}")
    w.lines.append(f"linalg.fill ins({value} : {element}) outs({made} : {kind})")
    return made, kind, [f"memref.dealloc {made} : {kind}"]


def _read(w: _Writer, made: str, kind: str) -> str:
    element = kind.rpartition("x")[2].rstrip(">")
    value = w.line(f"memref.load {made}[%c0, %c0] : {kind}")
    if element == "f32":
        return w.line(f"arith.fptosi {value} : f32 to i64")
    return value if element == "i64" else w.line(f"arith.extsi {value} : {element} to i64")


def _plain(w: _Writer) -> None:
    made, kind, free = _memory(w, in_all=True)
    w.sums.append(_read(w, made, kind))
    w.lines += free


def _pair(w: _Writer) -> None:
    """Two that are in use at one time, freed in either order."""
    one, other = _memory(w), _memory(w)
    w.sums += [_read(w, *one[:2]), _read(w, *other[:2])]
    w.lines += [*one[2], *other[2]] if w.random.random() < 0.5 else [*other[2], *one[2]]


def _branch(w: _Writer) -> None:
    zero, two = w.line("arith.constant 0 : i64"), w.line("arith.constant 2 : i64")
    rest = w.line(f"arith.remsi %seed, {two} : i64")
    condition, name = w.line(f"arith.cmpi eq, {rest}, {zero} : i64"), w.name()
    w.lines.append(f"{name} = scf.if {condition} -> i64 {{")
    for end in ("} else {", "}"):
        made, kind, free = _memory(w)
        value = _read(w, made, kind)
        w.lines += [*free, f"scf.yield {value} : i64", end]
    w.sums.append(name)


def _loop(w: _Writer) -> None:
    name, carried = w.name(), w.name()
    w.lines.append(f"{name} = scf.for {name}k = %c0 to %c3 step %c1 iter_args({carried} = %seed) -> i64 {{")
    made, kind, free = _memory(w, carried)
    value = w.line(f"arith.addi {carried}, {_read(w, made, kind)} : i64")
    w.lines += [*free, f"scf.yield {value} : i64", "}"]
    w.sums.append(name)


def _inner_parallel(w: _Writer) -> None:
    """Threads in the iteration, each with memory of its own and an element of the iteration's."""
    shared = w.line(f"memref.alloc() : memref<{_INNER}xi64>")
    kind = f"memref<{_INNER}xi64>"
    variable = w.name()
    forall = w.random.random() < 0.5
    head = (
        f"scf.forall ({variable}) in ({_INNER})" if forall else f"scf.parallel ({variable}) = (%c0) to (%c3) step (%c1)"
    )
    w.lines.append(f"{head} {{")
    number = w.line(f"arith.index_cast {variable} : index to i64")
    made, own, free = _memory(w)
    value = w.line(f"arith.addi {number}, {_read(w, made, own)} : i64")
    w.lines += [f"memref.store {value}, {shared}[{variable}] : {kind}", *free, *([] if forall else ["scf.reduce"]), "}"]
    w.sums += [w.line(f"memref.load {shared}[{at}] : {kind}") for at in ("%c0", "%c2")]
    w.lines.append(f"memref.dealloc {shared} : {kind}")


def _inner_sum(w: _Writer) -> None:
    """A sum over threads, each with memory of its own."""
    name, variable, zero = w.name(), w.name(), w.line("arith.constant 5 : i64")
    w.lines.append(f"{name} = scf.parallel ({variable}) = (%c0) to (%c3) step (%c1) init({zero}) -> i64 {{")
    number = w.line(f"arith.index_cast {variable} : index to i64")
    made, own, free = _memory(w)
    value = w.line(f"arith.addi {number}, {_read(w, made, own)} : i64")
    a, b, total = w.name(), w.name(), w.name()
    w.lines += [
        *free, f"scf.reduce({value} : i64) {{", f"^bb0({a}: i64, {b}: i64):", f"{total} = arith.addi {a}, {b} : i64",
        f"scf.reduce.return {total} : i64", "}", "}",
    ]  # fmt: skip
    w.sums.append(name)


_STEPS = (_plain, _pair, _branch, _loop, _inner_parallel, _inner_sum)
