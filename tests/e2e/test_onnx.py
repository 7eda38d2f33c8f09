"""ONNX models: compiled from files and protos, called with arrays and tensors, and compared with ONNX's reference evaluator."""

# ONNX is annotated in part only.
# pyright: reportUnknownMemberType=false

from __future__ import annotations

import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, cast

import numpy as np
import onnx
import pytest
import torch
from onnx import TensorProto, helper, numpy_helper
from onnx.reference import ReferenceEvaluator

import hotdesk
from hotdesk.cli.main import main
from hotdesk.errors import (
    ArgumentCountError,
    DtypeError,
    InvalidIRError,
    MissingExtraError,
    OptionError,
    RankError,
    ShapeError,
    UnsupportedOpError,
)
from hotdesk.explain import Reason
from hotdesk.frontends.captured import Weight
from hotdesk.frontends.onnx.capture import capture

Sizes = Sequence["int | str | None"]


def floats(*sizes: int, seed: int = 0) -> Any:
    return np.random.default_rng(seed).standard_normal(sizes, dtype=np.float32)


def model_of(
    nodes: Sequence[Any],
    inputs: dict[str, Sizes],
    outputs: dict[str, Sizes | None],
    weights: dict[str, Any],
    opset: int = 17,
) -> Any:
    """A checked model of floats."""
    graph = helper.make_graph(
        nodes,
        "graph",
        [helper.make_tensor_value_info(name, TensorProto.FLOAT, sizes) for name, sizes in inputs.items()],
        [helper.make_tensor_value_info(name, TensorProto.FLOAT, sizes) for name, sizes in outputs.items()],
        [numpy_helper.from_array(array, name) for name, array in weights.items()],
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=10)


def mlp() -> Any:
    node = helper.make_node
    nodes = [
        node("MatMul", ["x", "w1"], ["a"], name="first"),
        node("Add", ["a", "b1"], ["b"]),
        node("Relu", ["b"], ["c"]),
        node("Gemm", ["c", "w2", "b2"], ["y"], name="second", transB=1),
    ]
    weights = {"w1": floats(16, 64), "b1": floats(64, seed=1), "w2": floats(8, 64, seed=2), "b2": floats(8, seed=3)}
    return model_of(nodes, {"x": ["batch", 16]}, {"y": ["batch", 8]}, weights)


def convolutions() -> Any:
    node = helper.make_node
    nodes = [
        node("Conv", ["x", "k", "kb"], ["a"], kernel_shape=[3, 3], pads=[1, 1, 1, 1]),
        node("BatchNormalization", ["a", "scale", "shift", "mean", "var"], ["b"]),
        node("Relu", ["b"], ["c"]),
        node("MaxPool", ["c"], ["d"], kernel_shape=[2, 2], strides=[2, 2]),
        node("GlobalAveragePool", ["d"], ["e"]),
        node("Flatten", ["e"], ["f"]),
        node("Softmax", ["f"], ["y"], axis=1),
    ]
    many = {
        "scale": floats(40, seed=1),
        "shift": floats(40, seed=2),
        "mean": floats(40, seed=3),
        "kb": floats(40, seed=4),
    }
    weights = {"k": floats(40, 3, 3, 3), **many, "var": np.abs(floats(40, seed=5)) + 0.5}
    return model_of(nodes, {"x": [2, 3, 8, 8]}, {"y": [2, 40]}, weights)


def attention() -> Any:
    node = helper.make_node
    nodes = [
        node("LayerNormalization", ["x", "g", "h"], ["n"], axis=-1),
        *(node("MatMul", ["n", f"w{each}"], [each]) for each in "qkv"),
        node("Transpose", ["k"], ["kt"], perm=[0, 2, 1]),
        node("MatMul", ["q", "kt"], ["s"]),
        node("Div", ["s", "root"], ["t"]),
        node("Softmax", ["t"], ["p"], axis=-1),
        node("MatMul", ["p", "v"], ["o"]),
        node("Add", ["x", "o"], ["y"]),
    ]
    weights = {f"w{each}": floats(48, 48, seed=i) for i, each in enumerate("qkv")}
    weights |= {"g": floats(48, seed=7), "h": floats(48, seed=8), "root": np.array(48**0.5, np.float32)}
    return model_of(nodes, {"x": ["batch", "length", 48]}, {"y": ["batch", "length", 48]}, weights)


