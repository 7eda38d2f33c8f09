"""Planted faults: in-place analysis, displacement and live ranges without one of their rules, and what notices it.

Values are checked by running each program before and after (`tests.harness`), freeing by a walk that shares no code with it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pytest

from hotdesk.analysis.in_place import destinations, inplace, places
from hotdesk.analysis.memrefs import buffers
from hotdesk.analysis.memrefs.buffer_program import BufferProgram
from hotdesk.analysis.memrefs.buffer_reading import read_buffers
from hotdesk.analysis.memrefs.buffers import BufferUse
from hotdesk.analysis.tensors import program, readers
from hotdesk.explain import Reason
from hotdesk.models import linalg
from hotdesk.passes.bufferize.one_shot import OneShotBufferize
from hotdesk.passes.buffers import settle_ownership
from hotdesk.passes.buffers.deallocate import DeallocateAfterLastUse
from hotdesk.passes.lower import function as lowering
from tests.harness import check_module
from tests.unit.analysis.freeing import check_freeing
from tests.unit.parsing import elementwise, function, parse, run

Patch = Callable[[pytest.MonkeyPatch], None]

T = "tensor<8xf32>"
S = "tensor<4x4xf32>"
D = "tensor<?xf32>"
GIVEN = f"%x: {T} {{hotdesk.donated}}, %y: {T} {{hotdesk.donated}}"
EMPTY = f"%e = tensor.empty() : {T}"
EIGHT = np.arange(1, 9, dtype=np.float32)
SQUARE = np.arange(16, dtype=np.float32).reshape(4, 4)


def square(result: str, source: str, init: str, sizes: str = "8") -> str:
    return f"{result} = " + elementwise("", [source], init, sizes, body="%t = arith.mulf %a0, %a0 : f32")


def add(result: str, a: str, b: str, init: str) -> str:
    return f"{result} = " + elementwise("arith.addf", [a, b], init)


def matmul(result: str, a: str, b: str, init: str) -> str:
    return f"{result} = linalg.matmul ins({a}, {b} : {S}, {S}) outs({init} : {S}) -> {S}"


def transposed(result: str, source: str, init: str) -> str:
    maps = "affine_map<(i, j) -> (j, i)>, affine_map<(i, j) -> (i, j)>"
    return f"""{result} = linalg.generic {{indexing_maps = [{maps}], iterator_types = ["parallel", "parallel"]}}
      ins({source} : {S}) outs({init} : {S}) {{
    ^bb0(%i: f32, %o: f32):
      linalg.yield %i : f32
    }} -> {S}"""


def main(arguments: str, kind: str, *lines: str) -> str:
    """A program; the last line is the value that it returns."""
    body = "\n".join(lines[:-1])
    return f"func.func @main({arguments}) -> {kind} {{\n{body}\nreturn {lines[-1]} : {kind}\n}}"


# Faults


def without(*reasons: Reason) -> Patch:
    """Conflicts of these kinds are not seen."""

    def apply(patch: pytest.MonkeyPatch) -> None:
        conflict = places.Places.conflict

        def lenient(*arguments: Any) -> Any:
            found = conflict(*arguments)
            return None if found is not None and found.reason in reasons else found

        patch.setattr(places.Places, "conflict", lenient)

    return apply


def read_as(change: Callable[[program.TensorProgram], program.TensorProgram]) -> Patch:
    """Readers see another function than the one that there is."""

    def apply(patch: pytest.MonkeyPatch) -> None:
        for module in (inplace, destinations):
            patch.setattr(module, "Readers", lambda function: readers.Readers(change(function)))

    return apply


def _each_alone(function: program.TensorProgram) -> program.TensorProgram:
    """Views are values of their own."""
    return replace(function, ops=tuple(replace(op, facts=replace(op.facts, views=())) for op in function.ops))


def _operands_only(function: program.TensorProgram) -> program.TensorProgram:
    return replace(function, ops=tuple(replace(op, captured=()) for op in function.ops))


def everything_elementwise(patch: pytest.MonkeyPatch) -> None:
    facts = linalg._payload_facts

    def generous(op: Any, maps: Any) -> Any:
        found = facts(op, maps)
        return replace(found, elementwise=frozenset(range(len(op.operands) - len(op.results))))

    patch.setattr(linalg, "_payload_facts", generous)


def everything_overwritten(patch: pytest.MonkeyPatch) -> None:
    """No op is thought to need what its destination holds."""
    facts = linalg._payload_facts

    def generous(op: Any, maps: Any) -> Any:
        found = facts(op, maps)
        tied = frozenset(operand for operand, _ in found.ties)
        return replace(found, reads=found.reads - tied, overwrites=tied)

    patch.setattr(linalg, "_payload_facts", generous)


def live_ranges_changed(
    change: Callable[[Any], tuple[BufferUse, ...]], read: Callable[[BufferProgram], BufferProgram]
) -> Patch:
    """A fault of the plan, and the same one of deallocation."""

    def apply(patch: pytest.MonkeyPatch) -> None:
        patch.setattr(lowering, "find_buffers", lambda function, *_: change(function))
        patch.setattr(settle_ownership, "read_buffers", lambda *given: read(read_buffers(*given)))

    return apply


def _last_use_lost(program: BufferProgram) -> BufferProgram:
    return replace(program, users=tuple(users[:-1] if len(users) > 1 else users for users in program.users))


def _views_apart(program: BufferProgram) -> BufferProgram:
    return replace(program, values=tuple(replace(buffer, sources=()) for buffer in program.values))


def _one_op_early(function: Any) -> tuple[BufferUse, ...]:
    return tuple(
        replace(b, upper=b.users[-2] + 1, users=b.users[:-1]) if b.kind == "alloc" and len(b.users) > 1 else b
        for b in buffers.find_buffers(function)
    )


def _without_views(function: Any) -> tuple[BufferUse, ...]:
    """Only ops that have the base itself as an operand count."""
    direct: list[BufferUse] = []
    ops = [op.operation for op in function.regions[0].blocks[0].operations]
    for b in buffers.find_buffers(function):
        users = tuple(n for n in b.users if b.base in list(ops[n].operands))
        direct.append(replace(b, users=users, upper=users[-1] + 1) if users else b)
    return tuple(direct)


@dataclass(frozen=True)
class Case:
    """A program that is right as it is, and wrong with the fault."""

    fault: Patch
    text: str
    inputs: tuple[Any, ...]
    pipeline: str = "buffers alone"


CAST = (f"%v = tensor.cast %x : {T} to {D}", f"%w = tensor.cast %v : {D} to {T}")
READ_FIRST = ("%i = arith.constant 0 : index", f"%s = tensor.extract %x[%i] : {T}")
GATHER = "%i = arith.constant 3 : index\n %u = tensor.extract %x[%i] : tensor<8xf32>\n %t = arith.addf %a0, %u : f32"
CHAIN = (
    f"%e = tensor.empty() : {S}",
    f"%z = linalg.fill ins(%zero : f32) outs(%e : {S}) -> {S}",
    matmul("%a", "%x", "%y", "%z"),
    f"%f = tensor.empty() : {S}",
    f"%g = linalg.fill ins(%zero : f32) outs(%f : {S}) -> {S}",
    matmul("%b", "%a", "%y", "%g"),
    f"%h = tensor.empty() : {S}",
    f"%k = linalg.fill ins(%zero : f32) outs(%h : {S}) -> {S}",
    matmul("%r", "%b", "%y", "%k"),
)
ZERO = "%zero = arith.constant 0.0 : f32"
THROUGH_A_VIEW = (
    f"%d = tensor.empty() : {S}",
    transposed("%a", "%x", "%d"),
    f"%p = tensor.extract_slice %a[0, 0] [4, 2] [1, 1] : {S} to tensor<4x2xf32>",
    f"%e = tensor.empty() : {S}",
    transposed("%b", "%y", "%e"),
    "%q = tensor.extract_slice %b[0, 0] [4, 2] [1, 1] : tensor<4x4xf32> to tensor<4x2xf32>",
    "%z = arith.constant dense<0.0> : tensor<4x4xf32>",
    f"%h = tensor.insert_slice %p into %z[0, 0] [4, 2] [1, 1] : tensor<4x2xf32> into {S}",
    f"%r = tensor.insert_slice %q into %h[0, 2] [4, 2] [1, 1] : tensor<4x2xf32> into {S}",
)

CASES = {
    "a later read is overlooked": Case(
        without(Reason.READ_LATER),
        main(GIVEN, T, square("%a", "%x", "%x"), add("%r", "%x", "%a", "%y"), "%r"),
        (EIGHT, EIGHT),
    ),
    "a later read of a displaced operand is overlooked": Case(
        without(Reason.READ_LATER),
        main(GIVEN, T, EMPTY, square("%a", "%x", "%e"), add("%r", "%x", "%a", "%e"), "%r"),
        (EIGHT, EIGHT),
        "destinations alone",
    ),
    "a read by the op itself is overlooked": Case(
        without(Reason.READ_BY_SAME_OP),
        main(
            f"%x: {S} {{hotdesk.donated}}, %e: {S}", S, transposed("%a", "%x", "%x"), transposed("%r", "%a", "%e"), "%r"
        ),
        (SQUARE, SQUARE),
    ),
    "an earlier write is overlooked": Case(
        without(Reason.ALREADY_OVERWRITTEN),
        main(GIVEN, T, EMPTY, square("%a", "%x", "%y"), add("%b", "%x", "%x", "%y"), add("%r", "%a", "%b", "%e"), "%r"),
        (EIGHT, EIGHT),
    ),
    "an input of the caller's is overwritten": Case(
        without(Reason.NOT_WRITABLE_INPUT),
        main(f"%x: {T}", T, square("%r", "%x", "%x"), "%r"),
        (EIGHT,),
    ),
    "a weight is overwritten": Case(
        without(Reason.NOT_WRITABLE_WEIGHT),
        main(f'%w: {T} {{hotdesk.kind = "weight"}}, %x: {T}', T, add("%r", "%x", "%w", "%w"), "%r"),
        (EIGHT, EIGHT),
    ),
    "a constant is overwritten": Case(
        without(Reason.NOT_WRITABLE_CONSTANT),
        main(f"%x: {T}", T, f"%c = arith.constant dense<1.0> : {T}", add("%r", "%x", "%c", "%c"), "%r"),
        (EIGHT,),
    ),
    "views are not seen": Case(
        read_as(_each_alone),
        main(GIVEN, T, *CAST, square("%a", "%x", "%x"), add("%r", "%w", "%a", "%y"), "%r"),
        (EIGHT, EIGHT),
    ),
    "reads in regions are not seen": Case(
        read_as(_operands_only),
        main(GIVEN, T, square("%a", "%x", "%x"), "%r = " + elementwise("", ["%a"], "%y", body=GATHER), "%r"),
        (EIGHT, EIGHT),
    ),
    "reads of scalars are not seen": Case(
        read_as(_operands_only),
        main(
            GIVEN,
            T,
            *READ_FIRST,
            square("%a", "%x", "%x"),
            "%r = " + elementwise("", ["%a"], "%y", body="%t = arith.addf %a0, %s : f32"),
            "%r",
        ),
        (EIGHT + 1, EIGHT),
    ),
    "every operand is thought to be read element by element": Case(
        everything_elementwise,
        main(
            f"%x: {S} {{hotdesk.donated}}",
            S,
            f"%e = tensor.empty() : {S}",
            transposed("%t", "%x", "%e"),
            f"%g = tensor.empty() : {S}",
            transposed("%r", "%t", "%g"),
            "%r",
        ),
        (SQUARE,),
        "destinations alone",
    ),
    "contents that are accumulated into are not copied": Case(
        everything_overwritten,
        main(f"%x: {S}, %y: {S}", S, matmul("%r", "%x", "%x", "%y"), "%r"),
        (SQUARE, SQUARE),
    ),
    "buffers are given away one op early": Case(
        live_ranges_changed(_one_op_early, _last_use_lost),
        main(f"%x: {S}, %y: {S}", S, ZERO, *CHAIN, "%r"),
        (SQUARE, SQUARE),
    ),
    "live ranges end with the last direct use": Case(
        live_ranges_changed(_without_views, _views_apart),
        main(f"%x: {S}, %y: {S}", S, *THROUGH_A_VIEW, "%r"),
        (SQUARE, SQUARE + 1),
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_values_notice(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    case = CASES[name]
    check_module(case.text, *case.inputs, pipelines=[case.pipeline])
    case.fault(monkeypatch)
    with pytest.raises(AssertionError):
        check_module(case.text, *case.inputs, pipelines=[case.pipeline])


FREEING = {
    "buffers are given away one op early": main(f"%x: {S}, %y: {S}", S, ZERO, *CHAIN, "%r"),
    "live ranges end with the last direct use": main(f"%x: {S}, %y: {S}", S, *THROUGH_A_VIEW, "%r"),
}


@pytest.mark.parametrize("name", FREEING)
def test_the_walk_notices(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def freed() -> None:
        module = parse(FREEING[name])
        run(module, OneShotBufferize(), DeallocateAfterLastUse())
        check_freeing(function(module))

    freed()
    CASES[name].fault(monkeypatch)
    with pytest.raises(AssertionError, match="uses what was freed"):
        freed()


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        (("%a = memref.alloc() : memref<8xf32>",), "1 allocations are never freed"),
        (("memref.dealloc %x : memref<8xf32>",), "frees what was not allocated here"),
        (("%a = memref.alloc() : memref<8xf32>", *["memref.dealloc %a : memref<8xf32>"] * 2), "frees twice"),
    ],
)
def test_what_the_walk_refuses(lines: tuple[str, ...], message: str) -> None:
    module = parse("func.func @f(%x: memref<8xf32>) {\n" + "\n".join(lines) + "\nreturn\n}")
    with pytest.raises(AssertionError, match=message):
        check_freeing(function(module))
