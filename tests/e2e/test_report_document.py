"""`Program.document`: the JSON of compiled programs keeps to its schema, and says where each buffer comes from."""

from __future__ import annotations

import itertools
import json
from pathlib import Path

import jsonschema
import numpy as np
import pytest
import torch
from onnx import TensorProto, helper, numpy_helper

import hotdesk
from hotdesk.report import Document

SCHEMA = json.loads((Path(__file__).parents[2] / "docs" / "schema" / "report-1.json").read_text(encoding="utf-8"))
IN_MLIR = """func.func @main(%x: tensor<?x64xf32>) -> tensor<?x64xf32> {
  %0 = linalg.exp ins(%x : tensor<?x64xf32>) outs(%x : tensor<?x64xf32>) -> tensor<?x64xf32>
  %1 = linalg.add ins(%0, %x : tensor<?x64xf32>, tensor<?x64xf32>) outs(%x : tensor<?x64xf32>) -> tensor<?x64xf32>
  return %1 : tensor<?x64xf32>
}
"""


class Block(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.up = torch.nn.Linear(16, 64)
        self.down = torch.nn.Linear(64, 16)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.down(torch.nn.functional.gelu(self.up(x)))


class Net(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.blocks = torch.nn.ModuleList([Block(), Block()])

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        for block in self.blocks:
            x = block(x)
        return x


def _valid(made: Document) -> Document:
    jsonschema.Draft202012Validator.check_schema(SCHEMA)
    jsonschema.validate(json.loads(made.to_json()), SCHEMA)
    assert Document.from_json(made.to_json()) == made
    return made


def test_a_model_in_pytorch() -> None:
    x = torch.randn(8, 16)
    made = _valid(hotdesk.compile(Net().eval(), (x,)).document(x))
    in_arena = [each for each in made.buffers if each.where == "arena"]
    assert sum(each.bytes for each in made.buffers) == made.memory.no_reuse
    assert max(each.offset + each.bytes for each in in_arena) <= made.memory.arena
    assert {each.module for each in in_arena} >= {"blocks.0.up", "blocks.1.up"}
    up = next(each for each in in_arena if each.module == "blocks.1.up")
    assert (up.shape, up.type, up.bytes, up.op) == ((8, 64), "f32", 8 * 64 * 4, "hotdesk.contract")
    assert Path(__file__).name in next(each.line for each in made.buffers if each.line)
    lent = next(each for each in made.buffers if each.where == "lent by result 0")
    assert [(made.buffers[i].where, made.buffers[i].module) for i in lent.after] == [("result 0", "blocks.1.down")]


def test_no_two_buffers_share_a_byte_at_a_point() -> None:
    x = torch.randn(8, 16)
    made = hotdesk.compile(Net().eval(), (x,)).document(x)
    for point in range(len(made.points)):
        placed = sorted((b.offset, b.offset + b.bytes) for b in made.at(point) if b.where == "arena")
        assert all(a[1] <= b[0] for a, b in itertools.pairwise(placed))
        assert made.points[point].bytes == sum(b.bytes for b in made.at(point))


def test_a_program_in_mlir_with_a_dynamic_size() -> None:
    program = hotdesk.compile(IN_MLIR)
    x = torch.randn(3, 64)
    made = _valid(program.document(x))
    assert made.symbols == (("dim 0 of %x", 3),)
    assert [each.shape for each in made.buffers if each.where == "result 0"] == [(3, 64)]


def test_the_same_program_gives_the_same_json(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOTDESK_CACHE", "0")
    torch.manual_seed(0)
    x, model = torch.randn(8, 16), Net().eval()
    assert hotdesk.compile(model, (x,)).document(x).to_json() == hotdesk.compile(model, (x,)).document(x).to_json()


def test_submodules_and_nodes_of_an_onnx_model() -> None:
    """Paths in the names of nodes are submodules, as PyTorch's exporters write them; the line is the node's name."""
    x, y = (helper.make_tensor_value_info(name, TensorProto.FLOAT, [8, 64]) for name in "xy")
    weights = [numpy_helper.from_array(np.eye(64, dtype=np.float32), name) for name in ("v", "w")]
    nodes = [
        helper.make_node("MatMul", ["x", "v"], ["a"], "/encoder/encoder.0/MatMul"),
        helper.make_node("MatMul", ["a", "w"], ["b"], "node_linear"),
        helper.make_node("Softmax", ["b"], ["y"]),
    ]
    scopes = nodes[1].metadata_props.add()
    scopes.key, scopes.value = "pkg.torch.onnx.name_scopes", "['', 'decoder', 'decoder.fc', 'linear']"
    graph = helper.make_graph(nodes, "g", [x], [y], weights)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)], ir_version=10)
    made = _valid(hotdesk.compile(model).document())
    told = {(each.op, each.module, each.line) for each in made.points if each.op.startswith(("linalg.", "hotdesk."))}
    assert ("hotdesk.contract", "encoder.0", "node /encoder/encoder.0/MatMul") in told
    assert ("hotdesk.contract", "decoder.fc", "node node_linear") in told
    assert {(module, line) for op, module, line in told if op == "linalg.generic"} == {("", "node y")}
    assert {each.module for each in made.buffers} >= {"encoder.0"}


def test_submodules_in_the_locations_of_mlir() -> None:
    place = 'loc("jit(f)/encoder/exp"("model.py":3:1))'
    text = f"""func.func @main(%x: tensor<3x64xf32>) -> tensor<3x64xf32> {{
      %0 = linalg.exp ins(%x : tensor<3x64xf32>) outs(%x : tensor<3x64xf32>) -> tensor<3x64xf32> {place}
      return %0 : tensor<3x64xf32>
    }}"""
    made = _valid(hotdesk.compile(text).document())
    assert {(each.op, each.module, each.line) for each in made.points} >= {("linalg.generic", "encoder", "model.py:3")}


def test_the_time_of_points_is_that_of_the_kernels() -> None:
    x = torch.randn(8, 16)
    program = hotdesk.compile(Net().eval(), (x,))
    profile = program.profile(x)
    made = program.document(x).with_profile(profile)
    jsonschema.validate(json.loads(made.to_json()), SCHEMA)
    taken = {point.module: point.seconds for point in made.points if point.seconds}
    assert taken.keys() >= {"blocks.0.up", "blocks.1.down"}
    assert sum(point.seconds or 0.0 for point in made.points) == pytest.approx(profile.seconds)
    assert [p.seconds for p in made.points if p.op.startswith("memref.")] == [None] * sum(
        p.op.startswith("memref.") for p in made.points
    )


def test_the_time_of_points_in_loops() -> None:
    class Steps(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.lstm = torch.nn.LSTM(8, 8)

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return self.lstm(x)[0]

    x = torch.randn(5, 2, 8)
    program = hotdesk.compile(Steps().eval(), (x,))
    profile = program.profile(x)
    made = program.document(x).with_profile(profile)
    assert sum(point.seconds or 0.0 for point in made.points) == pytest.approx(profile.seconds)
    products = [point for point in made.points if point.op == "hotdesk.contract"]
    assert products
    assert all(point.seconds for point in products)