def masked_attention() -> Any:
    """As PyTorch's exporter writes it: keys transposed as a batch of matrices, both sides scaled, rows without a key zeros."""
    node = helper.make_node
    nodes = [
        *(node("Reshape", [each, "heads"], [f"{each}4"]) for each in "qkv"),
        *(node("Transpose", [f"{each}4"], [f"{each}h"], perm=[0, 2, 1, 3]) for each in "qkv"),
        node("Reshape", ["kh", "matrices"], ["k3"]),
        node("Transpose", ["k3"], ["k3t"], perm=[0, 2, 1]),
        node("Reshape", ["k3t", "apart"], ["kt"]),
        node("Mul", ["qh", "scale"], ["qs"]),
        node("Mul", ["kt", "scale"], ["ks"]),
        node("MatMul", ["qs", "ks"], ["s"]),
        node("Add", ["s", "mask"], ["t"]),
        node("Softmax", ["t"], ["p"], axis=-1),
        node("IsNaN", ["p"], ["undefined"]),
        node("Where", ["undefined", "zero", "p"], ["w"]),
        node("MatMul", ["w", "vh"], ["o"]),
        node("Transpose", ["o"], ["y"], perm=[0, 2, 1, 3]),
    ]
    shapes = {"heads": [2, 5, 3, 4], "matrices": [6, 5, 4], "apart": [2, 3, 4, 5]}
    weights: dict[str, Any] = {name: np.array(sizes, np.int64) for name, sizes in shapes.items()}
    weights |= {"scale": np.array(0.7, np.float32), "zero": np.array(0, np.float32)}
    inputs: dict[str, Sizes] = {"q": (2, 5, 12), "k": (2, 5, 12), "v": (2, 5, 12), "mask": (5, 5)}
    return model_of(nodes, inputs, {"y": [2, 5, 3, 4]}, weights)


def agree(program: Any, model: Any, **inputs: Any) -> None:
    expected: Any = ReferenceEvaluator(model).run(None, inputs)
    got: Any = program(**inputs)
    for found, wanted in zip(cast(Any, got) if isinstance(got, tuple) else (got,), expected, strict=True):
        np.testing.assert_allclose(found, wanted, rtol=1e-4, atol=1e-5)


def test_mlp_for_all_batches() -> None:
    model = mlp()
    program = hotdesk.compile(model)
    assert str(program) == "<Program graph(x: f32[batch, 16]) -> (f32[batch, 8])>"
    for batch in (1, 5, 8):
        agree(program, model, x=floats(batch, 16, seed=batch))


def test_convolutions() -> None:
    agree(hotdesk.compile(convolutions()), convolutions(), x=floats(2, 3, 8, 8))


def test_attention_of_two_sizes() -> None:
    program = hotdesk.compile(attention())
    for batch, length in ((1, 1), (2, 5), (3, 1)):
        agree(program, attention(), x=floats(batch, length, 48))


def test_attention_whose_undefined_rows_are_zeros_is_one_kernel() -> None:
    program = hotdesk.compile(masked_attention())
    assert Reason.BLOCK_BY_BLOCK in {each.reason for each in program.decisions()}
    q, k, v = (floats(2, 5, 12, seed=seed) for seed in range(3))
    assert not program.memory(q, k, v, floats(5, 5)).arena
    mask = np.where(np.tri(5, dtype=bool), np.float32(0), np.float32(-np.inf))
    mask[2], mask[3, 1] = -np.inf, np.nan
    with np.errstate(invalid="ignore"):
        agree(program, masked_attention(), q=q, k=k, v=v, mask=mask)
    assert not program(q, k, v, mask)[:, 2:4].any()
    report = program.check(q, k, v, mask)
    assert report.clean, str(report)


