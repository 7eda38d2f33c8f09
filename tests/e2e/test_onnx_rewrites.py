"""Rewrites of ONNX's nodes, on other shapes, axes and opsets than ONNX's own tests have, beside ONNX's reference evaluator."""

# ONNX is annotated in part only.
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false
# ruff: noqa: E501  (a case is a line)

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, cast

import ml_dtypes
import numpy as np
import pytest
from onnx import TensorProto, helper, numpy_helper
from onnx.reference import ReferenceEvaluator

import hotdesk
from hotdesk.errors import ExecutionError, UnsupportedOpError
from hotdesk.frontends.onnx.rewrites.graph import Graph


def floats(*sizes: int, seed: int = 0) -> Any:
    return np.random.default_rng(seed).standard_normal(sizes).astype(np.float32)


def whole(high: int, *sizes: int, low: int = 0, dtype: Any = np.int64) -> Any:
    return np.random.default_rng(high).integers(low, high, sizes).astype(dtype)


def model_of(
    nodes: Sequence[Any],
    inputs: Mapping[str, Any],
    outputs: Mapping[str, Any],
    constants: Mapping[str, Any],
    opset: int,
) -> Any:
    """A model whose inputs have the types of arrays, and its results those of others."""

    def typed(name: str, array: Any) -> Any:
        return helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(array.dtype), array.shape)

    graph = helper.make_graph(
        nodes,
        "graph",
        [typed(name, array) for name, array in inputs.items()],
        [typed(name, array) for name, array in outputs.items()],
        [numpy_helper.from_array(array, name) for name, array in constants.items()],
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=10)


def reference(node: Any, given: Mapping[str, Any], opset: int) -> list[Any]:
    empty: dict[str, Any] = {name: np.zeros((), np.float32) for name in node.output}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found: Any = ReferenceEvaluator(model_of([node], given, empty, {}, opset)).run(None, dict(given))
    return [np.asarray(each) for each in found]


def agree(
    kind: str, arrays: Sequence[Any], opset: int = 20, constant: Sequence[int] = (), outputs: int = 1, **attributes: Any
) -> None:
    """One node compiled and evaluated. `constant` are the inputs, by number, that are initializers; None is left out."""
    names = ["" if array is None else f"x{number}" for number, array in enumerate(arrays)]
    node = helper.make_node(kind, names, [f"y{number}" for number in range(outputs)], **attributes)
    given = {name: array for name, array in zip(names, arrays, strict=True) if name}
    expected = reference(node, given, opset)
    held = {name: array for number, (name, array) in enumerate(zip(names, arrays, strict=True)) if number in constant}
    inputs = {name: array for name, array in given.items() if name not in held}
    model = model_of([node], inputs, dict(zip(node.output, expected, strict=True)), held, opset)
    got: Any = hotdesk.compile(model)(**inputs)
    for found, wanted in zip(cast(Any, got) if isinstance(got, tuple) else (got,), expected, strict=True):
        assert (found.dtype, found.shape) == (wanted.dtype, wanted.shape)
        np.testing.assert_allclose(found.astype(np.float64), wanted.astype(np.float64), rtol=2e-4, atol=2e-5)


