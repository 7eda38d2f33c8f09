"""What a call knows about the function it names: how each tensor argument is used, and where each tensor result comes back.

Bufferization writes this onto a function as it rewrites it, and callers, which are rewritten after it, read it:

    func private @f(%x: memref<4xf32> {hotdesk.access = "read-write", hotdesk.holds = [0]})    result 0 lies where %x lies
    func @g(%x: memref<4xf32>, %r: memref<?xf32> {bufferize.result = 0, hotdesk.sizes = [0, 0]})    result 0 goes into %r

`hotdesk.sizes` has a pair for each dynamic size of such a result: an argument and a dim of it; an argument and -1, for its value;
-1 and a number. A tensor result that is neither held nor an argument is returned as a memref, new memory that the caller owns.

A function that is not rewritten yet calls the caller, directly or not: `analysis.in_place.recursion` says what it does, for as
long as its group is rewritten (`assuming`). Before that it reads everything, overwrites what is `hotdesk.donated`, holds nothing,
returns what has dynamic sizes and takes arguments for the rest. A declaration reads and writes what its `bufferization.access`
says, everything without it, and returns new memory.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field

from hotdesk._bindings import ir
from hotdesk.ir.functions import callee_name
from hotdesk.ir.signature import set_signature, signature
from hotdesk.ir.types import is_memref, is_tensor, shape_of
from hotdesk.ir.walking import is_declaration, module_around


@dataclass(frozen=True, slots=True)
class Callee:
    """How a function takes tensors. Numbers are of arguments and results as on tensors.

    Attributes:
        reads, writes: arguments whose contents it reads, and whose memory it overwrites.
        held: the argument in whose memory a result lies afterwards.
        arguments: results that it writes into memory of the caller's, each with its dynamic sizes.
    """

    reads: frozenset[int]
    writes: frozenset[int]
    held: Mapping[int, int] = field(default_factory=dict[int, int])
    arguments: Mapping[int, tuple[tuple[int, int], ...]] = field(default_factory=dict[int, tuple[tuple[int, int], ...]])


_ASSUMED: ContextVar[Mapping[str, Callee] | None] = ContextVar("_ASSUMED", default=None)


@contextmanager
def assuming(callees: Mapping[str, Callee]) -> Generator[None]:
    """Says what functions of these names do, whatever they look like, as long as the `with` lasts."""
    token = _ASSUMED.set(callees)
    try:
        yield
    finally:
        _ASSUMED.reset(token)


def assumed(name: str) -> Callee | None:
    """What a function is said to do, or None if nothing is said of it."""
    return (_ASSUMED.get() or {}).get(name)


def callee_of(call: ir.Operation) -> Callee | None:
    """What is known of the function that a `func.call` names; None if the module has none of that name."""
    name = callee_name(call)
    said = assumed(name)
    if said is not None:
        return said
    symbols = ir.SymbolTable(module_around(call))
    return read_callee(symbols[name].operation) if name in symbols else None


def read_callee(function: ir.Operation) -> Callee:
    """What is known of a function, as far as it is rewritten."""
    known = signature(function)
    if is_declaration(function):
        access = [each.declared_access or "read-write" for each in known.arguments]
        return Callee(_numbered(access, "read"), _numbered(access, "write"))
    if any(map(is_tensor, known.types)):
        donated = frozenset(i for i, each in enumerate(known.arguments) if each.donated)
        static = {i: () for i, each in enumerate(known.outputs) if is_tensor(each) and None not in shape_of(each)}
        return Callee(frozenset(range(len(known.arguments))), donated, {}, static)
    own = [each for each in known.arguments if each.result is None]
    access = [each.access or "read" for each in own]
    held = {result: i for i, each in enumerate(own) for result in each.holds}
    arguments = {each.result: each.sizes for each in known.arguments if each.result is not None}
    return Callee(_numbered(access, "read"), _numbered(access, "write"), held, arguments)


def _numbered(access: list[str], word: str) -> frozenset[int]:
    return frozenset(i for i, each in enumerate(access) if word in each)


def returned(call: ir.Operation, callee: Callee) -> list[int]:
    """The results of a call that are still results on memrefs: scalars, and memory that the callee made."""
    return [
        i
        for i, value in enumerate(call.results)
        if not (is_tensor(value.type) or is_memref(value.type)) or (i not in callee.held and i not in callee.arguments)
    ]


def retype(function: ir.Operation, memref_of: Callable[[ir.Type], ir.Type]) -> None:
    """Makes the signature of a function one on memrefs, of the types that tensors become; results are new memory."""
    set_signature(function, signature(function).retyped(lambda kind: memref_of(kind) if is_tensor(kind) else kind))