def test_under_the_memory_checker() -> None:
    for model, x in ((mlp(), floats(2, 16)), (convolutions(), floats(2, 3, 8, 8)), (attention(), floats(2, 3, 48))):
        report = hotdesk.compile(model).check(x)
        assert report.clean, str(report)


def test_results_come_in_order_and_torch_in_is_torch_out() -> None:
    nodes = [helper.make_node("Exp", ["x"], ["y"]), helper.make_node("Neg", ["x"], ["z"])]
    program = hotdesk.compile(model_of(nodes, {"x": [4]}, {"z": [4], "y": [4]}, {}))
    x = torch.arange(4.0)
    negated, raised = program(x)
    assert torch.equal(negated, -x)
    torch.testing.assert_close(raised, torch.exp(x))


def test_weights_are_not_embedded_and_small_ones_are() -> None:
    program = hotdesk.compile(mlp(), options=hotdesk.Options(keep_ir=True))
    assert program.memory(floats(1, 16)).weights == 4 * (16 * 64 + 64 + 8 * 64)  # b2 has eight elements
    assert "dense<" in program.ir("capture")
    assert len(program.ir("capture")) < 20_000


def test_external_data_is_mapped(tmp_path: Path) -> None:
    file = tmp_path / "mlp.onnx"
    onnx.save_model(mlp(), str(file), save_as_external_data=True, location="mlp.data", size_threshold=0)
    program = hotdesk.compile(file)
    agree(program, mlp(), x=floats(3, 16))
    maps = Path("/proc/self/maps")
    if maps.exists():
        assert "mlp.data" in maps.read_text()


def test_raw_data_of_a_file_may_lie_anywhere(tmp_path: Path) -> None:
    file = tmp_path / "a.onnx"
    model = mlp()
    model.producer_name = "x"
    onnx.save_model(model, str(file))
    program = hotdesk.compile(str(file))
    assert str(program).startswith("<Program a(")
    agree(program, model, x=floats(3, 16))


def test_raw_data_begins_at_a_line_of_the_cache() -> None:
    """Python's bytes begin 16 behind one, or 48, and rows of a weight would be in two lines each."""
    captured = capture(mlp())
    weights = [each for each in captured.arguments if isinstance(each, Weight)]
    assert weights
    assert not any(each.tensor.data_ptr() % 64 for each in weights)


def test_the_proto_stays_as_it_is() -> None:
    model = attention()
    before = model.SerializeToString(deterministic=True)
    hotdesk.compile(model)
    assert model.SerializeToString(deterministic=True) == before


def test_sizes_are_fixed_or_bounded() -> None:
    fixed = hotdesk.compile(attention(), dynamic_shapes={"batch": 2})
    assert str(fixed) == "<Program graph(x: f32[2, length, 48]) -> (f32[2, length, 48])>"
    agree(fixed, attention(), x=floats(2, 3, 48))
    with pytest.raises(ShapeError):
        fixed(floats(3, 3, 48))
    bounded = hotdesk.compile(mlp(), dynamic_shapes={"batch": (2, 4)})
    agree(bounded, mlp(), x=floats(4, 16))
    with pytest.raises(ShapeError, match="batch"):
        bounded(floats(5, 16))


@pytest.mark.parametrize(
    "sizes", [{"bach": 3}, {"batch": -1}, {"batch": True}, {"batch": (4, 2)}, {"batch": "8"}, {"batch": (1, 2, 3)}, [8]]
)
def test_sizes_that_make_no_sense(sizes: Any) -> None:
    with pytest.raises(OptionError, match="dynamic_shapes"):
        hotdesk.compile(mlp(), dynamic_shapes=sizes)


def test_sizes_without_a_name_are_named_after_their_input() -> None:
    model = model_of([helper.make_node("Add", ["x", "y"], ["z"])], {"x": [None, 2], "y": ["n", 2]}, {"z": ["m", 2]}, {})
    program = hotdesk.compile(model)
    assert "x: f32[dim 0 of %x, 2], y: f32[n, 2]" in str(program)
    np.testing.assert_array_equal(program(np.ones((3, 2), np.float32), np.ones((3, 2), np.float32)), np.full((3, 2), 2))