_CORNERS = np.sort(np.random.default_rng(5).uniform(0, 4, (2, 12, 2, 2)), axis=2)
BOXES: Any = _CORNERS.reshape(2, 12, 4).astype(np.float32)
CASES: dict[str, tuple[str, Sequence[Any], dict[str, Any]]] = {
    "axes of equal sizes": ("ReduceSum", [floats(3, 3, 3), np.array([1])], {"keepdims": 0}),
    "two axes, one counted from behind": ("ReduceMax", [floats(2, 3, 4), np.array([-1, 0])], {"keepdims": 1}),
    "constant axes": ("ReduceLogSumExp", [floats(2, 3, 4), np.array([1])], {"constant": [1], "keepdims": 0}),
    "a slice backwards": ("Slice", [floats(5, 7), np.array([6, 3]), np.array([-20, 0]), np.array([1, 0]), np.array([-2, -1])], {}),
    "a slice beyond the end": ("Slice", [floats(5, 7), np.array([2]), np.array([1 << 40]), np.array([-1])], {}),
    "a split": ("Split", [floats(7, 3), np.array([2, 4, 1])], {"outputs": 3, "axis": 0}),
    "a wrapped pad": ("Pad", [floats(3, 4), np.array([2, 1, 5, 0])], {"mode": "wrap"}),
    "a reflected pad of an axis": ("Pad", [floats(3, 4), np.array([2, 1]), None, np.array([1])], {"mode": "reflect", "constant": [3]}),
    "a pad by a constant that is given": ("Pad", [floats(3, 4), np.array([2, 1]), np.asarray(3, np.float32), np.array([1])], {"constant": [3]}),
    "an edge repeated": ("Pad", [floats(3, 4), np.array([0, 1, 2, 1])], {"mode": "edge"}),
    "chosen rows": ("Compress", [floats(4, 3), np.array([True, False, True])], {"axis": 1}),
    "a range downwards": ("Range", [np.asarray(3, np.float32), np.asarray(-2, np.float32), np.asarray(-0.75, np.float32)], {}),
    "tiles": ("Tile", [floats(2, 3), np.array([3, 1])], {}),
    "expanded": ("Expand", [floats(3, 1), np.array([2, 1, 4])], {}),
    "a shape with a zero": ("Reshape", [floats(2, 3, 4), np.array([0, -1])], {}),
    "running sums": ("CumSum", [floats(3, 7), np.array(1)], {"exclusive": 1, "reverse": 1}),
    "running sums of constants' axis": ("CumSum", [whole(9, 4, 9), np.array(-2)], {"constant": [1]}),
    "greatest updates": ("ScatterElements", [floats(3, 5), whole(5, 3, 8), floats(3, 8, seed=1)], {"axis": 1, "reduction": "max"}),
    "shifts of negative numbers": ("BitShift", [whole(99, 40, low=-99, dtype=np.int16), whole(15, 40, dtype=np.int16)], {"direction": "RIGHT"}),
    "negation of large whole numbers": ("Neg", [whole(1 << 40, 64, low=-(1 << 40))], {}),
    "norms": ("LpNormalization", [np.abs(floats(2, 3, 4))], {"axis": 1, "p": 1}),
    "determinants of four rows": ("Det", [floats(2, 4, 4)], {}),
    "a loss by class": ("SoftmaxCrossEntropyLoss", [floats(4, 3, 2), whole(3, 4, 2), np.abs(floats(3))], {"ignore_index": 1, "outputs": 2}),
    "quantised by axis": ("QuantizeLinear", [floats(2, 3, 4) * 30, np.array([0.1, 1, 2], np.float32), np.array([3, 100, 7], np.uint8)], {"axis": 1}),
    "dequantised by block": ("DequantizeLinear", [whole(99, 2, 6, low=-99, dtype=np.int8), np.abs(floats(2, 2)), whole(9, 2, 2, dtype=np.int8)], {"axis": 1, "block_size": 3, "opset": 21}),
    "resized by cubics": ("Resize", [floats(1, 2, 5, 7), None, np.array([1, 1, 1.7, 0.6], np.float32)], {"mode": "cubic", "constant": [2]}),
    "resized by scales that are given": ("Resize", [floats(1, 2, 5, 7), None, np.array([1, 1, 0.6, 2.3], np.float32)], {"mode": "linear", "coordinate_transformation_mode": "align_corners"}),
    "resized without aliases": ("Resize", [floats(1, 1, 9, 8), None, None, np.array([4, 3])], {"mode": "linear", "antialias": 1, "axes": [2, 3], "constant": [3]}),
    "resized to the nearest": ("Resize", [floats(1, 2, 5, 3), None, np.array([2.5, 1.4], np.float32)], {"mode": "nearest", "nearest_mode": "ceil", "coordinate_transformation_mode": "asymmetric", "axes": [2, 3]}),
    "sampled cubes": ("GridSample", [floats(2, 3, 3, 4, 5), floats(2, 2, 3, 2, 3, seed=1)], {"mode": "linear", "padding_mode": "reflection"}),
    "sampled images": ("GridSample", [floats(2, 3, 4, 5), 1.5 * floats(2, 3, 2, 2, seed=1)], {"mode": "cubic", "padding_mode": "reflection", "align_corners": 1}),
    "regions": ("RoiAlign", [floats(2, 3, 8, 9), np.array([[0, 1, 5, 6], [2, 2, 8.5, 7]], np.float32), np.array([1, 0])], {"output_height": 2, "output_width": 3, "sampling_ratio": 2, "spatial_scale": 0.9}),
    "deformed": ("DeformConv", [floats(1, 4, 5, 6), floats(2, 2, 2, 2, seed=1), 0.4 * floats(1, 16, 4, 5, seed=2), floats(2)], {"group": 2, "offset_group": 2, "opset": 19}),
    "a transform cut short": ("DFT", [floats(2, 9, 3, 1), np.array(6), np.array(1)], {"onesided": 1, "constant": [1, 2]}),
    "a transform filled with zeros": ("DFT", [floats(2, 5, 2), np.array(8), np.array(-2)], {"inverse": 1, "constant": [1, 2]}),
    "frames": ("STFT", [floats(2, 50, 1), np.array(7), floats(12)], {"onesided": 0}),
    "blocks put back": ("Col2Im", [floats(2, 12, 9), np.array([4, 4]), np.array([2, 2])], {"constant": [1, 2]}),
    "a pool by norms": ("LpPool", [floats(1, 2, 7, 6)], {"kernel_shape": [3, 2], "strides": [2, 2], "p": 3}),
    "convolutions transposed unevenly": ("ConvTranspose", [floats(1, 2, 3, 3), floats(2, 3, 3, 3, seed=1)], {"strides": [2, 2], "pads": [0, 1, 1, 0]}),
    "a GRU both ways": ("GRU", [floats(3, 2, 4), 0.3 * floats(2, 15, 4, seed=1), 0.3 * floats(2, 15, 5, seed=2), floats(2, 30)], {"hidden_size": 5, "direction": "bidirectional", "outputs": 2}),
    "an LSTM with peepholes": ("LSTM", [floats(3, 2, 4), 0.3 * floats(1, 20, 4, seed=1), 0.3 * floats(1, 20, 5, seed=2), floats(1, 40), None, floats(1, 2, 5), floats(1, 2, 5, seed=3), floats(1, 15)], {"hidden_size": 5, "outputs": 2}),
    "boxes of classes above a score": ("NonMaxSuppression", [BOXES, np.abs(floats(2, 2, 12)), np.array([4]), np.array([0.3], np.float32), np.array([0.5], np.float32)], {"opset": 11}),
    "boxes of a class above a score": ("NonMaxSuppression", [BOXES[:1], floats(1, 1, 12), np.array([9]), np.array([0.2], np.float32), np.array([-0.5], np.float32)], {"constant": [2, 3]}),
    "places of maxima": ("MaxPool", [floats(2, 3, 5, 6)], {"kernel_shape": [2, 3], "strides": [2, 2], "outputs": 2}),
    "unsigned integers of 16 bits": ("Cast", [whole(1 << 20, 64, low=-(1 << 20))], {"to": TensorProto.UINT16}),
    "quantised to 16 bits": ("QuantizeLinear", [9 * floats(3, 7), np.array([0.1, 1, 0.0002], np.float32), np.array([3, 100, 40000], np.uint16)], {"axis": 0, "opset": 21}),
    "a product of scalars": ("Einsum", [floats(), floats(seed=1)], {"equation": ",->"}),
    "a cache written around its end": ("TensorScatter", [floats(2, 3, 5, 2), floats(2, 3, 3, 2, seed=1), np.array([4, 1])], {"mode": "circular", "opset": 24}),
}  # fmt: skip
ALWAYS = list(CASES)[::6]


