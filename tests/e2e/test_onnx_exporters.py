"""What exporters write of sizes that they do not know: numbers below 0, a `squeeze` as an `If`, pads that follow from sizes."""

# ONNX is annotated in part only.
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportUnknownArgumentType=false

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
import torch
from onnx import TensorProto, helper, numpy_helper
from onnx.reference import ReferenceEvaluator

import hotdesk
from hotdesk.errors import ExecutionError, UnsupportedOpError

node: Any = helper.make_node


def floats(*sizes: int, seed: int = 0) -> Any:
    return np.random.default_rng(seed).standard_normal(sizes, dtype=np.float32)


def model_of(
    nodes: Sequence[Any],
    inputs: dict[str, Sequence[int | str | None]],
    results: dict[str, Any],
    held: dict[str, Any] | None = None,
    opset: int = 16,
) -> Any:
    def typed(name: str, sizes: Any) -> Any:
        return helper.make_tensor_value_info(name, TensorProto.FLOAT, sizes)

    graph = helper.make_graph(
        nodes,
        "graph",
        [typed(name, sizes) for name, sizes in inputs.items()],
        [typed(name, sizes) for name, sizes in results.items()],
        [numpy_helper.from_array(np.asarray(array), name) for name, array in (held or {}).items()],
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=8)


@pytest.mark.parametrize("unsaid", ["?", "None", "-1", None])
def test_sizes_that_say_nothing_are_open_each_for_itself(unsaid: str | None) -> None:
    model = model_of([node("Relu", ["x"], ["y"])], {"x": [-1, 3, unsaid, unsaid]}, {"y": [-1, 3, None, None]}, opset=11)
    program = hotdesk.compile(model)
    assert "x: f32[dim 0 of %x, 3, dim 2 of %x, dim 3 of %x]" in str(program)
    x = floats(2, 3, 4, 5)
    np.testing.assert_array_equal(program(x), np.maximum(x, 0))


def squeezed(first: str, condition: Sequence[Any], branches: tuple[Any, Any], rest: Sequence[Any]) -> Any:
    """A model with an `If` whose branches have results of two ranks, as PyTorch writes `squeeze(1)`; `first` is its size."""
    then, other = (
        helper.make_graph([each], "branch", [], [helper.make_empty_tensor_value_info(each.output[0])])
        for each in branches
    )
    nodes = [*condition, node("If", ["is_one"], ["s"], name="squeeze", then_branch=then, else_branch=other), *rest]
    held = {"axis": [1], "one": [1], "w": floats(4, 5)}
    return model_of(nodes, {"x": ["batch", first, 4]}, {"y": ["batch", 5]}, held)


CONDITION = [
    node("Shape", ["x"], ["sizes"]),
    node("Gather", ["sizes", "axis"], ["size"]),
    node("Equal", ["size", "one"], ["is_one"]),
]
BRANCHES = node("Squeeze", ["x", "axis"], ["less"]), node("Identity", ["x"], ["same"])
LAYER = [node("Gemm", ["s", "w"], ["y"])]
"""What takes a matrix, and nothing else."""


@pytest.mark.parametrize("turned", [False, True])
def test_the_branch_is_taken_that_the_rest_goes_together_with(turned: bool) -> None:
    condition = [*CONDITION[:2], node("Equal", ["size", "one"], ["is"]), node("Not", ["is"], ["is_one"])]
    model = squeezed("m", condition if turned else CONDITION, BRANCHES[::-1] if turned else BRANCHES, LAYER)
    program = hotdesk.compile(model)
    for batch in (1, 3):
        x = floats(batch, 1, 4)
        np.testing.assert_allclose(program(x), x[:, 0] @ floats(4, 5), rtol=1e-5, atol=1e-5)
    with pytest.raises(ExecutionError):
        program(floats(3, 2, 4))


