"""What MLIR's bufferization lacks or does badly, by letter, on small programs: what Hotdesk takes, and what MLIR takes.

Both are run on the same data and must make what the reference makes.
"""

from __future__ import annotations

import re
import time
from dataclasses import dataclass, replace

import numpy as np
import pytest

from hotdesk.explain import Outcome, Reason
from hotdesk.ir.context import entered
from hotdesk.passes.bufferize.one_shot import OneShotBufferize
from hotdesk.passes.textual import parse_pipeline
from tests.running import MLIR, OURS, Subject, compiled, wanted
from tests.running.apart import run_apart
from tests.unit.parsing import parse
from tests.unit.passes.bufferize.upstream_programs import PAIR, H, M, T, binary, fill, main, run, run_peer, square

_BEFORE = "hotdesk-decompose-concat-and-pad,hotdesk-rematerialize-cheap-ops,hotdesk-eliminate-empty-tensors"
PREPARED = Subject(
    "Hotdesk's, with its passes on tensors",
    f"builtin.module({_BEFORE},hotdesk-choose-destinations,hotdesk-one-shot-bufferize)",
)
D = "{hotdesk.donated}"


@dataclass(frozen=True)
class Gap:
    """A program, and how often Hotdesk and MLIR copy and allocate in it; memory of the caller's for results counts too."""

    text: str
    copies: tuple[int, int]
    allocations: tuple[int, int]


def _products(init: str) -> str:
    product = f"linalg.matmul ins(%a, {{}} : {M}, {M}) outs(%f : {M}) -> {M}"
    body = f"{init}\n%r = {product.format('%b')}\n%s = {product.format('%c')}"
    return main(f"%a: {M}, %b: {M}, %c: {M}", body, [("%r", M), ("%s", M)])


