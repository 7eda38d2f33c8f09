"""Memory that a branch of one's own passes on and that is owned on some ways only: refused, and the hint, followed, does it."""

from __future__ import annotations

import pytest
from torch_mlir import ir

from hotdesk.errors import BufferizationError
from hotdesk.ir.context import entered, make_context
from hotdesk.models import Facts, OpModel, register
from hotdesk.passes.textual import parse_pipeline

WAY = "`mode=copies` takes it"
ALLOC = """%{0} = memref.alloc() : memref<2xf32>
  linalg.fill ins(%f : f32) outs(%{0} : memref<2xf32>)"""
TEXT = """
func.func @main(%c: i1, %r: memref<2xf32>, %f: f32) {{
  {0}
  cf.cond_br %c, ^bb1, ^bb2
^bb1:
  {1}
  "custom.br"({2})[^bb3] : (memref<2xf32>) -> ()
^bb2:
  "custom.br"({3})[^bb3] : (memref<2xf32>) -> ()
^bb3(%2: memref<2xf32>):
  memref.copy %2, %r : memref<2xf32> to memref<2xf32>
  return
}}"""


@pytest.fixture
def branch() -> None:
    """`custom.br` passes each operand to the argument of its successor."""
    branches = OpModel(lambda _: Facts(), branches=lambda op: tuple((i, 0, i) for i in range(len(op.operands))))
    register("custom.br", branches)


def freed(text: str, mode: str) -> list[str]:
    """The names of the ops after the pass, in order."""
    context = make_context()
    context.allow_unregistered_dialects = True
    module = ir.Module.parse(text, context)
    with entered(module.operation):
        parse_pipeline(f"builtin.module(hotdesk-buffer-deallocation{{mode={mode}}})").run(module)
        assert module.operation.verify()
        blocks = module.body.operations[0].operation.regions[0].blocks
        return [op.operation.name for block in blocks for op in block.operations]


@pytest.mark.usefixtures("branch")
def test_the_hint_names_the_mode_that_takes_it() -> None:
    text = TEXT.format("", ALLOC.format(0), "%0", "%r")
    with pytest.raises(BufferizationError, match=r"^branch `custom.br`: expected a branch of the cf dialect") as caught:
        freed(text, "ownership")
    assert caught.value.hint is not None
    assert WAY in caught.value.hint
    names = freed(text, "copies")
    assert (names.count("memref.alloc"), names.count("memref.dealloc")) == (3, 2)
    assert names[-2:] == ["memref.dealloc", "func.return"]


@pytest.mark.usefixtures("branch")
def test_what_is_owned_on_all_ways_needs_no_hint() -> None:
    text = TEXT.format("", ALLOC.format(0), "%0", "%1").replace("^bb2:", "^bb2:\n  " + ALLOC.format(1))
    names = freed(text, "ownership")
    assert (names.count("memref.alloc"), names.count("memref.dealloc")) == (2, 1)
    assert names[-2:] == ["memref.dealloc", "func.return"]


def test_what_copies_do_not_take_either_has_no_such_hint() -> None:
    text = TEXT.format("", ALLOC.format(0), "%0", "%r")  # nobody knows what `custom.br` passes on
    for mode in ("ownership", "copies"):
        with pytest.raises(BufferizationError, match="a model describes") as caught:
            freed(text, mode)
        assert WAY not in str(caught.value)


def test_what_is_allocated_in_front_is_freed_behind() -> None:
    text = TEXT.format(ALLOC.format(0) + "\n  " + ALLOC.format(1), "", "%0", "%1")
    for mode in ("ownership", "copies"):
        assert freed(text, mode)[-3:] == ["memref.dealloc", "memref.dealloc", "func.return"]