def test_the_other_branch_may_be_what_the_rest_goes_together_with() -> None:
    """Rows that are not squeezed: of one, a call ends with an error, as it does in other runtimes."""
    model = squeezed(
        "m",
        CONDITION,
        BRANCHES,
        [node("Conv", ["s", "k"], ["c"]), node("ReduceMax", ["c"], ["y"], axes=[2], keepdims=0)],
    )
    model.graph.initializer.append(numpy_helper.from_array(floats(5, 3, 1), "k"))
    del model.graph.input[0].type.tensor_type.shape.dim[:]
    model.graph.input[0].type.tensor_type.shape.dim.extend(
        helper.make_tensor_value_info("x", TensorProto.FLOAT, ["batch", "m", "n"]).type.tensor_type.shape.dim
    )
    program = hotdesk.compile(model)
    x = floats(2, 3, 4)
    np.testing.assert_allclose(
        program(x), np.einsum("oi,bin->bon", floats(5, 3, 1)[..., 0], x).max(2), rtol=1e-5, atol=1e-5
    )


def test_sizes_that_are_known_decide_though_others_are_open() -> None:
    """The last size of a value of an open batch is no open one."""
    condition = [node("Shape", ["x"], ["sizes"]), node("Slice", ["sizes", "one", "two"], ["size"]), CONDITION[2]]
    model = squeezed("m", condition, BRANCHES, LAYER)
    model.graph.initializer.append(numpy_helper.from_array(np.array([2]), "two"))
    model.graph.input[0].type.tensor_type.shape.dim[1].dim_value = 1
    program = hotdesk.compile(model)
    assert program.memory(floats(3, 1, 4)).no_reuse == program.memory(floats(3, 1, 4)).outputs  # nothing is selected
    x = floats(3, 1, 4)
    np.testing.assert_allclose(program(x), x[:, 0] @ floats(4, 5), rtol=1e-5, atol=1e-5)


def test_neither_branch_goes_together_with_the_rest() -> None:
    model = squeezed("m", CONDITION, BRANCHES, [node("Gemm", ["s", "v"], ["y"])])
    model.graph.initializer.append(numpy_helper.from_array(floats(7, 5), "v"))
    with pytest.raises(hotdesk.HotdeskError, match="squeeze|y|node"):
        hotdesk.compile(model)


def test_an_open_size_is_squeezed_if_it_is_one() -> None:
    model = model_of([node("Squeeze", ["x", "axis"], ["y"])], {"x": ["n", 4, "m"]}, {"y": ["n", 4]}, {"axis": [-1]})
    program = hotdesk.compile(model)
    x = floats(3, 4, 1)
    np.testing.assert_array_equal(program(x), x[..., 0])
    with pytest.raises(ExecutionError):
        program(floats(3, 4, 2))


IMAGES = [(1, 2, 7, 8), (2, 2, 9, 12), (1, 2, 6, 11)]


def pooled(kind: str, x: Any, pads: Sequence[Sequence[int]], width: int, step: int, counts_pads: bool) -> Any:
    """PyTorch's pools around which is padded by hand, in front and behind along both sides."""
    around = (*pads[1], *pads[0])
    given: Any = torch.from_numpy(x)
    pad, mean = torch.nn.functional.pad, torch.nn.functional.avg_pool2d
    if kind == "MaxPool":
        return torch.nn.functional.max_pool2d(pad(given, around, value=-np.inf), width, step).numpy()
    whole = mean(pad(given, around), width, step)
    return (whole if counts_pads else whole / mean(pad(torch.ones_like(given), around), width, step)).numpy()