def run(name: str) -> None:
    kind, arrays, options = CASES[name]
    agree(kind, arrays, **options)


@pytest.mark.parametrize("name", ALWAYS)
def test_some_rewrites(name: str) -> None:
    run(name)


@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name in CASES if name not in ALWAYS])
def test_other_rewrites(name: str) -> None:
    run(name)


NARROW = {
    "FLOAT8E4M3FN": ml_dtypes.float8_e4m3fn,
    "FLOAT8E4M3FNUZ": ml_dtypes.float8_e4m3fnuz,
    "FLOAT8E5M2": ml_dtypes.float8_e5m2,
    "FLOAT8E5M2FNUZ": ml_dtypes.float8_e5m2fnuz,
    "FLOAT4E2M1": ml_dtypes.float4_e2m1fn,
    "INT4": ml_dtypes.int4,
    "UINT2": ml_dtypes.uint2,
}


def cast_model(source: int, target: int, count: int, **attributes: Any) -> Any:
    graph = helper.make_graph(
        [helper.make_node("Cast", ["x"], ["y"], to=target, **attributes)],
        "casting",
        [helper.make_tensor_value_info("x", source, [count])],
        [helper.make_tensor_value_info("y", target, [count])],
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)], ir_version=10)


@pytest.mark.parametrize("name", NARROW)
def test_all_codes_are_decoded_and_all_halves_encoded(name: str) -> None:
    kind, element = NARROW[name], getattr(TensorProto, name)
    bits = (
        4
        if "4" in name.removeprefix("FLOAT8E") and not name.startswith("FLOAT8")
        else 2
        if name[-1] == "2" and "U" in name
        else 8
    )
    codes = np.arange(1 << bits, dtype=np.uint8).view(kind)
    decoded: Any = hotdesk.compile(cast_model(element, TensorProto.FLOAT, len(codes)))(codes)
    np.testing.assert_array_equal(decoded, codes.astype(np.float32))
    halves = np.arange(1 << 16, dtype=np.uint16).view(np.float16).astype(np.float32)
    if "INT" in name:
        halves = np.arange(-100, 100).astype(np.float32)
    for saturate in (1, 0):
        encoded: Any = hotdesk.compile(cast_model(TensorProto.FLOAT, element, len(halves), saturate=saturate))(halves)
        wanted = halves
        if saturate and name.startswith("FLOAT"):
            info: Any = ml_dtypes.finfo(kind)
            wanted = np.clip(halves, float(info.min), float(info.max))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            wanted = wanted.astype(np.int32).astype(kind) if "INT" in name else wanted.astype(kind)
        assert encoded.dtype == wanted.dtype
        known = ~np.isnan(wanted.astype(np.float32)) if name != "FLOAT4E2M1" else ~np.isnan(halves)
        np.testing.assert_array_equal(encoded.view(np.uint8)[known], wanted.view(np.uint8)[known])
        assert np.isnan(encoded.astype(np.float32)[~known]).all() or name == "FLOAT4E2M1"


def test_values_that_break_what_the_model_declares_are_an_error() -> None:
    node = helper.make_node("Slice", ["x", "starts", "ends"], ["y"])
    x, starts = floats(6, 2), np.array([1])
    model = model_of([node], {"x": x, "starts": starts, "ends": starts}, {"y": x[1:4]}, {}, 20)
    program = hotdesk.compile(model)
    np.testing.assert_array_equal(program(x, starts, np.array([4])), x[1:4])
    with pytest.raises(ExecutionError, match="HD401"):
        program(x, starts, np.array([5]))


def test_axes_other_than_the_declared_ones_are_an_error() -> None:
    node = helper.make_node("ReduceSum", ["x", "axes"], ["y"], keepdims=0)
    x = floats(2, 3)
    program = hotdesk.compile(model_of([node], {"x": x, "axes": np.array([1])}, {"y": x[:, 0]}, {}, 20))
    np.testing.assert_allclose(program(x, np.array([-1])), x.sum(1), rtol=1e-5)
    with pytest.raises(ExecutionError, match="HD401"):
        program(x, np.array([0]))


def test_a_loop_that_is_known_is_written_out() -> None:
    body = helper.make_graph(
        [helper.make_node("Identity", ["going"], ["on"]), helper.make_node("Mul", ["a", "a"], ["b"]), helper.make_node("Identity", ["b"], ["kept"])],
        "body",
        [helper.make_tensor_value_info("i", TensorProto.INT64, []), helper.make_tensor_value_info("going", TensorProto.BOOL, []), helper.make_tensor_value_info("a", TensorProto.FLOAT, [3])],
        [helper.make_tensor_value_info("on", TensorProto.BOOL, []), helper.make_tensor_value_info("b", TensorProto.FLOAT, [3]), helper.make_tensor_value_info("kept", TensorProto.FLOAT, [3])],
    )  # fmt: skip
    node = helper.make_node("Loop", ["trips", "", "x"], ["y", "all"], body=body)
    x = floats(3)
    model = model_of([node], {"x": x}, {"y": x, "all": np.stack([x] * 3)}, {"trips": np.array(3)}, 20)
    y, stacked = hotdesk.compile(model)(x)
    np.testing.assert_allclose(y, x**8, rtol=1e-5)
    np.testing.assert_allclose(stacked, np.stack([x**2, x**4, x**8]), rtol=1e-5)


