"""What a pass requires and ensures is checked by its base class, and named with the op that breaks it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import pytest

from hotdesk._bindings import ir
from hotdesk.errors import InvalidIRError, PassError
from hotdesk.explain import Decision
from hotdesk.ir.context import entered
from hotdesk.passes.base import Pass
from hotdesk.passes.properties import ALL_FREED, NO_TENSORS, NO_UNDEFINED_TENSORS, Property
from hotdesk.passes.textual import PassPipeline, parse_pipeline
from tests.unit.parsing import parse

M = "memref<4xf32>"


@dataclass(frozen=True, slots=True)
class Idle(Pass):
    """Does nothing, and says what it wants and keeps."""

    name: ClassVar[str] = "idle"
    wants: tuple[Property, ...] = ()
    keeps: tuple[Property, ...] = ()

    def requires(self) -> tuple[Property, ...]:
        return self.wants

    def ensures(self) -> tuple[Property, ...]:
        return self.keeps

    def run(self, module: ir.Module) -> tuple[Decision, ...]:
        return ()


def function(body: str, arguments: str = f"%x: {M}, %p: i1", results: str = "") -> str:
    return f"func.func @main({arguments}){results} {{\n{body}\n}}"


A = f"%a = memref.alloc() : {M}\n"
FREE = f"memref.dealloc %a : {M}\n"
TENSOR = "tensor<4xf32>"
BREAKING = {
    "a tensor": (NO_TENSORS, function(f"%t = tensor.empty() : {TENSOR}\nreturn"), "tensor.empty"),
    "a tensor in a branch": (
        NO_TENSORS,
        function(f"scf.if %p {{\n%t = tensor.empty() : {TENSOR}\n}}\nreturn"),
        "tensor.empty",
    ),
    "an argument that is one": (NO_TENSORS, function("return", f"%x: {TENSOR}"), "func.func"),
    "a declaration of one": (NO_TENSORS, f"func.func private @f() -> {TENSOR}", "func.func"),
    "in a module inside": (NO_TENSORS, f"module {{ {function('return', f'%x: {TENSOR}')} }}", "func.func"),
    "an undefined tensor": (
        NO_UNDEFINED_TENSORS,
        function(f"%t = tensor.empty() : {TENSOR}\nreturn"),
        "tensor.empty",
    ),
    "an allocation": (ALL_FREED, function(f"{A}memref.copy %x, %a : {M} to {M}\nreturn"), "memref.alloc"),
    "a view that is used": (
        ALL_FREED,
        function(
            f"{A}%v = memref.cast %a : {M} to memref<?xf32>\nmemref.copy %v, %v : memref<?xf32> to memref<?xf32>\nreturn"
        ),
        "memref.alloc",
    ),
    "what a callee gets": (
        ALL_FREED,
        function(f"{A}%r = func.call @f(%a) : ({M}) -> {M}\nmemref.dealloc %r : {M}\nreturn")
        + f"\nfunc.func private @f({M}) -> {M}",
        "memref.alloc",
    ),
    "in a loop": (
        ALL_FREED,
        function(
            f"%c = arith.constant 1 : index\nscf.for %i = %c to %c step %c {{\n{A}memref.copy %x, %a : {M} to {M}\n}}\nreturn"
        ),
        "memref.alloc",
    ),
}
HOLDING = {
    "memrefs": (NO_TENSORS, function(f"{A}{FREE}return")),
    "freed": (ALL_FREED, function(f"{A}memref.copy %x, %a : {M} to {M}\n{FREE}return")),
    "freed as a view": (
        ALL_FREED,
        function(f"{A}%v = memref.cast %a : {M} to memref<?xf32>\nmemref.dealloc %v : memref<?xf32>\nreturn"),
    ),
    "freed under a condition": (ALL_FREED, function(f"{A}scf.if %p {{\n{FREE}}}\nreturn")),
    "returned": (ALL_FREED, function(f"{A}return %a : {M}", results=f" -> {M}")),
    "yielded": (
        ALL_FREED,
        function(
            f"%r = scf.if %p -> {M} {{\n{A}scf.yield %a : {M}\n}} else {{\nscf.yield %x : {M}\n}}\n"
            f"memref.copy %r, %x : {M} to {M}\nreturn"
        ),
    ),
    "stored": (
        ALL_FREED,
        function(f"{A}memref.store %a, %s[] : memref<{M}>\nreturn", f"%s: memref<{M}>"),
    ),
    "control does not come back": (
        ALL_FREED,
        function(f"cf.br ^bb1\n^bb1:\n{A}memref.copy %x, %a : {M} to {M}\ncf.br ^bb1"),
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", BREAKING)
def test_what_does_not_hold_is_refused_by_name(name: str) -> None:
    given, text, op = BREAKING[name]
    with pytest.raises(PassError, match=f"pass 'idle': expected a module in which {given.says}, got `{op}`"):
        PassPipeline((Idle(wants=(given,)),)).run(parse(text))
    with pytest.raises(PassError, match=f"the module after pass 'idle': expected that {given.says}, got `{op}`"):
        PassPipeline((Idle(keeps=(given,)),)).run(parse(text))


@pytest.mark.parametrize("name", HOLDING)
def test_what_holds(name: str) -> None:
    given, text = HOLDING[name]
    assert PassPipeline((Idle(wants=(given,), keeps=(given,)),)).run(parse(text)) == ()


def test_workspaces_are_for_memory() -> None:
    text = function("return", f"%x: {TENSOR}")
    with pytest.raises(
        PassError, match="pass 'hotdesk-allocate-workspaces': expected a module in which no tensor is left"
    ):
        parse_pipeline("builtin.module(hotdesk-allocate-workspaces)").run(parse(text))


@dataclass(frozen=True, slots=True)
class Breaking(Pass):
    """Gives a function a type that its body contradicts."""

    name: ClassVar[str] = "breaking"

    def run(self, module: ir.Module) -> tuple[Decision, ...]:
        main = module.body.operations[0].operation
        main.attributes["function_type"] = ir.TypeAttr.get(ir.FunctionType.get([], []))
        return ()


def test_a_module_that_does_not_verify() -> None:
    module = parse(function("return"))
    with entered(module.operation):
        with pytest.raises(InvalidIRError, match="the module does not verify after breaking"):
            Breaking().apply(module)
        assert Breaking().apply(module, verified=False) == ()
