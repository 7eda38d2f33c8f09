"""Steps of programs on memrefs with regions, and blocks that branch to one another."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from tests.structured.memory_steps import MEMORY_STEPS, filled
from tests.structured.memory_writing import Memref, Writer, is_whole, joined

_DEEPEST = 3


def steps(w: Writer, count: int) -> None:
    for _ in range(count):
        if w.depth < _DEEPEST and w.chance(30):
            w.pick(_CONTROL)(w)
        else:
            w.pick(MEMORY_STEPS)(w)


def _if(w: Writer) -> None:
    wanted = w.some(is_whole) if w.chance(40) else None
    condition, before = w.condition(), list(w.memrefs)
    texts: list[str] = []
    bases: frozenset[int] = frozenset()
    for _ in range(2):
        with w.region() as lines:
            steps(w, w.random.randrange(3))
            if wanted is not None:
                safe = [m for m in before if m in w.memrefs]
                end = passed_out(w, wanted, safe)
                bases |= end.bases
                w.finish(before, [end])
                lines.append(f"scf.yield {end.name} : {end.type}")
            else:
                w.finish(before)
            texts.append(joined(lines))
    branches = f"{{\n{texts[0]}\n}} else {{\n{texts[1]}\n}}"
    if wanted is None:
        w.lines.append(f"scf.if {condition} {branches}")
        return
    name = w.line(f"scf.if {condition} -> ({wanted.type}) {branches}")
    w.memrefs.append(replace(wanted, name=name, bases=bases, owned=None))


def passed_out(w: Writer, wanted: Memref, before: Sequence[Memref]) -> Memref:
    """With frees, only memory that is older than the region, so that somebody else frees it."""
    old = frozenset[int]().union(*(m.bases for m in before))
    if not w.frees and w.chance(40):
        made = w.allocate(replace(wanted, layout=None, cells=None))
        if made.owned is not None:
            filled(w, made)
            return made
    found = w.some(
        lambda m: is_whole(m) and m.type == wanted.type and m.sizes == wanted.sizes and (not w.frees or m.bases <= old)
    )
    return found or wanted


def _for(w: Writer) -> None:
    count = w.pick((0, 1, 1, 2))
    inits = [m for m in (w.some(is_whole) for _ in range(count)) if m is not None]
    trips, before = w.pick((0, 1, 2, 2)), list(w.memrefs)
    upper = w.index(trips)
    bases = frozenset[int]().union(*(m.bases for m in w.memrefs)) | {w.number()}
    with w.region() as lines:
        variable = f"%i{w.number()}"
        w.indices.append((variable, max(trips - 1, 0)))
        own = [replace(m, name=f"%b{w.number()}", bases=bases, owned=None) for m in inits]
        w.memrefs += own
        steps(w, w.random.randrange(1, 4))
        ends = [passed_out(w, m, [*before, *own]) for m in own]
        if len(own) > 1 and own[0].type == own[1].type and own[0].sizes == own[1].sizes and w.chance(40):
            ends = own[::-1]
        w.finish([*before, *own], ends)
        if own:
            lines.append(f"scf.yield {', '.join(m.name for m in ends)} : {', '.join(m.type for m in ends)}")
        body = joined(lines)
    if not own:
        w.lines.append(f"scf.for {variable} = %k0 to {upper} step %k1 {{\n{body}\n}}")
        return
    pairs = ", ".join(f"{a.name} = {m.name}" for a, m in zip(own, inits, strict=True))
    types, name = ", ".join(m.type for m in own), f"%r{w.number()}"
    head = f"scf.for {variable} = %k0 to {upper} step %k1 iter_args({pairs}) -> ({types})"
    w.lines.append(f"{name}:{len(own)} = {head} {{\n{body}\n}}")
    w.memrefs += [replace(m, name=f"{name}#{i}") for i, m in enumerate(own)]


def _while(w: Writer) -> None:
    """A counter; the memory is that around the loop."""
    before, upper = list(w.memrefs), w.index(w.pick((0, 1, 2)))
    with w.region() as first:
        counter = f"%i{w.number()}"
        w.indices.append((counter, 2))
        steps(w, w.random.randrange(2))
        w.finish(before)
        again = w.line(f"arith.cmpi slt, {counter}, {upper} : index")
        first.append(f"scf.condition({again}) {counter} : index")
    with w.region() as second:
        number = f"%i{w.number()}"
        w.indices.append((number, 1))
        steps(w, w.random.randrange(1, 3))
        w.finish(before)
        following = w.line(f"arith.addi {number}, %k1 : index")
        second.append(f"scf.yield {following} : index")
    w.line(
        f"scf.while ({counter} = %k0) : (index) -> index {{\n{joined(first)}\n}} do {{\n^bb0({number}: index):\n"
        f"{joined(second)}\n}}"
    )


def _switch(w: Writer) -> None:
    before = list(w.memrefs)
    chosen = w.pick([name for name, _ in w.indices] or [w.index(w.pick((0, 1, 2)))])
    cases: list[str] = []
    for _ in range(3):
        with w.region() as lines:
            steps(w, w.random.randrange(2))
            w.finish(before)
            cases.append(joined([*lines, "scf.yield"]))
    text = "\n".join(f"case {i} {{\n{case}\n}}" for i, case in enumerate(cases[1:]))
    w.lines.append(f"scf.index_switch {chosen}\n{text}\ndefault {{\n{cases[0]}\n}}")


def _parallel(w: Writer) -> None:
    """Threads, each with memory of its own and an element that no other one writes."""
    target = w.some(lambda m: m.sizes == (8,) and m.layout is None)
    if target is None:
        return
    before = list(w.memrefs)
    with w.region() as lines:
        variable = f"%i{w.number()}"
        w.memrefs = []
        own = w.allocate(Memref("", (4,), (True,), target.element, frozenset()))
        filled(w, own)
        value = w.line(f"memref.load {own.name}[{w.index(2)}] : {own.type}")
        lines.append(f"memref.store {value}, {target.name}[{variable}] : {target.type}")
        w.finish(before)
        body = joined(lines)
    w.lines.append(f"scf.parallel ({variable}) = (%k0) to (%k8) step (%k1) {{\n{body}\nscf.reduce\n}}")


def _scope(w: Writer) -> None:
    before = list(w.memrefs)
    with w.region() as lines:
        steps(w, w.random.randrange(1, 3))
        w.finish(before)
        body = joined(lines)
    w.lines.append(f"memref.alloca_scope {{\n{body}\n}}")


def blocks(w: Writer) -> Writer:
    """A diamond, or a loop of blocks, behind the lines that are there; what the blocks make stays in them."""
    number = w.number()
    wanted = w.some(is_whole)
    if wanted is None:
        return w
    before = list(w.memrefs)
    passed: list[Memref] = []
    if w.chance(50):
        w.lines.append(f"cf.cond_br {w.condition()}, ^left{number}, ^right{number}")
        for label in ("left", "right"):
            with w.region() as lines:
                steps(w, w.random.randrange(3))
                passed.append(passed_out(w, wanted, before))
                w.finish(before, passed[-1:])
                ends = f"cf.br ^end{number}({passed[-1].name} : {wanted.type})"
            w.lines += [f"^{label}{number}:", *lines, ends]
    else:
        w.lines.append(f"cf.br ^loop{number}(%k0, {wanted.name} : index, {wanted.type})")
        with w.region() as lines:
            own = replace(
                wanted, name=f"%b{w.number()}", bases=frozenset[int]().union(*(m.bases for m in before)), owned=None
            )
            own = replace(own, bases=own.bases | {number})
            w.memrefs.append(own)
            w.indices.append((f"%i{number}", 2))
            steps(w, w.random.randrange(1, 3))
            passed.append(passed_out(w, wanted, [*before, own]))
            w.finish([*before, own], passed)
            following = w.line(f"arith.addi %i{number}, %k1 : index")
            again = w.line(f"arith.cmpi slt, {following}, %k2 : index")
            name = passed[0].name
            left = name if w.chance(50) else wanted.name
            ends = (
                f"cf.cond_br {again}, ^loop{number}({following}, {name} : index, {wanted.type}), "
                f"^end{number}({left} : {wanted.type})"
            )
        w.lines += [f"^loop{number}(%i{number}: index, {own.name}: {wanted.type}):", *lines, ends]
        passed.append(own)
    joined = replace(
        wanted, name=f"%b{w.number()}", bases=frozenset[int]().union(*(m.bases for m in passed)), owned=None
    )
    w.lines.append(f"^end{number}({joined.name}: {wanted.type}):")
    w.memrefs.append(joined)
    steps(w, w.random.randrange(1, 4))
    return w


_CONTROL = (_if, _if, _if, _if, _for, _for, _for, _for, _while, _switch, _parallel, _scope)
