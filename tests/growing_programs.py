"""Programs on memrefs that grow: `SHAPES` has, by what joins their allocations, functions from their number to the text."""

from __future__ import annotations

from collections.abc import Callable, Mapping

M = "memref<8xf32>"
_HEAD = f"""func.func @f(%x: {M}, %out: {M}, %p: i1, %n: index) {{
%zero = arith.constant 0 : index
%one = arith.constant 1 : index
"""


def _new(name: str, source: str) -> str:
    return f"{name} = memref.alloc() : {M}\nmemref.copy {source}, {name} : {M} to {M}\n"


def _copy(source: str) -> str:
    return f"memref.copy {source}, %out : {M} to {M}\n"


def _function(*parts: str) -> str:
    return _HEAD + "".join(parts) + "return\n}\n"


def _row(count: int) -> str:
    return _function(*(_new(f"%a{i}", f"%a{i - 1}" if i else "%x") for i in range(count)))


def _nested(count: int) -> str:
    """Loops with branches inside of them, and loops inside of those."""
    inner = "scf.for %j = %zero to %n step %one {\n" + _new("%d", "%c") + _copy("%d") + "}\n"
    branches = "scf.if %p {\n" + _new("%b", "%a") + _copy("%b") + "} else {\n" + _new("%c", "%x") + inner + "}\n"
    loop = "scf.for %i = %zero to %n step %one {\n" + _new("%a", "%x") + branches + _copy("%a") + "}\n"
    return _function(loop * (count // 4))


def _yielded(count: int) -> str:
    """Each branch makes memory or passes on what it has got."""
    parts = (
        f"%r{i} = scf.if %p -> {M} {{\n{_new('%a', _result(i - 1))}scf.yield %a : {M}\n"
        f"}} else {{\nscf.yield {_result(i - 1)} : {M}\n}}\n"
        for i in range(count)
    )
    return _function(*parts, _copy(_result(count - 1)))


def _result(number: int) -> str:
    return f"%r{number}" if number >= 0 else "%x"


def _blocks(count: int) -> str:
    """Diamonds of blocks, with an allocation in front that is used behind."""
    parts: list[str] = []
    for i in range(count // 4):
        parts += (_new(f"%a{i}", "%x"), f"cf.cond_br %p, ^then{i}, ^else{i}\n")
        parts += (f"^then{i}:\n", _new(f"%b{i}", f"%a{i}"), _copy(f"%b{i}"), f"cf.br ^join{i}\n")
        parts += (f"^else{i}:\n", _new(f"%c{i}", "%x"), _copy(f"%c{i}"), f"cf.br ^join{i}\n")
        parts += (f"^join{i}:\n", _new(f"%d{i}", f"%a{i}"), _copy(f"%d{i}"))
    return _function(*parts)


def _passed(count: int) -> str:
    """As `_yielded`, by branches between blocks."""
    parts: list[str] = []
    for i in range(count):
        parts += (f"cf.cond_br %p, ^then{i}, ^else{i}\n^then{i}:\n", _new(f"%b{i}", _result(i - 1)))
        parts += (f"cf.br ^join{i}(%b{i} : {M})\n^else{i}:\ncf.br ^join{i}({_result(i - 1)} : {M})\n",)
        parts += (f"^join{i}(%r{i}: {M}):\n",)
    return _function(*parts, _copy(_result(count - 1)))


def _used_in_blocks(count: int) -> str:
    """All made in front, each used in a block that may be passed by."""
    parts = [_new(f"%a{i}", "%x") for i in range(count)]
    for i in range(count):
        parts += (f"cf.cond_br %p, ^then{i}, ^join{i}\n^then{i}:\n", _copy(f"%a{i}"), f"cf.br ^join{i}\n^join{i}:\n")
    return _function(*parts)


def _shown(count: int) -> str:
    """Views of what may be any one of them."""
    ways = ", ".join(f"{i}: ^join(%a{i} : {M})" for i in range(1, count))
    views = (
        f"%v{i} = memref.subview %r[0] [4] [1] : {M} to memref<4xf32, strided<[1]>>\n"
        f"%e{i} = memref.load %v{i}[%zero] : memref<4xf32, strided<[1]>>\nmemref.store %e{i}, %out[%zero] : {M}\n"
        for i in range(count)
    )
    made = (_new(f"%a{i}", "%x") for i in range(count))
    switch = f"%w = arith.index_cast %n : index to i32\ncf.switch %w : i32, [default: ^join(%a0 : {M}), {ways}]\n"
    return _function(*made, switch, f"^join(%r: {M}):\n", *views)


SHAPES: Mapping[str, Callable[[int], str]] = {
    "row": _row,
    "nested": _nested,
    "yielded": _yielded,
    "blocks": _blocks,
    "passed": _passed,
    "used in blocks": _used_in_blocks,
    "shown": _shown,
}
