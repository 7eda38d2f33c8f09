"""Signatures of functions: what attributes say is read by field, and a signature that is set keeps what is not changed."""

from __future__ import annotations

from dataclasses import replace

import pytest

from hotdesk._bindings import ir
from hotdesk.ir.context import entered, make_context
from hotdesk.ir.signature import Formal, FunctionSignature, formals, new_function, set_signature, signature

TEXT = """func.func private @f(
  tensor<?xf32> {hotdesk.kind = "input", hotdesk.donated, hotdesk.shape = ["n"], other.says = 1 : i64},
  index,
  memref<4xf32> {bufferize.result = 1, hotdesk.sizes = [0, 0, 1, -1], llvm.noalias},
  memref<4xf32> {hotdesk.holds = array<i64: 0, 2>, hotdesk.access = "read", bufferization.access = "none"},
  memref<8xi8> {hotdesk.arena = 64 : i64, hotdesk.arena_bytes = @g}
) -> (tensor<?xf32> {other.result}, i1)"""


def parsed(text: str = TEXT) -> tuple[ir.Module, ir.Operation]:
    module = ir.Module.parse(text, make_context())
    return module, module.body.operations[0].operation


def test_fields() -> None:
    _, function = parsed()
    x, n, out, held, arena = signature(function).arguments
    assert (x.kind, x.donated, x.result, x.holds, x.arena) == ("input", True, None, (), None)
    assert n == Formal(n.type)
    assert (n.kind, n.donated, n.access, n.declared_access, n.sized_by) == (None, False, None, None, "")
    assert (out.result, out.sizes, out.no_alias) == (1, ((0, 0), (1, -1)), True)
    assert (held.holds, held.access, held.declared_access, held.no_alias) == ((0, 2), "read", "none", False)
    assert (arena.arena, arena.sized_by) == (64, "g")
    assert [str(each) for each in signature(function).outputs] == ["tensor<?xf32>", "i1"]


def test_set_as_it_is() -> None:
    _, function = parsed()
    before = str(function)
    set_signature(function, signature(function))
    assert str(function) == before


def test_said_as_it_is_read() -> None:
    module, function = parsed()
    known = signature(function)
    with entered(module.operation):
        said = [
            Formal(known.inputs[0], {"other.says": known.arguments[0].attributes["other.says"]}).stating(
                kind="input", donated=True, shape=["n"]
            ),
            Formal(known.inputs[1]).stating(),
            Formal(known.inputs[2]).stating(result=1, sizes=[(0, 0), (1, -1)], no_alias=True),
            Formal(known.inputs[3]).stating(holds=[0, 2], access="read", declared_access="none"),
            Formal(known.inputs[4]).stating(arena=64, sized_by="g"),
        ]
    fields = (
        "type",
        "kind",
        "donated",
        "result",
        "holds",
        "sizes",
        "access",
        "declared_access",
        "no_alias",
        "arena",
        "sized_by",
    )
    for a, b in zip(said, known.arguments, strict=True):
        assert [getattr(a, name) for name in fields] == [getattr(b, name) for name in fields]
    set_signature(function, replace(known, arguments=tuple(said)))
    assert "bufferize.result = 1 : i64, hotdesk.sizes = array<i64: 0, 0, 1, -1>, llvm.noalias" in str(function)
    assert 'hotdesk.donated, hotdesk.kind = "input", hotdesk.shape = ["n"], other.says = 1 : i64' in str(function)


def test_results_that_go_and_arguments_that_come() -> None:
    module, function = parsed()
    with entered(module.operation):
        index = ir.IndexType.get()
        set_signature(function, signature(function).keeping([1]).with_arguments([Formal(index).stating(donated=True)]))
    text = str(function)
    assert "memref<8xi8> {hotdesk.arena = 64 : i64, hotdesk.arena_bytes = @g}, index {hotdesk.donated}) -> i1" in text
    assert "other.result" not in text


def test_other_types_with_the_same_attributes() -> None:
    _, function = parsed()
    known = signature(function)
    set_signature(function, known.retyped(lambda kind: known.inputs[1]))
    assert signature(function).types == (known.inputs[1],) * 7
    assert [each.attributes for each in signature(function).arguments] == [each.attributes for each in known.arguments]


@pytest.mark.parametrize("attribute", ["arg_attrs", "res_attrs"])
def test_nothing_is_said_of_what_nothing_is_to_be_said(attribute: str) -> None:
    _, function = parsed()
    known = signature(function)
    set_signature(function, FunctionSignature(formals(known.inputs), formals(known.outputs)))
    assert attribute not in function.attributes


def test_a_new_function() -> None:
    module, function = parsed()
    with entered(module.operation):
        made, block = new_function("g", signature(function), ir.InsertionPoint(function), function.location)
        with ir.InsertionPoint(block):
            ir.Operation.create("func.return", operands=[block.arguments[0], block.arguments[1]])
    assert signature(made) == signature(function)
    assert [a.type for a in block.arguments] == list(signature(function).inputs)
    assert str(next(iter(module.body.operations)).attributes["sym_name"]) == '"g"'
