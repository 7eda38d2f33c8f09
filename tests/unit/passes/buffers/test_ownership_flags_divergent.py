"""Memory that a branch of one's own passes on and that is owned on some ways only: a flag goes with it, by a block in between."""

from __future__ import annotations

import pytest
from torch_mlir import ir

from hotdesk.errors import BufferizationError
from hotdesk.ir.context import entered, make_context
from hotdesk.models import Facts, OpModel, register
from hotdesk.passes.textual import parse_pipeline
from tests.unit.passes.buffers.deallocation_programs import OF_ANOTHER, main, switched

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
def test_a_flag_goes_with_what_is_owned_on_some_ways() -> None:
    text = TEXT.format("", ALLOC.format(0), "%0", "%r")
    names = freed(text, "ownership")
    assert (names.count("memref.alloc"), names.count("custom.br"), names.count("cf.br")) == (1, 2, 2)
    assert names[-3:] == ["memref.copy", "scf.if", "func.return"]
    names = freed(text, "copies")
    assert (names.count("memref.alloc"), names.count("memref.dealloc")) == (3, 2)
    assert names[-2:] == ["memref.dealloc", "func.return"]


@pytest.mark.usefixtures("branch")
def test_a_flag_that_came_along_goes_on() -> None:
    text = TEXT.format("", ALLOC.format(0), "%0", "%r").replace(
        "  memref.copy %2",
        '  "custom.br"(%2)[^bb4] : (memref<2xf32>) -> ()\n^bb4(%3: memref<2xf32>):\n  memref.copy %3',
    )
    names = freed(text, "ownership")
    assert names[-3:] == ["memref.copy", "scf.if", "func.return"]


def test_one_of_several_operands_is_refused_in_either_mode() -> None:
    """Nobody would free the one that is not passed on."""
    several = OpModel(lambda _: Facts(), branches=lambda op: tuple((i, 0, 0) for i in range(len(op.operands))))
    register("custom.br", several)
    text = TEXT.format("", ALLOC.format(0), "%0, %r", "%r")
    text = text.replace("(memref<2xf32>) -> ()", "(memref<2xf32>, memref<2xf32>) -> ()", 1)
    for mode in ("ownership", "copies"):
        with pytest.raises(
            BufferizationError, match="expected one operand for each argument and result, got 2"
        ) as caught:
            freed(text, mode)
        assert WAY not in str(caught.value)


def test_divergent_ownership_has_a_hint_that_names_the_mode_that_takes_it() -> None:
    text = main(switched("%there", "%x", OF_ANOTHER))
    with pytest.raises(BufferizationError) as caught:
        freed(text, "ownership")
    assert caught.value.hint is not None
    assert WAY in caught.value.hint
    names = freed(text, "copies")
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


@pytest.mark.parametrize("is_known", [False, True])
def test_divergent_ownership(is_known: bool, request: pytest.FixtureRequest) -> None:
    """What is allocated in front is freed behind, whatever a branch is known to pass on."""
    if is_known:
        request.getfixturevalue("branch")
    text = TEXT.format(ALLOC.format(0) + "\n  " + ALLOC.format(1), "", "%0", "%1")
    for mode in ("ownership", "copies"):
        assert freed(text, mode)[-3:] == ["memref.dealloc", "memref.dealloc", "func.return"]
