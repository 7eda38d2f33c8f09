"""Loops over memory that become one leave the same numbers behind, however their buffers overlap."""

from __future__ import annotations

import random

import numpy as np
import pytest

from hotdesk.ir.context import entered
from hotdesk.passes.bufferize.one_shot import OneShotBufferize
from hotdesk.passes.buffers.fuse_buffers import FuseBuffers
from hotdesk.passes.tensor.fuse_elementwise import FuseElementwise
from tests import reference
from tests.unit.parsing import elementwise, function, parse
from tests.unit.passes.memory import call, same_after, text_after

HEAD = "#id = affine_map<(i) -> (i)>\n"
DRAWN = np.random.default_rng(5)


def loop(name: str, inputs: list[tuple[str, str]], output: tuple[str, str], accumulate: bool = False) -> str:
    """A loop over memrefs, given as (value, type)."""
    names = [f"%p{i}" for i in range(len(inputs))] + (["%o"] if accumulate or not inputs else [])
    arguments = "".join(f"%p{i}: f32, " for i in range(len(inputs)))
    reads = f"ins({', '.join(v for v, _ in inputs)} : {', '.join(t for _, t in inputs)})" if inputs else ""
    total = "\n".join(f"%s{i + 1} = {name} %s{i}, {each} : f32" for i, each in enumerate(names))
    return f"""
    linalg.generic {{indexing_maps = [{", ".join(["#id"] * (len(inputs) + 1))}], iterator_types = ["parallel"]}}
        {reads} outs({output[0]} : {output[1]}) {{
    ^bb0({arguments}%o: f32):
      %s0 = arith.constant 1.5 : f32
      {total}
      linalg.yield %s{len(names)} : f32
    }}"""


def view(offset: int, size: int, step: int) -> str:
    return f"memref<{size}xf32, strided<[{step}], offset: {offset}>>"


def slices_program(first: int, second: int, size: int) -> str:
    """The second slice becomes a function of the first, which becomes one of `%x`."""
    a, b = ("%a", view(first, size, 1)), ("%b", view(second, size, 1))
    return f"""{HEAD}func.func @main(%x: memref<{size}xf32> {{llvm.noalias}}, %m: memref<8xf32>) {{
    %a = memref.subview %m[{first}] [{size}] [1] : memref<8xf32> to {a[1]}
    %b = memref.subview %m[{second}] [{size}] [1] : memref<8xf32> to {b[1]}
    {loop("arith.addf", [("%x", f"memref<{size}xf32>")], a)}
    {loop("arith.mulf", [a], b)}
    return
    }}"""


@pytest.mark.parametrize(("second", "size", "loops"), [(3, 3, 1), (3, 5, 2), (0, 5, 1)])
def test_slices_of_one_base(second: int, size: int, loops: int) -> None:
    text = slices_program(0, second, size)
    after = same_after(text, [FuseBuffers()], DRAWN.random(size, np.float32), DRAWN.random(8, np.float32))
    assert after.count("linalg.generic") == loops


def test_the_two_views_are_named() -> None:
    module = parse(slices_program(0, 3, 5))
    with entered(module.operation):
        (decision,) = FuseBuffers().run(module)
    assert str(decision.reason) == "may-overlap"
    assert [source.op for source in decision.because] == ["memref.subview [0] [5] [1]", "memref.subview [3] [5] [1]"]


def test_arguments_that_do_overlap() -> None:
    """One argument shifted by one: fusing would read what the same loop had overwritten."""
    kind = "memref<4xf32>"
    text = f"""{HEAD}func.func @main(%x: {kind}, %y: {kind}) {{
    %a = memref.alloc() : {kind}
    {loop("arith.addf", [("%x", kind)], ("%a", kind))}
    {loop("arith.mulf", [("%a", kind)], ("%y", kind))}
    memref.dealloc %a : {kind}
    return
    }}"""
    whole = DRAWN.random(5, np.float32)
    assert same_after(text, [FuseBuffers()], whole[:4], whole[1:]).count("linalg.generic") == 2
    apart = same_after(text, [FuseBuffers(arguments_overlap=False)], whole[:4], DRAWN.random(4, np.float32))
    assert apart.count("linalg.generic") == 1
    assert "memref.alloc" not in apart


