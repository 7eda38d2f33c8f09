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
from hotdesk.passes.bufferize.arith_partial import ArithBufferize
from hotdesk.passes.bufferize.decompose_types import DecomposeTypes
from hotdesk.passes.bufferize.equivalent_results import DropEquivalentBufferResults
from hotdesk.passes.bufferize.finalizing import FinalizingBufferize
from hotdesk.passes.bufferize.func_partial import FuncBufferize
from hotdesk.passes.bufferize.linalg_partial import LinalgBufferize
from hotdesk.passes.bufferize.one_shot import OneShotBufferize
from hotdesk.passes.bufferize.out_params import BufferResultsToOutParams
from hotdesk.passes.bufferize.scf_partial import ScfBufferize
from hotdesk.passes.bufferize.tensor_partial import TensorBufferize
from hotdesk.passes.buffers.deallocate import DeallocateAfterLastUse
from hotdesk.passes.buffers.merge import MergeAllocations
from hotdesk.passes.buffers.pipeline import BufferPipeline
from hotdesk.passes.buffers.privatize import PrivatizeBuffers
from hotdesk.passes.buffers.promote import PromoteBuffersToStack
from hotdesk.passes.buffers.reuse_arguments import ReuseArguments
from hotdesk.passes.buffers.share import ShareBuffers
from hotdesk.passes.buffers.workspaces import AllocateWorkspaces
from hotdesk.passes.properties import (
    ALL_FREED,
    DIVISORS_CHOSEN,
    FREED_ONCE,
    LETTERS_FIT,
    NO_ARGUMENTS_RETURNED,
    NO_COMPOSITES,
    NO_CONCATENATIONS,
    NO_KNOWN_RESHAPES,
    NO_MEMREFS_RETURNED,
    NO_STRUCTURED_TENSORS,
    NO_TENSOR_CONSTANTS,
    NO_TENSOR_OPS,
    NO_TENSORS,
    NO_TENSORS_FROM_FLOW,
    NO_TENSORS_IN_SIGNATURES,
    NO_UNDEFINED_TENSORS,
    NO_UNUSED_TENSORS,
    NOTHING_FREED_ON_STACK,
    ONE_USE_EACH,
    PLACES_CHECKED,
    PREPARED_FROM_WEIGHTS,
    SCRATCH_GIVEN,
    VIEWS_FIT,
    Property,
)
from hotdesk.passes.registry import load, pass_names
from hotdesk.passes.tensor.accumulate import AccumulateInPlace
from hotdesk.passes.tensor.alloc_tensors import EmptyTensorToAllocTensor
from hotdesk.passes.tensor.attention import RecognizeAttention
from hotdesk.passes.tensor.dead_code import EraseDead
from hotdesk.passes.tensor.decompose import DecomposeConcatAndPad
from hotdesk.passes.tensor.guard_divisions import GuardDivisions
from hotdesk.passes.tensor.guard_indices import GuardIndices
from hotdesk.passes.tensor.named_ops import NormalizeNamedOps
from hotdesk.passes.tensor.prepare import SplitPrepare
from hotdesk.passes.tensor.rearranged_operands import FoldRearrangedOperands
from hotdesk.passes.tensor.rematerialize import RematerializeCheapOps
from hotdesk.passes.tensor.reshapes import ReshapesAsViews
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
BRANCH, N = "scf.if %p {\n", "%n: i32, %p: i1"
VIEW = f"%c = arith.constant {{at}} : index\n%v = memref.view %b[%c][] : memref<16xi8> to {M}\nreturn"
BYTES = "%b: memref<16xi8>"
GATHER = """
%c = arith.constant 8 : index
%e = tensor.empty() : tensor<4xf32>
%r = linalg.generic {indexing_maps = [affine_map<(d) -> (d)>, affine_map<(d) -> (d)>], iterator_types = ["parallel"]}
    ins(%i : tensor<4xi64>) outs(%e : tensor<4xf32>) {
^bb0(%at: i64, %out: f32):
  %place = arith.index_cast %at : i64 to index
  CHECK
  %y = tensor.extract %t[%place] : tensor<8xf32>
  linalg.yield %y : f32
} -> tensor<4xf32>
return"""
TABLE = "%t: tensor<8xf32>, %i: tensor<4xi64>"
CHECK = '%ok = arith.cmpi ult, %place, %c : index\ncf.assert %ok, "in range"'
RESHAPE = "%r = tensor.reshape %x(%s) : (tensor<6xf32>, tensor<2xi64>) -> tensor<{to}xf32>\nreturn"
SHAPED = "%x: tensor<6xf32>, %s: tensor<2xi64>"
CONTRACT = """%r = "hotdesk.contract"(%a, %b, %c) {{accumulate = true, equation = "{letters}"}}
    : (tensor<2x3xf32>, tensor<3x5xf32>, tensor<2x5xf32>) -> tensor<2x5xf32>
return"""
FACTORS = "%a: tensor<2x3xf32>, %b: tensor<3x5xf32>, %c: tensor<2x5xf32>"
EMPTY = f"%t = tensor.empty() : {TENSOR}\n"
CONV = """"hotdesk.conv"(%i, %w, %o{given}) {{accumulate = false, dilations = array<i64: 1, 1>, groups = 1 : i64,
    input_dilations = array<i64: 2, 2>, pad_high = array<i64: 1, 1>, pad_low = array<i64: 1, 1>,
    strides = array<i64: 1, 1>{more}}}
    : (memref<1x6x5x4xf32>, memref<8x6x2x2xf32>, memref<1x8x10x8xf32>{scratch}) -> ()
return"""
SPREAD, SCRATCH = ", spread = array<i64: 8, 32, 1>", "memref<1216xi8>"
IMAGES = f"%i: memref<1x6x5x4xf32>, %w: memref<8x6x2x2xf32>, %o: memref<1x8x10x8xf32>, %s: {SCRATCH}"
ATTEND = """%r = "hotdesk.attention"(%q, %k, %k, %o) ({{
^bb0(%s: f32, %m: index, %n: index):
  tm_tensor.yield %s : f32
}}) {{equation = "{letters}", operandSegmentSizes = array<i32: 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 1>, zero_rows = "never"}}
    : (tensor<2x3xf32>, tensor<5x3xf32>, tensor<5x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
return"""
HEADS = "%q: tensor<2x3xf32>, %k: tensor<5x3xf32>, %o: tensor<2x3xf32>"
CHOOSE = """%r = scf.if %p -> {kind} {{
  scf.yield %x : {kind}
}} else {{
  scf.yield %x : {kind}
}}"""
GIVEN_BACK = """func.func {visibility} @f(%x: memref<4xf32>) -> memref<?xf32> {{
  %y = memref.cast %x : memref<4xf32> to memref<?xf32>
  return %y : memref<?xf32>
}}"""
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
    "a signature with a tensor": (NO_TENSORS_IN_SIGNATURES, function("return", f"%x: {TENSOR}"), "func.func"),
    "a constant tensor": (
        NO_TENSOR_CONSTANTS,
        function(f"%t = arith.constant dense<1.0> : {TENSOR}\nreturn"),
        "arith.constant",
    ),
    "a tensor nobody reads": (NO_UNUSED_TENSORS, function(f"%t = tensor.empty() : {TENSOR}\nreturn"), "tensor.empty"),
    "a concatenation": (
        NO_CONCATENATIONS,
        function(f"%c = tensor.concat dim(0) %x, %x : ({TENSOR}, {TENSOR}) -> tensor<8xf32>\nreturn", f"%x: {TENSOR}"),
        "tensor.concat",
    ),
    "a division by any number": (
        DIVISORS_CHOSEN,
        function(f"{BRANCH}%q = arith.divsi %n, %n : i32\n}}\nreturn", N),
        "arith.divsi",
    ),
    "a division by zero": (
        DIVISORS_CHOSEN,
        function(f"%z = arith.constant 0 : i32\n{BRANCH}%q = arith.remui %n, %z : i32\n}}\nreturn", N),
        "arith.remui",
    ),
    "a read where data says": (PLACES_CHECKED, function(GATHER.replace("CHECK", ""), TABLE), "tensor.extract"),
    "a reshape to known sizes": (NO_KNOWN_RESHAPES, function(RESHAPE.format(to="2x3"), SHAPED), "tensor.reshape"),
    "a dim without a letter": (LETTERS_FIT, function(CONTRACT.format(letters="mk,k->mn"), FACTORS), "hotdesk.contract"),
    "a letter of two sizes": (LETTERS_FIT, function(CONTRACT.format(letters="mk,nk->mn"), FACTORS), "hotdesk.contract"),
    "prepared from inputs": (
        PREPARED_FROM_WEIGHTS,
        function("return", f'%x: {M} {{hotdesk.kind = "prepared"}}')
        + f'\nfunc.func @prepare(%x: {M} {{hotdesk.kind = "input"}}) -> {M} {{\nreturn %x : {M}\n}}',
        "func.func",
    ),
    "one undefined tensor for two": (
        ONE_USE_EACH,
        function(f"{EMPTY}return %t, %t : {TENSOR}, {TENSOR}", results=f" -> ({TENSOR}, {TENSOR})"),
        "tensor.empty",
    ),
    "a structured tensor": (
        NO_STRUCTURED_TENSORS,
        function(f"%r = linalg.exp ins(%x : {TENSOR}) outs(%x : {TENSOR}) -> {TENSOR}\nreturn", f"%x: {TENSOR}"),
        "linalg.exp",
    ),
    "a slice that is a tensor": (
        NO_TENSOR_OPS,
        function(f"%r = tensor.extract_slice %x[0][2][1] : {TENSOR} to tensor<2xf32>\nreturn", f"%x: {TENSOR}"),
        "tensor.extract_slice",
    ),
    "a branch that gives a tensor": (
        NO_TENSORS_FROM_FLOW,
        function(f"{CHOOSE.format(kind=TENSOR)}\nreturn", f"%x: {TENSOR}, %p: i1"),
        "scf.if",
    ),
    "an argument given back": (NO_ARGUMENTS_RETURNED, GIVEN_BACK.format(visibility="private"), "func.func"),
    "a memref given back": (NO_MEMREFS_RETURNED, f"func.func private @f() -> {M}", "func.func"),
    "a tuple": (NO_COMPOSITES, "func.func private @f(tuple<i1, f32>)", "func.func"),
    "a query with a letter too many": (
        LETTERS_FIT,
        function(ATTEND.format(letters="md,nd,nef->me"), HEADS),
        "hotdesk.attention",
    ),
    "a convolution that was cut for nothing": (
        SCRATCH_GIVEN,
        function(CONV.format(more=SPREAD, given="", scratch=""), IMAGES),
        "hotdesk.conv",
    ),
    "a view that ends too late": (VIEWS_FIT, function(VIEW.format(at=4), BYTES), "memref.view"),
    "what is freed twice": (FREED_ONCE, function(f"{A}{FREE}{FREE}return"), "memref.dealloc"),
    "what lies on the stack": (
        NOTHING_FREED_ON_STACK,
        function(f"%a = memref.alloca() : {M}\n{FREE}return"),
        "memref.dealloc",
    ),
}
HOLDING = {
    "an undefined tensor for each": (ONE_USE_EACH, function(f"{EMPTY}return %t : {TENSOR}", results=f" -> {TENSOR}")),
    "a convolution without scratch memory": (SCRATCH_GIVEN, function(CONV.format(more="", given="", scratch=""), IMAGES)),
    "a convolution cut to fit its scratch memory": (
        SCRATCH_GIVEN,
        function(CONV.format(more=SPREAD, given=", %s", scratch=f", {SCRATCH}"), IMAGES),
    ),
    "a slice of memory": (
        NO_TENSOR_OPS,
        function(f"%r = memref.subview %x[0][2][1] : {M} to memref<2xf32, strided<[1]>>\nreturn"),
    ),
    "a tensor of no rank": (
        NO_TENSOR_OPS,
        function(f"%r = tensor.cast %x : tensor<*xf32> to {TENSOR}\nreturn", "%x: tensor<*xf32>"),
    ),
    "a branch that gives memory": (NO_TENSORS_FROM_FLOW, function(f"{CHOOSE.format(kind=M)}\nreturn")),
    "an argument that others get back": (NO_ARGUMENTS_RETURNED, GIVEN_BACK.format(visibility="public")),
    "a memref of any size": (NO_MEMREFS_RETURNED, "func.func private @f() -> memref<?xf32>"),
    "the parts of a tuple": (NO_COMPOSITES, "func.func private @f(i1, f32)"),
    "structured memory": (NO_STRUCTURED_TENSORS, function(f"linalg.exp ins(%x : {M}) outs(%x : {M})\nreturn")),
    "signatures with memory": (NO_TENSORS_IN_SIGNATURES, function(f"%t = tensor.empty() : {TENSOR}\nreturn")),
    "a number": (NO_TENSOR_CONSTANTS, function("%c = arith.constant 1 : i32\nreturn")),
    "a tensor that is returned": (
        NO_UNUSED_TENSORS,
        function(f"%t = tensor.empty() : {TENSOR}\nreturn %t : {TENSOR}", results=f" -> {TENSOR}"),
    ),
    "a division by two": (
        DIVISORS_CHOSEN,
        function(f"%z = arith.constant 2 : i32\n{BRANCH}%q = arith.divsi %n, %z : i32\n}}\nreturn", N),
    ),
    "a divisor that is chosen": (
        DIVISORS_CHOSEN,
        function(f"{BRANCH}%d = arith.select %p, %n, %n : i32\n%q = arith.divsi %n, %d : i32\n}}\nreturn", N),
    ),
    "a division outside": (DIVISORS_CHOSEN, function("%q = arith.divsi %n, %n : i32\nreturn", N)),
    "a place that is checked": (PLACES_CHECKED, function(GATHER.replace("CHECK", CHECK), TABLE)),
    "a reshape to what data says": (NO_KNOWN_RESHAPES, function(RESHAPE.format(to="?x?"), SHAPED)),
    "letters that fit": (LETTERS_FIT, function(CONTRACT.format(letters="mk,kn->mn"), FACTORS)),
    "another function of the name": (
        PREPARED_FROM_WEIGHTS,
        function("return", f"%x: {M}") + f"\nfunc.func @prepare(%x: {M}) {{\nreturn\n}}",
    ),
    "prepared by somebody else": (PREPARED_FROM_WEIGHTS, function("return", f'%x: {M} {{hotdesk.kind = "prepared"}}')),
    "prepared from weights": (
        PREPARED_FROM_WEIGHTS,
        function("return", f"%x: {M} {{hotdesk.kind = \"prepared\"}}")
        + f"\nfunc.func @prepare(%x: {M} {{hotdesk.kind = \"weight\"}}) -> {M} {{\nreturn %x : {M}\n}}",
    ),
    "a view that ends in time": (VIEWS_FIT, function(VIEW.format(at=0), BYTES)),
    "freed once": (FREED_ONCE, function(f"{A}{FREE}return")),
    "a stack left alone": (NOTHING_FREED_ON_STACK, function(f"%a = memref.alloca() : {M}\nreturn")),
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


PROMISES: dict[type[Pass], tuple[str, str]] = {
    EraseDead: BREAKING["a tensor nobody reads"][1:],
    DecomposeConcatAndPad: BREAKING["a concatenation"][1:],
    NormalizeNamedOps: BREAKING["a dim without a letter"][1:],
    AccumulateInPlace: BREAKING["a letter of two sizes"][1:],
    FoldRearrangedOperands: BREAKING["a letter of two sizes"][1:],
    RecognizeAttention: BREAKING["a query with a letter too many"][1:],
    RematerializeCheapOps: BREAKING["one undefined tensor for two"][1:],
    TensorBufferize: BREAKING["a slice that is a tensor"][1:],
    ScfBufferize: BREAKING["a branch that gives a tensor"][1:],
    DropEquivalentBufferResults: BREAKING["an argument given back"][1:],
    BufferResultsToOutParams: BREAKING["a memref given back"][1:],
    DecomposeTypes: BREAKING["a tuple"][1:],
    LinalgBufferize: BREAKING["a structured tensor"][1:],
    AllocateWorkspaces: BREAKING["a convolution that was cut for nothing"][1:],
    PrivatizeBuffers: BREAKING["a view that ends too late"][1:],
    ReshapesAsViews: BREAKING["a reshape to known sizes"][1:],
    GuardIndices: BREAKING["a read where data says"][1:],
    GuardDivisions: BREAKING["a division by any number"][1:],
    SplitPrepare: BREAKING["prepared from inputs"][1:],
    EmptyTensorToAllocTensor: BREAKING["an undefined tensor"][1:],
    FuncBufferize: BREAKING["a signature with a tensor"][1:],
    ArithBufferize: BREAKING["a constant tensor"][1:],
    FinalizingBufferize: BREAKING["a tensor"][1:],
    OneShotBufferize: BREAKING["a tensor"][1:],
    MergeAllocations: BREAKING["a view that ends too late"][1:],
    ShareBuffers: BREAKING["a view that ends too late"][1:],
    ReuseArguments: BREAKING["a view that ends too late"][1:],
    PromoteBuffersToStack: BREAKING["what lies on the stack"][1:],
    DeallocateAfterLastUse: BREAKING["what is freed twice"][1:],
    BufferPipeline: BREAKING["an allocation"][1:],
}


@pytest.mark.parametrize("kind", PROMISES, ids=lambda kind: kind.name)
def test_a_pass_that_breaks_its_promise_is_reported(kind: type[Pass], monkeypatch: pytest.MonkeyPatch) -> None:
    text, op = PROMISES[kind]

    def idle(_self: Pass, _module: ir.Module) -> tuple[Decision, ...]:
        return ()  # leaves the module as it is

    monkeypatch.setattr(kind, "run", idle)
    with pytest.raises(PassError, match=f"the module after pass '{kind.name}': expected that .*, got `{op}`"):
        PassPipeline((kind(),)).run(parse(text))


def test_all_promises_are_tried() -> None:
    assert {load(name) for name in pass_names() if load(name)().ensures()} == set(PROMISES)


SILENT = {
    "hotdesk-choose-destinations": "bufferization says why a result was not written over an operand",
    "hotdesk-annotate-in-place": "it changes nothing but attributes, which are the decisions",
}
"""Passes that ensure nothing and decide nothing, and why."""


def test_passes_that_ensure_nothing_say_what_they_did() -> None:
    passes = {name: load(name) for name in pass_names()}
    assert {name for name, kind in passes.items() if not kind().ensures() and not kind.reasons} == set(SILENT)


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
