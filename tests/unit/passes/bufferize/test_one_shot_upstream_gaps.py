"""What MLIR's bufferization lacks or does badly, by letter, on small programs: what Hotdesk takes, and what MLIR takes.

Both are run on the same data and must make what the reference makes.
"""

from __future__ import annotations

import re
from dataclasses import replace

import numpy as np
import pytest

from hotdesk.explain import Outcome, Reason
from hotdesk.ir.context import entered
from hotdesk.passes.bufferize.one_shot import OneShotBufferize
from hotdesk.passes.textual import parse_pipeline
from tests.running import MLIR, OURS, Subject, compiled, wanted
from tests.running.apart import run_apart
from tests.unit.parsing import parse
from tests.unit.passes.bufferize.gap_programs import GAPS, D
from tests.unit.passes.bufferize.upstream_programs import H, T, binary, fill, main, run, run_peer, square
from tests.work import calls_made

_BEFORE = "hotdesk-decompose-concat-and-pad,hotdesk-rematerialize-cheap-ops,hotdesk-eliminate-empty-tensors"
PREPARED = Subject(
    "Hotdesk's, with its passes on tensors",
    f"builtin.module({_BEFORE},hotdesk-choose-destinations,hotdesk-one-shot-bufferize)",
)


@pytest.mark.parametrize("name", GAPS)
def test_copies_and_allocations(name: str) -> None:
    gap = GAPS[name]
    ours, theirs = run(gap.text, PREPARED), run_peer(gap.text)
    assert (ours.copies.count, ours.allocations.count) == (gap.copies[0], gap.allocations[0])
    assert (theirs.copies.count, theirs.allocations.count) == (gap.copies[1], gap.allocations[1])
    assert ours.copies.bytes <= theirs.copies.bytes


def test_e_without_the_option_mlir_refuses_a_swap() -> None:
    swap = GAPS["e: a loop that swaps"].text
    took, why = run_apart(swap, "builtin.module(one-shot-bufferize{bufferize-function-boundaries})")
    assert not took
    assert "not equivalent" in why
    strict = "builtin.module(hotdesk-one-shot-bufferize{allow-return-allocs-from-loops=false})"
    assert run(swap, Subject("Hotdesk's", strict)).copies.count == 2


VIEW = main(
    "%x: tensor<2x4xf32>",
    f"""%e = tensor.empty() : tensor<2x4xf32>
    %a = {square("%x", "%e", "tensor<2x4xf32>")}
    %r = tensor.collapse_shape %a [[0, 1]] : tensor<2x4xf32> into {T}""",
    [("%r", T)],
)


def test_h_a_view_is_computed_in_the_memory_of_the_caller() -> None:
    assert run(VIEW, OURS).copies.count == 0
    params = "buffer-results-to-out-params{modify-public-functions hoist-static-allocs}"
    took, made = run_apart(VIEW, f"builtin.module(one-shot-bufferize{{bufferize-function-boundaries}},{params})")
    assert took
    assert "memref.alloc" in made
    assert "memref.copy" in made


def _shared_empty(count: int) -> str:
    lines = [f"%e = tensor.empty() : {T}", *(f"%v{i + 1} = {square(f'%v{i}', '%e')}" for i in range(count))]
    return main(f"%v0: {T}", "\n".join(lines), [(f"%v{count}", T)])


def _calls_for(count: int) -> int:
    module = parse(_shared_empty(count))
    with entered(module.operation):
        return calls_made(lambda: OneShotBufferize().run(module))


def test_i_ops_that_share_an_empty_tensor_take_linear_time() -> None:
    """But for the binary search that puts each among those in its buffer: two comparisons more for four times the ops."""
    _calls_for(1)  # models are looked up
    few, many = _calls_for(300), _calls_for(1200)
    assert many - 4 * few <= 12 * 1200


def test_j_a_copy_is_explained() -> None:
    module = parse(
        main(
            "",
            f"""{fill("%f")}
            %v = tensor.extract_slice %f[0] [4] [1] : {T} to {H}
            %a = {square("%f", "%f")}
            %w = tensor.extract_slice %a[0] [4] [1] : {T} to {H}
            %e = tensor.empty() : {H}
            %r = {binary("addf", "%v", "%w", "%e", H)}""",
            [("%r", H)],
        )
    )
    with entered(module.operation):
        told = OneShotBufferize().run(module)
    missed = next(d for d in told if d.reason is Reason.READ_LATER)
    assert missed.outcome is Outcome.ALLOCATED
    assert missed.bytes == 32
    assert missed.read is not None
    assert missed.write is not None
    assert missed.definition is not None
    assert (missed.read.op, missed.write.op, missed.definition.op) == ("linalg.map", "linalg.square", "linalg.fill")
    assert [source.op for source in missed.path] == ["tensor.extract_slice", "linalg.fill"]
    assert missed.hint


WRITES = f"""func.func @main(%x: {T}, %y: {T}) -> {T} {{
  %r = {binary("addf", "%x", "%y", "%x")}
  return %r : {T}
}}"""


def test_k_arguments_are_only_read_unless_they_are_given_away() -> None:
    given = [np.arange(8, dtype=np.float32), np.ones(8, np.float32)]
    assert run(WRITES, OURS).copies.count == 0
    assert run(WRITES.replace(f"%x: {T}", f"%x: {T} {D}"), OURS).allocations.count == 1
    (result,) = wanted(WRITES, given)
    unmarked = compiled(WRITES, replace(MLIR, apart=False))
    with pytest.raises(AssertionError, match="an argument changed"):
        unmarked(given, [result.values.shape])


DECLARED = f"""
func.func private @seen(%x: {T} {{bufferization.access = "read"}})
func.func private @used(%x: {T})
func.func @main(%y: {T}) -> {T} {{
  %one = arith.constant 1.0 : f32
  {fill("%f")}
  func.call @CALLEE(%f) : ({T}) -> ()
  %r = {binary("addf", "%f", "%y", "%f")}
  return %r : {T}
}}"""


@pytest.mark.parametrize(("callee", "copies"), [("seen", 0), ("used", 1)])
def test_l_functions_without_a_body_do_what_they_say(callee: str, copies: int) -> None:
    text = DECLARED.replace("CALLEE", callee)
    module = parse(text)
    with entered(module.operation):
        parse_pipeline("builtin.module(hotdesk-one-shot-bufferize)").run(module)
    took, theirs = run_apart(text, "builtin.module(one-shot-bufferize{bufferize-function-boundaries})")
    assert took
    assert len(re.findall(r"linalg\.generic|memref\.copy", str(module))) == copies
    assert theirs.count("memref.copy") >= copies