def test_names_of_sizes_that_are_no_words() -> None:
    """They are one size wherever they stand, and bounds by their name hold; two names stay two."""
    model = model_of(
        [helper.make_node("Add", ["x", "y"], ["z"])],
        {"x": ["dims.0", "dims_0", "0"], "y": ["dims.0", "dims_0", "0"]},
        {"z": [None, None, None]},
        {},
    )
    program = hotdesk.compile(model, dynamic_shapes={"dims.0": (1, 4)})
    assert "x: f32[dims_0_, dims_0, size_0], y: f32[dims_0_, dims_0, size_0]" in str(program)
    x = floats(4, 3, 2)
    np.testing.assert_array_equal(program(x, x), x + x)
    with pytest.raises(ShapeError, match="dims_0_"):
        program(floats(5, 3, 2), floats(5, 3, 2))
    with pytest.raises(ShapeError, match="'y'"):
        program(x, floats(1, 3, 2))


def test_wrong_calls() -> None:
    program = hotdesk.compile(mlp())
    with pytest.raises(RankError, match="'x'"):
        program(floats(16))
    with pytest.raises(ShapeError, match="'x'"):
        program(floats(2, 15))
    with pytest.raises(DtypeError, match="'x'"):
        program(np.zeros((2, 16)))
    with pytest.raises(ArgumentCountError, match="'z'"):
        program(z=floats(2, 16))
    with pytest.raises(OptionError, match="examples"):
        hotdesk.compile(mlp(), (floats(2, 16),))
    with pytest.raises(OptionError, match="entry"):
        hotdesk.compile(mlp(), entry="main")


def test_an_op_without_a_lowering_is_named() -> None:
    nodes = [helper.make_node("Relu", ["x"], ["r"]), helper.make_node("Unique", ["r"], ["y"], name="distinct")]
    with pytest.raises(UnsupportedOpError, match=r"node 'distinct': op Unique of opset 17: .*HD102"):
        hotdesk.compile(model_of(nodes, {"x": [4]}, {"y": [None]}, {}))


def test_an_op_whose_lowering_is_wrong_is_written_with_others() -> None:
    nodes = [helper.make_node("GridSample", ["x", "g"], ["y"], name="look", mode="nearest")]
    model = model_of(nodes, {"x": [1, 1, 4, 4], "g": [1, 2, 2, 2]}, {"y": [1, 1, 2, 2]}, {})
    agree(hotdesk.compile(model), model, x=floats(1, 1, 4, 4), g=0.4 * floats(1, 2, 2, 2, seed=1))


def lstm(x: Any, w: Any, r: Any, b: Any, p: Any, lengths: Any, clip: float, is_coupled: bool) -> Any:
    """The first result of an LSTM of one direction, as ONNX defines it; gates in the order input, output, forget, cell."""
    size, y = r.shape[2], np.zeros((len(x), 1, x.shape[1], r.shape[2]), np.float32)
    for number, length in enumerate(lengths):
        h, c = np.zeros(size), np.zeros(size)
        for step in range(length):
            gates = w[0] @ x[step, number] + r[0] @ h + b[0, : 4 * size] + b[0, 4 * size :]
            into, out, kept, new = gates.reshape(4, size)
            entry = sigmoid(np.clip(into + p[0, :size] * c, -clip, clip))
            stays = 1 - entry if is_coupled else sigmoid(np.clip(kept + p[0, 2 * size :] * c, -clip, clip))
            c = stays * c + entry * np.tanh(np.clip(new, -clip, clip))
            h = sigmoid(np.clip(out + p[0, size : 2 * size] * c, -clip, clip)) * np.tanh(c)
            y[step, 0, number] = h
    return y


def sigmoid(x: Any) -> Any:
    return 1 / (1 + np.exp(-x))