def same(size: int, width: int, step: int, lower: bool) -> tuple[int, int]:
    total = max(0, (-(-size // step) - 1) * step + width - size)
    return (total - total // 2, total // 2) if lower else (total // 2, total - total // 2)


@pytest.mark.parametrize("opset", [11, 18])
@pytest.mark.parametrize("kind", ["MaxPool", "AveragePool", "counted"])
@pytest.mark.parametrize(("mode", "width", "step"), [("SAME_UPPER", 2, 1), ("SAME_UPPER", 3, 2), ("SAME_LOWER", 2, 2)])
def test_pools_of_open_sizes_have_the_pads_of_their_mode(
    kind: str, mode: str, width: int, step: int, opset: int
) -> None:
    counts = {"count_include_pad": 1} if kind == "counted" else {}
    op = "AveragePool" if counts else kind
    pool = node(op, ["x"], ["y"], kernel_shape=[width] * 2, strides=[step] * 2, auto_pad=mode, **counts)
    program = hotdesk.compile(model_of([pool], {"x": ["n", 2, "h", "w"]}, {"y": ["n", 2, None, None]}, opset=opset))
    for sizes in IMAGES:
        x = floats(*sizes)
        pads = [same(size, width, step, mode == "SAME_LOWER") for size in sizes[2:]]
        expected = pooled(op, x, pads, width, step, bool(counts))
        np.testing.assert_allclose(program(x), expected, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("opset", [11, 18])
@pytest.mark.parametrize("step", [1, 2])
def test_greatest_elements_of_open_sizes_have_uneven_pads(step: int, opset: int) -> None:
    pool = node("MaxPool", ["x"], ["y"], kernel_shape=[2, 2], strides=[step] * 2, pads=[0, 1, 1, 0])
    program = hotdesk.compile(model_of([pool], {"x": ["n", 2, "h", "w"]}, {"y": ["n", 2, None, None]}, opset=opset))
    for sizes in IMAGES:
        x = floats(*sizes)
        np.testing.assert_array_equal(program(x), pooled("MaxPool", x, [(0, 1), (1, 0)], 2, step, False))


def test_uneven_pads_of_open_sizes_with_ceil_mode_are_refused() -> None:
    pool = node("MaxPool", ["x"], ["y"], kernel_shape=[2, 2], strides=[2, 2], pads=[0, 1, 1, 0], ceil_mode=1)
    with pytest.raises(UnsupportedOpError, match="ceil_mode"):
        hotdesk.compile(model_of([pool], {"x": ["n", 2, "h", "w"]}, {"y": ["n", 2, None, None]}, opset=18))


@pytest.mark.parametrize("rank", [2, 3])
def test_squeeze_without_axes_takes_all_open_sizes_or_none(rank: int) -> None:
    """The rank that the model declares says which."""
    declared = ["n", 4] if rank == 2 else ["m", "n", 4]
    layer = [node("Squeeze", ["x"], ["s"]), node("Relu", ["s"], ["y"])]
    given = ["m", 1, "n", 4] if rank == 3 else [1, "n", 4]
    program = hotdesk.compile(model_of(layer, {"x": given}, {"y": declared}))
    x = floats(*((2, 1, 3, 4) if rank == 3 else (1, 3, 4)))
    np.testing.assert_array_equal(program(x), np.maximum(np.squeeze(x), 0))
    with pytest.raises(ExecutionError):
        program(floats(*((2, 1, 1, 4) if rank == 3 else (1, 1, 4))))


def test_squeeze_without_axes_of_open_sizes_that_are_one() -> None:
    layer = [node("Squeeze", ["x"], ["s"]), node("Concat", ["s", "s"], ["y"], axis=0)]
    program = hotdesk.compile(model_of(layer, {"x": ["batch", 1, 4]}, {"y": [8]}))
    x = floats(1, 1, 4)
    np.testing.assert_array_equal(program(x), np.concatenate([x.ravel(), x.ravel()]))
    with pytest.raises(ExecutionError):
        program(floats(2, 1, 4))


@pytest.mark.parametrize("functions", [["Sigmoid", "Tanh", "Tanh"], ["Sigmoid", "Relu", "Tanh"]])
def test_lstms_of_an_open_batch_run_both_ways(functions: list[str]) -> None:
    held = {"w": 0.5 * floats(2, 20, 4), "r": 0.5 * floats(2, 20, 5, seed=1), "b": floats(2, 40, seed=2)}
    layer = node(
        "LSTM", ["x", "w", "r", "b"], ["y"], hidden_size=5, direction="bidirectional", activations=functions * 2
    )
    program = hotdesk.compile(model_of([layer], {"x": [6, "batch", 4]}, {"y": [6, 2, "batch", 5]}, held))
    x = floats(6, 3, 4)
    given: Any = torch.from_numpy(x)
    for way, order in enumerate((slice(None), slice(None, None, -1))):
        h, c = torch.zeros(3, 5), torch.zeros(3, 5)
        weights, recurrence, bias = (torch.from_numpy(held[name][way]) for name in "wrb")
        steps: list[Any] = []
        for each in list(given)[order]:
            gates = each @ weights.T + h @ recurrence.T + bias[:20] + bias[20:]
            entry, out, kept, cell = gates.split(5, 1)
            put = cell.relu() if functions[1] == "Relu" else cell.tanh()
            c = kept.sigmoid() * c + entry.sigmoid() * put
            h = out.sigmoid() * c.tanh()
            steps.append(h)
        expected = torch.stack(steps[order]).numpy()
        np.testing.assert_allclose(program(x)[:, way], expected, rtol=1e-5, atol=1e-5)


def test_a_batch_is_as_large_as_that_of_a_state() -> None:
    """PyTorch's exporter leaves the batch of the elements open, though a state says it."""
    held = {"w": 0.5 * floats(1, 15, 4), "r": 0.5 * floats(1, 15, 5, seed=1)}
    layer = node("GRU", ["x", "w", "r", "", "", "h"], ["y"], hidden_size=5, linear_before_reset=1)
    model = model_of([layer], {"x": [1, "batch", 4], "h": [1, 2, 5]}, {"y": [1, 1, "batch", 5]}, held)
    program = hotdesk.compile(model)
    x, h = floats(1, 2, 4), floats(1, 2, 5, seed=2)
    entering, kept = x[0] @ held["w"][0].T, h[0] @ held["r"][0].T
    z, r = (1 / (1 + np.exp(-(entering + kept)[:, part])) for part in (slice(5), slice(5, 10)))
    expected = (1 - z) * np.tanh(entering[:, 10:] + r * kept[:, 10:]) + z * h[0]
    np.testing.assert_allclose(program(x, h)[0, 0], expected, rtol=1e-5, atol=1e-6)
    with pytest.raises(ExecutionError):
        program(floats(1, 3, 4), h)


def test_an_lstm_of_quantised_weights_is_that_of_what_they_mean() -> None:
    """By direction and by column; weights lie transposed."""
    random = np.random.default_rng(0)
    held = {
        "w": random.integers(0, 255, (1, 4, 20)).astype(np.uint8),
        "r": random.integers(-127, 127, (1, 5, 20)).astype(np.int8),
        "ws": np.array([0.01], np.float32),
        "wz": np.array([128], np.uint8),
        "rs": random.uniform(0.001, 0.01, (1, 20)).astype(np.float32),
        "rz": np.zeros((1, 20), np.int8),
    }
    inputs = ["x", "w", "r", "", "", "", "", "", "ws", "wz", "rs", "rz"]
    layer = node("DynamicQuantizeLSTM", inputs, ["y"], domain="com.microsoft", hidden_size=5)
    model = model_of([layer], {"x": [3, 2, 4]}, {"y": [3, 1, 2, 5]}, held)
    model.opset_import.append(helper.make_opsetid("com.microsoft", 1))
    weights = (held["w"].astype(np.float32) - 128) * held["ws"]
    recurrence = held["r"].astype(np.float32) * held["rs"][:, None]
    meant = {"w": weights.transpose(0, 2, 1).copy(), "r": recurrence.transpose(0, 2, 1).copy()}
    plain = model_of(
        [node("LSTM", ["x", "w", "r"], ["y"], hidden_size=5)], {"x": [3, 2, 4]}, {"y": [3, 1, 2, 5]}, meant
    )
    x = floats(3, 2, 4)
    expected: Any = ReferenceEvaluator(plain).run(None, {"x": x})
    np.testing.assert_allclose(hotdesk.compile(model)(x), expected[0], rtol=1e-5, atol=1e-6)
