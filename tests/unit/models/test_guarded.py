"""Mistakes in models of a user's own: an error names the op and its place, nothing is computed wrongly and nothing crashes."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, cast

import pytest
from torch_mlir import ir

from examples.own_op import accumulate, accumulate_on_buffers
from hotdesk.errors import BufferizationError
from hotdesk.ir.context import entered, make_context
from hotdesk.ir.walking import nested_ops
from hotdesk.models import RESULTS, Buffers, Facts, Flow, MemoryEffects, OpModel, register
from hotdesk.models.memory_effects import effects_of
from hotdesk.passes.bufferize.partial import bufferize_ops
from hotdesk.passes.textual import parse_pipeline

GOOD = OpModel(accumulate, accumulate_on_buffers)
PROGRAM = """func.func @main(%x: tensor<4xf32>, %s: tensor<4xf32> {hotdesk.donated}, %n: index) -> tensor<4xf32> {
  %r = "toy.accumulate"(%x, %s, %n) : (tensor<4xf32>, tensor<4xf32>, index) -> tensor<4xf32>
  return %r : tensor<4xf32>
}"""
ONE_SHOT = "builtin.module(hotdesk-one-shot-bufferize)"


def module_of(text: str) -> ir.Module:
    context = make_context()
    context.allow_unregistered_dialects = True
    return ir.Module.parse(text, context)


def bufferized(model: OpModel, text: str = PROGRAM) -> str:
    register("toy.accumulate", model)
    module = module_of(text)
    parse_pipeline(ONE_SHOT).run(module)
    return str(module)


def stating(**facts: Any) -> OpModel:
    return replace(GOOD, facts=lambda op: Facts(**facts))


def making(bufferize: Any) -> OpModel:
    return replace(GOOD, bufferize=bufferize)


def flowing(**flow: Any) -> OpModel:
    return replace(GOOD, flow=lambda op: Flow(**flow))


def fails(*_: object) -> Any:
    return 1 // 0


def assigns_nothing(op: ir.Operation, buffers: Buffers) -> None:
    buffers.destination(op, 1)


def assigns_the_tensor(op: ir.Operation, buffers: Buffers) -> None:
    buffers.assign(op.results[0], op.operands[1])


def assigns_another_size(op: ir.Operation, buffers: Buffers) -> None:
    block = cast(Any, op.parent).regions[0].blocks[0]
    other = block.add_argument(ir.Type.parse("memref<5xf32>", op.context), op.location)
    buffers.assign(op.results[0], other)


def asks_for_a_scalar(op: ir.Operation, buffers: Buffers) -> None:
    buffers.buffer(op.operands[2])


def takes_another_destination(op: ir.Operation, buffers: Buffers) -> None:
    buffers.destination(op, 0)


TIED = {"ties": ((1, 0),)}


@pytest.mark.parametrize(
    ("model", "message"),
    [
        (replace(GOOD, facts=fails), "expected `facts` of this op, got ZeroDivisionError: "),
        (replace(GOOD, facts=cast(Any, Facts())), "expected `facts` of this op, got TypeError: "),
        (replace(GOOD, facts=cast(Any, lambda op: None)), "expected `facts` to return a Facts, got NoneType"),
        (stating(reads={0, 3}), "expected numbers from 0 to 2 in `reads`, got 3"),
        (stating(reads={-1}), "expected numbers from 0 to 2 in `reads`, got -1"),
        (stating(undefined={1}), "expected numbers from 0 to 0 in `undefined`, got 1"),
        (stating(ties=((1, 1),)), "expected numbers from 0 to 0 in `ties`, got 1"),
        (stating(ties=(1, 0)), "expected `facts` of this op, got TypeError: "),
        (stating(views=((2, 0),)), "expected tensors in `views`, got number 2, a value of type index"),
        (stating(**TIED, overwrites={0, 1}), "expected `overwrites` among the operands in `ties`, got [0]"),
        (making(fails), "expected `bufferize` to make its form on buffers, got ZeroDivisionError: "),
        (making(lambda op: None), "expected `bufferize` to make its form on buffers, got TypeError: "),
        (making(assigns_nothing), "expected `bufferize` to assign a memref to result 0, got none"),
        (making(assigns_the_tensor), "expected a memref for tensor<4xf32> to be assigned, got tensor<4xf32>"),
        (making(assigns_another_size), "expected a memref for tensor<4xf32> to be assigned, got memref<5xf32>"),
        (making(asks_for_a_scalar), "expected a tensor whose buffer is asked for, got index"),
        (making(takes_another_destination), "of an operand that `facts` tie to a result, got operand 0"),
        (replace(GOOD, flow=cast(Any, lambda op: ())), "expected `flow` to return a Flow, got tuple"),
        (flowing(entries=((0, 0, 0),)), "expected no `entries`, got 0"),
        (flowing(exits=((0, 0, RESULTS, 0),)), "expected no `exits`, got 0"),
        (flowing(skips=((0, 1),)), "expected numbers from 0 to 0 in `skips`, got 1"),
        (replace(GOOD, expand=fails), "expected `expand` of this op, got ZeroDivisionError: "),
    ],
)
def test_a_mistake_in_a_model_names_the_op(model: OpModel, message: str) -> None:
    with pytest.raises(BufferizationError) as found:
        bufferized(model)
    assert str(found.value).startswith("model of `toy.accumulate`: ")
    assert message in str(found.value)
    assert found.value.where == "-:2:8"


def test_a_mistake_is_told_by_the_partial_passes_too() -> None:
    register("toy.accumulate", making(assigns_nothing))
    module = module_of(PROGRAM)
    with entered(module.operation), pytest.raises(BufferizationError, match="assign a memref to result 0"):
        bufferize_ops(module, lambda name: name == "toy.accumulate")


def test_a_mistake_in_effects_names_the_op() -> None:
    register("toy.copy", OpModel(lambda op: Facts(), effects=lambda op: MemoryEffects(reads=frozenset({2}))))
    module = module_of('func.func @f(%x: memref<4xf32>) {\n "toy.copy"(%x) : (memref<4xf32>) -> ()\n return\n}')
    (copy,) = [op for op in nested_ops(module.operation) if op.name == "toy.copy"]
    with pytest.raises(BufferizationError, match="expected numbers from 0 to 0 in `reads`, got 2"):
        effects_of(copy)


def test_a_model_without_mistakes_is_used_as_it_is() -> None:
    text = bufferized(GOOD)
    assert "linalg.add ins(%arg0, %arg1 : memref<4xf32>, memref<4xf32>) outs(%arg1 : memref<4xf32>)" in text


def test_facts_are_not_asked_of_the_form_on_buffers() -> None:
    on_buffers = '  "toy.accumulate"(%m, %m) : (memref<4xf32>, memref<4xf32>) -> ()\n  return %r'
    text = PROGRAM.replace("%n: index", "%n: index, %m: memref<4xf32>").replace("  return %r", on_buffers)
    assert '"toy.accumulate"(%arg3, %arg3) : (memref<4xf32>, memref<4xf32>) -> ()' in bufferized(GOOD, text)
