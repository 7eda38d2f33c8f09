"""Options of one-shot bufferization: what is refused, that programs compute the same, and what MLIR's makes of them."""

from __future__ import annotations

import re
from dataclasses import replace

import numpy as np
import pytest
from torch_mlir import ir
from torch_mlir.passmanager import PassManager

from hotdesk.errors import BufferizationError, OptionError
from hotdesk.ir.context import entered, make_context
from hotdesk.ir.walking import defined_functions, entry_block, nested_ops
from hotdesk.passes.textual import parse_pipeline
from tests.running import OURS, Executable, check
from tests.running.examples import EXAMPLES, inputs_of
from tests.unit.parsing import parse

T = "tensor<8xf32>"
PROGRAM = f"""
func.func @f(%x: {T}, %n: index) -> ({T}, f32) {{
  %c = arith.constant 1.0 : f32
  %0 = linalg.fill ins(%c : f32) outs(%x : {T}) -> {T}
  %1 = tensor.extract %x[%n] : {T}
  return %0, %1 : {T}, f32
}}"""
FINISH = "hotdesk-func-bufferize,hotdesk-finalizing-bufferize"


def run(text: str, options: str, then: str = "", *, unregistered: bool = False) -> str:
    context = make_context()
    context.allow_unregistered_dialects = unregistered
    module = ir.Module.parse(text, context)
    with entered(module.operation):
        parse_pipeline(f"builtin.module(hotdesk-one-shot-bufferize{{{options}}}{then})").run(module)
    return str(module)


# What is refused

UNKNOWN = f'func.func @f(%x: {T}) {{\n%0 = "toy.op"(%x) : ({T}) -> {T}\nreturn }}'


def test_unknown_ops_are_refused() -> None:
    with pytest.raises(BufferizationError, match="op `toy.op` has tensors but no model"):
        run(UNKNOWN, "", unregistered=True)


def test_an_unknown_op_with_tensors_in_its_regions_is_refused() -> None:
    text = f'func.func @f(%x: {T}) {{\n"toy.op"() ({{\n "toy.use"(%x) : ({T}) -> ()\n }}) : () -> ()\n return }}'
    with pytest.raises(BufferizationError, match="op `toy.op` cannot keep its tensors"):
        run(text, "allow-unknown-ops", unregistered=True)


REFUSED = {
    "analysis-heuristic=best": "expected one of top-down, .*, got 'best'",
    "results=kept": "option 'results' of pass .*: expected one of out-params, returned, got 'kept'",
    "unknown-type-conversion=infer-layout-map": "expected one of identity-layout-map, fully-dynamic-layout-map",
    "function-boundary-type-conversion=none": "expected one of identity-layout-map, fully-dynamic-layout-map, infer",
    "print-conflicts": "option 'print-conflicts' of pass .*: expected test-analysis-only with it",
    "dump-alias-sets=1": "option 'dump-alias-sets' of pass .*: expected test-analysis-only with it",
    "buffer-alignment=3": "expected a power of two, or 0, got '3'",
    "no-analysis-func-filter=g": "expected names of functions with a body, got 'g'",
    "dialect-filter=tensor,foo": "expected names of dialects, got 'foo'",
    "dialect-filter=tensor,,linalg": "expected names of dialects, got ''",
    "must-infer-memory": "expected options 'name=value'",
}


@pytest.mark.parametrize("options", REFUSED)
def test_values_that_make_no_sense(options: str) -> None:
    with pytest.raises(OptionError, match=REFUSED[options]):
        run(PROGRAM, options)


# That it computes the same

WAYS = {
    "returned": "hotdesk-one-shot-bufferize{results=returned}",
    "signatures": f"hotdesk-one-shot-bufferize{{bufferize-function-boundaries=false}},{FINISH}",
    "contiguous": "hotdesk-one-shot-bufferize{bufferize-function-boundaries=0 unknown-type-conversion=identity-layout-map},"
    + FINISH,
    "any layout": "hotdesk-one-shot-bufferize{function-boundary-type-conversion=fully-dynamic-layout-map}",
    "copies": "hotdesk-one-shot-bufferize{copy-before-write}",
    "linalg last": "hotdesk-one-shot-bufferize{dialect-filter=tensor,scf,arith,bufferization},"
    f"hotdesk-linalg-bufferize,{FINISH}",
    "tensor last": "hotdesk-one-shot-bufferize{dialect-filter=linalg,scf,arith,bufferization},"
    f"hotdesk-tensor-bufferize,{FINISH}",
}
TRIED = (
    *(
        "disjoint_halves",
        "if_in_loop",
        "loop_swap",
        "loop_reads_old_value",
        "rank_zero_slices",
        "view_read_after_write",
    ),
    *("call_writes_argument", "constant_carried", "while_swap"),
)


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("name", TRIED)
def test_the_results_are_the_same(name: str, way: str) -> None:
    text = EXAMPLES[name].read_text()
    check(text, inputs_of(text), replace(OURS, pipeline=f"builtin.module({WAYS[way]})"))


@pytest.mark.parametrize("layout", ["fully-dynamic-layout-map", "infer-layout-map"])
def test_arguments_of_any_layout_that_change_places(layout: str) -> None:
    text = EXAMPLES["loop_swaps_argument_with_new"].read_text()
    pipeline = f"builtin.module(hotdesk-one-shot-bufferize{{function-boundary-type-conversion={layout}}})"
    check(text, inputs_of(text), replace(OURS, pipeline=pipeline))


