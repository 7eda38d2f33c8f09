"""Parts of small programs on tensors for comparisons with MLIR's bufferization: every value is a small whole number."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from tests.running import MLIR, MLIR_UNFREED, RefusedError, Run, Subject, check
from tests.running.examples import inputs_of

T, H, M, PAIR = "tensor<8xf32>", "tensor<4xf32>", "tensor<4x4xf32>", "tensor<2xf32>"
_ELIMINATE = "builtin.module(eliminate-empty-tensors,"
PEERS = tuple(
    replace(each, pipeline=each.pipeline.replace("builtin.module(", _ELIMINATE)) for each in (MLIR, MLIR_UNFREED)
)
"""MLIR's, at its best: empty tensors are eliminated first. The second one takes what its deallocation refuses."""
_CONSTANTS = """  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c6 = arith.constant 6 : index
  %one = arith.constant 1.0 : f32
  %zero = arith.constant 0.0 : f32
"""


def binary(op: str, a: str, b: str, out: str, kind: str = T) -> str:
    return f"linalg.map {{ arith.{op} }} ins({a}, {b} : {kind}, {kind}) outs({out} : {kind})"


def square(a: str, out: str, kind: str = T) -> str:
    return f"linalg.square ins({a} : {kind}) outs({out} : {kind}) -> {kind}"


def fill(name: str, value: str = "%one", kind: str = T) -> str:
    """The lines that make `name`, all of its elements `value`."""
    empty = f"{name}_empty = tensor.empty() : {kind}\n"
    return f"{empty}{name} = linalg.fill ins({value} : f32) outs({name}_empty : {kind}) -> {kind}"


def loop(made: str, init: str, yielded: str, *body: str) -> str:
    """A loop that runs six times; its argument is `%p`."""
    head = f"{made} = scf.for %i = %c0 to %c6 step %c1 iter_args(%p = {init}) -> ({T}) {{"
    return "\n".join((head, *body, f"scf.yield {yielded} : {T}", "}"))


def branches(made: str, first: Sequence[str], second: Sequence[str]) -> str:
    """One of two branches, as `%b` says; of each what it yields, and its ops."""
    one, other = ("\n".join((*body, f"scf.yield {yielded} : {T}")) for yielded, *body in (first, second))
    return f"{made} = scf.if %b -> ({T}) {{\n{one}\n}} else {{\n{other}\n}}"


def main(arguments: str, body: str, results: Sequence[tuple[str, str]], before: str = "", *, given: str = "") -> str:
    """A program whose `@main` returns the `results`, each a name and a type; `given` are its scalars."""
    names, types = ", ".join(name for name, _ in results), ", ".join(kind for _, kind in results)
    note = f"// given: {given}\n" if given else ""
    head = f"{note}{before}\nfunc.func @main({arguments}) -> ({types}) {{\n{_CONSTANTS}"
    return f"{head}{body}\n  return {names} : {types}\n}}\n"


def run(text: str, subject: Subject) -> Run:
    """What a run takes; fails if it makes anything else than the reference."""
    return check(text, inputs_of(text), subject)


def run_peer(text: str) -> Run:
    try:
        return run(text, PEERS[0])
    except RefusedError:
        return run(text, PEERS[1])
