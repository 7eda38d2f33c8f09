"""What the models say of operations: reads, ties, views, and which operands are read element by element."""

from __future__ import annotations

import pytest

from hotdesk.ir.walking import top_level_ops
from hotdesk.models.facts import Facts, Slice
from hotdesk.models.registry import model_of
from tests.unit.parsing import function, parse

ARGUMENTS = "%x: tensor<4x4xf32>, %y: tensor<4x4xf32>, %v: tensor<4xf32>, %s: f32, %n: index"


def facts(text: str) -> Facts:
    """The facts of the last op in front of the return."""
    op = top_level_ops(function(parse(f"func.func @f({ARGUMENTS}) {{\n{text}\nreturn\n}}")))[-2]
    model = model_of(op.name)
    assert model is not None
    return model.facts(op)


def generic(
    maps: list[str], kinds: list[str], operands: list[str], body: str, result: str = "tensor<4x4xf32>"
) -> Facts:
    """Facts of a generic op on two-dimensional indices; the last operand is the init."""
    spelled = ", ".join(f"affine_map<(i, j) -> ({m})>" for m in maps)
    types = ["tensor<4xf32>" if name == "%v" else "tensor<4x4xf32>" for name in operands]
    arguments = ", ".join(f"%a{i}: f32" for i in range(len(operands)))
    inputs = f"ins({', '.join(operands[:-1])} : {', '.join(types[:-1])})" if operands[:-1] else ""
    return facts(f"""
      %r = linalg.generic {{indexing_maps = [{spelled}], iterator_types = [{", ".join(f'"{kind}"' for kind in kinds)}]}}
          {inputs} outs({operands[-1]} : {types[-1]}) {{
      ^bb0({arguments}):
        {body}
        linalg.yield %t : f32
      }} -> {result}""")


PARALLEL = ["parallel", "parallel"]
ADD = "%t = arith.addf %a0, %a1 : f32"


def test_an_elementwise_generic() -> None:
    found = generic(["i, j", "i, j", "i, j"], PARALLEL, ["%x", "%y", "%x"], ADD)
    assert found == Facts(
        reads=frozenset({0, 1}), ties=((2, 0),), overwrites=frozenset({2}), elementwise=frozenset({0, 1})
    )


def test_what_the_payload_does_not_use_is_not_read() -> None:
    found = generic(["i, j", "i, j", "i, j"], PARALLEL, ["%x", "%y", "%x"], "%t = math.exp %a1 : f32")
    assert found.reads == {1}


def test_an_init_that_the_payload_uses_is_read() -> None:
    assert generic(["i, j", "i, j"], PARALLEL, ["%x", "%y"], ADD).reads == {0, 1}


@pytest.mark.parametrize(("source", "operand"), [("j, i", "%x"), ("j", "%v"), ("0, j", "%x")])
def test_another_map_is_not_elementwise(source: str, operand: str) -> None:
    found = generic([source, "i, j"], PARALLEL, [operand, "%y"], "%t = math.exp %a0 : f32")
    assert found.elementwise == set()
    assert found.overwrites == {1}


def test_elementwise_in_the_order_of_the_result() -> None:
    found = generic(["j, i", "i, j", "j, i"], PARALLEL, ["%x", "%y", "%x"], ADD)
    assert found.elementwise == {0}
    assert found.overwrites == {2}


def test_a_reduction_neither_overwrites_nor_is_elementwise() -> None:
    found = generic(["i, j", "i"], ["parallel", "reduction"], ["%x", "%v"], ADD, "tensor<4xf32>")
    assert found == Facts(reads=frozenset({0, 1}), ties=((1, 0),))


def test_a_result_that_is_not_written_everywhere() -> None:
    found = generic(["i, j", "i, i"], PARALLEL, ["%x", "%y"], "%t = math.exp %a0 : f32")
    assert found.overwrites == set()