def loop_body(goes_on: str, *inside: Any) -> Any:
    """Adds the number of the trip to twice what it was given; goes on as is said: below 50, below trip 3, as before, or not."""
    condition = {
        "below": [helper.make_node("ReduceMax", ["b"], ["top"], keepdims=0), helper.make_node("Less", ["top", "limit"], ["low"]), helper.make_node("And", ["low", "going"], ["on"])],
        "in one": [helper.make_node("ReduceMax", ["b"], ["top"], keepdims=1), helper.make_node("Less", ["top", "limit"], ["on"])],
        "early": [helper.make_node("Less", ["i", "three"], ["on"])],
        "handed": [helper.make_node("Identity", ["going"], ["on"])],
    }[goes_on]  # fmt: skip
    nodes = [helper.make_node("Cast", ["i"], ["j"], to=1), helper.make_node("Add", ["a", "a"], ["t"]), helper.make_node("Add", ["t", "j"], ["b"])]  # fmt: skip
    scalar, values = [1] if goes_on == "in one" else [], [4]
    return helper.make_graph(
        [*nodes, *inside, *condition],
        "body",
        [helper.make_tensor_value_info("i", TensorProto.INT64, []), helper.make_tensor_value_info("going", TensorProto.BOOL, []), helper.make_tensor_value_info("a", TensorProto.FLOAT, values)],
        [helper.make_tensor_value_info("on", TensorProto.BOOL, scalar), helper.make_tensor_value_info("b", TensorProto.FLOAT, values)],
    )  # fmt: skip


def after_trips(goes_on: str, most: int, x: Any, *, going: bool = True) -> Any:
    number = 0
    while going and number < most:
        x = x + x + np.float32(number)
        going = {"below": x.max() < 50, "in one": x.max() < 50, "early": number < 3, "handed": going}[goes_on]
        number += 1
    return x


LOOP_CONSTANTS = {"limit": np.array(50, np.float32), "three": np.array(3)}


@pytest.mark.parametrize("begins", ["", "true", "go"])
@pytest.mark.parametrize("trips", ["", "many", "trips"])
@pytest.mark.parametrize("goes_on", ["below", "in one", "early", "handed"])
def test_loops_end_by_their_condition_or_their_trips(goes_on: str, trips: str, begins: str) -> None:
    if (goes_on, trips) == ("handed", ""):
        return  # has no end
    x = floats(4)
    node = helper.make_node("Loop", [trips, begins, "x"], ["y"], body=loop_body(goes_on))
    calls = [
        {"x": x, **({"trips": np.array(most)} if trips == "trips" else {}), **({"go": np.array(go)} if begins == "go" else {})}
        for most in (0, 1, 3, 40)
        for go in (True, False)
    ]  # fmt: skip
    constants = {**LOOP_CONSTANTS, "many": np.array(300 if goes_on != "handed" else 9), "true": np.array(True)}
    program = hotdesk.compile(model_of([node], calls[0], {"y": x}, constants, 20))
    for given in calls:
        most = int(given.get("trips", constants["many"] if trips else 10**6))
        found = program(**given)
        np.testing.assert_allclose(found, after_trips(goes_on, most, x, going=bool(given.get("go", True))), rtol=1e-5)


@pytest.mark.parametrize("outer", ["below", "handed"])
def test_loops_in_loops_and_branches(outer: str) -> None:
    """A loop within the trips of another one, and both in a branch that a call takes."""
    inner = helper.make_node("Loop", ["", "true", "b"], ["c"], body=_renamed(loop_body("early"), "inner"))
    body = loop_body(outer, inner)
    body.output[1].name = "c"
    loop = helper.make_node("Loop", ["trips", "true", "x"], ["z"], body=body)
    value = helper.make_tensor_value_info
    taken = helper.make_graph([loop], "taken", [], [value("z", TensorProto.FLOAT, [4])])
    other = helper.make_graph(
        [helper.make_node("Neg", ["x"], ["w"])], "other", [], [value("w", TensorProto.FLOAT, [4])]
    )
    node = helper.make_node("If", ["take"], ["y"], then_branch=taken, else_branch=other)
    x = np.abs(floats(4)) / 64
    given = {"x": x, "trips": np.array(2), "take": np.array(True)}
    program = hotdesk.compile(model_of([node], given, {"y": x}, {**LOOP_CONSTANTS, "true": np.array(True)}, 20))
    wanted = x
    for number in range(2):
        step = wanted + wanted + np.float32(number)
        wanted = after_trips("early", 99, step)
        if outer == "below" and step.max() >= 50:
            break
    np.testing.assert_allclose(program(**given), wanted, rtol=1e-5)
    np.testing.assert_array_equal(program(**{**given, "take": np.array(False)}), -x)


def _renamed(graph: Any, prefix: str) -> Any:
    """A graph whose own values have other names, as ONNX asks of graphs in each other."""
    own = {each.name for each in graph.input} | {name for node in graph.node for name in node.output}
    for node in graph.node:
        node.input[:] = [f"{prefix}_{name}" if name in own else name for name in node.input]
        node.output[:] = [f"{prefix}_{name}" for name in node.output]
    for each in (*graph.input, *graph.output):
        each.name = f"{prefix}_{each.name}"
    return graph


def test_a_loop_that_stacks_as_many_results_as_a_condition_says_is_refused() -> None:
    body = loop_body("below", helper.make_node("Exp", ["b"], ["e"]))
    body.output.append(helper.make_tensor_value_info("e", TensorProto.FLOAT, [4]))
    node = helper.make_node("Loop", ["", "", "x"], ["y", "all"], name="repeat", body=body)
    x = floats(4)
    model = model_of([node], {"x": x}, {"y": x, "all": floats(7, 4)}, LOOP_CONSTANTS, 20)
    with pytest.raises(UnsupportedOpError, match=r"node 'repeat': op Loop of opset 20: "):
        hotdesk.compile(model)


