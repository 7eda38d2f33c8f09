"""An op of one's own: a dialect that MLIR does not know, described to Hotdesk in a few lines.

    python examples/own_op.py

`toy.accumulate` adds its first operand to its second one, and `toy.when` runs one of two regions. Their models say what they
read, what they overwrite and how values pass through the regions, so both take part in in-place analysis and bufferization.
"""

from __future__ import annotations

from torch_mlir import ir
from torch_mlir.dialects import linalg

from hotdesk.explain import Decision
from hotdesk.ir.context import entered, make_context
from hotdesk.models import (
    RESULTS,
    Buffers,
    Facts,
    Flow,
    OpModel,
    bufferize_region_op,
    bufferize_terminator,
    register,
)
from hotdesk.passes.textual import parse_pipeline

PROGRAM = """
func.func @main(%c: i1, %x: tensor<8xf32>, %sum: tensor<8xf32> {hotdesk.donated}) -> tensor<8xf32> {
  %twice = "toy.when"(%c) ({
    %1 = "toy.accumulate"(%x, %sum) : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
    "toy.yield"(%1) : (tensor<8xf32>) -> ()
  }, {
    "toy.yield"(%sum) : (tensor<8xf32>) -> ()
  }) : (i1) -> tensor<8xf32>
  %r = "toy.accumulate"(%x, %twice) : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  return %r : tensor<8xf32>
}"""


def accumulate(op: ir.Operation) -> Facts:
    """Reads both operands and overwrites the second; the first it reads element by element, so it may lie there too."""
    return Facts(reads=frozenset({0, 1}), ties=((1, 0),), overwrites=frozenset({1}), elementwise=frozenset({0}))


def accumulate_on_buffers(op: ir.Operation, buffers: Buffers) -> None:
    added, into = buffers.buffer(op.operands[0]), buffers.destination(op, 1)
    with ir.InsertionPoint(op), op.location:
        linalg.add(added, into, outs=[into])
    buffers.assign(op.results[0], into)


def when(op: ir.Operation) -> Flow:
    """Each region yields the results."""
    return Flow(exits=tuple((region, i, RESULTS, i) for region in (0, 1) for i in range(len(op.results))))


def when_on_buffers(op: ir.Operation, buffers: Buffers) -> None:
    bufferize_region_op(op, when(op), buffers, name="scf.if")


def yield_on_buffers(op: ir.Operation, buffers: Buffers) -> None:
    bufferize_terminator(op, buffers, name="scf.yield")


def nothing(op: ir.Operation) -> Facts:
    return Facts()


MODELS = {
    "toy.accumulate": OpModel(accumulate, accumulate_on_buffers),
    "toy.when": OpModel(nothing, when_on_buffers, flow=when),
    "toy.yield": OpModel(nothing, yield_on_buffers),
}


def bufferized(text: str = PROGRAM) -> tuple[ir.Module, tuple[Decision, ...]]:
    """The program on buffers, and what was decided. The module is of a context that takes unregistered dialects."""
    for name, model in MODELS.items():
        register(name, model)
    context = make_context()
    context.allow_unregistered_dialects = True
    module = ir.Module.parse(text, context)
    with entered(module.operation):
        decisions = parse_pipeline("builtin.module(hotdesk-one-shot-bufferize)").run(module)
    return module, decisions


if __name__ == "__main__":
    result, taken = bufferized()
    print(result)
    for decision in taken:
        print(f"{decision.subject}: {decision.outcome} ({decision.reason})")