@pytest.mark.parametrize("extra", ["", "lengths", "peepholes", "clip", "coupled"])
def test_an_lstm_is_as_onnx_defines_it(extra: str) -> None:
    names = ["x", "w", "r", "b", "lengths" if extra == "lengths" else "", "", "", "p" if extra == "peepholes" else ""]
    attributes: dict[str, Any] = {"clip": {"clip": 0.3}, "coupled": {"input_forget": 1}}.get(extra, {})
    node = helper.make_node("LSTM", names, ["y"], name="cell", hidden_size=3, **attributes)
    x, w, r, b, p = floats(4, 2, 2), floats(1, 12, 2), floats(1, 12, 3, seed=1), floats(1, 24, seed=2), floats(1, 9)
    lengths = np.array([1, 3], np.int32)
    constants = {"w": w, "r": r, "b": b}
    constants |= {"lengths": lengths} if extra == "lengths" else {}
    constants |= {"p": p} if extra == "peepholes" else {}
    program: Any = hotdesk.compile(model_of([node], {"x": [4, 2, 2]}, {"y": [4, 1, 2, 3]}, constants))
    wanted = lstm(
        *(x, w, r, b, p if extra == "peepholes" else 0 * p, lengths if extra == "lengths" else (4, 4)),
        clip=0.3 if extra == "clip" else np.inf,
        is_coupled=extra == "coupled",
    )
    assert np.abs(program(x) - wanted).max() < 1e-5


@pytest.mark.parametrize("extra", ["lengths", "clip"])
def test_a_gru_is_refused_for_what_its_lowering_passes_over(extra: str) -> None:
    names = ["x", "w", "r", "", "lengths" if extra == "lengths" else ""]
    attributes: dict[str, Any] = {"clip": 0.01} if extra == "clip" else {}
    node = helper.make_node("GRU", names, ["y"], name="cell", hidden_size=3, **attributes)
    constants = {"w": floats(1, 9, 2), "r": floats(1, 9, 3)}
    constants |= {"lengths": np.array([1, 2], np.int32)} if extra == "lengths" else {}
    with pytest.raises(UnsupportedOpError, match=r"node 'cell': op GRU of opset 17"):
        hotdesk.compile(model_of([node], {"x": [4, 2, 2]}, {"y": [4, 1, 2, 3]}, constants))


def test_a_value_of_unknown_rank_is_no_scalar() -> None:
    nodes = [
        helper.make_node("Reshape", ["x", "s"], ["r"], name="shaped"),
        helper.make_node("ReduceSum", ["r"], ["y"], keepdims=0),
    ]
    graph = helper.make_graph(
        nodes,
        "graph",
        [
            helper.make_tensor_value_info("x", TensorProto.FLOAT, [4]),
            helper.make_tensor_value_info("s", TensorProto.INT64, ["k"]),
        ],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, [])],
    )
    with pytest.raises(UnsupportedOpError, match=r"node 'shaped': op Reshape of opset 17: .*no rank"):
        hotdesk.compile(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=10))


def test_sizes_that_do_not_go_together() -> None:
    nodes = [helper.make_node("MatMul", ["x", "w"], ["y"], name="product")]
    with pytest.raises(InvalidIRError, match=r"types and sizes that go together.*node 'product'.*HD301"):
        hotdesk.compile(model_of(nodes, {"x": [2, 3]}, {"y": [2, 8]}, {"w": floats(5, 8)}))


