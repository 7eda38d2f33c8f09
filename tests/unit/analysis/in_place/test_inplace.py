"""In-place decisions: what models say of scalars, undefined contents, and sizes. `one-shot-rules.mlir` shows each rule."""

from __future__ import annotations

from dataclasses import replace

from hotdesk.analysis.in_place.displacement import Displacement, find_displacement
from hotdesk.analysis.in_place.inplace import OperandDecision, analyse_in_place
from hotdesk.analysis.in_place.places import Places
from hotdesk.analysis.tensors.program import TensorProgram
from hotdesk.analysis.tensors.readers import Readers
from hotdesk.analysis.tensors.reading import read_function
from hotdesk.explain import Reason
from hotdesk.models.model import OpModel
from hotdesk.models.registry import choosing
from tests.unit.parsing import function, parse

T = "tensor<8xf32>"
DONATED = f"%x: {T} {{hotdesk.donated}}, %y: {T} {{hotdesk.donated}}"


def record(arguments: str, *lines: str, reload_scalars: bool = False) -> TensorProgram:
    returned = lines[-1].removeprefix("return ")
    body = "\n".join(f"  {line}" for line in lines[:-1])
    kinds = ", ".join([T] * len(returned.split(",")))
    module = parse(f"func.func @main({arguments}) -> ({kinds}) {{\n{body}\n  return {returned} : {kinds}\n}}")
    return read_function(function(module), reload_scalars=reload_scalars)


def decisions(arguments: str, *lines: str, reload_scalars: bool = False) -> list[OperandDecision]:
    return list(analyse_in_place(record(arguments, *lines, reload_scalars=reload_scalars)).decisions)


def tanh(result: str, source: str, init: str) -> str:
    return f"{result} = linalg.map {{ math.tanh }} ins({source} : {T}) outs({init} : {T})"


def add(result: str, a: str, b: str, init: str) -> str:
    return f"{result} = linalg.map {{ arith.addf }} ins({a}, {b} : {T}, {T}) outs({init} : {T})"


def test_rule_2_a_model_says_that_its_op_takes_scalars_as_they_were_computed() -> None:
    lines = (
        "%i = arith.constant 0 : index",
        f"%s = tensor.extract %x[%i] : {T}",
        tanh("%a", "%x", "%x"),
        f"%r = linalg.fill ins(%s : f32) outs(%y : {T}) -> {T}",
        "return %r, %a",
    )
    assert not decisions(DONATED, *lines, reload_scalars=True)[0].in_place

    def taking(name: str, model: OpModel | None) -> OpModel | None:
        return replace(model, takes_scalars=True) if model is not None and name == "linalg.fill" else model

    with choosing(taking):
        assert decisions(DONATED, *lines, reload_scalars=True)[0].in_place


# 4. Undefined contents.


def test_rule_4_nobody_misses_undefined_contents() -> None:
    lines = (f"%e = tensor.empty() : {T}", tanh("%a", "%x", "%e"))
    first = decisions(f"%x: {T}", *lines, "return %a, %e")[0]
    assert (first.in_place, first.fresh, first.reason) == (True, True, Reason.NOT_WRITABLE_INPUT)


def test_rule_4_what_is_inserted_into_them_is_defined() -> None:
    lines = (
        f"%e = tensor.empty() : {T}",
        f"%a = tensor.insert_slice %v into %e[0] [4] [1] : tensor<4xf32> into {T}",
        tanh("%r", "%a", "%a"),
    )
    first, second = decisions("%v: tensor<4xf32>", *lines, "return %r, %a")
    assert (first.in_place, first.fresh) == (True, True)
    assert second == OperandDecision(2, 1, False, Reason.READ_LATER, conflict=3)


def test_rule_5_undefined_or_not() -> None:
    lines = (f"%e = tensor.empty() : {T}", tanh("%a", "%x", "%e"), tanh("%b", "%x", "%e"))
    first, second = decisions(f"%x: {T}", *lines, "return %a, %b")
    assert [first.fresh, second.fresh] == [True, True]  # each a buffer of its own


def test_decisions_are_found_by_op_and_operand() -> None:
    analysis = analyse_in_place(record(DONATED, tanh("%a", "%x", "%x"), tanh("%r", "%a", "%y"), "return %r"))
    assert analysis.by_operand == {(0, 1): analysis.decisions[0], (1, 1): analysis.decisions[1]}


# Displacement: why no operand was overwritten


def displaced(module_text: str) -> Displacement:
    found = read_function(function(parse(module_text)))
    readers = Readers(found)
    return find_displacement(found, found.ops[-2], 0, Places(found, readers), readers)


def program(arguments: str, result: str, *lines: str, returned: str = "%r") -> str:
    body = "\n".join(lines)
    kinds = f"{result}, {T}" if "," in returned else result
    return f"func.func @main({arguments}) -> ({kinds}) {{\n{body}\nreturn {returned} : {kinds}\n}}"


def test_the_operand_that_came_closest_gives_the_reason() -> None:
    lines = (f"%e = tensor.empty() : {T}", add("%r", "%z", "%x", "%e"))
    found = displaced(program(f"%z: {T}, {DONATED}", T, *lines, returned="%r, %x"))
    assert found.reason is Reason.NOT_WRITABLE_INPUT


def test_sizes_that_may_differ() -> None:
    dynamic = "tensor<?xf32>"
    lines = (
        "%i = arith.constant 0 : index",
        f"%n = tensor.dim %y, %i : {dynamic}",
        f"%e = tensor.empty(%n) : {dynamic}",
        f"%r = linalg.map {{ math.tanh }} ins(%x : {dynamic}) outs(%e : {dynamic})",
    )
    for other, reason in (("m", Reason.SIZE_NOT_PROVEN_EQUAL), ("n", Reason.DIES_HERE)):
        arguments = (
            f'%x: {dynamic} {{hotdesk.donated, hotdesk.shape = ["n"]}}, %y: {dynamic} {{hotdesk.shape = ["{other}"]}}'
        )
        assert displaced(program(arguments, dynamic, *lines)).reason is reason