def test_a_sequence_as_a_result_is_a_list(tmp_path: Path) -> None:
    nodes = [
        helper.make_node("SplitToSequence", ["x"], ["parts"], axis=1, keepdims=0),
        helper.make_node("SequenceInsert", ["parts", "z", "last"], ["more"]),
        helper.make_node("SequenceAt", ["more", "last"], ["one"]),
    ]
    x, z = floats(2, 3), floats(2, seed=1)
    model = model_of(nodes, {"x": x, "z": z}, {"one": z}, {"last": np.array(-1)}, 20)
    model.graph.output.append(helper.make_tensor_sequence_value_info("more", TensorProto.FLOAT, None))
    program = hotdesk.compile(model)
    program.save(tmp_path / "lists.hotdesk")
    for each in (program, hotdesk.load(tmp_path / "lists.hotdesk")):
        one, more = each(x, z=z)
        assert isinstance(more, list)
        for found, wanted in zip(cast("list[Any]", more), [x[:, 0], x[:, 1], z, x[:, 2]], strict=True):
            np.testing.assert_array_equal(found, wanted)
        np.testing.assert_array_equal(one, x[:, 2])


@pytest.mark.parametrize("direction", ["forward", "reverse"])
def test_sequences_end_at_their_lengths(direction: str) -> None:
    x, weights, recurrence = floats(4, 3, 2), 0.5 * floats(1, 12, 2), 0.5 * floats(1, 12, 3)
    lengths = np.array([2, 4, 1], np.int32)
    node = helper.make_node("LSTM", ["x", "w", "r", "", "n"], ["y", "h"], hidden_size=3, direction=direction)
    arrays = {"x": x, "w": weights, "r": recurrence, "n": lengths}
    y, h = hotdesk.compile(model_of([node], arrays, {"y": floats(4, 1, 3, 3), "h": floats(1, 3, 3)}, {}, 20))(**arrays)
    alone = helper.make_node("LSTM", ["x", "w", "r"], ["y", "h"], hidden_size=3)
    turn = -1 if direction == "reverse" else 1
    for number, length in enumerate(lengths):
        own = x[:length, number : number + 1][::turn]
        every, last = reference(alone, {"x": own, "w": weights, "r": recurrence}, 20)
        np.testing.assert_allclose(y[:length, :, number : number + 1], every[::turn], rtol=1e-4, atol=1e-6)
        np.testing.assert_array_equal(y[length:, :, number], 0)
        np.testing.assert_allclose(h[:, number : number + 1], last, rtol=1e-4, atol=1e-6)


def test_places_of_maxima_between_uneven_pads() -> None:
    """The elements at the places, counted by row or by column, are the maxima, and there are no pads among them."""
    x = floats(2, 3, 5, 7)
    for order in (0, 1):
        node = helper.make_node(
            "MaxPool", ["x"], ["y", "z"], kernel_shape=[2, 3], strides=[2, 1], pads=[1, 1, 0, 1], storage_order=order
        )
        y, places = hotdesk.compile(
            model_of([node], {"x": x}, {"y": floats(2, 3, 3, 7), "z": whole(9, 2, 3, 3, 7)}, {}, 20)
        )(x)
        stored = x.swapaxes(2, 3) if order else x
        np.testing.assert_array_equal(stored.reshape(-1)[places], y)
        padded = np.pad(x, [(0, 0), (0, 0), (1, 0), (1, 1)], constant_values=-np.inf)
        windows = np.lib.stride_tricks.sliding_window_view(padded, (2, 3), (2, 3))[:, :, ::2]
        np.testing.assert_array_equal(y, windows.max((-1, -2)))


def test_a_lowering_that_counts_places_in_another_way_is_refused() -> None:
    node = helper.make_node(
        "MaxPool", ["x"], ["y", "z"], name="pool", kernel_shape=[3], strides=[2], pads=[0, 1], ceil_mode=1
    )
    model = model_of([node], {"x": floats(1, 2, 9)}, {"y": floats(1, 2, 5), "z": whole(9, 1, 2, 5)}, {}, 20)
    with pytest.raises(UnsupportedOpError, match=r"node 'pool': op MaxPool of opset 20: expected even pads"):
        hotdesk.compile(model)


def test_an_input_of_another_type_is_refused_by_the_node_that_reads_it() -> None:
    words = helper.make_tensor_value_info("x", TensorProto.STRING, [2])
    node = helper.make_node("StringConcat", ["x", "x"], ["y"], name="join")
    graph = helper.make_graph([node], "graph", [words], [helper.make_tensor_value_info("y", TensorProto.STRING, [2])])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)], ir_version=10)
    with pytest.raises(UnsupportedOpError, match=r"node 'join': op StringConcat of opset 20: .*STRING for 'x'"):
        hotdesk.compile(model)
    several = helper.make_tensor_sequence_value_info("x", TensorProto.FLOAT, None)
    length = helper.make_node("SequenceLength", ["x"], ["y"], name="count")
    graph = helper.make_graph([length], "graph", [several], [helper.make_tensor_value_info("y", TensorProto.INT64, [])])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)], ir_version=10)
    with pytest.raises(UnsupportedOpError, match=r"'count': op SequenceLength of opset 20: .*sequence for 'x'"):
        hotdesk.compile(model)


def test_a_node_that_is_not_rewritten_says_why() -> None:
    node = helper.make_node("RoiAlign", ["x", "rois", "i"], ["y"], name="regions", sampling_ratio=0)
    arrays = {"x": floats(1, 1, 4, 4), "rois": floats(2, 4), "i": np.array([0, 0])}
    with pytest.raises(UnsupportedOpError, match=r"node 'regions': op RoiAlign of opset 16: expected a sampling_ratio"):
        hotdesk.compile(model_of([node], arrays, {"y": floats(2, 1, 1, 1)}, {}, 16))