def test_an_op_that_overwrites_what_it_reads() -> None:
    """`a = x + a; a = a * a`: one loop, in which the second op sees what the first one wrote."""
    kind = "memref<4xf32>"
    text = f"""{HEAD}func.func @main(%x: {kind} {{llvm.noalias}}, %a: {kind} {{llvm.noalias}}) {{
    {loop("arith.addf", [("%x", kind)], ("%a", kind), accumulate=True)}
    {loop("arith.mulf", [("%a", kind), ("%a", kind)], ("%a", kind))}
    return
    }}"""
    after = same_after(text, [FuseBuffers()], DRAWN.random(4, np.float32), DRAWN.random(4, np.float32))
    assert after.count("linalg.generic") == 1
    assert after.index("arith.addf") < after.index("arith.mulf")


@pytest.mark.parametrize(("first", "second", "size", "loops"), [(0, 0, 4, 2), (0, 2, 4, 3), (0, 4, 4, 2)])
def test_two_writers_keep_their_order(first: int, second: int, size: int, loops: int) -> None:
    """The reader of both goes to the last one that wrote what it reads; where parts overlap, it goes nowhere."""
    a, b = ("%a", view(first, size, 1)), ("%b", view(second, size, 1))
    x = ("%x", f"memref<{size}xf32>")
    kinds = (x[1], "memref<8xf32>", x[1])
    arguments = ", ".join(
        f"{name}: {kind} {{llvm.noalias}}" for name, kind in zip(("%x", "%m", "%r"), kinds, strict=True)
    )
    text = f"""{HEAD}func.func @main({arguments}) {{
    %a = memref.subview %m[{first}] [{size}] [1] : memref<8xf32> to {a[1]}
    %b = memref.subview %m[{second}] [{size}] [1] : memref<8xf32> to {b[1]}
    {loop("arith.addf", [x], a)}
    {loop("arith.mulf", [x, x], b)}
    {loop("arith.subf", [a], ("%r", x[1]))}
    return
    }}"""
    after = same_after(text, [FuseBuffers()], *(DRAWN.random(n, np.float32) for n in (size, 8, size)))
    assert after.count("linalg.generic") == loops
    if second < first + size:
        assert after.index("arith.addf") < after.index("arith.mulf")


def test_the_example_on_tensors_and_on_memory() -> None:
    """On tensors `%arg0` is as it was; on memory the op that writes it changes it, and the values are the same."""
    tensors = f"""func.func @main(%x: tensor<8xf32>) -> tensor<8xf32> {{
    %e = tensor.empty() : tensor<8xf32>
    %r = {elementwise("arith.addf", ["%x", "%x"], "%e")}
    return %r : tensor<8xf32>
    }}"""
    kind = "memref<8xf32>"
    memory = f"""{HEAD}func.func @main(%x: {kind}, %r: {kind}) {{
    linalg.generic {{indexing_maps = [#id, #id], iterator_types = ["parallel"]}} ins(%x : {kind}) outs(%r : {kind}) {{
    ^bb0(%p: f32, %o: f32):
      %t = arith.addf %p, %p : f32
      linalg.yield %t : f32
    }}
    return
    }}"""
    x = DRAWN.random(8, np.float32)
    module = parse(tensors)
    with module.context:
        (wanted,) = reference.run(function(module), [x])
    apart, same, bufferized = np.zeros(8, np.float32), x.copy(), np.zeros(8, np.float32)
    call(memory, x, apart)
    call(memory, same, same)
    call(text_after(tensors, OneShotBufferize()), x, bufferized)
    for result in (apart, same, bufferized):
        np.testing.assert_array_equal(result, wanted)


