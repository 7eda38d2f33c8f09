"""Types taken apart by a user's callbacks: signatures, calls, branches, and the same numbers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from torch_mlir import ir

from hotdesk.errors import BufferizationError, PassError
from hotdesk.ir.building import create
from hotdesk.ir.context import entered, make_context
from hotdesk.passes.bufferize import decompositions
from hotdesk.passes.bufferize.arith_partial import ArithBufferize
from hotdesk.passes.bufferize.decompose_types import DecomposeTypes
from hotdesk.passes.bufferize.decompositions import TypeDecomposition, register
from hotdesk.passes.bufferize.finalizing import FinalizingBufferize
from hotdesk.passes.bufferize.func_partial import FuncBufferize
from hotdesk.passes.bufferize.linalg_partial import LinalgBufferize
from hotdesk.passes.bufferize.out_params import BufferResultsToOutParams
from hotdesk.passes.bufferize.tensor_partial import TensorBufferize
from tests.running import OURS, check
from tests.unit.passes.memory import call, text_after

T, PAIR = "tensor<8xf32>", "tuple<tensor<8xf32>, index>"

# What a user writes for tuples of an own dialect


def types(kind: ir.Type) -> Sequence[ir.Type] | None:
    return [kind.get_type(i) for i in range(kind.num_types)] if isinstance(kind, ir.TupleType) else None


def pack(kind: ir.Type, parts: Sequence[ir.Value], before: ir.Operation) -> ir.Value:
    return create("test.make_tuple", parts, [kind], before=before).results[0]


def unpack(value: ir.Value, before: ir.Operation) -> Sequence[ir.Value]:
    index = ir.IntegerType.get_signless(32)
    return [
        create(
            "test.get_tuple_element", [value], [kind], {"index": ir.IntegerAttr.get(index, i)}, before=before
        ).results[0]
        for i, kind in enumerate(types(value.type) or ())
    ]


def packed(op: ir.Operation) -> Sequence[ir.Value] | None:
    return list(op.operands) if op.name == "test.make_tuple" else None


def taken(op: ir.Operation) -> tuple[ir.Value, Sequence[int]] | None:
    return (op.operands[0], [op.attributes["index"].value]) if op.name == "test.get_tuple_element" else None


TUPLES = TypeDecomposition(types, pack, unpack, packed, taken)
BARE = TypeDecomposition(types, pack, unpack)
"""Without the hooks that see through the user's own operations."""


@pytest.fixture(autouse=True)
def _registered(monkeypatch: pytest.MonkeyPatch) -> None:
    known = dict(decompositions._DECOMPOSITIONS)
    decompositions.decompositions()
    monkeypatch.setattr(decompositions, "_DECOMPOSITIONS", {**known, **decompositions._DECOMPOSITIONS})
    register("test", TUPLES)


def decomposed(text: str) -> str:
    context = make_context()
    context.allow_unregistered_dialects = True
    module = ir.Module.parse(text, context)
    with entered(module.operation):
        DecomposeTypes().run(module)
        module.operation.verify()
        return str(module)


def make(result: str, a: str, b: str) -> str:
    return f'{result} = "test.make_tuple"({a}, {b}) : ({T}, index) -> {PAIR}'


def get(result: str, value: str, number: int, kind: str) -> str:
    return f'{result} = "test.get_tuple_element"({value}) {{index = {number} : i32}} : ({PAIR}) -> {kind}'


NEXT = f"""func.func private @next(%p: {PAIR}) -> {PAIR} {{
  %c1 = arith.constant 1 : index
  {get("%x", "%p", 0, T)}
  {get("%i", "%p", 1, "index")}
  %e = tensor.empty() : {T}
  %y = linalg.map {{ arith.addf }} ins(%x, %x : {T}, {T}) outs(%e : {T})
  %j = arith.addi %i, %c1 : index
  {make("%q", "%y", "%j")}
  return %q : {PAIR}
}}
"""
PROGRAM = (
    f"""func.func @main(%x: {T}) -> ({T}, {T}) {{
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : index
  {make("%p", "%x", "%c0")}
  cf.br ^head(%p : {PAIR})
^head(%q: {PAIR}):
  {get("%i", "%q", 1, "index")}
  %c = arith.cmpi ult, %i, %c2 : index
  %n = call @next(%q) : ({PAIR}) -> {PAIR}
  cf.cond_br %c, ^head(%n : {PAIR}), ^end(%q, %n : {PAIR}, {PAIR})
^end(%r: {PAIR}, %s: {PAIR}):
  {get("%y", "%r", 0, T)}
  {get("%z", "%s", 0, T)}
  return %y, %z : {T}, {T}
}}
"""
    + NEXT
)


