"""From MLIR locations to the line of the user's model."""

from __future__ import annotations

import pytest

from hotdesk.ir.locations import python_line
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
