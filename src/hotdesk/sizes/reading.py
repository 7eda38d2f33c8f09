"""Sizes read from text: `2*max(0, batch - 1)`, `(dim 0 of %x)//2`, `%n mod 4`, `(n if n < 4 else 4)`.

`sizes.writing` writes them. What SymPy's own text says in other words (`Max`, `Mod(a, b)`, `Eq(a, b)`) is read too. Nothing of
the text is run.
"""

from __future__ import annotations

import ast
import operator
import re
from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any

import sympy

from hotdesk.sizes.expressions import integer
from hotdesk.sizes.size import OPAQUE, Size

_algebra: Any = sympy  # SymPy's functions are not annotated
_MOD = re.compile(r"(?<=[\w)])\s+mod\s+(?=[\w(%])")
_WORDS = ("if", "else", "and", "or", "not", "mod", "True", "False")
_NAME = re.compile(
    r"(?:\bdim \d+ of )%\w+|(?<![\w)%])(?<![\w)] )%[A-Za-z_]\w*"
    rf"|\b(?!(?:{'|'.join(_WORDS)})\b)[^\W\d]\w*\b(?!\s*\()"
)
"""A dim of an argument, or an argument that is a size, by its name in MLIR text; else a word that is not called."""
_LONGEST_POWER = 4096
"""Bits that a power of numbers may have."""


@lru_cache(maxsize=4096)
def parsed(text: str) -> Size:
    """A size as it was written. Every name that is not called is a symbol; so are `dim 0 of %x` and `%n`.

    Raises:
        ValueError: the text is no expression of numbers, names and functions of sizes, or one that is no size.
    """
    names: dict[str, str] = {}

    plain = _NAME.sub(lambda name: names.setdefault(name[0], f"size_{len(names)}_"), _MOD.sub(" % ", text))
    symbols = {stand_in: sympy.Symbol(name) for name, stand_in in names.items()}
    try:
        found = _read(ast.parse(plain.strip(), mode="eval").body, symbols)
    except (SyntaxError, TypeError, AttributeError, ArithmeticError, RecursionError, MemoryError) as error:
        raise ValueError(f"no expression: {text!r}") from error
    if not isinstance(found, sympy.Expr) or found.is_integer is False or found.is_negative:
        raise ValueError(f"no size: {text!r}")
    return integer(found)


def is_name(text: str) -> bool:
    """Whether a size may have this name: it is one word, which means nothing else in an expression."""
    return text.isidentifier() and text not in _WORDS and not text.startswith(OPAQUE)


def _read(node: Any, symbols: Mapping[str, Any]) -> Any:
    read: Callable[[Any], Any] = lambda part: _read(part, symbols)  # noqa: E731
    match node:
        case ast.Constant(value=bool() as known):
            return _algebra.true if known else _algebra.false
        case ast.Constant(value=int() as number):
            return _algebra.Integer(number)
        case ast.Name(id=name) if name in symbols:
            return symbols[name]
        case ast.BinOp(op=ast.Pow()):
            return _power(read(node.left), read(node.right))
        case ast.BinOp() if type(node.op) in _BINARY:
            return _BINARY[type(node.op)](read(node.left), read(node.right))
        case ast.UnaryOp() if type(node.op) in _UNARY:
            return _UNARY[type(node.op)](read(node.operand))
        case ast.BoolOp():
            return (_algebra.And if isinstance(node.op, ast.And) else _algebra.Or)(*map(read, node.values))
        case ast.IfExp():
            return _algebra.Piecewise((read(node.body), read(node.test)), *_otherwise(read(node.orelse)))
        case ast.Compare(ops=[only], comparators=[right]) if type(only) in _COMPARED:
            return _COMPARED[type(only)](read(node.left), read(right))
        case ast.Tuple(elts=elements):
            return tuple(map(read, elements))
        case ast.Call(func=ast.Name(id=name), keywords=[], args=[_, *_]) if name in _CALLED:
            return _CALLED[name](*map(read, node.args))
        case _:
            raise SyntaxError(type(node).__name__)


def _otherwise(value: Any) -> tuple[tuple[Any, Any], ...]:
    """What holds where the first condition does not, choice after choice."""
    return (
        tuple((each.expr, each.cond) for each in value.args)
        if isinstance(value, _algebra.Piecewise)
        else ((value, True),)
    )


def _power(base: Any, exponent: Any) -> Any:
    """A power, unless it is a number that takes long to write down."""
    if base.is_number and exponent.is_number and abs(exponent) * len(bin(int(abs(base)))) > _LONGEST_POWER:
        raise ArithmeticError("too large a power")
    return base**exponent


def _floor_of(a: Any, b: Any) -> Any:
    return _algebra.floor(a / b)


def _quotient(a: Any, b: Any) -> Any:
    return a / b


_BINARY: Mapping[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: _quotient,
    ast.FloorDiv: _floor_of,
    ast.Mod: _algebra.Mod,
    ast.BitAnd: _algebra.And,
    ast.BitOr: _algebra.Or,
}
_UNARY: Mapping[type[ast.unaryop], Callable[[Any], Any]] = {
    ast.USub: operator.neg,
    ast.UAdd: operator.pos,
    ast.Not: _algebra.Not,
    ast.Invert: _algebra.Not,
}
_COMPARED: Mapping[type[ast.cmpop], Callable[[Any, Any], Any]] = {
    ast.Eq: _algebra.Eq,
    ast.NotEq: _algebra.Ne,
    ast.Lt: _algebra.Lt,
    ast.LtE: _algebra.Le,
    ast.Gt: _algebra.Gt,
    ast.GtE: _algebra.Ge,
}
_CALLED: Mapping[str, Callable[..., Any]] = {
    "max": _algebra.Max,
    "min": _algebra.Min,
    "ceil": _algebra.ceiling,
    "abs": _algebra.Abs,
    **{
        name: getattr(sympy, name)
        for name in ("Max", "Min", "floor", "ceiling", "Mod", "Abs", "sign", "Piecewise", "Eq", "Ne", "Lt", "Le", "Gt")
    },
    **{name: getattr(sympy, name) for name in ("Ge", "And", "Or", "Not", "ITE")},
}
