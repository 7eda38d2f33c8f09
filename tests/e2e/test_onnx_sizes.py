"""ONNX models whose sizes are computed: known by formula where they follow from those of the arguments, else when they run."""

# ONNX is annotated in part only.
# pyright: reportUnknownMemberType=false

# onnx and onnxruntime are annotated in part only.
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false
# pyright: reportCallIssue=false, reportArgumentType=false, reportAttributeAccessIssue=false

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import onnxruntime
import pytest
from onnx import TensorProto, helper, numpy_helper

import hotdesk
from hotdesk.errors import ArgumentTypeError, ExecutionError, ShapeError

node = helper.make_node


def model_of(nodes: Sequence[Any], inputs: Any, outputs: Any, opset: int = 17, **constants: Any) -> Any:
    """A model of floats; an input or output may say another element type in front of its sizes."""
    values = [
        [
            helper.make_tensor_value_info(name, *(sizes if isinstance(sizes, tuple) else (TensorProto.FLOAT, sizes)))
            for name, sizes in each.items()
        ]
        for each in (inputs, outputs)
    ]
    arrays = [numpy_helper.from_array(np.asarray(value), name) for name, value in constants.items()]
    graph = helper.make_graph(nodes, "graph", *values, arrays)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=9)


def floats(*sizes: int) -> Any:
    return np.random.default_rng(0).standard_normal(sizes, dtype=np.float32)


def check(model: Any, *calls: Sequence[Any]) -> hotdesk.Program:
    """A program that gives what onnxruntime gives."""
    program: hotdesk.Program = hotdesk.compile(model)
    session = onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
    names = [each.name for each in model.graph.input]
    for call in calls:
        found: Any = program(*call)
        wanted = session.run(None, dict(zip(names, call, strict=True)))
        for mine, theirs in zip(found if isinstance(found, tuple) else (found,), wanted, strict=True):
            assert mine.dtype == theirs.dtype
            assert mine.shape == theirs.shape
            np.testing.assert_allclose(mine, theirs, rtol=1e-5, atol=1e-6)
    return program


def at(place: int, source: str = "s", result: str = "") -> list[Any]:
    """A size of a shape, as a tensor of one dim."""
    return [
        node("Gather", [source, f"at{place}"], [f"g{source}{place}"]),
        node("Unsqueeze", [f"g{source}{place}", "zero"], [result or f"d{source}{place}"]),
    ]


PLACES: Any = {f"at{place}": np.int64(place) for place in range(4)} | {"zero": np.array([0])}


def test_several_open_dims_are_merged_into_one_left_out() -> None:
    """`[n, t, 2, 8]` to `[-1, 16]`, which torch-mlir's lowering takes for `n == 1`."""
    nodes = [node("Reshape", ["x", "to"], ["y"])]
    model = model_of(nodes, {"x": ["n", "t", 2, 8]}, {"y": ["k", 16]}, to=np.array([-1, 16]))
    program = check(model, [floats(2, 5, 2, 8)], [floats(1, 1, 2, 8)], [floats(3, 1, 2, 8)])
    assert "f32[n*t, 16]" in str(program)


def test_open_sizes_become_numbers() -> None:
    model = model_of([node("Reshape", ["x", "to"], ["y"])], {"x": ["n", "m"]}, {"y": [4, 6]}, to=np.array([4, 6]))
    program = check(model, [floats(3, 8)], [floats(24, 1)])
    with pytest.raises(ShapeError, match=r"\(m\*n\) == 24 \(`tensor\.reshape`: as many elements as before\)"):
        program(floats(3, 9))


def test_heads_are_split_and_joined() -> None:
    """The shapes are parts of `Shape`, joined with numbers; all is planned by formula."""
    nodes = [
        *(node("Shape", ["x"], ["s"]), *at(0), *at(1)),
        node("Concat", ["ds0", "ds1", "three", "eight"], ["apart"], axis=0),
        node("Reshape", ["x", "apart"], ["a"]),
        node("Transpose", ["a"], ["b"], perm=[0, 2, 1, 3]),
        node("Softmax", ["b"], ["c"], axis=-1),
        node("Transpose", ["c"], ["d"], perm=[0, 2, 1, 3]),
        node("Concat", ["ds0", "ds1", "rest"], ["whole"], axis=0),
        node("Reshape", ["d", "whole"], ["y"]),
    ]
    numbers = {"three": np.array([3]), "eight": np.array([8]), "rest": np.array([-1]), **PLACES}
    model = model_of(nodes, {"x": ["n", "t", 24]}, {"y": [None, None, None]}, **numbers)
    program = check(model, [floats(2, 5, 24)], [floats(1, 7, 24)])
    assert "-> (f32[n, t, 24])" in str(program)


