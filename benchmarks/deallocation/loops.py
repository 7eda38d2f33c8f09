"""Loops that pass buffers on, written on memrefs: what frees them has to know which iteration owns what.

`@main` takes how often it goes round, a memref to read and one to write. Every text ends with a copy into that one.
"""

from __future__ import annotations

from collections.abc import Mapping

_M = "memref<16xf32>"
_HEAD = "%c0 = arith.constant 0 : index\n%c1 = arith.constant 1 : index\n%c2 = arith.constant 2 : index"


def loops() -> Mapping[str, str]:
    """The programs by name."""
    return {name: _main(body, functions) for name, (body, functions) in _BODIES.items()}


def chain(count: int) -> str:
    """`count` allocations, each computed from the one before."""
    lines = [_computed(f"%a{i + 1}", f"%a{i}" if i else "%x") for i in range(count)]
    return _main("\n".join([*lines, _copy(f"%a{count}", "%out")]))


def _main(body: str, functions: str = "") -> str:
    return f"{functions}func.func @main(%n: index, %x: {_M}, %out: {_M}) {{\n{_HEAD}\n{body}\nreturn\n}}\n"


def _copy(source: str, target: str) -> str:
    return f"memref.copy {source}, {target} : {_M} to {_M}"


def _new(name: str, source: str) -> str:
    return f"{name} = memref.alloc() : {_M}\n{_copy(source, name)}"


def _computed(name: str, source: str) -> str:
    return f"{name} = memref.alloc() : {_M}\nlinalg.exp ins({source} : {_M}) outs({name} : {_M})"


def _loop(inits: str, yielded: str, body: str = "", result: str = "%r") -> str:
    """`scf.for` that carries `%u`, `%v` and `%w`, as many as there are initial values."""
    values = inits.split()
    carried = ", ".join(f"{name} = {value}" for name, value in zip(("%u", "%v", "%w"), values, strict=False))
    types = ", ".join([_M] * len(values))
    return (
        f"{result}:{len(values)} = scf.for %i = %c0 to %n step %c1 iter_args({carried}) -> ({types}) {{\n"
        f"{body}\nscf.yield {', '.join(yielded.split())} : {types}\n}}"
    )


def _lines(*lines: str) -> str:
    return "\n".join(lines)


_ODD = "%odd = arith.remui %i, %c2 : index\n%p = arith.cmpi eq, %odd, %c0 : index"
_SOMETIMES = _lines(
    _ODD,
    f"%new = scf.if %p -> {_M} {{",
    _new("%f", "%u"),
    f"scf.yield %f : {_M}\n}} else {{\nscf.yield %u : {_M}\n}}",
)
_NEXT = f"func.func private @next(%x: {_M}) -> {_M} {{\n{_new('%a', '%x')}\nreturn %a : {_M}\n}}\n"
_BLOCKS = _lines(
    f"cf.br ^head(%c0, {{inits}} : index, {_M}, {_M})",
    f"^head(%i: index, %u: {_M}, %v: {_M}):",
    "%more = arith.cmpi slt, %i, %n : index",
    "cf.cond_br %more, ^body, ^end",
    "^body:",
    "{body}",
    "%j = arith.addi %i, %c1 : index",
    f"cf.br ^head(%j, {{passed}} : index, {_M}, {_M})",
    "^end:",
    _copy("%u", "%out"),
)
_A, _B, _C = _new("%a", "%x"), _new("%b", "%x"), _new("%c", "%x")
_OUT = _copy("%r#0", "%out")
_BODIES: Mapping[str, tuple[str, str]] = {
    "swap of two buffers": (_lines(_A, _B, _loop("%a %b", "%v %u"), _OUT), ""),
    "swap, then both are used": (_lines(_A, _B, _loop("%a %b", "%v %u"), _OUT, _copy("%r#1", "%out")), ""),
    "swap, then the first is used": (_lines(_A, _B, _loop("%a %b", "%v %u"), _OUT, _copy("%a", "%out")), ""),
    "rotation of three": (_lines(_A, _B, _C, _loop("%a %b %c", "%v %w %u"), _OUT), ""),
    "swap with an argument": (_lines(_A, _loop("%a %x", "%v %u"), _OUT), ""),
    "swap, one new": (_lines(_A, _B, _loop("%a %b", "%v %new", _new("%new", "%u")), _OUT), ""),
    "new each time, from an allocation": (_lines(_A, _loop("%a", "%new", _new("%new", "%u")), _OUT), ""),
    "new each time, from an argument": (_lines(_loop("%x", "%new", _new("%new", "%u")), _OUT), ""),
    "new each time, the first used later": (
        _lines(_A, _loop("%a", "%new", _new("%new", "%u")), _OUT, _copy("%a", "%out")),
        "",
    ),
    "new each time, passed on twice": (_lines(_A, _B, _loop("%a %b", "%new %new", _new("%new", "%u")), _OUT), ""),
    "new sometimes, from an allocation": (_lines(_A, _loop("%a", "%new", _SOMETIMES), _OUT), ""),
    "new sometimes, from an argument": (_lines(_loop("%x", "%new", _SOMETIMES), _OUT), ""),
    "selected of two": (
        _lines(_A, _B, _loop("%a %b", "%s %u", _lines(_ODD, f"%s = arith.select %p, %u, %v : {_M}")), _OUT),
        "",
    ),
    "temporary in a loop": (
        _lines(_A, _loop("%a", "%u", _lines(_new("%t", "%u"), _copy("%t", "%u"))), _OUT),
        "",
    ),
    "temporaries in branches": (
        _lines(
            f"scf.for %i = %c0 to %n step %c1 {{\n{_ODD}\nscf.if %p {{",
            *(_new("%s", "%x"), _new("%t", "%s"), _copy("%t", "%out")),
            "} else {",
            *(_new("%s", "%x"), _copy("%s", "%out")),
            "}\n}",
        ),
        "",
    ),
    "new in a while loop": (
        _lines(
            _A,
            f"%r:2 = scf.while (%i = %c0, %u = %a) : (index, {_M}) -> ({_M}, index) {{",
            "%more = arith.cmpi slt, %i, %n : index",
            _new("%new", "%u"),
            f"scf.condition(%more) %new, %i : {_M}, index\n}} do {{\n^bb0(%v: {_M}, %i: index):",
            f"%j = arith.addi %i, %c1 : index\nscf.yield %j, %v : index, {_M}\n}}",
            _OUT,
        ),
        "",
    ),
    "new by a call": (
        _lines(_A, _loop("%a", "%new", f"%new = func.call @next(%u) : ({_M}) -> {_M}"), _OUT),
        _NEXT,
    ),
    "swap by branches": (_lines(_A, _B, _BLOCKS.format(inits="%a, %b", body="", passed="%v, %u")), ""),
    "new by branches": (_lines(_A, _B, _BLOCKS.format(inits="%a, %b", body=_new("%new", "%u"), passed="%new, %v")), ""),
}
