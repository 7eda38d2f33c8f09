"""Every op of `linalg` that MLIR knows: its facts, its form on memrefs, and what that computes."""

from __future__ import annotations

import re

import pytest

from hotdesk.errors import BufferizationError
from hotdesk.ir.walking import top_level_ops
from hotdesk.models.registry import model_of
from hotdesk.passes.bufferize.one_shot import OneShotBufferize
from tests.running import OURS, check
from tests.running.examples import inputs_of
from tests.unit.models.linalg_ops import INSIDE, NAMES, NOT_LOWERED, UNREAD_INIT, WINOGRAD, programs
from tests.unit.parsing import function, parse, run

PROGRAMS = programs()


def test_no_op_is_left_out() -> None:
    assert set(PROGRAMS) | INSIDE == set(NAMES)


@pytest.mark.parametrize("name", PROGRAMS)
def test_the_result_is_tied_to_the_init_which_is_read_if_it_matters(name: str) -> None:
    op = next(op for op in top_level_ops(function(parse(PROGRAMS[name]))) if op.name == name)
    model = model_of(name)
    assert model is not None
    found = model.facts(op)
    (init, result), *others = found.ties
    assert (others, result) == ([], 0)
    assert op.operands[init].type == op.results[0].type
    assert (init in found.reads) is (name not in UNREAD_INIT)
    assert (init in found.overwrites) is (name in UNREAD_INIT)


@pytest.mark.parametrize("name", sorted(set(PROGRAMS) - WINOGRAD))
def test_the_form_on_memrefs(name: str) -> None:
    text = run(parse(PROGRAMS[name]), OneShotBufferize())
    assert re.search(rf"{name} .*memref<", text)
    assert "tensor<" not in re.sub(r"dense<\d+> : tensor<\dxi64>", "", text)  # strides are an attribute
    assert text.count("linalg.generic") == (name not in UNREAD_INIT) + (name == "linalg.generic")  # a copy of the init


@pytest.mark.parametrize("name", sorted(set(PROGRAMS) - NOT_LOWERED - WINOGRAD))
def test_what_it_computes(name: str) -> None:
    done = check(PROGRAMS[name], _inputs(PROGRAMS[name]), OURS)
    assert done.copies.count == (name not in UNREAD_INIT) + (name == "linalg.copy")


@pytest.mark.parametrize("name", sorted(WINOGRAD))
def test_an_op_without_a_form_on_memrefs_is_named(name: str) -> None:
    with pytest.raises(BufferizationError, match=f"op `{name}` has no form on memrefs.*decompose it first"):
        run(parse(PROGRAMS[name]), OneShotBufferize())


def _inputs(text: str) -> list[object]:
    """Scalars are 1, 2, 3 …"""
    scalars = re.findall(r"%arg\d+: (?:i|f)\d+", text)
    given = f"// given: {', '.join(str(i + 1) for i in range(len(scalars)))}\n" if scalars else ""
    return inputs_of(given + text)