@pytest.mark.parametrize("sizes", [(2, 3), (2, 3, 4), (2, 3, 5, 5)])
def test_slopes_of_old_opsets_are_by_channel(sizes: tuple[int, ...]) -> None:
    x, slopes = floats(*sizes), floats(3, seed=1)
    model = model_of([helper.make_node("PRelu", ["x", "slopes"], ["y"])], {"x": x}, {"y": x}, {"slopes": slopes}, 6)
    by_channel: Any = slopes.reshape(3, *(1,) * (len(sizes) - 2))
    np.testing.assert_array_equal(hotdesk.compile(model)(x), np.where(x < 0, by_channel * x, x))


@pytest.mark.parametrize("opset", [9, 18])
@pytest.mark.parametrize(("sizes", "wanted"), [((1, 3, 1), (3, 1)), ((3, 1), (1, 3, 1)), ((3, 1), (2, 3, 4))])
def test_an_expansion_by_an_argument(opset: int, sizes: tuple[int, ...], wanted: tuple[int, ...]) -> None:
    x, shape = floats(*sizes), np.array(wanted, np.int64)
    expected: Any = np.broadcast_to(x, np.broadcast_shapes(sizes, wanted))
    model = model_of(
        [helper.make_node("Expand", ["x", "shape"], ["y"])], {"x": x, "shape": shape}, {"y": expected}, {}, opset
    )
    program = hotdesk.compile(model)
    np.testing.assert_array_equal(program(x, shape), expected)
    with pytest.raises(ExecutionError):
        program(x, np.full_like(shape, 7))


def test_exponential_units_keep_their_digits_near_zero() -> None:
    x = np.concatenate([sign * 10.0 ** np.arange(-12, 2) for sign in (1, -1)] + [[0.0]]).astype(np.float32)
    y: Any = x.astype(np.float64)
    with np.errstate(over="ignore"):
        units: dict[str, tuple[dict[str, Any], Any]] = {
            "Elu": ({"alpha": 2.0}, np.where(y > 0, y, 2 * np.expm1(y))),
            "Selu": ({}, 1.0507010221481323 * np.where(y > 0, y, 1.6732631921768188 * np.expm1(y))),
            "Celu": ({"alpha": 0.5}, np.where(y > 0, y, 0.5 * np.expm1(y / 0.5))),
        }
    nodes = [helper.make_node(kind, ["x"], [kind], **options) for kind, (options, _) in units.items()]
    found: Any = hotdesk.compile(model_of(nodes, {"x": x}, dict.fromkeys(units, x), {}, 20))(x=x)
    for own, (_, wanted) in zip(found, units.values(), strict=True):
        np.testing.assert_allclose(np.asarray(own), wanted, rtol=2e-6)


EQUATIONS = {
    "ij,ij,i->j": ((2, 3), (2, 3), (2,)),
    "ij,jk,kl": ((2, 3), (3, 4), (4, 5)),
    "i,j,k->kji": ((2,), (3,), (4,)),
    "...ij,...jk,k->...i": ((2, 3, 4), (2, 4, 5), (5,)),
    "bi,bj,bij,b->": ((2, 3), (2, 4), (2, 3, 4), (2,)),
}


