"""Nothing that a program or a refusal says of sizes has the names that PyTorch, SymPy or the compiler gives them."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, cast

import numpy as np
import onnx
import pytest
import torch
from onnx import TensorProto, helper
from torch import nn
from torch.export import Dim

import hotdesk
from hotdesk import Options
from hotdesk.cli.main import main
from hotdesk.errors import HotdeskError
from hotdesk.ir.context import entered
from hotdesk.passes.textual import parse_pipeline
from tests.e2e.checking import Call, ConvNet, random
from tests.running.filecheck import DIRECTORY, parsed, pieces

BATCH, ROWS, LENGTH = Dim("batch", min=2, max=64), Dim("rows", min=3, max=64), Dim("length", min=2, max=32)
INTERNAL = re.compile(
    r"(?<![\\\w])(?:[su]|zuf|zu)\d+\b|opaque|Piecewise|\b(?:Max|Min|Mod|PythonMod|FloorDiv|ceiling|CeilToInt|TruncToInt|Abs)\("
    r"|\b(?:Eq|Ne|Lt|Le|Gt|Ge|And|Or|Not|ITE)\("
)
"""Symbols of PyTorch's (`s77`, `u0`), placeholders of ours, and functions as SymPy spells them."""

LIT = sorted(path for stage in ("tensor", "bufferize", "buffers") for path in (DIRECTORY / stage).glob("*.mlir"))

Model = tuple[Callable[..., Any] | nn.Module, tuple[torch.Tensor, ...], Any]

MODELS: dict[str, Model] = {
    "rows": (lambda x: torch.tanh(x).sum(0), (random(4, 8),), ({0: BATCH},)),
    "two": (lambda x, y: torch.cat([x, y]) @ y.T, (random(4, 8), random(5, 8)), ({0: BATCH}, {0: LENGTH})),
    "product": (lambda x: (x @ x.T).softmax(-1) @ x, (random(4, 8),), ({0: BATCH},)),
    "flattened": (lambda x: x.reshape(-1, 8) + x.flatten(0, 1), (random(4, 6, 8),), ({0: BATCH, 1: LENGTH},)),
    "sliced": (lambda x: x[1:].exp() * x[:-1], (random(4, 8),), ({0: ROWS},)),
    "strided": (lambda x: x[::2].exp(), (random(4, 8),), ({0: ROWS},)),
    "pooled": (ConvNet(), (random(2, 3, 16, 16),), ({0: BATCH},)),
    "unnamed": (lambda x: x.cumsum(0) + x.mean(), (random(4, 8),), ({0: Dim.DYNAMIC},)),
    "counted": (
        lambda x, y: (x[x > 0] * 2, y.nonzero(), torch.unique(y), torch.cat([x[x > 1], x[x > 2]])),
        (random(4, 8), random(5, 8)),
        ({0: BATCH}, {0: LENGTH}),
    ),
    "images": (
        lambda x: nn.functional.max_pool2d(x, 2).flatten(1).sum(1),
        (random(2, 3, 8, 8),),
        ({0: BATCH, 2: 2 * cast(Any, Dim("half", min=2, max=16))},),
    ),
}


def _compiled(name: str, **options: Any) -> tuple[hotdesk.Program, tuple[torch.Tensor, ...]]:
    function, args, shapes = MODELS[name]
    model = function if isinstance(function, nn.Module) else Call(function)
    shapes = (shapes,) if isinstance(model, Call) else shapes
    return hotdesk.compile(model.eval(), args, dynamic_shapes=shapes, options=Options(keep_ir=True), **options), args


def _said(program: hotdesk.Program, args: tuple[torch.Tensor, ...]) -> Iterator[str]:
    """What a program says of itself and of arguments that do not fit."""
    decisions = program.decisions(*args)
    yield str(program)
    yield from map(repr, (*program.inputs, *program.results, *decisions))
    yield from map(str, (*program.inputs, *program.results, *decisions))
    for decision in decisions:
        yield f"{decision.size} {decision.hint}"
    yield from (program.report(*args), str(program.summary(*args)))
    yield str(program.memory(*args))
    yield program.document(*args).to_json()
    for stage in program.stages:
        yield from re.findall(r"hotdesk\.[\w.]+ = (?:\[[^\]]*\]|\{[^}]*\})", program.ir(stage))
    wrong = [
        tuple(torch.randn(*[size + 100 for size in arg.shape]) for arg in args),
        tuple(arg[:1] for arg in args),
        tuple(arg.double() for arg in args),
        tuple(arg.unsqueeze(0) for arg in args),
        (*args, args[0]),
    ]
    for given in wrong:
        with pytest.raises(HotdeskError) as caught:
            program(*given)
        yield str(caught.value)
    with pytest.raises(HotdeskError) as caught:
        program.memory({"nonsense": (1, 2)})
    yield str(caught.value)