@pytest.mark.parametrize("size", ["8", "?"])
def test_the_same_function_on_tensors_and_on_memory(size: str) -> None:
    """A fan of ops with one value read twice; both forms, fused and not, compute the same."""
    tensors = f"""func.func @main(%x: tensor<8xf32>, %y: tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>) {{
    %e = tensor.empty() : tensor<8xf32>
    %a = {elementwise("arith.addf", ["%x", "%y"], "%e")}
    %b = {elementwise("arith.mulf", ["%a", "%x"], "%e")}
    %c = {elementwise("arith.subf", ["%b", "%y"], "%e")}
    %d = {elementwise("arith.mulf", ["%b", "%b"], "%e")}
    return %c, %d : tensor<8xf32>, tensor<8xf32>
    }}"""
    kind = f"memref<{size}xf32>"
    steps = [("addf", "x", "y", "a"), ("mulf", "a", "x", "b"), ("subf", "b", "y", "c"), ("mulf", "b", "b", "d")]
    payload = """linalg.generic {{indexing_maps = [#id, #id, #id], iterator_types = ["parallel"]}}
        ins(%{1}, %{2} : {4}, {4}) outs(%{3} : {4}) {{
    ^bb0(%p: f32, %q: f32, %o: f32):
      %t = arith.{0} %p, %q : f32
      linalg.yield %t : f32
    }}"""
    body = "\n".join(payload.format(*step, kind) for step in steps)
    sizes = "%n" if size == "?" else ""
    memory = f"""{HEAD}func.func @main(%x: {kind}, %y: {kind}, %c: {kind}, %d: {kind}, %n: index) {{
    %a = memref.alloc({sizes}) : {kind}
    %b = memref.alloc({sizes}) : {kind}
    {body}
    return
    }}"""
    x, y, c, d = DRAWN.random((4, 8), np.float32)
    fused = parse(text_after(tensors, FuseElementwise()))
    for module in (parse(tensors), fused):
        with module.context:
            left, right = reference.run(function(module), [x, y])
        for text in (memory, text_after(memory, FuseBuffers(arguments_overlap=False))):
            call(text, x, y, c, d, 8)
            np.testing.assert_allclose(c, left, rtol=1e-6)
            np.testing.assert_allclose(d, right, rtol=1e-6)
    assert str(fused).count("linalg.generic") == 3  # the value that is read twice stays
    assert text_after(memory, FuseBuffers(arguments_overlap=False)).count("linalg.generic") == 1


@pytest.mark.parametrize("seed", range(12))
def test_any_slices_in_any_order(seed: int) -> None:
    """Programs of random loops over random slices of two buffers and an allocation."""
    draw = random.Random(seed)
    lines: list[str] = []
    values: list[tuple[str, str]] = []
    for number in range(7):
        base, step = draw.choice(["%m", "%m", "%n", "%l"]), draw.choice([1, 1, 1, 2])
        offset = draw.choice([0, 0, 3, 4]) if step == 1 else draw.choice([0, 1])
        kind = view(offset, 3, step)
        lines.append(f"%v{number} = memref.subview {base}[{offset}] [3] [{step}] : memref<8xf32> to {kind}")
        values.append((f"%v{number}", kind))
    last = values[0]
    for _ in range(8):
        inputs = [last if draw.random() < 0.6 else draw.choice(values) for _ in range(draw.choice([1, 2]))]
        last = draw.choice(values)
        lines.append(loop(draw.choice(["arith.addf", "arith.subf"]), inputs, last, accumulate=draw.random() < 0.2))
    body = "\n".join(lines)
    text = f"""{HEAD}func.func @main(%m: memref<8xf32> {{llvm.noalias}}, %n: memref<8xf32>) {{
    %l = memref.alloc() : memref<8xf32>
    %zero = arith.constant 0.0 : f32
    linalg.fill ins(%zero : f32) outs(%l : memref<8xf32>)
    {body}
    linalg.map {{ arith.addf }} ins(%l, %n : memref<8xf32>, memref<8xf32>) outs(%n : memref<8xf32>)
    return
    }}"""
    same_after(text, [FuseBuffers()], DRAWN.random(8, np.float32), DRAWN.random(8, np.float32))