def test_arguments_with_gaps() -> None:
    """A column of a matrix goes round a loop that writes it, through a branch and a call, and is reshaped."""
    inner = run(
        f"""
        func.func private @scale(%x: {T}, %c: f32) -> {T} {{
          %r = linalg.fill ins(%c : f32) outs(%x : {T}) -> {T}
          return %r : {T}
        }}
        func.func @inner(%x: {T} {{hotdesk.donated}}, %n: index, %c: f32, %b: i1) -> tensor<2x4xf32> {{
          %c0 = arith.constant 0 : index
          %c1 = arith.constant 1 : index
          %r = scf.for %i = %c0 to %n step %c1 iter_args(%y = %x) -> ({T}) {{
            %v = tensor.extract %y[%i] : {T}
            %w = arith.mulf %v, %c : f32
            %z = tensor.insert %w into %y[%i] : {T}
            scf.yield %z : {T}
          }}
          %s = scf.if %b -> ({T}) {{
            %t = func.call @scale(%r, %c) : ({T}, f32) -> {T}
            scf.yield %t : {T}
          }} else {{
            scf.yield %r : {T}
          }}
          %e = tensor.expand_shape %s [[0, 1]] output_shape [2, 4] : {T} into tensor<2x4xf32>
          return %e : tensor<2x4xf32>
        }}""",
        "function-boundary-type-conversion=infer-layout-map",
    )
    strided = "memref<8xf32, strided<[?], offset: ?>>"
    main = f"""
      func.func @main(%x: memref<8x2xf32> {{hotdesk.donated}}, %n: index, %c: f32, %b: i1,
                      %r: memref<2x4xf32> {{bufferize.result = 0 : i64}}) {{
        %s = memref.subview %x[0, 1] [8, 1] [1, 1] : memref<8x2xf32> to memref<8xf32, strided<[2], offset: 1>>
        %a = memref.cast %s : memref<8xf32, strided<[2], offset: 1>> to {strided}
        call @inner(%a, %n, %c, %b, %r) : ({strided}, index, f32, i1, memref<2x4xf32>) -> ()
        return
      }}
    }}"""
    x = np.arange(16, dtype=np.float32).reshape(8, 2)
    for branch in (False, True):
        with make_context(), ir.Location.unknown():
            module = ir.Module.parse(inner.rstrip().removesuffix("}") + main)
            inputs = (x, np.int64(8), np.float32(3), np.bool_(branch))
            (result,) = Executable(module)(inputs, [(2, 4)]).results
        assert np.array_equal(result, np.full((2, 4), 3) if branch else 3 * x[:, 1].reshape(2, 4))


# What MLIR's makes of it


def donate(module: ir.Module) -> None:
    """Says of all arguments what MLIR takes for granted: that they may be overwritten."""
    with module.context:
        for function in defined_functions(module):
            entries = [ir.DictAttr.get({"hotdesk.donated": ir.UnitAttr.get()})] * len(entry_block(function).arguments)
            function.attributes["arg_attrs"] = ir.ArrayAttr.get(entries)


def annotations(module: ir.Module) -> list[list[str]]:
    ops = [op for op in nested_ops(module.operation) if "__inplace_operands_attr__" in op.attributes]
    return [[str(word) for word in op.attributes["__inplace_operands_attr__"]] for op in ops]


@pytest.mark.parametrize("name", ["loop_in_place", "if_writes_in_one_branch", "nested_in_place", "materialize"])
def test_decisions_in_mlirs_words_where_both_decide_alike(name: str) -> None:
    text = EXAMPLES[name].read_text()
    ours, theirs = parse(text), parse(text)
    donate(ours)
    with entered(ours.operation):
        parse_pipeline("builtin.module(hotdesk-one-shot-bufferize{test-analysis-only})").run(ours)
    with entered(theirs.operation):
        PassManager.parse("builtin.module(one-shot-bufferize{test-analysis-only bufferize-function-boundaries})").run(
            theirs.operation
        )
    assert annotations(ours) == annotations(theirs)


def test_conflicts_in_mlirs_words() -> None:
    text = f"""
      func.func @f(%x: {T} {{hotdesk.donated}}, %c: f32) -> ({T}, {T}) {{
        %e = tensor.empty() : {T}
        %0 = linalg.fill ins(%c : f32) outs(%x : {T}) -> {T}
        %1 = linalg.exp ins(%x : {T}) outs(%e : {T}) -> {T}
        return %0, %1 : {T}, {T}
      }}"""
    ours, theirs = parse(text), parse(text)
    options = "test-analysis-only print-conflicts bufferize-function-boundaries"
    with entered(ours.operation):
        parse_pipeline(f"builtin.module(hotdesk-one-shot-bufferize{{{options}}})").run(ours)
    with entered(theirs.operation):
        PassManager.parse(f"builtin.module(one-shot-bufferize{{{options}}})").run(theirs.operation)
    names = re.compile(r"\"C_0\[.*?\]\"")
    assert names.findall(str(ours)) == names.findall(str(theirs))
    assert sorted(names.findall(str(ours))) == ['"C_0[CONFL-WRITE: 1]"', '"C_0[DEF: bbArg 0]"', '"C_0[READ: 0]"']
