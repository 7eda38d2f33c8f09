"""`to_buffer … read_only` that a call gets: the tensor's own memory, for as long as calls look at it."""

from __future__ import annotations

import pytest

from hotdesk.passes.bufferize.one_shot import OneShotBufferize
from tests.unit.parsing import parse, run

T, M = "tensor<8xf32>", "memref<8xf32>"
SHOWN = f"%m = bufferization.to_buffer %x read_only : {T} to {M}"
USED = f"func.call @use(%m) : ({M}) -> ()"
WRITTEN = f"%d = tensor.insert %c into %x[%i] : {T}"


def program(*lines: str) -> str:
    body = "\n        ".join(lines)
    return f"""
      func.func private @use({M})
      func.func private @keep({M}) -> {M}
      func.func private @keep_unranked({M}) -> memref<*xf32>
      func.func @main(%x: {T} {{hotdesk.donated}}, %c: f32, %i: index, %n: index) -> {T} {{
        {body}
        return %d : {T}
      }}"""


def bufferized(*lines: str) -> list[str]:
    """The ops of the function on memrefs, without those of regions of copies."""
    text = run(parse(program(*lines)), OneShotBufferize(results="out-params", results_in_donated=True))
    return [line.strip() for line in text.partition("func.func @main")[2].splitlines()]


def test_a_call_before_the_write_sees_the_memory_itself() -> None:
    lines = bufferized(SHOWN, USED, WRITTEN)
    assert not any("memref.alloc" in line or "linalg" in line for line in lines)
    assert lines[1:4] == [f"call @use(%arg0) : ({M}) -> ()", f"memref.store %arg1, %arg0[%arg2] : {M}", "return"]


@pytest.mark.parametrize(
    "use",
    [
        USED,
        f"%v = memref.cast %m : {M} to memref<?xf32>\n %w = memref.cast %v : memref<?xf32> to {M}\n {USED.replace('%m', '%w')}",
        f"scf.for %k = %i to %n step %n {{\n{USED}\n}}",
    ],
)
def test_a_call_behind_the_write_sees_what_was_before(use: str) -> None:
    lines = bufferized(SHOWN, WRITTEN, use)
    stores = [line for line in lines if line.startswith("memref.store")]
    calls = [line for line in lines if line.startswith(("call @use", "func.call @use"))]
    assert (len(stores), len(calls)) == (1, 1)
    assert sum("linalg.generic" in line for line in lines) == 1
    assert "%arg0[" not in stores[0]


@pytest.mark.parametrize("kept", [f"@keep(%m) : ({M}) -> {M}", f"@keep_unranked(%m) : ({M}) -> memref<*xf32>"])
def test_what_a_call_may_return_is_a_copy(kept: str) -> None:
    lines = bufferized(SHOWN, f"%k = func.call {kept}", WRITTEN)
    (call,) = [line for line in lines if "call @keep" in line]
    assert "%arg0" not in call
    assert any("memref.alloc" in line for line in lines)
