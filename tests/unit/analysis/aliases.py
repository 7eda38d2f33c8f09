"""The relation of two memrefs of a small program."""

from __future__ import annotations

from hotdesk.analysis.memrefs.aliasing import Alias, Aliases
from tests.unit.parsing import function, parse

MUST, MAY, NO, DISJOINT = Alias.MUST, Alias.MAY, Alias.NO, Alias.DISJOINT


def relation(body: str, arguments: str = "", module: str = "", overlap: bool = True) -> Alias:
    """The relation of the two memrefs that the body deallocates."""
    text = f"{module}\nfunc.func @main({arguments}) {{\n{body}\n}}"
    parsed = parse(text)
    ops = [op.operation for op in function(parsed).regions[0].blocks[0].operations]
    a, b = (op for op in ops if op.name == "memref.dealloc")
    return Aliases(function(parsed), overlap).relation(a.operands[0], b.operands[0])


def uses(a: str, b: str) -> str:
    """`%a` and `%b`, of these types, are what it is about."""
    return f"memref.dealloc %a : {a}\nmemref.dealloc %b : {b}\nreturn"