GAPS = {
    "c: two products of one fill": Gap(_products(fill("%f", "%zero", M)), (0, 1), (2, 2)),
    "c: two products of one constant": Gap(_products(f"%f = arith.constant dense<0.0> : {M}"), (0, 2), (2, 2)),
    "d: an elementwise op on what dies": Gap(
        main(
            f"%x: {T}",
            f"""%e = tensor.empty() : {T}
            %y = {square("%x", "%e")}
            %d = tensor.empty() : {T}
            %z = {binary("addf", "%y", "%x", "%d")}
            %g = tensor.empty() : {T}
            %w = {binary("subf", "%z", "%x", "%g")}""",
            [("%w", T)],
        ),
        (0, 0),
        (1, 3),
    ),
    "e: a loop that swaps": Gap(
        main(
            "",
            f"""{fill("%f")}
            {fill("%g", "%zero")}
            %r:2 = scf.for %i = %c0 to %c6 step %c1 iter_args(%p = %f, %q = %g) -> ({T}, {T}) {{
              %s = {binary("addf", "%p", "%q", "%p")}
              scf.yield %q, %s : {T}, {T}
            }}""",
            [("%r#0", T), ("%r#1", T)],
        ),
        (2, 12),  # of the two results, which are in the two buffers the one way or the other
        (4, 14),
    ),
    "e: a while loop that swaps": Gap(
        main(
            "",
            f"""{fill("%f")}
            {fill("%g", "%zero")}
            %r:3 = scf.while (%i = %c0, %p = %f, %q = %g) : (index, {T}, {T}) -> (index, {T}, {T}) {{
              %c = arith.cmpi slt, %i, %c6 : index
              scf.condition(%c) %i, %q, %p : index, {T}, {T}
            }} do {{
            ^bb0(%i: index, %p: {T}, %q: {T}):
              %j = arith.addi %i, %c1 : index
              %s = {binary("addf", "%p", "%q", "%p")}
              scf.yield %j, %s, %q : index, {T}, {T}
            }}""",
            [("%r#1", T), ("%r#2", T)],
        ),
        (2, 14),
        (4, 16),
    ),
    "e: a loop that yields what it makes": Gap(
        main(
            f"%x: {T}",
            f"""%r = scf.for %i = %c0 to %c6 step %c1 iter_args(%p = %x) -> ({T}) {{
              %e = tensor.empty() : {T}
              %s = {binary("addf", "%p", "%x", "%e")}
              scf.yield %s : {T}
            }}""",
            [("%r", T)],
        ),
        (1, 1),
        (1, 7),
    ),
    "f: parts with nothing in common": Gap(
        main(
            f"%x: {T} {D}",
            f"""%a = tensor.extract_slice %x[0] [4] [1] : {T} to {H}
            %b = tensor.extract_slice %x[4] [4] [1] : {T} to {H}
            %v = linalg.fill ins(%one : f32) outs(%a : {H}) -> {H}
            %w = {binary("addf", "%v", "%b", "%v", H)}
            %r = tensor.insert_slice %w into %x[0] [4] [1] : {H} into {T}""",
            [("%r", T)],
        ),
        (1, 2),  # an argument is never a result: one copy
        (1, 2),
    ),
    "f: a part of a part": Gap(
        main(
            f"%x: {T} {D}",
            f"""%a = tensor.extract_slice %x[2] [4] [1] : {T} to {H}
            %b = tensor.extract_slice %a[1] [2] [1] : {H} to {PAIR}
            %w = linalg.fill ins(%one : f32) outs(%b : {PAIR}) -> {PAIR}
            %r = tensor.insert_slice %w into %x[3] [2] [1] : {PAIR} into {T}""",
            [("%r", T)],
        ),
        (1, 2),
        (1, 2),
    ),
    "f: a part that is everything": Gap(
        main(
            f"%x: {T}, %y: {T}",
            f"""{fill("%f")}
            %i = tensor.insert_slice %x into %f[0] [8] [1] : {T} into {T}
            %r = {binary("addf", "%i", "%y", "%f")}""",
            [("%r", T)],
        ),
        (0, 1),
        (2, 1),
    ),
    "f: a cast in between": Gap(
        main(
            f"%x: {T} {D}",
            f"""%d = tensor.cast %x : {T} to tensor<?xf32>
            %a = tensor.extract_slice %d[1] [4] [1] : tensor<?xf32> to {H}
            %w = linalg.fill ins(%one : f32) outs(%a : {H}) -> {H}
            %s = tensor.cast %d : tensor<?xf32> to {T}
            %r = tensor.insert_slice %w into %s[1] [4] [1] : {H} into {T}""",
            [("%r", T)],
        ),
        (1, 2),
        (1, 2),
    ),
    "f: pairs in another order": Gap(
        main(
            f"%x: {T} {D}",
            f"""%a = tensor.extract_slice %x[0] [4] [1] : {T} to {H}
            %b = tensor.extract_slice %x[4] [4] [1] : {T} to {H}
            %v = linalg.fill ins(%one : f32) outs(%a : {H}) -> {H}
            %w = linalg.fill ins(%zero : f32) outs(%b : {H}) -> {H}
            %s = tensor.insert_slice %w into %x[4] [4] [1] : {H} into {T}
            %r = tensor.insert_slice %v into %s[0] [4] [1] : {H} into {T}""",
            [("%r", T)],
        ),
        (1, 2),
        (1, 2),
    ),
    "g: padding": Gap(
        main(
            f"%x: {H}",
            f"""%e = tensor.empty() : {H}
            %y = {square("%x", "%e", H)}
            %r = tensor.pad %y low[1] high[3] {{
            ^bb0(%i: index):
              tensor.yield %zero : f32
            }} : {H} to {T}""",
            [("%r", T)],
        ),
        (0, 1),
        (1, 2),
    ),
    "g: concatenation": Gap(
        main(
            f"%x: {H}, %y: {H}",
            f"""%e = tensor.empty() : {H}
            %a = {square("%x", "%e", H)}
            %d = tensor.empty() : {H}
            %b = {square("%y", "%d", H)}
            %r = tensor.concat dim(0) %a, %b : ({H}, {H}) -> {T}""",
            [("%r", T)],
        ),
        (0, 2),
        (1, 3),
    ),
    "h: an argument that is returned": Gap(
        main(
            f"%x: {T}",
            f"""%e = tensor.empty() : {T}
            %y = {square("%x", "%e")}
            %z = func.call @same(%y) : ({T}) -> {T}
            %r = {binary("addf", "%z", "%x", "%z")}""",
            [("%r", T)],
            f"func.func private @same(%x: {T}) -> {T} {{ return %x : {T} }}",
        ),
        (0, 1),
        (1, 2),
    ),
    "l: a callee writes its argument": Gap(
        main(
            f"%x: {T}",
            f"""{fill("%f")}
            %a = func.call @square(%f) : ({T}) -> {T}
            %r = {binary("addf", "%a", "%x", "%a")}""",
            [("%r", T)],
            f"func.func private @square(%x: {T}) -> {T} {{ %r = {square('%x', '%x')} return %r : {T} }}",
        ),
        (0, 1),
        (1, 2),
    ),
}


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


def _seconds(text: str, pipeline: str) -> float:
    module = parse(text)
    with entered(module.operation):
        start = time.perf_counter()
        parse_pipeline(f"builtin.module({pipeline})").run(module)
        return time.perf_counter() - start


def test_i_ops_that_share_an_empty_tensor_take_linear_time() -> None:
    text = _shared_empty(300)
    assert _seconds(text, "hotdesk-one-shot-bufferize") < _seconds(
        text, "one-shot-bufferize{bufferize-function-boundaries}"
    )


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


def test_l_recursion() -> None:
    text = main(
        "",
        f"""{fill("%f")}
        %r = func.call @again(%f, %c6) : ({T}, index) -> {T}""",
        [("%r", T)],
        f"""func.func private @again(%x: {T}, %n: index) -> {T} {{
          %c0 = arith.constant 0 : index
          %c1 = arith.constant 1 : index
          %done = arith.cmpi eq, %n, %c0 : index
          %r = scf.if %done -> ({T}) {{
            scf.yield %x : {T}
          }} else {{
            %y = {binary("addf", "%x", "%x", "%x")}
            %m = arith.subi %n, %c1 : index
            %z = func.call @again(%y, %m) : ({T}, index) -> {T}
            scf.yield %z : {T}
          }}
          return %r : {T}
        }}""",
    )
    run(text, OURS)
    run_peer(text)