def test_sizes_of_convolutions_are_merged() -> None:
    """What `-1` stands for is found although both sizes are roundings of the argument's."""
    nodes = [
        node("Conv", ["x", "w"], ["c"], strides=[2, 2], kernel_shape=[3, 3], pads=[1, 1, 1, 1]),
        *(node("Shape", ["c"], ["s"]), *at(0)),
        node("Concat", ["ds0", "five", "rest"], ["to"], axis=0),
        node("Reshape", ["c", "to"], ["y"]),
    ]
    numbers = {"w": floats(5, 2, 3, 3), "five": np.array([5]), "rest": np.array([-1]), **PLACES}
    model = model_of(nodes, {"x": ["n", 2, "h", "w_"]}, {"y": [None, 5, None]}, **numbers)
    program = check(model, [floats(1, 2, 8, 9)], [floats(3, 2, 5, 4)])
    assert "-> (f32[n, 5, " in str(program)
    assert program.memory(floats(3, 2, 5, 4)).grown == 0


@pytest.mark.parametrize(
    ("scale", "told"), [(2.0, "2*h"), (0.5, "h//2"), (1.5, "(3*h)//2"), (4.0, "4*h")], ids=["2", "half", "1.5", "4"]
)
def test_scales_of_resize(scale: float, told: str) -> None:
    nodes = [
        node(
            *("Resize", ["x", "", "scales"], ["y"]),
            mode="nearest",
            coordinate_transformation_mode="asymmetric",
            nearest_mode="floor",
        )
    ]
    scales = np.array([1, 1, scale, scale], np.float32)
    model = model_of(nodes, {"x": ["n", 3, "h", "w"]}, {"y": [None, 3, None, None]}, scales=scales)
    program = check(model, [floats(2, 3, 4, 6)], [floats(1, 3, 7, 5)])
    assert told in str(program)
    assert program.memory(floats(1, 3, 7, 5)).grown == 0


def test_a_scale_that_floats_do_not_hold() -> None:
    """0.3 is none: the size is known when the program runs, and memory for it grows and is kept."""
    how = {"coordinate_transformation_mode": "asymmetric", "nearest_mode": "floor"}
    nodes = [node("Resize", ["x", "", "scales"], ["r"], mode="nearest", **how), node("Exp", ["r"], ["e"])]
    nodes += [node("Transpose", ["e"], ["y"], perm=[0, 1, 3, 2])]
    scales = np.array([1, 1, 0.3, 0.3], np.float32)
    model = model_of(nodes, {"x": ["n", 3, "h", "w"]}, {"y": [None, 3, None, None]}, scales=scales)
    small, large = floats(1, 3, 10, 7), floats(2, 3, 40, 61)
    program = check(model, [small], [large], [small])
    assert program.memory(small).grown >= 2 * 3 * 12 * 18 * 4  # of the largest call so far
    assert program.memory(small).outputs == 8  # a number in the place of what is handed over


def test_a_grid_of_the_places_of_an_image() -> None:
    """As the head of a detector makes it: ranges up to sizes that were cast to floats."""
    nodes = [
        *(node("Shape", ["x"], ["s"]), *at(2), *at(3)),
        node("Cast", ["gs2"], ["h"], to=TensorProto.FLOAT),
        node("Cast", ["gs3"], ["w"], to=TensorProto.FLOAT),
        node("Range", ["none", "h", "step"], ["rows"]),
        node("Range", ["none", "w", "step"], ["columns"]),
        node("Concat", ["ds2", "ds3"], ["grid"], axis=0),
        node("Reshape", ["rows", "upright"], ["r"]),
        node("Expand", ["r", "grid"], ["rr"]),
        node("Expand", ["columns", "grid"], ["cc"]),
        node("Reshape", ["rr", "flat"], ["a"]),
        node("Reshape", ["cc", "flat"], ["b"]),
        node("Add", ["a", "b"], ["y"]),
    ]
    numbers = {"none": np.float32(0), "step": np.float32(1), "upright": np.array([-1, 1]), "flat": np.array([-1])}
    model = model_of(nodes, {"x": [1, 1, "h_", "w_"]}, {"y": [None]}, **numbers, **PLACES)
    program = check(model, [floats(1, 1, 4, 6)], [floats(1, 1, 1, 3)])
    assert program.memory(floats(1, 1, 4, 6)).grown == 0
    assert "f32[h_*w_]" in str(program)