def _checked(text: str) -> None:
    found = INTERNAL.search(text)
    assert found is None, f"`{found[0]}` in: {text[max(0, found.start() - 200) : found.end() + 100]}"


@pytest.mark.parametrize("name", MODELS)
def test_programs(name: str) -> None:
    for text in _said(*_compiled(name)):
        _checked(text)


def _onnx(path: Path, sizes: tuple[str, str]) -> Path:
    """Half of two images that are joined, flattened: sizes with a quotient, a remainder and a product."""
    numbers = {"one": [1], "far": [10**9], "first": [0], "two": [2], "flat": [-1]}
    nodes = [
        helper.make_node("Concat", ["x", "x"], ["joined"], axis=0),
        helper.make_node("Slice", ["joined", "one", "far", "first", "two"], ["half"]),
        helper.make_node("Exp", ["half"], ["raised"]),
        helper.make_node("Reshape", ["raised", "flat"], ["result"]),
    ]
    graph = helper.make_graph(
        nodes,
        "halves",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, list(sizes))],
        [helper.make_tensor_value_info("result", TensorProto.FLOAT, ["elements"])],
        [helper.make_tensor(name, TensorProto.INT64, [1], value) for name, value in numbers.items()],
    )
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=9), path)
    return path


@pytest.mark.parametrize("sizes", [("N", "width"), ("opaque1", "mod"), ("if", "a-b"), ("N", "N"), ("Max", "E")])
def test_onnx(tmp_path: Path, sizes: tuple[str, str]) -> None:
    """A size is called as the model calls it, or by a word made of that if it is none, or means something else to Hotdesk."""
    program = hotdesk.compile(_onnx(tmp_path / "halves.onnx", sizes), options=Options(keep_ir=True))
    x = np.random.default_rng(0).random((5, 5), dtype=np.float32)
    np.testing.assert_allclose(program(x), np.exp(np.concatenate([x, x])[1::2]).reshape(-1), rtol=1e-6)
    with pytest.raises(HotdeskError) as caught:
        program(x.astype(np.float64))
    said = [str(program), str(program.memory(x)), program.report(x), program.document(x).to_json(), str(caught.value)]
    shapes = [found for stage in program.stages for found in re.findall(r"hotdesk\.shape = [^\]]*", program.ir(stage))]
    assert shapes
    words = {"opaque1": "size_opaque1", "mod": "size_mod", "if": "size_if", "a-b": "a_b"}
    for text in (*said, *shapes):
        _checked(text.replace(words["opaque1"], ""))
    first, second = (words.get(name, name) for name in sizes)
    assert str(program.inputs[0]) == f"f32[{first}, {second}]"