def test_a_program_of_pairs_runs() -> None:
    """Doubled twice, and once more: through blocks, calls and a loop."""
    after = decomposed(PROGRAM)
    assert "tuple" not in after
    assert f"func.func private @next(%arg0: {T}, %arg1: index) -> ({T}, index)" in after
    x = np.arange(8, dtype=np.float32)
    parts = (LinalgBufferize(), ArithBufferize(), FuncBufferize(), TensorBufferize(), FinalizingBufferize())
    buffers = text_after(after, *parts, BufferResultsToOutParams(modify_public_functions=True))
    y, z = np.zeros((2, 8), np.float32)
    call(buffers, x, y, z)
    np.testing.assert_array_equal(y, 4 * x)
    np.testing.assert_array_equal(z, 8 * x)
    np.testing.assert_array_equal(x, np.arange(8))


def test_without_blocks_it_runs_through_one_shot_bufferization() -> None:
    text = f"""func.func @main(%x: {T}) -> {T} {{
      %c0 = arith.constant 0 : index
      {make("%p", "%x", "%c0")}
      %n = call @next(%p) : ({PAIR}) -> {PAIR}
      {get("%y", "%n", 0, T)}
      return %y : {T}
    }}
    """
    x = np.arange(8, dtype=np.float32)
    (result,) = check(decomposed(text + NEXT), [x], OURS).results
    np.testing.assert_array_equal(result, 2 * x)


def test_pack_and_unpack_hooks() -> None:
    """Where nobody sees through the user's operations, values are packed at once and unpacked where they are passed on."""
    register("test", BARE)
    after = decomposed(f"func.func @caller(%p: {PAIR}) -> {PAIR} {{\n{make('%q', '%x', '%i')}\nreturn %q : {PAIR}\n}}".replace(
        "\n", f"\n{get('%x', '%p', 0, T)}\n{get('%i', '%p', 1, 'index')}\n", 1))  # fmt: skip
    lines = [line.strip().partition(" = ")[2].partition("(")[0] for line in after.splitlines() if "test." in line]
    element, whole = '"test.get_tuple_element"', '"test.make_tuple"'
    assert lines == [whole, element, element, whole, element, element]
    assert f"func.func @caller(%arg0: {T}, %arg1: index) -> ({T}, index)" in after


def test_an_op_that_needs_the_whole_gets_it() -> None:
    after = decomposed(f'func.func @f(%p: {PAIR}) {{\n"test.use"(%p) : ({PAIR}) -> ()\nreturn\n}}')
    assert f'%0 = "test.make_tuple"(%arg0, %arg1) : ({T}, index) -> {PAIR}' in after
    assert f'"test.use"(%0) : ({PAIR}) -> ()' in after


def test_an_op_that_makes_the_whole_is_unpacked() -> None:
    after = decomposed(f'func.func @f() -> {PAIR} {{\n%p = "test.source"() : () -> {PAIR}\nreturn %p : {PAIR}\n}}')
    assert after.count('"test.get_tuple_element"(%0)') == 2
    assert f"return %1, %2 : {T}, index" in after


def test_the_entry_point_group(monkeypatch: pytest.MonkeyPatch) -> None:
    class Point:
        name, value = "mine", "my_package.my_module:PAIRS"

        def __init__(self, found: Any) -> None:
            self.load = lambda: found

    def read(found: Any) -> tuple[TypeDecomposition, ...]:
        monkeypatch.setattr(decompositions, "_DECOMPOSITIONS", {})
        monkeypatch.setattr(
            decompositions, "entry_points", lambda group: [Point(found)] if group == decompositions.GROUP else []
        )
        decompositions._built_in.cache_clear()
        return decompositions.decompositions()

    try:
        assert read(TUPLES) == (TUPLES, decompositions.TUPLE)
        with pytest.raises(
            PassError, match=r"'mine'.*expected a TypeDecomposition at my_package\.my_module:PAIRS, got int"
        ):
            read(1)
    finally:
        decompositions._built_in.cache_clear()


WRONG = {
    "unpacking": (replace(BARE, unpack=lambda value, before: [value]), f"func.func @f(%p: {PAIR}) -> {PAIR}"),
    "packing": (replace(BARE, pack=lambda kind, parts, before: parts[0]), f"func.func @f(%p: {PAIR}) -> {PAIR}"),
}


@pytest.mark.parametrize("what", WRONG)
def test_callbacks_that_do_not_agree(what: str) -> None:
    wrong, head = WRONG[what]
    register("test", wrong)
    with pytest.raises(BufferizationError, match=f"{what} a value of type tuple<.*callbacks") as caught:
        decomposed(f'{head} {{\n%q = "test.source"() : () -> {PAIR}\nreturn %q : {PAIR}\n}}')
    assert caught.value.expected is not None


def test_a_function_whose_address_is_taken() -> None:
    text = f"""func.func private @f(%p: {PAIR})
    func.func @main() {{
      %f = constant @f : ({PAIR}) -> ()
      return
    }}"""
    with pytest.raises(BufferizationError, match=r"function @f: expected calls of it alone, got `func\.constant`"):
        decomposed(text)


def test_types_that_nobody_takes_apart_stay() -> None:
    text = f"func.func @f(%x: {T}, %i: index) -> {T} {{\n  return %x : {T}\n}}"
    assert f"func.func @f(%arg0: {T}, %arg1: index) -> {T}" in decomposed(text)