def test_a_shape_that_an_argument_holds() -> None:
    inputs: Any = {"x": (TensorProto.UINT8, ["n", "m"]), "to": (TensorProto.INT64, [3])}
    model = model_of([node("Reshape", ["x", "to"], ["y"])], inputs, {"y": (TensorProto.UINT8, [None] * 3)})
    x = np.arange(24, dtype=np.uint8).reshape(3, 8) + np.uint8(200)
    program = check(model, [x, np.array([2, 3, -1])], [x, np.array([24, 1, 1])])
    with pytest.raises(ExecutionError, match="as many elements as before"):
        program(x, np.array([5, 5, 1]))
    with pytest.raises(ExecutionError):
        program(x, np.array([-2, -3, 4]))
    assert program(x, np.array([4, 6, 1])).shape == (4, 6, 1)


def test_places_of_what_is_not_zero(tmp_path: Any) -> None:
    """Their number is known when the program runs: memory is planned for as many as there may be, results are cut to it."""
    nodes = [node("Mul", ["x", "x"], ["q"]), node("NonZero", ["q"], ["p"]), node("Relu", ["x"], ["r"])]
    outputs: Any = {"p": (TensorProto.INT64, [2, None]), "r": ["n", "m"]}
    model = model_of(nodes, {"x": ["n", "m"]}, outputs)
    ones = np.ones((3, 9), np.float32)
    program = check(model, [np.eye(3, dtype=np.float32)], [ones], [np.zeros((3, 9), np.float32)], [ones])
    assert program.memory(ones).grown == 0
    with pytest.raises(ArgumentTypeError, match="known only when the program runs"):
        program(ones, out=(np.empty((2, 27), np.int64), ones.copy()))
    program.save(tmp_path / "places.hotdesk")
    loaded: Any = hotdesk.load(tmp_path / "places.hotdesk")
    for x in (np.eye(3, dtype=np.float32), ones):
        for mine, theirs in zip(loaded(x), program(x), strict=True):
            np.testing.assert_array_equal(mine, theirs)


def test_the_rank_follows_from_how_many_sizes_are_asked_for() -> None:
    """ONNX infers none where the sizes themselves are computed of values that it does not follow."""
    nodes = [
        *(node("Shape", ["x"], ["s"]), *at(0), *at(1)),
        node("Mul", ["ds0", "ds1"], ["product"]),
        node("Concat", ["product", "eight"], ["to"], axis=0),
        node("Reshape", ["x", "to"], ["a"]),
        node("MatMul", ["a", "w"], ["y"]),
    ]
    numbers = {"eight": np.array([8]), "w": floats(8, 3), **PLACES}
    model = model_of(nodes, {"x": ["n", "m", 8]}, {"y": [None, 3]}, opset=12, **numbers)
    model = _with_axes(model)
    program = check(model, [floats(2, 3, 8)], [floats(1, 1, 8)])
    assert "-> (f32[m*n, 3])" in str(program)


def _with_axes(model: Any) -> Any:
    """`Unsqueeze` as opsets before 13 have it."""
    for each in model.graph.node:
        if each.op_type == "Unsqueeze":
            del each.input[1]
            each.attribute.append(helper.make_attribute("axes", [0]))
    return model


def test_more_than_floats_count_is_refused() -> None:
    """f32 has all integers up to 2 ** 24: what a size beyond would be rounded to is nobody's wish."""
    nodes = [node("Shape", ["x"], ["s"]), *at(0), node("Cast", ["gs0"], ["f"], to=TensorProto.FLOAT)]
    nodes += [node("Range", ["none", "f", "step"], ["y"])]
    numbers = {"none": np.float32(0), "step": np.float32(1), **PLACES}
    program = check(model_of(nodes, {"x": ["n"]}, {"y": [None]}, **numbers), [floats(7)], [floats(1)])
    assert "-> (f32[n])" in str(program)
    with pytest.raises(ShapeError, match="counted exactly in floats"):
        program(np.zeros((1 << 24) + 1, np.float32))