@pytest.mark.parametrize(
    "verb", [["report"], ["report", "--json"], ["explain"], ["profile"], ["plan"], ["run"], ["run", "--budget", "1"]]
)
def test_verbs_on_onnx(tmp_path: Path, verb: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    path = str(_onnx(tmp_path / "halves.onnx", ("batch", "width")))
    with contextlib.suppress(SystemExit):
        main([verb[0], path, "--sizes", "batch=3,width=4", "--dim", "batch=1:64,width=1:8", *verb[1:]])
    said = capsys.readouterr()
    assert said.out or "the least that is known to work" in said.err
    _checked(said.out.replace("\\u", " ") + said.err)


MLIR = """
func.func @main(%x: tensor<?x4xf32>, %y: tensor<?xf32> {hotdesk.shape = ["(dim 0 of %x)//2"]}, %n: index)
    -> (tensor<?xf32>, tensor<?x4xf32>) {
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : index
  %d = tensor.dim %x, %c0 : tensor<?x4xf32>
  %least = arith.maxsi %n, %c0 : index
  %half = arith.ceildivsi %d, %c2 : index
  %one = arith.constant 1.0 : f32
  %e = tensor.empty(%least) : tensor<?xf32>
  %a = linalg.fill ins(%one : f32) outs(%e : tensor<?xf32>) -> tensor<?xf32>
  %f = tensor.empty(%half) : tensor<?x4xf32>
  %b = linalg.fill ins(%one : f32) outs(%f : tensor<?x4xf32>) -> tensor<?x4xf32>
  return %a, %b : tensor<?xf32>, tensor<?x4xf32>
}"""


def test_mlir() -> None:
    program = hotdesk.compile(MLIR, options=Options(keep_ir=True))
    args = np.ones((5, 4), np.float32), np.ones(2, np.float32), 3
    a, b = program(*args)
    assert (a.shape, b.shape) == ((3,), (3, 4))
    with pytest.raises(HotdeskError, match=r"\(dim 0 of %x\)//2 = 2") as caught:
        program(args[0], np.ones(3, np.float32), 3)
    assert str(program.results[1]) == "f32[ceil((dim 0 of %x)/2), 4]"
    said = [str(program), str(program.memory(*args)), program.report(*args), program.document(*args).to_json()]
    for text in (*said, str(caught.value), *map(program.ir, program.stages[:-1])):
        _checked(text)


@pytest.mark.parametrize("path", LIT, ids=lambda path: path.stem)
def test_text_of_passes(path: Path) -> None:
    """What passes on IR in text print, decide and hint. Symbols that a file names itself are its own."""
    for piece in pieces(path):
        own = set(re.findall(r"\b[su]\d+\b", piece.text))
        named = re.compile(rf"\b(?:{'|'.join(own) or '-'})\b")
        for pipeline in piece.pipelines:
            module = parsed(piece.text)
            with contextlib.suppress(HotdeskError):
                for decision in parse_pipeline(pipeline).run(module):
                    _checked(named.sub("", f"{decision.size} {decision}"))
            with entered(module.operation):
                _checked(named.sub("", str(module)))


REFUSED: dict[str, Model] = {
    "an op without a lowering": (lambda x: torch.linalg.svd(x).S, (random(4, 8),), ({0: BATCH},)),
    "a place of data": (lambda x: x.narrow(0, x.sum().to(torch.int64), 2), (random(4, 8),), ({0: BATCH},)),
    "a choice by data": (lambda x: x.exp() if x.sum() > 0 else x, (random(4, 8),), ({0: BATCH},)),
    "a size that is fixed": (lambda x: x + torch.ones(4, 8), (random(4, 8),), ({0: BATCH},)),
    "two sizes that are one": (lambda x, y: x + y, (random(4, 8), random(4, 8)), ({0: BATCH}, {0: LENGTH})),
    "a size that divides": (lambda x: x.reshape(2, -1), (random(4, 7),), ({0: BATCH},)),
    "a branch": (lambda x: x.exp() if x.shape[0] > 3 else x, (random(4, 8),), ({0: BATCH},)),
    "too small a budget": (lambda x: (x @ x.T).exp() @ x, (random(4, 8),), ({0: BATCH},)),
    "windows": (lambda x: nn.functional.adaptive_max_pool1d(x, 3), (random(2, 3, 8),), ({2: LENGTH},)),
}


@pytest.mark.parametrize("name", REFUSED)
def test_refusals(name: str) -> None:
    function, args, shapes = REFUSED[name]
    options: dict[str, Any] = {"budget": 16} if "budget" in name else {"options": Options(foreign=False)}
    with pytest.raises(HotdeskError) as caught:
        hotdesk.compile(Call(cast(Any, function)), args, dynamic_shapes=(shapes,), **options)
    text = str(caught.value)
    _checked(text)


def test_sizes_that_cannot_be_computed() -> None:
    enlarged = Call(lambda x: nn.functional.interpolate(x, scale_factor=1.7, mode="linear"))
    with pytest.raises(HotdeskError, match="length") as caught:
        hotdesk.compile(enlarged, (random(2, 3, 8),), dynamic_shapes=(({2: LENGTH},),))
    _checked(str(caught.value))
    assert "in op `trunc`, a size has" in str(caught.value)
    assert "checking.py:" in (caught.value.where or "")


def test_sizes_that_an_op_takes_to_be_equal() -> None:
    alike, shapes = Call(lambda x, y: x.reshape_as(y)), tuple({0: Dim.AUTO, 1: Dim.AUTO} for _ in range(2))
    x, y = random(4, 6), random(8, 3)
    program = hotdesk.compile(alike, (x, y), dynamic_shapes=(shapes,))
    assert program(x, y).equal(x.reshape(8, 3))
    with pytest.raises(HotdeskError) as caught:
        program(x, random(8, 4))
    _checked(str(caught.value))
