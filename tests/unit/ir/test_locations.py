"""From MLIR locations to the line of the user's model."""

from __future__ import annotations

import pytest

from hotdesk.ir.context import make_context
from hotdesk.ir.locations import module_path, of_node, python_line, scope
from tests.unit.parsing import function, parse

SITE = "/venv/lib/python3.11/site-packages/torch"


@pytest.mark.parametrize(
    ("location", "line"),
    [
        ("loc(unknown)", ""),
        ("", ""),
        ('loc("model.py":12:3)', "model.py:12"),
        ('loc(callsite("block.py":4:1 at "model.py":12:3))', "block.py:4"),
        (f'loc(callsite("{SITE}/nn/modules/linear.py":134:0 at "model.py":12:3))', "model.py:12"),
        (f'loc(callsite("{SITE}/nn/a.py":1:0 at callsite("{SITE}/b.py":2:0 at "model.py":12:3)))', "model.py:12"),
        (f'loc("{SITE}/nn/modules/linear.py":134:0)', f"{SITE}/nn/modules/linear.py:134"),
        ('loc("C:\\lib\\torch\\nn\\a.py":1:0)', "C:\\lib\\torch\\nn\\a.py:1"),
        ('loc(callsite("C:\\lib\\torch\\nn\\a.py":1:0 at "C:\\me\\model.py":2:0))', "C:\\me\\model.py:2"),
        ('loc("my_torch/model.py":7:0)', "my_torch/model.py:7"),
        ('loc("aten.relu"("model.py":12:3))', "model.py:12"),
        ('loc(fused["a.py":1:2, "b.py":3:4])', "a.py:1"),
        ('loc("-":3:8)', "-:3:8"),
        ('loc("dir/in.mlir":3:8)', "dir/in.mlir:3:8"),
    ],
)
def test_the_innermost_frame_that_is_not_pytorchs(location: str, line: str) -> None:
    assert python_line(location) == line


def test_locations_of_operations() -> None:
    module = parse('func.func @f() {\n return loc(callsite("a.py":1:2 at "b.py":3:4))\n}')
    assert python_line(function(module).regions[0].blocks[0].operations[0].operation.location) == "a.py:1"


@pytest.mark.parametrize(
    ("location", "module"),
    [
        ("loc(unknown)", ""),
        ('loc("model.py":12:3)', ""),
        ('loc(callsite("<module encoder.0>":1:0 at "model.py":12:3))', "encoder.0"),
        ('loc("jit(f)/encoder/dot_general"("model.py":12:4))', "encoder"),
        ('loc("jit(f)/jit(g)/tanh"("model.py":12:4 to :9))', ""),
        ('loc("encoder.layer.3.attention")', "encoder.layer.3.attention"),
        ('loc(fused["a/b/add", "c/d/mul"])', "a.b"),
        ('loc(fused<"tag">["model.py":1:2])', ""),
    ],
)
def test_the_submodule(location: str, module: str) -> None:
    assert module_path(location) == module


@pytest.mark.parametrize(
    ("name", "module"),
    [
        ("/encoder/encoder.0/encoder.0.1/fc/MatMul", "encoder.0.1.fc"),
        ("/MatMul", ""),
        ("Conv_0", ""),
        ("layer1.0.conv1", "layer1.0.conv1"),
        ("", ""),
        ('/a"b/<c>/d', "a_b._c_"),
    ],
)
def test_the_submodule_in_a_name(name: str, module: str) -> None:
    assert scope(name) == module


def test_nodes_of_onnx() -> None:
    context = make_context()
    location = of_node('/fc/"MatMul"', "fc", context)
    assert (python_line(location), module_path(location)) == ("node /fc/_MatMul_", "fc")
    location = of_node("MatMul_0", "", context)
    assert (python_line(location), module_path(location)) == ("node MatMul_0", "")
    assert (python_line(of_node("", "", context)), module_path(of_node("", "", context))) == ("", "")