NAMED = {
    "linalg.fill ins(%s : f32) outs(%x : tensor<4x4xf32>) -> tensor<4x4xf32>": Facts(
        frozenset({0}), ((1, 0),), frozenset({1})
    ),
    "linalg.transpose ins(%x : tensor<4x4xf32>) outs(%y : tensor<4x4xf32>) permutation = [1, 0]": Facts(
        frozenset({0}), ((1, 0),), frozenset({1})
    ),
    "linalg.broadcast ins(%v : tensor<4xf32>) outs(%y : tensor<4x4xf32>) dimensions = [0]": Facts(
        frozenset({0}), ((1, 0),), frozenset({1})
    ),
    "linalg.copy ins(%x : tensor<4x4xf32>) outs(%y : tensor<4x4xf32>) -> tensor<4x4xf32>": Facts(
        frozenset({0}), ((1, 0),), frozenset({1}), elementwise=frozenset({0})
    ),
    "linalg.map { math.exp } ins(%x : tensor<4x4xf32>) outs(%y : tensor<4x4xf32>)": Facts(
        frozenset({0}), ((1, 0),), frozenset({1}), elementwise=frozenset({0})
    ),
    "linalg.matmul ins(%x, %y : tensor<4x4xf32>, tensor<4x4xf32>) outs(%x : tensor<4x4xf32>) -> tensor<4x4xf32>": Facts(
        frozenset({0, 1, 2}), ((2, 0),)
    ),
    "linalg.reduce { arith.addf } ins(%x : tensor<4x4xf32>) outs(%v : tensor<4xf32>) dimensions = [1]": Facts(
        frozenset({0, 1}), ((1, 0),)
    ),
    "linalg.map ins(%x : tensor<4x4xf32>) outs(%y : tensor<4x4xf32>) (%a: f32, %o: f32) {\n linalg.yield %o : f32\n}": Facts(
        frozenset({1}), ((1, 0),), frozenset({1}), elementwise=frozenset({0})
    ),
}


@pytest.mark.parametrize("text", NAMED)
def test_named_ops(text: str) -> None:
    assert facts(f"%r = {text}") == NAMED[text]


TENSOR = {
    "tensor.empty() : tensor<4xf32>": Facts(undefined=frozenset({0})),
    "arith.constant dense<1.0> : tensor<4xf32>": Facts(constants=frozenset({0})),
    "arith.constant 1.0 : f32": Facts(),
    "tensor.extract_slice %x[0, 0] [2, 4] [1, 1] : tensor<4x4xf32> to tensor<2x4xf32>": Facts(
        views=((0, 0),), part=Slice(0, (0, 0), (2, 4), (1, 1), (0, 1))
    ),
    "tensor.insert_slice %v into %x[0, 0] [1, 4] [1, 1] : tensor<4xf32> into tensor<4x4xf32>": Facts(
        frozenset({0, 1}), ((1, 0),), part=Slice(1, (0, 0), (1, 4), (1, 1), (1,), source=0)
    ),
    **{
        text: Facts(views=((0, 0),), whole_views=frozenset({(0, 0)}))
        for text in (
            "tensor.collapse_shape %x [[0, 1]] : tensor<4x4xf32> into tensor<16xf32>",
            "tensor.expand_shape %v [[0, 1]] output_shape [2, 2] : tensor<4xf32> into tensor<2x2xf32>",
            "tensor.cast %v : tensor<4xf32> to tensor<?xf32>",
        )
    },
    "tensor.dim %x, %n : tensor<4x4xf32>": Facts(),
    "tensor.extract %v[%n] : tensor<4xf32>": Facts(reads=frozenset({0})),
}


@pytest.mark.parametrize("text", TENSOR)
def test_tensor_ops_and_constants(text: str) -> None:
    assert facts(f"%r = {text}") == TENSOR[text]


@pytest.mark.parametrize(("accumulate", "reads"), [("true", {0, 1, 2}), ("false", {0, 1})])
def test_a_contraction_reads_its_init_when_it_accumulates(accumulate: str, reads: set[int]) -> None:
    found = facts(
        f'%r = "hotdesk.contract"(%x, %y, %x) {{equation = "mk,kn->mn", accumulate = {accumulate}}}'
        " : (tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>"
    )
    assert found == Facts(frozenset(reads), ((2, 0),), frozenset({2}))


def test_a_pooling_has_one_input() -> None:
    found = facts(
        '%r = "hotdesk.pool"(%x, %y) {accumulate = false} : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>'
    )
    assert found == Facts(frozenset({0}), ((1, 0),), frozenset({1}))


def test_a_contraction_into_a_memref_has_no_result() -> None:
    made = "%m = memref.alloc() : memref<4x4xf32>\n"
    types = "(tensor<4x4xf32>, tensor<4x4xf32>, memref<4x4xf32>) -> ()"
    found = facts(f'{made}"hotdesk.contract"(%x, %y, %m) {{equation = "mk,kn->mn", accumulate = false}} : {types}')
    assert found == Facts(frozenset({0, 1}))