@pytest.mark.parametrize("equation", EQUATIONS)
def test_products_of_many_tensors(equation: str) -> None:
    given = {f"x{number}": floats(*sizes, seed=number) for number, sizes in enumerate(EQUATIONS[equation])}
    node = helper.make_node("Einsum", list(given), ["y"], equation=equation)
    expected = np.einsum(equation, *given.values()).astype(np.float32)
    got: Any = hotdesk.compile(model_of([node], given, {"y": expected}, {}, 13))(*given.values())
    np.testing.assert_allclose(got, expected, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("opset", [11, 17])
def test_instances_of_open_sizes(opset: int) -> None:
    x, scale, bias = floats(2, 3, 4, 5), floats(3, seed=1), floats(3, seed=2)
    node = helper.make_node("InstanceNormalization", ["x", "scale", "bias"], ["y"])
    model = model_of([node], {"x": x}, {"y": x}, {"scale": scale, "bias": bias}, opset)
    for value in (model.graph.input[0], model.graph.output[0]):
        for dim, name in zip(value.type.tensor_type.shape.dim, ("n", "", "h", "w"), strict=True):
            if name:
                dim.dim_param = name
    program = hotdesk.compile(model)
    for each in (x, floats(1, 3, 7, 2)):
        difference = each - each.mean((2, 3), keepdims=True)
        normal = difference / np.sqrt((difference**2).mean((2, 3), keepdims=True) + 1e-5)
        expected = normal * scale[:, None, None] + bias[:, None, None]
        np.testing.assert_allclose(program(each), expected, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("opset", [11, 12])
def test_an_old_hardmax_is_of_matrices(opset: int) -> None:
    x = floats(2, 3, 4)
    node = helper.make_node("Hardmax", ["x"], ["y"], axis=1)
    got: Any = hotdesk.compile(model_of([node], {"x": x}, {"y": x}, {}, opset))(x)
    rows = x.reshape(2, 12)
    np.testing.assert_array_equal(got.reshape(2, 12), np.eye(12, dtype=np.float32)[rows.argmax(1)])


@pytest.mark.parametrize(("name", "opset"), [("Upsample", 9), ("Resize", 10)])
def test_old_scales_begin_with_the_first_pixel(name: str, opset: int) -> None:
    x, scales = floats(1, 1, 3, 4), np.array([1, 1, 2, 2], np.float32)
    node = helper.make_node(name, ["x", "scales"], ["y"], mode="linear")
    expected: Any = np.zeros((1, 1, 6, 8), np.float32)
    for row, column in np.ndindex(6, 8):
        top, left = row // 2, column // 2
        down, right = min(top + 1, 2), min(left + 1, 3)
        a, b = (row % 2) / 2, (column % 2) / 2
        upper, lower = (x[0, 0, each, left] * (1 - b) + x[0, 0, each, right] * b for each in (top, down))
        expected[0, 0, row, column] = upper * (1 - a) + lower * a
    got: Any = hotdesk.compile(model_of([node], {"x": x}, {"y": expected}, {"scales": scales}, opset))(x)
    np.testing.assert_allclose(got, expected, rtol=1e-5, atol=1e-6)
    nearest = helper.make_node(name, ["x", "scales"], ["y"], mode="nearest")
    scales = np.array([1, 1, 2.5, 1.5], np.float32)
    expected = x[:, :, np.arange(7)[:, None] * 2 // 5, np.arange(6) * 2 // 3]
    got = hotdesk.compile(model_of([nearest], {"x": x}, {"y": expected}, {"scales": scales}, opset))(x)
    np.testing.assert_array_equal(got, expected)


def cubic(distance: float) -> float:
    x, a = abs(distance), -0.75
    if x <= 1:
        return (a + 2) * x**3 - (a + 3) * x**2 + 1
    return a * x**3 - 5 * a * x**2 + 8 * a * x - 4 * a if x < 2 else 0.0


@pytest.mark.parametrize("align", [0, 1])
def test_cubic_samples_at_a_border(align: int) -> None:
    """Each tap is brought inside by itself; the weights are those of where the point is, as in PyTorch and onnxruntime.

    ONNX's reference evaluator brings the point inside first.
    """
    x, grid = floats(1, 2, 5, 6), floats(1, 4, 4, 2, seed=1) * 1.5
    attributes: dict[str, Any] = {"mode": "bicubic", "padding_mode": "border", "align_corners": align}
    node = helper.make_node("GridSample", ["x", "grid"], ["y"], **attributes)
    expected: Any = np.zeros((1, 2, 4, 4), np.float32)
    for i, j in np.ndindex(4, 4):
        u, v = grid[0, i, j]
        column, row = ((u + 1) * 2.5, (v + 1) * 2) if align else (((u + 1) * 6 - 1) / 2, ((v + 1) * 5 - 1) / 2)
        for m in range(int(np.floor(row)) - 1, int(np.floor(row)) + 3):
            for n in range(int(np.floor(column)) - 1, int(np.floor(column)) + 3):
                weight = cubic(row - m) * cubic(column - n)
                expected[0, :, i, j] += weight * x[0, :, min(max(m, 0), 4), min(max(n, 0), 5)]
    got: Any = hotdesk.compile(model_of([node], {"x": x, "grid": grid}, {"y": expected}, {}, 16))(x, grid)
    np.testing.assert_allclose(got, expected, rtol=1e-4, atol=1e-5)


def lstm(functions: Sequence[str]) -> Any:
    weights, recurrence = floats(1, 8, 3, seed=1), floats(1, 8, 2, seed=2)
    node = helper.make_node("LSTM", ["x", "w", "r"], ["y"], hidden_size=2, activations=functions)
    x = floats(4, 1, 3)
    return x, weights[0], recurrence[0], model_of(
        [node], {"x": x}, {"y": floats(4, 1, 1, 2)}, {"w": weights, "r": recurrence}, 14
    )  # fmt: skip


def test_an_lstm_has_the_functions_that_are_named() -> None:
    x, weights, recurrence, model = lstm(["Sigmoid", "Softsign", "Relu"])
    h: Any = np.zeros((1, 2), np.float32)
    c, found = h, list[Any]()
    for step in x:
        i, o, f, g = np.split(step @ weights.T + h @ recurrence.T, 4, axis=1)
        i, o, f = (1 / (1 + np.exp(-each)) for each in (i, o, f))
        c = f * c + i * (g / (1 + np.abs(g)))
        h = o * np.maximum(c, 0)
        found.append(h)
    np.testing.assert_allclose(hotdesk.compile(model)(x), np.stack(found)[:, None], rtol=1e-5, atol=1e-6)


def test_an_lstm_with_a_function_that_is_not_compiled_is_refused() -> None:
    with pytest.raises(UnsupportedOpError, match="HardSigmoid"):
        hotdesk.compile(lstm(["HardSigmoid", "Tanh", "Tanh"])[-1])


def test_a_lowering_that_wants_to_know_sizes_is_refused() -> None:
    """torch-mlir's own ends each call with an error."""
    x, grid = floats(1, 1, 3, 3), floats(1, 2, 2, 2)
    node = helper.make_node("GridSample", ["x", "grid"], ["y"])
    model = model_of([node], {"x": x, "grid": grid}, {"y": floats(1, 1, 2, 2)}, {}, 16)
    model.graph.input[0].type.tensor_type.shape.dim[2].dim_param = "h"
    with pytest.raises(UnsupportedOpError, match="expected sizes that are numbers"):
        hotdesk.compile(model)


def opened(model: Any, **names: str) -> Any:
    """A model whose values have first sizes that are open, by these names; "" is none."""
    for value in (*model.graph.input, *model.graph.output):
        if value.name in names:
            value.type.tensor_type.shape.dim[0].Clear()
            value.type.tensor_type.shape.dim[0].dim_param = names[value.name]
    return model


def test_a_scan_of_an_open_length_is_a_loop() -> None:
    info = [helper.make_tensor_value_info(each, TensorProto.FLOAT, [3]) for each in ("a", "row", "b", "kept")]
    nodes = [helper.make_node("Add", ["a", "row"], ["b"]), helper.make_node("Exp", ["b"], ["kept"])]
    body = helper.make_graph(nodes, "body", info[:2], info[2:])
    back: dict[str, Any] = {"scan_input_directions": [1], "scan_output_directions": [1], "scan_output_axes": [1]}
    made = [
        helper.make_node("Scan", ["start", "x"], ["y", "all"], body=body, num_scan_inputs=1),
        helper.make_node("Scan", ["start", "x"], ["z", "from_end"], body=body, num_scan_inputs=1, **back),
    ]
    start, rows = floats(3, seed=1), floats(4, 3)
    results = {"y": start, "all": rows, "z": start, "from_end": rows.T}
    model = opened(model_of(made, {"start": start, "x": rows}, results, {}, 17), x="n", all="n")
    model.graph.output[3].type.tensor_type.shape.dim[1].dim_param = "n"
    program = hotdesk.compile(model)
    assert str(program.results[1]) == "f32[n, 3]"
    for x in (rows, rows[:0]):
        y, every, z, from_end = program(start, x)
        sums = np.cumsum(np.concatenate([start[None], x]), 0)[1:]
        backwards = np.cumsum(np.concatenate([start[None], x[::-1]]), 0)[1:]
        np.testing.assert_allclose(every, np.exp(sums), rtol=1e-5)
        np.testing.assert_allclose(from_end, np.exp(backwards[::-1]).T, rtol=1e-5)
        np.testing.assert_allclose([y, z], 2 * [start + x.sum(0)], rtol=1e-4, atol=1e-6)


def test_a_loop_stacks_as_many_results_as_a_call_says() -> None:
    """The size of a row that is open is the one that the loop carries."""
    body = loop_body("handed", helper.make_node("Exp", ["b"], ["e"]))
    body.output.append(helper.make_tensor_value_info("e", TensorProto.FLOAT, ["n"]))
    for value in (body.input[2], body.output[1]):
        value.type.tensor_type.shape.dim[0].dim_param = "n"
    node = helper.make_node("Loop", ["trips", "", "x"], ["y", "all"], body=body)
    x = floats(4)
    given = {"trips": np.array(3), "x": x}
    model = opened(model_of([node], given, {"y": x, "all": floats(7, 4)}, LOOP_CONSTANTS, 20), x="n", y="n", all="m")
    model.graph.output[1].type.tensor_type.shape.dim[1].dim_param = "n"
    program = hotdesk.compile(model)
    for trips in (3, 0, -2):
        rows, expected = [np.empty((0, 4), np.float32)], x
        for number in range(trips):
            expected = expected + expected + np.float32(number)
            rows.append(np.exp(expected)[None])
        y, stacked = program(np.array(trips), x)
        np.testing.assert_allclose(y, expected, rtol=1e-5)
        np.testing.assert_allclose(stacked, np.concatenate(rows), rtol=1e-5)


def test_bodies_of_loops_in_loops_are_written_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Both loops stack rows, the outer one the largest element of those of the inner one."""
    written: list[str] = []
    plain = Graph.inline

    def counted(self: Graph, graph: Any, arguments: Any, scope: Any) -> Any:
        written.append(graph.name)
        return plain(self, graph, arguments, scope)

    monkeypatch.setattr(Graph, "inline", counted)
    value = helper.make_tensor_value_info
    body = loop_body("handed", helper.make_node("Exp", ["b"], ["e"]))
    body.output.append(value("e", TensorProto.FLOAT, [4]))
    body.name = "inner"
    inner = helper.make_node("Loop", ["trips", "", "b"], ["c", "rows"], body=_renamed(body, "inner"))
    outer = loop_body("handed", inner, helper.make_node("ReduceMax", ["rows", "first"], ["e"], keepdims=0))
    outer.output[1].name, outer.name = "c", "outer"
    outer.output.append(value("e", TensorProto.FLOAT, [4]))
    node = helper.make_node("Loop", ["trips", "", "x"], ["y", "all"], body=outer)
    x = np.abs(floats(4)) / 64
    constants = {**LOOP_CONSTANTS, "first": np.array([0])}
    given = {"trips": np.array(2), "x": x}
    model = opened(model_of([node], given, {"y": x, "all": floats(7, 4)}, constants, 20), all="m")
    y, stacked = hotdesk.compile(model)(np.array(2), x)
    assert written == ["outer", "inner"]
    expected, rows = x, list[Any]()
    for number in range(2):
        expected = expected + expected + np.float32(number)
        trips = [after_trips("handed", most, expected) for most in (1, 2)]
        expected = trips[-1]
        rows.append(np.exp(trips).max(0))
    np.testing.assert_allclose(y, expected, rtol=1e-5)
    np.testing.assert_allclose(stacked, rows, rtol=1e-5)


def test_a_call_that_stacks_rows_of_several_sizes_ends_with_an_error() -> None:
    """What the loop carries grows, so that a second row does not fit behind the first."""
    number, going, on = (helper.make_tensor_value_info(*each, []) for each in (("i", 7), ("going", 9), ("on", 9)))
    a, b, e = (
        helper.make_tensor_value_info(name, TensorProto.FLOAT, [size]) for name, size in zip("abe", "nmn", strict=True)
    )
    nodes = [
        helper.make_node("Identity", ["going"], ["on"]),
        helper.make_node("Concat", ["a", "a"], ["b"], axis=0),
        helper.make_node("Exp", ["a"], ["e"]),
    ]
    body = helper.make_graph(nodes, "body", [number, going, a], [on, b, e])
    node = helper.make_node("Loop", ["trips", "", "x"], ["y", "all"], body=body)
    x = floats(4)
    given = {"trips": np.array(1), "x": x}
    model = opened(model_of([node], given, {"y": x, "all": floats(7, 4)}, {}, 20), x="n", y="k", all="m")
    model.graph.output[1].type.tensor_type.shape.dim[1].dim_param = "n"
    program = hotdesk.compile(model)
    np.testing.assert_allclose(program(np.array(1), x)[1], np.exp(x)[None], rtol=1e-5)
    with pytest.raises(ExecutionError, match="HD401"):
        program(np.array(2), x)