def test_broken_files(tmp_path: Path) -> None:
    content = mlp().SerializeToString()
    file = tmp_path / "broken.onnx"
    for broken in (content[:-5], b"", b"no model at all", content[: len(content) // 2]):
        file.write_bytes(broken)
        with pytest.raises(InvalidIRError, match=r"broken\.onnx"):
            hotdesk.compile(file)
    with pytest.raises(OptionError, match="a file"):
        hotdesk.compile(tmp_path / "none.onnx")


def test_a_node_that_reads_nothing_that_is_there() -> None:
    with pytest.raises(InvalidIRError, match="checker"):
        hotdesk.compile(model_of([helper.make_node("Relu", ["nothing"], ["y"])], {"x": [4]}, {"y": [4]}, {}))


@pytest.mark.parametrize("change", ["gone", "short", "outside", "offset", "length"])
def test_external_data_that_is_wrong(change: str, tmp_path: Path) -> None:
    folder = tmp_path / "model"
    folder.mkdir()
    file = folder / "mlp.onnx"
    onnx.save_model(mlp(), str(file), save_as_external_data=True, location="mlp.data", size_threshold=0)
    data = folder / "mlp.data"
    model = onnx.load(str(file), load_external_data=False)
    entries: Any = model.graph.initializer[0].external_data
    if change == "gone":
        data.unlink()
    elif change == "short":
        data.write_bytes(data.read_bytes()[:100])
    elif change == "outside":
        data.rename(tmp_path / "mlp.data")
        next(each for each in entries if each.key == "location").value = "../mlp.data"
    else:
        next(each for each in entries if each.key == change).value = "-4"
    file.write_bytes(model.SerializeToString())
    with pytest.raises(InvalidIRError, match=r"external data of initializer 'w1'"):
        hotdesk.compile(file)


def test_raw_data_that_is_too_short() -> None:
    model = mlp()
    model.graph.initializer[0].raw_data = model.graph.initializer[0].raw_data[:-4]
    with pytest.raises(InvalidIRError, match=r"initializer 'w1': expected 4096 bytes, got 4092 bytes"):
        hotdesk.compile(model)


def test_functions_of_the_model() -> None:
    opsets = [helper.make_opsetid("", 17), helper.make_opsetid("own", 1)]
    twice = helper.make_function(
        "own", "Twice", ["a"], ["b"], [helper.make_node("Add", ["a", "a"], ["b"])], [helper.make_opsetid("", 17)]
    )
    graph = helper.make_graph(
        [helper.make_node("Twice", ["x"], ["y"], domain="own")],
        "graph",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, [4])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, [4])],
    )
    model = helper.make_model(graph, opset_imports=opsets, functions=[twice], ir_version=10)
    np.testing.assert_array_equal(hotdesk.compile(model)(np.arange(4, dtype=np.float32)), [0, 2, 4, 6])


def test_an_op_that_others_define() -> None:
    node = helper.make_node("Attention", ["q", "k", "v"], ["y"])
    sizes: dict[str, Sizes] = {each: [1, 2, 4, 8] for each in "qkv"}
    model = model_of([node], sizes, {"y": [1, 2, 4, 8]}, {}, opset=23)
    agree(hotdesk.compile(model), model, **{each: floats(1, 2, 4, 8, seed=i) for i, each in enumerate("qkv")})


def test_indices_outside_of_a_table_are_an_error() -> None:
    graph = helper.make_graph(
        [helper.make_node("Gather", ["table", "i"], ["y"])],
        "graph",
        [helper.make_tensor_value_info("i", TensorProto.INT64, ["n"])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, ["n", 4])],
        [numpy_helper.from_array(floats(10, 4), "table")],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=10)
    program = hotdesk.compile(model)
    agree(program, model, i=np.array([0, 9, -1]))
    with pytest.raises(hotdesk.HotdeskError, match="HD401"):
        program(np.array([10]))


def test_torch_is_not_imported(tmp_path: Path) -> None:
    onnx.save_model(mlp(), str(tmp_path / "mlp.onnx"))
    code = """
import sys, hotdesk, numpy
program = hotdesk.compile("mlp.onnx")
print(program(numpy.ones((2, 16), numpy.float32)).shape, "torch" in sys.modules)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False, cwd=tmp_path)
    assert done.stdout == "(2, 8) False\n", done.stderr


def test_without_onnx(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "onnx", None)
    with pytest.raises(MissingExtraError, match=r"hotdesk\[onnx\]"):
        hotdesk.compile("model.onnx")


def test_command_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "mlp.onnx"
    onnx.save_model(mlp(), str(file))
    assert main(["run", str(file), "--sizes", "batch=3"]) == 0
    assert "result 0: float32[3, 8]" in capsys.readouterr().out
    np.save(tmp_path / "x.npy", floats(2, 16))
    out = tmp_path / "out.npz"
    assert main(["run", str(file), "--inputs", str(tmp_path / "x.npy"), "--save", str(out)]) == 0
    expected: Any = ReferenceEvaluator(mlp()).run(None, {"x": floats(2, 16)})
    np.testing.assert_allclose(np.load(out)["result_0"], expected[0], rtol=1e-4, atol=1e-5)
